//! Tests of the commands, of the changes they ask a client to make, and of diagnostics for files
//! that are not open.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::features::fixture::Editor;
use judgement::approval::{self, ApprovalVerdict, DecisionPlace};
use why::Workspace;

const CODE: &str = "
//- /src/a.rs
fn a() { 1 }
//- /billing/b.rs
fn b() { 1 }
//- /.orchestration/active_intents.yaml closed
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
  - id: INT-002
    name: Billing
    status: IN_PROGRESS
    owned_scope: [\"billing/**\"]
  - id: INT-003
    name: Later
    status: DRAFT
    owned_scope: [\"src/**\"]
";

pub(super) fn workspace() -> Editor {
    Editor::in_git(CODE)
}

/// The server that people have, but for how often it looks for questions.
pub(super) fn asking_often() -> ServerParts {
    let question_interval = Duration::from_millis(50);
    ServerParts { agent: || None, question_interval, ..ServerParts::default() }
}

pub(super) fn with_options(editor: &Editor, capabilities: Value, options: Value) -> Session {
    let folder = json!({ "uri": editor.uri(""), "name": "ws" });
    Session::started(
        asking_often(),
        json!({ "processId": null, "capabilities": capabilities, "workspaceFolders": [folder],
                "initializationOptions": options }),
    )
}

fn plain(editor: &Editor) -> Session {
    with_options(editor, json!({}), json!({}))
}

fn run(session: &mut Session, command: &str, argument: Value) -> i64 {
    let params = json!({ "command": command, "arguments": [argument] });
    session.ask("workspace/executeCommand", params)
}

fn answer(session: &mut Session, command: &str, argument: Value) -> Value {
    let id = run(session, command, argument);
    session.result(id)
}

/// Returns the codes that are published next for a file, and the version.
fn published(session: &mut Session, uri: &lsp::Url) -> (Vec<String>, Value) {
    let uri = json!(uri);
    let message = session.wait("diagnostics", |it| {
        it["method"] == "textDocument/publishDiagnostics" && it["params"]["uri"] == uri
    });
    let params = &message["params"];
    let codes = params["diagnostics"].as_array().unwrap().iter();
    let codes = codes.map(|it| it["code"].as_str().unwrap().to_owned()).collect();
    (codes, params["version"].clone())
}

#[test]
fn a_command_waits_for_the_workspace_and_sees_new_records() {
    let editor = workspace();
    let mut session = plain(&editor);
    let selected = answer(&mut session, "intent.select", json!({ "id": "INT-001" }));
    assert_eq!(selected["intent"]["id"], "INT-001");
    assert!(selected["context"].as_str().unwrap().contains("\n<intent_context id=\"INT-001\""));
    let status = answer(&mut session, "intent.status", json!({}));
    assert_eq!(status["selected"]["id"], "INT-001");
    let gate = json!({ "paths": ["billing/b.rs"], "uri": editor.uri("") });
    let gate = answer(&mut session, "intent.gate", gate);
    assert_eq!((&gate["outcome"], &gate["code"]), (&json!("deny"), &json!("SCOPE_VIOLATION")));
    let minimal = json!({ "minimal": true });
    let context = answer(&mut session, "intent.context", minimal);
    assert_eq!(context["id"], "INT-001");
    let all = json!({ "paths": ["src/a.rs"], "all": true, "agent": "claude-code" });
    let recorded = answer(&mut session, "intent.record", all);
    assert_eq!(recorded["recorded"][0]["intent"], "INT-001", "{recorded}");
    let list = answer(&mut session, "intent.list", Value::Null);
    assert_eq!(list[0]["selected"], true, "{list}");
    let file = json!({ "uri": editor.uri("/src/a.rs"), "line": 1 });
    let why = answer(&mut session, "intent.why", file);
    assert_eq!(why["blocks"][0]["verdict"], "exact", "{why}");
    let map = answer(&mut session, "intent.map", json!({}));
    assert_eq!((&map["intents"][0]["id"], &map["written"]), (&json!("INT-001"), &Value::Null));
    let lesson = json!({ "text": "Start the clock first.", "agent": "claude-code" });
    let learned = answer(&mut session, "intent.lesson", lesson);
    assert_eq!((&learned["path"], &learned["outcome"]), (&json!("AGENTS.md"), &json!("added")));
    let why = json!({ "uri": editor.uri("/AGENTS.md"), "line": learned["line"] });
    let why = answer(&mut session, "intent.why", why);
    assert_eq!(why["blocks"][0]["intent"]["id"], "INT-001", "{why}");
    let verified = answer(&mut session, "intent.verify", json!({ "blocks": true }));
    assert_eq!(verified["blocks"]["exact"], 2, "{verified}");
    let cleared = answer(&mut session, "intent.clear", json!({}));
    assert_eq!(cleared, json!({ "cleared": "INT-001" }));
    session.finish();
}

#[test]
fn a_list_counts_only_on_request() {
    let editor = Editor::new(
        "
//- /.orchestration/active_intents.yaml closed
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
    acceptance_criteria: [\"run: cargo test auth\", \"It is quick\"]
  - id: INT-002
    name: Billing
    status: COMPLETED
    owned_scope: [\"billing/**\"]
    acceptance_criteria: [\"Bills add up\"]
//- /src/a.rs intent=INT-001
fn a() {
    one();
}
",
    );
    let mut session = plain(&editor);
    let list = answer(&mut session, "intent.list", json!({}));
    let progress = |list: &Value, at: usize| {
        let intent = &list[at];
        json!([intent["criteria"], intent["files"], intent["blocks"], intent["lines"]])
    };
    assert_eq!(progress(&list, 0), json!([{ "shown": null, "all": 2 }, null, null, null]));
    assert_eq!(progress(&list, 1), json!([{ "shown": 0, "all": 1 }, null, null, null]));
    let list = answer(&mut session, "intent.list", json!({ "count": true }));
    assert_eq!(progress(&list, 0), json!([{ "shown": 0, "all": 2 }, 1, 1, 2]));
    assert_eq!(progress(&list, 1), json!([{ "shown": 0, "all": 1 }, 0, 0, 0]));
    session.finish();
}

#[test]
fn a_command_answers_about_unsaved_text() {
    let editor = workspace();
    let mut session = plain(&editor);
    let all = json!({ "paths": ["src/a.rs"], "all": true, "intent": "INT-001" });
    answer(&mut session, "intent.record", all);
    let uri = editor.uri("/src/a.rs");
    session.open(uri.as_str(), "fn a() { 1 }\n\nfn b() { 2 }\n");
    let why = answer(&mut session, "intent.why", json!({ "uri": uri }));
    assert_eq!(why["blocks"][0]["verdict"], "exact", "{why}");
    assert_eq!(why["blocks"][1]["verdict"], "unrecorded", "{why}");
    session.finish();
}

#[test]
fn what_a_hover_says_comes_as_data() {
    let editor = workspace();
    let mut session = plain(&editor);
    let all = json!({ "paths": ["src/a.rs"], "all": true, "intent": "INT-001", "agent": "codex" });
    answer(&mut session, "intent.record", all);
    let uri = editor.uri("/src/a.rs");
    let ask = |session: &mut Session, line: u32| {
        let position = json!({ "line": line, "character": 0 });
        answer(session, "intent.why", json!({ "uri": uri, "position": position }))
    };
    let closed = ask(&mut session, 0);
    session.open(uri.as_str(), "fn a() { 1 }\n\nfn b() { 2 }\n");
    // An open file is answered as a hover would be, so a record counts once it was loaded.
    let mut opened = ask(&mut session, 0);
    for _ in 0..100 {
        if opened == closed {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
        opened = ask(&mut session, 0);
    }
    assert_eq!(closed, opened);
    assert_eq!(opened["lines"][0], "INT-001 Sign in", "{opened}");
    let who = opened["lines"][1].as_str().unwrap();
    assert!(who.starts_with("codex, just now, 1 of 1 line · ") && who.ends_with(" start"), "{who}");
    assert_eq!(opened["lines"].as_array().unwrap().len(), 2);
    assert_eq!(opened["short"], "INT-001 · codex, just now");
    assert_eq!(
        (&opened["intent"]["id"], &opened["known_by"]),
        (&json!("INT-001"), &json!("recorded"))
    );
    let labels = opened["links"].as_array().unwrap().iter().map(|link| &link["label"]);
    assert_eq!(labels.collect::<Vec<_>>(), ["Intent", "Record"]);
    let target = opened["links"][0]["target"].as_str().unwrap();
    assert!(target.ends_with("/.orchestration/active_intents.yaml#L2"), "{target}");
    let typed = ask(&mut session, 2);
    assert_eq!(typed["lines"], json!(["no record; not committed yet"]), "{typed}");
    assert_eq!(typed["short"], "not committed yet");
    let of_git =
        json!({ "uri": editor.uri("/billing/b.rs"), "position": { "line": 0, "character": 0 } });
    let of_git = answer(&mut session, "intent.why", of_git);
    assert_eq!(of_git["short"], "git says: Ada, just now", "{of_git}");
    assert_eq!((&of_git["commit"]["author"], &of_git["intent"]), (&json!("Ada"), &Value::Null));
    let both = json!({ "uri": uri, "line": 1, "position": { "line": 0, "character": 0 } });
    let refused = run(&mut session, "intent.why", both);
    assert_eq!(session.code(refused), -32602);
    session.finish();
}

#[test]
fn a_count_that_nobody_waits_for_reads_no_more_files() {
    let editor = Editor::in_git("//- /src/a.rs intent=INT-001\nfn a() -> u8 { 1 }\n");
    let counted = |ws: &Workspace| overview::select::list_with_counts(ws).unwrap().0[0].lines;
    assert_eq!(counted(editor.workspace()), Some(1));
    let stop = Arc::new(AtomicBool::new(true));
    assert_eq!(counted(&editor.workspace().clone().with_stop(stop)), None);
}

#[test]
fn invalid_arguments_are_refused_and_impossible_commands_fail() {
    let editor = workspace();
    let mut session = plain(&editor);
    for (command, argument, code) in [
        ("intent.approve", json!({}), -32602),
        ("intent.select", json!({ "id": 1 }), -32602),
        ("intent.select", json!({ "id": "INT-404" }), -32602),
        ("intent.select", json!({ "id": "INT-003" }), -32803),
        ("intent.record", json!({ "paths": ["../x"] }), -32602),
        ("intent.record", json!({ "paths": ["src/a.rs"] }), -32803),
        ("intent.why", json!({ "path": "src/nowhere.rs" }), -32602),
        ("intent.accept", json!({ "path": "src/a.rs", "line": 1 }), -32803),
        ("intent.widen", json!({ "id": "INT-001", "uri": editor.uri("/billing/b.rs") }), -32803),
        ("intent.list", json!({ "uri": "untitled:1" }), -32602),
        ("intent.lesson", json!({ "text": 7 }), -32602),
        ("intent.lesson", json!({ "text": " ` " }), -32803),
    ] {
        let id = run(&mut session, command, argument.clone());
        assert_eq!(session.code(id), code, "{command} {argument}");
    }
    session.finish();
}

#[test]
fn selecting_the_right_intent_removes_the_error() {
    let editor = workspace();
    let mut session = plain(&editor);
    answer(&mut session, "intent.select", json!({ "id": "INT-001" }));
    let uri = editor.uri("/billing/b.rs");
    session.open(uri.as_str(), "fn b() { 2 }\n");
    assert_eq!(published(&mut session, &uri).0, ["scope-violation"]);
    answer(&mut session, "intent.select", json!({ "id": "INT-002" }));
    while published(&mut session, &uri).0 != [""; 0] {}
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let left = session.ask("shutdown", Value::Null);
    session.result(left);
}

/// Returns a session in which INT-001 is selected and an edit lies outside of its scope, and the
/// argument that widens the scope.
fn session_with_an_edit_out_of_scope(editor: &Editor, options: Value) -> (Session, Value) {
    let mut session = with_options(editor, json!({}), options);
    answer(&mut session, "intent.select", json!({ "id": "INT-001" }));
    let uri = editor.uri("/billing/b.rs");
    session.open(uri.as_str(), "fn b() { 2 }\n");
    assert_eq!(published(&mut session, &uri).0, ["scope-violation"]);
    (session, json!({ "id": "INT-001", "uri": uri }))
}

fn on_disk(editor: &Editor) -> String {
    std::fs::read_to_string(editor.path("/.orchestration/active_intents.yaml")).unwrap()
}

/// Waits until the edit lies inside every scope concerned. The only finding left is that two
/// intents own the file.
fn until_owned(session: &mut Session, editor: &Editor) {
    while published(session, &editor.uri("/billing/b.rs")).0 != ["scope-overlap"] {}
}

const WIDER: &str = "owned_scope: [\"src/**\", \"billing/b.rs\"]";

#[test]
fn widening_a_scope_removes_the_error() {
    let editor = workspace();
    let (mut session, argument) =
        session_with_an_edit_out_of_scope(&editor, json!({ "person": true }));
    let widened = answer(&mut session, "intent.widen", argument.clone());
    assert_eq!(widened["path"], ".orchestration/active_intents.yaml");
    assert!(on_disk(&editor).contains(WIDER), "{}", on_disk(&editor));
    until_owned(&mut session, &editor);
    let again = run(&mut session, "intent.widen", argument);
    assert_eq!(session.code(again), -32803, "it owns the file already");
    let other = json!({ "id": "INT-003", "uri": editor.uri("/billing/b.rs") });
    let other = run(&mut session, "intent.widen", other);
    assert_eq!(session.code(other), -32803, "nothing in the file is judged by it");
    session.close();
}

#[cfg(unix)]
#[test]
fn a_scope_is_widened_by_the_target_of_a_link() {
    let editor = workspace();
    std::os::unix::fs::symlink("../billing/b.rs", editor.path("/src/link.rs")).unwrap();
    let mut session = with_options(&editor, json!({}), json!({ "person": true }));
    answer(&mut session, "intent.select", json!({ "id": "INT-001" }));
    let uri = editor.uri("/src/link.rs");
    session.open(uri.as_str(), "fn b() { 2 }\n");
    assert_eq!(published(&mut session, &uri).0, ["scope-violation"]);
    answer(&mut session, "intent.widen", json!({ "id": "INT-001", "uri": uri }));
    assert!(on_disk(&editor).contains(WIDER), "{}", on_disk(&editor));
    session.close();
}

#[test]
fn an_open_registry_is_widened_and_saved_in_the_editor() {
    let editor = workspace();
    let (mut session, argument) =
        session_with_an_edit_out_of_scope(&editor, json!({ "interactive": true, "saves": true }));
    let registry = editor.uri("/.orchestration/active_intents.yaml");
    let before = on_disk(&editor);
    let unsaved = before.replace("Sign in", "Sign in and out");
    session.open(registry.as_str(), &unsaved);
    let id = run(&mut session, "intent.widen", argument);
    let asked = session.heard("workspace/applyEdit");
    let edit = asked["params"]["edit"]["changes"][registry.as_str()][0].clone();
    assert_eq!(edit["range"]["start"]["line"], 4, "{asked}");
    session.change(
        registry.as_str(),
        2,
        json!([{ "range": edit["range"], "text": edit["newText"] }]),
    );
    session.answer(&asked, json!({ "applied": true }));
    let save = session.heard("intent/save");
    assert_eq!(save["params"], json!({ "uri": registry }));
    assert_eq!(on_disk(&editor), before, "the file is the editor's");
    let wider = unsaved.replace(
        "owned_scope: [\"src/**\"]\n  - id: INT-002",
        &format!("{WIDER}\n  - id: INT-002"),
    );
    std::fs::write(editor.path("/.orchestration/active_intents.yaml"), &wider).unwrap();
    session.answer(&save, Value::Null);
    assert_eq!(session.result(id)["id"], "INT-001");
    until_owned(&mut session, &editor);
    session.close();
}

#[test]
fn if_the_client_cannot_save_file_and_buffer_are_widened() {
    let editor = workspace();
    let (mut session, argument) =
        session_with_an_edit_out_of_scope(&editor, json!({ "person": true }));
    let registry = editor.uri("/.orchestration/active_intents.yaml");
    let before = on_disk(&editor);
    session.open(registry.as_str(), &before.replace("Sign in", "Sign in and out"));
    let id = run(&mut session, "intent.widen", argument);
    let asked = session.heard("workspace/applyEdit");
    assert!(asked["params"]["edit"]["changes"][registry.as_str()].is_array(), "{asked}");
    let time = |editor: &Editor| {
        let file = editor.path("/.orchestration/active_intents.yaml");
        std::fs::metadata(file).unwrap().modified().unwrap()
    };
    let then = time(&editor);
    let edited = before.replace("Sign in", "Sign in and out");
    let edited = edited.replacen("owned_scope: [\"src/**\"]", WIDER, 1);
    session.change(registry.as_str(), 2, json!([{ "text": edited }]));
    session.answer(&asked, json!({ "applied": true }));
    assert_eq!(session.result(id)["id"], "INT-001");
    assert_eq!(time(&editor), then, "the editor saves its own text over it without being warned");
    let saved = on_disk(&editor);
    assert!(saved.contains(WIDER) && !saved.contains("and out"), "what was not saved stays so");
    until_owned(&mut session, &editor);
    session.close();
}

#[test]
fn a_broken_registry_keeps_the_last_findings_and_says_so() {
    let editor = workspace();
    let mut session = with_options(&editor, json!({}), json!({ "status": true }));
    answer(&mut session, "intent.select", json!({ "id": "INT-001" }));
    let uri = editor.uri("/billing/b.rs");
    session.open(uri.as_str(), "fn b() { 2 }\n");
    assert_eq!(published(&mut session, &uri).0, ["scope-violation"]);
    let sound = on_disk(&editor);
    let registry = editor.path("/.orchestration/active_intents.yaml");
    std::fs::write(&registry, sound.replace("name: Billing", "name: [Billing")).unwrap();
    let said = session.wait("the finding", |it| {
        it["method"] == "textDocument/publishDiagnostics"
            && it["params"]["diagnostics"].to_string().contains("registry-syntax")
    });
    assert!(said.to_string().contains("judged by its last version that did"), "{said}");
    let said = session.wait("the judgement", |it| {
        let text = it["params"]["diagnostics"].to_string();
        it["params"]["uri"] == json!(uri) && text.contains("judged by its last version")
    });
    assert_eq!(said["params"]["diagnostics"][0]["code"], "scope-violation");
    let status = session.wait("the status", |it| {
        it["method"] == "intent/status" && it["params"]["older_registry"].is_string()
    });
    assert_eq!(status["params"]["intents"], 3);
    let gate = json!({ "paths": ["src/a.rs"], "uri": editor.uri("") });
    let gate = answer(&mut session, "intent.gate", gate);
    assert_eq!(gate["outcome"], "deny", "what decides is never told by an older registry: {gate}");
    std::fs::write(&registry, sound).unwrap();
    session.wait("the mended status", |it| {
        it["method"] == "intent/status" && it["params"]["older_registry"].is_null()
    });
    session.close();
}

pub(super) fn asking() -> Value {
    json!({ "window": { "showMessage": {} } })
}

#[test]
fn a_person_is_asked_for_the_intent_if_none_is_named() {
    let editor = workspace();
    let mut session = with_options(&editor, asking(), json!({ "interactive": true }));
    let id = run(&mut session, "intent.select", json!({}));
    let question = session.heard("window/showMessageRequest");
    let actions = question["params"]["actions"].clone();
    assert_eq!(actions, json!([{ "title": "INT-001 Sign in" }, { "title": "INT-002 Billing" }]));
    session.answer(&question, actions[1].clone());
    assert_eq!(session.result(id)["intent"]["id"], "INT-002");
    let id = run(&mut session, "intent.select", json!({}));
    let question = session.heard("window/showMessageRequest");
    session.answer(&question, Value::Null);
    assert_eq!(session.result(id), Value::Null);
    session.finish();
    // No person sits at the other client.
    let mut agent = with_options(&editor, asking(), json!({}));
    let id = run(&mut agent, "intent.select", json!({}));
    assert_eq!(agent.code(id), -32602);
    agent.finish();
}

#[test]
fn nothing_is_accepted_before_a_person_agrees() {
    let editor = workspace();
    let mut session = with_options(&editor, asking(), json!({ "interactive": true }));
    let block = json!({ "uri": editor.uri("/src/a.rs"), "line": 1 });
    let id = run(&mut session, "intent.accept", block.clone());
    let question = session.heard("window/showMessageRequest");
    session.answer(&question, Value::Null);
    assert_eq!(session.code(id), -32803);
    // Of two names of a file, the person sees the one that counts.
    let both = json!({ "uri": editor.uri("/src/a.rs"), "path": "billing/b.rs", "line": 1 });
    let id = run(&mut session, "intent.accept", both);
    let question = session.heard("window/showMessageRequest");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("src/a.rs") && !message.contains("billing"), "{message}");
    session.answer(&question, Value::Null);
    assert_eq!(session.code(id), -32803);
    // The person agreed to another text than the one on disk now.
    let agreed = std::fs::read_to_string(editor.path("/src/a.rs")).unwrap();
    let id = run(&mut session, "intent.accept", block.clone());
    let question = session.heard("window/showMessageRequest");
    std::fs::write(editor.path("/src/a.rs"), "fn a() { 7 }\n").unwrap();
    session.answer(&question, question["params"]["actions"][0].clone());
    assert_eq!(session.code(id), -32803);
    std::fs::write(editor.path("/src/a.rs"), agreed).unwrap();
    let id = run(&mut session, "intent.accept", block);
    let question = session.heard("window/showMessageRequest");
    session.answer(&question, question["params"]["actions"][0].clone());
    assert_eq!(session.result(id)["accepted"], json!(["a"]));
    session.finish();
}

#[test]
fn showing_a_block_opens_its_intent_or_its_record() {
    let editor = workspace();
    let shows = json!({ "window": { "showDocument": { "support": true } } });
    let mut session = with_options(&editor, shows, json!({}));
    let all = json!({ "paths": ["src/a.rs"], "all": true, "intent": "INT-001" });
    answer(&mut session, "intent.record", all);
    let block = json!({ "uri": editor.uri("/src/a.rs"), "line": 1 });
    let registry = editor.uri("/.orchestration/active_intents.yaml");
    let id = run(&mut session, "intent.show", block.clone());
    let asked = session.heard("window/showDocument");
    assert_eq!(asked["params"]["uri"], json!(registry));
    assert_eq!(asked["params"]["selection"]["start"], json!({ "line": 1, "character": 8 }));
    session.answer(&asked, json!({ "success": true }));
    assert_eq!(session.result(id), json!({ "uri": registry, "line": 2 }));
    // The registry does not contain the intent, so the record is shown.
    let registry = editor.path("/.orchestration/active_intents.yaml");
    std::fs::write(registry, "active_intents: []\n").unwrap();
    let id = run(&mut session, "intent.show", block.clone());
    let asked = session.heard("window/showDocument");
    let record = asked["params"]["uri"].as_str().unwrap();
    assert!(record.contains("/agent_trace/") && record.ends_with(".jsonl"), "{record}");
    session.answer(&asked, json!({ "success": false }));
    assert_eq!(session.code(id), -32803);
    let nobody = json!({ "uri": editor.uri("/billing/b.rs"), "line": 1 });
    let id = run(&mut session, "intent.show", nobody);
    assert_eq!(session.code(id), -32803);
    let left = session.ask("shutdown", Value::Null);
    session.result(left);
}

#[test]
fn a_client_that_shows_no_documents_is_not_asked_to() {
    let editor = workspace();
    let mut session = plain(&editor);
    let block = json!({ "uri": editor.uri("/src/a.rs"), "line": 1 });
    let id = run(&mut session, "intent.show", block);
    assert_eq!(session.code(id), -32803);
    session.finish();
}

const UNKNOWN_STATUS: &str = "active_intents:\n  - id: INT-001\n    name: A\n    status: odd\n    owned_scope: [\"src/**\"]\n";

#[test]
fn a_closed_broken_registry_is_reported_until_it_is_fixed() {
    let editor = workspace();
    let registry = editor.path("/.orchestration/active_intents.yaml");
    std::fs::write(&registry, UNKNOWN_STATUS).unwrap();
    let uri = editor.uri("/.orchestration/active_intents.yaml");
    let mut session = plain(&editor);
    assert_eq!(published(&mut session, &uri), (vec!["unknown-status".into()], Value::Null));
    // While the file is open, its text in the editor counts. After it is closed, the text on disk
    // counts.
    let opened = UNKNOWN_STATUS.replace("odd", "DRAFT");
    session.open(uri.as_str(), &opened);
    assert_eq!(published(&mut session, &uri), (vec![], json!(1)));
    session.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(published(&mut session, &uri), (vec!["unknown-status".into()], Value::Null));
    std::fs::write(&registry, opened).unwrap();
    assert_eq!(published(&mut session, &uri), (vec![], Value::Null));
    session.finish();
}

#[test]
fn pushed_diagnostics_are_cleared_if_the_client_pulls() {
    let editor = workspace();
    let registry = editor.path("/.orchestration/active_intents.yaml");
    std::fs::write(&registry, UNKNOWN_STATUS).unwrap();
    let uri = editor.uri("/.orchestration/active_intents.yaml");
    let mut session = with_options(&editor, client_that_pulls(), json!({}));
    let refresh = session.heard("workspace/diagnostic/refresh");
    session.answer(&refresh, Value::Null);
    assert_eq!(published(&mut session, &uri).0, ["unknown-status"]);
    session.open(uri.as_str(), UNKNOWN_STATUS);
    assert_eq!(published(&mut session, &uri).0, [""; 0]);
    let params = json!({ "textDocument": { "uri": uri } });
    let id = session.ask("textDocument/diagnostic", params);
    assert_eq!(session.result(id)["items"][0]["code"], "unknown-status");
    session.finish();
}

fn client_that_pulls() -> Value {
    json!({ "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } } })
}

/// Pulls the diagnostics of all workspaces. Returns the reports, with the ids of their results.
fn pull(session: &mut Session, previous: &[Value]) -> Vec<Value> {
    let previous = previous.iter().map(|it| json!({ "uri": it["uri"], "value": it["resultId"] }));
    let params = json!({ "previousResultIds": Vec::from_iter(previous) });
    let id = session.ask("workspace/diagnostic", params);
    session.result(id)["items"].as_array().unwrap().clone()
}

#[test]
fn a_client_that_pulls_the_workspace_gets_what_would_be_pushed() {
    let editor = workspace();
    let registry = editor.path("/.orchestration/active_intents.yaml");
    std::fs::write(&registry, UNKNOWN_STATUS).unwrap();
    let uri = editor.uri("/.orchestration/active_intents.yaml");
    let mut session = with_options(&editor, client_that_pulls(), json!({}));
    assert_eq!(published(&mut session, &uri).0, ["unknown-status"]);
    let first = pull(&mut session, &[]);
    assert_eq!(published(&mut session, &uri).0, [""; 0], "it would be shown twice");
    assert_eq!((&first[0]["uri"], first.len()), (&json!(uri), 1));
    assert_eq!(first[0]["items"][0]["code"], "unknown-status");
    let previous = json!([{ "uri": uri, "value": first[0]["resultId"] }]);
    let waiting = session.ask("workspace/diagnostic", json!({ "previousResultIds": previous }));
    std::fs::write(&registry, UNKNOWN_STATUS.replace("odd", "DRAFT")).unwrap();
    let registry = json!({ "uri": uri, "type": 2 });
    session.tell("workspace/didChangeWatchedFiles", json!({ "changes": [registry] }));
    let changed = session.result(waiting)["items"].clone();
    assert_eq!((&changed[0]["kind"], &changed[0]["items"]), (&json!("full"), &json!([])));
    let again = session.ask(
        "workspace/diagnostic",
        json!({ "previousResultIds":
        [{ "uri": uri, "value": changed[0]["resultId"] }] }),
    );
    let id = session.ask("shutdown", Value::Null);
    assert_eq!(session.result(id), Value::Null);
    assert_eq!(session.reply(again)["id"], again, "each request has its reply");
    session.tell("exit", Value::Null);
}

/// Waits until the diagnostics of a document have these codes.
fn until(session: &mut Session, uri: &lsp::Url, codes: &[&str]) {
    while published(session, uri).0 != codes {}
}

#[test]
#[ignore = "slow"]
fn an_unsaved_scope_clears_the_error_in_the_other_file() {
    let editor = workspace();
    let mut session = plain(&editor);
    answer(&mut session, "intent.select", json!({ "id": "INT-001" }));
    let billing = editor.uri("/billing/b.rs");
    session.open(billing.as_str(), "fn bill() { more(); }\n");
    until(&mut session, &billing, &["scope-violation"]);
    let registry = editor.uri("/.orchestration/active_intents.yaml");
    let text = std::fs::read_to_string(editor.path("/.orchestration/active_intents.yaml")).unwrap();
    session.open(registry.as_str(), &text);
    let wider = text.replacen("\"src/**\"", "\"src/**\", \"billing/**\"", 1);
    session.change(registry.as_str(), 2, json!([{ "text": wider }]));
    until(&mut session, &billing, &[]);
    let document = json!({ "textDocument": { "uri": registry } });
    session.tell("textDocument/didClose", document);
    until(&mut session, &billing, &["scope-violation"]);
    session.close();
}

#[test]
#[ignore = "slow"]
fn lenses_requested_at_the_start_wait_for_the_workspace() {
    let editor = workspace();
    let folder = json!({ "uri": editor.uri(""), "name": "ws" });
    let open = |root: &Path| {
        std::thread::sleep(Duration::from_millis(500));
        Workspace::open(root, &ground::Environment::of_process()).map_err(|error| error.to_string())
    };
    let uri = json!(editor.uri("/.orchestration/active_intents.yaml"));
    let text = std::fs::read_to_string(editor.path("/.orchestration/active_intents.yaml")).unwrap();
    let again = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
    for capabilities in [json!({}), again] {
        let parts = ServerParts { agent: || None, open, ..ServerParts::default() };
        let mut session = Session::started(
            parts,
            json!({ "processId": null, "capabilities": capabilities, "workspaceFolders": [folder] }),
        );
        session.open(uri.as_str().unwrap(), &text);
        let id = session.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        assert_eq!(session.result(id).as_array().map_or(0, Vec::len), 2);
        session.close();
    }
}

/// Whoever can write to the git directory can plant what is kept there.
#[test]
fn commands_that_decide_or_write_neither_keep_nor_use_what_is_known_of_history() {
    let editor = workspace();
    let start = |folders: Value| {
        let parts = ServerParts { agent: || None, ..ServerParts::default() };
        Session::started(
            parts,
            json!({ "processId": null, "capabilities": {}, "workspaceFolders": folders }),
        )
    };
    // After its first 16 bytes, a store without answers has only zeros.
    let is_kept = || {
        let stored = std::fs::read(editor.path("/.git/intent/cache/answers"));
        stored.is_ok_and(|stored| stored[16..].iter().any(|byte| *byte != 0))
    };
    let (root, file) = (editor.uri(""), editor.uri("/src/a.rs"));
    for folders in [json!([]), json!([{ "uri": root, "name": "ws" }])] {
        let mut session = start(folders.clone());
        for (command, argument) in [
            ("intent.verify", json!({ "uri": root, "blocks": true })),
            (
                "intent.record",
                json!({ "uri": root, "paths": [file], "intent": "INT-001", "all": true }),
            ),
        ] {
            answer(&mut session, command, argument);
            assert!(!is_kept(), "{command} {folders}");
        }
        session.close();
    }
    let mut session = start(json!([]));
    answer(&mut session, "intent.list", json!({ "uri": root, "count": true }));
    assert!(is_kept());
    session.close();
}

#[test]
fn the_status_names_waiting_questions() {
    let editor = workspace();
    let mut session = with_options(&editor, json!({}), json!({ "status": true }));
    assert_eq!(session.heard("intent/status")["params"]["waiting"], 0);
    let asked = super::questions::ask(&editor, super::questions::wider());
    assert_eq!(session.heard("intent/status")["params"]["waiting"], 1);
    let ws = Workspace::open(&editor.path(""), &ground::Environment::of_process()).unwrap();
    approval::decide(&ws, &asked.code, ApprovalVerdict::Reject, DecisionPlace::Terminal).unwrap();
    assert_eq!(session.heard("intent/status")["params"]["waiting"], 0);
    let left = session.ask("shutdown", Value::Null);
    session.result(left);
}

#[test]
fn a_changed_status_is_sent() {
    let editor = workspace();
    let mut session = with_options(&editor, json!({}), json!({ "status": true }));
    let status = session.heard("intent/status")["params"].clone();
    assert_eq!((&status["governed"], &status["selected"]), (&json!(true), &Value::Null));
    answer(&mut session, "intent.select", json!({ "id": "INT-002" }));
    // Other changes of the status may be sent in between, for example when the ledger is read.
    let mut told = (0..5).map(|_| session.heard("intent/status")["params"].clone());
    let status = told.find(|status| status["selected"]["id"] == "INT-002").expect("it is told");
    let root = status["root"].as_str().unwrap();
    assert_eq!(std::path::Path::new(root), editor.path(""));
    let left = session.ask("shutdown", Value::Null);
    session.result(left);
}
