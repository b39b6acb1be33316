//! The recorded history of a file: its versions, and for each block which state follows which.
//!
//! Of every record it is known what its file was before and after, so the records of a path give a sequence of versions
//! (a tree, where branches or work trees recorded on top of the same one). From one version to the next the blocks are aligned, and a
//! block that changed gets a new *state*. A state knows the record that made it, if one did, and the state before. So
//! following a block back through its states tells who made it what it is, what it was before its first record, and
//! which states in between nobody recorded.

mod kept;

pub(crate) use kept::KeptTrail;

use std::collections::{HashMap, HashSet};

use super::matching::Reach;
use super::matching::align::Scene;
use super::matching::item::{Item, row_of_record};
use super::outline::{Outline, Row};
use crate::code::{ContentHash, difference};
use crate::ledger::{ClaimRef, Ledger, Trust};
use crate::workspace::{RelativePath, store};

/// Of more versions that nothing is recorded on top of, only the newest are looked at.
pub(crate) const MAX_LEAVES: usize = 8;

/// Index of a [`State`] of a trail.
pub(crate) type StateId = u32;

/// A block in one version, or in several in which it did not change.
#[derive(Clone, Debug)]
pub struct State {
    /// As the outline has it.
    pub row: Row,
    /// The record that made it so; `None` where nobody recorded that.
    pub by: Option<ClaimRef>,
    /// What it was before.
    pub before: Option<StateId>,
}

/// A version of the file.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// The whole file is known, not only some blocks.
    pub is_known: bool,
    /// One for each row of the outline.
    pub states: Vec<StateId>,
    /// States of blocks whose place is not known: their records say nothing of the rest of the file.
    pub loose: Vec<StateId>,
    /// States of recorded blocks that went and have not come back.
    pub gone: Vec<StateId>,
    /// Nothing is recorded on top of it.
    pub is_leaf: bool,
    /// The newest record in it; `None` of a version that nobody recorded.
    pub last: Option<ClaimRef>,
    /// The record for whose sake it is known.
    at: Option<ClaimRef>,
}

/// What the records of a path come to.
#[derive(Debug, Default)]
pub struct Trail {
    states: Vec<State>,
    versions: Vec<Version>,
    /// Records of foreign tools, which name no block, by text.
    nameless: HashMap<ContentHash, ClaimRef>,
    /// Records of blocks whose deletion is recorded, too.
    deleted: HashSet<ClaimRef>,
    /// The state that each record made.
    made: HashMap<ClaimRef, StateId>,
    /// When the last change was made, in seconds since 1970. `None` if there is none, or nobody knows.
    last_time: Option<i64>,
}

/// Whether one commit is another, or an ancestor of it; `true` where nobody can say.
pub(crate) type Precedes<'a> = &'a dyn Fn(&str, &str) -> bool;

/// One change of the file: all that was recorded of it at once.
struct RecordedChange {
    /// What the file was before and after.
    outlines: Option<(Outline, Outline)>,
    claims: Vec<ClaimRef>,
}

impl Trail {
    /// Reads records of a path, in fold order. `precedes` tells whether one commit is the other, or an ancestor of it.
    pub fn of(
        ledger: &Ledger,
        path: &RelativePath,
        claims: &[ClaimRef],
        precedes: Precedes<'_>,
    ) -> Self {
        let mut trail = Self::default();
        trail.go_on(ledger, events(ledger, path, claims, precedes), precedes);
        trail
    }

    /// The same trail with more records of its path. `None` if one of them does not come after all that it has.
    pub fn and(
        mut self,
        ledger: &Ledger,
        path: &RelativePath,
        claims: &[ClaimRef],
        precedes: Precedes<'_>,
    ) -> Option<Self> {
        let events = events(ledger, path, claims, precedes);
        let is_later = events.first().is_none_or(|(time, _)| *time > self.last_time);
        is_later.then(|| self.go_on(ledger, events, precedes))?;
        Some(self)
    }

    fn go_on(
        &mut self,
        ledger: &Ledger,
        events: Vec<(Option<i64>, RecordedChange)>,
        precedes: Precedes<'_>,
    ) {
        for (time, event) in events {
            self.take(ledger, &event, precedes);
            self.last_time = time;
        }
    }

    /// A state of this trail.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id as usize]
    }

    /// A state and those before it, newest first.
    pub fn chain(&self, id: StateId) -> impl Iterator<Item = StateId> + '_ {
        std::iter::successors(Some(id), |id| self.state(*id).before)
    }

    /// The newest record of a state or of those before it.
    pub fn claim(&self, id: StateId) -> Option<ClaimRef> {
        self.chain(id).find_map(|id| self.state(id).by)
    }

    /// The state that a record made; `None` where it is no record of this path.
    pub fn made_by(&self, at: ClaimRef) -> Option<StateId> {
        self.made.get(&at).copied()
    }

    /// Whether a block of this name, or of this text, was in the file when a record of it was made.
    pub fn stood_beside(&self, at: ClaimRef, row: &Row) -> bool {
        let Some(made) = self.made_by(at) else { return false };
        let version = self.versions.iter().find(|version| version.states.contains(&made));
        let states = version.into_iter().flat_map(|version| &version.states);
        states.filter(|id| **id != made).any(|id| {
            let other = self.state(*id).row;
            other.identity == row.identity || other.text == row.text
        })
    }

    /// What was recorded of the same block on other branches: the last record of each.
    pub fn beside(&self, at: ClaimRef) -> Vec<ClaimRef> {
        let Some(made) = self.made_by(at) else { return Vec::new() };
        let identity = self.state(made).row.identity;
        let of = |version: &Version| {
            let named = |id: &&StateId| self.state(**id).row.identity == identity;
            self.claim(*version.states.iter().find(named)?)
        };
        let mut beside: Vec<ClaimRef> = self.leaves().take(MAX_LEAVES).filter_map(of).collect();
        let is_earlier =
            |one: &ClaimRef| self.chain(made).any(|id| self.state(id).by == Some(*one));
        beside.retain(|one| !is_earlier(one));
        beside.dedup();
        beside
    }

    /// The versions that nothing is recorded on top of, newest first.
    pub fn leaves(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().rev().filter(|version| version.is_leaf)
    }

    /// The last version that was recorded.
    pub fn newest(&self) -> Option<&Version> {
        self.versions.last()
    }

    /// The last version that has any block. For a file whose blocks were all recorded as removed, this is the version before
    /// that.
    pub fn last_standing(&self) -> Option<&Version> {
        let stands = |version: &&Version| !version.states.is_empty() || !version.loose.is_empty();
        self.leaves().find(stands).or_else(|| self.versions.iter().rev().find(stands))
    }

    /// The last version that was recorded no later than a record of any path.
    pub fn before(&self, at: ClaimRef) -> Option<&Version> {
        let earlier = |version: &&Version| version.last.is_some_and(|last| last.entry <= at.entry);
        self.versions.iter().rev().find(earlier)
    }

    /// The outline of a version.
    pub fn outline(&self, version: &Version) -> Outline {
        Outline { rows: version.states.iter().map(|id| self.state(*id).row).collect() }
    }

    /// The versions of which the whole file is known, newest first.
    pub fn versions_known(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().rev().filter(|version| version.is_known)
    }

    /// The outline of the last version of which the whole file is known.
    pub fn last_outline(&self) -> Option<Outline> {
        self.versions_known().next().map(|version| self.outline(version))
    }

    /// The last record of a text without a name, by a foreign tool.
    pub(super) fn nameless(&self, text: &ContentHash) -> Option<ClaimRef> {
        self.nameless.get(text).copied()
    }

    /// The records that are the last word on some block that stands, by all that is recorded; in order.
    pub fn heads(&self) -> Vec<ClaimRef> {
        let mut heads: Vec<ClaimRef> = Vec::new();
        let mut older: HashSet<ClaimRef> = self.deleted.clone();
        for version in self.leaves() {
            for id in version.states.iter().chain(&version.loose) {
                let mut claims = self.chain(*id).filter_map(|id| self.state(id).by);
                heads.extend(claims.next());
                older.extend(claims);
            }
        }
        heads.retain(|at| !older.contains(at));
        heads.sort_unstable();
        heads.dedup();
        heads
    }

    /// The records of blocks that went, by what is recorded.
    pub fn gone(&self) -> Vec<ClaimRef> {
        let mut gone: Vec<ClaimRef> = self
            .leaves()
            .flat_map(|version| version.gone.iter().filter_map(|id| self.claim(*id)))
            .collect();
        gone.sort_unstable();
        gone.dedup();
        gone
    }

    /// The version that a change was made to, or goes on from with something that nobody recorded: the newest of its
    /// branch.
    fn base(
        &self,
        ledger: &Ledger,
        event: &RecordedChange,
        precedes: Precedes<'_>,
    ) -> Option<usize> {
        let of = |at: Option<ClaimRef>| ledger.based_on(at?.entry);
        let then = of(event.claims.first().copied());
        let is_before = |version: &Version| match (of(version.at), then) {
            (Some(earlier), Some(later)) if earlier != later => precedes(earlier, later),
            _ => true,
        };
        self.versions.iter().rposition(is_before)
    }

    fn take(&mut self, ledger: &Ledger, event: &RecordedChange, precedes: Precedes<'_>) {
        let last = event.claims.iter().max().copied();
        for at in &event.claims {
            let range = ledger.claim(*at).range();
            if range.block.is_none() && !range.deleted {
                self.nameless.insert(range.content_hash.clone(), *at);
            }
        }
        match &event.outlines {
            Some((before, after)) => {
                let at = event.claims.first().copied();
                let mut base = self.base(ledger, event, precedes);
                let stands = |base: usize| {
                    let version = &self.versions[base];
                    version.is_known && self.outline(version).rows == before.rows
                };
                if !base.is_some_and(stands) {
                    base = Some(self.step(ledger, base, before, (&[], at)));
                }
                self.step(ledger, base, after, (&event.claims, at));
            }
            None => self.add_loose(ledger, &event.claims),
        }
        if let Some(version) = self.versions.last_mut() {
            version.last = version.last.max(last);
        }
    }

    /// One more version on top of another; its index.
    fn step(
        &mut self,
        ledger: &Ledger,
        base: Option<usize>,
        outline: &Outline,
        (claims, at): (&[ClaimRef], Option<ClaimRef>),
    ) -> usize {
        let made_for = at;
        let on_top_of = base;
        let base = base.map(|base| self.versions[base].clone()).unwrap_or_default();
        let mut by_row: HashMap<usize, Vec<ClaimRef>> = HashMap::new();
        let mut was: HashMap<usize, usize> = HashMap::new();
        for at in claims {
            let range = ledger.claim(*at).range();
            if range.deleted {
                continue;
            }
            let Some(row) = range.row.map(|row| row as usize) else { continue };
            by_row.entry(row).or_default().push(*at);
            was.extend(range.was.map(|old| (row, old as usize)));
        }
        // What was made again, for a commit that holds another text than was recorded, is the later word.
        let is_found = |at: &ClaimRef| ledger.claim(*at).range().lines.is_some();
        by_row.values_mut().for_each(|claims| claims.sort_by_key(is_found));
        let origins = self.origins(ledger, &base, outline, (&by_row, &was));
        let mut states = Vec::with_capacity(outline.rows.len());
        let mut used = vec![false; self.states.len()];
        // What was recorded is not there any more: this was made beside it, on another branch, or it was taken back.
        let mut is_fork = false;
        for (at, row) in outline.rows.iter().enumerate() {
            let before = origins[at];
            if let Some(before) = before {
                used[before as usize] = true;
            }
            let by = by_row.get(&at).map_or(&[][..], |by| by);
            let taken_back = before.filter(|_| by.is_empty()).and_then(|id| self.same(id, row));
            is_fork |= taken_back.is_some_and(|same| {
                let between = self.chain(before.unwrap_or(same)).take_while(|id| *id != same);
                between.into_iter().any(|id| self.state(id).by.is_some())
            });
            states.push(match taken_back {
                Some(same) if self.state(same).row == *row => same,
                other => {
                    // Where several sessions made one block what it is, each did after the one before.
                    let mut state = other.or(before);
                    let first = by.is_empty().then_some(None);
                    for by in first.into_iter().chain(by.iter().copied().map(Some)) {
                        state = Some(self.push(State { row: *row, by, before: state }));
                    }
                    state.expect("one state at least was pushed")
                }
            });
        }
        let left = base.states.iter().chain(&base.gone).copied();
        let gone = left.filter(|id| !used[*id as usize] && self.claim(*id).is_some()).collect();
        let loose = base.loose.iter().copied().filter(|id| !used[*id as usize]).collect();
        let deletes = claims.iter().any(|at| ledger.claim(*at).range().deleted);
        // A version that nobody recorded was only seen later: when it came to be is not known.
        let last = base.last.filter(|_| !claims.is_empty());
        let version =
            Version { is_known: true, states, loose, gone, is_leaf: true, last, at: made_for };
        if let Some(below) = on_top_of {
            self.versions[below].is_leaf &= is_fork;
        }
        if deletes {
            let gone: Vec<ClaimRef> =
                version.gone.iter().filter_map(|id| self.claim(*id)).collect();
            self.deleted.extend(gone);
        }
        self.versions.push(version);
        self.versions.len() - 1
    }

    /// The newest of a state and those before it that reads so: where nobody recorded what came after it, that was taken
    /// back.
    fn same(&self, id: StateId, row: &Row) -> Option<StateId> {
        self.chain(id).find(|id| self.state(*id).row.text == row.text)
    }

    /// For each row of a new version, the state that it goes on from.
    fn origins(
        &self,
        ledger: &Ledger,
        base: &Version,
        outline: &Outline,
        (by_row, was): (&HashMap<usize, Vec<ClaimRef>>, &HashMap<usize, usize>),
    ) -> Vec<Option<StateId>> {
        let before = self.outline(base);
        let mut origins: Vec<Option<StateId>> = vec![None; outline.rows.len()];
        let mut taken = vec![false; base.states.len()];
        for (row, old) in was {
            if let (Some(slot), Some(state)) = (origins.get_mut(*row), base.states.get(*old)) {
                *slot = Some(*state);
                taken[*old] = true;
            }
        }
        for (old, new) in difference::common(&before.rows, &outline.rows) {
            if !taken[old] && origins[new].is_none() && !by_row.contains_key(&new) {
                origins[new] = Some(base.states[old]);
                taken[old] = true;
            }
        }
        let is_open = |new: usize| origins[new].is_none() && !by_row.contains_key(&new);
        let open: Vec<usize> = (0..origins.len()).filter(|new| is_open(*new)).collect();
        let free: Vec<usize> = (0..taken.len()).filter(|old| !taken[*old]).collect();
        // Something changed that nobody recorded.
        let had_gone = |row: &Row| {
            let mut aside = base.loose.iter().chain(&base.gone).map(|id| self.state(*id).row);
            aside.any(|gone| gone.identity == row.identity || gone.text == row.text)
        };
        match (&free[..], &open[..]) {
            (_, []) => return origins,
            ([], _) if base.loose.is_empty() && base.gone.is_empty() => return origins,
            // Most often that is one block, whose name tells: comparing all of the file's blocks would say the same.
            ([old], [new]) => {
                let (then, now) = (&before.rows[*old], &outline.rows[*new]);
                if then.identity == now.identity && !now.is_unnamed() && !had_gone(now) {
                    origins[*new] = Some(base.states[*old]);
                    return origins;
                }
            }
            _ => {}
        }
        let then = self.items(ledger, base);
        let containers = outline.containers();
        let now: Vec<Item<'_>> = outline
            .rows
            .iter()
            .zip(containers)
            .map(|(row, container)| Item::of_row(*row, container))
            .collect();
        let is_free = |old: usize| taken.get(old).is_none_or(|taken| !taken);
        let scene = Scene {
            then: &then,
            now: &now,
            reach: Reach::File,
            texts: None,
            is_open: &is_open,
            admits: &|old, _| is_free(old),
            is_copy: &|_| false,
        };
        let alignment = scene.align();
        let ids = self.ids(base);
        for (new, origin) in origins.iter_mut().enumerate() {
            if origin.is_none() && !by_row.contains_key(&new) {
                *origin = alignment.of(new).map(|old| ids[old]);
            }
        }
        origins
    }

    /// The states of a version in the order of [`Self::items`].
    pub(super) fn ids(&self, version: &Version) -> Vec<StateId> {
        [&version.states[..], &version.loose, &version.gone].concat()
    }

    /// The blocks of a version, those whose place is not known, and those that went.
    pub(super) fn items<'a>(&self, ledger: &'a Ledger, version: &Version) -> Vec<Item<'a>> {
        let known = |id: &StateId, item: Item<'a>| match self.claim(*id) {
            Some(at) => item.with_record(ledger.claim(at).range(), at),
            None => item,
        };
        let containers = self.outline(version).containers();
        let standing = version.states.iter().zip(containers);
        let standing =
            standing.map(|(id, outer)| known(id, Item::of_row(self.state(*id).row, outer)));
        let alone = |id: &StateId| known(id, Item::of_row(self.state(*id).row, None));
        let loose = version.loose.iter().map(|id| alone(id).aside());
        let gone = version.gone.iter().map(|id| alone(id).gone());
        standing.chain(loose).chain(gone).collect()
    }

    /// Records that do not say what the rest of the file was.
    fn add_loose(&mut self, ledger: &Ledger, claims: &[ClaimRef]) {
        let base = self.versions.iter().rposition(|version| version.is_leaf);
        let mut version = base.map(|base| {
            self.versions[base].is_leaf = false;
            self.versions[base].clone()
        });
        let version = version.get_or_insert_default();
        for at in claims {
            let range = ledger.claim(*at).range();
            let Some(row) = row_of_record(range) else { continue };
            let place = self.place_of(version, &row);
            if range.deleted {
                if let Some(id) = place {
                    self.deleted.extend(self.claim(id));
                    version.states.retain(|other| *other != id);
                    version.loose.retain(|other| *other != id);
                    version.gone.push(id);
                }
                continue;
            }
            let state = self.push(State { row, by: Some(*at), before: place });
            let slots = version.states.iter_mut().chain(&mut version.loose);
            match slots.into_iter().find(|slot| Some(**slot) == place) {
                Some(slot) => *slot = state,
                None => version.loose.push(state),
            }
        }
        version.is_leaf = true;
        version.at = claims.first().copied();
        version.is_known = false;
        let version = std::mem::take(version);
        self.versions.push(version);
    }

    /// The block of a version that a record without an outline speaks of: of those of its name, the one that reads so
    /// already, or else the first.
    fn place_of(&self, version: &Version, row: &Row) -> Option<StateId> {
        let all = version.states.iter().chain(&version.loose).copied();
        let named: Vec<StateId> =
            all.filter(|id| self.state(*id).row.identity == row.identity).collect();
        let reads = |id: &&StateId| self.state(**id).row.text == row.text;
        named.iter().find(reads).or(named.first()).copied()
    }

    fn push(&mut self, state: State) -> StateId {
        let id = self.states.len() as StateId;
        self.made.extend(state.by.map(|by| (by, id)));
        self.states.push(state);
        id
    }
}

/// What was recorded of a path, in order, each with its time in seconds since 1970; what one commit brought is one event,
/// whoever recorded it.
///
/// A commit counts from when it was made. Git tells that in whole seconds, so of two commits of one second their history
/// says which was first.
fn events(
    ledger: &Ledger,
    path: &RelativePath,
    claims: &[ClaimRef],
    precedes: Precedes<'_>,
) -> Vec<(Option<i64>, RecordedChange)> {
    let mut events: Vec<(Option<i64>, RecordedChange)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for at in claims.iter().copied() {
        let entry = ledger.claim(at).entry;
        if entry.trust == Trust::Contradicted {
            continue;
        }
        let derived = ledger.derived(at.entry);
        let commit = derived.and_then(|derived| derived.commit.clone());
        let section = entry.section.map(|section| section.to_string());
        let key = commit.or(section).unwrap_or_else(|| at.entry.to_string());
        let place = *places.entry(key).or_insert_with(|| {
            let recorded = || Some(store::milliseconds(&entry.record.timestamp)?.div_euclid(1_000));
            let time = derived.and_then(|derived| derived.committed).or_else(recorded);
            let outlines = ledger.outlines(at.entry, path);
            events.push((time, RecordedChange { outlines, claims: Vec::new() }));
            events.len() - 1
        });
        events[place].1.claims.push(at);
    }
    events.sort_by_key(|(time, _)| *time);
    let follows = |earlier: &RecordedChange, later: &RecordedChange| {
        let of = |event: &RecordedChange| Some(event.claims.first()?.entry);
        let made = of(later).and_then(|at| ledger.derived(at)?.commit.as_deref());
        let based_on = of(earlier).and_then(|at| ledger.based_on(at));
        made.zip(based_on).is_some_and(|(made, based_on)| precedes(made, based_on))
    };
    for end in 1..events.len() {
        let mut at = end;
        while at > 0
            && events[at - 1].0 == events[at].0
            && follows(&events[at - 1].1, &events[at].1)
        {
            events.swap(at - 1, at);
            at -= 1;
        }
    }
    events
}
