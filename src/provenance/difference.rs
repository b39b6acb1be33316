//! What a change of one text into another did to each block: which earlier block it was, and which of its lines the
//! change brought.
//!
//! This is the ceiling of every claim. No record may claim a line that the difference of the two texts does not add, nor
//! a block none of whose own lines it adds, changes or takes out.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use super::matching;
use super::outline::{Against, Outline, own_tokens};
use crate::code::lines::{self, OwnLine};
use crate::code::{Block, Document, FileBlocks, Places, difference};

/// Two versions of a file, block by block.
pub struct Difference {
    before: Document,
    now: Document,
    old: Arc<FileBlocks>,
    new: Arc<FileBlocks>,
    /// For each block that stands, which it was.
    origins: Vec<Option<usize>>,
    against: Vec<Against>,
    /// Lines, counted from 1, that stand now and did not, and that stood and do not.
    lines: OnceCell<(HashSet<u32>, HashSet<u32>)>,
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
        let (added, removed) = self.lines();
        let says = |line: &OwnLine| !line.is_blank();
        let own = lines::own(&self.now, &self.new.blocks[index]);
        if own.iter().filter(|line| says(line)).any(|line| added.contains(&line.number)) {
            return true;
        }
        // Something was taken out of it; where all of the origin was, what stands is made of lines that were not its own.
        let before = self.origin(index).map(|origin| lines::own(&self.before, origin));
        let said = before.iter().flatten().filter(|line| says(line));
        let (gone, left): (Vec<&OwnLine>, Vec<&OwnLine>) =
            said.partition(|line| removed.contains(&line.number));
        !gone.is_empty() && !left.is_empty()
    }

    /// For each line that a block answers for, whether the change brought it.
    pub fn brought(&self, index: usize) -> Vec<bool> {
        let own = lines::own(&self.now, &self.new.blocks[index]);
        let before = self.origin(index).map(|origin| lines::own(&self.before, origin));
        let before: Vec<_> = before.unwrap_or_default().iter().map(|line| line.hash).collect();
        let (added, _) = self.lines();
        let matched = lines::matched_own(&before, &own);
        let is_new = own.iter().zip(matched);
        is_new.map(|(line, at)| at.is_none() && added.contains(&line.number)).collect()
    }

    fn lines(&self) -> &(HashSet<u32>, HashSet<u32>) {
        self.lines.get_or_init(|| {
            let numbers = |places: std::ops::Range<usize>| places.map(|at| at as u32 + 1);
            let (mut added, mut removed) = (HashSet::new(), HashSet::new());
            for change in difference::changed_lines(&self.before.text(), &self.now.text()) {
                added.extend(numbers(change.now));
                removed.extend(numbers(change.before));
            }
            (added, removed)
        })
    }
}

/// The lines that all of several differences brought; of none, nothing is known.
pub fn brought_by_all(differences: &[Difference], index: usize) -> Option<Vec<bool>> {
    let mut all = differences.iter().map(|difference| difference.brought(index));
    let first = all.next()?;
    Some(all.fold(first, |brought, other| {
        brought.into_iter().zip(other).map(|(one, other)| one && other).collect()
    }))
}

/// The lines as the ledger keeps them; `None` where every line was brought.
pub fn places(brought: &[bool]) -> Option<Places> {
    let is_whole = brought.iter().all(|brought| *brought);
    (!is_whole).then(|| Places::of(brought))
}
