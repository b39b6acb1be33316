//! Records that may be of a block, looked up by text and by name; never is the ledger scanned.

use crate::code::{Block, ContentHash};
use crate::ledger::{BlockRecord, ClaimRef, Ledger};
use crate::provenance::names::{kinds_it_may_have_been, leaf};

/// A name that so many records carry says nothing of where a block came from.
const MAX_CALLED: usize = 64;

/// A record that may be of a block, and how much the look-up that found it says.
pub(crate) type Candidate = (ClaimRef, u32);

/// Records that may be of a block.
pub(crate) fn candidates(ledger: &Ledger, block: &Block) -> Vec<Candidate> {
    let print = &block.fingerprint;
    let sought = BlockQuery {
        content: &print.content,
        called: Some((block.identity.kind.as_str(), &block.name)),
    };
    sought.in_ledger(ledger)
}

/// Records that may be of what another one speaks of.
pub(super) fn candidates_of_record(ledger: &Ledger, range: &BlockRecord) -> Vec<Candidate> {
    let sought = BlockQuery {
        content: &range.content_hash,
        called: range.block.as_ref().map(|name| (&*name.kind, leaf(name))),
    };
    sought.in_ledger(ledger)
}

/// Records of blocks that are called so, or were before they became another kind of definition.
pub(super) fn namesakes(ledger: &Ledger, kind: &str, leaf: &str) -> Vec<ClaimRef> {
    let kinds = kinds_it_may_have_been(&kind).iter();
    kinds.flat_map(|kind| ledger.by_called(kind, leaf)).collect()
}

/// What a block is looked up by, as it stands or as it was recorded.
struct BlockQuery<'a> {
    content: &'a ContentHash,
    /// Its kind and the last segment of its name.
    called: Option<(&'a str, &'a str)>,
}

impl BlockQuery<'_> {
    fn in_ledger(&self, ledger: &Ledger) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let mut add = |claims: &[ClaimRef], weight: u32| {
            candidates.extend(claims.iter().rev().take(MAX_CALLED).map(|at| (*at, weight)));
        };
        add(&ledger.by_content(self.content), 4);
        if let Some((kind, leaf)) = self.called {
            let called = namesakes(ledger, kind, leaf);
            if called.len() <= MAX_CALLED {
                add(&called, 1);
            }
        }
        candidates
    }
}
