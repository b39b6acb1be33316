//! Appending: under a lock, one write, durable before success is reported.
//!
//! Which chain a record continues is kept per session below the private folder. A chain is continued
//! only where everything is as it was left: the same HEAD, and the bytes on disk where the last record
//! ended are still that record's. In all other cases a new chain begins, so that nothing is ever
//! appended to a history that this clone has not seen.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::chain::{Head, TAIL, hash, to_hex};
use super::heads::{self, Memory};
use super::{Record, parts, read};
use crate::workspace::policy::Layout;
use crate::workspace::{
    Policy, RelativePath, Root,
    store::{self, StoreError},
};

/// A line may have at most this many bytes; a mutation that needs more is written as parts.
pub const MAX_LINE: usize = 64 * 1024;
/// A writer's chain has at most this many records.
pub const MAX_RECORDS: u64 = 1000;

/// How long another process may hold the ledger.
const PATIENCE: Duration = Duration::from_secs(5);
/// The first record of a chain names at most this many others.
const MAX_PARENTS: usize = 32;
/// In a file of several writers, this much may have been added since our last record; beyond it a new chain is cheaper than a look.
const MAX_BETWEEN: u64 = 1024 * 1024;

/// Why nothing (or not all) was appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The disk or the lock said no; nothing was written, or what was half written has been taken back.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One block alone is larger than a line may be.
    #[error("a record of {bytes} bytes does not fit the limit of {MAX_LINE}, even in parts")]
    TooLarge {
        /// What it would need.
        bytes: usize,
    },
}

/// Appends records for one (session, worktree, HEAD).
pub struct Writer<'a> {
    root: &'a Root,
    policy: &'a Policy,
}

/// What was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The file.
    pub path: RelativePath,
    /// The ids of the records, in order (several when written in parts).
    pub records: Vec<String>,
    /// Where the chain stands now.
    pub head: Head,
}

/// What a session left behind: its chain, and where in which file its last record ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Chain {
    writer: String,
    path: RelativePath,
    /// The number of records so far.
    next: u64,
    /// The hash of the last; `None` before the first.
    h: Option<String>,
    /// The commit the work tree was based on.
    head: Option<String>,
    /// Where the last record's line ended, in bytes of the file.
    end: u64,
}

impl<'a> Writer<'a> {
    /// A writer for this workspace.
    pub fn new(root: &'a Root, policy: &'a Policy) -> Self {
        Self { root, policy }
    }

    /// Fills in `writer`, `seq`, `prev`, `parents`, splits into parts if needed, and appends durably. `record.session` and the current HEAD choose the chain.
    pub fn append(&self, record: Record, head: Option<&str>) -> Result<Appended, AppendError> {
        let record = completed(record);
        let layout = self.layout();
        refuse_links(self.root, Path::new(".orchestration/agent_trace.jsonl"))?;
        let private = self.root.private();
        std::fs::create_dir_all(&private).map_err(failed(&private, "created"))?;
        let _lock = store::lock(&private.join("ledger.lock"), PATIENCE)?;
        let state_path = self.state_path(record.session.as_deref());
        let chain = self.remembered(&state_path, layout, head);
        let (mut chain, parents) = match chain {
            Some(chain) => (chain, Vec::new()),
            None => (self.begin(layout, &record.timestamp, head)?, self.parents()),
        };
        let mut records = parts::split(record.clone(), &parents)?;
        if chain.next + records.len() as u64 > MAX_RECORDS && chain.next > 0 {
            chain = self.begin(layout, &record.timestamp, head)?;
            records = parts::split(record, &self.parents())?;
        }
        if records.len() as u64 > MAX_RECORDS {
            return Err(AppendError::TooLarge { bytes: records.len() * MAX_LINE });
        }
        let file = LedgerFile::open(self.root, &chain.path)?;
        let repair = file.repair(self.root, &chain.path)?;
        if let Some(torn) = repair.torn {
            records[0].extra.insert("torn".into(), Value::String(torn));
        }
        let mut lines = repair.prefix.to_vec();
        let ids = records.iter().map(|record| record.id.clone()).collect();
        for record in records {
            chain.seal(record, &mut lines)?;
        }
        if let Err(error) = file.commit(repair.length, &lines) {
            // Whatever is on disk now, this chain is not continued.
            let _ = std::fs::remove_file(&state_path);
            return Err(error.into());
        }
        chain.end = repair.length + lines.len() as u64;
        let head = chain.standing();
        self.publish(&chain, &state_path);
        Ok(Appended { path: chain.path, records: ids, head })
    }

    /// Remembers where the chain stands, without waiting for the disk. The records are durable already, so a failure
    /// here (or a lost write, after a crash) is not the caller's: it only means that the session's next record begins a
    /// chain of its own, and that a truncation back to the head remembered before is not found.
    fn publish(&self, chain: &Chain, state_path: &Path) {
        let state = serde_json::to_vec(chain).expect("plain texts and numbers always serialise");
        let published = heads::remember(self.root, &chain.standing(), Memory::Own)
            .and_then(|()| store::write_scratch(state_path, &state));
        if let Err(error) = published {
            tracing::warn!(%error, writer = chain.writer, "the head of a chain could not be remembered");
            let _ = std::fs::remove_file(state_path);
        }
    }

    fn layout(&self) -> Layout {
        self.policy.ledger.layout.unwrap_or_else(|| {
            let single = self.root.orchestration().join("agent_trace.jsonl");
            match self.root.git_dir() {
                Some(_) if !single.exists() => Layout::Segments,
                _ => Layout::Single,
            }
        })
    }

    fn state_path(&self, session: Option<&str>) -> PathBuf {
        let digest = Sha256::digest(session.unwrap_or_default().as_bytes());
        let name = format!("{}.json", &to_hex(&digest)[..32]);
        self.root.private().join("writers").join(name)
    }

    /// The session's chain, where nothing has happened that would make continuing it wrong.
    fn remembered(&self, state: &Path, layout: Layout, head: Option<&str>) -> Option<Chain> {
        let chain: Chain = serde_json::from_slice(&std::fs::read(state).ok()?).ok()?;
        let same_place = match layout {
            Layout::Single => chain.path.as_str() == SINGLE,
            Layout::Segments => chain.path.as_str() != SINGLE,
        };
        let usable = same_place && chain.head.as_deref() == head && chain.next < MAX_RECORDS;
        if !usable || refuse_links(self.root, Path::new(chain.path.as_str())).is_err() {
            return None;
        }
        let untouched = chain.is_where_it_was_left(&self.root.absolute(&chain.path), layout);
        untouched.unwrap_or(false).then_some(chain)
    }

    fn begin(&self, layout: Layout, time: &str, head: Option<&str>) -> Result<Chain, StoreError> {
        let writer = uuid::Uuid::new_v4().simple().to_string();
        let text = match layout {
            Layout::Single => SINGLE.to_owned(),
            Layout::Segments => {
                let (year, month) = year_and_month(time);
                format!(".orchestration/agent_trace/{year}/{month}/{writer}.jsonl")
            }
        };
        let path =
            RelativePath::new(&text).expect("a fixed folder, digits and a hex id are a path");
        refuse_links(self.root, Path::new(path.as_str()))?;
        Ok(Chain { writer, path, next: 0, h: None, head: head.map(str::to_owned), end: 0 })
    }

    fn parents(&self) -> Vec<String> {
        let newest = heads::newest(self.root, MAX_PARENTS);
        newest.iter().map(|head| format!("{}:{}:{}", head.writer, head.seq, head.h)).collect()
    }
}

const SINGLE: &str = ".orchestration/agent_trace.jsonl";

impl Chain {
    /// Whether the file still holds, at the same place, the record that was written last, and nothing of this chain after it.
    fn is_where_it_was_left(&self, path: &Path, layout: Layout) -> std::io::Result<bool> {
        let Some(h) = &self.h else { return Ok(false) };
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let tail = format!(",\"h\":\"{h}\"}}\n");
        debug_assert_eq!(tail.len(), TAIL + 1);
        let after = match length.checked_sub(self.end) {
            Some(after) if after <= MAX_BETWEEN => after,
            _ => return Ok(false),
        };
        if (layout == Layout::Segments && after > 0) || self.end < tail.len() as u64 {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(self.end - tail.len() as u64))?;
        let mut bytes = Vec::new();
        file.take(tail.len() as u64 + after).read_to_end(&mut bytes)?;
        let Some(since) = bytes.strip_prefix(tail.as_bytes()) else { return Ok(false) };
        // A record that was written before this state could be: its chain must not fork.
        let own = format!("\"writer\":\"{}\"", self.writer);
        Ok(!since.windows(own.len()).any(|window| window == own.as_bytes()))
    }

    /// Appends the record's line, in its place in the chain.
    fn seal(&mut self, mut record: Record, lines: &mut Vec<u8>) -> Result<(), AppendError> {
        record.writer.clone_from(&self.writer);
        record.seq = self.next;
        record.prev.clone_from(&self.h);
        let mut line = parts::stored(&record);
        let h = hash(&line);
        line.extend_from_slice(format!(",\"h\":\"{h}\"}}").as_bytes());
        if line.len() > MAX_LINE {
            return Err(AppendError::TooLarge { bytes: line.len() });
        }
        line.push(b'\n');
        lines.append(&mut line);
        self.h = Some(h);
        self.next += 1;
        Ok(())
    }

    fn standing(&self) -> Head {
        Head {
            writer: self.writer.clone(),
            seq: self.next.saturating_sub(1),
            h: self.h.clone().unwrap_or_default(),
        }
    }
}

/// What every record needs and a caller may leave to us.
fn completed(mut record: Record) -> Record {
    if record.id.is_empty() {
        record.id = new_id();
    }
    if record.timestamp.is_empty() {
        record.timestamp = store::now();
    }
    record.extra.retain(|key, _| !super::dialect::OURS.contains(&key.as_str()));
    record
}

/// A new record id.
pub(super) fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Digits only: the time may be anything that a caller has put there.
fn year_and_month(time: &str) -> (String, String) {
    let digits = |range: std::ops::Range<usize>| {
        time.get(range).filter(|part| part.bytes().all(|b| b.is_ascii_digit())).map(str::to_owned)
    };
    let now = store::now();
    match (digits(0..4), digits(5..7)) {
        (Some(year), Some(month)) => (year, month),
        _ => (now[..4].to_owned(), now[5..7].to_owned()),
    }
}

/// No folder on the way, nor the file itself, may be a link: it could lead anywhere.
fn refuse_links(root: &Root, relative: &Path) -> Result<(), StoreError> {
    let mut path = root.path().to_path_buf();
    for part in relative.components() {
        path.push(part);
        match path.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => return Err(StoreError::Symlink { path }),
            Ok(_) => {}
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// A ledger file, open for appending.
struct LedgerFile {
    path: PathBuf,
    file: File,
    created: bool,
}

/// What must be done to the end of a file before a line may follow.
struct Repair {
    /// The file's length once its torn end is gone.
    length: u64,
    /// What ends a last line that is whole but for its line break.
    prefix: &'static [u8],
    /// The hash of what was torn off.
    torn: Option<String>,
}

impl LedgerFile {
    fn open(root: &Root, relative: &RelativePath) -> Result<Self, StoreError> {
        let path = root.absolute(relative);
        let folder = path.parent().unwrap_or(root.path());
        std::fs::create_dir_all(folder).map_err(failed(folder, "created"))?;
        refuse_links(root, Path::new(relative.as_str()))?;
        let created = !path.exists();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(&path)
            .map_err(failed(&path, "opened"))?;
        Ok(Self { path, file, created })
    }

    /// Nobody has been told that bytes after the last line break were written. They are kept aside, unless they
    /// end a record that can be read: that line only lacks its break.
    fn repair(&self, root: &Root, relative: &RelativePath) -> Result<Repair, StoreError> {
        let io = |doing| failed(&self.path, doing);
        let length = self.file.metadata().map_err(io("measured"))?.len();
        let whole = Repair { length, prefix: b"", torn: None };
        let mut file = &self.file;
        let mut last = [0];
        if length > 0 {
            file.seek(SeekFrom::End(-1)).map_err(io("read"))?;
            file.read_exact(&mut last).map_err(io("read"))?;
        }
        if length == 0 || last == *b"\n" {
            return Ok(whole);
        }
        file.seek(SeekFrom::Start(0)).map_err(io("read"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io("read"))?;
        let reading = read::bytes(relative, &bytes);
        let start = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let torn = reading
            .unreadable
            .last()
            .is_some_and(|(at, _)| at.end == length && at.start <= start as u64)
            && bytes[start..].first() == Some(&b'{');
        if !torn {
            return Ok(Repair { prefix: b"\n", ..whole });
        }
        let hash = self.set_aside(root, relative, &bytes[start..])?;
        self.file.set_len(start as u64).map_err(io("shortened"))?;
        Ok(Repair { length: start as u64, prefix: b"", torn: Some(hash) })
    }

    /// Keeps torn bytes in the private folder; their hash.
    fn set_aside(
        &self,
        root: &Root,
        path: &RelativePath,
        torn: &[u8],
    ) -> Result<String, StoreError> {
        let folder = root.private().join("torn");
        let mut number = 0;
        loop {
            let kept = folder.join(format!("{}-{number}", path.file_name()));
            if !kept.exists() {
                store::write_atomic(&kept, torn)?;
                break;
            }
            number += 1;
        }
        Ok(format!("sha256:{}", to_hex(&Sha256::digest(torn))))
    }

    /// One write of whole lines, durable; on any failure the file is taken back to `length`.
    fn commit(&self, length: u64, lines: &[u8]) -> Result<(), StoreError> {
        let mut file = &self.file;
        let written = file.write_all(lines).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            // A second sync could report success for pages that the system has dropped; so only the length is set back.
            let _ = self.file.set_len(length);
            return Err(failed(&self.path, "appended to")(source));
        }
        if self.created {
            sync_folders(&self.path)?;
        }
        Ok(())
    }
}

/// A new file's name, and those of the folders made for it, must be durable too: year, month, file.
fn sync_folders(path: &Path) -> Result<(), StoreError> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    for folder in path.ancestors().skip(1).take(4) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(failed(folder, "made durable"))?;
        if folder.ends_with(".orchestration") {
            break;
        }
    }
    Ok(())
}

fn failed(path: &Path, doing: &'static str) -> impl Fn(std::io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| StoreError::Io { path: path.clone(), doing, source }
}

/// The heads of all chains that this clone has seen (`<private>/heads`).
pub fn remembered_heads(root: &Root) -> Vec<Head> {
    heads::all(root)
}

/// Keeps in mind the heads of chains that others wrote, so that their truncation is found later on. A head that is
/// older than the one remembered changes nothing; where our own chains stand nobody else decides.
pub fn remember_heads(root: &Root, seen: &[Head]) -> Result<(), StoreError> {
    let (own, known) = (heads::own(root), heads::of(root, Memory::Seen));
    for head in seen {
        let newer = known.iter().all(|old| old.writer != head.writer || old.seq < head.seq);
        if newer && !own.contains(&head.writer) {
            heads::remember(root, head, Memory::Seen)?;
        }
    }
    Ok(())
}

/// The chains that this clone wrote.
pub fn own_writers(root: &Root) -> std::collections::HashSet<String> {
    heads::own(root)
}
