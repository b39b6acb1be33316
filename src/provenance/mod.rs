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

pub(crate) mod classify;
mod derive;
pub(crate) mod difference;
pub(crate) mod file_history;
pub(crate) mod line_records;
pub(crate) mod lineage;
pub(crate) mod matching;
mod names;
mod verdict;

pub(crate) use crate::ledger::{Outline, outline};
pub use classify::Classification;
pub(crate) use derive::{Before, block_record, derive, find_recorded, is_claim_true};
pub(crate) use difference::Difference;
pub(crate) use lineage::Step;
pub(crate) use names::textless;
pub(crate) use names::{is_named, is_unnamed};
pub use verdict::Provenance;
pub(crate) use verdict::{
    CodeOrigin, Content, Placement, Rejection, Relation, Scores, Tier, Verdict,
};
