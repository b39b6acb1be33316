//! Reads and writes the byte stream. One thread reads frames and parses them; another writes them.
//!
//! Bad input never stops the reader. Bytes that are not a frame are skipped up to the next
//! `Content-Length` header and reported once. A frame that is not a valid message is reported, and
//! the next one is read. Frames are parsed on the reader's thread, so that a large `didOpen` costs
//! the loop nothing.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::thread;

use serde::Serialize;
use tokio::sync::mpsc;

use super::message::{self, Message, Rejected};

/// The largest frame that is read. Larger ones are skipped and refused.
pub(crate) const MAX_FRAME_BYTES: u64 = 64 << 20;

/// A larger length is taken for garbage, because skipping so many bytes would take too long.
const ABSURD_BYTES: u64 = 4 << 30;

/// The longest header line. A stream without line ends is examined in pieces of this size.
const MAX_HEADER_BYTES: u64 = 8 << 10;

/// How many parsed messages may wait for the loop before the reader pauses.
const QUEUED_MESSAGES: usize = 256;

pub struct Frames<R> {
    input: R,
    /// The length from a header that follows garbage. The garbage is reported before the frame is
    /// read.
    length: Option<u64>,
}

impl<R: BufRead> Frames<R> {
    pub fn new(input: R) -> Self {
        Self { input, length: None }
    }

    /// Returns the body of the next frame, or an error for what was skipped. `None` at the end of
    /// the stream.
    pub fn next_frame(&mut self) -> io::Result<Option<Result<Vec<u8>, Rejected>>> {
        let mut skipped = 0;
        while let Some(line) = self.header_line()? {
            let (length, garbage) = header(&line);
            skipped += garbage;
            if length.is_some() || garbage > 0 {
                self.length = length;
            }
            if length.is_some() && skipped > 0 {
                let reason = format!(
                    "{skipped} bytes before a Content-Length header were not a header and were skipped"
                );
                return Ok(Some(Err(Rejected::unparsable(reason))));
            }
            if line.trim_ascii().is_empty()
                && let Some(bytes) = self.length.take()
            {
                return self.body(bytes);
            }
        }
        Ok(None)
    }

    fn header_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let read = (&mut self.input).take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
        Ok((read > 0).then_some(line))
    }

    fn body(&mut self, bytes: u64) -> io::Result<Option<Result<Vec<u8>, Rejected>>> {
        if bytes > MAX_FRAME_BYTES {
            let skipped = io::copy(&mut (&mut self.input).take(bytes), &mut io::sink())?;
            let reason = format!("a message of {bytes} bytes was skipped; the limit is 64 MiB");
            return Ok((skipped == bytes).then(|| Err(Rejected::unparsable(reason))));
        }
        // The length is only a claim of the client, so memory is allocated as bytes arrive.
        let mut body = Vec::with_capacity(usize::try_from(bytes.min(1 << 20)).unwrap_or(0));
        let read = (&mut self.input).take(bytes).read_to_end(&mut body)?;
        Ok((read as u64 == bytes).then_some(Ok(body)))
    }
}

/// Returns the length that the line says, and how many of its bytes are no header.
fn header(line: &[u8]) -> (Option<u64>, u64) {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    // A body that is longer than its header says ends directly before the next header, on the same
    // line.
    if let Some((before, length)) = text.rsplit_once("content-length:") {
        let length = length.trim().parse().ok().filter(|bytes| *bytes <= ABSURD_BYTES);
        return (length, if length.is_some() { before.len() } else { line.len() } as u64);
    }
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_header = text.split_once(':').is_some_and(|(name, _)| is_name(name));
    (None, if is_header || text.trim().is_empty() { 0 } else { line.len() as u64 })
}

/// What the reader passes to the loop, in the order of arrival. The channel closes at the end of
/// the stream.
pub(crate) type IncomingMessage = Result<Message, Rejected>;

pub(crate) fn spawn_reader(
    input: impl Read + Send + 'static,
) -> io::Result<mpsc::Receiver<IncomingMessage>> {
    let (sender, receiver) = mpsc::channel(QUEUED_MESSAGES);
    thread::Builder::new().name("lsp-reader".into()).spawn(move || {
        let mut frames = Frames::new(BufReader::with_capacity(64 << 10, input));
        loop {
            let incoming = match frames.next_frame() {
                Ok(Some(frame)) => frame.and_then(|body| message::parse(&body)),
                Ok(None) => return,
                Err(error) => {
                    tracing::error!(%error, "the client's stream cannot be read");
                    return;
                }
            };
            if sender.blocking_send(incoming).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// The queue of messages to the client. The writer thread sends them in this order, and ends at a
/// `None`.
///
/// The queue has no limit, because nothing in the server may wait for a client that does not read.
#[derive(Clone)]
pub(crate) struct Outbox {
    sender: std::sync::mpsc::Sender<Option<String>>,
}

impl Outbox {
    pub(crate) fn send(&self, message: &impl Serialize) {
        match serde_json::to_string(message) {
            // The writer ends early only if the client's stream is closed. Then nobody can be told.
            Ok(text) => drop(self.sender.send(Some(text))),
            Err(error) => tracing::error!(%error, "a message cannot be written as JSON"),
        }
    }

    /// Ends the writer once all messages before this call are written.
    pub(crate) fn close(&self) {
        drop(self.sender.send(None));
    }
}

/// Starts the thread `lsp-writer` on `output`. It ends after [`Outbox::close`], once all earlier
/// messages are written. The receiver closes then.
pub(crate) fn spawn_writer(
    output: impl Write + Send + 'static,
) -> io::Result<(Outbox, std::sync::mpsc::Receiver<()>)> {
    let (sender, queue) = std::sync::mpsc::channel();
    let (done, finished) = std::sync::mpsc::channel();
    thread::Builder::new().name("lsp-writer".into()).spawn(move || {
        let mut output = BufWriter::with_capacity(64 << 10, output);
        if let Err(error) = write_all(&queue, &mut output) {
            tracing::debug!(%error, "the client no longer reads");
        }
        drop(done);
    })?;
    Ok((Outbox { sender }, finished))
}

fn write_all(
    queue: &std::sync::mpsc::Receiver<Option<String>>,
    output: &mut impl Write,
) -> io::Result<()> {
    loop {
        // Flush only if no message waits, so that a burst is one write to the pipe.
        let next = match queue.try_recv() {
            Ok(next) => next,
            Err(_) => {
                output.flush()?;
                queue.recv().unwrap_or(None)
            }
        };
        let Some(text) = next else { return output.flush() };
        write_frame(output, &text)?;
    }
}

fn write_frame(output: &mut impl Write, text: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(body: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    fn read_all(bytes: &[u8]) -> Vec<Result<String, Rejected>> {
        let mut frames = Frames::new(bytes);
        let mut all = Vec::new();
        while let Some(next) = frames.next_frame().unwrap() {
            all.push(next.map(|body| String::from_utf8_lossy(&body).into_owned()));
        }
        all
    }

    fn bodies(bytes: &[u8]) -> Vec<String> {
        read_all(bytes).into_iter().flatten().collect()
    }

    #[test]
    fn frames_are_cut_and_other_headers_ignored() {
        let mut bytes = frame("one");
        bytes.extend(b"content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:3\r\n\r\ntwo");
        bytes.extend(b"\r\n\r\n");
        bytes.extend(frame(""));
        bytes.extend(b"Content-Length: 5\n\nthree");
        assert_eq!(bodies(&bytes), ["one", "two", "", "three"]);
        assert!(read_all(&bytes).iter().all(Result::is_ok));
    }

    #[test]
    fn garbage_is_reported_once_and_skipped() {
        for garbage in [
            &b"garbage line\r\n\r\n"[..],
            b"Content-Length: many\r\n\r\n",
            b"Content-Length: -7\r\n\r\n",
            b"Content-Length: 99999999999999999999\r\n\r\n",
            b"{\"jsonrpc\":\"2.0\"}",
            b"\x00\xff\xfe\r\nmore of it\r\n\r\n",
            b": nameless\r\n",
        ] {
            let mut bytes = garbage.to_vec();
            bytes.extend(frame("after"));
            let all = read_all(&bytes);
            assert_eq!(all.len(), 2, "{:?}: {all:?}", String::from_utf8_lossy(garbage));
            assert!(all[0].as_ref().is_err_and(|it| it.reason.contains("not a header")), "{all:?}");
            assert_eq!(all[1], Ok("after".to_owned()));
        }
    }

    #[test]
    fn a_wrong_length_loses_at_most_two_frames() {
        let mut short = b"Content-Length: 4\r\n\r\n{\"a\":1}".to_vec();
        short.extend(frame("after"));
        assert_eq!(bodies(&short), ["{\"a\"", "after"]);
        let mut long = b"Content-Length: 12\r\n\r\n{\"a\":1}".to_vec();
        long.extend(frame("lost"));
        long.extend(frame("after"));
        assert_eq!(bodies(&long).last().map(String::as_str), Some("after"));
    }

    #[test]
    fn a_megabyte_without_a_line_end_is_skipped() {
        let mut bytes = vec![b'x'; 1 << 20];
        bytes.extend(b"\n");
        bytes.extend(frame("after"));
        assert_eq!(bodies(&bytes), ["after"]);
    }

    #[test]
    fn a_frame_over_the_limit_is_skipped_and_the_next_one_read() {
        let bytes = MAX_FRAME_BYTES + 1;
        let header = format!("Content-Length: {bytes}\r\n\r\n");
        let stream = header.as_bytes().chain(io::repeat(b'x').take(bytes));
        let after = frame("after");
        let mut frames = Frames::new(BufReader::new(stream.chain(&after[..])));
        let refused = frames.next_frame().unwrap().expect("a frame").unwrap_err();
        assert!(refused.reason.contains("67108865 bytes was skipped"), "{refused:?}");
        assert_eq!(frames.next_frame().unwrap(), Some(Ok(b"after".to_vec())));
    }

    #[test]
    fn a_stream_may_end_inside_a_frame() {
        assert!(read_all(b"Content-Length: 10\r\n\r\nabc").is_empty());
        assert!(read_all(b"Content-Len").is_empty());
    }

    proptest! {
        #[test]
        fn the_next_frame_is_found_after_any_bytes(
            noise in proptest::collection::vec(any::<u8>(), 0..300)
        ) {
            // Noise that contains a real header may swallow the message that follows, so such noise
            // is left out.
            let text = String::from_utf8_lossy(&noise).to_ascii_lowercase();
            prop_assume!(!text.contains("content-length"));
            let mut bytes = noise;
            bytes.extend(b"\n");
            bytes.extend(frame("after"));
            prop_assert_eq!(bodies(&bytes).pop(), Some("after".to_owned()));
        }

        #[test]
        fn written_messages_are_read_back(texts in proptest::collection::vec("\\PC*", 0..8)) {
            let mut bytes = Vec::new();
            for text in &texts {
                write_frame(&mut bytes, text).unwrap();
            }
            prop_assert_eq!(bodies(&bytes), texts);
        }
    }
}
