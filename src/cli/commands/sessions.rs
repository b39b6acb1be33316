//! `intent evidence sessions import`: finds out which lines the agents' sessions on this machine wrote.

use claims::{ImportStep, ImportedSessions, import_sessions};

use crate::cli::print::{DIM, GOOD, Page};
use crate::cli::{CliError, Context, Exit, person};

/// Find out which lines the sessions of agents on this machine wrote
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person: refused where an agent runs it. Reads the transcripts of Claude Code and Codex
on this machine. Where an edit stands literally in a file of this repository, its lines
belong to that session: this is inferred, and shown only for lines without a record.

Only ids, paths and hashes are kept, in the git directory of this clone; no commit carries
them. A prompt is shown from its transcript, as long as that exists.")]
pub struct SessionsArgs {
    /// What to do
    #[arg(value_enum)]
    action: SessionsAction,

    /// Store nothing; say what would be found
    #[arg(long)]
    dry_run: bool,
}

/// What is done with the sessions.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SessionsAction {
    /// Read the transcripts on this machine
    Import,
}

pub fn run(context: &Context, args: SessionsArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let workspace = context.open_workspace()?;
    let step = if args.dry_run { ImportStep::Look } else { ImportStep::Store };
    let found = match args.action {
        SessionsAction::Import => import_sessions(&workspace.root, step)?,
    };
    let answer = found.ok_or_else(|| {
        CliError::usage(
            "the workspace is in no git repository, so there are no commits that have the lines",
            "`git init` makes one",
        )
    })?;
    context.answer(&answer, |page| show(page, &answer))
}

fn show(page: &mut Page, answer: &ImportedSessions) {
    page.count(answer.transcripts, "transcript").literal(" on this machine, ");
    page.count(answer.sessions, "session").literal(" of them wrote into ");
    page.count(answer.files, "file").line(" of this repository");
    page.label(GOOD, if answer.dry_run { "·" } else { "✓" });
    page.literal(if answer.dry_run { "would store " } else { "stored " });
    page.count(answer.new_runs, "new run").line(" of lines, without their text");
    if answer.dry_run {
        page.styled(DIM, "Next:").line(" `intent evidence sessions import` stores them");
    } else if answer.new_runs > 0 {
        page.styled(DIM, "Next:").line(" `intent why FILE:LINE` shows which session wrote a line");
    }
}
