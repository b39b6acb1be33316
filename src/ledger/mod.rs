//! The ledger: which intent asked for which block.
//!
//! It has three sources: the journal (what was recorded and is in no commit yet), the evidence that commits carry, and
//! files that other tools wrote. All three are read into the same entries.

pub mod anchor;
pub mod append;
mod audit;
pub mod chain;
mod derived;
pub mod dialect;
mod dialect_files;
mod entries;
pub mod evidence;
pub mod index;
pub mod journal;
mod kept;
mod lookup;
pub mod outline;
pub mod read;
pub mod reassign;
pub mod record;
mod scan;
pub mod signed;
mod source;
mod strict;

pub use append::{AppendError, Writer};
pub use audit::{Audit, audit};
pub use derived::{Derive, Derived, Outlines};
pub use entries::Entries;
pub use evidence::Digest;
pub use index::{Claim, ClaimRef, EvidenceId, Ledger, OfPath};
pub use outline::Outline;
pub use read::{Entry, ErasedSection, Origin, RecordDialect, Trust};
pub use reassign::Reassignment;
pub use record::*;

#[cfg(test)]
mod tests;
