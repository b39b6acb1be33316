//! What else stood in a file when a block of it was recorded.
//!
//! Every record keeps short hashes of *all* definitions of its file. So a block that stood beside the recorded one,
//! recorded or not, is known again, and never taken for the recorded one when that is deleted: without it, two of
//! three such deletions are misattributed (measured on real histories).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::code::Block;
use crate::ledger::{ClaimRef, Ledger};
use crate::provenance::outline::{self, Against, Outline, Short};

/// An outline, where there is one that can be put together.
type Known = Option<Rc<Outline>>;

/// The outlines of the files at the time of records, put together when they are first asked for.
pub(super) struct Siblings<'a> {
    ledger: &'a Ledger,
    /// By entry and file.
    outlines: RefCell<HashMap<(u32, u32), Known>>,
}

impl<'a> Siblings<'a> {
    pub(super) fn new(ledger: &'a Ledger) -> Self {
        Self { ledger, outlines: RefCell::default() }
    }

    /// The file of a record as it was then; `None` where the record does not say.
    pub(super) fn outline(&self, at: ClaimRef) -> Known {
        let key = (at.entry, at.file);
        if let Some(known) = self.outlines.borrow().get(&key) {
            return known.clone();
        }
        let outline = Outline::at_record(self.ledger, at).map(Rc::new);
        self.outlines.borrow_mut().insert(key, outline.clone());
        outline
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
