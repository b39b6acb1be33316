//! `intent lsp` as a process: what only a real process can show. The answers of the server are tested in
//! `src/lsp/tests`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Nothing takes so long, but the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        Self::start_with(Command::new(env!("CARGO_BIN_EXE_intent")).stderr(Stdio::null()))
    }

    fn start_with(program: &mut Command) -> Self {
        let program = program.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn initialized(process: Option<u32>) -> Self {
        let mut server = Self::start();
        server.ask(0, "initialize", &json!({ "processId": process, "capabilities": {} }));
        assert_eq!(server.read()["result"]["serverInfo"]["name"], "intent-lsp");
        server.tell("initialized", &json!({}));
        server
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn ask(&mut self, id: i64, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Reads the next message. Fails if standard output contains anything but frames.
    fn read(&mut self) -> Value {
        let mut header = String::new();
        self.output.read_line(&mut header).unwrap();
        let length = header.strip_prefix("Content-Length: ").expect("a frame");
        self.output.read_line(&mut String::new()).unwrap();
        let mut body = vec![0; length.trim().parse().unwrap()];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn ended(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // In a test that passed, the process has ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn shutdown_and_exit_end_the_server_with_code_0() {
    let mut server = Server::initialized(None);
    server.ask(1, "shutdown", &Value::Null);
    server.tell("exit", &Value::Null);
    assert_eq!(server.read(), json!({ "jsonrpc": "2.0", "result": null, "id": 1 }));
    assert_eq!(server.ended().code(), Some(0));
    let mut rest = Vec::new();
    server.output.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
}

#[test]
fn the_documented_filter_of_the_log_shows_each_request() {
    let documents = include_str!("../docs/editors.md");
    let filter = documents.split("`INTENT_LOG=").nth(1).and_then(|rest| rest.split('`').next());
    let mut program = Command::new(env!("CARGO_BIN_EXE_intent"));
    program.env("INTENT_LOG", filter.unwrap()).stderr(Stdio::piped());
    let mut server = Server::start_with(&mut program);
    server.ask(1, "initialize", &json!({ "capabilities": {} }));
    server.read();
    server.ask(2, "shutdown", &Value::Null);
    server.tell("exit", &Value::Null);
    server.ended();
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("answered method=\"shutdown\""), "{log}");
}

#[test]
fn every_other_end_of_the_server_has_code_1() {
    let mut exit = Server::initialized(None);
    exit.tell("exit", &Value::Null);
    assert_eq!(exit.ended().code(), Some(1));
    let mut closed = Server::initialized(None);
    closed.input = None;
    assert_eq!(closed.ended().code(), Some(1));
    let mut cold = Server::start();
    cold.input = None;
    assert_eq!(cold.ended().code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow"]
fn the_server_ends_when_its_parent_process_dies() {
    let mut parent = Command::new("sleep").arg("60").spawn().unwrap();
    let mut server = Server::initialized(Some(parent.id()));
    server.ask(1, "no/such", &Value::Null);
    assert_eq!(server.read()["error"]["code"], -32601);
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_eq!(server.ended().code(), Some(1));
}

#[test]
#[ignore = "slow"]
fn a_client_that_reads_nothing_does_not_keep_the_server_alive() {
    let mut server = Server::initialized(None);
    // The answers fill the pipe, because nobody reads them.
    let method = "x".repeat(4096);
    for id in 1..200 {
        server.ask(id, &method, &Value::Null);
    }
    server.tell("exit", &Value::Null);
    assert_eq!(server.ended().code(), Some(1));
}
