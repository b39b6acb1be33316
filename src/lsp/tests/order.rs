//! Tests of the lanes, of cancellation and panics, and of conversations with the client.

use std::sync::{Condvar, Mutex};

use super::*;
use crate::outlets::ClientConversation;
use ground::parallel::locked_value;

/// Blocks handlers until a test releases them.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let open = locked_value(&self.open);
        let wait = self.changed.wait_timeout_while(open, PATIENCE, |open| !*open).unwrap();
        assert!(!wait.1.timed_out());
    }
    fn open(&self) {
        *locked_value(&self.open) = true;
        self.changed.notify_all();
    }
}

/// Returns the parts of a server whose `workspace/symbol` waits at the gate, on the worker lane.
fn gated(gate: &'static Gate) -> ServerParts {
    let table = table().on_lane::<lsp::request::WorkspaceSymbolRequest>(
        Lane::Worker,
        move |snapshot, _| {
            gate.pass();
            snapshot.check_cancelled()?;
            Ok(None)
        },
    );
    ServerParts { table, ..parts() }
}

fn gate() -> &'static Gate {
    Box::leak(Box::default())
}

fn slow(session: &mut Session) -> i64 {
    session.ask("workspace/symbol", json!({ "query": "" }))
}

#[test]
fn hovers_and_edits_do_not_wait_for_slow_requests() {
    let gate = gate();
    let mut session = Session::with(gated(gate), json!({}));
    session.open(A, "one");
    let waiting: Vec<i64> = (0..40).map(|_| slow(&mut session)).collect();
    session.change(A, 2, insert("two "));
    assert_eq!(session.text(A).as_deref(), Some("two one"));
    gate.open();
    for id in waiting {
        assert_eq!(session.result(id), Value::Null);
    }
    session.finish();
}

#[test]
fn a_cancelled_request_is_answered_once_and_at_once() {
    let gate = gate();
    let mut session = Session::with(gated(gate), json!({}));
    let waiting: Vec<i64> = (0..20).map(|_| slow(&mut session)).collect();
    for id in &waiting {
        session.tell("$/cancelRequest", json!({ "id": id }));
        assert_eq!(session.code(*id), -32800);
        session.tell("$/cancelRequest", json!({ "id": id }));
    }
    session.tell("$/cancelRequest", json!({ "id": 4711 }));
    session.tell("$/cancelRequest", json!({ "id": {} }));
    session.tell("$/cancelRequest", Value::Null);
    gate.open();
    session.assert_silent();
    session.finish();
}

#[test]
fn a_late_answer_is_not_given_to_a_new_request_with_the_same_id() {
    let gate = gate();
    let mut session = Session::with(gated(gate), json!({}));
    session.open(A, "new");
    let id = slow(&mut session);
    session.tell("$/cancelRequest", json!({ "id": id }));
    assert_eq!(session.code(id), -32800);
    session.next = id;
    slow(&mut session);
    let twice =
        json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": at(A) });
    session.send(&twice);
    assert_eq!(session.code(id), -32600, "the id is in use");
    gate.open();
    assert_eq!(session.result(id), Value::Null);
    session.assert_silent();
    session.finish();
}

#[test]
fn a_panic_affects_only_its_own_request() {
    let table = table()
        .on_lane::<lsp::request::WorkspaceSymbolRequest>(Lane::Worker, |_, _| panic!("on purpose"))
        .on_conversation::<lsp::request::ExecuteCommand, _>(|_, _| async { panic!("on purpose") });
    let mut session = Session::with(ServerParts { table, ..parts() }, json!({}));
    session.open(A, "alive");
    for _ in 0..20 {
        let id = slow(&mut session);
        assert_eq!(session.code(id), -32603);
        let id = session.ask("workspace/executeCommand", json!({ "command": "x" }));
        assert_eq!(session.code(id), -32603);
    }
    assert_eq!(session.text(A).as_deref(), Some("alive"));
    session.finish();
}

async fn converse(
    conversation: ClientConversation,
    params: lsp::ExecuteCommandParams,
) -> Result<Option<Value>, RequestRefusal> {
    let request = lsp::ShowMessageRequestParams {
        typ: lsp::MessageType::INFO,
        message: params.command,
        actions: None,
    };
    let answer =
        conversation.outside.client.request::<lsp::request::ShowMessageRequest>(request).await;
    let answer = answer.map_err(RequestRefusal::failed)?;
    let title = answer.map(|action| action.title);
    let job = move || title.map(Value::from);
    conversation.outside.pool.compute(Lane::LatencySensitive, "a job", job).await
}

fn conversing() -> ServerParts {
    ServerParts {
        table: table().on_conversation::<lsp::request::ExecuteCommand, _>(converse),
        ..parts()
    }
}

#[test]
fn many_requests_that_wait_for_the_client_do_not_block() {
    let mut session = Session::with(conversing(), json!({}));
    session.open(A, "alive");
    let asked: Vec<i64> = (0..300)
        .map(|n| session.ask("workspace/executeCommand", json!({ "command": n.to_string() })))
        .collect();
    assert_eq!(session.text(A).as_deref(), Some("alive"));
    for _ in 0..300 {
        let question = session.heard("window/showMessageRequest");
        let title = &question["params"]["message"];
        session.answer(&question, json!({ "title": title }));
    }
    for (n, id) in asked.into_iter().enumerate() {
        assert_eq!(session.result(id), n.to_string());
    }
    session.finish();
}

#[test]
fn a_refusal_of_the_client_fails_only_that_request() {
    let mut session = Session::with(conversing(), json!({}));
    let id = session.ask("workspace/executeCommand", json!({ "command": "x" }));
    let question = session.heard("window/showMessageRequest");
    let error = json!({ "code": -32601, "message": "no" });
    session.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    assert_eq!(session.code(id), -32803);
    session.finish();
}

#[test]
fn cancelling_a_request_cancels_its_question_to_the_client() {
    let mut session = Session::with(conversing(), json!({}));
    let id = session.ask("workspace/executeCommand", json!({ "command": "x" }));
    let question = session.heard("window/showMessageRequest");
    session.tell("$/cancelRequest", json!({ "id": id }));
    assert_eq!(session.code(id), -32800);
    let started = Instant::now();
    let taken_back = session.heard("$/cancelRequest");
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(taken_back["params"]["id"], question["id"]);
    session.answer(&question, Value::Null);
    session.assert_silent();
    session.finish();
}

#[test]
fn content_modified_is_sent_only_to_clients_that_retry() {
    for (retried, expected) in [(json!(["textDocument/diagnostic"]), -32801), (json!([]), 0)] {
        let gate = gate();
        let stale = json!({ "cancel": true, "retryOnContentModified": retried });
        let table = table().on_lane::<lsp::request::DocumentDiagnosticRequest>(
            Lane::Worker,
            move |_, _| {
                gate.pass();
                Ok(lsp::DocumentDiagnosticReport::Full(Default::default()).into())
            },
        );
        let parts = ServerParts { table, ..parts() };
        let mut session =
            Session::with(parts, json!({ "general": { "staleRequestSupport": stale } }));
        session.open(A, "one");
        let id = session.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": A } }));
        session.change(A, 2, insert("two "));
        assert!(session.text(A).is_some());
        gate.open();
        let code = session.reply(id)["error"]["code"].as_i64().unwrap_or(0);
        assert_eq!(code, expected);
        session.finish();
    }
}
