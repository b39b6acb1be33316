//! Follows recorded blocks to later places: later records, other files, and renamed files.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::CurrentFile;
use super::lookup::{candidates_of_record, namesakes};
use super::other_files::{Surroundings, most_likely};
use super::rules::MIN_ACROSS_TOKENS;
use crate::names::leaf;
use crate::outline::{self, Outline, Row};
use crate::{Provenance, Step, lineage};
use code::{Block, Document, FileBlocks, difference};
use ground::RelativePath;
use ledger::{ClaimRef, Ledger};

/// Returns later records of other files that describe the same block: they have its text and its
/// name, or state that they replace it.
pub fn recorded_elsewhere(ledger: &Ledger, at: ClaimRef) -> impl Iterator<Item = ClaimRef> {
    let claim = ledger.claim(at);
    let name = claim.full_block().block.as_ref();
    let (text, path) = (&claim.full_block().content_hash, &claim.file.relative_path);
    let is_later = move |other: &ClaimRef| {
        let other_claim = ledger.claim(*other);
        *other > at && !other_claim.full_block().deleted && other_claim.file.relative_path != *path
    };
    let is_again = move |other: &ClaimRef| {
        ledger.claim(*other).full_block().block.as_ref().map(leaf) == name.map(leaf)
    };
    let replaces =
        move |other: &ClaimRef| ledger.claim(*other).full_block().replaces.as_ref() == Some(text);
    let same_text = name.into_iter().flat_map(move |_| ledger.by_content(text));
    let called = name.into_iter().flat_map(move |name| namesakes(ledger, &name.kind, leaf(name)));
    let same_block = same_text.filter(is_again);
    same_block.chain(called.filter(replaces)).filter(is_later)
}

/// Returns the files in which a block may have been recorded again later, most likely first.
pub fn later_paths(ledger: &Ledger, at: ClaimRef) -> Vec<RelativePath> {
    let claim = ledger.claim(at);
    let records = candidates_of_record(ledger, claim.full_block());
    let path = &claim.file.relative_path;
    let mut votes: BTreeMap<&RelativePath, u32> = BTreeMap::new();
    for (other, weight) in records.into_iter().filter(|(other, _)| *other > at) {
        let other = ledger.claim(other);
        if !other.full_block().deleted && other.file.relative_path != *path {
            *votes.entry(&other.file.relative_path).or_default() += weight;
        }
    }
    most_likely(votes)
}

/// Returns the records that the blocks of a file continue, although each block has a later record
/// of its own.
///
/// These are the earlier records in the block's history. If that history does not reach back to the
/// first version of the block, they also include the records that would be found if the block had
/// not been recorded again.
pub fn before_own_records(
    ledger: &Ledger,
    path: &RelativePath,
    document: &Document,
    found: &[Provenance],
    surroundings: &dyn Surroundings,
) -> HashSet<ClaimRef> {
    let blocks = &document.blocks();
    let mut before = HashSet::new();
    let mut first = Vec::with_capacity(found.len());
    let mut open = Vec::with_capacity(found.len());
    for (block, found) in blocks.blocks.iter().zip(found) {
        let steps = found.claim.map(|claim| lineage::history_of_claim(ledger, surroundings, claim));
        let steps = steps.unwrap_or_default();
        // If a block with this name or text was in this file before, it is a different block,
        // whatever was recorded of it later.
        let is_it = |at: &ClaimRef| surroundings.existed(*at, path, block) != Some(true);
        before.extend(recorded(&steps).filter(is_it));
        let is_told = |at: ClaimRef| ledger.claim(at).full_block().replaces.is_some();
        let begins_untold = match steps.last() {
            Some(Step::Gap { .. }) => true,
            Some(Step::Recorded(at)) => !is_told(*at),
            None => false,
        };
        first.push(recorded(&steps).last().filter(|_| begins_untold));
        open.push((!begins_untold).then(|| found.clone()));
    }
    let file = CurrentFile { ledger, path, document, blocks, surroundings };
    file.match_other_files(&mut open, &mut |_, _| {});
    for (first, found) in first.into_iter().zip(open) {
        let (Some(first), Some(found)) = (first, found) else { continue };
        let older = found.claim.into_iter().chain(found.candidates).filter(|at| *at < first);
        before.extend(older);
    }
    before
}

fn recorded(steps: &[Step]) -> impl Iterator<Item = ClaimRef> {
    steps.iter().filter_map(Step::claim)
}

/// Returns true if two texts have at least half of their lines in common, measured in bytes. `git
/// diff -M` uses the same limit to detect a renamed file.
pub fn has_same_lines(before: &str, now: &str) -> bool {
    let mut left: HashMap<&str, usize> = HashMap::new();
    difference::lines(before).for_each(|line| *left.entry(line).or_default() += 1);
    let mut common = 0;
    for line in difference::lines(now) {
        if let Some(count) = left.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            common += line.len();
        }
    }
    common > 0 && common * 2 >= before.len().max(now.len())
}

/// Returns true if a file is a deleted file under another name: it has at least half of the blocks
/// of the deleted file by kind and name, or by text if it has no definitions.
///
/// One common block is enough if a block of sufficient size has the same text, or if the file name
/// is the same. Otherwise three are needed.
pub fn has_same_blocks(
    (old_path, then): (&RelativePath, &Outline),
    (path, now): (&RelativePath, &FileBlocks),
) -> bool {
    let texts: HashSet<outline::Short> = then.rows.iter().map(|row| row.text).collect();
    let rows = Outline::from_blocks(now).rows;
    let named = |row: &&Row| !row.is_unnamed();
    let called = |row: &Row| (row.kind, row.name);
    let compared: Vec<(&Row, &Block)> = rows.iter().zip(&now.blocks).collect();
    let definitions: Vec<(&Row, &Block)> =
        compared.iter().copied().filter(|(row, _)| named(row)).collect();
    let (in_common, smaller) = if definitions.is_empty() {
        let stood = rows.iter().filter(|row| texts.contains(&row.text)).count();
        (stood, then.rows.len().min(rows.len()))
    } else {
        let names: HashSet<_> = definitions.iter().map(|(row, _)| called(row)).collect();
        let before: HashSet<_> = then.rows.iter().filter(named).map(called).collect();
        (before.intersection(&names).count(), before.len().min(names.len()))
    };
    let compared = if definitions.is_empty() { compared } else { definitions };
    let is_sizeable_and_stood = |(row, block): &(&Row, &Block)| {
        block.fingerprint.token_count >= MIN_ACROSS_TOKENS && texts.contains(&row.text)
    };
    let same_name = old_path.file_name() == path.file_name();
    let least = if same_name || compared.iter().any(is_sizeable_and_stood) { 1 } else { 3 };
    in_common >= least && in_common * 2 >= smaller
}
