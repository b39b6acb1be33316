//! Rules that every predicted edit must keep: it never panics, it changes the text as the tool would, and it leaves
//! everything else alone.

use edits::notebook::{CellEdit, CellMode};
use edits::notebook_cells::{self, ShownCell};
use edits::patch::{self, FilePatch, Hunk};
use edits::{After, Change, Replacement, blocks, same_text};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Lines that often repeat, and pieces of the syntax of every format.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[ab ]{0,3}",
        1 => "[\\PC\t\r“”–\u{a0}\u{FEFF}]{0,6}",
        2 => prop::sample::select(vec![
            "*** Begin Patch", "*** End Patch", "*** Update File: f", "*** Add File: f", "*** Delete File: f",
            "*** Move to: g", "*** End of File", "*** Environment ID: x", "@@", "@@ a", "-a", "+a", " a",
            "------- SEARCH", "<<<<<<< SEARCH", "=======", "+++++++ REPLACE", ">>>>>>> REPLACE",
            "apply_patch <<'EOF'", "cd a && apply_patch <<EOF", "<<EOF", "EOF",
            "{\"cells\":[", "{\"id\":\"a\"}", "]}", "\u{FEFF}",
        ]).prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    vec((line(), prop::sample::select(vec!["\n", "\n", "\r\n", "\r", ""])), 0..12)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

/// Whole lines, each ended by a line feed.
fn lines() -> impl Strategy<Value = Vec<String>> {
    vec("[ab ]{0,2}", 0..12)
}

fn joined(lines: &[String], end: &str) -> String {
    lines.iter().map(|line| format!("{line}{end}")).collect()
}

fn replacement() -> impl Strategy<Value = Replacement> {
    (text(), text(), any::<bool>()).prop_map(|(old, new, every)| Replacement { old, new, every })
}

fn change() -> impl Strategy<Value = Change> {
    let mode = prop::sample::select(vec![CellMode::Replace, CellMode::Insert, CellMode::Delete]);
    let cell =
        (prop::option::of("[ax]|cell-[0-9]{1,30}"), prop::option::of(0..4_usize), text(), mode);
    prop_oneof![
        text().prop_map(Change::Whole),
        text().prop_map(Change::Append),
        vec(replacement(), 0..3).prop_map(Change::Replace),
        vec(replacement(), 0..3).prop_map(Change::ReplaceLoosely),
        (0..15_usize, text()).prop_map(|(after_line, text)| Change::Insert { after_line, text }),
        text().prop_map(|body| Change::Hunks(hunks(&format!(
            "*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch"
        )))),
        cell.prop_map(|(cell_id, cell_number, source, mode)| Change::Cell(CellEdit {
            cell_id,
            cell_number,
            source,
            kind: None,
            mode
        })),
        text().prop_map(Change::Blocks),
    ]
}

fn hunks(patch: &str) -> Vec<Hunk> {
    let files = patch::read(patch).unwrap_or_default();
    let hunks = |file| match file {
        FilePatch::Update { hunks, .. } => hunks,
        _ => Vec::new(),
    };
    files.into_iter().flat_map(hunks).collect()
}

fn after(change: Change, before: &str) -> String {
    match change.text_after(Some(before)) {
        After::Text(text) => text,
        other => panic!("{other:?}\nfrom {before:?}"),
    }
}

/// Returns the kept, removed and added lines that turn one list of lines into the other. Common lines at both ends are
/// kept.
fn diff<'a>(old: &'a [String], new: &'a [String]) -> Vec<(char, &'a str)> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let keep = |lines: &'a [String]| lines.iter().map(|line| (' ', line.as_str()));
    let cut = old_rest[..old_rest.len() - tail].iter().map(|line| ('-', line.as_str()));
    let add = new_rest[..new_rest.len() - tail].iter().map(|line| ('+', line.as_str()));
    keep(&old[..head])
        .chain(cut)
        .chain(add)
        .chain(keep(&old_rest[old_rest.len() - tail..]))
        .collect()
}

fn update(lines: &[(char, &str)]) -> String {
    let body: String = lines.iter().map(|(sign, line)| format!("{sign}{line}\n")).collect();
    format!("*** Begin Patch\n*** Update File: f\n@@\n{body}*** End Patch")
}

proptest! {
    #[test]
    fn no_change_panics(change in change(), before in prop::option::of(text())) {
        change.text_after(before.as_deref());
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in text()) {
        if let Ok(files) = patch::read(&text) {
            for file in files {
                if let FilePatch::Update { hunks, .. } = file {
                    Change::Hunks(hunks).text_after(Some(&text));
                }
            }
        }
        blocks::read(&text);
        patch::heredoc(&text);
        same_text(&text, &text.replace('\r', ""));
    }

    #[test]
    fn writing_a_whole_text_gives_that_text(text in text(), before in prop::option::of(text())) {
        prop_assert_eq!(Change::Whole(text.clone()).text_after(before.as_deref()), After::Text(text));
    }

    #[test]
    fn applying_the_difference_as_a_patch_gives_the_other_text(old in lines(), new in lines(), crlf in any::<bool>()) {
        let patch = update(&diff(&old, &new));
        prop_assume!(!(old.is_empty() && new.is_empty()));
        let end = if crlf && !old.is_empty() { "\r\n" } else { "\n" };
        prop_assert_eq!(after(Change::Hunks(hunks(&patch)), &joined(&old, end)), joined(&new, end));
    }

    #[test]
    fn a_small_hunk_changes_only_its_lines(
        count in 1..20_usize, at in any::<prop::sample::Index>(), context in 0..3_usize, new in lines()
    ) {
        let old: Vec<String> = (0..count).map(|row| format!("row {row}")).collect();
        let at = at.index(count);
        let mut edited = old.clone();
        edited.splice(at..=at, new.iter().cloned());
        let above = (at.saturating_sub(context)..at).map(|row| (' ', old[row].as_str()));
        let below = (at + 1..count.min(at + 1 + context)).map(|row| (' ', old[row].as_str()));
        let lines: Vec<_> = above
            .chain([('-', old[at].as_str())])
            .chain(new.iter().map(|line| ('+', line.as_str())))
            .chain(below)
            .collect();
        let change = Change::Hunks(hunks(&update(&lines)));
        prop_assert_eq!(after(change, &joined(&old, "\n")), joined(&edited, "\n"));
    }

    #[test]
    fn a_replacement_agrees_with_the_standard_library(
        before in "[ab\n]{0,12}", old in "[ab\n]{1,2}", new in "[ab$\\\\\n]{0,3}"
    ) {
        let replaced = |every| Change::Replace(vec![Replacement { old: old.clone(), new: new.clone(), every }]);
        match before.matches(&old).count() {
            0 => {
                let refused = matches!(replaced(true).text_after(Some(&before)), After::Fails(_));
                prop_assert!(refused);
            }
            _ => prop_assert_eq!(after(replaced(true), &before), before.replace(&old, &new)),
        }
        if let After::Text(text) = replaced(false).text_after(Some(&before)) {
            prop_assert_eq!(before.matches(&old).count(), 1);
            prop_assert_eq!(text, before.replacen(&old, &new, 1));
        }
    }

    #[test]
    fn line_ends_do_not_change_the_result_of_a_change(
        old in lines(), change in change(), before in lines()
    ) {
        // A carriage return at the end of a text joins with the line feed that follows it.
        prop_assume!(!format!("{change:?}").contains("\\r\""));
        let change = match change {
            Change::Replace(mut edits) => {
                edits.push(Replacement { old: joined(&old, "\n"), new: "x\n".into(), every: true });
                Change::Replace(edits)
            }
            other => other,
        };
        let texts = ["\n", "\r\n"].map(|end| change.text_after(Some(&joined(&before, end))));
        match &texts {
            [After::Text(plain), After::Text(returns)] => prop_assert!(same_text(plain, returns), "{texts:?}"),
            [plain, returns] => prop_assert_eq!(plain, returns),
        }
    }

    #[test]
    fn a_search_and_replace_block_changes_only_its_lines(
        count in 1..20_usize, from in any::<prop::sample::Index>(), len in 1..4_usize, new in lines()
    ) {
        let old: Vec<String> = (0..count).map(|row| format!("row {row}.")).collect();
        let from = from.index(count);
        let to = count.min(from + len);
        let mut edited = old.clone();
        edited.splice(from..to, new.iter().cloned());
        let (search, replace) = (joined(&old[from..to], "\n"), joined(&new, "\n"));
        let diff = format!("------- SEARCH\n{search}=======\n{replace}+++++++ REPLACE\n");
        prop_assert_eq!(after(Change::Blocks(diff), &joined(&old, "\n")), joined(&edited, "\n"));
    }

    #[test]
    fn a_cell_edit_keeps_every_other_cell(
        kinds in vec(prop::sample::select(vec!["code", "markdown", "raw"]), 1..6),
        at in any::<prop::sample::Index>(),
        source in text(),
        mode in prop::sample::select(vec![CellMode::Replace, CellMode::Insert, CellMode::Delete]),
        extra in vec(("[a-zé]{1,3}", any::<i32>()), 0..4),
        by_id in any::<bool>(),
    ) {
        let at = at.index(kinds.len());
        let extra: Value = extra.into_iter().map(|(key, value)| (key, json!(value))).collect::<serde_json::Map<_, _>>().into();
        let cells: Vec<Value> = kinds
            .iter()
            .enumerate()
            .map(|(row, kind)| json!({
                "cell_type": kind, "id": format!("id{row}"), "metadata": extra,
                "source": [format!("{row}\n")], "outputs": [{"text": "é\u{1}"}],
            }))
            .collect();
        let book = json!({ "cells": cells, "metadata": extra, "nbformat": 4, "nbformat_minor": 4 });
        let edit = CellEdit {
            cell_id: by_id.then(|| format!("id{at}")),
            cell_number: (!by_id).then_some(at),
            source: source.clone(),
            kind: None,
            mode,
        };
        let text = after(Change::Cell(edit), &book.to_string());
        let mut edited: Value = serde_json::from_str(&text).expect("JSON again");
        let rest = edited["cells"].as_array_mut().expect("cells");
        let mut expected = cells.clone();
        match mode {
            CellMode::Delete => drop(expected.remove(at)),
            CellMode::Replace => {
                prop_assert_eq!(&rest.remove(at)["source"], &json!(source));
                expected.remove(at);
            }
            CellMode::Insert => {
                let new = rest.remove(at + usize::from(by_id));
                prop_assert_eq!(&new["source"], &json!(source));
            }
        }
        prop_assert_eq!(&*rest, &expected);
        prop_assert_eq!(&edited["metadata"], &extra);
    }

    #[test]
    fn comparing_texts_is_reflexive_and_symmetric(one in text(), other in text()) {
        prop_assert!(same_text(&one, &one));
        let marked = format!("\u{FEFF}{one}");
        prop_assert_eq!(same_text(&one, &marked), !one.starts_with('\u{FEFF}'));
        prop_assert_eq!(same_text(&one, &other), same_text(&other, &one));
    }
}

const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  },\n  {\"source\": \"c\"}\n ],\n \"nbformat\": 4\n}\n";

fn shown(text: &str, from: usize) -> ShownCell<'_> {
    ShownCell { from: Some(from), is_code: true, text }
}

proptest! {
    #[test]
    fn cells_of_an_editor_are_read_back_from_the_notebook(cells in vec("(?s).{0,40}", 0..5)) {
        let cells_shown: Vec<_> = cells.iter().enumerate().map(|(at, text)| shown(text, at)).collect();
        let written = notebook_cells::with_cells(NOTEBOOK, &cells_shown);
        prop_assert!(serde_json::from_str::<Value>(&written).is_ok(), "{}", written);
        let sources = notebook_cells::sources(&written).expect("a notebook");
        let texts: Vec<&str> = sources.iter().map(|cell| cell.text.as_str()).collect();
        prop_assert_eq!(&texts, &cells);
        for cell in &sources {
            for (at, _) in cell.text.char_indices() {
                prop_assert_eq!(cell.in_cell(cell.in_notebook(at)), at);
            }
        }
    }

    #[test]
    fn any_text_is_read_as_a_notebook(text in "[\\[\\]{}\",:\\\\ua1\u{e4}\n ]{0,60}") {
        let _ = notebook_cells::sources(&text);
        let _ = notebook_cells::sources(&format!("{{\"cells\":[{{\"source\":{text}}}]}}"));
        let _ = notebook_cells::with_cells(&text, &[shown("a", 0)]);
    }
}
