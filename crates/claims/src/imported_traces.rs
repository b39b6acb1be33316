//! Trace files that a person imported. They stay in the git directory of the clone, so no commit
//! carries them, and are named by their content, so one that is imported again is the same file.

use std::path::PathBuf;

use ground::store::{self, StoreError};
use ground::{Hint, Root};

use crate::trace_files::MAX_FILE;
use crate::traced_lines::TraceFile;

/// The largest number of imported files that are read.
const MAX_FILES: usize = 100;
/// How many characters of the name of an imported file are kept.
const MAX_NAME: usize = 60;

/// A trace file that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedTrace {
    /// The copy in the git directory.
    pub path: PathBuf,
    /// The number of records in the file.
    pub records: usize,
    /// Whether the same content was imported before.
    pub was_known: bool,
}

/// Why a trace file was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("the file contains no record in the format of Agent Trace")]
    NoRecord,
    #[error("the file has {0} bytes, and at most {MAX_FILE} are read")]
    TooLarge(u64),
    #[error("the workspace is in no git repository, so there are no commits that the records are about")]
    NoGit,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Hint for ImportError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoRecord => Some("each line must be a JSON object with `files`".to_owned()),
            Self::TooLarge(_) => Some("import it in parts, each with whole lines".to_owned()),
            Self::NoGit => None,
            Self::Store(error) => error.hint(),
        }
    }
}

/// Keeps a copy of a trace file, if it has records. `name` is the name of the file.
pub fn import_trace(root: &Root, name: &str, bytes: &[u8]) -> Result<ImportedTrace, ImportError> {
    let folder = folder(root).ok_or(ImportError::NoGit)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(ImportError::TooLarge(bytes.len() as u64));
    }
    let records = TraceFile::parse(bytes).records;
    if records == 0 {
        return Err(ImportError::NoRecord);
    }
    let digest = store::sha256(bytes);
    let path = folder.join(format!("{}-{}.jsonl", &digest[..32], plain_name(name)));
    let begins = |known: &str| known.starts_with(&digest[..32]);
    if let Some(known) = names(root).into_iter().find(|known| begins(known)) {
        return Ok(ImportedTrace { path: folder.join(known), records, was_known: true });
    }
    let is_new = store::create_new(&path, bytes)?;
    Ok(ImportedTrace { path, records, was_known: !is_new })
}

/// Reads the imported files, one after the other.
pub(crate) fn imported_traces(root: &Root) -> impl Iterator<Item = Vec<u8>> {
    let names = names(root).into_iter().take(MAX_FILES);
    let paths = names.filter_map(|name| Some(folder(root)?.join(name)));
    paths.filter_map(|path| store::read_capped(&path, MAX_FILE).ok().flatten())
}

fn names(root: &Root) -> Vec<String> {
    let Some(folder) = folder(root) else { return Vec::new() };
    let entries = store::entries(&folder);
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".jsonl")).collect();
    names.sort();
    names
}

/// Returns the folder of the imported files, which all work trees of a clone share.
fn folder(root: &Root) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent/imported/agent-trace"))
}

/// Returns a name without what a file system or a terminal could take for something else.
fn plain_name(name: &str) -> String {
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    stem.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME).collect()
}
