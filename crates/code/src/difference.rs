//! Compares two sequences. No other module uses the diff library directly.
//!
//! Sequences of blocks are compared with the histogram algorithm, lines of text and long sequences
//! with Myers' algorithm, which limits its work: two large texts with nothing in common take about
//! as long as two similar ones.

use std::hash::Hash;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Interner};

use super::position::line_ranges;

/// The histogram algorithm compares two sequences only if they have at most this many items together,
/// because its time grows with the square of the number of changes.
const LONGEST_FOR_HISTOGRAM: usize = 32 * 1024;

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
    let algorithm = match before.len() + now.len() > LONGEST_FOR_HISTOGRAM {
        true => Algorithm::Myers,
        false => Algorithm::Histogram,
    };
    let mut diff = Diff::compute(algorithm, &input);
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{changes, common};

    /// Every second item is changed, and the sequences are short, or too long for the histogram.
    #[test]
    fn many_changes_are_found_in_time() {
        for count in [1_000, 100_000] {
            let before: Vec<usize> = (0..count).collect();
            let now: Vec<usize> = before.iter().map(|at| at + at % 2 * count).collect();
            let start = Instant::now();
            assert_eq!(changes(&before, &now).len(), count / 2);
            assert_eq!(common(&before, &now).len(), count / 2);
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        }
    }
}
