//! The texts of evidence: which commit brought it, and what its files were before and after.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Workspace;
use crate::code::Document;
use crate::ledger::{Derive, Derived, Entry, Ledger, evidence};
use crate::provenance;
use crate::workspace::git::Target;
use crate::workspace::{CommitId, Git, RelativePath};

/// More texts than this are not kept in mind.
const MAX_TEXTS: usize = 64;

/// Texts of a repository.
pub(super) struct Texts {
    ws: Workspace,
    texts: Mutex<HashMap<(Option<CommitId>, RelativePath), Document>>,
}

/// The commit that evidence is about, and the one that it was made on.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    /// `None` of what is in no commit yet.
    pub commit: Option<CommitId>,
    pub parent: Option<CommitId>,
}

impl Workspace {
    /// A ledger that finds the texts of its evidence in this repository.
    pub(super) fn deriving(&self, ledger: Ledger) -> Ledger {
        ledger.with_texts(Arc::new(Texts::new(self)))
    }
}

impl Derive for Texts {
    fn derive(&self, entry: &Entry) -> Option<Derived> {
        let file = entry.record.files.first()?;
        let path = &file.relative_path;
        let covered = self.covered(entry)?;
        let from = file.extra.get("from").and_then(|from| RelativePath::new(from.as_str()?).ok());
        let nothing = || Some(Document::from_text(path.as_str(), ""));
        let before = match &covered.parent {
            Some(parent) => self.at(Some(parent), from.as_ref().unwrap_or(path)),
            None => nothing(),
        }?;
        let after = self.at(covered.commit.as_ref(), path)?;
        let said = file.conversations.iter().flat_map(|one| &one.ranges);
        let said: Vec<_> = said.cloned().collect();
        let derived = provenance::derive(&said, &before, &after);
        let committed = covered.commit.as_ref();
        let committed = committed.and_then(|commit| Some(self.git()?.about(commit).ok()?.time));
        let hex = |commit: Option<CommitId>| commit.map(|commit| commit.0);
        let (commit, based_on) = (hex(covered.commit), hex(covered.parent));
        Some(Derived { commit, committed, based_on, ..derived })
    }
}

impl Texts {
    /// The texts of a workspace.
    pub(super) fn new(ws: &Workspace) -> Self {
        let ws = ws.without_ledger();
        Self { ws, texts: Mutex::default() }
    }

    /// The file of an entry of evidence before its commit (several times, of a merge) and after it.
    pub(super) fn of_entry(&self, entry: &Entry) -> Option<(Vec<Document>, Document)> {
        let file = entry.record.files.first()?;
        let path = &file.relative_path;
        let covered = self.covered(entry)?;
        let from = file.extra.get("from").and_then(|from| RelativePath::new(from.as_str()?).ok());
        let from = from.as_ref().unwrap_or(path);
        let parents = match &covered.commit {
            Some(commit) => self.git()?.about(commit).ok()?.parents,
            None => covered.parent.into_iter().collect(),
        };
        let mut before: Vec<Document> =
            parents.iter().map(|parent| self.at(Some(parent), from)).collect::<Option<_>>()?;
        if before.is_empty() {
            before.push(Document::from_text(path.as_str(), ""));
        }
        Some((before, self.at(covered.commit.as_ref(), path)?))
    }

    /// The commit that an entry of evidence is about; `None` where it is in no commit yet.
    pub(super) fn commit_of(&self, entry: &Entry) -> Option<CommitId> {
        self.covered(entry)?.commit
    }

    /// The bytes of the file of an entry of evidence after its commit; `None` where they cannot be had.
    pub(super) fn bytes_after(&self, entry: &Entry) -> Option<Vec<u8>> {
        let file = entry.record.files.first()?;
        let commit = self.commit_of(entry)?;
        Some(self.git()?.file_at(&commit, &file.relative_path).ok()?.unwrap_or_default())
    }

    fn git(&self) -> Option<&Arc<Git>> {
        self.ws.git()
    }

    /// A file at a commit, or as it is about to be committed; empty where there was none.
    fn at(&self, commit: Option<&CommitId>, path: &RelativePath) -> Option<Document> {
        let key = (commit.cloned(), path.clone());
        let lock = || self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Some(known.clone());
        }
        let git = self.git()?;
        let bytes = match commit {
            Some(commit) => git.file_at(commit, path).ok()?,
            None => git.file_in_index(path).ok()?,
        };
        let document = self.ws.document(path, &bytes.unwrap_or_default()).ok()?.without_tree();
        let mut kept = lock();
        if kept.len() >= MAX_TEXTS {
            kept.clear();
        }
        kept.insert(key, document.clone());
        Some(document)
    }

    fn covered(&self, entry: &Entry) -> Option<Covered> {
        let git = self.git()?;
        if let Some(about) = &entry.about {
            let commit = CommitId(about.clone());
            let parent = git.about(&commit).ok()?.parents.into_iter().next();
            return Some(Covered { commit: Some(commit), parent });
        }
        let history = self.ws.history();
        let by = |digest| history.as_ref()?.covering(git, digest);
        // Where a compaction and what it united came in one commit, no commit brought a file of the section alone.
        let of_file = || by(evidence::digest_of_path(&entry.origin.path)?);
        let known = by(entry.section?).or_else(of_file);
        // Evidence that no commit brought is about what is in the index; a commit holds none of that kind.
        let is_draft = !matches!(self.ws.files(), Target::Commit(_));
        let draft = || Covered { commit: None, parent: self.ws.head().cloned() };
        known.or_else(|| is_draft.then(draft))
    }
}
