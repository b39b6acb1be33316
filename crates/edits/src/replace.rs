//! Replaces literal texts in a file, as the edit tools of agents do.

use super::After;
use super::line_ends::{RawOffsets, lf, with_ends_of};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The text to find. Empty to create a file.
    pub old: String,
    /// The new text. It is used literally, without patterns or `$1`.
    pub new: String,
    /// Whether to replace every occurrence. If not, there must be exactly one.
    pub every: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Miss {
    #[error("there is no such file")]
    NoFile,
    #[error("an empty old text creates a file, but the file exists")]
    Exists,
    /// Tools differ in whether such a file counts as empty.
    #[error("an empty old text creates a file, but a file with only white space exists")]
    Blank,
    #[error("the old text is not in the file")]
    Absent,
    #[error("the old text is in the file {0} times, not once")]
    Several(usize),
    /// Tools differ in how often such a text occurs.
    #[error("the old text overlaps itself in the file")]
    Overlaps,
    #[error("the old text occurs with different line ends")]
    Ends,
}

impl From<Result<String, Miss>> for After {
    fn from(result: Result<String, Miss>) -> Self {
        match result {
            Ok(text) => After::Text(text),
            Err(miss @ (Miss::Blank | Miss::Overlaps | Miss::Ends)) => {
                After::Unknown(miss.to_string())
            }
            Err(miss) => After::Fails(miss.to_string()),
        }
    }
}

pub(super) fn text_after_all(before: Option<&str>, edits: &[Replacement]) -> Result<String, Miss> {
    let mut text = before.map(str::to_owned);
    for edit in edits {
        text = Some(replace_one(text.as_deref(), edit)?);
    }
    text.ok_or(Miss::NoFile)
}

fn replace_one(before: Option<&str>, edit: &Replacement) -> Result<String, Miss> {
    if edit.old.is_empty() {
        return create(before.unwrap_or_default(), &edit.new);
    }
    let text = before.ok_or(Miss::NoFile)?;
    // A model sees lines, but rarely their line ends.
    let (view, old) = (lf(text), lf(&edit.old));
    let found: Vec<usize> = view.match_indices(&*old).map(|(at, _)| at).collect();
    let written = text.matches(&edit.old).count();
    match found[..] {
        [] => return Err(Miss::Absent),
        _ if written != 0 && written != found.len() => return Err(Miss::Ends),
        _ if edit.every => {}
        [at] if view.rfind(&*old) != Some(at) => return Err(Miss::Overlaps),
        [_] => {}
        _ => return Err(Miss::Several(found.len())),
    }
    let new = with_ends_of(text, &edit.new);
    let mut out = String::with_capacity(text.len() + new.len());
    let mut raw = RawOffsets::new(text);
    let mut done = 0;
    for at in found {
        out.push_str(&text[done..raw.raw_offset(at)]);
        out.push_str(&new);
        done = raw.raw_offset(at + old.len());
    }
    out.push_str(&text[done..]);
    Ok(out)
}

fn create(before: &str, new: &str) -> Result<String, Miss> {
    match before.trim_start_matches('\u{FEFF}') {
        "" => Ok(new.to_owned()),
        text if text.trim().is_empty() => Err(Miss::Blank),
        _ => Err(Miss::Exists),
    }
}
