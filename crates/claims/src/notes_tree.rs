//! Finds the note of a commit. Git keeps notes in a tree whose paths are the ids of the commits:
//! `0123…` while there are few notes, and `01/23…` or `01/23/45…` when there are many.

use ground::git::{Git, GitError, ObjectId, ObjectReader};

/// The largest number of bytes of a note.
const MAX_NOTE: u64 = 4 * 1024 * 1024;

/// Returns the tree of the commit that a reference names, such as `refs/notes/ai`. `None` if there
/// is no such reference.
pub(crate) fn tree_of_reference(
    git: &Git,
    reader: &mut ObjectReader<'_>,
    reference: &str,
) -> Result<Option<ObjectId>, GitError> {
    let commit = git.reference(reference)?;
    commit.map(|commit| Ok(reader.commit(commit)?.tree)).transpose()
}

/// Reads the note of a commit. Only the folders on the way to it are read.
pub(crate) fn note_of_commit(
    reader: &mut ObjectReader<'_>,
    tree: ObjectId,
    commit: ObjectId,
) -> Result<Option<Vec<u8>>, GitError> {
    let id = commit.to_string();
    let mut rest = id.as_str();
    let mut folder = tree;
    while rest.len() > 2 {
        if let Some(blob) = reader.locate(folder, rest.into(), None)?.blob {
            return Ok(Some(reader.blob_up_to(blob, MAX_NOTE)?));
        }
        let (name, below) = rest.split_at(2);
        match reader.folder(folder, name.into())? {
            Some(next) => (folder, rest) = (next, below),
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// Reads what a reference names directly, as the oldest notes of Git AI were kept.
pub(crate) fn blob_of_reference(
    git: &Git,
    reader: &mut ObjectReader<'_>,
    reference: &str,
) -> Result<Option<Vec<u8>>, GitError> {
    let blob = git.reference(reference)?;
    blob.map(|blob| reader.blob_up_to(blob, MAX_NOTE)).transpose()
}

/// Returns what could be read. What other tools keep may be damaged, and then it says nothing.
pub(crate) fn readable<T>(read: Result<T, GitError>) -> Option<T> {
    let read = read.inspect_err(|error| {
        tracing::debug!(%error, "what another tool recorded cannot be read");
    });
    read.ok()
}
