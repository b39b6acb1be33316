//! Finds the record that a block comes from, says how well the two match, and classifies what a
//! change did to a block.
//!
//! The first rule: a gap is better than a wrong name. If two records fit equally well, both are
//! returned. If none fits, the block is `unrecorded`.
//!
//! - `classify`: the mutation class of a change.
//! - `derive`: the fingerprints and history of blocks in evidence, from the texts of a commit.
//! - `difference`: what a change of a file did to each of its blocks.
//! - `file_history`: the recorded versions of a file, and the history of each block.
//! - `line_records`: the record behind each line of a block.
//! - `lineage`: the records behind a block, newest first.
//! - `matching`: finding recorded blocks again in the current files.
//! - `names`: comparing block names between code and ledger.
//! - `verdict`: the result of matching one block.

pub mod classify;
mod derive;
pub mod difference;
pub mod file_history;
pub mod line_records;
pub mod lineage;
pub mod matching;
mod names;
mod verdict;

pub use classify::Classification;
pub use derive::{Before, block_record, derive, find_recorded, is_claim_true};
pub use difference::Difference;
pub use ledger::{Outline, outline};
pub use lineage::Step;
pub use names::{is_named, is_unnamed, textless};
pub use verdict::{
    CodeOrigin, Content, Placement, Provenance, Rejection, Relation, Scores, Tier, Verdict,
};
