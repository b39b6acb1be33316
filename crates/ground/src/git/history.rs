//! Reads history: the parents of commits, the files in which two commits differ, and the commits
//! that added a file.

use std::collections::{BTreeMap, HashMap, HashSet};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use gix::revision::walk::{Info, Platform};

use super::{
    BlobId, CommitId, ComparedFiles, Git, GitResult, PathChange, Target, TreeEntry, TwoTrees,
    as_path, commit_id, compare, is_regular, lossy_path,
};
use crate::RelativePath;
use crate::parallel::in_parallel;

/// How many commits a thread takes at once.
const SHARE: usize = 256;
/// How many bytes of objects each thread caches.
const MAX_OBJECTS: usize = 32 * 1024 * 1024;
/// The maximum number of commits that [`Git::removed`] visits.
const MAX_STEPS: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedFile {
    /// The path of the file inside the folder that was searched.
    pub name: String,
    pub commit: CommitId,
    pub parent: Option<CommitId>,
}

/// The result of walking a part of history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkedHistory {
    pub commits: usize,
    /// The files that these commits added, newest commit first. A file that several commits added
    /// is listed with each.
    pub added: Vec<AddedFile>,
    /// The visited commits that are on the line of first parents, newest first.
    pub line: Vec<CommitId>,
    /// The first parent of the last commit in `line`, which was not visited. `None` if that commit
    /// is a root commit.
    pub onto: Option<CommitId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    pub parents: Vec<CommitId>,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
}

/// The parts of a commit that are shown to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The author's name; without the e-mail address.
    pub author: String,
    /// The committer's name, without the e-mail address.
    pub committer: String,
    /// When the author wrote it, in seconds since 1970.
    pub time: i64,
    /// The first paragraph of its message, on one line.
    pub subject: String,
    /// The author's address.
    pub email: String,
    /// The whole message.
    pub message: String,
}

impl Git {
    /// Returns the author, the committer and the subject of a commit.
    pub fn headline(&self, commit: &CommitId) -> GitResult<Headline> {
        let repo = self.handle();
        let found = self.commit(&repo, commit)?;
        let author = self.read(found.author())?;
        Ok(Headline {
            author: author.name.to_str_lossy().into_owned(),
            committer: self.read(found.committer())?.name.to_str_lossy().into_owned(),
            time: self.read(author.time())?.seconds,
            subject: self.read(found.message())?.summary().to_str_lossy().into_owned(),
            email: author.email.to_str_lossy().into_owned(),
            message: self.read(found.message_raw())?.to_str_lossy().into_owned(),
        })
    }

    fn commit<'r>(&self, repo: &'r gix::Repository, id: &CommitId) -> GitResult<gix::Commit<'r>> {
        let id = self.parse(id)?;
        self.read(self.checked(repo, id)?.find_commit(id))
    }

    pub fn commit_info(&self, commit: &CommitId) -> GitResult<CommitInfo> {
        let repo = self.handle();
        let found = self.commit(&repo, commit)?;
        let parents = found.parent_ids().map(|id| commit_id(id.detach())).collect();
        Ok(CommitInfo { parents, time: self.read(found.time())?.seconds })
    }

    /// Returns the ancestors of `head`, including itself, that are not ancestors of any commit in
    /// `seen`. At most `limit`.
    pub fn commits_between(
        &self,
        seen: &[&CommitId],
        head: &CommitId,
        limit: usize,
    ) -> GitResult<Vec<CommitId>> {
        let repo = self.all_objects()?;
        let seen = seen.iter().map(|id| self.parse(id)).collect::<Result<Vec<_>, _>>()?;
        let visited =
            self.commits_of_walk(repo.rev_walk([self.parse(head)?]).with_hidden(seen), limit)?;
        Ok(visited.into_iter().map(|info| commit_id(info.id)).collect())
    }

    /// Returns at most `limit` commits of a walk.
    fn commits_of_walk<'r>(&self, walk: Platform<'r>, limit: usize) -> GitResult<Vec<Info<'r>>> {
        self.read(walk.all())?.take(limit).map(|info| self.read(info)).collect()
    }

    /// Returns those of these commits that this repository has.
    fn existing_commits<'a>(
        &self,
        repo: &gix::Repository,
        commits: impl IntoIterator<Item = &'a CommitId>,
    ) -> Vec<ObjectId> {
        let ids = commits.into_iter().filter_map(|id| self.parse(id).ok());
        ids.filter(|id| repo.has_object(id)).collect()
    }

    /// Returns the commits at which the history of `head` meets that of the `known` commits. For
    /// example, if `head` is two commits ahead of the known commit A, this is A. If `head` is known
    /// itself, it is `head`. Empty if more than `limit` commits of that history are unknown.
    pub fn newest_known(
        &self,
        head: &CommitId,
        known: &[CommitId],
        limit: usize,
    ) -> GitResult<Vec<CommitId>> {
        let repo = self.all_objects()?;
        let from = self.parse(head)?;
        let walk = repo.rev_walk([from]).with_hidden(self.existing_commits(&repo, known));
        let unknown = self.commits_of_walk(walk, limit.saturating_add(1))?;
        if unknown.len() > limit {
            return Ok(Vec::new());
        }
        let mut parents = vec![from];
        parents.extend(unknown.iter().flat_map(|info| info.parent_ids.iter().copied()));
        let unknown: HashSet<ObjectId> = unknown.iter().map(|info| info.id).collect();
        parents.retain(|parent| !unknown.contains(parent));
        parents.sort_unstable();
        parents.dedup();
        Ok(parents.into_iter().map(commit_id).collect())
    }

    /// Returns the trailers at the end of a commit's message, each as token and value.
    pub fn trailers(&self, commit: &CommitId) -> GitResult<Vec<(String, String)>> {
        let repo = self.handle();
        let found = self.commit(&repo, commit)?;
        let message = self.read(found.message())?;
        let trailers = message.body().into_iter().flat_map(|body| body.trailers());
        Ok(trailers.map(|it| (it.token.to_string(), it.value.to_string())).collect())
    }

    /// Returns those of these commits that are not in the history of `head`: those of other branches,
    /// those that a rebase replaced, and those that this repository does not have.
    pub fn outside(
        &self,
        head: &CommitId,
        commits: HashSet<CommitId>,
    ) -> GitResult<HashSet<CommitId>> {
        let repo = self.all_objects()?;
        let here = self.existing_commits(&repo, &commits);
        let walk = repo.rev_walk(here.iter().copied()).with_hidden([self.parse(head)?]);
        let beyond: HashSet<ObjectId> =
            self.commits_of_walk(walk, usize::MAX)?.into_iter().map(|info| info.id).collect();
        let reached = here.into_iter().filter(|id| !beyond.contains(id)).map(commit_id);
        let reached: HashSet<CommitId> = reached.collect();
        Ok(commits.into_iter().filter(|commit| !reached.contains(commit)).collect())
    }

    /// Returns the author of a commit as `Name <e-mail>`.
    pub fn author(&self, commit: &CommitId) -> GitResult<String> {
        let repo = self.handle();
        let found = self.commit(&repo, commit)?;
        let author = self.read(found.author())?;
        Ok(format!("{} <{}>", author.name.to_str_lossy(), author.email.to_str_lossy()))
    }

    /// Returns the paths that a commit changes compared with each of its parents, also those that
    /// are not UTF-8.
    pub fn changed_by(&self, commit: &CommitId) -> GitResult<HashSet<RelativePath>> {
        self.changed_against_each_parent(commit, |parent| {
            let found = self.changes_between(parent, commit)?;
            Ok(found.changes.into_iter().map(|change| change.path).chain(found.nameless).collect())
        })
    }

    /// Returns the paths that `against` returns for each parent of a commit.
    pub(super) fn changed_against_each_parent(
        &self,
        commit: &CommitId,
        against: impl Fn(Option<&CommitId>) -> GitResult<HashSet<RelativePath>>,
    ) -> GitResult<HashSet<RelativePath>> {
        let parents = self.commit_info(commit)?.parents;
        let mut changed = against(parents.first())?;
        for parent in parents.iter().skip(1) {
            let other = against(Some(parent))?;
            changed.retain(|path| other.contains(path));
        }
        Ok(changed)
    }

    /// Returns the newest commit that removed a file, on the line of first parents of `from`.
    pub fn removed(&self, from: &CommitId, path: &RelativePath) -> GitResult<Option<CommitId>> {
        let mut commit = from.clone();
        for _ in 0..MAX_STEPS {
            let Some(parent) = self.commit_info(&commit)?.parents.into_iter().next() else { break };
            if self.has_file(&parent, path)? && !self.has_file(&commit, path)? {
                return Ok(Some(commit));
            }
            commit = parent;
        }
        Ok(None)
    }

    /// Returns true if the commit `one` is `of` or one of its ancestors.
    pub fn is_ancestor(&self, of: &CommitId, one: &CommitId) -> GitResult<bool> {
        Ok(self.merge_base(one, of)?.as_ref() == Some(one))
    }

    /// Returns these commits with all their ancestors. For many questions about one history, this is
    /// cheaper than [`Self::is_ancestor`].
    pub fn ancestors(&self, of: &[CommitId]) -> GitResult<HashSet<CommitId>> {
        let repo = self.all_objects()?;
        let tips = of.iter().map(|commit| self.parse(commit)).collect::<GitResult<Vec<_>>>()?;
        let visited = self.commits_of_walk(repo.rev_walk(tips), usize::MAX)?;
        Ok(visited.into_iter().map(|info| commit_id(info.id)).collect())
    }

    /// Visits the ancestors of `from` that are not ancestors of a commit in `seen`, and collects
    /// the files that they added to a folder of the workspace.
    pub fn walk(
        &self,
        folder: &str,
        from: &CommitId,
        seen: &[CommitId],
    ) -> GitResult<WalkedHistory> {
        let repo = self.all_objects()?;
        let from = self.parse(from)?;
        let walk = repo.rev_walk([from]).with_hidden(self.existing_commits(&repo, seen));
        let visited = self.commits_of_walk(walk, usize::MAX)?.into_iter();
        let commits: Vec<(ObjectId, Vec<ObjectId>)> =
            visited.map(|info| (info.id, info.parent_ids.to_vec())).collect();
        let folder = format!("{}{folder}", self.prefix);
        let shares: Vec<_> = commits.chunks(SHARE).collect();
        let added = in_parallel(&shares, |commits| self.added_by(&folder, commits));
        let first: HashMap<ObjectId, Option<ObjectId>> =
            commits.iter().map(|(id, parents)| (*id, parents.first().copied())).collect();
        let mut walked = WalkedHistory {
            commits: commits.len(),
            added: added.into_iter().flatten().collect(),
            ..WalkedHistory::default()
        };
        let mut next = Some(from);
        while let Some(id) = next {
            let Some(parent) = first.get(&id) else { break };
            walked.line.push(commit_id(id));
            next = *parent;
        }
        walked.onto = next.map(commit_id);
        Ok(walked)
    }

    fn added_by(&self, folder: &str, commits: &[(ObjectId, Vec<ObjectId>)]) -> Vec<AddedFile> {
        let mut repo = self.handle();
        // Most trees are read twice, for the commit itself and as the parent of the next one.
        repo.object_cache_size(MAX_OBJECTS);
        repo.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(MAX_OBJECTS)));
        let mut folders = FolderTrees { path: folder.to_owned(), known: HashMap::new() };
        let mut files = Vec::new();
        for (id, parents) in commits {
            let Some(here) = folders.tree_of_folder(&repo, *id) else { continue };
            let before: Vec<Option<ObjectId>> =
                parents.iter().map(|parent| folders.tree_of_folder(&repo, *parent)).collect();
            if before.contains(&Some(here)) {
                continue;
            }
            let before: Vec<ObjectId> = before.into_iter().flatten().collect();
            let mut names = Vec::new();
            added_files(&repo, here, &before, ("", 0), &mut names);
            files.extend(names.into_iter().map(|name| AddedFile {
                name,
                commit: commit_id(*id),
                parent: parents.first().copied().map(commit_id),
            }));
        }
        files
    }

    /// Reads the regular files below a folder of the workspace for which `wanted` is true, in the
    /// index or at a commit.
    pub fn read_below(
        &self,
        folder: &str,
        target: &Target,
        wanted: &dyn Fn(&RelativePath) -> bool,
    ) -> GitResult<Vec<(RelativePath, Vec<u8>)>> {
        self.read_blobs(&self.list_below(folder, target, wanted)?)
    }

    /// Like [`Self::read_below`], but returns the ids of the contents.
    pub fn list_below(
        &self,
        folder: &str,
        target: &Target,
        wanted: &dyn Fn(&RelativePath) -> bool,
    ) -> GitResult<Vec<(RelativePath, BlobId)>> {
        let repo = self.handle();
        let files: Vec<(RelativePath, ObjectId)> = match target {
            Target::Commit(commit) => match self.folder_at(&repo, commit, folder)? {
                Some(tree) => {
                    let held = self.files_below(&repo, tree, &format!("{folder}/"))?;
                    held.entries
                        .into_iter()
                        .filter_map(|(path, held)| regular(path, held))
                        .collect()
                }
                None => Vec::new(),
            },
            Target::WorkTree | Target::Index => {
                let entries = self.index(&repo)?.entries.into_iter();
                let regular = entries.filter(|(_, entry)| entry.is_regular());
                regular.filter_map(|(path, entry)| Some((path, entry.id?))).collect()
            }
        };
        let wanted = files.into_iter().filter(|(path, _)| wanted(path));
        Ok(wanted.map(|(path, id)| (path, BlobId(id))).collect())
    }

    /// Reads the contents of files that were listed before.
    pub fn read_blobs(
        &self,
        files: &[(RelativePath, BlobId)],
    ) -> GitResult<Vec<(RelativePath, Vec<u8>)>> {
        let shares: Vec<_> = files.chunks(SHARE).collect();
        let read = in_parallel(&shares, |files| {
            let repo = self.handle();
            let files = files.iter();
            files.map(|(path, id)| Ok((path.clone(), self.blob(&repo, id.0)?))).collect()
        });
        let read: Vec<Vec<_>> = read.into_iter().collect::<GitResult<_>>()?;
        Ok(read.into_iter().flatten().collect())
    }

    /// Returns the files below a folder of the workspace that differ between two commits. Folders
    /// with the same tree id are skipped.
    pub fn changes_below(
        &self,
        folder: &str,
        before: &CommitId,
        now: &CommitId,
    ) -> GitResult<Vec<PathChange>> {
        let repo = self.handle();
        let tree = |commit| self.folder_at(&repo, commit, folder);
        let mut found = ComparedFiles::default();
        let prefix = BString::from(format!("{folder}/"));
        self.collect_differing(&repo, (tree(before)?, tree(now)?), prefix, &mut found)?;
        Ok(found.changes)
    }

    /// Returns the tree id of a folder of the workspace at a commit. An empty name is the workspace
    /// itself.
    pub(super) fn folder_at(
        &self,
        repo: &gix::Repository,
        commit: &CommitId,
        folder: &str,
    ) -> GitResult<Option<ObjectId>> {
        let path = format!("{}{folder}", self.prefix);
        let path = path.trim_end_matches('/');
        let tree = self.tree(repo, commit)?;
        if path.is_empty() {
            return Ok(Some(tree.id));
        }
        let entry = self.entry(&tree, path)?;
        Ok(entry.filter(|(kind, _)| *kind == EntryKind::Tree).map(|(_, id)| id))
    }

    /// Returns the files that differ between two commits. Without `base`, all files of the second
    /// commit.
    pub(super) fn changes_between(
        &self,
        base: Option<&CommitId>,
        commit: &CommitId,
    ) -> GitResult<ComparedFiles> {
        let repo = self.handle();
        let root = |commit| self.folder_at(&repo, commit, "");
        let before = base.map(root).transpose()?.flatten();
        let mut found = ComparedFiles::default();
        self.collect_differing(&repo, (before, root(commit)?), BString::default(), &mut found)?;
        Ok(found)
    }

    /// Collects the entries in which two trees differ.
    fn collect_differing(
        &self,
        repo: &gix::Repository,
        trees: TwoTrees,
        prefix: BString,
        found: &mut ComparedFiles,
    ) -> GitResult<()> {
        let mut folders = vec![(trees, prefix, 0)];
        while let Some(((before, now), prefix, depth)) = folders.pop() {
            if before == now {
                continue;
            }
            self.not_too_deep(depth)?;
            let of = |tree: Option<ObjectId>| tree.map(|tree| self.entries(repo, tree)).transpose();
            let (before, now) = (of(before)?.unwrap_or_default(), of(now)?.unwrap_or_default());
            let names: HashSet<&BString> = before.keys().chain(now.keys()).collect();
            for name in names {
                let (old, new) = (before.get(name), now.get(name));
                if old == new {
                    continue;
                }
                let full = BString::from([prefix.as_slice(), name].concat());
                let is_tree = |one: &&(EntryKind, ObjectId)| one.0 == EntryKind::Tree;
                let folder =
                    |one: Option<&(EntryKind, ObjectId)>| one.filter(is_tree).map(|one| one.1);
                let held = |one: Option<&(EntryKind, ObjectId)>| {
                    one.filter(|one| !is_tree(one)).map(|one| (one.0, Some(one.1)))
                };
                let inside = BString::from([full.as_slice(), b"/"].concat());
                folders.push(((folder(old), folder(new)), inside, depth + 1));
                if full.to_str().is_err() {
                    let is_file = held(old).is_some() || held(new).is_some();
                    found.nameless.extend(lossy_path(full.as_ref()).filter(|_| is_file));
                } else if let Some(path) = as_path("", full.as_ref()) {
                    found.changes.extend(compare::changes_between(&path, held(old), held(new)));
                }
            }
        }
        Ok(())
    }

    fn entries(
        &self,
        repo: &gix::Repository,
        tree: ObjectId,
    ) -> GitResult<BTreeMap<BString, (EntryKind, ObjectId)>> {
        let tree = self.tree_of(repo, tree)?;
        let mut entries = BTreeMap::new();
        for entry in tree.iter() {
            let entry = self.read(entry)?;
            entries.insert(entry.filename().to_owned(), (entry.mode().kind(), entry.object_id()));
        }
        Ok(entries)
    }
}

/// The tree ids of one folder at several commits, cached.
struct FolderTrees {
    path: String,
    known: HashMap<ObjectId, Option<ObjectId>>,
}

impl FolderTrees {
    fn tree_of_folder(&mut self, repo: &gix::Repository, commit: ObjectId) -> Option<ObjectId> {
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

fn regular(path: RelativePath, (kind, id): TreeEntry) -> Option<(RelativePath, ObjectId)> {
    Some((path, id.filter(|_| is_regular(kind))?))
}

/// Collects the regular files of a tree, without those for which another tree has a regular file
/// of the same name. Evidence lies few folders deep, and what lies deeper is none.
fn added_files(
    repo: &gix::Repository,
    tree: ObjectId,
    others: &[ObjectId],
    (prefix, depth): (&str, usize),
    names: &mut Vec<String>,
) {
    const MAX_DEPTH: usize = 16;
    if depth > MAX_DEPTH {
        return;
    }
    let Ok(tree) = repo.find_tree(tree) else { return };
    let others: Vec<_> = others.iter().filter_map(|other| repo.find_tree(*other).ok()).collect();
    let mut others: Vec<_> = others.iter().map(|other| other.iter().peekable()).collect();
    for entry in tree.iter().filter_map(Result::ok) {
        let is_tree = entry.mode().is_tree();
        // Git sorts folders as if their names ended in a slash, so all trees can be read in
        // parallel.
        let order = |name: &[u8], is_tree: bool| {
            name.iter().copied().chain(is_tree.then_some(b'/')).collect::<Vec<u8>>()
        };
        let mut same: Vec<(EntryKind, ObjectId)> = Vec::new();
        for other in &mut others {
            while let Some(Ok(one)) = other.peek() {
                if one.filename() == entry.filename() {
                    same.push((one.mode().kind(), one.object_id()));
                    other.next();
                    break;
                }
                let before = order(one.filename(), one.mode().is_tree());
                if before > order(entry.filename(), is_tree) {
                    break;
                }
                other.next();
            }
        }
        let Ok(name) = entry.filename().to_str() else { continue };
        if !is_tree {
            let is_new = !same.iter().any(|one| is_regular(one.0));
            names.extend(
                (is_new && is_regular(entry.mode().kind())).then(|| format!("{prefix}{name}")),
            );
            continue;
        }
        let folders = same.iter().filter(|one| one.0 == EntryKind::Tree).map(|one| one.1);
        let folders: Vec<ObjectId> = folders.collect();
        if !folders.contains(&entry.object_id()) {
            let inside = format!("{prefix}{name}/");
            added_files(repo, entry.object_id(), &folders, (&inside, depth + 1), names);
        }
    }
}
