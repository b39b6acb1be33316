//! The lines inside a block: which are still as recorded, and which record each comes from. The expected answers are
//! known without the program, because the tests edit the texts line by line and keep the origin of each line.

use crate::support::{Repo, relative};
use code::Document;
use code::lines::{self, LineHash};
use evidence::record::RecordExtent;
use proptest::prelude::*;
use why::answers::{self, BlockLines, Which};

const PATH: &str = "src/a.rs";

fn asked(repo: &Repo, line: u32) -> answers::BlockAnswer {
    let mut answer =
        answers::on_disk(&repo.open(), &relative(PATH), Which::Line(line)).expect("readable");
    answer.blocks.pop().expect("a block")
}

/// Returns one line for each run, such as `3-5 as_recorded INT-001` or `6-6 unrecorded`.
fn pictured(lines: &BlockLines) -> String {
    lines
        .runs
        .iter()
        .map(|run| {
            let state = serde_json::to_value(run.state).expect("a word");
            let from = run.from.as_ref().and_then(|from| from.intent.as_deref());
            let from = from.map(|id| format!(" {id}")).unwrap_or_default();
            format!("{}-{} {}{from}\n", run.start, run.end, state.as_str().expect("a word"))
        })
        .collect()
}

fn picture(repo: &Repo, line: u32) -> String {
    let lines = asked(repo, line).lines.expect("lines");
    let document = Document::from_text(PATH, &repo.read(PATH));
    let blocks = document.blocks();
    let block = &blocks.blocks[blocks.at_line(line).expect("a block")];
    let own = lines::own_lines(&document, block).into_iter().map(|line| line.number);
    let told = lines.runs.iter().flat_map(|run| run.start..=run.end);
    assert_eq!(told.collect::<Vec<_>>(), own.collect::<Vec<_>>(), "each own line once, in order");
    pictured(&lines)
}

/// A function with these statements, with braces and blank lines as in real code.
fn code(statements: &[&str]) -> String {
    format!("fn long(mut total: u32) -> u32 {{\n{}    total\n}}\n", body(statements))
}

fn body(statements: &[&str]) -> String {
    statements.iter().map(|word| format!("    total += {word}(total);\n")).collect()
}

const FIVE: [&str; 5] = ["one", "two", "three", "four", "five"];

fn recorded() -> Repo {
    let repo = Repo::new();
    repo.write(PATH, &code(&FIVE));
    repo.record("INT-001", &[PATH]);
    repo
}

#[test]
fn an_unchanged_block_is_one_run() {
    let repo = recorded();
    assert_eq!(picture(&repo, 3), "1-8 as_recorded INT-001\n");
    assert_eq!(asked(&repo, 3).lines.expect("lines").sentence(), None);
    repo.write(PATH, &format!("use std::fmt;\n\n{}", code(&FIVE)));
    assert_eq!(picture(&repo, 5), "3-10 as_recorded INT-001\n");
}

#[test]
fn changed_added_and_removed_lines_are_distinguished() {
    let repo = recorded();
    for (words, expected, said) in [
        (
            vec!["one", "two", "other", "four", "five"],
            "1-3 as_recorded INT-001\n4-4 unrecorded\n5-8 as_recorded INT-001\n",
            Some("lines 1–3 and 5–8 INT-001, 4 no record"),
        ),
        (
            vec!["one", "two", "new", "newer", "three", "four", "five"],
            "1-3 as_recorded INT-001\n4-5 unrecorded\n6-10 as_recorded INT-001\n",
            Some("lines 1–3 and 6–10 INT-001, 4–5 no record"),
        ),
        (vec!["one", "four", "five"], "1-6 as_recorded INT-001\n", None),
        (
            vec!["one", "other", "four", "five"],
            "1-2 as_recorded INT-001\n3-3 unrecorded\n4-7 as_recorded INT-001\n",
            Some("lines 1–2 and 4–7 INT-001, 3 no record"),
        ),
    ] {
        repo.write(PATH, &code(&words));
        let answer = asked(&repo, 3);
        assert_eq!(answer.verdict.as_str(), "modified");
        let lines = answer.lines.expect("lines");
        assert_eq!(pictured(&lines), expected);
        assert_eq!(lines.sentence().as_deref(), said);
        assert_eq!(answer.cut, said.is_none());
    }
}

#[test]
fn a_new_layout_is_not_a_change() {
    let repo = recorded();
    let indented = code(&FIVE).replace("    ", "\t");
    repo.write(PATH, &format!("mod deeper {{\n{indented}}}\n"));
    assert_eq!(picture(&repo, 4), "2-9 as_recorded INT-001\n");
    let wrapped = code(&FIVE).replace("two(total)", "two(\n        total\n    )");
    repo.write(PATH, &wrapped);
    assert_eq!(asked(&repo, 3).verdict.as_str(), "reformatted");
    assert_eq!(picture(&repo, 3), "1-10 as_recorded INT-001\n");
}

#[test]
fn each_line_belongs_to_the_record_that_added_it() {
    let repo = recorded();
    repo.write(PATH, &code(&["one", "two", "three", "four", "more", "five"]));
    repo.record("INT-002", &[PATH]);
    assert_eq!(
        picture(&repo, 3),
        "1-5 as_recorded INT-001\n6-6 as_recorded INT-002\n7-9 as_recorded INT-001\n"
    );
    repo.write(PATH, &code(&["one", "edit", "three", "four", "more", "five"]));
    assert_eq!(
        picture(&repo, 3),
        "1-2 as_recorded INT-001\n3-3 unrecorded\n4-5 as_recorded INT-001\n6-6 as_recorded INT-002\n7-9 as_recorded INT-001\n"
    );
    let renamed = code(&["one", "two", "three", "four", "more", "five"]).replace("long", "longer");
    repo.write(PATH, &renamed);
    repo.record("INT-001", &[PATH]);
    assert_eq!(
        picture(&repo, 3),
        "1-1 as_recorded INT-001\n2-5 as_recorded INT-001\n6-6 as_recorded INT-002\n7-9 as_recorded INT-001\n",
        "the first line is of the third record"
    );
}

#[test]
fn lines_from_before_the_first_record_are_unrecorded() {
    let repo = Repo::new();
    repo.write(PATH, &code(&FIVE));
    repo.commit("before");
    repo.write(PATH, &code(&["one", "two", "agent", "four", "five"]));
    repo.record("INT-001", &[PATH]);
    let agents = "1-3 unrecorded\n4-4 as_recorded INT-001\n5-8 unrecorded\n";
    assert_eq!(picture(&repo, 3), agents);
    repo.commit("after");
    assert_eq!(picture(&repo, 3), agents);
    assert!(asked(&repo, 3).intent.is_none(), "one line of seven is no majority");
    repo.write(PATH, &code(&["one", "two", "agent", "person", "five"]));
    assert_eq!(
        picture(&repo, 3),
        "1-3 unrecorded\n4-4 as_recorded INT-001\n5-5 unrecorded\n6-8 unrecorded\n"
    );
}

#[test]
fn lines_committed_between_two_records_are_unrecorded() {
    let repo = recorded();
    repo.commit("one");
    repo.write(PATH, &code(&["one", "two", "person", "three", "four", "five"]));
    repo.commit("by hand");
    repo.write(PATH, &code(&["one", "agent", "two", "person", "three", "four", "five"]));
    repo.record("INT-002", &[PATH]);
    assert_eq!(
        picture(&repo, 3),
        "1-2 as_recorded INT-001\n3-3 as_recorded INT-002\n4-4 as_recorded INT-001\n5-5 unrecorded\n6-10 as_recorded INT-001\n"
    );
}

#[test]
fn recording_a_whole_file_claims_only_unrecorded_lines() {
    let repo = Repo::new();
    repo.write(PATH, &code(&FIVE));
    repo.commit("before");
    repo.record_as("INT-001", &[PATH], RecordExtent::WholeFile);
    assert_eq!(picture(&repo, 3), "1-8 as_recorded INT-001\n");
    repo.write(PATH, &code(&["one", "two", "more", "three", "four", "five"]));
    repo.record_as("INT-002", &[PATH], RecordExtent::WholeFile);
    assert_eq!(
        picture(&repo, 3),
        "1-3 as_recorded INT-001\n4-4 as_recorded INT-002\n5-9 as_recorded INT-001\n"
    );
}

#[test]
fn a_container_does_not_include_the_lines_of_inner_blocks() {
    let repo = Repo::new();
    let class = |own: &str, inner: &str| {
        format!(
            "impl A {{\n    {own}\n    fn a() {{\n        {inner}();\n        z();\n    }}\n}}\n"
        )
    };
    repo.write(PATH, &class("#![x]", "x"));
    repo.record("INT-001", &[PATH]);
    repo.write(PATH, &class("#![x]", "y"));
    assert_eq!(picture(&repo, 1), "1-2 as_recorded INT-001\n7-7 as_recorded INT-001\n");
    assert_eq!(
        picture(&repo, 4),
        "3-3 as_recorded INT-001\n4-4 unrecorded\n5-6 as_recorded INT-001\n"
    );
}

#[test]
fn lines_of_a_whole_file_are_given_only_on_request() {
    let repo = recorded();
    let plain = answers::on_disk(&repo.open(), &relative(PATH), Which::All).expect("readable");
    assert!(plain.blocks.iter().all(|block| block.lines.is_none()));
    let all = answers::on_disk(&repo.open(), &relative(PATH), Which::AllInFull).expect("readable");
    assert!(all.blocks.iter().all(|block| block.lines.is_some()));
}

/// An edit of a text.
#[derive(Clone, Debug)]
enum Edit {
    Add(usize, String),
    Remove(usize),
    Change(usize),
    Indent(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (0..40usize, "[a-z]{3,8}").prop_map(|(at, word)| Edit::Add(at, word)),
        (0..40usize).prop_map(Edit::Remove),
        (0..40usize).prop_map(Edit::Change),
        (0..40usize).prop_map(Edit::Indent),
    ]
}

/// A line, and whether it is unchanged.
type Line = (String, bool);

/// Each edit writes a text that occurs nowhere else, so there is no doubt which lines are new.
fn edited(mut lines: Vec<Line>, edits: &[Edit]) -> Vec<Line> {
    for (nth, edit) in edits.iter().enumerate() {
        let place = |at: &usize| at % lines.len().max(1);
        match edit {
            Edit::Add(at, word) => {
                let at = place(at);
                lines.insert(at, (format!("    let {word}_{nth} = new({nth});"), false));
            }
            Edit::Remove(at) if !lines.is_empty() => {
                lines.remove(place(at));
            }
            Edit::Change(at) if !lines.is_empty() => {
                let at = place(at);
                lines[at] = (format!("    changed({nth});"), false);
            }
            Edit::Indent(at) if !lines.is_empty() => {
                let at = place(at);
                lines[at].0.insert_str(0, "\t  ");
            }
            _ => {}
        }
    }
    lines
}

fn function(lines: &[Line]) -> String {
    let body: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    format!("fn f() {{\n{body}}}\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// If all lines are different, the answer is exactly what was done.
    #[test]
    fn different_lines_are_matched_exactly(
        count in 1..30usize,
        edits in proptest::collection::vec(edit(), 0..8),
    ) {
        let before: Vec<Line> = (0..count).map(|n| (format!("    let a{n} = b({n});"), true)).collect();
        let after = edited(before.clone(), &edits);
        let expected: Vec<bool> =
            [true].into_iter().chain(after.iter().map(|(_, kept)| *kept)).chain([true]).collect();
        prop_assert_eq!(kept(&function(&before), &function(&after)), expected);
    }

    /// Lines may be alike, as in real code. A line that is matched has the same text before, in the same order; and a
    /// line that occurs once on both sides is always matched.
    #[test]
    fn lines_that_are_alike_are_never_matched_wrongly(
        words in proptest::collection::vec("    [ab]\\(\\);|    }|    if [ab]\\(\\) \\{||    else", 0..40),
        edits in proptest::collection::vec(edit(), 0..8),
    ) {
        let before: Vec<Line> = words.into_iter().map(|line| (line, true)).collect();
        let after = edited(before.clone(), &edits);
        let (then, now) = (texts(&function(&before)), texts(&function(&after)));
        let found = matched(&then, &now);
        let mut last = None;
        for (at, old) in found.iter().enumerate() {
            let Some(old) = *old else { continue };
            prop_assert_eq!(&then[old], &now[at]);
            prop_assert!(last < Some(old), "out of order");
            last = Some(old);
        }
        let count = found.iter().flatten().count();
        prop_assert!(count <= longest_common(&then, &now), "more than there can be");
        for (at, text) in now.iter().enumerate() {
            let only = |all: &[String]| all.iter().filter(|other| *other == text).count() == 1;
            if only(&then) && only(&now) && text.contains(char::is_alphanumeric) {
                prop_assert!(found[at].is_some(), "missed {text:?}");
            }
        }
    }
}

fn texts(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().to_owned()).collect()
}

fn matched(then: &[String], now: &[String]) -> Vec<Option<usize>> {
    let then: Vec<LineHash> = then.iter().map(|text| LineHash::from_text(text)).collect();
    let now = now.iter().map(|text| lines::OwnLine {
        number: 1,
        hash: LineHash::from_text(text),
        common: !text.contains(char::is_alphanumeric),
    });
    lines::matched_own_lines(&then, &now.collect::<Vec<_>>())
}

/// Returns for each line of the function whether the program matches it with an earlier line.
fn kept(before: &str, after: &str) -> Vec<bool> {
    let own = |text: &str| {
        let document = Document::from_text("a.rs", text);
        let block = document.blocks().blocks[0].clone();
        lines::own_lines(&document, &block)
    };
    let (then, now) = (own(before), own(after));
    let then: Vec<LineHash> = then.iter().map(|line| line.hash).collect();
    let found = lines::matched_own_lines(&then, &now);
    found.iter().map(Option::is_some).collect()
}

/// Returns the length of the longest common subsequence. A simple second implementation.
fn longest_common(a: &[String], b: &[String]) -> usize {
    let mut above = vec![0; b.len() + 1];
    for x in a {
        let mut row = vec![0; b.len() + 1];
        for (at, y) in b.iter().enumerate() {
            row[at + 1] = if x == y { above[at] + 1 } else { row[at].max(above[at + 1]) };
        }
        above = row;
    }
    above[b.len()]
}

/// Every block of this repository's own sources, with some lines edited. Matched lines have the same text and order
/// before, and at least 99.5 % of the lines are matched that a plain comparison of texts can match.
#[test]
#[ignore = "slow"]
fn edited_lines_of_our_own_sources_are_matched() {
    let (mut blocks, mut most, mut found) = (0, 0, 0);
    for path in sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let text = std::fs::read_to_string(path).expect("a source");
        let document = Document::from_text("a.rs", &text);
        for block in document
            .blocks()
            .blocks
            .iter()
            .filter(|block| block.lines.end() > block.lines.start() + 5)
        {
            let numbers =
                lines::own_lines(&document, block).into_iter().map(|line| line.number as usize);
            let whole: Vec<&str> = text.split('\n').collect();
            let then: Vec<String> =
                numbers.map(|number| whole[number - 1].trim().to_owned()).collect();
            blocks += 1;
            let now = disturbed(&then, blocks);
            let pairs = matched(&then, &now);
            let mut last = None;
            for (old, new) in pairs.iter().zip(&now).filter_map(|(old, new)| Some(((*old)?, new))) {
                assert!(
                    last < Some(old) && then[old] == *new,
                    "{new:?} in {}",
                    block.identity.path
                );
                last = Some(old);
            }
            let said = |text: &&String| text.contains(char::is_alphanumeric);
            let with_words = |all: &[String]| all.iter().filter(said).cloned().collect::<Vec<_>>();
            most += longest_common(&with_words(&then), &with_words(&now));
            found += pairs.iter().zip(&now).filter(|(old, new)| old.is_some() && said(new)).count();
        }
    }
    assert!(blocks > 500, "{blocks} blocks");
    assert!(found * 1000 >= most * 995, "{found} of {most} lines with words were found");
}

fn sources(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Removes, repeats or replaces some lines and adds others, chosen from the seed.
fn disturbed(then: &[String], seed: usize) -> Vec<String> {
    let mut state = seed as u64;
    let mut roll = |sides: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    };
    let mut now = Vec::new();
    for (at, line) in then.iter().enumerate() {
        match roll(24) {
            0 => {}
            1 => now.extend([line.clone(), line.clone()]),
            2 => now.push(format!("other({at});")),
            3 => now.extend([format!("more({at});"), "}".to_owned(), line.clone()]),
            4 => now.extend([String::new(), line.clone()]),
            _ => now.push(line.clone()),
        }
    }
    now
}
