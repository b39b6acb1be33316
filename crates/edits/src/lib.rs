//! Computes what an edit would make of a text. All functions are pure: they take texts and return
//! texts.
//!
//! - `blocks`: SEARCH/REPLACE blocks.
//! - `change`: what one call of a tool would do to one file.
//! - `line_ends`: line endings.
//! - `notebook`: cells of Jupyter notebooks.
//! - `notebook_cells`: the cells of a notebook that an editor shows as documents.
//! - `patch`: the `apply_patch` format.
//! - `replace`: replacing literal texts, as the edit tools of agents do.

pub mod blocks;
mod change;
mod line_ends;
pub mod notebook;
pub mod notebook_cells;
pub mod patch;
mod replace;
#[cfg(test)]
mod tests;

use std::ops::Range;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

pub use change::Change;
pub use line_ends::same_text;
pub use replace::Replacement;

/// What a file is after a tool call, as far as that can be foreseen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    Text(String),
    /// The text cannot be known, for this reason. Read the file afterwards.
    Unknown(String),
    /// The tool would refuse the change, for this reason, and leave the file as it is.
    Fails(String),
}

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

/// Returns the difference as hunks of a unified diff, with three lines of context. Returns the
/// empty string if the texts are equal.
pub fn unified(before: &str, after: &str) -> String {
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let printer = BasicLineDiffPrinter(&input.interner);
    diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string()
}
