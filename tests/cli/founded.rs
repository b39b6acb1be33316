//! Evidence compared with the base: evidence that is removed while its code exists, and evidence that claims code which
//! its commit did not add.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::lab::Lab;

const TRACE: &str = ".orchestration/agent_trace";

/// A name, and what happens to the repository.
type Story = (&'static str, fn(&Lab));

fn function(name: &str, calls: &[&str]) -> String {
    let calls: String = calls.iter().map(|call| format!("    {call}(\"{name}\", 42);\n")).collect();
    format!("fn {name}() {{\n{calls}    stay();\n}}\n")
}

/// On `main`, `kept.rs` has a function of a person, and `mine.rs` has one to which INT-001 and then INT-002 added a
/// line each. The branch `pr` is checked out, and there are no hooks.
fn branched() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        for name in ["One", "Two"] {
            lab.fine(&["new", name, "--scope", "**", "--start"]);
        }
        lab.write("kept.rs", function("kept", &["first", "second"]));
        lab.write("mine.rs", function("mine", &["first"]));
        lab.commit();
        for (intent, calls) in
            [("INT-001", &["first", "of_one"][..]), ("INT-002", &["first", "of_one", "of_two"])]
        {
            lab.write("mine.rs", function("mine", calls));
            lab.fine(&["record", "mine.rs", "--intent", intent, "--session", intent]);
            lab.commit();
        }
        lab.run_git(&["switch", "-q", "-c", "pr"]);
        lab.fine(&["git-hooks", "--remove"]);
        std::fs::remove_dir_all(lab.root.join(".git/intent")).expect("no journal");
        lab
    })
}

/// Returns the codes of all findings that are errors.
fn errors(lab: &Lab) -> Vec<String> {
    let told = lab.json(&["check", "--base", "main"]);
    let all = told["findings"].as_array().expect("findings").iter();
    let all = all.filter(|finding| finding["level"] == "error");
    let mut codes: Vec<String> =
        all.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect();
    codes.dedup();
    codes
}

/// Returns the intent of each line in the first block of a file.
fn lines(lab: &Lab, file: &str) -> Vec<Option<String>> {
    let told = lab.json(&["why", "--lines", file]);
    let mut lines = Vec::new();
    for run in told["blocks"][0]["lines"]["runs"].as_array().into_iter().flatten() {
        let intent = run["from"]["intent"].as_str().map(str::to_owned);
        let at = |key: &str| run[key].as_u64().expect("a line");
        lines.extend((at("start")..=at("end")).map(|_| intent.clone()));
    }
    lines
}

fn short(text: &str) -> String {
    format!("s:{}", URL_SAFE_NO_PAD.encode(&Sha256::digest(text.trim_end())[..16]))
}

/// Writes evidence by hand that names INT-002, as the evidence of the next commit, or in the folder of an earlier one.
fn forge_in(lab: &Lab, folder: &str, header: Value, line: Value) {
    forge_below(lab, TRACE, folder, header, line);
}

fn forge_below(lab: &Lab, trace: &str, folder: &str, header: Value, line: Value) {
    let mut head =
        json!({"evidence": 3, "intents": [{"id": "INT-002"}], "sessions": [{"type": "AI"}]});
    head.as_object_mut().expect("an object").extend(header.as_object().expect("an object").clone());
    // A line begins with its path.
    let rest = json!({"time": "2026-11-23T10:00:00Z"});
    let mut body = line.as_object().expect("an object").clone();
    body.extend(rest.as_object().expect("an object").clone());
    let path = body.remove("path").expect("a path");
    let body = serde_json::to_string(&body).expect("JSON");
    let text = format!("{head}\n{{\"path\":{path},{}\n", &body[1..]);
    write_evidence(lab, &format!("{trace}/{folder}"), text);
}

fn write_evidence(lab: &Lab, folder: &str, text: String) {
    let digest = Sha256::digest(&text);
    let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    lab.write(&format!("{folder}/{name}.jsonl"), text);
}

fn forge(lab: &Lab, line: Value) {
    forge_in(lab, "2026-11", json!({}), line);
}

fn forge_late(lab: &Lab, commit: &str, line: Value) {
    let commit = lab.read_git(&["rev-parse", commit]);
    let commit = commit.trim();
    forge_in(lab, &format!("late/{commit}"), json!({"of": commit}), line);
}

/// Adds late evidence about a commit that nobody has, which this one would be a copy of.
fn forge_copied(lab: &Lab, commit: &str, line: Value) {
    let commit = lab.read_git(&["cat-file", "commit", commit]);
    let (head, message) = commit.split_once("\n\n").expect("a message");
    let author = head.lines().find_map(|line| line.strip_prefix("author ")).expect("an author");
    let digest = Sha256::digest(format!("{author}\n{message}"));
    let (gone, authored) = ("0123456789".repeat(4), &code::hex(&digest)[..12]);
    forge_in(lab, &format!("late/{gone}"), json!({"of": gone, "authored": authored}), line);
}

/// Names lines of a text by their numbers, in one run.
fn run(text: &str, first: usize, last: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let hash = Sha256::digest(lines[first - 1..last].join("\n") + "\n");
    let place = if first == last { first.to_string() } else { format!("{first}-{last}") };
    format!("{place}:{}", URL_SAFE_NO_PAD.encode(&hash[..4]))
}

/// A line of evidence that claims all lines of a file with one function.
fn claim(path: &str, name: &str, text: &str) -> Value {
    let last = text.lines().count();
    let block = json!(["function", name, format!("1-{last}"), short(text)]);
    json!({"path": path, "lines": run(text, 1, last), "blocks": [block]})
}

#[test]
#[ignore = "slow"]
fn removing_evidence_of_existing_code_is_an_error() {
    let disguises: &[Story] = &[
        ("as it stands", |_| ()),
        ("renamed", |lab| lab.run_git(&["mv", "mine.rs", "other.rs"])),
        ("edited", |lab| {
            lab.write("mine.rs", function("mine", &["first", "of_one", "of_two", "more"]));
        }),
        ("indented", |lab| {
            let text = lab.read("mine.rs").replace('\n', "\n    ");
            lab.write("mine.rs", format!("mod inner {{\n    {}\n}}\n", text.trim_end()));
        }),
        ("moved to another file", |lab| {
            let text = lab.read("kept.rs") + "\n" + &lab.read("mine.rs");
            lab.write("kept.rs", text);
            lab.run_git(&["rm", "-q", "mine.rs"]);
        }),
        ("called generated", |lab| lab.write(".gitattributes", "*.rs linguist-generated\n")),
        ("made unreadable", |lab| lab.write("mine.rs", lab.read("mine.rs") + "\0")),
    ];
    for (disguise, make) in disguises {
        let lab = branched();
        // Removes the first of two files of evidence for a block that two sessions wrote.
        let all = lab.git_says(&["grep", "-l", "INT-001", "--", TRACE]);
        let first = all.lines().find(|path| lab.read(path).contains("mine.rs"));
        lab.run_git(&["rm", "-q", first.expect("evidence")]);
        make(&lab);
        lab.commit();
        assert_eq!(errors(&lab), ["ledger-rewritten"], "{disguise}");
    }
    let reverted = branched();
    reverted.run_git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(errors(&reverted), [""; 0], "evidence that is removed with its code is only a note");
}

#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn evidence_behind_a_link_is_missed() {
    let lab = branched();
    let all = lab.git_says(&["grep", "-l", "INT-001", "--", TRACE]);
    let path = all.lines().find(|path| lab.read(path).contains("mine.rs")).expect("evidence");
    std::fs::rename(lab.root.join(path), lab.root.join("elsewhere.jsonl")).expect("moved");
    std::os::unix::fs::symlink("../../../elsewhere.jsonl", lab.root.join(path)).expect("linked");
    for is_committed in [false, true] {
        if is_committed {
            lab.commit();
        }
        assert_eq!(errors(&lab), ["ledger-rewritten"], "{is_committed}");
        let told = lab.json(&["verify"]).to_string();
        assert!(told.contains("ledger-unreadable") && told.contains("link"), "{told}");
    }
}

#[test]
#[ignore = "slow"]
fn removing_a_record_of_an_intent_needs_a_change_of_it() {
    let of_registry = |lab: &Lab| lab.git_says(&["grep", "-l", "\"registry\"", "--", TRACE]);
    let lab = branched();
    for path in of_registry(&lab).lines() {
        lab.run_git(&["rm", "-q", path]);
    }
    lab.commit();
    assert_eq!(errors(&lab), ["ledger-rewritten"]);
    let lab = branched();
    lab.fine(&["git-hooks", "--install"]);
    let of_both = of_registry(&lab);
    lab.fine(&["complete", "INT-002"]);
    lab.commit();
    assert_ne!(of_registry(&lab), of_both);
    lab.run_git(&["branch", "-q", "-f", "main"]);
    lab.run_git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(of_registry(&lab), of_both, "the revert removed the record");
    assert!(!errors(&lab).contains(&"ledger-rewritten".to_owned()));
}

#[test]
fn the_command_of_the_finding_restores_the_evidence() {
    let lab = branched();
    let before = lines(&lab, "mine.rs");
    lab.run_git(&["rm", "-rq", TRACE]);
    lab.commit();
    lab.fine(&["git-hooks", "--install"]);
    for finding in lab.json(&["check", "--base", "main"])["findings"].as_array().expect("findings")
    {
        if finding["code"] == "ledger-rewritten" {
            let help = finding["help"].as_str().expect("help");
            let command = help.split('`').nth(1).expect("a command");
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            lab.run_git(&words);
        }
    }
    lab.commit();
    assert_eq!(errors(&lab), [""; 0]);
    assert_eq!(lines(&lab, "mine.rs"), before);
    assert!(before.contains(&Some("INT-001".into())) && before.contains(&Some("INT-002".into())));
}

#[test]
#[ignore = "slow"]
fn evidence_may_not_claim_code_that_its_commit_did_not_add() {
    type Forge = fn(&Lab, &str);
    let forgeries: &[(&str, Forge)] = &[
        ("an untouched file", |lab, text| forge(lab, claim("kept.rs", "kept", text))),
        ("lines beside an own one", |lab, text| {
            let text = text.replace("first", "new");
            lab.write("kept.rs", &text);
            forge(lab, claim("kept.rs", "kept", &text));
        }),
        ("a file as new that was called otherwise", |lab, text| {
            let mut line = claim("kept.rs", "kept", text);
            line["from"] = "never.rs".into();
            forge(lab, line);
        }),
        ("a renamed file as new", |lab, text| {
            lab.run_git(&["mv", "kept.rs", "renamed.rs"]);
            forge(lab, claim("renamed.rs", "kept", text));
        }),
        ("a commit of the base that brought other lines", |lab, text| {
            forge_late(lab, "HEAD~1", claim("kept.rs", "kept", text));
        }),
        ("lines of the base that have evidence", |lab, _| {
            let then = function("mine", &["first", "of_one"]);
            forge_late(lab, "HEAD~1", json!({"path": "mine.rs", "lines": run(&then, 3, 3)}));
        }),
        ("a commit of the change that brought other lines", |lab, text| {
            lab.write("new.rs", function("new", &["of_one"]));
            lab.commit();
            forge_late(lab, "HEAD", claim("kept.rs", "kept", text));
        }),
        ("a commit that is gone, as if one with other evidence were its copy", |lab, _| {
            let then = function("mine", &["first", "of_one"]);
            let line = json!({"path": "mine.rs", "lines": run(&then, 3, 3)});
            forge_copied(lab, "HEAD~1", line);
        }),
    ];
    for (what, make) in forgeries {
        let lab = branched();
        make(&lab, &lab.read("kept.rs"));
        lab.commit();
        assert_eq!(errors(&as_ci_sees(&lab)), ["evidence-unfounded"], "{what}");
        assert_eq!(errors(&lab), ["evidence-unfounded"], "{what}, where it was made");
    }
}

/// Evidence that looks like a claim and is none.
#[test]
#[ignore = "slow"]
fn evidence_that_claims_nothing_names_nobody() {
    type Forge = fn(&Lab, &str);
    let forgeries: &[(&str, Forge)] = &[
        ("a commit outside of the history", |lab, text| {
            let tree = lab.read_git(&["write-tree"]);
            let made = lab.read_git(&["commit-tree", "-m", "x", tree.trim()]);
            forge_late(lab, made.trim(), claim("kept.rs", "kept", text));
        }),
        ("a commit outside of the history, and lines that stand elsewhere", |lab, text| {
            let made = "0123456789".repeat(4);
            let lines = run(&format!("\n\n{text}"), 3, 2 + text.lines().count());
            let line = json!({"path": "kept.rs", "lines": lines});
            forge_in(lab, &format!("late/{made}"), json!({"of": made}), line);
        }),
        ("a commit outside of the history, and lines that main has since", |lab, text| {
            let made = "0123456789".repeat(4);
            let text = text.replace("second", "third");
            lab.run_git(&["switch", "-q", "main"]);
            lab.write("kept.rs", &text);
            lab.commit();
            lab.run_git(&["switch", "-q", "pr"]);
            let line = json!({"path": "kept.rs", "lines": run(&text, 3, 3)});
            forge_in(lab, &format!("late/{made}"), json!({"of": made}), line);
        }),
        ("lines that stand nowhere", |lab, _| {
            forge_late(lab, "HEAD~1", claim("kept.rs", "kept", "fn other() {}\n"));
        }),
        ("lines that the commit did not bring, at other places", |lab, text| {
            let lines = run(&format!("\n{text}"), 2, 1 + text.lines().count());
            forge(lab, json!({"path": "kept.rs", "lines": lines}));
        }),
        ("a folder of a commit that it does not name", |lab, text| {
            let lines = run(&format!("\n{text}"), 2, 1 + text.lines().count());
            let folder = format!("late/{}", "0123456789".repeat(4));
            forge_in(lab, &folder, json!({}), json!({"path": "kept.rs", "lines": lines}));
        }),
        ("blocks without a line", |lab, text| {
            let mut line = claim("kept.rs", "kept", text);
            line.as_object_mut().expect("an object").remove("lines");
            forge(lab, line);
        }),
        ("an acceptance under another intent", |lab, _| {
            let text = lab.read("mine.rs");
            let block = json!(["function", "mine", "1-6", short(&text)]);
            forge_late(lab, "HEAD", json!({"path": "mine.rs", "ack": true, "blocks": [block]}));
        }),
    ];
    for (what, make) in forgeries {
        let lab = branched();
        let mine = lines(&lab, "mine.rs");
        make(&lab, &lab.read("kept.rs"));
        lab.commit();
        let ci = as_ci_sees(&lab);
        for lab in [&lab, &ci] {
            assert_eq!(errors(lab), [""; 0], "{what}");
            assert_eq!(lines(lab, "mine.rs"), mine, "{what}");
            assert!(lines(lab, "kept.rs").iter().all(Option::is_none), "{what}");
        }
    }
}

/// Who writes outside of a scope cannot hide it by removing the evidence again, and the removal itself is said.
#[test]
#[ignore = "slow"]
fn removed_evidence_of_the_branch_is_judged_all_the_same() {
    type Hide = fn(&Lab, &str);
    let later: &[(&str, Hide)] = &[
        ("it stays", |_, _| ()),
        ("it is removed", |lab, path| lab.run_git(&["rm", "-q", path])),
        ("another intent is named instead", |lab, path| {
            lab.run_git(&["rm", "-q", path]);
            let text = lab.read("two/a.rs");
            forge_late(lab, "HEAD", claim("two/a.rs", "work", &text));
        }),
    ];
    for (what, hide) in later {
        for is_deletion in [false, true] {
            let lab = Lab::governed();
            lab.fine(&["new", "One", "--scope", "one/**", "--start"]);
            lab.fine(&["new", "Two", "--scope", "two/**", "--start"]);
            if is_deletion {
                lab.write("two/a.rs", function("work", &["first"]) + &function("gone", &["then"]));
            }
            lab.commit();
            lab.run_git(&["switch", "-q", "-c", "pr"]);
            lab.write("two/a.rs", function("work", &["first"]));
            lab.intent(&["record", "two/a.rs", "--intent", "INT-001"]);
            lab.commit();
            lab.run_git(&["config", "intent.hooks", "false"]);
            let added = ["diff", "--name-only", "--diff-filter=A", "main", "--", TRACE];
            let path = lab.read_git(&added);
            hide(&lab, path.trim());
            lab.write("README", "a second commit\n");
            lab.run_git(&["add", "-A"]);
            lab.run_git(&["commit", "-q", "-n", "-m", "hide"]);
            let told = as_ci_sees(&lab).json(&["check", "--base", "main"]);
            let codes = told["findings"].as_array().expect("findings").iter();
            let codes: Vec<&str> = codes.filter_map(|finding| finding["code"].as_str()).collect();
            let count = |code: &str| codes.iter().filter(|other| **other == code).count();
            assert_eq!(count("scope-violation"), 1, "{what}: {told}");
            let notes = told["summary"]["notes"].to_string();
            let is_said = notes.contains("removed it again");
            assert_eq!(is_said, *what != "it stays", "{what}: {notes}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn evidence_in_a_repaired_file_is_checked() {
    let lab = branched();
    lab.run_git(&["switch", "-q", "main"]);
    let kept = function("kept", &["first", "second"]);
    forge(&lab, claim("kept.rs", "kept", &kept));
    let new = lab.read_git(&["ls-files", "--others", "--exclude-standard", "--", TRACE]);
    let forged = lab.read(new.trim());
    lab.write(new.trim(), "something else\n");
    lab.commit();
    lab.run_git(&["switch", "-q", "pr"]);
    lab.run_git(&["merge", "-q", "main"]);
    lab.write(new.trim(), forged);
    lab.commit();
    assert_eq!(errors(&lab), ["evidence-unfounded"]);
}

#[test]
#[ignore = "slow"]
fn evidence_of_a_deleted_copy_does_not_claim_the_original() {
    let lab = branched();
    let text = lab.read("kept.rs");
    lab.write("copy.rs", &text);
    forge(&lab, claim("copy.rs", "kept", &text));
    lab.commit();
    lab.run_git(&["rm", "-q", "copy.rs"]);
    lab.commit();
    assert_eq!(lab.json(&["why", "kept.rs"])["blocks"][0]["verdict"], "unrecorded");
}

/// A clone as CI gets it: through a transport, so that it contains only what branches lead to.
fn as_ci_sees(lab: &Lab) -> Lab {
    let clone = Lab::bare_folder();
    let url = format!("file://{}", lab.root.display());
    clone.run_git(&["clone", "-q", &url, "."]);
    clone.git_says(&["branch", "-q", "main", "origin/main"]);
    clone
}

/// An agent writes a function and a line of `kept.rs`. Then `main` gets an equal line in `kept.rs`.
fn write_a_line_that_main_gets_too(lab: &Lab) {
    let with_line = "use crate::stay;\n\n".to_owned() + &lab.read("kept.rs");
    lab.write("new.rs", function("new", &["of_one"]));
    lab.write("kept.rs", &with_line);
    lab.fine(&["record", "new.rs", "kept.rs", "--intent", "INT-001"]);
    lab.commit();
    lab.run_git(&["switch", "-q", "main"]);
    lab.write("kept.rs", &with_line);
    lab.commit();
}

#[test]
#[ignore = "slow"]
fn rewritten_commits_cause_no_false_finding() {
    let stories: &[Story] = &[
        ("a branch is rebased onto an equal line", |lab| {
            write_a_line_that_main_gets_too(lab);
            lab.run_git(&["switch", "-q", "pr"]);
            lab.run_git(&["rebase", "-q", "main"]);
        }),
        ("a branch is squashed, without hooks, onto an equal line", |lab| {
            write_a_line_that_main_gets_too(lab);
            lab.run_git(&["switch", "-q", "-c", "squashed"]);
            lab.run_git(&["merge", "-q", "--squash", "pr"]);
            lab.run_git(&["commit", "-q", "--no-verify", "-m", "squash"]);
        }),
        ("a commit is picked onto an equal line", |lab| {
            write_a_line_that_main_gets_too(lab);
            lab.run_git(&["switch", "-q", "-c", "picked"]);
            lab.run_git(&["cherry-pick", "pr"]);
        }),
        ("an amend takes a recorded function out", |lab| {
            lab.write(
                "new.rs",
                function("new", &["of_one"]) + "\n" + &function("gone", &["of_one"]),
            );
            lab.fine(&["record", "new.rs", "--intent", "INT-001"]);
            lab.commit();
            lab.write("new.rs", function("new", &["of_one"]));
            lab.run_git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
            // A person writes the removed function again.
            lab.write(
                "new.rs",
                function("new", &["of_one"]) + "\n" + &function("gone", &["of_one"]),
            );
            lab.commit();
        }),
        ("an amend renames a recorded file", |lab| {
            lab.write("old.rs", function("new", &["of_one"]));
            lab.fine(&["record", "old.rs", "--intent", "INT-001"]);
            lab.commit();
            lab.run_git(&["mv", "old.rs", "new.rs"]);
            lab.run_git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        }),
        ("a commit without hooks, sealed late, is rebased", |lab| {
            lab.write("new.rs", function("new", &["of_one"]));
            lab.fine(&["record", "new.rs", "--intent", "INT-001"]);
            lab.run_git(&["add", "-A"]);
            lab.run_git(&["commit", "-q", "--no-verify", "-m", "late"]);
            lab.write("kept.rs", lab.read("kept.rs") + "\n// a comment\n");
            lab.commit();
            lab.run_git(&["switch", "-q", "main"]);
            lab.write("else.rs", "fn elsewhere() {}\n");
            lab.commit();
            lab.run_git(&["switch", "-q", "pr"]);
            lab.run_git(&["rebase", "-q", "main"]);
        }),
        ("a commit without hooks is amended", |lab| {
            lab.write("new.rs", function("new", &["of_one"]));
            lab.fine(&["record", "new.rs", "--intent", "INT-001"]);
            lab.run_git(&["add", "-A"]);
            lab.run_git(&["commit", "-q", "--no-verify", "-m", "late"]);
            lab.fine(&["seal"]);
            lab.run_git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        }),
    ];
    for (story, tell) in stories {
        let lab = branched();
        lab.fine(&["git-hooks", "--install"]);
        tell(&lab);
        lab.fine(&["seal"]);
        lab.run_git(&["add", "-A"]);
        // If everything is sealed already, there is nothing to commit.
        lab.try_git(&["commit", "-q", "-m", "what is left"]);
        let ci = as_ci_sees(&lab);
        assert_eq!(errors(&ci), [""; 0], "{story}");
        assert_eq!(lines(&ci, "new.rs"), lines(&lab, "new.rs"), "{story}");
        assert!(lines(&ci, "new.rs").contains(&Some("INT-001".into())), "{story}");
    }
}

#[test]
fn only_evidence_from_another_clone_is_marked_as_claimed() {
    let lab = Lab::governed();
    lab.fine(&["new", "One", "--scope", "**", "--start"]);
    lab.write("new.rs", function("new", &["of_one"]));
    lab.fine(&["record", "new.rs", "--intent", "INT-001"]);
    lab.commit();
    let claimed = |lab: &Lab| lab.json(&["why", "new.rs"])["blocks"][0]["claimed"] == true;
    assert!(!claimed(&lab));
    assert!(claimed(&as_ci_sees(&lab)));
}

#[test]
#[ignore = "slow"]
fn late_evidence_for_code_of_the_base_is_checked() {
    let lab = Lab::governed();
    lab.fine(&["new", "One", "--scope", "one/**", "--start"]);
    lab.fine(&["new", "Two", "--scope", "two/**", "--start"]);
    lab.commit();
    for file in ["one/a.rs", "two/b.rs"] {
        lab.write(file, function("tax", &["first"]));
    }
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["commit", "-q", "-m", "taxes"]);
    lab.run_git(&["config", "user.name", "t"]);
    lab.run_git(&["config", "user.email", "t@example.invalid"]);
    // The branch begins at main, or before it and has a copy of its last commit.
    lab.run_git(&["branch", "-q", "same", "main"]);
    lab.run_git(&["switch", "-q", "-c", "copied", "main~1"]);
    lab.write("README", "a branch\n");
    lab.commit();
    lab.run_git(&["cherry-pick", "main"]);
    lab.run_git(&["switch", "-q", "-c", "united"]);
    lab.run_git(&["merge", "-q", "-m", "main", "main"]);
    let starts = [("same", "same"), ("copied", "copied"), ("united", "copied")];
    // Evidence without a session of this clone. Each row: the path, the named person, and the findings.
    let stories = [
        ("one/a.rs", Some("Mallory"), &["scope-violation", "evidence-unfounded"][..]),
        ("two/b.rs", Some("Mallory"), &["evidence-unfounded"]),
        ("one/a.rs", Some("t"), &["scope-violation"]),
        ("two/b.rs", Some("t"), &[]),
        ("two/b.rs", None, &[]),
    ];
    lab.run_git(&["switch", "-q", "-c", "pr"]);
    let all = starts.iter().flat_map(|start| stories.map(|story| (start, story)));
    for ((start, about), (path, person, expected)) in all {
        let story = format!("{start} {path} {person:?}");
        lab.run_git(&["reset", "-q", "--hard", start]);
        let of = lab.read_git(&["rev-parse", about]);
        let session = match person {
            Some(name) => json!({"type": "HUMAN", "name": name, "strength": "verified"}),
            None => json!({"type": "AI", "tool": "codex", "strength": "observed"}),
        };
        let header = json!({"of": of.trim(), "sessions": [session]});
        let line = claim(path, "tax", &lab.read(path));
        forge_in(&lab, &format!("late/{}", of.trim()), header, line);
        lab.run_git(&["add", "-A"]);
        lab.run_git(&["commit", "-q", "-n", "-m", "late"]);
        let ci = as_ci_sees(&lab);
        let told = ci.json(&["check", "--base", "main"]);
        let all = told["findings"].as_array().expect("findings").iter();
        let all = all.filter(|one| one["path"].as_str().is_some_and(|path| path.contains(TRACE)));
        let all: Vec<&Value> = all.collect();
        let mut found: Vec<&str> = all.iter().filter_map(|one| one["code"].as_str()).collect();
        found.sort_by_key(|code| std::cmp::Reverse(*code));
        assert_eq!(found, expected, "{story}: {told}");
        let notes = told["summary"]["notes"].to_string();
        let named = format!("INT-002 and {} for function tax in {path}", person.unwrap_or("codex"));
        assert!(notes.contains(&named), "{story}: {notes}");
        let block = &ci.json(&["why", path])["blocks"][0];
        assert_eq!((&block["strength"], &block["claimed"]), (&"declared".into(), &true.into()));
        // The hooks do not undo what a finding says to do.
        let help = all.first().and_then(|one| one["help"].as_str()?.split('`').nth(1));
        if let Some(command) = help {
            assert!(lab.paste(command), "{story}: {command}");
            let left = errors(&lab);
            assert!(!left.contains(&"evidence-unfounded".to_owned()), "{story}: {left:?}");
            // What the branch itself did is judged even so.
            assert!(*start == "copied" || left.is_empty(), "{story}: {left:?}");
        }
    }
}

fn notes(lab: &Lab) -> String {
    lab.json(&["check", "--base", "main"])["summary"]["notes"].to_string()
}

#[test]
fn the_removal_of_evidence_that_cannot_be_read_is_said() {
    let lab = branched();
    lab.run_git(&["switch", "-q", "main"]);
    write_evidence(&lab, &format!("{TRACE}/2026-11"), "{\"evidence\":99}\n".to_owned());
    lab.commit();
    lab.run_git(&["switch", "-q", "-C", "pr"]);
    let all = lab.git_says(&["grep", "-l", "99}", "--", TRACE]);
    lab.run_git(&["rm", "-q", all.trim()]);
    lab.commit();
    assert_eq!(errors(&lab), [""; 0]);
    assert!(notes(&lab).contains("cannot read"), "{}", notes(&lab));
    assert!(!notes(&lab).contains("is gone or has changed"), "{}", notes(&lab));
}

/// The history of another project is merged into `lib`. Its evidence lies there, and names its intents.
#[test]
#[ignore = "slow"]
fn evidence_of_a_project_in_a_folder_is_judged_too() {
    let lab = branched();
    lab.run_git(&["switch", "-q", "--orphan", "theirs"]);
    let text = function("theirs", &["first"]);
    lab.write("theirs.rs", &text);
    lab.commit();
    let text = function("theirs", &["first", "second"]);
    lab.write("theirs.rs", &text);
    forge(&lab, json!({"path": "theirs.rs", "lines": run(&text, 3, 3)}));
    lab.commit();
    lab.run_git(&["switch", "-q", "main"]);
    let merge =
        ["merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "theirs"];
    lab.run_git(&merge);
    lab.run_git(&["read-tree", "--prefix=lib/", "-u", "theirs"]);
    lab.commit();
    let theirs = Some("INT-002 (lib)".to_owned());
    assert_eq!(lines(&lab, "lib/theirs.rs"), [None, None, theirs.clone(), None, None]);
    for (of, line, error) in [("theirs", 1, "evidence-unfounded"), ("theirs~1", 1, "")] {
        lab.run_git(&["switch", "-q", "-C", "pr", "main"]);
        let commit = lab.read_git(&["rev-parse", of]);
        let (folder, header) = (format!("late/{}", commit.trim()), json!({"of": commit.trim()}));
        let claim = json!({"path": "theirs.rs", "lines": run(&text, line, line)});
        forge_below(&lab, &format!("lib/{TRACE}"), &folder, header, claim);
        lab.commit();
        let expected: Vec<&str> =
            Some(error).filter(|error| !error.is_empty()).into_iter().collect();
        assert_eq!(errors(&lab), expected, "{of}");
        assert!(notes(&lab).contains("It names INT-002 (lib)"), "{}", notes(&lab));
        let is_named = lines(&lab, "lib/theirs.rs")[0] == theirs;
        assert_eq!(is_named, error.is_empty(), "{of}");
    }
}
