//! Computes the recorded history of a file, and caches it between processes.
//!
//! The history is computed from all evidence about the file and from the texts in git, which takes
//! long for a file that hundreds of commits have changed. The result is always the same for the
//! same evidence at the same commit.

use serde::{Deserialize, Serialize};

use super::Workspace;
use ground::RelativePath;
use ground::cache::CacheSlot;
use ground::parallel::in_parallel;
use ledger::{Derived, PathEntryIds};
use provenance::file_history::{Precedes, StoredTrail, Trail};

/// With fewer entries of evidence than this, computing the history is as fast as reading it from
/// the cache.
const MIN_ENTRIES: usize = 8;

#[derive(Serialize, Deserialize)]
struct CachedTrail {
    trail: StoredTrail,
    /// The values derived from each entry of evidence, as a JSON list of [`Derived`].
    derived: Vec<u8>,
}

/// Returns the recorded history of a file: its versions, and the record that made each block what
/// it is. `precedes` says if a commit is the same as another one, or an ancestor of it.
pub fn trail(ws: &Workspace, path: &RelativePath, precedes: Precedes<'_>) -> Trail {
    let found = ws.ledger.entry_ids_of_path(path);
    let evidence = of_evidence(ws, path, &found, precedes);
    let rest = || ws.ledger.claims_on(path, found.rest.iter().copied());
    let onward = evidence.and_then(|trail| trail.extended(&ws.ledger, path, &rest(), precedes));
    onward.unwrap_or_else(|| {
        let all = found.evidence.iter().chain(&found.rest).copied();
        Trail::from_records(&ws.ledger, path, &ws.ledger.claims_on(path, all), precedes)
    })
}

/// Returns the history from the evidence about the file, without the records of the journal. `None`
/// if it cannot be cached, as in a shallow clone, or if there is so little evidence that it need
/// not be.
fn of_evidence(
    ws: &Workspace,
    path: &RelativePath,
    found: &PathEntryIds,
    precedes: Precedes<'_>,
) -> Option<Trail> {
    if found.evidence.len() < MIN_ENTRIES {
        return None;
    }
    let inputs = (ws.ledger.depends_on(path)?, &found.ids);
    let slot = CacheSlot::of_trail(&ws.root, path, &serde_json::to_vec(&inputs).ok()?)?;
    if let Some(trail) = slot.recall().and_then(|bytes| recalled(ws, found, &bytes)) {
        return Some(trail);
    }
    in_parallel(&found.evidence, |at| {
        // `outlines` needs the texts that `derived` has just parsed. It stores its result on disk,
        // from where `Trail::of` reads it.
        ws.ledger.derived(*at).is_some() && ws.ledger.outlines(*at, path).is_some()
    });
    let claims = ws.ledger.claims_on(path, found.evidence.iter().copied());
    let trail = Trail::from_records(&ws.ledger, path, &claims, precedes);
    if let Some(bytes) = encode_kept(ws, found, &trail) {
        slot.keep(&bytes);
    }
    Some(trail)
}

fn encode_kept(ws: &Workspace, found: &PathEntryIds, trail: &Trail) -> Option<Vec<u8>> {
    let derived = found.evidence.iter().map(|at| ws.ledger.derived(*at).map(|one| &**one));
    let derived: Vec<Option<&Derived>> = derived.collect();
    // The result is not cached if an entry belongs to a commit that is still being made, or if a
    // text could not be read.
    let is_settled = |one: &Option<&Derived>| one.is_some_and(|one| one.commit.is_some());
    if !derived.iter().all(is_settled) {
        return None;
    }
    let trail = StoredTrail::from_trail(trail, &found.evidence)?;
    postcard::to_stdvec(&CachedTrail { trail, derived: serde_json::to_vec(&derived).ok()? }).ok()
}

fn recalled(ws: &Workspace, found: &PathEntryIds, bytes: &[u8]) -> Option<Trail> {
    let kept: CachedTrail = postcard::from_bytes(bytes).ok()?;
    let derived: Vec<Derived> = serde_json::from_slice(&kept.derived).ok()?;
    if derived.len() != found.evidence.len() {
        return None;
    }
    let trail = kept.trail.read(&found.evidence)?;
    for (at, derived) in found.evidence.iter().zip(derived) {
        ws.ledger.recall(*at, derived);
    }
    Some(trail)
}
