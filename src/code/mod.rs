//! Source text as the rest of the program sees it: languages, positions,
//! documents, and the blocks that a document is made of with their fingerprints.
//!
//! Nothing here reads a file: callers bring bytes.

pub(crate) mod block;
pub(crate) mod difference;
pub(crate) mod document;
pub(crate) mod fingerprint;
pub(crate) mod language;
pub(crate) mod lines;
pub(crate) mod position;
pub(crate) mod program;

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

pub(crate) use alterations::Alterations;
pub use block::{Block, BlockKind, FileBlocks, Identity};
pub(crate) use conflict::{conflicts, holds_conflict, sides};
pub(crate) use document::MAX_BYTES;
pub use document::{Document, Unread};
pub use fingerprint::{ContentHash, Fingerprint, content_hash};
pub(crate) use fingerprint::{Pairs, ShapeHash, Sketch, TokenHash};
pub(crate) use language::{Language, all as languages};
pub use lines::LineHash;
pub(crate) use lines::{Lines, Places};
pub use position::{Encoding, LineRange, Position};
pub use program::Program;
