//! Prints what the answers of several commands have in common: findings, notes, intents, totals.

use std::collections::BTreeMap;

use anstyle::Style;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::print::{BAD, Cell, DIM, GOOD, INTENT, NOTE, PLAIN, Page, STRONG, UNSURE, WARN};
use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context, Exit};
use evidence::seal;
use ground::text::counted;
use ground::{Level, RelativePath, ignores};
use judgement::map;
use judgement::registry::RegistryAnswer;
use ledger::MutationClass;
use why::Workspace;
use why::findings::FindingAnswer;

/// Writes the map anew, and answers what was added or changed.
pub(super) fn answer_changed_intent(
    context: &Context,
    answer: &RegistryAnswer,
) -> Result<Exit, CliError> {
    map::refresh(&context.open_workspace()?);
    context.answer(answer, |page| changed_intent(page, answer))
}

/// Prints the state of an intent that was added or changed: `✓ INT-001 is IN_PROGRESS in …`.
pub(super) fn changed_intent(page: &mut Page, answer: &RegistryAnswer) {
    page.label(GOOD, "✓").styled(INTENT, &answer.id).literal(" is ");
    match answer.status {
        Some(status) => page.styled(status_style(status.as_str()), status.as_str()),
        None => page.literal("without a status"),
    };
    page.literal(" in ").text(&answer.path).end();
    notes(page, &answer.notes);
}

/// Says what is wrong with a registry in which nothing is read as an intent. `None` if it is an empty
/// list.
pub(super) fn why_no_intents(workspace: &Workspace) -> Option<String> {
    let registry = &workspace.registry;
    if !registry.exists() || registry.all_intents().next().is_some() {
        return None;
    }
    let path = registry.path();
    let says_something = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let text = registry.text();
    if text.lines().find(says_something).is_none() {
        return Some(format!(
            "{path} is empty, so there are no intents. `intent new NAME` writes the first one."
        ));
    }
    (!text.contains("intents")).then(|| {
        format!(
            "{path} has another shape: nothing in it is read as an intent. It is a list under `active_intents:`; docs/formats.md shows one."
        )
    })
}

pub(super) fn status_style(status: &str) -> Style {
    match status {
        "IN_PROGRESS" => GOOD,
        "BLOCKED" => WARN,
        "COMPLETED" | "ARCHIVED" => DIM,
        _ => PLAIN,
    }
}

pub(super) fn hint(page: &mut Page, hint: Option<&str>) {
    if let Some(hint) = hint {
        page.label(NOTE, "hint:").advice(PLAIN, hint).end();
    }
}

pub(super) fn notes(page: &mut Page, notes: &[String]) {
    for note in notes {
        page.label(DIM, "note:").advice(DIM, note).end();
    }
}

/// The most findings of one code that are shown for one file. The others are only counted.
const SHOWN_PER_CODE: usize = 3;

/// Prints findings as linters do, as `path:line: level[code] message`, each with advice on what to
/// do.
pub(super) fn findings(page: &mut Page, findings: &[FindingAnswer]) {
    for in_one_file in findings.chunk_by(|a, b| a.path == b.path) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in in_one_file {
            let count = counts.entry(&one.code).or_default();
            *count += 1;
            if *count <= SHOWN_PER_CODE {
                finding(page, one);
            }
        }
        for (code, count) in counts.into_iter().filter(|(_, count)| *count > SHOWN_PER_CODE) {
            page.literal("  … and ").text(count - SHOWN_PER_CODE).literal(" more ").text(code);
            page.line(" here; --json lists them");
        }
    }
}

fn finding(page: &mut Page, finding: &FindingAnswer) {
    if let Some(path) = &finding.path {
        page.styled(STRONG, path).optional(":", PLAIN, finding.start_line).literal(": ");
    }
    page.styled(level_style(finding.level), json_word(&finding.level));
    page.literal("[").text(&finding.code).literal("] ").text(&finding.message).end();
    if !finding.help.is_empty() {
        page.literal("  ").label(NOTE, "help:").advice(PLAIN, &finding.help).end();
    }
}

pub(super) fn has_warning(findings: &[FindingAnswer]) -> bool {
    findings.iter().any(|finding| finding.level >= Level::Warning)
}

fn level_style(level: Level) -> Style {
    match level {
        Level::Error => BAD,
        Level::Warning => WARN,
        Level::Info => NOTE,
        Level::Hint | Level::Off => DIM,
    }
}

/// Prints the commands that bring a record into a commit when its code is committed already. With
/// no code left to commit, no git hook seals the record, so a person has to run `intent evidence seal`.
pub(super) fn print_seal_command(page: &mut Page, message: &str) {
    page.next_command(&seal::and_commit(message));
}

/// Returns the files below a folder that git does not ignore, sorted by path, without the rules and
/// records.
pub(super) fn files_below(
    workspace: &Workspace,
    target: &FileTarget,
) -> Result<Vec<RelativePath>, CliError> {
    let failed = |source| CliError::io(&target.path, "read", source);
    let folder = target.path.canonicalize().map_err(failed)?;
    let is_below = |path: &RelativePath| {
        workspace.root.absolute(path).starts_with(&folder) && !path.is_orchestration()
    };
    let mut paths: Vec<RelativePath> =
        ignores::walk(&workspace.root).into_iter().filter(is_below).collect();
    paths.sort();
    Ok(paths)
}

pub(super) fn totals(page: &mut Page, errors: usize, warnings: usize) {
    let style = |count, colour| if count > 0 { colour } else { DIM };
    page.styled(style(errors, BAD), counted(errors, "error")).literal(", ");
    page.styled(style(warnings, WARN), counted(warnings, "warning"));
}

fn styled_intent(id: Option<&str>) -> (Style, &str) {
    id.map_or((DIM, "no intent"), |id| (INTENT, id))
}

pub(super) fn intent<'p>(page: &'p mut Page, id: Option<&str>) -> &'p mut Page {
    let (style, words) = styled_intent(id);
    page.styled(style, words)
}

pub(super) fn intent_cell(id: Option<&str>) -> Cell {
    let (style, words) = styled_intent(id);
    Cell::new(style, words)
}

pub(super) fn class_word(class: MutationClass) -> &'static str {
    match class {
        MutationClass::AstRefactor => "refactoring",
        MutationClass::IntentEvolution => "evolution",
    }
}

/// Returns the word that `--json` uses for a value of an enum: `error` for [`Level::Error`].
pub(super) fn json_word(value: &impl Serialize) -> String {
    // A variant without data is always a JSON string.
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn of_json_word<T: DeserializeOwned>(word: String) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// Prints the mark of a state: `✓` for good, `✗` for bad, `?` for unknown (`None`).
pub(super) fn mark(page: &mut Page, good: Option<bool>) -> &mut Page {
    match good {
        Some(true) => page.label(GOOD, "✓"),
        Some(false) => page.label(BAD, "✗"),
        None => page.label(UNSURE, "?"),
    }
}

pub fn warn_of_untrusted_key(page: &mut Page) {
    page.literal("  ").label(WARN, "warning:");
    page.literal("the branch that work is merged into does not trust this key, so the ");
    page.literal("signature does not count there; a line with it belongs in its ");
    page.line(".orchestration/allowed_signers");
}
