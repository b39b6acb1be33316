//! Tests of the server as a client sees it. The bytes go through pipes in memory.

mod agreement;
mod commands;
mod edits;
mod knowledge;
mod navigation;
mod notebooks;
mod order;
mod protocol;
mod questions;
mod storm;

use std::collections::VecDeque;
use std::io::{BufReader, PipeWriter, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::dispatch;
use super::method_table::MethodTable;
use super::pool::Lane;
use super::refusal::RequestRefusal;
use super::snapshot::Snapshot;
use super::transport::Frames;
use super::{ServerParts, serve};

/// How long a test waits for a message. It is long because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// The only document of most tests. No workspace governs it.
const A: &str = "file:///nowhere/a.rs";

/// Returns the parts of a server without workspaces, whose hovers show the document's text.
fn parts() -> ServerParts {
    ServerParts { table: table(), find: |_| None, agent: || None, ..ServerParts::default() }
}

fn table() -> MethodTable {
    dispatch::table().on_lane::<lsp::request::HoverRequest>(Lane::LatencySensitive, text_hover)
}

fn text_hover(
    snapshot: &Snapshot,
    params: lsp::HoverParams,
) -> Result<Option<lsp::Hover>, RequestRefusal> {
    let uri = params.text_document_position_params.text_document.uri;
    Ok(snapshot.document(&uri).map(|open| text_in_hover(open.document.text())))
}

fn text_in_hover(value: String) -> lsp::Hover {
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::PlainText, value };
    lsp::Hover { contents: lsp::HoverContents::Markup(contents), range: None }
}

/// A running server, with the client's ends of its pipes.
struct Session {
    input: Option<PipeWriter>,
    output: Receiver<Value>,
    /// Messages that arrived while another one was awaited.
    aside: VecDeque<Value>,
    server: Option<JoinHandle<bool>>,
    next: i64,
}

impl Session {
    /// Starts a server and sends it nothing.
    fn cold(parts: ServerParts) -> Self {
        let (server_in, input) = std::io::pipe().unwrap();
        let (output, server_out) = std::io::pipe().unwrap();
        let server = thread::spawn(move || serve(server_in, server_out, parts).unwrap());
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut frames = Frames::new(BufReader::new(output));
            while let Ok(Some(frame)) = frames.next_frame() {
                let message = serde_json::from_slice(&frame.unwrap()).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let aside = VecDeque::new();
        Self { input: Some(input), output: receiver, aside, server: Some(server), next: 1 }
    }

    /// Starts a server and initializes it with these client capabilities.
    fn with(parts: ServerParts, capabilities: Value) -> Self {
        Self::started(parts, json!({ "processId": null, "capabilities": capabilities }))
    }

    /// Starts a server and initializes it with these parameters.
    fn started(parts: ServerParts, params: Value) -> Self {
        let mut session = Self::cold(parts);
        let id = session.ask("initialize", params);
        assert!(session.result(id)["capabilities"].is_object());
        session.tell("initialized", json!({}));
        session
    }

    fn new() -> Self {
        Self::with(parts(), json!({}))
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn send(&mut self, message: &Value) {
        let bytes = frame(message);
        self.raw(&bytes);
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn open(&mut self, uri: &str, text: &str) {
        let item = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": item }));
    }

    fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    fn hover(&mut self, uri: &str) -> i64 {
        self.ask("textDocument/hover", at(uri))
    }

    /// Returns the next message. Messages set aside come first.
    fn next(&mut self) -> Value {
        self.aside.pop_front().unwrap_or_else(|| self.output.recv_timeout(PATIENCE).unwrap())
    }

    /// Returns the first message that fits. The messages before it are set aside.
    fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&fits) {
            return self.aside.remove(at).unwrap();
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(message) if fits(&message) => return message,
                Ok(message) => self.aside.push_back(message),
                Err(error) => panic!("{what}: {error}; meanwhile came {:?}", self.aside),
            }
        }
    }

    fn reply(&mut self, id: i64) -> Value {
        self.wait(&format!("the reply to {id}"), |it| it["id"] == id && it["method"].is_null())
    }

    fn result(&mut self, id: i64) -> Value {
        let reply = self.reply(id);
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    fn code(&mut self, id: i64) -> i64 {
        let reply = self.reply(id);
        reply["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {reply}"))
    }

    /// Returns the server's text of a document. `None` if the server answers nothing about it.
    fn text(&mut self, uri: &str) -> Option<String> {
        let id = self.hover(uri);
        self.result(id)["contents"]["value"].as_str().map(str::to_owned)
    }

    /// Returns the next notification or request of the server with this method.
    fn heard(&mut self, method: &str) -> Value {
        self.wait(method, |it| it["method"] == method)
    }

    fn answer(&mut self, request: &Value, result: Value) {
        let id = &request["id"];
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// Returns true if an unread message with this method has arrived. The message stays unread.
    fn meanwhile(&mut self, method: &str) -> bool {
        self.aside.extend(self.output.try_iter());
        self.aside.iter().any(|message| message["method"] == method)
    }

    /// Fails if another message arrives within a moment.
    fn assert_silent(&mut self) {
        assert!(self.aside.is_empty(), "{:?}", self.aside);
        let next = self.output.recv_timeout(Duration::from_millis(150));
        assert_eq!(next, Err(RecvTimeoutError::Timeout));
    }

    /// Waits for the end of the server. Returns true after an orderly shutdown.
    fn ended(&mut self) -> bool {
        let server = self.server.take().unwrap();
        let end = Instant::now() + PATIENCE;
        while !server.is_finished() {
            assert!(Instant::now() < end, "the server does not end");
            thread::sleep(Duration::from_millis(2));
        }
        server.join().unwrap()
    }

    /// Ends the session in an orderly way, and checks that no message is left unread.
    fn finish(mut self) {
        self.close();
        assert!(self.aside.is_empty(), "left unread: {:?}", self.aside);
        let left: Vec<Value> = self.output.try_iter().collect();
        assert!(left.is_empty(), "left unread: {left:?}");
    }

    /// Ends the session in an orderly way. Messages may be left unread, because the system may
    /// report a change on disk several times.
    fn close(&mut self) {
        let id = self.ask("shutdown", Value::Null);
        assert_eq!(self.result(id), Value::Null);
        self.tell("exit", Value::Null);
        assert!(self.ended());
    }
}

fn frame(message: &Value) -> Vec<u8> {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

fn at(uri: &str) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } })
}

fn range(start: (u32, u32), end: (u32, u32)) -> Value {
    json!({ "start": { "line": start.0, "character": start.1 },
            "end": { "line": end.0, "character": end.1 } })
}

fn insert(text: &str) -> Value {
    json!([{ "range": range((0, 0), (0, 0)), "text": text }])
}
