//! Which block of one version of a file is which of another.
//!
//! 1. The two versions are aligned as sequences; what has the same name and text in the same order is settled.
//! 2. Of what is left, pairs that may be one block are collected once: by text, tokens, shape, name and likeness.
//! 3. Each pair is measured once ([`Likeness`]).
//! 4. The rules ([`RULES`]) are gone through in order; of the pairs that a rule admits, each is taken that is ahead of
//!    every rival on either side. Rivals that fit equally well are ambiguous.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::item::Item;
use super::likeness::{self, Likeness, Reach};
use super::rules::{MARGIN, MIN_ACROSS_TOKENS, MIN_RENAMED_TOKENS, MOSTLY_KEPT, RULES, Rule};
use super::texts::Texts;
use crate::code::difference;
use crate::provenance::Rejection;
use crate::provenance::names::may_become;
use crate::provenance::outline::Short;

/// No more blocks than this are compared with one earlier block for one reason.
const MAX_COMPARED: usize = 16;
/// So many definitions read as they did in the file that another goes on show that it is that file, not its like.
const MIN_READ_ON: usize = 3;
/// So many pairs may be compared because of one hash that several blocks share.
const MAX_EQUAL: usize = 4096;
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
    pub(crate) texts: Option<&'a Texts>,
    /// Which of the blocks that stand are looked at.
    pub(crate) is_open: &'a dyn Fn(usize) -> bool,
    /// Whether a pair is possible at all.
    pub(crate) admits: &'a dyn Fn(usize, usize) -> bool,
    /// Whether a block that stands is known to be a copy of another one.
    pub(crate) is_copy: &'a dyn Fn(usize) -> bool,
}

/// What became of the alignment: one for each block that stands.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    pub(crate) fits: Vec<Fit>,
    /// For each earlier block that is settled, where it stands.
    pub(crate) stands: HashMap<usize, usize>,
    /// The pairs that were looked at and not settled by the sequences alone.
    pub(crate) compared: Vec<Compared>,
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
    pub(crate) rule: &'static Rule,
    /// How the two were measured; `None` where the sequences told.
    pub(crate) likeness: Option<Likeness>,
}

/// A pair that was measured.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) then: usize,
    pub(crate) now: usize,
    pub(crate) likeness: Likeness,
    /// The rule that took it, or why none did.
    pub(crate) outcome: Result<&'static Rule, Rejection>,
}

impl Scene<'_> {
    /// Aligns the two.
    pub(crate) fn align(&self) -> Alignment {
        let mut alignment =
            Alignment { fits: vec![Fit::New; self.now.len()], ..Alignment::default() };
        if self.reach != Reach::Elsewhere {
            self.pin(&mut alignment);
        }
        let compared = Measure::new(self, &alignment).pairs();
        Assignment { scene: self, alignment: &mut alignment, pairs: compared }.run();
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
    fn settle(&mut self, then: usize, now: usize, rule: &'static Rule, likeness: Option<Likeness>) {
        self.fits[now] = Fit::Is(Paired { then, rule, likeness });
        self.stands.insert(then, now);
    }

    /// The earlier block that a block is, if one alone is.
    pub(crate) fn of(&self, now: usize) -> Option<usize> {
        match self.fits.get(now)? {
            Fit::Is(paired) => Some(paired.then),
            _ => None,
        }
    }

    fn is_open(&self, then: usize, now: usize) -> bool {
        !self.stands.contains_key(&then) && matches!(self.fits[now], Fit::New)
    }
}

/// Steps 2 and 3.
struct Measure<'a> {
    scene: &'a Scene<'a>,
    /// Earlier blocks that are open, and open blocks.
    then: Vec<usize>,
    now: Vec<usize>,
    /// Pairs that the sequences settled, in order.
    pins: Vec<(usize, usize)>,
    /// Blocks of one name that are in order on both sides, and the pins.
    named: Vec<(usize, usize)>,
    /// Where what contained blocks went.
    containers: HashMap<usize, usize>,
    /// By container then and container now: how many settled blocks went from one to the other.
    members: HashMap<(usize, usize), u32>,
    sizes: HashMap<usize, u32>,
    /// By kind and last segment of a name: how many earlier blocks are open, and how many blocks.
    leaves: HashMap<([u8; 2], [u8; 4]), (u32, u32)>,
    is_exchange: bool,
    is_that_file: bool,
    /// Named blocks that stand, are open and are no copies: what may be found by likeness.
    originals: Vec<usize>,
}

impl<'a> Measure<'a> {
    fn new(scene: &'a Scene<'a>, alignment: &Alignment) -> Self {
        let settled = &alignment.stands;
        let then: Vec<usize> =
            (0..scene.then.len()).filter(|at| !settled.contains_key(at)).collect();
        let is_new = |at: &usize| matches!(alignment.fits[*at], Fit::New);
        let now: Vec<usize> =
            (0..scene.now.len()).filter(|at| (scene.is_open)(*at) && is_new(at)).collect();
        let mut pins: Vec<(usize, usize)> = settled.iter().map(|(old, new)| (*old, *new)).collect();
        pins.sort_unstable();
        let mut measure = Self {
            scene,
            then,
            now,
            named: Vec::new(),
            containers: HashMap::new(),
            members: HashMap::new(),
            sizes: HashMap::new(),
            leaves: HashMap::new(),
            is_exchange: false,
            is_that_file: false,
            originals: Vec::new(),
            pins,
        };
        if !measure.then.is_empty() && !measure.now.is_empty() {
            measure.look_around();
        }
        measure
    }

    fn look_around(&mut self) {
        let Scene { then, now, .. } = self.scene;
        let named = |items: &[Item<'_>]| -> Vec<usize> {
            let all = 0..items.len();
            all.filter(|at| items[*at].in_sequence && !items[*at].is_unnamed()).collect()
        };
        let (old, new) = (named(then), named(now));
        let names = |items: &[Item<'_>], places: &[usize]| -> Vec<Short> {
            places.iter().map(|at| items[*at].row.identity).collect()
        };
        if self.scene.reach != Reach::Elsewhere {
            let common = difference::common(&names(then, &old), &names(now, &new));
            self.named = common.into_iter().map(|(a, b)| (old[a], new[b])).collect();
        }
        for item in *then {
            if let Some(outer) = item.container {
                *self.sizes.entry(outer).or_default() += 1;
            }
        }
        for (old, new) in &self.pins {
            if let (Some(a), Some(b)) = (then[*old].container, now[*new].container) {
                *self.members.entry((a, b)).or_default() += 1;
            }
        }
        let mut votes: Vec<(u32, usize, usize)> =
            self.members.iter().map(|((a, b), count)| (*count, *a, *b)).collect();
        votes.sort_unstable();
        self.containers.extend(self.named.iter().copied());
        self.containers.extend(votes.into_iter().map(|(_, a, b)| (a, b)));
        self.containers.extend(self.pins.iter().copied());
        let leaf = |item: &Item<'_>| (item.row.kind, item.row.name);
        for at in self.then.iter().filter(|at| !then[**at].is_unnamed()) {
            self.leaves.entry(leaf(&then[*at])).or_default().0 += 1;
        }
        for at in self.now.iter().filter(|at| !now[**at].is_unnamed()) {
            self.leaves.entry(leaf(&now[*at])).or_default().1 += 1;
        }
        let count = |places: &[usize], items: &[Item<'_>]| {
            places.iter().filter(|at| !items[**at].is_unnamed()).count()
        };
        self.is_exchange = count(&self.then, then) == 1 && count(&self.now, now) == 1;
        self.is_that_file = self.scene.reach == Reach::Renamed && self.reads_on();
        self.find_containers();
        let may_be_alike = |new: &usize| !now[*new].is_unnamed() && !(self.scene.is_copy)(*new);
        self.originals = self.now.iter().copied().filter(may_be_alike).collect();
    }

    /// Whether enough sizeable definitions read as one did before, names aside.
    fn reads_on(&self) -> bool {
        let Scene { then, now, .. } = self.scene;
        let hashes = |item: &Item<'_>| [item.row.text, item.row.tokens, item.row.shape];
        let before: HashSet<Short> = then.iter().flat_map(hashes).collect();
        let reads = |item: &&Item<'_>| {
            let is_sizeable = item.size.is_some_and(|size| size >= MIN_ACROSS_TOKENS);
            !item.is_unnamed()
                && is_sizeable
                && hashes(item).iter().any(|hash| before.contains(hash))
        };
        now.iter().filter(reads).take(MIN_READ_ON).count() == MIN_READ_ON
    }

    /// A container whose blocks do not tell where it went may be known by the lines of its own that are left.
    fn find_containers(&mut self) {
        let Scene { then, now, texts: Some(texts), .. } = self.scene else { return };
        let holders: BTreeSet<usize> =
            self.now.iter().filter_map(|new| now[*new].container).collect();
        if holders.len() > MAX_COMPARED {
            return;
        }
        for old in self.then.iter().copied() {
            let Some(lines) = then[old].lines else { continue };
            if self.containers.contains_key(&old) || !self.sizes.contains_key(&old) {
                continue;
            }
            let is_left =
                |new: &&usize| now[**new].lines.is_some_and(|now| texts.went_to(lines, now));
            let mut left = holders.iter().filter(is_left);
            if let (Some(only), None) = (left.next(), left.next()) {
                self.containers.insert(old, *only);
            }
        }
    }

    /// Every pair that may be one block, measured.
    fn pairs(&self) -> Vec<Compared> {
        let candidates = self.candidates();
        let mut kept: HashMap<(usize, usize), Option<f32>> = HashMap::new();
        for (old, new) in &candidates {
            let (then, now) = (&self.scene.then[*old], &self.scene.now[*new]);
            let share = then.body.as_ref().zip(then.size).and_then(|(body, size)| {
                body.kept(size, now.body.as_ref()?, now.size.unwrap_or_default())
            });
            kept.insert((*old, *new), share);
        }
        let carries = |old: usize, new: usize| {
            let same = self.scene.then[old].row.identity == self.scene.now[new].row.identity;
            same && kept[&(old, new)].is_some_and(|kept| kept >= MOSTLY_KEPT)
        };
        let mut carriers: HashMap<usize, Vec<usize>> = HashMap::new();
        for (old, new) in candidates.iter().filter(|(old, new)| carries(*old, *new)) {
            carriers.entry(*old).or_default().push(*new);
        }
        let measured = candidates.into_iter().map(|(old, new)| {
            let name_stands = self.scene.reach != Reach::Elsewhere
                && carriers.get(&old).is_some_and(|all| all.iter().any(|other| *other != new));
            let likeness = self.likeness((old, new), kept[&(old, new)], name_stands);
            Compared { then: old, now: new, likeness, outcome: Err(Rejection::TooUnlike) }
        });
        measured.collect()
    }

    fn likeness(
        &self,
        (old, new): (usize, usize),
        kept: Option<f32>,
        name_stands: bool,
    ) -> Likeness {
        let (then, now) = (&self.scene.then[old], &self.scene.now[new]);
        let leaf = then.row.kind == now.row.kind && then.row.name == now.row.name;
        let is_namesake = then.row.name == now.row.name;
        let (words, signature) = match (then.name, now.name) {
            (Some(a), Some(b)) => (
                likeness::words_in_common(a.leaf, b.leaf),
                likeness::signature(is_namesake, a.parameters, b.parameters),
            ),
            _ => (if is_namesake { 1.0 } else { 0.0 }, 1.0),
        };
        let bodies = then.body.as_ref().zip(now.body.as_ref());
        let texts = self.scene.texts.filter(|_| !is_namesake);
        let is_called_instead = then.name.zip(now.name).is_some_and(|(a, b)| {
            texts.is_some_and(|texts| texts.is_called_instead(a.leaf, b.leaf))
        });
        let in_sequence = then.in_sequence && now.in_sequence;
        Likeness {
            reach: self.scene.reach,
            had_gone: then.had_gone,
            is_that_file: self.is_that_file,
            is_named: !then.is_unnamed() && !now.is_unnamed(),
            text: then.row.text == now.row.text,
            tokens: then.row.tokens == now.row.tokens,
            shape: then.row.shape == now.row.shape && now.size.unwrap_or_default() > 0,
            identity: then.row.identity == now.row.identity,
            leaf,
            may_become: may_be_one(then, now),
            size: now.size.unwrap_or_default(),
            body: bodies.and_then(|(a, b)| a.likeness(b)),
            kept,
            words,
            signature,
            container: self.container(then, now),
            members: self.members_of(old, new),
            neighbours: if in_sequence { self.neighbours(old, new) } else { 0.0 },
            in_gap: in_sequence && self.gap(&self.pins, old, new),
            lines_left: self.lines_left(then, now),
            is_called_instead,
            name_stands,
            is_only_leaf: self.leaves.get(&(then.row.kind, then.row.name)) == Some(&(1, 1)),
            is_exchange: self.is_exchange,
        }
    }

    fn lines_left(&self, then: &Item<'_>, now: &Item<'_>) -> bool {
        let (Some(texts), Some(old), Some(new)) = (self.scene.texts, then.lines, now.lines) else {
            return false;
        };
        texts.stands_where(old, new)
    }

    /// Whether both lie between the same two neighbouring pairs.
    fn gap(&self, pairs: &[(usize, usize)], old: usize, new: usize) -> bool {
        let before = pairs.partition_point(|(then, _)| *then < old);
        let last = before.checked_sub(1).map(|at| pairs[at].1);
        let next = pairs.get(before).map(|pair| pair.1);
        last.is_none_or(|last| last < new) && next.is_none_or(|next| new < next)
    }

    /// Half for each side on which both have the same nearest block that kept its name; a quarter where neither has one.
    fn neighbours(&self, old: usize, new: usize) -> f32 {
        let before = |place: usize, of: fn(&(usize, usize)) -> usize| {
            self.named.partition_point(|pair| of(pair) < place)
        };
        let old_at = before(old, |pair| pair.0);
        let new_at = before(new, |pair| pair.1);
        let skip = |at: usize, own: bool| if own { at + 1 } else { at };
        let is_own = |at: usize, place: usize, of: fn(&(usize, usize)) -> usize| {
            self.named.get(at).is_some_and(|pair| of(pair) == place)
        };
        let old_after = skip(old_at, is_own(old_at, old, |pair| pair.0));
        let new_after = skip(new_at, is_own(new_at, new, |pair| pair.1));
        let count = self.named.len();
        let side = |same: bool, none: bool| match (same, none) {
            (true, true) => 0.25,
            (true, false) => 0.5,
            _ => 0.0,
        };
        side(old_at == new_at, old_at == 0) + side(old_after == new_after, old_after == count)
    }

    fn container(&self, then: &Item<'_>, now: &Item<'_>) -> f32 {
        if then.in_sequence {
            let went = then.container.map(|outer| self.containers.get(&outer));
            match (went, now.container) {
                (None, None) => return 1.0,
                (Some(Some(went)), Some(outer)) if *went == outer => return 1.0,
                _ => {}
            }
        }
        let (Some(old), Some(new)) = (then.name, now.name) else { return 0.0 };
        let (old, new) = (old.container(), new.container());
        let inner = |path: &str| path.split_once('.').map(|(_, inner)| inner.to_owned());
        let is_renamed = self.scene.reach == Reach::Renamed && inner(old) == inner(new);
        if old == new || is_renamed {
            return 1.0;
        }
        let last = |path: &str| path.rsplit('.').next().map(str::to_owned);
        if last(old) == last(new) { 0.5 } else { 0.0 }
    }

    fn members_of(&self, old: usize, new: usize) -> f32 {
        let there = self.members.get(&(old, new)).copied().unwrap_or_default();
        let all = self.sizes.get(&old).copied().unwrap_or_default();
        if all == 0 { 0.0 } else { there as f32 / all as f32 }
    }

    /// Step 2.
    fn candidates(&self) -> BTreeSet<(usize, usize)> {
        let mut candidates = BTreeSet::new();
        let Scene { then, now, .. } = self.scene;
        type Key = (u8, Short);
        let keys = |item: &Item<'_>| -> Vec<Key> {
            let row = &item.row;
            let leaf = std::array::from_fn(|at| match at {
                0..4 => row.name[at],
                4..6 => row.kind[at - 4],
                _ => 0,
            });
            let hashes = [row.text, row.tokens, row.shape, row.identity, leaf];
            let count = if item.is_unnamed() { 2 } else { 5 };
            (0..).zip(hashes).take(count).collect()
        };
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for at in &self.now {
            for key in keys(&now[*at]) {
                by_key.entry(key).or_default().push(*at);
            }
        }
        let mut counts: HashMap<Key, usize> = HashMap::new();
        for key in self.then.iter().flat_map(|old| keys(&then[*old])) {
            *counts.entry(key).or_default() += 1;
        }
        for old in self.then.iter().copied() {
            for key in keys(&then[old]) {
                let equal = by_key.get(&key).map(Vec::as_slice).unwrap_or_default();
                let most = (MAX_EQUAL / counts[&key]).max(MAX_COMPARED);
                candidates.extend(self.nearest(old, equal, most).map(|new| (old, new)));
            }
            candidates.extend(self.likeliest(old).into_iter().map(|new| (old, new)));
        }
        self.add_containers(&mut candidates);
        candidates.retain(|(old, new)| (self.scene.admits)(*old, *new));
        candidates
    }

    /// Of many equal blocks, those that are nearest by their order.
    fn nearest<'b>(
        &self,
        old: usize,
        equal: &'b [usize],
        most: usize,
    ) -> impl Iterator<Item = usize> + use<'b> {
        let near = self.pins.partition_point(|(then, _)| *then < old);
        let expected = near.checked_sub(1).map_or(0, |at| self.pins[at].1);
        let middle = equal.partition_point(|new| *new < expected);
        let start = middle.saturating_sub(most / 2).min(equal.len().saturating_sub(most));
        let end = (start + most).min(equal.len());
        equal[start..end].iter().copied()
    }

    /// The blocks whose bodies are most alike; of what has no name, those in the same gap.
    fn likeliest(&self, old: usize) -> Vec<usize> {
        let Scene { then, now, .. } = self.scene;
        let item = &then[old];
        if item.is_unnamed() {
            let in_gap = |new: &usize| {
                now[*new].is_unnamed() && item.in_sequence && self.gap(&self.pins, old, *new)
            };
            return self.now.iter().copied().filter(in_gap).take(MAX_COMPARED).collect();
        }
        let (Some(body), Some(size)) = (&item.body, item.size) else { return Vec::new() };
        if size < likeness::MIN_TOKENS {
            return Vec::new();
        }
        let mut alike: Vec<(f32, usize)> = self
            .originals
            .iter()
            .copied()
            .filter(|new| likeness::of_like_size(size, now[*new].size.unwrap_or_default()))
            .filter_map(|new| Some((body.likeness(now[new].body.as_ref()?)?, new)))
            .filter(|(alike, _)| *alike >= likeness::ENOUGH_BODY)
            .collect();
        let best_first =
            |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if alike.len() > MAX_COMPARED {
            alike.select_nth_unstable_by(MAX_COMPARED, best_first);
            alike.truncate(MAX_COMPARED);
        }
        alike.into_iter().map(|(_, new)| new).collect()
    }

    /// Containers that hold the same blocks.
    fn add_containers(&self, candidates: &mut BTreeSet<(usize, usize)>) {
        let (then, now): (BTreeSet<usize>, BTreeSet<usize>) =
            (self.then.iter().copied().collect(), self.now.iter().copied().collect());
        let open = self.members.keys().filter(|(a, b)| then.contains(a) && now.contains(b));
        candidates.extend(open.copied());
    }
}

/// Whether a block of one kind may have become one of the other; what is not known in words is compared by its hash.
fn may_be_one(then: &Item<'_>, now: &Item<'_>) -> bool {
    match (then.name, now.name) {
        (Some(a), Some(b)) => may_become(a.kind, b.kind),
        _ => then.row.kind == now.row.kind,
    }
}

/// Step 4.
struct Assignment<'a, 'b> {
    scene: &'b Scene<'a>,
    alignment: &'b mut Alignment,
    pairs: Vec<Compared>,
}

impl Assignment<'_, '_> {
    fn run(mut self) {
        for rule in RULES {
            self.apply(rule);
        }
        self.alignment.compared = self.pairs;
    }

    fn apply(&mut self, rule: &'static Rule) {
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
        let best = |rest: &[(f32, usize)], but: &dyn Fn(&Compared) -> bool| {
            let rest = rest.iter().filter(open).filter(|other| !but(&self.pairs[other.1]));
            rest.map(|(score, _)| worth(*score)).fold(0.0, f32::max)
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
                self.alignment.stands.insert(*then, new);
            }
            self.alignment.fits[new] = Fit::Ambiguous(old.into_iter().collect());
        }
    }
}

/// Whether a rule says that something is equal, so that rivals are ambiguous; else they are unlike enough to be refused.
fn is_an_equality(rule: &Rule) -> bool {
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
    fn of(best_first: &[(f32, usize)], pairs: &[Compared]) -> Self {
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
