//! The files of evidence in which a workspace differs from a commit. Only these are read, however much
//! evidence there is.

use std::collections::{BTreeSet, HashSet};

use crate::compared::{digests, is_evidence};
use ground::git::{ChangeKind, GitError, PathChange, Target};
use ground::store::{self, StoreError};
use ground::{CommitId, Git, RelativePath};
use ledger::Digest;
use ledger::evidence::{EVIDENCE_FOLDER, digest_of_path, is_compacted, month_of};
use why::{VerbError, Workspace};

pub(crate) type Files = Vec<(RelativePath, Vec<u8>)>;

pub(crate) struct EvidenceChanges {
    pub base: CommitId,
    pub all: Vec<PathChange>,
    /// The files of evidence that were changed or removed, as the base has them. A file whose name
    /// does not fit its content is left out: it counts for nothing, so a later commit may repair it,
    /// and what it says then is new.
    pub before: Files,
    pub now: Files,
    /// The files of the months concerned to which a compaction moved sections, and that are the same
    /// on both sides.
    compacted: Files,
}

impl EvidenceChanges {
    pub fn find(ws: &Workspace, git: &Git, base: &CommitId) -> Result<Self, VerbError> {
        let all: Vec<PathChange> = ws.compared_with(Some(base))?.contents().cloned().collect();
        let (mut before, mut now) = (Files::new(), Files::new());
        for PathChange { path, kind, .. } in all.iter().filter(|change| is_evidence(&change.path)) {
            if let Some(bytes) = git.file_at(base, path)?.filter(|_| *kind != ChangeKind::Added)
                && digest_of_path(path) == Some(Digest::compute(&bytes))
            {
                before.push((path.clone(), bytes));
            }
            if let Some(bytes) = bytes_now(ws, git, path)?.filter(|_| *kind != ChangeKind::Deleted)
            {
                now.push((path.clone(), bytes));
            }
        }
        let compacted = compacted_at(git, base, &all)?;
        Ok(Self { base: base.clone(), all, before, now, compacted })
    }

    pub(crate) fn files_before(&self) -> Vec<&(RelativePath, Vec<u8>)> {
        self.before.iter().chain(&self.compacted).collect()
    }

    pub(crate) fn sections_before(&self) -> HashSet<Digest> {
        sections(self.files_before().into_iter())
    }

    pub(crate) fn sections_now(&self) -> HashSet<Digest> {
        sections(self.now.iter().chain(&self.compacted))
    }

    pub(crate) fn has_now(&self, path: &RelativePath) -> bool {
        self.now.iter().any(|(other, _)| other == path)
    }
}

fn sections<'a>(files: impl Iterator<Item = &'a (RelativePath, Vec<u8>)>) -> HashSet<Digest> {
    files.flat_map(|(_, bytes)| digests(bytes)).collect()
}

fn compacted_at(git: &Git, base: &CommitId, changes: &[PathChange]) -> Result<Files, GitError> {
    let changed = changes.iter().map(|change| &change.path);
    let changed: HashSet<&RelativePath> = changed.filter(|path| is_evidence(path)).collect();
    let months: BTreeSet<&str> = changed.iter().filter_map(|path| month_of(path)).collect();
    let is_wanted =
        |path: &RelativePath| is_evidence(path) && is_compacted(path) && !changed.contains(path);
    let mut files = Files::new();
    for month in months {
        let folder = format!("{EVIDENCE_FOLDER}/{month}");
        files.extend(git.read_below(&folder, &Target::Commit(base.clone()), &is_wanted)?);
    }
    Ok(files)
}

/// Returns the bytes of a file of records that is in the workspace.
pub(super) fn bytes_now(
    ws: &Workspace,
    git: &Git,
    path: &RelativePath,
) -> Result<Option<Vec<u8>>, VerbError> {
    match ws.files() {
        Target::WorkTree => match ws.root.read_rules(path, store::MAX_CONTENT) {
            // A sparse checkout may leave the file out of the work tree.
            Ok(None) => Ok(git.file_in_index(path)?),
            // Nothing is read through a link, so the file is gone, as it is in a commit with the link.
            Err(StoreError::Symlink { .. }) => Ok(None),
            bytes => Ok(bytes?),
        },
        target => Ok(git.file(target, path)?),
    }
}
