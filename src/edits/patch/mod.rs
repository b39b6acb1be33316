//! The `apply_patch` format: reading it, and what its hunks make of a text.
//!
//! Written against the behaviour of the tool that agents really run, and held
//! to it by `tests/patch_real.rs`. Where that tool is lenient we are lenient in
//! the same way: a patch that we refuse to read and it applies would be an edit
//! that nobody judged.

mod heredoc;
mod hunk;
mod outcome;
mod read;
mod seek;

pub use heredoc::heredoc;
pub use hunk::Hunk;
pub(crate) use hunk::HunkLine;
pub(super) use hunk::apply;
pub use outcome::outcome;
pub use read::read;

/// What a patch asks of one file. Paths are as the patch spells them; they are
/// relative to the directory in which the tool runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePatch {
    /// Write a file, over one that is there if need be.
    Add {
        /// Where to.
        path: String,
        /// The whole text; empty, or ending in a line feed.
        text: String,
    },
    /// Remove a file.
    Delete {
        /// Which one.
        path: String,
    },
    /// Change a file that exists, and perhaps move it.
    Update {
        /// The file to read.
        path: String,
        /// Where the result goes instead; an existing file there is overwritten.
        to: Option<String>,
        /// In the order of the file.
        hunks: Vec<Hunk>,
    },
}
