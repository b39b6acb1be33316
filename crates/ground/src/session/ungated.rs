//! Notes about writes that happened without the gate. They are found afterwards, and shown by the
//! editor and by `intent doctor` as long as the file still has the content that the write left.

use serde::{Deserialize, Serialize};

use super::calls::EarlierContent;
use super::{Root, StoreError, keep_note, note, path_of_local_file, seen, store};
use crate::{CommitId, RelativePath};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ungated {
    /// The path relative to the workspace.
    pub path: RelativePath,
    /// The SHA-256 of the content that the write left. `None` if it deleted the file.
    pub hash: Option<String>,
    #[serde(default)]
    pub before: EarlierContent,
    pub head: Option<CommitId>,
    pub actor: String,
    pub tool: String,
    pub why: String,
    /// When the write was found: RFC 3339 in UTC.
    pub at: String,
}

/// A note larger than this, in bytes, was not written by us and is not read.
const MAX_NOTE: u64 = 64 * 1024;
/// At most this many notes are looked at.
const MAX_NOTES: usize = 1_000;

pub fn keep(root: &Root, note: &Ungated) -> Result<(), StoreError> {
    keep_note(root, &file(root, &note.path), note)
}

/// Returns the notes about files that still have the content that the write left. All others are
/// skipped.
pub fn still_valid(root: &Root) -> Vec<Ungated> {
    let entries = store::entries(&folder(root)).take(MAX_NOTES);
    let notes = entries.filter_map(|entry| store::read_json(&entry.path(), MAX_NOTE));
    let is_valid = |note: &Ungated| seen::state(root, &note.path, 0).hash == note.hash;
    let mut notes: Vec<Ungated> = notes.filter(is_valid).collect();
    notes.sort_by(|a, b| a.path.cmp(&b.path));
    notes
}

pub fn of_file(root: &Root, path: &RelativePath) -> Option<Ungated> {
    last_of_file(root, path).filter(|note| seen::state(root, path, 0).hash == note.hash)
}

pub fn last_of_file(root: &Root, path: &RelativePath) -> Option<Ungated> {
    let note: Ungated = store::read_json(&file(root, path), MAX_NOTE)?;
    (note.path == *path).then_some(note)
}

pub fn settle(root: &Root, path: &RelativePath) -> Result<bool, StoreError> {
    store::remove(&file(root, path))
}

fn file(root: &Root, path: &RelativePath) -> std::path::PathBuf {
    note(root, "ungated", path.as_str())
}

pub fn folder(root: &Root) -> std::path::PathBuf {
    path_of_local_file(root, "ungated")
}
