//! Work under intents that a team keeps in another format: selected where they are, adopted, and
//! changed afterwards.

use std::process::Command;

use serde_json::{Value, json};

use super::lab::{Lab, clean};

const PROPOSAL: &str = "# Change: Add a login\n\n## Why\nPeople.\n\n## Impact\n- Affected code: `src/auth/login.rs`, `src/missing.rs`\n";
const DELTA: &str = "## ADDED Requirements\n### Requirement: Login\nIt MUST.\n#### Scenario: In\n- **WHEN** a\n- **THEN** b\n";
const TASKS: &str = "- [x] 1.1 Begin\n- [ ] 1.2 Go on\n";
const ID: &str = "openspec:add-login";

fn function(name: &str) -> String {
    format!("fn {name}() {{\n    one();\n    two_of_{name}();\n}}\n")
}

/// A repository with a change of OpenSpec, and with an own intent that owns `src/pay`.
fn lab() -> Lab {
    let lab = Lab::governed();
    lab.write("openspec/config.yaml", "schema: spec-driven\n");
    for (name, text) in [("proposal", PROPOSAL), ("tasks", TASKS), ("specs/auth/spec", DELTA)] {
        lab.write(&format!("openspec/changes/add-login/{name}.md"), text);
    }
    for path in ["src/main.rs", "src/auth/login.rs", "src/pay/bill.rs"] {
        lab.write(path, function("before"));
    }
    lab.fine(&["new", "Pay", "--scope", "src/pay/**", "--start"]);
    lab.commit();
    lab
}

/// Returns the code of the gate's denial of a write under the change.
fn denied(lab: &Lab, path: &str) -> Option<String> {
    let answer = lab.intent(&["--json", "gate", path, "--intent", ID]);
    let answer: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    answer["code"].as_str().map(str::to_owned)
}

fn findings(lab: &Lab, arguments: &[&str]) -> Vec<(String, String)> {
    let answer = lab.intent(&[&["--json", "check"], arguments].concat());
    let answer: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let text = |finding: &Value, key| finding[key].as_str().unwrap_or_default().to_owned();
    let all = answer["findings"].as_array().expect("findings").iter();
    all.map(|one| (text(one, "code"), text(one, "path"))).collect()
}

fn found(code: &str, path: &str) -> (String, String) {
    (code.to_owned(), path.to_owned())
}

#[test]
#[ignore = "slow"]
fn an_intent_without_a_scope_denies_nothing_but_what_is_of_others() {
    let lab = lab();
    let refused = lab.intent(&["select", "add-login"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("did you mean openspec:add-login?"), "{said}");
    let said = lab.fine(&["select", ID]);
    assert!(said.contains("has no scope here") && said.contains("intent adopt"), "{said}");

    assert_eq!(denied(&lab, "src/main.rs"), None);
    assert_eq!(denied(&lab, "src/pay/bill.rs").as_deref(), Some("SCOPE_VIOLATION"));
    assert_eq!(denied(&lab, ".orchestration/policy.yaml").as_deref(), Some("PROTECTED_PATH"));
    lab.write(".intentignore", format!("# intent: deny-write\n{ID}: src/main.rs\n"));
    assert_eq!(denied(&lab, "src/main.rs").as_deref(), Some("IGNORED_PATH"));
    std::fs::remove_file(lab.root.join(".intentignore")).expect("removed");

    // What the change names needs no remark.
    lab.write("src/main.rs", function("before") + "\n" + &function("main"));
    lab.write("src/auth/login.rs", function("before") + "\n" + &function("login"));
    lab.fine(&["record", "src/main.rs", "src/auth/login.rs"]);
    let beyond = vec![found("scope-not-adopted", "src/main.rs")];
    assert_eq!(findings(&lab, &[]), beyond);
    lab.write("src/pay/bill.rs", function("before") + "\n" + &function("bill"));
    assert!(findings(&lab, &[]).contains(&found("scope-violation", "src/pay/bill.rs")));
    lab.write("src/pay/bill.rs", function("before"));

    lab.fine(&["seal"]);
    lab.commit();
    let why = lab.json(&["why", "src/main.rs:8"]);
    assert_eq!(why["blocks"][0]["intent"]["id"], ID);
    assert_eq!(why["blocks"][0]["intent"]["name"], "Add a login");
    assert_eq!(lab.json(&["verify"])["findings"], json!([]));
    assert_eq!(findings(&lab, &["--base", "HEAD~1"]), beyond);

    // The name of a branch cannot have a colon.
    lab.write(".orchestration/policy.yaml", "branches: [\"feature/{intent}\"]\n");
    lab.commit();
    lab.run_git(&["checkout", "-q", "-b", "feature/add-login"]);
    lab.fine(&["clear"]);
    lab.write("src/pay/bill.rs", function("unrecorded"));
    lab.commit();
    let of_branch = findings(&lab, &["--base", "main"]);
    assert!(of_branch.contains(&found("scope-violation", "src/pay/bill.rs")), "{of_branch:?}");
    let said = lab.fine(&["status"]);
    assert!(said.contains(&format!("one of {ID}, INT-001")), "it is worked on: {said}");

    // Nobody works under a change that is done, or in a format that the policy does not read.
    lab.write(".orchestration/policy.yaml", "sources: {openspec: false}\n");
    assert_eq!(denied(&lab, "src/main.rs").as_deref(), Some("UNKNOWN_INTENT"));
}

#[test]
fn an_adopted_intent_owns_what_was_done_for_it_and_nothing_else() {
    let lab = lab();
    lab.write("src/beside.rs", function("beside"));
    lab.write("openspec/changes/add-login/tasks.md", format!("{TASKS}- [ ] 1.3 More\n"));
    lab.commit();
    lab.write("src/recorded.rs", function("recorded"));
    lab.fine(&["record", "src/recorded.rs", "--intent", ID]);

    let mut agent = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    agent.args(["adopt", ID, "--yes"]).env("CLAUDECODE", "1");
    assert_eq!(agent.output().expect("it runs").status.code(), Some(2));
    let asked = lab.intent(&["adopt", ID]);
    assert!(String::from_utf8_lossy(&asked.stderr).contains("src/recorded.rs"), "{asked:?}");

    let adopted = lab.json(&["adopt", ID, "--yes"]);
    let scope =
        ["openspec/changes/add-login/**", "src/auth/login.rs", "src/beside.rs", "src/recorded.rs"];
    assert_eq!(adopted["owned_scope"], json!(scope));
    assert_eq!(adopted["selected"], true);
    let file = ".orchestration/intents/openspec-add-login.yaml";
    assert!(lab.read(file).starts_with(&format!("source: {ID}\nstatus: IN_PROGRESS\n")));
    assert_eq!(denied(&lab, "src/main.rs").as_deref(), Some("SCOPE_VIOLATION"));
    assert_eq!(denied(&lab, "openspec/changes/add-login/tasks.md"), None);
    // Adoption changes nothing of what was asked for.
    assert_eq!(findings(&lab, &["--suspect"]), []);
    let again = lab.intent(&["adopt", ID, "--yes"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("in the registry already"));
}

#[test]
#[ignore = "slow"]
fn code_is_suspect_when_its_spec_has_changed_since() {
    for is_adopted in [false, true] {
        let lab = lab();
        if is_adopted {
            lab.fine(&["adopt", ID, "--scope", "src/auth", "--yes"]);
            lab.commit();
        }
        lab.write("src/auth/login.rs", function("login"));
        lab.fine(&["record", "src/auth/login.rs", "--intent", ID]);
        lab.fine(&["seal"]);
        lab.write("openspec/changes/add-login/tasks.md", TASKS.replace("[ ]", "[x]"));
        lab.commit();
        assert_eq!(findings(&lab, &["--suspect"]), [], "a tick asks for nothing");
        let spec = "openspec/changes/add-login/specs/auth/spec.md";
        lab.write(spec, DELTA.replace("**THEN** b", "**THEN** c"));
        lab.commit();
        assert_eq!(findings(&lab, &["--suspect"]), [found("suspect", "src/auth/login.rs")]);
        let said = lab.fine(&["why", "src/auth/login.rs:2"]);
        let commit = lab.read_git(&["rev-parse", "--short=10", "HEAD"]);
        let since = format!(
            "the acceptance criteria of {ID} changed since this was recorded (commit {}",
            commit.trim()
        );
        assert!(said.contains(&since), "{said}");
    }
}

#[test]
#[ignore = "slow"]
fn a_branch_frees_no_intent_of_its_scope() {
    let lab = lab();
    lab.run_git(&["checkout", "-q", "-b", "adopting"]);
    lab.fine(&["adopt", ID, "--scope", "src/auth", "--yes"]);
    lab.commit();
    let notes = lab.json(&["check", "--base", "main"])["summary"]["notes"].to_string();
    assert!(notes.contains(&format!("{ID} is new: Add a login, which owns")), "{notes}");

    lab.run_git(&["checkout", "-q", "-b", "freeing"]);
    std::fs::remove_file(lab.root.join(".orchestration/intents/openspec-add-login.yaml"))
        .expect("removed");
    lab.write("src/main.rs", function("main"));
    lab.fine(&["record", "src/main.rs", "--intent", ID]);
    lab.fine(&["seal"]);
    lab.commit();
    let found_here = findings(&lab, &["--base", "adopting"]);
    assert!(found_here.contains(&found("unknown-intent", "src/main.rs")), "{found_here:?}");
    let notes = lab.intent(&["--json", "check", "--base", "adopting"]);
    assert!(String::from_utf8_lossy(&notes.stdout).contains("is removed from the registry"));

    lab.run_git(&["checkout", "-q", "main"]);
    lab.write(".orchestration/policy.yaml", "sources: {openspec: false}\n");
    lab.commit();
    lab.run_git(&["checkout", "-q", "-b", "switching"]);
    lab.write(".orchestration/policy.yaml", "sources: {openspec: true}\n");
    lab.write("src/main.rs", function("switching"));
    lab.fine(&["record", "src/main.rs", "--intent", ID]);
    lab.fine(&["seal"]);
    lab.commit();
    let found_here = findings(&lab, &["--base", "main"]);
    assert!(found_here.contains(&found("unknown-intent", "src/main.rs")), "{found_here:?}");
}
