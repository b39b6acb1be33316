//! The index: the files that git tracks, and the stamps that it stores for them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::Entry;
use gix::index::entry::{Flags, Mode, Stage, Stat, stat};
use gix::index::fs::Metadata;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository};

use super::{
    ContentIds, FileBlobs, FileContents, Git, GitResult, IsWanted, TreeEntry, as_path, is_regular,
};
use crate::parallel::locked_value;
use crate::work_tree::WorkTree;
use crate::{RelativePath, cache};

/// In bytes: about 10,000 files.
const SMALL_INDEX: u64 = 1024 * 1024;

pub(super) struct Tracked {
    /// The id of the content. `None` if a merge conflict is unresolved.
    pub id: Option<ObjectId>,
    pub stat: Stat,
    pub flags: Flags,
    /// The kind of the entry. `None` if it has no content yet (`git add -N`).
    pub kind: Option<EntryKind>,
}

impl Tracked {
    pub(super) fn from_entry(entry: &Entry) -> Self {
        let id = (entry.stage() == Stage::Unconflicted).then_some(entry.id);
        Self { id, stat: entry.stat, flags: entry.flags, kind: kind_of(entry.mode, entry.flags) }
    }

    pub(super) fn left_out(kind: EntryKind, id: Option<ObjectId>) -> Self {
        Self { id, stat: Stat::default(), flags: Flags::SKIP_WORKTREE, kind: Some(kind) }
    }

    /// Returns the kind and the content of the entry. `None` if it has no content yet.
    pub(super) fn tree_entry(&self) -> Option<TreeEntry> {
        Some((self.kind?, self.id))
    }

    pub(super) fn is_regular(&self) -> bool {
        self.kind.is_some_and(is_regular)
    }
}

#[derive(Default)]
pub(super) struct Index {
    pub entries: BTreeMap<RelativePath, Tracked>,
    pub nameless: BTreeMap<BString, Tracked>,
    pub stamps: Stamps,
}

impl Index {
    fn insert(&mut self, path: &BStr, entry: Tracked) {
        if path.to_str().is_err() {
            self.nameless.insert(path.into(), entry);
        } else if let Some(path) = as_path("", path) {
            self.entries.insert(path, entry);
        }
    }

    pub(super) fn nameless_ids(&self) -> ContentIds {
        let entries = self.nameless.iter();
        entries.filter_map(|(path, entry)| Some((path.clone(), entry.tree_entry()?.1))).collect()
    }
}

#[derive(Default)]
pub(super) struct Stamps {
    /// When the index was written. `None` if there is none.
    pub(super) written: Option<stat::Time>,
    pub(super) options: stat::Options,
}

impl Stamps {
    pub(super) fn new(repo: &Repository, index: &gix::index::File) -> Self {
        let options = repo.stat_options().unwrap_or_default();
        Self { written: Some(index.timestamp().into()), options }
    }

    /// Returns true if the file on disk has the stamps of its entry in the index.
    ///
    /// A stamp that is as recent as the index proves nothing, because the file may have changed at the same
    /// moment. Where the entry has nanoseconds, they are compared, too. Otherwise all files of a clone that
    /// took less than a second would have to be read.
    pub(super) fn is_untouched(&self, entry: &Stat, found: &Metadata) -> bool {
        let (Some(written), Ok(now)) = (self.written, Stat::from_fs(found)) else { return false };
        let use_nsec = entry.mtime.nsecs != 0;
        let is_older = match use_nsec {
            true => entry.mtime < written,
            false => entry.mtime.secs < written.secs,
        };
        is_older && entry.matches(&now, stat::Options { use_nsec, ..self.options })
    }
}

impl Git {
    /// Returns the index. It is read again if its file changed, or may have changed.
    pub(super) fn index_file(&self) -> GitResult<Option<Arc<gix::index::File>>> {
        let now = SystemTime::now();
        let Ok(found) = self.index.metadata() else { return Ok(None) };
        let stamp = cache::FileStamp::from_metadata(&found).filter(|stamp| stamp.at_rest(now));
        let lock = || locked_value(&self.index_read);
        if let Some((then, file)) = &*lock()
            && Some(*then) == stamp
        {
            return Ok(Some(Arc::clone(file)));
        }
        let hash = self.handle().object_hash();
        // To ask how many threads there may be takes longer than to read a small index.
        let thread_limit = (found.len() < SMALL_INDEX).then_some(1);
        let options = gix::index::decode::Options { thread_limit, ..Default::default() };
        // As in git, the checksum is left to `git fsck`.
        let file = gix::index::File::at(&self.index, hash, true, options);
        let file = Arc::new(self.read(file)?);
        *lock() = stamp.map(|stamp| (stamp, Arc::clone(&file)));
        Ok(Some(file))
    }

    pub(super) fn index(&self, repo: &Repository) -> GitResult<Index> {
        self.index_below(repo, "")
    }

    /// Returns the entries of the index below a folder of the workspace. A sparse index may store a folder
    /// above as a single entry, so of such an index all entries are returned.
    pub(super) fn index_below(&self, repo: &Repository, folder: &str) -> GitResult<Index> {
        let mut index = Index::default();
        let Some(file) = self.index_file()? else { return Ok(index) };
        let mut below = self.path_in_repository(folder);
        if !folder.is_empty() {
            below.push(b'/');
        }
        let entries = match file.is_sparse() {
            true => file.entries(),
            false => file.prefixed_entries(below.as_ref()).unwrap_or_default(),
        };
        for entry in entries {
            let full = entry.path(&file);
            if entry.mode == Mode::DIR {
                self.add_sparse_folder(repo, full, entry.id, &mut index)?;
                continue;
            }
            if let Some(path) = full.strip_prefix(self.prefix.as_bytes()) {
                index.insert(path.as_bstr(), Tracked::from_entry(entry));
            }
        }
        index.stamps = Stamps::new(repo, &file);
        Ok(index)
    }

    /// Returns the files of the index that a sparse checkout leaves out of the work tree, with
    /// their contents.
    pub fn left_out(&self, is_wanted: IsWanted<'_>) -> GitResult<FileContents> {
        self.read_blobs(&self.list_left_out(is_wanted)?)
    }

    pub(super) fn list_left_out(&self, is_wanted: IsWanted<'_>) -> GitResult<FileBlobs> {
        if !self.dir.join("info/sparse-checkout").is_file() {
            return Ok(Vec::new());
        }
        let entries = self.index(&self.handle())?.entries.into_iter();
        let left_out = entries.filter(|(path, entry)| {
            entry.is_regular() && entry.flags.contains(Flags::SKIP_WORKTREE) && is_wanted(path)
        });
        Ok(left_out.filter_map(|(path, entry)| Some((path, entry.id?))).collect())
    }

    /// Returns the bytes of a file in a folder that a sparse index stores as a single entry. The
    /// path begins at the top of the work tree.
    pub(super) fn file_in_sparse_folder(
        &self,
        index: &gix::index::File,
        path: &str,
    ) -> GitResult<Option<Vec<u8>>> {
        let mut places = path.match_indices('/').map(|(at, _)| path.split_at(at + 1));
        let found = places.find_map(|(folder, rest)| {
            let entry = index.entry_by_path(folder.into())?;
            (entry.mode == Mode::DIR).then_some((entry.id, rest))
        });
        let Some((id, rest)) = found else { return Ok(None) };
        let repo = self.handle();
        let entry = self.entry(&repo, id, rest.into())?;
        let regular = entry.filter(|(kind, _)| is_regular(*kind));
        regular.map(|(_, id)| self.blob(&repo, id)).transpose()
    }

    /// Adds the files of a folder that a sparse index stores as a single entry, because the folder
    /// is not checked out.
    fn add_sparse_folder(
        &self,
        repo: &Repository,
        folder: &BStr,
        id: ObjectId,
        index: &mut Index,
    ) -> GitResult<()> {
        self.each_file(repo, id, folder.to_owned(), &mut |full, kind, id| {
            if let Some(path) = full.strip_prefix(self.prefix.as_bytes()) {
                index.insert(path.as_bstr(), Tracked::left_out(kind, Some(id)));
            }
        })
    }
}

/// Returns the files of a folder as the index lists them, if git noted there that the folder has exactly
/// this tree. `None` if it did not, or if the index does not list each of them.
///
/// Git stores the id of the tree for each folder when it writes the index, and takes it away when an
/// entry below the folder changes (`gitformat-index`, "Cache tree").
pub(super) fn files_of_tree<'i>(
    index: &'i gix::index::File,
    folder: &BStr,
    tree: ObjectId,
) -> Option<Vec<(&'i BStr, EntryKind, ObjectId)>> {
    let mut known = index.tree()?;
    for name in folder.split_str("/").filter(|name| !name.is_empty()) {
        known = known.children.iter().find(|child| *child.name == *name)?;
    }
    let count = known.num_entries.filter(|_| known.id == tree)?;
    let entries = index.prefixed_entries(folder)?;
    let file = |entry: &'i Entry| {
        let kind = kind_of(entry.mode, entry.flags)?;
        (entry.stage() == Stage::Unconflicted).then(|| (entry.path(index), kind, entry.id))
    };
    (entries.len() == count as usize).then(|| entries.iter().map(file).collect())?
}

/// Returns the kind of an entry that has content. An entry that was added with `git add -N` has
/// none yet.
pub(super) fn kind_of(mode: Mode, flags: Flags) -> Option<EntryKind> {
    let mode = mode.to_tree_entry_mode().filter(|_| !flags.contains(Flags::INTENT_TO_ADD))?;
    Some(mode.kind()).filter(|kind| *kind != EntryKind::Tree)
}

/// Returns the commit that is checked out in the folder of a submodule. `None` if the submodule is
/// not initialised.
pub(super) fn checked_out(folder: &Path) -> Option<ObjectId> {
    let tree = WorkTree::at_top(folder)?;
    let repository = super::open_checked(&tree.git_dir, &tree.common_dir).ok()?;
    super::head_of(&repository.to_thread_local()).ok()?
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::TestFolder;
    use super::super::{CommitId, Target};
    use super::*;

    /// Returns the files of a commit with their ids, as git lists them.
    fn listed(place: &TestFolder, commit: &str) -> Vec<String> {
        let lines = place.git(&["ls-tree", "-r", "--format=%(objectname) %(path)", commit]);
        lines.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_files_of_a_commit_and_of_a_folder_are_the_same_whatever_the_index_has() {
        let place = TestFolder::committed(&[("a/b/one", "1"), ("a/two", "2"), ("c/x y", "3")]);
        place.write("a/b/one", "other");
        place.write("d/new", "4");
        place.commit("second");
        let states: [&[&str]; 8] = [
            &["status"],
            &["read-tree", "HEAD~1"],
            &["read-tree", "HEAD"],
            &["rm", "-q", "--cached", "a/two"],
            &["add", "-N", "c/untracked"],
            &["add", "c/untracked"],
            &["commit", "-q", "-m", "third"],
            &["read-tree", "HEAD~1", "HEAD~2"],
        ];
        place.write("c/untracked", "5");
        let commits = ["HEAD", "HEAD~1"];
        for state in states {
            place.git(state);
            let git = place.open("");
            let staged = |folder| git.list_below(folder, &Target::Index, &|_| true).unwrap();
            let all = staged("");
            for folder in ["a", "a/b", "c", "d", "none"] {
                let is_below = |(path, _): &&(RelativePath, ObjectId)| {
                    path.as_str().starts_with(&format!("{folder}/"))
                };
                let expected: FileBlobs = all.iter().filter(is_below).cloned().collect();
                assert_eq!(staged(folder), expected, "{folder} after {state:?}");
            }
            for commit in commits {
                let id = CommitId(place.git(&["rev-parse", commit]).trim().to_owned());
                let files = git.files(&git.handle(), &id).unwrap().entries.into_iter();
                let mut found: Vec<String> = files
                    .map(|(path, (_, id))| format!("{} {path}", id.expect("no conflict")))
                    .collect();
                found.sort_by(|a, b| a[41..].cmp(&b[41..]));
                assert_eq!(found, listed(&place, commit), "{commit} after {state:?}");
            }
        }
    }

    #[test]
    fn folders_that_the_index_has_are_not_read_from_the_repository() {
        let place = TestFolder::committed(&[("a/one", "1"), ("b/two", "2")]);
        place.write("b/three", "3");
        place.git(&["add", "b/three"]);
        let git = place.open("");
        let file = git.index_file().unwrap().expect("an index");
        let tree = |path: &str| {
            ObjectId::from_hex(place.git(&["rev-parse", path]).trim().as_bytes()).unwrap()
        };
        let known = |folder: &str, tree| files_of_tree(&file, folder.into(), tree);
        let files = known("a/", tree("HEAD:a")).expect("unchanged");
        assert_eq!(files.iter().map(|(path, ..)| path.to_string()).collect::<Vec<_>>(), ["a/one"]);
        assert!(known("b/", tree("HEAD:b")).is_none(), "a file was added to it");
        assert!(known("a/", tree("HEAD:b")).is_none(), "another tree");
        assert!(known("", tree("HEAD^{tree}")).is_none(), "a folder in it changed");
    }
}
