//! Where the workspace is that governs a folder.

use std::path::{Path, PathBuf};

use ground::{Environment, Root};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspaceLocation {
    pub root: PathBuf,
    /// Whether something is known there: the root contains `.orchestration/`, or git has a history.
    pub has_answers: bool,
    pub git_dir: Option<PathBuf>,
}

impl WorkspaceLocation {
    /// Finds the workspace that governs a folder. `None` if there is none.
    pub(crate) fn of_folder(folder: &Path) -> Option<Self> {
        match Root::find(folder, &Environment::of_process()) {
            Ok(root) => Some(Self {
                root: root.path().to_owned(),
                has_answers: root.governed() || root.git_dir().is_some(),
                git_dir: root.git_dir().map(ToOwned::to_owned),
            }),
            Err(error) => {
                tracing::debug!(folder = %folder.display(), %error, "no workspace governs this folder");
                None
            }
        }
    }
}
