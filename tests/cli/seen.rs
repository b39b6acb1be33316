//! A clone has seen evidence on a shared branch, and the evidence is missing there now.

use serde_json::Value;

use evidence::verify::accept_rewrite;
use why::Workspace;

use super::lab::Lab;

pub(super) const FILE: &str = "src/a.rs";
pub(super) const POLICY: &str = ".orchestration/policy.yaml";

pub(super) fn function(name: &str, tag: &str) -> String {
    let calls: String = (1..8).map(|n| format!("    call(\"{tag}-{n}\");\n")).collect();
    format!("fn {name}() {{\n{calls}}}\n")
}

/// A repository with a commit of a person's function, and a commit of an agent's function with its evidence.
pub(super) fn worked_in() -> Lab {
    Lab::once(|| {
        let lab = Lab::governed();
        for name in ["One", "Two"] {
            lab.fine(&["new", name, "--scope", "src/**", "--start"]);
        }
        lab.write("src/login.rs", function("login", "person"));
        lab.commit();
        lab.write(FILE, function("work", "agent"));
        record(&lab, "INT-001", FILE);
        lab.commit();
        lab
    })
}

pub(super) fn record(lab: &Lab, intent: &str, path: &str) {
    lab.fine(&["record", path, "--intent", intent, "--agent", "codex", "--session", intent]);
}

/// The same, pushed to `../up.git`. A colleague has cloned it as `../seen` and run a command that reads the ledger.
fn shared() -> Lab {
    let lab = worked_in();
    lab.run_git(&["clone", "-q", "--bare", ".", "../up.git"]);
    lab.run_git(&["remote", "add", "origin", "../up.git"]);
    lab.run_git(&["config", "intent.hooks", "false"]);
    lab.run_git(&["clone", "-q", "../up.git", "../seen"]);
    assert_eq!(verify(&lab), Told::default());
    lab
}

/// What `intent evidence verify` tells the colleague about shared branches, with masked ids of commits.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    findings: Vec<String>,
    helps: Vec<String>,
    notes: Vec<String>,
}

fn verify(lab: &Lab) -> Told {
    let answer = lab.json(&["-C", "../seen", "verify"]);
    let texts = |list: &Value, key: Option<&str>| {
        let all = list.as_array().into_iter().flatten();
        let of = |one: &Value| key.map_or(one.clone(), |key| one[key].clone());
        all.map(|one| masked(of(one).as_str().expect("a text"))).collect::<Vec<String>>()
    };
    let all = answer["findings"].as_array().expect("findings").iter();
    let of_ledger: Value = all.filter(|one| one["code"] == "ledger-truncated").cloned().collect();
    Told {
        findings: texts(&of_ledger, Some("message")),
        helps: texts(&of_ledger, Some("help")),
        notes: texts(&answer["notes"], None),
    }
}

/// Replaces ids of commits and names of evidence by `#`.
pub(super) fn masked(text: &str) -> String {
    let is_id = |word: &str| word.len() >= 10 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut out = String::new();
    for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        out += &if is_id(word) { part.replace(word, "#") } else { part.to_owned() };
    }
    out
}

/// Returns the tracked files of evidence.
fn evidence(lab: &Lab) -> Vec<String> {
    let listed = lab.read_git(&["ls-files", ".orchestration/agent_trace"]);
    listed.lines().map(str::to_owned).collect()
}

fn drop_evidence(lab: &Lab) {
    let files = evidence(lab);
    assert!(!files.is_empty());
    files.iter().for_each(|file| lab.run_git(&["rm", "-q", file]));
}

fn commit_and_push(lab: &Lab) {
    lab.run_git(&["add", "-A"]);
    lab.run_git(&["commit", "-qnm", "a commit", "--allow-empty"]);
    lab.run_git(&["push", "-qf", "origin", "HEAD:main"]);
    lab.run_git(&["-C", "../seen", "fetch", "-q"]);
}

const GONE: &str =
    "origin/main had evidence at # that is missing there now, although its code still exists: ";

fn is_missed(lab: &Lab) -> bool {
    verify(lab).findings.iter().any(|message| message.starts_with(GONE))
}

/// Does what `intent evidence verify --accept-rewrite` does at a person's terminal.
fn accept(lab: &Lab) -> Vec<String> {
    let ws = Workspace::open(&lab.root.join("../seen"), &ground::Environment::of_process())
        .expect("a workspace");
    let said = accept_rewrite(&ws, Some("Ada".into())).expect("accepted");
    said.iter().map(|said| masked(said)).collect()
}

#[test]
#[ignore = "slow"]
fn code_that_was_rolled_back_may_not_return_without_evidence() {
    let lab = shared();
    lab.run_git(&["push", "-qf", "origin", "HEAD~1:main"]);
    lab.run_git(&["-C", "../seen", "fetch", "-q"]);
    let note = "origin/main was at # and is not a descendant of it now; no evidence is missing. `intent evidence verify --accept-rewrite` accepts it.";
    for _ in 0..2 {
        assert_eq!(verify(&lab), Told { notes: vec![note.into()], ..Told::default() });
    }
    drop_evidence(&lab);
    lab.run_git(&["reset", "-q", "--soft", "HEAD~1"]);
    commit_and_push(&lab);
    assert!(is_missed(&lab));
    assert!(is_missed(&lab));
}

#[test]
#[ignore = "slow"]
fn a_person_accepts_a_rewrite_and_that_is_recorded() {
    let lab = shared();
    drop_evidence(&lab);
    lab.run_git(&["commit", "-qn", "--amend", "-m", "without evidence"]);
    commit_and_push(&lab);
    assert!(is_missed(&lab));
    let refused = lab.intent(&["-C", "../seen", "verify", "--accept-rewrite"]);
    assert_eq!(refused.status.code(), Some(2), "an agent may not accept it");
    assert!(is_missed(&lab));
    assert_eq!(accept(&lab), ["Accepted and recorded: origin/main is at #, and was at #."]);
    assert_eq!(verify(&lab), Told::default());
    let recorded: Value =
        serde_json::from_str(&lab.read("../seen/.git/intent/rewrites.jsonl")).expect("one line");
    assert_eq!((&recorded["by"], &recorded["branch"]), (&"Ada".into(), &"origin/main".into()));
    assert!(accept(&lab).is_empty(), "nothing is left to accept");
}

#[test]
fn an_unreadable_earlier_commit_is_a_finding() {
    let lab = shared();
    drop_evidence(&lab);
    lab.run_git(&["commit", "-qn", "--amend", "-m", "without evidence"]);
    commit_and_push(&lab);
    lab.run_git(&["-C", "../seen", "reset", "-q", "--hard", "origin/main"]);
    lab.run_git(&["-C", "../seen", "reflog", "expire", "--expire=now", "--all"]);
    lab.run_git(&["-C", "../seen", "gc", "-q", "--prune=now"]);
    for _ in 0..2 {
        assert_eq!(
            verify(&lab).findings,
            [
                "origin/main was at #, and this clone cannot read that commit any more, so nobody can say whether evidence is gone."
            ]
        );
    }
    assert_eq!(accept(&lab).len(), 1);
    assert_eq!(verify(&lab), Told::default());
}

#[test]
#[ignore = "slow"]
fn a_commit_cannot_switch_off_the_finding_that_it_causes() {
    for policy in ["protected_branches: [nothing]\n", "levels:\n  ledger-truncated: off\n"] {
        let lab = shared();
        drop_evidence(&lab);
        lab.write(POLICY, policy);
        commit_and_push(&lab);
        lab.run_git(&["-C", "../seen", "merge", "-q", "origin/main"]);
        assert!(is_missed(&lab), "{policy}");
    }
    let lab = worked_in();
    lab.write(POLICY, "levels:\n  ledger-truncated: off\n");
    lab.commit();
    lab.run_git(&["clone", "-q", "--bare", ".", "../up.git"]);
    lab.run_git(&["remote", "add", "origin", "../up.git"]);
    lab.run_git(&["clone", "-q", "../up.git", "../seen"]);
    assert_eq!(verify(&lab), Told::default());
    drop_evidence(&lab);
    commit_and_push(&lab);
    assert!(!is_missed(&lab), "the policy had switched the finding off before");
}

#[test]
#[ignore = "slow"]
fn the_default_branch_is_stored_by_its_own_name() {
    let lab = worked_in();
    lab.write(POLICY, "protected_branches: [release]\n");
    lab.commit();
    lab.run_git(&["clone", "-q", "--bare", ".", "../up.git"]);
    lab.run_git(&["remote", "add", "origin", "../up.git"]);
    lab.run_git(&["push", "-q", "origin", "HEAD:release"]);
    lab.run_git(&["clone", "-q", "../up.git", "../seen"]);
    assert_eq!(verify(&lab), Told::default());
    let stored: Value =
        serde_json::from_str(&lab.read("../seen/.git/intent/tips.json")).expect("JSON");
    let names: Vec<&String> = stored.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["origin/main", "origin/release"]);
    drop_evidence(&lab);
    commit_and_push(&lab);
    assert!(is_missed(&lab));
}

#[test]
fn a_branch_that_an_earlier_version_stored_still_counts() {
    let lab = shared();
    let stored = lab.read("../seen/.git/intent/tips.json");
    lab.write("../seen/.git/intent/tips.json", stored.replace("origin/main", "origin/HEAD"));
    drop_evidence(&lab);
    commit_and_push(&lab);
    assert!(is_missed(&lab));
}

#[test]
fn a_protected_branch_that_was_deleted_is_noted() {
    let lab = shared();
    lab.run_git(&["-C", "../seen", "branch", "-qdr", "origin/HEAD", "origin/main"]);
    let note = "origin/main was at # and does not exist any more; `intent evidence verify --accept-rewrite` accepts that.";
    assert_eq!(verify(&lab), Told { notes: vec![note.into()], ..Told::default() });
    assert_eq!(accept(&lab), ["Accepted and recorded: origin/main is gone, and was at #."]);
    assert_eq!(verify(&lab), Told::default());
}

#[test]
fn the_command_of_the_finding_restores_the_evidence() {
    let lab = shared();
    drop_evidence(&lab);
    commit_and_push(&lab);
    let help = &verify(&lab).helps[0];
    assert!(help.starts_with("Restore it: `git pull`, then `git checkout #"), "{help}");
    lab.run_git(&["-C", "../seen", "pull", "-q"]);
    let output = lab.intent(&["-C", "../seen", "--json", "verify"]);
    let answer = String::from_utf8(output.stdout).expect("UTF-8");
    let command = answer.split('`').find(|code| code.starts_with("git checkout ")).expect("one");
    let words: Vec<&str> =
        ["-C", "../seen"].into_iter().chain(command.split(' ').skip(1)).collect();
    lab.run_git(&words);
    lab.run_git(&["-C", "../seen", "commit", "-qnm", "restore"]);
    lab.run_git(&["-C", "../seen", "push", "-q"]);
    assert_eq!(verify(&lab), Told::default());
}
