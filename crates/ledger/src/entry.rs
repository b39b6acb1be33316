//! An entry: a record together with the place that it was read from, and how far it can be trusted.

use std::sync::Arc;

use super::Record;
use super::digest::Digest;
use code::LineRange;
use ground::{Code, Finding, RelativePath};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryOrigin {
    pub path: RelativePath,
    /// The line of its first byte, counted from 1.
    pub line: u32,
    /// The offset in bytes of its first byte.
    pub start: u64,
    /// The offset in bytes after its last byte.
    pub end: u64,
}

impl EntryOrigin {
    pub(super) fn of_file(path: &RelativePath) -> Self {
        Self { path: path.clone(), line: 1, start: 0, end: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordDialect {
    /// A record of this program, part of a hash chain.
    Canonical,
    /// A line of evidence, written by this program.
    Evidence,
    /// The published Agent Trace nesting, without our hash chain.
    AgentTrace,
    /// A list of files without conversations.
    FilesFlat,
    /// One flat object about one file.
    Flat,
    /// An event with a type, or a line of a tool's log.
    Event,
}

impl RecordDialect {
    pub fn is_foreign(self) -> bool {
        !matches!(self, Self::Canonical | Self::Evidence)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// This clone wrote the record.
    Own,
    /// Somebody else wrote the record; nothing proves or contradicts it.
    Claimed,
    /// The hash or the chain of the record is broken.
    Contradicted,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub record: Record,
    pub origin: EntryOrigin,
    pub dialect: RecordDialect,
    pub trust: Trust,
    /// The bytes of the line as stored, without the line break.
    pub stored: Arc<[u8]>,
    /// The section of evidence that contains the entry. `None` for a record of a journal or of
    /// another tool.
    pub section: Option<Digest>,
    pub late_commit: Option<String>,
    /// See [`evidence::Header`](crate::evidence::Header).
    pub authored: Option<String>,
}

pub(super) fn finding(
    code: Code,
    at: &EntryOrigin,
    message: String,
    help: impl Into<String>,
) -> Finding {
    Finding {
        path: Some(at.path.clone()),
        span: Some(span(at)),
        lines: LineRange::new(at.line, at.line),
        ..Finding::new(code, message, help)
    }
}

/// The byte range of an entry as `usize`. On a 32-bit machine a larger offset saturates, but such a
/// file could not be read into memory anyway.
pub(super) fn span(at: &EntryOrigin) -> std::ops::Range<usize> {
    let cast = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    cast(at.start)..cast(at.end)
}
