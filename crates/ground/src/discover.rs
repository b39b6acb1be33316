//! Finds the root of a workspace from the path of a file, with a few reads from disk, and the git work tree that the
//! root is in.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;

use super::git::{Git, Target};
use super::nested_roots::is_nested_root;
use super::resolved_links::resolve_links;
use super::root::RootError;
use super::work_tree::{WorkTree, bare_repository_above};
use super::{Environment, Root, folder, store};

/// An index that is larger than this, in bytes, is not searched.
const MAX_INDEX: u64 = 1024 * 1024 * 1024;

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
        // A current folder that was deleted has no path.
        let named = if target.as_os_str().is_empty() { Path::new("./") } else { target };
        let unreadable = |source| RootError::Unreadable { path: named.to_path_buf(), source };
        let absolute = std::path::absolute(target).map_err(unreadable)?;
        let really = resolve_links(&absolute).map_err(unreadable)?;
        let root = Self::governing_root(&really.path, environment)?;
        if root.governed() {
            return Ok(root);
        }
        for folder in &really.link_folders {
            match Self::governing_root(folder, environment) {
                Ok(holder) if holder.governed() => return Ok(holder),
                _ => {}
            }
        }
        Ok(root)
    }

    /// Finds the root of a path that contains no symbolic links.
    fn governing_root(target: &Path, environment: &Environment) -> Result<Self, RootError> {
        let start = nearest_folder(target)?;
        let Some(work_tree) = governing_work_tree(&start, environment) else {
            return Self::without_git(&start, environment);
        };
        let mut folders = folders_between(&work_tree.top, &start).into_iter();
        let outermost = folders.rfind(|folder| holds_orchestration(folder));
        let outermost = outermost.or_else(|| left_out(&work_tree, &start, environment));
        let Some(outermost) = outermost else {
            return Ok(Self::new(work_tree.top.clone(), Some(work_tree), false, environment));
        };
        Ok(Self::new(outermost, Some(work_tree), true, environment).descend(&start))
    }

    fn without_git(start: &Path, environment: &Environment) -> Result<Self, RootError> {
        if let Some(path) = bare_repository_above(start) {
            return Err(RootError::Bare { path });
        }
        let holder = start.ancestors().find(|folder| holds_orchestration(folder));
        let path = holder.unwrap_or(start).to_path_buf();
        Ok(Self::new(path, None, holder.is_some(), environment))
    }

    /// Goes down to the innermost nested workspace around `start`. Each level must be listed in the
    /// policy of the level above.
    fn descend(mut self, start: &Path) -> Self {
        let below = folders_between(self.path(), start);
        for folder in below.into_iter().rev().skip(1) {
            if holds_orchestration(&folder) && is_nested_root(&self, &folder) {
                self = self.with_path(folder);
            }
        }
        self
    }
}

/// Returns the work tree that governs `start`. This is the nearest one, unless a governed work tree
/// around it still governs it. A work tree is released from an outer one if it is a linked work
/// tree or a submodule of it, or if the outer policy lists it under `nested_roots`.
fn governing_work_tree(start: &Path, environment: &Environment) -> Option<WorkTree> {
    let mut tops = start.ancestors().filter_map(WorkTree::at_top);
    let mut chosen = tops.next()?;
    for outer in tops {
        let Some(root) = governing_folder(&outer, &chosen.top) else { continue };
        let released = chosen.is_linked_to(&outer)
            || chosen.is_submodule_of(&outer)
            || is_nested_root(&Root::new(root, None, true, environment), &chosen.top);
        if released {
            break;
        }
        chosen = outer;
    }
    Some(chosen)
}

fn governing_folder(outer: &WorkTree, inner: &Path) -> Option<PathBuf> {
    let mut above = folders_between(&outer.top, inner).into_iter().skip(1);
    above.rfind(|folder| holds_orchestration(folder))
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
        let git = Git::open(&Root::new(folder.clone(), Some(work_tree.clone()), true, environment));
        let listed = git
            .ok()
            .flatten()
            .map(|git| git.list_below(".orchestration", &Target::Index, &|_| true));
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
