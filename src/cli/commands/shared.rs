//! What several commands print in the same way.

use std::collections::BTreeMap;

use anstyle::Style;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::print::{BAD, Cell, DIM, GOOD, INTENT, NOTE, PLAIN, Page, STRONG, UNSURE, WARN};
use crate::intent::Status;
use crate::verbs::check::FindingAnswer;
use crate::verbs::registry::{self, RegistryAnswer};
use crate::verbs::{map, seal};
use crate::workspace::Level;
use crate::workspace::text::counted;

/// Sets the status of an intent and prints the change.
pub(super) fn set_status(context: &Context, id: &str, status: Status) -> Result<Exit, CliError> {
    let answer = registry::set_status(&context.open_workspace()?, id, status)?;
    map::refresh(&context.open_workspace()?);
    context.answer(&answer, |page| changed(page, &answer))?;
    Ok(Exit::Fine)
}

/// Prints one line about a changed registry.
pub(super) fn changed(page: &mut Page, answer: &RegistryAnswer) {
    page.styled(GOOD, "✓").literal(" ").styled(INTENT, &answer.id).literal(" is ");
    match answer.status {
        Some(status) => page.styled(status_style(status.as_str()), status.as_str()),
        None => page.literal("without a status"),
    };
    page.literal(" in ").text(&answer.path).end();
    notes(page, &answer.notes);
}

pub(super) fn status_style(status: &str) -> Style {
    match status {
        "IN_PROGRESS" => GOOD,
        "BLOCKED" => WARN,
        "COMPLETED" | "ARCHIVED" => DIM,
        _ => PLAIN,
    }
}

/// Prints what else a person could do, if there is a hint.
pub(super) fn hint(page: &mut Page, hint: Option<&str>) {
    if let Some(hint) = hint {
        page.styled(NOTE, "hint:").literal(" ").text(hint).end();
    }
}

/// Prints notes: what an answer lacks, and what else there is to know.
pub(super) fn notes(page: &mut Page, notes: &[String]) {
    for note in notes {
        page.styled(DIM, "note:").literal(" ").styled(DIM, note).end();
    }
}

/// The most findings of one code that are shown for one file. The others are only counted.
const SHOWN_ALIKE: usize = 3;

/// Prints findings as linters do, as `path:line: level[code] message`, each with advice on what to
/// do.
pub(super) fn findings(page: &mut Page, findings: &[FindingAnswer]) {
    for of_file in findings.chunk_by(|a, b| a.path == b.path) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for one in of_file {
            let alike = seen.entry(&one.code).or_default();
            *alike += 1;
            if *alike <= SHOWN_ALIKE {
                finding(page, one);
            }
        }
        for (code, count) in seen.into_iter().filter(|(_, count)| *count > SHOWN_ALIKE) {
            page.literal("  … and ")
                .text(&(count - SHOWN_ALIKE).to_string())
                .literal(" more ")
                .text(code);
            page.literal(" here; --json lists them").end();
        }
    }
}

fn finding(page: &mut Page, finding: &FindingAnswer) {
    if let Some(path) = &finding.path {
        page.styled(STRONG, path);
        if let Some(line) = finding.start_line {
            page.literal(":").text(&line.to_string());
        }
        page.literal(": ");
    }
    page.styled(level_style(finding.level), level_word(finding.level))
        .literal("[")
        .text(&finding.code)
        .literal("] ")
        .text(&finding.message)
        .end();
    if !finding.help.is_empty() {
        page.literal("  ").styled(NOTE, "help:").literal(" ").text(&finding.help).end();
    }
}

/// Returns true if a finding is severe enough for exit code 1, that is, a warning or an error.
pub(super) fn has_warning(findings: &[FindingAnswer]) -> bool {
    findings.iter().any(|finding| finding.level >= Level::Warning)
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "info",
        Level::Hint => "hint",
        Level::Off => "off",
    }
}

fn level_style(level: Level) -> Style {
    match level {
        Level::Error => BAD,
        Level::Warning => WARN,
        Level::Info => NOTE,
        Level::Hint | Level::Off => DIM,
    }
}

/// Prints the commands that carry a record into a commit if its code is already committed. Such a
/// record stages nothing by itself.
pub(super) fn print_seal_command(page: &mut Page, message: &str) {
    page.styled(DIM, "Next:").literal(" ").text(&seal::and_commit(message)).end();
}

/// Prints `2 errors, 1 warning`, each coloured if it is not zero.
pub(super) fn totals(page: &mut Page, errors: usize, warnings: usize) {
    let style = |count, loud| if count > 0 { loud } else { DIM };
    page.styled(style(errors, BAD), &counted(errors, "error"))
        .literal(", ")
        .styled(style(warnings, WARN), &counted(warnings, "warning"));
}

/// Returns the cell of an intent, or `no intent`.
pub(super) fn intent_cell(id: Option<&str>) -> Cell {
    match id {
        Some(id) => Cell::new(INTENT, id),
        None => Cell::new(DIM, "no intent"),
    }
}

/// Returns the colour and the mark of a state: good, bad, or `None` for unknown.
pub(super) fn mark(good: Option<bool>) -> (Style, &'static str) {
    match good {
        Some(true) => (GOOD, "✓"),
        Some(false) => (BAD, "✗"),
        None => (UNSURE, "?"),
    }
}
