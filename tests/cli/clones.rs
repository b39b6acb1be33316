//! A fresh clone, and commands about a commit or the index while the work tree differs from it.

use ledger::Digest;
use ledger::evidence::path_of;

use super::lab::{Lab, transcript};

const HOOKS: [&str; 5] =
    ["pre-commit", "pre-merge-commit", "commit-msg", "post-commit", "post-rewrite"];

/// A repository as it is after a clone: with a registry, and without git hooks.
fn cloned() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.fine(&["new", "Pages", "--scope", "web/**", "--start"]);
        lab.write("src/a.rs", "fn one() {\n    first();\n}\n");
        lab.commit();
        for hook in HOOKS {
            std::fs::remove_file(lab.root.join(".git/hooks").join(hook)).ok();
        }
        lab
    })
}

#[test]
fn a_clone_without_hooks_is_told_how_to_get_them() {
    let lab = cloned();
    lab.write("src/a.rs", "fn one() {\n    second();\n}\n");
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "select INT-001",
            "record src",
            "status",
            "check",
            "git-hooks --install",
            "select INT-001",
            "check"
        ]
    ));
}

#[test]
fn no_hint_about_hooks_if_they_are_declined_or_useless() {
    let declined = cloned();
    declined.run_git(&["config", "intent.hooks", "false"]);
    let ignored = cloned();
    ignored.run_git(&["rm", "-rq", "--cached", ".orchestration"]);
    ignored.write(".git/info/exclude", ".orchestration\n");
    let without_git = Lab::bare_folder();
    without_git.fine(&["init"]);
    without_git.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    for lab in [declined, ignored, without_git] {
        let told = lab.fine(&["select", "INT-001"]) + &lab.fine(&["status"]);
        assert!(!told.contains("git-hooks"), "{told}");
        lab.write("src/b.rs", "fn b() {}\n");
        let told = lab.fine(&["record", "--all", "--yes", "src/b.rs"]);
        assert!(!told.contains("git-hooks"), "{told}");
    }
}

#[test]
fn what_is_said_fits_the_state_of_git() {
    let record = |lab: &Lab| {
        lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
        lab.write("src/b.rs", "fn b() {}\n");
        lab.fine(&["record", "--all", "--yes", "--intent", "INT-001", "src/b.rs"])
    };
    let without_git = Lab::bare_folder();
    without_git.fine(&["init"]);
    let told = record(&without_git);
    assert!(told.contains("does not say who") && !told.contains("--undo"), "{told}");
    assert!(!without_git.intent(&["record", "--undo"]).status.success());
    let without_commits = Lab::governed();
    let told = record(&without_commits);
    assert!(told.contains("`intent record --undo`"), "{told}");
    let told = without_commits.fine(&["status"]);
    assert!(told.contains("1 record in no commit yet"), "{told}");
    without_commits.commit();
    without_commits.run_git(&["switch", "-q", "-c", "gone"]);
    without_commits.run_git(&["rm", "-rq", ".orchestration"]);
    without_commits.run_git(&["commit", "-q", "-m", "gone"]);
    without_commits.run_git(&["switch", "-q", "main"]);
    let told = without_commits.intent(&["check", "main..gone"]).stdout;
    let told = String::from_utf8(told).expect("UTF-8");
    assert!(told.contains("takes away the intents in .orchestration/intents/"), "{told}");
    let told = Lab::git().intent(&["doctor"]).stdout;
    let told = String::from_utf8(told).expect("UTF-8");
    assert!(told.contains("not needed before `intent setup init`"), "{told}");
}

#[test]
#[ignore = "slow"]
fn a_range_is_judged_by_its_commits_not_by_the_work_tree() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "fn one() {\n    first();\n}\n");
    lab.commit();
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    lab.fine(&["select", "INT-001"]);
    lab.write("src/a.rs", "fn one() {\n    second();\n}\n");
    lab.fine(&["record", "src", "--agent", "claude-code"]);
    lab.commit();
    lab.write("src/unrecorded.rs", "fn nobody() {}\n");
    lab.run_git(&["-c", "core.hooksPath=/dev/null", "add", "src/unrecorded.rs"]);
    lab.run_git(&["commit", "-qnm", "without a record"]);
    let ranges = [
        "check main..topic",
        "check main...topic",
        "check topic..main",
        "check main",
        "check main..nowhere",
    ];
    let honest = transcript(&lab, &ranges);
    // Another branch is checked out, and the work tree and the index differ from every commit: registry and evidence
    // are gone.
    lab.run_git(&["switch", "-q", "main"]);
    lab.run_git(&["rm", "-rq", "--cached", "."]);
    lab.write(".orchestration/active_intents.yaml", "active_intents: [\n");
    lab.write(".orchestration/policy.yaml", "levels: {unrecorded-change: error}\n");
    lab.write("src/a.rs", "fn one() {\n    lies();\n}\n");
    lab.write(".gitattributes", "* linguist-generated\n");
    std::fs::remove_dir_all(lab.root.join(".orchestration/agent_trace")).ok();
    assert_eq!(transcript(&lab, &ranges), honest);
    insta::assert_snapshot!(honest);
}

#[test]
fn the_index_is_judged_by_its_own_registry_and_evidence() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "fn one() {\n    first();\n}\n");
    lab.commit();
    lab.fine(&["select", "INT-001"]);
    lab.write("src/a.rs", "fn one() {\n    second();\n}\n");
    lab.fine(&["record", "src", "--agent", "claude-code"]);
    lab.run_git(&["add", "-A"]);
    lab.fine(&["seal"]);
    let honest = transcript(&lab, &["check --staged"]);
    // The work tree differs from the index: what is staged is recorded, and its evidence is only in the index.
    lab.write(".orchestration/active_intents.yaml", "active_intents: []\n");
    lab.write("src/a.rs", "fn one() {\n    lies();\n}\n");
    std::fs::remove_dir_all(lab.root.join(".orchestration/agent_trace")).expect("evidence");
    let told = transcript(&lab, &["check --staged"]);
    let other = "note: What is staged was judged by the rules that are staged.";
    assert!(told.contains(other), "{told}");
    let told: Vec<&str> = told.lines().filter(|line| !line.starts_with(other)).collect();
    assert_eq!(told, honest.lines().collect::<Vec<_>>());
    insta::assert_snapshot!(honest);
}

#[test]
#[ignore = "slow"]
fn every_command_says_that_evidence_has_a_newer_format() {
    let lab = Lab::with_list();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "");
    lab.commit();
    lab.write("src/a.rs", "fn one() {\n    first();\n}\n");
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
    lab.commit();
    let asked = [
        "-C ../clone why src/a.rs",
        "-C ../clone why src/a.rs:1",
        "-C ../clone list",
        "-C ../clone map --stdout",
        "-C ../clone context INT-001",
        "-C ../clone status",
        "-C ../clone trace src/a.rs",
        "-C ../clone record --all --yes --intent INT-001 src/a.rs",
    ];
    lab.run_git(&["clone", "-q", ".", "../clone"]);
    assert!(!transcript(&lab, &asked[..7]).contains("not read in full"));
    // The evidence is rewritten as a newer version of the program would write it.
    let held = lab.read_git(&["ls-files", ".orchestration/agent_trace"]);
    let path = held.lines().find(|path| lab.read(path).contains("src/a.rs"));
    let path = path.expect("evidence of the file");
    let newer = lab.read(path).replace("\"evidence\":3", "\"evidence\":4");
    std::fs::remove_file(lab.root.join(path)).expect("removed");
    let month = path.trim_start_matches(".orchestration/agent_trace/");
    lab.write(path_of(Digest::compute(newer.as_bytes()), month).as_str(), newer);
    lab.write("src/a.rs", "fn one() {\n    second();\n}\n");
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["-c", "core.hooksPath=/dev/null", "commit", "-qm", "by the next version"]);
    lab.run_git(&["-C", "../clone", "pull", "-q"]);
    insta::assert_snapshot!(transcript(&lab, &asked));
    let told = lab
        .intent(&["-C", "../clone", "record", "--all", "--yes", "--intent", "INT-001", "src/a.rs"]);
    assert_eq!(told.status.code(), Some(2));
    for command in [&["why", "src/a.rs"][..], &["map"], &["report"]] {
        let told = lab.json(&[&["-C", "../clone"], command].concat());
        let notes = told["notes"].as_array().expect("notes");
        assert!(notes.iter().any(|note| note.as_str().is_some_and(|it| it.contains("format 4"))));
    }
}

#[test]
fn a_check_of_a_range_has_no_note_about_uncommitted_records() {
    let lab = cloned();
    lab.write("src/a.rs", "fn one() {\n    second();\n}\n");
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "codex"]);
    assert!(lab.fine(&["check", "--base", "main"]).contains("1 record is in no commit yet"));
    let told = lab.fine(&["check", "main..HEAD"]);
    assert!(!told.contains("note:"), "{told}");
}

#[test]
fn very_many_new_files_are_judged_as_a_whole_but_for_recorded_ones() {
    let lab = cloned();
    for at in 0..520 {
        lab.write(&format!("src/data/f{at}.js"), format!("function f{at}() {{}}\n").as_bytes());
    }
    lab.write("outside.js", b"function outside() {}\n");
    lab.write("src/work.js", b"function work() {\n  return 1\n}\n");
    lab.fine(&["record", "src/work.js", "--intent", "INT-001", "--agent", "codex"]);
    let output = lab.intent(&["check", "--verbose"]);
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(told.contains("There are 521 new files without a record"), "{told}");
    assert!(told.contains("outside.js is new") && told.contains("src/data/f7.js is new"), "{told}");
    assert!(!told.contains("src/work.js"), "{told}");
}

#[test]
fn a_binary_file_has_one_note() {
    let lab = cloned();
    lab.write("src/a.bin", b"a\0b");
    let told = lab.fine(&["check"]);
    let notes: Vec<&str> = told.lines().filter(|line| line.starts_with("note:")).collect();
    assert_eq!(
        notes,
        [
            "note: src/a.bin: the file is binary; binary files are not read. It was judged as a whole."
        ]
    );
}
