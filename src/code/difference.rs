//! What two sequences have in common, and where they differ: the only place that knows the library for it.
//!
//! Histogram diff for sequences of blocks, Myers' algorithm for lines. Both bound their work, so that two large texts with
//! nothing in common cost about as much as two that are alike.

use std::hash::Hash;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Interner};

use super::lines::line_ranges;

/// Items that were taken out, and the items that stand in their place. One of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Places in the sequence before.
    pub before: Range<usize>,
    /// Places in the sequence now.
    pub now: Range<usize>,
}

/// Where two sequences differ, in order.
pub(crate) fn changes<T: Hash + Eq>(before: &[T], now: &[T]) -> Vec<Change> {
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
    all(&diff, start)
}

/// Where two texts differ, in lines counted from 0. White space at the end of a line does not count.
///
/// This is the difference that `git diff` shows by default: Myers' algorithm, and a run of lines that could be cut out in
/// several places (one of several equal list items, say) is cut where the indentation suggests it.
pub fn changed_lines(before: &str, now: &str) -> Vec<Change> {
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(lines(before));
    input.update_after(lines(now));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    all(&diff, 0)
}

/// The lines that [`changed_lines`] compares.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    line_ranges(text).map(|range| text[range].trim_end())
}

/// The changes in sequences of which `start` items were left out at the beginning.
fn all(diff: &Diff, start: usize) -> Vec<Change> {
    let places = |range: Range<u32>| start + range.start as usize..start + range.end as usize;
    diff.hunks()
        .map(|hunk| Change { before: places(hunk.before), now: places(hunk.after) })
        .collect()
}

/// The items that two sequences have in common, in the order of both: place before, place now.
pub(crate) fn common<T: Hash + Eq>(before: &[T], now: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut old, mut new) = (0, 0);
    for change in changes(before, now) {
        pairs.extend((old..change.before.start).zip(new..change.now.start));
        (old, new) = (change.before.end, change.now.end);
    }
    pairs.extend((old..before.len()).zip(new..now.len()));
    pairs
}
