//! Files whose path is not UTF-8, so no [`RelativePath`] can name them. Their text is never used,
//! but their changes are reported.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};

use super::{CommitId, Git, GitResult, Target, as_path};
use crate::workspace::{RelativePath, folder, ignores, store};

/// The ids of the contents of files, by path. An id is `None` if the content could not be read.
type ContentIds = BTreeMap<BString, Option<ObjectId>>;

impl Git {
    /// Returns the paths that are not UTF-8, among the files that differ between a commit and a
    /// target. Without a commit, all files of the target differ. Each invalid byte sequence is
    /// replaced by U+FFFD.
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
        Ok(paths.into_iter().filter_map(|path| lossy_path(path.as_bstr())).collect())
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
        let files = files.map(|entry| (entry.filepath, Some(entry.oid)));
        Ok(self.nameless(files))
    }

    fn nameless_in_index(&self) -> GitResult<ContentIds> {
        let Some(file) = self.index_file()? else { return Ok(ContentIds::new()) };
        let entries = file.entries().iter();
        let entries = entries.map(|entry| (entry.path(&file).to_owned(), Some(entry.id)));
        Ok(self.nameless(entries))
    }

    fn nameless_on_disk(&self) -> GitResult<ContentIds> {
        let hash = self.handle().object_hash();
        let with_id = |path: std::path::PathBuf| {
            let bytes = folder::read_below(self.root.path(), &path, store::MAX_CONTENT);
            let id = bytes.ok().and_then(|bytes| {
                gix::objs::compute_hash(hash, gix::object::Kind::Blob, &bytes).ok()
            });
            (BString::from(path.into_os_string().into_encoded_bytes()), id)
        };
        Ok(ignores::nameless(&self.root).into_iter().map(with_id).collect())
    }

    /// Selects the files below the workspace root whose path is not UTF-8. The given paths begin at
    /// the work tree, the returned ones at the workspace root.
    fn nameless(&self, files: impl Iterator<Item = (BString, Option<ObjectId>)>) -> ContentIds {
        let inside = files.filter_map(|(path, id)| {
            let path = path.strip_prefix(self.prefix.as_bytes())?;
            path.to_str().is_err().then(|| (path.into(), id))
        });
        inside.collect()
    }
}

fn lossy_path(path: &BStr) -> Option<RelativePath> {
    as_path("", path.to_str_lossy().as_ref().into())
}
