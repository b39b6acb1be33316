//! `intent check`: does a whole change agree with intents, scopes and ledger?

use super::shared;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::print::{DIM, GOOD, Page};
use crate::cli::ssh::SshKeygen;
use crate::verbs::check::{CheckAnswer, CheckRequest, ComparedSides, change_signed};
use crate::workspace::Level;
use crate::workspace::git::short_id;

/// Judge a whole change: does it agree with intents, scopes and ledger?
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Compares the working tree with HEAD where nothing else is said. A change that is to be
merged is judged by the rules of the branch that it goes into, as they are now: what it
brings along grants nothing. Exit code 1 when there is an error; --fail-on moves the line.

What no record covers is held against the intent that the work is bound to: --intent, else
what is selected, for what is in no commit yet, else the trailers `Intent-Id: INT-001` of
the commits, else the branch by a pattern of the policy (`branches`).

Examples:
  intent check                      what is not committed yet
  intent check --staged             in a pre-commit hook
  intent check --base origin/main   in CI, a whole branch
  intent check main..topic          what topic brings, whatever is checked out")]
pub(crate) struct Args {
    /// Judge what TO brings and FROM does not have; neither the work tree nor the index is read
    #[arg(value_name = "FROM..TO", conflicts_with_all = ["base", "staged"], value_parser = range)]
    range: Option<(String, String)>,

    /// Compare with where the working tree left this revision, by its rules
    #[arg(long, value_name = "REV", conflicts_with = "staged")]
    base: Option<String>,

    /// Compare the index with HEAD
    #[arg(long)]
    staged: bool,

    /// The intent of what no record covers
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// The branch of the change, where it is not the one that is checked out; with --base or FROM..TO
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,

    /// Also find recorded blocks, in all files, whose intent or specification changed since
    #[arg(long)]
    suspect: bool,

    /// The lowest level that fails
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = FailOn::Error)]
    fail_on: FailOn,
}

/// From which level on a finding fails the check.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Info,
    Hint,
}

impl From<FailOn> for Level {
    fn from(level: FailOn) -> Self {
        match level {
            FailOn::Error => Self::Error,
            FailOn::Warning => Self::Warning,
            FailOn::Info => Self::Info,
            FailOn::Hint => Self::Hint,
        }
    }
}

pub(crate) fn run(context: &Context, args: Args) -> Result<Exit, CliError> {
    let against = match (args.range, args.base, args.staged) {
        (Some((from, to)), ..) => ComparedSides::Range { from, to },
        (None, Some(revision), _) => ComparedSides::Base(revision),
        (None, None, true) => ComparedSides::Staged,
        (None, None, false) => ComparedSides::Head,
    };
    let Args { intent, branch, suspect, .. } = args;
    if branch.is_some() && matches!(against, ComparedSides::Head | ComparedSides::Staged) {
        return Err(CliError::usage(
            "--branch is about a change that is to be merged",
            "say into which: `intent check --base REV --branch NAME`, or `intent check FROM..TO --branch NAME`",
        ));
    }
    let request = CheckRequest { against, intent, branch, suspect };
    let workspace = context.here()?;
    let answer = change_signed(&workspace, &request, &SshKeygen::of_machine(&workspace))?;
    context.answer(&answer, |page| show(page, &answer))?;
    let least = Level::from(args.fail_on);
    Ok(Exit::found(answer.findings.iter().any(|finding| finding.level >= least)))
}

/// `main..topic`; an end that is left out is HEAD. The third dot of `main...topic` changes nothing: what counts is where
/// the two parted.
fn range(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once("..").ok_or_else(|| {
        format!("`{text}` is no range; write {text}..HEAD, or --base {text} for the work tree")
    })?;
    let end = |revision: &str| match revision {
        "" => "HEAD".to_owned(),
        revision => revision.to_owned(),
    };
    Ok((end(from), end(to.trim_start_matches('.'))))
}

fn show(page: &mut Page, answer: &CheckAnswer) {
    shared::findings(page, &answer.findings);
    page.gap();
    let summary = &answer.summary;
    shared::notes(page, &summary.notes);
    if answer.findings.is_empty() {
        page.styled(GOOD, "✓").own(" no findings in ");
    } else {
        shared::totals(page, summary.errors, summary.warnings);
        page.own(" in ");
    }
    page.count(summary.blocks, "changed block").own(" of ").count(summary.files, "changed file");
    if summary.blocks > 0 {
        page.own("; ").text(&summary.recorded.to_string()).own(" recorded");
    }
    page.end();
    if let Some(base) = &summary.base {
        page.styled(DIM, "compared with").own(" ");
        page.styled(DIM, short_id(base)).end();
    }
}
