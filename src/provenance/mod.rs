//! Which record a block comes from, what the block is worth as evidence of it,
//! and what a change to it is.
//!
//! The first rule: a gap is better than a lie. Where two records fit equally
//! well, both are named; where none does, the block is `unrecorded`.

pub(crate) mod classify;
mod derive;
pub(crate) mod difference;
pub(crate) mod lineage;
pub(crate) mod lines;
pub(crate) mod matching;
mod names;
pub(crate) mod trail;
mod verdict;

pub(crate) use crate::ledger::{Outline, outline};
pub use classify::Classification;
pub(crate) use derive::{Before, block_record, derive, find_recorded, stands_in};
pub(crate) use difference::Difference;
pub(crate) use lineage::Step;
pub(crate) use names::textless;
pub(crate) use names::{is_named, is_unnamed};
pub use verdict::Provenance;
pub(crate) use verdict::{CodeOrigin, Content, Place, Rejection, Relation, Scores, Tier, Verdict};
