//! `intent select`: declares the intent that the caller works under, and prints its context.

use super::shared;
use crate::cli::print::{DIM, GOOD, INTENT, PLAIN, Page, STRONG, WARN};
use crate::cli::{CliError, Context, Exit};
use ground::{agents, text};
use judgement::selection;
use overview::select::{SelectAnswer, select};

/// Declare the intent you work under, and get its context
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only an intent that is in progress can be selected. The answer is what to know before
working under it, as `intent context` prints it; at a terminal, a summary of it. Run by an
agent whose hooks are wired, it selects for that agent's session, and your own selection
stays.")]
pub struct SelectArgs {
    /// The intent's id
    id: String,

    /// Select for this session instead of for the person in this work tree
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

pub fn run(context: &Context, args: SelectArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let session = args.session.as_deref().or(context.agent());
    let is_seen = args.session.is_none() && session.is_some();
    if let Some(sign) = agents::agent_above(context.environment()).filter(|_| !is_seen) {
        selection::refuse_unseen(&workspace, &args.id, session, &sign)?;
    }
    let answer = select(&workspace, &args.id, session)?;
    let is_for_person = context.is_read_by_person();
    context.answer(&answer, |page| match is_for_person {
        true => show_person(page, &answer),
        false => show_agent(page, &answer),
    })
}

fn show_agent(page: &mut Page, answer: &SelectAnswer) {
    show_selection(page, answer);
    other_work(page, answer);
    shared::hint(page, answer.hint.as_deref());
    page.gap().lines(&answer.context);
}

const MAX_LINE: usize = 90;

/// Shows five lines at most: a person wrote the rest, and finds it with the command in the last one.
fn show_person(page: &mut Page, answer: &SelectAnswer) {
    show_selection(page, answer);
    let terms = &answer.terms;
    let lists =
        [("owns", terms.owned_scope.join("  ")), ("constraints", terms.constraints.join("; "))];
    for (label, text) in lists.into_iter().filter(|(_, text)| !text.is_empty()) {
        page.literal("  ").styled(DIM, label).pad_to(15).text(text::shorten(&text, MAX_LINE)).end();
    }
    other_work(page, answer);
    let next = "`intent context` prints what an agent is told";
    shared::hint(page, Some(answer.hint.as_deref().unwrap_or(next)));
}

fn show_selection(page: &mut Page, answer: &SelectAnswer) {
    page.label(GOOD, "●").styled(INTENT, &answer.intent.id).literal("  ");
    page.styled(STRONG, &answer.intent.name).literal("  selected");
    page.optional(", instead of ", PLAIN, answer.previous.as_ref()).end();
}

fn other_work(page: &mut Page, answer: &SelectAnswer) {
    let intents = answer.overlaps.iter().map(|id| format!("{id} is in progress"));
    let sessions =
        answer.sessions.iter().map(|other| format!("another session works: {}", other.described()));
    let all: Vec<String> =
        intents.chain(sessions).map(|one| text::shorten(&one, MAX_LINE)).collect();
    if all.is_empty() {
        return;
    }
    let more = all.len().saturating_sub(MAX_OTHERS);
    page.styled(WARN, "!").literal(" on some of these files, ");
    page.text(all[..all.len() - more].join("; "));
    if more > 0 {
        page.literal(", and ").text(more).literal(" more");
    }
    page.end();
}

const MAX_OTHERS: usize = 2;
