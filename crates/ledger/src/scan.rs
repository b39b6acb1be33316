//! The scanner: splits a ledger file into JSON objects, comments, and text that is neither.
//!
//! This program writes one object per line. Files of other tools, and damaged files, can also
//! contain objects over many lines, several objects on one line, one array around all objects,
//! comments, and an incomplete line with the next one appended to it. If an object does not parse,
//! only its first line is skipped, so that whatever follows is read.

use std::sync::Arc;

use serde_json::Value;

use super::chain::{self, KEEP_BYTES, is_intact, restore, split_tail};
use super::digest::Digest;
use super::entry::{EntryOrigin, finding};
use super::foreign_fields::JsonObject;
use super::ledger_file::{MAX_OBJECT, ParsedLedgerFile, is_imported};
use super::{Entry, Record, RecordDialect, Trust, dialect, strict};
use ground::{Code, RelativePath};

const BOM: &[u8] = b"\xef\xbb\xbf";
/// How many bytes of a span that is too large to be read are kept.
const KEPT: usize = 64 * 1024;
/// Adjacent bad lines are joined into one span up to this size in bytes.
const MAX_SPAN: u64 = 1024 * 1024;
/// How many possible beginnings are tried when searching a bad line for an intact record at its
/// end.
const MAX_TRIES: usize = 16;

#[derive(Clone, Debug, Default)]
pub(super) struct ScanState {
    /// How many bytes of the file come before the window.
    pub offset: u64,
    lines: u32,
    begun: bool,
    array: bool,
    skipping: bool,
    /// Whether a finding already says that one of our records is not followed by a plain line feed.
    /// A file has only one such finding, about the first record of that kind.
    reported_endings: bool,
    marked: bool,
}

pub(super) struct Scanner<'a> {
    path: &'a RelativePath,
    window: &'a [u8],
    at: usize,
    state: &'a mut ScanState,
    out: &'a mut ParsedLedgerFile,
    is_imported: bool,
}

enum Attempt {
    Object(JsonObject, usize),
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
        Self { path, window, at: 0, state, out, is_imported: is_imported(path) }
    }

    /// Scans every object that begins before `limit`, which is the length of the window if the file
    /// ends there. Returns the number of bytes that were used.
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
                self.unreadable_span(
                    end,
                    Code::LedgerUnreadable,
                    "This is neither a record nor a comment.",
                );
            }
        }
    }

    fn advance(&mut self, by: usize) {
        let lines = self.window[self.at..self.at + by].iter().filter(|&&b| b == b'\n').count();
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        self.state.lines = self.state.lines.saturating_add(lines);
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
        if !self.is_imported
            && let Some(record) = canonical(trimmed)
        {
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
            Attempt::Wrong(_) if appended_record(line).is_some() => self.torn(line),
            Attempt::Wrong(reason) => {
                let message = format!("The line is not JSON: {reason}.");
                self.unreadable_span(line.len(), Code::LedgerUnreadable, &message);
            }
        }
    }

    fn torn(&mut self, line: &[u8]) {
        let end = appended_record(line).unwrap_or(line.len());
        self.unreadable_span(end, Code::LedgerTorn, "The record was not written to its end.");
    }

    fn take(&mut self, map: JsonObject, length: usize) {
        let stored = &self.window[self.at..self.at + length];
        let ours = !self.is_imported && claims_chain(&map, stored);
        if ours && !strict::has_unique_keys(stored) {
            let message = "A record with the same key twice is ambiguous.";
            return self.unreadable_span(length, Code::LedgerForged, message);
        }
        if ours && let Some(record) = canonical(stored) {
            return self.take_canonical(record, length);
        }
        let read = if ours { Some(dialect::damaged(map)) } else { dialect::read(map) };
        let Some((record, shape)) = read else {
            let message = "This object names no intent, file or event; it is not a record.";
            return self.unreadable_span(length, Code::LedgerUnreadable, message);
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
        let origin = entry.origin.clone();
        let forged = (!intact).then(|| chain::forged(entry));
        self.out.findings.extend(forged);
        self.check_ending(&origin);
    }

    /// Checks that the record is followed by `\n`. This program never writes anything else after a
    /// record.
    fn check_ending(&mut self, origin: &EntryOrigin) {
        let (code, message, help) = match self.window.get(self.at) {
            None => (
                Code::LedgerTorn,
                "The last record is not followed by a line break; it may not have been written to its end.",
                "The next record that is appended adds the missing line break.",
            ),
            Some(b'\n') if !self.state.marked => return,
            Some(_) if self.state.reported_endings => return,
            Some(_) => {
                self.state.reported_endings = true;
                (
                    Code::LedgerUnreadable,
                    "From here on, lines contain bytes that `intent` did not write (a byte order mark, CR LF, blanks or a second record on the line). The records themselves are intact unless another finding reports them.",
                    KEEP_BYTES,
                )
            }
        };
        self.out.findings.push(finding(code, origin, message.into(), help));
    }

    fn push(&mut self, record: Record, dialect: RecordDialect, trust: Trust, length: usize) {
        self.out.entries.push(Arc::new(Entry {
            record,
            origin: self.origin(length),
            dialect,
            trust,
            stored: Arc::from(&self.window[self.at..self.at + length]),
            section: None,
            late_commit: None,
            authored: None,
        }));
        self.advance(length);
    }

    fn origin(&self, length: usize) -> EntryOrigin {
        let start = self.state.offset + self.at as u64;
        EntryOrigin {
            path: self.path.clone(),
            line: self.state.lines.saturating_add(1),
            start,
            end: start + length as u64,
        }
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

    /// Keeps and reports a span that cannot be read. If it directly follows another span with the
    /// same problem, that span is extended.
    fn unreadable_span(&mut self, length: usize, code: Code, message: &str) {
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

    fn continues(&mut self, next: &EntryOrigin, code: Code) -> bool {
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
        found.lines = code::LineRange::new(last.line, next.line);
        true
    }
}

/// Returns the number of bytes up to the line break, or to the end.
fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|&b| b == b'\n').unwrap_or(bytes.len())
}

/// Parses a line as one of our records. `None` if it differs in any way from what this program
/// writes.
fn canonical(line: &[u8]) -> Option<Record> {
    split_tail(line)?;
    if !strict::has_unique_keys(line) {
        return None;
    }
    let mut record: Record = serde_json::from_slice(line).ok()?;
    record.extra.shift_remove("h");
    (!record.writer.is_empty()).then_some(record)
}

/// Returns true if an object is, or once was, a line of a chain. Several fields are checked, so
/// that damage to one field does not hide this.
fn claims_chain(map: &JsonObject, stored: &[u8]) -> bool {
    let fields = ["writer", "seq", "prev"].iter().filter(|&&key| map.contains_key(key)).count();
    // If both `seq` and `prev` of one of our records were damaged, it still has a `writer` in our
    // form.
    let writer = map.get("writer").and_then(Value::as_str);
    let is_writer = writer.is_some_and(|writer| Digest::parse(writer).is_some());
    fields >= 2 || is_writer || split_tail(stored).is_some()
}

fn parse(bytes: &[u8]) -> Attempt {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<JsonObject>();
    match stream.next() {
        Some(Ok(map)) => Attempt::Object(map, stream.byte_offset()),
        Some(Err(error)) if error.is_eof() => Attempt::Unfinished,
        Some(Err(error)) => Attempt::Wrong(error.to_string()),
        None => Attempt::Unfinished,
    }
}

/// Returns the offset of an intact record at the end of a bad line. This happens if a record was
/// appended to an incomplete line.
fn appended_record(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_end();
    split_tail(line)?;
    let start = b"{\"id\":\"";
    (1..line.len())
        .filter(|&at| line[at..].starts_with(start))
        .take(MAX_TRIES)
        .find(|&at| is_intact(&line[at..]))
}
