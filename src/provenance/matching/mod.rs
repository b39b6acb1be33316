//! Finding recorded blocks again in the files as they stand.
//!
//! A cascade from certain to plausible; each tier only sees what the tiers
//! before it left over, on both sides:
//!
//! 1. same name, same text → `exact`
//! 2. same name, same tokens → `reformatted`
//! 3. another name, same text or tokens, and no block of the recorded name left → `moved`; of several copies, the one
//!    around which the container of the recorded one went on
//! 4. another name, same shape, at least [`MIN_RENAMED_TOKENS`] tokens, unique on both sides → `renamed`
//! 5. same name, other tokens → `modified`; of several blocks of one name, those that keep most are paired first
//! 6. what is left on both sides, by likeness (see `weighing`), and by what the change since the record's commit says:
//!    where its lines are left, what its callers call now (see `since`)
//!
//! First within the file, against the records of its path; then, for what no record of the file speaks of, against
//! records that nothing stands for any more where they were made: see `across`.
//!
//! A name proves little where less than half of the recorded text stands under it (`MOSTLY_KEPT`):
//! tiers 3 and 4 then treat the record as one whose name is gone, so that a text found whole under another name
//! goes there, and the newcomer under the old name gets nothing. And what stood beside a block when it was recorded
//! is not that block under another name: see `siblings`.
//!
//! A tier with several records that fit equally well answers `ambiguous`. A record that only formatted a block is of it
//! while it stands so; after that, the record that wrote it is: see `before`.

mod across;
mod before;
mod index;
mod likeness;
mod lookup;
mod onward;
mod origins;
mod siblings;
mod since;
mod tiers;
mod weighing;

use crate::code::{Block, Document};
use crate::ledger::{ClaimRef, Ledger};
use crate::workspace::RelativePath;

use super::Provenance;
use super::heads::{Folded, fold};
use super::names::{is_unnamed, leaf};
use siblings::Siblings;
use tiers::{Old, Reach, Tiers};

pub use across::Surroundings;
pub use lookup::{Candidate, candidates};
pub use onward::{before_own_records, goes_on, may_speak_of, recorded_elsewhere};
pub use origins::Origins;

/// Below this many tokens an equal shape proves nothing: getters and wrappers all look alike.
pub const MIN_RENAMED_TOKENS: u32 = 15;
/// A region or paragraph has no name of its own, so it must keep at least this share to be called modified.
const MIN_KEPT: f32 = 0.3;
/// So many definitions read as they did in the file that another goes on show that it is that file, not its like.
const MIN_READ_ON: usize = 3;
/// A name under which less than this stands of the recorded text may have passed to another block, where that text
/// stands whole under a new one.
const MOSTLY_KEPT: f32 = 0.5;
/// Two rivals whose kept shares differ by less than this fit equally well.
const MARGIN: f32 = 0.08;

/// What is known of every block of a file, in the order of [`crate::code::FileBlocks::blocks`].
pub fn file(
    ledger: &Ledger,
    path: &RelativePath,
    document: &Document,
    surroundings: &dyn Surroundings,
) -> Vec<Provenance> {
    let blocks = &*document.blocks();
    let now = (document, blocks);
    let siblings = Siblings::new(ledger, surroundings);
    let mut found = vec![None; blocks.blocks.len()];
    let claims = ledger.of_path(path);
    if !claims.is_empty() {
        let old = Old { heads: fold(ledger, claims).standing, claims };
        let mut tiers = Tiers::new(ledger, old, now, found, Reach::File, &siblings);
        tiers.run();
        found = tiers.into_found().0;
    }
    found = across::file(ledger, path, now, found, surroundings, &siblings);
    across::withdraw(ledger, path, blocks, &mut found, surroundings);
    found.into_iter().map(|found| found.unwrap_or_else(Provenance::unrecorded)).collect()
}

/// Records of a path that may be found in another file.
#[derive(Debug, Default)]
pub struct Orphans {
    /// Those that nothing stands for there any more.
    pub gone: Vec<ClaimRef>,
    /// Those that something stands for, but under another name or as it was before: the recorded text under the
    /// recorded name beats that.
    pub renamed: Vec<ClaimRef>,
    /// Those of what has no name of its own and that nothing stands for there: it goes nowhere but with its whole file.
    pub unnamed: Vec<ClaimRef>,
}

impl Orphans {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.renamed.is_empty() && self.unnamed.is_empty()
    }
}

/// The records of a path that may be found in another file.
///
/// `document` is the file as it stands; `None` where there is none. A record whose block was recorded again elsewhere
/// since is not among them.
pub fn orphans(
    ledger: &Ledger,
    path: &RelativePath,
    document: Option<&Document>,
    surroundings: &dyn Surroundings,
) -> Orphans {
    let Folded { standing, deleted } = fold(ledger, ledger.of_path(path));
    let mut orphans = Orphans::default();
    match document {
        None => orphans.gone = standing,
        Some(document) => {
            let blocks = &*document.blocks();
            let siblings = Siblings::new(ledger, surroundings);
            let old = Old { heads: standing, claims: ledger.of_path(path) };
            let found = vec![None; blocks.blocks.len()];
            let mut tiers =
                Tiers::new(ledger, old, (document, blocks), found, Reach::File, &siblings);
            tiers.run();
            orphans.renamed = tiers.undone();
            let (found, gone) = tiers.into_found();
            orphans.gone = gone;
            let other_name = |(block, found): (&Block, Option<Provenance>)| {
                let at = found?.claim?;
                let name = ledger.claim(at).range.block.as_ref()?;
                (leaf(name) != block.name).then_some(at)
            };
            orphans.renamed.extend(blocks.blocks.iter().zip(found).filter_map(other_name));
        }
    }
    orphans.gone.extend(deleted);
    let is_unnamed = |at: &ClaimRef| {
        ledger.claim(*at).range.block.as_ref().is_none_or(|name| is_unnamed(&name.kind))
    };
    let may_be_elsewhere = |at: &ClaimRef| recorded_elsewhere(ledger, *at).next().is_none();
    orphans.renamed.retain(|at| !is_unnamed(at) && may_be_elsewhere(at));
    orphans.gone.retain(may_be_elsewhere);
    (orphans.unnamed, orphans.gone) = orphans.gone.into_iter().partition(is_unnamed);
    orphans
}
