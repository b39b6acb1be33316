//! A record never claims a block that the difference of the two texts does not touch, whatever was edited.
//!
//! The samples of all languages are edited at random, line by line, without regard for syntax. `INTENT_TEST_ALL` and
//! `PROPTEST_CASES` run more cases, and `PROPTEST_RNG_SEED` runs others.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{Repo, relative, sample_or_all};
use code::difference::{ChangedRange, changed_lines, lines};
use code::{Document, language};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use why::answers::{self, BlockAnswer, LineState, Which};

/// The file name and the text of one sample of each language.
fn samples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages");
    let sample = |language: &'static language::Language| {
        let files = std::fs::read_dir(folder.join(language.id)).expect("samples");
        let paths: BTreeSet<_> =
            files.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        let path = paths.first().expect("a sample");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        Some((name, std::fs::read_to_string(path).ok()?))
    };
    language::with_grammar().filter_map(sample).collect()
}

/// An edit of some lines. Positions are fractions of the file, from 0 to 1000.
#[derive(Clone, Debug)]
enum Edit {
    Delete { at: usize, count: usize },
    Copy { at: usize, count: usize, to: usize },
    Move { at: usize, count: usize, to: usize },
    Word { at: usize },
    Indent { at: usize },
    Insert { at: usize },
}

fn edit() -> impl Strategy<Value = Edit> {
    let (at, to, count) = (0..1000_usize, 0..1000_usize, 1..6_usize);
    prop_oneof![
        (at.clone(), count.clone()).prop_map(|(at, count)| Edit::Delete { at, count }),
        (at.clone(), count.clone(), to.clone()).prop_map(|(at, count, to)| Edit::Copy {
            at,
            count,
            to
        }),
        (at.clone(), count, to).prop_map(|(at, count, to)| Edit::Move { at, count, to }),
        at.clone().prop_map(|at| Edit::Word { at }),
        at.clone().prop_map(|at| Edit::Indent { at }),
        at.prop_map(|at| Edit::Insert { at }),
    ]
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (nth, edit) in edits.iter().enumerate() {
        let place = |share: usize, lines: &[String]| share * lines.len() / 1000;
        match *edit {
            Edit::Delete { at, count } => {
                let at = place(at, &lines);
                lines.drain(at..(at + count).min(lines.len()));
            }
            Edit::Copy { at, count, to } | Edit::Move { at, count, to } => {
                let at = place(at, &lines);
                let range = at..(at + count).min(lines.len());
                let taken = lines[range.clone()].to_vec();
                if matches!(edit, Edit::Move { .. }) {
                    lines.drain(range);
                }
                let to = place(to, &lines);
                lines.splice(to..to, taken);
            }
            Edit::Word { at } => {
                let at = place(at, &lines);
                if let Some(line) = lines.get_mut(at) {
                    *line = line.replacen(|c: char| c.is_ascii_lowercase(), &format!("w{nth}"), 1);
                }
            }
            Edit::Indent { at } => {
                let at = place(at, &lines);
                if let Some(line) = lines.get_mut(at) {
                    line.insert_str(0, "  ");
                }
            }
            Edit::Insert { at } => {
                let at = place(at, &lines);
                let near = lines.get(at).cloned().unwrap_or_default();
                let said = near.replacen(|c: char| c.is_ascii_digit(), &format!("9{nth}"), 1);
                lines.insert(at, said);
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns true if a changed line is in the block, or if lines were removed from a block of this name. A region is
/// named after the definition that follows it. Blank lines around a block count, because they may have been inside it
/// before.
fn is_touched(block: &BlockAnswer, changes: &[ChangedRange], before: &Document, now: &str) -> bool {
    let all: Vec<&str> = now.lines().collect();
    let (start, end) = (block.start_line as usize - 1, block.end_line as usize);
    let is_blank = |line: &&&str| line.trim().is_empty();
    let start = start - all[..start].iter().rev().take_while(is_blank).count();
    let end = end + all[end..].iter().take_while(is_blank).count();
    let blocks = before.blocks();
    let took_out = |change: &ChangedRange| {
        let same = blocks.blocks.iter().filter(|old| {
            old.identity.path == block.qualified_name
                || old.identity.kind.is_unnamed() && block.kind == old.identity.kind.as_str()
        });
        same.map(|old| old.lines).any(|old| {
            change.before.start < old.end() as usize && (old.start() as usize) <= change.before.end
        })
    };
    changes
        .iter()
        .any(|change| change.now.start <= end && start <= change.now.end || took_out(change))
}

fn complaints(repo: &Repo, path: &str, before: &str, after: &str) -> Vec<String> {
    let changes = changed_lines(before, after);
    let text_before = Document::from_text(path, before);
    // Two differences of the same texts may disagree about which of two lines went past the other. A line that has
    // the same order to all lines as before was not added.
    let (old, all): (Vec<&str>, Vec<&str>) = (lines(before).collect(), lines(after).collect());
    let taken_out: BTreeSet<&str> =
        changes.iter().flat_map(|change| &old[change.before.clone()]).copied().collect();
    let put_in = changes.iter().flat_map(|change| &all[change.now.clone()]).copied();
    let moved: BTreeSet<&str> = put_in.filter(|line| taken_out.contains(line)).collect();
    let went_past = |text: &str| {
        let is_above = |whole: &[&str], other: &str| {
            let place = |text: &str| whole.iter().position(|line| *line == text);
            place(text) < place(other)
        };
        moved.iter().any(|other| is_above(&old, other) != is_above(&all, other))
    };
    let is_added = |line: u32| {
        let at = line as usize - 1;
        changes.iter().any(|change| change.now.contains(&at)) || went_past(all[at])
    };
    let answer =
        answers::on_disk(&repo.open(), &relative(path), Which::AllInFull).expect("readable");
    let mut wrong = Vec::new();
    for block in &answer.blocks {
        let is_second = block.intent.as_ref().is_some_and(|intent| intent.id == "INT-002");
        if is_second && !is_touched(block, &changes, &text_before, after) {
            wrong.push(format!("{} in line {} is claimed", block.qualified_name, block.start_line));
        }
        for run in block.lines.iter().flat_map(|lines| &lines.runs) {
            let from = run.from.as_ref().and_then(|from| from.intent.as_deref());
            if run.state == LineState::AsRecorded && from == Some("INT-002") {
                let over = (run.start..=run.end).filter(|line| !is_added(*line));
                wrong.extend(
                    over.map(|line| format!("line {line} of {} is claimed", block.qualified_name)),
                );
            }
        }
    }
    wrong
}

/// Runs the same few cases each time, unless the environment asks for others.
fn config() -> ProptestConfig {
    let asked = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let is_set = |name: &str| std::env::var_os(name).is_some();
    ProptestConfig {
        cases: if is_set("PROPTEST_CASES") { asked.cases } else { sample_or_all(16, 48) },
        rng_seed: if is_set("PROPTEST_RNG_SEED") { asked.rng_seed } else { RngSeed::Fixed(12) },
        ..asked
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    #[ignore = "slow"]
    fn only_blocks_that_the_difference_touches_are_claimed(
        (name, text) in proptest::sample::select(samples()),
        first in proptest::collection::vec(edit(), 0..4),
        second in proptest::collection::vec(edit(), 1..6),
    ) {
        let path = format!("src/{name}");
        let repo = Repo::new();
        let before = edited(&text, &first);
        repo.write(&path, &before);
        repo.record("INT-001", &[&path]);
        repo.commit("before");
        let after = edited(&before, &second);
        repo.write(&path, &after);
        repo.record("INT-002", &[&path]);
        let wrong = complaints(&repo, &path, &before, &after);
        prop_assert!(wrong.is_empty(), "{path}: {}\n{before}\n==== now\n{after}", wrong.join("\n"));
        let again = repo.record("INT-002", &[&path]);
        let reasons = again.recorded.iter().map(|file| file.reasons.join(", "));
        let reasons: Vec<String> = reasons.collect();
        prop_assert!(reasons.is_empty(), "{path}: once more {reasons:?}\n{before}\n==== now\n{after}");
    }
}
