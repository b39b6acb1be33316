//! The ledger: append-only records of which intent produced which block.

pub mod append;
pub mod chain;
pub mod dialect;
mod dialect_files;
mod files;
mod heads;
pub mod index;
mod parts;
pub mod read;
pub mod record;
mod scan;
mod strict;

pub use append::{AppendError, Writer};
pub use index::{Claim, ClaimRef, Ledger};
pub use read::{Dialect, Entry, Origin, Trust};
pub use record::*;

#[cfg(test)]
mod tests;
