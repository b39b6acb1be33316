//! Transports JSON-RPC messages over standard input and output, one message per line. One thread
//! reads, and another one writes.
//!
//! The library's own transport silently drops malformed messages, and the caller waits forever.
//! Here, every request with an id gets an answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

/// How many messages may wait for the server before reading pauses.
const WAITING: usize = 64;
/// How long to wait for the last answers to be written if the client has stopped reading.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);

pub(super) struct ClientStreams {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outbox: Option<Sender<ServerJsonRpcMessage>>,
}

impl ClientStreams {
    /// Starts a thread that reads messages and one that writes them. The returned receiver closes when
    /// the last message is written.
    pub(super) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<(Self, Receiver<()>)> {
        let (outbox, queue) = channel();
        let (alive, written) = channel();
        thread::Builder::new().name("mcp-writer".into()).spawn(move || {
            if let Err(error) = write(&queue, output) {
                tracing::debug!(%error, "the client no longer reads");
            }
            drop(alive);
        })?;
        let (arrived, incoming) = mpsc::channel(WAITING);
        let answers = outbox.clone();
        thread::Builder::new().name("mcp-reader".into()).spawn(move || {
            if let Err(error) = read(input, &arrived, &answers) {
                tracing::error!(%error, "standard input cannot be read");
            }
        })?;
        Ok((Self { incoming, outbox: Some(outbox) }, written))
    }
}

impl Transport<RoleServer> for ClientStreams {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let sent = self.outbox.as_ref().is_some_and(|outbox| outbox.send(message).is_ok());
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone");
        std::future::ready(if sent { Ok(()) } else { Err(gone()) })
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

fn write(queue: &Receiver<ServerJsonRpcMessage>, mut output: impl Write) -> io::Result<()> {
    while let Ok(message) = queue.recv() {
        let mut line = serde_json::to_vec(&message)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}

/// Reads until the end of the input, or until the server has ended.
fn read(
    input: impl Read,
    arrived: &mpsc::Sender<ClientJsonRpcMessage>,
    outbox: &Sender<ServerJsonRpcMessage>,
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        for message in parse(&line) {
            let passed_on = match message {
                Ok(message) => arrived.blocking_send(message).is_ok(),
                Err(Some(answer)) => outbox.send(*answer).is_ok(),
                Err(None) => true,
            };
            if !passed_on {
                return Ok(());
            }
        }
        line.clear();
    }
    Ok(())
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<RequestId>,
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
        written.recv_timeout(LAST_WORDS).ok();
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
}
