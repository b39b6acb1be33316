//! Notes about writes that happened without the gate. They are found afterwards, and shown by the
//! editor and by `intent doctor` as long as the file still has the content that the write left.

use serde::{Deserialize, Serialize};

use super::calls::EarlierContent;
use super::{Root, StoreError, keep_note, note, path_of_local_file, seen, store};
use crate::{CommitId, RelativePath};

/// A write that happened without the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ungated {
    /// The path relative to the workspace.
    pub path: RelativePath,
    /// The SHA-256 of the content that the write left. `None` if it deleted the file.
    pub hash: Option<String>,
    /// What the file contained before the write.
    #[serde(default)]
    pub before: EarlierContent,
    /// The commit that was checked out before the write.
    #[serde(default)]
    pub head: Option<CommitId>,
    /// The session in which the write was found.
    pub actor: String,
    /// The tool that ran at that time.
    pub tool: String,
    /// What is known about the write.
    pub why: String,
    /// When the write was found: RFC 3339 in UTC.
    pub at: String,
}

/// A note larger than this, in bytes, was not written by us and is not read.
const MAX_NOTE: u64 = 64 * 1024;
/// At most this many notes are looked at.
const MAX_NOTES: usize = 1_000;

/// Stores a note about the write of a file.
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

/// Returns the note about a file that still has the content that the write left.
pub fn of_file(root: &Root, path: &RelativePath) -> Option<Ungated> {
    last_of_file(root, path).filter(|note| seen::state(root, path, 0).hash == note.hash)
}

/// Returns the note about a file, whatever the file contains now.
pub fn last_of_file(root: &Root, path: &RelativePath) -> Option<Ungated> {
    let note: Ungated = store::read_json(&file(root, path), MAX_NOTE)?;
    (note.path == *path).then_some(note)
}

/// Removes the note about a file, after a person has dealt with it. Returns true if there was one.
pub fn settle(root: &Root, path: &RelativePath) -> Result<bool, StoreError> {
    store::remove(&file(root, path))
}

fn file(root: &Root, path: &RelativePath) -> std::path::PathBuf {
    note(root, "ungated", path.as_str())
}

pub fn folder(root: &Root) -> std::path::PathBuf {
    path_of_local_file(root, "ungated")
}
