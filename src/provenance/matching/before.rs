//! What stood before records were made.
//!
//! A stash, a reset, a switch of branches put a block back to what it was before its first record, and the ledger still
//! has the record. So a block that is nearer to what a record replaced than to what it made is older than the record:
//! nobody's, by what is known, and the record is spoken for by it. That holds under whatever name and in whatever file
//! the record was made.

use std::collections::{HashMap, HashSet};

use super::{MIN_RENAMED_TOKENS, Surroundings};
use crate::code::{Block, ContentHash};
use crate::ledger::{ClaimRef, Ledger, Trust};
use crate::provenance::Content;
use crate::provenance::lineage::{self, Step};
use crate::provenance::names::{is_unnamed, same_name};
use crate::provenance::outline;
use crate::workspace::RelativePath;

/// What the records of a path replaced, and what they made.
pub(super) struct Before<'a> {
    ledger: &'a Ledger,
    surroundings: &'a dyn Surroundings,
    replaced: HashMap<&'a ContentHash, Vec<ClaimRef>>,
    made: HashSet<&'a ContentHash>,
    newest: Option<ClaimRef>,
}

/// In so many lanes at least must a block be as what a record replaced, and not as what it made.
const MIN_LANES: usize = 3;
/// So many times more often than the reverse, which by chance is one of 256.
const MANY_TIMES: usize = 16;

impl<'a> Before<'a> {
    pub(super) fn new(
        ledger: &'a Ledger,
        claims: &[ClaimRef],
        surroundings: &'a dyn Surroundings,
    ) -> Self {
        let mut before = Self {
            ledger,
            surroundings,
            replaced: HashMap::new(),
            made: HashSet::new(),
            newest: None,
        };
        for at in claims.iter().copied() {
            let claim = ledger.claim(at);
            if claim.entry.trust == Trust::Contradicted {
                continue;
            }
            before.newest = before.newest.max(Some(at));
            if let Some(text) = &claim.range.replaces {
                before.replaced.entry(text).or_default().push(at);
            }
            if !claim.range.deleted {
                before.made.insert(&claim.range.content_hash);
            }
        }
        before
    }

    /// The records that replaced this very text or took it out, where none made it, and those that came of them.
    pub(super) fn records_after(&self, text: &ContentHash) -> Vec<ClaimRef> {
        if self.made.contains(text) {
            return Vec::new();
        }
        let mut after = self.replaced.get(text).cloned().unwrap_or_default();
        let mut seen: HashSet<ClaimRef> = after.iter().copied().collect();
        let mut at = 0;
        while let Some(record) = after.get(at) {
            let made = &self.ledger.claim(*record).range.content_hash;
            let later = self.replaced.get(made).into_iter().flatten();
            after.extend(later.copied().filter(|later| seen.insert(*later)));
            at += 1;
        }
        after
    }

    /// Of a record that only formatted what it replaced, the one that wrote that, `Some(None)` where none did; `None` of
    /// any other. Once that layout has gone again, nothing is left of such a record.
    pub(super) fn formatted(&self, at: ClaimRef) -> Option<Option<ClaimRef>> {
        let tokens = |at: ClaimRef| self.ledger.claim(at).range.token_hash.as_ref();
        let wrote = tokens(at)?;
        let name = |at: ClaimRef| self.ledger.claim(at).range.block.as_ref();
        let is_its_own = |earlier: ClaimRef| {
            self.path_of(earlier) == self.path_of(at) && same_name(name(earlier), name(at))
        };
        let mut written = None;
        for step in lineage::of(self.ledger, at).into_iter().skip(1) {
            match step {
                // A text alone may be another block's.
                Step::Recorded(earlier) if !is_its_own(earlier) => break,
                Step::Recorded(earlier) if tokens(earlier) == Some(wrote) => {
                    written = Some(Some(earlier));
                }
                Step::Gap { before } => {
                    let record = written.flatten().unwrap_or(at);
                    let is_same = self.surroundings.tokens_before(record, &before);
                    return if is_same.as_ref() == Some(wrote) { Some(None) } else { written };
                }
                Step::Recorded(_) => break,
            }
        }
        written
    }

    /// Whether a block that stands so to a record is nearer to what that, or one that it goes on from, replaced and
    /// nobody recorded.
    pub(super) fn is_nearer(&self, at: ClaimRef, block: &Block, content: Content) -> bool {
        if content == Content::Exact {
            return false;
        }
        let own = self.ledger.claim(at).range.own_hash.as_ref();
        let only_inside = own.is_some() && own == block.fingerprint.own.as_ref();
        let content = if only_inside { content.min(Content::Reformatted) } else { content };
        let steps = lineage::of(self.ledger, at);
        let mut gaps = steps.windows(2).filter_map(|pair| match pair {
            [Step::Recorded(record), Step::Gap { before }] => Some((*record, before)),
            _ => None,
        });
        gaps.any(|(record, before)| {
            *before == block.fingerprint.content
                || content > Content::Reformatted
                    && self.reads_as_before(record, before, block) < content
                || content == Content::Modified && self.is_made_of(record, before, (at, block))
        })
    }

    /// Whether a block was made of what a record replaced, and not of what came of that: of what the two do not share,
    /// it has the former's part alone.
    fn is_made_of(
        &self,
        record: ClaimRef,
        before: &ContentHash,
        (at, block): (ClaimRef, &Block),
    ) -> bool {
        let lanes = || {
            let made = self.ledger.claim(at).range.pairs.as_ref()?.lanes()?;
            let before = self.surroundings.pairs_before(record, before)?;
            Some(block.fingerprint.pairs.lanes()?.between(&before, &made))
        };
        lanes().is_some_and(|[before, made]| before >= MIN_LANES && made * MANY_TIMES <= before)
    }

    /// Whether a block came to its file when the recorded one had gone from there: by the last record of the file,
    /// neither was in it.
    pub(super) fn came_later(&self, at: ClaimRef, block: &Block) -> bool {
        let Some(newest) = self.newest.filter(|newest| newest.entry > at.entry) else {
            return false;
        };
        let (claim, newest_path) = (self.ledger.claim(at), self.path_of(newest));
        let Some(name) = claim.range.block.as_ref() else { return false };
        if is_unnamed(&name.kind) || name.path == block.identity.path {
            return false;
        }
        newest_path == self.path_of(at)
            && self.surroundings.outline(newest).is_some_and(|outline| {
                let recorded = outline::key_of_name(name);
                let stood = outline.holds(&recorded, &claim.range.content_hash);
                let name = outline::key(&block.identity);
                !stood && !outline.holds(&name, &block.fingerprint.content)
            })
    }

    fn path_of(&self, at: ClaimRef) -> &RelativePath {
        &self.ledger.claim(at).file.relative_path
    }

    /// How a block stands to what a record replaced. Small blocks have one shape by chance.
    fn reads_as_before(&self, record: ClaimRef, before: &ContentHash, block: &Block) -> Content {
        match self.surroundings.reads_as_before(record, before, block) {
            Some(Content::Renamed) if block.fingerprint.token_count < MIN_RENAMED_TOKENS => {
                Content::Modified
            }
            then => then.unwrap_or(Content::Modified),
        }
    }
}
