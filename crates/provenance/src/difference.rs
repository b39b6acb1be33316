//! Compares two texts of a file block by block: which earlier block each block was, and which of
//! its lines the change added.
//!
//! This is the upper limit of every claim. No record may claim a line that the difference of the
//! two texts does not add, or a block of whose own lines none was added, changed or removed.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::matching;
use code::difference::{self, ChangedRange};
use code::lines::{self, OwnLine};
use code::{Block, Document, FileBlocks, LineRange};
use ledger::outline::{Against, Outline};

pub struct Difference {
    before: Document,
    now: Document,
    pub old: Arc<FileBlocks>,
    new: Arc<FileBlocks>,
    /// For each new block, the index of the old block that it was. `None` if the block is new.
    pub origins: Vec<Option<usize>>,
    pub against: Vec<Against>,
    lines: OnceCell<LineChanges>,
}

/// The lines that differ between two texts. Line numbers start at 1.
#[derive(Default)]
struct LineChanges {
    changes: Vec<ChangedRange>,
    added: HashSet<u32>,
    /// Added lines whose text was removed elsewhere at least as often. They may only have moved.
    moved: HashSet<u32>,
    removed: HashSet<u32>,
}

impl LineChanges {
    fn between_texts(before: &str, now: &str) -> Self {
        let changes = difference::changed_lines(before, now);
        let lines_of = |text| difference::lines(text).collect::<Vec<&str>>();
        let (old, new) = (lines_of(before), lines_of(now));
        let mut lines = Self::default();
        // For each line text, how many more such lines the new file has. Two diffs of the same
        // files may disagree about which line is new, but never about this number.
        let mut more: HashMap<&str, isize> = HashMap::new();
        for change in &changes {
            change.now.clone().for_each(|at| *more.entry(new[at]).or_default() += 1);
            change.before.clone().for_each(|at| *more.entry(old[at]).or_default() -= 1);
            lines.added.extend(numbers(&change.now));
            lines.removed.extend(numbers(&change.before));
        }
        let has_moved = |number: &u32| more[new[*number as usize - 1]] <= 0;
        lines.moved = lines.added.iter().copied().filter(has_moved).collect();
        Self { changes, ..lines }
    }
}

/// Returns true if a change removed something from a block: either inside the block, or next to one
/// of its own lines. A new heading next to it ends the section before it, and removes nothing if it
/// takes over lines of that section. `is_whole` says whether the block kept all lines that stayed.
fn takes_out_of(change: &ChangedRange, block: &Block, own: &[OwnLine], is_whole: bool) -> bool {
    let (last, next) = (change.now.start as u32, change.now.end as u32 + 1);
    let holds = |line: u32| block.whole_lines.contains(line);
    let is_own = |line: u32| own.iter().any(|own| own.number == line);
    let is_inside = holds(last) && holds(next);
    is_inside || (change.now.is_empty() || is_whole) && (is_own(last) || is_own(next))
}

fn numbers(places: &Range<usize>) -> impl Iterator<Item = u32> + use<> {
    places.clone().map(|at| at as u32 + 1)
}

impl Difference {
    /// Compares the old text with the new one. For a new file, `before` is an empty document.
    pub fn new(before: &Document, now: &Document) -> Self {
        let (old, new) = (before.blocks(), now.blocks());
        let origins = matching::origins_in(before, now);
        let (then, rows) = (Outline::from_blocks(&old).rows, Outline::from_blocks(&new).rows);
        let has_same_tokens =
            |was: &Block, is: &Block| was.fingerprint.own_tokens() == is.fingerprint.own_tokens();
        let against = |(at, origin): (usize, &Option<usize>)| match *origin {
            None => Against::New,
            Some(origin) if then[origin].text == rows[at].text => Against::Same,
            Some(origin) if has_same_tokens(&old.blocks[origin], &new.blocks[at]) => {
                Against::Reformatted
            }
            Some(_) => Against::Changed,
        };
        let against = origins.iter().enumerate().map(against).collect();
        let (before, now) = (before.clone(), now.clone());
        Self { before, now, old, new, origins, against, lines: OnceCell::new() }
    }

    /// Returns the earlier block, or `None` if the block is new.
    pub fn origin(&self, index: usize) -> Option<&Block> {
        self.origins[index].map(|origin| &self.old.blocks[origin])
    }

    /// Returns the two texts: the old one and the new one.
    pub fn documents(&self) -> [&Document; 2] {
        [&self.before, &self.now]
    }

    pub fn text_before(&self) -> String {
        self.before.text()
    }

    pub fn blocks_now(&self) -> &FileBlocks {
        &self.new
    }

    /// Returns the numbers of the own lines of an earlier block.
    pub fn own_lines_of_former(&self, block: &Block) -> Vec<u32> {
        lines::own_lines(&self.before, block).iter().map(|line| line.number).collect()
    }

    /// Returns the innermost earlier block with a line of the earlier text, and the index of the
    /// block that it became.
    pub fn former_block_at(&self, line: u32) -> Option<(&Block, Option<usize>)> {
        let blocks = self.old.blocks.iter().enumerate();
        let mut holding = blocks.filter(|(_, block)| block.whole_lines.contains(line));
        let (at, block) = holding.next_back()?;
        Some((block, self.origins.iter().position(|origin| *origin == Some(at))))
    }

    pub fn removed_blocks(&self) -> Vec<&Block> {
        let stands: HashSet<usize> = self.origins.iter().flatten().copied().collect();
        let all = self.old.blocks.iter().enumerate();
        all.filter(|(at, _)| !stands.contains(at)).map(|(_, block)| block).collect()
    }

    /// Returns true if the change touched a block: its text differs, and the difference adds or
    /// removes at least one of its own lines. Changes to the blocks inside a container do not touch
    /// the container.
    pub fn touches(&self, index: usize) -> bool {
        if self.against[index] == Against::Same || self.new.blocks[index].broken {
            return false;
        }
        let lines = self.lines();
        let has_text = |line: &OwnLine| !line.is_blank();
        let own = self.own_lines(index);
        let is_new = |line: &OwnLine| {
            lines.added.contains(&line.number) && !lines.moved.contains(&line.number)
        };
        if own.iter().filter(|line| has_text(line)).any(is_new) {
            return true;
        }
        // No own line is new, so the change touched the block only if it removed something. If all
        // lines of the earlier block were removed, this block consists of lines that were not its
        // own before.
        let own_before = self.own_lines_before(index).into_iter().filter(has_text);
        let (removed, left): (Vec<OwnLine>, Vec<OwnLine>) =
            own_before.partition(|line| lines.removed.contains(&line.number));
        let stood = own.iter().filter(|line| has_text(line) && !lines.added.contains(&line.number));
        let is_whole = left.len() <= stood.count();
        let takes_out = |change: &ChangedRange| {
            let was_own = |line: &OwnLine| change.before.contains(&(line.number as usize - 1));
            let block = &self.new.blocks[index];
            removed.iter().any(was_own) && takes_out_of(change, block, &own, is_whole)
        };
        !left.is_empty() && lines.changes.iter().any(takes_out)
    }

    /// For each own line of a block, returns whether the change added it.
    fn added_lines(&self, index: usize) -> Vec<bool> {
        let (own, lines) = (self.own_lines(index), self.lines());
        let is_brought = |line: &OwnLine| {
            lines.added.contains(&line.number)
                && (line.common || !lines.moved.contains(&line.number))
        };
        let is_new = own.iter().zip(self.lines_from_before(index));
        is_new.map(|(line, stood)| !stood && is_brought(line)).collect()
    }

    /// Returns the range from the first to the last line that the change added to a block. If the
    /// change only removed lines, returns the line after the removed ones.
    pub fn changed(&self, index: usize) -> LineRange {
        let block = &self.new.blocks[index];
        let own = self.own_lines(index).into_iter().zip(self.added_lines(index));
        let brought: Vec<u32> =
            own.filter(|(_, brought)| *brought).map(|(line, _)| line.number).collect();
        if let (Some(first), Some(last)) = (brought.first(), brought.last()) {
            return LineRange::new(*first, *last).unwrap_or(block.lines);
        }
        let (first, last) = (block.whole_lines.start(), block.whole_lines.end());
        let mut places = self.lines().changes.iter().map(|change| change.now.start as u32 + 1);
        let place = places.find(|at| first <= *at && *at <= last + 1);
        let at = place.map(|at| at.clamp(first, last));
        at.and_then(|at| LineRange::new(at, at)).unwrap_or(block.lines)
    }

    /// Returns the line of the new text at the position of a removed block, starting at 1.
    pub fn place_of(&self, gone: &Block) -> u32 {
        let first = gone.lines.start() as usize - 1;
        let mut all = self.lines().changes.iter();
        let change = all.find(|change| change.before.start <= first && first < change.before.end);
        change.map_or(1, |change| change.now.start.max(1) as u32)
    }

    /// For each own line of a block, returns whether the block had that line before the change.
    pub(crate) fn lines_from_before(&self, index: usize) -> Vec<bool> {
        let before: Vec<_> = self.own_lines_before(index).iter().map(|line| line.hash).collect();
        let matched = lines::matched_own_lines(&before, &self.own_lines(index));
        matched.into_iter().map(|at| at.is_some()).collect()
    }

    fn own_lines(&self, index: usize) -> Vec<OwnLine> {
        lines::own_lines(&self.now, &self.new.blocks[index])
    }

    fn own_lines_before(&self, index: usize) -> Vec<OwnLine> {
        let origin = self.origin(index);
        origin.map(|origin| lines::own_lines(&self.before, origin)).unwrap_or_default()
    }

    fn lines(&self) -> &LineChanges {
        self.lines.get_or_init(|| LineChanges::between_texts(&self.before.text(), &self.now.text()))
    }
}

/// For each own line of a block, returns whether all of several differences added it. Returns
/// `None` if there are no differences.
pub fn lines_added_by_all(differences: &[Difference], index: usize) -> Option<Vec<bool>> {
    let mut all = differences.iter().map(|difference| difference.added_lines(index));
    let first = all.next()?;
    Some(all.fold(first, |brought, other| {
        brought.into_iter().zip(other).map(|(one, other)| one && other).collect()
    }))
}
