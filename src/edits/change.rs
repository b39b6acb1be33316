//! What a tool call would do to one file, and what the file would be afterwards.

use super::blocks;
use super::notebook::{self, CellEdit};
use super::patch::{self, Hunk};
use super::replace::{self, Replacement};

/// What one tool call would do to one file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Write this text, whatever was there.
    Whole(String),
    /// Add this text below a last line, which is ended first if it is not.
    Append(String),
    /// Replace literal texts, in order, all or none; the tool refuses a text that
    /// it does not find as it is written.
    Replace(Vec<Replacement>),
    /// The same for a tool that tries harder when a text is not found as it is
    /// written: what it would do then is its own secret.
    ReplaceLoosely(Vec<Replacement>),
    /// Put lines below a line, counted from 1; 0 is above the first.
    Insert {
        /// The line above.
        after_line: usize,
        /// What to put there.
        text: String,
    },
    /// The hunks of an `apply_patch` update.
    Hunks(Vec<Hunk>),
    /// Change one cell of a Jupyter notebook.
    Cell(CellEdit),
    /// SEARCH/REPLACE blocks.
    Blocks(String),
    /// Something that we cannot foresee.
    Unknown,
}

/// What a file would be after a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// This text.
    Text(String),
    /// It cannot be known, for this reason: read the file afterwards.
    Unknown(String),
    /// The tool itself would refuse, for this reason, and leave the file as it is.
    Fails(String),
}

impl Change {
    /// The file after this change of a file with the text `before`; `None` is a
    /// file that does not exist.
    pub fn after(&self, before: Option<&str>) -> After {
        match self {
            Change::Whole(text) => After::Text(text.clone()),
            Change::Append(text) => After::Text(append(before.unwrap_or_default(), text)),
            Change::Replace(edits) => replace::all(before, edits).into(),
            Change::ReplaceLoosely(edits) => match replace::all(before, edits) {
                Ok(text) => After::Text(text),
                Err(miss) => {
                    After::Unknown(format!("{miss}, and the tool may find it another way"))
                }
            },
            Change::Insert { after_line, text } => insert(before, *after_line, text),
            Change::Hunks(hunks) => hunked(before, hunks),
            Change::Cell(edit) => notebook::after(before, edit),
            Change::Blocks(diff) => blocks::after(before.unwrap_or_default(), diff),
            Change::Unknown => {
                After::Unknown("the call does not say what it will write".to_owned())
            }
        }
    }
}

fn append(before: &str, text: &str) -> String {
    let end = match before.is_empty() || before.ends_with('\n') {
        true => "",
        false => "\n",
    };
    format!("{before}{end}{text}")
}

fn insert(before: Option<&str>, after_line: usize, text: &str) -> After {
    let Some(before) = before else {
        return After::Fails("there is no such file".to_owned());
    };
    let lines = || before.split_inclusive('\n').take(after_line);
    let whole = text.is_empty() || text.ends_with('\n');
    if lines().count() < after_line || lines().any(|line| !line.ends_with('\n')) || !whole {
        // Tools disagree on lines beyond the end, and on whether they end a line.
        return After::Unknown("the text is not put between two whole lines".to_owned());
    }
    let (above, below) = before.split_at(lines().map(str::len).sum());
    After::Text(format!("{above}{text}{below}"))
}

fn hunked(before: Option<&str>, hunks: &[Hunk]) -> After {
    let Some(before) = before else {
        return After::Fails("there is no such file".to_owned());
    };
    match patch::apply(before, hunks) {
        Ok(text) => After::Text(text),
        Err(missing) => After::Fails(missing.to_string()),
    }
}
