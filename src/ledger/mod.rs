//! The ledger: which intent asked for which block.
//!
//! What was recorded and is in no commit yet stands in the journal, what commits brought in evidence files, and what
//! other tools wrote in files of theirs. All are read alike.

pub mod anchor;
pub mod append;
mod audit;
pub mod chain;
pub mod dialect;
mod dialect_files;
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
pub use evidence::Digest;
pub use index::{Claim, ClaimRef, Derive, Derived, Entries, Ledger};
pub use outline::Outline;
pub use read::{Dialect, Entry, ErasedSection, Origin, Trust};
pub use reassign::Reassignment;
pub use record::*;

#[cfg(test)]
mod tests;
