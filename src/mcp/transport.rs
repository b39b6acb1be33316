//! Transports JSON-RPC messages over standard input and output, one message per line. One thread
//! reads, and another one writes.
//!
//! The library's own transport silently drops messages that are too long or malformed, and the
//! caller waits forever. Here, every request with an id gets an answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::answer::{self, Refusal};

/// The maximum length of a message in bytes: enough for the largest file that is processed, with
/// every byte escaped.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// How many messages may wait for the server before reading pauses.
const WAITING: usize = 64;

/// How long to wait for the last answers to be written if the client has stopped reading.
const LAST_WORDS: Duration = Duration::from_secs(2);

pub(super) struct ClientStreams {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outbox: Option<LineQueue>,
}

pub(super) struct WriterEnd(Receiver<()>);

impl WriterEnd {
    pub(super) fn wait(self) {
        if self.0.recv_timeout(LAST_WORDS) == Err(RecvTimeoutError::Timeout) {
            tracing::debug!("the client stopped reading before the last messages");
        }
    }
}

impl ClientStreams {
    pub(super) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<(Self, WriterEnd)> {
        let (sender, queue) = channel();
        let (alive, written) = channel();
        thread::Builder::new().name("mcp-writer".into()).spawn(move || {
            write(&queue, output);
            drop(alive);
        })?;
        let outbox = LineQueue(sender);
        let (arrived, incoming) = mpsc::channel(WAITING);
        let answers = outbox.clone();
        thread::Builder::new()
            .name("mcp-reader".into())
            .spawn(move || read(input, &arrived, &answers))?;
        Ok((Self { incoming, outbox: Some(outbox) }, WriterEnd(written)))
    }
}

impl Transport<RoleServer> for ClientStreams {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let written = self.outbox.as_ref().map(|outbox| outbox.send(&message));
        async move {
            let closed = || Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone"));
            match written {
                Some(written) => written.await.unwrap_or_else(|_| closed()),
                None => closed(),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.incoming.close();
        self.outbox = None;
        Ok(())
    }
}

#[derive(Clone)]
struct LineQueue(Sender<QueuedLine>);

struct QueuedLine {
    bytes: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl LineQueue {
    fn send(&self, message: &ServerJsonRpcMessage) -> oneshot::Receiver<io::Result<()>> {
        let (written, done) = oneshot::channel();
        match serde_json::to_vec(message) {
            Ok(mut bytes) => {
                bytes.push(b'\n');
                // If the writer has ended, `written` is dropped, and the receiver gets an error.
                self.0.send(QueuedLine { bytes, written }).ok();
            }
            Err(error) => {
                written.send(Err(error.into())).ok();
            }
        }
        done
    }
}

fn write(queue: &Receiver<QueuedLine>, mut output: impl Write) {
    while let Ok(line) = queue.recv() {
        let done = output.write_all(&line.bytes).and_then(|()| output.flush());
        let broken = done.is_err();
        // The sender may have stopped waiting.
        line.written.send(done).ok();
        if broken {
            return;
        }
    }
}

fn read(input: impl Read, arrived: &mpsc::Sender<ClientJsonRpcMessage>, outbox: &LineQueue) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    loop {
        let mut line = Vec::new();
        match (&mut input).take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(%error, "standard input cannot be read");
                return;
            }
        }
        let messages = match line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            true => vec![Err(too_long(&line, &mut input).map(Box::new))],
            false => parse(&line),
        };
        for message in messages {
            match message {
                Ok(message) => {
                    if arrived.blocking_send(message).is_err() {
                        return;
                    }
                }
                Err(Some(answer)) => drop(outbox.send(&answer)),
                Err(None) => {}
            }
        }
    }
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<RequestId>,
    method: Option<String>,
}

/// A message, or the answer to one that cannot be read, if it has an id.
type Arrived = Result<ClientJsonRpcMessage, Option<Box<ServerJsonRpcMessage>>>;

/// Parses the messages of a line: one, or several in a batch of the oldest protocol.
fn parse(line: &[u8]) -> Vec<Arrived> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    match serde_json::from_slice::<Vec<Value>>(line) {
        Ok(batch) => batch.iter().map(|one| message(one.to_string().as_bytes())).collect(),
        Err(_) => vec![message(line)],
    }
}

fn message(text: &[u8]) -> Arrived {
    serde_json::from_slice(text).map_err(|error| {
        tracing::debug!(%error, "a message that cannot be read");
        let id = serde_json::from_slice::<Envelope>(text).ok()?.id?;
        let said = ErrorData::invalid_request(format!("the message cannot be read: {error}"), None);
        Some(Box::new(ServerJsonRpcMessage::error(said, Some(id))))
    })
}

/// Skips the rest of a line that is too long, and returns the answer to its sender.
fn too_long(start: &[u8], input: &mut impl BufRead) -> Option<ServerJsonRpcMessage> {
    let mut rest = RestOfLine { input, ended: false };
    // JSON is read byte by byte, which is slow without a buffer.
    let whole = BufReader::new(start.chain(&mut rest));
    let envelope = serde_json::from_reader::<_, Envelope>(whole);
    if let Err(error) = io::copy(&mut rest, &mut io::sink()) {
        tracing::error!(%error, "standard input cannot be read");
    }
    let Envelope { id, method } = envelope.ok()?;
    let message = format!(
        "The message is longer than {} MiB and was not read; nothing was done. Send less at once: `file_write` takes `edits` instead of a whole file.",
        MAX_LINE / 1024 / 1024
    );
    if method.as_deref() != Some("tools/call") {
        let error = ErrorData::invalid_request(message, None);
        return Some(ServerJsonRpcMessage::error(error, Some(id?)));
    }
    let mut result = answer::result(Err(Refusal::unreadable(message)));
    // Clients of every protocol version accept a result without a type as complete.
    result.result_type = None;
    Some(ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), id?))
}

struct RestOfLine<'a, R> {
    input: &'a mut R,
    ended: bool,
}

impl<R: BufRead> Read for RestOfLine<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let available = self.input.fill_buf()?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let length = end.unwrap_or(available.len()).min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.ended = available.is_empty() || end == Some(length);
        let consumed = if end == Some(length) { length + 1 } else { length };
        self.input.consume(consumed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the answers of the transport itself, and the messages that reach the server.
    fn exchange(input: Vec<u8>) -> (Vec<Value>, Vec<Value>) {
        let (reader, writer) = io::pipe().unwrap();
        let (mut lines, written) = ClientStreams::start(io::Cursor::new(input), writer).unwrap();
        let mut arrived = Vec::new();
        while let Some(message) = lines.incoming.blocking_recv() {
            arrived.push(serde_json::to_value(message).unwrap());
        }
        lines.outbox = None;
        written.wait();
        let answered = BufReader::new(reader)
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        (answered, arrived)
    }

    fn ping(id: u32) -> String {
        json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string()
    }

    #[test]
    fn lines_become_messages_and_the_last_one_needs_no_end() {
        let text = format!("\u{feff}{}\r\n\n  \n[{},{}]\n{}", ping(1), ping(2), ping(3), ping(4));
        let (answered, arrived) = exchange(text.into_bytes());
        assert!(answered.is_empty(), "{answered:?}");
        let ids: Vec<_> = arrived.iter().map(|message| message["id"].clone()).collect();
        assert_eq!(ids, [1, 2, 3, 4]);
    }

    #[test]
    fn an_unreadable_message_with_an_id_gets_an_error() {
        let deep = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{}1{}}}",
            "[".repeat(5000),
            "]".repeat(5000)
        );
        let cases: [(&[u8], Option<Value>); 7] = [
            (b"{ not json", None),
            (b"\xff\xfe\x00", None),
            (b"42", None),
            (br#"{"id":"a","method":"ping"}"#, Some(json!("a"))),
            (
                br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":"\ud800"}"#,
                Some(json!(5)),
            ),
            (deep.as_bytes(), Some(json!(7))),
            (
                br#"[{"id":"b","method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]"#,
                Some(json!("b")),
            ),
        ];
        for (line, id) in cases {
            let mut input = line.to_vec();
            input.extend_from_slice(format!("\n{}\n", ping(9)).as_bytes());
            let (answered, arrived) = exchange(input);
            assert_eq!(arrived.last().unwrap()["id"], 9, "{:?}", String::from_utf8_lossy(line));
            let ids: Vec<_> = answered.iter().map(|answer| answer["id"].clone()).collect();
            assert_eq!(ids, id.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    #[ignore = "slow"]
    fn a_too_long_message_gets_an_error_with_its_id() {
        let big = "x".repeat(20 * 1024 * 1024);
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"name\":\"file_write\",\"arguments\":{{\"content\":\"{big}\"}}}},\"id\":\"last\"}}\n"
        );
        let other = format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"{big}\"}}\n");
        let (answered, arrived) = exchange(format!("{call}{other}{}\n", ping(3)).into_bytes());
        assert_eq!(arrived.len(), 1, "only the ping arrives");
        assert_eq!(answered[0]["id"], "last");
        assert_eq!(answered[0]["result"]["isError"], true);
        assert_eq!(answered[0]["result"]["structuredContent"]["code"], "UNREADABLE_PAYLOAD");
        assert_eq!(answered[1]["id"], 2);
        assert_eq!(answered[1]["error"]["code"], -32600);
    }
}
