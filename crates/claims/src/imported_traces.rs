//! Trace files that a person imported. They stay in the git directory of the clone, so no commit
//! carries them, and are named by their content, so one that is imported again is the same file.

use std::path::{Path, PathBuf};

use ground::store::{self, StoreError};
use ground::{Hint, Root};
use schemars::JsonSchema;
use serde::Serialize;

use crate::traced_lines::{MAX_FILE, TraceFile};

/// The largest number of imported files that are read.
const MAX_FILES: usize = 100;
/// How many characters of the name of an imported file are kept.
const MAX_NAME: usize = 60;

/// A trace file that was imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedTrace {
    /// The name of the copy in the git directory.
    pub name: String,
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
    #[error("there is no file {0}")]
    NoFile(String),
    #[error(
        "the workspace is in no git repository, so there are no commits that the records are about"
    )]
    NoGit,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Hint for ImportError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoRecord => Some("each line must be a JSON object with `files`".to_owned()),
            Self::Store(StoreError::TooLarge { .. }) => {
                Some("import it in parts, each with whole lines".to_owned())
            }
            Self::NoFile(_) | Self::NoGit => None,
            Self::Store(error) => error.hint(),
        }
    }
}

/// Keeps a copy of a trace file, if it has records.
pub fn import_trace(root: &Root, file: &Path) -> Result<ImportedTrace, ImportError> {
    let folder = folder(root).ok_or(ImportError::NoGit)?;
    let bytes = store::read_capped(file, MAX_FILE)?;
    let bytes = bytes.ok_or_else(|| ImportError::NoFile(file.display().to_string()))?;
    let records = TraceFile::parse(&bytes).records;
    if records == 0 {
        return Err(ImportError::NoRecord);
    }
    let digest = &store::sha256(&bytes)[..32];
    if let Some(name) = names(root).into_iter().find(|name| name.starts_with(digest)) {
        return Ok(ImportedTrace { name, records, was_known: true });
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{digest}-{}.jsonl", plain_name(&stem));
    let is_new = store::create_new(&folder.join(&name), &bytes)?;
    Ok(ImportedTrace { name, records, was_known: !is_new })
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
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME).collect()
}
