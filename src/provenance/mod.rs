//! Which record a block comes from, what the block is worth as evidence of it,
//! and what a change to it is.
//!
//! The first rule: a gap is better than a lie. Where two records fit equally
//! well, both are named; where none does, the block is `unrecorded`.

pub mod classify;
mod derive;
pub mod difference;
pub mod lineage;
pub mod lines;
pub mod matching;
mod names;
pub mod trail;
mod verdict;

pub use crate::ledger::{Outline, outline};
pub use classify::Classification;
pub use derive::{Before, block_record, derive, find_recorded, stands_in};
pub use difference::Difference;
pub use lineage::Step;
pub use names::{block_name, textless};
pub(crate) use names::{is_named, is_unnamed};
pub use trail::Trail;
pub use verdict::{
    CodeOrigin, Content, Place, Provenance, Refused, Rejection, Relation, Scores, Tier, Verdict,
};
