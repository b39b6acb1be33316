//! What an edit would make of a text. Pure: texts in, texts out.

pub(crate) mod blocks;
mod change;
mod ends;
pub(crate) mod notebook;
pub(crate) mod patch;
mod replace;
mod shown;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use change::{After, Change};
pub use ends::same_text;
pub use replace::Replacement;
pub(crate) use shown::unified;

/// Replaces a byte range of a text; the unit in which every room proposes a change to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// Bytes of the old text, on character boundaries.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub text: String,
}

/// The text after `edits`, which must not overlap; their order does not matter.
///
/// Returns `None` when an edit lies outside the text, splits a character or overlaps another.
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
