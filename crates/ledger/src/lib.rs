//! The ledger: the records that say which intent each block of code belongs to.
//!
//! Records come from three sources: the journal (records that are in no commit yet), evidence
//! (records that a commit carries), and the trace files of other tools. All three are read into the
//! same [`Entry`] type.
//!
//! - `all_records`: the records of a workspace or a commit.
//! - `anchor`: signed lists of the evidence in a commit.
//! - `append`: appending records.
//! - `audit`: checking every file for `intent evidence verify`.
//! - `chain`: the hash chain that links the records of a writer.
//! - `claim`: a record that brought lines.
//! - `dialect_files`: the files, conversations and ranges in such records.
//! - `dialect`: records of other tools, converted without losing a value.
//! - `digest`: the digest that identifies evidence.
//! - `entry`: a record with the place that it was read from, and how far it can be trusted.
//! - `evidence`: the records that a commit carries, as files in git.
//! - `foreign_fields`: taking fields out of records of other tools.
//! - `journal`: the records that are in no commit yet.
//! - `ledger_file`: a file of the ledger, and its content after parsing.
//! - `line_runs`: which lines of a file a change brought.
//! - `line_text`: a text as lines of bytes.
//! - `outline`: short hashes of all blocks of a file, in file order.
//! - `read`: reading every line of every ledger file.
//! - `record`: the record, one JSON object per line.
//! - `scan`: splitting a ledger file into JSON objects, comments and other text.
//! - `signed`: signed JSON objects, one per line.
//! - `texts`: the texts of files after recorded changes.
//! - `strict`: rejecting JSON objects with a repeated key.

mod all_records;
pub mod anchor;
pub mod append;
mod audit;
pub mod chain;
mod claim;
pub mod dialect;
mod dialect_files;
mod digest;
mod entry;
pub mod evidence;
mod foreign_fields;
pub mod journal;
mod ledger_file;
mod line_runs;
mod line_text;
pub mod outline;
pub mod read;
pub mod record;
mod scan;
pub mod signed;
mod strict;
mod texts;

pub use all_records::Ledger;
pub use append::{AppendError, SINGLE_LEDGER, append_records, ensure_fits};
pub use audit::{Audit, audit};
pub use claim::Claim;
pub use digest::Digest;
pub use entry::{Entry, RecordDialect, Trust};
pub use ledger_file::{ErasedSection, IMPORTED_FOLDER, ParsedLedgerFile, is_imported};
pub use line_runs::{EqualPlaces, HashedRun, LineRuns, TextId};
pub use line_text::LineText;
pub use outline::Outline;
pub use record::*;
pub use texts::{drop_texts_but, keep_text, kept_text};

pub fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    items.dedup();
    items
}

#[cfg(test)]
mod tests;
