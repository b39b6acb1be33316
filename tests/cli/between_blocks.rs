//! Lines outside of blocks, and lines that do not parse, are judged by their records as those of blocks are.

use std::collections::BTreeSet;

use super::lab::Lab;

/// A file name, two definitions of its language, and a comment.
const LANGUAGES: &[[&str; 4]] = &[
    ["a.py", "def one():\n    return 1\n", "def two():\n    return 2\n", "# A note."],
    ["a.rs", "fn one() {\n    two();\n}\n", "fn two() {\n    one();\n}\n", "// A note."],
    ["a.ts", "function one() {\n  two();\n}\n", "function two() {\n  one();\n}\n", "// A note."],
    ["a.go", "package one\n\nvar One = 1\n", "func two() {\n\tone()\n}\n", "// A note."],
    ["a.yaml", "one:\n  first: 1\n", "two:\n  second: 2\n", "# A note."],
    ["a.toml", "[one]\nfirst = 1\n", "[two]\nsecond = 2\n", "# A note."],
    ["Dockerfile", "FROM one\n", "RUN two\n", "# A note."],
    ["Makefile", "one:\n\ttouch one\n", "two: one\n\ttouch two\n", "# A note."],
    ["a.json", "{\n  \"one\": 1,\n", "  \"two\": 2\n}\n", "// A note."],
    ["a.sql", "CREATE TABLE one (first int);\n", "CREATE TABLE two (second int);\n", "-- A note."],
    ["a.md", "# One\n\nIt is first.\n", "# Two\n\nIt is second.\n", "<!-- A note. -->"],
];
const CHANGES: [&str; 5] = ["header", "trailing", "between", "removed", "unparsable"];

/// Returns the text before a change and after it.
fn texts(change: &str, [_, one, two, note]: &[&str; 4]) -> [String; 2] {
    let (plain, noted) = (format!("{one}\n{two}"), format!("{one}\n{note}\n\n{two}"));
    match change {
        "header" => [plain.clone(), format!("{note}\n\n{plain}")],
        "trailing" => [plain.clone(), format!("{plain}\n{note}\n")],
        "between" => [plain, noted],
        "removed" => [noted, plain],
        _ => [plain.clone(), format!("{plain}\n)) }}}} broken ((\n")],
    }
}

struct Changed {
    lab: Lab,
    /// The files with a change that no record describes, and those with one that a record does.
    unrecorded: BTreeSet<String>,
    recorded: BTreeSet<String>,
}

/// Changes all files, and records the changes under an intent if one is given.
fn changed(intent: Option<&str>) -> Changed {
    let lab = Lab::with_list();
    for scope in ["src/**", "other/**"] {
        lab.fine(&["new", scope, "--scope", scope, "--start"]);
    }
    let files = CHANGES.iter().flat_map(|change| LANGUAGES.iter().map(move |one| (*change, one)));
    let file = |(change, one): (&str, &[&str; 4])| {
        (format!("src/{change}/{}", one[0]), texts(change, one))
    };
    let files: Vec<(String, [String; 2])> = files.map(file).collect();
    files.iter().for_each(|(path, [before, _])| lab.write(path, before));
    lab.commit();
    files.iter().for_each(|(path, [_, after])| lab.write(path, after));
    let Some(intent) = intent else {
        let unrecorded = files.into_iter().map(|(path, _)| path).collect();
        return Changed { lab, unrecorded, recorded: BTreeSet::new() };
    };
    let answer = lab.json(&["record", "src", "--agent", "codex", "--intent", intent]);
    let paths = |list: &str| -> BTreeSet<String> {
        let files = answer[list].as_array().expect("files").iter();
        files.map(|file| file["path"].as_str().expect("a path").to_owned()).collect()
    };
    Changed { unrecorded: paths("skipped"), recorded: paths("recorded"), lab }
}

/// Returns the paths about which there is such a finding.
fn found(lab: &Lab, arguments: &[&str], code: &str) -> BTreeSet<String> {
    let output = lab.intent(&[arguments, &["--json"]].concat());
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let findings = told["findings"].as_array().expect("findings").iter();
    let findings = findings.filter(|finding| finding["code"] == code);
    findings.map(|finding| finding["path"].as_str().expect("a path").to_owned()).collect()
}

/// Checks the change in the work tree, then as a commit, where it was made and in a fresh clone.
fn assert_found(changed: &Changed, out_of_scope: &BTreeSet<String>) {
    let lab = &changed.lab;
    let assert_told = |arguments: &[&str]| {
        let unrecorded = found(lab, arguments, "unrecorded-change");
        assert_eq!(unrecorded, changed.unrecorded, "{arguments:?}");
        assert_eq!(found(lab, arguments, "scope-violation"), *out_of_scope, "{arguments:?}");
    };
    assert_told(&["check"]);
    lab.commit();
    assert_told(&["check", "--base", "HEAD~1"]);
    let clone = format!("{}-clone", lab.root.file_name().expect("a name").to_string_lossy());
    lab.run_git(&["clone", "-q", "--no-local", ".", &format!("../{clone}")]);
    assert_told(&["-C", &format!("../{clone}"), "check", "--base", "HEAD~1"]);
}

#[test]
#[ignore = "slow"]
fn lines_outside_of_blocks_are_judged_by_their_records() {
    assert_found(&changed(None), &BTreeSet::new());
    let recorded = changed(Some("INT-001"));
    // What is only removed between blocks, or does not parse, is in no record.
    let is_described = |path: &&String| {
        let may_be_left_out =
            ["src/removed", "src/unparsable"].iter().any(|it| path.starts_with(it));
        !may_be_left_out && !path.ends_with(".json")
    };
    assert_eq!(recorded.unrecorded.iter().find(is_described), None);
    assert_found(&recorded, &BTreeSet::new());
    // What no record describes is out of scope as well, because all other work of the change is.
    let recorded = changed(Some("INT-002"));
    let all = recorded.recorded.union(&recorded.unrecorded).cloned().collect();
    assert_found(&recorded, &all);
}

#[test]
fn blank_lines_say_nothing_and_every_counted_change_is_listed() {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.fine(&["select", "INT-001"]);
    let write = |change: &str, text: &dyn Fn([String; 2]) -> String| {
        for one in LANGUAGES {
            lab.write(&format!("src/{}", one[0]), text(texts(change, one)));
        }
    };
    write("trailing", &|[before, _]| before);
    lab.commit();
    write("trailing", &|[before, _]| format!("{}\n\n", before.replacen("\n\n", "\n \n\n", 1)));
    let told = lab.json(&["check"]);
    assert_eq!(told["summary"]["uncovered"], 0);
    let told = lab.json(&["record", "src/a.py", "--intent", "INT-001"]);
    let reason = told["skipped"][0]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("only blank lines differ"), "{reason}");
    // An intent is selected, so no finding names the changes.
    write("trailing", &|[_, after]| after);
    let told = lab.fine(&["check", "--verbose"]);
    assert!(told.contains("11 changes covered by no record"), "{told}");
    assert_eq!(told.matches(", and no record covers it.").count(), 11, "{told}");
    assert!(lab.fine(&["check"]).contains("(--verbose lists them)"));
}

#[test]
#[ignore = "slow"]
fn a_line_between_blocks_that_was_put_back_is_not_new() {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    let paths: Vec<String> = LANGUAGES[..2].iter().map(|one| format!("src/{}", one[0])).collect();
    let write = |change: &dyn Fn(&[&str; 4]) -> String| {
        LANGUAGES.iter().zip(&paths).for_each(|(one, path)| lab.write(path, change(one)));
    };
    let noted = |one: &[&str; 4]| texts("between", one)[1].clone();
    write(&noted);
    lab.commit();
    lab.run_git(&["branch", "-q", "before"]);
    write(&|one| texts("between", one)[0].clone());
    lab.commit();
    write(&noted);
    lab.commit();
    write(&|one| noted(one) + "\n" + &one[1].replace("one", "three"));
    lab.fine(&["record", "src", "--agent", "codex", "--intent", "INT-001"]);
    lab.commit();
    let told = lab.json(&["check", "--base", "before"]);
    assert_eq!(told["summary"]["uncovered"], 0, "{told}");
}
