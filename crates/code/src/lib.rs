//! Source code as the rest of the program sees it: text with positions, its language, its syntax
//! tree, and the blocks of a document with their fingerprints.
//!
//! Nothing here reads a file. Callers pass in bytes or text.
//!
//! - `block`: a block, which is a definition or a region between definitions.
//! - `carry`: the outline of a text that does not parse, built from an earlier outline.
//! - `conflict`: files that contain git's conflict markers.
//! - `difference`: comparing two sequences.
//! - `document`: a text with its syntax tree and its blocks.
//! - `embedded`: text of one language inside a file of another, such as a script in HTML.
//! - `entries`: names for the entries of data files, such as a package in a lock file.
//! - `fingerprint`: the fingerprints of a block: content, tokens, shape and sketch.
//! - `generated`: recognising generated files.
//! - `incremental`: parsing a whole text, or only the part that an edit touched.
//! - `language_tables`: the token facts and naming rules of each language, one row per language.
//! - `language`: the table of supported languages.
//! - `lead`: the lead of a definition: its doc comment, decorators and attributes.
//! - `lines`: the lines of a block, and fingerprints of them for the ledger.
//! - `lists`: lists of words and places, each written as one text.
//! - `minhash`: the sketch of a block, a MinHash of its token shingles.
//! - `named_enum`: enums whose variants have texts.
//! - `outline`: turning a syntax tree into blocks.
//! - `paragraphs`: the blocks of a text without a grammar.
//! - `parameters`: parameter types, which are part of a block's identity.
//! - `patterns`: the patterns that say which nodes of a syntax tree are definitions.
//! - `position`: positions in a text: lines, bytes and the columns of editors.
//! - `program`: a simplified syntax tree with resolved names, for comparing two versions of a file.
//! - `saying_lines`: which lines say something.
//! - `syntax`: the struct for a language's token facts and naming rules, compiled against its grammar.
//! - `syntax_tree`: parsing a text into a syntax tree.
//! - `text_difference`: where two texts differ, and how byte positions in one translate to the other.
//! - `text_role`: whether a piece of a text is a comment, a string or code.
//! - `tokens`: the normalised tokens of a syntax tree.
//! - `words`: the parts of a text that are used in the names of blocks.

pub mod block;
pub mod difference;
pub mod document;
pub mod fingerprint;
pub mod language;
pub mod lines;
pub mod lists;
pub mod position;
pub mod program;
pub mod saying_lines;

mod carry;
mod conflict;
mod embedded;
mod entries;
mod generated;
mod incremental;
pub mod language_tables;
mod lead;
mod minhash;
pub mod named_enum;
mod outline;
mod paragraphs;
mod parameters;
mod patterns;
mod syntax;
mod syntax_tree;
mod text_difference;
mod text_role;
mod tokens;
mod words;

pub use block::{Block, BlockKind, FileBlocks, Identity};
pub use conflict::{conflicts, holds_conflict, sides};
pub use document::{Document, MAX_BYTES, Unread};
pub use fingerprint::{
    ContentHash, Fingerprint, PairLanes, ShapeHash, Sketch, TokenHash, content_hash, hex,
};
pub use language::{Language, languages};
pub use position::{Encoding, LineRange, Position};
pub use program::Program;
pub use text_difference::TextDifference;
pub use text_role::TextRole;
