//! A change to `.orchestration/` from outside shows in an open editor within 200 ms: the real program over its standard streams.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{REGISTRY, Repo};

/// Nothing takes so long, but a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a person is promised.
const PROMISED: Duration = Duration::from_millis(200);

const ROUNDS: usize = 7;

struct Editor {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
}

impl Editor {
    fn open(repo: &Repo, capabilities: &Value) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_intent"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut editor = Self { child, input, messages };
        let folder = json!({ "uri": address(repo, ""), "name": "ws" });
        let params = json!({ "processId": null, "capabilities": capabilities,
                             "workspaceFolders": [folder] });
        editor
            .send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        editor.hear(|it| it["id"] == 0);
        editor.tell("initialized", &json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).unwrap();
            if fits(&message) {
                return message;
            }
        }
    }

    /// Waits until as many diagnostics of the file are shown.
    fn shows(&mut self, uri: &str, count: usize) {
        self.hear(|it| {
            let shown = it["params"]["diagnostics"].as_array();
            it["params"]["uri"] == uri && shown.is_some_and(|shown| shown.len() == count)
        });
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    output.read_line(&mut header).ok()?;
    let length = header.strip_prefix("Content-Length: ")?.trim().parse().ok()?;
    output.read_line(&mut String::new()).ok()?;
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn address(repo: &Repo, path: &str) -> String {
    format!("file://{}", repo.root().join(path).display())
}

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
    intent_lsp::verbs::select::select(&repo.open(), "INT-001", None).unwrap();
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
