//! Reads git repositories with a library. No process is started, and no program that a
//! configuration names is run.
//!
//! Objects are read as they are stored. Programs that filter files, text conversions, hooks and file
//! system monitors are never started. Only the repository's own configuration is opened with it;
//! `config` reads the few settings that may also come from the person's configuration.
//!
//! - `branches`: branches, stashes, and single files in commits and in the index
//! - `compare`: the differences between a commit and the index or the files on disk
//! - `config`: settings
//! - `conversions`: what git would store for a file on disk
//! - `history`: walks through commits
//! - `index`: the files that git tracks
//! - `non_utf8`: files whose path is not UTF-8
//! - `objects`: objects by their ids, for walks through history
//! - `precheck`: checks of the repository's files before the library opens them
//! - `references`: references by their full names, such as `refs/notes/ai`

mod branches;
mod compare;
mod config;
mod conversions;
mod history;
mod index;
mod non_utf8;
mod objects;
mod precheck;
mod references;
#[cfg(test)]
mod tests;
mod web;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use gix::index::entry::Stage;
use gix::objs::tree::EntryKind;
use gix::{Repository, Tree};
use serde::{Deserialize, Serialize};

use self::index::kind_of;
use self::non_utf8::{ContentIds, lossy_path};
use self::objects::{KnownCommits, Remembered};
use self::precheck::CheckedObjects;
use super::nested_roots::NestedRoots;
use super::{Hint, RelativePath, Root, cache, resolved_links::resolve_links, store};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub String);

impl CommitId {
    pub fn short(&self) -> &str {
        short_id(&self.0)
    }
}

/// Returns the first 10 digits of a commit's id, which are enough for a person.
pub fn short_id(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

pub struct Git {
    /// Use [`Self::handle`], [`Self::checked`] or [`Self::all_objects`] instead of this.
    repository: gix::ThreadSafeRepository,
    root: Root,
    dir: PathBuf,
    checked_objects: CheckedObjects,
    machine_settings: OnceLock<Option<gix::config::File>>,
    /// The path of the workspace below the top of the work tree: empty, or with a trailing `/`.
    prefix: String,
    index: PathBuf,
    index_read: Mutex<Option<(cache::FileStamp, Arc<gix::index::File>)>>,
    commits: KnownCommits,
    remembered: Mutex<Remembered>,
    free_handles: Arc<Mutex<Vec<Repository>>>,
}

impl std::fmt::Debug for Git {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Git").field("dir", &self.dir).field("prefix", &self.prefix).finish()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("no commit called {revision:?} in this repository")]
    UnknownRevision {
        revision: String,
        shallow: bool,
        /// Branches that exist, newest first.
        branches: Vec<String>,
    },
    #[error("the content {id} in git has {bytes} bytes, and at most {max} are read")]
    TooLarge { id: String, bytes: u64, max: u64 },
    /// The clone does not have this object. A shallow or partial clone leaves some out, and a damaged
    /// one has lost some.
    #[error("history-missing: the object {id} is missing in this clone")]
    Missing { id: String, hint: &'static str },
    #[error("git converts this file with `{attribute}`, so nobody can tell what git has of it")]
    Converted {
        /// The attribute that says so, such as `filter=crypt`.
        attribute: String,
    },
    #[error("the repository cannot be read at {path}: {reason}")]
    Unreadable { path: String, reason: String, hint: &'static str },
}

impl Hint for GitError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownRevision { shallow: true, .. } => Some(
                "this is a shallow clone, so fetch more history, e.g. `git fetch --unshallow`"
                    .to_owned(),
            ),
            Self::UnknownRevision { branches, .. } if !branches.is_empty() => Some(format!(
                "there {} {}; `git branch --all` lists all branches",
                if branches.len() == 1 { "is" } else { "are" },
                branches.join(", ")
            )),
            Self::TooLarge { id, .. } => {
                Some(format!("`git log --find-object={id}` says what it is"))
            }
            Self::Missing { hint, .. } | Self::Unreadable { hint, .. } => Some((*hint).to_owned()),
            Self::Converted { .. } => Some(
                "a line `Intent-Id: ID` at the end of the commit message names the intent"
                    .to_owned(),
            ),
            Self::UnknownRevision { .. } => None,
        }
    }
}

type GitResult<T> = Result<T, GitError>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    pub path: RelativePath,
    pub kind: ChangeKind,
    pub aspect: Aspect,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedFiles {
    pub changes: Vec<PathChange>,
    /// Files on disk that a program converts for git ([`StoredContent::CannotTell`]), and that may have
    /// changed.
    pub unknown: Vec<RelativePath>,
    /// The files that differ and whose paths are not UTF-8. Each invalid byte sequence is replaced by
    /// U+FFFD.
    pub nameless: BTreeSet<RelativePath>,
    /// All regular files of a work tree but those in `.orchestration`, sorted. Empty for other
    /// targets.
    pub present: Vec<RelativePath>,
}

impl ComparedFiles {
    /// Returns the changes of contents, without those of modes, symbolic links and submodules.
    pub fn contents(&self) -> impl Iterator<Item = &PathChange> {
        self.changes.iter().filter(|change| change.aspect == Aspect::Content)
    }

    /// Returns those of the changes of contents whose file was there before, so that something may
    /// have been moved from it.
    pub fn former(&self) -> Vec<PathChange> {
        self.contents().filter(|change| change.kind != ChangeKind::Added).cloned().collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aspect {
    /// The content of a regular file, or whether there is one.
    Content,
    Mode,
    Link,
    Submodule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    /// The file no longer exists, or is no longer a regular file.
    Deleted,
}

pub fn deleted_paths<'a>(changes: impl IntoIterator<Item = &'a PathChange>) -> Vec<RelativePath> {
    let gone = changes.into_iter().filter(|change| change.kind == ChangeKind::Deleted);
    gone.map(|change| change.path.clone()).collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    #[default]
    WorkTree,
    Index,
    Commit(CommitId),
}

pub use config::{
    configured_on_machine, name_in, path_on_machine, person_of_machine, settings_in_file,
};
pub use conversions::{Conversions, StoredContent, is_lfs_pointer};
pub use gix::ObjectId;
pub use gix::bstr::{BStr, BString, ByteSlice};
pub use history::{AddedFile, WRONG_CLOCK};
pub use objects::{ChangedBlob, CommitNode, ObjectReader, TreePlace, TwoTrees};
pub use web::{Forge, RemoteAddress, WebAddress};

/// An entry of a tree: its kind, and the id of its content. There is no id if a merge conflict is
/// unresolved.
type TreeEntry = (EntryKind, Option<ObjectId>);
type TreeChild = Option<(EntryKind, ObjectId)>;
type TreeEntries = BTreeMap<RelativePath, TreeEntry>;
type FileBlobs = Vec<(RelativePath, ObjectId)>;
type FileContents = Vec<(RelativePath, Vec<u8>)>;
type IsWanted<'a> = &'a dyn Fn(&RelativePath) -> bool;

#[derive(Default)]
struct TreeFiles {
    entries: TreeEntries,
    nameless: ContentIds,
}

// `Git` only reads, so a panic cannot leave anything half changed.
impl std::panic::UnwindSafe for Git {}
impl std::panic::RefUnwindSafe for Git {}

impl Git {
    /// Opens the repository of a workspace. `None` without git; an error if there is a repository
    /// that cannot be read.
    ///
    /// Uses `GIT_INDEX_FILE` if it is a path in the git directory, because git sets it for the
    /// hooks of a partial commit.
    pub fn open(root: &Root) -> GitResult<Option<Self>> {
        let (Some(dir), Some(top)) = (root.git_dir(), root.work_tree()) else { return Ok(None) };
        let unreadable = |reason| unreadable(dir, reason, SEE_FSCK);
        let common = root.common_dir();
        let common_dir = common.unwrap_or_else(|| dir.to_path_buf());
        let repository = open_checked(dir, &common_dir).map_err(unreadable)?;
        if let Some(format) = foreign_references(&repository) {
            let reason = format!("its references are stored as {format:?}, which is not supported");
            let hint = "`git refs migrate --ref-format=files` converts them";
            return Err(self::unreadable(dir, reason, hint));
        }
        let below = root.path().strip_prefix(top).ok().and_then(Path::to_str);
        let below = below.ok_or_else(|| unreadable("the workspace's path is not UTF-8".into()))?;
        let mut prefix = below.replace(std::path::MAIN_SEPARATOR, "/");
        if !prefix.is_empty() {
            prefix.push('/');
        }
        let given = root.environment().variable("GIT_INDEX_FILE");
        let index = handed_index(given, dir, top).unwrap_or_else(|| dir.join("index"));
        Ok(Some(Self {
            repository,
            root: root.clone(),
            dir: dir.to_path_buf(),
            checked_objects: CheckedObjects::new(dir.to_path_buf(), common_dir),
            machine_settings: OnceLock::new(),
            prefix,
            index,
            index_read: Mutex::default(),
            commits: RwLock::default(),
            remembered: Mutex::default(),
            free_handles: Arc::default(),
        }))
    }

    /// Returns the commit that the work tree is based on. `None` before the first commit.
    pub fn head(&self) -> GitResult<Option<CommitId>> {
        let repo = self.handle();
        let Some(id) = head_of(&repo).map_err(|error| self.unreadable(error))? else {
            return Ok(None);
        };
        self.checked(&repo, id)?;
        self.read(find_twice(|| repo.find_header(id)))?;
        Ok(Some(commit_id(id)))
    }

    /// Returns the commits that a merge, rebase, cherry-pick or revert in progress brings in. Empty
    /// if none is in progress.
    ///
    /// For a rebase these are the commit that it rebases onto, the commit that it started from, and
    /// the commit at which it stopped.
    pub fn incoming(&self) -> GitResult<Vec<CommitId>> {
        let mut files = vec!["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
        // If a rebase stops so that somebody can edit a commit, that commit is already made. What
        // follows is ordinary work.
        let has = |file: &str| self.dir.join("rebase-merge").join(file).exists();
        let is_edited = has("amend") && !has("current-fixups");
        if self.dir.join("rebase-merge").is_dir() && !is_edited {
            files.extend(["rebase-merge/onto", "rebase-merge/orig-head", "REBASE_HEAD"]);
        }
        if self.dir.join("rebase-apply").is_dir() {
            files.extend([
                "rebase-apply/onto",
                "rebase-apply/orig-head",
                "rebase-apply/original-commit",
            ]);
        }
        let repo = self.handle();
        let mut found = Vec::new();
        for file in files {
            for id in self.ids_in(file)? {
                self.checked(&repo, id)?;
                let known = find_twice(|| repo.find_commit(id)).is_ok();
                let id = commit_id(id);
                if known && !found.contains(&id) {
                    found.push(id);
                }
            }
        }
        Ok(found)
    }

    pub fn resolve(&self, revision: &str) -> GitResult<CommitId> {
        let repo = self.all_objects()?;
        let object = repo.rev_parse_single(revision).and_then(|id| id.object());
        match object.and_then(|object| object.peel_to_commit()) {
            Ok(commit) => Ok(commit_id(commit.id)),
            Err(error) => {
                tracing::debug!(revision, %error, "revision not found");
                Err(self.unknown(revision))
            }
        }
    }

    pub fn merge_base(&self, a: &CommitId, b: &CommitId) -> GitResult<Option<CommitId>> {
        let repo = self.all_objects()?;
        let (a, b) = (self.object_id(a)?, self.object_id(b)?);
        let bases = self.read(repo.merge_bases_many(a, &[b]))?;
        Ok(bases.first().map(|id| commit_id(id.detach())))
    }

    /// Returns the bytes of a file at a commit. `None` if the commit has no such file.
    pub fn file_at(&self, commit: &CommitId, path: &RelativePath) -> GitResult<Option<Vec<u8>>> {
        let repo = self.handle();
        let id = self.regular_file(&repo, commit, path)?;
        id.map(|id| self.blob(&repo, id)).transpose()
    }

    pub fn has_entry(&self, commit: &CommitId, path: &RelativePath) -> GitResult<bool> {
        Ok(self.entry_at(&self.handle(), commit, path)?.is_some())
    }

    pub fn has_file(&self, commit: &CommitId, path: &RelativePath) -> GitResult<bool> {
        Ok(self.regular_file(&self.handle(), commit, path)?.is_some())
    }

    fn regular_file(
        &self,
        repo: &Repository,
        commit: &CommitId,
        path: &RelativePath,
    ) -> GitResult<Option<ObjectId>> {
        let entry = self.entry_at(repo, commit, path)?;
        Ok(entry.filter(|(kind, _)| is_regular(*kind)).map(|(_, id)| id))
    }

    fn entry_at(
        &self,
        repo: &Repository,
        commit: &CommitId,
        path: &RelativePath,
    ) -> GitResult<TreeChild> {
        self.entry(repo, self.tree(repo, commit)?, self.path_in_repository(path.as_str()).as_ref())
    }

    /// Returns the bytes of a file in the index. During a merge conflict, those of our side.
    pub fn file_in_index(&self, path: &RelativePath) -> GitResult<Option<Vec<u8>>> {
        self.file_in_index_at(&format!("{}{path}", self.prefix))
    }

    fn file_in_index_at(&self, full: &str) -> GitResult<Option<Vec<u8>>> {
        let Some(file) = self.index_file()? else { return Ok(None) };
        let entry = [Stage::Unconflicted, Stage::Ours]
            .into_iter()
            .find_map(|stage| file.entry_by_path_and_stage(full.into(), stage));
        let Some(entry) = entry else { return self.file_in_sparse_folder(&file, full) };
        match kind_of(entry.mode, entry.flags).is_some_and(is_regular) {
            true => self.blob(&self.handle(), entry.id).map(Some),
            false => Ok(None),
        }
    }

    /// Returns every regular file of a commit below the workspace root, sorted.
    pub fn files_at(&self, commit: &CommitId) -> GitResult<Vec<RelativePath>> {
        let files = self.files(&self.handle(), commit)?.entries.into_iter();
        Ok(files.filter(|(_, held)| is_regular(held.0)).map(|(path, _)| path).collect())
    }

    /// Returns every regular file of the index below the workspace root, sorted.
    pub fn tracked(&self) -> GitResult<Vec<RelativePath>> {
        let entries = self.index(&self.handle())?.entries.into_iter();
        Ok(entries.filter(|(_, entry)| entry.is_regular()).map(|(path, _)| path).collect())
    }

    /// Returns the files that differ between a commit and a target, sorted by path. Without a
    /// commit, all files differ. In a work tree this includes untracked files that git does not
    /// ignore.
    ///
    /// Symbolic links and submodules are left out.
    pub fn changes(&self, base: Option<&CommitId>, target: &Target) -> GitResult<Vec<PathChange>> {
        let mut changes = self.compared(base, target)?.changes;
        changes.retain(|change| change.aspect == Aspect::Content);
        Ok(changes)
    }

    /// Like [`Self::changes`], but includes changes of modes, symbolic links and submodules, and the
    /// files of which nobody can tell whether they changed.
    ///
    /// Files on disk are compared as git would store them. A file is not read if the stamps in the
    /// index show that it is unchanged. Files in nested workspaces are left out. For files that a
    /// sparse checkout leaves out, and for submodules that are not checked out, the entry in the
    /// index counts.
    pub fn compared(&self, base: Option<&CommitId>, target: &Target) -> GitResult<ComparedFiles> {
        let repo = self.handle();
        let before = || match base {
            Some(commit) => self.files(&repo, commit),
            None => Ok(TreeFiles::default()),
        };
        let mut compared = match target {
            Target::Index => compare::with_index(&before()?, &self.index(&repo)?),
            Target::WorkTree => {
                let index = self.index(&repo)?;
                let is_of_index =
                    base.map(|base| self.is_tree_of_index(&repo, base)).transpose()?;
                match is_of_index {
                    Some(true) => compare::with_work_tree(self, &repo, None, &index)?,
                    _ => compare::with_work_tree(self, &repo, Some(&before()?), &index)?,
                }
            }
            Target::Commit(commit) => self.changes_between(base, commit)?,
        };
        let mut nested = NestedRoots::from_policy_of(&self.root);
        compared.changes.retain(|change| !nested.hold(&change.path));
        compared.unknown.retain(|path| !nested.hold(path));
        compared.nameless.retain(|path| !nested.hold(path));
        compared.present.retain(|path| !nested.hold(path));
        compared.changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(compared)
    }

    /// Returns the tracked files that differ from a commit, on disk or in the index. Untracked files are
    /// not looked for.
    pub fn changed_tracked_files(&self, base: &CommitId) -> GitResult<Vec<RelativePath>> {
        let Some(index) = self.index_file()? else { return Ok(Vec::new()) };
        let repo = self.handle();
        let mut changed = compare::changed_since_index(self, &repo, &index)?;
        if !self.is_tree_of_index(&repo, base)? {
            let staged = compare::with_index(&self.files(&repo, base)?, &self.index(&repo)?);
            changed.extend(staged.changes.into_iter().map(|change| change.path));
            changed.sort();
            changed.dedup();
        }
        Ok(changed)
    }

    /// Returns the files on disk that git neither tracks nor ignores. They are not read.
    pub fn untracked_files(&self) -> GitResult<BTreeSet<RelativePath>> {
        compare::untracked_files(self, &self.index(&self.handle())?)
    }

    /// Returns true if the index has exactly the files of a commit. Git stores in the index which
    /// tree all its entries are, until one of them changes.
    fn is_tree_of_index(&self, repo: &Repository, commit: &CommitId) -> GitResult<bool> {
        let Some(index) = self.index_file()? else { return Ok(false) };
        let tree = index.tree().filter(|tree| tree.num_entries.is_some()).map(|tree| tree.id);
        Ok(tree == Some(self.tree(repo, commit)?))
    }

    /// Returns for each path whether the disk has the content, kind and mode that a commit has
    /// there. A path at which neither has a file counts as the same. `None` if nobody can tell,
    /// because a program converts the file.
    pub fn are_as_committed(
        &self,
        commit: &CommitId,
        paths: &[RelativePath],
    ) -> GitResult<Vec<Option<bool>>> {
        compare::are_as_committed(self, &self.handle(), commit, paths)
    }

    pub fn would_be_as_committed(
        &self,
        commit: &CommitId,
        path: &RelativePath,
        bytes: Vec<u8>,
    ) -> GitResult<bool> {
        let held = self.regular_file(&self.handle(), commit, path)?;
        let is_stored = held.map(|held| self.conversions().is_stored_as(path, bytes, held));
        Ok(is_stored.transpose()?.flatten() == Some(true))
    }

    pub fn is_shallow(&self) -> bool {
        self.handle().is_shallow().unwrap_or(false)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns true if a command of git, such as `git checkout`, is about to replace the index.
    pub fn is_changing_index(&self) -> bool {
        self.dir.join("index.lock").exists()
    }

    /// Returns the repository. Whoever reads an object from it calls [`Self::checked`] first.
    fn handle(&self) -> Repository {
        self.repository.to_thread_local()
    }

    fn common(&self) -> PathBuf {
        self.root.common_dir().unwrap_or_else(|| self.dir.clone())
    }

    /// Returns the repository, from which this object may be read and no other one. The files that
    /// may contain the object are checked before.
    fn checked<'r>(&self, repo: &'r Repository, id: ObjectId) -> GitResult<&'r Repository> {
        match self.checked_objects.obstacle_of(&id) {
            Some(reason) => Err(self.unreadable(reason)),
            None => Ok(repo),
        }
    }

    /// Returns the repository, for callers that cannot say which objects the library will read. All
    /// files that contain objects are checked before the first use.
    fn all_objects(&self) -> GitResult<Repository> {
        match self.checked_objects.obstacle_of_all() {
            Some(reason) => Err(self.unreadable(reason)),
            None => Ok(self.handle()),
        }
    }

    fn read<T>(&self, found: Result<T, impl std::error::Error>) -> GitResult<T> {
        found.map_err(|error| match missing_id(&error) {
            Some(id) => self.missing_object(id),
            None => self.unreadable(error),
        })
    }

    pub fn how_to_get_history(&self) -> &'static str {
        match (self.is_shallow(), self.is_partial()) {
            (true, true) => UNSHALLOW_AND_FETCH_ALL,
            (true, false) => UNSHALLOW,
            (false, true) => FETCH_ALL,
            (false, false) => LOST,
        }
    }

    pub fn missing_object(&self, id: impl std::fmt::Display) -> GitError {
        GitError::Missing { id: id.to_string(), hint: self.how_to_get_history() }
    }

    fn unreadable(&self, error: impl std::fmt::Display) -> GitError {
        let hint = if self.is_partial() { FETCH_ALL } else { LOST };
        unreadable(&self.dir, error.to_string(), hint)
    }

    pub fn object_id(&self, commit: &CommitId) -> GitResult<ObjectId> {
        ObjectId::from_hex(commit.0.as_bytes()).map_err(|_| self.unknown(&commit.0))
    }

    fn unknown(&self, revision: &str) -> GitError {
        const NAMED: usize = 3;
        let branches = self.branches(NAMED).unwrap_or_default().into_iter();
        let mut branches: Vec<String> = branches.map(|(name, _)| name).collect();
        branches.sort();
        let shallow = self.is_shallow();
        GitError::UnknownRevision { revision: revision.to_owned(), shallow, branches }
    }

    fn ids_in(&self, file: &str) -> GitResult<Vec<ObjectId>> {
        const MAX: u64 = 64 * 1024;
        let bytes = self.read(store::read_capped(&self.dir.join(file), MAX))?.unwrap_or_default();
        Ok(bytes.lines().filter_map(|line| ObjectId::from_hex(line.trim()).ok()).collect())
    }

    fn tree(&self, repo: &Repository, commit: &CommitId) -> GitResult<ObjectId> {
        let id = self.object_id(commit)?;
        if !self.checked(repo, id)?.has_object(id) {
            return Err(self.unknown(&commit.0));
        }
        Ok(self.read(self.find_commit(repo, id)?.tree_id())?.detach())
    }

    fn find_commit<'r>(&self, repo: &'r Repository, id: ObjectId) -> GitResult<gix::Commit<'r>> {
        self.checked(repo, id)?;
        self.read(find_twice(|| repo.find_commit(id)))
    }

    /// Returns an error if a folder is nested deeper than any that git reads (`core.maxTreeDepth`). Walks
    /// over trees are loops and not recursions, because each thread has a small stack.
    fn not_too_deep(&self, depth: usize) -> GitResult<()> {
        const MAX_DEPTH: usize = 2_048;
        match depth > MAX_DEPTH {
            true => Err(self.unreadable(format!("a commit nests folders {depth} levels deep"))),
            false => Ok(()),
        }
    }

    fn tree_of<'r>(&self, repo: &'r Repository, id: ObjectId) -> GitResult<Tree<'r>> {
        self.checked(repo, id)?;
        self.read(find_twice(|| repo.find_tree(id)))
    }

    fn entries(
        &self,
        repo: &Repository,
        tree: ObjectId,
    ) -> GitResult<Vec<(BString, EntryKind, ObjectId)>> {
        let owned = |entry| {
            let entry: gix::object::tree::EntryRef<'_, '_> = self.read(entry)?;
            Ok((entry.filename().to_owned(), entry.mode().kind(), entry.object_id()))
        };
        self.tree_of(repo, tree)?.iter().map(owned).collect()
    }

    /// Returns the entry at a path below a tree. An empty path is the tree itself.
    fn entry(&self, repo: &Repository, tree: ObjectId, path: &BStr) -> GitResult<TreeChild> {
        let mut found = Some((EntryKind::Tree, tree));
        for name in path.split_str("/").filter(|name| !name.is_empty()) {
            let Some((EntryKind::Tree, tree)) = found else { return Ok(None) };
            let entry = self.tree_of(repo, tree)?;
            let entry = entry.find_entry(name);
            found = entry.map(|entry| (entry.mode().kind(), entry.object_id()));
        }
        Ok(found)
    }

    fn blob(&self, repo: &Repository, id: ObjectId) -> GitResult<Vec<u8>> {
        self.blob_up_to(repo, id, store::MAX_CONTENT)
    }

    fn blob_up_to(&self, repo: &Repository, id: ObjectId, max: u64) -> GitResult<Vec<u8>> {
        self.checked(repo, id)?;
        let bytes = self.read(find_twice(|| repo.find_header(id)))?.size();
        if bytes > max {
            return Err(GitError::TooLarge { id: id.to_string(), bytes, max });
        }
        self.read(find_twice(|| repo.find_blob(id)).map(|mut blob| blob.take_data()))
    }

    fn files(&self, repo: &Repository, commit: &CommitId) -> GitResult<TreeFiles> {
        match self.folder_at(repo, commit, "")? {
            Some(tree) => self.files_below(repo, tree, ""),
            None => Ok(TreeFiles::default()),
        }
    }

    fn files_below(&self, repo: &Repository, tree: ObjectId, prefix: &str) -> GitResult<TreeFiles> {
        let mut files = TreeFiles::default();
        let folder = BString::from([self.prefix.as_bytes(), prefix.as_bytes()].concat());
        self.each_file(repo, tree, folder, &mut |full, kind, id| {
            let path = full[self.prefix.len()..].as_bstr();
            match as_path("", path) {
                _ if path.to_str().is_err() => drop(files.nameless.insert(path.into(), Some(id))),
                Some(path) => drop(files.entries.insert(path, (kind, Some(id)))),
                None => {}
            }
        })?;
        Ok(files)
    }

    /// Calls `found` with each file of a folder, whose path ends with a slash or is empty. All paths
    /// begin at the top of the repository. The files of a folder that is as in the index are taken
    /// from there, so only the trees of the other folders are read.
    fn each_file(
        &self,
        repo: &Repository,
        tree: ObjectId,
        folder: BString,
        found: &mut dyn FnMut(&BStr, EntryKind, ObjectId),
    ) -> GitResult<()> {
        let index = self.index_file()?;
        let mut folders = vec![(tree, folder, 0)];
        while let Some((tree, folder, depth)) = folders.pop() {
            self.not_too_deep(depth)?;
            let index = index.as_deref();
            if let Some(files) =
                index.and_then(|index| index::files_of_tree(index, folder.as_ref(), tree))
            {
                files.into_iter().for_each(|(path, kind, id)| found(path, kind, id));
                continue;
            }
            for (name, kind, id) in self.entries(repo, tree)? {
                let mut path = BString::from([folder.as_slice(), &name].concat());
                if kind == EntryKind::Tree {
                    path.push(b'/');
                    folders.push((id, path, depth + 1));
                } else {
                    found(path.as_ref(), kind, id);
                }
            }
        }
        Ok(())
    }
}

const SEE_FSCK: &str = "`git fsck` says more";
const LOST: &str = "`git fsck` says what is lost or broken, and `git fetch --refetch` gets again what the remote has";
const UNSHALLOW: &str = "this is a shallow clone, so fetch its history: `git fetch --unshallow`; in CI set the depth of the checkout to 0";
const UNSHALLOW_AND_FETCH_ALL: &str = "this is a shallow and partial clone, so fetch the rest: `git fetch --unshallow --refetch --no-filter`; in CI set the depth of the checkout to 0, without a filter";
const FETCH_ALL: &str = "this is a partial clone, so fetch the objects that it lacks: `git fetch --refetch --no-filter`; in CI check out without a filter";

/// Returns the id of the object that the library did not find. It has an error of its own for each kind
/// of object and each way to read one, all in these words.
fn missing_id(error: &dyn std::error::Error) -> Option<String> {
    let words = error.to_string();
    let rest = words.split_once("An object with id ").map(|(_, rest)| rest);
    let id = rest.and_then(|rest| rest.split_once(" could not be found"));
    id.map(|(id, _)| id.to_owned()).or_else(|| missing_id(error.source()?))
}

fn unreadable(path: &Path, reason: String, hint: &'static str) -> GitError {
    GitError::Unreadable { path: path.display().to_string(), reason, hint }
}

/// Opens a repository, after checking its git directory and the one that it shares with other work
/// trees.
fn open_checked(dir: &Path, common: &Path) -> Result<gix::ThreadSafeRepository, String> {
    match precheck::obstacle(dir, common) {
        Some(reason) => Err(reason),
        None => gix::open::Options::isolated()
            .strict_config(false)
            .open_path_as_is(true)
            .open(dir)
            .map_err(|error| error.to_string()),
    }
}

/// Returns the commit that is checked out, without checking that it exists. `None` before the first
/// commit.
fn head_of(repo: &Repository) -> Result<Option<ObjectId>, String> {
    let head = repo.head().map_err(|error| error.to_string())?;
    let detached = head.id().map(gix::Id::detach);
    let Some(mut branch) = head.try_into_referent() else { return Ok(detached) };
    let id = branch.follow_to_object().map_err(|error| error.to_string())?;
    Ok(Some(id.detach()))
}

/// Returns the format of the references if it is not plain files. If they were read as plain files,
/// they would seem not to exist.
fn foreign_references(repository: &gix::ThreadSafeRepository) -> Option<String> {
    let repo = repository.to_thread_local();
    let format = repo.config_snapshot().string("extensions.refStorage")?.to_string();
    (format != "files").then_some(format)
}

fn handed_index(given: Option<&OsStr>, dir: &Path, top: &Path) -> Option<PathBuf> {
    let path = resolve_links(&top.join(given?)).ok()?.path;
    path.starts_with(dir).then_some(path)
}

/// Looks for an object, and once more if it was not found. Git may have packed it between two steps of
/// the first look. The second one begins with the list of packs as it is now.
fn find_twice<T, E>(mut find: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    find().or_else(|_| find())
}

fn commit_id(id: ObjectId) -> CommitId {
    CommitId(id.to_hex().to_string())
}

fn is_regular(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable)
}

/// Converts a path in git's own files. `None` (and a log line) if it cannot be a path in a
/// workspace.
fn as_path(prefix: &str, path: &BStr) -> Option<RelativePath> {
    let text = path.to_str().ok().map(|path| format!("{prefix}{path}"));
    let same = |text: String| RelativePath::new(&text).ok().filter(|path| path.as_str() == text);
    let found = text.and_then(same);
    if found.is_none() {
        tracing::warn!(%path, "a path in git that is not UTF-8, or not a plain path, was skipped");
    }
    found
}
