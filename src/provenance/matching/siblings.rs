//! What else stood in a file when a block of it was recorded.
//!
//! Every record keeps short hashes of *all* definitions of its file. So a block that stood beside the recorded one,
//! recorded or not, is known again, and never taken for the recorded one when that is deleted: without it, two of
//! three such deletions are misattributed (measured on real histories).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::Surroundings;
use super::since::Since;
use crate::code::Document;
use crate::ledger::{ClaimRef, Ledger};
use crate::provenance::outline::{self, Against, Entry, Outline, Short};
use crate::workspace::RelativePath;

/// What is known of the files of records at the time of those.
pub(super) struct Siblings<'a> {
    ledger: &'a Ledger,
    pub(super) surroundings: &'a dyn Surroundings,
    since: RefCell<HashMap<Subject, Option<Rc<Since>>>>,
}

/// The commit and the file of a record, and whether another file goes on from that.
type Subject = (String, RelativePath, bool);

impl<'a> Siblings<'a> {
    pub(super) fn new(ledger: &'a Ledger, surroundings: &'a dyn Surroundings) -> Self {
        Self { ledger, surroundings, since: RefCell::default() }
    }

    /// The file of a record as it was then; `None` where the record does not say.
    pub(super) fn outline(&self, at: ClaimRef) -> Option<Arc<Outline>> {
        self.surroundings.outline(at)
    }

    /// What became of the file of a record since a commit that has it, `now` being what goes on from it, or else the
    /// file itself; `None` where one of the two cannot be read.
    pub(super) fn since(&self, at: ClaimRef, now: Option<&Document>) -> Option<Rc<Since>> {
        let path = &self.ledger.claim(at).file.relative_path;
        let (commit, then) = self.surroundings.then(at)?;
        let key = (commit, path.clone(), now.is_some());
        if let Some(known) = self.since.borrow().get(&key) {
            return known.clone();
        }
        let now = now.cloned().or_else(|| self.surroundings.now(path));
        let since = now.map(|now| Rc::new(Since::new(then, now)));
        self.since.borrow_mut().insert(key, since.clone());
        since
    }

    /// How a block that does not carry the record's name stood beside the recorded one.
    pub(super) fn beside(&self, at: ClaimRef, block: &Entry) -> Against {
        let own = self.ledger.claim(at).range.block.as_ref().map(outline::key_of_name);
        if own == Some(block.key()) {
            return Against::New;
        }
        self.outline(at).map_or(Against::New, |outline| outline.stands(block))
    }

    /// Whether a block is as likely another one that stood, unrecorded, beside the recorded one, and is gone from its
    /// name since. `known` are the names that stand, and those that are recorded and looked for themselves.
    pub(super) fn is_another(&self, at: ClaimRef, block: &Entry, known: &HashSet<Short>) -> bool {
        let Some(outline) = self.outline(at) else { return false };
        outline.alike(block).any(|key| *key != block.key() && !known.contains(key))
    }
}
