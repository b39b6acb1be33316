//! `intent status`: shows the workspace in brief.

use super::shared;
use crate::cli::print::{DIM, INTENT, PLAIN, Page, STRONG};
use crate::cli::{CliError, Context, Exit, when};
use ground::git::short_id;
use ground::text::listed;
use intents::Status;
use overview::status::{StatusAnswer, status};
use why::selectable::next_step;

/// Show the workspace in brief: what is selected, what there is, what is wrong
#[derive(Debug, clap::Args)]
pub struct StatusArgs {}

pub fn run(context: &Context, _args: StatusArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?.with_kept_answers();
    let answer = status(&workspace, context.agent());
    let next = next_step(&workspace);
    context.answer(&answer, |page| show(page, &answer, &next))
}

fn line<'p>(page: &'p mut Page, good: Option<bool>, what: &'static str) -> &'p mut Page {
    shared::mark(page, good).styled(DIM, what).pad_to(13)
}

fn show(page: &mut Page, answer: &StatusAnswer, next: &str) {
    line(page, Some(answer.governed), "workspace").styled(STRONG, &answer.root);
    if !answer.governed {
        page.line("  has no .orchestration/; create it with `intent setup init`");
        return;
    }
    page.end();
    show_selection(page, answer, next);
    let unread = answer.unread_registry.as_deref();
    let good = (answer.in_progress > 0).then_some(true);
    line(page, unread.map_or(good, |_| Some(false)), "intents");
    match (unread, answer.intents) {
        (Some(unread), _) => page.text(unread),
        (None, 0) => page.literal("none"),
        (None, all) => page.text(format!("{all}, {} in progress", answer.in_progress)),
    };
    page.end();
    if let Some(unread) = &answer.unread_evidence {
        line(page, Some(false), "evidence").advice(PLAIN, unread).end();
    }
    if answer.open_records > 0 {
        line(page, None, "ledger").count(answer.open_records, "record").line(" in no commit yet");
    }
    if answer.drafts > 0 {
        line(page, None, "evidence").count(answer.drafts, "file");
        page.line(" in no commit; `intent evidence seal && git commit` adds it");
    }
    if let Some(remedy) = answer.hooks_remedy {
        line(page, Some(false), "git hooks").literal("missing, so commits carry no records; ");
        page.advice(PLAIN, &format!("`{remedy}`")).end();
    }
    if !answer.unknown.is_empty() {
        line(page, None, "files").text(listed(&answer.unknown));
        page.line(": a program converts them for git, so nobody can tell whose lines they have");
    }
    let head = answer.head.as_deref().map_or("none", short_id);
    line(page, answer.head.as_ref().map(|_| true), "commit").text(head).end();
    gate(page, answer);
    line(page, Some(answer.errors + answer.warnings == 0), "findings");
    shared::totals(page, answer.errors, answer.warnings);
    if answer.errors + answer.warnings > 0 {
        page.literal("; `intent check` lists them");
    }
    page.end();
}

fn gate(page: &mut Page, answer: &StatusAnswer) {
    if let Some(off) = &answer.off {
        line(page, Some(false), "gate").literal("off until ").text(when::date(&off.until));
        page.optional(": ", PLAIN, off.reason.as_ref()).line("; `intent agent on`");
    }
    if answer.waiting > 0 {
        line(page, None, "approvals").text(answer.waiting);
        page.line(" waiting for you; `intent approve`");
    }
}

/// Shows what is selected. An id that the registry does not hold is reported, not hidden.
fn show_selection(page: &mut Page, answer: &StatusAnswer, next: &str) {
    let Some(intent) = &answer.selected else {
        let id = answer.selection.as_deref();
        line(page, id.map(|_| false), "selected");
        match id {
            Some(id) if answer.unread_registry.is_some() => page.styled(INTENT, id),
            Some(id) => page.styled(INTENT, id).literal("  is not in the registry as it stands"),
            None => page.literal("no intent: ").advice(PLAIN, next),
        };
        page.end();
        return;
    };
    let in_progress = intent.status == Some(Status::InProgress);
    let status = intent.status.map_or("no status", Status::as_str);
    line(page, Some(in_progress), "selected").styled(INTENT, &intent.id).literal("  ");
    page.styled(STRONG, &intent.name).literal("  ");
    page.styled(shared::status_style(status), status).end();
}
