//! Matches the blocks of two texts of a file, and classifies what a change did to a block.
//!
//! The first rule of matching: a gap is better than a wrong pair. A block that could be either of
//! two blocks gets no pair.
//!
//! - `classify`: the mutation class of a change.
//! - `difference`: what a change of a file did to each of its blocks.
//! - `matching`: which block of an earlier text each block of a later text was.
//! - `names`: block names as the ledger stores them, and the kinds that a block may change between.
//! - `verdict`: how a block compares with the record that it comes from, in one word.

pub mod classify;
pub mod difference;
pub mod matching;
mod names;
mod verdict;

pub use classify::Classification;
pub use difference::Difference;
pub use names::{has_left, is_unnamed, textless};
pub use verdict::Verdict;
