//! Intents that a team keeps in other formats, in a clone in which `intent setup init` never ran.

use serde_json::{Value, json};

use super::lab::{Lab, transcript};

/// A repository with changes of OpenSpec, features of Spec Kit and a decision.
fn untouched() -> Lab {
    let lab = Lab::git();
    let change = "openspec/changes/add-login";
    lab.write(
        &format!("{change}/proposal.md"),
        "# Change: Add a login\n## Why\nPeople want to sign in.\n",
    );
    lab.write(&format!("{change}/tasks.md"), "- [x] 1.1 a\n- [ ] 1.2 b in `src/login.rs`\n");
    lab.write(
        &format!("{change}/specs/auth/spec.md"),
        "### Requirement: Login\nIt MUST work.\n#### Scenario: In\n- **WHEN** a\n- **THEN** b\n",
    );
    for name in ["2025-01-01-add-logout", "2025-01-02-add-tokens"] {
        lab.write(&format!("openspec/changes/archive/{name}/proposal.md"), "# Change: Done\n");
    }
    lab.write("specs/001-search/spec.md", "# Feature Specification: Search\n");
    lab.write("docs/adr/0001-use-rust.md", "# 1. Use Rust\n\n## Status\n\nAccepted\n");
    lab.write("src/login.rs", "fn login() {\n    check();\n}\n");
    lab.commit();
    lab.run_git(&["checkout", "-q", "-b", "001-search"]);
    lab
}

#[test]
fn a_clone_shows_what_its_team_asked_for() {
    let lab = untouched();
    insta::assert_snapshot!(transcript(
        &lab,
        &[
            "list",
            "list --all",
            "list --in-progress",
            "for src/login.rs",
            "context openspec:add-login",
            "context add-login",
            "context openspec:nothing",
            "trace openspec:add-login",
            "why openspec:add-login",
        ]
    ));
    assert_eq!(lab.read_git(&["status", "--porcelain"]), "", "nothing is written");
}

#[test]
fn the_data_have_all_of_them() {
    let lab = untouched();
    let list = lab.json(&["list"]);
    let ids = |list: &Value| -> Vec<String> {
        let ids = list.as_array().expect("a list").iter().map(|it| it["id"].as_str());
        ids.map(|id| id.expect("an id").to_owned()).collect()
    };
    assert_eq!(ids(&list)[..2], ["speckit:001-search", "openspec:add-login"]);
    assert_eq!(list.as_array().map(Vec::len), Some(5));
    assert_eq!((&list[0]["current"], &list[1]["current"]), (&json!(true), &Value::Null));
    assert_eq!(
        list[1],
        json!({
            "id": "openspec:add-login",
            "name": "Add a login",
            "status": "IN_PROGRESS",
            "owned_scope": [],
            "owner": null,
            "criteria": { "shown": 0, "all": 1 },
            "selected": false,
            "source": "openspec",
            "unit": "openspec/changes/add-login",
            "requirements": [
                {
                    "id": "Login",
                    "text": "It MUST work.",
                    "path": "openspec/changes/add-login/specs/auth/spec.md",
                    "line": 1,
                    "done": null,
                },
                {
                    "id": "In",
                    "text": "WHEN a THEN b",
                    "path": "openspec/changes/add-login/specs/auth/spec.md",
                    "line": 3,
                    "done": null,
                },
            ],
            "tasks": 2,
            "tasks_done": 1,
            "scope_hints": ["src/login.rs"],
        })
    );
    let file = &lab.json(&["for", "src/login.rs"])[0];
    assert_eq!((&file["owners"], &file["next"]), (&json!([]), &json!("intent setup init")));
    assert_eq!(ids(&file["may_be_about"]), ["openspec:add-login"]);
    let context = lab.json(&["context", "openspec:add-login"]);
    assert_eq!(context["reason"], "People want to sign in.");
    assert_eq!(context["requirements"], list[1]["requirements"]);
    assert_eq!(context["scope_hints"], json!(["src/login.rs"]));
}

#[test]
fn the_report_names_those_that_records_name() {
    let lab = untouched();
    lab.fine(&["init"]);
    let own = ".orchestration/intents/openspec-add-login.yaml";
    lab.write(own, "source: openspec:add-login\nowned_scope: [\"src/**\"]\n");
    lab.write("src/new.rs", "fn added() {\n    once();\n    twice();\n}\n");
    lab.fine(&["record", "src/new.rs", "--intent", "openspec:add-login", "--agent", "codex"]);
    // Nobody answers for a scope any more, but the records stay.
    std::fs::remove_file(lab.root.join(own)).expect("it was there");
    lab.commit();
    // This commit touches the change, but no record says so of its lines.
    lab.write("src/login.rs", "fn login() {\n    check();\n    and_more();\n}\n");
    lab.write("openspec/changes/add-login/tasks.md", "- [x] 1.1 a\n- [x] 1.2 b\n");
    lab.commit();
    let report = lab.json(&["report"]);
    let intents = report["intents"].as_array().expect("a list");
    let named: Vec<_> = intents.iter().filter(|it| it["id"] == "openspec:add-login").collect();
    assert_eq!(named.len(), 1, "{intents:?}");
    assert_eq!(named[0]["name"], "Add a login");
    assert_eq!((&named[0]["source"], &named[0]["in_registry"]), (&json!("openspec"), &json!(true)));
    assert_eq!((&named[0]["files"], &named[0]["lines"]), (&json!(1), &json!(3)));
}
