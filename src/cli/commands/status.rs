//! `intent status`: shows the workspace in brief.

use super::shared;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::print::{DIM, INTENT, Page, STRONG};
use crate::cli::when;
use crate::intent::Status;
use crate::verbs::select::{StatusAnswer, next_step, status};
use crate::workspace::git::short_id;

/// Show the workspace in brief: what is selected, what there is, what is wrong
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {}

pub(crate) fn run(context: &Context, _args: StatusArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let answer = status(&workspace, context.agent());
    let selected = answer.selection.clone();
    let next = next_step(&workspace);
    context.answer(&answer, |page| show(page, &answer, selected.as_deref(), &next))?;
    Ok(Exit::Fine)
}

fn line(page: &mut Page, good: Option<bool>, what: &'static str) {
    let (style, mark) = shared::mark(good);
    page.styled(style, mark).literal(" ").styled(DIM, what).pad_to(13);
}

fn show(page: &mut Page, answer: &StatusAnswer, selected_id: Option<&str>, next: &str) {
    line(page, Some(answer.governed), "workspace");
    page.styled(STRONG, &answer.root);
    if !answer.governed {
        page.literal("  has no .orchestration/; create it with `intent init`").end();
        return;
    }
    page.end();
    selected(page, answer, selected_id, next);
    let unread = answer.unread_registry.as_deref();
    let good =
        if unread.is_some() { Some(false) } else { (answer.in_progress > 0).then_some(true) };
    line(page, good, "intents");
    match (unread, answer.intents) {
        (Some(unread), _) => page.text(unread),
        (None, 0) => page.literal("none"),
        (None, all) => page.text(&format!("{all}, {} in progress", answer.in_progress)),
    };
    page.end();
    line(page, (answer.records > 0).then_some(true), "ledger");
    page.count(answer.records, "record");
    if answer.head.is_some() && answer.open_records > 0 {
        page.text(&format!(", {} in no commit", answer.open_records));
    }
    page.end();
    if answer.drafts > 0 {
        line(page, None, "evidence");
        page.count(answer.drafts, "file")
            .literal(" in no commit; `intent seal && git commit` adds it")
            .end();
    }
    if let Some(remedy) = answer.hooks_remedy {
        line(page, Some(false), "git hooks");
        page.literal("missing, so commits carry no records; `").text(remedy).literal("`").end();
    }
    line(page, answer.head.as_ref().map(|_| true), "commit");
    match &answer.head {
        Some(head) => page.text(short_id(head)),
        None => page.literal("none"),
    };
    page.end();
    gate(page, answer);
    line(page, Some(answer.errors + answer.warnings == 0), "findings");
    shared::totals(page, answer.errors, answer.warnings);
    if answer.errors + answer.warnings > 0 {
        page.literal("; `intent check` lists them");
    }
    page.end();
}

/// Shows that the gate is off or that approvals wait, and nothing if neither is true.
fn gate(page: &mut Page, answer: &StatusAnswer) {
    if let Some(off) = &answer.off {
        line(page, Some(false), "gate");
        page.literal("off until ").text(&when::date(&off.until));
        if let Some(reason) = &off.reason {
            page.literal(": ").text(reason);
        }
        page.literal("; `intent on`").end();
    }
    if answer.waiting > 0 {
        line(page, None, "approvals");
        page.text(&answer.waiting.to_string()).literal(" waiting for you; `intent approve`").end();
    }
}

/// Shows what is selected. An id that the registry does not hold is reported, not hidden.
fn selected(page: &mut Page, answer: &StatusAnswer, id: Option<&str>, next: &str) {
    let Some(intent) = &answer.selected else {
        line(page, id.map(|_| false), "selected");
        match id {
            Some(id) if answer.unread_registry.is_some() => page.styled(INTENT, id),
            Some(id) => page.styled(INTENT, id).literal("  is not in the registry as it stands"),
            None => page.literal("no intent: ").text(next),
        };
        page.end();
        return;
    };
    let in_progress = intent.status == Some(Status::InProgress);
    let status = intent.status.map_or("no status", Status::as_str);
    line(page, Some(in_progress), "selected");
    page.styled(INTENT, &intent.id).literal("  ").styled(STRONG, &intent.name).literal("  ");
    page.styled(shared::status_style(status), status).end();
}
