//! Records that may be of a block, looked up by text, tokens, shape, name and likeness; never is the ledger scanned.

use super::rules::MIN_ACROSS_TOKENS;
use crate::code::{Block, ContentHash, ShapeHash, Sketch, TokenHash};
use crate::ledger::{BlockRecord, ClaimRef, Ledger};
use crate::provenance::names::{kinds_it_may_have_been, leaf};

/// A name that so many records carry says nothing of where a block came from.
const MAX_CALLED: usize = 64;
/// Shorter blocks are not looked up by likeness.
const MIN_SIMILAR_TOKENS: u32 = 24;
const MAX_SIMILAR: usize = 8;

/// A record that may be of a block, and how much the look-up that found it says.
pub type Candidate = (ClaimRef, u32);

/// Records that may be of a block.
pub fn candidates(ledger: &Ledger, block: &Block) -> Vec<Candidate> {
    let print = &block.fingerprint;
    let sought = Sought {
        content: &print.content,
        tokens: Some(&print.tokens),
        shape: Some(&print.shape),
        sketch: Some(&print.sketch),
        token_count: print.token_count,
        called: Some((block.identity.kind.as_str(), &block.name)),
    };
    sought.in_ledger(ledger)
}

/// Records that may be of what another one speaks of.
pub(super) fn candidates_of_record(ledger: &Ledger, range: &BlockRecord) -> Vec<Candidate> {
    let sought = Sought {
        content: &range.content_hash,
        tokens: range.token_hash.as_ref(),
        shape: range.shape_hash.as_ref(),
        sketch: range.sketch.as_ref(),
        token_count: range.tokens.unwrap_or_default(),
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
struct Sought<'a> {
    content: &'a ContentHash,
    tokens: Option<&'a TokenHash>,
    shape: Option<&'a ShapeHash>,
    sketch: Option<&'a Sketch>,
    token_count: u32,
    /// Its kind and the last segment of its name.
    called: Option<(&'a str, &'a str)>,
}

impl Sought<'_> {
    fn in_ledger(&self, ledger: &Ledger) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let mut add = |claims: &[ClaimRef], weight: u32| {
            candidates.extend(claims.iter().rev().take(MAX_CALLED).map(|at| (*at, weight)));
        };
        add(ledger.by_content(self.content), 4);
        if self.token_count >= MIN_ACROSS_TOKENS {
            self.tokens.into_iter().for_each(|hash| add(ledger.by_tokens(hash), 4));
            self.shape.into_iter().for_each(|hash| add(ledger.by_shape(hash), 2));
        }
        if let Some((kind, leaf)) = self.called {
            let called = namesakes(ledger, kind, leaf);
            if called.len() <= MAX_CALLED {
                add(&called, 1);
            }
        }
        if self.token_count >= MIN_SIMILAR_TOKENS {
            let similar = self.sketch.map(|sketch| ledger.similar(sketch, MAX_SIMILAR));
            add(&similar.unwrap_or_default(), 1);
        }
        candidates
    }
}
