//! Reads history: the parents of commits, the files in which two commits differ, and the commits
//! that added a file.

use std::collections::{BTreeMap, HashSet, btree_map};

use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::EntryKind;
use gix::revision::walk::{Platform, Sorting};
use gix::traverse::commit::simple::CommitTimeOrder;
use gix::{ObjectId, Repository};

use super::{
    CommitId, ComparedFiles, FileBlobs, FileContents, Git, GitError, GitResult, IsWanted,
    ObjectReader, PathChange, Target, TreeChild, TwoTrees, as_path, commit_id, compare, is_regular,
    lossy_path,
};
use crate::RelativePath;
use crate::parallel::in_parallel;

const SHARE: usize = 256;

/// How much older than its parents a commit may claim to be, in seconds, because of a wrong clock.
pub const WRONG_CLOCK: i64 = 24 * 60 * 60;

const MAX_STEPS: usize = 10_000;

/// A straight line of more commits than this is not followed one by one.
const MAX_LINE: usize = 16;

/// A file that a commit has and none of its parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedFile {
    /// The path of the file inside the folder that was searched.
    pub name: String,
    pub commit: CommitId,
    pub blob: ObjectId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitInfo {
    pub parents: Vec<CommitId>,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The author's name; without the e-mail address.
    pub author: String,
    pub committer: String,
    /// When the author wrote it, in seconds since 1970.
    pub time: i64,
    pub subject: String,
    pub email: String,
    pub message: String,
}

impl Git {
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

    fn commit<'r>(&self, repo: &'r Repository, id: &CommitId) -> GitResult<gix::Commit<'r>> {
        self.find_commit(repo, self.object_id(id)?)
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
        let seen = self.object_ids(seen.iter().copied())?;
        Ok(self.unseen(self.object_id(head)?, seen, limit)?.into_iter().map(commit_id).collect())
    }

    /// Returns the ancestors of `from`, including itself, that are not ancestors of a commit in `seen`.
    /// At most `limit`.
    fn unseen(
        &self,
        from: ObjectId,
        seen: Vec<ObjectId>,
        limit: usize,
    ) -> GitResult<Vec<ObjectId>> {
        if let Some(mut line) = self.line_since(from, &seen) {
            line.truncate(limit);
            return Ok(line);
        }
        let repo = self.all_objects()?;
        let mut found = self.ids_of_walk(repo.rev_walk([from]).with_hidden(seen.clone()), limit)?;
        // A walk that was cut short stays as long as it is, so that callers see that there are more.
        if seen.is_empty() || found.len() >= limit {
            return Ok(found);
        }
        // Where several commits are of the same second, the walk ends before it has hidden all.
        let hidden = self.inside(&repo, seen, found.iter().copied().collect())?;
        found.retain(|id| !hidden.contains(id));
        Ok(found)
    }

    /// Returns the commits from `from` back to the first of the `seen` ones, which is left out. `None`
    /// if one of them has not exactly one parent, or there are many. Most questions are about the
    /// commits since the last hook, and a walk through the history reads more than they need.
    fn line_since(&self, from: ObjectId, seen: &[ObjectId]) -> Option<Vec<ObjectId>> {
        let (repo, mut line, mut at) = (self.handle(), Vec::new(), from);
        while !seen.contains(&at) {
            let commit = self.find_commit(&repo, at).ok()?;
            let mut parents = commit.parent_ids();
            let (Some(parent), None) = (parents.next(), parents.next()) else { return None };
            line.push(at);
            at = parent.detach();
            if line.len() > MAX_LINE {
                return None;
            }
        }
        Some(line)
    }

    fn ids_of_walk(&self, walk: Platform<'_>, limit: usize) -> GitResult<Vec<ObjectId>> {
        self.read(walk.all())?.take(limit).map(|info| Ok(self.read(info)?.id)).collect()
    }

    fn existing_commits<'a>(
        &self,
        repo: &Repository,
        commits: impl IntoIterator<Item = &'a CommitId>,
    ) -> Vec<ObjectId> {
        let ids = commits.into_iter().filter_map(|id| self.object_id(id).ok());
        let is_here = |id: &ObjectId| self.checked(repo, *id).is_ok_and(|repo| repo.has_object(id));
        ids.filter(is_here).collect()
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
        let (repo, from) = (self.handle(), self.object_id(head)?);
        let known = self.existing_commits(&repo, known);
        let unknown = self.unseen(from, known, limit.saturating_add(1))?;
        if unknown.len() > limit {
            return Ok(Vec::new());
        }
        let mut parents = vec![from];
        for id in &unknown {
            let commit = self.find_commit(&repo, *id)?;
            parents.extend(commit.parent_ids().map(gix::Id::detach));
        }
        let unknown: HashSet<ObjectId> = unknown.into_iter().collect();
        // A shallow clone lacks parents.
        parents.retain(|parent| !unknown.contains(parent) && repo.has_object(parent));
        parents.sort_unstable();
        parents.dedup();
        Ok(parents.into_iter().map(commit_id).collect())
    }

    pub fn trailers(&self, commit: &CommitId) -> GitResult<Vec<(String, String)>> {
        let repo = self.handle();
        let found = self.commit(&repo, commit)?;
        let message = self.read(found.message())?;
        let trailers = message.body().into_iter().flat_map(|body| body.trailers());
        Ok(trailers.map(|it| (it.token.to_string(), it.value.to_string())).collect())
    }

    /// Returns those of these commits that are not in the history of any of `heads`: those of other
    /// branches, those that a rebase replaced, and those that this repository does not have.
    ///
    /// This looks at everything that is not older than the commits. A walk that hides the histories of
    /// the heads ends too early where several commits are of the same second.
    pub fn outside(
        &self,
        heads: &[&CommitId],
        commits: HashSet<CommitId>,
    ) -> GitResult<HashSet<CommitId>> {
        let repo = self.all_objects()?;
        let asked = HashSet::from_iter(self.existing_commits(&repo, &commits));
        let inside = self.inside(&repo, self.object_ids(heads.iter().copied())?, asked)?;
        let mut outside = commits;
        outside.retain(|id| self.object_id(id).map_or(true, |id| !inside.contains(&id)));
        Ok(outside)
    }

    /// Returns those of the `asked` commits that are in the history of one of `heads`.
    fn inside(
        &self,
        repo: &Repository,
        heads: Vec<ObjectId>,
        mut asked: HashSet<ObjectId>,
    ) -> GitResult<HashSet<ObjectId>> {
        let times = asked.iter().chain(&heads).map(|id| Some(repo.find_commit(*id).ok()?.time()));
        let oldest = times.flatten().flatten().map(|time| time.seconds).min().unwrap_or_default();
        let order = Sorting::ByCommitTimeCutoff {
            order: CommitTimeOrder::NewestFirst,
            seconds: oldest.saturating_sub(WRONG_CLOCK),
        };
        let mut inside = HashSet::new();
        let mut walk = self.read(repo.rev_walk(heads).sorting(order).all())?;
        while !asked.is_empty()
            && let Some(info) = walk.next()
        {
            inside.extend(asked.take(&self.read(info)?.id));
        }
        Ok(inside)
    }

    /// Returns the author of a commit as `Name <e-mail>`.
    pub fn author(&self, commit: &CommitId) -> GitResult<String> {
        let Headline { author, email, .. } = self.headline(commit)?;
        Ok(format!("{author} <{email}>"))
    }

    pub fn changed_by(&self, commit: &CommitId) -> GitResult<HashSet<RelativePath>> {
        self.changed_against_each_parent(commit, |parent| {
            let found = self.changes_between(parent, commit)?;
            Ok(found.changes.into_iter().map(|change| change.path).chain(found.nameless).collect())
        })
    }

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

    pub fn is_ancestor(&self, of: &CommitId, one: &CommitId) -> GitResult<bool> {
        if self.line_since(self.object_id(of)?, &[self.object_id(one)?]).is_some() {
            return Ok(true);
        }
        Ok(self.merge_base(one, of)?.as_ref() == Some(one))
    }

    /// Returns these commits with all their ancestors.
    pub fn ancestors(&self, of: &[CommitId]) -> GitResult<HashSet<CommitId>> {
        let repo = self.all_objects()?;
        let visited = self.ids_of_walk(repo.rev_walk(self.object_ids(of)?), usize::MAX)?;
        Ok(visited.into_iter().map(commit_id).collect())
    }

    /// Returns those of the `asked` commits that are among these commits and their ancestors. The walk
    /// ends when it has found all, so it goes through the whole history only if one is not there. For
    /// several questions about one history, this is cheaper than [`Self::is_ancestor`].
    pub fn asked_ancestors<'a>(
        &self,
        of: &[CommitId],
        asked: impl IntoIterator<Item = &'a CommitId>,
    ) -> GitResult<HashSet<CommitId>> {
        let (mut left, mut found) = (HashSet::new(), HashSet::new());
        left.extend(asked.into_iter().filter_map(|commit| self.object_id(commit).ok()));
        if left.is_empty() {
            return Ok(found);
        }
        let repo = self.all_objects()?;
        for info in self.read(repo.rev_walk(self.object_ids(of)?).all())? {
            let id = self.read(info)?.id;
            if left.remove(&id) {
                found.insert(commit_id(id));
            }
            if left.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    fn object_ids<'a>(
        &self,
        of: impl IntoIterator<Item = &'a CommitId>,
    ) -> GitResult<Vec<ObjectId>> {
        of.into_iter().map(|commit| self.object_id(commit)).collect()
    }

    /// Returns the files that commits added to a folder of the workspace, newest commit first: the
    /// ancestors of `from` that are not ancestors of a commit in `seen`. A file that several commits
    /// added is listed with each. A commit whose trees this clone lacks is left out.
    pub fn added_below(
        &self,
        folder: &str,
        from: &CommitId,
        seen: &[CommitId],
    ) -> GitResult<Vec<AddedFile>> {
        let seen = self.existing_commits(&self.handle(), seen);
        let commits = self.unseen(self.object_id(from)?, seen, usize::MAX)?;
        let folder = self.path_in_repository(folder);
        let added_by = |reader: &mut ObjectReader<'_>, commit: ObjectId| {
            let added = match reader.added_to_folder(commit, folder.as_ref()) {
                Err(GitError::Missing { .. }) => Vec::new(),
                added => added?,
            };
            let files = added.into_iter().filter_map(|(name, blob)| {
                let name = String::from_utf8(name.into()).ok()?;
                Some(AddedFile { name, commit: commit_id(commit), blob })
            });
            Ok(files.collect())
        };
        let shares: Vec<&[ObjectId]> = commits.chunks(SHARE).collect();
        let added = in_parallel(&shares, |commits| {
            let mut reader = self.object_reader()?;
            let added = commits.iter().map(|commit| added_by(&mut reader, *commit));
            added.collect::<GitResult<Vec<Vec<AddedFile>>>>()
        });
        let added = added.into_iter().collect::<GitResult<Vec<_>>>()?;
        Ok(added.into_iter().flatten().flatten().collect())
    }

    pub fn read_below(
        &self,
        folder: &str,
        target: &Target,
        wanted: IsWanted<'_>,
    ) -> GitResult<FileContents> {
        self.read_blobs(&self.list_below(folder, target, wanted)?)
    }

    pub fn list_below(
        &self,
        folder: &str,
        target: &Target,
        wanted: IsWanted<'_>,
    ) -> GitResult<FileBlobs> {
        let repo = self.handle();
        let files: Vec<(RelativePath, ObjectId)> = match target {
            Target::Commit(commit) => {
                let tree = self.folder_at(&repo, commit, folder)?;
                let below = |tree| self.files_below(&repo, tree, &format!("{folder}/"));
                let held = tree.map(below).transpose()?.unwrap_or_default().entries.into_iter();
                let regular = held.filter(|(_, (kind, _))| is_regular(*kind));
                regular.filter_map(|(path, (_, id))| Some((path, id?))).collect()
            }
            Target::WorkTree | Target::Index => {
                let entries = self.index_below(&repo, folder)?.entries.into_iter();
                let is_below = |path: &RelativePath| {
                    folder.is_empty() || path.folders().any(|other| other == folder)
                };
                let regular = entries.filter(|(path, entry)| entry.is_regular() && is_below(path));
                regular.filter_map(|(path, entry)| Some((path, entry.id?))).collect()
            }
        };
        Ok(files.into_iter().filter(|(path, _)| wanted(path)).collect())
    }

    pub fn read_blobs(&self, files: &[(RelativePath, ObjectId)]) -> GitResult<FileContents> {
        let shares: Vec<_> = files.chunks(SHARE).collect();
        let read = in_parallel(&shares, |files| {
            let repo = self.handle();
            let files = files.iter();
            files.map(|(path, id)| Ok((path.clone(), self.blob(&repo, *id)?))).collect()
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
        let trees = (tree(before)?, tree(now)?);
        Ok(self.compared_trees(&repo, trees, format!("{folder}/").into())?.changes)
    }

    /// Returns the tree id of a folder of the workspace at a commit. An empty name is the workspace
    /// itself.
    pub(super) fn folder_at(
        &self,
        repo: &Repository,
        commit: &CommitId,
        folder: &str,
    ) -> GitResult<Option<ObjectId>> {
        let path = self.path_in_repository(folder);
        let entry = self.entry(repo, self.tree(repo, commit)?, path.as_ref())?;
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
        self.compared_trees(&repo, (before, root(commit)?), BString::default())
    }

    fn compared_trees(
        &self,
        repo: &Repository,
        trees: TwoTrees,
        prefix: BString,
    ) -> GitResult<ComparedFiles> {
        let mut found = ComparedFiles::default();
        for (path, before, now) in self.changed_entries(repo, trees, prefix)? {
            let held = |one: TreeChild| one.map(|(kind, id)| (kind, Some(id)));
            if path.to_str().is_err() {
                found.nameless.extend(lossy_path(path.as_ref()));
            } else if let Some(path) = as_path("", path.as_ref()) {
                found.changes.extend(compare::changes_between(&path, held(before), held(now)));
            }
        }
        Ok(found)
    }

    /// Returns the entries, other than folders, in which two trees differ, in the order of their
    /// paths. Folders that are the same are not read.
    pub(super) fn changed_entries(
        &self,
        repo: &Repository,
        trees: TwoTrees,
        prefix: BString,
    ) -> GitResult<Vec<(BString, TreeChild, TreeChild)>> {
        let mut changed = Vec::new();
        // Each folder with those of its entries that were not looked at yet.
        let mut open = vec![(prefix, self.entries_of_both(repo, trees)?)];
        while let Some((prefix, entries)) = open.last_mut() {
            let Some((name, (old, new))) = entries.next() else {
                open.pop();
                continue;
            };
            let tree = |one: TreeChild| one.filter(|one| one.0 == EntryKind::Tree);
            let file = |one: TreeChild| one.filter(|one| one.0 != EntryKind::Tree);
            let path: BString = [prefix.as_slice(), name.as_slice()].concat().into();
            if tree(old) != tree(new) {
                self.not_too_deep(open.len())?;
                let trees = (tree(old).map(|one| one.1), tree(new).map(|one| one.1));
                let inside = [path.as_slice(), b"/"].concat().into();
                open.push((inside, self.entries_of_both(repo, trees)?));
            }
            if file(old) != file(new) {
                changed.push((path, file(old), file(new)));
            }
        }
        Ok(changed)
    }

    /// Returns the entries of two trees by name, in the order of the names.
    fn entries_of_both(
        &self,
        repo: &Repository,
        (before, now): TwoTrees,
    ) -> GitResult<btree_map::IntoIter<BString, (TreeChild, TreeChild)>> {
        let mut both: BTreeMap<BString, (TreeChild, TreeChild)> = BTreeMap::new();
        if before != now {
            for (name, kind, id) in
                before.map_or(Ok(Vec::new()), |tree| self.entries(repo, tree))?
            {
                both.entry(name).or_default().0.get_or_insert((kind, id));
            }
            for (name, kind, id) in now.map_or(Ok(Vec::new()), |tree| self.entries(repo, tree))? {
                both.entry(name).or_default().1.get_or_insert((kind, id));
            }
        }
        Ok(both.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::TestFolder;

    #[test]
    fn commits_of_one_second_or_with_a_wrong_clock_are_found_in_a_history() {
        for time_of_head in [1_700_000_000, 900_000_000] {
            let place = TestFolder::new();
            place.git(&["init", "-q", "-b", "main"]);
            let tree = place.git(&["write-tree"]);
            let mut history: Vec<CommitId> = Vec::new();
            for at in 0..12 {
                let time = if at == 11 { time_of_head } else { 1_700_000_000 };
                let parent = history.last().map(|parent| format!("parent {}\n", parent.0));
                let (parent, who) = (parent.unwrap_or_default(), format!("A <a> {time} +0000"));
                place.write(
                    "commit",
                    &format!("tree {tree}{parent}author {who}\ncommitter {who}\n\nc\n"),
                );
                let made = place.git(&["hash-object", "-t", "commit", "-w", "commit"]);
                history.push(CommitId(made.trim().to_owned()));
            }
            let git = place.open("");
            let outside = git.outside(&[&history[11]], history.iter().cloned().collect());
            assert_eq!(outside.unwrap(), [].into(), "{time_of_head}");
        }
    }

    #[test]
    fn ancestors_are_told_from_other_commits() {
        let place = TestFolder::committed(&[("a", "1")]);
        let head = || CommitId(place.git(&["rev-parse", "HEAD"]).trim().to_owned());
        let first = head();
        place.git(&["switch", "-q", "-c", "topic"]);
        place.write("b", "1");
        place.commit("topic");
        let topic = head();
        place.git(&["switch", "-q", "main"]);
        place.commit("main");
        let main = head();
        let git = place.open("");
        let asked = [&main, &topic, &first];
        let found = git.asked_ancestors(std::slice::from_ref(&main), asked).unwrap();
        assert_eq!(asked.map(|one| found.contains(one)), [true, false, true]);
        assert_eq!(git.ancestors(std::slice::from_ref(&main)).unwrap(), found);
    }

    #[test]
    fn commits_since_others_are_the_same_as_in_git_across_merges() {
        let place = TestFolder::committed(&[("a", "1")]);
        let mut commits = vec![place.git(&["rev-parse", "HEAD"])];
        for step in 0..4 {
            place.git(&["switch", "-q", "-c", &format!("side{step}")]);
            for nth in 0..2 {
                place.write(&format!("log/{step}{nth}"), "x");
                commits.push(place.commit("side"));
            }
            place.git(&["switch", "-q", "main"]);
            if step % 2 == 0 {
                place.write(&format!("log/main{step}"), "x");
                commits.push(place.commit("main"));
            }
            place.git(&["merge", "-q", "--no-ff", "-m", "merge", &format!("side{step}")]);
            commits.push(place.git(&["rev-parse", "HEAD"]));
        }
        let commits: Vec<CommitId> =
            commits.iter().map(|id| CommitId(id.trim().to_owned())).collect();
        let git = place.open("");
        for head in &commits {
            for seen in &commits {
                let range = format!("{}..{}", seen.0, head.0);
                let listed = place.git(&["rev-list", &range]);
                let listed: HashSet<&str> = listed.lines().collect();
                let between = git.commits_between(&[seen], head, usize::MAX).unwrap();
                assert_eq!(between.iter().map(|it| &*it.0).collect::<HashSet<_>>(), listed);
                assert_eq!(between.len(), listed.len());
                let is_behind = place.git(&["merge-base", seen.0.as_str(), &head.0]);
                let is_ancestor = git.is_ancestor(head, seen).unwrap();
                assert_eq!(is_ancestor, is_behind.trim() == seen.0);
                let added = git.added_below("log", head, std::slice::from_ref(seen)).unwrap();
                assert!(added.iter().all(|file| listed.contains(&*file.commit.0)));
            }
        }
    }
}
