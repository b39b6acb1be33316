//! Records where two texts differ, and translates byte positions between them.

use std::ops::Range;

use super::difference::{self, ChangedRange};

/// The differences between an earlier text and the present one, in order. All text between two
/// differences is the same in both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextDifference(Vec<ChangedRange>);

/// Returns true if a change is directly above these bytes of the earlier text, and ends with a line
/// break in the present text.
fn adds_lines_above(one: &ChangedRange, bytes: &Range<usize>, text: &str) -> bool {
    one.before.end <= bytes.start && text[..one.now.end].ends_with('\n')
}

/// Where the start or the end of a block may be now. Text inserted at the end of a block may belong
/// to the block or not, so there can be several answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PossiblePositions {
    pub first: usize,
    pub last: usize,
    pub likely: usize,
}

impl PossiblePositions {
    pub fn holds(self, byte: usize) -> bool {
        (self.first..=self.last).contains(&byte)
    }
}

impl TextDifference {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn ranges(&self) -> &[ChangedRange] {
        &self.0
    }

    /// Translates a byte of the present text to the earlier text. A byte in changed text is
    /// translated to the start of what it replaced.
    pub fn earlier(&self, now: usize) -> usize {
        let from = self.0.partition_point(|one| one.now.end < now);
        if let Some(one) = self.0.get(from).filter(|one| one.now.start <= now) {
            return one.before.start;
        }
        match from.checked_sub(1).map(|at| &self.0[at]) {
            Some(one) => now - one.now.end + one.before.end,
            None => now,
        }
    }

    /// Returns the changed text that contains or touches a byte, as a range of the present text.
    /// Returns `None` if there is no change at this byte.
    pub fn new_text_at(&self, now: usize) -> Option<Range<usize>> {
        let from = self.0.partition_point(|one| one.now.end < now);
        self.0.get(from).filter(|one| one.now.start <= now).map(|one| one.now.clone())
    }

    pub fn any_touches(&self, bytes: &Range<usize>) -> bool {
        self.ranges_touching(bytes).next().is_some()
    }

    pub fn now(&self, bytes: &Range<usize>) -> Range<usize> {
        let start = self.start(bytes.start).likely;
        start..self.end(bytes.end).likely.max(start)
    }

    pub(crate) fn of_edit(range: &Range<usize>, length: usize) -> Self {
        Self(vec![ChangedRange { before: range.clone(), now: range.start..range.start + length }])
    }

    pub(crate) fn and_edit(&self, range: &Range<usize>, length: usize) -> Self {
        let first = self.0.partition_point(|one| one.now.end < range.start);
        let count = self.0[first..].iter().take_while(|one| one.now.start <= range.end).count();
        let (head, rest) = self.0.split_at(first);
        let (merged, tail) = rest.split_at(count);
        // Between two differences, positions in the two texts differ by a constant.
        let earlier = |byte: usize, before: Option<&ChangedRange>| match before {
            Some(one) => byte - one.now.end + one.before.end,
            None => byte,
        };
        let mut whole = ChangedRange {
            before: earlier(range.start, head.last())..0,
            now: range.start..range.end,
        };
        if let Some(one) = merged.first().filter(|one| one.now.start < range.start) {
            (whole.before.start, whole.now.start) = (one.before.start, one.now.start);
        }
        whole.before.end = match merged.last().filter(|one| one.now.end > range.end) {
            Some(one) => {
                whole.now.end = one.now.end;
                one.before.end
            }
            None => earlier(range.end, merged.last().or(head.last())),
        };
        let shift = |byte: usize| byte - range.len() + length;
        whole.now.end = shift(whole.now.end);
        let later = tail.iter().map(|one| ChangedRange {
            before: one.before.clone(),
            now: shift(one.now.start)..shift(one.now.end),
        });
        Self(head.iter().cloned().chain([whole]).chain(later).collect())
    }

    pub fn between_texts(before: &str, now: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
        let (old_starts, new_starts) = (starts(&old), starts(&new));
        let bytes = |starts: &[usize], lines: Range<usize>| starts[lines.start]..starts[lines.end];
        let ranges = difference::changes(&old, &new).into_iter().map(|change| ChangedRange {
            before: bytes(&old_starts, change.before),
            now: bytes(&new_starts, change.now),
        });
        Self(ranges.collect())
    }

    /// Translates the start of a range to the present text. Text inserted directly before it does
    /// not belong to the range.
    pub fn start(&self, byte: usize) -> PossiblePositions {
        self.positions(byte, |one| match byte == one.before.end {
            true => one.now.end,
            false => one.now.start,
        })
    }

    /// Translates the end of a range to the present text. Text inserted directly after it belongs
    /// to the range.
    pub fn end(&self, byte: usize) -> PossiblePositions {
        self.positions(byte, |one| one.now.end)
    }

    fn positions(&self, byte: usize, likely: impl Fn(&ChangedRange) -> usize) -> PossiblePositions {
        let at = self.0.partition_point(|one| one.before.end < byte);
        if let Some(one) = self.0.get(at).filter(|one| one.before.start <= byte) {
            return PossiblePositions {
                first: one.now.start,
                last: one.now.end,
                likely: likely(one),
            };
        }
        let byte = match at.checked_sub(1).map(|at| &self.0[at]) {
            Some(one) => byte - one.before.end + one.now.end,
            None => byte,
        };
        PossiblePositions { first: byte, last: byte, likely: byte }
    }

    fn ranges_touching(&self, bytes: &Range<usize>) -> impl Iterator<Item = &ChangedRange> {
        let from = self.0.partition_point(|one| one.before.end < bytes.start);
        self.0[from..].iter().take_while(|one| one.before.start <= bytes.end)
    }

    /// Returns true if these bytes of the earlier text were changed, or if text was inserted at one
    /// of their ends. A change directly above that ends with a line break does not count. `text` is
    /// the present text.
    pub(crate) fn touches_block(&self, bytes: &Range<usize>, text: &str) -> bool {
        self.ranges_touching(bytes).any(|one| !adds_lines_above(one, bytes, text))
    }

    /// Returns true if the bytes themselves are unchanged: all changes that touch them only add
    /// lines below or above. `text` is the present text.
    pub(crate) fn only_add_lines_around(&self, bytes: &Range<usize>, text: &str) -> bool {
        let is_behind = |one: &ChangedRange| {
            one.before.start >= bytes.end && text[one.now.start..].starts_with(['\n', '\r'])
        };
        self.ranges_touching(bytes).all(|one| is_behind(one) || adds_lines_above(one, bytes, text))
    }

    pub(crate) fn replaces_all(&self, bytes: &Range<usize>) -> bool {
        self.ranges_touching(bytes)
            .any(|one| one.before.start <= bytes.start && bytes.end <= one.before.end)
    }

    pub(crate) fn overlaps_new_text(&self, now: &Range<usize>) -> bool {
        let from = self.0.partition_point(|one| one.now.end < now.start);
        self.0.get(from).is_some_and(|one| one.now.start <= now.end)
    }
}

/// Returns the offset at which each line starts, and then the end of the last line.
fn starts(lines: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = vec![0];
    starts.extend(lines.iter().map(|line| {
        at += line.len();
        at
    }));
    starts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_byte_is_found_in_the_earlier_text() {
        let typed = TextDifference::of_edit(&(4..4), 2).and_edit(&(10..12), 0);
        let earlier: Vec<usize> = [0, 3, 5, 7, 9, 11].map(|byte| typed.earlier(byte)).into();
        assert_eq!(earlier, [0, 3, 4, 5, 7, 11]);
        assert_eq!(typed.new_text_at(5), Some(4..6));
        assert_eq!(typed.new_text_at(8), None);
        assert_eq!(typed.now(&(6..8)), 8..10);
        assert!(typed.any_touches(&(2..4)) && typed.any_touches(&(9..12)));
        assert!(!typed.any_touches(&(5..7)));
    }

    proptest! {
        /// Checks that composed edits are complete: between two differences, both texts are the
        /// same.
        #[test]
        fn unaltered_parts_are_the_same(edits in prop::collection::vec((0.0..1.0_f64, 0..5_usize, "[xyz\n]{0,4}"), 1..9)) {
            let first = "abcdefghij\nklmnopqrst\nuvw\n".repeat(2);
            let mut text = first.clone();
            let mut all: Option<TextDifference> = None;
            for (place, removed, inserted) in edits {
                let start = (place * text.len() as f64) as usize;
                let range = start..(start + removed).min(text.len());
                all = Some(match all {
                    Some(all) => all.and_edit(&range, inserted.len()),
                    None => TextDifference::of_edit(&range, inserted.len()),
                });
                text.replace_range(range, &inserted);
            }
            for found in [all.expect("an edit"), TextDifference::between_texts(&first, &text)] {
                let (mut old, mut new) = (0, 0);
                for one in &found.0 {
                    prop_assert_eq!(&first[old..one.before.start], &text[new..one.now.start]);
                    (old, new) = (one.before.end, one.now.end);
                }
                prop_assert_eq!(&first[old..], &text[new..]);
            }
        }
    }
}
