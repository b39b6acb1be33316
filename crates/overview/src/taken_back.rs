//! What `intent setup uninstall` took back, and what remains.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use ground::store::StoreError;
use ground::{RelativePath, Root, store};

/// What was removed, or would be removed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UninstallAnswer {
    /// The root folder of the workspace.
    pub root: String,
    /// Whether nothing was changed, because this was a dry run.
    pub dry_run: bool,
    /// The files and folders that were removed or restored.
    pub taken: Vec<TakenBack>,
    /// What remains, and how to remove it.
    pub left: Vec<Remaining>,
}

/// A file or folder from which our part was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TakenBack {
    /// The path, relative to the workspace if it lies inside.
    pub path: String,
    /// What was done to the file.
    pub how: TakenHow,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakenHow {
    /// The file or folder was removed.
    Removed,
    /// Our lines were removed; the lines of others are still there.
    Changed,
    /// The file that was there before ours was restored.
    PutBack,
}

/// A file or folder that remains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remaining {
    /// The path, relative to the workspace if it lies inside.
    pub path: String,
    /// The reason why it remains.
    pub why: String,
    /// The command that removes it, or what a person has to do.
    pub remedy: String,
}

impl UninstallAnswer {
    pub fn new(root: &Root, dry_run: bool) -> Self {
        let root = root.path().display().to_string();
        Self { root, dry_run, taken: Vec::new(), left: Vec::new() }
    }

    /// Notes that something was removed, changed or restored. A path is listed once, even if two
    /// steps name it.
    pub fn took(&mut self, path: &Path, how: TakenHow) {
        let taken = TakenBack { path: self.shown_path(path), how };
        if !self.taken.iter().any(|known| known.path == taken.path) {
            self.taken.push(taken);
        }
    }

    pub fn leave(&mut self, path: &Path, why: impl Into<String>, remedy: impl Into<String>) {
        let left =
            Remaining { path: self.shown_path(path), why: why.into(), remedy: remedy.into() };
        if !self.left.iter().any(|known| known.path == left.path) {
            self.left.push(left);
        }
    }

    /// Returns true if a file, or a folder above it, is already in the list of paths that were
    /// removed, changed or restored.
    pub(super) fn has_taken(&self, path: &RelativePath) -> bool {
        self.taken.iter().any(|taken| Path::new(path.as_str()).starts_with(&taken.path))
    }

    /// Removes a file, or a folder with its content. Of a symbolic link only the link is removed.
    pub(super) fn remove(&mut self, path: &Path) -> Result<(), StoreError> {
        let failed = store::failed(path, "removed");
        if !self.dry_run {
            let is_folder = path.symlink_metadata().map_err(&failed)?.is_dir();
            if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
                .map_err(&failed)?;
        }
        self.took(path, TakenHow::Removed);
        Ok(())
    }

    pub fn shown_path(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        shown.display().to_string().replace('\\', "/")
    }
}
