//! Finds the records that are in no commit yet.
//!
//! Only records with lines in the work tree or in the index count, because the next seals can carry
//! no others: the record of an edit that was undone stays in the journal for a while, but there is
//! nothing to commit.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::draft::left_a_block;
use super::{
    LinesByEntry, before_of, carried, document_of, has_blocks_of, is_acceptance, is_carried,
    is_ignored, is_open, is_work, late,
};
use crate::git_hooks::{self, HooksState};
use ground::git::short_id;
use ground::text::{counted, shell_word};
use ground::{Code, CommitId, Finding, RelativePath};
use history::{FileVersion, LineText, RecordedText, new_lines, recorded_texts};
use ledger::journal::{DraftNote, Note};
use ledger::{Entry, LineRuns, evidence};
use why::baseline::commits_of_work;
use why::{VerbError, Workspace, answers};

#[derive(Default)]
pub struct OpenRecords {
    /// The records whose code is in the work tree or in the index.
    pub standing: Vec<Arc<Entry>>,
    /// The number of the other records that have no draft. Their code was undone, is on another
    /// branch, or was not found.
    pub gone: usize,
}

/// Returns the records of the journal that are in no commit yet. A selection, an answer of a person
/// and a change of the registry are about no file, so nobody waits for their commit.
pub fn open(ws: &Workspace) -> OpenRecords {
    open_besides(ws, &BTreeSet::new())
}

fn open_besides(ws: &Workspace, without: &BTreeSet<&String>) -> OpenRecords {
    let is_asked = |entry: &&Arc<Entry>| {
        is_open(entry) && !entry.record.files.is_empty() && !without.contains(&entry.record.id)
    };
    let all: Vec<&Arc<Entry>> = ws.journal.entries().iter().filter(is_asked).collect();
    // A commit carries what is about an earlier one of its history, whatever it contains.
    let may_be_carried = |entry: &Entry| {
        let (Some(git), Some(head), Some(of)) = (ws.git(), ws.head(), &entry.record.of) else {
            return true;
        };
        late::is_of_this_history(git, head, entry, &CommitId(of.clone())).unwrap_or(true)
    };
    let mut paths: BTreeSet<&RelativePath> = BTreeSet::new();
    let mut standing: HashSet<String> = HashSet::new();
    for entry in &all {
        if is_work(entry) {
            paths.extend(entry.record.paths());
        } else if is_acceptance(entry) {
            let is_in = |path: &RelativePath, bytes: Vec<u8>| {
                ws.document(path, &bytes).is_ok_and(|document| has_blocks_of(&document, entry))
            };
            let is_there =
                |path: &RelativePath| versions_of_work(ws, path).any(|bytes| is_in(path, bytes));
            if entry.record.paths().all(is_there) {
                standing.insert(entry.record.id.clone());
            }
        } else if may_be_carried(entry) {
            standing.insert(entry.record.id.clone());
        }
    }
    for path in paths {
        standing.extend(records_in_work(ws, path));
    }
    let (standing, mut gone): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|entry| standing.contains(&entry.record.id));
    let drafts = DraftNote::read_all(&ws.root);
    gone.retain(|entry| !drafts.iter().any(|draft| draft.records.contains(&entry.record.id)));
    OpenRecords { standing: standing.into_iter().cloned().collect(), gone: gone.len() }
}

/// Returns the ids of the records with lines of a file that are on disk or staged, and of those that
/// took lines or blocks away, but for what is committed with evidence.
fn records_in_work(ws: &Workspace, path: &RelativePath) -> BTreeSet<String> {
    let (Some(git), Ok(parents)) = (ws.git(), commits_of_work(ws)) else { return BTreeSet::new() };
    let unsealed = unsealed_records(ws, path);
    let is_unread = unsealed.is_none();
    let mut found = unsealed.unwrap_or_default();
    let committed = parents.iter().filter_map(|commit| git.file_at(commit, path).ok().flatten());
    let committed: Vec<LineText> = committed.map(LineText::new).collect();
    let staged = git.file_in_index(path).ok().flatten();
    // No walk says who brought the lines of a file that is too large.
    let unread = is_unread.then(|| ws.bytes_as_stored(path)).flatten();
    for bytes in staged.into_iter().chain(unread) {
        let text = LineText::new(bytes);
        let is_new = new_lines(&committed.iter().collect::<Vec<_>>(), &text);
        found.extend(LinesByEntry::attributed(ws, path, None, text, &is_new).owner_ids());
    }
    let others = ws.journal.of_path(path);
    let others: Vec<&Arc<Entry>> =
        others.filter(|entry| is_work(entry) && !found.contains(&entry.record.id)).collect();
    if others.is_empty() {
        return found;
    }
    let before = before_of(ws, parents.first(), path).ok().flatten();
    let mut versions: Vec<Vec<u8>> = versions_of_work(ws, path).collect();
    if versions.is_empty() {
        versions.push(Vec::new());
    }
    for bytes in versions {
        let now = document_of(ws, path, &bytes);
        let left = |entry: &&&Arc<Entry>| left_a_block(ws, entry, path, (before.as_ref(), &now));
        found.extend(others.iter().filter(left).map(|entry| entry.record.id.clone()));
    }
    found
}

fn versions_of_work(ws: &Workspace, path: &RelativePath) -> impl Iterator<Item = Vec<u8>> {
    let on_disk = ws.bytes_as_stored(path);
    let staged = ws.git().and_then(|git| git.file_in_index(path).ok()?);
    [on_disk, staged].into_iter().flatten()
}

/// Returns the ids of the records with lines of a file that commits brought without evidence of them,
/// as a commit without hooks does. A record that was made after its commit is among them, although no
/// seal can carry it. `None` if the file cannot be read as text.
pub(super) fn unsealed_records(ws: &Workspace, path: &RelativePath) -> Option<BTreeSet<String>> {
    let file = answers::standing_owners(ws, path)?;
    let is_sealed = |claim: usize| !is_work(&file.lines.claims[claim].entry);
    let lines = file.lines.lines.iter();
    let asked: Vec<bool> =
        lines.map(|line| !line.claim.or(line.disowned).is_some_and(is_sealed)).collect();
    let text = LineText::new(file.document.text().into_bytes());
    Some(LinesByEntry::attributed(ws, path, None, text, &asked).owner_ids())
}

/// Returns the number of records that wait for their code to be staged, and the files with that
/// code. Records in `sealed` are skipped.
pub(super) fn waiting(ws: &Workspace, sealed: &BTreeSet<&String>) -> (usize, Vec<RelativePath>) {
    let is_unstaged = |path: &RelativePath| {
        let staged = ws.git().and_then(|git| git.file_in_index(path).ok()?);
        staged != ws.bytes_as_stored(path)
    };
    let (mut waiting, mut unstaged) = (0, BTreeSet::new());
    for entry in open_besides(ws, sealed).standing {
        let files = entry.record.paths().filter(|path| is_unstaged(path)).cloned();
        let files: Vec<RelativePath> = files.collect();
        waiting += usize::from(!files.is_empty());
        unstaged.extend(files);
    }
    (waiting, unstaged.into_iter().collect())
}

pub fn nothing_sealed(ws: &Workspace) -> String {
    let is_ledger_shared = ws.git().is_some() && !is_ignored(ws);
    let count = if is_ledger_shared { open(ws).standing.len() } else { 0 };
    if count == 0 {
        return "Nothing that was recorded is left to seal.".to_owned();
    }
    let (records, its, it) = words_for(count);
    format!(
        "{count} {records} in no commit yet. No commit that is dated after {it} brings {its} code, and no change with it is staged."
    )
}

fn words_for(records: usize) -> (&'static str, &'static str, &'static str) {
    match records {
        1 => ("record is", "its", "it"),
        _ => ("records are", "their", "them"),
    }
}

/// Returns the commands that commit records which need no code. They have to be staged by `intent
/// seal`, since no change of code triggers that.
pub fn and_commit(message: &str) -> String {
    format!("intent evidence seal && git commit -m {}", shell_word(message))
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
    let (records, its, it) = words_for(count);
    let is_at_once = |entry: &Arc<Entry>| is_carried(entry) || entry.record.of.is_some();
    let next = match git_hooks::standing(ws) {
        _ if standing.iter().all(is_at_once) => {
            format!("`{}` puts {it} there.", and_commit("Add evidence"))
        }
        HooksState::Installed => format!("The next commit with {its} code carries {it}."),
        _ => format!("Commit {its} code, and `intent evidence seal` stages evidence of {it}."),
    };
    Some(format!("{count} {records} in no commit yet. {next}"))
}

/// Returns a finding for each commit that has the code of open records and no evidence of it, or of
/// which only another branch has the evidence, and one if nobody can tell what a record brought. What
/// has a draft is left out, since it only waits for the next commit.
pub fn commits_without_evidence(ws: &Workspace) -> Result<Vec<Finding>, VerbError> {
    let Some(git) = ws.git().filter(|_| !is_ignored(ws)) else { return Ok(Vec::new()) };
    let drafts = DraftNote::read_all(&ws.root);
    let drafted: HashSet<&String> = drafts.iter().flat_map(|draft| &draft.records).collect();
    let is_missing = |id: &&String| {
        let entry = ws.journal.by_id(id);
        !drafted.contains(*id) && entry.is_some_and(|entry| entry.record.of.is_none())
    };
    let help = format!("`{}` adds it.", and_commit("Add evidence"));
    let finding = |message: String| Finding::new(Code::EvidenceMissing, message, help.as_str());
    let mut findings = Vec::from_iter(lines_without_text(ws));
    for draft in late::drafts_of_earlier_commits(ws, git, &[])? {
        let count = draft.records.iter().filter(is_missing).count();
        let Some(commit) = draft.of.filter(|_| count > 0) else { continue };
        let (commit, records) = (commit.short(), counted(count, "record"));
        findings.push(finding(format!(
            "Commit {commit} has the code of {records}, and no evidence of it."
        )));
    }
    for (file, _) in carried::files_of_other_branches(ws, git)? {
        let about = evidence::late_commit_of(&file)
            .filter(|_| !drafts.iter().any(|draft| draft.file == file));
        let Some(commit) = about.map(short_id) else { continue };
        findings.push(finding(format!("Only another branch has evidence of commit {commit}.")));
    }
    Ok(findings)
}

/// Returns a finding if new lines may belong to a record whose text is not kept: such a record knows
/// runs of lines, and if one line of a run was edited, nobody can tell about the others.
fn lines_without_text(ws: &Workspace) -> Option<Finding> {
    let open = ws.journal.entries().iter().filter(|entry| is_work(entry));
    let paths: BTreeSet<&RelativePath> = open.flat_map(|entry| entry.record.paths()).collect();
    let is_affected = |path: &&&RelativePath| {
        let mut records = recorded_texts(&ws.root, &ws.journal, path, is_work);
        records.retain(|(_, text)| !text.unkept.is_empty());
        if records.is_empty() {
            return false;
        }
        let Some(file) = answers::standing_owners(ws, path) else { return false };
        let lines = &file.lines;
        let is_of_last = |version: &FileVersion| {
            let commit = CommitId(version.commit.to_string());
            version.is_uncommitted() || ws.head() == Some(&commit)
        };
        let mut nobodys = lines.lines.iter().filter(|line| line.claim.is_none());
        let has_new =
            nobodys.any(|line| line.version.is_some_and(|at| is_of_last(&lines.versions[at])));
        let count_of = |id: &str| {
            let claims = lines.lines.iter().filter_map(|line| line.claim);
            claims.filter(|at| lines.claims[*at].entry.record.id == id).count()
        };
        let is_incomplete = |(entry, text): &(Arc<Entry>, RecordedText)| {
            let brought: usize = text.unkept.iter().map(LineRuns::line_count).sum();
            count_of(&entry.record.id) < brought
        };
        has_new && records.iter().any(is_incomplete)
    };
    let path = paths.iter().find(is_affected)?.for_shell();
    let message = format!(
        "Lines of {path} were recorded and then edited, and the text of the record is too large or gone, so nobody can tell which of them are left."
    );
    let help = format!(
        "`intent why {path}` shows the lines without a record, and `intent record --all --lines A-B {path}` claims them."
    );
    Some(Finding::new(Code::EvidenceMissing, message, help))
}

/// Returns the drafts: files of evidence that were sealed in this clone and are in no commit yet.
/// The next seal replaces them.
pub fn drafts(ws: &Workspace) -> Vec<RelativePath> {
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Vec::new() };
    let files = DraftNote::read_all(&ws.root).into_iter().map(|draft| draft.file);
    files.filter(|path| git.has_file(head, path).is_ok_and(|held| !held)).collect()
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
            "{files} of evidence not staged, so the commit will lack it. `intent evidence seal` stages it."
        )
    })
}
