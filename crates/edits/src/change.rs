//! What a tool call would do to one file, and what the file would be afterwards.

use super::After;
use super::blocks;
use super::notebook::{self, CellEdit};
use super::patch::{self, Hunk};
use super::replace::{self, Replacement};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Whole(String),
    Append(String),
    /// Replaces literal texts in order, all or none. The tool refuses a text that it does not find
    /// exactly as it is written.
    Replace(Vec<Replacement>),
    /// Like `Replace`, for a tool that also tries other ways to find a text. What it does then is
    /// not known.
    ReplaceLoosely(Vec<Replacement>),
    /// Inserts lines after a line, counted from 1. With 0, they are inserted before the first line.
    Insert {
        after_line: usize,
        text: String,
    },
    Hunks(Vec<Hunk>),
    Cell(CellEdit),
    /// SEARCH/REPLACE blocks, as the text that [`blocks::read`] reads.
    Blocks(String),
    Unknown,
}

impl Change {
    /// Returns the file after this change. `before` is its text, or `None` if the file does not
    /// exist.
    pub fn text_after(&self, before: Option<&str>) -> After {
        match self {
            Change::Whole(text) => After::Text(text.clone()),
            Change::Append(text) => After::Text(append(before.unwrap_or_default(), text)),
            Change::Replace(edits) => replace::text_after_all(before, edits).into(),
            Change::ReplaceLoosely(edits) => match replace::text_after_all(before, edits) {
                Ok(text) => After::Text(text),
                Err(miss) => {
                    After::Unknown(format!("{miss}, but the tool may still find it in another way"))
                }
            },
            Change::Insert { after_line, text } => insert(before, *after_line, text),
            Change::Hunks(hunks) => text_after_hunks(before, hunks),
            Change::Cell(edit) => notebook::notebook_after(before, edit),
            Change::Blocks(diff) => blocks::text_after_diff(before.unwrap_or_default(), diff),
            Change::Unknown => {
                After::Unknown("the call does not say what it will write".to_owned())
            }
        }
    }

    /// Returns the text of a file before this change, if it is `after` now. An edit that only deleted text
    /// is not taken back, because nobody can tell where the text was. `None` if the change does not tell:
    /// it says nothing of the other lines of the file, or its new text is there several times.
    pub fn text_before(&self, after: &str) -> Option<String> {
        let edits: Vec<(String, String)> = match self {
            Change::Replace(edits) | Change::ReplaceLoosely(edits) => {
                edits.iter().map(|edit| (edit.old.clone(), edit.new.clone())).collect()
            }
            Change::Append(text) | Change::Insert { text, .. } => {
                vec![(String::new(), text.clone())]
            }
            Change::Hunks(hunks) => hunks.iter().map(Hunk::old_and_new_text).collect(),
            _ => return None,
        };
        let has_text = |(_, new): &(String, String)| !new.is_empty();
        let back = |(before, after)| Replacement { old: after, new: before, every: false };
        let edits = edits.into_iter().rev().filter(has_text).map(back);
        replace::text_after_all(Some(after), &edits.collect::<Vec<_>>()).ok()
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
        // Tools differ for lines beyond the end, and in whether they add a missing line end.
        return After::Unknown(
            "the text would not be inserted between two complete lines".to_owned(),
        );
    }
    let (above, below) = before.split_at(lines().map(str::len).sum());
    After::Text(format!("{above}{text}{below}"))
}

fn text_after_hunks(before: Option<&str>, hunks: &[Hunk]) -> After {
    match before.map(|before| patch::apply(before, hunks)) {
        None => After::Fails("there is no such file".to_owned()),
        Some(Ok(text)) => After::Text(text),
        Some(Err(missing)) => After::Fails(missing.to_string()),
    }
}
