//! The ledger: which intent asked for which block.
//!
//! It has three sources: the journal (what was recorded and is in no commit yet), the evidence that commits carry, and
//! files that other tools wrote. All three are read into the same entries.

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
