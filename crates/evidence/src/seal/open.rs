//! Finds the records that are in no commit yet.
//!
//! Only records whose code is in the work tree or in the index count, because the next seals can
//! carry no others: the record of an edit that was undone stays in the journal for a while, but
//! there is nothing to commit. A record's code is present if sealing would find it in the
//! difference from the commit that the record is based on, or if the record claims code as it was.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{FilesAfter, Sealing, Sources, claims_as_it_stood, is_carried, is_ignored};
use crate::git_hooks::{self, HooksState};
use code::Document;
use ground::git::Target;
use ground::text::{counted, shell_word};
use ground::{CommitId, RelativePath, store};
use ledger::{Digest, Entry, Strength, journal};
use why::baseline::Baseline;
use why::{ReadError, Workspace};

/// The maximum number of files that are compared, those of the newest records first. Records that
/// name only other files are assumed to have their code present.
const MAX_FILES: usize = 32;

/// The records of changes that were never sealed.
#[derive(Default)]
pub struct OpenRecords<'a> {
    /// The records whose code is in the work tree or in the index.
    pub standing: Vec<&'a Entry>,
    /// The number of the other records. Their code was undone, or is on another branch.
    pub gone: usize,
}

/// A file, and the commit that a record of the file is based on.
type RecordPlace<'a> = (&'a RelativePath, Option<CommitId>);

/// Returns the records of the journal that are in no commit yet.
pub fn open(ws: &Workspace) -> OpenRecords<'_> {
    open_besides(ws, &BTreeSet::new())
}

/// Like [`open`], but skips the records with these ids.
fn open_besides<'a>(ws: &'a Workspace, without: &BTreeSet<&String>) -> OpenRecords<'a> {
    let is_open = |entry: &&Entry| {
        ws.ledger.is_unsealed(entry)
            && !entry.record.files.is_empty()
            && !without.contains(&entry.record.id)
    };
    let open: Vec<&Entry> = ws.ledger.open().filter(is_open).collect();
    let mut found: HashSet<String> = HashSet::new();
    let mut places: BTreeMap<RecordPlace<'_>, Vec<&str>> = BTreeMap::new();
    // The next commit carries these, whatever it contains.
    let is_ready = |entry: &&&Entry| is_carried(entry) || claims_as_it_stood(&entry.record);
    found.extend(open.iter().filter(is_ready).map(|one| one.record.id.clone()));
    for entry in open.iter().rev().filter(|entry| !is_ready(entry)) {
        let base = base_of(ws, entry);
        for file in &entry.record.files {
            let place = (&file.relative_path, base.clone());
            if places.len() < MAX_FILES || places.contains_key(&place) {
                places.entry(place).or_default().push(&entry.record.id);
            } else {
                found.insert(entry.record.id.clone());
            }
        }
    }
    for target in [Target::WorkTree, Target::Index] {
        for ((path, base), records) in &places {
            if records.iter().any(|id| !found.contains(*id)) {
                match brought(ws, target.clone(), path, base.as_ref()) {
                    Some(brought) => found.extend(brought),
                    None => found.extend(records.iter().map(|id| (*id).to_owned())),
                }
            }
        }
    }
    let standing: Vec<&Entry> =
        open.iter().filter(|entry| found.contains(&entry.record.id)).copied().collect();
    OpenRecords { gone: open.len() - standing.len(), standing }
}

/// Returns the number of records that wait for their code to be staged, and the files with that
/// code. Records in `sealed` are skipped.
pub(super) fn waiting(ws: &Workspace, sealed: &BTreeSet<&String>) -> (usize, Vec<RelativePath>) {
    let is_unstaged = |path: &RelativePath| {
        let staged = ws.git().and_then(|git| git.file_in_index(path).ok()?);
        staged != ws.root.read(path, store::MAX_CONTENT).ok().flatten()
    };
    let (mut waiting, mut unstaged) = (0, BTreeSet::new());
    for entry in open_besides(ws, sealed).standing {
        let files = entry.record.files.iter().map(|file| &file.relative_path);
        let files: Vec<&RelativePath> = files.filter(|path| is_unstaged(path)).collect();
        waiting += usize::from(!files.is_empty());
        unstaged.extend(files.into_iter().cloned());
    }
    (waiting, unstaged.into_iter().collect())
}

/// Returns the commit that a record is based on. If one shell command edited and committed, its
/// work was recorded after that commit, so for an inferred record this is the parent of the commit
/// that the record names.
fn base_of(ws: &Workspace, entry: &Entry) -> Option<CommitId> {
    let base = CommitId(entry.record.vcs.as_ref()?.revision_id.clone()?);
    if entry.record.strength != Some(Strength::Inferred) {
        return Some(base);
    }
    let about = ws.git()?.commit_info(&base).ok()?;
    about.parents.into_iter().next()
}

/// Returns the ids of the records whose code is in a file but not in the commit `base`. `None` if
/// that cannot be determined.
fn brought(
    ws: &Workspace,
    target: Target,
    path: &RelativePath,
    base: Option<&CommitId>,
) -> Option<BTreeSet<String>> {
    let sealing = Sealing::of_work(target, base.into_iter().cloned().collect());
    let sources = Sources { ledger: ws.ledger.without_derived(), ..Sources::default() };
    let state = FilesAfter::new(ws, &sources, &sealing);
    // Cached outlines of the texts are enough here, since no syntax trees are needed.
    let now = match state.ws.read_outlined(path) {
        Ok(document) => document,
        Err(ReadError::Missing { .. }) => Document::from_text(path.as_str(), ""),
        Err(_) => return None,
    };
    let baseline = Baseline::at_commits(&state.ws, path, &sealing.bases).ok()?;
    let Baseline::Texts(before) = baseline else { return None };
    if before.iter().any(|before| before.text() == now.text()) {
        return Some(BTreeSet::new());
    }
    let before = before.iter().map(|before| state.ws.outlined(path, before));
    let baseline = Baseline::Texts(before.collect());
    let now = baseline.carried_by(now);
    Some(state.records_of(path, baseline, &now))
}

/// Says why a call of `intent seal` had nothing to seal, in one or two sentences.
pub fn nothing_sealed(ws: &Workspace) -> String {
    let is_ledger_shared = ws.git().is_some() && !is_ignored(ws);
    let count = if is_ledger_shared { open(ws).standing.len() } else { 0 };
    let (records, its, it) = match count {
        0 => return "Nothing that was recorded is left to seal.".to_owned(),
        1 => ("record is", "its", "it"),
        _ => ("records are", "their", "them"),
    };
    format!(
        "{count} {records} in no commit yet. No commit that is dated after {it} brings {its} code, and no change with it is staged."
    )
}

/// Returns the commands that commit records which need no code. They have to be staged by `intent
/// seal`, since no change of code triggers that.
pub fn and_commit(message: &str) -> String {
    format!("intent seal && git commit -m {}", shell_word(message))
}

/// Returns true if a commit can carry claims on a file without any change of code: the last commit
/// has the file as it is now.
pub fn is_code_committed(ws: &Workspace, path: &RelativePath) -> bool {
    let Some(head) = ws.head().filter(|_| !is_ignored(ws)) else { return false };
    let (now, then) = (ws.read(path), ws.read_at(head, path));
    matches!((now, then), (Ok(now), Ok(Some(then))) if now.text() == then.text())
}

/// Returns a sentence that says how many records are in no commit yet and how to commit them.
/// `None` if there are none, or if git ignores evidence.
pub fn open_note(ws: &Workspace) -> Option<String> {
    if ws.git().is_none() || is_ignored(ws) {
        return None;
    }
    let standing = open(ws).standing;
    let count = standing.len();
    if count == 0 {
        return None;
    }
    let (records, its, it) = match count {
        1 => ("record is", "its", "it"),
        _ => ("records are", "their", "them"),
    };
    let is_at_once = |entry: &&Entry| {
        let mut paths = entry.record.files.iter().map(|file| &file.relative_path);
        is_carried(entry)
            || claims_as_it_stood(&entry.record) && paths.all(|path| is_code_committed(ws, path))
    };
    let next = match git_hooks::standing(ws) {
        _ if standing.iter().all(is_at_once) => {
            format!("`{}` puts {it} there.", and_commit("Add evidence"))
        }
        HooksState::Installed => format!("The next commit with {its} code carries {it}."),
        _ => format!("Commit {its} code, and `intent seal` stages evidence of {it}."),
    };
    Some(format!("{count} {records} in no commit yet. {next}"))
}

/// Returns the drafts: files of evidence that were sealed in this clone and are in no commit yet.
/// The next seal replaces them.
pub fn drafts(ws: &Workspace) -> Vec<RelativePath> {
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Vec::new() };
    let sealed = journal::sealed(&ws.root);
    let held = journal::held_records(&ws.root).unwrap_or_default();
    let ours: HashSet<&Digest> = held.iter().flat_map(|one| sealed.sections_of(&one.id)).collect();
    let files = ws.ledger.evidence_files().into_iter();
    let files = files.filter(|(_, sections)| sections.iter().all(|one| ours.contains(one)));
    let paths = files.map(|(path, _)| path);
    paths.filter(|path| git.has_file(head, path).is_ok_and(|held| !held)).collect()
}

/// Returns a sentence that says how many drafts the next commit will lack. `None` if the index has
/// all of them.
pub fn unstaged_note(ws: &Workspace) -> Option<String> {
    let git = ws.git()?;
    let mut drafts = drafts(ws);
    drafts.retain(|path| git.file_in_index(path).is_ok_and(|staged| staged.is_none()));
    (!drafts.is_empty()).then(|| {
        let files = counted(drafts.len(), "file");
        format!(
            "{files} of evidence not staged, so the commit will lack it. `intent seal` stages it."
        )
    })
}
