//! Source text as the rest of the program sees it: languages, positions,
//! documents, and the blocks that a document is made of with their fingerprints.
//!
//! Nothing here reads a file: callers bring bytes.

pub mod block;
pub mod difference;
pub mod document;
pub mod fingerprint;
pub mod language;
pub mod lines;
pub mod position;
pub mod program;

mod alterations;
mod carry;
mod conflict;
mod embedded;
mod entries;
mod generated;
mod incremental;
mod lead;
mod minhash;
mod outline;
mod paragraphs;
mod parameters;
pub(crate) mod rows;
mod syntax;
mod tokens;
mod words;

pub use alterations::Alterations;
pub use block::{Block, BlockKind, FileBlocks, Identity};
pub use conflict::{conflicts, holds_conflict, sides};
pub use document::{Document, MAX_BYTES, Unread};
pub use fingerprint::{
    ContentHash, Fingerprint, Pairs, ShapeHash, Sketch, TokenHash, content_hash,
};
pub use language::{Language, all as languages};
pub use lines::{LineHash, Lines, Places};
pub use position::{Encoding, LineRange, Position};
pub use program::Program;
