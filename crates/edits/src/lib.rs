//! Computes what an edit would make of a text. All functions are pure: they take texts and return
//! texts.
//!
//! - `after`: what a file is after a tool call.
//! - `blocks`: SEARCH/REPLACE blocks.
//! - `change`: what one call of a tool would do to one file.
//! - `line_ends`: line endings.
//! - `notebook`: cells of Jupyter notebooks.
//! - `notebook_cells`: the cells of a notebook that an editor shows as documents.
//! - `patch`: the `apply_patch` format.
//! - `replace`: replacing literal texts, as the edit tools of agents do.
//! - `unified_diff`: a difference of two texts, written for people.

mod after;
pub mod blocks;
mod change;
mod line_ends;
pub mod notebook;
pub mod notebook_cells;
pub mod patch;
mod replace;
#[cfg(test)]
mod tests;
mod unified_diff;

use std::ops::Range;

pub use after::After;
pub use change::Change;
pub use line_ends::same_text;
pub use replace::Replacement;
pub use unified_diff::unified;

/// Replaces a byte range of a text. All parts of the program propose changes to files in this form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes to replace in the old text, on character boundaries.
    pub range: Range<usize>,
    pub text: String,
}

/// Returns the text after `edits`, which may be in any order and must not overlap.
///
/// Returns `None` if an edit is outside the text, splits a character or overlaps another edit.
pub fn apply(text: &str, edits: &[TextEdit]) -> Option<String> {
    let mut sorted: Vec<&TextEdit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in sorted {
        if edit.range.start < done {
            return None;
        }
        out.push_str(text.get(done..edit.range.start)?);
        text.get(edit.range.clone())?;
        out.push_str(&edit.text);
        done = edit.range.end;
    }
    out.push_str(text.get(done..)?);
    Some(out)
}
