//! What git knows, read with a library: no process is started, no configured program is run.
//!
//! Only the repository's own configuration is read, and filters, text conversions, hooks and file system
//! monitors are neither compiled in nor asked. Objects are read as they are stored.

mod branches;
mod compare;
mod config;
mod history;
mod index;
mod nameless;
mod sound;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::Stage;
use gix::objs::tree::EntryKind;

pub(crate) use self::branches::BlobId;
use self::index::kind_of;
use super::{RelativePath, Root, cache, discover, real::real, store};

/// A commit's id in hex.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct CommitId(pub String);

impl CommitId {
    /// The id as people read it; see [`short_id`].
    pub fn short(&self) -> &str {
        short_id(&self.0)
    }
}

/// The first digits of a commit's id: as many as a person needs.
pub(crate) fn short_id(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// A work tree's repository.
pub struct Git {
    /// Use [`Self::handle`] or [`Self::objects`] instead of this.
    repository: gix::ThreadSafeRepository,
    root: Root,
    dir: PathBuf,
    /// What keeps the objects from being read, once that was looked for.
    obstacle_of_objects: OnceLock<Option<String>>,
    /// The workspace below the work tree's top: empty, or with a trailing `/`.
    prefix: String,
    index: PathBuf,
    /// The index as it was last read, with the stamp of its file.
    index_read: Mutex<Option<(cache::Stamp, Arc<gix::index::File>)>>,
}

impl std::fmt::Debug for Git {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Git").field("dir", &self.dir).field("prefix", &self.prefix).finish()
    }
}

/// What could not be had from git, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The revision does not exist here.
    #[error("no commit called {revision:?} in this repository{}", if *.shallow { " (it is a shallow clone: fetch more history, e.g. `git fetch --unshallow`)" } else { "" })]
    UnknownRevision {
        /// The revision as it was asked for.
        revision: String,
        /// Whether history is cut off here.
        shallow: bool,
    },
    /// A file in git with more bytes than are looked at.
    #[error(
        "the content {id} in git has {bytes} bytes, and at most {} are read; `git log --find-object={id}` says what it is",
        store::MAX_CONTENT
    )]
    TooLarge {
        /// The id of the content.
        id: String,
        /// How many it has.
        bytes: u64,
    },
    /// Anything else git's files would not give.
    #[error("the repository cannot be read at {path}: {reason}")]
    Unreadable {
        /// The git directory, or the file in the work tree.
        path: String,
        /// What was wrong.
        reason: String,
    },
}

/// A path that differs between a base and a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: RelativePath,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What of it differs.
    pub aspect: Aspect,
}

/// What of a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aspect {
    /// The content of a regular file, or that there is one.
    Content,
    /// Only whether a regular file may be run as a program.
    Mode,
    /// A symbolic link.
    Link,
    /// The commit of a submodule.
    Submodule,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    Added,
    /// Its content differs.
    Modified,
    /// It is there no longer, or no longer as a regular file.
    Deleted,
}

/// What a base is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The files on disk.
    #[default]
    WorkTree,
    /// What `git commit` would commit.
    Index,
    /// A commit.
    Commit(CommitId),
}

pub(crate) use config::{configured_on_machine, path_on_machine, person_of_machine};
pub(crate) use history::{AddedFile, Walked};

/// What stands at a path: the kind of entry, and the id of its content; no id where a merge conflict is not settled.
type Held = (EntryKind, Option<gix::ObjectId>);
/// What stands at each path of a tree.
type Files = BTreeMap<RelativePath, Held>;

// It only reads, so a panic in the middle leaves nothing half changed.
impl std::panic::UnwindSafe for Git {}
impl std::panic::RefUnwindSafe for Git {}

impl Git {
    /// `None` without git; an error where there is a repository that cannot be read.
    ///
    /// Honours `GIT_INDEX_FILE` where it lies in the git directory: git sets it for hooks of a partial commit.
    pub fn open(root: &Root) -> Result<Option<Self>, GitError> {
        let (Some(dir), Some(top)) = (root.git_dir(), root.work_tree()) else {
            return Ok(None);
        };
        let unreadable = |reason: String| GitError::Unreadable {
            path: dir.display().to_string(),
            reason: format!("{reason}; `git fsck` says more"),
        };
        let common = root.common_dir();
        let repository = opened(dir, common.as_deref().unwrap_or(dir)).map_err(unreadable)?;
        if let Some(format) = foreign_references(&repository) {
            let reason = format!(
                "its references are stored as {format:?}, which is not supported; `git refs migrate --ref-format=files` converts them"
            );
            return Err(GitError::Unreadable { path: dir.display().to_string(), reason });
        }
        let below = root.path().strip_prefix(top).ok().and_then(Path::to_str);
        let below = below.ok_or_else(|| unreadable("the workspace's path is not UTF-8".into()))?;
        let mut prefix = below.replace(std::path::MAIN_SEPARATOR, "/");
        if !prefix.is_empty() {
            prefix.push('/');
        }
        let given = std::env::var_os("GIT_INDEX_FILE");
        let index = handed_index(given, dir, top).unwrap_or_else(|| dir.join("index"));
        Ok(Some(Self {
            repository,
            root: root.clone(),
            dir: dir.to_path_buf(),
            obstacle_of_objects: OnceLock::new(),
            prefix,
            index,
            index_read: Mutex::default(),
        }))
    }

    /// The commit the work tree is based on; `None` before the first commit.
    pub fn head(&self) -> Result<Option<CommitId>, GitError> {
        let repo = self.handle();
        let Some(id) = head_of(&repo).map_err(|error| self.unreadable(error))? else {
            return Ok(None);
        };
        // This runs before every edit of an agent, so only the file that holds this object is looked at, not all of them.
        match sound::obstacle_of_object(&self.common(), &id.to_string()) {
            Some(reason) => return Err(self.unreadable(reason)),
            None => repo.find_header(id).map_err(|error| self.unreadable(error))?,
        };
        Ok(Some(commit_id(id)))
    }

    /// The commits a merge, rebase, cherry-pick or revert in progress brings in; empty when none is under way.
    ///
    /// For a rebase: what it goes onto, what it started from, and the commit at which it stopped.
    pub fn incoming(&self) -> Result<Vec<CommitId>, GitError> {
        let mut files = vec!["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
        // A commit at which a rebase stops to let somebody edit it is made: what follows is work as any other.
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
        let repo = self.objects()?;
        let mut found = Vec::new();
        for file in files {
            for id in self.ids_in(file)? {
                let known = repo.find_commit(id).is_ok();
                let id = commit_id(id);
                if known && !found.contains(&id) {
                    found.push(id);
                }
            }
        }
        Ok(found)
    }

    /// The commit a revision names (`main`, `HEAD~3`, a hash).
    pub fn resolve(&self, revision: &str) -> Result<CommitId, GitError> {
        let repo = self.objects()?;
        let commit = repo
            .rev_parse_single(revision)
            .and_then(|id| id.object())
            .and_then(|object| object.peel_to_commit());
        match commit {
            Ok(commit) => Ok(commit_id(commit.id)),
            Err(error) => {
                tracing::debug!(revision, %error, "revision not found");
                let revision = revision.to_owned();
                Err(GitError::UnknownRevision { revision, shallow: self.is_shallow() })
            }
        }
    }

    /// The best common ancestor of two commits, if any.
    pub fn merge_base(&self, a: &CommitId, b: &CommitId) -> Result<Option<CommitId>, GitError> {
        let repo = self.objects()?;
        let (a, b) = (self.parse(a)?, self.parse(b)?);
        let bases = repo.merge_bases_many(a, &[b]).map_err(|error| self.unreadable(error))?;
        Ok(bases.first().map(|id| commit_id(id.detach())))
    }

    /// A file's bytes at a commit; `None` where it did not exist.
    pub fn file_at(
        &self,
        commit: &CommitId,
        path: &RelativePath,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let repo = self.objects()?;
        let tree = self.tree(&repo, commit)?;
        let full = format!("{}{path}", self.prefix);
        let entry = tree
            .lookup_entry(full.split('/').map(str::as_bytes))
            .map_err(|error| self.unreadable(error))?;
        let Some(entry) = entry.filter(|entry| is_regular(entry.mode().kind())) else {
            return Ok(None);
        };
        self.blob(&repo, entry.object_id()).map(Some)
    }

    /// A file's bytes in the index; during a conflict, those of our side.
    pub fn file_in_index(&self, path: &RelativePath) -> Result<Option<Vec<u8>>, GitError> {
        let Some(file) = self.index_file()? else {
            return Ok(None);
        };
        let full = format!("{}{path}", self.prefix);
        let full: &BStr = full.as_str().into();
        let entry = file
            .entry_by_path_and_stage(full, Stage::Unconflicted)
            .or_else(|| file.entry_by_path_and_stage(full, Stage::Ours));
        let Some(entry) =
            entry.filter(|entry| kind_of(entry.mode, entry.flags).is_some_and(is_regular))
        else {
            return Ok(None);
        };
        self.blob(&self.objects()?, entry.id).map(Some)
    }

    /// Every regular file in a commit's tree below the workspace root, sorted.
    pub fn files_at(&self, commit: &CommitId) -> Result<Vec<RelativePath>, GitError> {
        let files = self.files(&self.objects()?, commit)?.into_iter();
        Ok(files.filter(|(_, held)| is_regular(held.0)).map(|(path, _)| path).collect())
    }

    /// Every regular file below the workspace root that the index holds, sorted.
    pub fn tracked(&self) -> Result<Vec<RelativePath>, GitError> {
        let index = self.index(&self.objects()?)?;
        Ok(index
            .entries
            .into_iter()
            .filter(|(_, entry)| entry.is_regular())
            .map(|(p, _)| p)
            .collect())
    }

    /// Files that differ between a commit (`None`: nothing yet) and the work tree (untracked files that git does not ignore included) or the index, sorted by path.
    ///
    /// Links and submodules are no files here.
    pub fn changes(
        &self,
        base: Option<&CommitId>,
        target: &Target,
    ) -> Result<Vec<Change>, GitError> {
        let mut changes = self.all_changes(base, target)?;
        changes.retain(|change| change.aspect == Aspect::Content);
        Ok(changes)
    }

    /// Like [`Self::changes`], with modes, links and submodules.
    ///
    /// Contents are compared byte for byte; a file that git's own stamps call untouched is not read. What lies in a
    /// nested workspace is not ours. A sparse checkout's absent files, and submodules, count as they stand in the index.
    pub fn all_changes(
        &self,
        base: Option<&CommitId>,
        target: &Target,
    ) -> Result<Vec<Change>, GitError> {
        let repo = self.objects()?;
        let before = || match base {
            Some(commit) => self.files(&repo, commit),
            None => Ok(Files::new()),
        };
        let mut changes = match target {
            Target::Index => compare::with_index(&before()?, &self.index(&repo)?),
            Target::WorkTree => {
                compare::with_work_tree(self, &repo, &before()?, &self.index(&repo)?)?
            }
            Target::Commit(commit) => self.changes_between(base, commit)?,
        };
        let mut nested = discover::NestedRoots::of(&self.root);
        changes.retain(|change| !nested.hold(&change.path));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    /// Whether history is cut off.
    pub fn is_shallow(&self) -> bool {
        self.handle().is_shallow().unwrap_or(false)
    }

    /// The git directory of this work tree.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The repository, for what is told without reading an object: references, settings and the index.
    fn handle(&self) -> gix::Repository {
        self.repository.to_thread_local()
    }

    /// The git directory that all work trees of the repository share.
    fn common(&self) -> PathBuf {
        self.root.common_dir().unwrap_or_else(|| self.dir.clone())
    }

    /// The repository, for callers that read objects. The files that hold objects are looked at first, once.
    fn objects(&self) -> Result<gix::Repository, GitError> {
        let look = || sound::obstacle_of_objects(&self.dir, &self.common());
        match self.obstacle_of_objects.get_or_init(look) {
            Some(reason) => Err(self.unreadable(reason)),
            None => Ok(self.handle()),
        }
    }

    fn unreadable(&self, error: impl std::fmt::Display) -> GitError {
        let path = self.dir.display().to_string();
        GitError::Unreadable { path, reason: format!("{error}; `git fsck` says more") }
    }

    fn parse(&self, commit: &CommitId) -> Result<gix::ObjectId, GitError> {
        gix::ObjectId::from_hex(commit.0.as_bytes()).map_err(|_| GitError::UnknownRevision {
            revision: commit.0.clone(),
            shallow: self.is_shallow(),
        })
    }

    fn ids_in(&self, file: &str) -> Result<Vec<gix::ObjectId>, GitError> {
        const MAX: u64 = 64 * 1024;
        let bytes = store::read_capped(&self.dir.join(file), MAX)
            .map_err(|error| self.unreadable(error))?
            .unwrap_or_default();
        Ok(bytes.lines().filter_map(|line| gix::ObjectId::from_hex(line.trim()).ok()).collect())
    }

    fn tree<'r>(
        &self,
        repo: &'r gix::Repository,
        commit: &CommitId,
    ) -> Result<gix::Tree<'r>, GitError> {
        let id = self.parse(commit)?;
        if !repo.has_object(id) {
            return Err(GitError::UnknownRevision {
                revision: commit.0.clone(),
                shallow: self.is_shallow(),
            });
        }
        repo.find_commit(id).and_then(|commit| commit.tree()).map_err(|e| self.unreadable(e))
    }

    fn blob(&self, repo: &gix::Repository, id: gix::ObjectId) -> Result<Vec<u8>, GitError> {
        let bytes = repo.find_header(id).map_err(|error| self.unreadable(error))?.size();
        if bytes > store::MAX_CONTENT {
            return Err(GitError::TooLarge { id: id.to_string(), bytes });
        }
        repo.find_blob(id).map(|mut blob| blob.take_data()).map_err(|e| self.unreadable(e))
    }

    /// What a commit holds below the workspace root.
    fn files(&self, repo: &gix::Repository, commit: &CommitId) -> Result<Files, GitError> {
        let tree = self.tree(repo, commit)?;
        let folder = self.prefix.trim_end_matches('/');
        if folder.is_empty() {
            return self.files_below(&tree, "");
        }
        let entry = tree
            .lookup_entry(folder.split('/').map(str::as_bytes))
            .map_err(|error| self.unreadable(error))?;
        let Some(entry) = entry.filter(|entry| entry.mode().is_tree()) else {
            return Ok(Files::new());
        };
        let tree = repo.find_tree(entry.object_id()).map_err(|error| self.unreadable(error))?;
        self.files_below(&tree, "")
    }

    /// What a tree holds, the paths behind `prefix`.
    fn files_below(&self, tree: &gix::Tree<'_>, prefix: &str) -> Result<Files, GitError> {
        let entries =
            tree.traverse().breadthfirst.files().map_err(|error| self.unreadable(error))?;
        Ok(entries
            .into_iter()
            .filter(|entry| !entry.mode.is_tree())
            .filter_map(|entry| {
                let held = (entry.mode.kind(), Some(entry.oid));
                Some((as_path(prefix, entry.filepath.as_bstr())?, held))
            })
            .collect())
    }
}

/// The repository of a git directory, and of the one it shares with other work trees.
fn opened(dir: &Path, common: &Path) -> Result<gix::ThreadSafeRepository, String> {
    match sound::obstacle(dir, common) {
        Some(reason) => Err(reason),
        None => gix::open::Options::isolated()
            .strict_config(false)
            .open_path_as_is(true)
            .open(dir)
            .map_err(|error| error.to_string()),
    }
}

/// The commit that is checked out, without looking whether it is there; `None` before the first commit.
fn head_of(repo: &gix::Repository) -> Result<Option<gix::ObjectId>, String> {
    let head = repo.head().map_err(|error| error.to_string())?;
    let detached = head.id().map(gix::Id::detach);
    let Some(mut branch) = head.try_into_referent() else { return Ok(detached) };
    let id = branch.follow_to_object().map_err(|error| error.to_string())?;
    Ok(Some(id.detach()))
}

/// How references are stored, where not as files: read as files they would seem not to exist.
fn foreign_references(repository: &gix::ThreadSafeRepository) -> Option<String> {
    let repo = repository.to_thread_local();
    let format = repo.config_snapshot().string("extensions.refStorage")?.to_string();
    (format != "files").then_some(format)
}

/// The index that git handed to a hook, if it lies where git puts such files.
fn handed_index(given: Option<OsString>, dir: &Path, top: &Path) -> Option<PathBuf> {
    let path = real(&top.join(given?)).ok()?.path;
    path.starts_with(dir).then_some(path)
}

fn commit_id(id: gix::ObjectId) -> CommitId {
    CommitId(id.to_hex().to_string())
}

fn is_regular(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable)
}

/// A path from git's own files; `None` (and a log line) where no workspace path can say it.
fn as_path(prefix: &str, path: &BStr) -> Option<RelativePath> {
    let text = path.to_str().ok().map(|path| format!("{prefix}{path}"));
    let same = |text: String| RelativePath::new(&text).ok().filter(|path| path.as_str() == text);
    let found = text.and_then(same);
    if found.is_none() {
        tracing::warn!(%path, "a path in git that is not UTF-8, or not a plain path, was skipped");
    }
    found
}
