//! What is remembered of each ledger file, so that a reload reads only what is new.

use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::time::SystemTime;

use super::read::{self, Reading};
use super::scan::State;
use super::{Entry, Origin};
use crate::workspace::{Code, Finding, RelativePath, Root};

/// The last bytes that were read must still be there before reading goes on behind them.
const GUARD: u64 = 256;

/// One file as it was read.
#[derive(Clone, Debug)]
pub(super) struct FileState {
    /// Which.
    pub path: RelativePath,
    /// What is wrong in it; the links of its chains are judged elsewhere.
    pub findings: Vec<Finding>,
    stamp: Option<Stamp>,
    resume: Option<Resume>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

/// Where reading can go on.
#[derive(Clone, Debug)]
struct Resume {
    state: State,
    guard: Vec<u8>,
}

impl FileState {
    /// Of a file that is not on disk.
    pub fn in_hand(path: RelativePath, findings: Vec<Finding>) -> Self {
        Self { path, findings, stamp: None, resume: None }
    }

    /// Whether the file on disk has the size and time it had.
    pub fn is_current(&self, root: &Root) -> bool {
        let meta = root.absolute(&self.path).metadata();
        self.stamp.is_some() && meta.is_ok_and(|meta| self.stamp == Some(Stamp::of(&meta)))
    }

    /// Where forged lines begin.
    pub fn forged(&self) -> impl Iterator<Item = (&RelativePath, u64)> {
        let forged = self.findings.iter().filter(|finding| finding.code == Code::LedgerForged);
        forged.filter_map(|finding| Some((&self.path, finding.span.as_ref()?.start as u64)))
    }
}

/// The file as it is now: what was known of it where that still holds, what is new read from the disk.
pub(super) fn refresh(
    root: &Root,
    path: RelativePath,
    known: Option<&FileState>,
    entries: Vec<Entry>,
) -> (FileState, Vec<Entry>) {
    match attempt(root, &path, known, entries) {
        Ok(fresh) => fresh,
        Err(error) => {
            let origin = Origin { path: path.clone(), line: 1, start: 0, end: 0 };
            let finding = super::chain::finding(
                Code::LedgerUnreadable,
                &origin,
                format!("The ledger file {path} cannot be read: {error}."),
                "Look at its permissions; what it records is unknown until it can be read.",
            );
            (FileState::in_hand(path, vec![finding]), Vec::new())
        }
    }
}

fn attempt(
    root: &Root,
    path: &RelativePath,
    known: Option<&FileState>,
    entries: Vec<Entry>,
) -> std::io::Result<(FileState, Vec<Entry>)> {
    let mut file = File::open(root.absolute(path))?;
    let stamp = Stamp::of(&file.metadata()?);
    if let Some(known) = known.filter(|known| known.stamp == Some(stamp)) {
        return Ok((known.clone(), entries));
    }
    let mut reading = Reading::default();
    let mut state = State::default();
    if let Some((known, resume)) = known.and_then(|known| Some((known, known.resume.as_ref()?)))
        && resume.holds(&mut file)?
    {
        reading = Reading { entries, findings: known.findings.clone(), ..Reading::default() };
        state = resume.state.clone();
    }
    file.seek(SeekFrom::Start(state.offset))?;
    let length = read::window(path, &mut file, &mut state, &mut reading)?;
    let resume = Resume::at(&mut file, length, state, &reading)?;
    let state = FileState {
        path: path.clone(),
        findings: reading.findings,
        // A writer may have been faster than the reader: what was read decides.
        stamp: (length == stamp.length).then_some(stamp),
        resume,
    };
    Ok((state, reading.entries))
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self { length: meta.len(), modified: meta.modified().ok() }
    }
}

impl Resume {
    /// Only behind a line break, and behind a record rather than an open span: what follows could otherwise belong to it.
    fn at(
        file: &mut File,
        length: u64,
        state: State,
        reading: &Reading,
    ) -> std::io::Result<Option<Self>> {
        let last = reading.entries.last().map_or(0, |entry| entry.origin.end);
        if last == 0 || length != last + 1 {
            return Ok(None);
        }
        let guard = tail(file, length)?;
        Ok((guard.last() == Some(&b'\n')).then_some(Self { state, guard }))
    }

    /// Whether the file still has, before this place, what it had. A changed file that did not grow was not appended to:
    /// then a line that stood there may be another one.
    fn holds(&self, file: &mut File) -> std::io::Result<bool> {
        if file.metadata()?.len() <= self.state.offset {
            return Ok(false);
        }
        Ok(tail(file, self.state.offset)? == self.guard)
    }
}

/// The last bytes before a place.
fn tail(file: &mut File, end: u64) -> std::io::Result<Vec<u8>> {
    let start = end.saturating_sub(GUARD);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(end - start).read_to_end(&mut bytes)?;
    Ok(bytes)
}
