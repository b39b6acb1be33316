//! Reads commits, trees and contents by their ids, for walks through history.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::commit::ref_iter::Token;
use gix::objs::tree::EntryKind;
use gix::objs::{Exists as _, Kind};
use gix::odb::pack::cache::lru::MemoryCappedHashmap;
use gix::{ObjectId, Repository};

use super::{
    CommitId, Git, GitError, GitResult, IsWanted, TreeChild, as_path, head_of, is_regular,
};
use crate::parallel::locked_value;
use crate::{RelativePath, store};

/// The file, at the top of the repository, with the commits that only changed how code is written.
const IGNORED_COMMITS: &str = ".git-blame-ignore-revs";

/// How many bytes of objects a reader keeps, to undo the deltas of a pack.
const MAX_KEPT: usize = 4 * 1024 * 1024;
const MAX_FREE: usize = 4;
/// How many commits are kept, at about 150 bytes each.
const MAX_COMMITS: usize = 50_000;
const MAX_REMEMBERED: usize = 4 * 1024 * 1024;
const ANSWER_WEIGHT: usize = 256;

/// Reads the objects of one repository.
pub struct ObjectReader<'a> {
    git: &'a Git,
    repo: LentHandle,
    shallow: HashSet<ObjectId>,
    accepted: Option<ObjectId>,
    ignored: Option<HashSet<ObjectId>>,
    own_address: Option<Option<String>>,
    made_here: Option<HashSet<ObjectId>>,
    /// Contents that are in no object, such as those of files on disk.
    held: HashMap<ObjectId, Vec<u8>>,
}

/// The root trees of a commit and of one of its parents. `None` stands for a tree without files.
pub type TwoTrees = (Option<ObjectId>, Option<ObjectId>);

#[derive(Default)]
pub(super) struct Remembered {
    answers: HashMap<AskedTrees, (TreesAnswer, usize)>,
    /// The questions, oldest first.
    order: VecDeque<AskedTrees>,
    weight: usize,
}

type AskedTrees = (&'static str, TwoTrees);
type TreesAnswer = Arc<dyn Any + Send + Sync>;

impl Remembered {
    fn keep(&mut self, question: AskedTrees, answer: TreesAnswer, weight: usize) {
        let weight = weight + ANSWER_WEIGHT;
        if self.answers.insert(question, (answer, weight)).is_some() {
            return;
        }
        self.order.push_back(question);
        self.weight += weight;
        while self.weight > MAX_REMEMBERED && self.order.len() > 1 {
            let oldest = self.order.pop_front().and_then(|question| self.answers.remove(&question));
            self.weight -= oldest.map_or(0, |(_, weight)| weight);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitNode {
    pub tree: ObjectId,
    /// Empty for the commits at which a shallow clone ends; see `is_boundary`.
    pub parents: Vec<ObjectId>,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// Whether the parents are missing because the clone is shallow.
    pub is_boundary: bool,
}

/// A file in which two trees differ. Symbolic links and submodules are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedBlob {
    /// The path from the top of the repository.
    pub path: BString,
    /// The content before. `None` if the file is new.
    pub before: Option<ObjectId>,
    /// The content now. `None` if the file is gone.
    pub now: Option<ObjectId>,
}

/// The trees on the way to a path, and the content there. Two commits often share some of these
/// trees, and then the rest need not be read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreePlace {
    trees: Vec<ObjectId>,
    pub blob: Option<ObjectId>,
}

impl Git {
    pub fn object_reader(&self) -> GitResult<ObjectReader<'_>> {
        let repo = self.lend_handle();
        let shallow = self.read(repo.shallow_commits())?;
        let shallow = shallow.iter().flat_map(|ids| ids.iter().copied()).collect();
        let accepted = head_of(&repo).map_err(|error| self.unreadable(error))?;
        Ok(ObjectReader {
            git: self,
            repo,
            shallow,
            accepted,
            ignored: None,
            own_address: None,
            made_here: None,
            held: HashMap::new(),
        })
    }

    fn lend_handle(&self) -> LentHandle {
        let known = locked_value(&self.free_handles).pop();
        let handle = known.unwrap_or_else(|| {
            let mut repo = self.handle();
            repo.objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(MAX_KEPT)));
            repo
        });
        LentHandle { free: Arc::clone(&self.free_handles), handle: Some(handle) }
    }

    /// Returns the commits that were made in this work tree, as git notes it in the reflog of `HEAD`.
    fn commits_made_here(&self) -> HashSet<ObjectId> {
        let log = std::fs::read(self.handle().git_dir().join("logs/HEAD")).unwrap_or_default();
        let lines = gix::refs::file::log::iter::forward(&log).filter_map(Result::ok);
        lines.filter(|line| makes_commit(line.message)).map(|line| line.new_oid()).collect()
    }

    pub fn path_in_repository(&self, path: &str) -> BString {
        format!("{}{path}", self.prefix).into()
    }

    /// The reverse of [`Self::path_in_repository`]. `None` for a path outside of the workspace.
    pub fn path_in_workspace(&self, path: &BStr) -> Option<RelativePath> {
        as_path("", path.strip_prefix(self.prefix.as_bytes())?.as_bstr())
    }
}

/// Returns true unless a message in the reflog of `HEAD` says that git only went to a commit, as in
/// `pull: Fast-forward`, `checkout: moving from main to side` and `rebase (finish): returning to main`.
fn makes_commit(message: &BStr) -> bool {
    let (act, rest) = message.split_once_str(": ").unwrap_or((message, b""));
    let is_going = ["checkout", "reset", "clone", "branch"].iter().any(|it| act == it.as_bytes());
    let is_end = |end: &str| act.ends_with_str(end);
    !is_going
        && !is_end("(start)")
        && !is_end("(finish)")
        && !is_end("(abort)")
        && rest != b"Fast-forward"
}

pub(super) type KnownCommits = RwLock<HashMap<ObjectId, CommitNode>>;

/// A handle with the objects that it has cached. It is given back when it is dropped, so that the next
/// reader finds them.
struct LentHandle {
    free: Arc<Mutex<Vec<Repository>>>,
    handle: Option<Repository>,
}

impl Deref for LentHandle {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        self.handle.as_ref().expect("it is taken only when it is dropped")
    }
}

impl Drop for LentHandle {
    fn drop(&mut self) {
        let mut free = locked_value(&self.free);
        if free.len() < MAX_FREE {
            free.extend(self.handle.take());
        }
    }
}

impl TreePlace {
    pub fn outside_of_trees(blob: ObjectId) -> Self {
        Self { trees: Vec::new(), blob: Some(blob) }
    }
}

impl ObjectReader<'_> {
    /// Takes another commit than `HEAD` as the one whose rules count.
    pub fn accepting(self, commit: Option<&CommitId>) -> GitResult<Self> {
        let commit = commit.map(|commit| self.git.object_id(commit)).transpose()?;
        Ok(Self { accepted: commit.or(self.accepted), ..self })
    }

    /// Returns the commit whose rules count; see [`Self::accepting`]. `None` without a commit.
    pub fn tip(&self) -> Option<ObjectId> {
        self.accepted
    }

    pub fn ignores(&mut self, commit: ObjectId) -> GitResult<bool> {
        if self.ignored.is_none() {
            self.ignored = Some(self.ignored_commits()?);
        }
        Ok(self.ignored.as_ref().is_some_and(|ignored| ignored.contains(&commit)))
    }

    /// Returns what decides about answers besides the commits themselves: where a shallow clone
    /// ends, which commits are ignored, and which objects stand in for others.
    pub fn view_of_history(&mut self) -> GitResult<Vec<u8>> {
        if self.ignored.is_none() {
            self.ignored = Some(self.ignored_commits()?);
        }
        let mut view = Vec::new();
        for ids in [Some(&self.shallow), self.ignored.as_ref()] {
            let mut ids: Vec<&ObjectId> = ids.into_iter().flatten().collect();
            ids.sort_unstable();
            ids.into_iter().for_each(|id| view.extend_from_slice(id.as_slice()));
            view.push(b'\n');
        }
        for (replaced, by) in self.repo.objects.store_ref().replacements() {
            view.extend_from_slice(replaced.as_slice());
            view.extend_from_slice(by.as_slice());
        }
        Ok(view)
    }

    fn ignored_commits(&mut self) -> GitResult<HashSet<ObjectId>> {
        let Some(accepted) = self.accepted else { return Ok(HashSet::new()) };
        let tree = self.commit(accepted)?.tree;
        let Some(blob) = self.locate(tree, IGNORED_COMMITS.into(), None)?.blob else {
            return Ok(HashSet::new());
        };
        let text = self.blob(blob)?;
        let lines = text.lines().map(|line| line.split_str("#").next().unwrap_or_default().trim());
        Ok(lines.filter_map(|line| ObjectId::from_hex(line).ok()).collect())
    }

    /// Returns true if older commits are missing because the clone is shallow.
    pub fn is_shallow(&self) -> bool {
        !self.shallow.is_empty()
    }

    pub fn commit(&mut self, id: ObjectId) -> GitResult<CommitNode> {
        let known = {
            let commits = self.git.commits.read().unwrap_or_else(PoisonError::into_inner);
            commits.get(&id).cloned()
        };
        let node = known.map_or_else(|| self.read_commit(id), Ok)?;
        // Only this depends on the moment: a clone can be deepened.
        match self.shallow.contains(&id) {
            true => Ok(CommitNode { parents: Vec::new(), is_boundary: true, ..node }),
            false => Ok(node),
        }
    }

    fn read_commit(&mut self, id: ObjectId) -> GitResult<CommitNode> {
        let git = self.git;
        let commit = git.find_commit(&self.repo, id)?;
        let mut node = CommitNode { tree: id, parents: Vec::new(), time: 0, is_boundary: false };
        for token in commit.iter() {
            match git.read(token)? {
                Token::Tree { id } => node.tree = id,
                Token::Parent { id } => node.parents.push(id),
                Token::Committer { signature } => {
                    node.time = signature.seconds();
                    break;
                }
                _ => {}
            }
        }
        let mut known = git.commits.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MAX_COMMITS {
            known.insert(id, node.clone());
        }
        Ok(node)
    }

    /// Returns true if a commit was made in another clone: its author and committer have other addresses
    /// than `user.email`, and the reflog of `HEAD` does not say that it was made here. A pulled commit of
    /// Bob was made elsewhere; one of his that was picked with `git cherry-pick` was not. If
    /// `user.email` is not set, nobody can tell, and the answer is false.
    pub fn is_made_elsewhere(&mut self, id: ObjectId) -> GitResult<bool> {
        let git = self.git;
        let own = self.own_address.get_or_insert_with(|| git.configured("user.email"));
        let Some(own) = own else { return Ok(false) };
        let commit = git.find_commit(&self.repo, id)?;
        let (author, committer) =
            (git.read(commit.iter().author())?, git.read(commit.committer())?);
        let is_own = |address: &BStr| address.eq_ignore_ascii_case(own.as_bytes());
        if is_own(author.email) || is_own(committer.email) {
            return Ok(false);
        }
        let made_here = self.made_here.get_or_insert_with(|| git.commits_made_here());
        Ok(!made_here.contains(&id))
    }

    /// Returns the best common ancestors of commits, such as the parents of a merge.
    pub fn merge_bases(&mut self, commits: &[ObjectId]) -> GitResult<Vec<ObjectId>> {
        let Some((first, others)) = commits.split_first() else { return Ok(Vec::new()) };
        let bases = self.git.read(self.repo.merge_bases_many(*first, others))?;
        Ok(bases.into_iter().map(|id| id.detach()).collect())
    }

    /// Returns a hash of what a rebase and a cherry-pick keep of a commit: its author, the time, and the
    /// message, without the line of `git cherry-pick -x` at its end. It is the first 48 bits of SHA-256
    /// over these, as hexadecimal digits.
    pub fn authorship(&mut self, id: ObjectId) -> GitResult<String> {
        let commit = self.git.find_commit(&self.repo, id)?;
        let author = self.git.read(commit.iter().author())?;
        let message = without_pick_note(self.git.read(commit.message_raw())?);
        let text = format!("{} <{}> {}\n{message}", author.name, author.email, author.time);
        let mut digits = store::sha256(text.as_bytes());
        digits.truncate(12);
        Ok(digits)
    }

    pub fn locate(
        &mut self,
        tree: ObjectId,
        path: &BStr,
        known: Option<&TreePlace>,
    ) -> GitResult<TreePlace> {
        let mut located = TreePlace::default();
        let mut next = Some((EntryKind::Tree, tree));
        for name in path.split_str("/") {
            let Some((EntryKind::Tree, tree)) = next else { return Ok(located) };
            let depth = located.trees.len();
            if let Some(known) = known.filter(|known| known.trees.get(depth) == Some(&tree)) {
                located.trees.extend(&known.trees[depth..]);
                located.blob = known.blob;
                return Ok(located);
            }
            located.trees.push(tree);
            next = self.git.entry(&self.repo, tree, name.as_ref())?;
        }
        located.blob = next.filter(|(kind, _)| is_regular(*kind)).map(|(_, id)| id);
        Ok(located)
    }

    pub fn folder(&mut self, tree: ObjectId, path: &BStr) -> GitResult<Option<ObjectId>> {
        let entry = self.git.entry(&self.repo, tree, path)?;
        Ok(entry.filter(|(kind, _)| *kind == EntryKind::Tree).map(|(_, id)| id))
    }

    /// Returns the files of the index that a sparse checkout leaves out of the work tree.
    pub fn left_out_of_work_tree(
        &self,
        is_wanted: IsWanted<'_>,
    ) -> GitResult<Vec<(RelativePath, ObjectId)>> {
        self.git.list_left_out(is_wanted)
    }

    pub fn is_governed(&mut self, tree: ObjectId) -> GitResult<bool> {
        let place = self.git.path_in_repository(".orchestration");
        Ok(self.folder(tree, place.as_ref())?.is_some())
    }

    /// Returns those of these objects that the repository has. After the first one that it lacks,
    /// new packs are not looked for again.
    pub fn present_objects(&self, ids: impl IntoIterator<Item = ObjectId>) -> HashSet<ObjectId> {
        let mut objects = self.repo.objects.clone();
        let mut present = HashSet::new();
        for id in ids {
            match self.git.checked(&self.repo, id).is_ok().then(|| objects.exists(&id)) {
                Some(true) => drop(present.insert(id)),
                Some(false) => objects.refresh_never(),
                None => {}
            }
        }
        present
    }

    pub fn folders_in(&mut self, tree: ObjectId) -> GitResult<Vec<BString>> {
        let entries = self.git.entries(&self.repo, tree)?.into_iter();
        Ok(entries.filter(|one| one.1 == EntryKind::Tree).map(|one| one.0).collect())
    }

    pub fn files_in(&mut self, tree: ObjectId) -> GitResult<Vec<(BString, ObjectId)>> {
        let entries = self.git.entries(&self.repo, tree)?.into_iter();
        Ok(entries.filter(|one| is_regular(one.1)).map(|one| (one.0, one.2)).collect())
    }

    /// Returns the files in which two trees differ, without reading folders that are the same.
    pub fn changed_blobs(
        &mut self,
        before: Option<ObjectId>,
        now: Option<ObjectId>,
    ) -> GitResult<Arc<[ChangedBlob]>> {
        let weight = |changed: &Arc<[ChangedBlob]>| 128 * changed.len();
        let found = self.remembered("changed blobs", (before, now), weight, |reader| {
            let trees = (before, now);
            let changed = reader.git.changed_entries(&reader.repo, trees, BString::default())?;
            let blob = |one: TreeChild| one.filter(|one| is_regular(one.0)).map(|one| one.1);
            let blobs = changed.into_iter().map(|(path, before, now)| ChangedBlob {
                path,
                before: blob(before),
                now: blob(now),
            });
            Ok(blobs.filter(|one| one.before != one.now).collect())
        })?;
        Ok(Arc::clone(&found))
    }

    /// Returns what `find` finds out about two trees. The answer is kept, and `find` runs again
    /// only if other answers have pushed it out. `kind` says what is found out, and `weight` how
    /// many bytes the answer takes.
    pub fn remembered<T: Send + Sync + 'static>(
        &mut self,
        kind: &'static str,
        trees: TwoTrees,
        weight: impl FnOnce(&T) -> usize,
        find: impl FnOnce(&mut Self) -> GitResult<T>,
    ) -> GitResult<Arc<T>> {
        let git = self.git;
        let remembered = || locked_value(&git.remembered);
        let known = remembered().answers.get(&(kind, trees)).map(|(found, _)| Arc::clone(found));
        if let Some(known) = known.and_then(|known| known.downcast::<T>().ok()) {
            return Ok(known);
        }
        let found = Arc::new(find(self)?);
        remembered().keep((kind, trees), Arc::clone(&found) as TreesAnswer, weight(&found));
        Ok(found)
    }

    /// Returns the files below a folder that a commit has and none of its parents, with their paths
    /// there. Only folders that differ are read.
    pub fn added_to_folder(
        &mut self,
        commit: ObjectId,
        place: &BStr,
    ) -> GitResult<Vec<(BString, ObjectId)>> {
        let node = self.commit(commit)?;
        let Some(folder) = self.folder(node.tree, place)? else { return Ok(Vec::new()) };
        let mut others = Vec::new();
        for parent in &node.parents {
            let tree = self.commit(*parent)?.tree;
            match self.folder(tree, place)? {
                Some(other) if other == folder => return Ok(Vec::new()),
                other => others.push(other),
            }
        }
        let mut added = self.added_blobs(others.first().copied().flatten(), folder)?;
        for other in others.iter().skip(1) {
            let also = self.added_blobs(*other, folder)?;
            added.retain(|one| also.contains(one));
        }
        Ok(added)
    }

    fn added_blobs(
        &mut self,
        before: Option<ObjectId>,
        now: ObjectId,
    ) -> GitResult<Vec<(BString, ObjectId)>> {
        let changed = self.changed_blobs(before, Some(now))?;
        let added = changed.iter().filter(|one| one.before.is_none());
        Ok(added.filter_map(|one| Some((one.path.clone(), one.now?))).collect())
    }

    pub fn blob(&mut self, id: ObjectId) -> GitResult<Vec<u8>> {
        self.blob_up_to(id, store::MAX_CONTENT)
    }

    /// Reads the content of a file that has at most `max` bytes.
    pub fn blob_up_to(&mut self, id: ObjectId, max: u64) -> GitResult<Vec<u8>> {
        if let Some(held) = self.held.get(&id) {
            return Ok(held.clone());
        }
        self.git.blob_up_to(&self.repo, id, max)
    }

    /// Returns the error for an object that this clone lacks.
    pub fn missing_object(&self, id: impl std::fmt::Display) -> GitError {
        self.git.missing_object(id)
    }

    /// Takes a content that is not in the repository, so that it can be read by its id as if it were.
    pub fn hold(&mut self, bytes: Vec<u8>) -> GitResult<ObjectId> {
        let hash = self.repo.object_hash();
        let id = self.git.read(gix::objs::compute_hash(hash, Kind::Blob, &bytes))?;
        self.held.insert(id, bytes);
        Ok(id)
    }
}

/// Returns the message that a commit had before `git cherry-pick -x` picked it. Git ends each message
/// with a line feed.
fn without_pick_note(message: &BStr) -> Cow<'_, BStr> {
    let last_line = |text: &[u8]| text.rfind_byte(b'\n').map_or(0, |at| at + 1);
    let mut rest = message.trim_end();
    while rest[last_line(rest)..].starts_with(b"(cherry picked from commit ") {
        rest = rest[..last_line(rest)].trim_end();
    }
    match rest.len() == message.trim_end().len() {
        true => Cow::Borrowed(message),
        false => Cow::Owned([rest, b"\n"].concat().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::TestFolder;
    use super::without_pick_note;

    #[test]
    fn the_note_of_a_pick_is_no_part_of_the_message() {
        let note = "(cherry picked from commit 1a2b3c)";
        for (picked, message) in [
            (format!("Fix\n\n{note}\n"), "Fix\n"),
            (
                format!("Fix\n\nMore.\n\nSigned-off-by: Ada\n{note}\n"),
                "Fix\n\nMore.\n\nSigned-off-by: Ada\n",
            ),
            (format!("Fix\n\n{note}\n{note}\n"), "Fix\n"),
            (format!("Fix {note}\n"), &*format!("Fix {note}\n")),
            (format!("{note}\n\nFix\n\n"), &*format!("{note}\n\nFix\n\n")),
        ] {
            assert_eq!(
                *without_pick_note(picked.as_str().into()),
                *message.as_bytes(),
                "{picked:?}"
            );
        }
    }

    /// Git packs objects in the background, and so also while a question is answered.
    #[test]
    fn a_reader_finds_objects_that_git_has_packed_in_the_meantime() {
        let ways = [("", "repack -dq"), ("", "gc -q"), ("repack -dq", "repack -adq")];
        for (before, meanwhile) in ways {
            let place = TestFolder::committed(&[("a", "one")]);
            if !before.is_empty() {
                place.git(&Vec::from_iter(before.split(' ')));
            }
            place.write("a", "two");
            place.commit("second");
            let git = place.open("");
            let [first, second] = ["HEAD~1", "HEAD"].map(|name| git.resolve(name).unwrap());
            let [first, second] = [first, second].map(|commit| git.object_id(&commit).unwrap());
            let mut reader = git.object_reader().unwrap();
            reader.commit(first).unwrap();
            place.git(&Vec::from_iter(meanwhile.split(' ')));
            for (commit, text) in [(first, "one"), (second, "two")] {
                let present = reader.present_objects([commit]);
                assert!(present.contains(&commit), "{before}, {meanwhile}: {text}");
                let tree = reader.commit(commit).unwrap().tree;
                let blob = reader.locate(tree, "a".into(), None).unwrap().blob.unwrap();
                assert_eq!(reader.blob(blob).unwrap(), text.as_bytes(), "{before}, {meanwhile}");
            }
        }
    }
}
