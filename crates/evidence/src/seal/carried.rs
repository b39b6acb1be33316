//! Late evidence that another branch carries.
//!
//! If a commit was made without our hook, the next commit carries its evidence. That may be on another
//! branch: `topic` begins after the commit and carries the evidence, and `main`, which has the commit
//! too, goes on without `topic`. So the next commit on `main` carries the same file. Both branches can
//! be merged, because the file has one name and one content.

use super::SealedFile;
use crate::comparison::digests;
use ground::git::Target;
use ground::{CommitId, Git, RelativePath};
use ledger::journal::{self, CarriedNote};
use ledger::{Entry, RecordKind, evidence};
use why::{VerbError, Workspace};

/// Notes that a commit carries a file of late evidence. What a person decided, as by a reassignment,
/// stays on the branch on which it was decided.
pub(super) fn note_carried(
    ws: &Workspace,
    git: &Git,
    (carrier, file): (&CommitId, &RelativePath),
) -> Result<(), VerbError> {
    if evidence::late_commit_of(file).is_none() {
        return Ok(());
    }
    let bytes = git.file_at(carrier, file)?.unwrap_or_default();
    if ledger::read::bytes(file, &bytes).entries.iter().all(|entry| is_about_lines(entry)) {
        let mut notes = journal::carried(&ws.root);
        notes.retain(|note| note.file != *file);
        notes.push(CarriedNote { file: file.clone(), commit: carrier.0.clone() });
        journal::note_carried(&ws.root, &notes)?;
    }
    Ok(())
}

fn is_about_lines(entry: &Entry) -> bool {
    entry.record.kind == RecordKind::Mutation && entry.record.takes.is_none()
}

/// Returns the files of late evidence about commits of the history of `HEAD` that only other branches
/// carry. A file that one of these branches has lost was erased there.
pub(super) fn files_of_other_branches(
    ws: &Workspace,
    git: &Git,
) -> Result<Vec<(RelativePath, Vec<u8>)>, VerbError> {
    let mut found = Vec::new();
    let Some(head) = ws.head() else { return Ok(found) };
    for CarriedNote { file, commit } in journal::carried(&ws.root) {
        let (carrier, about) =
            (CommitId(commit), evidence::late_commit_of(&file).unwrap_or_default());
        // If the history has the carrier, the file was removed here.
        if has_evidence(git, head, &file)?
            || !git.is_ancestor(head, &CommitId(about.to_owned())).unwrap_or(false)
            || git.is_ancestor(head, &carrier).unwrap_or(true)
        {
            continue;
        }
        let since = git.commit_info(&carrier)?.time;
        let is_on = |tip: &CommitId| git.is_ancestor(tip, &carrier).unwrap_or(false);
        let mut tips: Vec<CommitId> =
            git.kept_commits(since)?.into_iter().map(|(_, tip)| tip).collect();
        tips.retain(is_on);
        let has_it = |tip: &CommitId| has_evidence(git, tip, &file).unwrap_or(false);
        if !tips.is_empty()
            && tips.iter().all(has_it)
            && let Some(bytes) = git.file_at(&carrier, &file)?
        {
            found.push((file, bytes));
        }
    }
    Ok(found)
}

pub(super) fn has_evidence(
    git: &Git,
    commit: &CommitId,
    file: &RelativePath,
) -> Result<bool, VerbError> {
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

/// Returns what a file of late evidence states.
pub(super) fn stated(file: &RelativePath, bytes: &[u8]) -> Vec<SealedFile> {
    let mut stated = Vec::new();
    for entry in ledger::read::bytes(file, bytes).entries {
        for one in &entry.record.files {
            let who = one.conversations.first().map(|conversation| &conversation.contributor);
            let names = one.ranges().filter_map(|range| Some(range.block.as_ref()?.path.clone()));
            stated.push(SealedFile {
                path: one.relative_path.clone(),
                commit: entry.late_commit.clone(),
                intent: entry.record.intent_id.clone(),
                session: entry.record.session.clone(),
                model: who.and_then(|who| who.model_identifier.clone()),
                blocks: names.collect(),
                lines: entry.record.line_count(),
            });
        }
    }
    stated
}
