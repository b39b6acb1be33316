//! `intent evidence compact` unites the evidence of a closed month in one file; no answer changes.

use evidence::compact::{CompactAnswer, compact};
use why::Workspace;

use super::lab::{Lab, transcript};

/// A history with every kind of evidence: of several sessions, sealed late, renamed, deleted, of an approval, from a
/// branch.
fn worked_in() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        for name in ["One", "Two"] {
            lab.fine(&["new", name, "--scope", "src/**", "--start"]);
        }
        lab.commit();
        let body =
            |name: &str, n: usize| format!("fn {name}() {{\n    call({n});\n    stay();\n}}\n\n");
        let record = |intent: &str, session: &str| {
            lab.fine(&[
                "record",
                "src",
                "--intent",
                intent,
                "--agent",
                "codex",
                "--session",
                session,
            ]);
        };
        lab.write("src/a.rs", body("a", 1) + &body("b", 1));
        record("INT-001", "codex:1");
        lab.commit();
        lab.write("src/a.rs", body("a", 2) + &body("b", 1) + &body("c", 1));
        record("INT-002", "codex:2");
        lab.write("src/b.rs", body("d", 1));
        record("INT-001", "codex:1");
        lab.commit();
        // Commits without hooks: sealed late, in one file for two commits.
        for n in 3..5 {
            lab.write("src/a.rs", body("a", n) + &body("b", n) + &body("c", 1));
            record("INT-001", "codex:3");
            lab.run_git(&["add", "-A"]);
            lab.run_git(&["commit", "-q", "-n", "-m", "without hooks"]);
        }
        lab.fine(&["seal"]);
        lab.run_git(&["mv", "src/b.rs", "src/e.rs"]);
        lab.write("src/e.rs", body("d", 2) + &body("e", 1));
        record("INT-002", "codex:2");
        lab.commit();
        lab.write("src/a.rs", body("a", 4) + &body("c", 1));
        record("INT-001", "codex:1");
        lab.commit();
        lab
    })
}

/// Returns the answers about every block, as JSON.
fn answers(lab: &Lab, folder: &str) -> Vec<String> {
    let ask = |arguments: &[&str]| lab.fine(&[&["-C", folder, "--json"], arguments].concat());
    let why = ["src/a.rs", "src/e.rs"].map(|file| ask(&["why", file, "--lines", "--history"]));
    let verify = |text: String| {
        let mut told: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        told["files"].take();
        told.to_string()
    };
    let mut all = why.to_vec();
    all.extend([ask(&["why", "src/a.rs:2", "--lines"]), ask(&["map", "--stdout"])]);
    all.push(verify(ask(&["verify", "--blocks"])));
    all
}

fn unite(lab: &Lab) -> CompactAnswer {
    compact(
        &Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace"),
        "9999-12",
        false,
    )
    .expect("united")
}

fn clone(lab: &Lab, name: &str) -> String {
    let folder = format!("../{name}");
    lab.run_git(&["clone", "-q", ".", &folder]);
    folder
}

/// Returns the files of evidence, but for those that are found by the commit that they name.
fn evidence(lab: &Lab) -> Vec<String> {
    let listed = lab.git_says(&["ls-files", ".orchestration/agent_trace"]);
    let is_of_month = |path: &&str| path.ends_with(".jsonl") && !path.contains("/late/");
    listed.lines().filter(is_of_month).map(str::to_owned).collect()
}

#[test]
#[ignore = "slow"]
fn compacting_changes_no_answer() {
    let lab = worked_in();
    let (here, there) = (answers(&lab, "."), answers(&lab, &clone(&lab, "before")));
    lab.run_git(&["switch", "-q", "-c", "tidy"]);
    assert_eq!(unite(&lab).months.len(), 1);
    assert_eq!(answers(&lab, "."), here, "before it is committed");
    // The hooks do not take the new file for a draft of their own, and leave no other file.
    lab.run_git(&["commit", "-q", "-a", "-m", "compact"]);
    assert_eq!(lab.git_says(&["status", "--short"]), "");
    assert_eq!(evidence(&lab).len(), 1);
    assert_eq!(answers(&lab, "."), here, "in the clone that recorded");
    assert_eq!(answers(&lab, &clone(&lab, "after")), there, "in a fresh clone");
    let told = lab.json(&["check", "--base", "main"]);
    assert_eq!(told["summary"]["errors"], 0, "{told}");
    assert_eq!(told["summary"]["notes"], serde_json::json!([]), "{told}");
    assert!(unite(&lab).months.is_empty());
    // After a revert, each file of evidence still belongs to the commit that first contained it.
    lab.run_git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(answers(&lab, "."), here, "after a revert");
    assert_eq!(answers(&lab, &clone(&lab, "reverted")), there, "after a revert, in a fresh clone");
}

#[test]
#[ignore = "slow"]
fn branches_that_both_compact_can_be_merged() {
    let lab = worked_in();
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    lab.write("src/f.rs", "fn f() {\n    call(9);\n}\n");
    lab.fine(&["record", "src/f.rs", "--intent", "INT-001", "--agent", "codex"]);
    lab.commit();
    let (here, records) = (answers(&lab, "."), lab.fine(&["trace", "--json"]));
    unite(&lab);
    lab.commit();
    lab.run_git(&["switch", "-q", "main"]);
    unite(&lab);
    lab.commit();
    lab.run_git(&["merge", "-q", "--no-edit", "topic"]);
    // Both files are kept, and a record that is in both counts once. So does one that was open again
    // on the other branch.
    assert_eq!(evidence(&lab).len(), 2);
    assert_eq!(lab.fine(&["trace", "--json"]).lines().count(), records.lines().count());
    lab.fine(&["seal"]);
    assert_eq!(answers(&lab, "."), here);
    assert_eq!(lab.git_says(&["status", "--short"]), "");
    unite(&lab);
    lab.commit();
    assert_eq!(evidence(&lab).len(), 1);
    assert_eq!(answers(&lab, "."), here);
}

#[test]
#[ignore = "slow"]
fn compacted_evidence_survives_a_squash() {
    let lab = worked_in();
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    lab.write("src/f.rs", "fn f() {\n    call(9);\n}\n");
    lab.fine(&["record", "src/f.rs", "--intent", "INT-001", "--agent", "codex"]);
    lab.commit();
    unite(&lab);
    lab.commit();
    lab.run_git(&["switch", "-q", "main"]);
    lab.run_git(&["merge", "-q", "--squash", "topic"]);
    lab.run_git(&["commit", "-q", "-m", "squashed"]);
    let folder = clone(&lab, "fresh");
    let told = lab.fine(&["-C", &folder, "why", "src/f.rs:2", "--json"]);
    assert!(told.contains("\"exact\"") && told.contains("INT-001"), "{told}");
}

#[test]
#[ignore = "slow"]
fn a_month_that_is_not_closed_is_not_compacted() {
    let lab = worked_in();
    insta::assert_snapshot!(transcript(&lab, &["compact", "compact --dry-run --json"]));
}
