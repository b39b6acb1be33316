//! What a change of one text into another did to each block: which earlier block it was, and which of its lines the
//! change brought.
//!
//! This is the ceiling of every claim. No record may claim a line that the difference of the two texts does not add, nor
//! a block none of whose own lines it adds, changes or takes out.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::matching;
use super::outline::{Against, Outline, own_tokens};
use crate::code::difference::{self, Change};
use crate::code::lines::{self, OwnLine};
use crate::code::{Block, Document, FileBlocks, LineRange, Places};

/// Two versions of a file, block by block.
pub struct Difference {
    before: Document,
    now: Document,
    old: Arc<FileBlocks>,
    new: Arc<FileBlocks>,
    /// For each block that stands, which it was.
    origins: Vec<Option<usize>>,
    against: Vec<Against>,
    lines: OnceCell<LineChanges>,
}

/// Where the lines of two texts differ. Numbers count from 1.
#[derive(Default)]
struct LineChanges {
    changes: Vec<Change>,
    /// Lines that stand now and did not.
    added: HashSet<u32>,
    /// Added lines whose text was also taken out in another place, as often or more often: they may only have moved.
    moved: HashSet<u32>,
    /// Lines that stood and do not.
    removed: HashSet<u32>,
}

impl LineChanges {
    fn between(before: &str, now: &str) -> Self {
        let changes = difference::changed_lines(before, now);
        let lines_of = |text| difference::lines(text).collect::<Vec<&str>>();
        let (then, stands) = (lines_of(before), lines_of(now));
        let mut lines = Self::default();
        // For each text of a line, how many more such lines the file has now. Two ways to compare the same files may
        // disagree about which line is new, but never about this number.
        let mut more: HashMap<&str, isize> = HashMap::new();
        for change in &changes {
            change.now.clone().for_each(|at| *more.entry(stands[at]).or_default() += 1);
            change.before.clone().for_each(|at| *more.entry(then[at]).or_default() -= 1);
            lines.added.extend(numbers(&change.now));
            lines.removed.extend(numbers(&change.before));
        }
        let has_moved = |number: &u32| more[stands[*number as usize - 1]] <= 0;
        lines.moved = lines.added.iter().copied().filter(has_moved).collect();
        Self { changes, ..lines }
    }
}

/// Whether something was taken out of a block that stands there: inside of it, or beside a line of its own without
/// anything put in its place. What follows the block may have been cut off it: a new heading ends a section.
fn takes_out_of(change: &Change, block: &Block, own: &[OwnLine]) -> bool {
    let (last, next) = (change.now.start as u32, change.now.end as u32 + 1);
    let holds = |line: u32| block.whole_lines.start() <= line && line <= block.whole_lines.end();
    let is_own = |line: u32| own.iter().any(|own| own.number == line);
    let is_inside = holds(last) && holds(next);
    is_inside || change.now.is_empty() && (is_own(last) || is_own(next))
}

fn numbers(places: &Range<usize>) -> impl Iterator<Item = u32> + use<> {
    places.clone().map(|at| at as u32 + 1)
}

impl Difference {
    /// Of a text before and the text now. Of a file that was not there, the text before is empty.
    pub fn new(before: &Document, now: &Document) -> Self {
        let (old, new) = (before.blocks(), now.blocks());
        let origins = matching::origins_in(before, now);
        let (then, rows) = (Outline::of(&old).rows, Outline::of(&new).rows);
        let against = |(at, origin): (usize, &Option<usize>)| match *origin {
            None => Against::New,
            Some(origin) if then[origin].text == rows[at].text => Against::Same,
            Some(origin) if own_tokens(&old.blocks[origin]) == own_tokens(&new.blocks[at]) => {
                Against::Reformatted
            }
            Some(_) => Against::Changed,
        };
        let against = origins.iter().enumerate().map(against).collect();
        let (before, now) = (before.clone(), now.clone());
        Self { before, now, old, new, origins, against, lines: OnceCell::new() }
    }

    /// How many blocks stand.
    pub fn len(&self) -> usize {
        self.against.len()
    }

    /// Whether no block stands.
    pub fn is_empty(&self) -> bool {
        self.against.is_empty()
    }

    /// How a block stands to what it was.
    pub fn against(&self, index: usize) -> Against {
        self.against[index]
    }

    /// Which block it was, by its index in the text before.
    pub fn was(&self, index: usize) -> Option<usize> {
        self.origins[index]
    }

    /// The outline of the text before.
    pub fn outline_before(&self) -> Outline {
        Outline::of(&self.old)
    }

    /// The block that it was.
    pub fn origin(&self, index: usize) -> Option<&Block> {
        self.origins[index].map(|origin| &self.old.blocks[origin])
    }

    /// The blocks that are gone.
    pub fn gone(&self) -> Vec<&Block> {
        let stands: HashSet<usize> = self.origins.iter().flatten().copied().collect();
        let all = self.old.blocks.iter().enumerate();
        all.filter(|(at, _)| !stands.contains(at)).map(|(_, block)| block).collect()
    }

    /// Whether the change touched a block: it is not as it was, and the difference adds one of its own lines, or takes
    /// one out. A container is not touched by what happens to the blocks inside it.
    pub fn touches(&self, index: usize) -> bool {
        if self.against[index] == Against::Same || self.new.blocks[index].broken {
            return false;
        }
        let lines = self.lines();
        let says = |line: &OwnLine| !line.is_blank();
        let own = lines::own(&self.now, &self.new.blocks[index]);
        let is_new = |line: &OwnLine| {
            lines.added.contains(&line.number) && !lines.moved.contains(&line.number)
        };
        if own.iter().filter(|line| says(line)).any(is_new) {
            return true;
        }
        // Something was taken out of it; where all of the origin was, what stands is made of lines that were not its own.
        let before = self.origin(index).map(|origin| lines::own(&self.before, origin));
        let said: Vec<OwnLine> = before.into_iter().flatten().filter(says).collect();
        let is_left = said.iter().any(|line| !lines.removed.contains(&line.number));
        let takes_out = |change: &Change| {
            let was_own = |line: &OwnLine| change.before.contains(&(line.number as usize - 1));
            said.iter().any(was_own) && takes_out_of(change, &self.new.blocks[index], &own)
        };
        is_left && lines.changes.iter().any(takes_out)
    }

    /// For each line that a block answers for, whether the change brought it.
    pub fn brought(&self, index: usize) -> Vec<bool> {
        let own = lines::own(&self.now, &self.new.blocks[index]);
        let lines = self.lines();
        let is_brought = |line: &OwnLine| {
            lines.added.contains(&line.number)
                && (line.common || !lines.moved.contains(&line.number))
        };
        let is_new = own.iter().zip(self.stood(index));
        is_new.map(|(line, stood)| !stood && is_brought(line)).collect()
    }

    /// From the first to the last line of a block that the change brought; where it only took lines out, the line
    /// behind them.
    pub fn changed(&self, index: usize) -> LineRange {
        let block = &self.new.blocks[index];
        let own = lines::own(&self.now, block).into_iter().map(|line| line.number);
        let brought = own.zip(self.brought(index)).filter(|(_, brought)| *brought);
        let brought: Vec<u32> = brought.map(|(number, _)| number).collect();
        if let (Some(first), Some(last)) = (brought.first(), brought.last()) {
            return LineRange::new(*first, *last).unwrap_or(block.lines);
        }
        let of_block = |change: &&Change| {
            let at = change.now.start as u32 + 1;
            block.whole_lines.start() <= at && at <= block.whole_lines.end() + 1
        };
        let at =
            self.lines().changes.iter().find(of_block).map(|change| change.now.start as u32 + 1);
        let at = at.map(|at| at.clamp(block.whole_lines.start(), block.whole_lines.end()));
        at.and_then(|at| LineRange::new(at, at)).unwrap_or(block.lines)
    }

    /// The line that stands where a block that is gone was, 1 for the first.
    pub fn place_of(&self, gone: &Block) -> u32 {
        let first = gone.lines.start() as usize - 1;
        let mut all = self.lines().changes.iter();
        let change = all.find(|change| change.before.start <= first && first < change.before.end);
        change.map_or(1, |change| change.now.start.max(1) as u32)
    }

    /// For each line that a block answers for, whether it was one of the block before the change.
    pub fn stood(&self, index: usize) -> Vec<bool> {
        let own = lines::own(&self.now, &self.new.blocks[index]);
        let before = self.origin(index).map(|origin| lines::own(&self.before, origin));
        let before: Vec<_> = before.unwrap_or_default().iter().map(|line| line.hash).collect();
        lines::matched_own(&before, &own).into_iter().map(|at| at.is_some()).collect()
    }

    fn lines(&self) -> &LineChanges {
        self.lines.get_or_init(|| LineChanges::between(&self.before.text(), &self.now.text()))
    }
}

/// The lines that all of several differences brought; of none, nothing is known.
pub(crate) fn brought_by_all(differences: &[Difference], index: usize) -> Option<Vec<bool>> {
    let mut all = differences.iter().map(|difference| difference.brought(index));
    let first = all.next()?;
    Some(all.fold(first, |brought, other| {
        brought.into_iter().zip(other).map(|(one, other)| one && other).collect()
    }))
}

/// The lines as the ledger keeps them; `None` where every line was brought.
pub(crate) fn places(brought: &[bool]) -> Option<Places> {
    let is_whole = brought.iter().all(|brought| *brought);
    (!is_whole).then(|| Places::of(brought))
}
