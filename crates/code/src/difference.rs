//! Compares two sequences. No other module uses the diff library directly.
//!
//! Sequences of blocks are compared with the histogram algorithm, lines of text with Myers'
//! algorithm. Both limit their work, so that two large texts with nothing in common take about as
//! long as two similar ones.

use std::hash::Hash;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Interner};

use super::position::line_ranges;

/// A range of removed items and the range of items that replaced them. One of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedRange {
    pub before: Range<usize>,
    pub now: Range<usize>,
}

pub fn changes<T: Hash + Eq>(before: &[T], now: &[T]) -> Vec<ChangedRange> {
    let equal = |(a, b): &(&T, &T)| a == b;
    let start = before.iter().zip(now).take_while(equal).count();
    let (before, now) = (&before[start..], &now[start..]);
    let end = before.iter().rev().zip(now.iter().rev()).take_while(equal).count();
    let (before, now) = (&before[..before.len() - end], &now[..now.len() - end]);
    if before.is_empty() && now.is_empty() {
        return Vec::new();
    }
    let mut input = InternedInput {
        before: Vec::new(),
        after: Vec::new(),
        interner: Interner::new(before.len() + now.len()),
    };
    input.update_before(before.iter());
    input.update_after(now.iter());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    ranges_of_hunks(&diff, start)
}

/// Returns the differences between two texts, in lines counted from 0. White space at the end of a
/// line is ignored.
///
/// The result is what `git diff` shows by default: it uses Myers' algorithm, and if a changed run
/// of lines could be placed differently (for example one of several equal list items), the
/// indentation decides.
pub fn changed_lines(before: &str, now: &str) -> Vec<ChangedRange> {
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(lines(before));
    input.update_after(lines(now));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    ranges_of_hunks(&diff, 0)
}

/// Returns the lines that [`changed_lines`] compares.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    line_ranges(text).map(|range| text[range].trim_end())
}

/// Converts the hunks of a diff. `start` is the number of equal items that were left out at the
/// beginning.
fn ranges_of_hunks(diff: &Diff, start: usize) -> Vec<ChangedRange> {
    let places = |range: Range<u32>| start + range.start as usize..start + range.end as usize;
    diff.hunks()
        .map(|hunk| ChangedRange { before: places(hunk.before), now: places(hunk.after) })
        .collect()
}

/// Returns the items that two sequences have in common, in order, as pairs of an index before and
/// an index now.
pub fn common<T: Hash + Eq>(before: &[T], now: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut old, mut new) = (0, 0);
    for change in changes(before, now) {
        pairs.extend((old..change.before.start).zip(new..change.now.start));
        (old, new) = (change.before.end, change.now.end);
    }
    pairs.extend((old..before.len()).zip(new..now.len()));
    pairs
}
