//! Undone changes, and records whose code waits for a commit: what is lost, counted, kept and printed.

use serde_json::Value;

use super::lab::Lab;

const BEFORE: &str = "fn one() {\n    call(1);\n    call(2);\n}\n\nfn two() {\n    call(3);\n}\n";
const FILE: &str = "src/a.rs";

/// A repository with two intents and a file without records.
fn begun() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        for name in ["Login", "Tokens"] {
            lab.fine(&["new", name, "--scope", "src/**", "--start"]);
        }
        lab.write(FILE, BEFORE);
        lab.commit();
        lab
    })
}

/// Writes a text and records it under the first intent.
fn record(lab: &Lab, path: &str, text: &str) {
    lab.write(path, text);
    lab.fine(&["record", path, "--intent", "INT-001", "--agent", "codex", "--session", "s"]);
}

fn edited() -> String {
    BEFORE.replace("call(1)", "recorded(1)")
}

fn open(lab: &Lab) -> u64 {
    lab.json(&["status"])["open_records"].as_u64().expect("a number")
}

fn doctor(lab: &Lab) -> String {
    String::from_utf8(lab.intent(&["doctor"]).stdout).expect("UTF-8")
}

/// Asserts that nothing is lost or left to do, and that `doctor` mentions kept records if there are any.
fn assert_undone(lab: &Lab, kept: usize) {
    assert_eq!(open(lab), 0);
    let checked = lab.fine(&["check"]);
    assert!(!checked.contains("in no commit"), "{checked}");
    assert_eq!(lab.fine(&["seal"]), "Nothing that was recorded is left to seal.\n");
    let told = doctor(lab);
    assert_eq!(told.contains("of code that was not found here"), kept > 0, "{told}");
}

#[test]
#[ignore = "slow"]
fn an_undone_edit_leaves_nothing_to_do() {
    let added = "\nfn added() {\n    recorded(2);\n}\n";
    for text in [edited(), BEFORE.to_owned() + added, edited() + added] {
        let lab = begun();
        record(&lab, FILE, &text);
        assert_eq!(open(&lab), 1);
        lab.run_git(&["checkout", "-q", "--", FILE]);
        assert_undone(&lab, 1);
        // After a commit that changes the file without the code, its record is not kept any more.
        lab.write(FILE, BEFORE.replace("call(3)", "call(4)"));
        lab.commit();
        assert_undone(&lab, 0);
    }
    let lab = begun();
    record(&lab, FILE, &edited());
    lab.write(FILE, BEFORE);
    assert_undone(&lab, 1);
}

#[test]
fn a_stashed_edit_has_its_record_again_after_the_pop() {
    let lab = begun();
    record(&lab, FILE, &edited());
    lab.run_git(&["stash", "-q"]);
    assert_undone(&lab, 1);
    lab.run_git(&["stash", "pop", "-q"]);
    assert_eq!(open(&lab), 1);
}

#[test]
#[ignore = "slow"]
fn a_reverted_commit_leaves_nothing_to_do() {
    for text in [edited(), BEFORE.to_owned() + "\nfn added() {\n    recorded(2);\n}\n"] {
        let lab = begun();
        record(&lab, FILE, &text);
        lab.commit();
        assert_eq!(open(&lab), 0);
        lab.run_git(&["revert", "--no-edit", "HEAD"]);
        assert_undone(&lab, 0);
        // The next commit does not bring the evidence back.
        lab.write("src/b.rs", "fn b() {}\n");
        lab.commit();
        assert_undone(&lab, 0);
        // The commit leaves the history, so its record is kept for the case that the code comes back.
        lab.run_git(&["reset", "-q", "--hard", "HEAD~3"]);
        lab.fine(&["seal"]);
        assert_undone(&lab, 1);
    }
}

#[test]
#[ignore = "slow"]
fn work_on_another_branch_is_not_lost() {
    let lab = begun();
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    lab.write("src/b.rs", "fn b() {}\n");
    lab.commit();
    record(&lab, FILE, &edited());
    lab.run_git(&["commit", "-q", "-a", "-n", "-m", "without hooks"]);
    assert_eq!(open(&lab), 1);
    lab.run_git(&["switch", "-q", "main"]);
    assert_undone(&lab, 1);
}

#[test]
#[ignore = "slow"]
fn a_record_waits_until_its_code_is_staged() {
    let lab = begun();
    record(&lab, FILE, &edited());
    let waits = "1 record waits for its code to be staged: `git add src/a.rs && intent evidence seal`; a commit with that code takes it too.\n";
    for arguments in [&["seal"][..], &["seal", "--dry-run"]] {
        assert_eq!(lab.fine(arguments), waits);
    }
    lab.run_git(&["add", FILE]);
    record(&lab, "src/b.rs", "fn b() {\n    recorded(2);\n}\n");
    let told = lab.fine(&["seal", "--dry-run"]);
    assert!(told.contains("1 record would be sealed\n"), "{told}");
    assert!(told.contains("`git add src/b.rs && intent evidence seal`"), "{told}");
}

#[test]
fn lines_in_another_order_leave_nothing_to_do() {
    let lab = begun();
    record(&lab, FILE, &BEFORE.replacen("    call(1)", "    recorded();\n    call(1)", 1));
    lab.write(FILE, BEFORE.replacen("call(2);\n", "call(2);\n    recorded();\n", 1));
    lab.commit();
    assert_eq!(open(&lab), 0);
    assert_eq!(lab.fine(&["seal"]), "Nothing that was recorded is left to seal.\n");
}

/// Returns the number of mutations that are open in this clone, and of those of its commits.
fn kept(lab: &Lab) -> [usize; 2] {
    ["open", "settled"].map(|name| {
        let folder = lab.root.join(".git/intent").join(name).join("main");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let texts = files.map(|file| std::fs::read_to_string(file.path()).expect("text"));
        texts.map(|text| text.matches("\"mutation\"").count()).sum()
    })
}

#[test]
#[ignore = "slow"]
fn evidence_of_a_squashed_branch_is_completed() {
    let lab = begun();
    lab.run_git(&["init", "-q", "--bare", "-b", "main", "../shared"]);
    lab.run_git(&["remote", "add", "origin", "../shared"]);
    lab.run_git(&["push", "-q", "origin", "main"]);
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    let first = "    recorded(1);\n    recorded(3);\n    call(1)";
    record(&lab, FILE, &BEFORE.replacen("    call(1)", first, 1));
    lab.commit();
    let all = first.replacen("    recorded(3)", "    recorded(2);\n    recorded(3)", 1);
    lab.write(FILE, BEFORE.replacen("    call(1)", &all, 1));
    lab.fine(&["record", FILE, "--intent", "INT-002", "--agent", "codex", "--session", "t"]);
    lab.commit();
    lab.run_git(&["push", "-q", "origin", "topic"]);
    lab.run_git(&["switch", "-q", "main"]);
    lab.fine(&["seal"]);
    assert_eq!(kept(&lab), [0, 2], "the branch still has its commits");
    // Squashes the branch as a forge does, without hooks. The second commit broke a run of the first.
    lab.run_git(&["merge", "-q", "--squash", "topic"]);
    lab.run_git(&["commit", "-q", "-n", "-m", "squashed"]);
    lab.fine(&["seal"]);
    assert_eq!(kept(&lab), [1, 1], "the evidence of one record lacks lines");
    lab.commit();
    assert_eq!(kept(&lab), [0, 2]);
    lab.run_git(&["push", "-q", "origin", "main"]);
    for (line, intent) in [("src/a.rs:2", "INT-001"), ("src/a.rs:3", "INT-002")] {
        let told = lab.fine(&["why", line]);
        assert!(told.starts_with(intent), "{line}: {told}");
    }
    lab.fine(&["seal"]);
    assert_eq!(kept(&lab), [0, 0], "the evidence is on the shared main");
}

#[test]
#[ignore = "slow"]
fn a_line_whose_commit_left_the_history_is_named_once() {
    let leave: [&[&[&str]]; 3] = [
        &[&["switch", "-q", "main"], &["merge", "-q", "--squash", "topic"]],
        &[&["reset", "-q", "--soft", "main"]],
        &[&["reset", "-q", "--mixed", "main"]],
    ];
    for commands in leave {
        let lab = begun();
        lab.run_git(&["switch", "-q", "-c", "topic"]);
        let both = "    recorded(1);\n    recorded(2);\n    call(1)";
        record(&lab, FILE, &BEFORE.replacen("    call(1)", both, 1));
        lab.commit();
        // Another intent changes the first one of the two lines that one run names.
        lab.write(FILE, lab.read(FILE).replace("recorded(1)", "changed(1)"));
        lab.fine(&["record", FILE, "--intent", "INT-002", "--agent", "codex", "--session", "t"]);
        lab.commit();
        commands.iter().for_each(|command| lab.run_git(command));
        lab.run_git(&["commit", "-q", "-a", "-m", "anew"]);
        assert_eq!(lab.read_git(&["status", "--porcelain"]), "", "{commands:?}");
        let trace = ".orchestration/agent_trace";
        let naming = lab.read_git(&["grep", "-l", FILE, "HEAD", "--", trace]);
        assert_eq!(naming.lines().count(), 1, "{commands:?}: {naming}");
        for (line, intent) in [("src/a.rs:2", "INT-002"), ("src/a.rs:3", "INT-001")] {
            let told = lab.fine(&["why", line]);
            assert!(told.starts_with(intent), "{commands:?}: {line}: {told}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn lines_that_another_hook_indents_after_the_seal_keep_their_names() {
    let lab = begun();
    record(&lab, FILE, &edited());
    lab.run_git(&["add", FILE]);
    lab.fine(&["seal"]);
    lab.write(FILE, lab.read(FILE).replace("    ", "\t"));
    lab.run_git(&["commit", "-q", "-a", "-n", "-m", "formatted"]);
    assert_eq!(open(&lab), 1, "the runs of the evidence are not in the commit");
    lab.fine(&["seal"]);
    lab.commit();
    assert_eq!(open(&lab), 0);
    lab.run_git(&["clone", "-q", ".", "../fresh"]);
    let told = lab.fine(&["-C", "../fresh", "why", "src/a.rs:2"]);
    assert!(told.starts_with("INT-001"), "{told}");
}

#[test]
#[ignore = "slow"]
fn records_of_a_removed_work_tree_are_found() {
    let lab = begun();
    lab.run_git(&["worktree", "add", "-q", "../gone", "-b", "topic"]);
    std::fs::write(lab.root.join("../gone").join(FILE), edited()).expect("written");
    let there = |arguments: &[&str]| lab.fine(&[&["-C", "../gone"], arguments].concat());
    there(&["record", FILE, "--intent", "INT-001", "--agent", "codex", "--session", "s"]);
    lab.run_git(&["-C", "../gone", "commit", "-q", "-a", "-n", "-m", "without hooks"]);
    assert_eq!(
        doctor(&lab).matches("of code that was not found here").count(),
        0,
        "the other work tree has the code"
    );
    lab.run_git(&["worktree", "remove", "../gone"]);
    assert_undone(&lab, 1);
    lab.run_git(&["merge", "-q", "--ff-only", "topic"]);
    assert_eq!(open(&lab), 1);
    assert!(lab.fine(&["why", "src/a.rs:2"]).starts_with("INT-001"));
    lab.fine(&["seal"]);
    lab.commit();
    assert_eq!(open(&lab), 0);
    assert!(lab.fine(&["why", "src/a.rs:2"]).starts_with("INT-001"));
}

#[test]
#[ignore = "slow"]
fn evidence_that_a_commit_left_out_is_reported() {
    let lab = begun();
    lab.run_git(&["config", "core.hooksPath", "/dev/null"]);
    let base = lab.read_git(&["rev-parse", "HEAD"]);
    record(&lab, FILE, &edited());
    lab.run_git(&["add", FILE]);
    lab.fine(&["seal"]);
    lab.run_git(&["commit", "-q", "-m", "without the evidence", FILE]);
    let told = lab.fine(&["status"]);
    assert!(told.contains("1 file in no commit"), "{told}");
    lab.run_git(&["reset", "-q"]);
    let told = lab.fine(&["check", "--staged"]);
    assert!(told.contains("1 file of evidence not staged"), "{told}");
    let told = lab.fine(&["seal"]);
    assert!(told.contains("INT-001  src/a.rs in "), "{told}");
    lab.run_git(&["commit", "-q", "-m", "evidence"]);
    assert!(!lab.fine(&["status"]).contains("evidence"));
    let told = lab.fine(&["check", "--base", base.trim()]);
    assert!(told.contains("0 errors, 0 warnings in 1 changed block"), "{told}");
}

/// Returns what the evidence at `HEAD` says was done to intents.
fn registry_records(lab: &Lab) -> Vec<String> {
    assert!(!lab.fine(&["verify"]).contains("unknown-intent"));
    let lines = lab.git_says(&["grep", "-h", "\"registry\"", "HEAD", "--", ".orchestration"]);
    let told = lines.lines().map(|line| {
        let record: Value = serde_json::from_str(line).expect("a record");
        let part = |key: &str| record[key].as_str().expect("a string").to_owned();
        format!("{} {}", part("intent_id"), part("note"))
    });
    told.collect()
}

#[test]
#[ignore = "slow"]
fn undone_changes_of_an_intent_are_not_sealed() {
    let lab = begun();
    let of_both = registry_records(&lab);
    lab.fine(&["new", "Payments", "--scope", "pay/**"]);
    lab.fine(&["complete", "INT-002"]);
    lab.run_git(&["reset", "-q", "--hard"]);
    record(&lab, FILE, &edited());
    lab.commit();
    assert_eq!(registry_records(&lab), of_both);
    // An intent that is changed by hand before its commit counts as the same intent. The number of
    // the one that was undone is not given again.
    lab.fine(&["new", "Refunds", "--scope", "pay/**"]);
    let registry = ".orchestration/active_intents.yaml";
    lab.write(registry, lab.read(registry).replace("Refunds", "Returns"));
    lab.commit();
    let (now, created) = (registry_records(&lab), "INT-004 created".to_owned());
    assert!(now.len() > of_both.len() && now.contains(&created), "{now:?}");
}

#[test]
#[ignore = "slow"]
fn records_of_another_branch_cause_no_finding() {
    let verdicts = [
        &["check", "--fail-on", "hint"][..],
        &["check", "--staged", "--fail-on", "hint"],
        &["check", "--base", "main", "--fail-on", "hint"],
        &["verify"],
        &["status"],
    ];
    // The work on the branch is committed with hooks, committed without hooks, stashed, or recorded after its commit.
    for way in ["hooks", "no hooks", "stash", "as it stood"] {
        let lab = Lab::with_list();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.write(FILE, BEFORE);
        lab.commit();
        lab.run_git(&["switch", "-q", "-c", "topic"]);
        lab.fine(&["new", "Tokens", "--scope", "lib/**", "--start"]);
        lab.write("lib/b.rs", "fn b() {}\n");
        let record: &[&str] = &["record", "lib/b.rs", "--intent", "INT-002", "--agent", "codex"];
        if way == "as it stood" {
            lab.commit();
            lab.fine(&[record, &["--all", "--yes"]].concat());
        } else {
            lab.fine(record);
        }
        match way {
            "hooks" => lab.commit(),
            "no hooks" => {
                lab.run_git(&["add", "-A"]);
                lab.run_git(&["commit", "-qnm", "without hooks"]);
            }
            "stash" => lab.run_git(&["stash", "-qu"]),
            _ => {}
        }
        assert_eq!(lab.intent(&["verify"]).status.code(), Some(0), "{way}");
        lab.run_git(&["switch", "-q", "main"]);
        for arguments in verdicts {
            let told = lab.fine(arguments);
            assert!(!told.contains("unknown-intent") && !told.contains("✗"), "{way}: {told}");
        }
    }
}

#[test]
fn a_record_under_a_removed_intent_is_a_finding() {
    let lab = begun();
    record(&lab, FILE, &edited());
    let list = ".orchestration/active_intents.yaml";
    lab.write(list, lab.read(list).replace("INT-001", "INT-007"));
    for arguments in [["verify"], ["check"]] {
        let found = String::from_utf8(lab.intent(&arguments).stdout).expect("UTF-8");
        assert!(found.contains("unknown-intent"), "{found}");
        assert!(
            found.contains("`intent evidence reassign src/a.rs --from INT-001 --to ID`"),
            "{found}"
        );
    }
}

/// Recording a folder says nothing about blocks that came with another branch. Only a file that was named itself and of
/// which nothing was recorded gets a message.
#[test]
#[ignore = "slow"]
fn blocks_that_came_with_a_commit_are_not_mentioned() {
    let lab = begun();
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    let topic = BEFORE.replace("call(3)", "typed(3)") + "\nfn three() {\n    typed(4);\n}\n";
    lab.write(FILE, &topic);
    lab.write("src/b.rs", "fn other() {\n    typed(5);\n}\n");
    lab.commit();
    lab.run_git(&["switch", "-q", "main"]);
    record(&lab, FILE, &edited());
    record(&lab, "src/only_here.rs", "fn here() {\n    recorded(6);\n}\n");
    lab.commit();
    lab.run_git(&["switch", "-q", "topic"]);
    let told = |path: &str| {
        let output = lab.intent(&["record", path, "--intent", "INT-001", "--agent", "codex"]);
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let nothing = "Nothing changed there since it was recorded or committed; --all --lines A-B claims lines that have no record\n";
    assert_eq!(told("src"), nothing);
    let one_line = "- not recorded: src/a.rs\n  it is as it was recorded or committed before; `--undo` takes back the last record, and `--all --lines A-B` claims lines that have no record\n";
    assert_eq!(told(FILE), one_line);
    for (path, call) in [(FILE, "call(2)"), ("src", "typed(4)")] {
        lab.write(FILE, lab.read(FILE).replace(call, "edited()"));
        assert_eq!(told(path), "✓ src/a.rs  1 line in 1 block under INT-001  evolution\n");
    }
}
