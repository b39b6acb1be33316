//! Tier 6: records and blocks that no equality brought together, weighed against each other.
//!
//! Where a commit that has the recorded block can be read, what stood unrecorded beside it and is gone is weighed, too:
//! a block that is more like that is not the record's. See also `since`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::likeness::{self, Body, Circumstances};
use super::since::Since;
use super::tiers::{Reach, Tiers, container_of, inner};
use super::{MARGIN, MIN_RENAMED_TOKENS};
use crate::code::Block;
use crate::ledger::{BlockName, BlockRecord, Claim, ClaimRef, Trust};
use crate::provenance::names::{is_unnamed, leaf, may_become, textless};
use crate::provenance::outline::{self, Against, Shorter};
use crate::provenance::{Content, Provenance, Rejected, Rejection, Scores, Tier};
use crate::workspace::RelativePath;

impl<'a> Tiers<'a> {
    /// Tier 6: what is left on both sides, best pairs first.
    pub(super) fn alike(&mut self) {
        let is_left = |at: &ClaimRef| !self.used.contains(at);
        if !self.heads.iter().any(is_left) || !(0..self.blocks.len()).any(|at| self.is_open(at)) {
            return;
        }
        let gone = self.gone();
        let least_body = match self.reach {
            Reach::Renamed if self.read_on() == 0 => likeness::ENOUGH,
            _ => likeness::ENOUGH_BODY,
        };
        let pairs = Ranked::of(self.pairs(&gone));
        let mut taken = Taken::default();
        for pair in &pairs.best_first {
            if taken.holds(pair) || !self.is_open(pair.index) {
                continue;
            }
            let one = &gone[pair.gone];
            let is_alike = pair.scores.body >= least_body;
            let refusal = self.refusal(pair, &pairs, &taken);
            match refusal.or((!is_alike).then_some(Rejection::TooUnlike)) {
                None => {
                    taken.put(pair);
                    if one.is_recorded {
                        let rejected = pairs
                            .of_block(pair.index)
                            .find(|other| other.gone != pair.gone && gone[other.gone].is_recorded)
                            .map(|other| rejected(&gone, other, Rejection::TooUnlike));
                        self.take(one.at, pair, rejected);
                    }
                }
                Some(why) if one.is_recorded => {
                    let known = self.rejected.entry(pair.index);
                    known.or_insert_with(|| rejected(&gone, pair, why));
                }
                Some(_) => {}
            }
        }
    }

    fn take(&mut self, at: ClaimRef, pair: &Pair, rejected: Option<Rejected>) {
        let block = &self.blocks[pair.index];
        let place = self.place(at, block);
        let found = Provenance::found(at, Tier::Likeness, Content::Modified, place);
        let (kept, scores) = (self.kept(at, block), Some(pair.scores));
        self.settle(pair.index, at, Provenance { kept, scores, rejected, ..found });
    }

    /// Why a pair is not taken, if it is not.
    fn refusal(&self, pair: &Pair, all: &Ranked, taken: &Taken) -> Option<Rejection> {
        let small = self.blocks[pair.index].fingerprint.token_count < likeness::MIN_NAMELESS_TOKENS;
        let nameless = pair.scores.name == 0.0 && !pair.is_left;
        let least = if nameless { likeness::ENOUGH_NAMELESS_BODY } else { likeness::ENOUGH_BODY };
        if pair.scores.total < likeness::ENOUGH || pair.scores.body < least || nameless && small {
            return Some(Rejection::TooUnlike);
        }
        let open = |other: &&Pair| !taken.holds(other) && self.is_open(other.index);
        // Where the lines that are left speak for one of the two alone, it need not be ahead by as much.
        let near = |other: &&Pair| {
            let ahead = pair.scores.total - other.scores.total;
            ahead < MARGIN && (other.is_left || !pair.is_left)
        };
        // What speaks for a pair beyond what is enough.
        let worth = |pair: &Pair| (pair.scores.total - likeness::ENOUGH).max(0.0);
        // The most that the rest of the two rivals could be worth.
        let best = |rest: &mut dyn Iterator<Item = &Pair>| rest.map(worth).fold(0.0, f32::max);
        let for_block = |index: usize, gone: usize| {
            best(&mut all.of_block(index).filter(open).filter(|rest| rest.gone != gone))
        };
        let for_gone = |gone: usize, index: usize| {
            best(&mut all.of_gone(gone).filter(open).filter(|rest| rest.index != index))
        };
        // One gone definition and two blocks, or one block and two gone: what the whole is worth this way or that.
        let or_that_block = all.of_gone(pair.gone).filter(open).filter(near).any(|other| {
            let this = worth(pair) + for_block(other.index, pair.gone);
            let that = worth(other) + for_block(pair.index, pair.gone);
            other.index != pair.index && this - that < MARGIN
        });
        let or_that_gone = all.of_block(pair.index).filter(open).filter(near).any(|other| {
            let this = worth(pair) + for_gone(other.gone, pair.index);
            let that = worth(other) + for_gone(pair.gone, pair.index);
            other.gone != pair.gone && this - that < MARGIN
        });
        let rival = or_that_block || or_that_gone;
        rival.then_some(Rejection::Rivals)
    }

    /// The records that are left, and what else stood there and is gone.
    fn gone(&self) -> Vec<Gone<'a>> {
        let ledger = self.ledger;
        let left = || self.heads.iter().copied().filter(|at| !self.used.contains(at));
        let recorded = |at: ClaimRef| {
            let range = Cow::Borrowed(ledger.claim(at).range);
            Gone { at, is_recorded: true, range, since: OnceCell::new() }
        };
        let mut gone: Vec<Gone<'a>> = left().map(recorded).collect();
        if let Some(newest) = left().max().filter(|_| self.reach.is_within()) {
            gone.extend(self.unrecorded(newest));
        }
        gone
    }

    /// What stood, unrecorded, beside a record, and is gone since.
    fn unrecorded(&self, at: ClaimRef) -> Vec<Gone<'a>> {
        let (Some(outline), Some(since)) = (self.siblings.outline(at), self.since(at)) else {
            return Vec::new();
        };
        let then = since.then().blocks();
        let is_gone = |block: &Block| {
            !block.identity.kind.is_unnamed()
                && !self.known.contains(&outline::key(&block.identity))
                && matches!(outline.against(block), Against::Same | Against::Reformatted)
        };
        let gone = then.blocks.iter().enumerate().filter(|(_, block)| is_gone(block));
        gone.map(|(index, block)| {
            let neighbours = Some(outline::neighbours(&then.blocks, index));
            let range = Cow::Owned(BlockRecord { neighbours, ..textless(block, then.language) });
            Gone { at, is_recorded: false, range, since: OnceCell::new() }
        })
        .collect()
    }

    fn since(&self, at: ClaimRef) -> Option<Rc<Since>> {
        self.siblings.since(at, self.reach.is_within().then_some(self.document))
    }

    /// Everything that is gone, with those of the blocks that are left which are most like it.
    fn pairs(&self, gone: &[Gone<'_>]) -> Vec<Pair> {
        let open: Vec<(usize, Body<'_>)> = (0..self.blocks.len())
            .filter(|index| self.is_open(*index))
            .map(|index| (index, Body::of_block(&self.blocks[index])))
            .collect();
        let alone = self.alone(gone);
        let mut pairs = Vec::new();
        for (nth, one) in gone.iter().enumerate() {
            let (Some(name), Some(tokens)) = (&one.range.block, one.range.tokens) else { continue };
            let unnamed = is_unnamed(&name.kind);
            if tokens < likeness::MIN_TOKENS || unnamed && !matches!(self.reach, Reach::File) {
                continue;
            }
            let recorded = Body::of_record(&one.range);
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
                let (scores, is_left) = self.scores(one, (index, body), &alone)?;
                Some(Pair { gone: nth, index, scores, is_left })
            });
            pairs.extend(weighed);
        }
        pairs
    }

    /// How alike a record and a block are; `None` where it cannot be that block.
    fn scores(
        &self,
        one: &Gone<'_>,
        (index, body): (usize, f32),
        alone: &Alone<'_>,
    ) -> Option<(Scores, bool)> {
        let name = one.range.block.as_ref()?;
        let block = &self.blocks[index];
        // The most that can come of it, before what is dearer is asked.
        let position = self.reach.is_within().then_some(1.0);
        let best = Circumstances { scope: 1.0, position, is_called_instead: true };
        if likeness::weigh(body, name, block, &best).total < likeness::ENOUGH - MARGIN {
            return None;
        }
        let is_namesake = leaf(name) == block.name;
        let since = || one.since.get_or_init(|| self.since(one.at)).as_deref();
        let may_be = match one.is_recorded {
            true => self.admits(one.at, index, Content::Modified),
            false => self.siblings.beside(one.at, self.entry(index)) == Against::New,
        };
        let is_within = self.reach.is_within();
        let stood_beside = || {
            let key = self.entry(index).key();
            !is_namesake && is_within && since().is_some_and(|since| since.stood(&key))
        };
        if (!may_be || stood_beside()) && !self.is_taken_over(one, index, body)
            || !is_namesake && self.reads_as_another(one.at, index)
        {
            return None;
        }
        let mut scope = self.scope(name, index);
        let mut position = self.position(one, index, &alone.standing);
        let since = since();
        let is_called_instead = !is_namesake
            && since.is_some_and(|since| since.is_called_instead(leaf(name), &block.name));
        let is_left = position.is_some()
            && since.is_some_and(|since| since.stands_where(&one.range, block.lines));
        if is_left {
            // What contains it now was put around it.
            (scope, position) = (1.0, Some(1.0));
        }
        if is_namesake && alone.by_leaf.get(leaf(name)) == Some(&(1, 1)) {
            scope = scope.max(0.5);
        }
        if alone.is_exchange && one.is_recorded {
            position = position.map(|_| 1.0);
        }
        let circumstances = Circumstances { scope, position, is_called_instead };
        Some((likeness::weigh(body, name, block, &circumstances), is_left))
    }

    /// Whether a block reads as another one of its file, or as what was recorded in another file: then it is a copy of
    /// that, or came from there.
    fn reads_as_another(&self, at: ClaimRef, index: usize) -> bool {
        let block = &self.blocks[index];
        if block.fingerprint.token_count < MIN_RENAMED_TOKENS {
            return false;
        }
        let path = &self.ledger.claim(at).file.relative_path;
        self.index.blocks_reading(block, Content::Renamed).len() > 1
            || self.recorded_in(index).iter().any(|other| *other != path)
    }

    /// The files in which the text or the tokens of a block are recorded.
    fn recorded_in(&self, index: usize) -> &[&'a RelativePath] {
        self.recorded_in[index].get_or_init(|| {
            let print = &self.blocks[index].fingerprint;
            let same = self.ledger.by_content(&print.content);
            let claims = same.iter().chain(self.ledger.by_tokens(&print.tokens));
            let speaks = |claim: &Claim<'a>| {
                !claim.range.deleted && claim.entry.trust != Trust::Contradicted
            };
            let claims = claims.map(|at| self.ledger.claim(*at)).filter(speaks);
            claims.map(|claim| &claim.file.relative_path).collect()
        })
    }

    /// Whether a block that stood beside the other holds its text now, and next to nothing of its own.
    fn is_taken_over(&self, one: &Gone<'_>, index: usize, body: f32) -> bool {
        if body < likeness::ENOUGH_TO_TAKE_OVER || !self.reach.is_within() {
            return false;
        }
        let since = one.since.get_or_init(|| self.since(one.at));
        let Some(since) = since else { return false };
        let (then, block) = (since.then().blocks(), &self.blocks[index]);
        let own = then.blocks.iter().find(|then| then.identity == block.identity);
        own.is_some_and(|own| {
            Body::of_block(own).likeness(&Body::of_block(block)) < likeness::ENOUGH_BODY
        })
    }

    /// What is the only one of its kind among what is left on both sides.
    fn alone<'b>(&'b self, gone: &'b [Gone<'_>]) -> Alone<'b> {
        let mut by_leaf: HashMap<&str, (usize, usize)> = HashMap::new();
        for name in gone.iter().filter_map(|one| one.range.block.as_ref()) {
            by_leaf.entry(leaf(name)).or_default().0 += 1;
        }
        let is_open_definition =
            |index: &usize| self.is_open(*index) && !self.blocks[*index].identity.kind.is_unnamed();
        let open: Vec<usize> = (0..self.blocks.len()).filter(is_open_definition).collect();
        for index in &open {
            by_leaf.entry(&self.blocks[*index].name).or_default().1 += 1;
        }
        let mut recorded = gone.iter().filter(|one| {
            let name = one.range.block.as_ref();
            one.is_recorded && name.is_some_and(|name| !is_unnamed(&name.kind))
        });
        let is_exchange = match (recorded.next(), recorded.next()) {
            (Some(one), None) => self.siblings.outline(one.at).is_some_and(|then| {
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
    fn position(&self, one: &Gone<'_>, index: usize, standing: &HashSet<Shorter>) -> Option<f32> {
        if !self.reach.is_within() {
            return None;
        }
        let neighbours = self.neighbours(one, index, standing);
        Some(if matches!(self.reach, Reach::Renamed) { neighbours.max(0.5) } else { neighbours })
    }

    /// Of the recorded neighbours, the nearest that still stands, against the nearest of this block's that stood then;
    /// half for each side.
    fn neighbours(&self, one: &Gone<'_>, index: usize, standing: &HashSet<Shorter>) -> f32 {
        let then = one.range.neighbours.as_deref().and_then(outline::decode_neighbours);
        let (Some([before, after]), Some(outline)) = (then, self.siblings.outline(one.at)) else {
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

/// A definition of the file as it was, that nothing is found for yet.
struct Gone<'a> {
    /// The record; of an unrecorded definition, one that was made while it stood.
    at: ClaimRef,
    is_recorded: bool,
    range: Cow<'a, BlockRecord>,
    /// What became of its file since the commit, where that can be read and is asked for.
    since: OnceCell<Option<Rc<Since>>>,
}

/// What is gone and a block, by their places in their lists, and how alike they are.
#[derive(Clone, Copy, Debug)]
struct Pair {
    gone: usize,
    index: usize,
    scores: Scores,
    /// Its lines are left there.
    is_left: bool,
}

/// What is spoken for.
#[derive(Default)]
struct Taken {
    gone: HashSet<usize>,
    blocks: HashSet<usize>,
}

impl Taken {
    fn put(&mut self, pair: &Pair) {
        self.gone.insert(pair.gone);
        self.blocks.insert(pair.index);
    }

    fn holds(&self, pair: &Pair) -> bool {
        self.gone.contains(&pair.gone) || self.blocks.contains(&pair.index)
    }
}

/// Pairs, best first, also by what they are of.
struct Ranked {
    best_first: Vec<Pair>,
    of_gone: HashMap<usize, Vec<usize>>,
    of_block: HashMap<usize, Vec<usize>>,
}

impl Ranked {
    fn of(mut best_first: Vec<Pair>) -> Self {
        best_first.sort_by(|a, b| b.scores.total.total_cmp(&a.scores.total));
        let (mut of_gone, mut of_block) = (HashMap::new(), HashMap::new());
        for (nth, pair) in best_first.iter().enumerate() {
            of_gone.entry(pair.gone).or_insert_with(Vec::new).push(nth);
            of_block.entry(pair.index).or_insert_with(Vec::new).push(nth);
        }
        Self { best_first, of_gone, of_block }
    }

    fn of_gone(&self, gone: usize) -> impl Iterator<Item = &Pair> {
        self.of_gone.get(&gone).into_iter().flatten().map(|nth| &self.best_first[*nth])
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

fn rejected(gone: &[Gone<'_>], pair: &Pair, why: Rejection) -> Rejected {
    Rejected { claim: gone[pair.gone].at, scores: Some(pair.scores), why }
}
