//! Finds recorded code in blocks that its record does not name: copies, splits and merges.
//!
//! A copy is not a move: the original keeps its record. The copy has no record, and `intent why` names
//! the block that it was copied from. If a function was split, the part that kept the name keeps the
//! record, and for the other part `intent why` names the function that it was split from.

use std::collections::{HashMap, HashSet};

use super::SharedTrail;
use super::other_files::Surroundings;
use super::reading::share_kept;
use crate::outline::Outline;
use crate::{CodeOrigin, Content, Provenance, Relation, Verdict};
use code::{Block, FileBlocks, fingerprint};
use ground::RelativePath;
use ledger::{ClaimRef, Ledger, Trust};

/// Blocks with fewer tokens are ignored, because small blocks are alike by chance.
const MIN_TOKENS: u32 = 20;
/// The minimum share of the original that a copy has.
const MIN_COPY: f32 = 0.9;
/// The minimum share of a part that the whole block contains.
const MIN_PART: f32 = 0.6;
/// The minimum share of a part if the whole block is gone. It is higher than `MIN_PART`, because
/// nobody can check that the part is missing there.
const MIN_PART_OF_GONE: f32 = 0.8;
/// The minimum by which a block's share of a part must have fallen (split) or risen (merge).
/// Without this, two similar functions of one author would count.
const MIN_DIFFERENCE: f32 = 0.3;
/// The maximum number of origins that are returned for one block.
const MAX_ORIGINS: usize = 4;

/// Finds the origins of code in a file's blocks. It is built only on request, never while somebody
/// types.
pub struct Origins<'a> {
    ledger: &'a Ledger,
    path: &'a RelativePath,
    heads: Vec<ClaimRef>,
    /// Records of this file that no block matches.
    gone: HashSet<ClaimRef>,
    /// Records that were found, with the block that matches and how its text compares.
    stands: HashMap<ClaimRef, (Content, &'a Block)>,
    surroundings: &'a dyn Surroundings,
    trail: SharedTrail,
    rows: Outline,
    blocks: &'a FileBlocks,
}

impl<'a> Origins<'a> {
    /// `found` is the result of [`super::file`] for the same blocks.
    pub fn new(
        ledger: &'a Ledger,
        path: &'a RelativePath,
        blocks: &'a FileBlocks,
        found: &[Provenance],
        surroundings: &'a dyn Surroundings,
    ) -> Self {
        let stands: HashMap<ClaimRef, (Content, &Block)> = blocks
            .blocks
            .iter()
            .zip(found)
            .filter_map(|(block, found)| Some((found.claim?, (found.content?, block))))
            .collect();
        let trail = surroundings.trail(path);
        let heads = trail.heads();
        let all = heads.iter().copied().chain(trail.removed_claims());
        let gone = all.filter(|at| !stands.contains_key(at)).collect();
        let rows = Outline::from_blocks(blocks);
        Self { ledger, path, heads, gone, stands, surroundings, trail, rows, blocks }
    }

    /// Returns true if `Self::origins_of` may find something for a block. If not, the caller can save the
    /// work of [`Self::new`].
    pub fn may_tell_of(block: &Block, found: &Provenance) -> bool {
        !block.identity.kind.is_unnamed()
            && block.fingerprint.token_count >= MIN_TOKENS
            && matches!(found.verdict, Verdict::Unrecorded | Verdict::Modified)
    }

    /// Returns the origins of an unrecorded or modified block. Returns nothing for other blocks.
    pub fn origins_of(&self, block: &Block, found: &Provenance) -> Vec<CodeOrigin> {
        if !Self::may_tell_of(block, found) {
            return Vec::new();
        }
        match (found.verdict, found.claim) {
            (Verdict::Unrecorded, _) => self.parts_of(block),
            (Verdict::Modified, Some(own)) => self.merged_into(block, own),
            _ => Vec::new(),
        }
    }

    /// Returns the recorded block that an unrecorded block was copied or split from.
    fn parts_of(&self, block: &Block) -> Vec<CodeOrigin> {
        let mut seen = HashSet::new();
        let candidates = self.surroundings.candidates(block);
        let elsewhere = candidates.iter().map(|(at, _)| *at);
        let best = self
            .heads
            .iter()
            .copied()
            .chain(elsewhere)
            .filter(|at| seen.insert(*at))
            .filter_map(|at| self.part_of(block, at))
            .max_by(|a, b| a.share.total_cmp(&b.share).then(a.claim.cmp(&b.claim)));
        best.into_iter().collect()
    }

    fn part_of(&self, block: &Block, at: ClaimRef) -> Option<CodeOrigin> {
        let claim = self.ledger.claim(at);
        let (range, print) = (claim.full_block(), &block.fingerprint);
        if range.deleted || claim.entry.trust == Trust::Contradicted || range.block.is_none() {
            return None;
        }
        // `share` is how much of this block the recorded one contains; `kept` is how much of the
        // recorded one this block contains.
        let (sketch, tokens) = (range.sketch.as_ref()?, range.tokens?);
        let share = fingerprint::share_kept(&print.sketch, print.token_count, sketch, tokens)?;
        let kept = share_kept(range, block)?;
        let equal = range.shape_hash.as_ref() == Some(&print.shape);
        let relation = if equal || share.min(kept) >= MIN_COPY {
            Relation::CopiedFrom
        } else if self.has_gone_from(at, block, share) {
            Relation::SplitFrom
        } else {
            return None;
        };
        self.is_new(at, block).then_some(CodeOrigin { claim: at, relation, share })
    }

    /// Returns true if the code that a block shares with a recorded block is now missing from the
    /// recorded block.
    fn has_gone_from(&self, at: ClaimRef, block: &Block, share: f32) -> bool {
        match self.stands.get(&at) {
            Some((Content::Modified, now)) => {
                share >= MIN_PART && share - share_of(block, now) >= MIN_DIFFERENCE
            }
            Some(_) => false,
            None => share >= MIN_PART_OF_GONE && self.is_gone(at),
        }
    }

    fn is_gone(&self, at: ClaimRef) -> bool {
        let path = &self.ledger.claim(at).file.relative_path;
        self.gone.contains(&at)
            || path != self.path && self.surroundings.orphans(path).gone.contains(&at)
    }

    fn is_new(&self, at: ClaimRef, block: &Block) -> bool {
        let path = &self.ledger.claim(at).file.relative_path;
        if path == self.path {
            let index = self.blocks.blocks.iter().position(|other| std::ptr::eq(other, block));
            return index.is_none_or(|index| !self.trail.stood_beside(at, &self.rows.rows[index]));
        }
        self.surroundings.existed(at, self.path, block) == Some(false)
    }

    /// Returns the removed blocks whose code came into a block since it was recorded as `own`.
    fn merged_into(&self, block: &Block, own: ClaimRef) -> Vec<CodeOrigin> {
        let own = self.ledger.claim(own).full_block();
        let came = |at: &ClaimRef| {
            let range = self.ledger.claim(*at).full_block();
            let tokens = range.tokens.filter(|tokens| *tokens >= MIN_TOKENS)?;
            let (share, sketch) = (share_kept(range, block)?, range.sketch.as_ref()?);
            let before =
                fingerprint::share_kept(sketch, tokens, own.sketch.as_ref()?, own.tokens?)?;
            let came = share >= MIN_PART && share - before >= MIN_DIFFERENCE && !range.deleted;
            came.then_some(CodeOrigin { claim: *at, relation: Relation::MergedFrom, share })
        };
        let mut origins: Vec<CodeOrigin> = self.gone.iter().filter_map(came).collect();
        origins.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.claim.cmp(&b.claim)));
        origins.truncate(MAX_ORIGINS);
        origins
    }
}

/// Returns how much of `part` the block `whole` contains.
fn share_of(part: &Block, whole: &Block) -> f32 {
    let (part, whole) = (&part.fingerprint, &whole.fingerprint);
    fingerprint::share_kept(&part.sketch, part.token_count, &whole.sketch, whole.token_count)
        .unwrap_or_default()
}
