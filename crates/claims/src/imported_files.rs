//! Files that a person imported, named by their content, so that one that is imported again is the
//! same file. Trace files stay in the git directory of the clone, so no commit carries them. Ledgers
//! of earlier systems lie in the folder of the ledger, so that commits carry them.

use std::path::{Path, PathBuf};

use ground::store::{self, StoreError};
use ground::{Hint, RelativePath, Root};
use ledger::{IMPORTED_FOLDER, read};
use schemars::JsonSchema;
use serde::Serialize;

use crate::traced_lines::{MAX_FILE, TraceFile};

const MAX_FILES: usize = 100;
const MAX_NAME: usize = 60;

/// A file that was imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedFile {
    /// The name of the copy in the git directory or, for a ledger, its path in the workspace.
    pub name: String,
    /// The number of records in the file.
    pub records: usize,
    /// Whether the same content was imported before.
    pub was_known: bool,
    /// The parts of a ledger that cannot be read, in the order of the file. They are kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePart>,
}

/// Lines of a ledger that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadablePart {
    /// The first line, counted from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// Why they cannot be read.
    pub reason: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("the file contains no record in the format of Agent Trace")]
    NoTrace,
    #[error("the file contains no record")]
    NoRecord,
    #[error("{0} is in the folder of the ledger, where it is read already")]
    ReadInPlace(RelativePath),
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
            Self::NoTrace => Some("each line must be a JSON object with `files`".to_owned()),
            Self::Store(StoreError::TooLarge { .. }) => {
                Some("import it in parts, each with whole lines".to_owned())
            }
            Self::NoRecord | Self::ReadInPlace(_) | Self::NoFile(_) | Self::NoGit => None,
            Self::Store(error) => error.hint(),
        }
    }
}

/// Keeps a copy of a trace file, if it has records.
pub fn import_trace(root: &Root, file: &Path) -> Result<ImportedFile, ImportError> {
    let folder = folder(root).ok_or(ImportError::NoGit)?;
    let bytes = bytes_of(file)?;
    let records = TraceFile::parse(&bytes).records;
    if records == 0 {
        return Err(ImportError::NoTrace);
    }
    let (name, was_known) = keep_copy(&folder, file, &bytes)?;
    Ok(ImportedFile { name, records, was_known, unreadable: Vec::new() })
}

/// Keeps a copy of a ledger of an earlier system in the folder of the ledger, if it has records.
pub fn import_ledger(root: &Root, file: &Path) -> Result<ImportedFile, ImportError> {
    if let Some(path) = root.relative(root.path(), file).ok().filter(read::is_ledger_path) {
        return Err(ImportError::ReadInPlace(path));
    }
    let bytes = bytes_of(file)?;
    let path = RelativePath::new(&format!("{}/ledger.jsonl", IMPORTED_FOLDER));
    let parsed = read::bytes(&path.expect("the path has only plain names"), &bytes);
    if parsed.entries.is_empty() {
        return Err(ImportError::NoRecord);
    }
    let unreadable = parsed.findings.iter().filter_map(|finding| {
        let lines = finding.lines?;
        let reason = finding.message.clone();
        Some(UnreadablePart { start_line: lines.start(), end_line: lines.end(), reason })
    });
    let unreadable = unreadable.collect();
    let (name, was_known) = keep_copy(&root.path().join(IMPORTED_FOLDER), file, &bytes)?;
    let name = format!("{}/{name}", IMPORTED_FOLDER);
    Ok(ImportedFile { name, records: parsed.entries.len(), was_known, unreadable })
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, ImportError> {
    let bytes = store::read_capped(file, MAX_FILE)?;
    bytes.ok_or_else(|| ImportError::NoFile(file.display().to_string()))
}

/// Keeps a copy of a file in a folder. Returns its name, and whether it was there before.
fn keep_copy(folder: &Path, file: &Path, bytes: &[u8]) -> Result<(String, bool), ImportError> {
    let digest = &store::sha256(bytes)[..32];
    if let Some(name) = names(folder).into_iter().find(|name| name.starts_with(digest)) {
        return Ok((name, true));
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{digest}-{}.jsonl", plain_name(&stem));
    let is_new = store::create_new(&folder.join(&name), bytes)?;
    Ok((name, !is_new))
}

pub(crate) fn imported_traces(root: &Root) -> impl Iterator<Item = Vec<u8>> {
    let folder = folder(root);
    let names = folder.as_deref().map(names).unwrap_or_default().into_iter().take(MAX_FILES);
    let paths = names.filter_map(move |name| Some(folder.as_ref()?.join(name)));
    paths.filter_map(|path| store::read_capped(&path, MAX_FILE).ok().flatten())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = store::entries(folder);
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".jsonl")).collect();
    names.sort();
    names
}

/// Returns the folder of the imported trace files, which all work trees of a clone share.
fn folder(root: &Root) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent/imported/agent-trace"))
}

/// Returns a name without what a file system or a terminal could take for something else.
fn plain_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_NAME).collect()
}
