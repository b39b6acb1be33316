//! Finds the records of blocks that came from another file.
//!
//! A block without a record in its own file may have been recorded in another one. Candidates are
//! looked up by content hash and by name; the ledger is never scanned. Two conditions must hold: no
//! block of the other file matches the record any more, and the block did not exist in this file
//! when the record was made. A block that only has a twin in another file is a copy, and the record
//! stays with the original.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::align::{Fit, Scene};
use super::item::ComparedBlock;
use super::later_places::{has_same_blocks, has_same_lines};
use super::likeness::{self, Reach};
use super::lookup::CandidateRecord;
use super::reading::{BlockReading, content_of, has_recorded_own_text, kept, provenance};
use super::rules::{MARGIN, MIN_ACROSS_TOKENS};
use super::{Orphans, SharedTrail, Watch, against_version, is_copy};
use crate::code::fingerprint::PairLanes;
use crate::code::{Block, ContentHash, Document, FileBlocks};
use crate::ledger::{ClaimRef, Ledger, Trust};
use crate::provenance::file_history::Version;
use crate::provenance::names::{is_called, is_unnamed, leaf, may_become};
use crate::provenance::outline::Outline;
use crate::provenance::{Content, Placement, Provenance, Rejection, Tier};
use crate::workspace::RelativePath;

/// The maximum number of other files that are examined for one file.
pub(super) const MAX_SOURCES: usize = 16;

/// What the matcher needs to know about the rest of the work tree.
pub(crate) trait Surroundings {
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

/// Searches the records of other files for the blocks of this file that have no record yet.
pub(super) fn file(
    ledger: &Ledger,
    path: &RelativePath,
    now: (&Document, &FileBlocks),
    found: &mut [Option<Provenance>],
    surroundings: &dyn Surroundings,
    watch: Watch<'_>,
) {
    let sources = sources(ledger, path, now.1, found, surroundings);
    let (mut scattered, mut renamed, mut continued) = (Vec::new(), HashSet::new(), Vec::new());
    for source in &sources {
        let orphans = surroundings.orphans(source);
        if orphans.is_empty() {
            continue;
        }
        if surroundings.is_gone(source) && goes_on_vanished(source, path, now, surroundings) {
            continued.push((surroundings.trail(source).newest().and_then(|one| one.last), source));
        } else {
            scattered.extend(orphans.gone.iter().chain(&orphans.renamed).copied());
            renamed.extend(orphans.renamed.iter().copied());
        }
    }
    // A file may have been renamed more than once. The one with the newest record is tried first.
    continued.sort();
    for (_, source) in continued.into_iter().rev() {
        renamed_file(ledger, (path, source), now, found, surroundings, watch);
    }
    if !scattered.is_empty() {
        let heads = sorted(scattered);
        moved_blocks(ledger, path, now.1, found, (&heads, &renamed), surroundings, watch);
    }
}

/// Matches the blocks of this file with those of a deleted file that it is the renamed version of.
fn renamed_file(
    ledger: &Ledger,
    (path, source): (&RelativePath, &RelativePath),
    (document, blocks): (&Document, &FileBlocks),
    found: &mut [Option<Provenance>],
    surroundings: &dyn Surroundings,
    watch: Watch<'_>,
) {
    let trail = surroundings.trail(source);
    let Some(version) = trail.last_standing() else { return };
    let items = ComparedBlock::of_blocks(blocks);
    let parts = (path, document, &items[..]);
    let aligned =
        against_version(ledger, parts, (&trail, version), Reach::Renamed, surroundings, watch);
    let ids = trail.ids(version);
    let rows = Outline::of(blocks).rows;
    for (index, fit) in aligned.fits.iter().enumerate() {
        if !Provenance::is_open(found[index].as_ref()) {
            continue;
        }
        let block = &blocks.blocks[index];
        let reading = match fit {
            Fit::New => continue,
            Fit::Is(paired) => {
                let mut reading = BlockReading::of(&trail, ids[paired.then], &rows[index], block);
                let block = (&rows[index], block);
                reading.look_further_back((ledger, surroundings), &trail, block, document);
                reading.set_match(paired, Placement::Moved);
                reading
            }
            Fit::Ambiguous(all) => BlockReading::ambiguous(
                all.iter().filter_map(|then| trail.claim(ids[*then])).collect(),
            ),
        };
        let provenance = provenance(ledger, &trail, block, vec![reading]);
        // A block that existed here before the record was made did not come from the deleted file.
        // This happens if the deleted file was a copy of this one.
        let claim = provenance.as_ref().and_then(|found| found.claim);
        if claim.is_none_or(|at| surroundings.existed(at, path, block) != Some(true)) {
            found[index] = provenance;
        }
    }
}

/// Matches single blocks that moved here from other files.
fn moved_blocks(
    ledger: &Ledger,
    path: &RelativePath,
    blocks: &FileBlocks,
    found: &mut [Option<Provenance>],
    (heads, renamed): (&[ClaimRef], &HashSet<ClaimRef>),
    surroundings: &dyn Surroundings,
    watch: Watch<'_>,
) {
    // Whether a block already existed here, by the index of the record's entry and of the block.
    // The answer is the same for all records of one entry.
    let stood: RefCell<HashMap<(u32, usize), bool>> = RefCell::default();
    let is_new = |at: ClaimRef, index: usize| {
        let known = stood.borrow().get(&(at.entry, index)).copied();
        !known.unwrap_or_else(|| {
            let existed = surroundings.existed(at, path, &blocks.blocks[index]) == Some(true);
            stood.borrow_mut().insert((at.entry, index), existed);
            existed
        })
    };
    let admits = |at: ClaimRef, index: usize| {
        let block = &blocks.blocks[index];
        let says_enough = block.fingerprint.token_count >= MIN_ACROSS_TOKENS
            || is_as_recorded(ledger, at, block)
                && surroundings.existed(at, path, block) == Some(false);
        says_enough
            && !block.identity.kind.is_unnamed()
            && (!renamed.contains(&at) || is_as_recorded(ledger, at, block))
            && is_new(at, index)
    };
    let of_record = |at: &ClaimRef| ComparedBlock::of_record(ledger.claim(*at).full_block(), *at);
    let (claims, then): (Vec<ClaimRef>, Vec<ComparedBlock<'_>>) =
        heads.iter().filter_map(|at| Some((*at, of_record(at)?))).unzip();
    let now = ComparedBlock::of_blocks(blocks);
    let open: Vec<bool> = found.iter().map(|found| Provenance::is_open(found.as_ref())).collect();
    let scene = Scene {
        then: &then,
        now: &now,
        reach: Reach::Elsewhere,
        texts: None,
        is_open: &|index| open[index],
        admits: &|old, index| admits(claims[old], index),
        is_copy: &|index| is_copy(ledger, path, blocks, index),
    };
    let aligned = scene.align();
    watch(&scene, &aligned);
    for (index, fit) in aligned.fits.iter().enumerate() {
        let block = &blocks.blocks[index];
        match fit {
            Fit::New => {}
            Fit::Is(paired) => {
                let at = claims[paired.then];
                let range = ledger.claim(at).full_block();
                let content = content_of(range, block);
                found[index] = Some(Provenance {
                    kept: kept(range, block).filter(|_| content == Content::Modified),
                    only_inside: content == Content::Modified
                        && has_recorded_own_text(range, block),
                    ..Provenance::found(at, paired.rule.tier, content, Placement::Moved)
                });
            }
            Fit::Ambiguous(all) => {
                let all = all.iter().map(|old| claims[*old]).collect();
                found[index] = Some(Provenance::ambiguous(all));
            }
        }
    }
}

/// Returns true if a block has the name of a record, and its text or its tokens.
fn is_as_recorded(ledger: &Ledger, at: ClaimRef, block: &Block) -> bool {
    let (range, print) = (ledger.claim(at).full_block(), &block.fingerprint);
    let same =
        range.content_hash == print.content || range.token_hash.as_ref() == Some(&print.tokens);
    same && range.block.as_ref().is_some_and(|name| is_called(name, block))
}

fn sorted(mut heads: Vec<ClaimRef>) -> Vec<ClaimRef> {
    heads.sort();
    heads.dedup();
    heads
}

/// Returns the files whose records may match blocks of this file, most likely first.
fn sources(
    ledger: &Ledger,
    path: &RelativePath,
    blocks: &FileBlocks,
    found: &[Option<Provenance>],
    surroundings: &dyn Surroundings,
) -> Vec<RelativePath> {
    let mut votes: HashMap<RelativePath, u32> = HashMap::new();
    let open = |found: &Option<Provenance>| Provenance::is_open(found.as_ref());
    let mut any_open = false;
    let is_text = blocks.blocks.iter().all(|block| block.identity.kind.is_unnamed());
    for (block, _) in blocks.blocks.iter().zip(found).filter(|(_, found)| open(found)) {
        if block.identity.kind.is_unnamed() && !is_text {
            continue;
        }
        any_open = true;
        let mut seen = HashSet::new();
        for (at, weight) in surroundings.candidates(block).iter().copied() {
            let claim = ledger.claim(at);
            let from = &claim.file.relative_path;
            let speaks = !claim.recorded_block().deleted
                && from != path
                && claim.entry.trust != Trust::Contradicted
                && claim
                    .recorded_block()
                    .block
                    .as_ref()
                    .is_some_and(|name| name.language.as_deref() == blocks.language);
            if speaks && seen.insert(from) {
                match votes.get_mut(from) {
                    Some(votes) => *votes += weight,
                    None => drop(votes.insert(from.clone(), weight)),
                }
            }
        }
    }
    if any_open && !ledger.has_path(path) {
        for near in surroundings.gone_nearby(path) {
            votes.entry(near).or_default();
        }
    }
    let mut sources: Vec<(RelativePath, u32)> = votes.into_iter().collect();
    sources.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sources.into_iter().take(MAX_SOURCES).map(|(path, _)| path).collect()
}

/// Withdraws doubtful matches, that is, those under another name or from another file.
///
/// A match is withdrawn if another changed file has a block that reads as recorded, or that is more
/// like the record. A match under another name is also withdrawn if the block existed under its
/// present name anywhere before the record was made.
pub(super) fn withdraw(
    ledger: &Ledger,
    path: &RelativePath,
    blocks: &FileBlocks,
    found: &mut [Option<Provenance>],
    surroundings: &dyn Surroundings,
) {
    for (block, found) in blocks.blocks.iter().zip(found) {
        let Some(Provenance { claim: Some(at), tier: Some(tier), .. }) = found else { continue };
        let claim = ledger.claim(*at);
        let Some(name) = &claim.full_block().block else { continue };
        let is_elsewhere = claim.file.relative_path != *path;
        let by_its_name = is_called(name, block) && !is_elsewhere;
        if *tier <= Tier::Tokens || by_its_name || is_unnamed(&name.kind) {
            continue;
        }
        let (at, tier) = (*at, *tier);
        let is_renamed = tier > Tier::TokensElsewhere && !name.path.ends_with(&block.name);
        if is_renamed && surroundings.existed_anywhere(at, path, block) {
            *found = Some(Provenance::refused(at, Rejection::StoodBefore));
            continue;
        }
        let mine = likeness::anywhere(&claim, name, path, block);
        let better = |path: &RelativePath, other: &Block| {
            let print = &other.fingerprint;
            let is_as_recorded = claim.full_block().content_hash == print.content
                || claim.full_block().token_hash.as_ref() == Some(&print.tokens);
            if is_as_recorded {
                return other.name == leaf(name) || tier > Tier::TokensElsewhere;
            }
            tier > Tier::Shape
                && may_become(&name.kind, other.identity.kind.as_str())
                && likeness::anywhere(&claim, name, path, other) > mine - MARGIN
        };
        let changed = surroundings.changed_since(at);
        let rival = changed
            .iter()
            .filter(|(other, _)| {
                other != path && (is_elsewhere || *other != claim.file.relative_path)
            })
            .any(|(other, blocks)| {
                let mut rivals = blocks.blocks.iter().filter(|block| better(other, block));
                rivals.any(|block| surroundings.existed(at, other, block) == Some(false))
            });
        if rival {
            *found = Some(Provenance::refused(at, Rejection::Rivals));
        }
    }
}

/// Returns true if this file is a deleted file under another name, judged by what the deleted file
/// last contained.
fn goes_on_vanished(
    source: &RelativePath,
    path: &RelativePath,
    (document, blocks): (&Document, &FileBlocks),
    surroundings: &dyn Surroundings,
) -> bool {
    let trail = surroundings.trail(source);
    let Some(version) = trail.last_standing() else { return false };
    let known = version.states.iter().chain(&version.loose);
    let then = Outline { rows: known.map(|id| trail.state(*id).row).collect() };
    let text = || surroundings.text_of(source, version, &trail.outline(version));
    has_same_blocks((source, &then), (path, blocks))
        || text().is_some_and(|then| has_same_lines(&then.text(), &document.text()))
}
