//! Moves records out of the journal once a commit has their evidence, and back if the commit leaves
//! the history. So the journal has only open records, and a command pays only for these.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::carried::note_carried;
use super::thrown_away::{Age, thrown_away};
use super::{is_open, open};
use crate::comparison::digests;
use ground::git::Target;
use ground::{CommitId, Git, RelativePath, cache, clock, store};
use ledger::journal::{self, CarriedNote, DraftNote, KeeperNote, Note, ReopenedNote};
use ledger::{Entry, RecordKind, drop_texts_but, evidence};
use why::baseline::commits_of_work;
use why::left_history::{
    LeftHistory, evidence_added_by, has_left_history, stands_as_sealed, takes_evidence_over,
};
use why::{VerbError, Workspace, shared_branches};

const DAY: i64 = 24 * 60 * 60 * 1_000;
/// How long the records of a commit are kept if its evidence is on no shared branch, and how long a
/// record is kept that no commit has, in milliseconds.
const KEEP: i64 = 90 * DAY;
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// How many commits are searched for the one that added a file of evidence.
const MAX_COMMITS: usize = 64;

/// Settles the records of the drafts that are in `HEAD` now, and puts the records of those commits
/// back into the journal that have left the history since the last call. `staged` is the evidence
/// that the next commit adds. Returns true if records stay in the journal because a commit broke runs
/// of their evidence.
pub(super) fn settle_and_reopen(
    ws: &Workspace,
    git: &Git,
    staged: &[RelativePath],
) -> Result<bool, VerbError> {
    let Some(head) = ws.head() else { return Ok(false) };
    let is_taken_over = takes_evidence_over(&ws.root, git, head, staged)?;
    let is_broken = settle_committed(ws, git, head, DraftNote::read_all(&ws.root))?;
    Ok(reopen_lost(ws, git, head, is_taken_over)? || is_broken)
}

/// Moves the selections of those sessions out of the journal that have no other open record. Otherwise
/// each session would leave a file that every later command has to read.
pub(super) fn settle_selections(ws: &Workspace) -> Result<(), VerbError> {
    let Some(head) = ws.head() else { return Ok(()) };
    let open = || ws.journal.entries().iter().filter(|entry| is_open(entry));
    let is_selection = |entry: &&Arc<Entry>| entry.record.kind == RecordKind::Selection;
    let busy: HashSet<&RelativePath> =
        open().filter(|entry| !is_selection(entry)).map(|entry| &entry.origin.path).collect();
    let idle = open().filter(is_selection).filter(|entry| !busy.contains(&entry.origin.path));
    let idle: HashSet<&str> = idle.map(|entry| &*entry.record.id).collect();
    if !idle.is_empty() {
        journal::settle(&ws.root, &head.0, &|id| idle.contains(id))?;
    }
    Ok(())
}

fn settle_committed(
    ws: &Workspace,
    git: &Git,
    head: &CommitId,
    drafts: Vec<DraftNote>,
) -> Result<bool, VerbError> {
    let (mut left, mut is_any, mut is_broken) = (Vec::new(), false, false);
    for draft in drafts {
        if let Some(bytes) = git.file_at(head, &draft.file)? {
            let mut records = draft.records;
            if !stands_as_sealed(git, head, (&draft.file, &bytes))? {
                let unsealed = unsealed_records(ws, &records);
                is_broken |= !unsealed.is_empty();
                records.retain(|id| !unsealed.contains(id));
            }
            settle_with(ws, git, head, (&draft.file, &records))?;
            is_any = true;
        } else {
            left.push(draft);
        }
    }
    if is_any {
        DraftNote::write_all(&ws.root, &left)?;
    }
    Ok(is_broken)
}

/// Moves the records out of the journal again whose commit had left the history and whose evidence
/// is in `HEAD` now: after an amend or a rebase, or when the commit came back.
fn settle_reopened(ws: &Workspace, git: &Git) -> Result<bool, VerbError> {
    let (Some(head), notes) = (ws.head(), ReopenedNote::read_all(&ws.root)) else {
        return Ok(false);
    };
    if notes.is_empty() {
        return Ok(false);
    }
    let open = journal::open_ids(&ws.root);
    let (mut back, mut left) = (Vec::new(), Vec::new());
    for note in notes {
        let mut is_whole = !note.files.is_empty();
        for file in &note.files {
            is_whole &= has_evidence(git, head, file)?;
        }
        if is_whole {
            back.push(note);
        } else if note.records.iter().any(|id| open.contains(id)) {
            left.push(note);
        }
    }
    ReopenedNote::write_all(&ws.root, &left)?;
    let mut broken: Vec<String> = Vec::new();
    for note in &back {
        if !stand_in_their_commits(git, head, &note.files)? {
            broken.extend(note.records.iter().cloned());
        }
    }
    let unsealed = unsealed_records(&ws.clone().with_records_of_now(), &broken);
    for ReopenedNote { files, mut records } in back {
        records.retain(|id| !unsealed.contains(id));
        settle_with(ws, git, head, (&files[0], &records))?;
    }
    Ok(!unsealed.is_empty())
}

/// Returns true if the commits that added files of evidence have all lines where the files name them, as
/// after a rebase. What later commits did to the lines does not matter.
fn stand_in_their_commits(
    git: &Git,
    head: &CommitId,
    files: &[RelativePath],
) -> Result<bool, VerbError> {
    for file in files {
        let commit = commit_that_added(git, head, file)?;
        let Some(bytes) = git.file_at(&commit, file)? else { return Ok(false) };
        if !stands_as_sealed(git, &commit, (file, &bytes))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_evidence(git: &Git, commit: &CommitId, file: &RelativePath) -> Result<bool, VerbError> {
    if git.has_file(commit, file)? {
        return Ok(true);
    }
    let Some(month) = evidence::month_of(file) else { return Ok(false) };
    let is_wanted = |path: &RelativePath| {
        evidence::is_compacted(path) && evidence::month_of(path) == Some(month)
    };
    let target = Target::Commit(commit.clone());
    let compacted = git.read_below(".orchestration", &target, &is_wanted)?;
    let digest = evidence::digest_of_path(file);
    let has_it = |bytes: &[u8]| digest.is_some_and(|digest| digests(bytes).contains(&digest));
    Ok(compacted.iter().any(|(_, bytes)| has_it(bytes)))
}

/// Returns those of the records whose evidence does not name all of their lines any more, since an
/// amend, a squash or a formatter broke a run of them. They stay in the journal, so that the next
/// commit can name these lines.
fn unsealed_records(ws: &Workspace, ids: &[String]) -> HashSet<String> {
    let entries = ids.iter().filter_map(|id| ws.journal.by_id(id));
    let paths: BTreeSet<&RelativePath> = entries.flat_map(|entry| entry.record.paths()).collect();
    paths.into_iter().filter_map(|path| open::unsealed_records(ws, path)).flatten().collect()
}

fn settle_with(
    ws: &Workspace,
    git: &Git,
    head: &CommitId,
    (file, records): (&RelativePath, &[String]),
) -> Result<(), VerbError> {
    let commit = commit_that_added(git, head, file)?;
    note_carried(ws, git, (&commit, file))?;
    let records: HashSet<&str> = records.iter().map(String::as_str).collect();
    journal::settle(&ws.root, &commit.0, &|id| records.contains(id))?;
    Ok(())
}

fn commit_that_added(
    git: &Git,
    head: &CommitId,
    file: &RelativePath,
) -> Result<CommitId, VerbError> {
    let mut commit = head.clone();
    for _ in 0..MAX_COMMITS {
        let parents = git.commit_info(&commit)?.parents;
        let mut with_it =
            parents.into_iter().filter(|parent| git.has_file(parent, file).unwrap_or(false));
        let Some(parent) = with_it.next() else { break };
        commit = parent;
    }
    Ok(commit)
}

fn reopen_lost(
    ws: &Workspace,
    git: &Git,
    head: &CommitId,
    is_taken_over: bool,
) -> Result<bool, VerbError> {
    let noted = KeeperNote::read_all(&ws.root);
    let left = LeftHistory::since_last_seal(&ws.root, git, head, is_taken_over)?;
    if left.keepers == noted && left.commits.is_empty() && left.erased.is_empty() {
        return Ok(false);
    }
    for commit in &left.erased {
        journal::forget_settled(&ws.root, &commit.0)?;
    }
    if !left.commits.is_empty() {
        let mut notes = ReopenedNote::read_all(&ws.root);
        for commit in &left.commits {
            let files = evidence_added_by(git, commit);
            let records = journal::settled_records(&ws.root, &commit.0);
            notes.push(ReopenedNote { files, records });
            journal::reopen(&ws.root, &commit.0)?;
        }
        ReopenedNote::write_all(&ws.root, &notes)?;
    }
    KeeperNote::write_all(&ws.root, &left.keepers)?;
    settle_reopened(ws, git)
}

/// Makes evidence a draft again whose commit has left the history and whose files are still here:
/// after `git reset --soft`, or in a squash. The next seal names the lines as its commit brings them,
/// and replaces it.
///
/// Evidence of others has no records here, so it stays. So does what a commit of the history had
/// once and a person has put back, and what a merge or a cherry-pick in progress brings. What a person
/// said of lines of a commit, as by `intent evidence reassign`, stays if that commit has left too: no
/// seal can make it anew, and it finds the lines by their text.
pub(super) fn redraft_lost(ws: &Workspace, git: &Git) -> Result<(), VerbError> {
    let (Some(head), mut notes) = (ws.head(), ReopenedNote::read_all(&ws.root)) else {
        return Ok(());
    };
    notes.retain(|note| !note.records.is_empty());
    if notes.is_empty() {
        return Ok(());
    }
    let (commits, made) = (commits_of_work(ws)?, journal::sections_made(&ws.root));
    let mut drafts = DraftNote::read_all(&ws.root);
    let gone = journal::commits_of_open_records(&ws.root).into_iter();
    let gone = gone.filter(|it| !git.is_ancestor(head, &CommitId(it.clone())).unwrap_or(false));
    let kept: HashSet<String> = gone.map(|commit| evidence::late_folder(&commit)).collect();
    for file in notes.into_iter().flat_map(|note| note.files) {
        let is_ours = evidence::digest_of_path(&file).is_some_and(|digest| made.contains(&digest));
        if is_ours
            && !drafts.iter().any(|draft| draft.file == file)
            && (ws.root.absolute(&file).is_file() || git.file_in_index(&file)?.is_some())
            && !commits.iter().any(|commit| git.has_file(commit, &file).unwrap_or(true))
            && git.removed(head, &file)?.is_none()
            && !file.folders().any(|folder| kept.contains(folder))
        {
            drafts.push(DraftNote { file, records: Vec::new() });
        }
    }
    DraftNote::write_all(&ws.root, &drafts)?;
    Ok(())
}

/// Removes records that are not needed any more: those of commits on a shared branch, those of old
/// commits, and old ones that git has nowhere. `now` is in milliseconds since 1970. Returns how many.
pub fn retire(ws: &Workspace, now: i64) -> Result<usize, VerbError> {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else { return Ok(0) };
    let branches = shared_branches::protected(&ws.policy, git);
    let mut retired = 0;
    for commit in journal::settled_commits(&ws.root) {
        let id = CommitId(commit.clone());
        let is_shared = branches.iter().any(|(_, tip)| git.is_ancestor(tip, &id).unwrap_or(false));
        let time = git.commit_info(&id).map_or(0, |info| info.time * 1_000);
        if is_shared || now - time >= KEEP {
            retired += journal::forget_settled(&ws.root, &commit)?;
        }
    }
    let mut carried = CarriedNote::read_all(&ws.root);
    carried.retain(|note| {
        let carrier = CommitId(note.commit.clone());
        git.commit_info(&carrier).is_ok_and(|info| now - info.time * 1_000 < KEEP)
    });
    CarriedNote::write_all(&ws.root, &carried)?;
    let is_old = |entry: &&Arc<Entry>| {
        let made = clock::milliseconds(&entry.record.timestamp);
        let is_old = made.is_some_and(|made| now - made >= KEEP);
        is_open(entry) && !super::is_carried(entry) && is_old
    };
    let mut old: Vec<&Arc<Entry>> = ws.journal.entries().iter().filter(is_old).collect();
    if !old.is_empty() {
        let standing = super::open(ws).standing;
        let standing: HashSet<&str> = standing.iter().map(|entry| &*entry.record.id).collect();
        let is_commit_gone =
            |of: &String| has_left_history(git, &CommitId(of.clone())).unwrap_or(false);
        old.retain(|entry| {
            !standing.contains(&*entry.record.id)
                && entry.record.of.as_ref().is_none_or(is_commit_gone)
        });
        let gone = thrown_away(ws, git, &old, Age::Old)?;
        retired += journal::retire(&ws.root, &|id| gone.contains(id))?;
    }
    drop_texts_but(&ws.root, &journal::needed_texts(&ws.root)?)?;
    Ok(retired)
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
    retire(ws, clock::now_in_milliseconds())
}
