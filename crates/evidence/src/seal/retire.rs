//! Removes records from the journal that are no longer needed: their evidence is on a shared
//! branch, they were sealed long ago, or their code is gone.
//!
//! Other branches of a remote do not count as shared. The server may squash such a branch into one
//! commit, or its commits may be cherry-picked, and then the evidence has to be made again from the
//! records.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use ground::git::Target;
use ground::{RelativePath, cache, clock, store};
use ledger::{Digest, Entry, Ledger, Writer, journal};
use provenance::is_claim_true;
use why::{VerbError, Workspace, shared_branches};

const DAY: i64 = 24 * 60 * 60 * 1_000;
/// How long a sealed record is kept if its evidence is on no shared branch, in milliseconds. A
/// reset to a commit without the evidence makes the record open again, and then it is needed.
const KEEP_SEALED: i64 = 90 * DAY;
/// How long a record that was never sealed is kept if its code is nowhere, counted from the time of
/// the record, in milliseconds.
const KEEP_UNMATCHED: i64 = 30 * DAY;
/// The maximum number of branches whose tips are searched for code, those with the most recent
/// commits first.
const MAX_BRANCHES: usize = 50;
/// The maximum number of stashes that are searched for code, the newest first.
const MAX_STASHES: usize = 50;
/// How often records are removed automatically.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Where the evidence of a record is.
#[derive(Clone, Copy)]
enum SealState {
    Unsealed,
    Sealed,
    /// On a shared branch of a remote.
    Shared,
}

/// Returns true if a record may be removed. `age` is in milliseconds. `stands` computes whether any
/// of its code still exists; it is called only if needed, since it reads files.
///
/// For example, the evidence of a record is only on a feature branch. The record stays until it is
/// 90 days old. As soon as the branch is merged into `main`, a shared branch, the record may go.
fn goes(age: i64, evidence: SealState, stands: impl FnOnce() -> bool) -> bool {
    match evidence {
        SealState::Shared => true,
        SealState::Sealed => age >= KEEP_SEALED,
        SealState::Unsealed => age >= KEEP_UNMATCHED && !stands(),
    }
}

/// Removes records that are not needed from the journals of this work tree and of work trees that
/// were removed. Returns how many were removed.
pub fn retire(ws: &Workspace) -> Result<usize, VerbError> {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else { return Ok(0) };
    let sealed = journal::sealed(&ws.root);
    let now = clock::now_in_milliseconds();
    let branches = shared_branches::protected(&ws.policy, git);
    let files = ws.ledger.evidence_files();
    let paths: HashMap<Digest, &RelativePath> = files
        .iter()
        .flat_map(|(path, sections)| sections.iter().map(move |section| (*section, path)))
        .collect();
    let is_shared = |section: &Digest| {
        paths.get(section).is_some_and(|path| {
            branches.iter().any(|(_, commit)| git.has_file(commit, path).unwrap_or(false))
        })
    };
    let mut shared: HashMap<Digest, bool> = HashMap::new();
    let mut going = HashSet::new();
    for held in journal::held_records(&ws.root)? {
        let into = sealed.sections_of(&held.id);
        let mut is_shared =
            |section: &Digest| *shared.entry(*section).or_insert_with(|| is_shared(section));
        let evidence = match into.is_empty() {
            true => SealState::Unsealed,
            false if into.iter().any(&mut is_shared) => SealState::Shared,
            false => SealState::Sealed,
        };
        let age = clock::milliseconds(&held.timestamp).map_or(0, |time| now - time);
        let stands = || ws.ledger.by_id(&held.id).is_some_and(|entry| stands(ws, entry));
        if goes(age, evidence, stands) {
            going.insert(held.id);
        }
    }
    if going.is_empty() {
        return Ok(0);
    }
    Ok(Writer::new(&ws.root, &ws.policy).retire(&|id| going.contains(id))?)
}

/// Like [`retire`], at most once a day.
pub fn retire_daily(ws: &Workspace) -> Result<usize, VerbError> {
    let Some(note) = cache::shared(&ws.root, "retired") else { return Ok(0) };
    let looked = std::fs::metadata(&note).and_then(|found| found.modified());
    let since = looked.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    if since.is_some_and(|since| since < INTERVAL) {
        return Ok(0);
    }
    store::write_scratch(&note, b"")?;
    retire(ws)
}

/// Returns true if any code of a record is in the work tree, in the index, in a stash or on a
/// branch.
fn stands(ws: &Workspace, entry: &Entry) -> bool {
    let branches = ws.git().and_then(|git| git.branches(MAX_BRANCHES).ok()).unwrap_or_default();
    let stashes = ws.git().and_then(|git| git.stashes(MAX_STASHES).ok()).unwrap_or_default();
    let commits = branches.into_iter().map(|(_, commit)| commit).chain(stashes);
    let commits = commits.map(Target::Commit);
    let mut places = [Target::WorkTree, Target::Index].into_iter().chain(commits);
    places.any(|place| {
        let there = ws.with_files(place, ws.head().cloned(), Ledger::default());
        is_there(&there, entry)
    })
}

/// Returns true if one of the record's files contains a block with exactly the recorded text.
pub(super) fn is_there(ws: &Workspace, entry: &Entry) -> bool {
    entry.record.files.iter().any(|file| {
        let Ok(document) = ws.read(&file.relative_path) else { return false };
        file.ranges().any(|range| !range.deleted && is_claim_true(range, &document))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_removed_when_it_is_not_needed_any_more() {
        let goes = |days: i64, evidence, stands: bool| goes(days * DAY, evidence, || stands);
        // A sealed record goes when its evidence is on a shared branch, else after 90 days.
        assert!(goes(0, SealState::Shared, true));
        assert!(!goes(89, SealState::Sealed, true) && goes(90, SealState::Sealed, true));
        // A record that was not sealed goes after 30 days, and only if its code is gone.
        assert!(!goes(29, SealState::Unsealed, false) && goes(30, SealState::Unsealed, false));
        assert!(!goes(300, SealState::Unsealed, true));
    }
}
