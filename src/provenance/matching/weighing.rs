//! Tier 6: records and blocks that no equality brought together, weighed against each other.

use std::collections::{HashMap, HashSet};

use super::MARGIN;
use super::likeness::{self, Body, Circumstances, Pair};
use super::tiers::{Reach, Tiers, container_of, inner};
use crate::ledger::{BlockName, ClaimRef};
use crate::provenance::names::{is_unnamed, leaf, may_become};
use crate::provenance::outline::{self, Against, Shorter};
use crate::provenance::{Content, Provenance, Rejected, Rejection, Scores, Tier};

impl Tiers<'_> {
    /// Tier 6: what is left on both sides, best pairs first.
    pub(super) fn alike(&mut self) {
        let pairs = Ranked::of(self.pairs());
        for pair in &pairs.best_first {
            if self.used.contains(&pair.at) || !self.is_open(pair.index) {
                continue;
            }
            match self.refusal(pair, &pairs) {
                None => {
                    let block = &self.blocks[pair.index];
                    let place = self.place(pair.at, block);
                    let found =
                        Provenance::found(pair.at, Tier::Likeness, Content::Modified, place);
                    let (kept, scores) = (self.kept(pair.at, block), Some(pair.scores));
                    let rejected = pairs
                        .of_block(pair.index)
                        .find(|other| other.at != pair.at)
                        .map(|other| rejected(other, Rejection::TooUnlike));
                    self.settle(
                        pair.index,
                        pair.at,
                        Provenance { kept, scores, rejected, ..found },
                    );
                }
                Some(why) => {
                    self.rejected.entry(pair.index).or_insert_with(|| rejected(pair, why));
                }
            }
        }
    }

    /// Why a pair is not taken, if it is not.
    fn refusal(&self, pair: &Pair, all: &Ranked) -> Option<Rejection> {
        let small = self.blocks[pair.index].fingerprint.token_count < likeness::MIN_NAMELESS_TOKENS;
        if pair.scores.total < likeness::ENOUGH
            || pair.scores.body < likeness::ENOUGH_BODY
            || pair.scores.name == 0.0 && small
        {
            return Some(Rejection::TooUnlike);
        }
        let rivals = |other: &&Pair| {
            let same = other.at == pair.at && other.index == pair.index;
            !same && !self.used.contains(&other.at) && self.is_open(other.index)
        };
        let best = [all.of_block(pair.index).find(rivals), all.of_record(pair.at).find(rivals)];
        let near = |other: &Pair| pair.scores.total - other.scores.total < MARGIN;
        best.into_iter().flatten().any(near).then_some(Rejection::Rivals)
    }

    /// Every record that is left, with those of the blocks that are which are most like it.
    fn pairs(&self) -> Vec<Pair> {
        let alone = self.alone();
        let open: Vec<(usize, Body<'_>)> = (0..self.blocks.len())
            .filter(|index| self.is_open(*index))
            .map(|index| (index, Body::of_block(&self.blocks[index])))
            .collect();
        let mut pairs = Vec::new();
        for at in self.heads.iter().copied().filter(|at| !self.used.contains(at)) {
            let range = self.ledger.claim(at).range;
            let (Some(name), Some(tokens)) = (&range.block, range.tokens) else { continue };
            let unnamed = is_unnamed(&name.kind);
            if tokens < likeness::MIN_TOKENS || unnamed && !matches!(self.reach, Reach::File) {
                continue;
            }
            let recorded = Body::of_record(range);
            let mut likely: Vec<(usize, f32)> = open
                .iter()
                .filter(|(index, _)| {
                    let block = &self.blocks[*index];
                    may_become(&name.kind, block.identity.kind.as_str())
                        && likeness::of_like_size(tokens, block.fingerprint.token_count)
                })
                .map(|(index, body)| (*index, recorded.likeness(body)))
                .collect();
            let called = leaf(name);
            let namesake = |index: usize| self.blocks[index].name == called;
            likely.retain(|(index, body)| *body >= likeness::ENOUGH_BODY || namesake(*index));
            let best_first = |a: &(usize, f32), b: &(usize, f32)| {
                namesake(b.0).cmp(&namesake(a.0)).then(b.1.total_cmp(&a.1)).then(a.0.cmp(&b.0))
            };
            if MAX_WEIGHED < likely.len() {
                likely.select_nth_unstable_by(MAX_WEIGHED, best_first);
                likely.truncate(MAX_WEIGHED);
            }
            likely.sort_unstable_by(best_first);
            let weighed = likely.into_iter().filter_map(|(index, body)| {
                let scores = self.scores(at, (index, body), &alone)?;
                Some(Pair { at, index, scores })
            });
            pairs.extend(weighed);
        }
        pairs
    }

    /// How alike a record and a block are; `None` where it cannot be that block.
    fn scores(
        &self,
        at: ClaimRef,
        (index, body): (usize, f32),
        alone: &Alone<'_>,
    ) -> Option<Scores> {
        let name = self.ledger.claim(at).range.block.as_ref()?;
        let block = &self.blocks[index];
        // The most that can come of it, before what is dearer is asked.
        let position = (!matches!(self.reach, Reach::Elsewhere { .. })).then_some(1.0);
        let best = Circumstances { scope: 1.0, position };
        if likeness::weigh(body, name, block, &best).total < likeness::ENOUGH - MARGIN
            || !self.admits(at, index, Content::Modified)
        {
            return None;
        }
        let mut scope = self.scope(name, index);
        let mut position = self.position(at, index, &alone.standing);
        if leaf(name) == block.name && alone.by_leaf.get(leaf(name)) == Some(&(1, 1)) {
            scope = scope.max(0.5);
        }
        if alone.is_exchange {
            position = position.map(|_| 1.0);
        }
        Some(likeness::weigh(body, name, block, &Circumstances { scope, position }))
    }

    /// What is the only one of its kind among what is left on both sides.
    fn alone(&self) -> Alone<'_> {
        let mut by_leaf: HashMap<&str, (usize, usize)> = HashMap::new();
        let left = self.heads.iter().filter(|at| !self.used.contains(at));
        let names = left.filter_map(|at| self.ledger.claim(*at).range.block.as_ref());
        for name in names.clone() {
            by_leaf.entry(leaf(name)).or_default().0 += 1;
        }
        let is_open_definition =
            |index: &usize| self.is_open(*index) && !self.blocks[*index].identity.kind.is_unnamed();
        let open: Vec<usize> = (0..self.blocks.len()).filter(is_open_definition).collect();
        for index in &open {
            by_leaf.entry(&self.blocks[*index].name).or_default().1 += 1;
        }
        let mut gone = self.heads.iter().filter(|at| {
            let name = self.ledger.claim(**at).range.block.as_ref();
            !self.used.contains(at) && name.is_some_and(|name| !is_unnamed(&name.kind))
        });
        let is_exchange = match (gone.next(), gone.next()) {
            (Some(at), None) => self.siblings.outline(*at).is_some_and(|then| {
                let gone = then.keys().filter(|key| !self.standing.contains(*key)).count();
                let new =
                    open.iter().filter(|index| then.stands(self.entry(**index)) == Against::New);
                // Regions are named after what follows them, so one goes with it.
                gone <= 2 && new.count() == 1
            }),
            _ => false,
        };
        let standing = self.standing.iter().map(outline::shorter).collect();
        Alone { by_leaf, is_exchange, standing }
    }

    fn scope(&self, name: &BlockName, index: usize) -> f32 {
        let block = &self.blocks[index];
        let then = container_of(&name.path, leaf(name));
        let now = container_of(&block.identity.path, &block.name);
        if then == now {
            return 1.0;
        }
        let recorded = block.container.and_then(|outer| {
            let claim = self.found[outer].as_ref()?.claim?;
            self.ledger.claim(claim).range.block.as_ref()
        });
        if recorded.is_some_and(|outer| outer.path == then) {
            return 1.0;
        }
        if matches!(self.reach, Reach::Renamed) && inner(then) == inner(now) {
            return 1.0;
        }
        let last = |path: &str| path.rsplit('.').next().map(str::to_owned);
        if last(then) == last(now) { 0.5 } else { 0.0 }
    }

    /// Whether the block stands between the neighbours of the recorded one; `None` in another file.
    fn position(&self, at: ClaimRef, index: usize, standing: &HashSet<Shorter>) -> Option<f32> {
        if matches!(self.reach, Reach::Elsewhere { .. }) {
            return None;
        }
        let neighbours = self.neighbours(at, index, standing);
        Some(if matches!(self.reach, Reach::Renamed) { neighbours.max(0.5) } else { neighbours })
    }

    /// Of the recorded neighbours, the nearest that still stands, against the nearest of this block's that stood then;
    /// half for each side.
    fn neighbours(&self, at: ClaimRef, index: usize, standing: &HashSet<Shorter>) -> f32 {
        let range = self.ledger.claim(at).range;
        let then = range.neighbours.as_deref().and_then(outline::decode_neighbours);
        let (Some([before, after]), Some(outline)) = (then, self.siblings.outline(at)) else {
            return 0.0;
        };
        let stood = |other: &usize| outline.stands(self.entry(*other)) != Against::New;
        let side = |then: Vec<Shorter>, now: Option<usize>| {
            let then = then.into_iter().find(|key| standing.contains(key));
            match (then, now.map(|other| outline::shorter(&self.entry(other).key()))) {
                (None, None) => 0.25,
                (then, now) if then == now => 0.5,
                _ => 0.0,
            }
        };
        let (mut mine_before, mut mine_after) = outline::siblings(self.blocks, index);
        side(before, mine_before.find(stood)) + side(after, mine_after.find(stood))
    }
}

/// No more blocks than this are weighed for one record: those with its name, and those with the likest bodies.
const MAX_WEIGHED: usize = 16;

/// Pairs, best first, also by what they are of.
struct Ranked {
    best_first: Vec<Pair>,
    of_record: HashMap<ClaimRef, Vec<usize>>,
    of_block: HashMap<usize, Vec<usize>>,
}

impl Ranked {
    fn of(mut best_first: Vec<Pair>) -> Self {
        best_first.sort_by(|a, b| b.scores.total.total_cmp(&a.scores.total));
        let (mut of_record, mut of_block) = (HashMap::new(), HashMap::new());
        for (nth, pair) in best_first.iter().enumerate() {
            of_record.entry(pair.at).or_insert_with(Vec::new).push(nth);
            of_block.entry(pair.index).or_insert_with(Vec::new).push(nth);
        }
        Self { best_first, of_record, of_block }
    }

    fn of_record(&self, at: ClaimRef) -> impl Iterator<Item = &Pair> {
        self.of_record.get(&at).into_iter().flatten().map(|nth| &self.best_first[*nth])
    }

    fn of_block(&self, index: usize) -> impl Iterator<Item = &Pair> {
        self.of_block.get(&index).into_iter().flatten().map(|nth| &self.best_first[*nth])
    }
}

/// See [`Tiers::alone`].
struct Alone<'a> {
    /// How many records and how many blocks are left of a name's last segment.
    by_leaf: HashMap<&'a str, (usize, usize)>,
    /// One recorded definition is gone from the file and one is new.
    is_exchange: bool,
    /// The names that stand, as records keep their neighbours.
    standing: HashSet<Shorter>,
}

fn rejected(pair: &Pair, why: Rejection) -> Rejected {
    Rejected { claim: pair.at, scores: Some(pair.scores), why }
}
