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

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("{bytes} bytes before a Content-Length header were not a header and were skipped")]
    Garbage { bytes: u64 },
    #[error("a message of {bytes} bytes was skipped; the limit is 64 MiB")]
    TooLarge { bytes: u64 },
}

pub struct Frames<R> {
    input: R,
    /// The length from a header that follows garbage. The garbage is reported before the frame is
    /// read.
    length: Option<u64>,
}

enum FrameHeader {
    Length { bytes: u64, garbage: u64 },
    Other,
    Blank,
    Garbage { bytes: u64 },
}

impl<R: BufRead> Frames<R> {
    pub fn new(input: R) -> Self {
        Self { input, length: None }
    }

    /// Returns the body of the next frame, or an error for what was skipped. `None` at the end of
    /// the stream.
    pub fn next_frame(&mut self) -> io::Result<Option<Result<Vec<u8>, FrameError>>> {
        let mut skipped = 0;
        loop {
            let Some(line) = self.header_line()? else { return Ok(None) };
            match header(&line) {
                FrameHeader::Length { bytes, garbage } => {
                    self.length = Some(bytes);
                    skipped += garbage;
                    if skipped > 0 {
                        return Ok(Some(Err(FrameError::Garbage { bytes: skipped })));
                    }
                }
                FrameHeader::Other => {}
                FrameHeader::Blank => {
                    if let Some(bytes) = self.length.take() {
                        return self.body(bytes);
                    }
                }
                FrameHeader::Garbage { bytes } => {
                    skipped += bytes;
                    self.length = None;
                }
            }
        }
    }

    fn header_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let read = (&mut self.input).take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
        Ok((read > 0).then_some(line))
    }

    fn body(&mut self, bytes: u64) -> io::Result<Option<Result<Vec<u8>, FrameError>>> {
        if bytes > MAX_FRAME_BYTES {
            let skipped = io::copy(&mut (&mut self.input).take(bytes), &mut io::sink())?;
            let whole = skipped == bytes;
            return Ok(whole.then_some(Err(FrameError::TooLarge { bytes })));
        }
        // The length is only a claim of the client, so memory is allocated as bytes arrive.
        let mut body = Vec::with_capacity(usize::try_from(bytes.min(1 << 20)).unwrap_or(0));
        let read = (&mut self.input).take(bytes).read_to_end(&mut body)?;
        Ok((read as u64 == bytes).then_some(Ok(body)))
    }
}

fn header(line: &[u8]) -> FrameHeader {
    let text = String::from_utf8_lossy(line);
    let trimmed = text.trim_end_matches(['\r', '\n']);
    if trimmed.is_empty() {
        return FrameHeader::Blank;
    }
    if let Some(bytes) = content_length(trimmed) {
        return FrameHeader::Length { bytes, garbage: 0 };
    }
    let garbage = FrameHeader::Garbage { bytes: line.len() as u64 };
    // A body that is longer than its header says ends directly before the next header, on the same
    // line.
    let Some(at) = trimmed.to_ascii_lowercase().rfind("content-length:") else {
        return if is_other_header(trimmed) { FrameHeader::Other } else { garbage };
    };
    match trimmed.get(at..).and_then(content_length) {
        Some(bytes) => FrameHeader::Length { bytes, garbage: at as u64 },
        None => garbage,
    }
}

fn content_length(line: &str) -> Option<u64> {
    let (name, value) = line.split_once(':')?;
    if !name.trim().eq_ignore_ascii_case("content-length") {
        return None;
    }
    value.trim().parse().ok().filter(|bytes| *bytes <= ABSURD_BYTES)
}

fn is_other_header(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.eq_ignore_ascii_case("content-length")
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
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
                Ok(Some(Ok(body))) => message::parse(&body),
                Ok(Some(Err(error))) => Err(Rejected::Unparsable(error.to_string())),
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
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

/// The queue of messages to the client. The writer thread sends them in this order.
///
/// The queue has no limit, because nothing in the server may wait for a client that does not read.
#[derive(Clone)]
pub(crate) struct Outbox {
    sender: std::sync::mpsc::Sender<Outgoing>,
}

enum Outgoing {
    Frame(String),
    Close,
}

impl Outbox {
    pub(crate) fn send(&self, message: &impl Serialize) {
        match serde_json::to_string(message) {
            // The writer ends early only if the client's stream is closed. Then nobody can be told.
            Ok(text) => drop(self.sender.send(Outgoing::Frame(text))),
            Err(error) => tracing::error!(%error, "a message cannot be written as JSON"),
        }
    }

    /// Ends the writer once all messages before this call are written.
    pub(crate) fn close(&self) {
        drop(self.sender.send(Outgoing::Close));
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
    queue: &std::sync::mpsc::Receiver<Outgoing>,
    output: &mut impl Write,
) -> io::Result<()> {
    while let Ok(Outgoing::Frame(first)) = queue.recv() {
        write_frame(output, &first)?;
        // Flush only if no message waits, so that a burst is one write to the pipe.
        loop {
            match queue.try_recv() {
                Ok(Outgoing::Frame(next)) => write_frame(output, &next)?,
                Ok(Outgoing::Close) => return output.flush(),
                Err(_) => break,
            }
        }
        output.flush()?;
    }
    output.flush()
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

    fn read_all(bytes: &[u8]) -> Vec<Result<String, FrameError>> {
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
            assert!(matches!(all[0], Err(FrameError::Garbage { .. })), "{all:?}");
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
        assert_eq!(frames.next_frame().unwrap(), Some(Err(FrameError::TooLarge { bytes })));
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
