//! What commits did: their parents, the files in which two trees differ, and the commit that brought a file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use super::{Change, ChangeKind, CommitId, Git, GitError, Target, as_path, commit_id, is_regular};
use crate::workspace::RelativePath;

/// No more commits than this are looked at one by one.
const MAX_STEPS: usize = 10_000;

/// A commit that brought a file, and what it was made on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Brought {
    /// Behind the folder that was asked for.
    pub name: String,
    /// The commit.
    pub commit: String,
    /// Its parents.
    pub parents: Vec<String>,
    /// Whether the commit also took files away below that folder, and has one parent: then what it holds may have stood
    /// in those.
    #[serde(default)]
    pub moved: bool,
}

/// What a commit says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its parents.
    pub parents: Vec<CommitId>,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
}

impl Git {
    /// What a commit says of itself.
    pub fn about(&self, commit: &CommitId) -> Result<About, GitError> {
        let repo = self.repository.to_thread_local();
        let found = repo.find_commit(self.parse(commit)?).map_err(|e| self.unreadable(e))?;
        let time = found.time().map_err(|error| self.unreadable(error))?.seconds;
        Ok(About { parents: found.parent_ids().map(|id| commit_id(id.detach())).collect(), time })
    }

    /// The commits that lead to one and were made after a time, in seconds since 1970; newest first, at most so many.
    pub fn commits_since(
        &self,
        from: &CommitId,
        time: i64,
        limit: usize,
    ) -> Result<Vec<CommitId>, GitError> {
        let repo = self.repository.to_thread_local();
        let sorting =
            Sorting::ByCommitTimeCutoff { order: CommitTimeOrder::NewestFirst, seconds: time };
        let walk = repo.rev_walk([self.parse(from)?]).sorting(sorting).all();
        let mut commits = Vec::new();
        for info in walk.map_err(|error| self.unreadable(error))?.take(limit) {
            commits.push(commit_id(info.map_err(|error| self.unreadable(error))?.id));
        }
        Ok(commits)
    }

    /// Whether a commit has a regular file at a path.
    pub fn has_file(&self, commit: &CommitId, path: &RelativePath) -> Result<bool, GitError> {
        let repo = self.repository.to_thread_local();
        let full = format!("{}{path}", self.prefix);
        let tree = self.tree(&repo, commit)?;
        let entry = tree.lookup_entry(full.split('/').map(str::as_bytes));
        let entry = entry.map_err(|error| self.unreadable(error))?;
        Ok(entry.is_some_and(|entry| is_regular(entry.mode().kind())))
    }

    /// The folder that git looks for hooks in, and whether the repository's configuration names it.
    pub fn hooks_folder(&self) -> (PathBuf, bool) {
        let repo = self.repository.to_thread_local();
        let named = repo.config_snapshot().string("core.hooksPath");
        let named = named.and_then(|path| Some(PathBuf::from(path.to_str().ok()?)));
        let top = self.root.work_tree().unwrap_or(self.root.path());
        match named {
            Some(path) => (top.join(path), true),
            None => (repo.common_dir().join("hooks"), false),
        }
    }

    /// Whether a person said `git config intent.hooks false`: they want no hooks of ours in this repository.
    pub fn declines_hooks(&self) -> bool {
        let repo = self.repository.to_thread_local();
        repo.config_snapshot().boolean("intent.hooks") == Some(false)
    }

    /// The newest commit on the way to one, by first parents, that took a file away.
    pub fn removed(
        &self,
        from: &CommitId,
        path: &RelativePath,
    ) -> Result<Option<CommitId>, GitError> {
        let mut commit = from.clone();
        for _ in 0..MAX_STEPS {
            let Some(parent) = self.about(&commit)?.parents.into_iter().next() else { break };
            if self.has_file(&parent, path)? && !self.has_file(&commit, path)? {
                return Ok(Some(commit));
            }
            commit = parent;
        }
        Ok(None)
    }

    /// Whether one commit is the other, or an ancestor of it.
    pub fn is_ancestor(&self, of: &CommitId, one: &CommitId) -> Result<bool, GitError> {
        Ok(self.merge_base(one, of)?.as_ref() == Some(one))
    }

    /// For each file below a folder of the workspace the commit that brought it, of the commits that lead to `from` and
    /// not to one of `seen`. A file that several brought is named with each.
    pub fn brought(
        &self,
        folder: &str,
        from: &CommitId,
        seen: &[CommitId],
    ) -> Result<Vec<Brought>, GitError> {
        let repo = self.repository.to_thread_local();
        let known = seen.iter().filter_map(|id| self.parse(id).ok());
        let known: Vec<ObjectId> = known.filter(|id| repo.has_object(id)).collect();
        let walk = repo.rev_walk([self.parse(from)?]).with_hidden(known).all();
        let mut folders =
            Folders { path: format!("{}{folder}", self.prefix), known: HashMap::new() };
        let mut brought = Vec::new();
        for info in walk.map_err(|error| self.unreadable(error))? {
            let info = info.map_err(|error| self.unreadable(error))?;
            let Some(here) = folders.at(&repo, info.id) else { continue };
            let parents: Vec<ObjectId> = info.parent_ids.iter().copied().collect();
            let before: Vec<Option<ObjectId>> =
                parents.iter().map(|parent| folders.at(&repo, *parent)).collect();
            if before.contains(&Some(here)) {
                continue;
            }
            let before: Vec<ObjectId> = before.into_iter().flatten().collect();
            let (mut names, mut gone) = (Vec::new(), Vec::new());
            added(&repo, here, &before, "", &mut names);
            if let [parent] = before[..] {
                added(&repo, parent, &[here], "", &mut gone);
            }
            brought.extend(names.into_iter().map(|name| Brought {
                name,
                commit: info.id.to_hex().to_string(),
                parents: parents.iter().map(|id| id.to_hex().to_string()).collect(),
                moved: !gone.is_empty(),
            }));
        }
        Ok(brought)
    }

    /// The regular files below a folder of the workspace, in the index or at a commit, whose paths are wanted.
    pub fn read_below(
        &self,
        folder: &str,
        target: &Target,
        wanted: &dyn Fn(&RelativePath) -> bool,
    ) -> Result<Vec<(RelativePath, Vec<u8>)>, GitError> {
        let repo = self.repository.to_thread_local();
        let mut files: Vec<(RelativePath, ObjectId)> = Vec::new();
        match target {
            Target::Commit(commit) => {
                let tree = self.tree(&repo, commit)?;
                let path = format!("{}{folder}", self.prefix);
                let entry = tree.lookup_entry(path.split('/').map(str::as_bytes));
                let entry = entry.map_err(|error| self.unreadable(error))?;
                if let Some(entry) = entry.filter(|entry| entry.mode().is_tree()) {
                    let tree = repo.find_tree(entry.object_id());
                    let tree = tree.map_err(|error| self.unreadable(error))?;
                    files.extend(self.files_below(&tree, &format!("{folder}/"))?);
                }
            }
            Target::WorkTree | Target::Index => {
                let entries = self.index(&repo)?.entries.into_iter();
                let regular = entries.filter(|(_, entry)| entry.regular);
                files.extend(regular.filter_map(|(path, entry)| Some((path, entry.id?))));
            }
        }
        let wanted = files.into_iter().filter(|(path, _)| wanted(path));
        wanted.map(|(path, id)| Ok((path, self.blob(&repo, id)?))).collect()
    }

    /// The files that differ between two commits, of which the first may be nothing.
    pub(super) fn changes_between(
        &self,
        base: Option<&CommitId>,
        commit: &CommitId,
    ) -> Result<Vec<Change>, GitError> {
        let repo = self.repository.to_thread_local();
        let root = |commit: &CommitId| -> Result<Option<ObjectId>, GitError> {
            let tree = self.tree(&repo, commit)?;
            let folder = self.prefix.trim_end_matches('/');
            if folder.is_empty() {
                return Ok(Some(tree.id));
            }
            let entry = tree.lookup_entry(folder.split('/').map(str::as_bytes));
            let entry = entry.map_err(|error| self.unreadable(error))?;
            Ok(entry.filter(|entry| entry.mode().is_tree()).map(|entry| entry.object_id()))
        };
        let before = base.map(root).transpose()?.flatten();
        let mut found = Vec::new();
        differing(&repo, before, root(commit)?, "", &mut found);
        Ok(found)
    }
}

/// A folder at commits.
struct Folders {
    path: String,
    known: HashMap<ObjectId, Option<ObjectId>>,
}

impl Folders {
    fn at(&mut self, repo: &gix::Repository, commit: ObjectId) -> Option<ObjectId> {
        if let Some(known) = self.known.get(&commit) {
            return *known;
        }
        let find = || {
            let tree = repo.find_commit(commit).ok()?.tree().ok()?;
            let entry = tree.lookup_entry(self.path.split('/').map(str::as_bytes)).ok()??;
            entry.mode().is_tree().then(|| entry.object_id())
        };
        let found = find();
        self.known.insert(commit, found);
        found
    }
}

/// The entries of a tree by name: whether it is a folder, whether it is a regular file, and what it holds.
fn entries(repo: &gix::Repository, tree: ObjectId) -> BTreeMap<String, (bool, bool, ObjectId)> {
    let Ok(tree) = repo.find_tree(tree) else { return BTreeMap::new() };
    let entries = tree.iter().filter_map(Result::ok);
    entries
        .filter_map(|entry| {
            let name = entry.filename().to_str().ok()?.to_owned();
            let is_file = is_regular(entry.mode().kind());
            Some((name, (entry.mode().is_tree(), is_file, entry.object_id())))
        })
        .collect()
}

/// The files of a tree that none of the others has under the same name.
fn added(
    repo: &gix::Repository,
    tree: ObjectId,
    others: &[ObjectId],
    prefix: &str,
    names: &mut Vec<String>,
) {
    let others: Vec<_> = others.iter().map(|other| entries(repo, *other)).collect();
    for (name, (is_tree, is_file, id)) in entries(repo, tree) {
        let same = others.iter().filter_map(|other| other.get(&name));
        if is_tree {
            let same: Vec<ObjectId> = same.filter(|one| one.0).map(|one| one.2).collect();
            if !same.contains(&id) {
                added(repo, id, &same, &format!("{prefix}{name}/"), names);
            }
        } else if is_file && same.count() == 0 {
            names.push(format!("{prefix}{name}"));
        }
    }
}

fn differing(
    repo: &gix::Repository,
    before: Option<ObjectId>,
    now: Option<ObjectId>,
    prefix: &str,
    found: &mut Vec<Change>,
) {
    if before == now {
        return;
    }
    let of = |tree: Option<ObjectId>| tree.map(|tree| entries(repo, tree)).unwrap_or_default();
    let (before, now) = (of(before), of(now));
    let names: HashSet<&String> = before.keys().chain(now.keys()).collect();
    for name in names {
        let (old, new) = (before.get(name), now.get(name));
        if old == new {
            continue;
        }
        let full = format!("{prefix}{name}");
        let folder =
            |one: Option<&(bool, bool, ObjectId)>| one.filter(|one| one.0).map(|one| one.2);
        let file = |one: Option<&(bool, bool, ObjectId)>| one.is_some_and(|one| one.1);
        differing(repo, folder(old), folder(new), &format!("{full}/"), found);
        let kind = match (file(old), file(new)) {
            (false, false) => continue,
            (false, true) => ChangeKind::Added,
            (true, true) => ChangeKind::Modified,
            (true, false) => ChangeKind::Deleted,
        };
        found.extend(as_path("", full.as_str().into()).map(|path| Change { path, kind }));
    }
}
