//! Evidence for commits that were made without our hook: with `--no-verify`, by a rebase or a
//! cherry-pick, or by a program that knows no hooks.
//!
//! If a file of an open record was committed since the record was made, the walk through the history
//! of the file says which commits brought the lines of the record. Each of them gets a section that
//! names it. If the file lacks some of them, they are looked for in the other files that changed.
//!
//! If a record brought no lines, because its change only removed some or a person accepted a block, the
//! commit is looked for that made the blocks as the record left them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::draft::{LaterEdits, TextsOfCommit, left_a_block};
use super::thrown_away::{FilesChangedSince, PresentFile, lines_of_record};
use super::{
    Draft, LinesByEntry, before_of, document_of, has_blocks_of, index_among, is_acceptance,
    is_open, is_work, text_left_by,
};
use code::Document;
use ground::{CommitId, Git, RelativePath};
use history::knowledge::{AskedTree, Knowledge};
use history::runs_about;
use history::{FileLines, LineFinder, LineText, Walk, WalkOptions};
use ledger::Entry;
use why::left_history::{has_erased_evidence, has_left_history};
use why::{VerbError, Workspace};

/// How many commits are searched for the one that made a block as a record left it.
const MAX_COMMITS: usize = 256;

/// The records without lines whose change a commit has, by that commit and the path of the file.
type LeftBlocks = BTreeMap<(CommitId, RelativePath), Vec<Arc<Entry>>>;

/// Returns one draft for each earlier commit that has the change of an open record, or a part of it.
/// `now` are the drafts that are made already. Of their records, only lines are looked for, because
/// an amend may have split what was recorded together.
pub(super) fn drafts_of_earlier_commits(
    ws: &Workspace,
    git: &Git,
    now: &[Draft],
) -> Result<Vec<Draft>, VerbError> {
    let Some(head) = ws.head() else { return Ok(Vec::new()) };
    let sealed: HashSet<&String> = now.iter().flat_map(|draft| &draft.records).collect();
    let mut drafts: BTreeMap<CommitId, Draft> = BTreeMap::new();
    let entries = ws.journal.entries().iter().filter(|entry| is_open(entry));
    let mut paths: BTreeSet<&RelativePath> = BTreeSet::new();
    let (mut moved_to, mut moved) = (BTreeSet::new(), MovedLines::default());
    let mut left = LeftBlocks::new();
    for entry in entries {
        let is_sealed = sealed.contains(&entry.record.id);
        if let Some(of) = &entry.record.of {
            let of = CommitId(of.clone());
            if !is_sealed && is_of_this_history(git, head, entry, &of)? {
                drafts.entry(of).or_default().add_record(entry);
            }
            continue;
        }
        for path in entry.record.paths() {
            let has_lines = is_work(entry) && runs_about(entry, path).any(|runs| !runs.is_empty());
            let is_known = is_work(entry) && paths.contains(path);
            let is_asked = has_lines || !is_sealed && (is_work(entry) || is_acceptance(entry));
            if !is_asked || is_known {
                continue;
            }
            if has_lines {
                moved_to.extend(moved.files(ws, git, head, (entry, path))?);
            }
            if !is_committed_since(git, head, entry, path)? {
                continue;
            }
            if is_acceptance(entry) {
                let is_there = |text: &Document| has_blocks_of(text, entry);
                let has_made = |(before, now): TextsOfCommit<'_>| {
                    is_there(now) && !before.is_some_and(is_there)
                };
                if let Some(commit) = commit_that_made(ws, git, head, (entry, path), has_made)? {
                    drafts.entry(commit).or_default().add_record(entry);
                }
            } else if has_lines {
                paths.insert(path);
            } else {
                let has_made = |texts: TextsOfCommit<'_>| left_a_block(ws, entry, path, texts);
                if let Some(commit) = commit_that_made(ws, git, head, (entry, path), has_made)? {
                    left.entry((commit, path.clone())).or_default().push(Arc::clone(entry));
                }
            }
        }
    }
    moved_to.extend(paths.into_iter().cloned());
    if !moved_to.is_empty() {
        add_lines_of_commits(ws, git, head, &moved_to, &mut left, &mut drafts)?;
    }
    for ((commit, path), entries) in left {
        let text = LineText::new(git.file_at(&commit, &path)?.unwrap_or_default());
        let brought = LinesByEntry { owners: vec![None; text.len()], text, entries, left: None };
        let later = LaterEdits::default();
        add_version(ws, git, (&commit, &path), (&brought, &later), &mut drafts)?;
    }
    Ok(drafts.into_iter().map(|(commit, draft)| draft.about(commit)).collect())
}

/// Returns the commit since a record that made a file as the record left it. `has_made` says of the
/// texts before and after a change whether that change did.
fn commit_that_made(
    ws: &Workspace,
    git: &Git,
    head: &CommitId,
    (entry, path): (&Entry, &RelativePath),
    has_made: impl Fn(TextsOfCommit<'_>) -> bool,
) -> Result<Option<CommitId>, VerbError> {
    let Some(base) = entry.record.based_on() else { return Ok(None) };
    let read = |commit: &CommitId| before_of(ws, Some(commit), path);
    let is_made = |before: &CommitId, after: &CommitId| {
        let now = read(after)?.unwrap_or_else(|| Document::from_text(path.as_str(), ""));
        Ok::<_, VerbError>(has_made((read(before)?.as_ref(), &now)))
    };
    if !is_made(&base, head)? {
        return Ok(None);
    }
    let mut commit = head.clone();
    for _ in 0..MAX_COMMITS {
        let parents = git.commit_info(&commit)?.parents;
        let text = git.file_at(&commit, path)?;
        let is_same = |parent: &&CommitId| git.file_at(parent, path).is_ok_and(|one| one == text);
        commit = match (parents.iter().find(is_same), parents.first()) {
            (Some(same), _) => same.clone(),
            (None, Some(parent)) if !is_made(parent, &commit)? => parent.clone(),
            _ => return Ok(Some(commit)),
        };
    }
    Ok(None)
}

/// Returns true if a file differs between the commit on which a record was made and `HEAD`. If the
/// record was inferred, its command may have committed the file itself.
fn is_committed_since(
    git: &Git,
    head: &CommitId,
    entry: &Entry,
    path: &RelativePath,
) -> Result<bool, VerbError> {
    let Some(base) = entry.record.based_on() else { return Ok(true) };
    if entry.record.strength == Some(ledger::Strength::Inferred) {
        return Ok(true);
    }
    if base == *head {
        return Ok(false);
    }
    let Ok(then) = git.file_at(&base, path) else { return Ok(true) };
    Ok(then != git.file_at(head, path)?)
}

/// Finds recorded lines that were moved to another changed file before they were committed. Each file is
/// read once.
#[derive(Default)]
struct MovedLines {
    own: HashMap<RelativePath, PresentFile>,
    changed: FilesChangedSince,
}

impl MovedLines {
    /// Returns the files that changed since a record and have lines of it that its own files lack.
    /// Somebody may have moved the code there, or renamed the file.
    fn files(
        &mut self,
        ws: &Workspace,
        git: &Git,
        head: &CommitId,
        (entry, path): (&Arc<Entry>, &RelativePath),
    ) -> Result<Vec<RelativePath>, VerbError> {
        let has_moved_on = entry.record.based_on().is_some_and(|base| base != *head);
        let lines = if has_moved_on { lines_of_record(ws, entry) } else { None };
        let Some(mut missing) = lines else { return Ok(Vec::new()) };
        for own in entry.record.paths() {
            if !self.own.contains_key(own) {
                self.own.insert(own.clone(), PresentFile::read(ws, git, own)?);
            }
            missing.retain(|line| !self.own[own].lines.contains(line));
        }
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let files = self.changed.with_lines(git, head, (entry, path), &missing)?;
        Ok(files.unwrap_or_default())
    }
}

/// Returns true if the next commit can carry what a record says of a commit: that is in the history,
/// or was replaced, as by a rebase, and the next commit has the lines. If another branch has it, the
/// record waits for that branch.
pub(super) fn is_of_this_history(
    git: &Git,
    head: &CommitId,
    entry: &Entry,
    of: &CommitId,
) -> Result<bool, VerbError> {
    if git.is_ancestor(head, of).unwrap_or(false) {
        return Ok(true);
    }
    for path in entry.record.paths() {
        let text = LineText::new(git.file_in_index(path)?.unwrap_or_default());
        if runs_about(entry, path).any(|runs| !runs.possible_lines(&text).is_empty()) {
            return Ok(has_left_history(git, of)?);
        }
    }
    Ok(false)
}

/// Adds to the drafts the lines of these files that open records brought, each to the draft about the commit
/// that has the line. The evidence of a commit is read once for all of its files.
fn add_lines_of_commits(
    ws: &Workspace,
    git: &Git,
    head: &CommitId,
    paths: &BTreeSet<RelativePath>,
    left: &mut LeftBlocks,
    drafts: &mut BTreeMap<CommitId, Draft>,
) -> Result<(), VerbError> {
    let mut reader = git.object_reader()?;
    let prefix = git.path_in_repository("");
    let head = git.object_id(head)?;
    // The drafts on disk do not count, since this call replaces them.
    let committed = AskedTree::Tree(reader.commit(head)?.tree);
    let mut knowledge = Knowledge::new(&ws.root, prefix.clone(), committed);
    let mut finder = LineFinder {
        root: &ws.root,
        reader: &mut reader,
        knowledge: &mut knowledge,
        prefix: prefix.as_ref(),
        journal: &ws.journal,
        options: WalkOptions::default(),
    };
    for path in paths {
        if let Some(file) = finder.of_file(head, path)? {
            add_lines_of_file(ws, git, &mut finder, &file, left, drafts)?;
        }
    }
    Ok(())
}

fn add_lines_of_file(
    ws: &Workspace,
    git: &Git,
    finder: &mut LineFinder<'_, '_>,
    file: &FileLines,
    left: &mut LeftBlocks,
    drafts: &mut BTreeMap<CommitId, Draft>,
) -> Result<(), VerbError> {
    let is_of_work = |claim: usize| is_work(&file.claims[claim].entry);
    let claimed = file.lines.iter().filter(|line| line.claim.is_some_and(is_of_work));
    for at in claimed.filter_map(|line| line.version).collect::<BTreeSet<usize>>() {
        let version = &file.versions[at];
        let records = finder.records_of_version(version)?;
        let Some(path) = git.path_in_workspace(version.path.as_ref()) else { continue };
        let text = LineText::new(finder.reader.blob(version.blob)?);
        let mut is_new = vec![false; text.len()];
        for line in Walk::new(finder.reader).new_lines_of_commit(version.commit, &version.path)? {
            is_new[line] = true;
        }
        let commit = CommitId(version.commit.to_string());
        let mut entries = left.remove(&(commit.clone(), path.clone())).unwrap_or_default();
        let mut owners: Vec<Option<usize>> = vec![None; text.len()];
        for (line, entry) in records.into_iter().enumerate() {
            match entry {
                Some(entry) if entry.section.is_none() && entry.record.of.is_none() => {
                    owners[line] = Some(index_among(&mut entries, entry));
                }
                // Other evidence has the line.
                Some(_) => is_new[line] = false,
                None => {}
            }
        }
        let text_left = text_left_by(ws, &path, &text, |entry| {
            entries.iter().any(|other| other.record.id == entry.record.id)
        });
        let brought = LinesByEntry { text, entries, owners, left: text_left };
        let later = brought.later_edits(ws, &path, &is_new);
        add_version(ws, git, (&commit, &path), (&brought, &later), drafts)?;
    }
    Ok(())
}

/// Adds what open records did to a file in a commit. `later` is what the commit has beside them.
fn add_version(
    ws: &Workspace,
    git: &Git,
    (commit, path): (&CommitId, &RelativePath),
    (brought, later): (&LinesByEntry, &LaterEdits),
    drafts: &mut BTreeMap<CommitId, Draft>,
) -> Result<(), VerbError> {
    // What a record has of this commit may be what a person erased.
    if has_erased_evidence(&ws.root, git, commit) {
        return Ok(());
    }
    let now = document_of(ws, path, brought.text.as_bytes());
    let parent = git.commit_info(commit)?.parents.into_iter().next();
    let before = before_of(ws, parent.as_ref(), path)?;
    let draft = drafts.entry(commit.clone()).or_default();
    draft.with_lines.extend(brought.owner_ids());
    let texts = (before.as_ref(), &now);
    for (entries, lines) in brought.groups(ws, path, texts) {
        draft.add_lines(ws, path, &entries, texts, lines, later);
    }
    Ok(())
}
