//! What a note claims about the lines of a commit.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ground::git::BString;

use crate::claimed_line::ClaimedLine;

/// What a note claims about the lines of a commit, by path from the top of the repository. A later
/// claim about a line replaces an earlier one.
pub(crate) type CommitNote = HashMap<BString, Vec<NotedLines>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotedLines {
    /// The lines, counted from 1.
    pub lines: RangeInclusive<u32>,
    /// Who wrote them. `None` if the note names somebody about whom it says nothing more.
    pub writer: Option<Arc<ClaimedLine>>,
    /// The SHA-256 of what the lines were, in hex, if the note tells it.
    pub hash: Option<String>,
}

/// Returns the last claim about a line, which is counted from 1.
pub(crate) fn last_about(claims: &[NotedLines], line: u32) -> Option<&NotedLines> {
    claims.iter().rev().find(|noted| noted.lines.contains(&line))
}

/// Returns a range of lines. `None` if a line is 0, or the last is before the first.
pub(crate) fn line_range(first: u32, last: u32) -> Option<RangeInclusive<u32>> {
    (first >= 1 && first <= last).then_some(first..=last)
}
