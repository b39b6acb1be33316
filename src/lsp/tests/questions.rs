//! Tests of the questions of agents: which are shown, and which clients are asked.

use std::time::Duration;

use serde_json::{Value, json};

use super::Session;
use super::commands::{asking, asking_often, with_options, workspace};
use crate::ServerParts;
use crate::features::fixture::Editor;
use ground::approvals::{self, Approval, ApprovalState, Request, Subject};
use judgement::approval::{self, ApprovalVerdict, DecisionPlace};
use why::Workspace;

pub(super) fn ask(editor: &Editor, subject: Subject) -> Approval {
    let ws = Workspace::open(&editor.path(""), &ground::Environment::of_process()).unwrap();
    let request = Request { subject, actor: "codex:1".into(), cwd: editor.path(""), head: None };
    approvals::ask(&ws.root, request).unwrap()
}

fn command(text: &str) -> Subject {
    Subject::command(text)
}

pub(super) fn wider() -> Subject {
    let entries = vec!["tests/**".to_owned()];
    Subject::Scope { intent: "INT-001".into(), entries, reason: "tests".into() }
}

fn state(editor: &Editor, asked: &Approval) -> ApprovalState {
    let ws = Workspace::open(&editor.path(""), &ground::Environment::of_process()).unwrap();
    approval::status(&ws, &asked.code).unwrap().state
}

fn person(editor: &Editor) -> Session {
    with_options(editor, asking(), json!({ "interactive": true }))
}

const QUESTION: &str = "window/showMessageRequest";

/// Long enough that a question which is wrongly put would have arrived.
const SEVERAL_CHECKS: Duration = Duration::from_millis(300);

#[test]
#[ignore = "slow"]
fn a_person_approves_in_a_dialog_once() {
    let editor = workspace();
    let mut session = person(&editor);
    let asked = ask(&editor, wider());
    let question = session.heard(QUESTION);
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("tests/**") && message.contains(&asked.code), "{message}");
    let actions = json!([{ "title": "Approve" }, { "title": "Reject" }]);
    assert_eq!(question["params"]["actions"], actions);
    session.answer(&question, actions[0].clone());
    let told = session.heard("window/showMessage");
    assert_eq!(told["params"]["message"], "INT-001 owns tests/** from now on.");
    assert_eq!(state(&editor, &asked), ApprovalState::Approved);
    let registry = editor.path("/.orchestration/active_intents.yaml");
    assert!(std::fs::read_to_string(registry).unwrap().contains("tests/**"));
    std::thread::sleep(SEVERAL_CHECKS);
    assert!(!session.meanwhile(QUESTION), "it is not put again");
    session.close();
}

#[test]
#[ignore = "slow"]
fn a_person_can_reject_or_close_a_dialog() {
    let editor = workspace();
    let mut session = person(&editor);
    let asked = ask(&editor, command("rm -rf a"));
    let question = session.heard(QUESTION);
    session.answer(&question, json!({ "title": "Reject" }));
    session.heard("window/showMessage");
    assert_eq!(state(&editor, &asked), ApprovalState::Denied);
    let asked = ask(&editor, command("rm -rf b"));
    let question = session.heard(QUESTION);
    session.answer(&question, Value::Null);
    std::thread::sleep(SEVERAL_CHECKS);
    assert!(!session.meanwhile(QUESTION), "what was dismissed is not put again");
    assert_eq!(state(&editor, &asked), ApprovalState::Pending);
    session.close();
}

#[test]
fn a_dialog_is_cancelled_when_it_was_decided_elsewhere() {
    let editor = workspace();
    let asked = ask(&editor, command("rm -rf a"));
    let mut session = person(&editor);
    let question = session.heard(QUESTION);
    let ws = Workspace::open(&editor.path(""), &ground::Environment::of_process()).unwrap();
    approval::decide(&ws, &asked.code, ApprovalVerdict::Approve, DecisionPlace::Terminal).unwrap();
    let cancelled = session.heard("$/cancelRequest");
    assert_eq!(cancelled["params"]["id"], question["id"]);
    // An answer after the decision changes nothing.
    session.answer(&question, json!({ "title": "Reject" }));
    assert_eq!(state(&editor, &asked), ApprovalState::Approved);
    session.close();
}

#[test]
#[ignore = "slow"]
fn a_question_that_is_too_long_can_only_be_rejected() {
    let editor = workspace();
    let mut session = person(&editor);
    let asked = ask(&editor, command("ls\nrm -rf a"));
    let question = session.heard(QUESTION);
    assert_eq!(question["params"]["actions"], json!([{ "title": "Reject" }]));
    session.answer(&question, json!({ "title": "Approve" }));
    std::thread::sleep(SEVERAL_CHECKS);
    assert_eq!(state(&editor, &asked), ApprovalState::Pending);
    session.close();
}

#[test]
#[ignore = "slow"]
fn only_a_few_questions_are_asked_at_once() {
    let editor = workspace();
    for n in 0..5 {
        ask(&editor, command(&format!("rm {n}")));
    }
    let mut session = person(&editor);
    let first: Vec<Value> = (0..3).map(|_| session.heard(QUESTION)).collect();
    std::thread::sleep(SEVERAL_CHECKS);
    assert!(!session.meanwhile(QUESTION));
    session.answer(&first[0], Value::Null);
    session.heard(QUESTION);
    session.close();
}

#[test]
#[ignore = "slow"]
fn a_client_without_a_person_is_not_asked() {
    let editor = workspace();
    let asked = ask(&editor, command("rm -rf a"));
    for options in [json!({}), json!({ "status": true })] {
        let mut session = with_options(&editor, asking(), options);
        // The setting cannot be turned on after the start.
        let settings = json!({ "settings": { "intent": { "interactive": true } } });
        session.tell("workspace/didChangeConfiguration", settings);
        std::thread::sleep(SEVERAL_CHECKS);
        assert!(!session.meanwhile(QUESTION));
        session.close();
    }
    assert_eq!(state(&editor, &asked), ApprovalState::Pending);
}

#[test]
#[ignore = "slow"]
fn a_server_that_an_agent_started_asks_no_questions() {
    let editor = workspace();
    let asked = ask(&editor, command("rm -rf a"));
    let parts = ServerParts { agent: || Some("CLAUDECODE is set".into()), ..asking_often() };
    let folder = json!({ "uri": editor.uri(""), "name": "ws" });
    let mut session = Session::started(
        parts,
        json!({ "processId": null, "capabilities": asking(), "workspaceFolders": [folder],
                "initializationOptions": { "interactive": true, "person": true } }),
    );
    let said = session.heard("window/logMessage");
    assert!(said["params"]["message"].as_str().unwrap().starts_with("CLAUDECODE is set"));
    std::thread::sleep(SEVERAL_CHECKS);
    assert!(!session.meanwhile(QUESTION));
    assert_eq!(state(&editor, &asked), ApprovalState::Pending);
    session.open(editor.uri("/billing/b.rs").as_str(), "fn b() { 2 }\n");
    let widen = json!({ "id": "INT-001", "uri": editor.uri("/billing/b.rs") });
    let widen = json!({ "command": "intent.widen", "arguments": [widen] });
    let id = session.ask("workspace/executeCommand", widen);
    assert_eq!(session.code(id), -32803, "and widens nothing");
    session.close();
}

#[test]
fn no_command_approves_or_rejects() {
    let editor = workspace();
    let asked = ask(&editor, command("rm -rf a"));
    let mut session = with_options(&editor, asking(), json!({}));
    for name in ["approve", "intent.approve", "intent.reject", "intent.decide", "intent.off"] {
        let argument = json!({ "code": asked.code });
        let params = json!({ "command": name, "arguments": [argument] });
        let id = session.ask("workspace/executeCommand", params);
        assert_eq!(session.code(id), -32602, "{name}");
    }
    for command in crate::features::commands::ALL {
        for given in [json!({ "code": asked.code }), json!({ "id": asked.code })] {
            let params = json!({ "command": command.name, "arguments": [given] });
            let id = session.ask("workspace/executeCommand", params);
            session.reply(id);
        }
    }
    assert_eq!(state(&editor, &asked), ApprovalState::Pending);
    session.close();
}
