//! Finds the records whose change was thrown away, for example with `git checkout`. A line of such a
//! record that a person writes later is theirs.
//!
//! What is not in the files may come back, so a record stays open at first. Once a commit has changed
//! the file and has none of its lines, it goes, unless git still has them somewhere.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use code::saying_lines::says_something;
use ground::git::Target;
use ground::{Git, RelativePath, clock};
use history::{LineText, language_of, recorded_texts};
use ledger::{Entry, journal};
use why::{VerbError, Workspace};

use super::is_work;

/// How many branches are searched for the lines of a record.
const MAX_BRANCHES: usize = 64;

/// Lines without their white space.
type BareLines = HashSet<Vec<u8>>;

/// Removes the records from the journal of which `HEAD`, the work tree, the index, the stashes and the
/// branches have no line, if `HEAD` has changed one of their files.
pub(super) fn retire_thrown_away(ws: &Workspace, git: &Git) -> Result<(), VerbError> {
    // The work tree of a merge or a rebase lacks what belongs to another commit.
    let Some(head) = ws.head().filter(|_| git.incoming().is_ok_and(|it| it.is_empty())) else {
        return Ok(());
    };
    let ws = &ws.clone().with_records_of_now();
    // A commit that left the history may come back.
    let drafts = journal::drafts(&ws.root).into_iter().map(|note| note.records);
    let reopened = journal::reopened(&ws.root).into_iter().map(|note| note.records);
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
    let mut gone: Vec<(&Arc<Entry>, BareLines)> = Vec::new();
    for entry in open {
        let Some(brought) = lines_of_record(ws, entry) else { continue };
        let mut here = BareLines::new();
        for path in entry.record.paths() {
            let texts =
                [git.file_at(head, path)?, git.file_in_index(path)?, ws.bytes_as_stored(path)];
            texts.into_iter().flatten().for_each(|bytes| here.extend(bare_lines(bytes)));
        }
        if brought.is_disjoint(&here) {
            gone.push((entry, brought));
        }
    }
    if gone.is_empty() {
        return Ok(());
    }
    let elsewhere = lines_elsewhere(ws, git, gone.iter().map(|(entry, _)| *entry))?;
    gone.retain(|(_, brought)| brought.is_disjoint(&elsewhere));
    let gone: HashSet<&str> = gone.iter().map(|(entry, _)| &*entry.record.id).collect();
    if !gone.is_empty() {
        journal::retire(&ws.root, &|id| gone.contains(id))?;
    }
    Ok(())
}

/// Returns the lines that a record brought. `None` if there are none, or if a text was not kept.
fn lines_of_record(ws: &Workspace, entry: &Entry) -> Option<BareLines> {
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

/// Returns the lines that the files of records have in stashes and at the tips of branches that are
/// not older, and the lines of changed files of the same languages, to which code may have been moved.
fn lines_elsewhere<'a>(
    ws: &Workspace,
    git: &Git,
    entries: impl Iterator<Item = &'a Arc<Entry>> + Clone,
) -> Result<BareLines, VerbError> {
    let made = entries.clone().filter_map(|entry| clock::milliseconds(&entry.record.timestamp));
    let first = made.min().unwrap_or_default() / 1_000;
    let paths: BTreeSet<&RelativePath> = entries.flat_map(|entry| entry.record.paths()).collect();
    let languages: HashSet<_> = paths.iter().map(|path| language_of(path.as_str())).collect();
    let mut commits = git.stashes()?;
    for stash in commits.clone() {
        // The third parent of a stash has the files that git did not track.
        commits.extend(git.commit_info(&stash)?.parents.into_iter().nth(2));
    }
    let tips = git.branches(MAX_BRANCHES)?.into_iter().map(|(_, tip)| tip);
    commits.extend(tips.filter(|tip| git.commit_info(tip).is_ok_and(|tip| tip.time >= first)));
    let mut lines = BareLines::new();
    for commit in commits.iter().collect::<BTreeSet<_>>() {
        for path in &paths {
            let bytes = git.file_at(commit, path)?.unwrap_or_default();
            lines.extend(bare_lines(bytes));
        }
    }
    for change in git.changes(ws.head(), &Target::WorkTree)? {
        if languages.contains(&language_of(change.path.as_str())) {
            lines.extend(bare_lines(ws.bytes_as_stored(&change.path).unwrap_or_default()));
        }
    }
    Ok(lines)
}

fn bare_lines(bytes: Vec<u8>) -> BareLines {
    let text = LineText::new(bytes);
    (0..text.len()).map(|line| without_white_space(text.line(line))).collect()
}

fn without_white_space(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}
