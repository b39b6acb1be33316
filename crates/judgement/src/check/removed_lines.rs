//! What the change of a file did to the text of its base: which lines are gone, which commit removed
//! each of them last, and which block lost it there.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use code::saying_lines::says_something;
use code::{Block, Document, FileBlocks};
use ground::RelativePath;
use ground::git::ObjectId;
use history::{GoneLine, LineText, RemovalStep, Removals, language_of, lines_in, new_lines};
use provenance::Difference;
use why::Workspace;

/// The block that lost a line, as it was before a step and after.
pub(super) struct ReducedBlock<'a> {
    pub step: &'a RemovalStep,
    pub before: &'a Block,
    /// The blocks after the step, and which of them it became. `None` if the step deleted it.
    pub now: Option<(&'a FileBlocks, usize)>,
}

pub(super) struct NetChange<'a> {
    ws: &'a Workspace,
    difference: &'a Difference,
    before: LineText,
    /// For each present line the line of the base that it was.
    stood: Vec<Option<usize>>,
    removals: Removals,
    /// For each step what it changed, if that was asked.
    differences: Vec<OnceCell<Option<Difference>>>,
    /// The texts that were parsed. One step often begins with the text that another one left.
    documents: RefCell<Vec<(LineText, Document)>>,
}

impl<'a> NetChange<'a> {
    /// Compares a text with the bases that have the file. `None` if none has. `commits` are those of
    /// the change.
    pub(crate) fn from_differences(
        ws: &'a Workspace,
        path: &RelativePath,
        differences: &'a [Difference],
        now: &LineText,
        commits: &HashSet<ObjectId>,
    ) -> Option<Self> {
        let mut former = differences.iter().filter(|former| !former.old.blocks.is_empty());
        let difference = former.next()?;
        let text_before = |former: &Difference| LineText::new(former.text_before().into_bytes());
        let before = text_before(difference);
        // A merge has removed what every parent has.
        let mut is_gone = new_lines(&[now], &before);
        for other in former {
            let is_missing = new_lines(&[&text_before(other)], &before);
            is_gone.iter_mut().zip(is_missing).for_each(|(gone, missing)| *gone &= !missing);
        }
        let gone = (0..before.len()).filter(|line| is_gone[*line]).collect();
        let stood = lines_in(&before, now);
        let git = ws.git().map(Arc::as_ref).zip(ws.tip());
        let removals = Removals::find(git, path, (&before, now), gone, commits);
        let differences = removals.steps.iter().map(|_| OnceCell::new()).collect();
        let [then, present] = difference.documents();
        let mut documents = vec![(before.clone(), then.clone()), (now.clone(), present.clone())];
        // A text that does not parse may show the blocks of an earlier one.
        documents.retain(|(_, it)| !it.blocks().blocks.iter().any(|block| block.broken));
        let documents = RefCell::new(documents);
        Some(Self { ws, difference, before, stood, removals, differences, documents })
    }

    /// Returns the lines that a block of the base had itself, counted from 0.
    fn own_lines(&self, block: &Block) -> HashSet<usize> {
        let own = self.difference.own_lines_of_former(block).into_iter();
        own.map(|number| number as usize - 1).collect()
    }

    /// Returns for each present line whether the base's state of a present block has it.
    pub(crate) fn lines_from_base(&self, at: usize) -> Vec<bool> {
        let own = self.difference.origin(at).map(|origin| self.own_lines(origin));
        let own = own.unwrap_or_default();
        let is_own = |stood: &Option<usize>| stood.is_some_and(|line| own.contains(&line));
        self.stood.iter().map(is_own).collect()
    }

    /// Returns for each present line whether the base has it at its place.
    pub(crate) fn standing_lines(&self) -> Vec<bool> {
        self.stood.iter().map(Option::is_some).collect()
    }

    /// Returns the lines that say something and that a present block has lost.
    pub(crate) fn lost_lines(&self, at: usize) -> Vec<GoneLine> {
        self.difference.origin(at).map(|origin| self.gone_lines_of(origin)).unwrap_or_default()
    }

    fn gone_lines_of(&self, block: &Block) -> Vec<GoneLine> {
        let (own, language) = (self.own_lines(block), self.difference.old.language);
        let is_its = |gone: &&GoneLine| {
            own.contains(&gone.line) && says_something(self.before.line(gone.line), language)
        };
        self.removals.gone.iter().filter(is_its).copied().collect()
    }

    /// Returns the lines of the base that were where a new line is now. Both are counted from 0.
    pub(crate) fn place_of(&self, new: usize) -> Range<usize> {
        let (above, below) = self.stood.split_at(new);
        let last = above.iter().rev().flatten().next();
        let next = below.iter().flatten().next().copied();
        last.map_or(0, |last| last + 1)..next.unwrap_or(self.before.len())
    }

    /// Returns the step that removed a line, if one is known.
    pub(crate) fn step_of(&self, gone: GoneLine) -> Option<&RemovalStep> {
        gone.removed.map(|(at, _)| &self.removals.steps[at])
    }

    /// Returns the steps that removed lines of a block of the base.
    pub(crate) fn steps_of(&self, block: &Block) -> impl Iterator<Item = &RemovalStep> {
        let steps: BTreeSet<usize> =
            self.gone_lines_of(block).iter().filter_map(|gone| Some(gone.removed?.0)).collect();
        steps.into_iter().map(|at| &self.removals.steps[at])
    }

    /// Returns the block that lost a line. `None` if it is not known who removed the line.
    pub(crate) fn reduced_block(&self, gone: GoneLine) -> Option<ReducedBlock<'_>> {
        let (at, line) = gone.removed?;
        let step = &self.removals.steps[at];
        let difference = if step.is_whole { self.difference } else { self.difference_of(at)? };
        let (before, now) = difference.former_block_at(u32::try_from(line + 1).ok()?)?;
        Some(ReducedBlock { step, before, now: now.map(|at| (difference.blocks_now(), at)) })
    }

    fn difference_of(&self, at: usize) -> Option<&Difference> {
        let compare = || {
            let step = &self.removals.steps[at];
            let document = |text: &LineText| self.document(&step.path, text);
            Some(Difference::new(&document(&step.before)?, &document(&step.now)?))
        };
        self.differences[at].get_or_init(compare).as_ref()
    }

    fn document(&self, path: &RelativePath, text: &LineText) -> Option<Document> {
        let language = language_of(path.as_str());
        let is_it = |(known, document): &&(LineText, Document)| {
            known == text && document.blocks().language == language
        };
        let known = self.documents.borrow().iter().find(is_it).map(|(_, found)| found.clone());
        known.or_else(|| {
            let document = self.ws.document(path, text.as_bytes()).ok()?;
            let mut documents = self.documents.borrow_mut();
            let document = match documents.last() {
                Some((_, similar)) => document.parsed_beside(similar),
                None => document,
            };
            documents.push((text.clone(), document.clone()));
            Some(document)
        })
    }

    /// Returns the newest step that deleted a block of the base.
    pub(crate) fn deletion_of(&self, block: &Block) -> Option<ReducedBlock<'_>> {
        let mut gone = self.gone_lines_of(block);
        gone.sort_by_key(|gone| gone.removed.map_or(usize::MAX, |(at, _)| at));
        let mut steps = gone.into_iter().filter_map(|gone| self.reduced_block(gone));
        steps.find(|reduced| reduced.now.is_none())
    }
}
