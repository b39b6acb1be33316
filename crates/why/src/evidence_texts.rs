//! Finds the commit that evidence is about, and reads the texts of its files before and after that
//! commit from git.

use ground::git::deleted_paths;
use std::sync::Arc;

use super::Workspace;
use super::baseline::Baseline;
use super::history::Covered;
use super::memo::Memo;
use code::Document;
use ledger::{Derive, Derived, Entry, FileRecord, Ledger, Outline, Outlines, evidence};

use ground::cache::{CacheSlot, Computed};
use ground::git::Target;
use ground::{CommitId, Git, RelativePath};

/// Reads texts from git. `ws` caches the most recent ones.
pub struct TextCache {
    ws: Workspace,
    /// For each commit that was looked up, whether it is in the history of this workspace.
    here: Memo<CommitId, bool>,
}

/// The file of an entry of evidence before and after its commit.
pub struct EntryTexts {
    /// The texts before the commit. There are several if the commit is a merge or renamed the file.
    pub before: Vec<Document>,
    pub after: Document,
    /// Whether the texts are those of the commit that the entry was sealed for.
    pub is_its_own: bool,
}

impl Workspace {
    /// Makes a ledger read the texts of its evidence from this repository.
    pub fn deriving(&self, ledger: Ledger) -> Ledger {
        ledger.with_texts(Arc::new(TextCache::new(self)))
    }
}

impl Derive for TextCache {
    fn derive(&self, entry: &Entry) -> Option<Derived> {
        let file = entry.record.files.first()?;
        let covered = self.covered(entry)?;
        let ranges: Vec<_> = file.ranges().cloned().collect();
        let is_its_own =
            entry.late_commit.is_none() || entry.late_commit == hex(covered.commit.as_ref());
        let slot = self.slot(Computed::Derived, file, &covered, (&ranges, is_its_own));
        let known = slot.as_ref().and_then(CacheSlot::recall);
        if let Some(known) = known.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return Some(known);
        }
        let (before, after) = self.before_and_after(entry, &covered)?;
        let derived = provenance::derive(&ranges, &before, &after, is_its_own);
        let commit = covered.commit.as_ref();
        let committed = commit.and_then(|commit| Some(self.git()?.commit_info(commit).ok()?.time));
        let (commit, based_on) = (hex(commit), hex(covered.parent.as_ref()));
        let derived = Derived { commit, committed, based_on, ..derived };
        if let (Some(slot), Ok(bytes)) = (slot, serde_json::to_vec(&derived)) {
            debug_assert_eq!(serde_json::from_slice(&bytes).ok(), Some(derived.clone()));
            slot.keep(&bytes);
        }
        Some(derived)
    }

    fn outlines(&self, entry: &Entry) -> Option<Outlines> {
        let file = entry.record.files.first()?;
        let covered = self.covered(entry)?;
        let slot = self.slot(Computed::Outlines, file, &covered, ());
        let known = slot.as_ref().and_then(CacheSlot::recall);
        if let Some(known) = known.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
            return Some(known);
        }
        let (before, after) = self.before_and_after(entry, &covered)?;
        let outlines =
            (Outline::from_blocks(&before.blocks()), Outline::from_blocks(&after.blocks()));
        if let (Some(slot), Ok(bytes)) = (slot, postcard::to_stdvec(&outlines)) {
            slot.keep(&bytes);
        }
        Some(outlines)
    }

    fn depends_on(&self, path: &RelativePath) -> Option<Vec<u8>> {
        // In a shallow clone the history may become longer, so nothing is kept. Other commits than
        // the one that is checked out are rarely asked for twice.
        let is_kept = self.ws.is_checked_out() && !self.is_shallow();
        let tip = self.ws.tip().filter(|_| is_kept)?;
        serde_json::to_vec(&(&tip.0, self.ws.is_generated(path))).ok()
    }
}

fn hex(commit: Option<&CommitId>) -> Option<String> {
    commit.map(|commit| commit.0.clone())
}

impl TextCache {
    /// Makes a cache that reads from this workspace's repository.
    pub fn new(ws: &Workspace) -> Self {
        let ws = ws.without_ledger();
        Self { ws, here: Memo::default() }
    }

    /// Returns the place in the disk cache for what is derived from a file in a commit. The ids of
    /// the commit and its parent are part of the key instead of the texts, because a commit never
    /// changes.
    fn slot(
        &self,
        kind: Computed,
        file: &FileRecord,
        covered: &Covered,
        besides: impl serde::Serialize,
    ) -> Option<CacheSlot> {
        let commit = hex(covered.commit.as_ref())?;
        let (path, from) = (&file.relative_path, file.extra.get("from"));
        let is_generated = self.ws.is_generated(path);
        let inputs = (commit, hex(covered.parent.as_ref()), path, from, besides, is_generated);
        CacheSlot::of_inputs(&self.ws.root, kind, &serde_json::to_vec(&inputs).ok()?)
    }

    /// Returns the file of an entry of evidence before and after the commit that it is about.
    fn before_and_after(&self, entry: &Entry, covered: &Covered) -> Option<(Document, Document)> {
        let path = &entry.record.files.first()?.relative_path;
        let commit = covered.commit.as_ref();
        Some((
            self.text_before(entry, covered.parent.as_ref(), commit)?,
            self.document_at(commit, path)?,
        ))
    }

    /// Returns the texts of the file of an entry of evidence: one for each parent of its commit,
    /// and the one after the commit.
    ///
    /// A rebase or a squash may have replaced the commit, so that it is not in the history here.
    /// Then the entry is taken to be about everything between `base` and the commit that added the
    /// evidence.
    pub fn of_entry(&self, entry: &Entry, base: &CommitId) -> Option<EntryTexts> {
        let git = self.git()?;
        let path = &entry.record.files.first()?.relative_path;
        let about = entry.late_commit.clone().map(CommitId);
        let is_made_again = about.is_some_and(|commit| !self.is_here(&commit));
        let covered = if is_made_again { self.brought(entry) } else { self.covered(entry) }?;
        let commit = covered.commit.as_ref();
        let mut parents = match commit {
            _ if is_made_again => vec![base.clone()],
            Some(commit) => git.commit_info(commit).ok()?.parents,
            None => covered.parent.iter().cloned().collect(),
        };
        let is_related = |commit: &CommitId| {
            let is_before = |one, of| git.is_ancestor(of, one).unwrap_or(false);
            is_before(base, commit) || is_before(commit, base)
        };
        if commit.is_some_and(|commit| !is_related(commit)) {
            // A merge may add an unrelated history, in which old code would look new.
            parents.push(base.clone());
        }
        let after = self.document_at(commit, path)?;
        let before = |parent: &CommitId| self.text_before(entry, Some(parent), commit);
        let mut before: Vec<Document> = parents.iter().map(before).collect::<Option<_>>()?;
        if let (Some(commit), [parent]) = (commit, &parents[..])
            && before[0].text().is_empty()
        {
            // The file may have had another name before, even if the evidence does not say so.
            let changes = git.changes(Some(parent), &Target::Commit(commit.clone())).ok()?;
            let baseline = Baseline::Texts(before);
            let gone = deleted_paths(&changes);
            let former = baseline.or_renamed(&self.ws, path, &after, Some(parent), &gone).ok()?;
            before = former.baseline.versions().to_vec();
        }
        if before.is_empty() {
            before.push(Document::from_text(path.as_str(), ""));
        }
        Some(EntryTexts { before, after, is_its_own: !is_made_again })
    }

    /// Returns the file of an entry of evidence in the parent of its commit, under the name that it
    /// had there.
    fn text_before(
        &self,
        entry: &Entry,
        parent: Option<&CommitId>,
        commit: Option<&CommitId>,
    ) -> Option<Document> {
        let file = entry.record.files.first()?;
        let nothing = Document::from_text(file.relative_path.as_str(), "");
        let Some(parent) = parent else { return Some(nothing) };
        let own = self.document_at(Some(parent), &file.relative_path)?;
        let from = file.extra.get("from").and_then(|from| RelativePath::new(from.as_str()?).ok());
        match from {
            // If the old path still exists, or both paths existed before, the file was not renamed.
            Some(from)
                if own.text().is_empty() && self.document_at(commit, &from)?.text().is_empty() =>
            {
                self.document_at(Some(parent), &from)
            }
            _ => Some(own),
        }
    }

    /// Returns the file of an entry of evidence before and after the commit that it was sealed for,
    /// or `None` if that commit is not in the history here.
    pub fn change_of(&self, entry: &Entry) -> Option<(Document, Document)> {
        let covered = self.covered(entry)?;
        let commit = covered.commit.as_ref();
        if entry.late_commit.is_some() && entry.late_commit != hex(commit) {
            return None;
        }
        self.before_and_after(entry, &covered)
    }

    /// Returns the file of an entry of evidence after its commit.
    pub fn text_after(&self, entry: &Entry) -> Option<Document> {
        let file = entry.record.files.first()?;
        self.document_at(self.covered(entry)?.commit.as_ref(), &file.relative_path)
    }

    pub fn is_shallow(&self) -> bool {
        self.git().is_some_and(|git| git.is_shallow())
    }

    /// Returns the commit that an entry of evidence is about, or `None` if that commit is still
    /// being made.
    pub fn commit_of(&self, entry: &Entry) -> Option<CommitId> {
        self.covered(entry)?.commit
    }

    /// Returns the bytes of the file of an entry of evidence after its commit, or `None` if they
    /// cannot be read.
    pub fn bytes_after(&self, entry: &Entry) -> Option<Vec<u8>> {
        let file = entry.record.files.first()?;
        let commit = self.commit_of(entry)?;
        Some(self.git()?.file_at(&commit, &file.relative_path).ok()?.unwrap_or_default())
    }

    fn git(&self) -> Option<&Arc<Git>> {
        self.ws.git()
    }

    /// Returns true if a commit is in the history here. A commit that a rebase or an amend replaced
    /// may still be in this repository, but it is not in other people's clones.
    fn is_here(&self, commit: &CommitId) -> bool {
        let find = || {
            let (git, tip) = (self.git()?, self.ws.tip()?);
            let is_before = self.ws.history()?.precedes(git, commit, tip) == Some(true);
            Some(is_before || git.is_ancestor(tip, commit).ok()?)
        };
        self.here.get_or_find(commit, || find().unwrap_or(false))
    }

    /// Returns a file at a commit or, for `None`, in the index. The text is empty if the file does
    /// not exist there.
    fn document_at(&self, commit: Option<&CommitId>, path: &RelativePath) -> Option<Document> {
        if let Some(commit) = commit {
            return self.ws.text_at(commit, path);
        }
        let bytes = self.git()?.file_in_index(path).ok()?.unwrap_or_default();
        let document = self.ws.document(path, &bytes).ok()?;
        Some(self.ws.outlined(path, &document))
    }

    fn covered(&self, entry: &Entry) -> Option<Covered> {
        let about = entry.late_commit.clone().map(CommitId).filter(|commit| self.is_here(commit));
        let known = about.and_then(|commit| Some((self.git()?.commit_info(&commit).ok()?, commit)));
        match known {
            Some((about, commit)) => {
                Some(Covered { commit: Some(commit), parent: about.parents.into_iter().next() })
            }
            // A rebase or a squash has replaced the commit, or it was never in this clone.
            None => self.brought(entry),
        }
    }

    /// Returns the commit that added an entry of evidence.
    fn brought(&self, entry: &Entry) -> Option<Covered> {
        let git = self.git()?;
        let history = self.ws.history();
        let by = |digest| history.as_ref()?.covering(git, digest);
        // If evidence was sealed and compacted within one commit, no commit added a file with only
        // that section. Then the commit that added the compacted file is used.
        let of_file = || by(evidence::digest_of_path(&entry.origin.path)?);
        let known = by(entry.section?).or_else(of_file);
        // Evidence that no commit added is a draft. It is about the commit that is being made from
        // the index.
        let is_draft = !matches!(self.ws.files(), Target::Commit(_));
        let draft = || Covered { commit: None, parent: self.ws.head().cloned() };
        known.or_else(|| is_draft.then(draft))
    }
}
