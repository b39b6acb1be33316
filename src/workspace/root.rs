//! Where a workspace begins: found from the file in question, never from the process's folder.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::discover::{self, WorkTree};
use super::folder;
use super::git::{Git, Target};
use super::real::{Real, normalise, real};
use super::store::{self, StoreError};
use super::{PathError, RelativePath};

/// An index with more bytes than this is not searched.
const MAX_INDEX: u64 = 1024 * 1024 * 1024;

/// A workspace's root folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    work_tree: Option<WorkTree>,
    governed: bool,
}

/// Why no root was found.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The target's nearest existing ancestor cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The target.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// A repository without a work tree.
    #[error(
        "{path} is inside a bare repository, which has no files to govern; run this in a clone with a work tree"
    )]
    Bare {
        /// The repository's folder.
        path: PathBuf,
    },
}

/// Folders for temporary files: what lies there, and in no workspace, is nobody's work.
pub(crate) fn temporary_folders() -> Vec<PathBuf> {
    let mut folders = vec![std::env::temp_dir()];
    if cfg!(unix) {
        folders.extend(["/tmp", "/var/tmp"].map(PathBuf::from));
    }
    folders
}

impl Root {
    /// The root that governs `target` (a file or folder, existing or not): within its git work tree the outermost folder
    /// that holds `.orchestration/` (a submodule, or a path under the outer policy's `nested_roots`, starts a new one);
    /// where no folder holds one, the work tree's top, else the nearest existing folder, and [`Root::governed`] is false.
    ///
    /// A repository that was merely created or copied below a governed work tree (neither its submodule, nor a linked
    /// work tree, nor listed in `nested_roots`) stays governed by the outer one. Without git the nearest folder that holds
    /// `.orchestration/` governs. A link that stands in a governed workspace and leads to an ungoverned place is judged
    /// where it stands.
    pub fn find(target: &Path) -> Result<Self, RootError> {
        let unreadable = |source| RootError::Unreadable { path: target.to_path_buf(), source };
        let absolute = std::path::absolute(target).map_err(unreadable)?;
        let really = real(&absolute).map_err(unreadable)?;
        let root = Self::governing(&really.path)?;
        if root.governed {
            return Ok(root);
        }
        for folder in &really.link_folders {
            match Self::governing(folder) {
                Ok(holder) if holder.governed => return Ok(holder),
                _ => {}
            }
        }
        Ok(root)
    }

    /// The root of a path that holds no links.
    fn governing(target: &Path) -> Result<Self, RootError> {
        let start = nearest_folder(target)?;
        let Some(work_tree) = discover::governing_work_tree(&start) else {
            return Self::without_git(&start);
        };
        let outermost = folders_between(work_tree.top(), &start)
            .into_iter()
            .rev()
            .find(|folder| holds_orchestration(folder));
        let outermost = outermost.or_else(|| left_out(&work_tree, &start));
        let Some(outermost) = outermost else {
            let path = work_tree.top().to_path_buf();
            return Ok(Self { path, work_tree: Some(work_tree), governed: false });
        };
        let root = Self { path: outermost, work_tree: Some(work_tree), governed: true };
        Ok(root.descend(&start))
    }

    fn without_git(start: &Path) -> Result<Self, RootError> {
        if let Some(path) = discover::bare(start) {
            return Err(RootError::Bare { path });
        }
        let holder = start.ancestors().find(|folder| holds_orchestration(folder));
        let path = holder.unwrap_or(start).to_path_buf();
        Ok(Self { path, work_tree: None, governed: holder.is_some() })
    }

    /// Goes down to the folder that this root's policy, and then that folder's, let start a workspace of its own.
    fn descend(mut self, start: &Path) -> Self {
        let below = folders_between(&self.path, start);
        for folder in below.into_iter().rev().skip(1) {
            if holds_orchestration(&folder) && discover::is_nested_root(&self, &folder) {
                self.path = folder;
            }
        }
        self
    }

    /// The workspace whose root folder is `path`, for a policy to be read from.
    pub(super) fn governed_at(path: PathBuf) -> Self {
        Self { path, work_tree: None, governed: true }
    }

    /// Where an absolute path really leads, whether or not there is something; `None` where that cannot be found out.
    pub fn real(path: &Path) -> Option<PathBuf> {
        real(path).ok().map(|real| real.path)
    }

    /// The canonical root folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Whether it holds `.orchestration/`, or git tracks one there that is not checked out.
    pub fn governed(&self) -> bool {
        self.governed
    }
    /// This work tree's git directory (`.git/worktrees/x` for a linked one).
    pub fn git_dir(&self) -> Option<&Path> {
        self.work_tree.as_ref().map(WorkTree::git_dir)
    }
    /// The top of the git work tree; the root itself, or a folder above it.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_ref().map(WorkTree::top)
    }
    /// The git directory that all linked work trees share.
    pub fn common_dir(&self) -> Option<PathBuf> {
        self.work_tree.as_ref().map(WorkTree::common_dir)
    }
    /// `<root>/.orchestration`.
    pub fn orchestration(&self) -> PathBuf {
        self.path.join(".orchestration")
    }
    /// Where what must not be shared lives: `<git directory>/intent`, else `.orchestration/local`.
    pub fn private(&self) -> PathBuf {
        match self.git_dir() {
            Some(dir) => dir.join("intent"),
            None => self.orchestration().join("local"),
        }
    }
    /// The absolute form of a path in this workspace.
    pub fn absolute(&self, path: &RelativePath) -> PathBuf {
        self.path.join(path.as_str())
    }
    /// A file's bytes. `None` where there is none; an error where it is no regular file or holds more than `max` bytes.
    ///
    /// A link is followed only to a file in the workspace.
    pub fn read(&self, path: &RelativePath, max: u64) -> Result<Option<Vec<u8>>, StoreError> {
        store::read_from(self.open(path), &self.absolute(path), max)
    }
    /// The same of a file that steers us or git: no link is followed, as git follows none to `.gitignore`.
    pub fn read_rules(&self, path: &RelativePath, max: u64) -> Result<Option<Vec<u8>>, StoreError> {
        store::read_from(self.open_unlinked(path), &self.absolute(path), max)
    }

    /// Opens a regular file. A link is followed only to a file in the workspace.
    pub(crate) fn open(&self, path: &RelativePath) -> std::io::Result<File> {
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

    /// The workspace path of a target given absolutely, or relative to `cwd`: `..` and `.` resolved, symlinks of the deepest existing
    /// ancestor resolved, inside the workspace both lexically and really. The file itself need not exist.
    ///
    /// A `..` after a link is refused where a reader of the text and the operating system would open different files. A path
    /// written through a link outside the workspace is answered as the place inside to which it leads.
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
        let really = self.follow(&asked, &shown)?;
        let lexical = normalise(&asked);
        if lexical != asked && self.follow(&lexical, &shown)?.path != really.path {
            return Err(invalid("it holds `..` after a symbolic link; write it without `..`"));
        }
        let inside = really.path.strip_prefix(&self.path).map_err(|_| self.outside(&shown))?;
        match self.strip_shown_root(&lexical) {
            Some(path) => self.as_relative(&path, &shown),
            None => self.as_relative(inside, &shown),
        }
    }
    /// Where a workspace path really leads (symlinks of the deepest existing ancestor resolved), as a workspace path.
    pub fn resolve(&self, path: &RelativePath) -> Result<RelativePath, PathError> {
        let really = self.follow(&self.absolute(path), path.as_str())?;
        let inside =
            really.path.strip_prefix(&self.path).map_err(|_| self.outside(path.as_str()))?;
        self.as_relative(inside, path.as_str())
    }

    fn follow(&self, path: &Path, shown: &str) -> Result<Real, PathError> {
        let invalid = |reason| PathError::Invalid { path: shown.to_owned(), reason };
        let really = real(path).map_err(|_| {
            invalid("a folder on the way cannot be read, or its symbolic links form a circle")
        })?;
        if really.through_file {
            return Err(invalid("a file stands where a folder is needed"));
        }
        Ok(really)
    }

    fn outside(&self, shown: &str) -> PathError {
        PathError::Outside { path: shown.to_owned(), root: self.path.display().to_string() }
    }

    /// The part below the root of a path that names the root as it is, or through links above it (`/tmp` on macOS).
    fn strip_shown_root(&self, lexical: &Path) -> Option<PathBuf> {
        if let Ok(rest) = lexical.strip_prefix(&self.path) {
            return Some(rest.to_path_buf());
        }
        let shown_root = lexical
            .ancestors()
            .find(|folder| real(folder).is_ok_and(|really| really.path == self.path))?;
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

/// The outermost folder whose `.orchestration/` git tracks although it is not there: a sparse checkout leaves it out, or
/// somebody removed it.
fn left_out(work_tree: &WorkTree, start: &Path) -> Option<PathBuf> {
    // Most repositories have none, and to search an index is cheaper than to parse it. What follows the first letters
    // of a name stands there as it is, also where names are compressed.
    let index = store::read_capped(&work_tree.git_dir().join("index"), MAX_INDEX).ok()??;
    index.find(b"rchestration/")?;
    folders_between(work_tree.top(), start).into_iter().rev().find(|folder| {
        let (path, work_tree) = (folder.clone(), Some(work_tree.clone()));
        let git = Git::open(&Root { path, work_tree, governed: true });
        let listed = git.ok().flatten().map(|git| {
            git.list_below(".orchestration", &Target::Index, &|path| path.is_orchestration())
        });
        matches!(listed, Some(Ok(files)) if !files.is_empty())
    })
}

fn holds_orchestration(folder: &Path) -> bool {
    folder.join(".orchestration").is_dir()
}

/// The target itself where it is a folder, else the nearest folder above it that exists.
fn nearest_folder(target: &Path) -> Result<PathBuf, RootError> {
    for folder in target.ancestors() {
        match std::fs::metadata(folder) {
            Ok(found) if found.is_dir() => return Ok(folder.to_path_buf()),
            Ok(_) => {}
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(source) => {
                return Err(RootError::Unreadable { path: target.to_path_buf(), source });
            }
        }
    }
    let source = std::io::Error::from(ErrorKind::NotFound);
    Err(RootError::Unreadable { path: target.to_path_buf(), source })
}

/// `bottom` and the folders above it up to `top`, innermost first.
fn folders_between(top: &Path, bottom: &Path) -> Vec<PathBuf> {
    bottom.ancestors().take_while(|folder| folder.starts_with(top)).map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests;
