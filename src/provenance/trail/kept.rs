//! The recorded history of a file as data that can be kept on disk, and read again by a later process.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{State, StateId, Trail, Version};
use crate::code::ContentHash;
use crate::ledger::ClaimRef;
use crate::provenance::outline::Row;

/// The [`Trail`] of the evidence about a file. Indices of entries differ from process to process, so its claims hold the
/// place of their entry in the list of that evidence instead.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptTrail {
    states: Vec<(Row, Option<ClaimRef>, Option<StateId>)>,
    versions: Vec<KeptVersion>,
    nameless: Vec<(ContentHash, ClaimRef)>,
    deleted: Vec<ClaimRef>,
    last_time: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct KeptVersion {
    is_known: bool,
    is_leaf: bool,
    last: Option<ClaimRef>,
    at: Option<ClaimRef>,
    states: KeptStates,
    loose: KeptStates,
    gone: KeptStates,
}

/// The states of a version, written as a change of the version before, since most versions differ in one block.
#[derive(Serialize, Deserialize)]
struct KeptStates {
    /// How many states at the start are those of the version before.
    start: usize,
    /// The states between the start and the end.
    changed: Vec<StateId>,
    /// How many states at the end are those of the version before.
    end: usize,
}

impl KeptStates {
    fn of(now: &[StateId], before: &[StateId]) -> Self {
        let start = now.iter().zip(before).take_while(|(one, other)| one == other).count();
        let rest = now[start..].iter().rev().zip(before[start..].iter().rev());
        let end = rest.take_while(|(one, other)| one == other).count();
        Self { start, changed: now[start..now.len() - end].to_vec(), end }
    }

    /// `None` if this is no change of `before`, or names a state that is not there.
    fn read(&self, before: &[StateId], states: usize) -> Option<Vec<StateId>> {
        let end = before.len().checked_sub(self.end).filter(|end| self.start <= *end)?;
        let is_there = self.changed.iter().all(|id| (*id as usize) < states);
        is_there.then(|| [&before[..self.start], &self.changed, &before[end..]].concat())
    }
}

impl KeptTrail {
    /// Writes a trail. `entries` are the indices of the evidence about the file, in ascending order. `None` if the trail
    /// holds a claim of another entry.
    pub(crate) fn of(trail: &Trail, entries: &[u32]) -> Option<Self> {
        let claim = |at: ClaimRef| {
            let place = entries.binary_search(&at.entry).ok()?;
            // An entry of evidence is about one file and one contributor.
            let is_plain = at.file == 0 && at.conversation == 0;
            is_plain.then_some(ClaimRef { entry: u32::try_from(place).ok()?, ..at })
        };
        let maybe = |at: Option<ClaimRef>| match at {
            Some(at) => claim(at).map(Some),
            None => Some(None),
        };
        let states = trail.states.iter();
        let states = states.map(|state| Some((state.row, maybe(state.by)?, state.before)));
        let nothing = Version::default();
        let before = std::iter::once(&nothing).chain(&trail.versions);
        let versions = trail.versions.iter().zip(before).map(|(version, before)| {
            Some(KeptVersion {
                is_known: version.is_known,
                is_leaf: version.is_leaf,
                last: maybe(version.last)?,
                at: maybe(version.at)?,
                states: KeptStates::of(&version.states, &before.states),
                loose: KeptStates::of(&version.loose, &before.loose),
                gone: KeptStates::of(&version.gone, &before.gone),
            })
        });
        let nameless = trail.nameless.iter();
        let nameless = nameless.map(|(text, at)| Some((text.clone(), claim(*at)?)));
        Some(Self {
            states: states.collect::<Option<_>>()?,
            versions: versions.collect::<Option<_>>()?,
            nameless: nameless.collect::<Option<_>>()?,
            deleted: trail.deleted.iter().map(|at| claim(*at)).collect::<Option<_>>()?,
            last_time: trail.last_time,
        })
    }

    /// Reads the trail again. `entries` are the indices that the same evidence has in this process. `None` if the data
    /// contradict themselves, or do not fit that list.
    pub(crate) fn read(self, entries: &[u32]) -> Option<Trail> {
        let claim = |at: ClaimRef| {
            let is_plain = at.file == 0 && at.conversation == 0;
            let entry = entries.get(at.entry as usize).filter(|_| is_plain)?;
            Some(ClaimRef { entry: *entry, ..at })
        };
        let maybe = |at: Option<ClaimRef>| match at {
            Some(at) => claim(at).map(Some),
            None => Some(None),
        };
        let mut trail = Trail { last_time: self.last_time, ..Trail::default() };
        for (row, by, before) in self.states {
            // A state comes after the one that it goes on from, so that no chain of them is a circle.
            if before.is_some_and(|before| before as usize >= trail.states.len()) {
                return None;
            }
            trail.push(State { row, by: maybe(by)?, before });
        }
        let count = trail.states.len();
        for kept in self.versions {
            let nothing = Version::default();
            let before = trail.versions.last().unwrap_or(&nothing);
            let version = Version {
                is_known: kept.is_known,
                is_leaf: kept.is_leaf,
                last: maybe(kept.last)?,
                at: maybe(kept.at)?,
                states: kept.states.read(&before.states, count)?,
                loose: kept.loose.read(&before.loose, count)?,
                gone: kept.gone.read(&before.gone, count)?,
            };
            trail.versions.push(version);
        }
        let nameless = self.nameless.into_iter().map(|(text, at)| Some((text, claim(at)?)));
        trail.nameless = nameless.collect::<Option<HashMap<_, _>>>()?;
        trail.deleted = self.deleted.into_iter().map(claim).collect::<Option<_>>()?;
        Some(trail)
    }
}
