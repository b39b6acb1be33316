//! Compares evidence with that of a base commit, for `intent check --base`. There are two rules:
//!
//! 1. Committed evidence is never changed, and is not removed as long as its code exists.
//! 2. New evidence may claim only lines that its commit brought.
//!
//! - `changes`: the files of evidence that differ.
//! - `new_evidence`: the second rule.
//! - `projects`: evidence of projects in folders of the workspace.
//! - `records`: records outside evidence.
//! - `standing`: what removed evidence is about and still exists.

mod changes;
mod new_evidence;
mod projects;
mod records;
mod standing;

use super::signing::Signatures;
use super::unknown_intents::unknown_intents;
use super::{erase, reassign};
use ground::git::{ChangeKind, PathChange};
use ground::text::counted;
use ground::{Code, CommitId, Finding, Git, RelativePath};
use ledger::evidence::is_readable;
use ledger::{Entry, Ledger, anchor};
use why::rules::Rules;
use why::{VerbError, Workspace};

pub use super::compared::{Compared, digests, is_evidence};
pub(crate) use changes::EvidenceChanges;
pub use new_evidence::{AddedEntry, commits_of_range, sections_of_range};
pub(crate) use standing::{StillNamed, still_named};

pub(crate) const UNREAD: &str =
    "nobody can say whether their code still exists, and if it does, it names nobody now";

/// Compares the evidence of a workspace with that of a base, and with the history of the branch that
/// the change goes into. Only files that differ are read. Their own faults, such as a digest that does
/// not fit, are among the findings. `added` is what [`sections_of_range`] says of the change.
pub fn against_base(
    ws: &Workspace,
    (base, target): (&CommitId, &CommitId),
    added: &[AddedEntry],
    rules: &Rules,
    signatures: &dyn Signatures,
) -> Result<Compared, VerbError> {
    let Some(git) = ws.git() else { return Ok(Compared::default()) };
    let changes = EvidenceChanges::find(ws, git, base)?;
    let now = Ledger::from_files(&changes.now);
    let mut compared =
        erase::judge(ws, &now.erased(), &changes.files_before(), signatures, Some(base))?;
    compared.findings.extend(now.findings().iter().cloned());
    compared.findings.extend(anchors_gone(git, base, &changes.all)?);
    compared.add_counts(changed_or_removed(ws, &changes)?);
    let known = changes.sections_before();
    let is_new = |entry: &Entry| entry.section.is_some_and(|section| !known.contains(&section));
    let mut new: Vec<_> = now.entries().iter().filter(|entry| is_new(entry)).cloned().collect();
    new.extend(projects::late_entries(ws, git, base, &changes.all)?);
    compared.add_counts(new_evidence::judge(ws, git, (base, target), rules, (&new, added))?);
    compared.add_counts(reassign::judge_all(ws, &new));
    let named = new.iter().filter(|entry| !entry.record.files.is_empty());
    let named = named.filter(|entry| is_evidence(&entry.origin.path));
    let named = named.filter_map(|entry| entry.record.intent_id.clone());
    compared.findings.extend(unknown_intents(ws, named, || &now));
    let removed = removed_intents(ws, base);
    compared.findings.extend(unknown_intents(ws, removed, || &ws.ledger));
    compared.add_counts(records::against_base(ws, git, base, &changes.all)?);
    compared.notes.dedup();
    Ok(compared)
}

/// Returns findings for files of evidence that were changed, or that were removed although their
/// code still exists. A section that is in another file now counts as neither.
fn changed_or_removed(ws: &Workspace, changes: &EvidenceChanges) -> Result<Compared, VerbError> {
    let mut compared = Compared::default();
    let base = &changes.base;
    let stands = changes.sections_now();
    // Without sections nobody can say where they might be now.
    let is_gone = |bytes: &[u8]| {
        let sections = digests(bytes);
        sections.is_empty() || sections.iter().any(|section| !stands.contains(section))
    };
    let (changed, removed): (Vec<_>, Vec<_>) =
        changes.before.iter().partition(|(path, _)| changes.has_now(path));
    let message = "The file of evidence was changed since the base; evidence never changes.";
    compared
        .findings
        .extend(changed.iter().map(|(path, _)| rewritten_finding(path, message.to_owned(), base)));
    let gone: Vec<_> = removed.into_iter().filter(|(_, bytes)| is_gone(bytes)).collect();
    let named = match gone.is_empty() {
        true => StillNamed::default(),
        false => StillNamed::find(ws, changes, &stands)?,
    };
    let mut unread: Vec<&RelativePath> = Vec::new();
    for (path, bytes) in gone {
        match named.first_name(path) {
            Some(named) => compared.findings.push(rewritten_finding(
                path,
                format!(
                    "Evidence was removed since the base, although its code still exists: {named}."
                ),
                base,
            )),
            None if !is_readable(bytes) => unread.push(path),
            None => compared.notes.push(format!(
                "{path} is not there any more, and what it is about is gone or has changed as well."
            )),
        }
    }
    if let Some(first) = unread.first() {
        compared.notes.push(format!(
            "Not there any more: {} of evidence that this version of `intent` cannot read, {first} among them. So {UNREAD}.",
            counted(unread.len(), "file")
        ));
    }
    Ok(compared)
}

fn removed_intents(ws: &Workspace, base: &CommitId) -> Vec<String> {
    let Some(before) = ws.registry_at(base) else { return Vec::new() };
    let ids = before.intents().iter().map(|intent| &intent.id.value);
    ids.filter(|id| ws.registry.get(id).is_none()).cloned().collect()
}

fn rewritten_finding(path: &RelativePath, message: String, base: &CommitId) -> Finding {
    let word = path.for_shell();
    let help = format!("Restore it: `git checkout {} -- {word}`.", base.short());
    Finding::new(Code::LedgerRewritten, message, help).in_file(path)
}

/// Returns a finding for each anchor that was changed or removed since the base. Neither is ever
/// allowed.
fn anchors_gone(
    git: &Git,
    base: &CommitId,
    changes: &[PathChange],
) -> Result<Vec<Finding>, VerbError> {
    let is_gone =
        |change: &&PathChange| change.kind != ChangeKind::Added && anchor::is_anchor(&change.path);
    let mut findings = Vec::new();
    for PathChange { path, .. } in changes.iter().filter(is_gone) {
        // An anchor whose name does not fit its content vouches for nothing, so it may be repaired.
        if git.file_at(base, path)?.is_some_and(|bytes| anchor::path_of(&bytes) == *path) {
            let message = "An anchor was changed or removed since the base.";
            findings.push(rewritten_finding(path, message.to_owned(), base));
        }
    }
    Ok(findings)
}
