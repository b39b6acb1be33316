//! Code that was recorded under the wrong intent is moved to another one by a person.

use evidence::reassign::{ReassignAnswer, ReassignTarget, reassign};
use ground::{Hint as _, RelativePath};
use why::Workspace;

use super::lab::{Lab, masked, transcript};

const TWO: &str = "fn login() {\n    check();\n}\n\nfn logout() {\n    drop();\n}\n";

/// A repository in which an agent has recorded and committed two functions under INT-001.
fn sealed() -> Lab {
    Lab::once(|| {
        let lab = Lab::with_list();
        for (name, scope) in [("Login", "src/**"), ("Sessions", "src/**"), ("Pages", "web/**")] {
            lab.fine(&["new", name, "--scope", scope, "--start"]);
        }
        lab.commit();
        lab.write("src/auth.rs", TWO);
        lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
        lab.commit();
        lab
    })
}

/// Does what `intent evidence reassign` does at a person's terminal.
pub fn at_a_terminal(
    lab: &Lab,
    what: ReassignTarget,
    from: &str,
    to: &str,
) -> Result<ReassignAnswer, String> {
    let ws = Workspace::open(&lab.root, &ground::Environment::of_process()).expect("a workspace");
    let to = (to != "nobody").then_some(to);
    reassign(&ws, &what, (from, to), Some("Ada".into())).map_err(|error| error.with_hint())
}

fn auth() -> RelativePath {
    RelativePath::new("src/auth.rs").expect("a path")
}

#[test]
#[ignore = "slow"]
fn every_answer_names_the_new_intent() {
    let lab = sealed();
    let answer =
        at_a_terminal(&lab, ReassignTarget::Line(auth(), 2), "INT-001", "INT-002").expect("done");
    assert_eq!(answer.blocks.len(), 1);
    assert!(answer.not_owned.is_empty());
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "why src/auth.rs:2",
            "why src/auth.rs:6",
            "map --stdout",
            "list",
            "check",
            "seal --dry-run"
        ]
    ));
    let traced = lab.fine(&["trace"]);
    assert!(!traced.contains("(0 blocks)"), "{traced}");
    // The next commit contains the record, so that a clone gives the same answer.
    lab.fine(&["seal"]);
    lab.commit();
    lab.run_git(&["clone", "-q", ".", "../clone"]);
    let clone = lab.root.join("../clone");
    let told = |folder: &str| lab.fine(&["-C", folder, "why", "src/auth.rs", "--json"]);
    let claimed = told(clone.to_str().expect("UTF-8"));
    assert_eq!(claimed.replace("\"claimed\":true,", ""), told("."));
    assert!(told(".").contains("\"reassigned\""));
    let again = at_a_terminal(&lab, ReassignTarget::Line(auth(), 2), "INT-001", "INT-002");
    let told = again.expect_err("it is under INT-002 already");
    assert!(told.contains("none of the selected blocks is recorded under INT-001"), "{told}");
}

/// The line that the work replaced follows the line that is there instead.
#[test]
#[ignore = "slow"]
fn the_advised_reassignment_settles_work_out_of_scope() {
    let lab = sealed();
    lab.write("src/auth.rs", TWO.replace("check()", "check(1)"));
    lab.intent(&["record", "src", "--intent", "INT-003", "--agent", "claude-code"]);
    lab.commit();
    let violation = |base: &str| {
        let told = lab.json(&["check", "--base", base]);
        let mut findings = told["findings"].as_array().expect("findings").iter();
        findings.find(|finding| finding["code"] == "scope-violation").cloned()
    };
    let found = violation("HEAD~1").expect("a finding");
    let help = found["help"].as_str().expect("a way out");
    let advised = "`intent evidence reassign src/auth.rs:2 --from INT-003 --to INT-001`";
    assert!(help.contains(advised), "{help}");
    at_a_terminal(&lab, ReassignTarget::Line(auth(), 2), "INT-003", "INT-001").expect("done");
    lab.fine(&["seal"]);
    lab.commit();
    assert_eq!(violation("HEAD~2"), None);
}

#[test]
#[ignore = "slow"]
fn lines_can_be_reassigned_once_they_are_committed() {
    let lab = sealed();
    lab.write("src/auth.rs", TWO.replace("check()", "check(1)"));
    lab.fine(&["record", "src", "--intent", "INT-001", "--agent", "claude-code"]);
    let named = || ReassignTarget::Named(auth(), "login".into());
    let told = at_a_terminal(&lab, named(), "INT-001", "INT-002").expect_err("not committed");
    assert!(told.contains("in no commit yet"), "{told}");
    assert!(told.contains("`git add src/auth.rs && git commit`"), "{told}");
    lab.commit();
    at_a_terminal(&lab, named(), "INT-001", "INT-002").expect("done");
    let intent = |line: &str| {
        let told = lab.json(&["why", line]);
        told["blocks"][0]["intent"]["id"].as_str().map(str::to_owned)
    };
    assert_eq!(intent("src/auth.rs:2").as_deref(), Some("INT-002"));
    lab.fine(&["seal"]);
    lab.commit();
    assert_eq!(intent("src/auth.rs:2").as_deref(), Some("INT-002"));
    at_a_terminal(&lab, named(), "INT-002", "INT-001").expect("done");
    assert_eq!(intent("src/auth.rs:2").as_deref(), Some("INT-001"));
    // A whole record is reassigned by its id.
    let told = lab.json(&["why", "src/auth.rs:6"]);
    let id = told["blocks"][0]["record"].as_str().expect("an id").to_owned();
    at_a_terminal(&lab, ReassignTarget::Record(id), "INT-001", "INT-002").expect("done");
    assert_eq!(intent("src/auth.rs:6").as_deref(), Some("INT-002"));
}

#[test]
#[ignore = "slow"]
fn lines_from_before_the_project_moved_to_another_folder_can_be_reassigned() {
    let lab = sealed();
    std::fs::create_dir(lab.root.join("app")).expect("a folder");
    lab.run_git(&["mv", "src", ".orchestration", "app"]);
    lab.run_git(&["commit", "-qm", "move"]);
    let app = lab.root.join("app");
    let ws = Workspace::open(&app, &ground::Environment::of_process()).expect("a workspace");
    let what = ReassignTarget::Named(auth(), "login".into());
    reassign(&ws, &what, ("INT-001", Some("INT-002")), None).expect("done");
    let app = app.to_str().expect("UTF-8");
    lab.fine(&["-C", app, "seal"]);
    lab.run_git(&["commit", "-qm", "evidence"]);
    for (line, intent) in [("src/auth.rs:2", "INT-002"), ("src/auth.rs:6", "INT-001")] {
        let told = lab.fine(&["-C", app, "why", line]);
        assert!(told.contains(intent), "{told}");
    }
}

#[test]
fn reassigned_code_of_a_removed_intent_is_no_finding() {
    let lab = sealed();
    let registry = lab.read(".orchestration/active_intents.yaml").replace("INT-001", "INT-009");
    lab.write(".orchestration/active_intents.yaml", registry);
    lab.write("src/new.rs", TWO);
    lab.fine(&["record", "src/new.rs", "--intent", "INT-009", "--agent", "codex"]);
    lab.commit();
    let registry = lab.read(".orchestration/active_intents.yaml").replace("INT-009", "INT-010");
    lab.write(".orchestration/active_intents.yaml", registry);
    let unknown = |id: &str| {
        String::from_utf8_lossy(&lab.intent(&["verify", "--json"]).stdout)
            .contains(&format!("the intent {id}"))
    };
    assert!(unknown("INT-009"));
    let new = RelativePath::new("src/new.rs").expect("a path");
    at_a_terminal(&lab, ReassignTarget::File(new), "INT-009", "INT-002").expect("done");
    assert!(!unknown("INT-009"));
}

#[test]
#[ignore = "slow"]
fn a_branch_reassigns_only_to_an_intent_that_owns_the_file() {
    let lab = sealed();
    lab.run_git(&["switch", "-q", "-c", "topic"]);
    at_a_terminal(&lab, ReassignTarget::File(auth()), "INT-001", "INT-002").expect("done");
    lab.fine(&["seal"]);
    lab.commit();
    let first = transcript(&lab, &["check --base main", "verify --blocks"]);
    let answer =
        at_a_terminal(&lab, ReassignTarget::Line(auth(), 2), "INT-002", "INT-003").expect("done");
    assert_eq!(answer.not_owned, [auth()]);
    lab.fine(&["seal"]);
    lab.commit();
    insta::assert_snapshot!(first + &transcript(&lab, &["check --base main"]));
    // The finding disappears when the blocks are put back. What the base has already is not judged again.
    at_a_terminal(&lab, ReassignTarget::File(auth()), "INT-003", "INT-002").expect("done");
    lab.fine(&["seal"]);
    lab.commit();
    assert!(lab.intent(&["check", "--base", "main"]).status.success());
    lab.run_git(&["switch", "-q", "main"]);
    lab.run_git(&["merge", "-q", "topic"]);
    assert!(lab.intent(&["check"]).status.success());
}

#[test]
fn only_a_person_at_a_terminal_may_reassign() {
    let lab = sealed();
    let line = ["reassign", "src/auth.rs", "--from", "INT-001", "--to", "INT-002"];
    let output = lab.intent(&line);
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!(masked(&lab, &String::from_utf8_lossy(&output.stderr)));
    let read = lab.fine(&["explain", "--json", &format!("intent {}", line.join(" "))]);
    assert!(read.contains("intent.reassign") && read.contains("destructive"), "{read}");
}
