//! The lines that differ between two texts, exactly as `git blame -w` finds them. Two lines are the
//! same if they differ only in white space.
//!
//! The algorithm is that of Myers in linear space, with git's shortcuts for texts that differ much,
//! and with git's rules for the place of a hunk that could stand a few lines higher or lower. Which
//! of several equal lines is the new one depends on all of it. So a library for differences, which
//! takes other shortcuts, gives some lines to another commit than git does.

use std::collections::HashMap;
use std::ops::Range;

use code::difference::ChangedRange;

use crate::text::{LineText, Loose, is_space};

/// Returns the lines that differ, counted from 0.
pub(crate) fn hunks(before: &LineText, now: &LineText) -> Vec<ChangedRange> {
    let (old_end, new_end) = compared_lines(before, now);
    let mut old = DiffSide { text: before, changed: vec![false; old_end] };
    let mut new = DiffSide { text: now, changed: vec![false; new_end] };
    mark_changed(&mut old, &mut new);
    place_groups(&mut old, &mut new);
    place_groups(&mut new, &mut old);
    let (mut found, mut at, mut at_new) = (Vec::new(), 0, 0);
    while at < old_end || at_new < new_end {
        let start = at..at_new;
        while old.is_changed(at) {
            at += 1;
        }
        while new.is_changed(at_new) {
            at_new += 1;
        }
        if (at, at_new) != (start.start, start.end) {
            found.push(ChangedRange { before: start.start..at, now: start.end..at_new });
        }
        (at, at_new) = (at + 1, at_new + 1);
    }
    found
}

struct DiffSide<'a> {
    text: &'a LineText,
    /// Says for each line whether the other text lacks it.
    changed: Vec<bool>,
}

impl DiffSide<'_> {
    fn len(&self) -> usize {
        self.changed.len()
    }

    fn is_changed(&self, line: usize) -> bool {
        self.changed.get(line) == Some(&true)
    }

    fn line(&self, at: usize) -> Loose<'_> {
        Loose(self.text.line(at))
    }
}

/// Returns how many lines of the two texts are compared. Equal text at their ends is left out, in
/// pieces of this many bytes.
fn compared_lines(before: &LineText, now: &LineText) -> (usize, usize) {
    const PIECE: usize = 1024;
    let (old, new) = (before.lines(0..before.len()), now.lines(0..now.len()));
    let pieces = old.rchunks_exact(PIECE).zip(new.rchunks_exact(PIECE));
    let left_out = pieces.take_while(|(old, new)| old == new).count() * PIECE;
    let Some(line_end) = old[old.len() - left_out..].iter().position(|byte| *byte == b'\n') else {
        return (before.len(), now.len());
    };
    let left_out = left_out - (line_end + 1);
    (before.lines_before(old.len() - left_out), now.lines_before(new.len() - left_out))
}

fn mark_changed(old: &mut DiffSide<'_>, new: &mut DiffSide<'_>) {
    let shorter = old.len().min(new.len());
    let is_same = |at: &usize, at_new: &usize| old.line(*at) == new.line(*at_new);
    let head = (0..shorter).take_while(|at| is_same(at, at)).count();
    let from_end = |at: usize| (old.len() - 1 - at, new.len() - 1 - at);
    let is_same_at_end = |at: &usize| {
        let (at, at_new) = from_end(*at);
        is_same(&at, &at_new)
    };
    let tail = (0..shorter - head).take_while(is_same_at_end).count();
    let (old_part, new_part) = (head..old.len() - tail, head..new.len() - tail);
    let mut numbers = EqualLines::default();
    let old_lines: Vec<usize> =
        old_part.clone().map(|at| numbers.of_line(old.line(at), true)).collect();
    let new_lines: Vec<usize> =
        new_part.clone().map(|at| numbers.of_line(new.line(at), false)).collect();
    if !numbers.counts.iter().any(|(old, new)| *old > 0 && *new > 0) {
        old.changed[old_part].fill(true);
        new.changed[new_part].fill(true);
        return;
    }
    (0..head).chain(old_part.end..old.len()).for_each(|at| numbers.count_in_both(old.line(at)));
    let counts = &numbers.counts;
    let kept = |lines: &[usize], len: usize, count: &dyn Fn(usize) -> usize| {
        let often = rough_root(len).min(1024);
        let occurs: Vec<Frequency> =
            lines.iter().map(|line| Frequency::with_count(count(*line), often)).collect();
        (0..lines.len()).filter(|at| is_worth_comparing(&occurs, *at)).collect::<Vec<usize>>()
    };
    let old_kept = kept(&old_lines, old.len(), &|line| counts[line].1);
    let new_kept = kept(&new_lines, new.len(), &|line| counts[line].0);
    old.changed[old_part].fill(true);
    new.changed[new_part].fill(true);
    let chosen = |kept: &[usize], lines: &[usize]| kept.iter().map(|at| lines[*at]).collect();
    let search = WaySearch::new(chosen(&old_kept, &old_lines), chosen(&new_kept, &new_lines));
    for (at, at_new) in search.common_lines() {
        old.changed[head + old_kept[at]] = false;
        new.changed[head + new_kept[at_new]] = false;
    }
}

/// Gives equal lines the same number, and counts them in both texts.
#[derive(Default)]
struct EqualLines<'a> {
    numbers: HashMap<Loose<'a>, usize>,
    counts: Vec<(usize, usize)>,
}

impl<'a> EqualLines<'a> {
    fn of_line(&mut self, line: Loose<'a>, is_old: bool) -> usize {
        let next = self.counts.len();
        let number = *self.numbers.entry(line).or_insert(next);
        if number == next {
            self.counts.push((0, 0));
        }
        let (old, new) = &mut self.counts[number];
        *(if is_old { old } else { new }) += 1;
        number
    }

    fn count_in_both(&mut self, line: Loose<'_>) {
        if let Some(number) = self.numbers.get(&line) {
            let (old, new) = &mut self.counts[*number];
            (*old, *new) = (*old + 1, *new + 1);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frequency {
    Never,
    Sometimes,
    Often,
}

impl Frequency {
    fn with_count(count: usize, often: usize) -> Self {
        match count {
            0 => Self::Never,
            count if count >= often => Self::Often,
            _ => Self::Sometimes,
        }
    }
}

/// Returns false for a line that the other text lacks, and for a line that it has often, such as `}`,
/// among many that it lacks.
fn is_worth_comparing(occurs: &[Frequency], at: usize) -> bool {
    const WINDOW: usize = 100;
    if occurs[at] != Frequency::Often {
        return occurs[at] == Frequency::Sometimes;
    }
    let run = |lines: &mut dyn Iterator<Item = &Frequency>| {
        let run: Vec<&Frequency> =
            lines.take(WINDOW).take_while(|one| **one != Frequency::Sometimes).collect();
        let never = run.iter().filter(|one| ***one == Frequency::Never).count();
        (never, run.len() - never + 1)
    };
    let (above, common_above) = run(&mut occurs[..at].iter().rev());
    let (below, common_below) = run(&mut occurs[at + 1..].iter());
    let common = common_above + common_below;
    above == 0 || below == 0 || common * 4 >= common + above + below
}

fn rough_root(number: usize) -> usize {
    let (mut root, mut left) = (1, number);
    while left > 0 {
        root <<= 1;
        left >>= 2;
    }
    root
}

/// A search for the shortest way from one list of lines to another.
struct WaySearch {
    old: Vec<usize>,
    new: Vec<usize>,
    /// For each diagonal how far the forward search has come on it, as a line of the old list.
    forward: Vec<isize>,
    backward: Vec<isize>,
    /// The largest cost of a search. At this cost the search ends at the best place that it has
    /// reached.
    most: isize,
}

/// A part of both lists, and whether the way through it must be the shortest.
#[derive(Clone)]
struct WayPart {
    old: Range<isize>,
    new: Range<isize>,
    is_exact: bool,
}

impl WayPart {
    fn is_empty(&self) -> bool {
        self.old.is_empty() || self.new.is_empty()
    }

    /// Divides the part at an old line and a new line. `is_exact` is that of the two parts.
    fn divided(&self, (old, new): (isize, isize), is_exact: [bool; 2]) -> [Self; 2] {
        let [above, below] = is_exact;
        [
            Self { old: self.old.start..old, new: self.new.start..new, is_exact: above },
            Self { old: old..self.old.end, new: new..self.new.end, is_exact: below },
        ]
    }
}

/// A run of this many equal lines shows that a way is right.
const LONG: isize = 20;
/// If the cost is larger than this, the search may end at such a run.
const COSTLY: isize = 256;

impl WaySearch {
    fn new(old: Vec<usize>, new: Vec<usize>) -> Self {
        let diagonals = old.len() + new.len() + 3;
        let most = rough_root(diagonals).cast_signed().max(COSTLY);
        let (forward, backward) = (vec![0; diagonals], vec![0; diagonals]);
        Self { old, new, forward, backward, most }
    }

    /// Returns the pairs of equal lines that the way goes through.
    fn common_lines(mut self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let whole = WayPart {
            old: 0..self.old.len().cast_signed(),
            new: 0..self.new.len().cast_signed(),
            is_exact: false,
        };
        let mut parts = vec![whole];
        while let Some(mut part) = parts.pop() {
            let mut note = |old: isize, new: isize| {
                found.push((old.cast_unsigned(), new.cast_unsigned()));
            };
            while !part.is_empty() && self.is_same(part.old.start, part.new.start) {
                note(part.old.start, part.new.start);
                (part.old.start, part.new.start) = (part.old.start + 1, part.new.start + 1);
            }
            while !part.is_empty() && self.is_same(part.old.end - 1, part.new.end - 1) {
                (part.old.end, part.new.end) = (part.old.end - 1, part.new.end - 1);
                note(part.old.end, part.new.end);
            }
            if part.is_empty() {
                continue;
            }
            parts.extend(self.divide(&part));
        }
        found
    }

    fn is_same(&self, old: isize, new: isize) -> bool {
        self.old[old.cast_unsigned()] == self.new[new.cast_unsigned()]
    }

    fn slot(&self, diagonal: isize) -> usize {
        (diagonal + self.new.len().cast_signed() + 1).cast_unsigned()
    }

    /// Searches from both ends until the two searches meet.
    fn divide(&mut self, part: &WayPart) -> [WayPart; 2] {
        let WayPart { old, new, is_exact } = part.clone();
        let (lowest, highest) = (old.start - new.end, old.end - new.start);
        let (first, last) = (old.start - new.start, old.end - new.end);
        let is_odd = (first - last) & 1 != 0;
        let (mut ahead, mut back) = (first..first, last..last);
        let slot = self.slot(first);
        self.forward[slot] = old.start;
        let slot = self.slot(last);
        self.backward[slot] = old.end;
        let met = |at: isize, diagonal: isize| part.divided((at, at - diagonal), [true, true]);

        for cost in 1.. {
            let mut is_long = false;
            let slot = self.slot(0).cast_signed();
            let place = |diagonal: isize| (slot + diagonal).cast_unsigned();
            widen(&mut ahead, lowest, highest, |diagonal| self.forward[place(diagonal)] = -1);
            for diagonal in diagonals(&ahead) {
                let (below, above) =
                    (self.forward[place(diagonal - 1)], self.forward[place(diagonal + 1)]);
                let start = if below >= above { below + 1 } else { above };
                let mut at = start;
                while at < old.end && at - diagonal < new.end && self.is_same(at, at - diagonal) {
                    at += 1;
                }
                is_long |= at - start > LONG;
                self.forward[place(diagonal)] = at;
                let is_within = back.start <= diagonal && diagonal <= back.end;
                if is_odd && is_within && self.backward[place(diagonal)] <= at {
                    return met(at, diagonal);
                }
            }
            widen(&mut back, lowest, highest, |diagonal| {
                self.backward[place(diagonal)] = isize::MAX;
            });
            for diagonal in diagonals(&back) {
                let (below, above) =
                    (self.backward[place(diagonal - 1)], self.backward[place(diagonal + 1)]);
                let start = if below < above { below } else { above - 1 };
                let mut at = start;
                while at > old.start
                    && at - diagonal > new.start
                    && self.is_same(at - 1, at - diagonal - 1)
                {
                    at -= 1;
                }
                is_long |= start - at > LONG;
                self.backward[place(diagonal)] = at;
                let is_within = ahead.start <= diagonal && diagonal <= ahead.end;
                if !is_odd && is_within && at <= self.forward[place(diagonal)] {
                    return met(at, diagonal);
                }
            }
            if is_exact {
                continue;
            }
            if is_long && cost > COSTLY {
                let ahead = self.long_run(part, &ahead, cost, true);
                if let Some(parts) = ahead.or_else(|| self.long_run(part, &back, cost, false)) {
                    return parts;
                }
            }
            if cost >= self.most {
                return self.farthest(part, &ahead, &back);
            }
        }
        unreachable!("the two searches meet")
    }

    /// Returns the place at a good distance to which a search has come through a long run of equal
    /// lines: the farthest, and the first one of [`diagonals`] if several are as far.
    fn long_run(
        &self,
        part: &WayPart,
        searched: &Range<isize>,
        cost: isize,
        is_ahead: bool,
    ) -> Option<[WayPart; 2]> {
        let WayPart { old, new, .. } = part;
        let (reached, from, from_new) = match is_ahead {
            true => (&self.forward, old.start, new.start),
            false => (&self.backward, old.end, new.end),
        };
        let leaves_room = |lines: &Range<isize>, at: isize| match is_ahead {
            true => (lines.start + LONG..lines.end).contains(&at),
            false => (lines.start + 1..=lines.end - LONG).contains(&at),
        };
        let places = diagonals(searched).filter_map(|diagonal| {
            let at = reached[self.slot(diagonal)];
            let at_new = at - diagonal;
            let turned = (diagonal - (from - from_new)).abs();
            let gain = (at - from).abs() + (at_new - from_new).abs() - turned;
            let first = if is_ahead { at - LONG } else { at };
            let is_good = gain > 4 * cost
                && leaves_room(old, at)
                && leaves_room(new, at_new)
                && (first..first + LONG).all(|line| self.is_same(line, line - diagonal));
            is_good.then_some((gain, at, at_new))
        });
        let best = places.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, old, new)| part.divided((old, new), [is_ahead, !is_ahead]))
    }

    /// Divides a part where one of the searches has come farthest.
    fn farthest(&self, part: &WayPart, ahead: &Range<isize>, back: &Range<isize>) -> [WayPart; 2] {
        let WayPart { old, new, .. } = part;
        let (mut sum_ahead, mut old_ahead) = (-1, -1);
        for diagonal in diagonals(ahead) {
            let at = self.forward[self.slot(diagonal)].min(old.end);
            let at = if at - diagonal > new.end { new.end + diagonal } else { at };
            if sum_ahead < 2 * at - diagonal {
                (sum_ahead, old_ahead) = (2 * at - diagonal, at);
            }
        }
        let (mut sum_back, mut old_back) = (isize::MAX, isize::MAX);
        for diagonal in diagonals(back) {
            let at = self.backward[self.slot(diagonal)].max(old.start);
            let at = if at - diagonal < new.start { new.start + diagonal } else { at };
            if 2 * at - diagonal < sum_back {
                (sum_back, old_back) = (2 * at - diagonal, at);
            }
        }
        let is_ahead = (old.end + new.end) - sum_back < sum_ahead - (old.start + new.start);
        let (sum, at) = if is_ahead { (sum_ahead, old_ahead) } else { (sum_back, old_back) };
        part.divided((at, sum - at), [is_ahead, !is_ahead])
    }
}

/// Takes one more diagonal into a search on each side. At the edge of the part it takes one less,
/// since only every second one is looked at. `set_outer` prepares the diagonals beyond.
fn widen(
    searched: &mut Range<isize>,
    lowest: isize,
    highest: isize,
    mut set_outer: impl FnMut(isize),
) {
    if searched.start > lowest {
        searched.start -= 1;
        set_outer(searched.start - 1);
    } else {
        searched.start += 1;
    }
    if searched.end < highest {
        searched.end += 1;
        set_outer(searched.end + 1);
    } else {
        searched.end -= 1;
    }
}

fn diagonals(searched: &Range<isize>) -> impl Iterator<Item = isize> + use<> {
    let Range { start, end } = *searched;
    (0..).map(move |nth| end - 2 * nth).take_while(move |diagonal| *diagonal >= start)
}

/// Changed lines one after the other, maybe none, that stand between two unchanged ones.
#[derive(Clone)]
struct ChangedGroup {
    start: usize,
    end: usize,
}

impl ChangedGroup {
    fn first_in(side: &DiffSide<'_>) -> Self {
        let end = (0..).find(|at| !side.is_changed(*at)).unwrap_or_default();
        Self { start: 0, end }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Goes on to the next group. Returns false after the last one.
    fn go_down(&mut self, side: &DiffSide<'_>) -> bool {
        if self.end == side.len() {
            return false;
        }
        self.start = self.end + 1;
        self.end = self.start;
        self.extend_down(side);
        true
    }

    fn go_up(&mut self, side: &DiffSide<'_>) {
        self.end = self.start.saturating_sub(1);
        self.start = self.end;
        self.extend_up(side);
    }

    fn extend_down(&mut self, side: &DiffSide<'_>) {
        while side.is_changed(self.end) {
            self.end += 1;
        }
    }

    fn extend_up(&mut self, side: &DiffSide<'_>) {
        while self.start > 0 && side.is_changed(self.start - 1) {
            self.start -= 1;
        }
    }

    /// Moves the group down by one line, if the line after it equals its first one.
    fn slide_down(&mut self, side: &mut DiffSide<'_>) -> bool {
        if self.end == side.len() || side.line(self.start) != side.line(self.end) {
            return false;
        }
        (side.changed[self.start], side.changed[self.end]) = (false, true);
        (self.start, self.end) = (self.start + 1, self.end + 1);
        self.extend_down(side);
        true
    }

    fn slide_up(&mut self, side: &mut DiffSide<'_>) -> bool {
        if self.start == 0 || side.line(self.start - 1) != side.line(self.end - 1) {
            return false;
        }
        (self.start, self.end) = (self.start - 1, self.end - 1);
        (side.changed[self.start], side.changed[self.end]) = (true, false);
        self.extend_up(side);
        true
    }
}

/// Moves each group of changed lines of a side, which may be possible if equal lines stand at its
/// edges. It goes to where the other side has a change, too, or else to where the indentation says
/// that a piece of text begins and ends.
fn place_groups(side: &mut DiffSide<'_>, other: &mut DiffSide<'_>) {
    let (mut group, mut beside) = (ChangedGroup::first_in(side), ChangedGroup::first_in(other));
    loop {
        if !group.is_empty() {
            place_group(side, &mut group, other, &mut beside);
        }
        if !group.go_down(side) {
            return;
        }
        beside.go_down(other);
    }
}

fn place_group(
    side: &mut DiffSide<'_>,
    group: &mut ChangedGroup,
    other: &DiffSide<'_>,
    beside: &mut ChangedGroup,
) {
    const FARTHEST: usize = 100;
    let (mut highest, mut size, mut is_beside_change);
    loop {
        size = group.end - group.start;
        while group.slide_up(side) {
            beside.go_up(other);
        }
        highest = group.end;
        is_beside_change = !beside.is_empty();
        while group.slide_down(side) {
            beside.go_down(other);
            is_beside_change |= !beside.is_empty();
        }
        // If it met another group, the two are one now, which may move farther.
        if size == group.end - group.start {
            break;
        }
    }
    if group.end == highest {
        return;
    }
    if is_beside_change {
        while beside.is_empty() && group.slide_up(side) {
            beside.go_up(other);
        }
        return;
    }
    let first = highest.max((group.end - size).saturating_sub(1));
    let first = first.max(group.end.saturating_sub(FARTHEST));
    let mut best: Option<(usize, SplitScore)> = None;
    for end in first..=group.end {
        let score = SplitScore::at_lines(side, [end, end - size]);
        if best.is_none_or(|(_, known)| score.is_as_good_as(known)) {
            best = Some((end, score));
        }
    }
    while best.is_some_and(|(end, _)| group.end > end) && group.slide_up(side) {
        beside.go_up(other);
    }
}

/// How bad it is that a hunk begins and ends at certain lines.
#[derive(Clone, Copy, Default)]
struct SplitScore {
    indent: i32,
    penalty: i32,
}

impl SplitScore {
    fn at_lines(side: &DiffSide<'_>, lines: [usize; 2]) -> Self {
        let mut score = Self::default();
        lines.into_iter().for_each(|line| score.add_split(side, line));
        score
    }

    /// Adds what speaks against a border before a line.
    fn add_split(&mut self, side: &DiffSide<'_>, line: usize) {
        let indent = |at: usize| indent_of(side.text.line(at));
        let own = if line < side.len() { indent(line) } else { None };
        let (above, blank_above) = next_indent((0..line).rev().map(indent));
        let (below, blank_below) = next_indent((line + 1..side.len()).map(indent));
        if above.is_none() && blank_above == 0 {
            self.penalty += 1;
        }
        if line >= side.len() {
            self.penalty += 21;
        }
        let blank_below = if own.is_none() { 1 + blank_below } else { 0 };
        let blank = blank_above + blank_below;
        self.penalty += 6 * blank_below - 30 * blank;
        let indent = own.or(below);
        self.indent += indent.unwrap_or(-1);
        let (Some(indent), Some(above)) = (indent, above) else { return };
        let (plain, with_blank) = match indent.cmp(&above) {
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Greater => (-4, 10),
            std::cmp::Ordering::Less if below.is_some_and(|below| below > indent) => (24, 17),
            std::cmp::Ordering::Less => (23, 17),
        };
        self.penalty += if blank > 0 { with_blank } else { plain };
    }

    fn is_as_good_as(self, other: Self) -> bool {
        let deeper = self.indent.cmp(&other.indent) as i32;
        60 * deeper + self.penalty - other.penalty <= 0
    }
}

/// Returns the first indentation, and how many blank lines come before it.
fn next_indent(lines: impl Iterator<Item = Option<i32>>) -> (Option<i32>, i32) {
    const MOST_BLANK: i32 = 20;
    let mut blank = 0;
    for indent in lines {
        if indent.is_some() {
            return (indent, blank);
        }
        blank += 1;
        if blank == MOST_BLANK {
            return (Some(0), blank);
        }
    }
    (None, blank)
}

/// Returns how far a line is indented. `None` for a blank line.
fn indent_of(line: &[u8]) -> Option<i32> {
    const MOST: i32 = 200;
    let mut indent = 0;
    for byte in line {
        match byte {
            b' ' => indent += 1,
            b'\t' => indent += 8 - indent % 8,
            byte if is_space(*byte) => {}
            _ => return Some(indent),
        }
        if indent >= MOST {
            return Some(MOST);
        }
    }
    None
}
