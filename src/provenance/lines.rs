//! Inside a block: which lines still are what was recorded, and which record of the block's history brought each.

use std::collections::HashSet;

use super::lineage::{self, Step};
use super::matching::Surroundings;
use super::{Content, Provenance};
use crate::code::lines::{self, LineHash, OwnLine};
use crate::ledger::{ClaimRef, Ledger};

/// How one line stands to the block's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// As recorded, white space at both ends aside: the record that brought it, of those that made the block what it was
    /// recorded as. `None` where no record says that it did.
    Recorded(Option<ClaimRef>),
    /// Not as it was, but all tokens are: by formatting, or a comment.
    Reformatted,
    /// Not as it was, but all that differs is names, changed throughout; or layout.
    Renamed,
    /// New or changed since.
    Changed,
}

/// How the lines of a block stand to its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StandingLines {
    /// One for each line that the block answers for.
    pub standing: Vec<Standing>,
    /// How many recorded lines are no longer there, with nothing in their place.
    pub gone: usize,
}

/// A block that has grown beyond this many lines is not compared line by line.
const MOST: usize = 2 * lines::MAX_LINES;

/// How far back records are compared: the squares of the lines of each pair together. Each is read whole from a ledger
/// that somebody else may have written; some hundreds of functions of ordinary length cost a hundredth of it.
const MOST_WORK: usize = 50_000_000;

/// How the lines of a block stand to the record it was found to come from; `None` where no record is named, or where
/// it has no line fingerprints and the text is not the same.
pub(crate) fn of(
    ledger: &Ledger,
    surroundings: &dyn Surroundings,
    found: &Provenance,
    own: &[OwnLine],
) -> Option<StandingLines> {
    let claim = found.claim?;
    let now: Vec<LineHash> = own.iter().map(|line| line.hash).collect();
    let same = found.content == Some(Content::Exact);
    if !same && own.len() > MOST {
        return None;
    }
    let common: HashSet<LineHash> =
        own.iter().filter(|line| line.common).map(|line| line.hash).collect();
    let otherwise = match found.content? {
        Content::Renamed => Standing::Renamed,
        Content::Modified if !found.only_inside => Standing::Changed,
        _ => Standing::Reformatted,
    };
    let mut history = lineage::of(ledger, surroundings, claim);
    let (recorded, matched) = if same {
        let matched = (0..now.len()).map(Some).collect();
        (now, matched)
    } else {
        // Of a text that no commit holds any more no lines are known; what was recorded before it may stand all the same.
        let known = |step: &Step| match step {
            Step::Recorded(at) => ledger.claim(*at).range().lines.is_some(),
            Step::Gap { .. } => false,
        };
        history.drain(..history.iter().position(known)?);
        let Some(Step::Recorded(at)) = history.first() else { return None };
        let recorded = ledger.claim(*at).range().lines.as_ref()?.hashes()?;
        let matched = lines::matched(&recorded, &now, |hash| common.contains(hash));
        (recorded, matched)
    };
    let gone = gone(recorded.len(), &matched, otherwise);
    let mut walk = LineHistory::new(matched);
    walk.along(ledger, history, recorded, &common);
    let standing = walk.found.iter().map(|at| at.map_or(otherwise, Standing::Recorded)).collect();
    let mut lines = StandingLines { standing, gone };
    lines.take_from_beside(ledger, surroundings, claim, (own, &common));
    Some(lines)
}

impl StandingLines {
    /// Whether all that stands there was recorded, though not at once, and nothing of it was taken out.
    pub(crate) fn are_recorded(&self) -> bool {
        self.gone == 0 && self.standing.iter().all(|line| matches!(line, Standing::Recorded(_)))
    }

    /// Names the lines that another branch brought to the block, and that a merge or a rebase has put into it.
    fn take_from_beside(
        &mut self,
        ledger: &Ledger,
        surroundings: &dyn Surroundings,
        claim: ClaimRef,
        (own, common): (&[OwnLine], &HashSet<LineHash>),
    ) {
        let is_open =
            |line: &Standing| matches!(line, Standing::Changed | Standing::Recorded(None));
        if !self.standing.iter().any(is_open) {
            return;
        }
        let now: Vec<LineHash> = own.iter().map(|line| line.hash).collect();
        for other in surroundings.trail(&ledger.claim(claim).file.relative_path).beside(claim) {
            let recorded = ledger.claim(other).range().lines.as_ref();
            let Some(recorded) = recorded.and_then(|lines| lines.hashes()) else { continue };
            let matched = lines::matched(&recorded, &now, |hash| common.contains(hash));
            let mut walk = LineHistory::new(matched);
            walk.along(ledger, lineage::of(ledger, surroundings, other), recorded, common);
            for (line, found) in self.standing.iter_mut().zip(walk.found) {
                if let (true, Some(Some(by))) = (is_open(line), found) {
                    *line = Standing::Recorded(Some(by));
                }
            }
        }
    }
}

/// How many recorded lines have nothing in their place, given which of them each line is. Where every token is still
/// there, a line that seems to be gone was joined to the one in its place.
fn gone(recorded: usize, matched: &[Option<usize>], otherwise: Standing) -> usize {
    let mut gone = 0;
    let (mut next, mut new) = (0, 0);
    for at in matched.iter().copied().chain([Some(recorded)]) {
        let Some(at) = at else {
            new += 1;
            continue;
        };
        gone += match otherwise {
            Standing::Reformatted | Standing::Renamed if new > 0 => 0,
            _ => (at - next).saturating_sub(new),
        };
        (next, new) = (at + 1, 0);
    }
    gone
}

/// A walk back through the history of a block, with the lines of it that still stand.
struct LineHistory {
    /// Which line of the record in hand each line is, as long as its origin is not found.
    at: Vec<Option<usize>>,
    /// What was found; `None` for a line that is not as recorded.
    found: Vec<Option<Option<ClaimRef>>>,
}

/// What is known of a line of the record in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brought {
    /// It stood there before.
    No,
    /// Nothing.
    Unknown,
}

impl LineHistory {
    fn new(at: Vec<Option<usize>>) -> Self {
        let found = vec![None; at.len()];
        Self { at, found }
    }

    fn is_done(&self) -> bool {
        self.at.iter().all(Option::is_none)
    }

    fn along(
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
            let brought = self.take_brought(ledger, claim, &recorded);
            if self.is_done() {
                return;
            }
            let mut gap = false;
            let earlier = steps.find_map(|step| {
                let known = match step {
                    Step::Recorded(at) => {
                        ledger.claim(at).range().lines.as_ref().map(|of| (at, of))
                    }
                    Step::Gap { .. } => None,
                };
                // What was recorded of a text that no commit holds any more is as good as not recorded.
                gap |= known.is_none();
                known
            });
            let Some((earlier, fingerprints)) = earlier else {
                let is_new = ledger.claim(claim).range().replaces.is_none();
                let origin = brought.where_not_before(claim).filter(|_| is_new && !gap);
                return self.settle_where(|_| Some(origin));
            };
            let before = fingerprints.hashes();
            work += before.as_ref().map_or(0, |before| (before.len() + recorded.len()).pow(2));
            let Some(before) = before.filter(|_| work <= MOST_WORK) else {
                return self.settle_where(|_| Some(None));
            };
            let back = lines::matched(&before, &recorded, |hash| common.contains(hash));
            self.step(&back, brought.where_not_before(claim).filter(|_| !gap));
            (claim, recorded) = (earlier, before);
        }
    }

    /// Settles the lines that the record itself says it brought; what it says of the others.
    fn take_brought(&mut self, ledger: &Ledger, claim: ClaimRef, recorded: &[LineHash]) -> Brought {
        let range = ledger.claim(claim).range();
        let brought = range.brought.as_ref().and_then(|places| places.among(recorded.len()));
        // The same text may be cut into other blocks by another version of this program.
        let fingerprints = range.lines.as_ref().and_then(|lines| lines.hashes());
        // Evidence of a commit that is not here has none; its text is this one, or nothing would be compared.
        let is_this = fingerprints.is_none_or(|lines| lines == recorded);
        let Some(brought) = brought.filter(|_| is_this) else {
            return Brought::Unknown;
        };
        self.settle_where(|line| brought[line].then_some(Some(claim)));
        Brought::No
    }

    /// One record back, given who brought what was not there yet.
    fn step(&mut self, back: &[Option<usize>], origin: Option<ClaimRef>) {
        self.settle_where(|line| back[line].is_none().then_some(origin));
        for at in &mut self.at {
            *at = at.and_then(|line| back[line]);
        }
    }

    /// Ends the search for the lines of which this tells an end; they are named by their place in the record in hand.
    fn settle_where(&mut self, end: impl Fn(usize) -> Option<Option<ClaimRef>>) {
        for (at, found) in self.at.iter_mut().zip(&mut self.found) {
            if let Some(origin) = at.and_then(&end) {
                (*at, *found) = (None, Some(origin));
            }
        }
    }
}

impl Brought {
    /// The record that brought a line which the record before it does not have; `None` where this record says that it
    /// did not bring the line.
    fn where_not_before(self, claim: ClaimRef) -> Option<ClaimRef> {
        (self == Self::Unknown).then_some(claim)
    }
}
