//! The entries about one file, identified without reading them. A later process can compare these
//! ids to find out if the entries are still the same.

use std::sync::Arc;

use super::{ClaimRef, Derived, EntryIndex, Ledger, LookUp, Trust, index};
use crate::{BlockRecord, Conversation, Digest, FileRecord, RecordDialect, evidence};
use ground::RelativePath;

/// Identifies an entry of evidence: the digest of its file, and its position among the entries of
/// that file. Files of evidence never change, so the same id always means the same text.
pub(crate) type EvidenceId = (Digest, u32);

/// The entries of a ledger that may be about one file, split into evidence, which never changes,
/// and all other entries.
pub struct PathEntryIds {
    /// The indices of the entries of evidence, in fold order.
    pub evidence: Vec<u32>,
    /// The ids of these entries, in the same order.
    pub ids: Vec<EvidenceId>,
    /// The indices of all other entries: records of the journal and of other tools, and evidence
    /// that was changed in place.
    pub rest: Vec<u32>,
}

/// An empty file and conversation for a claim whose entry is no longer in its file. This happens if
/// somebody changed the file in place after an earlier process had read it.
pub(super) struct Nothing {
    pub file: FileRecord,
    pub conversation: Conversation,
}

impl Default for Nothing {
    fn default() -> Self {
        let path = RelativePath::new("unknown").expect("a word is a path");
        let ranges = vec![BlockRecord::default()];
        let conversation = Conversation { ranges, ..Conversation::default() };
        Self { file: FileRecord::with_path_only(path), conversation }
    }
}

impl Ledger {
    /// Returns the entries that may be about a file. No file of evidence is read for this.
    pub fn entry_ids_of_path(&self, path: &RelativePath) -> PathEntryIds {
        let mut found = PathEntryIds { evidence: Vec::new(), ids: Vec::new(), rest: Vec::new() };
        for at in self.data.entries_with_key(&LookUp::Path(path).key()) {
            match self.id(at) {
                Some(id) => {
                    found.evidence.push(at);
                    found.ids.push(id);
                }
                None => found.rest.push(at),
            }
        }
        found
    }

    /// Returns the id of an entry. `None` if it is not evidence, or if its file does not match the
    /// digest in its name.
    fn id(&self, at: u32) -> Option<EvidenceId> {
        let other = match self.data.order.all[at as usize] {
            EntryIndex::InMemory(other) => other,
            EntryIndex::Row(row) => {
                let shelf = self.data.files.shelf.as_ref()?;
                let (file, nth) = shelf.kept.origin(row);
                return Some((shelf.kept.digest(file), nth));
            }
        };
        let entry = &self.data.entries[other as usize];
        if entry.dialect != RecordDialect::Evidence || entry.trust == Trust::Contradicted {
            return None;
        }
        let beside = &self.data.files.others.get(&entry.origin.path)?.entries;
        let nth = beside.partition_point(|one| one.origin.start < entry.origin.start);
        Some((evidence::digest_of_path(&entry.origin.path)?, index(nth)))
    }

    /// Stores data about an entry that an earlier process computed.
    pub fn recall(&self, at: u32, derived: Derived) {
        // If it was computed again in the meantime, the result is the same.
        drop(self.derived.get(at).set(Some(Arc::new(derived))));
    }

    /// Returns everything that [`Self::derived`] and [`Self::outlines`] of a file depend on besides
    /// its evidence. See [`super::Derive::depends_on`].
    pub fn depends_on(&self, path: &RelativePath) -> Option<Vec<u8>> {
        self.derive.as_ref()?.depends_on(path)
    }

    /// Returns the claims of these entries on a file, in fold order.
    pub fn claims_on(
        &self,
        path: &RelativePath,
        entries: impl IntoIterator<Item = u32>,
    ) -> Vec<ClaimRef> {
        let mut entries: Vec<u32> = entries.into_iter().collect();
        entries.sort_unstable();
        entries.into_iter().flat_map(|at| self.claims_of(at, LookUp::Path(path))).collect()
    }
}
