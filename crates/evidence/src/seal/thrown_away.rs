//! Finds the records whose change was thrown away, for example with `git checkout`. A line of such a
//! record that a person writes later is theirs.
//!
//! What is not in the files may come back, so a record stays open at first. Once a commit has changed
//! the file and has none of its lines, or once it is old, it goes, unless git still has its lines
//! somewhere. Where that would take too long to find out, it stays.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use code::saying_lines::says_something;
use ground::git::{ChangeKind, Target};
use ground::{CommitId, Git, RelativePath, clock};
use history::{LineText, language_of, recorded_texts};
use ledger::Entry;
use ledger::journal::{self, DraftNote, Note, ReopenedNote};
use why::{VerbError, Workspace};

use super::{LinesByEntry, is_work};

/// How many commits of branches, tags and stashes are searched for the lines of records.
const MAX_COMMITS: usize = 256;

/// If more files of a language changed since a record, nobody looks where its lines have gone.
const MAX_FILES: usize = 512;

/// Lines without their white space.
pub(super) type BareLines = HashSet<Vec<u8>>;

/// Removes the records from the journal of which `HEAD`, the work tree, the index, the stashes and the
/// branches have no line, if `HEAD` has changed one of their files. A line that stands in other code
/// does not count; see [`attribute`](history::attribute).
pub(super) fn retire_thrown_away(ws: &Workspace, git: &Git) -> Result<(), VerbError> {
    // The work tree of a merge or a rebase lacks what belongs to another commit.
    let Some(head) = ws.head().filter(|_| git.incoming().is_ok_and(|it| it.is_empty())) else {
        return Ok(());
    };
    // A commit that left the history may come back.
    let drafts = DraftNote::read_all(&ws.root).into_iter().map(|note| note.records);
    let reopened = ReopenedNote::read_all(&ws.root).into_iter().map(|note| note.records);
    let sealed: HashSet<String> = drafts.chain(reopened).flatten().collect();
    let is_asked = |entry: &&Arc<Entry>| {
        is_work(entry)
            && !sealed.contains(&entry.record.id)
            && entry.record.based_on().is_some_and(|base| base != *head)
    };
    let mut open: Vec<&Arc<Entry>> = ws.journal.entries().iter().filter(is_asked).collect();
    if open.is_empty() {
        return Ok(());
    }
    let parent = git.commit_info(head)?.parents.into_iter().next();
    let changed = git.changes(parent.as_ref(), &Target::Commit(head.clone()))?.into_iter();
    let changed: HashSet<RelativePath> = changed.map(|change| change.path).collect();
    open.retain(|entry| entry.record.paths().any(|path| changed.contains(path)));
    let gone = thrown_away(ws, git, &open, Age::Young)?;
    if !gone.is_empty() {
        journal::retire(&ws.root, &|id| gone.contains(id))?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// If a line of the record is here, the others may still come back.
    Young,
    /// None of the lines that are here are open.
    Old,
}

/// Returns the ids of those of the records of which git has no line that is not here, too.
pub(super) fn thrown_away<'a>(
    ws: &Workspace,
    git: &Git,
    open: &[&'a Arc<Entry>],
    age: Age,
) -> Result<HashSet<&'a str>, VerbError> {
    let mut gone: Vec<(&Arc<Entry>, BareLines)> = Vec::new();
    let mut files: HashMap<&RelativePath, PresentFile> = HashMap::new();
    for entry in open {
        // If nobody knows the lines, only time tells.
        let known = lines_of_record(ws, entry);
        let Some(mut brought) = known.or((age == Age::Old).then(BareLines::new)) else { continue };
        for path in entry.record.paths() {
            if !files.contains_key(path) {
                files.insert(path, PresentFile::read(ws, git, path)?);
            }
        }
        let stands = |path: &RelativePath| {
            let file = &files[path];
            !brought.is_disjoint(&file.lines) && file.owners(ws, path).contains(&entry.record.id)
        };
        if age == Age::Old || !entry.record.paths().any(stands) {
            brought
                .retain(|line| !entry.record.paths().any(|path| files[path].lines.contains(line)));
            gone.push((entry, brought));
        }
    }
    let elsewhere = lines_elsewhere(ws, git, &gone)?;
    gone.retain(|(_, missing)| match &elsewhere {
        Some(elsewhere) => missing.is_disjoint(elsewhere),
        None => missing.is_empty(),
    });
    Ok(gone.into_iter().map(|(entry, _)| &*entry.record.id).collect())
}

/// A file as the commit, the index and the disk have it.
pub(super) struct PresentFile {
    texts: Vec<LineText>,
    pub lines: BareLines,
    owners: OnceCell<BTreeSet<String>>,
}

impl PresentFile {
    pub(super) fn read(ws: &Workspace, git: &Git, path: &RelativePath) -> Result<Self, VerbError> {
        let committed = ws.head().map(|head| git.file_at(head, path)).transpose()?.flatten();
        let texts = [committed, git.file_in_index(path)?, ws.bytes_as_stored(path)];
        let mut texts: Vec<LineText> = texts.into_iter().flatten().map(LineText::new).collect();
        texts.dedup();
        let lines = texts.iter().flat_map(bare_lines).collect();
        Ok(Self { texts, lines, owners: OnceCell::new() })
    }

    /// Returns the ids of the records with a line in one of the texts.
    fn owners(&self, ws: &Workspace, path: &RelativePath) -> &BTreeSet<String> {
        self.owners.get_or_init(|| {
            let of_text = |text: &LineText| {
                let is_asked = vec![true; text.len()];
                LinesByEntry::attributed(ws, path, None, text.clone(), &is_asked).owner_ids()
            };
            self.texts.iter().flat_map(of_text).collect()
        })
    }
}

/// Returns true if the index may lack a line that a record brought.
pub(super) fn may_lack_lines(ws: &Workspace, git: &Git, entry: &Entry) -> Result<bool, VerbError> {
    let Some(mut brought) = lines_of_record(ws, entry) else { return Ok(true) };
    for path in entry.record.paths() {
        let staged = LineText::new(git.file_in_index(path)?.unwrap_or_default());
        let staged: BareLines = bare_lines(&staged).collect();
        brought.retain(|line| !staged.contains(line));
    }
    Ok(!brought.is_empty())
}

/// Returns the lines that a record brought. `None` if there are none, or if a text was not kept.
pub(super) fn lines_of_record(ws: &Workspace, entry: &Entry) -> Option<BareLines> {
    let mut lines = BareLines::new();
    for path in entry.record.paths() {
        let texts =
            recorded_texts(&ws.root, &ws.journal, path, |other| other.record.id == entry.record.id);
        for (_, recorded) in texts {
            if !recorded.unkept.is_empty() {
                return None;
            }
            let brought = recorded.brought.iter().map(|line| recorded.text.line(*line));
            let saying = brought.filter(|line| says_something(line, language_of(path.as_str())));
            lines.extend(saying.map(without_white_space));
        }
    }
    (!lines.is_empty()).then_some(lines)
}

/// Returns the lines that the files of records have in the stashes, branches and tags that are not older
/// than the records, and the lines of changed files of the same languages, to which code may have been
/// moved. `None` if there are too many of these to look at.
///
/// Each record comes with those of its lines that its files lack here. A record that lacks none is not
/// looked for.
fn lines_elsewhere(
    ws: &Workspace,
    git: &Git,
    records: &[(&Arc<Entry>, BareLines)],
) -> Result<Option<BareLines>, VerbError> {
    let records = records.iter().filter(|(_, missing)| !missing.is_empty());
    let made =
        records.clone().filter_map(|(entry, _)| clock::milliseconds(&entry.record.timestamp));
    let Some(first) = made.min() else { return Ok(Some(BareLines::new())) };
    let paths = records.clone().flat_map(|(entry, _)| entry.record.paths());
    let paths: BTreeSet<&RelativePath> = paths.collect();
    let places: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
    let languages: HashSet<_> = places.iter().map(|path| language_of(path)).collect();
    let kept = git.kept_commits(first / 1_000)?.into_iter();
    let commits: BTreeSet<CommitId> = kept.map(|(_, commit)| commit).collect();
    if commits.len() > MAX_COMMITS {
        return Ok(None);
    }
    let (mut blobs, mut changed) = (HashSet::new(), FilesChangedSince::default());
    for ((entry, missing), head) in records.filter_map(|one| Some((one, ws.head()?))) {
        for path in entry.record.paths() {
            let files = changed.with_lines(git, head, (entry, path), missing)?;
            let Some(files) = files else { return Ok(None) };
            let files: Vec<&str> = files.iter().map(RelativePath::as_str).collect();
            blobs.extend(git.blobs_at(head, &files)?.into_iter().map(|(_, blob)| blob));
        }
    }
    for commit in &commits {
        blobs.extend(git.blobs_at(commit, &places)?.into_iter().map(|(_, blob)| blob));
    }
    let mut lines = BareLines::new();
    for blob in blobs {
        let Ok(bytes) = git.blob_of(blob) else { return Ok(None) };
        lines.extend(bare_lines(&LineText::new(bytes)));
    }
    for change in git.changes(ws.head(), &Target::WorkTree)? {
        if languages.contains(&language_of(change.path.as_str())) {
            let text = LineText::new(ws.bytes_as_stored(&change.path).unwrap_or_default());
            lines.extend(bare_lines(&text));
        }
    }
    Ok(Some(lines))
}

/// What was read of the files that changed since records were made, so that many records about the same
/// files cost little more than one.
#[derive(Default)]
pub(super) struct FilesChangedSince {
    /// The paths that differ between a commit and `HEAD`.
    since: HashMap<CommitId, Vec<RelativePath>>,
    at_head: HashMap<RelativePath, BareLines>,
}

impl FilesChangedSince {
    /// Returns the lines that a file has in `HEAD`.
    fn lines_at(
        &mut self,
        git: &Git,
        head: &CommitId,
        path: &RelativePath,
    ) -> Result<&BareLines, VerbError> {
        if !self.at_head.contains_key(path) {
            let text = LineText::new(git.file_at(head, path)?.unwrap_or_default());
            self.at_head.insert(path.clone(), bare_lines(&text).collect());
        }
        Ok(&self.at_head[path])
    }

    /// Returns the files of the language of a record's file that `HEAD` has otherwise than the commit on
    /// which the record was made, and to which its missing lines may have been moved: they have two of
    /// them, or the only one. `None` if more than [`MAX_FILES`] have changed.
    pub(super) fn with_lines(
        &mut self,
        git: &Git,
        head: &CommitId,
        (entry, path): (&Entry, &RelativePath),
        missing: &BareLines,
    ) -> Result<Option<Vec<RelativePath>>, VerbError> {
        let Some(base) = entry.record.based_on() else { return Ok(Some(Vec::new())) };
        let changed = self.since.entry(base.clone()).or_insert_with(|| {
            let changes = git.changes(Some(&base), &Target::Commit(head.clone()));
            let changes = changes.unwrap_or_default().into_iter();
            let changes = changes.filter(|change| change.kind != ChangeKind::Deleted);
            let paths = changes.map(|change| change.path);
            paths.filter(|path| !path.is_orchestration()).collect()
        });
        let language = language_of(path.as_str());
        let changed = changed.iter().filter(|path| language_of(path.as_str()) == language);
        let changed: Vec<RelativePath> = changed.take(MAX_FILES + 1).cloned().collect();
        if changed.len() > MAX_FILES {
            return Ok(None);
        }
        let mut found = Vec::new();
        for file in changed {
            let lines = self.lines_at(git, head, &file)?;
            if missing.intersection(lines).count() >= missing.len().min(2) {
                found.push(file);
            }
        }
        Ok(Some(found))
    }
}

fn bare_lines(text: &LineText) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..text.len()).map(|line| without_white_space(text.line(line)))
}

fn without_white_space(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}
