//! Which lines of a text pass to an earlier text, because they were there already.
//!
//! Two lines are the same if they differ only in white space. A changed hunk passes as well if its
//! text without white space is the same on both sides, as when an expression is wrapped over two
//! lines. This is `git blame -w` but for the second rule.

use std::ops::Range;

use code::difference::ChangedRange;

use crate::line_diff::hunks;
use crate::text::{LineText, Loose, is_space};

/// Lines of a text that were in the earlier text, one after the other. Lines are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassedRun {
    pub now: Range<usize>,
    pub before: usize,
}

/// Returns the lines of `now` that were in `before`, in order.
pub(crate) fn passed_runs(before: &LineText, now: &LineText) -> Vec<PassedRun> {
    let mut runs = Runs::default();
    let (mut at_old, mut at_new) = (0, 0);
    for hunk in hunks(before, now) {
        runs.push(at_new..hunk.now.start, at_old);
        (at_old, at_new) = (hunk.before.end, hunk.now.end);
        runs.push_rewrapped(before, now, &hunk);
    }
    runs.push(at_new..now.len(), at_old);
    runs.0
}

/// Returns for each line of a text the line of the earlier text that it was.
pub fn lines_in(earlier: &LineText, text: &LineText) -> Vec<Option<usize>> {
    let mut lines = vec![None; text.len()];
    for run in passed_runs(earlier, text) {
        for (nth, line) in run.now.enumerate() {
            lines[line] = Some(run.before + nth);
        }
    }
    lines
}

pub fn new_lines(earlier: &[&LineText], now: &LineText) -> Vec<bool> {
    let mut is_new = vec![true; now.len()];
    for before in earlier {
        for run in passed_runs(before, now) {
            is_new[run.now].fill(false);
        }
    }
    is_new
}

/// Returns for each line of a text whether it has other white space than in all earlier texts that have
/// the line.
pub fn respaced_lines(earlier: &[&LineText], now: &LineText) -> Vec<bool> {
    let (mut is_respaced, mut is_there) = (vec![false; now.len()], vec![false; now.len()]);
    for before in earlier {
        for run in passed_runs(before, now) {
            for (at, was) in run.now.zip(run.before..) {
                is_respaced[at] = true;
                is_there[at] |= before.line(was) == now.line(at);
            }
        }
    }
    is_respaced.iter_mut().zip(is_there).for_each(|(respaced, there)| *respaced &= !there);
    is_respaced
}

#[derive(Default)]
struct Runs(Vec<PassedRun>);

impl Runs {
    fn push(&mut self, now: Range<usize>, before: usize) {
        if now.is_empty() {
            return;
        }
        if let Some(last) = self.0.last_mut()
            && last.now.end == now.start
            && last.before + last.now.len() == before
        {
            last.now.end = now.end;
            return;
        }
        self.0.push(PassedRun { now, before });
    }

    /// Adds the lines of a hunk whose text differs only in white space, line breaks among it. A
    /// line goes to the line in which its first letter was.
    fn push_rewrapped(&mut self, before: &LineText, now: &LineText, hunk: &ChangedRange) {
        let (old, new) = (before.lines(hunk.before.clone()), now.lines(hunk.now.clone()));
        if old.is_empty() || new.is_empty() || Loose(old) != Loose(new) {
            return;
        }
        let letters = |text: &LineText, line: usize| {
            text.line(line).iter().filter(|byte| !is_space(**byte)).count()
        };
        let (mut line, mut end) = (hunk.before.start, letters(before, hunk.before.start));
        let mut letter = 0;
        for at in hunk.now.clone() {
            while end <= letter && line + 1 < hunk.before.end {
                line += 1;
                end += letters(before, line);
            }
            self.push(at..at + 1, line);
            letter += letters(now, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(before: &str, now: &str) -> Vec<Option<usize>> {
        let (before, now) = (LineText::new(before.into()), LineText::new(now.into()));
        lines_in(&before, &now)
    }

    #[test]
    fn an_unchanged_line_passes_and_a_new_one_does_not() {
        assert_eq!(passed("a\nb\nc\n", "a\nx\nb\nc\n"), [Some(0), None, Some(1), Some(2)]);
        assert_eq!(passed("a\nb\nc\n", "a\nc\n"), [Some(0), Some(2)]);
        assert_eq!(passed("", "a\n"), [None]);
        assert!(passed("a\n", "").is_empty());
    }

    #[test]
    fn white_space_alone_makes_no_new_line() {
        assert_eq!(passed("if a {\n  b\n}\n", "if a {\n\tb \r\n}"), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_line_that_was_wrapped_passes_to_the_line_it_was() {
        let before = "x\ncall(first, second, third)\ny\n";
        let now = "x\ncall(\n  first, second,\n  third)\ny\n";
        assert_eq!(passed(before, now), [Some(0), Some(1), Some(1), Some(1), Some(2)]);
        assert_eq!(passed(now, before), [Some(0), Some(1), Some(4)]);
        // Another letter makes all of its lines new.
        let other = "x\ncall(\n  first, second,\n  fourth)\ny\n";
        assert_eq!(passed(before, other), [Some(0), None, None, None, Some(2)]);
    }

    #[test]
    fn equal_text_far_from_a_change_is_not_compared() {
        let many: String = (0..1_000).map(|line| format!("line {line}\n")).collect();
        let now = many.replace("line 500\n", "other\n");
        let passed = passed(&many, &now);
        assert_eq!(passed.iter().filter(|line| line.is_none()).count(), 1);
        assert!(passed.iter().enumerate().all(|(at, line)| line.is_none_or(|line| line == at)));
    }
}
