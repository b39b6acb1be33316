//! What a session knows about a file: the state of the file when the session last read it, wrote
//! it, or changed it with a command of its own. With this, the gate can decide whether a write is
//! based on the current content.

use serde::{Deserialize, Serialize};

use super::{Root, StoreError, digest, keep_note, note, of_actor, store};
use crate::{RelativePath, folder};

/// The state of a file when a session last saw it, or when somebody last wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The path relative to the workspace.
    pub path: RelativePath,
    /// The SHA-256 of the file's bytes in hexadecimal. `None` if there was no file.
    pub hash: Option<String>,
    pub outline: Vec<String>,
    #[serde(default)]
    pub extent: SeenExtent,
    pub actor: String,
    pub intent: Option<String>,
    pub head: Option<String>,
    pub recorded: bool,
    /// When this was stored: RFC 3339 in UTC.
    pub at: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenExtent {
    /// The whole file at one moment: `hash` is the hash of what was seen.
    #[default]
    File,
    /// Every block, but not all at the same moment: some blocks were changed after the session had
    /// seen the file, by others or by the session itself.
    Blocks,
    /// Only the blocks of the outline.
    Part,
}

impl SeenExtent {
    /// Returns the extent after somebody has changed the file. If the whole file was seen, all of
    /// its blocks are still known.
    pub fn of_blocks(self) -> Self {
        if self == Self::File { Self::Blocks } else { self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileWrites {
    #[serde(flatten)]
    pub last: Seen,
    /// The writes that changed a block which, as far as the hooks show, nobody has changed since.
    /// The latest is last.
    #[serde(default)]
    pub writes: Vec<BlockWrite>,
}

/// The blocks that one write changed, without those that a later write changed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockWrite {
    pub actor: String,
    pub intent: Option<String>,
    pub at: String,
    /// The identities of the blocks in hexadecimal. `None` if it is not known which blocks were
    /// changed.
    pub blocks: Option<Vec<String>>,
}

/// A note larger than this, in bytes, was not written by us and is not read.
const MAX_SEEN: u64 = 16 * 1024 * 1024;

pub fn last_seen_state(root: &Root, actor: &str, path: &RelativePath) -> Option<Seen> {
    let note: Option<Seen> =
        store::read_json(&of_actor(root, actor).join("seen").join(name(path)), MAX_SEEN);
    note.filter(|seen| seen.path == *path)
}

pub fn see(root: &Root, actor: &str, seen: &Seen) -> Result<(), StoreError> {
    keep_note(root, &of_actor(root, actor).join("seen").join(name(&seen.path)), seen)
}

pub fn last_write(root: &Root, path: &RelativePath) -> Option<Seen> {
    writes(root, path).map(|writes| writes.last)
}

pub fn writes(root: &Root, path: &RelativePath) -> Option<FileWrites> {
    let found: Option<FileWrites> =
        store::read_json(&note(root, "writes", path.as_str()), MAX_SEEN);
    found.filter(|writes| writes.last.path == *path)
}

pub fn wrote(root: &Root, writes: &FileWrites) -> Result<(), StoreError> {
    keep_note(root, &note(root, "writes", writes.last.path.as_str()), writes)
}

fn name(path: &RelativePath) -> String {
    format!("{}.json", digest(path.as_str()))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileState {
    /// The SHA-256 of the file's bytes in hexadecimal. `None` if there is no regular file.
    pub hash: Option<String>,
    /// The text of the file. `None` if it is not valid UTF-8, or is too large.
    pub text: Option<String>,
}

/// Reads a file once, for its hash and its text. The text is only returned if it has at most `max`
/// bytes.
pub fn state(root: &Root, path: &RelativePath, max: u64) -> FileState {
    let Ok(mut file) = root.open(path) else { return FileState::default() };
    if file.metadata().is_ok_and(|found| found.len() > max) {
        return FileState { hash: store::sha256_of_file(file), text: None };
    }
    let Ok(bytes) = folder::read_to_end(&mut file, max) else { return FileState::default() };
    FileState { hash: Some(store::sha256(&bytes)), text: String::from_utf8(bytes).ok() }
}
