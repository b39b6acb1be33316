//! `.orchestration/local`: files that are no part of the repository, such as the selections of sessions.

use std::path::PathBuf;

use super::Root;
use super::store::{self, StoreError};

/// Returns the folder `.orchestration/local`. Creates it if needed, with an ignore file that keeps
/// it out of every commit.
pub fn local(root: &Root) -> Result<PathBuf, StoreError> {
    let folder = root.orchestration().join("local");
    store::create_new(&folder.join(".gitignore"), b"*\n")?;
    Ok(folder)
}

pub(super) fn path_of_local_file(root: &Root, name: &str) -> PathBuf {
    root.orchestration().join("local").join(name)
}
