//! Intents that records name and the registry does not contain.

use std::collections::BTreeSet;

use super::compared::finding_at;
use ground::{Code, Finding, RelativePath, text};
use ledger::dialect::is_placeholder;
use ledger::{Claim, Entry, Ledger, is_imported, journal};
use why::{Workspace, answers};

/// Returns true if the registry does not contain an intent. If the registry is missing or cannot be
/// read, that is not known, and the result is false.
fn is_unknown(ws: &Workspace, id: &str) -> bool {
    // An id that is defined twice is reported by another finding.
    let is_known = || ws.registry.get(id).is_some() || !ws.registry.definitions_of(id).is_empty();
    let may_be_told = || {
        let has_any = ws.registry.exists() || !ws.registry.imported().is_empty();
        ws.registry.syntax_error().is_none() && has_any
    };
    !is_placeholder(id) && !is_known() && may_be_told()
}

pub(crate) fn unknown_intents<'a>(
    ws: &Workspace,
    named: impl IntoIterator<Item = String>,
    ledger: impl Fn() -> &'a Ledger,
) -> Vec<Finding> {
    let unknown: BTreeSet<String> = named.into_iter().filter(|id| is_unknown(ws, id)).collect();
    let unknown = unknown.into_iter().filter(|id| !is_reassigned(ws, id));
    let mut unknown: Vec<(&Entry, String)> =
        unknown.filter_map(|id| Some((first_here(ws, ledger(), &id)?, id))).collect();
    unknown.sort_by_key(|(entry, _)| (&entry.origin.path, entry.origin.start));
    let finding = |(entry, id): &(&Entry, String)| {
        let byte = |at: u64| usize::try_from(at).ok();
        let span = byte(entry.origin.start).zip(byte(entry.origin.end));
        let path = entry.record.files.first().map_or("", |file| file.relative_path.as_str());
        let message =
            format!("The ledger names the intent {id}, which the registry does not hold.");
        let help = format!(
            "Put {id} back into {} from git. If the intent has another id now, add `formerly: [{id}]` to its entry. If the code belongs to another intent, a person says so with `intent evidence reassign {} --from {} --to ID`.",
            ws.registry.path(),
            text::shell_word(path),
            text::shell_word(id)
        );
        Finding {
            span: span.map(|(start, end)| start..end),
            intent: Some(id.clone()),
            ..finding_at(entry, Code::UnknownIntent, message, help)
        }
    };
    unknown.iter().map(finding).collect()
}

/// Returns the first record of code under an intent. A record of the journal counts only if a line
/// of it is here, since it may have been made on another branch. An imported ledger names the intents
/// of an earlier registry.
fn first_here<'a>(ws: &Workspace, ledger: &'a Ledger, id: &str) -> Option<&'a Entry> {
    let is_its = |entry: &Entry, claim: &Claim| claim.entry.record.id == entry.record.id;
    let is_here = |entry: &&Entry| {
        ws.git().is_none()
            || !journal::is_open(&entry.origin.path)
            || entry.record.paths().any(|path| has_line(ws, path, |claim| is_its(entry, claim)))
    };
    let entries = ledger.of_intent(id).map(|entry| &**entry);
    let has_code = |entry: &&Entry| !entry.record.files.is_empty();
    entries.filter(|entry| has_code(entry) && !is_imported(&entry.origin.path)).find(is_here)
}

fn has_line(ws: &Workspace, path: &RelativePath, is_it: impl Fn(&Claim) -> bool) -> bool {
    let Some(file) = answers::standing(ws, path) else { return false };
    let mut claims = file.lines.lines.iter().filter_map(|line| line.claim);
    claims.any(|at| is_it(&file.lines.claims[at]))
}

/// Returns true if a person has put code under another intent that was recorded under this one, and
/// no line of it is left.
fn is_reassigned(ws: &Workspace, id: &str) -> bool {
    let takes = |entry: &&std::sync::Arc<Entry>| entry.record.takes.as_deref() == Some(id);
    if !ws.ledger.entries().iter().any(|entry| takes(&entry)) {
        return false;
    }
    let paths = ws.ledger.of_intent(id).flat_map(|entry| entry.record.paths());
    let paths: BTreeSet<&RelativePath> = paths.collect();
    !paths.into_iter().any(|path| has_line(ws, path, |claim| claim.intent() == Some(id)))
}
