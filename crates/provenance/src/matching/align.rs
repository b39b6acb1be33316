//! Aligns two versions of a file: finds for each block of the current version the block of the
//! earlier version that it was.
//!
//! 1. The two versions are aligned as sequences. Blocks with the same name and text in the same
//!    order are settled.
//! 2. For the remaining blocks, the pairs that may be one block are collected (`measure`).
//! 3. Each pair is measured once ([`Likeness`]).
//! 4. The rules ([`RULES`]) are applied in order. Of the pairs that fit a rule, the best are accepted
//!    first. If an earlier block fits several current blocks equally well, these are ambiguous,
//!    except that pairs which are merely alike are rejected.

use std::collections::{BTreeSet, HashMap};

use super::item::ComparedBlock;
use super::likeness::{self, Likeness};
use super::measure::Measure;
use super::rules::{MARGIN, MatchRule, RULES};
use super::text_pair::FileTexts;
use code::difference;
use ledger::outline::Short;

/// If this many blocks or more fit equally well, their order does not decide which block is which.
const MAX_COPIES: usize = 8;

pub(super) struct Scene<'a> {
    pub then: &'a [ComparedBlock<'a>],
    pub now: &'a [ComparedBlock<'a>],
    pub texts: &'a FileTexts,
}

pub(super) struct Alignment {
    pub fits: Vec<Fit>,
    /// For each earlier block, the index of the current block that it is, or of one that it may be
    /// if the result is ambiguous. `None` if there is none.
    pub stands: Vec<Option<usize>>,
}

#[derive(Clone)]
pub(super) enum Fit {
    New,
    Is(usize),
    /// An earlier block may be this block or another one.
    Ambiguous,
}

pub(super) struct MeasuredPair {
    pub then: usize,
    pub now: usize,
    pub likeness: Likeness,
}

impl Scene<'_> {
    /// Runs the steps that the module describes. Returns for each current block the index of the
    /// earlier block that it is, if there is exactly one.
    pub(super) fn origins(&self) -> Vec<Option<usize>> {
        let mut alignment =
            Alignment { fits: vec![Fit::New; self.now.len()], stands: vec![None; self.then.len()] };
        self.pin_equal_blocks(&mut alignment);
        let pairs = Measure::new(self, &alignment).measured_pairs();
        let mut assignment = Assignment { alignment, pairs };
        RULES.iter().for_each(|rule| assignment.apply_rule(rule));
        let origin = |fit: Fit| match fit {
            Fit::Is(then) => Some(then),
            Fit::New | Fit::Ambiguous => None,
        };
        assignment.alignment.fits.into_iter().map(origin).collect()
    }

    /// Step 1: settles blocks with the same name and text in the same order. Blocks without a name
    /// need only have the same text.
    fn pin_equal_blocks(&self, alignment: &mut Alignment) {
        let key = |item: &ComparedBlock<'_>| match item.is_unnamed() {
            true => (item.row.text, Short::default()),
            false => (item.row.text, item.row.identity),
        };
        let keys = |items: &[ComparedBlock<'_>]| items.iter().map(key).collect::<Vec<_>>();
        for (old, new) in difference::common(&keys(self.then), &keys(self.now)) {
            alignment.settle(old, new);
        }
    }
}

impl Alignment {
    fn settle(&mut self, then: usize, now: usize) {
        self.fits[now] = Fit::Is(then);
        self.stands[then] = Some(now);
    }

    fn is_open(&self, pair: &MeasuredPair) -> bool {
        self.stands[pair.then].is_none() && matches!(self.fits[pair.now], Fit::New)
    }
}

pub(super) fn best_first(a: &(f32, usize), b: &(f32, usize)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Step 4: assigns the measured pairs, rule by rule.
struct Assignment {
    alignment: Alignment,
    pairs: Vec<MeasuredPair>,
}

impl Assignment {
    fn apply_rule(&mut self, rule: &MatchRule) {
        let mut fitting: Vec<(f32, usize)> = Vec::new();
        for (at, pair) in self.pairs.iter().enumerate() {
            if self.alignment.is_open(pair) && (rule.fits)(&pair.likeness) {
                fitting.push(((rule.score)(&pair.likeness), at));
            }
        }
        fitting.sort_by(best_first);
        let rivals = Rivals::from_measures(&fitting, &self.pairs);
        for (score, at) in &fitting {
            let pair = &self.pairs[*at];
            if !self.alignment.is_open(pair) {
                continue;
            }
            let tied = self.tied_pairs(&rivals, *score, *at);
            if tied.is_empty() {
                self.alignment.settle(pair.then, pair.now);
            } else if rule.ties_are_final {
                self.mark_ambiguous(&tied);
            }
        }
    }

    /// Returns this pair and the open pairs that have the same earlier block and fit about as well.
    /// Returns nothing if there are none, or if the order of the blocks decides.
    ///
    /// Pairs that have the same current block are no rivals: of several earlier blocks, the current
    /// block gets the one that fits best, or the first of those.
    fn tied_pairs(&self, rivals: &Rivals, score: f32, at: usize) -> Vec<usize> {
        let pair = &self.pairs[at];
        let open = |other: &&(f32, usize)| self.alignment.is_open(&self.pairs[other.1]);
        let worth = |score: f32| (score - likeness::ENOUGH).max(0.0);
        // The list is ordered best first, so the first remaining pair is the best one.
        let best_other = |new: usize| {
            let open = rivals.of_now(new).iter().filter(open);
            let mut rest = open.filter(|other| self.pairs[other.1].then != pair.then);
            rest.next().map_or(0.0, |(score, _)| worth(*score))
        };
        // A rival whose lines are gone does not compete with a pair whose lines are still there.
        let near = |other: &&(f32, usize)| {
            let is_left = self.pairs[other.1].likeness.lines_left;
            score - other.0 < MARGIN && (is_left || !pair.likeness.lines_left)
        };
        // Only one of this pair and the other pair can be accepted. The current block that is left
        // over then gets its best remaining pair. The two are tied if accepting this pair is not
        // clearly better in total.
        let is_tied = |(other, rival): &&(f32, usize)| {
            let new = self.pairs[*rival].now;
            let this = worth(score) + best_other(new);
            let that = worth(*other) + best_other(pair.now);
            new != pair.now && this - that < MARGIN
        };
        let rest = rivals.of_then(pair.then).iter().filter(open).filter(near);
        let mut tied: Vec<usize> = rest.filter(is_tied).map(|other| other.1).collect();
        // The pair can be accepted if no rival is left, or if the order of the blocks decides.
        if tied.is_empty() || self.has_order(rivals, at) {
            return Vec::new();
        }
        tied.push(at);
        tied
    }

    /// Returns true if the order of the blocks decides for this pair: between the same unchanged
    /// neighbours, as many current blocks as earlier ones fit the rule, and both blocks of the pair
    /// have the same position among them.
    fn has_order(&self, rivals: &Rivals, at: usize) -> bool {
        let pair = &self.pairs[at];
        let open = |other: &&(f32, usize)| {
            let other = &self.pairs[other.1];
            self.alignment.is_open(other) && other.likeness.in_gap
        };
        let open_blocks = |rivals: &[(f32, usize)], block: fn(&MeasuredPair) -> usize| {
            let open = rivals.iter().filter(open);
            open.map(|other| block(&self.pairs[other.1])).collect::<BTreeSet<usize>>()
        };
        let then = open_blocks(rivals.of_now(pair.now), |one| one.then);
        let now = open_blocks(rivals.of_then(pair.then), |one| one.now);
        then.len() == now.len()
            && then.len() < MAX_COPIES
            && then.iter().position(|old| *old == pair.then)
                == now.iter().position(|new| *new == pair.now)
            && then.contains(&pair.then)
    }

    fn mark_ambiguous(&mut self, tied: &[usize]) {
        for at in tied {
            let pair = &self.pairs[*at];
            self.alignment.stands[pair.then] = Some(pair.now);
            self.alignment.fits[pair.now] = Fit::Ambiguous;
        }
    }
}

/// The pairs that fit a rule, grouped by each of their blocks. Each list holds score and pair
/// index, best first.
#[derive(Default)]
struct Rivals {
    of_then: HashMap<usize, Vec<(f32, usize)>>,
    of_now: HashMap<usize, Vec<(f32, usize)>>,
}

impl Rivals {
    fn from_measures(best_first: &[(f32, usize)], pairs: &[MeasuredPair]) -> Self {
        let mut rivals = Self::default();
        for (score, at) in best_first {
            let pair = &pairs[*at];
            rivals.of_then.entry(pair.then).or_default().push((*score, *at));
            rivals.of_now.entry(pair.now).or_default().push((*score, *at));
        }
        rivals
    }

    fn of_then(&self, then: usize) -> &[(f32, usize)] {
        self.of_then.get(&then).map(Vec::as_slice).unwrap_or_default()
    }

    fn of_now(&self, now: usize) -> &[(f32, usize)] {
        self.of_now.get(&now).map(Vec::as_slice).unwrap_or_default()
    }
}
