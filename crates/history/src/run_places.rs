//! Where the runs of evidence are in the text of a commit.
//!
//! A run is only where the commit brought lines with its text. The runs of a section are counted in
//! one text. If all of them stand at their numbers, it is this one. Otherwise commits were united or
//! put on others, and a run is where its text is. Two people may have written equal lines, so a place
//! counts only if something besides the text of one line tells it from others:
//!
//! - the text, if at least four of its lines say something and it is in no other place. Fewer, such as
//!   `if err != nil {` and `return err`, stand in many functions;
//! - the runs around it, if they have moved by the same number of lines;
//! - the block that the section names for it.
//!
//! If there are several such places, the run claims nothing.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use code::saying_lines::says_something;
use code::{Block, BlockKind, LineRange};
use ledger::{BlockRecord, EqualPlaces, HashedRun, LineRuns, TextId};

use crate::moves::{ParsedBlocks, parsed};
use crate::text::{LineText, language_of};

/// The smallest number of lines of a text that say something and that two people do not write by
/// chance.
const MIN_LINES: usize = 4;
/// If as many runs and places with one text would have to be compared, none of them counts.
const MAX_PAIRS: usize = 64 * 1024;

#[derive(Clone, Copy)]
pub(crate) struct CountedRun<'a> {
    pub run: &'a HashedRun,
    /// The record that names it, as an index.
    pub entry: usize,
    /// The blocks that the record names with it.
    pub blocks: &'a [BlockRecord],
}

impl<'a> CountedRun<'a> {
    /// The blocks that the record names and that its change did not remove.
    fn left_blocks(&self) -> impl Iterator<Item = &'a BlockRecord> {
        self.blocks.iter().filter(|record| !record.deleted && record.block.is_some())
    }

    /// Returns true if the run stands at its numbers. Its text alone may do so by chance after a squash,
    /// in another function, so the name of its block has to be in the lines of the block, too.
    pub(crate) fn stands_in(&self, text: &LineText) -> bool {
        self.run.stands_in(text)
            && self.innermost(has_name).is_none_or(|block| has_name_in(block, text))
    }

    /// Returns the innermost of some blocks that had the lines when they were counted.
    fn innermost(&self, is_asked: impl Fn(&BlockRecord) -> bool) -> Option<&'a BlockRecord> {
        let has_it = |record: &&BlockRecord| {
            let lines = LineRange::new(record.start_line, record.end_line);
            lines.is_some_and(|lines| holds(lines, &self.run.lines)) && is_asked(record)
        };
        let blocks = self.left_blocks().filter(has_it);
        blocks.min_by_key(|record| record.end_line - record.start_line)
    }
}

pub(crate) struct RunPlaces<'a> {
    path: &'a str,
    text: &'a LineText,
    blocks: OnceCell<ParsedBlocks>,
}

/// The runs of one section that was made for another text, and what their texts alone say about their
/// places here.
struct MovedRuns<'a> {
    runs: &'a [CountedRun<'a>],
    twins: Vec<Twins>,
    /// For each run, its place in `twins`.
    twins_of: Vec<usize>,
    /// For each run, where it must be. This is known if its text stands at as many places as there are
    /// runs with that text.
    sole: Vec<Option<usize>>,
    /// For each run, how far the next such run before it and after it has moved.
    shifts_around: Vec<[Option<isize>; 2]>,
}

/// The runs with one text, as indices, and the places with that text.
struct Twins {
    runs: Vec<usize>,
    places: Vec<usize>,
}

impl<'a> MovedRuns<'a> {
    fn new(runs: &'a [CountedRun<'a>], text: &LineText, brought: &[usize]) -> Self {
        let equal = EqualPlaces::of_runs(runs.iter().map(|one| one.run), text, brought);
        let mut by_text: BTreeMap<(Reverse<usize>, TextId), Vec<usize>> = BTreeMap::new();
        for (at, one) in runs.iter().enumerate() {
            let key = (Reverse(one.run.lines.len()), one.run.text_id());
            by_text.entry(key).or_default().push(at);
        }
        let (mut twins, mut twins_of) = (Vec::new(), vec![0; runs.len()]);
        let mut sole = vec![None; runs.len()];
        // A longer run is found first, and its lines are in no place of a shorter one.
        let mut taken: HashSet<usize> = HashSet::new();
        for alike in by_text.into_values() {
            let (run, length) = (runs[alike[0]].run, runs[alike[0]].run.lines.len());
            let is_free = |start: &usize| (*start..start + length).all(|at| !taken.contains(&at));
            let places: Vec<usize> = equal.of_run(run).iter().copied().filter(is_free).collect();
            if places.len() == alike.len() {
                alike.iter().zip(&places).for_each(|(at, place)| sole[*at] = Some(*place));
                taken.extend(places.iter().flat_map(|start| *start..start + length));
            }
            alike.iter().for_each(|at| twins_of[*at] = twins.len());
            twins.push(Twins { runs: alike, places });
        }
        let shifts_around = vec![[Some(0), None]; runs.len()];
        let mut moved = Self { runs, twins, twins_of, sole, shifts_around };
        for at in 1..runs.len() {
            let (before, after) = (at - 1, runs.len() - at);
            moved.shifts_around[at][0] = moved.shift(before).or(moved.shifts_around[before][0]);
            moved.shifts_around[after - 1][1] =
                moved.shift(after).or(moved.shifts_around[after][1]);
        }
        moved
    }

    fn places(&self, at: usize) -> &[usize] {
        &self.twins[self.twins_of[at]].places
    }

    fn lines(&self, at: usize) -> &Range<usize> {
        &self.runs[at].run.lines
    }

    /// Returns how far a run has moved, if its text alone says it.
    fn shift(&self, at: usize) -> Option<isize> {
        Some(self.sole[at]?.cast_signed() - self.lines(at).start.cast_signed())
    }

    /// Returns the place to which a run has moved together with the runs around it: with one that it
    /// adjoins, or with those on both sides. Before the first run is the beginning of the text.
    fn place_by_neighbours(&self, at: usize) -> Option<usize> {
        let lines = self.lines(at);
        let adjoins = |other: &usize| {
            self.lines(*other).end == lines.start || lines.end == self.lines(*other).start
        };
        let neighbours = [at.checked_sub(1), Some(at + 1).filter(|next| *next < self.runs.len())];
        let adjoining = neighbours.into_iter().flatten().filter(adjoins);
        let [before, after] = self.shifts_around[at];
        let shift = adjoining
            .filter_map(|other| self.shift(other))
            .next()
            .or_else(|| before.filter(|_| before == after))?;
        let place = lines.start.checked_add_signed(shift)?;
        self.places(at).binary_search(&place).is_ok().then_some(place)
    }
}

impl<'a> RunPlaces<'a> {
    pub(crate) fn new(path: &'a str, text: &'a LineText) -> Self {
        Self { path, text, blocks: OnceCell::new() }
    }

    /// Returns true if all runs stand at their numbers, on lines that the commit brought.
    pub(crate) fn all_stand(&self, runs: &[CountedRun<'_>], brought: &[usize]) -> bool {
        let is_brought = |line: usize| brought.binary_search(&line).is_ok();
        let stands = |one: &CountedRun<'_>| {
            one.run.lines.clone().all(is_brought) && one.stands_in(self.text)
        };
        runs.iter().all(stands)
    }

    /// Returns the lines of the runs of a section, each with the record that names it. `runs` are in
    /// the order of their numbers, and `brought` are lines in ascending order.
    pub(crate) fn lines_of_section(
        &self,
        runs: &[CountedRun<'_>],
        brought: &[usize],
    ) -> Vec<(usize, usize)> {
        let places = match self.all_stand(runs, brought) {
            true => self.places_of_standing(runs, brought),
            false => self.places_of_moved(&MovedRuns::new(runs, self.text, brought)),
        };
        let mut lines = Vec::new();
        for (one, place) in runs.iter().zip(places) {
            let Some(start) = place else { continue };
            lines.extend((start..start + one.run.lines.len()).map(|line| (line, one.entry)));
        }
        lines
    }

    /// Returns the places of runs that all stand at their numbers. One line may do so by chance after
    /// a squash, so if the commit brought an equal one that the section does not name, the block must be
    /// where the section says, too.
    fn places_of_standing(&self, runs: &[CountedRun<'_>], brought: &[usize]) -> Vec<Option<usize>> {
        let named: HashSet<usize> = runs.iter().flat_map(|one| one.run.lines.clone()).collect();
        let others: Vec<usize> = brought.iter().copied().filter(|at| !named.contains(at)).collect();
        let equal = EqualPlaces::of_runs(runs.iter().map(|one| one.run), self.text, &others);
        let is_told = |one: &CountedRun<'_>| {
            equal.of_run(one.run).is_empty()
                || self.saying_lines(one.run.lines.clone()) == 0
                || self.has_block_there(one)
        };
        runs.iter().map(|one| is_told(one).then_some(one.run.lines.start)).collect()
    }

    fn places_of_moved(&self, section: &MovedRuns<'_>) -> Vec<Option<usize>> {
        let by_text = |at: usize| {
            let start = section.sole[at]?;
            let lines = start..start + section.lines(at).len();
            (self.saying_lines(lines) >= MIN_LINES).then_some(start)
        };
        let place = |at: usize| section.place_by_neighbours(at).or_else(|| by_text(at));
        let mut places: Vec<Option<usize>> = (0..section.runs.len()).map(place).collect();
        for twins in &section.twins {
            let is_open = twins.runs.iter().any(|at| places[*at].is_none());
            if !is_open || twins.runs.len() * twins.places.len() > MAX_PAIRS {
                continue;
            }
            // The runs that may be in the same places.
            let mut rivals: HashMap<Vec<usize>, Vec<usize>> = HashMap::new();
            for at in &twins.runs {
                let mut in_block = twins.places.clone();
                in_block.retain(|place| self.is_in_named_block(&section.runs[*at], *place));
                rivals.entry(in_block).or_default().push(*at);
            }
            for (in_block, runs) in rivals {
                if in_block.len() == runs.len() {
                    for (at, place) in runs.into_iter().zip(in_block) {
                        places[at] = places[at].or(Some(place));
                    }
                }
            }
        }
        places
    }

    fn saying_lines(&self, lines: Range<usize>) -> usize {
        let language = language_of(self.path);
        lines.filter(|line| says_something(self.text.line(*line), language)).count()
    }

    /// Returns true if a place of a run is in the block that the record names for its lines, or
    /// outside of all blocks with a name if the lines were. If the record names no blocks, every place
    /// may be meant.
    fn is_in_named_block(&self, one: &CountedRun<'_>, place: usize) -> bool {
        if one.left_blocks().next().is_none() {
            return true;
        }
        let lines = place..place + one.run.lines.len();
        match (one.innermost(has_name), self.block_at(&lines)) {
            (None, None) => true,
            (Some(record), Some(block)) if holds(block.lines, &lines) => record.has_name_of(block),
            // A doc comment is not among the lines that the record has of its block.
            (_, Some(block)) if !holds(block.lines, &lines) => {
                one.left_blocks().any(|record| record.has_name_of(block))
            }
            _ => false,
        }
    }

    /// Returns true if the innermost block that the record names for a run is at its lines, too.
    fn has_block_there(&self, one: &CountedRun<'_>) -> bool {
        let Some(record) = one.innermost(|_| true) else { return true };
        let is_it = |block: &Block| {
            (block.lines.start(), block.lines.end()) == (record.start_line, record.end_line)
                && Some(block.identity.kind) == kind(record)
        };
        self.blocks().iter().any(is_it)
    }

    fn blocks(&self) -> &[Block] {
        let (_, blocks) = self.blocks.get_or_init(|| parsed(self.path, self.text));
        &blocks.blocks
    }

    /// Returns the innermost block with a name that has these lines.
    fn block_at(&self, lines: &Range<usize>) -> Option<&Block> {
        let named = self.blocks().iter().filter(|block| !block.identity.kind.is_unnamed());
        named.rev().find(|block| holds(block.whole_lines, lines))
    }
}

/// Returns the lines of runs of which no blocks are known.
pub(crate) fn lines_of_runs(runs: &LineRuns, text: &LineText, brought: &[usize]) -> Vec<usize> {
    let runs = runs.runs().iter().map(|run| CountedRun { run, entry: 0, blocks: &[] });
    let runs: Vec<CountedRun<'_>> = runs.collect();
    let lines = RunPlaces::new("", text).lines_of_section(&runs, brought);
    lines.into_iter().map(|(line, _)| line).collect()
}

fn holds(outer: LineRange, lines: &Range<usize>) -> bool {
    outer.start() as usize <= lines.start + 1 && lines.end <= outer.end() as usize
}

fn kind(record: &BlockRecord) -> Option<BlockKind> {
    record.block.as_ref().and_then(|name| BlockKind::parse(&name.kind))
}

/// Returns false if the lines of a block do not have its name. A name that is no plain word, such as that
/// of a trait's implementation, may be written otherwise.
fn has_name_in(record: &BlockRecord, text: &LineText) -> bool {
    let path = record.block.as_ref().map(|name| name.path.as_str()).unwrap_or_default();
    let name = path.rsplit('.').next().unwrap_or_default();
    let is_word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let lines = (record.start_line as usize).saturating_sub(1)..record.end_line as usize;
    !is_word || lines.end <= text.len() && String::from_utf8_lossy(text.lines(lines)).contains(name)
}

fn has_name(record: &BlockRecord) -> bool {
    kind(record).is_some_and(|kind| !kind.is_unnamed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::BlockName;

    /// Returns a text in Python: `f:` begins a function, `@os` is an import, and other words are calls.
    fn text(words: &str) -> LineText {
        let line = |word: &str| match (word.strip_suffix(':'), word.strip_prefix('@')) {
            (Some(name), _) => format!("def {name}(u):\n"),
            (_, Some(name)) => format!("import {name}\n"),
            _ => format!("    {word}(u)\n"),
        };
        let plain = words.replace(['+', '!'], "");
        LineText::new(plain.split_whitespace().map(line).collect::<String>().into())
    }

    fn marked_lines(words: &str, marks: &[char]) -> Vec<usize> {
        let words = words.split_whitespace().enumerate();
        words.filter(|(_, word)| word.starts_with(marks)).map(|(at, _)| at).collect()
    }

    /// Marks those lines of a text with a `!` that a section names. The section was made for
    /// another text, in which its lines are marked with a `+`. The lines that the commit brought are
    /// marked with a `+` or a `!`.
    fn told(made_for: &str, now: &str, names_blocks: bool) -> String {
        let (path, then, chosen) = ("a.py", text(made_for), marked_lines(made_for, &['+']));
        let runs = LineRuns::of_chosen(&then, |at| chosen.contains(&at));
        let (_, parsed) = parsed(path, &then);
        let record = |block: &Block| {
            let (kind, path) = (block.identity.kind.as_str().to_owned(), &block.identity.path);
            let block_name = BlockName { kind, path: path.clone(), language: None };
            let (start_line, end_line) = (block.lines.start(), block.lines.end());
            BlockRecord { start_line, end_line, block: Some(block_name), ..BlockRecord::default() }
        };
        let mut blocks: Vec<BlockRecord> = parsed.blocks.iter().map(record).collect();
        blocks.retain(|_| names_blocks);
        let runs = runs.runs().iter().map(|run| CountedRun { run, entry: 0, blocks: &blocks });
        let runs: Vec<CountedRun<'_>> = runs.collect();
        let (text, brought) = (text(now), marked_lines(now, &['+', '!']));
        let lines = RunPlaces::new(path, &text).lines_of_section(&runs, &brought);
        let words = now.split_whitespace().enumerate().map(|(at, word)| {
            let plain = word.trim_start_matches(['+', '!']);
            match (lines.iter().any(|(line, _)| *line == at), brought.contains(&at)) {
                (true, _) => format!("!{plain}"),
                (false, true) => format!("+{plain}"),
                (false, false) => plain.to_owned(),
            }
        });
        words.collect::<Vec<String>>().join(" ")
    }

    #[test]
    fn a_run_is_where_its_commit_brought_it_or_nowhere() {
        for (case, made_for, now) in [
            ("as sealed", "f: a +log b", "f: a !log b"),
            ("as sealed, beside an equal line of a person", "f: +log a +log b", "f: !log a !log b"),
            ("an equal line that nobody recorded", "f: log a +log b", "f: +log a !log b"),
            ("an equal line that was there before", "f: a +log b", "f: +x log a !log b"),
            ("an equal line at that number", "f: a +log b", "f: a log b !log c"),
            ("nothing is left", "f: a +log b", "f: a log b"),
            ("lines above", "f: a +log b", "+@os f: a !log b"),
            ("two equal lines", "f: a b +log c", "f: +log a b +log c"),
            (
                "two equal lines, one of them by chance at the number",
                "f: a b +log c",
                "f: +x a +log b +log c",
            ),
            (
                "an equal line in a function above, at the number",
                "f: a +log b",
                "+g: +log +log f: a +log b",
            ),
            ("the line went to another function", "f: a +log b g: c", "f: a b g: +log c"),
            ("the line went elsewhere in its function", "f: a +log b g: c", "f: !log a b g: c"),
            ("an equal line in another function", "f: a +log b g: c", "+@os f: a !log b g: +log c"),
            ("two functions have one each", "f: a +log b g: +log c", "+@os f: a !log b g: !log c"),
            ("several in one function", "f: +log a +log b +log", "+@os f: !log a !log b !log"),
            ("one of several was taken away", "f: +log a +log b +log", "+@os f: +log a b +log"),
            ("two lines in another function", "f: a +one +two b g: c", "f: a b g: +one +two c"),
            (
                "four lines in another function",
                "f: a +one +two +three +four b g: c",
                "f: a b g: !one !two !three !four c",
            ),
            ("a run is broken", "f: a +one +two b", "f: a +one x +two b"),
            ("half of a run was there before", "f: a +one +two b", "+@os f: a one +two b"),
            (
                "the runs on both sides have moved as far",
                "+@os f: a +log b +c",
                "+x !@os f: a !log b !c +log",
            ),
            ("a shorter run is in a longer one", "f: +log +x a +log b", "+@os f: !log !x a !log b"),
        ] {
            assert_eq!(told(made_for, now, true), now, "{case}");
        }
    }
}
