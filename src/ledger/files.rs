//! One ledger file as it was read, and how to go on where it has only grown.

use std::fs::{File, Metadata};
use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::read::{self, Reading};
use super::rows::Row;
use super::scan::State;
use super::{Entry, Origin};
use crate::workspace::{Code, Finding, RelativePath, Root, cache};

/// What was read of one file: all of it, or what has been appended since it was read before.
#[derive(Debug)]
pub(super) struct FileRows {
    /// Which.
    pub path: RelativePath,
    /// Where reading began: 0, or where an earlier reading ended.
    pub from: u64,
    /// Where it ended.
    pub to: u64,
    /// The sum of the bytes before `from`.
    pub before: Option<Sum>,
    /// What it looked like; `None` when it cannot be told from its next state.
    pub stamp: Option<Stamp>,
    /// It had been left alone for long enough to be told from its next state by whoever comes later.
    pub rested: bool,
    /// Where reading can go on.
    pub resume: Option<Resume>,
    /// What is wrong in it; the links of its chains are judged elsewhere.
    pub findings: Vec<Finding>,
    /// Its entries, in the order in which they stand.
    pub rows: Vec<Row>,
}

/// SHA-256 of bytes.
pub(super) type Sum = [u8; 32];

/// What the file system says of a state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<u128>,
    exact: Option<cache::Stamp>,
}

/// Where reading can go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Resume {
    state: State,
    /// Of everything before.
    pub sum: Sum,
}

impl Stamp {
    /// Of a file as it stands.
    pub fn now(root: &Root, path: &RelativePath) -> Option<Self> {
        Some(Self::of(&root.absolute(path).metadata().ok()?))
    }

    fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            length: meta.len(),
            modified: modified.map(|since| since.as_nanos()),
            exact: cache::Stamp::of(meta),
        }
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether a later change would show, also to a process that begins later.
    fn at_rest(&self, now: SystemTime) -> bool {
        self.exact.is_some_and(|exact| exact.at_rest(now))
    }
}

impl FileRows {
    /// Of bytes in hand.
    pub fn in_hand(path: &RelativePath, bytes: &[u8]) -> Self {
        let reading = read::bytes(path, bytes);
        Self {
            rows: reading.entries.iter().map(Row::of).collect(),
            to: bytes.len() as u64,
            ..Self::nothing(path, reading.findings)
        }
    }

    fn nothing(path: &RelativePath, findings: Vec<Finding>) -> Self {
        Self {
            path: path.clone(),
            from: 0,
            to: 0,
            before: None,
            stamp: None,
            rested: false,
            resume: None,
            findings,
            rows: Vec::new(),
        }
    }
}

/// Reads a file: what is behind `known`, where everything before is as it was, else all of it.
pub(super) fn read(root: &Root, path: &RelativePath, known: Option<&Resume>) -> FileRows {
    attempt(root, path, known).unwrap_or_else(|error| {
        let origin = Origin { path: path.clone(), line: 1, start: 0, end: 0 };
        let finding = super::chain::finding(
            Code::LedgerUnreadable,
            &origin,
            format!("The ledger file {path} cannot be read: {error}."),
            "Look at its permissions; what it records is unknown until it can be read.",
        );
        FileRows::nothing(path, vec![finding])
    })
}

fn attempt(root: &Root, path: &RelativePath, known: Option<&Resume>) -> std::io::Result<FileRows> {
    let now = SystemTime::now();
    let mut file = Summed::new(File::open(root.absolute(path))?);
    let stamp = Stamp::of(&file.file.metadata()?);
    let mut state = State::default();
    if let Some(known) = known.filter(|known| known.state.offset < stamp.length) {
        if file.skip(known.state.offset)? == known.sum {
            state = known.state.clone();
        } else {
            file = Summed::new(File::open(root.absolute(path))?);
        }
    }
    let from = state.offset;
    let mut rows = Vec::new();
    let mut reading = Reading::default();
    let to = read::window(path, &mut file, &mut state, &mut reading, |reading| {
        rows.extend(reading.entries.drain(..).map(|entry: Entry| Row::of(&entry)));
    })?;
    // Only behind a line break, and behind a record rather than an open span: what follows could otherwise belong to it.
    let ended = rows.last().is_some_and(|row: &Row| row.end + 1 == to) && file.last == Some(b'\n');
    // A writer may have been faster than the reader: what was read decides.
    let stamp = (to == stamp.length).then_some(stamp);
    Ok(FileRows {
        path: path.clone(),
        from,
        to,
        before: (from > 0).then(|| known.map(|known| known.sum)).flatten(),
        rested: stamp.is_some_and(|stamp| stamp.at_rest(now)),
        stamp,
        resume: ended.then(|| Resume { state, sum: file.sum() }),
        findings: reading.findings,
        rows,
    })
}

/// A file that sums up what is read of it.
struct Summed {
    file: File,
    sum: Sha256,
    last: Option<u8>,
}

impl Summed {
    fn new(file: File) -> Self {
        Self { file, sum: Sha256::new(), last: None }
    }

    fn sum(&self) -> Sum {
        self.sum.clone().finalize().into()
    }

    /// Reads so many bytes for their sum alone.
    fn skip(&mut self, length: u64) -> std::io::Result<Sum> {
        std::io::copy(&mut self.by_ref().take(length), &mut std::io::sink())?;
        Ok(self.sum())
    }
}

impl Read for Summed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.sum.update(&buffer[..count]);
        self.last = buffer[..count].last().copied().or(self.last);
        Ok(count)
    }
}
