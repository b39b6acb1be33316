//! A file of the ledger, and its content after parsing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::Entry;
use super::entry::EntryOrigin;
use super::evidence::Digest;
use ground::{Finding, RelativePath, cache};

/// An object, or a line, larger than this many bytes is not read.
pub(super) const MAX_OBJECT: usize = 64 * 1024 * 1024;

/// A file of the ledger, with its name in the workspace and its place on disk.
#[derive(Clone, Debug)]
pub struct LedgerFile {
    /// The path relative to the workspace. For a journal, the path under which it is shown.
    pub path: RelativePath,
    /// The path on disk. A journal is in the git directory.
    pub disk: PathBuf,
}

/// The size and times of a file. If they are the same later, the file has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadStamp {
    length: u64,
    modified: Option<SystemTime>,
    pub exact: Option<cache::FileStamp>,
}

impl ReadStamp {
    pub(super) fn now(file: &LedgerFile) -> Option<Self> {
        let found = file.disk.metadata().ok()?;
        let exact = cache::FileStamp::from_metadata(&found);
        Some(Self { length: found.len(), modified: found.modified().ok(), exact })
    }
}

#[derive(Clone, Debug, Default)]
pub struct ParsedLedgerFile {
    /// The entries in file order.
    pub entries: Vec<Arc<Entry>>,
    /// The findings about incomplete, unreadable or forged lines.
    pub findings: Vec<Finding>,
    /// The places and bytes of spans that could not be read. Of a span that is too large, only the
    /// beginning is kept.
    pub unreadable: Vec<(EntryOrigin, Vec<u8>)>,
    /// The digests of the sections, if it is a file of evidence.
    pub sections: Vec<Digest>,
    /// The sections from which a line was erased.
    pub erased: Vec<ErasedSection>,
    /// The digest of the whole file, if it is a file of evidence.
    pub digest: Option<Digest>,
    /// The version of the file's format, if it is newer than this program can read. Nothing else of
    /// such a file is read.
    pub newer_format: Option<u32>,
    /// The size and times of the file when it was read. `None` if it could not be read, and for
    /// bytes that are not from a file.
    pub(super) stamp: Option<ReadStamp>,
    /// The ids of the journal records that were skipped, because they are sealed into evidence that
    /// exists.
    pub(super) passed_over: Arc<[String]>,
}

#[derive(Clone, Debug)]
pub struct ErasedSection {
    pub path: RelativePath,
    /// The digest of the section before anything was erased. It is still the id of the section.
    pub digest: Digest,
    /// The digests of the section's lines before anything was erased, header first.
    pub lines: Vec<Digest>,
    /// Each tombstone: the number of its line in the file, counted from 1, and its bytes.
    pub tombstones: Vec<(u32, Arc<[u8]>)>,
}
