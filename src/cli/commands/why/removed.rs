//! Prints the answer of `intent why --removed`.

use jiff::Timestamp;

use crate::cli::commands::shared;
use crate::cli::print::{DIM, INTENT, PLAIN, Page, STRONG};
use crate::cli::when;
use why::answers::span;
use why::removed::{RemovalAnswer, RemovedAnswer, RemovedPart};

const PARTS: usize = 14;

pub(super) fn show(page: &mut Page, answer: &RemovedAnswer, now: Timestamp) {
    if answer.commits.is_empty() {
        page.styled(STRONG, answer.path.as_str()).line(": no commit removed a line of it");
    }
    for removal in &answer.commits {
        page.gap();
        headline(page, answer, removal, now);
        removal.removed.iter().for_each(|part| row(page, part));
    }
    shared::notes(page, &answer.notes);
}

/// Prints what was removed below the records of what is there.
pub(in crate::cli::commands) fn show_below_records(
    page: &mut Page,
    answer: &RemovedAnswer,
    now: Timestamp,
) {
    page.end().styled(DIM, "removed").end();
    show(page, answer, now);
}

fn headline(page: &mut Page, answer: &RemovedAnswer, removal: &RemovalAnswer, now: Timestamp) {
    match &removal.commit {
        Some(commit) => {
            page.styled(STRONG, commit.short()).literal("  ").text(&commit.author);
            if let Some(at) = &commit.timestamp {
                page.literal(", ").text(when::ago(now, at)).literal(" (").text(when::date(at));
                page.literal(")");
            }
            page.literal(": ").text(&commit.subject);
        }
        None => {
            page.literal("a commit that cannot be read");
        }
    }
    if removal.path != answer.path {
        page.literal("  ").label(DIM, "from").styled(DIM, removal.path.as_str());
    }
    page.end();
}

fn row(page: &mut Page, part: &RemovedPart) {
    page.literal("  ").styled(DIM, span(part.start_line, part.end_line)).pad_to(PARTS);
    match (&part.block, part.whole) {
        (Some(block), true) => page.text(&block.kind).literal(" ").styled(STRONG, &block.path),
        (Some(block), false) => {
            page.label(DIM, "in").text(&block.kind).literal(" ").text(&block.path)
        }
        (None, _) => page.styled(DIM, "between blocks"),
    };
    if let Some(intent) = &part.intent {
        page.literal("  ").styled(INTENT, &intent.id).optional(" ", PLAIN, intent.name.as_ref());
    }
    page.optional("  ", PLAIN, part.by.as_ref()).optional("  ", DIM, part.session.as_ref()).end();
}
