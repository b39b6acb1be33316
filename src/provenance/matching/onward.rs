//! Where recorded blocks went on: under later records, in other files, in files that go on others under another name.

use std::collections::{BTreeMap, HashSet};

use super::across::{self, MAX_SOURCES, MIN_ACROSS_TOKENS, Surroundings};
use super::lookup::{candidates_of_record, namesakes};
use super::siblings::Siblings;
use crate::code::{Block, Document, FileBlocks};
use crate::ledger::{ClaimRef, Ledger};
use crate::provenance::names::leaf;
use crate::provenance::outline::{self, Called, Outline};
use crate::provenance::{Provenance, Step, lineage};
use crate::workspace::RelativePath;

/// Later records of other files that speak of the same block: they have its text and its name, or say that they replace
/// it.
pub fn recorded_elsewhere(ledger: &Ledger, at: ClaimRef) -> impl Iterator<Item = ClaimRef> {
    let claim = ledger.claim(at);
    let name = claim.range.block.as_ref();
    let (text, here) = (&claim.range.content_hash, &claim.file.relative_path);
    let is_later = move |other: &ClaimRef| {
        let other_claim = ledger.claim(*other);
        *other > at && !other_claim.range.deleted && other_claim.file.relative_path != *here
    };
    let is_again = move |other: &ClaimRef| {
        ledger.claim(*other).range.block.as_ref().map(leaf) == name.map(leaf)
    };
    let replaces =
        move |other: &ClaimRef| ledger.claim(*other).range.replaces.as_ref() == Some(text);
    let same_text = name.into_iter().flat_map(move |_| ledger.by_content(text)).copied();
    let called = name.into_iter().flat_map(move |name| namesakes(ledger, &name.kind, leaf(name)));
    let again = same_text.filter(is_again);
    again.chain(called.filter(replaces)).filter(is_later)
}

/// The files in which a block may have been recorded again, by whatever look-up, likeliest first.
pub fn may_speak_of(ledger: &Ledger, at: ClaimRef) -> Vec<RelativePath> {
    let claim = ledger.claim(at);
    let records = candidates_of_record(ledger, claim.range);
    let here = &claim.file.relative_path;
    let mut votes: BTreeMap<&RelativePath, u32> = BTreeMap::new();
    for (other, weight) in records.into_iter().filter(|(other, _)| *other > at) {
        let other = ledger.claim(other);
        if !other.range.deleted && other.file.relative_path != *here {
            *votes.entry(&other.file.relative_path).or_default() += weight;
        }
    }
    let mut paths: Vec<(&RelativePath, u32)> = votes.into_iter().collect();
    paths.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
    paths.into_iter().take(MAX_SOURCES).map(|(path, _)| path.clone()).collect()
}

/// The records that the blocks of a file go on from although each has a later one of its own: those that the later one
/// leads back to; and where its history does not tell what was before, what would have been found for the block
/// if it had not been recorded again.
pub fn before_own_records(
    ledger: &Ledger,
    path: &RelativePath,
    document: &Document,
    found: &[Provenance],
    surroundings: &dyn Surroundings,
) -> HashSet<ClaimRef> {
    let blocks = &*document.blocks();
    let mut before = HashSet::new();
    let mut first = Vec::with_capacity(found.len());
    let mut open = Vec::with_capacity(found.len());
    for (block, found) in blocks.blocks.iter().zip(found) {
        let steps = found.claim.map(|claim| lineage::of(ledger, claim)).unwrap_or_default();
        // A block of that name or text that stood here before is another one, whatever was recorded of it since.
        let is_it = |at: &ClaimRef| surroundings.stood(*at, path, block) != Some(true);
        before.extend(recorded(&steps).filter(is_it));
        let is_told = |at: ClaimRef| ledger.claim(at).range.replaces.is_some();
        let begins_untold = match steps.last() {
            Some(Step::Gap { .. }) => true,
            Some(Step::Recorded(at)) => !is_told(*at),
            None => false,
        };
        first.push(recorded(&steps).last().filter(|_| begins_untold));
        open.push((!begins_untold).then(|| found.clone()));
    }
    let siblings = Siblings::new(ledger, surroundings);
    let again = across::file(ledger, path, (document, blocks), open, surroundings, &siblings);
    for (first, found) in first.into_iter().zip(again) {
        let (Some(first), Some(found)) = (first, found) else { continue };
        let older = found.claim.into_iter().chain(found.candidates).filter(|at| *at < first);
        before.extend(older);
    }
    before
}

fn recorded(steps: &[Step]) -> impl Iterator<Item = ClaimRef> {
    steps.iter().filter_map(|step| match step {
        Step::Recorded(at) => Some(*at),
        Step::Gap { .. } => None,
    })
}

/// Whether a file goes on one that is gone under another name: it holds most of its blocks, by what they are called;
/// where it has no definitions, by their texts.
///
/// One block in common is enough where its text is the same, or where the file's own name is; else three.
pub fn goes_on(
    (old_path, then): (&RelativePath, &Outline),
    (path, now): (&RelativePath, &FileBlocks),
) -> bool {
    let stood = |block: &&Block| then.count(&block.fingerprint.content) > 0;
    let definitions: Vec<&Block> =
        now.blocks.iter().filter(|block| !block.identity.kind.is_unnamed()).collect();
    let (in_common, of) = if definitions.is_empty() {
        (now.blocks.iter().filter(stood).count(), then.len().min(now.blocks.len()))
    } else {
        let names: HashSet<Called> =
            definitions.iter().map(|block| outline::called(block)).collect();
        let called = then.called();
        (called.intersection(&names).count(), called.len().min(names.len()))
    };
    let compared = if definitions.is_empty() { now.blocks.iter().collect() } else { definitions };
    let mut sizeable =
        compared.into_iter().filter(|block| block.fingerprint.token_count >= MIN_ACROSS_TOKENS);
    let same_name = old_path.file_name() == path.file_name();
    let least = if same_name || sizeable.any(|block| stood(&block)) { 1 } else { 3 };
    in_common >= least && in_common * 2 >= of
}
