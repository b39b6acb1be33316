//! A file of the ledger, and its content after parsing.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use super::digest::Digest;
use super::entry::{EntryOrigin, finding};
use super::{Entry, RecordDialect, Trust};
use ground::folder::is_missing;
use ground::{Code, Finding, RelativePath};

/// An object, or a line, larger than this many bytes is not read.
pub(super) const MAX_OBJECT: usize = 64 * 1024 * 1024;

/// Holds the ledgers of earlier systems that a person imported. They lie in the folder of the ledger,
/// so that commits carry them, and keep their bytes.
pub const IMPORTED_FOLDER: &str = ".orchestration/agent_trace/imported";

/// Returns true for an imported ledger. Whatever is in it is a record of another tool, also a line
/// that looks like one of ours.
pub fn is_imported(path: &RelativePath) -> bool {
    path.as_str().strip_prefix(IMPORTED_FOLDER).is_some_and(|rest| rest.starts_with('/'))
}

#[derive(Clone, Debug)]
pub struct LedgerFile {
    /// The path relative to the workspace. For a journal, the path under which it is shown.
    pub path: RelativePath,
    pub disk: PathBuf,
}

#[derive(Clone, Debug, Default)]
pub struct ParsedLedgerFile {
    pub entries: Vec<Arc<Entry>>,
    pub findings: Vec<Finding>,
    /// The places and bytes of spans that could not be read. Of a span that is too large, only the
    /// beginning is kept.
    pub unreadable: Vec<(EntryOrigin, Vec<u8>)>,
    pub sections: Vec<Digest>,
    pub erased: Vec<ErasedSection>,
    pub digest: Option<Digest>,
    /// The version of the file's format, if it is newer than this program can read. Nothing else of
    /// such a file is read.
    pub newer_format: Option<u32>,
    /// Whether the file could not be read, so that its records are unknown.
    pub is_unread: bool,
}

/// Returns true if a record of this session and writer was written here.
pub(super) type IsOwn<'a> = &'a (dyn Fn(Option<&str>, &str) -> bool + Sync);

impl ParsedLedgerFile {
    pub(super) fn read(file: &LedgerFile) -> Self {
        match file.read() {
            Ok(read) => read,
            // Another process has moved its records on since the folder was listed.
            Err(error) if is_missing(&error) => Self::default(),
            Err(error) => Self::from_read_error(&file.path, &error),
        }
    }

    pub(super) fn from_read_error(path: &RelativePath, error: &dyn Error) -> Self {
        let finding = finding(
            Code::LedgerUnreadable,
            &EntryOrigin::of_file(path),
            format!("The ledger file {path} cannot be read: {error}."),
            "Look at its permissions; what it records is unknown until it can be read.",
        );
        Self { findings: vec![finding], is_unread: true, ..Self::default() }
    }

    pub(super) fn owned_by(mut self, is_own: IsOwn<'_>) -> Self {
        for entry in &mut self.entries {
            let record = &entry.record;
            let is_sound =
                entry.trust == Trust::Claimed && entry.dialect == RecordDialect::Canonical;
            if is_sound && is_own(record.session.as_deref(), &record.writer) {
                Arc::make_mut(entry).trust = Trust::Own;
            }
        }
        self
    }
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
