//! What a note claims about the lines of a commit.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ground::git::{BStr, BString};

use crate::claimed_line::ClaimedLine;

/// The largest number of ranges of lines in a note. Real notes have less than a tenth of it.
pub(crate) const MAX_RANGES: usize = 1_000_000;

/// What a note claims about the lines of a commit, by path from the top of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommitNote {
    files: HashMap<BString, Vec<NotedLines>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotedLines {
    /// The lines, counted from 1.
    pub lines: RangeInclusive<u32>,
    /// Who wrote them. `None` if the note names somebody about whom it says nothing more.
    pub writer: Option<Arc<ClaimedLine>>,
    /// The SHA-256 of what the lines were, in hex, if the note tells it.
    pub hash: Option<String>,
}

impl CommitNote {
    /// Adds a claim. A later claim about a line replaces an earlier one.
    pub(crate) fn add_claim(&mut self, path: &BStr, noted: NotedLines) {
        match self.files.get_mut(path) {
            Some(all) => all.push(noted),
            None => {
                self.files.insert(path.into(), vec![noted]);
            }
        }
    }

    /// Returns the claims about a file, in the order of the note.
    pub(crate) fn claims_about(&self, path: &BStr) -> &[NotedLines] {
        self.files.get(path).map_or(&[], Vec::as_slice)
    }
}

/// Returns the last claim about a line, which is counted from 1.
pub(crate) fn last_about(claims: &[NotedLines], line: u32) -> Option<&NotedLines> {
    claims.iter().rev().find(|noted| noted.lines.contains(&line))
}

/// Returns a range of lines. `None` if a line is 0, or the last is before the first.
pub(crate) fn line_range(first: u32, last: u32) -> Option<RangeInclusive<u32>> {
    (first >= 1 && first <= last).then_some(first..=last)
}
