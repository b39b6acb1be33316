//! Evidence for commits that were made without our hook: with `--no-verify`, by a rebase or a
//! cherry-pick, or by a program that knows no hooks.
//!
//! If a file of an open record was committed since the record was made, the walk through the history
//! of the file says which commits brought the lines of the record. Each of them gets a section that
//! names it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::{Draft, LinesByEntry, before_of, is_open, is_work};
use ground::{CommitId, Git, RelativePath};
use history::knowledge::{AskedTree, Knowledge};
use history::{FileVersion, LineFinder, LineText};
use ledger::Entry;
use why::{VerbError, Workspace};

/// Returns one draft for each earlier commit that brought lines of open records. `now` are the
/// drafts that are made already; their records are left out.
pub(super) fn drafts_of_earlier_commits(
    ws: &Workspace,
    git: &Git,
    now: &[Draft],
) -> Result<Vec<Draft>, VerbError> {
    let Some(head) = ws.head() else { return Ok(Vec::new()) };
    let sealed: HashSet<&String> = now.iter().flat_map(|draft| &draft.records).collect();
    let mut drafts: BTreeMap<CommitId, Draft> = BTreeMap::new();
    let entries = ws.journal.entries().iter().filter(|entry| is_open(entry));
    let mut paths: HashSet<&RelativePath> = HashSet::new();
    for entry in entries {
        if let Some(of) = &entry.record.of {
            let of = CommitId(of.clone());
            if git.is_ancestor(head, &of).unwrap_or(false) {
                drafts.entry(of).or_default().add_record(entry);
            }
        } else if is_work(entry) && !sealed.contains(&entry.record.id) {
            let files = entry.record.files.iter().map(|file| &file.relative_path);
            for path in files.filter(|path| !paths.contains(path)).collect::<Vec<_>>() {
                if is_committed_since(git, head, entry, path)? {
                    paths.insert(path);
                }
            }
        }
    }
    let mut paths: Vec<&RelativePath> = paths.into_iter().collect();
    paths.sort();
    for path in paths {
        add_lines_of_commits(ws, git, head, path, &mut drafts)?;
    }
    Ok(drafts.into_iter().map(|(commit, draft)| draft.about(commit)).collect())
}

/// Returns true if a file differs between the commit on which a record was made and `HEAD`. If the
/// record was inferred, its command may have committed the file itself.
fn is_committed_since(
    git: &Git,
    head: &CommitId,
    entry: &Entry,
    path: &RelativePath,
) -> Result<bool, VerbError> {
    let based_on = entry.record.vcs.as_ref().and_then(|vcs| vcs.revision_id.clone());
    let Some(base) = based_on.map(CommitId) else { return Ok(true) };
    if entry.record.strength == Some(ledger::Strength::Inferred) {
        return Ok(true);
    }
    if base == *head {
        return Ok(false);
    }
    let Ok(then) = git.file_at(&base, path) else { return Ok(true) };
    Ok(then != git.file_at(head, path)?)
}

fn add_lines_of_commits(
    ws: &Workspace,
    git: &Git,
    head: &CommitId,
    path: &RelativePath,
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
        known: None,
    };
    let Some(file) = finder.of_file(head, path)? else { return Ok(()) };
    let claimed = file
        .lines
        .iter()
        .filter(|line| line.claim.is_some_and(|at| is_work(&file.claims[at].entry)));
    let mut versions: Vec<usize> = claimed.filter_map(|line| line.version).collect();
    versions.sort_unstable();
    versions.dedup();
    for at in versions {
        let version = &file.versions[at];
        let lines = finder.unsealed_lines(version)?;
        let bytes = finder.reader.blob(version.blob)?;
        add_version(ws, git, version, lines, &bytes, drafts)?;
    }
    Ok(())
}

fn add_version(
    ws: &Workspace,
    git: &Git,
    version: &FileVersion,
    lines: Vec<Option<Arc<Entry>>>,
    bytes: &[u8],
    drafts: &mut BTreeMap<CommitId, Draft>,
) -> Result<(), VerbError> {
    let Some(path) = git.path_in_workspace(version.path.as_ref()) else { return Ok(()) };
    let Ok(now) = ws.document(&path, bytes) else { return Ok(()) };
    let commit = CommitId(version.commit.to_string());
    let parent = git.commit_info(&commit)?.parents.into_iter().next();
    let before = before_of(ws, git, parent.as_ref(), &path)?;
    let mut entries: Vec<Arc<Entry>> = Vec::new();
    let owners = lines.into_iter().map(|entry| {
        let entry = entry?;
        let known = entries.iter().position(|other| other.record.id == entry.record.id);
        Some(known.unwrap_or_else(|| {
            entries.push(entry);
            entries.len() - 1
        }))
    });
    let owners: Vec<Option<usize>> = owners.collect();
    let brought = LinesByEntry { text: LineText::new(bytes.to_vec()), entries, owners };
    let draft = drafts.entry(commit).or_default();
    for (entries, lines) in brought.groups(&path, (before.as_ref(), &now)) {
        draft.add_lines(&path, &entries, (before.as_ref(), &now), lines, &[]);
    }
    Ok(())
}
