//! What was recorded by mistake is taken back, and no advice leads to claiming the code of others.

use evidence::reassign::{ReassignTarget, reassign};
use ground::RelativePath;
use why::Workspace;

use super::lab::Lab;

const FILE: &str = "src/a.rs";

/// A repository with an intent in progress and committed code of which nothing is recorded.
fn begun() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.fine(&["select", "INT-001"]);
        let functions = (0..5).map(|at| format!("fn f{at}() {{\n    call({at});\n}}\n\n"));
        lab.write(FILE, functions.collect::<String>());
        lab.commit();
        lab
    })
}

fn append(lab: &Lab, text: &str) {
    lab.write(FILE, lab.read(FILE) + text);
}

fn open_records(lab: &Lab) -> u64 {
    lab.json(&["status"])["open_records"].as_u64().expect("a number")
}

/// Returns the intent of a line, as `why` says it.
fn intent_of(lab: &Lab, line: &str) -> Option<String> {
    let told = lab.json(&["why", line]);
    told["line"]["intent"]["id"]
        .as_str()
        .or(told["blocks"][0]["intent"]["id"].as_str())
        .map(str::to_owned)
}

fn refused(lab: &Lab, arguments: &[&str]) -> String {
    let output = lab.intent(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
#[ignore = "slow"]
fn a_comment_between_blocks_is_recorded_and_belongs_to_somebody() {
    let lab = begun();
    append(&lab, "// z\n");
    assert!(lab.fine(&["record", "src", "--agent", "codex"]).contains("1 line in 0 blocks"));
    for is_committed in [false, true] {
        if is_committed {
            lab.commit();
        }
        let told = lab.fine(&["why", "src/a.rs:21"]);
        assert!(told.contains("INT-001  Login") && told.contains("codex"), "{told}");
    }
    let told = String::from_utf8(lab.intent(&["record", "src"]).stdout).expect("UTF-8");
    assert!(told.contains("Nothing changed there"), "{told}");
}

#[test]
fn whole_files_with_committed_code_are_claimed_only_by_somebody_who_is_told_whose_it_is() {
    let lab = begun();
    append(&lab, "// z\n");
    let told = refused(&lab, &["record", "--all", FILE]);
    assert!(told.contains("--all claims committed code for INT-001: 20 lines of t"), "{told}");
    assert!(told.contains("--yes"), "{told}");
    assert_eq!(open_records(&lab), 0);
    lab.fine(&["record", "--all", "--lines", "1-3", FILE]);
    assert_eq!(intent_of(&lab, "src/a.rs:5"), None);
    lab.fine(&["record", "--all", "--yes", FILE]);
    assert_eq!(intent_of(&lab, "src/a.rs:5").as_deref(), Some("INT-001"));
    // Work that is in no commit is nobody else's.
    lab.write("src/new.rs", "fn new() {\n    call(9);\n}\n");
    lab.fine(&["record", "--all", "src/new.rs"]);
}

#[test]
#[ignore = "slow"]
fn the_last_record_is_taken_back_while_it_is_in_no_commit() {
    let lab = begun();
    append(&lab, "fn more() {\n    call(5);\n}\n");
    lab.write("src/b.rs", "fn b() {\n    call(6);\n}\n");
    lab.fine(&["record", FILE, "--agent", "codex"]);
    lab.fine(&["record", "src", "--all", "--yes", "--agent", "codex"]);
    assert_eq!(intent_of(&lab, "src/a.rs:2").as_deref(), Some("INT-001"));
    // All that one command recorded goes, and what an earlier one recorded stays.
    let told = lab.fine(&["record", "--undo"]);
    assert!(told.contains("src/a.rs") && told.contains("src/b.rs"), "{told}");
    assert_eq!(intent_of(&lab, "src/a.rs:2"), None);
    assert_eq!(intent_of(&lab, "src/a.rs:22").as_deref(), Some("INT-001"));
    assert_eq!(lab.json(&["verify"])["findings"], serde_json::json!([]));
    lab.fine(&["record", "--undo"]);
    assert_eq!(open_records(&lab), 0);
    assert!(refused(&lab, &["record", "--undo"]).contains("--to nobody"));
}

/// A seal by hand stages evidence before there is a commit, also of lines that are committed already.
#[test]
#[ignore = "slow"]
fn a_sealed_record_is_taken_back_from_the_next_commit() {
    for ways in [&["--agent", "codex"][..], &["--all", "--yes", "--agent", "codex"]] {
        let lab = begun();
        append(&lab, "fn kept() {\n    call(5);\n}\n");
        lab.fine(&["record", FILE, "--agent", "codex"]);
        append(&lab, "fn more() {\n    call(6);\n}\n");
        lab.fine(&[&["record", FILE], ways].concat());
        lab.run_git(&["add", "-A"]);
        lab.fine(&["seal"]);
        lab.fine(&["record", "--undo"]);
        let told = || ["src/a.rs:2", "src/a.rs:22", "src/a.rs:25"].map(|at| intent_of(&lab, at));
        let expected = [None, Some("INT-001".to_owned()), None];
        assert_eq!(told(), expected, "{ways:?}");
        lab.run_git(&["commit", "-q", "--no-verify", "-m", "a commit"]);
        assert_eq!(told(), expected, "{ways:?}");
        assert_eq!(lab.json(&["verify"])["findings"], serde_json::json!([]));
    }
    // Without hooks, the program finds out by itself that a record is in a commit.
    let lab = begun();
    append(&lab, "fn more() {\n    call(5);\n}\n");
    lab.fine(&["record", FILE, "--agent", "codex"]);
    lab.run_git(&["add", "-A"]);
    lab.fine(&["seal"]);
    lab.run_git(&["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "a commit"]);
    assert!(refused(&lab, &["record", "--undo"]).contains("--to nobody"));
}

#[test]
#[ignore = "slow"]
fn a_committed_record_is_taken_back_by_giving_its_lines_to_nobody() {
    let lab = begun();
    append(&lab, "fn more() {\n    call(5);\n}\n");
    lab.fine(&["record", FILE, "--agent", "codex"]);
    lab.commit();
    assert_eq!(intent_of(&lab, "src/a.rs:22").as_deref(), Some("INT-001"));
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let what = ReassignTarget::File(RelativePath::new(FILE).expect("a path"));
    let answer = reassign(&ws, &what, ("INT-001", None), Some("Ada".into())).expect("done");
    assert_eq!(answer.to, None);
    for sealed in [false, true] {
        if sealed {
            lab.fine(&["seal"]);
            lab.commit();
        }
        assert_eq!(intent_of(&lab, "src/a.rs:22"), None);
        let told = lab.fine(&["why", "src/a.rs:22"]);
        assert!(!told.contains("codex"), "{told}");
        assert_eq!(lab.json(&["verify"])["findings"], serde_json::json!([]));
    }
    let told = lab.fine(&["check", "--base", "HEAD~1"]);
    assert!(told.contains("Ada put recorded lines of src/a.rs under no intent"), "{told}");
    // Somebody else may answer for them now.
    lab.fine(&["record", "--all", "--lines", "21-23", FILE, "--me"]);
}

#[test]
#[ignore = "slow"]
fn work_that_was_taken_from_its_intent_is_still_judged_under_it() {
    let lab = begun();
    lab.write("lib/x.rs", "fn x() {\n    call(7);\n}\n");
    lab.intent(&["record", "lib/x.rs", "--agent", "codex"]);
    lab.fine(&["clear"]);
    lab.commit();
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let what = ReassignTarget::File(RelativePath::new("lib/x.rs").expect("a path"));
    reassign(&ws, &what, ("INT-001", None), None).expect("done");
    lab.fine(&["seal"]);
    lab.commit();
    let answer = lab.json(&["check", "HEAD~2..HEAD"]);
    let codes: Vec<_> = answer["findings"].as_array().expect("findings").iter().collect();
    assert!(codes.iter().any(|it| it["code"] == "scope-violation"), "{codes:?}");
}

#[test]
fn a_person_is_named_without_a_terminal_and_nobody_is_warned_about() {
    let lab = begun();
    lab.run_git(&["config", "user.name", "Ada Lovelace"]);
    append(&lab, "fn more() {\n    call(5);\n}\n");
    let told = lab.fine(&["record", FILE]);
    assert!(told.contains("does not say who wrote this"), "{told}");
    lab.fine(&["record", "--undo"]);
    let told = lab.fine(&["record", FILE, "--me"]);
    assert!(!told.contains("does not say"), "{told}");
    assert!(lab.fine(&["why", "src/a.rs:22"]).contains("Ada Lovelace"));
}
