//! Which block of one version of a file is which of another.
//!
//! 1. The two versions are aligned as sequences; what has the same name and text in the same order is settled.
//! 2. Of what is left, pairs that may be one block are collected once (`measure`).
//! 3. Each pair is measured once ([`Likeness`]).
//! 4. The rules ([`RULES`]) are gone through in order; of the pairs that a rule admits, each is taken that is ahead of
//!    every rival on either side. Rivals that fit equally well are ambiguous.

use std::collections::{BTreeSet, HashMap};

use super::item::Item;
use super::likeness::{self, Likeness, Reach};
use super::measure::Measure;
use super::rules::{MARGIN, MIN_RENAMED_TOKENS, MatchRule, RULES};
use super::texts::FileTexts;
use crate::code::difference;
use crate::provenance::Rejection;
use crate::provenance::outline::Short;

/// Of so many equal blocks none is told from the others by what is around it.
const MAX_COPIES: usize = 8;

/// What is aligned.
pub(crate) struct Scene<'a> {
    /// The earlier blocks.
    pub(crate) then: &'a [Item<'a>],
    /// The blocks as they stand.
    pub(crate) now: &'a [Item<'a>],
    /// Where the earlier ones come from.
    pub(crate) reach: Reach,
    /// Both texts, where they can be read.
    pub(crate) texts: Option<&'a FileTexts>,
    /// Which of the blocks that stand are looked at.
    pub(crate) is_open: &'a dyn Fn(usize) -> bool,
    /// Whether a pair is possible at all.
    pub(crate) admits: &'a dyn Fn(usize, usize) -> bool,
    /// Whether a block that stands is known to be a copy of another one.
    pub(crate) is_copy: &'a dyn Fn(usize) -> bool,
}

/// What became of the alignment: one for each block that stands.
#[derive(Debug)]
pub(crate) struct Alignment {
    pub(crate) fits: Vec<Fit>,
    /// For each earlier block, where it stands, if that is settled.
    pub(super) stands: Vec<Option<usize>>,
    /// The pairs that the sequences did not settle, by the block that stands.
    compared: Vec<MeasuredPair>,
}

/// What an alignment says of a block that stands.
#[derive(Clone, Debug, Default)]
pub(crate) enum Fit {
    /// It is new.
    #[default]
    New,
    /// It is that earlier block.
    Is(Paired),
    /// Several fit equally well.
    Ambiguous(Vec<usize>),
}

/// An earlier block that was found again.
#[derive(Clone, Debug)]
pub(crate) struct Paired {
    pub(crate) then: usize,
    pub(crate) rule: &'static MatchRule,
    /// How the two were measured; `None` where the sequences told.
    pub(crate) likeness: Option<Likeness>,
}

/// A pair that was measured.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredPair {
    pub(crate) then: usize,
    pub(crate) now: usize,
    pub(crate) likeness: Likeness,
    /// The rule that took it, or why none did.
    pub(crate) outcome: Result<&'static MatchRule, Rejection>,
}

impl Scene<'_> {
    /// Aligns the two.
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

    /// Step 1: the same name and text, in the order of both.
    fn pin(&self, alignment: &mut Alignment) {
        let key = |item: &Item<'_>| match item.is_unnamed() {
            true => (item.row.text, Short::default()),
            false => (item.row.text, item.row.identity),
        };
        let places = |items: &[Item<'_>], is_open: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..items.len()).filter(|at| items[*at].in_sequence && is_open(*at)).collect()
        };
        let (then, now) = (places(self.then, &|_| true), places(self.now, self.is_open));
        let keys = |items: &[Item<'_>], places: &[usize]| -> Vec<_> {
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

    /// Of what has no place in the sequence, that whose name and text stand once.
    fn pin_aside(&self, alignment: &mut Alignment, key: impl Fn(&Item<'_>) -> (Short, Short)) {
        let is_aside = |old: &usize| !self.then[*old].in_sequence && !self.then[*old].had_gone;
        let aside: Vec<usize> = (0..self.then.len()).filter(is_aside).collect();
        if aside.is_empty() {
            return;
        }
        let mut standing: HashMap<(Short, Short), Vec<usize>> = HashMap::new();
        for new in (0..self.now.len()).filter(|new| (self.is_open)(*new)) {
            standing.entry(key(&self.now[new])).or_default().push(new);
        }
        for old in aside {
            if let Some([new]) = standing.get(&key(&self.then[old])).map(Vec::as_slice)
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

    /// The pairs that were measured of a block that stands.
    pub(super) fn compared(&self, now: usize) -> &[MeasuredPair] {
        let from = self.compared.partition_point(|pair| pair.now < now);
        let to = self.compared.partition_point(|pair| pair.now <= now);
        &self.compared[from..to]
    }

    /// The earlier block that a block is, if one alone is.
    pub(crate) fn of(&self, now: usize) -> Option<usize> {
        match self.fits.get(now)? {
            Fit::Is(paired) => Some(paired.then),
            _ => None,
        }
    }

    fn is_open(&self, then: usize, now: usize) -> bool {
        self.stands[then].is_none() && matches!(self.fits[now], Fit::New)
    }
}

/// Step 4.
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
        let rivals = Rivals::of(&fitting, &self.pairs);
        for (score, at) in &fitting {
            let (old, new) = (self.pairs[*at].then, self.pairs[*at].now);
            if !self.alignment.is_open(old, new) {
                continue;
            }
            match self.tied(&rivals, *score, *at) {
                Tie::None => {
                    let likeness = Some(self.pairs[*at].likeness);
                    self.alignment.settle(old, new, rule, likeness);
                    self.pairs[*at].outcome = Ok(rule);
                }
                Tie::Equal(all) if is_an_equality(rule) => self.ambiguous(all),
                Tie::Equal(_) => self.pairs[*at].outcome = Err(Rejection::Rivals),
            }
        }
    }

    /// The open pairs that are as good as this one and share one of its blocks.
    fn tied(&self, rivals: &Rivals, score: f32, at: usize) -> Tie {
        let pair = &self.pairs[at];
        let open = |other: &&(f32, usize)| {
            let other = &self.pairs[other.1];
            self.alignment.is_open(other.then, other.now)
        };
        let worth = |score: f32| (score - likeness::ENOUGH).max(0.0);
        // Best first, so that the first is the best.
        let best = |rest: &[(f32, usize)], but: &dyn Fn(&MeasuredPair) -> bool| {
            let mut rest = rest.iter().filter(open).filter(|other| !but(&self.pairs[other.1]));
            rest.next().map_or(0.0, |(score, _)| worth(*score))
        };
        let near = |other: &&(f32, usize)| {
            let is_left = self.pairs[other.1].likeness.lines_left;
            score - other.0 < MARGIN && (is_left || !pair.likeness.lines_left)
        };
        // One earlier block and two that stand, or the reverse: what the whole assignment is worth this way or that.
        let same_then = rivals.of_then(pair.then).iter().filter(open).filter(near);
        let mut tied: Vec<usize> = same_then
            .filter(|other| {
                let new = self.pairs[other.1].now;
                let this = worth(score) + best(rivals.of_now(new), &|one| one.then == pair.then);
                let that =
                    worth(other.0) + best(rivals.of_now(pair.now), &|one| one.then == pair.then);
                new != pair.now && this - that < MARGIN
            })
            .map(|other| other.1)
            .collect();
        let same_now = rivals.of_now(pair.now).iter().filter(open).filter(near);
        tied.extend(
            same_now
                .filter(|other| {
                    let rival = &self.pairs[other.1];
                    let this =
                        worth(score) + best(rivals.of_then(rival.then), &|one| one.now == pair.now);
                    let that = worth(other.0)
                        + best(rivals.of_then(pair.then), &|one| one.now == pair.now);
                    let answer = |item: usize| self.scene.then[item].answer;
                    rival.then != pair.then
                        && answer(rival.then) != answer(pair.then)
                        && this - that < MARGIN
                })
                .map(|other| other.1),
        );
        let same_answers = tied.iter().all(|other| {
            // Several blocks that are equal, and as many earlier ones of one record: in their order.
            let answer = |at: usize| self.scene.then[self.pairs[at].then].answer;
            self.pairs[*other].then != pair.then && answer(*other) == answer(at)
        });
        if tied.is_empty() || same_answers {
            return Tie::None;
        }
        if self.has_order(rivals, at) {
            return Tie::None;
        }
        tied.push(at);
        Tie::Equal(tied)
    }

    /// Whether as many blocks stand as stood of those that are equal, so that their order tells which is which.
    fn has_order(&self, rivals: &Rivals, at: usize) -> bool {
        let pair = &self.pairs[at];
        let open = |other: &&(f32, usize)| {
            let other = &self.pairs[other.1];
            self.alignment.is_open(other.then, other.now) && other.likeness.in_gap
        };
        let then: BTreeSet<usize> = rivals
            .of_now(pair.now)
            .iter()
            .filter(open)
            .map(|other| self.pairs[other.1].then)
            .collect();
        let now: BTreeSet<usize> = rivals
            .of_then(pair.then)
            .iter()
            .filter(open)
            .map(|other| self.pairs[other.1].now)
            .collect();
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

/// Whether a rule says that something is equal, so that rivals are ambiguous; else they are unlike enough to be refused.
fn is_an_equality(rule: &MatchRule) -> bool {
    rule.tier != crate::provenance::Tier::Likeness
}

enum Tie {
    None,
    /// Places of pairs, this one among them.
    Equal(Vec<usize>),
}

/// The pairs that a rule admits, by either block, best first: score and place.
struct Rivals {
    of_then: HashMap<usize, Vec<(f32, usize)>>,
    of_now: HashMap<usize, Vec<(f32, usize)>>,
}

impl Rivals {
    fn of(best_first: &[(f32, usize)], pairs: &[MeasuredPair]) -> Self {
        let (mut of_then, mut of_now) = (HashMap::new(), HashMap::new());
        for (score, at) in best_first {
            let pair = &pairs[*at];
            of_then.entry(pair.then).or_insert_with(Vec::new).push((*score, *at));
            of_now.entry(pair.now).or_insert_with(Vec::new).push((*score, *at));
        }
        Self { of_then, of_now }
    }

    fn of_then(&self, then: usize) -> &[(f32, usize)] {
        self.of_then.get(&then).map(Vec::as_slice).unwrap_or_default()
    }

    fn of_now(&self, now: usize) -> &[(f32, usize)] {
        self.of_now.get(&now).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Below this many tokens a block that reads as another one is no copy: small blocks are alike by chance.
pub(crate) const MIN_COPY_TOKENS: u32 = MIN_RENAMED_TOKENS;
