//! The root of a workspace, and the paths below it. `discover` finds it from the path of a file, never from the current
//! folder of the process.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::folder;
use super::resolved_links::{ResolvedPath, normalise, resolve_links, resolve_links_below};
use super::store::{self, StoreError};
use super::work_tree::{WorkTree, pointed_at};
use super::{Environment, Hint, PathError, RelativePath};

/// A `HEAD` that is larger than this, in bytes, was not written by git.
const MAX_HEAD: u64 = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    work_tree: Option<WorkTree>,
    governed: bool,
    environment: Environment,
}

#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is inside a bare repository, which has no files to govern")]
    Bare { path: PathBuf },
}

impl Hint for RootError {
    fn hint(&self) -> Option<String> {
        matches!(self, Self::Bare { .. }).then(|| "run this in a clone with a work tree".into())
    }
}

impl Root {
    pub(super) fn new(
        path: PathBuf,
        work_tree: Option<WorkTree>,
        governed: bool,
        environment: &Environment,
    ) -> Self {
        Self { path, work_tree, governed, environment: environment.clone() }
    }

    pub(super) fn with_path(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// Returns an absolute path with all symbolic links resolved. The path need not exist. `None`
    /// if a folder on the way cannot be read.
    pub fn resolved_path(path: &Path) -> Option<PathBuf> {
        resolve_links(path).ok().map(|real| real.path)
    }

    pub fn environment(&self) -> &Environment {
        &self.environment
    }
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Returns true if the root contains `.orchestration/`, or if git tracks that folder but it is
    /// not checked out.
    pub fn governed(&self) -> bool {
        self.governed
    }
    /// Returns the git directory of this work tree, which is `.git/worktrees/x` for a linked one.
    pub fn git_dir(&self) -> Option<&Path> {
        self.work_tree.as_ref().map(|tree| tree.git_dir.as_path())
    }
    /// Returns the top of the git work tree, which is the root itself or a folder above it.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_ref().map(|tree| tree.top.as_path())
    }
    /// Returns the name of the branch that is checked out. `None` without git, and if a commit is
    /// checked out directly.
    pub fn branch(&self) -> Option<String> {
        let head = store::read_capped(&self.git_dir()?.join("HEAD"), MAX_HEAD).ok()??;
        let branch = String::from_utf8(head).ok()?;
        Some(branch.trim().strip_prefix("ref: refs/heads/")?.to_owned())
    }
    pub fn common_dir(&self) -> Option<PathBuf> {
        self.work_tree.as_ref().map(|tree| tree.common_dir.clone())
    }
    pub fn linked_trees(&self) -> Vec<(PathBuf, PathBuf)> {
        let Some(common) = self.common_dir() else { return Vec::new() };
        let trees = store::entries(&common.join("worktrees")).filter_map(|entry| {
            let link = pointed_at(&entry.path().join("gitdir"), "")?;
            Some((entry.path(), link.parent()?.to_path_buf()))
        });
        trees.collect()
    }
    pub(crate) fn in_other_trees(&self) -> Vec<PathBuf> {
        let Some((top, common)) = self.work_tree().zip(self.common_dir()) else {
            return Vec::new();
        };
        let Ok(below) = self.path.strip_prefix(top) else { return Vec::new() };
        // The git directory of a bare repository is in no work tree.
        let main = common.file_name().is_some_and(|name| name == ".git").then(|| common.parent());
        let main = main.flatten().map(Path::to_path_buf);
        let tops = main.into_iter().chain(self.linked_trees().into_iter().map(|(_, top)| top));
        tops.filter(|other| other != top).map(|other| other.join(below)).collect()
    }
    pub fn orchestration(&self) -> PathBuf {
        self.path.join(".orchestration")
    }
    /// Returns the folder for files that must not be shared: `<git directory>/intent`, or
    /// `.orchestration/local` without git.
    pub fn private(&self) -> PathBuf {
        match self.git_dir() {
            Some(dir) => dir.join("intent"),
            None => self.orchestration().join("local"),
        }
    }
    /// Returns the absolute form of a path in this workspace.
    pub fn absolute(&self, path: &RelativePath) -> PathBuf {
        self.path.join(path.as_str())
    }
    /// Reads a file. Returns `None` if there is none, and an error if it is not a regular file or
    /// is larger than `max` bytes.
    ///
    /// A symbolic link is followed only to a file in the workspace.
    pub fn read(&self, path: &RelativePath, max: u64) -> Result<Option<Vec<u8>>, StoreError> {
        store::read_from(self.open(path), &self.absolute(path), max)
    }
    /// Like [`Self::read`], for files with rules for this program or for git. No symbolic link is
    /// followed, just as git does not follow one to `.gitignore`.
    pub fn read_rules(&self, path: &RelativePath, max: u64) -> Result<Option<Vec<u8>>, StoreError> {
        store::read_from(self.open_unlinked(path), &self.absolute(path), max)
    }

    /// Opens a regular file. A symbolic link is followed only to a file in the workspace.
    pub fn open(&self, path: &RelativePath) -> std::io::Result<File> {
        match self.open_unlinked(path) {
            Err(error) if folder::is_link(&error) => match self.resolve(path) {
                Ok(really) => self.open_unlinked(&really),
                Err(_) => Err(error),
            },
            opened => opened,
        }
    }

    fn open_unlinked(&self, path: &RelativePath) -> std::io::Result<File> {
        folder::open_below(&self.path, path.as_str().as_ref())
    }

    /// Converts a target, absolute or relative to `cwd`, to a path in the workspace. `..` and `.`
    /// are resolved, and so are the symbolic links of the deepest existing ancestor. The target
    /// must be inside the workspace both as written and after links are resolved. The file itself
    /// need not exist.
    ///
    /// A `..` after a symbolic link is an error if the operating system would open another file
    /// than a reader of the text expects. If the target is written through a link outside the
    /// workspace, the result is the path inside the workspace to which it leads.
    pub fn relative(&self, cwd: &Path, target: &Path) -> Result<RelativePath, PathError> {
        let shown = target.to_string_lossy();
        let invalid = |reason| PathError::Invalid { path: shown.to_string(), reason };
        if shown.is_empty() {
            return Err(invalid("it is empty"));
        }
        if shown.contains('\0') {
            return Err(invalid("it contains a NUL character"));
        }
        let asked = cwd.join(target);
        if !asked.is_absolute() {
            return Err(invalid("it is relative, and so is the folder it starts from"));
        }
        let really = self.follow(PathBuf::new(), &asked, &shown)?;
        let lexical = normalise(&asked);
        if lexical != asked && self.follow(PathBuf::new(), &lexical, &shown)?.path != really.path {
            return Err(invalid("it holds `..` after a symbolic link; write it without `..`"));
        }
        let inside =
            really.path.strip_prefix(&self.path).map_err(|_| self.outside_error(&shown))?;
        match self.strip_shown_root(&lexical) {
            Some(path) => self.as_relative(&path, &shown),
            None => self.as_relative(inside, &shown),
        }
    }
    /// Resolves the symbolic links in a workspace path, as far as its folders exist. Returns the
    /// result as a workspace path.
    pub fn resolve(&self, path: &RelativePath) -> Result<RelativePath, PathError> {
        let really = self.follow(self.path.clone(), path.as_str().as_ref(), path.as_str())?;
        let inside =
            really.path.strip_prefix(&self.path).map_err(|_| self.outside_error(path.as_str()))?;
        self.as_relative(inside, path.as_str())
    }

    fn follow(&self, folder: PathBuf, path: &Path, shown: &str) -> Result<ResolvedPath, PathError> {
        let invalid = |reason| PathError::Invalid { path: shown.to_owned(), reason };
        let really = resolve_links_below(folder, path).map_err(|_| {
            invalid("a folder on the way cannot be read, or its symbolic links form a circle")
        })?;
        if really.through_file {
            return Err(invalid("a file stands where a folder is needed"));
        }
        Ok(really)
    }

    fn outside_error(&self, shown: &str) -> PathError {
        PathError::Outside { path: shown.to_owned(), root: self.path.display().to_string() }
    }

    /// Removes the root from the beginning of a path. The root may also be written through symbolic
    /// links above it (`/tmp` on macOS).
    fn strip_shown_root(&self, lexical: &Path) -> Option<PathBuf> {
        if let Ok(rest) = lexical.strip_prefix(&self.path) {
            return Some(rest.to_path_buf());
        }
        let shown_root = lexical
            .ancestors()
            .find(|folder| resolve_links(folder).is_ok_and(|really| really.path == self.path))?;
        lexical.strip_prefix(shown_root).ok().map(Path::to_path_buf)
    }

    fn as_relative(&self, inside: &Path, shown: &str) -> Result<RelativePath, PathError> {
        let invalid = |reason| PathError::Invalid { path: shown.to_owned(), reason };
        let text = inside.to_str().ok_or_else(|| invalid("it is not valid UTF-8"))?;
        if text.is_empty() {
            return Err(invalid("it is the workspace root itself"));
        }
        RelativePath::new(text)
    }
}

#[cfg(test)]
mod tests;
