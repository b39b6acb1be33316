//! Compares records outside evidence with those of a base commit: lines in our own format
//! (`ledger.layout: single`) and lines of other tools, in tracked files.
//!
//! These records are not sealed, so no commit says which lines they brought. Instead, the difference
//! between the base and the files is the limit of what they may claim. Claims on code that does not
//! exist any more are not checked, because no answer uses them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::changes::{Files, bytes_now};
use super::{StillNamed, reassign, rewritten_finding};
use crate::compared::{Compared, finding_at, is_evidence};
use code::saying_lines::says_something;
use code::{Block, FileBlocks};
use ground::git::{ChangeKind, PathChange, Target};
use ground::text::counted;
use ground::{Code, CommitId, Finding, Git, RelativePath};
use history::{LineText, new_lines};
use ledger::read::is_ledger_path;
use ledger::{
    Entry, FileRecord, Ledger, LineRuns, RecordDialect, RecordKind, Trust, is_imported, journal,
};
use why::answers::{self, FileProvenance};
use why::{VerbError, Workspace};

const MAX_COMMITS: usize = 100_000;

pub(super) fn against_base(
    ws: &Workspace,
    git: &Git,
    base: &CommitId,
    changes: &[PathChange],
) -> Result<Compared, VerbError> {
    let (mut before, mut now) = (Files::new(), Files::new());
    for PathChange { path, kind, .. } in changes.iter().filter(|change| is_outside(&change.path)) {
        if let Some(bytes) = git.file_at(base, path)?.filter(|_| *kind != ChangeKind::Added) {
            before.push((path.clone(), bytes));
        }
        let is_tracked = !matches!(ws.files(), Target::WorkTree)
            || *kind != ChangeKind::Added
            || git.file_in_index(path)?.is_some();
        if let Some(bytes) = bytes_now(ws, git, path)?
            && is_tracked
            && *kind != ChangeKind::Deleted
        {
            now.push((path.clone(), bytes));
        }
    }
    let (before, now) = (Ledger::from_files(&before), Ledger::from_files(&now));
    // A line counts in whatever file it is, as with evidence.
    let (stood, stands) = (stored_lines(&before), stored_lines(&now));
    let new: Vec<Arc<Entry>> =
        sound_entries(&now).filter(|entry| !stood.contains(&*entry.stored)).cloned().collect();
    let gone = sound_entries(&before).filter(|entry| !stands.contains(&*entry.stored));
    let gone: Vec<&Entry> = gone.map(|entry| &**entry).collect();
    let mut compared = judge_removed(ws, git, base, &gone, &new)?;
    if matches!(ws.files(), Target::Commit(_)) {
        // Elsewhere the journal has these findings.
        compared.findings.extend(now.findings().iter().cloned());
    }
    compared.findings.extend(unfounded_finding(ws, git, base, &new)?);
    for (at, entry) in new.iter().enumerate() {
        let later: Vec<&Entry> = new[at + 1..].iter().map(|entry| &**entry).collect();
        compared.add_counts(reassign::judge(ws, entry, &later));
    }
    Ok(compared)
}

fn is_outside(path: &RelativePath) -> bool {
    is_ledger_path(path) && !is_evidence(path) && !journal::is_open(path)
}

fn sound_entries(ledger: &Ledger) -> impl Iterator<Item = &Arc<Entry>> {
    ledger.entries().iter().filter(|entry| entry.trust != Trust::Contradicted)
}

fn stored_lines(ledger: &Ledger) -> HashSet<&[u8]> {
    sound_entries(ledger).map(|entry| &*entry.stored).collect()
}

/// Judges removed records. Records in our own format may be removed only with the code that they
/// are about. Records of other tools may always be removed.
fn judge_removed(
    ws: &Workspace,
    git: &Git,
    base: &CommitId,
    gone: &[&Entry],
    new: &[Arc<Entry>],
) -> Result<Compared, VerbError> {
    let mut compared = Compared::default();
    let (ours, foreign): (Vec<&Entry>, Vec<&Entry>) =
        gone.iter().partition(|entry| entry.dialect == RecordDialect::Canonical);
    for (path, lines) in by_file(&foreign) {
        compared.notes.push(format!(
            "This change does not have {} of other tools that the base has in {path}.",
            counted(lines, "record")
        ));
    }
    let mut named = StillNamed::default();
    for entry in &ours {
        for file in &entry.record.files {
            if is_still_there(ws, git, base, file)? {
                named.add_name(&entry.origin.path, file.relative_path.as_str());
            }
        }
    }
    for (path, lines) in by_file(&ours) {
        let lines = counted(lines, "record");
        let Some(named) = named.first_name(path) else {
            compared.notes.push(format!(
                "No existing code depends on {lines} that the base has in {path} and this change does not."
            ));
            continue;
        };
        let message = format!(
            "{lines} were removed from {path} since the base, although their code still exists: {named}."
        );
        let mut finding = rewritten_finding(path, message, base);
        if new.iter().any(|entry| entry.origin.path == *path) {
            let (base, path) = (base.short(), path.for_shell());
            finding.help = format!(
                "Put them back before what was added since: `git show {base}:./{path} | awk '!seen[$0]++' - {path} >{path}.new && mv {path}.new {path}`."
            );
        }
        compared.findings.push(finding);
    }
    Ok(compared)
}

fn by_file<'a>(entries: &[&'a Entry]) -> BTreeMap<&'a RelativePath, usize> {
    let mut files = BTreeMap::new();
    entries.iter().for_each(|entry| *files.entry(&entry.origin.path).or_default() += 1);
    files
}

fn is_still_there(
    ws: &Workspace,
    git: &Git,
    base: &CommitId,
    of: &FileRecord,
) -> Result<bool, VerbError> {
    let path = &of.relative_path;
    let (Some(then), Ok(now)) = (ws.read_at(base, path)?, ws.read(path)) else { return Ok(false) };
    let bytes = git.file_at(base, path)?.unwrap_or_default();
    let (then_text, now_text) = (LineText::new(bytes), LineText::new(now.text().into_bytes()));
    let is_gone = new_lines(&[&now_text], &then_text);
    let named = named_lines(of, &then_text, &then.blocks(), LineRuns::possible_lines);
    Ok(named.into_iter().flatten().any(|line| !is_gone[line]))
}

/// Returns the lines of a text that say something and that a record names. Lines that the record
/// names together, because it names their block by its text, are in one list. `lines_of` says which
/// lines of a text are meant by runs.
fn named_lines(
    of: &FileRecord,
    text: &LineText,
    blocks: &FileBlocks,
    lines_of: fn(&LineRuns, &LineText) -> Vec<usize>,
) -> Vec<Vec<usize>> {
    let runs = of.conversations.iter().map(|one| &one.lines);
    let found = runs.flat_map(|runs| lines_of(runs, text));
    let mut named: Vec<Vec<usize>> = found.map(|line| vec![line]).collect();
    if of.conversations.iter().all(|one| one.lines.is_empty()) {
        let is_named = |block: &&Block| {
            of.ranges()
                .any(|range| !range.deleted && range.content_hash == block.fingerprint.content)
        };
        let lines = blocks.blocks.iter().filter(is_named).map(|block| block.whole_lines);
        named.extend(lines.map(|lines| {
            (lines.start() as usize - 1..(lines.end() as usize).min(text.len())).collect()
        }));
    }
    named.iter_mut().for_each(|lines| {
        lines.retain(|line| says_something(text.line(*line), blocks.language));
    });
    named.retain(|lines| !lines.is_empty());
    named
}

fn unfounded_finding(
    ws: &Workspace,
    git: &Git,
    base: &CommitId,
    new: &[Arc<Entry>],
) -> Result<Vec<Finding>, VerbError> {
    let claims = |entry: &&Arc<Entry>| {
        // What an imported ledger says is never shown without the word that it is claimed.
        entry.record.kind == RecordKind::Mutation
            && !entry.record.files.is_empty()
            && !is_imported(&entry.origin.path)
    };
    let new: Vec<&Arc<Entry>> = new.iter().filter(claims).collect();
    let Some(tip) = ws.tip().filter(|_| !new.is_empty()) else { return Ok(Vec::new()) };
    let since: HashSet<CommitId> =
        git.commits_between(&[base], tip, MAX_COMMITS)?.into_iter().collect();
    let mut files: BTreeMap<&RelativePath, Option<FileProvenance>> = BTreeMap::new();
    let mut wrong: Vec<(&Entry, Vec<String>)> = Vec::new();
    for entry in new {
        let mut what = Vec::new();
        let of = entry.record.of.clone().map(CommitId);
        if let Some(of) = of.filter(|of| git.is_ancestor(base, of).unwrap_or(false)) {
            what.push(format!("it is about {}, which the base has already", of.short()));
        }
        for file in &entry.record.files {
            let path = &file.relative_path;
            let present = files.entry(path).or_insert_with(|| answers::standing(ws, path));
            let Some(present) = present else { continue };
            let is_older = |line: &usize| {
                let source = present.lines.lines.get(*line);
                let version = source.and_then(|source| present.lines.versions.get(source.version?));
                version.is_some_and(|version| {
                    !version.is_uncommitted()
                        && !since.contains(&CommitId(version.commit.to_string()))
                })
            };
            let text = LineText::new(present.document.text().into_bytes());
            let named = named_lines(file, &text, &present.blocks, LineRuns::standing_lines);
            if let Some(lines) = named.iter().find(|lines| lines.iter().all(is_older)) {
                what.push(format!("{path}:{} stood there at the base", lines[0] + 1));
            }
        }
        if !what.is_empty() {
            wrong.push((entry, what));
        }
    }
    // Another tool may have written an object on several lines; then its first line is not all.
    let on_one_line = wrong.iter().filter(|(entry, _)| !entry.stored.contains(&b'\n'));
    let places: Vec<(RelativePath, u32)> =
        on_one_line.map(|(entry, _)| (entry.origin.path.clone(), entry.origin.line)).collect();
    Ok(wrong.into_iter().map(|(entry, what)| refuse(entry, &what, &places)).collect())
}

/// Makes the finding for a record. `wrong` are the reasons, and `places` are the places of all
/// wrong records that are one line each.
fn refuse(entry: &Entry, wrong: &[String], places: &[(RelativePath, u32)]) -> Finding {
    let (path, line) = (&entry.origin.path, entry.origin.line);
    let named = entry.record.intent_id.as_deref().unwrap_or("an author");
    let message = format!(
        "The record at {path}:{line} names {named} for code that this change did not add: {}.",
        wrong.join("; ")
    );
    finding_at(entry, Code::EvidenceUnfounded, message, take_out(path, line, places))
}

/// Says how to remove the wrong record at a line of a file. One command removes all wrong records
/// of the file, because removing one changes the line numbers of those after it.
fn take_out(path: &RelativePath, line: u32, places: &[(RelativePath, u32)]) -> String {
    let of_file = places.iter().filter(|(other, _)| other == path);
    let lines: Vec<u32> = of_file.map(|(_, line)| *line).collect();
    // The author of the change has chosen the name of the file, so an unusual name must not become
    // part of a command.
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let is_plain = path.as_str().bytes().all(is_word) && path.as_str().ends_with("jsonl");
    if !is_plain || !lines.contains(&line) {
        return format!("Take it out of {path}, and commit.");
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}d")).collect();
    format!("Take it out, `sed -i '{}' {path}`, and commit.", lines.join(";"))
}
