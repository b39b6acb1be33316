//! Where two texts differ, and where a byte of the earlier one stands in the later one.

use std::ops::Range;

use super::difference;

/// What differs between an earlier text and the present one, in order. All that lies between is the same in both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alterations(Vec<Altered>);

/// Bytes of the earlier text, and those that stand in their place now.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Altered {
    before: Range<usize>,
    now: Range<usize>,
}

/// Where an end of a block may stand now. An insertion at the end of a block may belong to it or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    pub first: usize,
    pub last: usize,
    /// Where it stands if nothing else is known.
    pub likely: usize,
}

impl Whereabouts {
    pub fn holds(self, byte: usize) -> bool {
        (self.first..=self.last).contains(&byte)
    }
}

impl Alterations {
    /// Whether both texts are the same.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where a byte of the present text stood in the earlier one. For text that was inserted since, the place where it
    /// was inserted.
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

    /// The inserted text around a byte of the present one. `None` if the byte stood there before.
    pub fn brought_around(&self, now: usize) -> Option<Range<usize>> {
        let from = self.0.partition_point(|one| one.now.end < now);
        self.0.get(from).filter(|one| one.now.start <= now).map(|one| one.now.clone())
    }

    /// Whether something is changed inside these bytes of the earlier text, or stands newly at one of their ends.
    pub fn are_inside(&self, bytes: &Range<usize>) -> bool {
        self.around(bytes).next().is_some()
    }

    /// Where these bytes of the earlier text stand now.
    pub fn now(&self, bytes: &Range<usize>) -> Range<usize> {
        let start = self.start(bytes.start).likely;
        start..self.end(bytes.end).likely.max(start)
    }

    /// After one edit: so many bytes in place of a range.
    pub fn of_edit(range: &Range<usize>, length: usize) -> Self {
        Self(vec![Altered { before: range.clone(), now: range.start..range.start + length }])
    }

    /// After one more edit, of the present text.
    pub fn and_edit(&self, range: &Range<usize>, length: usize) -> Self {
        let first = self.0.partition_point(|one| one.now.end < range.start);
        let count = self.0[first..].iter().take_while(|one| one.now.start <= range.end).count();
        let (head, rest) = self.0.split_at(first);
        let (merged, tail) = rest.split_at(count);
        // Between two alterations a byte differs by what the one before it added.
        let earlier = |byte: usize, before: Option<&Altered>| match before {
            Some(one) => byte - one.now.end + one.before.end,
            None => byte,
        };
        let mut whole =
            Altered { before: earlier(range.start, head.last())..0, now: range.start..range.end };
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
        let later = tail.iter().map(|one| Altered {
            before: one.before.clone(),
            now: shift(one.now.start)..shift(one.now.end),
        });
        Self(head.iter().cloned().chain([whole]).chain(later).collect())
    }

    /// The difference of two texts, in whole lines.
    pub fn between(before: &str, now: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
        let (old_starts, new_starts) = (starts(&old), starts(&new));
        let bytes = |starts: &[usize], lines: Range<usize>| starts[lines.start]..starts[lines.end];
        let altered = difference::changes(&old, &new).into_iter().map(|change| Altered {
            before: bytes(&old_starts, change.before),
            now: bytes(&new_starts, change.now),
        });
        Self(altered.collect())
    }

    /// Where the first byte of something stands now. What is inserted directly before it is not taken for its own.
    pub fn start(&self, byte: usize) -> Whereabouts {
        self.whereabouts(byte, |one| match byte == one.before.end {
            true => one.now.end,
            false => one.now.start,
        })
    }

    /// Where the end of something is now. What is inserted directly behind it is taken for its own.
    pub fn end(&self, byte: usize) -> Whereabouts {
        self.whereabouts(byte, |one| one.now.end)
    }

    fn whereabouts(&self, byte: usize, likely: impl Fn(&Altered) -> usize) -> Whereabouts {
        let at = self.0.partition_point(|one| one.before.end < byte);
        if let Some(one) = self.0.get(at).filter(|one| one.before.start <= byte) {
            return Whereabouts { first: one.now.start, last: one.now.end, likely: likely(one) };
        }
        let byte = match at.checked_sub(1).map(|at| &self.0[at]) {
            Some(one) => byte - one.before.end + one.now.end,
            None => byte,
        };
        Whereabouts { first: byte, last: byte, likely: byte }
    }

    fn around(&self, bytes: &Range<usize>) -> impl Iterator<Item = &Altered> {
        let from = self.0.partition_point(|one| one.before.end < bytes.start);
        self.0[from..].iter().take_while(|one| one.before.start <= bytes.end)
    }

    /// Whether something is changed, or something stands newly at one of its ends. Whole lines before it are not at
    /// its start.
    pub fn touch(&self, bytes: &Range<usize>, text: &str) -> bool {
        let is_above =
            |one: &Altered| one.before.end <= bytes.start && text[..one.now.end].ends_with('\n');
        self.around(bytes).any(|one| !is_above(one))
    }

    /// Whether all that happened to something is that lines were put behind its last one.
    pub fn begin_a_line_at_end(&self, bytes: &Range<usize>, text: &str) -> bool {
        let is_behind = |one: &Altered| {
            one.before.start >= bytes.end && text[one.now.start..].starts_with(['\n', '\r'])
        };
        let is_above =
            |one: &Altered| one.before.end <= bytes.start && text[..one.now.end].ends_with('\n');
        self.around(bytes).all(|one| is_behind(one) || is_above(one))
    }

    /// Whether all of something was replaced at once.
    pub fn replace(&self, bytes: &Range<usize>) -> bool {
        self.around(bytes).any(|one| one.before.start <= bytes.start && bytes.end <= one.before.end)
    }

    /// Whether a piece of the present text holds or touches some that is new.
    pub fn brought(&self, now: &Range<usize>) -> bool {
        let from = self.0.partition_point(|one| one.now.end < now.start);
        self.0.get(from).is_some_and(|one| one.now.start <= now.end)
    }
}

/// Where each line starts, and the end of the last one.
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
        let typed = Alterations::of_edit(&(4..4), 2).and_edit(&(10..12), 0);
        let earlier: Vec<usize> = [0, 3, 5, 7, 9, 11].map(|byte| typed.earlier(byte)).into();
        assert_eq!(earlier, [0, 3, 4, 5, 7, 11]);
        assert_eq!(typed.brought_around(5), Some(4..6));
        assert_eq!(typed.brought_around(8), None);
        assert_eq!(typed.now(&(6..8)), 8..10);
        assert!(typed.are_inside(&(2..4)) && typed.are_inside(&(9..12)));
        assert!(!typed.are_inside(&(5..7)));
    }

    proptest! {
        /// Composed edits say what differs: between the alterations both texts are the same.
        #[test]
        fn what_is_not_altered_is_the_same(edits in prop::collection::vec((0.0..1.0_f64, 0..5_usize, "[xyz\n]{0,4}"), 1..9)) {
            let first = "abcdefghij\nklmnopqrst\nuvw\n".repeat(2);
            let mut text = first.clone();
            let mut all: Option<Alterations> = None;
            for (place, removed, inserted) in edits {
                let start = (place * text.len() as f64) as usize;
                let range = start..(start + removed).min(text.len());
                all = Some(match all {
                    Some(all) => all.and_edit(&range, inserted.len()),
                    None => Alterations::of_edit(&range, inserted.len()),
                });
                text.replace_range(range, &inserted);
            }
            for found in [all.expect("an edit"), Alterations::between(&first, &text)] {
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
