//! Source code as the rest of the program sees it: text with positions, its language, its syntax
//! tree, and the blocks of a document with their fingerprints.
//!
//! Nothing here reads a file. Callers pass in bytes or text.
//!
//! - `language` and `language_tables` say which languages there are and how to read their syntax
//!   trees.
//! - `document`, `incremental` and `carry` parse a text and keep its blocks up to date while it is
//!   edited.
//! - `outline`, `lead`, `parameters`, `entries`, `embedded`, `paragraphs` and `generated` find the
//!   blocks of a text and name them.
//! - `fingerprint`, `tokens`, `minhash` and `lines` compute the hashes by which blocks and lines
//!   are found again.
//! - `program` simplifies the syntax tree so that two versions of a file can be compared.

pub(crate) mod block;
pub(crate) mod difference;
pub(crate) mod document;
pub(crate) mod fingerprint;
pub(crate) mod language;
pub(crate) mod lines;
pub(crate) mod position;
pub(crate) mod program;

mod carry;
mod conflict;
mod embedded;
mod entries;
mod generated;
mod incremental;
pub(crate) mod language_tables;
mod lead;
mod minhash;
mod outline;
mod paragraphs;
mod parameters;
mod syntax;
mod text_difference;
mod tokens;
mod words;

pub use block::{Block, BlockKind, FileBlocks, Identity};
pub(crate) use conflict::{conflicts, holds_conflict, sides};
pub(crate) use document::MAX_BYTES;
pub use document::{Document, Unread};
pub use fingerprint::{ContentHash, Fingerprint, content_hash};
pub(crate) use fingerprint::{Pairs, ShapeHash, Sketch, TokenHash, hex};
pub(crate) use language::{Language, all as languages};
pub use lines::LineHash;
pub(crate) use lines::{Lines, Places};
pub use position::{Encoding, LineRange, Position};
pub use program::Program;
pub(crate) use text_difference::TextDifference;
