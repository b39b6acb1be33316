//! The texts of files after recorded changes. They are kept beside the journal until the changes are
//! committed, so that a later edit, a formatter or another agent does not blur who brought what.
//!
//! With git they are in the git directory, where nobody else reads them. Without git they are in
//! `.orchestration/texts/`, which git would ignore. Only their owner can read them.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use super::digest::Digest;
use ground::Root;
use ground::store::{self, StoreError};

const MAX_TEXT: usize = 1024 * 1024;

fn folder(root: &Root) -> PathBuf {
    match root.common_dir() {
        Some(common) => common.join("intent").join("texts"),
        None => root.orchestration().join("texts"),
    }
}

/// Keeps a text and returns its key. `None` if it is too large, or if the folder belongs to somebody
/// else who works in the same repository.
pub fn keep_text(root: &Root, bytes: &[u8]) -> Result<Option<Digest>, StoreError> {
    if bytes.len() > MAX_TEXT {
        return Ok(None);
    }
    let (key, folder) = (Digest::compute(bytes), folder(root));
    if root.common_dir().is_none() {
        // A repository may be made here later, and the `.gitignore` above may be older than texts.
        store::create_new(&folder.join(".gitignore"), b"*\n")?;
    }
    match store::write_private(&folder.join(key.to_string()), bytes) {
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
            Ok(None)
        }
        written => written.map(|()| Some(key)),
    }
}

/// Returns a text that was kept. `None` if it is gone or was changed.
pub fn kept_text(root: &Root, key: &Digest) -> Option<Vec<u8>> {
    let path = folder(root).join(key.to_string());
    let bytes = store::read_capped(&path, MAX_TEXT as u64).ok()??;
    (Digest::compute(&bytes) == *key).then_some(bytes)
}

/// A text is kept at least this long, since its record is appended after it.
const SHORTEST_STAY: Duration = Duration::from_secs(60 * 60);

pub fn drop_texts_but(root: &Root, used: &HashSet<Digest>) -> Result<(), StoreError> {
    for entry in store::entries(&folder(root)) {
        let key = entry.file_name().to_str().and_then(Digest::parse);
        let written = entry.metadata().and_then(|found| found.modified());
        let is_new =
            written.is_ok_and(|time| time.elapsed().is_ok_and(|since| since < SHORTEST_STAY));
        if !is_new && key.is_some_and(|key| !used.contains(&key)) {
            store::remove(&entry.path())?;
        }
    }
    Ok(())
}
