//! Stores the recorded history of a file on disk, so that a later process can read it again.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{BlockState, StateId, Trail, Version};
use crate::outline::Row;
use code::ContentHash;
use ledger::ClaimRef;

/// A [`Trail`] of the evidence about a file, as stored data. The indices of entries differ from
/// process to process, so each claim holds the position of its entry in the list of that evidence
/// instead.
#[derive(Serialize, Deserialize)]
pub struct StoredTrail {
    states: Vec<(Row, Option<ClaimRef>, Option<StateId>)>,
    versions: Vec<StoredVersion>,
    nameless: Vec<(ContentHash, ClaimRef)>,
    deleted: Vec<ClaimRef>,
    last_time: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct StoredVersion {
    is_known: bool,
    is_leaf: bool,
    last: Option<ClaimRef>,
    at: Option<ClaimRef>,
    states: StoredStates,
    loose: StoredStates,
    gone: StoredStates,
}

/// The states of a version, stored as a difference from the previous version, because most versions
/// differ in one block.
#[derive(Serialize, Deserialize)]
struct StoredStates {
    /// How many states at the start are the same as in the previous version.
    start: usize,
    /// The states between the common start and the common end.
    changed: Vec<StateId>,
    /// How many states at the end are the same as in the previous version.
    end: usize,
}

impl StoredStates {
    fn between_states(now: &[StateId], before: &[StateId]) -> Self {
        let start = now.iter().zip(before).take_while(|(one, other)| one == other).count();
        let rest = now[start..].iter().rev().zip(before[start..].iter().rev());
        let end = rest.take_while(|(one, other)| one == other).count();
        Self { start, changed: now[start..now.len() - end].to_vec(), end }
    }

    /// Returns the complete list of states. Returns `None` if the difference does not fit `before`,
    /// or names a state that does not exist.
    fn read(&self, before: &[StateId], states: usize) -> Option<Vec<StateId>> {
        let end = before.len().checked_sub(self.end).filter(|end| self.start <= *end)?;
        let is_there = self.changed.iter().all(|id| (*id as usize) < states);
        is_there.then(|| [&before[..self.start], &self.changed, &before[end..]].concat())
    }
}

/// Converts a claim if there is one. Returns `None` if that fails.
fn convert_claim(
    at: Option<ClaimRef>,
    convert: impl Fn(ClaimRef) -> Option<ClaimRef>,
) -> Option<Option<ClaimRef>> {
    at.map_or(Some(None), |at| convert(at).map(Some))
}

impl StoredTrail {
    /// Converts a trail to stored data. `entries` are the indices of the evidence about the file,
    /// in ascending order. Returns `None` if the trail holds a claim of another entry.
    pub fn from_trail(trail: &Trail, entries: &[u32]) -> Option<Self> {
        let claim = |at: ClaimRef| {
            let place = entries.binary_search(&at.entry).ok()?;
            // An entry of evidence is about one file and one contributor.
            let is_plain = at.file == 0 && at.conversation == 0;
            is_plain.then_some(ClaimRef { entry: u32::try_from(place).ok()?, ..at })
        };
        let states = trail.states.iter();
        let states =
            states.map(|state| Some((state.row, convert_claim(state.by, claim)?, state.before)));
        let nothing = Version::default();
        let before = std::iter::once(&nothing).chain(&trail.versions);
        let versions = trail.versions.iter().zip(before).map(|(version, before)| {
            Some(StoredVersion {
                is_known: version.is_known,
                is_leaf: version.is_leaf,
                last: convert_claim(version.last, claim)?,
                at: convert_claim(version.at, claim)?,
                states: StoredStates::between_states(&version.states, &before.states),
                loose: StoredStates::between_states(&version.loose, &before.loose),
                gone: StoredStates::between_states(&version.gone, &before.gone),
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

    /// Restores the trail. `entries` are the indices that the same evidence has in this process.
    /// Returns `None` if the data contradict themselves or do not fit `entries`.
    pub fn read(self, entries: &[u32]) -> Option<Trail> {
        let claim = |at: ClaimRef| {
            let is_plain = at.file == 0 && at.conversation == 0;
            let entry = entries.get(at.entry as usize).filter(|_| is_plain)?;
            Some(ClaimRef { entry: *entry, ..at })
        };
        let mut trail = Trail { last_time: self.last_time, ..Trail::default() };
        for (row, by, before) in self.states {
            // A state must come after its previous state, so that no chain of states is a cycle.
            if before.is_some_and(|before| before as usize >= trail.states.len()) {
                return None;
            }
            trail.push(BlockState { row, by: convert_claim(by, claim)?, before });
        }
        let count = trail.states.len();
        for kept in self.versions {
            let nothing = Version::default();
            let before = trail.versions.last().unwrap_or(&nothing);
            trail.versions.push(Version {
                is_known: kept.is_known,
                is_leaf: kept.is_leaf,
                last: convert_claim(kept.last, claim)?,
                at: convert_claim(kept.at, claim)?,
                states: kept.states.read(&before.states, count)?,
                loose: kept.loose.read(&before.loose, count)?,
                gone: kept.gone.read(&before.gone, count)?,
            });
        }
        let nameless = self.nameless.into_iter().map(|(text, at)| Some((text, claim(at)?)));
        trail.nameless = nameless.collect::<Option<HashMap<_, _>>>()?;
        trail.deleted = self.deleted.into_iter().map(claim).collect::<Option<_>>()?;
        Some(trail)
    }
}
