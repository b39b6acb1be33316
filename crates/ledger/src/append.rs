//! Appends records to the ledger. The records of one change are written under a lock, with one write,
//! and are on disk before success is reported.
//!
//! With git, a record goes to the journal of its session and work tree. Without git, or if the
//! policy asks for a single file, it goes to `agent_trace.jsonl`. The records of one writer are
//! chained by their hashes ([`super::chain`]).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::chain::{hash, is_intact, split_tail};
use super::journal::{self, Journals, WriterHead, lock};
use super::ledger_file::MAX_OBJECT;
use super::{Record, read};
use code::hex;
use ground::policy::Layout;
use ground::{
    Hint, Policy, RelativePath, Root,
    store::{self, StoreError, failed},
};

/// The file that holds a random id of this clone. A writer's id is made from it, so no two clones
/// share a writer.
const CLONE: &str = "clone";
/// The size limit of that file, in bytes. The id has 32.
const MAX_CLONE: u64 = 1024;
/// The file with all records, if the policy asks for a single file.
pub const SINGLE_LEDGER: &str = ".orchestration/agent_trace.jsonl";
/// What [`writer_id`] hashes as the place of a record in a journal. It is empty, because the first
/// versions hashed no place; they did so for the single file as well.
const IN_JOURNAL: &str = "";

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The disk or the lock failed. Nothing was written, or a partial write was undone.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a record of {bytes} bytes is beyond the limit of {MAX_OBJECT}")]
    TooLarge { bytes: usize },
}

impl Hint for AppendError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::TooLarge { .. } => Some("record fewer files or blocks at once".to_owned()),
        }
    }
}

/// Fills in `writer`, `seq` and `prev`, and appends the records of one session durably: all of them,
/// or none.
pub fn append_records(
    root: &Root,
    policy: &Policy,
    records: Vec<Record>,
) -> Result<(), AppendError> {
    let Some(first) = records.first() else { return Ok(()) };
    let _lock = lock(root)?;
    let journals = match policy.ledger.layout {
        Some(Layout::Single) => None,
        _ => Journals::in_git_directory(root),
    };
    let place = if journals.is_some() { IN_JOURNAL } else { SINGLE_LEDGER };
    let writer = writer_of(root, first.session.as_deref(), place)?;
    let (path, shown) = match &journals {
        Some(journals) => (journals.file(&writer), journal::shown_path(&writer)),
        None => {
            let single = RelativePath::new(SINGLE_LEDGER).expect("a fixed name is a path");
            (root.absolute(&single), single)
        }
    };
    let mut file = LockedLedger::open(path)?;
    if journals.is_some() {
        journal::show(root, &writer, &file.path);
        file.switch_to_second_name(&root.absolute(&shown));
    }
    let bytes = file.bytes()?;
    let length = file.cut_to_whole_records(&shown, &bytes)?;
    // A journal has only open records, so the last one may have left it.
    let last = last_of(&bytes[..length], &writer);
    let head = journal::head_of(root, &writer).filter(|_| journals.is_some());
    let mut last = last.max(head.as_ref().map(|head| (head.seq, head.h.clone())));
    // Without a head, nothing is known of the records before these.
    let before = last.as_ref().map(|(seq, _)| (0, *seq));
    let (gone, settled) =
        head.map_or_else(|| (Vec::from_iter(before), Vec::new()), |head| (head.gone, head.settled));
    let mut lines = Vec::new();
    if length > 0 && bytes[length - 1] != b'\n' {
        lines.push(b'\n');
    }
    for mut record in records {
        // These names are for our own fields.
        record.extra.retain(|key, _| !super::dialect::OURS.contains(&key.as_str()));
        record.writer.clone_from(&writer);
        record.seq = last.as_ref().map_or(0, |(seq, _)| seq + 1);
        record.prev = last.map(|(_, h)| h);
        let (line, h) = ledger_line(&record)?;
        lines.extend(line);
        last = Some((record.seq, h));
    }
    file.commit(length as u64, &lines)?;
    if let Some((seq, h)) = last.filter(|_| journals.is_some()) {
        journal::remember_head(root, &writer, &WriterHead { seq, h, gone, settled })?;
    }
    Ok(())
}

/// Returns the id of a session's chain in this clone. It is the same for all records of the
/// session and differs from those of every other clone. The policy may change the `place` of
/// new records during a session, so the journal and the single file have chains of their own.
fn writer_of(root: &Root, session: Option<&str>, place: &str) -> Result<String, StoreError> {
    let path = root.private().join(CLONE);
    let fresh = uuid::Uuid::new_v4().simple().to_string();
    store::create_new(&path, fresh.as_bytes())?;
    let clone = store::read_capped(&path, MAX_CLONE)?.unwrap_or_default();
    Ok(writer_id(&clone, session, place))
}

/// Returns the id of a chain: the first 32 hexadecimal digits of a SHA-256.
fn writer_id(clone: &[u8], session: Option<&str>, place: &str) -> String {
    let mut sha = Sha256::new();
    sha.update(clone);
    sha.update(session.unwrap_or_default());
    sha.update(place);
    hex(&sha.finalize())[..32].to_owned()
}

/// Returns a function that takes a session and a writer and returns true if this clone wrote the
/// chain of that writer.
pub(super) fn own_chains(root: &Root) -> impl Fn(Option<&str>, &str) -> bool + use<> {
    let clone = store::read_capped(&root.private().join(CLONE), MAX_CLONE).ok().flatten();
    move |session, writer| {
        let is_at =
            |place| clone.as_ref().is_some_and(|one| writer_id(one, session, place) == writer);
        is_at(IN_JOURNAL) || is_at(SINGLE_LEDGER)
    }
}

/// Returns the sequence number and the hash of the last intact record of a writer. Lines are first
/// searched for the id as text, because only a few of them have to be parsed then.
fn last_of(bytes: &[u8], writer: &str) -> Option<(u64, String)> {
    let own = format!("\"writer\":\"{writer}\"");
    let is_own = |line: &&[u8]| {
        line.windows(own.len()).any(|window| window == own.as_bytes()) && is_intact(line)
    };
    let line = bytes.rsplit(|byte| *byte == b'\n').find(is_own)?;
    let record: Record = serde_json::from_slice(line).ok()?;
    (record.writer == writer).then_some((record.seq, split_tail(line)?.1.to_owned()))
}

/// Returns an error if a record is too large to be appended.
pub fn ensure_fits(record: &Record) -> Result<(), AppendError> {
    ledger_line(record).map(drop)
}

/// Returns the line that is stored for a record, and its hash `h`. The line is its JSON, the hash, and
/// a line feed.
fn ledger_line(record: &Record) -> Result<(Vec<u8>, String), AppendError> {
    let mut line = serde_json::to_vec(record).expect("a record is plain data with text keys");
    // The closing brace follows after the hash.
    line.pop();
    let h = hash(&line);
    line.extend_from_slice(format!(",\"h\":\"{h}\"}}\n").as_bytes());
    match line.len() {
        bytes if bytes > MAX_OBJECT => Err(AppendError::TooLarge { bytes }),
        _ => Ok((line, h)),
    }
}

struct LockedLedger {
    path: PathBuf,
    file: File,
    /// Whether the file did not exist before. Then its folders are synced too.
    created: bool,
}

impl LockedLedger {
    fn open(path: PathBuf) -> Result<Self, StoreError> {
        let (file, created) = store::append_to(&path)?;
        Ok(Self { path, file, created })
    }

    /// Switches to writing through the second name of the file, if it has one. A program that
    /// watches the folder of that second name is only notified of writes that go through it.
    fn switch_to_second_name(&mut self, shown: &Path) {
        if is_same_file(&self.path, shown)
            && let Ok((file, _)) = store::append_to(shown)
        {
            self.file = file;
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, StoreError> {
        let mut file = &self.file;
        let mut bytes = Vec::new();
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
        read.map_err(failed(&self.path, "read"))?;
        Ok(bytes)
    }

    /// Returns how many bytes of the file to keep, and cuts off a record that was half written when
    /// a process was killed. Cutting is safe: success is only reported for whole lines. A last line
    /// that is a whole record without its line feed is kept, and so is text that does not begin
    /// like a record.
    fn cut_to_whole_records(
        &self,
        shown: &RelativePath,
        bytes: &[u8],
    ) -> Result<usize, StoreError> {
        let start = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if bytes[start..].first() != Some(&b'{') {
            return Ok(bytes.len());
        }
        let reading = read::bytes(shown, &bytes[start..]);
        if reading.unreadable.is_empty() {
            return Ok(bytes.len());
        }
        self.file.set_len(start as u64).map_err(failed(&self.path, "shortened"))?;
        Ok(start)
    }

    /// Appends whole lines with one write and syncs them to disk. If that fails, the file is cut
    /// back to `length`.
    fn commit(&self, length: u64, lines: &[u8]) -> Result<(), StoreError> {
        let mut file = &self.file;
        let written = file.write_all(lines).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            // The file is not synced again: a second sync could report success for pages that the
            // system has already dropped.
            let _ = self.file.set_len(length);
            return Err(failed(&self.path, "appended to")(source));
        }
        if self.created {
            sync_folders(&self.path)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let of = |path: &Path| path.symlink_metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    of(one).is_some_and(|id| Some(id) == of(other))
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}

/// Syncs the folders above a new file. Otherwise a crash could lose the file's name. All folders
/// that the append may have created are among the four that are synced:
/// `.git/intent/open/TREE/WRITER.jsonl`, or `.orchestration/agent_trace.jsonl`.
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
