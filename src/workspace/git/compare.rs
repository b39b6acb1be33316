//! What differs between a commit and the index, or the files on disk.

use std::collections::{BTreeSet, HashMap};
use std::fs::FileType;
use std::io::ErrorKind;
use std::path::Path;

use gix::index::entry::{Flags, Stat, stat};

use super::index::{Index, Tracked};
use super::{Change, ChangeKind, Files, Git, GitError};
use crate::workspace::{RelativePath, ignores};

/// The files on disk against a commit; untracked files that git does not ignore count.
pub(super) fn with_work_tree(
    git: &Git,
    repo: &gix::Repository,
    before: &Files,
    index: &Index,
) -> Result<Vec<Change>, GitError> {
    let visible = ignores::visible_files(&git.root);
    let present: BTreeSet<&RelativePath> = visible.iter().chain(index.entries.keys()).collect();
    let mut disk =
        Disk { git, repo, index, options: git.stat_options(repo), real_folders: HashMap::new() };
    let mut changes = Vec::new();
    for path in &present {
        let seen = disk.stands(path)?;
        let kind = match (before.get(*path), seen) {
            (None, false) => None,
            (None, true) => Some(ChangeKind::Added),
            (Some(_), false) => Some(ChangeKind::Deleted),
            (Some(old), true) => disk.compare(path, *old)?,
        };
        changes.extend(kind.map(|kind| Change { path: (*path).clone(), kind }));
    }
    // What only the commit knows, and is no visible file now, is deleted or ignored.
    let gone = before.keys().filter(|path| !present.contains(path));
    changes.extend(gone.map(|path| Change { path: path.clone(), kind: ChangeKind::Deleted }));
    Ok(changes)
}

/// The work tree's files, with what the index knows about them.
struct Disk<'a> {
    git: &'a Git,
    repo: &'a gix::Repository,
    index: &'a Index,
    options: stat::Options,
    /// Folders that were looked at: whether each is a folder and no link.
    real_folders: HashMap<String, bool>,
}

impl Disk<'_> {
    /// Whether a regular file stands at the path, with no link on the way to it.
    fn stands(&mut self, path: &RelativePath) -> Result<bool, GitError> {
        if self.absent_by_choice(path) {
            return Ok(self.index.entries.get(path).is_some_and(|entry| entry.regular));
        }
        for folder in path.folders() {
            let known = self.real_folders.get(folder).copied();
            let real = match known {
                Some(real) => real,
                None => {
                    let kind = self.kind_of(&self.git.root.path().join(folder))?;
                    let real = kind.is_some_and(|kind| kind.is_dir());
                    self.real_folders.insert(folder.to_owned(), real);
                    real
                }
            };
            if !real {
                return Ok(false);
            }
        }
        Ok(self.kind_of(&self.git.root.absolute(path))?.is_some_and(|kind| kind.is_file()))
    }

    /// What stands there; an error where we may not look, which must not pass for "nothing".
    fn kind_of(&self, path: &Path) -> Result<Option<FileType>, GitError> {
        match std::fs::symlink_metadata(path) {
            Ok(found) => Ok(Some(found.file_type())),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(source) => Err(unreadable_file(path, &source)),
        }
    }

    /// Left out of the work tree by a sparse checkout.
    fn absent_by_choice(&self, path: &RelativePath) -> bool {
        let skipped = |entry: &Tracked| entry.flags.contains(Flags::SKIP_WORKTREE);
        self.index.entries.get(path).is_some_and(skipped)
            && std::fs::symlink_metadata(self.git.root.absolute(path)).is_err()
    }

    /// What happened to a file of which the commit holds `old`; `None` where it is the same.
    fn compare(
        &self,
        path: &RelativePath,
        old: gix::ObjectId,
    ) -> Result<Option<ChangeKind>, GitError> {
        let modified = |differs: bool| Ok(differs.then_some(ChangeKind::Modified));
        if let Some(tracked) = self.index.entries.get(path)
            && let Some(id) = tracked.id
            && (self.absent_by_choice(path) || self.is_untouched(path, tracked))
        {
            return modified(id != old);
        }
        let absolute = self.git.root.absolute(path);
        let length = std::fs::symlink_metadata(&absolute).map(|found| found.len());
        let old_length = self.repo.find_header(old).map(|header| header.size());
        if let (Ok(length), Ok(old_length)) = (length, old_length)
            && length != old_length
        {
            return modified(true);
        }
        let bytes = match std::fs::read(&absolute) {
            Ok(bytes) => bytes,
            // Removed since it was looked at.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Some(ChangeKind::Deleted));
            }
            Err(error) => return Err(unreadable_file(&absolute, &error)),
        };
        let id = gix::objs::compute_hash(self.repo.object_hash(), gix::object::Kind::Blob, &bytes)
            .map_err(|error| self.git.unreadable(error))?;
        modified(id != old)
    }

    /// Whether the stamps of the file are those that the index remembers, and old enough to be trusted.
    fn is_untouched(&self, path: &RelativePath, tracked: &Tracked) -> bool {
        let absolute = self.git.root.absolute(path);
        let Ok(found) = gix::index::fs::Metadata::from_path_no_follow(&absolute) else {
            return false;
        };
        let Ok(now) = Stat::from_fs(&found) else { return false };
        tracked.stat.matches(&now, self.options) && !(self.index.racy_from)(&tracked.stat)
    }
}

fn unreadable_file(path: &Path, source: &std::io::Error) -> GitError {
    let path = path.display().to_string();
    GitError::Unreadable { path, reason: format!("{source}; make it readable") }
}

/// The index against a commit; a path with an unsettled conflict counts as modified.
pub(super) fn with_index(before: &Files, index: &Index) -> Vec<Change> {
    let mut changes = Vec::new();
    for (path, entry) in &index.entries {
        let kind = match (before.get(path), entry.regular) {
            (None, true) => ChangeKind::Added,
            (Some(_), false) => ChangeKind::Deleted,
            (Some(old), true) if entry.id != Some(*old) => ChangeKind::Modified,
            _ => continue,
        };
        changes.push(Change { path: path.clone(), kind });
    }
    let gone = before.keys().filter(|path| !index.entries.contains_key(*path));
    changes.extend(gone.map(|path| Change { path: path.clone(), kind: ChangeKind::Deleted }));
    changes
}
