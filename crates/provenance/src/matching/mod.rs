//! Finds recorded blocks again in the current files.
//!
//! A file is aligned with its recorded versions (`align`). Each block then reads as one of the
//! states in its history (`reading`). Blocks that no version of the file explains may have come
//! from another file (`other_files`).
//!
//! - `item`, `text_pair`: the two sides of an alignment.
//! - `measure`, `likeness`, `rules`: candidate pairs, how alike they are, and which of them are
//!   accepted.
//! - `lookup`: records that could describe a block, looked up in the ledger.
//! - `later_places`: where recorded blocks went later.
//! - `copies`: copies, splits and merges.

pub(crate) mod align;
pub mod item;
mod likeness;
pub mod rules;

mod copies;
mod later_places;
mod lookup;
mod measure;
mod other_files;
mod reading;
mod text_pair;

use std::sync::Arc;

use code::{Block, Document, FileBlocks};
use ground::RelativePath;
use ledger::{ClaimRef, Ledger, sorted};

use super::file_history::{MAX_LEAVES, Trail, Version};
use super::names::{is_called, is_unnamed};
use super::outline::{Against, Outline};
use super::{Content, Placement, Provenance, Rejection, Tier, Verdict};
use align::{Alignment, Fit, Paired, Scene};
use item::ComparedBlock;
use reading::{BlockReading, place_of, provenance};
use rules::MIN_RENAMED_TOKENS;
use text_pair::FileTexts;

pub use copies::Origins;
pub use item::row_of_record;
pub use later_places::{
    before_own_records, has_same_blocks, has_same_lines, later_paths, recorded_elsewhere,
};
pub use likeness::Likeness;
pub(crate) use likeness::Reach;
pub use lookup::{CandidateRecord, candidates};
pub use other_files::Surroundings;
pub use reading::has_recorded_own_text;
pub(crate) use rules::MatchRule;

/// The current state of a file, with the ledger and with access to the rest of the work tree.
#[derive(Clone, Copy)]
struct CurrentFile<'a> {
    ledger: &'a Ledger,
    path: &'a RelativePath,
    document: &'a Document,
    blocks: &'a FileBlocks,
    surroundings: &'a dyn Surroundings,
}

/// Returns the provenance of every block of a file, in the order of
/// [`code::FileBlocks::blocks`].
pub fn file(
    ledger: &Ledger,
    path: &RelativePath,
    document: &Document,
    surroundings: &dyn Surroundings,
) -> Vec<Provenance> {
    let blocks = &document.blocks();
    CurrentFile { ledger, path, document, blocks, surroundings }.provenance(&mut |_, _| {})
}

/// A callback that receives each alignment made while a file is matched.
type Watch<'a> = &'a mut dyn FnMut(&Scene<'_>, &Alignment);

/// An earlier block that a block was compared with.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The kind and path of the earlier block. `None` if only their hashes are known.
    pub name: Option<(String, String)>,
    /// The record of the earlier block. `None` if the block was not recorded.
    pub claim: Option<ClaimRef>,
    /// How alike the two are. `None` if name, text and order are the same, so that nothing was
    /// measured.
    pub likeness: Option<Likeness>,
    /// The rule that accepted the pair, or why no rule did.
    pub outcome: Result<&'static MatchRule, Rejection>,
}

/// Returns, for each block of a file, the earlier blocks that it was compared with to find the
/// result of [`file()`], in order.
pub fn comparisons(
    ledger: &Ledger,
    path: &RelativePath,
    document: &Document,
    surroundings: &dyn Surroundings,
) -> Vec<Vec<Comparison>> {
    let blocks = &document.blocks();
    let mut compared: Vec<Vec<Comparison>> = vec![Vec::new(); blocks.blocks.len()];
    let mut watch = |scene: &Scene<'_>, aligned: &Alignment| {
        for (index, all) in compared.iter_mut().enumerate() {
            let by_order = match &aligned.fits[index] {
                Fit::Is(Paired { then, rule, likeness: None }) => Some((*then, None, Ok(*rule))),
                _ => None,
            };
            let measured = aligned.compared(index).iter();
            let measured = measured.map(|pair| (pair.then, Some(pair.likeness), pair.outcome));
            all.extend(by_order.into_iter().chain(measured).map(|(then, likeness, outcome)| {
                let item = &scene.then[then];
                let name = item.name.map(|name| (name.kind.to_owned(), name.path.to_owned()));
                Comparison { name, claim: item.answer, likeness, outcome }
            }));
        }
    };
    CurrentFile { ledger, path, document, blocks, surroundings }.provenance(&mut watch);
    compared
}

/// The result of matching a file with its own recorded versions.
#[derive(Default)]
struct Matched {
    /// The result for each block. `None` if the block is new.
    found: Vec<Option<Provenance>>,
    /// Records of blocks that still exist, under any name.
    standing: Vec<ClaimRef>,
    /// Those of `standing` whose block now reads as an older state or has another name.
    undone: Vec<ClaimRef>,
}

impl CurrentFile<'_> {
    fn provenance(&self, watch: Watch<'_>) -> Vec<Provenance> {
        let mut found = self.match_own_versions(watch).found;
        self.match_other_files(&mut found, watch);
        self.withdraw(&mut found);
        let mut found: Vec<Provenance> =
            found.into_iter().map(|found| found.unwrap_or_else(Provenance::unrecorded)).collect();
        self.mark_conflicts(&mut found);
        found
    }

    /// Marks blocks that contain or are part of a merge conflict as modified, because nobody
    /// recorded that text.
    fn mark_conflicts(&self, found: &mut [Provenance]) {
        if self.blocks.language.is_some() && !self.blocks.has_error {
            // For a text with a grammar, a merge conflict also sets `has_error`.
            return;
        }
        let conflicts = code::conflicts(&self.document.text());
        for (block, found) in self.blocks.blocks.iter().zip(found) {
            if found.covered() && conflicts.iter().any(|it| it.overlaps(block.lines)) {
                (found.verdict, found.content) = (Verdict::Modified, Some(Content::Modified));
            }
        }
    }

    /// Matches the file with its own recorded versions.
    fn match_own_versions(&self, watch: Watch<'_>) -> Matched {
        let (ledger, blocks) = (self.ledger, &self.blocks.blocks);
        let trail = self.surroundings.trail(self.path);
        let rows = Outline::from_blocks(self.blocks).rows;
        let now = ComparedBlock::of_blocks(self.blocks);
        let mut readings: Vec<Vec<BlockReading>> = vec![Vec::new(); blocks.len()];
        let mut matched = Matched::default();
        // The newest version of each branch is compared, the newest of all first. Once a block was
        // found in one of them, another one counts only if the block reads as it did in that one,
        // for example after switching to another branch.
        for version in trail.leaves().take(MAX_LEAVES) {
            let aligned = self.aligned(&now, (&trail, version), Reach::File, watch);
            let ids = trail.ids(version);
            for (index, fit) in aligned.fits.iter().enumerate() {
                let block = &blocks[index];
                if matches!(fit, Fit::Ambiguous(_)) && !readings[index].is_empty() {
                    continue;
                }
                let reading = BlockReading::of_aligned_block(
                    self,
                    (&trail, &ids),
                    fit,
                    (&rows[index], block),
                );
                let Some(mut reading) = reading else { continue };
                if let Fit::Is(paired) = fit {
                    reading.place = place_of(ledger, &reading, block, paired);
                    let newest = trail.claim(ids[paired.then]);
                    matched.standing.extend(newest);
                    if newest != reading.claim || reading.is_renamed(ledger, block) {
                        matched.undone.extend(newest);
                    }
                }
                matched.standing.extend(&reading.candidates);
                if readings[index].is_empty() || reading.is_equal() {
                    readings[index].push(reading);
                }
            }
        }
        for (block, readings) in blocks.iter().zip(readings) {
            let mut found = provenance(ledger, &trail, block, readings);
            let open = found.as_ref().is_none_or(|found| found.claim.is_none());
            if open && let Some(at) = trail.nameless(&block.fingerprint.content) {
                // Other tools write records that name no block.
                found = Some(Provenance::found(at, Tier::Text, Content::Exact, Placement::Same));
            }
            matched.found.push(found);
        }
        matched
    }

    /// Aligns the blocks of the file with a recorded version of it, or of the file that it was
    /// before it was renamed.
    fn aligned(
        &self,
        now: &[ComparedBlock<'_>],
        (trail, version): (&Trail, &Version),
        reach: Reach,
        watch: Watch<'_>,
    ) -> Alignment {
        let outline = trail.outline(version);
        // If the file is as recorded, the earlier text need not be found and parsed.
        let text = match outline == Outline::from_blocks(self.blocks) {
            true => Some(self.document.clone()),
            false => self.surroundings.text_of(self.path, version, &outline),
        };
        let texts = text.map(|then| FileTexts::new(then, self.document.clone()));
        let then_blocks = texts.as_ref().map(|texts| texts.earlier_text().blocks());
        let mut then: Vec<ComparedBlock<'_>> = trail.items(self.ledger, version);
        let then_blocks = then_blocks.iter().flat_map(|blocks| &blocks.blocks);
        for (item, block) in then.iter_mut().zip(then_blocks).filter(|(item, _)| item.in_sequence) {
            item.add_block(block);
        }
        let is_copy = |index: usize| self.is_copy(index);
        let texts = texts.as_ref();
        let scene = Scene { texts, is_copy: &is_copy, ..Scene::with_all_pairs(&then, now, reach) };
        let aligned = scene.align();
        watch(&scene, &aligned);
        aligned
    }

    /// Returns true if another block in this file has the same shape, or if another file has a
    /// record with the same text. Such a block is a copy, or came from the other file.
    fn is_copy(&self, index: usize) -> bool {
        let print = &self.blocks.blocks[index].fingerprint;
        // Small blocks are alike by chance.
        if print.token_count < MIN_RENAMED_TOKENS {
            return false;
        }
        let is_twin =
            |(at, other): (usize, &Block)| at != index && other.fingerprint.shape == print.shape;
        if self.blocks.blocks.iter().enumerate().any(is_twin) {
            return true;
        }
        let same = self.ledger.by_content(&print.content).into_iter();
        same.map(|at| self.ledger.claim(at))
            .filter(|claim| !claim.recorded_block().deleted)
            .any(|claim| claim.file.relative_path != *self.path)
    }
}

/// For each block of `now`, returns the index of the block of `then` that it was. `None` if the
/// block is new, or if several earlier blocks fit equally well.
pub(crate) fn origins_in(then: &Document, now: &Document) -> Vec<Option<usize>> {
    let (old, new) = (then.blocks(), now.blocks());
    let texts = FileTexts::new(then.clone(), now.clone());
    let (old, new) = (ComparedBlock::of_blocks(&old), ComparedBlock::of_blocks(&new));
    earlier_indices(&old, &new, Some(&texts))
}

/// Like [`origins_in`], for blocks that are prepared already. `texts` is `None` if the earlier text
/// is not known.
fn earlier_indices(
    then: &[ComparedBlock<'_>],
    now: &[ComparedBlock<'_>],
    texts: Option<&FileTexts>,
) -> Vec<Option<usize>> {
    let alignment = Scene { texts, ..Scene::with_all_pairs(then, now, Reach::File) }.align();
    (0..now.len()).map(|at| alignment.earlier_block(at)).collect()
}

/// Like `origins_in`, with the rows of an earlier outline. Used if the earlier text is not known.
pub fn rows_in(then: &Outline, now: &FileBlocks) -> Vec<Option<usize>> {
    let then = ComparedBlock::of_outline(then);
    earlier_indices(&then, &ComparedBlock::of_blocks(now), None)
}

/// Returns the outline with one block replaced or inserted as it is now, together with the block's
/// row and the row that it had before.
pub fn with_block(
    then: &Outline,
    blocks: &FileBlocks,
    index: usize,
) -> (Outline, usize, Option<usize>) {
    let rows = rows_in(then, blocks);
    let block = Outline::from_blocks(blocks).rows[index];
    let mut outline = then.clone();
    if let Some(was) = rows[index] {
        outline.rows[was] = block;
        return (outline, was, Some(was));
    }
    let row = rows[..index].iter().rev().flatten().next().map_or(0, |before| before + 1);
    outline.rows.insert(row, block);
    (outline, row, None)
}

/// Returns how each block compares with an outline of its file.
pub fn compare_with_outline(then: &Outline, now: &Document) -> Vec<Against> {
    let blocks = now.blocks();
    let rows = Outline::from_blocks(&blocks).rows;
    let against = |(at, origin): (usize, Option<usize>)| match origin.map(|old| then.rows[old]) {
        None => Against::New,
        Some(old) if old.text == rows[at].text => Against::Same,
        Some(old) if old.tokens == rows[at].tokens => Against::Reformatted,
        Some(_) => Against::Changed,
    };
    rows_in(then, &blocks).into_iter().enumerate().map(against).collect()
}

/// Records of a path whose blocks may be found in another file.
#[derive(Debug, Default)]
pub struct Orphans {
    /// Records that no block of their own file matches any more.
    pub gone: Vec<ClaimRef>,
    /// Records whose block has another name or reads as an older state. A block in another file
    /// with the recorded text and the recorded name takes precedence.
    pub renamed: Vec<ClaimRef>,
    /// Records of blocks without a name that no block of their own file matches. Such a block can
    /// only move together with its whole file.
    pub unnamed: Vec<ClaimRef>,
}

impl Orphans {
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.renamed.is_empty() && self.unnamed.is_empty()
    }
}

/// Returns the records of a path whose blocks may be found in another file.
///
/// `document` is the current file, or `None` if it does not exist. A record is left out if its
/// block was later recorded again in another file.
pub fn orphans(
    ledger: &Ledger,
    path: &RelativePath,
    document: Option<&Document>,
    surroundings: &dyn Surroundings,
) -> Orphans {
    let trail = surroundings.trail(path);
    let mut orphans = Orphans { gone: trail.heads(), ..Orphans::default() };
    if let Some(document) = document {
        let blocks = &document.blocks();
        let file = CurrentFile { ledger, path, document, blocks, surroundings };
        let matched = file.match_own_versions(&mut |_, _| {});
        orphans.gone.retain(|at| !matched.standing.contains(at));
        orphans.renamed = matched.undone;
    }
    orphans.gone.extend(trail.removed_claims());
    let is_unnamed = |at: &ClaimRef| {
        ledger.claim(*at).full_block().block.as_ref().is_none_or(|name| is_unnamed(&name.kind))
    };
    let may_be_elsewhere = |at: &ClaimRef| recorded_elsewhere(ledger, *at).next().is_none();
    orphans.renamed.retain(|at| !is_unnamed(at) && may_be_elsewhere(at));
    orphans.gone.retain(may_be_elsewhere);
    let gone = sorted(orphans.gone).into_iter();
    (orphans.unnamed, orphans.gone) = gone.partition(is_unnamed);
    orphans
}

/// A trail that several look-ups share.
pub type SharedTrail = Arc<Trail>;

/// Returns true if the block now has a name other than the one in the record.
fn goes_by_another_name(ledger: &Ledger, at: ClaimRef, block: &Block) -> bool {
    ledger.claim(at).full_block().block.as_ref().is_some_and(|name| !is_called(name, block))
}
