//! A change to `.orchestration/` by another program shows in an open editor within 200 ms. The tests run the real
//! server over its standard streams.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::thread;
use std::time::{Duration, Instant};

use crate::support::editor::{Editor, address};
use crate::support::{REGISTRY, Repo};
use serde_json::{Value, json};

/// The longest delay that the documents promise.
const PROMISED: Duration = Duration::from_millis(200);

const ROUNDS: usize = 7;

/// Measures how long it takes until the open file shows that another program has widened a scope, or narrowed it again.
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
        // The pause makes the next change a separate event.
        thread::sleep(Duration::from_millis(60));
    }
    delays.sort();
    delays
}

fn repo() -> Repo {
    let repo = Repo::new();
    repo.write("lib/invoice.rs", "fn a() { 1 }\n");
    repo.commit("invoice");
    overview::select::select(&repo.open(), "INT-001", None).unwrap();
    repo
}

/// Compares the median, because a busy machine may delay a few rounds.
fn assert_prompt(delays: &[Duration]) {
    assert!(delays[delays.len() / 2] < PROMISED, "{delays:?}");
}

#[test]
#[ignore = "slow"]
fn a_change_shows_in_time_without_watchers_of_the_client() {
    let delays = delays(&repo(), &json!({}), false);
    assert_prompt(&delays);
}

#[test]
#[ignore = "slow"]
fn a_change_shows_in_time_with_watchers_of_the_client() {
    let watching = json!({ "workspace": {
        "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let delays = delays(&repo(), &watching, true);
    assert_prompt(&delays);
}
