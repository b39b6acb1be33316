//! The ledger: the records that say which intent each block of code belongs to.
//!
//! Records come from three sources: the journal (records that are in no commit yet), evidence
//! (records that a commit carries), and the trace files of other tools. All three are read into the
//! same [`Entry`] type.
//!
//! - `anchor`: signed lists of the evidence in a commit.
//! - `append`: appending records.
//! - `audit`: checking every file for `intent verify`.
//! - `chain`: the hash chain that links the records of a writer.
//! - `derived`: data that evidence leaves out and that is computed from the texts in git.
//! - `dialect_files`: the files, conversations and ranges in such records.
//! - `dialect`: records of other tools, converted without losing a value.
//! - `entry`: a record with the place that it was read from, and how far it can be trusted.
//! - `evidence`: the records that a commit carries, as files in git.
//! - `files`: reading the files of a ledger.
//! - `foreign_fields`: taking fields out of records of other tools.
//! - `in_memory`: the ledger in memory, with its look-ups.
//! - `journal`: the records that are in no commit yet.
//! - `ledger_file`: a file of the ledger, and its content after parsing.
//! - `look_up_table`: a table on disk that says which entries of evidence are about what.
//! - `lookup`: the keys by which entries can be looked up.
//! - `outline`: short hashes of all blocks of a file, in file order.
//! - `read`: reading every line of every ledger file.
//! - `reassign`: records by which a person puts blocks under another intent.
//! - `record`: the record, one JSON object per line.
//! - `scan`: splitting a ledger file into JSON objects, comments and other text.
//! - `signed`: signed JSON objects, one per line.
//! - `strict`: rejecting JSON objects with a repeated key.

pub mod anchor;
pub mod append;
mod audit;
pub mod chain;
mod derived;
pub mod dialect;
mod dialect_files;
mod entry;
pub mod evidence;
mod files;
mod foreign_fields;
pub(crate) mod in_memory;
pub mod journal;
mod ledger_file;
mod look_up_table;
mod lookup;
pub mod outline;
pub mod read;
pub mod reassign;
pub mod record;
mod scan;
pub mod signed;
mod strict;

pub use append::{AppendError, Writer};
pub use audit::{Audit, audit};
pub use derived::{Derive, Derived, Outlines};
pub(crate) use entry::EntryOrigin;
pub use entry::{Entry, RecordDialect, Trust};
pub use evidence::Digest;
pub use in_memory::{Claim, ClaimRef, Ledger, PathEntryIds};
pub use ledger_file::{ErasedSection, ParsedLedgerFile};
pub use look_up_table::FOLDER as EVIDENCE_FOLDER;
pub use outline::Outline;
pub use reassign::BlockReassignment;
pub use record::*;

/// Returns the items in ascending order, each of them once.
pub fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    items.dedup();
    items
}

#[cfg(test)]
mod tests;
