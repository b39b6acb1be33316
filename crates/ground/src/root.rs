//! The root of a workspace. It is found from the path of a file, never from the current folder of
//! the process.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::discover::{self, WorkTree, pointed_at};
use super::folder;
use super::git::{Git, Target};
use super::resolved_links::{ResolvedPath, normalise, resolve_links};
use super::store::{self, StoreError};
use super::{Environment, Hint, PathError, RelativePath};

/// An index that is larger than this, in bytes, is not searched.
const MAX_INDEX: u64 = 1024 * 1024 * 1024;
/// A `HEAD` that is larger than this, in bytes, was not written by git.
const MAX_HEAD: u64 = 64 * 1024;

/// The root folder of a workspace, and the git work tree that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    work_tree: Option<WorkTree>,
    governed: bool,
    /// The surroundings of the command that works in this workspace.
    environment: Environment,
}

#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The nearest existing folder of the target cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The path whose root was searched.
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The target is in a repository without a work tree.
    #[error("{path} is inside a bare repository, which has no files to govern")]
    Bare { path: PathBuf },
}

impl Hint for RootError {
    fn hint(&self) -> Option<String> {
        matches!(self, Self::Bare { .. }).then(|| "run this in a clone with a work tree".into())
    }
}

impl Root {
    /// Finds the root that governs `target`, which is a file or folder and need not exist. Within
    /// the git work tree of the target, this is the outermost folder that contains
    /// `.orchestration/`. A submodule starts a new root, and so does a path that the outer policy
    /// lists under `nested_roots`. If no folder contains `.orchestration/`, the root is the top of
    /// the work tree or, without git, the nearest existing folder, and [`Root::governed`] is false.
    ///
    /// A repository that was only created or copied inside a governed work tree stays governed by
    /// the outer one, unless it is a submodule or a linked work tree, or is listed in
    /// `nested_roots`. Without git, the nearest folder that contains `.orchestration/` is the root.
    /// If a symbolic link in a governed workspace leads to an ungoverned place, the workspace with
    /// the link governs it.
    pub fn find(target: &Path, environment: &Environment) -> Result<Self, RootError> {
        let unreadable = |source| RootError::Unreadable { path: target.to_path_buf(), source };
        let absolute = std::path::absolute(target).map_err(unreadable)?;
        let really = resolve_links(&absolute).map_err(unreadable)?;
        let root = Self::governing(&really.path, environment)?;
        if root.governed {
            return Ok(root);
        }
        for folder in &really.link_folders {
            match Self::governing(folder, environment) {
                Ok(holder) if holder.governed => return Ok(holder),
                _ => {}
            }
        }
        Ok(root)
    }

    /// Finds the root of a path that contains no symbolic links.
    fn governing(target: &Path, environment: &Environment) -> Result<Self, RootError> {
        let start = nearest_folder(target)?;
        let Some(work_tree) = discover::governing_work_tree(&start, environment) else {
            return Self::without_git(&start, environment);
        };
        let outermost = folders_between(&work_tree.top, &start)
            .into_iter()
            .rev()
            .find(|folder| holds_orchestration(folder));
        let outermost = outermost.or_else(|| left_out(&work_tree, &start, environment));
        let Some(outermost) = outermost else {
            let path = work_tree.top.clone();
            let (work_tree, environment) = (Some(work_tree), environment.clone());
            return Ok(Self { path, work_tree, governed: false, environment });
        };
        let (work_tree, environment) = (Some(work_tree), environment.clone());
        let root = Self { path: outermost, work_tree, governed: true, environment };
        Ok(root.descend(&start))
    }

    fn without_git(start: &Path, environment: &Environment) -> Result<Self, RootError> {
        if let Some(path) = discover::bare_repository_above(start) {
            return Err(RootError::Bare { path });
        }
        let holder = start.ancestors().find(|folder| holds_orchestration(folder));
        let path = holder.unwrap_or(start).to_path_buf();
        let (governed, environment) = (holder.is_some(), environment.clone());
        Ok(Self { path, work_tree: None, governed, environment })
    }

    /// Goes down to the innermost nested workspace around `start`. Each level must be listed in the
    /// policy of the level above.
    fn descend(mut self, start: &Path) -> Self {
        let below = folders_between(&self.path, start);
        for folder in below.into_iter().rev().skip(1) {
            if holds_orchestration(&folder) && discover::is_nested_root(&self, &folder) {
                self.path = folder;
            }
        }
        self
    }

    /// Makes a root only for reading the policy of the workspace at `path`.
    pub(super) fn governed_at(path: PathBuf, environment: &Environment) -> Self {
        Self { path, work_tree: None, governed: true, environment: environment.clone() }
    }

    /// Returns an absolute path with all symbolic links resolved. The path need not exist. `None`
    /// if a folder on the way cannot be read.
    pub fn resolved_path(path: &Path) -> Option<PathBuf> {
        resolve_links(path).ok().map(|real| real.path)
    }

    /// Returns the surroundings of the command that works in this workspace.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
    /// Returns the root folder, with symbolic links resolved.
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
    /// Returns the git directory that all linked work trees share.
    pub fn common_dir(&self) -> Option<PathBuf> {
        self.work_tree.as_ref().map(WorkTree::common_dir)
    }
    /// Returns the git directory and the top folder of each linked work tree of the repository.
    pub fn linked_trees(&self) -> Vec<(PathBuf, PathBuf)> {
        let Some(common) = self.common_dir() else { return Vec::new() };
        let trees = store::entries(&common.join("worktrees")).filter_map(|entry| {
            let link = pointed_at(&entry.path().join("gitdir"), "")?;
            Some((entry.path(), link.parent()?.to_path_buf()))
        });
        trees.collect()
    }
    /// Returns the folders that stand for this workspace in the other work trees of the repository.
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
    /// Resolves the symbolic links in a workspace path, as far as its folders exist. Returns the
    /// result as a workspace path.
    pub fn resolve(&self, path: &RelativePath) -> Result<RelativePath, PathError> {
        let really = self.follow(&self.absolute(path), path.as_str())?;
        let inside =
            really.path.strip_prefix(&self.path).map_err(|_| self.outside(path.as_str()))?;
        self.as_relative(inside, path.as_str())
    }

    fn follow(&self, path: &Path, shown: &str) -> Result<ResolvedPath, PathError> {
        let invalid = |reason| PathError::Invalid { path: shown.to_owned(), reason };
        let really = resolve_links(path).map_err(|_| {
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

/// Returns the outermost folder for which git tracks files in `.orchestration/` although the folder
/// does not exist. A sparse checkout leaves it out, or somebody removed it.
fn left_out(work_tree: &WorkTree, start: &Path, environment: &Environment) -> Option<PathBuf> {
    // Most repositories have no such files, and searching the bytes of an index is cheaper than
    // parsing it. That is not possible if names are compressed (version 4), or if the extension
    // `link` says that entries are in another file.
    let index = store::read_capped(&work_tree.git_dir.join("index"), MAX_INDEX).ok()??;
    let is_compressed = index.get(4..8).is_some_and(|version| version == [0, 0, 0, 4]);
    if !is_compressed && index.find(b"link").is_none() {
        index.find(b".orchestration/")?;
    }
    folders_between(&work_tree.top, start).into_iter().rev().find(|folder| {
        let (path, work_tree) = (folder.clone(), Some(work_tree.clone()));
        let environment = environment.clone();
        let git = Git::open(&Root { path, work_tree, governed: true, environment });
        let listed = git.ok().flatten().map(|git| {
            git.list_below(".orchestration", &Target::Index, &|path| path.is_orchestration())
        });
        matches!(listed, Some(Ok(files)) if !files.is_empty())
    })
}

fn holds_orchestration(folder: &Path) -> bool {
    folder.join(".orchestration").is_dir()
}

/// Returns the target if it is a folder, otherwise the nearest folder above it that exists.
fn nearest_folder(target: &Path) -> Result<PathBuf, RootError> {
    for folder in target.ancestors() {
        match std::fs::metadata(folder) {
            Ok(found) if found.is_dir() => return Ok(folder.to_path_buf()),
            Ok(_) => {}
            Err(error) if folder::is_missing(&error) => {}
            Err(source) => {
                return Err(RootError::Unreadable { path: target.to_path_buf(), source });
            }
        }
    }
    let source = std::io::Error::from(ErrorKind::NotFound);
    Err(RootError::Unreadable { path: target.to_path_buf(), source })
}

/// Returns `bottom` and the folders above it up to `top`, innermost first.
fn folders_between(top: &Path, bottom: &Path) -> Vec<PathBuf> {
    bottom.ancestors().take_while(|folder| folder.starts_with(top)).map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests;
