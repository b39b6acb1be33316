//! Compares the lines of a block with its record: which lines are still as recorded, and which
//! record in the block's history wrote each of them.

use std::collections::HashSet;

use super::lineage::{self, Step};
use super::matching::Surroundings;
use super::{Content, Provenance};
use code::lines::{self, LineHash, OwnLine};
use ledger::{ClaimRef, Ledger};

/// How one line of a block compares with the block's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStatus {
    /// The line is as recorded, ignoring white space at both ends. Holds the record that wrote it,
    /// one of those in the block's history. `None` if no record claims the line.
    Recorded(Option<ClaimRef>),
    /// The line differs, but the block's tokens are all the same: only formatting or comments
    /// changed.
    Reformatted,
    /// The line differs, but only in layout or in names that were changed throughout the block.
    Renamed,
    /// The line is new, or was changed after it was recorded.
    Changed,
}

/// The lines of a block, each compared with the block's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedLines {
    /// One entry for each own line of the block.
    pub standing: Vec<LineStatus>,
    /// How many recorded lines were removed without a replacement.
    pub gone: usize,
}

/// A changed block with more lines than this is not compared line by line.
const MAX_COMPARED_LINES: usize = 2 * lines::MAX_LINES;

/// The limit of work for the history of one block. Comparing two records costs the square of their
/// combined line count. A ledger may come from somebody else, so the work must be bounded. Some
/// hundreds of functions of ordinary length need a hundredth of this.
const MOST_WORK: usize = 50_000_000;

/// Compares the lines of a block with the record that it comes from. Returns `None` if there is no
/// such record, or if the record has no line hashes and the text differs.
pub fn compare_lines(
    ledger: &Ledger,
    surroundings: &dyn Surroundings,
    found: &Provenance,
    own: &[OwnLine],
) -> Option<ComparedLines> {
    let claim = found.claim?;
    let now: Vec<LineHash> = own.iter().map(|line| line.hash).collect();
    let same = found.content == Some(Content::Exact);
    if !same && own.len() > MAX_COMPARED_LINES {
        return None;
    }
    let common: HashSet<LineHash> =
        own.iter().filter(|line| line.common).map(|line| line.hash).collect();
    let otherwise = match found.content? {
        Content::Renamed => LineStatus::Renamed,
        Content::Modified if !found.only_inside => LineStatus::Changed,
        _ => LineStatus::Reformatted,
    };
    let mut history = lineage::history_of_claim(ledger, surroundings, claim);
    let (recorded, matched) = if same {
        let matched = (0..now.len()).map(Some).collect();
        (now.clone(), matched)
    } else {
        // Records of a text that is in no commit have no line hashes. Start with the newest record
        // that has some.
        let known = |step: &Step| match step {
            Step::Recorded(at) => ledger.claim(*at).full_block().lines.is_some(),
            Step::Gap { .. } => false,
        };
        history.drain(..history.iter().position(known)?);
        let Some(Step::Recorded(at)) = history.first() else { return None };
        let recorded = ledger.claim(*at).full_block().lines.as_ref()?.hashes()?;
        let matched = lines::matched_lines(&recorded, &now, |hash| common.contains(hash));
        (recorded, matched)
    };
    let gone = count_removed(recorded.len(), &matched, otherwise);
    let mut walk = LineHistory::new(matched);
    walk.follow(ledger, history, recorded, &common);
    let standing = walk.found.iter().map(|at| at.map_or(otherwise, LineStatus::Recorded)).collect();
    let mut lines = ComparedLines { standing, gone };
    lines.add_from_other_branches(ledger, surroundings, claim, (&now, &common));
    Some(lines)
}

impl ComparedLines {
    /// Returns true if every line is recorded and no recorded line was removed. The lines may come
    /// from several records.
    pub fn are_recorded(&self) -> bool {
        self.gone == 0 && self.standing.iter().all(|line| matches!(line, LineStatus::Recorded(_)))
    }

    /// Finds the records of lines that came from another branch through a merge or a rebase.
    fn add_from_other_branches(
        &mut self,
        ledger: &Ledger,
        surroundings: &dyn Surroundings,
        claim: ClaimRef,
        (now, common): (&[LineHash], &HashSet<LineHash>),
    ) {
        let is_open =
            |line: &LineStatus| matches!(line, LineStatus::Changed | LineStatus::Recorded(None));
        if !self.standing.iter().any(is_open) {
            return;
        }
        for other in surroundings
            .trail(&ledger.claim(claim).file.relative_path)
            .last_on_other_branches(claim)
        {
            let recorded = ledger.claim(other).full_block().lines.as_ref();
            let Some(recorded) = recorded.and_then(|lines| lines.hashes()) else { continue };
            let matched = lines::matched_lines(&recorded, now, |hash| common.contains(hash));
            let mut walk = LineHistory::new(matched);
            walk.follow(
                ledger,
                lineage::history_of_claim(ledger, surroundings, other),
                recorded,
                common,
            );
            for (line, found) in self.standing.iter_mut().zip(walk.found) {
                if let (true, Some(Some(by))) = (is_open(line), found) {
                    *line = LineStatus::Recorded(Some(by));
                }
            }
        }
    }
}

/// Counts the recorded lines that were removed without a replacement. `matched` is, for each
/// current line, the recorded line that it is. If all tokens are still there, a line that seems
/// removed was joined with the line in its place.
fn count_removed(recorded: usize, matched: &[Option<usize>], otherwise: LineStatus) -> usize {
    let mut gone = 0;
    let (mut next, mut new) = (0, 0);
    for at in matched.iter().copied().chain([Some(recorded)]) {
        let Some(at) = at else {
            new += 1;
            continue;
        };
        gone += match otherwise {
            LineStatus::Reformatted | LineStatus::Renamed if new > 0 => 0,
            _ => (at - next).saturating_sub(new),
        };
        (next, new) = (at + 1, 0);
    }
    gone
}

/// Walks back through the history of a block and finds the record that wrote each line.
struct LineHistory {
    /// For each line still searched for, its index in the current record of the walk. `None` once
    /// the line is settled.
    at: Vec<Option<usize>>,
    /// For each line, the result: the record that wrote it, or `Some(None)` if no record claims it.
    /// `None` for a line that is not as recorded.
    found: Vec<Option<Option<ClaimRef>>>,
}

impl LineHistory {
    fn new(at: Vec<Option<usize>>) -> Self {
        let found = vec![None; at.len()];
        Self { at, found }
    }

    fn is_done(&self) -> bool {
        self.at.iter().all(Option::is_none)
    }

    /// Follows `history`, whose first record has the lines `recorded`, until every line is settled.
    fn follow(
        &mut self,
        ledger: &Ledger,
        history: Vec<Step>,
        mut recorded: Vec<LineHash>,
        common: &HashSet<LineHash>,
    ) {
        let mut steps = history.into_iter();
        let Some(Step::Recorded(mut claim)) = steps.next() else { return };
        let mut work = 0;
        loop {
            let writer = self.settle_added(ledger, claim, &recorded);
            if self.is_done() {
                return;
            }
            let mut gap = false;
            let lines_of = |at: ClaimRef| Some((at, ledger.claim(at).full_block().lines.as_ref()?));
            let earlier = steps.find_map(|step| {
                let known = match step {
                    Step::Recorded(at) => lines_of(at),
                    Step::Gap { .. } => None,
                };
                // A record without line hashes, because no commit holds its text, counts as an
                // unrecorded change.
                gap |= known.is_none();
                known
            });
            let Some((earlier, fingerprints)) = earlier else {
                let is_new = ledger.claim(claim).full_block().replaces.is_none();
                let writer = writer.filter(|_| is_new && !gap);
                return self.settle_where(|_| Some(writer));
            };
            let before = fingerprints.hashes();
            work += before.as_ref().map_or(0, |before| (before.len() + recorded.len()).pow(2));
            let Some(before) = before.filter(|_| work <= MOST_WORK) else {
                return self.settle_where(|_| Some(None));
            };
            let back = lines::matched_lines(&before, &recorded, |hash| common.contains(hash));
            self.step(&back, writer.filter(|_| !gap));
            (claim, recorded) = (earlier, before);
        }
    }

    /// Settles the lines that this record says it added. If it says that, all other lines existed
    /// before it, and the result is `None`. If it does not say which lines it added, the result is
    /// the record itself: it wrote those lines that the record before it does not have.
    fn settle_added(
        &mut self,
        ledger: &Ledger,
        claim: ClaimRef,
        recorded: &[LineHash],
    ) -> Option<ClaimRef> {
        let range = ledger.claim(claim).full_block();
        let brought =
            range.brought.as_ref().and_then(|places| places.selected_among(recorded.len()));
        // Another version of this program may have divided the same text into other blocks.
        let fingerprints = range.lines.as_ref().and_then(|lines| lines.hashes());
        // Evidence of a commit that is missing here has no line hashes. Its text must be this one,
        // because otherwise the lines would not have been compared.
        let is_this = fingerprints.is_none_or(|lines| lines == recorded);
        let Some(brought) = brought.filter(|_| is_this) else {
            return Some(claim);
        };
        self.settle_where(|line| brought[line].then_some(Some(claim)));
        None
    }

    /// Goes back one record. Lines that the earlier record does not have are settled with `origin`.
    fn step(&mut self, back: &[Option<usize>], origin: Option<ClaimRef>) {
        self.settle_where(|line| back[line].is_none().then_some(origin));
        for at in &mut self.at {
            *at = at.and_then(|line| back[line]);
        }
    }

    /// Settles every line for which `end` returns a result. `end` gets the line's index in the
    /// current record.
    fn settle_where(&mut self, end: impl Fn(usize) -> Option<Option<ClaimRef>>) {
        for (at, found) in self.at.iter_mut().zip(&mut self.found) {
            if let Some(origin) = at.and_then(&end) {
                (*at, *found) = (None, Some(origin));
            }
        }
    }
}
