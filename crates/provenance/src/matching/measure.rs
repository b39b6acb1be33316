//! Collects the pairs of an earlier and a current block that may be one block, and measures how
//! alike they are.
//!
//! A pair is measured if the blocks have a hash in common, if their bodies are alike, if they are
//! in the same gap between settled blocks, or if the current block contains blocks that the earlier
//! one contained.

use std::collections::{BTreeSet, HashMap};

use super::align::{Alignment, Fit, MeasuredPair, Scene, best_first};
use super::item::ComparedBlock;
use super::likeness::{self, Likeness, NameWords, body_likeness, signature_likeness};
use super::rules::MOSTLY_KEPT;
use crate::names::may_become;
use code::{difference, fingerprint};
use ledger::outline::Short;

/// The maximum number of blocks that are compared with one earlier block for one reason.
const MAX_COMPARED: usize = 16;
/// The maximum number of pairs that are compared because they share one hash.
const MAX_EQUAL: usize = 4096;

pub(super) struct Measure<'a> {
    scene: &'a Scene<'a>,
    then: Vec<usize>,
    now: Vec<usize>,
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
    /// The words of the names of all blocks without a match.
    words: HashMap<&'a str, NameWords>,
    /// Current blocks without a match that have a name. Only these may be found by likeness.
    definitions: Vec<usize>,
}

impl<'a> Measure<'a> {
    pub(super) fn new(scene: &'a Scene<'a>, alignment: &Alignment) -> Self {
        let settled = &alignment.stands;
        let then: Vec<usize> = (0..scene.then.len()).filter(|at| settled[*at].is_none()).collect();
        let is_new = |at: &usize| matches!(alignment.fits[*at], Fit::New);
        let now: Vec<usize> = (0..scene.now.len()).filter(is_new).collect();
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
            definitions: Vec::new(),
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
            (0..items.len()).filter(|at| !items[*at].is_unnamed()).collect()
        };
        let (old, new) = (named(then), named(now));
        let names = |items: &[ComparedBlock<'_>], places: &[usize]| -> Vec<Short> {
            places.iter().map(|at| items[*at].row.identity).collect()
        };
        let common = difference::common(&names(then, &old), &names(now, &new));
        self.named = common.into_iter().map(|(a, b)| (old[a], new[b])).collect();
        for item in *then {
            if let Some(outer) = item.block.container {
                *self.sizes.entry(outer).or_default() += 1;
            }
        }
        for (old, new) in &self.pins {
            if let (Some(a), Some(b)) = (then[*old].block.container, now[*new].block.container) {
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
        for item in self.then.iter().map(|at| &then[*at]).filter(is_named) {
            self.leaves.entry(leaf(item)).or_default().0 += 1;
        }
        for item in self.now.iter().map(|at| &now[*at]).filter(is_named) {
            self.leaves.entry(leaf(item)).or_default().1 += 1;
        }
        let sum = |sum: (u32, u32), one: &(u32, u32)| (sum.0 + one.0, sum.1 + one.1);
        self.is_exchange = self.leaves.values().fold((0, 0), sum) == (1, 1);
        let open = self.then.iter().map(|at| &then[*at]).chain(self.now.iter().map(|at| &now[*at]));
        let names = open.map(|item| item.block.name.as_str());
        self.words = names.map(|name| (name, NameWords::from_name(name))).collect();
        self.find_containers();
        self.definitions = self.now.iter().copied().filter(|at| !now[*at].is_unnamed()).collect();
    }

    /// Finds the new container of blocks whose members do not show it, by the container's own
    /// lines.
    fn find_containers(&mut self) {
        let Scene { then, now, texts } = self.scene;
        let holders: BTreeSet<usize> =
            self.now.iter().filter_map(|new| now[*new].block.container).collect();
        if holders.len() > MAX_COMPARED {
            return;
        }
        for old in self.then.iter().copied() {
            if self.containers.contains_key(&old) || !self.sizes.contains_key(&old) {
                continue;
            }
            let lines = then[old].block.lines;
            let is_left = |new: &&usize| texts.went_to(lines, now[**new].block.lines);
            let mut left = holders.iter().filter(is_left);
            if let (Some(only), None) = (left.next(), left.next()) {
                self.containers.insert(old, *only);
            }
        }
    }

    pub(super) fn measured_pairs(&self) -> Vec<MeasuredPair> {
        let candidates = self.candidate_pairs();
        let kept: Vec<f32> =
            candidates.iter().map(|(old, new)| self.share_kept(*old, *new)).collect();
        let mut carriers: HashMap<usize, Vec<usize>> = HashMap::new();
        for ((old, new), kept) in candidates.iter().zip(&kept) {
            let same = self.scene.then[*old].row.identity == self.scene.now[*new].row.identity;
            if same && *kept >= MOSTLY_KEPT {
                carriers.entry(*old).or_default().push(*new);
            }
        }
        let measured = candidates.into_iter().zip(kept).map(|((old, new), kept)| {
            let name_stands =
                carriers.get(&old).is_some_and(|all| all.iter().any(|other| *other != new));
            let likeness = self.measured_likeness((old, new), kept, name_stands);
            MeasuredPair { then: old, now: new, likeness }
        });
        measured.collect()
    }

    fn share_kept(&self, old: usize, new: usize) -> f32 {
        let print = |item: &ComparedBlock<'a>| &item.block.fingerprint;
        fingerprint::share_kept(print(&self.scene.then[old]), print(&self.scene.now[new]))
    }

    fn measured_likeness(
        &self,
        (old, new): (usize, usize),
        kept: f32,
        name_stands: bool,
    ) -> Likeness {
        let Scene { texts, .. } = self.scene;
        let (then, now) = (&self.scene.then[old], &self.scene.now[new]);
        let (was, is) = (then.block, now.block);
        let is_namesake = then.row.name == now.row.name;
        let words = match is_namesake {
            true => 1.0,
            false => self.words[was.name.as_str()].in_common(&self.words[is.name.as_str()]),
        };
        let (before, after) = (&was.identity.parameters, &is.identity.parameters);
        Likeness {
            is_named: !then.is_unnamed() && !now.is_unnamed(),
            text: then.row.text == now.row.text,
            tokens: then.row.tokens == now.row.tokens,
            shape: then.row.shape == now.row.shape && now.size() > 0,
            identity: then.row.identity == now.row.identity,
            leaf: is_namesake && then.row.kind == now.row.kind,
            may_become: may_become(was.identity.kind, is.identity.kind),
            size: now.size(),
            body: body_likeness(&was.fingerprint, &is.fingerprint),
            kept,
            words,
            signature: signature_likeness(is_namesake, before.as_deref(), after.as_deref()),
            container: self.container_likeness(then, now),
            members: self.members_of(old, new),
            neighbours: self.neighbour_likeness(old, new),
            in_gap: self.is_in_same_gap(&self.pins, old, new),
            lines_left: texts.is_now_in(was.lines, is.lines),
            is_called_instead: !is_namesake && texts.is_called_instead(&was.name, &is.name),
            name_stands,
            is_only_leaf: self.leaves.get(&(then.row.kind, then.row.name)) == Some(&(1, 1)),
            is_exchange: self.is_exchange,
        }
    }

    fn is_in_same_gap(&self, pairs: &[(usize, usize)], old: usize, new: usize) -> bool {
        let before = pairs.partition_point(|(then, _)| *then < old);
        let last = before.checked_sub(1).map(|at| pairs[at].1);
        let next = pairs.get(before).map(|pair| pair.1);
        last.is_none_or(|last| last < new) && next.is_none_or(|next| new < next)
    }

    /// Compares the nearest blocks that kept their names. Each side adds a half if both blocks have
    /// the same neighbour there, or a quarter if neither has one.
    fn neighbour_likeness(&self, old: usize, new: usize) -> f32 {
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

    fn container_likeness(&self, then: &ComparedBlock<'_>, now: &ComparedBlock<'_>) -> f32 {
        let went = then.block.container.map(|outer| self.containers.get(&outer));
        let is_same = match (went, now.block.container) {
            (None, None) => true,
            (Some(went), Some(outer)) => went == Some(&outer),
            _ => false,
        };
        let (old, new) = (then.container_path(), now.container_path());
        match is_same || old == new {
            true => 1.0,
            false if old.rsplit('.').next() == new.rsplit('.').next() => 0.5,
            false => 0.0,
        }
    }

    fn members_of(&self, old: usize, new: usize) -> f32 {
        let there = self.members.get(&(old, new)).copied().unwrap_or_default();
        let all = self.sizes.get(&old).copied().unwrap_or_default();
        if all == 0 { 0.0 } else { there as f32 / all as f32 }
    }

    fn candidate_pairs(&self) -> Vec<(usize, usize)> {
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
                candidates.extend(self.nearest_equal(old, equal, most).map(|new| (old, new)));
            }
            candidates.extend(self.likeliest_blocks(old).into_iter().map(|new| (old, new)));
        }
        self.add_containers(&mut candidates);
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// Of many equal blocks, returns those that are nearest in the order of the file.
    fn nearest_equal<'b>(
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
    fn likeliest_blocks(&self, old: usize) -> Vec<usize> {
        let Scene { then, now, .. } = self.scene;
        let item = &then[old];
        if item.is_unnamed() {
            let in_gap =
                |new: &usize| now[*new].is_unnamed() && self.is_in_same_gap(&self.pins, old, *new);
            return self.now.iter().copied().filter(in_gap).take(MAX_COMPARED).collect();
        }
        if item.size() < likeness::MIN_TOKENS {
            return Vec::new();
        }
        let mut alike: Vec<(f32, usize)> = self
            .definitions
            .iter()
            .copied()
            .filter(|new| likeness::are_like_sizes(item.size(), now[*new].size()))
            .map(|new| (body_likeness(&item.block.fingerprint, &now[new].block.fingerprint), new))
            .filter(|(alike, _)| *alike >= likeness::ENOUGH_BODY)
            .collect();
        if alike.len() > MAX_COMPARED {
            alike.select_nth_unstable_by(MAX_COMPARED, best_first);
            alike.truncate(MAX_COMPARED);
        }
        alike.into_iter().map(|(_, new)| new).collect()
    }

    fn add_containers(&self, candidates: &mut Vec<(usize, usize)>) {
        let is_in = |open: &[usize], at: &usize| open.binary_search(at).is_ok();
        let open = self.members.keys().filter(|(a, b)| is_in(&self.then, a) && is_in(&self.now, b));
        candidates.extend(open.copied());
    }
}
