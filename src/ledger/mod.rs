//! The ledger: append-only records of which intent produced which block.

pub mod append;
mod assembly;
pub mod chain;
pub mod dialect;
mod dialect_files;
mod files;
mod heads;
mod image;
pub mod index;
mod keep;
mod memo;
mod pages;
mod parents;
mod parts;
pub mod read;
pub mod record;
mod rows;
mod run;
mod scan;
mod strict;
mod table;

pub use append::{AppendError, Writer};
pub use index::{Claim, ClaimRef, Entries, Ledger, Outlined};
pub use read::{Dialect, Entry, Origin, Trust};
pub use record::*;

#[cfg(test)]
mod tests;
