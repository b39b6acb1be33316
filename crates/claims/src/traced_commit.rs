//! What a trace file says about the lines that a commit brought.
//!
//! Nothing in the format says which version of a file its lines are counted in. So a range counts if
//! the commit has lines with its hash there. Without a hash, it counts in two cases:
//!
//! - The record names the commit, and was made before it or shortly after it. A record that was made
//!   later may be about work on top of the commit.
//! - The record names a parent of the commit, and was made between the two. Then its lines are those
//!   of the moment. A claim about lines that a later record of the file may have moved names nobody.
//!
//! Earlier systems often hashed the whole file, or a block with its indentation, and gave lines that
//! do not fit. Such a hash is looked for in the commit if the record was made before it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::claimed_line::ClaimedLine;
use crate::commit_note::NotedLines;
use crate::traced_lines::{TraceFile, TracedChange, TracedRange};
use crate::version_text::VersionText;

/// How long after a commit a tool may need to record what the commit brought, in seconds.
const LONGEST_HOOK: i64 = 60;
/// A hash of fewer lines than this may fit by chance.
const FEWEST_LINES: u32 = 3;

pub(crate) struct AskedCommit {
    pub id: String,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// The ids of its parents, and when they were committed.
    pub parents: Vec<(String, i64)>,
    pub is_new_file: bool,
}

enum RecordedFor {
    Commit,
    /// The lines are those of a moment before the commit.
    WorkBefore,
    AnotherCommit,
}

/// Returns the claims of a trace file about a file in a commit. A later claim about a line replaces
/// an earlier one.
pub(crate) fn claims_for(
    file: &TraceFile,
    changes: &[TracedChange],
    commit: &AskedCommit,
    text: &VersionText,
) -> Vec<NotedLines> {
    let mut claims = Vec::new();
    for change in changes {
        let found = commit.recorded_for(file, change);
        match found {
            RecordedFor::AnotherCommit => continue,
            RecordedFor::WorkBefore => claims.extend(moved_by(change, commit)),
            RecordedFor::Commit => {}
        }
        let ranges = change.ranges.iter().filter(|range| range.hash.is_none());
        let ranges = ranges.filter(|range| match found {
            RecordedFor::WorkBefore => commit.has_certain_lines(range),
            _ => true,
        });
        claims.extend(ranges.filter_map(|range| claim(range, text)));
    }
    for change in changes {
        let is_related = commit.is_named_by(change) || commit.parent_named_by(change).is_some();
        for range in &change.ranges {
            let found = match (&range.lines, &range.hash) {
                (_, Some(hash)) if file.is_earlier_ledger() => {
                    commit.lines_with_hash(changes, change, range, hash, text)
                }
                (Some(lines), Some(hash)) if text.matches_hash(lines, hash) => Some(lines.clone()),
                _ => None,
            };
            let found = found.filter(|lines| is_related || length(lines) >= FEWEST_LINES);
            let writer = || range.writer.clone();
            claims.extend(found.map(|lines| NotedLines { lines, writer: writer(), hash: None }));
        }
    }
    claims
}

fn length(lines: &RangeInclusive<u32>) -> u32 {
    lines.end().saturating_sub(*lines.start()).saturating_add(1)
}

fn claim(range: &TracedRange, text: &VersionText) -> Option<NotedLines> {
    let lines = range.lines.clone().filter(|lines| text.has_lines(lines))?;
    let writer: Option<Arc<ClaimedLine>> = range.writer.clone();
    Some(NotedLines { lines, writer, hash: None })
}

/// Returns a claim that names nobody for the lines that a change may have moved.
fn moved_by(change: &TracedChange, commit: &AskedCommit) -> Option<NotedLines> {
    let starts = change.ranges.iter().map(|range| match &range.lines {
        Some(lines) if commit.has_certain_lines(range) => *lines.start(),
        _ => 1,
    });
    // If the record has no ranges at all, it is unknown which lines it moved.
    let first = starts.min().unwrap_or(1);
    Some(NotedLines { lines: first..=u32::MAX, writer: None, hash: None })
}

impl AskedCommit {
    fn recorded_for(&self, file: &TraceFile, change: &TracedChange) -> RecordedFor {
        let Some(time) = change.time else { return RecordedFor::AnotherCommit };
        if self.is_named_by(change) {
            return match !file.names_the_base && time <= self.time + LONGEST_HOOK {
                true => RecordedFor::Commit,
                false => RecordedFor::AnotherCommit,
            };
        }
        match self.parent_named_by(change) {
            Some(since) if (since..=self.time).contains(&time) => RecordedFor::WorkBefore,
            _ => RecordedFor::AnotherCommit,
        }
    }

    /// Returns the lines of the commit's text that a range of an earlier system is about, by its hash.
    fn lines_with_hash(
        &self,
        changes: &[TracedChange],
        change: &TracedChange,
        range: &TracedRange,
        hash: &str,
        text: &VersionText,
    ) -> Option<RangeInclusive<u32>> {
        if change.time.is_some_and(|time| time > self.time + LONGEST_HOOK) {
            return None;
        }
        let all = text.all_lines()?;
        if text.matches_hash_loosely(&all, hash) {
            // Line 1 alone means that the lines are not known.
            let known =
                range.lines.clone().filter(|lines| *lines != (1..=1) && lines.end() < all.end());
            let is_only_writer = || {
                let others = changes.iter().filter(|other| self.may_be_of_work(other));
                others.flat_map(|other| &other.ranges).all(|other| other.writer == range.writer)
            };
            return known.or_else(|| is_only_writer().then_some(all));
        }
        let lines = range.lines.as_ref()?;
        if text.matches_hash_loosely(lines, hash) {
            return Some(lines.clone());
        }
        let is_of_work = change.time.is_some() && self.may_be_of_work(change);
        (is_of_work && length(lines) >= FEWEST_LINES)
            .then(|| text.only_lines_with_hash(length(lines), hash))?
    }

    /// Returns true if a record may have been made between the parents of the commit and itself.
    fn may_be_of_work(&self, change: &TracedChange) -> bool {
        let since = self.parents.iter().map(|(_, time)| *time).max().unwrap_or(i64::MIN);
        let work = since..=self.time + LONGEST_HOOK;
        change.time.is_none_or(|time| work.contains(&time))
    }

    fn is_named_by(&self, change: &TracedChange) -> bool {
        change.revision.as_deref().is_some_and(|named| self.id.starts_with(named))
    }

    fn parent_named_by(&self, change: &TracedChange) -> Option<i64> {
        let named = change.revision.as_deref()?;
        self.parents.iter().find(|(id, _)| id.starts_with(named)).map(|(_, time)| *time)
    }

    /// Returns true if the lines of a range are those of the edit. If a producer does not find the
    /// edit in the file, it writes lines that begin with the first.
    fn has_certain_lines(&self, range: &TracedRange) -> bool {
        range.lines.as_ref().is_some_and(|lines| self.is_new_file || *lines.start() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "cccccccccccccccccccccccccccccccccccccccc";
    const PARENT: &str = "dddddddddddddddddddddddddddddddddddddddd";

    /// Makes a record by an agent, with a time in seconds after 10:00.
    fn record(agent: &str, revision: &str, seconds: i64, ranges: &str) -> String {
        let time = jiff::Timestamp::from_second(1_769_335_200 + seconds).unwrap();
        format!(
            r#"{{"version":"0.1.0","id":"i","timestamp":"{time}","vcs":{{"type":"git","revision":"{revision}"}},"tool":{{"name":"{agent}"}},"files":[{{"path":"a","conversations":[{{"contributor":{{"type":"ai"}},"ranges":[{ranges}]}}]}}]}}"#
        )
    }

    fn range(first: u32, last: u32) -> String {
        format!(r#"{{"start_line":{first},"end_line":{last}}}"#)
    }

    /// Returns the agents of the lines 1 to 9, with `.` for nobody. The parent was committed at 0
    /// seconds, and the commit at 100.
    fn agents(records: &[String], is_new_file: bool) -> String {
        let file = TraceFile::parse(records.join("\n").as_bytes());
        let parents = vec![(PARENT.to_owned(), 1_769_335_200)];
        let time = 1_769_335_300;
        let commit = AskedCommit { id: COMMIT.to_owned(), time, parents, is_new_file };
        let text = VersionText::new(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n".to_vec());
        let claims = claims_for(&file, file.changes_of("a"), &commit, &text);
        let of_line = |line: u32| {
            let claim = claims.iter().rev().find(|claim| claim.lines.contains(&line));
            claim.and_then(|claim| claim.writer.as_ref()?.agent.clone()).unwrap_or(".".into())
        };
        (1..=9).map(of_line).collect()
    }

    #[test]
    fn a_range_without_a_hash_counts_for_the_commit_that_its_record_fits() {
        let cases = [
            (record("x", COMMIT, 100, &range(2, 3)), ".xx......"),
            (record("x", &COMMIT[..8], 150, &range(2, 3)), ".xx......"),
            // Later, it may be about work on top of the commit.
            (record("x", COMMIT, 161, &range(2, 3)), "........."),
            (record("x", COMMIT, 0, &range(8, 10)), "........."),
            (record("x", PARENT, 50, &range(2, 3)), ".xx......"),
            (record("x", PARENT, -1, &range(2, 3)), "........."),
            (record("x", PARENT, 101, &range(2, 3)), "........."),
            (record("x", &"e".repeat(40), 50, &range(2, 3)), "........."),
            (record("x", PARENT, 50, &range(1, 1)), "........."),
            (record("x", PARENT, 50, &range(1, 9)), "........."),
            (record("x", COMMIT, 90, &range(2, 3)).replace("0.1.0", "1.0"), "........."),
        ];
        for (record, expected) in cases {
            assert_eq!(agents(std::slice::from_ref(&record), false), expected, "{record}");
        }
        assert_eq!(agents(&[record("x", PARENT, 50, &range(1, 9))], true), "xxxxxxxxx");
    }

    #[test]
    fn a_later_record_hides_what_it_may_have_moved() {
        let cases = [
            (range(2, 6), range(4, 4), ".xxy....."),
            (range(2, 3), range(5, 6), ".xx.yy..."),
            (range(5, 6), range(2, 3), ".yy......"),
            (range(5, 6), range(1, 1), "........."),
        ];
        for (first, second, expected) in cases {
            let records = [record("x", PARENT, 10, &first), record("y", PARENT, 20, &second)];
            assert_eq!(agents(&records, false), expected, "{first} {second}");
        }
    }

    #[test]
    fn a_hash_says_in_which_version_the_lines_are() {
        let hashed = |first: u32, last: u32, text: &str| {
            let hash = ground::store::sha256(text.as_bytes());
            let range = range(first, last);
            range.replace('}', &format!(r#","content_hash":"sha256:{hash}"}}"#))
        };
        let other = "e".repeat(40);
        let cases = [
            (record("x", &other, 999, &hashed(2, 4, "2\n3\n4")), ".xxx....."),
            (record("x", &other, 999, &hashed(2, 3, "2\n3")), "........."),
            (record("x", PARENT, 999, &hashed(2, 3, "2\n3")), ".xx......"),
            (record("x", PARENT, 50, &hashed(2, 4, "other")), "........."),
        ];
        for (record, expected) in cases {
            assert_eq!(agents(std::slice::from_ref(&record), false), expected, "{record}");
        }
    }
}
