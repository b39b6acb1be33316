//! The recorded history of a file: its versions, and for each block the chain of its states.
//!
//! Each record says what its file was before and after, so the records of a path form a sequence of
//! versions. The sequence is a tree if branches or work trees recorded changes to the same version.
//! The blocks of consecutive versions are aligned, and a block that changed gets a new *state*. A
//! state holds the record that made it, if any, and the state before it. So the chain of states of
//! a block shows who made it what it is, what it was before its first record, and which changes in
//! between nobody recorded.

mod stored;

pub use stored::StoredTrail;

use std::collections::{HashMap, HashSet};

use super::matching::Reach;
use super::matching::align::Scene;
use super::matching::item::{ComparedBlock, row_of_record};
use super::outline::{Outline, Row};
use code::{ContentHash, difference};
use ground::{RelativePath, clock};
use ledger::{ClaimRef, Ledger, Trust, sorted};

/// Only this many of the newest leaf versions are matched with the current file.
pub(crate) const MAX_LEAVES: usize = 8;

/// The index of a [`BlockState`] in a trail.
pub type StateId = u32;

/// A block in one version, or in several consecutive versions in which it did not change.
#[derive(Clone, Debug)]
pub struct BlockState {
    /// The block's row in the outline.
    pub row: Row,
    /// The record that made this state. `None` if the change was not recorded.
    pub by: Option<ClaimRef>,
    /// The previous state of the block.
    pub before: Option<StateId>,
}

/// One version of the file.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// True if the whole file is known in this version, not only some blocks.
    pub is_known: bool,
    /// The states of the blocks, one for each row of the outline.
    pub states: Vec<StateId>,
    /// States of blocks whose position in the file is not known, because their records do not
    /// describe the rest of the file.
    pub loose: Vec<StateId>,
    /// States of recorded blocks that were removed and have not come back.
    pub gone: Vec<StateId>,
    /// True if no later version continues this one. A version on another branch does not count.
    pub is_leaf: bool,
    /// The newest record in this version. `None` if the version was not recorded.
    pub last: Option<ClaimRef>,
    /// The record because of which this version is known.
    at: Option<ClaimRef>,
}

/// The versions and states that the records of a path add up to.
#[derive(Debug, Default)]
pub struct Trail {
    states: Vec<BlockState>,
    versions: Vec<Version>,
    /// Records of other tools, which name no block, by content hash.
    nameless: HashMap<ContentHash, ClaimRef>,
    /// Records of blocks that a later record deletes.
    deleted: HashSet<ClaimRef>,
    /// For each record, the state that it made.
    made: HashMap<ClaimRef, StateId>,
    /// The time of the newest change, in seconds since 1970. `None` if there is no change or its
    /// time is not known.
    last_time: Option<i64>,
}

/// Returns true if the first commit is the second one or an ancestor of it, and also if this cannot
/// be found out.
pub type Precedes<'a> = &'a dyn Fn(&str, &str) -> bool;

/// One change of the file: everything that was recorded about it at once.
struct RecordedChange {
    /// When it was made, in seconds since 1970.
    time: Option<i64>,
    /// The outlines of the file before and after the change.
    outlines: Option<(Outline, Outline)>,
    claims: Vec<ClaimRef>,
}

impl Trail {
    /// Builds the trail of a path from its records.
    pub fn from_records(
        ledger: &Ledger,
        path: &RelativePath,
        claims: &[ClaimRef],
        precedes: Precedes<'_>,
    ) -> Self {
        Self::default().with_changes(ledger, events(ledger, path, claims, precedes), precedes)
    }

    /// Adds more records of the same path to the trail. Returns `None` if one of them is not newer
    /// than all records that the trail has.
    pub fn extended(
        self,
        ledger: &Ledger,
        path: &RelativePath,
        claims: &[ClaimRef],
        precedes: Precedes<'_>,
    ) -> Option<Self> {
        let events = events(ledger, path, claims, precedes);
        let is_later = events.first().is_none_or(|event| event.time > self.last_time);
        is_later.then(|| self.with_changes(ledger, events, precedes))
    }

    fn with_changes(
        mut self,
        ledger: &Ledger,
        events: Vec<RecordedChange>,
        precedes: Precedes<'_>,
    ) -> Self {
        for event in events {
            self.add_change(ledger, &event, precedes);
            self.last_time = event.time;
        }
        self
    }

    pub fn state(&self, id: StateId) -> &BlockState {
        &self.states[id as usize]
    }

    /// Returns a state and all states before it, newest first.
    pub fn chain(&self, id: StateId) -> impl Iterator<Item = StateId> + '_ {
        std::iter::successors(Some(id), |id| self.state(*id).before)
    }

    /// Returns the newest record of a state or of one before it.
    pub fn claim(&self, id: StateId) -> Option<ClaimRef> {
        self.chain(id).find_map(|id| self.state(id).by)
    }

    /// Returns the state that a record made. `None` if the record is not one of this path.
    pub fn made_by(&self, at: ClaimRef) -> Option<StateId> {
        self.made.get(&at).copied()
    }

    /// Returns true if the version in which record `at` made a block also has another block with
    /// the name or the text of `row`.
    pub(crate) fn stood_beside(&self, at: ClaimRef, row: &Row) -> bool {
        let Some(made) = self.made_by(at) else { return false };
        let version = self.versions.iter().find(|version| version.states.contains(&made));
        let states = version.into_iter().flat_map(|version| &version.states);
        states.filter(|id| **id != made).any(|id| {
            let other = self.state(*id).row;
            other.identity == row.identity || other.text == row.text
        })
    }

    /// Returns the records of the same block on other branches, the last one of each branch.
    pub(crate) fn last_on_other_branches(&self, at: ClaimRef) -> Vec<ClaimRef> {
        let Some(made) = self.made_by(at) else { return Vec::new() };
        let identity = self.state(made).row.identity;
        let record_in = |version: &Version| {
            let named = |id: &&StateId| self.state(**id).row.identity == identity;
            self.claim(*version.states.iter().find(named)?)
        };
        let mut beside: Vec<ClaimRef> =
            self.leaves().take(MAX_LEAVES).filter_map(record_in).collect();
        let is_earlier =
            |one: &ClaimRef| self.chain(made).any(|id| self.state(id).by == Some(*one));
        beside.retain(|one| !is_earlier(one));
        beside.dedup();
        beside
    }

    /// Returns the leaf versions, newest first.
    pub fn leaves(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().rev().filter(|version| version.is_leaf)
    }

    /// Returns the version that was recorded last.
    pub fn newest(&self) -> Option<&Version> {
        self.versions.last()
    }

    /// Returns the newest version that has any block. For a file whose blocks were all recorded as
    /// removed, this is the version before the removal.
    pub(crate) fn last_standing(&self) -> Option<&Version> {
        let stands = |version: &&Version| !version.states.is_empty() || !version.loose.is_empty();
        self.leaves().find(stands).or_else(|| self.versions.iter().rev().find(stands))
    }

    /// Returns the newest version that was recorded no later than a record, which may belong to any
    /// path.
    pub fn version_before(&self, at: ClaimRef) -> Option<&Version> {
        let earlier = |version: &&Version| version.last.is_some_and(|last| last.entry <= at.entry);
        self.versions.iter().rev().find(earlier)
    }

    pub fn outline(&self, version: &Version) -> Outline {
        Outline { rows: version.states.iter().map(|id| self.state(*id).row).collect() }
    }

    /// Returns the versions in which the whole file is known, newest first.
    pub fn versions_known(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().rev().filter(|version| version.is_known)
    }

    /// Returns the outline of the newest version in which the whole file is known.
    pub fn last_outline(&self) -> Option<Outline> {
        self.versions_known().next().map(|version| self.outline(version))
    }

    /// Returns the last record of another tool that has this text. Such records name no block.
    pub(super) fn nameless(&self, text: &ContentHash) -> Option<ClaimRef> {
        self.nameless.get(text).copied()
    }

    /// Returns the newest record of each block that exists according to the records, in the order
    /// of the ledger.
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
        sorted(heads)
    }

    /// Returns the records of blocks that were removed according to the records.
    pub(crate) fn removed_claims(&self) -> Vec<ClaimRef> {
        let gone = self.leaves().flat_map(|version| &version.gone);
        sorted(gone.filter_map(|id| self.claim(*id)))
    }

    /// Returns the index of the version that a change was made to: the newest one of the same
    /// branch. There may be an unrecorded change between the two.
    fn base(
        &self,
        ledger: &Ledger,
        event: &RecordedChange,
        precedes: Precedes<'_>,
    ) -> Option<usize> {
        let commit_of = |at: Option<ClaimRef>| ledger.based_on(at?.entry);
        let then = commit_of(event.claims.first().copied());
        let is_before = |version: &Version| match (commit_of(version.at), then) {
            (Some(earlier), Some(later)) if earlier != later => precedes(earlier, later),
            _ => true,
        };
        self.versions.iter().rposition(is_before)
    }

    fn add_change(&mut self, ledger: &Ledger, event: &RecordedChange, precedes: Precedes<'_>) {
        let last = event.claims.iter().max().copied();
        for at in &event.claims {
            let range = ledger.claim(*at).full_block();
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

    /// Adds a version on top of `base` and returns its index.
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
            let range = ledger.claim(*at).full_block();
            if range.deleted {
                continue;
            }
            let Some(row) = range.row.map(|row| row as usize) else { continue };
            by_row.entry(row).or_default().push(*at);
            was.extend(range.was.map(|old| (row, old as usize)));
        }
        // A claim with line hashes counts as the newer one. It was derived from the commit, whose
        // text may differ from the recorded text.
        let is_found = |at: &ClaimRef| ledger.claim(*at).full_block().lines.is_some();
        by_row.values_mut().for_each(|claims| claims.sort_by_key(is_found));
        let origins = self.origins(ledger, &base, outline, (&by_row, &was));
        let mut states = Vec::with_capacity(outline.rows.len());
        let mut used = vec![false; self.states.len()];
        // True if a recorded change is missing here although no record undoes it. Then this version
        // was made on another branch, or somebody undid the change without recording that.
        let mut is_fork = false;
        for (at, row) in outline.rows.iter().enumerate() {
            let before = origins[at];
            if let Some(before) = before {
                used[before as usize] = true;
            }
            let by = by_row.get(&at).map_or(&[][..], |by| by);
            let taken_back =
                before.filter(|_| by.is_empty()).and_then(|id| self.earlier_with_text(id, row));
            is_fork |= taken_back.is_some_and(|same| {
                let between = self.chain(before.unwrap_or(same)).take_while(|id| *id != same);
                between.into_iter().any(|id| self.state(id).by.is_some())
            });
            states.push(match taken_back {
                Some(same) if self.state(same).row == *row => same,
                other => {
                    // If several sessions changed the block in one change, each gets a state of its
                    // own, one after the other.
                    let mut state = other.or(before);
                    let first = by.is_empty().then_some(None);
                    for by in first.into_iter().chain(by.iter().copied().map(Some)) {
                        state = Some(self.push(BlockState { row: *row, by, before: state }));
                    }
                    state.expect("one state at least was pushed")
                }
            });
        }
        let unused = base.states.iter().chain(&base.gone).copied();
        let gone = unused.filter(|id| !used[*id as usize] && self.claim(*id).is_some()).collect();
        let loose = base.loose.iter().copied().filter(|id| !used[*id as usize]).collect();
        let deletes = claims.iter().any(|at| ledger.claim(*at).full_block().deleted);
        // Nobody recorded this version; it is only known from a later record. So it is not known
        // when it was made.
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

    /// Returns the newest state, from `id` backwards, whose text is that of `row`. If nothing after
    /// that state was recorded, the changes after it were undone.
    fn earlier_with_text(&self, id: StateId, row: &Row) -> Option<StateId> {
        self.chain(id).find(|id| self.state(*id).row.text == row.text)
    }

    /// For each row of a new version, returns the state that it continues.
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
        // Some rows are not explained by records, so there was an unrecorded change.
        let had_gone = |row: &Row| {
            let mut aside = base.loose.iter().chain(&base.gone).map(|id| self.state(*id).row);
            aside.any(|gone| gone.identity == row.identity || gone.text == row.text)
        };
        match (&free[..], &open[..]) {
            (_, []) => return origins,
            ([], _) if base.loose.is_empty() && base.gone.is_empty() => return origins,
            // Usually only one block changed, and it kept its name. Then the result is clear
            // without comparing all blocks.
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
        let now = ComparedBlock::of_outline(outline);
        let is_free = |old: usize, _| taken.get(old).is_none_or(|taken| !taken);
        let scene = Scene::with_all_pairs(&then, &now, Reach::File);
        let alignment = Scene { is_open: &is_open, admits: &is_free, ..scene }.align();
        let ids = self.ids(base);
        for (new, origin) in origins.iter_mut().enumerate() {
            if origin.is_none() && !by_row.contains_key(&new) {
                *origin = alignment.earlier_block(new).map(|old| ids[old]);
            }
        }
        origins
    }

    /// Returns the states of a version in the order of [`Self::items`].
    pub(super) fn ids(&self, version: &Version) -> Vec<StateId> {
        [&version.states[..], &version.loose, &version.gone].concat()
    }

    /// Returns the blocks of a version, then those whose position is not known, then those that
    /// were removed.
    pub(super) fn items<'a>(
        &self,
        ledger: &'a Ledger,
        version: &Version,
    ) -> Vec<ComparedBlock<'a>> {
        let known = |id: &StateId, item: ComparedBlock<'a>| match self.claim(*id) {
            Some(at) => item.with_record(ledger.claim(at).full_block(), at),
            None => item,
        };
        let containers = self.outline(version).containers();
        let standing = version.states.iter().zip(containers);
        let standing = standing
            .map(|(id, outer)| known(id, ComparedBlock::of_row(self.state(*id).row, outer)));
        let alone = |id: &StateId| known(id, ComparedBlock::of_row(self.state(*id).row, None));
        let loose = version.loose.iter().map(|id| alone(id).aside());
        let gone = version.gone.iter().map(|id| alone(id).marked_removed());
        standing.chain(loose).chain(gone).collect()
    }

    /// Adds a version for records that do not say what the rest of the file was.
    fn add_loose(&mut self, ledger: &Ledger, claims: &[ClaimRef]) {
        let base = self.versions.iter().rposition(|version| version.is_leaf);
        let mut version = base.map(|base| {
            self.versions[base].is_leaf = false;
            self.versions[base].clone()
        });
        let version = version.get_or_insert_default();
        for at in claims {
            let range = ledger.claim(*at).full_block();
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
            let state = self.push(BlockState { row, by: Some(*at), before: place });
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

    /// Returns the block of a version that a record without an outline is about: a block with the
    /// record's name and text, or else the first one with its name.
    fn place_of(&self, version: &Version, row: &Row) -> Option<StateId> {
        let all = version.states.iter().chain(&version.loose).copied();
        let named: Vec<StateId> =
            all.filter(|id| self.state(*id).row.identity == row.identity).collect();
        let reads = |id: &&StateId| self.state(**id).row.text == row.text;
        named.iter().find(reads).or(named.first()).copied()
    }

    fn push(&mut self, state: BlockState) -> StateId {
        let id = self.states.len() as StateId;
        self.made.extend(state.by.map(|by| (by, id)));
        self.states.push(state);
        id
    }
}

/// Returns the changes that were recorded for a path, in order. All records of one commit are one
/// change.
///
/// A commit counts from the time at which it was made. Git keeps that time in whole seconds, so two
/// commits of the same second are ordered by their ancestry.
fn events(
    ledger: &Ledger,
    path: &RelativePath,
    claims: &[ClaimRef],
    precedes: Precedes<'_>,
) -> Vec<RecordedChange> {
    let mut events: Vec<RecordedChange> = Vec::new();
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
            let recorded = || Some(clock::milliseconds(&entry.record.timestamp)?.div_euclid(1_000));
            let time = derived.and_then(|derived| derived.committed).or_else(recorded);
            let outlines = ledger.outlines(at.entry, path);
            events.push(RecordedChange { time, outlines, claims: Vec::new() });
            events.len() - 1
        });
        events[place].claims.push(at);
    }
    events.sort_by_key(|event| event.time);
    let is_swapped = |earlier: &RecordedChange, later: &RecordedChange| {
        let entry_of = |event: &RecordedChange| Some(event.claims.first()?.entry);
        let made = entry_of(later).and_then(|at| ledger.derived(at)?.commit.as_deref());
        let based_on = entry_of(earlier).and_then(|at| ledger.based_on(at));
        let follows = made.zip(based_on).is_some_and(|(made, based_on)| precedes(made, based_on));
        earlier.time == later.time && follows
    };
    for end in 1..events.len() {
        let mut at = end;
        while at > 0 && is_swapped(&events[at - 1], &events[at]) {
            events.swap(at - 1, at);
            at -= 1;
        }
    }
    events
}
