//! Writes that no gate let through: found after the fact, shown by the editor and by `intent doctor` for as long as the
//! file is what that write made of it.

use serde::{Deserialize, Serialize};

use super::{Root, StoreError, digest, seen, store};
use crate::workspace::RelativePath;

/// A write that nobody gated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ungated {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// SHA-256 of what it made of the file; `None` where it is gone.
    pub hash: Option<String>,
    /// In whose session it was found.
    pub actor: String,
    /// The tool that was run then.
    pub tool: String,
    /// What is known of it.
    pub why: String,
    /// RFC 3339 in UTC.
    pub at: String,
}

/// A note larger than this, in bytes, was not written by us.
const MAX_NOTE: u64 = 64 * 1024;
/// More notes than this are not looked at.
const MAX_NOTES: usize = 1_000;

/// Keeps a note.
pub fn keep(root: &Root, note: &Ungated) -> Result<(), StoreError> {
    super::local(root)?;
    let bytes = serde_json::to_vec(note).expect("texts always become JSON");
    store::write_scratch(&folder(root).join(format!("{}.json", digest(note.path.as_str()))), &bytes)
}

/// The notes that still hold: the file is as that write left it. Others are forgotten.
pub fn standing(root: &Root) -> Vec<Ungated> {
    let Ok(entries) = std::fs::read_dir(folder(root)) else { return Vec::new() };
    let mut notes: Vec<Ungated> = Vec::new();
    for entry in entries.filter_map(Result::ok).take(MAX_NOTES) {
        let file = entry.path();
        let bytes = store::read_capped(&file, MAX_NOTE).ok().flatten();
        let Some(note) = bytes.and_then(|bytes| serde_json::from_slice::<Ungated>(&bytes).ok())
        else {
            continue;
        };
        if seen::state(root, &note.path, 0).hash == note.hash {
            notes.push(note);
        }
    }
    notes.sort_by(|a, b| a.path.cmp(&b.path));
    notes
}

/// Forgets the note of a file, which a person has settled.
pub(crate) fn settle(root: &Root, path: &RelativePath) -> Result<bool, StoreError> {
    store::remove(&folder(root).join(format!("{}.json", digest(path.as_str()))))
}

/// Where the notes are.
pub(crate) fn folder(root: &Root) -> std::path::PathBuf {
    root.orchestration().join("local").join("ungated")
}
