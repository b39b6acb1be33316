//! The ledger: the records that say which intent each block of code belongs to.
//!
//! Records come from three sources: the journal (records that are in no commit yet), evidence
//! (records that a commit carries), and the trace files of other tools. All three are read into the
//! same [`Entry`] type.
//!
//! - `record`, `outline`, `derived`: the data of a record, and what can be computed about it from
//!   git
//! - `append`, `journal`, `chain`: writing records, and the hash chain that links them
//! - `evidence`, `anchor`, `signed`, `strict`: the files that are committed, and their signatures
//! - `read`, `scan`, `dialect`, `dialect_files`: reading files, including those of other tools
//! - `index`, `entries`, `lookup`, `source`, `kept`, `reassign`: the ledger in memory, and how a
//!   record is found in it
//! - `audit`: checking every file for `intent verify`

pub(crate) mod anchor;
pub(crate) mod append;
mod audit;
pub(crate) mod chain;
mod derived;
pub(crate) mod dialect;
mod dialect_files;
mod entries;
pub(crate) mod evidence;
pub(crate) mod index;
pub(crate) mod journal;
mod kept;
mod lookup;
pub(crate) mod outline;
pub(crate) mod read;
pub(crate) mod reassign;
pub(crate) mod record;
mod scan;
pub(crate) mod signed;
mod source;
mod strict;

pub(crate) use append::AppendError;
pub use append::Writer;
pub(crate) use audit::{Audit, audit};
pub(crate) use derived::{Derive, Derived, Outlines};
pub use evidence::Digest;
pub(crate) use index::{Claim, OfPath};
pub use index::{ClaimRef, Ledger};
pub(crate) use outline::Outline;
pub use read::RecordDialect;
pub(crate) use read::{Entry, ErasedSection, Origin, Trust};
pub(crate) use reassign::Reassignment;
pub use record::*;

#[cfg(test)]
mod tests;
