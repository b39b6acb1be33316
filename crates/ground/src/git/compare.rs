//! Compares a commit with the index, or with the files on disk.

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::Path;

use gix::bstr::ByteSlice;
use gix::index::entry::Flags;
use gix::index::fs::Metadata;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository};

use super::index::{self, Index, Stamps, Tracked, checked_out};
use super::{
    Aspect, ChangeKind, CommitId, ComparedFiles, Conversions, Git, GitError, GitResult, PathChange,
    TreeEntry, TreeFiles, as_path, is_regular, non_utf8,
};
use crate::ignores::{self, LeftOutRules};
use crate::{RelativePath, folder, store};

/// Returns the changes of a path, given its entries before and now. A file that became a symbolic
/// link gives two changes: the file was deleted, and the link was added.
pub(super) fn changes_between(
    path: &RelativePath,
    before: Option<TreeEntry>,
    now: Option<TreeEntry>,
) -> impl Iterator<Item = PathChange> + use<> {
    let aspect_of = |kind| match kind {
        EntryKind::Link => Aspect::Link,
        EntryKind::Commit => Aspect::Submodule,
        _ => Aspect::Content,
    };
    let change = |kind, aspect| Some(PathChange { path: path.clone(), kind, aspect });
    let aspects = (before.map(|held| aspect_of(held.0)), now.map(|held| aspect_of(held.0)));
    match (before, now, aspects) {
        (Some(old), Some(new), (Some(was), Some(aspect))) if was == aspect => {
            let kind = ChangeKind::Modified;
            match old.1 != new.1 || new.1.is_none() {
                true => [change(kind, aspect), None],
                false if old.0 != new.0 => [change(kind, Aspect::Mode), None],
                false => [None, None],
            }
        }
        (_, _, (was, aspect)) => [
            was.and_then(|was| change(ChangeKind::Deleted, was)),
            aspect.and_then(|aspect| change(ChangeKind::Added, aspect)),
        ],
    }
    .into_iter()
    .flatten()
}

/// Compares the files on disk with a commit, which has the files `before`, or those of the index if
/// that is `None`. Untracked files that git does not ignore are included.
pub(super) fn with_work_tree(
    git: &Git,
    repo: &Repository,
    before: Option<&TreeFiles>,
    index: &Index,
) -> GitResult<ComparedFiles> {
    let seen = ignores::visible(&git.root);
    let untracked = untracked_among(git, index, seen.files)?;
    let mut disk = Disk::of_work_tree(git, repo, index);
    let (mut changes, mut present) = (Vec::new(), Vec::new());
    let tracked = index.entries.iter().map(|(path, entry)| (path, Some(entry)));
    for (path, entry) in tracked.chain(untracked.iter().map(|path| (path, None))) {
        let old = match before {
            Some(before) => before.entries.get(path).copied(),
            None => entry.and_then(Tracked::tree_entry),
        };
        let now = disk.entry_on_disk(path, old)?;
        if now.is_some_and(|(kind, _)| is_regular(kind)) && !path.is_orchestration() {
            present.push(path.clone());
        }
        changes.extend(changes_between(path, old, now));
    }
    present.sort();
    // A file of the commit that is neither visible nor tracked now was deleted, or is ignored.
    let is_gone =
        |path: &RelativePath| !index.entries.contains_key(path) && !untracked.contains(path);
    let gone = before.into_iter().flat_map(|before| &before.entries);
    let gone = gone.filter(|(path, _)| is_gone(path));
    changes.extend(gone.flat_map(|(path, held)| changes_between(path, Some(*held), None)));
    let unknown = disk.unknown;
    let on_disk = non_utf8::ids_on_disk(git, seen.nameless, &index.nameless);
    let nameless = match before {
        Some(before) => non_utf8::differing_paths(&before.nameless, &on_disk),
        None => non_utf8::differing_paths(&index.nameless_ids(), &on_disk),
    };
    Ok(ComparedFiles { changes, unknown, nameless, present })
}

/// Returns the files on disk that git neither tracks nor ignores.
pub(super) fn untracked_files(git: &Git, index: &Index) -> GitResult<BTreeSet<RelativePath>> {
    untracked_among(git, index, ignores::visible(&git.root).files)
}

/// Of the files that no ignore file on disk leaves out, returns those that git does not track. The
/// ignore files that a sparse checkout leaves out count, too.
fn untracked_among<T>(
    git: &Git,
    index: &Index,
    visible: impl IntoIterator<Item = (RelativePath, T)>,
) -> GitResult<BTreeSet<RelativePath>> {
    let left_out = LeftOutRules::from_git(git)?;
    let visible = visible.into_iter().map(|(path, _)| path);
    Ok(visible.filter(|path| !index.entries.contains_key(path) && !left_out.ignore(path)).collect())
}

/// Returns the files of the index that differ on disk from their entries there. Only the stamps of the
/// others are looked at. Files that a sparse checkout leaves out count as unchanged.
pub(super) fn changed_since_index(
    git: &Git,
    repo: &Repository,
    index: &gix::index::File,
) -> GitResult<Vec<RelativePath>> {
    let (stamps, nothing) = (Stamps::new(repo, index), Index::default());
    let mut disk = Disk::of_work_tree(git, repo, &nothing);
    let mut changed: Vec<RelativePath> = Vec::new();
    for entry in index.entries() {
        let Some(path) = entry.path(index).strip_prefix(git.prefix.as_bytes()) else { continue };
        let Some(kind) = index::kind_of(entry.mode, entry.flags) else { continue };
        let Some(path) = as_path("", path.as_bstr()) else { continue };
        if kind == EntryKind::Commit || entry.flags.contains(Flags::SKIP_WORKTREE) {
            continue;
        }
        let file = git.root.absolute(&path);
        let found = Metadata::from_path_no_follow(&file).ok();
        let is_untouched = found.is_some_and(|found| stamps.is_untouched(&entry.stat, &found));
        let held = Some((kind, Some(entry.id)));
        if !is_untouched
            && disk.entry_on_disk(&path, held)? != held
            && changed.last() != Some(&path)
        {
            changed.push(path);
        }
    }
    Ok(changed)
}

/// Returns for each path whether it is on disk as a commit has it. `None` if nobody can tell. The
/// index is not believed, because a command may have written it.
pub(super) fn are_as_committed(
    git: &Git,
    repo: &Repository,
    commit: &CommitId,
    paths: &[RelativePath],
) -> GitResult<Vec<Option<bool>>> {
    let tree = git.tree(repo, commit)?;
    let index = Index::default();
    let mut disk = Disk::of_work_tree(git, repo, &index);
    let is_as_committed = |path: &RelativePath| {
        let entry = git.entry(repo, tree, git.path_in_repository(path.as_str()).as_ref())?;
        let old = entry.map(|(kind, id)| (kind, Some(id)));
        let is_same = disk.entry_on_disk(path, old)? == old;
        Ok(std::mem::take(&mut disk.unknown).is_empty().then_some(is_same))
    };
    paths.iter().map(is_as_committed).collect()
}

struct Disk<'a> {
    git: &'a Git,
    repo: &'a Repository,
    index: &'a Index,
    compares_modes: bool,
    /// Whether symbolic links in a commit are symbolic links on disk. Otherwise they are text files
    /// that contain the target.
    checks_out_links: bool,
    real_folders: HashMap<String, bool>,
    conversions: Conversions<'a>,
    unknown: Vec<RelativePath>,
}

impl<'a> Disk<'a> {
    fn of_work_tree(git: &'a Git, repo: &'a Repository, index: &'a Index) -> Self {
        Self {
            git,
            repo,
            index,
            compares_modes: git.boolean("core.fileMode").unwrap_or(true),
            checks_out_links: git.boolean("core.symlinks").unwrap_or(true),
            real_folders: HashMap::new(),
            conversions: git.conversions(),
            unknown: Vec::new(),
        }
    }

    /// Returns the entry on disk at a path, for which a commit has the entry `old`. Only a regular
    /// file or a symbolic link counts, and no folder above it may be a link. A submodule counts
    /// with the commit that is checked out in it. For other submodules, and for files that a sparse
    /// checkout leaves out, the entry of the index is returned.
    fn entry_on_disk(
        &mut self,
        path: &RelativePath,
        old: Option<TreeEntry>,
    ) -> GitResult<Option<TreeEntry>> {
        let tracked = self.index.entries.get(path);
        let absolute = self.git.root.absolute(path);
        let is_left_out = |entry: &Tracked| {
            entry.flags.contains(Flags::SKIP_WORKTREE)
                && std::fs::symlink_metadata(&absolute).is_err()
        };
        match tracked {
            Some(entry) if entry.kind == Some(EntryKind::Commit) => {
                return Ok(Some((EntryKind::Commit, checked_out(&absolute).or(entry.id))));
            }
            Some(entry) if is_left_out(entry) => return Ok(entry.tree_entry()),
            _ => {}
        }
        if !self.is_reached_without_links(path)? {
            return Ok(None);
        }
        let Some(found) = self.look_at(&absolute)? else { return Ok(None) };
        let kind = if found.is_symlink() {
            EntryKind::Link
        } else if found.is_file() {
            let known = tracked.and_then(|tracked| tracked.kind).or(old.map(|held| held.0));
            match known {
                Some(EntryKind::Link) if !self.checks_out_links => EntryKind::Link,
                _ if cfg!(unix) && self.compares_modes => match found.is_executable() {
                    true => EntryKind::BlobExecutable,
                    false => EntryKind::Blob,
                },
                known => known.filter(|kind| is_regular(*kind)).unwrap_or(EntryKind::Blob),
            }
        } else {
            return Ok(None);
        };
        let id = self.content(path, &found, tracked, old)?;
        Ok(id.map(|id| (kind, Some(id))))
    }

    fn is_reached_without_links(&mut self, path: &RelativePath) -> GitResult<bool> {
        for folder in path.folders() {
            let known = self.real_folders.get(folder).copied();
            let real = match known {
                Some(real) => real,
                None => {
                    let found = self.look_at(&self.git.root.path().join(folder))?;
                    let real = found.is_some_and(|found| found.is_dir());
                    self.real_folders.insert(folder.to_owned(), real);
                    real
                }
            };
            if !real {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the metadata at a path. If permissions are missing this is an error, because it must
    /// not be mistaken for "no file".
    fn look_at(&self, path: &Path) -> GitResult<Option<Metadata>> {
        match Metadata::from_path_no_follow(path) {
            Ok(found) => Ok(Some(found)),
            Err(error) if folder::is_missing(&error) => Ok(None),
            Err(source) => Err(unreadable_file(path, &source)),
        }
    }

    /// Returns the id of the content that git has of a file or symbolic link: that of `old` or of the
    /// index, or one that differs from every real one. `None` if it was removed in the meantime.
    fn content(
        &mut self,
        path: &RelativePath,
        found: &Metadata,
        tracked: Option<&Tracked>,
        old: Option<TreeEntry>,
    ) -> GitResult<Option<ObjectId>> {
        let staged = tracked.and_then(|tracked| tracked.id);
        if let Some((tracked, id)) = tracked.zip(staged)
            && self.index.stamps.is_untouched(&tracked.stat, found)
        {
            return Ok(Some(id));
        }
        let other = ObjectId::null(self.repo.object_hash());
        let Some((_, Some(old))) = old else { return Ok(Some(other)) };
        let absolute = self.git.root.absolute(path);
        if found.is_symlink() {
            let to = match std::fs::read_link(&absolute) {
                Ok(to) => to.into_os_string().into_encoded_bytes(),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(unreadable_file(&absolute, &error)),
            };
            let kind = gix::object::Kind::Blob;
            let id = gix::objs::compute_hash(self.repo.object_hash(), kind, &to);
            return self.git.read(id).map(Some);
        }
        let old_length =
            self.git.checked(self.repo, old)?.find_header(old).map(|header| header.size());
        if old_length.is_ok_and(|old_length| found.len() != old_length)
            && !self.conversions.convert(path)
        {
            return Ok(Some(other));
        }
        let top = self.git.root.path();
        let bytes = match folder::read_below(top, path.as_str().as_ref(), store::MAX_CONTENT) {
            Ok(bytes) => bytes,
            // The file was removed in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Ok(Some(other)),
            Err(error) => return Err(unreadable_file(&absolute, &error)),
        };
        Ok(Some(match self.conversions.is_stored_as(path, bytes, old)? {
            Some(true) => old,
            Some(false) => other,
            // What is staged or committed is known, whatever the file on disk is.
            None => match staged.filter(|staged| *staged != old) {
                Some(staged) => staged,
                None => {
                    self.unknown.push(path.clone());
                    old
                }
            },
        }))
    }
}

fn unreadable_file(path: &Path, source: &std::io::Error) -> GitError {
    super::unreadable(path, source.to_string(), "make it readable")
}

pub(super) fn with_index(before: &TreeFiles, index: &Index) -> ComparedFiles {
    let entries = index.entries.iter();
    let stands = entries.flat_map(|(path, entry)| {
        changes_between(path, before.entries.get(path).copied(), entry.tree_entry())
    });
    let gone = before.entries.iter().filter(|(path, _)| !index.entries.contains_key(*path));
    let gone = gone.flat_map(|(path, held)| changes_between(path, Some(*held), None));
    let changes = stands.chain(gone).collect();
    let nameless = non_utf8::differing_paths(&before.nameless, &index.nameless_ids());
    ComparedFiles { changes, nameless, ..ComparedFiles::default() }
}
