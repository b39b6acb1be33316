//! Files whose path is not UTF-8, so no [`RelativePath`] can name them. Their text is never used,
//! but their changes are reported.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::entry::{Flags, Mode};
use gix::objs::tree::EntryKind;

use super::index::Tracked;
use super::{CommitId, Git, GitResult, Target, as_path, compare};
use crate::{RelativePath, discover, folder, ignores, store};

/// The ids of the contents of files, by path. An id is `None` if the content could not be read.
type ContentIds = BTreeMap<BString, Option<ObjectId>>;

impl Git {
    /// Returns the paths that are not UTF-8, among the files that differ between a commit and a
    /// target. Without a commit, all files of the target differ. Files in nested workspaces are
    /// left out. Each invalid byte sequence is replaced by U+FFFD.
    pub fn nameless_changes(
        &self,
        base: Option<&CommitId>,
        target: &Target,
    ) -> GitResult<BTreeSet<RelativePath>> {
        let before = base.map(|base| self.nameless_at(base)).transpose()?.unwrap_or_default();
        let now = match target {
            Target::Commit(commit) => self.nameless_at(commit)?,
            Target::Index => self.nameless_in_index()?,
            Target::WorkTree => self.nameless_on_disk()?,
        };
        let differs = |path: &&BString| before.get(*path) != now.get(*path);
        let paths: BTreeSet<&BString> = before.keys().chain(now.keys()).filter(differs).collect();
        let mut nested = discover::NestedRoots::from_policy_of(&self.root);
        let paths = paths.into_iter().filter_map(|path| lossy_path(path.as_bstr()));
        Ok(paths.filter(|path| !nested.hold(path)).collect())
    }

    /// Returns the paths that are not UTF-8, among the files that a commit changes compared with
    /// each of its parents.
    pub fn nameless_changed_by(&self, commit: &CommitId) -> GitResult<HashSet<RelativePath>> {
        let target = Target::Commit(commit.clone());
        self.changed_against_each_parent(commit, |parent| {
            Ok(self.nameless_changes(parent, &target)?.into_iter().collect())
        })
    }

    fn nameless_at(&self, commit: &CommitId) -> GitResult<ContentIds> {
        let repo = self.objects()?;
        let tree = self.tree(&repo, commit)?;
        let entries = self.read(tree.traverse().breadthfirst.files())?.into_iter();
        let files = entries.filter(|entry| !entry.mode.is_tree());
        let files = files.filter_map(|entry| Some((self.nameless(&entry.filepath)?, entry.oid)));
        Ok(files.map(|(path, id)| (path, Some(id))).collect())
    }

    fn nameless_in_index(&self) -> GitResult<ContentIds> {
        let tracked = self.nameless_tracked()?.into_iter();
        Ok(tracked.filter_map(|(path, entry)| Some((path, entry.tree_entry()?.1))).collect())
    }

    /// Returns the entries of the index whose path is not UTF-8.
    fn nameless_tracked(&self) -> GitResult<BTreeMap<BString, Tracked>> {
        let mut found = BTreeMap::new();
        let Some(file) = self.index_file()? else { return Ok(found) };
        for entry in file.entries() {
            let path = entry.path(&file);
            if entry.mode != Mode::DIR {
                found.extend(self.nameless(path).map(|path| (path, Tracked::from_entry(entry))));
                continue;
            }
            let repo = self.objects()?;
            let tree = self.read(repo.find_tree(entry.id))?;
            let inner = self.read(tree.traverse().breadthfirst.files())?.into_iter();
            found.extend(inner.filter(|inner| !inner.mode.is_tree()).filter_map(|inner| {
                let path = [path.as_bytes(), inner.filepath.as_bytes()].concat();
                let tracked = Tracked::left_out(inner.mode.kind(), Some(inner.oid));
                Some((self.nameless(&path)?, tracked))
            }));
        }
        Ok(found)
    }

    fn nameless_on_disk(&self) -> GitResult<ContentIds> {
        let tracked = self.nameless_tracked()?;
        let seen = ignores::nameless(&self.root).into_iter();
        let seen = seen.map(|path| BString::from(path.into_os_string().into_encoded_bytes()));
        let paths: BTreeSet<BString> = seen.chain(tracked.keys().cloned()).collect();
        let hash = self.handle().object_hash();
        let with_id = |path: BString| {
            let id = self.id_on_disk(&path, tracked.get(&path), hash)?;
            Some((path, id))
        };
        Ok(paths.into_iter().filter_map(with_id).collect())
    }

    /// Returns the id of the content at a path on disk. `None` if there is no file, symbolic link
    /// or submodule. For a submodule that is not checked out, and for a file that a sparse checkout
    /// leaves out, the entry of the index counts.
    fn id_on_disk(
        &self,
        path: &BString,
        tracked: Option<&Tracked>,
        hash: gix::hash::Kind,
    ) -> Option<Option<ObjectId>> {
        let below = gix::path::from_bstr(path.as_bstr()).ok()?;
        let absolute = self.root.path().join(&below);
        let submodule = tracked.filter(|entry| entry.kind == Some(EntryKind::Commit));
        if let Some(entry) = submodule {
            return Some(compare::checked_out(&absolute).or(entry.id));
        }
        let Ok(found) = std::fs::symlink_metadata(&absolute) else {
            let is_left_out = |entry: &&Tracked| entry.flags.contains(Flags::SKIP_WORKTREE);
            return tracked.filter(is_left_out).map(|entry| entry.id);
        };
        let bytes = match found.file_type() {
            kind if kind.is_dir() => return None,
            kind if kind.is_symlink() => {
                std::fs::read_link(&absolute).map(|to| to.into_os_string().into_encoded_bytes())
            }
            _ => folder::read_below(self.root.path(), &below, store::MAX_CONTENT),
        };
        let id = |bytes: Vec<u8>| gix::objs::compute_hash(hash, gix::object::Kind::Blob, &bytes);
        Some(bytes.ok().and_then(|bytes| id(bytes).ok()))
    }

    /// Returns the part of a path below the workspace root, if it is not UTF-8. The given path
    /// begins at the top of the work tree.
    fn nameless(&self, path: &[u8]) -> Option<BString> {
        let below = path.strip_prefix(self.prefix.as_bytes())?;
        below.to_str().is_err().then(|| below.into())
    }
}

fn lossy_path(path: &BStr) -> Option<RelativePath> {
    as_path("", path.to_str_lossy().as_ref().into())
}
