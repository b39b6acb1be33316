//! Finds the records of blocks that came from another file.
//!
//! A block without a record in its own file may have been recorded in another one. Candidates are
//! looked up by content hash and by name; the ledger is never scanned. Two conditions must hold: no
//! block of the other file matches the record any more, and the block did not exist in this file
//! when the record was made. A block that only has a twin in another file is a copy, and the record
//! stays with the original.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::align::{Fit, Scene};
use super::item::ComparedBlock;
use super::later_places::{has_same_blocks, has_same_lines};
use super::likeness::{Reach, RecordedSide};
use super::lookup::CandidateRecord;
use super::reading::{BlockReading, against_record, provenance};
use super::rules::{MARGIN, MIN_ACROSS_TOKENS};
use super::{CurrentFile, Orphans, SharedTrail, Watch};
use crate::file_history::Version;
use crate::names::{is_called, is_unnamed, leaf, may_become};
use crate::outline::Outline;
use crate::{Placement, Provenance, Rejection, Tier};
use code::fingerprint::PairLanes;
use code::{Block, ContentHash, Document, FileBlocks};
use ground::RelativePath;
use ledger::{BlockName, BlockRecord, ClaimRef, Ledger, Trust, sorted};

/// The maximum number of other files that are examined for one file.
const MAX_SOURCES: usize = 16;

/// What the matcher needs to know about the rest of the work tree.
pub trait Surroundings {
    /// Returns the recorded history of a path.
    fn trail(&self, path: &RelativePath) -> SharedTrail;
    /// Returns the text of a recorded version with the given outline, if a commit still has it.
    fn text_of(
        &self,
        path: &RelativePath,
        version: &Version,
        outline: &Outline,
    ) -> Option<Document>;
    /// Returns the records of another file that may be found in this one. See [`super::orphans`].
    fn orphans(&self, path: &RelativePath) -> Arc<Orphans>;
    /// Returns true if the file no longer exists.
    fn is_gone(&self, path: &RelativePath) -> bool;
    /// Returns whether the block already existed in `path` when the record was made. `None` if this
    /// is not known.
    fn existed(&self, at: ClaimRef, path: &RelativePath, block: &Block) -> Option<bool>;
    /// Returns [`super::candidates`] of a block. The result may be cached, because it depends only
    /// on the block and the ledger.
    fn candidates(&self, block: &Block) -> Arc<Vec<CandidateRecord>>;
    /// Returns recorded files that no longer exist and had the same name or the same folder as this
    /// file.
    fn gone_nearby(&self, path: &RelativePath) -> Vec<RelativePath>;
    /// Returns true if a block with this name and these tokens existed anywhere in the tree that
    /// the record was based on. Only this file and files that changed since then are searched.
    fn existed_anywhere(&self, at: ClaimRef, path: &RelativePath, block: &Block) -> bool;
    /// Returns the sketch of token pairs of the text that a record replaced. `None` if that text is
    /// not known.
    fn pairs_before(&self, at: ClaimRef, before: &ContentHash) -> Option<PairLanes>;
    /// Returns the files that are new or changed since the commit that a record was based on.
    fn changed_since(&self, at: ClaimRef) -> Arc<Vec<(RelativePath, Arc<FileBlocks>)>>;
}

impl CurrentFile<'_> {
    /// Searches the records of other files for the blocks of this file that have no record yet.
    pub(super) fn match_other_files(&self, found: &mut [Option<Provenance>], watch: Watch<'_>) {
        let sources = self.sources(found);
        let (mut scattered, mut renamed, mut continued) = (Vec::new(), HashSet::new(), Vec::new());
        for source in &sources {
            let orphans = self.surroundings.orphans(source);
            if orphans.is_empty() {
                continue;
            }
            if self.surroundings.is_gone(source) && self.goes_on_vanished(source) {
                let newest = self.surroundings.trail(source).newest().and_then(|one| one.last);
                continued.push((newest, source));
            } else {
                scattered.extend(orphans.gone.iter().chain(&orphans.renamed).copied());
                renamed.extend(orphans.renamed.iter().copied());
            }
        }
        // A file may have been renamed more than once. The one with the newest record is tried
        // first.
        continued.sort();
        for (_, source) in continued.into_iter().rev() {
            self.match_renamed_file(source, found, watch);
        }
        if !scattered.is_empty() {
            self.match_moved_blocks((&sorted(scattered), &renamed), found, watch);
        }
    }

    /// Matches the blocks of this file with those of a deleted file that it is the renamed version
    /// of.
    fn match_renamed_file(
        &self,
        source: &RelativePath,
        found: &mut [Option<Provenance>],
        watch: Watch<'_>,
    ) {
        let trail = self.surroundings.trail(source);
        let Some(version) = trail.last_standing() else { return };
        let now = ComparedBlock::of_blocks(self.blocks);
        let aligned = self.aligned(&now, (&trail, version), Reach::Renamed, watch);
        let ids = trail.ids(version);
        let rows = Outline::from_blocks(self.blocks).rows;
        for (index, fit) in aligned.fits.iter().enumerate() {
            if !Provenance::is_open(found[index].as_ref()) {
                continue;
            }
            let block = &self.blocks.blocks[index];
            let reading =
                BlockReading::of_aligned_block(self, (&trail, &ids), fit, (&rows[index], block));
            let Some(mut reading) = reading else { continue };
            reading.place = Placement::Moved;
            let provenance = provenance(self.ledger, &trail, block, vec![reading]);
            // A block that existed here before the record was made did not come from the deleted
            // file. This happens if the deleted file was a copy of this one.
            let claim = provenance.as_ref().and_then(|found| found.claim);
            if claim.is_none_or(|at| self.existed(at, block) != Some(true)) {
                found[index] = provenance;
            }
        }
    }

    fn existed(&self, at: ClaimRef, block: &Block) -> Option<bool> {
        self.surroundings.existed(at, self.path, block)
    }

    /// Matches single blocks that moved here from other files.
    fn match_moved_blocks(
        &self,
        (heads, renamed): (&[ClaimRef], &HashSet<ClaimRef>),
        found: &mut [Option<Provenance>],
        watch: Watch<'_>,
    ) {
        let (ledger, blocks) = (self.ledger, &self.blocks.blocks);
        // Whether a block already existed here, by the index of the record's entry and of the
        // block. The answer is the same for all records of one entry.
        let stood: RefCell<HashMap<(u32, usize), bool>> = RefCell::default();
        let is_new = |at: ClaimRef, index: usize| {
            let known = stood.borrow().get(&(at.entry, index)).copied();
            !known.unwrap_or_else(|| {
                let existed = self.existed(at, &blocks[index]) == Some(true);
                stood.borrow_mut().insert((at.entry, index), existed);
                existed
            })
        };
        let admits = |at: ClaimRef, index: usize| {
            let block = &blocks[index];
            let says_enough = block.fingerprint.token_count >= MIN_ACROSS_TOKENS
                || is_as_recorded(ledger, at, block) && self.existed(at, block) == Some(false);
            says_enough
                && !block.identity.kind.is_unnamed()
                && (!renamed.contains(&at) || is_as_recorded(ledger, at, block))
                && is_new(at, index)
        };
        let of_record =
            |at: &ClaimRef| ComparedBlock::of_record(ledger.claim(*at).full_block(), *at);
        let (claims, then): (Vec<ClaimRef>, Vec<ComparedBlock<'_>>) =
            heads.iter().filter_map(|at| Some((*at, of_record(at)?))).unzip();
        let now = ComparedBlock::of_blocks(self.blocks);
        let open: Vec<bool> =
            found.iter().map(|found| Provenance::is_open(found.as_ref())).collect();
        let scene = Scene {
            is_open: &|index| open[index],
            admits: &|old, index| admits(claims[old], index),
            is_copy: &|index| self.is_copy(index),
            ..Scene::with_all_pairs(&then, &now, Reach::Elsewhere)
        };
        let aligned = scene.align();
        watch(&scene, &aligned);
        for (index, fit) in aligned.fits.iter().enumerate() {
            found[index] = Some(match fit {
                Fit::New => continue,
                Fit::Is(paired) => {
                    let (at, tier) = (claims[paired.then], paired.rule.tier);
                    against_record(ledger, at, &blocks[index], tier, Placement::Moved)
                }
                Fit::Ambiguous(all) => {
                    Provenance::ambiguous(all.iter().map(|old| claims[*old]).collect())
                }
            });
        }
    }

    /// Returns the files whose records may match blocks of this file, most likely first.
    fn sources(&self, found: &[Option<Provenance>]) -> Vec<RelativePath> {
        let FileBlocks { blocks, language, .. } = self.blocks;
        let mut votes: BTreeMap<&RelativePath, u32> = BTreeMap::new();
        let mut any_open = false;
        let is_text = blocks.iter().all(|block| block.identity.kind.is_unnamed());
        let is_open = |found: &Option<Provenance>| Provenance::is_open(found.as_ref());
        for (block, _) in blocks.iter().zip(found).filter(|(_, found)| is_open(found)) {
            if block.identity.kind.is_unnamed() && !is_text {
                continue;
            }
            any_open = true;
            let mut seen = HashSet::new();
            for (at, weight) in self.surroundings.candidates(block).iter().copied() {
                let claim = self.ledger.claim(at);
                let (from, range) = (&claim.file.relative_path, claim.recorded_block());
                let is_language = |name: &BlockName| name.language.as_deref() == *language;
                let speaks = !range.deleted
                    && from != self.path
                    && claim.entry.trust != Trust::Contradicted
                    && range.block.as_ref().is_some_and(is_language);
                if speaks && seen.insert(from) {
                    *votes.entry(from).or_default() += weight;
                }
            }
        }
        let mut near = Vec::new();
        if any_open && !self.ledger.has_path(self.path) {
            near = self.surroundings.gone_nearby(self.path);
        }
        for path in &near {
            votes.entry(path).or_default();
        }
        most_likely(votes)
    }

    /// Withdraws doubtful matches, that is, those under another name or from another file.
    ///
    /// A match is withdrawn if another changed file has a block that reads as recorded, or that is
    /// more like the record. A match under another name is also withdrawn if the block existed
    /// under its present name anywhere before the record was made.
    pub(super) fn withdraw(&self, found: &mut [Option<Provenance>]) {
        for (block, found) in self.blocks.blocks.iter().zip(found) {
            if let Some(Provenance { claim: Some(at), tier: Some(tier), .. }) = *found
                && let Some(why) = self.doubt(block, at, tier)
            {
                *found = Some(Provenance::refused(at, why));
            }
        }
    }

    /// Returns why the match of a block with a record is withdrawn. `None` if it is not.
    fn doubt(&self, block: &Block, at: ClaimRef, tier: Tier) -> Option<Rejection> {
        let claim = self.ledger.claim(at);
        let name = claim.full_block().block.as_ref()?;
        let is_elsewhere = claim.file.relative_path != *self.path;
        let by_its_name = is_called(name, block) && !is_elsewhere;
        if tier <= Tier::Tokens || by_its_name || is_unnamed(&name.kind) {
            return None;
        }
        let is_renamed = tier > Tier::TokensElsewhere && !name.path.ends_with(&block.name);
        if is_renamed && self.surroundings.existed_anywhere(at, self.path, block) {
            return Some(Rejection::StoodBefore);
        }
        let recorded = RecordedSide::from_claim(&claim, name);
        let mine = recorded.likeness(self.path, block);
        let better = |path: &RelativePath, other: &Block| {
            if has_recorded_tokens(claim.full_block(), other) {
                return other.name == leaf(name) || tier > Tier::TokensElsewhere;
            }
            tier > Tier::Shape
                && may_become(&name.kind, other.identity.kind.as_str())
                && recorded.is_more_alike(mine - MARGIN, path, other)
        };
        let is_other = |path: &RelativePath| {
            path != self.path && (is_elsewhere || *path != claim.file.relative_path)
        };
        let changed = self.surroundings.changed_since(at);
        let has_rival = changed.iter().filter(|(path, _)| is_other(path)).any(|(path, blocks)| {
            let mut rivals = blocks.blocks.iter().filter(|block| better(path, block));
            rivals.any(|block| self.surroundings.existed(at, path, block) == Some(false))
        });
        has_rival.then_some(Rejection::Rivals)
    }

    /// Returns true if this file is a deleted file under another name, judged by what the deleted
    /// file last contained.
    fn goes_on_vanished(&self, source: &RelativePath) -> bool {
        let trail = self.surroundings.trail(source);
        let Some(version) = trail.last_standing() else { return false };
        let known = version.states.iter().chain(&version.loose);
        let then = Outline { rows: known.map(|id| trail.state(*id).row).collect() };
        let text = || self.surroundings.text_of(source, version, &trail.outline(version));
        has_same_blocks((source, &then), (self.path, self.blocks))
            || text().is_some_and(|then| has_same_lines(&then.text(), &self.document.text()))
    }
}

/// Returns true if a block has the name of a record, and its text or its tokens.
fn is_as_recorded(ledger: &Ledger, at: ClaimRef, block: &Block) -> bool {
    let range = ledger.claim(at).full_block();
    let name = range.block.as_ref();
    has_recorded_tokens(range, block) && name.is_some_and(|name| is_called(name, block))
}

/// Returns true if a block has the text or the tokens of a record.
fn has_recorded_tokens(range: &BlockRecord, block: &Block) -> bool {
    let print = &block.fingerprint;
    range.content_hash == print.content || range.token_hash.as_ref() == Some(&print.tokens)
}

/// Returns the paths with the most votes, best first.
pub(super) fn most_likely(votes: BTreeMap<&RelativePath, u32>) -> Vec<RelativePath> {
    let mut paths: Vec<(&RelativePath, u32)> = votes.into_iter().collect();
    paths.sort_by_key(|(_, votes)| Reverse(*votes));
    paths.into_iter().take(MAX_SOURCES).map(|(path, _)| path.clone()).collect()
}
