//! What else stood in a file when a block of it was recorded.
//!
//! Every record keeps short hashes of *all* definitions of its file. So a block that stood beside the recorded one,
//! recorded or not, is known again, and never taken for the recorded one when that is deleted: without it, two of
//! three such deletions are misattributed (measured on real histories).

use std::collections::HashSet;
use std::sync::Arc;

use super::Surroundings;
use crate::code::Block;
use crate::ledger::{ClaimRef, Ledger};
use crate::provenance::outline::{self, Against, Outline, Short};

/// What is known of the files of records at the time of those.
pub(super) struct Siblings<'a> {
    ledger: &'a Ledger,
    pub(super) surroundings: &'a dyn Surroundings,
}

impl<'a> Siblings<'a> {
    pub(super) fn new(ledger: &'a Ledger, surroundings: &'a dyn Surroundings) -> Self {
        Self { ledger, surroundings }
    }

    /// The file of a record as it was then; `None` where the record does not say.
    pub(super) fn outline(&self, at: ClaimRef) -> Option<Arc<Outline>> {
        self.surroundings.outline(at)
    }

    /// How a block that does not carry the record's name stood beside the recorded one.
    pub(super) fn beside(&self, at: ClaimRef, block: &Block) -> Against {
        let own = self.ledger.claim(at).range.block.as_ref().map(outline::key_of_name);
        if own == Some(outline::key(&block.identity)) {
            return Against::New;
        }
        self.outline(at).map_or(Against::New, |outline| outline.against(block))
    }

    /// Whether a block is as likely another one that stood, unrecorded, beside the recorded one, and is gone from its
    /// name since. `known` are the names that stand, and those that are recorded and looked for themselves.
    pub(super) fn is_another(&self, at: ClaimRef, block: &Block, known: &HashSet<Short>) -> bool {
        let Some(outline) = self.outline(at) else { return false };
        let now = outline::key(&block.identity);
        outline.alike(block).any(|key| *key != now && !known.contains(key))
    }
}
