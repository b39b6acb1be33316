//! Collects the pairs of an earlier and a current block that may be one block, and measures how
//! alike they are.
//!
//! A pair is measured if the blocks have a hash in common, if their bodies are alike, if they are
//! in the same gap between settled blocks, or if the current block contains blocks that the earlier
//! one contained.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::align::{Alignment, Fit, MeasuredPair, Scene};
use super::item::ComparedBlock;
use super::likeness::{self, Likeness, NameWords, Reach};
use super::rules::{MIN_ACROSS_TOKENS, MOSTLY_KEPT};
use crate::Rejection;
use crate::names::may_become;
use crate::outline::Short;
use code::difference;

/// The maximum number of blocks that are compared with one earlier block for one reason.
const MAX_COMPARED: usize = 16;
/// If at least this many definitions read as they did in the earlier file, this file is certainly
/// that file under another name, not merely one like it.
const MIN_READ_ON: usize = 3;
/// The maximum number of pairs that are compared because they share one hash.
const MAX_EQUAL: usize = 4096;

/// What is known about a scene after its sequences were aligned.
pub(super) struct Measure<'a> {
    scene: &'a Scene<'a>,
    /// The earlier blocks without a match, and the current blocks without a match.
    then: Vec<usize>,
    now: Vec<usize>,
    /// The pairs that the sequences settled, in order.
    pins: Vec<(usize, usize)>,
    /// Pairs of blocks that have the same name and are in the same order on both sides.
    named: Vec<(usize, usize)>,
    /// For each earlier container, the current container that it became.
    containers: HashMap<usize, usize>,
    /// How many settled blocks went from an earlier container to a current one.
    members: HashMap<(usize, usize), u32>,
    sizes: HashMap<usize, u32>,
    /// By kind and last segment of the name: the number of earlier and of current blocks without a
    /// match.
    leaves: HashMap<([u8; 2], [u8; 4]), (u32, u32)>,
    is_exchange: bool,
    is_that_file: bool,
    /// The words of the names of all blocks without a match.
    words: HashMap<&'a str, NameWords>,
    /// Current blocks without a match that have a name and are no copies. Only these may be found
    /// by likeness.
    originals: Vec<usize>,
}

impl<'a> Measure<'a> {
    pub(super) fn new(scene: &'a Scene<'a>, alignment: &Alignment) -> Self {
        let settled = &alignment.stands;
        let then: Vec<usize> = (0..scene.then.len()).filter(|at| settled[*at].is_none()).collect();
        let is_new = |at: &usize| matches!(alignment.fits[*at], Fit::New);
        let now: Vec<usize> =
            (0..scene.now.len()).filter(|at| (scene.is_open)(*at) && is_new(at)).collect();
        let pins = (0..).zip(settled).filter_map(|(old, new)| Some((old, (*new)?))).collect();
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
            words: HashMap::new(),
            pins,
        };
        if !measure.then.is_empty() && !measure.now.is_empty() {
            measure.look_around();
        }
        measure
    }

    fn look_around(&mut self) {
        let Scene { then, now, .. } = self.scene;
        let named = |items: &[ComparedBlock<'_>]| -> Vec<usize> {
            let all = 0..items.len();
            all.filter(|at| items[*at].in_sequence && !items[*at].is_unnamed()).collect()
        };
        let (old, new) = (named(then), named(now));
        let names = |items: &[ComparedBlock<'_>], places: &[usize]| -> Vec<Short> {
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
        let leaf = |item: &ComparedBlock<'_>| (item.row.kind, item.row.name);
        let is_named = |item: &&ComparedBlock<'_>| !item.is_unnamed();
        let (mut gone, mut come) = (0, 0);
        for item in self.then.iter().map(|at| &then[*at]).filter(is_named) {
            self.leaves.entry(leaf(item)).or_default().0 += 1;
            gone += 1;
        }
        for item in self.now.iter().map(|at| &now[*at]).filter(is_named) {
            self.leaves.entry(leaf(item)).or_default().1 += 1;
            come += 1;
        }
        self.is_exchange = (gone, come) == (1, 1);
        self.is_that_file = self.scene.reach == Reach::Renamed && self.reads_on();
        let names =
            self.then.iter().map(|at| &then[*at]).chain(self.now.iter().map(|at| &now[*at]));
        let names = names.filter_map(|item| item.name);
        self.words = names.map(|name| (name.leaf, NameWords::from_name(name.leaf))).collect();
        self.find_containers();
        let may_be_alike = |new: &usize| !now[*new].is_unnamed() && !(self.scene.is_copy)(*new);
        self.originals = self.now.iter().copied().filter(may_be_alike).collect();
    }

    /// Returns true if enough definitions of sufficient size read as an earlier one did, names
    /// aside.
    fn reads_on(&self) -> bool {
        let Scene { then, now, .. } = self.scene;
        let hashes = |item: &ComparedBlock<'_>| [item.row.text, item.row.tokens, item.row.shape];
        let before: HashSet<Short> = then.iter().flat_map(hashes).collect();
        let reads = |item: &&ComparedBlock<'_>| {
            let is_sizeable = item.size.is_some_and(|size| size >= MIN_ACROSS_TOKENS);
            !item.is_unnamed()
                && is_sizeable
                && hashes(item).iter().any(|hash| before.contains(hash))
        };
        now.iter().filter(reads).take(MIN_READ_ON).count() == MIN_READ_ON
    }

    /// Returns true if the file was renamed and both blocks are methods of a type with the same
    /// name. A different class that implements the same interface has another name.
    fn is_of_that_type(&self, then: &ComparedBlock<'_>, now: &ComparedBlock<'_>) -> bool {
        let (Some(a), Some(b)) = (then.name, now.name) else { return false };
        let are_methods = a.kind == "method" && b.kind == "method";
        self.scene.reach == Reach::Renamed && are_methods && a.container() == b.container()
    }

    /// Finds the new container of blocks whose members do not show it, by the container's own
    /// lines.
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

    /// Collects the pairs that may be one block, and measures how alike each pair is.
    pub(super) fn pairs(&self) -> Vec<MeasuredPair> {
        let candidates = self.candidates();
        let kept: Vec<Option<f32>> =
            candidates.iter().map(|(old, new)| self.share_kept(*old, *new)).collect();
        let mut carriers: HashMap<usize, Vec<usize>> = HashMap::new();
        for ((old, new), kept) in candidates.iter().zip(&kept) {
            let same = self.scene.then[*old].row.identity == self.scene.now[*new].row.identity;
            if same && kept.is_some_and(|kept| kept >= MOSTLY_KEPT) {
                carriers.entry(*old).or_default().push(*new);
            }
        }
        let measured = candidates.into_iter().zip(kept).map(|((old, new), kept)| {
            let name_stands = self.scene.reach != Reach::Elsewhere
                && carriers.get(&old).is_some_and(|all| all.iter().any(|other| *other != new));
            let likeness = self.likeness((old, new), kept, name_stands);
            MeasuredPair { then: old, now: new, likeness, outcome: Err(Rejection::TooUnlike) }
        });
        measured.collect()
    }

    fn share_kept(&self, old: usize, new: usize) -> Option<f32> {
        let (then, now) = (&self.scene.then[old], &self.scene.now[new]);
        then.body.as_ref()?.share_kept(then.size?, now.body.as_ref()?, now.size.unwrap_or_default())
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
                if is_namesake { 1.0 } else { self.words[&a.leaf].in_common(&self.words[&b.leaf]) },
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
            is_that_file: self.is_that_file || self.is_of_that_type(then, now),
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

    fn lines_left(&self, then: &ComparedBlock<'_>, now: &ComparedBlock<'_>) -> bool {
        let (Some(texts), Some(old), Some(new)) = (self.scene.texts, then.lines, now.lines) else {
            return false;
        };
        texts.is_now_in(old, new)
    }

    /// Returns true if both blocks are between the same two neighbouring pairs.
    fn gap(&self, pairs: &[(usize, usize)], old: usize, new: usize) -> bool {
        let before = pairs.partition_point(|(then, _)| *then < old);
        let last = before.checked_sub(1).map(|at| pairs[at].1);
        let next = pairs.get(before).map(|pair| pair.1);
        last.is_none_or(|last| last < new) && next.is_none_or(|next| new < next)
    }

    /// Compares the nearest blocks that kept their names. Each side adds a half if both blocks have
    /// the same neighbour there, or a quarter if neither has one.
    fn neighbours(&self, old: usize, new: usize) -> f32 {
        let around = |place: usize, of: fn(&(usize, usize)) -> usize| {
            let at = self.named.partition_point(|pair| of(pair) < place);
            let is_own = self.named.get(at).is_some_and(|pair| of(pair) == place);
            (at, at + usize::from(is_own))
        };
        let (old_at, old_after) = around(old, |pair| pair.0);
        let (new_at, new_after) = around(new, |pair| pair.1);
        let count = self.named.len();
        let side = |same: bool, none: bool| match (same, none) {
            (true, true) => 0.25,
            (true, false) => 0.5,
            _ => 0.0,
        };
        side(old_at == new_at, old_at == 0) + side(old_after == new_after, old_after == count)
    }

    fn container(&self, then: &ComparedBlock<'_>, now: &ComparedBlock<'_>) -> f32 {
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

    /// Returns the pairs that may be one block, in order.
    fn candidates(&self) -> Vec<(usize, usize)> {
        let mut candidates = Vec::new();
        let Scene { then, now, .. } = self.scene;
        type LookupKey = (u8, Short);
        let keys = |item: &ComparedBlock<'_>| -> Vec<LookupKey> {
            let row = &item.row;
            let mut leaf = Short::default();
            leaf[..4].copy_from_slice(&row.name);
            leaf[4..6].copy_from_slice(&row.kind);
            let hashes = [row.text, row.tokens, row.shape, row.identity, leaf];
            let count = if item.is_unnamed() { 2 } else { 5 };
            (0..).zip(hashes).take(count).collect()
        };
        let mut by_key: HashMap<LookupKey, Vec<usize>> = HashMap::new();
        for at in &self.now {
            for key in keys(&now[*at]) {
                by_key.entry(key).or_default().push(*at);
            }
        }
        let mut counts: HashMap<LookupKey, usize> = HashMap::new();
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
        candidates.sort_unstable();
        candidates.dedup();
        candidates.retain(|(old, new)| (self.scene.admits)(*old, *new));
        candidates
    }

    /// Of many equal blocks, returns those that are nearest in the order of the file.
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

    /// Returns the current blocks whose bodies are most like an earlier one. For a block without a
    /// name, returns those in the same gap.
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

    /// Adds each pair of containers without a match such that a settled block went from one to the
    /// other.
    fn add_containers(&self, candidates: &mut Vec<(usize, usize)>) {
        let (then, now): (BTreeSet<usize>, BTreeSet<usize>) =
            (self.then.iter().copied().collect(), self.now.iter().copied().collect());
        let open = self.members.keys().filter(|(a, b)| then.contains(a) && now.contains(b));
        candidates.extend(open.copied());
    }
}

/// Returns true if the kinds allow the earlier block to have become the current one. For example, a
/// function may become a method. If only a hash of the earlier kind is known, both kinds must be
/// equal.
fn may_be_one(then: &ComparedBlock<'_>, now: &ComparedBlock<'_>) -> bool {
    match (then.name, now.name) {
        (Some(a), Some(b)) => may_become(a.kind, b.kind),
        _ => then.row.kind == now.row.kind,
    }
}
