//! `intent lesson`: writes down what was learned, for later agents and people.

use crate::cli::print::{GOOD, PLAIN, Page, STRONG, WARN};
use crate::cli::{CliError, Context, Exit, person};
use judgement::lesson::{Asker, LessonAnswer, LessonOutcome, LessonRequest};
use judgement::proposal::{self, Proposed};
use ledger::Contributor;

/// Write one line of what was learned into the files that agents read
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The files are those of AGENTS.md, CLAUDE.md and GEMINI.md that are at the workspace
root; where none is, AGENT.md, else AGENTS.md is made. At most 280 characters, without
markup; the same words are written once, and recorded. Whoever selects an intent is told.

Examples:
  intent lesson 'The tests of src/auth need a running clock; start it with make clock.'
  intent lesson 'Generated files are checked in' --intent INT-001 --agent claude-code")]
pub struct LessonArgs {
    /// What others should know, in one sentence
    text: String,

    /// Record it under this intent instead of the selected one
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// The session that learned it: host:id
    #[arg(long, value_name = "S")]
    session: Option<String>,

    /// The agent that learned it
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// The model behind the agent
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

pub fn run(context: &Context, args: LessonArgs) -> Result<Exit, CliError> {
    let ws = context.open_workspace()?;
    let (session, agent) = context.acting(args.session.as_deref(), args.agent.as_deref());
    let LessonArgs { text, intent, model, .. } = args;
    let is_named = agent.is_some() || session.is_some() || model.is_some();
    let (asker, contributor) = match asker(context, is_named) {
        Asker::Person => (Asker::Person, person::contributor(context, &ws)),
        Asker::Agent => (Asker::Agent, Contributor::default()),
    };
    let request = LessonRequest { text, intent, session, agent, model, asker, contributor };
    match proposal::lesson(&ws, &context.cwd, &request)? {
        Proposed::Written(answer) => {
            context.answer(&answer, |page| show(page, &answer))?;
            let is_unrecorded = |one: &LessonAnswer| one.unrecorded.is_some();
            Ok(Exit::found(is_unrecorded(&answer) || answer.also.iter().any(is_unrecorded)))
        }
        Proposed::Asked(asked) => {
            context.answer(&asked, |page| {
                page.styled(WARN, "?").literal(" not written yet. ").text(&asked.message).end();
            })?;
            Ok(Exit::found(true))
        }
    }
}

/// Returns who gives the lesson. A person is at a terminal and names no agent. An agent could
/// pretend to be one; the documents say so.
fn asker(context: &Context, is_named: bool) -> Asker {
    let terminals = context.printer.streams.terminals;
    if !is_named && terminals.input && terminals.error { Asker::Person } else { Asker::Agent }
}

fn show(page: &mut Page, answer: &LessonAnswer) {
    std::iter::once(answer).chain(&answer.also).for_each(|one| print_place(page, one));
    page.literal("  ").text(&answer.text).end();
}

fn print_place(page: &mut Page, answer: &LessonAnswer) {
    let place = format!("{}:{}", answer.path, answer.line);
    match answer.outcome {
        LessonOutcome::Added => page.label(GOOD, "✓").literal("added to "),
        LessonOutcome::AlreadyThere => page.literal("stands there already: "),
    };
    page.styled(STRONG, &place).end();
    if let Some(reason) = &answer.unrecorded {
        page.styled(WARN, "!").literal(" not recorded: ").advice(PLAIN, reason).end();
    }
}
