//! The evidence about a path, named so that a later process knows it again without reading it.

use std::sync::Arc;

use super::{ClaimRef, Derived, Ledger, Sought, Trust, index};
use crate::ledger::{BlockRecord, Conversation, Digest, FileRecord, RecordDialect, evidence};
use crate::workspace::RelativePath;

/// An entry of evidence: the digest of its file, and its place among the entries of that file. It says the same for good.
pub type EvidenceId = (Digest, u32);

/// What is recorded of a path.
pub struct OfPath {
    /// The entries of sound evidence that may name the path, in fold order.
    pub evidence: Vec<u32>,
    /// The same, each with its id.
    pub ids: Vec<EvidenceId>,
    /// The claims of all other entries, in fold order.
    pub rest: Vec<ClaimRef>,
}

/// What a claim says whose entry is not in its file any more. An earlier process has seen it there.
pub(super) struct Nothing {
    pub file: FileRecord,
    pub conversation: Conversation,
}

impl Default for Nothing {
    fn default() -> Self {
        let path = RelativePath::new("unknown").expect("a word is a path");
        let ranges = vec![BlockRecord::void()];
        let conversation = Conversation { ranges, ..Conversation::default() };
        Self { file: FileRecord::bare(path), conversation }
    }
}

impl Ledger {
    /// What is recorded of a path. No evidence is read for it that is not yet.
    pub fn settled_of_path(&self, path: &RelativePath) -> OfPath {
        let mut found = OfPath { evidence: Vec::new(), ids: Vec::new(), rest: Vec::new() };
        for at in self.said.named(&Sought::Path(path).key()) {
            match self.id(at) {
                Some(id) => {
                    found.evidence.push(at);
                    found.ids.push(id);
                }
                None => found.rest.extend(self.claims_of(at, Sought::Path(path))),
            }
        }
        found
    }

    /// `None` of an entry that is no evidence, or of evidence that is not what its name says.
    fn id(&self, at: u32) -> Option<EvidenceId> {
        let place = self.said.order.all[at as usize];
        let Some(other) = place.other() else {
            let shelf = self.said.files.shelf.as_ref()?;
            let (file, nth) = shelf.kept.origin(place.0);
            return Some((shelf.kept.digest(file), nth));
        };
        let entry = &self.said.entries[other as usize];
        if entry.dialect != RecordDialect::Evidence || entry.trust == Trust::Contradicted {
            return None;
        }
        let beside = &self.said.files.others.get(&entry.origin.path)?.entries;
        let nth = beside.partition_point(|one| one.origin.start < entry.origin.start);
        Some((evidence::digest_of_path(&entry.origin.path)?, index(nth)))
    }

    /// What is computed of an entry, as an earlier process has computed it.
    pub fn recall(&self, at: u32, derived: Derived) {
        // What was computed in the meantime is the same.
        drop(self.derived.get(at).set(Some(Arc::new(derived))));
    }

    /// All that what is computed of a path's evidence depends on, that evidence aside. `None` if that may change
    /// unnoticed.
    pub fn depends_on(&self, path: &RelativePath) -> Option<Vec<u8>> {
        self.derive.as_ref()?.depends_on(path)
    }

    /// The claims of an entry on a path.
    pub fn of_path_in(&self, at: u32, path: &RelativePath) -> Vec<ClaimRef> {
        self.claims_of(at, Sought::Path(path))
    }
}
