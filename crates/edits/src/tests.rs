//! Tests what each kind of change makes of a file.

use super::notebook::{CellEdit, CellMode};
use super::{After, Change, Replacement, patch, same_text, unified};

fn swap(old: &str, new: &str) -> Replacement {
    Replacement { old: old.into(), new: new.into(), every: false }
}

fn every(old: &str, new: &str) -> Replacement {
    Replacement { every: true, ..swap(old, new) }
}

/// Returns the new text, or `fails: …`, or `unknown: …`.
fn after(change: Change, before: Option<&str>) -> String {
    match change.text_after(before) {
        After::Text(text) => text,
        After::Fails(why) => format!("fails: {why}"),
        After::Unknown(why) => format!("unknown: {why}"),
    }
}

#[track_caller]
fn replaced(before: Option<&str>, edits: &[Replacement], expected: &str) {
    assert_eq!(after(Change::Replace(edits.to_vec()), before), expected);
}

#[test]
fn a_replacement_is_literal_and_needs_one_occurrence() {
    replaced(Some("a b c"), &[swap("b", "$1\\n")], "a $1\\n c");
    replaced(
        Some("a b a"),
        &[swap("a", "x")],
        "fails: the old text is in the file 2 times, not once",
    );
    replaced(Some("a b a"), &[every("a", "x")], "x b x");
    replaced(Some("a"), &[swap("z", "x")], "fails: the old text is not in the file");
    replaced(Some("a"), &[every("z", "x")], "fails: the old text is not in the file");
    replaced(Some("aaa"), &[swap("aa", "x")], "unknown: the old text overlaps itself in the file");
    replaced(Some("aaa"), &[every("aa", "x")], "xa");
    replaced(Some("a b"), &[swap("a b", "")], "");
}

#[test]
fn replacements_run_in_order_and_all_or_none_apply() {
    replaced(Some("a"), &[swap("a", "b"), swap("b", "c")], "c");
    replaced(
        Some("a b"),
        &[swap("a", "x"), swap("a", "y")],
        "fails: the old text is not in the file",
    );
    replaced(Some("unchanged"), &[], "unchanged");
}

#[test]
fn an_empty_old_text_creates_the_file() {
    replaced(None, &[swap("", "new\n")], "new\n");
    replaced(None, &[swap("", "new\n"), swap("new", "newer")], "newer\n");
    replaced(Some(""), &[swap("", "new")], "new");
    replaced(Some("\u{FEFF}"), &[swap("", "new")], "new");
    replaced(
        Some("x"),
        &[swap("", "new")],
        "fails: an empty old text creates a file, but the file exists",
    );
    assert!(after(Change::Replace(vec![swap("", "n")]), Some(" \n")).starts_with("unknown: "));
    replaced(None, &[swap("a", "b")], "fails: there is no such file");
    replaced(None, &[], "fails: there is no such file");
}

#[test]
fn line_ends_of_the_file_are_kept() {
    replaced(Some("a\r\nb\r\nc\r\n"), &[swap("a\nb\n", "x\ny\nz\n")], "x\r\ny\r\nz\r\nc\r\n");
    replaced(Some("a\r\nb\r\n"), &[swap("a", "x\ny")], "x\r\ny\r\nb\r\n");
    replaced(Some("a\r\nb\r\n"), &[swap("a\r\nb", "x\r\ny")], "x\r\ny\r\n");
    replaced(Some("a\nb\n"), &[swap("a\r\nb", "x")], "x\n");
    replaced(Some("a\r\nb\nc\r\n"), &[swap("b\nc", "x\ny")], "a\r\nx\r\ny\r\n");
    replaced(Some("\u{FEFF}a\r\n"), &[swap("a\n", "b\n")], "\u{FEFF}b\r\n");
    let mixed = "a\nb\na\r\nb\r\n";
    assert!(after(Change::Replace(vec![swap("a\nb", "x")]), Some(mixed)).starts_with("unknown: "));
    replaced(Some("ä\r\nö\r\nü\r\n"), &[swap("ö\nü", "x")], "ä\r\nx\r\n");
}

#[test]
fn an_edit_that_the_tool_may_match_loosely_is_unknown() {
    let loosely = |old| after(Change::ReplaceLoosely(vec![swap(old, "x")]), Some("a b a"));
    assert_eq!(loosely("b"), "a x a");
    assert!(loosely("z").starts_with("unknown: "), "{}", loosely("z"));
    assert!(loosely("a").starts_with("unknown: "), "{}", loosely("a"));
}

#[test]
fn whole_texts_appended_and_inserted_texts_apply() {
    assert_eq!(after(Change::Whole("new".into()), None), "new");
    assert_eq!(after(Change::Whole("new".into()), Some("old")), "new");
    assert_eq!(after(Change::Append("b\n".into()), Some("a\n")), "a\nb\n");
    assert_eq!(after(Change::Append("b\n".into()), Some("a")), "a\nb\n");
    assert_eq!(after(Change::Append("b\n".into()), None), "b\n");
    let insert = |after_line, text: &str, before| {
        after(Change::Insert { after_line, text: text.into() }, before)
    };
    assert_eq!(insert(0, "x\n", Some("a\nb\n")), "x\na\nb\n");
    assert_eq!(insert(1, "x\n", Some("a\nb\n")), "a\nx\nb\n");
    assert_eq!(insert(2, "x\n", Some("a\nb\n")), "a\nb\nx\n");
    assert!(insert(3, "x\n", Some("a\nb\n")).starts_with("unknown: "));
    assert!(insert(2, "x\n", Some("a\nb")).starts_with("unknown: "));
    assert!(insert(1, "x", Some("a\nb\n")).starts_with("unknown: "));
    assert_eq!(insert(0, "x\n", None), "fails: there is no such file");
    assert!(after(Change::Unknown, Some("a")).starts_with("unknown: "));
}

#[test]
fn same_text_ignores_line_ends_and_the_byte_order_mark() {
    assert!(same_text("a\nb\n", "\u{FEFF}a\r\nb\r\n"));
    assert!(same_text("", "\u{FEFF}"));
    assert!(!same_text("a\nb\n", "a\nb"));
    assert!(!same_text("a\nb\n", "a\n\nb\n"));
    assert!(!same_text("a", "a "));
}

#[test]
fn hunks_change_the_matching_lines() {
    let text = "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n*** End Patch";
    let files = patch::read(text).unwrap();
    let [patch::FilePatch::Update { path, to, hunks }] = &files[..] else { panic!("{files:?}") };
    assert_eq!((path.as_str(), to), ("f", &None));
    let change = Change::Hunks(hunks.clone());
    assert_eq!(after(change.clone(), Some("a\nb\nc\n")), "a\nB\nc\n");
    assert_eq!(after(change.clone(), Some("a\r\nb\r\nc")), "a\r\nB\r\nc\r\n");
    assert!(after(change.clone(), Some("a\nc\n")).starts_with("fails: "));
    assert_eq!(after(change, None), "fails: there is no such file");
}

#[test]
fn an_invalid_patch_names_the_wrong_line() {
    let wrong =
        |body: &str| patch::read(&format!("*** Begin Patch\n{body}")).unwrap_err().to_string();
    assert_eq!(wrong(""), "the patch does not end with `*** End Patch`");
    assert_eq!(
        wrong("*** Update File: f\n@@\n-a\n~b\n*** End Patch"),
        "line 5 of the patch: a line of a hunk begins with a space, `+` or `-`"
    );
    assert_eq!(
        wrong("*** Update File: f\n*** End Patch"),
        "line 3 of the patch: the update before this line changes nothing"
    );
    assert_eq!(
        patch::read("diff --git a b").unwrap_err().to_string(),
        "the patch does not begin with `*** Begin Patch`"
    );
}

#[test]
fn a_patch_in_a_command_is_found_if_it_is_the_whole_input() {
    let dir = |command: &str| {
        let found = patch::heredoc(command)?;
        assert_eq!(found.patch, "*** Begin Patch\n*** End Patch", "{command}");
        Some(found.dir.unwrap_or_default())
    };
    let body = "\n*** Begin Patch\n*** End Patch\nEOF\n";
    for (head, expected) in [
        ("apply_patch <<'EOF'", ""),
        ("apply_patch <<EOF", ""),
        ("apply_patch<<\"EOF\"", ""),
        ("  applypatch  << 'EOF'  ", ""),
        ("cd src && apply_patch <<'EOF'", "src"),
        ("cd src/a&&apply_patch <<'EOF'", "src/a"),
        ("cd 'a b' && apply_patch <<'EOF'", "a b"),
        ("cd \"/a b\" &&\n apply_patch <<'EOF'", "/a b"),
    ] {
        assert_eq!(dir(&format!("{head}{body}")).as_deref(), Some(expected), "{head}");
    }
    for head in [
        "cat <<'EOF'",
        "echo; apply_patch <<'EOF'",
        "apply_patch x <<'EOF'",
        "apply_patch <<'EOF' > x",
        "apply_patch <<'EOF' | cat",
        "apply_patch <<-'EOF'",
        "apply_patch <<<'EOF'",
        "apply_patchy <<'EOF'",
        "cd src; apply_patch <<'EOF'",
        "cd src || apply_patch <<'EOF'",
        "cd src & apply_patch <<'EOF'",
        "cd src\n&& apply_patch <<'EOF'",
        "cd a b && apply_patch <<'EOF'",
        "cd && apply_patch <<'EOF'",
        "cd -P a && apply_patch <<'EOF'",
        "cd $HOME && apply_patch <<'EOF'",
        "cd \"$HOME\" && apply_patch <<'EOF'",
        "cd `x` && apply_patch <<'EOF'",
        "cdx && apply_patch <<'EOF'",
        "sudo apply_patch <<'EOF'",
        "FOO=1 apply_patch <<'EOF'",
    ] {
        assert_eq!(dir(&format!("{head}{body}")), None, "{head}");
    }
    let after = |tail: &str| dir(&format!("apply_patch <<'EOF'{body}{tail}"));
    assert_eq!(after("\n  \n").as_deref(), Some(""));
    assert_eq!(after("rm -rf x"), None);
    assert_eq!(after("EOF"), None);
    assert_eq!(dir("apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\n"), None, "no end");
    assert_eq!(dir("apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\n EOF"), None, "no end");
}

const BOOK: &str = r#"{
 "cells": [
  {"cell_type": "code", "id": "x", "source": ["a\n", "b"], "outputs": [{"n": 1.0}], "execution_count": 3, "metadata": {"k": 1.50}},
  {"cell_type": "markdown", "id": "cell-0", "source": "é", "metadata": {"w": 2.0}}
 ],
 "metadata": {"b": 1, "a": {}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

fn cell(id: &str, mode: CellMode) -> CellEdit {
    let cell_id = (!id.is_empty()).then(|| id.to_owned());
    CellEdit { cell_id, source: "new\n".into(), mode, ..CellEdit::default() }
}

fn sources(text: &str) -> Vec<String> {
    let book: serde_json::Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"));
    book["cells"].as_array().unwrap().iter().map(|cell| cell["source"].to_string()).collect()
}

#[test]
fn a_replaced_cell_loses_its_outputs() {
    insta::assert_snapshot!(after(Change::Cell(cell("x", CellMode::Replace)), Some(BOOK)));
}

#[test]
fn a_cell_is_found_by_id_before_its_number() {
    let edited = |edit: CellEdit| sources(&after(Change::Cell(edit), Some(BOOK)));
    assert_eq!(edited(cell("cell-0", CellMode::Replace)), [r#"["a\n","b"]"#, r#""new\n""#]);
    assert_eq!(edited(cell("cell-1", CellMode::Delete)), [r#"["a\n","b"]"#]);
    assert_eq!(edited(cell("x", CellMode::Delete)), [r#""é""#]);
    let numbered = CellEdit { cell_number: Some(1), ..cell("", CellMode::Replace) };
    assert_eq!(edited(numbered), [r#"["a\n","b"]"#, r#""new\n""#]);
}

#[test]
fn a_cell_is_inserted_into_a_notebook_without_ids() {
    let old = BOOK.replace("\"nbformat_minor\": 5", "\"nbformat_minor\": 4");
    let edited = |edit: CellEdit| sources(&after(Change::Cell(edit), Some(&old)));
    let numbered = |at| CellEdit { cell_number: Some(at), ..cell("", CellMode::Insert) };
    let [a, b, new] = [r#"["a\n","b"]"#, r#""é""#, r#""new\n""#];
    assert_eq!(edited(cell("x", CellMode::Insert)), [a, new, b]);
    assert_eq!(edited(cell("", CellMode::Insert)), [new, a, b]);
    assert_eq!(edited(numbered(1)), [a, new, b]);
    assert_eq!(edited(numbered(2)), [a, b, new]);
    assert!(after(Change::Cell(numbered(3)), Some(&old)).starts_with("unknown: "));
    assert!(after(Change::Cell(cell("x", CellMode::Insert)), Some(BOOK)).starts_with("unknown: "));
}

#[test]
fn an_invalid_notebook_fails_or_is_unknown() {
    let edited = |edit, before: &str| after(Change::Cell(edit), Some(before));
    assert!(edited(cell("y", CellMode::Replace), BOOK).starts_with("fails: "));
    assert!(edited(cell("", CellMode::Replace), BOOK).starts_with("fails: "));
    assert!(edited(cell("cell-7", CellMode::Delete), BOOK).starts_with("unknown: "));
    assert!(edited(cell("x", CellMode::Replace), "{}").starts_with("fails: "));
    assert!(edited(cell("x", CellMode::Replace), "{\"cells\": [3]}").starts_with("fails: "));
    assert!(edited(cell("cell-0", CellMode::Replace), "{\"cells\": [3]}").starts_with("unknown: "));
    assert!(edited(cell("x", CellMode::Replace), &"[".repeat(9999)).starts_with("unknown: "));
    assert!(after(Change::Cell(cell("x", CellMode::Replace)), None).starts_with("fails: "));
}

#[track_caller]
fn blocked(before: &str, blocks: &[(&str, &str)], expected: &str) {
    let spelled = |[start, end]: [&str; 2]| -> String {
        let block = |(old, new): &(&str, &str)| {
            format!("{start} SEARCH\n{old}=======\n{new}{end} REPLACE\n")
        };
        blocks.iter().map(block).collect()
    };
    for signs in [["-------", "+++++++"], ["<<<<<<<", ">>>>>>>"], ["---", "+++"]] {
        assert_eq!(after(Change::Blocks(spelled(signs)), Some(before)), expected, "{signs:?}");
    }
}

#[test]
fn search_and_replace_blocks_replace_lines() {
    blocked("a\nb\nc\n", &[("b\n", "B\nB\n")], "a\nB\nB\nc\n");
    blocked("a\nb\nc\n", &[("b\n", "")], "a\nc\n");
    blocked("a\nb\na\nb\n", &[("b\n", "1\n"), ("b\n", "2\n")], "a\n1\na\n2\n");
    blocked("a\nb\nc", &[("c\n", "C\n")], "a\nb\nC\n");
    blocked("a\n  b\t\nc\n", &[("b\n", "B\n")], "a\nB\nc\n");
    blocked("a\r\nb\r\nc\r\n", &[("b\nc\n", "B\n")], "a\r\nB\r\n");
    blocked("a\nb\nc\n", &[("c\n", "C\n"), ("a\n", "A\n")], "A\nb\nC\n");
    blocked("a\nb\nc\n", &[("c\n", "C\n"), ("a\n", "A\n"), ("b\n", "B\n")], "A\nB\nC\n");
    blocked("old\n", &[("", "new\n")], "new\n");
    blocked("", &[("", "new\n")], "new\n");
}

#[test]
fn blocks_that_cannot_be_read_or_found_are_unknown() {
    blocked("a\n", &[("z\n", "")], "unknown: a block is not in the file as it is written");
    blocked("a\n", &[("", "x\n"), ("a\n", "")], "unknown: two blocks overlap");
    for diff in [
        "",
        "a\n",
        "------- SEARCH\na\n",
        "------- SEARCH\na\n=======\nb\n",
        "------- SEARCH\na\n+++++++ REPLACE\n",
        "------- SEARCH\na\n=======\nb\n=======\nc\n+++++++ REPLACE\n",
        "------- SEARCH\na\n=======\nb\n------- SEARCH\n",
        "=======\nb\n+++++++ REPLACE\n",
        "-- SEARCH\na\n=======\nb\n+++++++ REPLACE\n",
    ] {
        let after = after(Change::Blocks(diff.into()), Some("a\n"));
        assert_eq!(after, "unknown: a marker is missing or in the wrong place", "{diff}");
    }
    let prose = "Here:\n------- SEARCH>\na\n=======\nb\n+++++++ REPLACE\nDone.";
    assert_eq!(after(Change::Blocks(prose.into()), Some("a\n")), "b\n");
    let returns = "------- SEARCH\r\na\r\n=======\r\nb\r\n+++++++ REPLACE\r\n";
    assert_eq!(after(Change::Blocks(returns.into()), Some("a\n")), "b\n");
}

#[test]
fn every_changed_line_is_shown() {
    assert_eq!(unified("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    assert_eq!(unified("", "one\ntwo"), "@@ -1,0 +1,2 @@\n+one\n+two\n");
    assert_eq!(unified("same\n", "same\n"), "");
}
