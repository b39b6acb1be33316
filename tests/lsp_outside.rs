//! A change to `.orchestration/` from outside shows in an open editor within 200 ms: the real program over its standard streams.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::thread;
use std::time::{Duration, Instant};

use crate::support::editor::{Editor, address};
use crate::support::{REGISTRY, Repo};
use serde_json::{Value, json};

/// What a person is promised.
const PROMISED: Duration = Duration::from_millis(200);

const ROUNDS: usize = 7;

/// How long it takes until a scope that somebody else widens, and narrows again, is seen in the open file.
fn delays(repo: &Repo, capabilities: &Value, told_by_client: bool) -> Vec<Duration> {
    let mut editor = Editor::open(repo, capabilities);
    let uri = address(repo, "lib/invoice.rs");
    let item = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": "fn a() { 2 }\n" });
    editor.tell("textDocument/didOpen", &json!({ "textDocument": item }));
    editor.shows(&uri, 1);
    let wider = REGISTRY.replace("\"src/**\"", "\"src/**\", \"lib/**\"");
    let registry = ".orchestration/active_intents.yaml";
    let mut delays = Vec::new();
    for round in 0..ROUNDS {
        let (text, errors) = if round % 2 == 0 { (wider.as_str(), 0) } else { (REGISTRY, 1) };
        let written = Instant::now();
        repo.write(registry, text);
        if told_by_client {
            let changes = json!([{ "uri": address(repo, registry), "type": 2 }]);
            editor.tell("workspace/didChangeWatchedFiles", &json!({ "changes": changes }));
        }
        editor.shows(&uri, errors);
        delays.push(written.elapsed());
        // The next change is one of its own.
        thread::sleep(Duration::from_millis(60));
    }
    delays.sort();
    delays
}

fn repo() -> Repo {
    let repo = Repo::new();
    repo.write("lib/invoice.rs", "fn a() { 1 }\n");
    repo.commit("invoice");
    intent_lsp::facade::verbs::select::select(&repo.open(), "INT-001", None).unwrap();
    repo
}

/// The median: a busy machine may hold up a round or two.
fn assert_prompt(delays: &[Duration]) {
    assert!(delays[delays.len() / 2] < PROMISED, "{delays:?}");
}

#[test]
fn without_a_clients_watchers() {
    let delays = delays(&repo(), &json!({}), false);
    assert_prompt(&delays);
}

#[test]
fn with_a_clients_watchers() {
    let watching = json!({ "workspace": {
        "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let delays = delays(&repo(), &watching, true);
    assert_prompt(&delays);
}
