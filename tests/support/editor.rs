//! The real server over its standard streams, used as an editor uses it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Repo;

/// Nothing takes so long, but the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Editor {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
}

impl Editor {
    pub fn open(repo: &Repo, capabilities: &Value) -> Self {
        Self::open_at(&repo.root(), capabilities)
    }

    pub fn open_at(root: &Path, capabilities: &Value) -> Self {
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
        let folder = json!({ "uri": format!("file://{}/", root.display()), "name": "ws" });
        let params = json!({ "processId": null, "capabilities": capabilities,
                             "workspaceFolders": [folder] });
        editor
            .send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        editor.hear(|it| it["id"] == 0);
        editor.tell("initialized", &json!({}));
        editor
    }

    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    pub fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn hear(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).unwrap();
            if fits(&message) {
                return message;
            }
        }
    }

    /// Returns the whole answer to a request, which may be an error.
    pub fn reply(&mut self, id: i64, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.hear(|it| it["id"] == id && it["method"].is_null())
    }

    /// Returns the largest memory that the server used, in KiB, if the system tells it.
    pub fn peak(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }

    /// Returns the result of a request, which must succeed.
    pub fn ask(&mut self, id: i64, method: &str, params: &Value) -> Value {
        let reply = self.reply(id, method, params);
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    /// Waits until the file has this number of diagnostics.
    pub fn shows(&mut self, uri: &str, count: usize) {
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

pub fn address(repo: &Repo, path: &str) -> String {
    format!("file://{}", repo.root().join(path).display())
}
