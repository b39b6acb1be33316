//! What evidence says about code that was changed after it was recorded, and about rewritten commits.
use super::lab::Lab;

const FILE: &str = "src/a.rs";

fn governed() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        for name in ["One", "Two"] {
            lab.fine(&["new", name, "--scope", "src/**", "--start"]);
        }
        lab.write(FILE, function(&["stood(1)", "stood(2)"]));
        lab.commit();
        lab
    })
}

fn function(calls: &[&str]) -> String {
    let calls: String = calls.iter().map(|call| format!("    {call};\n")).collect();
    format!("fn work() {{\n{calls}    stay();\n}}\n")
}

fn record(lab: &Lab, intent: &str, calls: &[&str]) {
    lab.write(FILE, function(calls));
    lab.fine(&["record", FILE, "--intent", intent, "--agent", "codex", "--session", intent]);
}

/// Returns the verdict of the only block and the intent of each of its lines, as a fresh clone answers.
fn told(lab: &Lab) -> (String, Vec<Option<String>>) {
    let clone = format!("{}-clone", lab.root.file_name().expect("a name").to_string_lossy());
    let folder = lab.root.with_file_name(&clone);
    std::fs::remove_dir_all(&folder).ok();
    lab.run_git(&["clone", "-q", ".", &format!("../{clone}")]);
    let answer = lab.json(&["-C", &format!("../{clone}"), "why", FILE, "--lines"]);
    std::fs::remove_dir_all(&folder).ok();
    let block = &answer["blocks"][0];
    let mut lines = Vec::new();
    for run in block["lines"]["runs"].as_array().into_iter().flatten() {
        let intent = run["from"]["intent"].as_str().map(str::to_owned);
        let count = run["end"].as_u64().expect("a line") - run["start"].as_u64().expect("a line");
        lines.extend((0..=count).map(|_| intent.clone()));
    }
    (block["verdict"].as_str().expect("a verdict").to_owned(), lines)
}

fn by(lines: &[Option<&str>]) -> Vec<Option<String>> {
    lines.iter().map(|intent| intent.map(|intent| format!("INT-00{intent}"))).collect()
}

#[test]
#[ignore = "slow"]
fn a_line_changed_before_the_commit_is_not_as_recorded() {
    let lab = governed();
    let calls = ["recorded(1)", "recorded(2)", "recorded(3)", "recorded(4)", "recorded(5)"];
    record(&lab, "INT-001", &calls);
    lab.write(
        FILE,
        function(&["recorded(1)", "typed()", "recorded(3)", "recorded(4)", "recorded(5)"]),
    );
    lab.commit();
    let (verdict, lines) = told(&lab);
    assert_eq!(verdict, "modified", "four of seven lines are of the record");
    let one = Some("1");
    assert_eq!(lines, by(&[None, one, None, one, one, one, None, None]));
}

/// The evidence that an amend breaks is announced at once, and the next commit completes it.
#[test]
#[ignore = "slow"]
fn an_amend_says_which_lines_are_left_without_evidence() {
    let lab = governed();
    record(&lab, "INT-001", &["first()", "second()", "third()"]);
    lab.commit();
    let amended = |intent, calls: &[&str]| {
        record(&lab, intent, calls);
        let output = lab.git_output(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert_eq!(amended("INT-001", &["first()", "second()", "third()", "more()"]), "");
    let said = amended("INT-002", &["first()", "amended()", "second()", "third()", "more()"]);
    assert!(said.contains("has the code of 1 record, and no evidence of it"), "{said}");
    assert!(said.contains("intent evidence seal && git commit"), "{said}");
    lab.fine(&["seal"]);
    lab.commit();
    let lines = [None, Some("1"), Some("2"), Some("1"), Some("1"), Some("1"), None, None];
    assert_eq!(told(&lab).1, by(&lines));
}

#[test]
#[ignore = "slow"]
fn an_amended_commit_keeps_the_lines_of_the_first_one() {
    let lab = governed();
    record(&lab, "INT-001", &["recorded(1)", "stood(2)"]);
    lab.commit();
    record(&lab, "INT-002", &["recorded(1)", "amended()", "stood(2)"]);
    lab.run_git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    lab.fine(&["seal"]);
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
    let lines = by(&[None, Some("1"), Some("2"), None, None, None]);
    assert_eq!(told(&lab), ("unrecorded".into(), lines), "neither brought half of it");
}

/// Returns the numbers of the lines of a file that a fresh clone names an intent for.
fn named_in_a_clone(lab: &Lab, path: &str) -> Vec<u64> {
    lab.run_git(&["clone", "-q", ".", "../clone"]);
    let answer = lab.json(&["-C", "../clone", "why", path, "--lines"]);
    std::fs::remove_dir_all(lab.root.with_file_name("clone")).expect("removed");
    let blocks = answer["blocks"].as_array().into_iter().flatten();
    let runs = blocks.filter_map(|block| block["lines"]["runs"].as_array()).flatten();
    let named = runs.filter(|run| run["from"]["intent"].is_string());
    let line = |run: &serde_json::Value, name: &str| run[name].as_u64().expect("a line");
    named.flat_map(|run| line(run, "start")..=line(run, "end")).collect()
}

const HELPER: &str = "fn helper() {\n    one();\n    two();\n    three();\n    four();\n}\n";
const WITHOUT_HOOKS: [&str; 4] = ["-c", "core.hooksPath=/dev/null", "commit", "-qam"];

/// Another intent's work on the same file was recorded on a text without the lines, but did not remove them.
#[test]
#[ignore = "slow"]
fn a_record_stays_open_while_another_branch_has_its_lines() {
    let lab = governed();
    let base = lab.read(FILE);
    lab.run_git(&["switch", "-qc", "topic"]);
    lab.write(FILE, format!("{HELPER}\n{base}"));
    lab.fine(&["record", FILE, "--intent", "INT-001", "--agent", "codex"]);
    lab.run_git(&[&WITHOUT_HOOKS[..], &["topic"]].concat());
    lab.run_git(&["switch", "-q", "main"]);
    lab.write(FILE, format!("{base}\nfn other() {{\n    three();\n}}\n"));
    lab.fine(&["record", FILE, "--intent", "INT-002", "--agent", "codex"]);
    lab.commit();
    lab.run_git(&["switch", "-q", "topic"]);
    assert!(lab.fine(&["status"]).contains("1 record in no commit yet"));
    lab.fine(&["seal"]);
    lab.commit();
    assert_eq!(named_in_a_clone(&lab, FILE), [1, 2, 3, 4, 5, 6]);
}

/// No hook ran when the code was committed and when it went to another file.
#[test]
#[ignore = "slow"]
fn late_evidence_follows_code_to_another_file() {
    type Way = fn(&Lab, &str);
    let renamed: Way = |lab, _| lab.run_git(&["mv", FILE, "src/b.rs"]);
    let moved: Way = |lab, base| {
        lab.write(FILE, base);
        lab.write("src/b.rs", format!("fn there() {{}}\n\n{HELPER}"));
    };
    for (way, expected) in [(renamed, 1..=6), (moved, 3..=8)] {
        let lab = governed();
        let base = lab.read(FILE);
        lab.write("src/b.rs", "fn there() {}\n");
        lab.commit();
        lab.write(FILE, format!("{HELPER}\n{base}"));
        lab.fine(&["record", FILE, "--intent", "INT-001", "--agent", "codex"]);
        lab.run_git(&[&WITHOUT_HOOKS[..], &["code"]].concat());
        if expected.start() == &1 {
            lab.run_git(&["rm", "-q", "src/b.rs"]);
        }
        way(&lab, &base);
        lab.run_git(&[&WITHOUT_HOOKS[..], &["elsewhere"]].concat());
        lab.fine(&["seal"]);
        lab.commit();
        assert_eq!(named_in_a_clone(&lab, "src/b.rs"), Vec::from_iter(expected));
    }
}

/// Evidence says of a block with another name than the recorded one nothing but its lines.
#[test]
#[ignore = "slow"]
fn a_function_that_was_renamed_and_edited_before_the_commit_is_not_as_recorded() {
    let lab = governed();
    let base = lab.read(FILE);
    lab.write(FILE, format!("{HELPER}\n{base}"));
    lab.fine(&["record", FILE, "--intent", "INT-001", "--agent", "codex"]);
    let edited = HELPER.replace("helper", "greet").replace("two", "mine");
    lab.write(FILE, format!("{edited}\n{base}"));
    lab.commit();
    let told = lab.json(&["why", FILE]);
    assert_eq!(told["blocks"][0]["verdict"], "modified", "{told}");
}

/// The evidence lies beside the code on the branch from which both are picked.
#[test]
#[ignore = "slow"]
fn a_noted_pick_keeps_late_evidence() {
    let lab = governed();
    let base = lab.read(FILE);
    lab.run_git(&["branch", "release"]);
    lab.write(FILE, format!("{HELPER}\n{base}"));
    lab.fine(&["record", FILE, "--intent", "INT-001", "--agent", "codex"]);
    lab.run_git(&[&WITHOUT_HOOKS[..], &["code"]].concat());
    lab.fine(&["seal"]);
    lab.commit();
    lab.run_git(&["switch", "-q", "release"]);
    lab.run_git(&["cherry-pick", "-x", "main~1", "main"]);
    lab.run_git(&["branch", "-qD", "main"]);
    assert_eq!(named_in_a_clone(&lab, FILE), [1, 2, 3, 4, 5, 6]);
}

/// Our hook stages nothing while a rebase gives a commit another message, since git would stop. The record that waits
/// keeps its name.
#[test]
#[ignore = "slow"]
fn a_rebase_rewords_a_commit_that_was_made_without_hooks() {
    let lab = governed();
    let base = lab.read_git(&["rev-parse", "HEAD"]);
    record(&lab, "INT-001", &["recorded(1)", "stood(2)"]);
    lab.run_git(&["commit", "-q", "-a", "--no-verify", "-m", "without hooks"]);
    lab.fine(&["new", "Three", "--scope", "src/**"]);
    lab.run_git(&["commit", "-q", "-a", "--no-verify", "-m", "an intent"]);
    for name in ["first", "second"] {
        lab.write(&format!("{name}.txt"), name);
        lab.commit();
    }
    for at in [1, 2] {
        let reword = format!("sequence.editor=sed -i.bak '{at}s/pick/reword/'");
        let rebase = ["-c", &reword, "-c", "core.editor=true", "rebase", "-q", "-i", base.trim()];
        lab.run_git(&rebase);
    }
    lab.fine(&["seal"]);
    lab.run_git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
    assert_eq!(told(&lab).1, by(&[None, Some("1"), None, None, None]));
}

/// A rebase that merges two edits of `work` makes a text that the evidence does not name, so all evidence of the commit is
/// sealed again. `helper` is as recorded, and has a doc comment; no commit after the rebase may name it once more.
#[test]
#[ignore = "slow"]
fn after_a_rebase_no_line_is_named_by_two_files_of_evidence() {
    let lab = governed();
    let text = |helper: &str, first: &str, last: &str| {
        let far = (0..6).map(|n| format!("far({n})")).collect::<Vec<_>>();
        let calls = [&[first], &far.iter().map(String::as_str).collect::<Vec<_>>()[..], &[last]];
        format!("/// Helps.\nfn helper() {{\n    {helper};\n}}\n\n{}", function(&calls.concat()))
    };
    lab.write(FILE, text("old()", "stood(1)", "stood(2)"));
    lab.commit();
    let base = lab.read_git(&["rev-parse", "HEAD"]);
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    lab.write(FILE, text("new()", "stood(1)", "topic(2)"));
    lab.fine(&["record", FILE, "--intent", "INT-001", "--agent", "codex", "--session", "1"]);
    lab.commit();
    lab.run_git(&["switch", "-q", "main"]);
    lab.write(FILE, text("old()", "main(1)", "stood(2)"));
    lab.commit();
    lab.run_git(&["switch", "-q", "topic"]);
    lab.run_git(&["rebase", "-q", "main"]);
    for name in ["first", "second"] {
        lab.write(&format!("{name}.txt"), name);
        lab.commit();
    }
    lab.fine(&["check", &format!("{}..HEAD", base.trim())]);
}

#[test]
#[ignore = "slow"]
fn a_merge_keeps_the_lines_of_both_sides() {
    let lab = governed();
    let far: Vec<String> = (0..6).map(|n| format!("far({n})")).collect();
    let with = |first: &str, last: &str| -> String {
        let calls = [&[first][..], &far.iter().map(String::as_str).collect::<Vec<_>>(), &[last]];
        function(&calls.concat())
    };
    lab.write(FILE, with("stood(1)", "stood(2)"));
    lab.commit();
    let edit = |intent: &str, text: String| {
        lab.write(FILE, text);
        lab.fine(&["record", FILE, "--intent", intent, "--agent", "codex", "--session", intent]);
        lab.commit();
    };
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    edit("INT-001", with("topic(1)", "stood(2)"));
    lab.run_git(&["switch", "-q", "main"]);
    edit("INT-002", with("stood(1)", "main(2)"));
    lab.run_git(&["merge", "-q", "-m", "merge", "topic"]);
    let (_, lines) = told(&lab);
    assert_eq!(lines[1], Some("INT-001".into()));
    assert_eq!(lines[8], Some("INT-002".into()));
    assert!(lines[2..8].iter().all(Option::is_none), "{lines:?}");
}

/// A doc comment belongs to its block, although the fingerprint of the block's text does not contain it.
#[test]
#[ignore = "slow"]
fn a_clone_reads_a_recorded_doc_comment_as_recorded() {
    let lab = governed();
    let calls = ["recorded(1)", "recorded(2)", "recorded(3)", "recorded(4)", "stood(2)"];
    record(&lab, "INT-001", &calls);
    lab.commit();
    for comment in ["/// Works.\n", "/// Works, and says why.\n", ""] {
        lab.write(FILE, comment.to_owned() + &function(&calls));
        lab.fine(&["record", FILE, "--intent", "INT-002", "--agent", "codex", "--session", "2"]);
        lab.commit();
        assert_eq!(told(&lab).0, "exact", "{comment:?}");
    }
}

#[test]
#[ignore = "slow"]
fn evidence_names_a_block_of_which_only_the_doc_comment_was_removed() {
    let lab = governed();
    let calls = ["recorded(1)", "recorded(2)"];
    lab.write(FILE, "/// Works.\n".to_owned() + &function(&calls));
    lab.fine(&["record", FILE, "--intent", "INT-001", "--agent", "codex", "--session", "1"]);
    lab.commit();
    record(&lab, "INT-002", &calls);
    lab.commit();
    let added = lab.read_git(&["show", "--format=", "HEAD", "--", ".orchestration/agent_trace"]);
    assert!(added.contains(r#"["function","work","1-"#) && added.contains("INT-002"), "{added}");
    assert_eq!(told(&lab).0, "modified", "as for a removed line of the body");
}

/// Commits everything with an old date, so that a record of today cannot be about the change of that commit.
fn commit_long_ago(lab: &Lab) {
    let alias = "alias.old=!GIT_COMMITTER_DATE=2026-01-01T00:00:00Z git commit -q -m old";
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["-c", alias, "old"]);
}

/// Commits a file that has nothing to do with the code.
fn commit_something_else(lab: &Lab) {
    lab.write("notes.txt", format!("{}\n", lab.read_git(&["rev-parse", "HEAD"]).trim()));
    lab.commit();
}

fn governed_long_ago() -> Lab {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.write(FILE, function(&["stood(1)", "stood(2)"]));
    commit_long_ago(&lab);
    lab
}

#[test]
fn a_record_that_no_commit_can_carry_is_named() {
    let lab = governed_long_ago();
    lab.fine(&["seal"]);
    commit_something_else(&lab);
    record(&lab, "INT-001", &["stood(3)"]);
    lab.run_git(&["config", "core.hooksPath", "/nowhere"]);
    commit_long_ago(&lab);
    let told = lab.fine(&["seal"]);
    assert!(told.starts_with("1 record is in no commit yet. No commit"), "{told}");
}

#[test]
fn a_deleted_file_without_names_and_missing_lines_are_not_recorded() {
    let lab = governed_long_ago();
    lab.write("src/uses.rs", "use std::io;\n");
    lab.commit();
    std::fs::remove_file(lab.root.join("src/uses.rs")).expect("removed");
    let told = lab.fine(&["check", "--verbose"]);
    assert!(told.contains("No record can describe this, so name the intent"), "{told}");
    std::fs::remove_file(lab.root.join(FILE)).expect("removed");
    let lines = ["record", "--all", "--yes", "--lines", "1-1", FILE, "--intent", "INT-001"];
    let told = String::from_utf8(lab.intent(&lines).stdout).expect("UTF-8");
    assert!(told.contains("so it has no such lines"), "{told}");
}

#[test]
fn a_rename_is_recorded_under_the_old_name() {
    let lab = governed_long_ago();
    lab.run_git(&["mv", FILE, "src/b.rs"]);
    let told = lab.fine(&["check", "--verbose"]);
    assert!(told.contains("src/b.rs:1: "), "{told}");
    assert!(!told.contains("`intent record src/b.rs"), "{told}");
    lab.fine(&["record", FILE, "--intent", "INT-001"]);
    assert!(!lab.fine(&["check", "--verbose"]).contains("unrecorded-change"));
}

#[test]
#[ignore = "slow"]
fn a_record_of_committed_code_is_sealed_in_the_next_commit() {
    let lab = governed_long_ago();
    lab.fine(&["record", "--all", "--yes", FILE, "--intent", "INT-001", "--contributor", "human"]);
    commit_something_else(&lab);
    assert_eq!(told(&lab), ("exact".into(), by(&[Some("1"); 5])));
    assert!(
        lab.fine(&["check", "--base", "HEAD~1"]).contains("no findings"),
        "and the evidence is valid"
    );
    let before = lab.read_git(&["ls-files", ".orchestration"]);
    commit_something_else(&lab);
    assert_eq!(lab.read_git(&["ls-files", ".orchestration"]), before, "sealed once");
}

#[test]
#[ignore = "slow"]
fn a_record_is_not_about_an_older_commit_of_the_same_text() {
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--start"]);
    lab.write("src/b.rs", "fn other() {}\n");
    for calls in [["stood(1)", "stood(2)"], ["typed(1)", "stood(2)"]] {
        lab.write(FILE, function(&calls));
        commit_long_ago(&lab);
    }
    record(&lab, "INT-001", &["stood(1)", "stood(2)"]);
    // The other file of the first commit is recorded, so that the program looks at that commit.
    lab.fine(&[
        "record",
        "--all",
        "--yes",
        "src/b.rs",
        "--intent",
        "INT-001",
        "--contributor",
        "human",
    ]);
    lab.write("notes.txt", "notes\n");
    lab.run_git(&["add", "notes.txt"]);
    lab.run_git(&["commit", "-q", "-m", "notes"]);
    assert_eq!(told(&lab), ("unrecorded".into(), by(&[None; 5])));
    lab.commit();
    assert_eq!(told(&lab), ("unrecorded".into(), by(&[None, Some("1"), None, None, None])));
}

#[test]
#[ignore = "slow"]
fn an_accepted_block_is_accepted_in_every_clone() {
    let lab = governed_long_ago();
    record(&lab, "INT-001", &["recorded(1)", "recorded(2)", "recorded(3)"]);
    lab.commit();
    lab.write(FILE, function(&["recorded(1)", "recorded(2)", "recorded(3)", "typed(4)"]));
    commit_long_ago(&lab);
    assert_eq!(told(&lab).0, "modified");
    lab.fine(&["accept", &format!("{FILE}:1")]);
    commit_something_else(&lab);
    let (verdict, lines) = told(&lab);
    assert_eq!(verdict, "exact");
    assert_eq!(lines[4], None, "nobody brought the line by accepting it");
    assert!(lab.fine(&["why", &format!("{FILE}:1")]).contains("exact  accepted as it stands by"));
    let registry = ".orchestration/active_intents.yaml";
    let constrained = "\n    constraints: [No network]\n    owned_scope";
    lab.write(registry, lab.read(registry).replace("\n    owned_scope", constrained));
    commit_long_ago(&lab);
    let suspects = || lab.fine(&["check", "--suspect"]).matches("[suspect]").count();
    assert_eq!(suspects(), 1);
    lab.fine(&["accept", FILE, "--all-differing"]);
    commit_something_else(&lab);
    std::fs::remove_dir_all(lab.root.join(".git/intent")).expect("no journal, as in a clone");
    assert_eq!(suspects(), 0);
    assert!(
        lab.fine(&["check", "--base", "HEAD~1"]).contains("no findings"),
        "and the evidence is valid"
    );
    lab.fine(&["verify"]);
}

#[test]
#[ignore = "slow"]
fn late_evidence_uses_the_intent_and_spec_of_its_own_time() {
    let registry = ".orchestration/active_intents.yaml";
    let lab = Lab::with_list();
    lab.fine(&["new", "One", "--scope", "src/**", "--constraint", "first", "--start"]);
    let listed = lab.read(registry);
    lab.write(
        registry,
        listed.replace("\n    owned_scope", "\n    related_specs: [spec.md]\n    owned_scope"),
    );
    lab.write("spec.md", "first\n");
    lab.write(FILE, function(&["stood(1)", "stood(2)"]));
    commit_long_ago(&lab);
    let suspects = || lab.fine(&["check", "--suspect"]).matches("[suspect]").count();
    let asked = |from: &str, to: &str| {
        lab.write(registry, lab.read(registry).replace(from, to));
        lab.write("spec.md", format!("{to}\n"));
    };
    // The commit with the code has another intent and another specification.
    asked("first", "second");
    commit_something_else(&lab);
    lab.fine(&["record", "--all", "--yes", FILE, "--intent", "INT-001", "--contributor", "human"]);
    lab.fine(&["seal"]);
    commit_something_else(&lab);
    assert_eq!(suspects(), 0, "recorded under the current text");
    for (from, to, is_committed) in
        [("second", "third", true), ("third", "fourth", true), ("fourth", "fifth", false)]
    {
        asked(from, to);
        if is_committed {
            commit_something_else(&lab);
        }
        assert_eq!(suspects(), 1, "{to} is not {from}");
        let why = lab.fine(&["why", FILE]);
        assert!(why.contains("suspect") && !why.contains("unknown version"), "{why}");
        lab.fine(&["accept", FILE, "--all-differing"]);
        assert_eq!(suspects(), 0, "accepted under {to}");
        lab.fine(&["seal"]);
        assert_eq!(suspects(), 0, "accepted under {to}, and sealed");
        commit_something_else(&lab);
        assert_eq!(suspects(), 0, "accepted under {to}, and committed");
        std::fs::remove_dir_all(lab.root.join(".git/intent")).expect("no journal, as in a clone");
        assert_eq!(suspects(), 0, "accepted under {to}, in a clone");
    }
}

#[test]
#[ignore = "slow"]
fn the_suggested_command_commits_evidence_without_code() {
    let lab = governed_long_ago();
    let record =
        ["record", "--all", "--yes", FILE, "--intent", "INT-001", "--contributor", "human"];
    let next = "intent evidence seal && git commit -m ";
    let is_named = |told: String| {
        assert_eq!(told.matches(next).count(), 1, "{told}");
        let checked = lab.fine(&["check"]);
        assert!(
            checked.contains("1 record is in no commit yet. `intent evidence seal && git"),
            "{checked}"
        );
        lab.fine(&["seal"]);
        lab.run_git(&["commit", "-q", "-m", "evidence alone"]);
        let checked = lab.fine(&["check"]);
        assert!(!checked.contains("in no commit"), "{checked}");
    };
    is_named(lab.fine(&record));
    lab.write(FILE, function(&["typed(1)", "stood(2)"]));
    commit_long_ago(&lab);
    is_named(lab.fine(&["accept", &format!("{FILE}:1")]));
    // If the code itself is in no commit yet, its commit takes the evidence along.
    lab.write(FILE, function(&["typed(2)", "stood(2)"]));
    for command in [&record[..], &["accept", &format!("{FILE}:1")]] {
        let told = lab.fine(command) + &lab.fine(&["check"]);
        assert!(!told.contains(next), "{told}");
    }
    lab.commit();
    assert!(!lab.fine(&["check"]).contains("in no commit"));
}

/// On Unix a backslash is a letter of a name, and no separator.
#[cfg(unix)]
#[test]
fn evidence_is_staged_in_a_folder_with_a_backslash_in_its_name() {
    let lab = Lab::git();
    lab.write("we\\ird/.orchestration/notes.md", "");
    let intent = |arguments: &[&str]| lab.fine(&[&["-C", "we\\ird"], arguments].concat());
    intent(&["init", "--no-agents"]);
    intent(&["new", "One", "--scope", "src/**", "--start"]);
    intent(&["select", "INT-001"]);
    lab.write("we\\ird/src/a.rs", "fn a() {\n    call();\n}\n");
    intent(&["record", "src"]);
    lab.run_git(&["add", "-A"]);
    intent(&["seal"]);
    let staged = lab.read_git(&["diff", "--cached", "--name-only", "-z"]);
    assert!(staged.contains("we\\ird/.orchestration/agent_trace/"), "{staged:?}");
}

/// Git calls its hooks at the top of the work tree.
#[test]
fn a_hook_seals_in_each_workspace_below_the_top() {
    let lab = Lab::git();
    lab.write("README.md", "Projects\n");
    lab.commit();
    let projects = ["one", "two/deep"];
    for folder in projects {
        lab.write(&format!("{folder}/.orchestration/policy.yaml"), "");
        let fine = |arguments: &[&str]| lab.fine(&[&["-C", folder], arguments].concat());
        fine(&["new", "Work", "--scope", "**", "--start"]);
        lab.write(&format!("{folder}/a.rs"), "fn a() {\n    work();\n}\n");
        let id = lab.json(&["-C", folder, "list"])[0]["id"].as_str().expect("an id").to_owned();
        fine(&["record", "a.rs", "--intent", &id, "--agent", "claude-code"]);
    }
    lab.run_git(&["add", "-A"]);
    lab.fine(&["seal", "--hook", "pre-commit"]);
    lab.commit();
    let committed = lab.git_says(&["show", "--name-only", "--format="]);
    for folder in projects {
        assert!(
            committed.contains(&format!("{folder}/.orchestration/agent_trace/")),
            "{committed}"
        );
    }
}

/// A file with a NUL byte, like one of more than 2 MiB, is not cut into blocks, but its lines are sealed.
#[test]
#[ignore = "slow"]
fn the_recorded_lines_of_a_file_are_sealed_if_it_is_no_text_any_more() {
    let calls = ["recorded(1)", "recorded(2)", "recorded(3)", "recorded(4)", "recorded(5)"];
    for has_hooks in [true, false] {
        let lab = governed();
        record(&lab, "INT-001", &calls);
        lab.write(FILE, function(&calls) + "\0\n");
        let told_open = lab.fine(&["status"]);
        assert!(told_open.contains("1 record in no commit yet"), "{told_open}");
        lab.run_git(&["add", "-A"]);
        lab.run_git(match has_hooks {
            true => &["commit", "-q", "-m", "no text"],
            false => &["commit", "-q", "-n", "-m", "no text"],
        });
        lab.write(FILE, function(&calls));
        lab.commit();
        let one = Some("1");
        assert_eq!(told(&lab).1, by(&[None, one, one, one, one, one, None, None]), "{has_hooks}");
    }
}
