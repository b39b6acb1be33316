//! Late evidence that another branch carries.
//!
//! If a commit was made without our hook, the next commit carries its evidence. That may be on another
//! branch: `topic` begins after the commit and carries the evidence, and `main`, which has the commit
//! too, goes on without `topic`. So the next commit on `main` carries the same file. Both branches can
//! be merged, because the file has one name and one content.

use std::collections::{BTreeMap, HashSet};

use super::SealedFile;
use ground::{CommitId, Git, RelativePath};
use ledger::journal::{CarriedNote, Note};
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
        let mut notes = CarriedNote::read_all(&ws.root);
        notes.retain(|note| note.file != *file);
        notes.push(CarriedNote { file: file.clone(), commit: carrier.0.clone() });
        CarriedNote::write_all(&ws.root, &notes)?;
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
    let mut missing: BTreeMap<CommitId, Vec<(RelativePath, CommitId)>> = BTreeMap::new();
    for CarriedNote { file, commit } in CarriedNote::read_all(&ws.root) {
        if let Some(about) = evidence::late_commit_of(&file).map(|it| CommitId(it.to_owned()))
            && !git.has_file(head, &file)?
        {
            missing.entry(CommitId(commit)).or_default().push((file, about));
        }
    }
    let abouts = missing.values().flatten().map(|(_, about)| about);
    let asked: HashSet<CommitId> = abouts.chain(missing.keys()).cloned().collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let elsewhere = git.outside(&[head], asked)?;
    let mut found = Vec::new();
    for (carrier, mut files) in missing {
        files.retain(|(_, about)| !elsewhere.contains(about));
        // If the history has the carrier, the files were removed here.
        if files.is_empty() || !elsewhere.contains(&carrier) {
            continue;
        }
        let Ok(info) = git.commit_info(&carrier) else { continue };
        let mut tips = git.kept_commits(info.time)?;
        tips.retain(|(_, tip)| git.is_ancestor(tip, &carrier).unwrap_or(false));
        for (file, _) in files {
            let has_it = |(_, tip): &(String, CommitId)| git.has_file(tip, &file).unwrap_or(false);
            if !tips.is_empty()
                && tips.iter().all(has_it)
                && let Some(bytes) = git.file_at(&carrier, &file)?
            {
                found.push((file, bytes));
            }
        }
    }
    found.sort();
    Ok(found)
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
