//! Aligns two versions of a file: finds for each block of the current version the block of the
//! earlier version that it was.
//!
//! 1. The two versions are aligned as sequences. Blocks with the same name and text in the same
//!    order are settled.
//! 2. For the remaining blocks, the pairs that may be one block are collected (`measure`).
//! 3. Each pair is measured once ([`Likeness`]).
//! 4. The rules ([`RULES`]) are applied in order. Of the pairs that fit a rule, a pair is accepted
//!    if it is better than every rival on either side. Rivals that fit equally well are ambiguous,
//!    except that pairs which are merely alike are rejected.

use std::collections::{BTreeSet, HashMap};

use super::item::ComparedBlock;
use super::likeness::{self, Likeness, Reach};
use super::measure::Measure;
use super::rules::{MARGIN, MatchRule, RULES};
use super::text_pair::FileTexts;
use crate::outline::Short;
use crate::{Rejection, Tier};
use code::difference;

/// If this many blocks or more fit equally well, their order does not decide which block is which.
const MAX_COPIES: usize = 8;

/// The input of an alignment.
pub(crate) struct Scene<'a> {
    /// The blocks of the earlier version.
    pub then: &'a [ComparedBlock<'a>],
    /// The blocks of the current version.
    pub now: &'a [ComparedBlock<'a>],
    /// Where the earlier blocks come from.
    pub reach: Reach,
    /// Both texts, if they can be read.
    pub texts: Option<&'a FileTexts>,
    /// Returns true if a current block (by index) is to be matched.
    pub is_open: &'a dyn Fn(usize) -> bool,
    /// Returns true if an earlier block and a current block may be a pair at all.
    pub admits: &'a dyn Fn(usize, usize) -> bool,
    /// Returns true if a current block is known to be a copy of another one.
    pub is_copy: &'a dyn Fn(usize) -> bool,
}

/// The result of an alignment.
#[derive(Debug)]
pub(crate) struct Alignment {
    pub fits: Vec<Fit>,
    /// For each earlier block, the index of the current block that it is, or of one that it may be
    /// if the result is ambiguous. `None` if there is none.
    pub(super) stands: Vec<Option<usize>>,
    /// The pairs that were measured because the sequences did not settle them, ordered by current
    /// block.
    compared: Vec<MeasuredPair>,
}

/// The result for one current block.
#[derive(Clone, Debug, Default)]
pub(crate) enum Fit {
    /// The block is not in the earlier version.
    #[default]
    New,
    /// The block is this earlier block.
    Is(Paired),
    /// These earlier blocks fit equally well.
    Ambiguous(Vec<usize>),
}

/// The earlier block that a current block is, and how it was found.
#[derive(Clone, Debug)]
pub(crate) struct Paired {
    pub then: usize,
    pub rule: &'static MatchRule,
    /// The measured likeness. `None` if the sequences settled the pair.
    pub likeness: Option<Likeness>,
}

/// An earlier block and a current block that were compared.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredPair {
    pub then: usize,
    pub now: usize,
    pub likeness: Likeness,
    /// The rule that accepted the pair, or why no rule did.
    pub outcome: Result<&'static MatchRule, Rejection>,
}

impl<'a> Scene<'a> {
    /// Creates a scene in which every pair is possible, no block is known to be a copy, and the
    /// texts are not known.
    pub(crate) fn with_all_pairs(
        then: &'a [ComparedBlock<'a>],
        now: &'a [ComparedBlock<'a>],
        reach: Reach,
    ) -> Self {
        let texts = None;
        let (is_open, admits, is_copy) = (&|_| true, &|_, _| true, &|_| false);
        Self { then, now, reach, texts, is_open, admits, is_copy }
    }

    /// Runs the steps that the module describes.
    pub(crate) fn align(&self) -> Alignment {
        let mut alignment = Alignment {
            fits: vec![Fit::New; self.now.len()],
            stands: vec![None; self.then.len()],
            compared: Vec::new(),
        };
        if self.reach != Reach::Elsewhere {
            self.pin(&mut alignment);
        }
        let pairs = Measure::new(self, &alignment).pairs();
        Assignment { scene: self, alignment: &mut alignment, pairs }.run();
        alignment
    }

    /// Step 1: settles blocks with the same name and text in the same order. Blocks without a name
    /// need only have the same text.
    fn pin(&self, alignment: &mut Alignment) {
        let key = |item: &ComparedBlock<'_>| match item.is_unnamed() {
            true => (item.row.text, Short::default()),
            false => (item.row.text, item.row.identity),
        };
        let places = |items: &[ComparedBlock<'_>], is_open: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..items.len()).filter(|at| items[*at].in_sequence && is_open(*at)).collect()
        };
        let (then, now) = (places(self.then, &|_| true), places(self.now, self.is_open));
        let keys = |items: &[ComparedBlock<'_>], places: &[usize]| -> Vec<_> {
            places.iter().map(|at| key(&items[*at])).collect()
        };
        let common = difference::common(&keys(self.then, &then), &keys(self.now, &now));
        for (old, new) in common {
            let (old, new) = (then[old], now[new]);
            if (self.admits)(old, new) {
                alignment.settle(old, new, &RULES[0], None);
            }
        }
        self.pin_aside(alignment, key);
    }

    /// Settles earlier blocks whose position in the sequence is not known, if their name and text
    /// occur exactly once in the current version. Removed blocks are left out.
    fn pin_aside(
        &self,
        alignment: &mut Alignment,
        key: impl Fn(&ComparedBlock<'_>) -> (Short, Short),
    ) {
        let is_aside = |old: &usize| !self.then[*old].in_sequence && !self.then[*old].had_gone;
        let aside: Vec<usize> = (0..self.then.len()).filter(is_aside).collect();
        if aside.is_empty() {
            return;
        }
        let mut by_key: HashMap<(Short, Short), Vec<usize>> = HashMap::new();
        for new in (0..self.now.len()).filter(|new| (self.is_open)(*new)) {
            by_key.entry(key(&self.now[new])).or_default().push(new);
        }
        for old in aside {
            if let Some([new]) = by_key.get(&key(&self.then[old])).map(Vec::as_slice)
                && alignment.is_open(old, *new)
                && (self.admits)(old, *new)
            {
                alignment.settle(old, *new, &RULES[0], None);
            }
        }
    }
}

impl Alignment {
    fn settle(
        &mut self,
        then: usize,
        now: usize,
        rule: &'static MatchRule,
        likeness: Option<Likeness>,
    ) {
        self.fits[now] = Fit::Is(Paired { then, rule, likeness });
        self.stands[then] = Some(now);
    }

    /// Returns the pairs that were measured for a current block.
    pub(super) fn compared(&self, now: usize) -> &[MeasuredPair] {
        let from = self.compared.partition_point(|pair| pair.now < now);
        let to = self.compared.partition_point(|pair| pair.now <= now);
        &self.compared[from..to]
    }

    /// Returns the earlier block that a current block is, if there is exactly one.
    pub(crate) fn earlier_block(&self, now: usize) -> Option<usize> {
        match self.fits.get(now)? {
            Fit::Is(paired) => Some(paired.then),
            _ => None,
        }
    }

    fn is_open(&self, then: usize, now: usize) -> bool {
        self.stands[then].is_none() && matches!(self.fits[now], Fit::New)
    }
}

/// Step 4: assigns the measured pairs, rule by rule.
struct Assignment<'a, 'b> {
    scene: &'b Scene<'a>,
    alignment: &'b mut Alignment,
    pairs: Vec<MeasuredPair>,
}

impl Assignment<'_, '_> {
    fn run(mut self) {
        for rule in RULES {
            self.apply(rule);
        }
        self.pairs.sort_by_key(|pair| (pair.now, pair.then));
        self.alignment.compared = self.pairs;
    }

    fn apply(&mut self, rule: &'static MatchRule) {
        let mut fitting: Vec<(f32, usize)> = Vec::new();
        for (at, pair) in self.pairs.iter().enumerate() {
            if self.alignment.is_open(pair.then, pair.now) && (rule.fits)(&pair.likeness) {
                fitting.push(((rule.score)(&pair.likeness), at));
            }
        }
        fitting.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let rivals = Rivals::from_measures(&fitting, &self.pairs);
        for (score, at) in &fitting {
            let (old, new) = (self.pairs[*at].then, self.pairs[*at].now);
            if !self.alignment.is_open(old, new) {
                continue;
            }
            let tied = self.tied(&rivals, *score, *at);
            if tied.is_empty() {
                let likeness = Some(self.pairs[*at].likeness);
                self.alignment.settle(old, new, rule, likeness);
                self.pairs[*at].outcome = Ok(rule);
            } else if rule.tier != Tier::Likeness {
                // All rivals have in common what the rule asks for, such as the name, so the block
                // may be any of them. Pairs that are merely alike are rejected instead.
                self.ambiguous(tied);
            } else {
                self.pairs[*at].outcome = Err(Rejection::Rivals);
            }
        }
    }

    /// Returns this pair and the open pairs that share a block with it and fit about as well.
    /// Returns nothing if there are none, or if the order of the blocks decides.
    fn tied(&self, rivals: &Rivals, score: f32, at: usize) -> Vec<usize> {
        let pair = &self.pairs[at];
        let (of_then, of_now) = (rivals.of_then(pair.then), rivals.of_now(pair.now));
        let open = |other: &&(f32, usize)| {
            let other = &self.pairs[other.1];
            self.alignment.is_open(other.then, other.now)
        };
        let worth = |score: f32| (score - likeness::ENOUGH).max(0.0);
        // The list is ordered best first, so the first remaining pair is the best one.
        let best = |rest: &[(f32, usize)], but: Shares<'_>| {
            let mut rest = rest.iter().filter(open).filter(|other| !but(&self.pairs[other.1]));
            rest.next().map_or(0.0, |(score, _)| worth(*score))
        };
        // A rival whose lines are gone does not compete with a pair whose lines are still there.
        let near = |other: &&(f32, usize)| {
            let is_left = self.pairs[other.1].likeness.lines_left;
            score - other.0 < MARGIN && (is_left || !pair.likeness.lines_left)
        };
        // This pair and the other pair share one block, so only one of them can be accepted. The
        // block that is left over then gets its best remaining pair. The two are tied if accepting
        // this pair is not clearly better in total. `theirs` are the pairs of the block that only
        // the other pair has, and `ours` those of the block that only this pair has.
        let is_tied =
            |other: f32, theirs: &[(f32, usize)], ours: &[(f32, usize)], shares: Shares<'_>| {
                let this = worth(score) + best(theirs, shares);
                let that = worth(other) + best(ours, shares);
                this - that < MARGIN
            };
        let same_then = of_then.iter().filter(open).filter(near).filter(|(other, rival)| {
            let new = self.pairs[*rival].now;
            let shares = |one: &MeasuredPair| one.then == pair.then;
            new != pair.now && is_tied(*other, rivals.of_now(new), of_now, &shares)
        });
        // Earlier blocks with the same record, or both without one, do not compete, because either
        // gives the same answer.
        let answer = |item: usize| self.scene.then[item].answer;
        let same_now = of_now.iter().filter(open).filter(near).filter(|(other, rival)| {
            let old = self.pairs[*rival].then;
            let shares = |one: &MeasuredPair| one.now == pair.now;
            old != pair.then
                && answer(old) != answer(pair.then)
                && is_tied(*other, rivals.of_then(old), of_then, &shares)
        });
        let mut tied: Vec<usize> = same_then.chain(same_now).map(|other| other.1).collect();
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
            self.alignment.is_open(other.then, other.now) && other.likeness.in_gap
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

    fn ambiguous(&mut self, tied: Vec<usize>) {
        let mut fitting: HashMap<usize, BTreeSet<usize>> = HashMap::new();
        for at in tied {
            self.pairs[at].outcome = Err(Rejection::Rivals);
            fitting.entry(self.pairs[at].now).or_default().insert(self.pairs[at].then);
        }
        for (new, old) in fitting {
            for then in &old {
                self.alignment.stands[*then] = Some(new);
            }
            self.alignment.fits[new] = Fit::Ambiguous(old.into_iter().collect());
        }
    }
}

/// Returns true if a pair contains the block that two rivals share.
type Shares<'a> = &'a dyn Fn(&MeasuredPair) -> bool;

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
