//! Branches and stashes, and single files in commits and in the index.

use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;

use super::{CommitId, FileBlobs, Git, GitResult, Target, as_path, commit_id, is_regular};
use crate::RelativePath;

impl Git {
    /// Returns local and remote-tracking branches with their commits, most recent commits first, at
    /// most `max`. A branch that cannot be read is left out.
    pub fn branches(&self, max: usize) -> GitResult<Vec<(String, CommitId)>> {
        let repo = self.all_objects()?;
        let references = self.read(repo.references())?;
        let local = self.read(references.local_branches())?;
        let remote = self.read(references.remote_branches())?;
        let read = |reference| {
            let (commit, name) = branch_tip(reference)?;
            Some((commit.time().ok()?.seconds, name, commit_id(commit.id)))
        };
        let mut found: Vec<_> = local.map(read).chain(remote.map(read)).flatten().collect();
        found.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
        found.truncate(max);
        Ok(found.into_iter().map(|(_, name, commit)| (name, commit)).collect())
    }

    /// Returns the name of the branch that is checked out. `None` if a commit is checked out
    /// directly.
    pub fn branch(&self) -> Option<String> {
        let name = self.handle().head_name().ok()??;
        Some(name.shorten().to_string())
    }

    pub fn remote_branches(&self) -> GitResult<Vec<(String, CommitId)>> {
        let repo = self.all_objects()?;
        let references = self.read(repo.references())?;
        let remote = self.read(references.remote_branches())?;
        let tips = remote.filter_map(branch_tip);
        Ok(tips.map(|(commit, name)| (name, commit_id(commit.id))).collect())
    }

    pub fn default_branches(&self) -> GitResult<HashMap<String, String>> {
        let repo = self.all_objects()?;
        let references = self.read(repo.references())?;
        let remote = self.read(references.remote_branches())?;
        let read = |reference: Result<gix::Reference<'_>, _>| {
            let reference = reference.ok()?;
            let name = reference.name().shorten().to_string();
            let real = reference.target().try_name()?.shorten().to_string();
            name.ends_with("/HEAD").then_some((name, real))
        };
        Ok(remote.filter_map(read).collect())
    }

    /// Returns the regular files at these paths in a commit, in the order of the paths. A path to a
    /// folder gives the files directly in that folder.
    pub fn blobs_at(&self, commit: &CommitId, places: &[&str]) -> GitResult<FileBlobs> {
        let repo = self.handle();
        let tree = self.tree(&repo, commit)?;
        let mut found = Vec::new();
        for place in places {
            let entry = self.entry(&repo, tree, self.path_in_repository(place).as_ref())?;
            let Some((kind, id)) = entry else { continue };
            if is_regular(kind) {
                let path = as_path("", place.as_bytes().as_bstr());
                found.extend(path.map(|path| (path, id)));
            } else if kind == EntryKind::Tree {
                for (name, kind, id) in self.entries(&repo, id)? {
                    let path = as_path(&format!("{place}/"), name.as_ref());
                    found.extend(path.filter(|_| is_regular(kind)).map(|path| (path, id)));
                }
            }
        }
        Ok(found)
    }

    pub fn blobs_in_index(&self, places: &[&str]) -> GitResult<FileBlobs> {
        let found = self.in_index(places)?.into_iter();
        Ok(found.filter_map(|(path, blob)| Some((path, blob?))).collect())
    }

    fn in_index(&self, places: &[&str]) -> GitResult<Vec<(RelativePath, Option<ObjectId>)>> {
        let index = self.index(&self.handle())?;
        let asked = |path: &RelativePath| {
            let folder = path.as_str().rsplit_once('/').map(|(folder, _)| folder);
            places.iter().any(|place| path.as_str() == *place || folder == Some(place))
        };
        let regular = index.entries.into_iter().filter(|(path, it)| it.is_regular() && asked(path));
        Ok(regular.map(|(path, tracked)| (path, tracked.id)).collect())
    }

    /// Like [`Git::blobs_at`], for a commit or the index. In the index, a file with a merge
    /// conflict has no content. Empty for a work tree.
    pub fn blobs(
        &self,
        target: &Target,
        places: &[&str],
    ) -> GitResult<Vec<(RelativePath, Option<ObjectId>)>> {
        match target {
            Target::Commit(commit) => {
                let found = self.blobs_at(commit, places)?.into_iter();
                Ok(found.map(|(path, blob)| (path, Some(blob))).collect())
            }
            Target::Index => {
                let mut blobs = self.in_index(places)?;
                let place = |path: &RelativePath| places.iter().position(|at| path.as_str() == *at);
                blobs.sort_by_key(|(path, _)| place(path));
                Ok(blobs)
            }
            Target::WorkTree => Ok(Vec::new()),
        }
    }

    /// Returns the text of a file in the index or at a commit. `None` if there is no such file, and
    /// always for a work tree.
    pub fn text(&self, target: &Target, path: &RelativePath) -> GitResult<Option<String>> {
        let bytes = self.file(target, path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub fn file(&self, target: &Target, path: &RelativePath) -> GitResult<Option<Vec<u8>>> {
        match target {
            Target::Commit(commit) => self.file_at(commit, path),
            Target::Index => self.file_in_index(path),
            Target::WorkTree => Ok(None),
        }
    }

    pub fn blob_of(&self, id: ObjectId) -> GitResult<Vec<u8>> {
        self.blob(&self.handle(), id)
    }
}

/// Returns the commit and the short name of a branch. `None` if it cannot be read.
fn branch_tip<E>(reference: Result<gix::Reference<'_>, E>) -> Option<(gix::Commit<'_>, String)> {
    let mut reference = reference.ok()?;
    let name = reference.name().shorten().to_string();
    Some((reference.peel_to_commit().ok()?, name))
}
