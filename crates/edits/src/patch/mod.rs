//! The `apply_patch` format: reading a patch, and applying its hunks to a text.
//!
//! This follows the behaviour of the tool that agents run, and `tests/patch_real.rs` checks that.
//! Where that tool is lenient, this module is lenient in the same way. A patch that the tool
//! applies and this module refuses would be an edit that nobody has judged.
//!
//! - `read` parses a patch, and `heredoc` finds one in a shell command.
//! - `hunk` applies hunks to a text, and `seek` finds their lines.

mod heredoc;
mod hunk;
mod read;
mod seek;

pub use heredoc::heredoc;
pub use hunk::Hunk;
pub(crate) use hunk::HunkLine;
pub(super) use hunk::apply;
pub use read::read;

/// What a patch does to one file. Paths are spelled as in the patch. They are relative to the
/// directory in which the tool runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePatch {
    /// Writes a new file. A file that exists already is overwritten.
    Add {
        path: String,
        /// The whole text. It is empty or ends in a line feed.
        text: String,
    },
    Delete {
        path: String,
    },
    /// Changes a file that exists, and moves it if `to` is set.
    Update {
        path: String,
        /// The path to which the file is moved. A file that exists there is overwritten.
        to: Option<String>,
        /// The changes, in the order of the patch.
        hunks: Vec<Hunk>,
    },
}
