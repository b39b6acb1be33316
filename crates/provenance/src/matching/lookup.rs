//! Looks up the records that could describe a block, by content hash and by name. The ledger is
//! never scanned.

use crate::names::{kinds_it_may_have_been, leaf};
use code::{Block, ContentHash};
use ledger::{BlockRecord, ClaimRef, Ledger};

/// At most this many records are used from each look-up. A name with more records than this says
/// nothing about where a block came from.
const MAX_CALLED: usize = 64;

/// A record that could describe a block, and the weight of the look-up that found it.
pub type CandidateRecord = (ClaimRef, u32);

/// Returns the records that could describe this block: those with its content hash, and those with
/// its kind and name.
pub fn candidates(ledger: &Ledger, block: &Block) -> Vec<CandidateRecord> {
    let called = (block.identity.kind.as_str(), &*block.name);
    find(ledger, &block.fingerprint.content, Some(called))
}

/// Returns the records that could describe the same block as another record.
pub(super) fn candidates_of_record(ledger: &Ledger, range: &BlockRecord) -> Vec<CandidateRecord> {
    let called = range.block.as_ref().map(|name| (&*name.kind, leaf(name)));
    find(ledger, &range.content_hash, called)
}

/// Returns the records of blocks with this last segment of a name, and with this kind or one that
/// may have become it.
pub(super) fn namesakes(ledger: &Ledger, kind: &str, leaf: &str) -> Vec<ClaimRef> {
    let kinds = kinds_it_may_have_been(&kind).iter();
    kinds.flat_map(|kind| ledger.by_called(kind, leaf)).collect()
}

/// Looks up records by content hash, and by the kind and the last segment of the name.
fn find(
    ledger: &Ledger,
    content: &ContentHash,
    called: Option<(&str, &str)>,
) -> Vec<CandidateRecord> {
    let mut candidates = Vec::new();
    let mut add = |claims: &[ClaimRef], weight: u32| {
        candidates.extend(claims.iter().rev().take(MAX_CALLED).map(|at| (*at, weight)));
    };
    add(&ledger.by_content(content), 4);
    if let Some((kind, leaf)) = called {
        let called = namesakes(ledger, kind, leaf);
        if called.len() <= MAX_CALLED {
            add(&called, 1);
        }
    }
    candidates
}
