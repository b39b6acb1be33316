//! `intent select`: declares the intent that the caller works under, and prints its context.

use super::shared;
use crate::cli::print::{GOOD, INTENT, Page, STRONG, WARN};
use crate::cli::{CliError, Context, Exit};
use ground::agents;
use judgement::selection;
use overview::select::{SelectAnswer, select};

/// Declare the intent you work under, and get its context
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only an intent that is in progress can be selected. The answer is what to know before
working under it, as `intent context` prints it. Run by an agent whose hooks are wired,
it selects for that agent's session, and your own selection stays.")]
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
    context.answer(&answer, |page| show(page, &answer))
}

fn show(page: &mut Page, answer: &SelectAnswer) {
    page.label(GOOD, "●").styled(INTENT, &answer.intent.id).literal("  ");
    page.styled(STRONG, &answer.intent.name).literal("  selected");
    if let Some(previous) = &answer.previous {
        page.literal(", instead of ").text(previous);
    }
    page.end();
    if !answer.overlaps.is_empty() {
        page.styled(WARN, "!").literal(" also in progress on some of these files: ");
        page.text(answer.overlaps.join(", ")).end();
    }
    for other in &answer.sessions {
        page.styled(WARN, "!")
            .literal(" another session works here: ")
            .text(other.described())
            .end();
    }
    shared::hint(page, answer.hint.as_deref());
    page.gap().lines(&answer.context);
}
