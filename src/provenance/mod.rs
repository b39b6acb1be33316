//! Which record a block comes from, what the block is worth as evidence of it,
//! and what a change to it is.
//!
//! The first rule: a gap is better than a lie. Where two records fit equally
//! well, both are named; where none does, the block is `unrecorded`.

pub mod classify;
pub mod lineage;
pub mod matching;
pub mod outline;

pub use classify::Classification;
pub use lineage::Step;
pub use matching::{Content, Place, Provenance, Verdict};
pub use outline::Outline;
