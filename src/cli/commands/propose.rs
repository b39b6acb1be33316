//! `intent propose` and `intent request-scope`: an agent that has only a shell asks a person for an
//! intent or for a wider scope.

use super::shared;
use crate::cli::print::{INTENT, Page};
use crate::cli::{CliError, Context, Exit};
use judgement::proposal::{
    IntentProposal, ProposalAnswer, ScopeProposal, propose_intent, request_scope,
};

const SOMEBODY: &str = "somebody in a shell";

/// Propose a new intent, for a person to approve
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints a code. Once a person has approved it (`intent approve CODE`, or their editor's
dialog), the intent is in the registry, in progress; select it then.")]
pub struct ProposeArgs {
    /// The name of the intent
    name: String,

    /// A glob of files it would own
    #[arg(long, value_name = "GLOB", required = true)]
    scope: Vec<String>,

    /// A condition that the work must keep true
    #[arg(long, value_name = "TEXT")]
    constraint: Vec<String>,

    /// How to tell that the work is done
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,

    /// Why it is needed; a person reads it
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// The session that asks (host:id)
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

/// Ask for a wider scope of an intent, for a person to approve
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints a code. Once a person has approved it (`intent approve CODE`, or their editor's
dialog), the intent owns these files too.")]
pub struct ScopeArgs {
    /// The intent whose scope should be widened
    #[arg(long, value_name = "ID")]
    intent: String,

    /// A glob to add to its scope
    #[arg(long, value_name = "GLOB", required = true)]
    add: Vec<String>,

    /// Why it is needed; a person reads it
    #[arg(long, value_name = "TEXT")]
    reason: String,

    /// The session that asks (host:id)
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

pub fn run(context: &Context, args: ProposeArgs) -> Result<Exit, CliError> {
    let wanted = IntentProposal {
        name: args.name,
        scope: args.scope,
        constraints: args.constraint,
        acceptance: args.criterion,
        reason: args.reason,
    };
    let actor = args.session.as_deref().unwrap_or(SOMEBODY);
    let answer = propose_intent(&context.open_workspace()?, actor, &context.cwd, wanted)?;
    print_proposal(context, &answer)
}

pub fn scope(context: &Context, args: ScopeArgs) -> Result<Exit, CliError> {
    let wanted = ScopeProposal { intent: args.intent, entries: args.add, reason: args.reason };
    let actor = args.session.as_deref().unwrap_or(SOMEBODY);
    let answer = request_scope(&context.open_workspace()?, actor, &context.cwd, wanted)?;
    print_proposal(context, &answer)
}

fn print_proposal(context: &Context, answer: &ProposalAnswer) -> Result<Exit, CliError> {
    context.answer(answer, |page| show(page, answer))
}

fn show(page: &mut Page, answer: &ProposalAnswer) {
    page.styled(INTENT, &answer.approval.code).literal("  ").text(&answer.message).end();
    shared::notes(page, &answer.notes);
}
