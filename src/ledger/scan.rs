//! The scanner: cuts a ledger file into objects, comments and what is neither.
//!
//! One object a line is what we write. What is met besides: objects over many lines, several on one
//! line, one array around all, comments, a line that was not written to its end with the next glued
//! to it. An object that does not parse costs its first line only, so that whatever follows is read.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::chain::{self, finding, is_intact, restore, split_tail};
use super::evidence::Digest;
use super::read::{MAX_OBJECT, Origin, ParsedLedgerFile};
use super::{Entry, Record, RecordDialect, Trust, dialect, strict};
use crate::workspace::{Code, RelativePath};

const BOM: &[u8] = b"\xef\xbb\xbf";
/// How much of a span that is too large to be read is kept.
const KEPT: usize = 64 * 1024;
/// Neighbouring bad lines are one span up to this size.
const MAX_SPAN: u64 = 1024 * 1024;
/// A line that ends in a good record is searched for its beginning this often.
const MAX_TRIES: usize = 16;

/// Where a scan stands between two windows of a file.
#[derive(Clone, Debug)]
pub(super) struct ScanState {
    /// Bytes of the file before the window.
    pub offset: u64,
    /// 1-based.
    pub line: u32,
    /// Anything but blanks and comments has been seen.
    begun: bool,
    /// The file is one array of records.
    array: bool,
    /// Within a span that is too large; it ends with its line.
    skipping: bool,
    /// The first canonical line that does not end in a plain line feed has been reported.
    reported_endings: bool,
    /// The file begins with a byte order mark.
    marked: bool,
}

impl Default for ScanState {
    fn default() -> Self {
        Self {
            offset: 0,
            line: 1,
            begun: false,
            array: false,
            skipping: false,
            reported_endings: false,
            marked: false,
        }
    }
}

impl ScanState {
    /// Behind records that take this many bytes, each on a line.
    pub(super) fn after(bytes: u64, records: usize) -> Self {
        let lines = u32::try_from(records).unwrap_or(u32::MAX);
        Self { offset: bytes, line: lines.saturating_add(1), begun: records > 0, ..Self::default() }
    }
}

/// Reads one window.
pub(super) struct Scanner<'a> {
    path: &'a RelativePath,
    window: &'a [u8],
    at: usize,
    state: &'a mut ScanState,
    out: &'a mut ParsedLedgerFile,
}

/// What became of one attempt to read an object.
enum Attempt {
    Object(Map<String, Value>, usize),
    Unfinished,
    Wrong(String),
}

impl<'a> Scanner<'a> {
    pub(super) fn new(
        path: &'a RelativePath,
        window: &'a [u8],
        state: &'a mut ScanState,
        out: &'a mut ParsedLedgerFile,
    ) -> Self {
        Self { path, window, at: 0, state, out }
    }

    /// Reads everything; the window is the end of the file.
    pub(super) fn run_to_end(mut self) {
        while self.at < self.window.len() {
            self.step();
        }
        self.state.offset += self.window.len() as u64;
    }

    /// Reads whatever begins before `limit`; the bytes that were used.
    pub(super) fn run_to(mut self, limit: usize) -> usize {
        while self.at < limit {
            self.step();
        }
        self.state.offset += self.at as u64;
        self.at
    }

    fn step(&mut self) {
        let rest = &self.window[self.at..];
        if self.state.skipping {
            return self.skip();
        }
        match rest[0] {
            b' ' | b'\t' | b'\r' | b'\n' => self.advance(1),
            b'#' => self.advance(line_length(rest)),
            b'{' => self.object(),
            b'[' if !self.state.begun => {
                self.state.array = true;
                self.state.begun = true;
                self.advance(1);
            }
            b',' | b']' if self.state.array => self.advance(1),
            _ if rest.starts_with(BOM) && self.state.offset == 0 && self.at == 0 => {
                self.state.marked = true;
                self.advance(BOM.len());
            }
            _ => {
                let line = line_length(rest);
                let end = rest[..line].iter().position(|&b| b == b'{').unwrap_or(line);
                self.bad(end, Code::LedgerUnreadable, "This is neither a record nor a comment.");
            }
        }
    }

    /// Moves on, counting lines.
    fn advance(&mut self, by: usize) {
        let lines = self.window[self.at..self.at + by].iter().filter(|&&b| b == b'\n').count();
        self.state.line = self.state.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.at += by;
    }

    fn skip(&mut self) {
        let by = line_length(&self.window[self.at..]);
        self.advance(by);
        let end = self.state.offset + self.at as u64;
        if let Some((origin, _)) = self.out.unreadable.last_mut() {
            origin.end = end;
        }
        self.state.skipping = self.at == self.window.len();
    }

    fn object(&mut self) {
        self.state.begun = true;
        let rest = &self.window[self.at..];
        let line = &rest[..line_length(rest)];
        if line.len() > MAX_OBJECT {
            return self.too_large(line.len());
        }
        let trimmed = line.trim_ascii_end();
        if let Some(record) = canonical(trimmed) {
            return self.take_canonical(record, trimmed.len());
        }
        let attempt = match parse(line) {
            Attempt::Unfinished if line.len() < rest.len() => {
                match parse(&rest[..rest.len().min(MAX_OBJECT)]) {
                    Attempt::Wrong(_) => Attempt::Unfinished,
                    attempt => attempt,
                }
            }
            attempt => attempt,
        };
        match attempt {
            Attempt::Object(map, length) => self.take(map, length),
            Attempt::Unfinished => self.torn(line),
            Attempt::Wrong(_) if glued(line).is_some() => self.torn(line),
            Attempt::Wrong(reason) => {
                let message = format!("The line is not JSON: {reason}.");
                self.bad(line.len(), Code::LedgerUnreadable, &message);
            }
        }
    }

    /// A record that breaks off, up to the end of its line or to the record that was appended to it.
    fn torn(&mut self, line: &[u8]) {
        let end = glued(line).unwrap_or(line.len());
        self.bad(end, Code::LedgerTorn, "The record was not written to its end.");
    }

    /// An object that parses: ours by its fields though not by its form, foreign, or not a record at all.
    fn take(&mut self, map: Map<String, Value>, length: usize) {
        let stored = &self.window[self.at..self.at + length];
        let ours = claims_chain(&map, stored);
        if ours && !strict::has_unique_keys(stored) {
            let message = "A record with the same key twice says two things at once.";
            return self.bad(length, Code::LedgerForged, message);
        }
        if ours && let Some(record) = canonical(stored) {
            return self.take_canonical(record, length);
        }
        let read = if ours { Some(dialect::damaged(map)) } else { dialect::read(map) };
        let Some((record, shape)) = read else {
            let message = "This object names no intent, file or event; it is not a record.";
            return self.bad(length, Code::LedgerUnreadable, message);
        };
        if ours {
            self.take_canonical(record, length);
        } else {
            self.push(record, shape, Trust::Claimed, length);
        }
    }

    fn take_canonical(&mut self, mut record: Record, length: usize) {
        let stored = &self.window[self.at..self.at + length];
        if let Some((_, h)) = split_tail(stored) {
            record.h = h.into();
        }
        let intact = is_intact(stored);
        let trust = if intact { Trust::Claimed } else { Trust::Contradicted };
        self.push(record, RecordDialect::Canonical, trust, length);
        let entry = &self.out.entries[self.out.entries.len() - 1];
        let mut findings = Vec::new();
        if !intact {
            findings.push(chain::forged(entry));
        }
        let origin = entry.origin.clone();
        self.out.findings.append(&mut findings);
        self.check_ending(&origin);
    }

    /// The line after the record must be `\n`: anything else was not written by us.
    fn check_ending(&mut self, origin: &Origin) {
        let (code, message, help) = match self.window.get(self.at) {
            None => (
                Code::LedgerTorn,
                "The last record is not followed by a line break; it may not have been written to its end.",
                "The next record that is appended sets this right.",
            ),
            Some(b'\n') if !self.state.marked => return,
            Some(_) if self.state.reported_endings => return,
            Some(_) => {
                self.state.reported_endings = true;
                (
                    Code::LedgerUnreadable,
                    "From here on lines carry bytes that were not written with them (a byte order mark, CR LF, blanks or a second record on the line); the records themselves are intact where nothing else is said.",
                    "Keep git and editors from converting the file: `*.jsonl -text` in .gitattributes, then check it out anew.",
                )
            }
        };
        self.out.findings.push(finding(code, origin, message.into(), help));
    }

    fn push(&mut self, record: Record, dialect: RecordDialect, trust: Trust, length: usize) {
        let origin = self.origin(length);
        let stored = Arc::from(&self.window[self.at..self.at + length]);
        let (section, about) = (None, None);
        self.out.entries.push(Entry { record, origin, dialect, trust, stored, section, about });
        self.advance(length);
    }

    fn origin(&self, length: usize) -> Origin {
        let start = self.state.offset + self.at as u64;
        Origin { path: self.path.clone(), line: self.state.line, start, end: start + length as u64 }
    }

    fn too_large(&mut self, length: usize) {
        let origin = self.origin(length);
        let kept = self.window[self.at..self.at + KEPT].to_vec();
        self.out.findings.push(finding(
            Code::LedgerUnreadable,
            &origin,
            format!("A line of over {MAX_OBJECT} bytes is not read."),
            "No record is that large; remove the line in a commit that says why.",
        ));
        self.out.unreadable.push((origin, kept));
        self.advance(length);
        self.state.skipping = self.at == self.window.len();
    }

    /// Keeps a span that cannot be read; one that follows directly on its like continues it.
    fn bad(&mut self, length: usize, code: Code, message: &str) {
        if length > MAX_OBJECT {
            return self.too_large(length);
        }
        self.state.begun = true;
        let origin = self.origin(length);
        if !self.continues(&origin, code) {
            let help = match code {
                Code::LedgerTorn => {
                    "A writer was interrupted here and had not reported success. The next record in this file takes these bytes away.".to_owned()
                }
                _ => restore(self.path),
            };
            self.out.findings.push(finding(code, &origin, message.into(), help));
            let kept = self.window[self.at..self.at + length].to_vec();
            self.out.unreadable.push((origin, kept));
        }
        self.advance(length);
    }

    fn continues(&mut self, next: &Origin, code: Code) -> bool {
        let Some((last, kept)) = self.out.unreadable.last_mut() else { return false };
        let Some(found) = self.out.findings.last_mut() else { return false };
        let Some(from) = last.end.checked_sub(self.state.offset) else { return false };
        let (from, to) = (from as usize, (next.end - self.state.offset) as usize);
        let gap = &self.window[from..self.at];
        if found.code != code
            || found.span.as_ref().is_none_or(|span| span.end as u64 != last.end)
            || !gap.iter().all(u8::is_ascii_whitespace)
            || next.end - last.start > MAX_SPAN
        {
            return false;
        }
        kept.extend_from_slice(&self.window[from..to]);
        last.end = next.end;
        if let Some(span) = &mut found.span {
            span.end = next.end as usize;
        }
        found.lines = crate::code::LineRange::new(last.line, next.line);
        true
    }
}

/// Bytes up to the line break, or to the end.
fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|&b| b == b'\n').unwrap_or(bytes.len())
}

/// The record in a line of ours; `None` where anything about it is not as we write it.
fn canonical(line: &[u8]) -> Option<Record> {
    split_tail(line)?;
    if !strict::has_unique_keys(line) {
        return None;
    }
    let mut record: Record = serde_json::from_slice(line).ok()?;
    record.extra.shift_remove("h");
    (!record.writer.is_empty()).then_some(record)
}

/// Whether an object is, or was, a line of a chain: no single field decides, so that damage to one does not hide it.
fn claims_chain(map: &Map<String, Value>, stored: &[u8]) -> bool {
    let fields = ["writer", "seq", "prev"].iter().filter(|&&key| map.contains_key(key)).count();
    // A record of ours whose `seq` and `prev` were both damaged still has a `writer` in our form.
    let writer = map.get("writer").and_then(Value::as_str);
    let is_writer = writer.is_some_and(|writer| Digest::parse(writer).is_some());
    fields >= 2 || is_writer || split_tail(stored).is_some()
}

fn parse(bytes: &[u8]) -> Attempt {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Map<String, Value>>();
    match stream.next() {
        Some(Ok(map)) => Attempt::Object(map, stream.byte_offset()),
        Some(Err(error)) if error.is_eof() => Attempt::Unfinished,
        Some(Err(error)) => Attempt::Wrong(error.to_string()),
        None => Attempt::Unfinished,
    }
}

/// Where in a bad line an intact record begins that was appended to a line without a line break.
fn glued(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_end();
    split_tail(line)?;
    let start = b"{\"id\":\"";
    (1..line.len())
        .filter(|&at| line[at..].starts_with(start))
        .take(MAX_TRIES)
        .find(|&at| is_intact(&line[at..]))
}
