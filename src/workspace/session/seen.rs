//! What a session knows of a file: its state when the session last read it, wrote it, or changed it with a command of
//! its own. Without it nobody could say whether a write is based on what is there.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Root, StoreError, digest, of_actor, store};
use crate::workspace::{RelativePath, folder};

/// A file as a session last saw it, or as anybody last wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// SHA-256 of its bytes in hexadecimal; `None` where there was no file.
    pub hash: Option<String>,
    /// The blocks that were seen, as entries of an outline.
    pub outline: Vec<String>,
    /// How much of the file that is.
    #[serde(default)]
    pub extent: SeenExtent,
    /// Who acted.
    pub actor: String,
    /// The intent they acted under.
    pub intent: Option<String>,
    /// The commit the work tree was based on.
    pub head: Option<String>,
    /// A record in the ledger holds this outline.
    pub recorded: bool,
    /// RFC 3339 in UTC.
    pub at: String,
}

/// How much of a file a session has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SeenExtent {
    /// The whole file, at one time: `hash` is the hash of what was seen.
    #[default]
    File,
    /// Every block, but not all at one time: blocks were changed after the session had seen the file, by others or by
    /// the session itself.
    Blocks,
    /// Only the blocks of the outline.
    Part,
}

impl SeenExtent {
    /// The extent once somebody has changed the file: of a file seen as a whole, its blocks are still known.
    pub(crate) fn of_blocks(self) -> Self {
        if self == Self::File { Self::Blocks } else { self }
    }
}

/// Who wrote a file in this work tree, through tools whose hooks we saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileWrites {
    /// The file as the last of them left it.
    #[serde(flatten)]
    pub last: Seen,
    /// The writes that left a block which, as far as we saw, nobody has changed again. The latest is last.
    #[serde(default)]
    pub writes: Vec<BlockWrite>,
}

/// The blocks that one write changed, without those which a later write changed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockWrite {
    /// Who acted.
    pub actor: String,
    /// The intent they acted under.
    pub intent: Option<String>,
    /// RFC 3339 in UTC.
    pub at: String,
    /// The hexadecimal identities of the blocks; `None` where nobody can tell which blocks it changed.
    pub blocks: Option<Vec<String>>,
}

/// A note larger than this, in bytes, is not ours, and is not read.
const MAX_SEEN: u64 = 16 * 1024 * 1024;

/// What the actor last saw of a file.
pub(crate) fn seen(root: &Root, actor: &str, path: &RelativePath) -> Option<Seen> {
    let note: Option<Seen> = read(&of_actor(root, actor).join("seen").join(name(path)));
    note.filter(|seen| seen.path == *path)
}

/// Remembers what the actor sees of a file now.
pub(crate) fn see(root: &Root, actor: &str, seen: &Seen) -> Result<(), StoreError> {
    super::local(root)?;
    write(&of_actor(root, actor).join("seen").join(name(&seen.path)), seen)
}

/// Who last wrote a file here, through a tool that we saw.
pub(crate) fn last_write(root: &Root, path: &RelativePath) -> Option<Seen> {
    writes(root, path).map(|writes| writes.last)
}

/// Who wrote a file here.
pub(crate) fn writes(root: &Root, path: &RelativePath) -> Option<FileWrites> {
    let note: Option<FileWrites> = read(&of_writes(root).join(name(path)));
    note.filter(|writes| writes.last.path == *path)
}

/// Remembers who wrote a file.
pub(crate) fn wrote(root: &Root, writes: &FileWrites) -> Result<(), StoreError> {
    super::local(root)?;
    write(&of_writes(root).join(name(&writes.last.path)), writes)
}

fn of_writes(root: &Root) -> std::path::PathBuf {
    root.orchestration().join("local").join("writes")
}

fn name(path: &RelativePath) -> String {
    format!("{}.json", digest(path.as_str()))
}

fn read<T: DeserializeOwned>(file: &std::path::Path) -> Option<T> {
    let bytes = store::read_capped(file, MAX_SEEN).ok()??;
    serde_json::from_slice(&bytes).ok()
}

fn write(file: &std::path::Path, note: &impl Serialize) -> Result<(), StoreError> {
    let bytes = serde_json::to_vec(note).expect("texts always become JSON");
    store::write_scratch(file, &bytes)
}

/// A file as it stands on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// SHA-256 of its bytes in hexadecimal; `None` where there is no regular file.
    pub hash: Option<String>,
    /// Its text; `None` where it is none, or is larger than asked for.
    pub text: Option<String>,
}

/// Reads a file once, for its hash and its text of at most `max` bytes.
pub fn state(root: &Root, path: &RelativePath, max: u64) -> FileState {
    let Ok(mut file) = root.open(path) else { return FileState::default() };
    if file.metadata().is_ok_and(|found| found.len() > max) {
        return FileState { hash: hash_of(file), text: None };
    }
    let Ok(bytes) = folder::read_to_end(&mut file, max) else { return FileState::default() };
    FileState { hash: Some(store::sha256(&bytes)), text: String::from_utf8(bytes).ok() }
}

/// The same for a file that is too large to be kept.
fn hash_of(mut file: std::fs::File) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).ok()? {
            0 => return Some(store::hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}
