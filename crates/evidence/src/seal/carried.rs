//! Late evidence that another branch carries.
//!
//! If a commit was made without our hook, the next commit carries its evidence. That may be on another
//! branch: `topic` begins after the commit and carries the evidence, and `main`, which has the commit
//! too, goes on without `topic`. So the next commit on `main` carries the same file. Both branches can
//! be merged, because the file has one name and one content.

use std::collections::HashSet;

use super::SealedFile;
use crate::comparison::digests;
use ground::git::Target;
use ground::{CommitId, Git, RelativePath};
use ledger::journal::{self, CarriedNote};
use ledger::{Entry, RecordKind, evidence};
use why::{VerbError, Workspace};

/// How many files are noted. Each commit looks for them, so it may not cost more with every late file
/// that was ever sealed.
const MAX_CARRIED: usize = 16;

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
        let newest = &notes[notes.len().saturating_sub(MAX_CARRIED)..];
        journal::note_carried(&ws.root, newest)?;
    }
    Ok(())
}

fn is_about_lines(entry: &Entry) -> bool {
    entry.record.kind == RecordKind::Mutation && entry.record.takes.is_none()
}

/// Returns the files of late evidence about commits of the history of `HEAD` that only other branches
/// carry. A file is left out if one of these branches does not have it any more, since somebody erased
/// it there.
pub(super) fn files_of_other_branches(
    ws: &Workspace,
    git: &Git,
) -> Result<Vec<(RelativePath, Vec<u8>)>, VerbError> {
    let Some(head) = ws.head() else { return Ok(Vec::new()) };
    let mut missing = Vec::new();
    for CarriedNote { file, commit } in journal::carried(&ws.root) {
        let (carrier, about) = (CommitId(commit), evidence::late_commit_of(&file));
        let about = about.map(|commit| CommitId(commit.to_owned()));
        if let Some(about) = about
            && !has_evidence(git, head, &file)?
        {
            missing.push((file, about, carrier));
        }
    }
    let asked = missing.iter().flat_map(|(_, about, carrier)| [about, carrier]);
    let asked: HashSet<CommitId> = asked.cloned().collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let elsewhere = git.outside(&[head], asked)?;
    // If the history has the carrier, the file was removed here.
    missing.retain(|(_, about, carrier)| !elsewhere.contains(about) && elsewhere.contains(carrier));
    let mut found = Vec::new();
    for (file, _, carrier) in missing {
        let Ok(info) = git.commit_info(&carrier) else { continue };
        let is_on = |tip: &CommitId| git.is_ancestor(tip, &carrier).unwrap_or(false);
        let mut tips: Vec<CommitId> =
            git.kept_commits(info.time)?.into_iter().map(|(_, tip)| tip).collect();
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
