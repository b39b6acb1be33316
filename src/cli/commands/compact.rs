//! `intent evidence compact`: merges the evidence of each closed month into one file.

use crate::cli::git::stage;
use crate::cli::print::{GOOD, Page, STRONG};
use crate::cli::{CliError, Context, Exit};
use evidence::compact::{CompactAnswer, CompactedMonth, compact};
use ground::{RelativePath, clock};

/// Unite the evidence of closed months, one file a month
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Saves files, not bytes: each section of evidence stays as it is, byte for byte, and every
answer stays the same. The current month is left alone, and what is in no commit yet.")]
pub struct CompactArgs {
    /// Write nothing; say what would be united
    #[arg(long)]
    dry_run: bool,

    /// Also stage the changed files
    #[arg(long, conflicts_with = "dry_run")]
    stage: bool,
}

pub fn run(context: &Context, args: CompactArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let now = clock::now();
    let mut answer = compact(&workspace, now.get(..7).unwrap_or(&now), args.dry_run)?;
    if args.stage && !answer.months.is_empty() {
        stage(&workspace, answer.months.iter().flat_map(paths_of)).map_err(|error| {
            let trace = context.path_for_shell(&workspace.root, ".orchestration/agent_trace");
            let hint = format!("stage it yourself: `git add --all {trace}`");
            CliError::usage(format!("it was written, and could not be staged: {error}"), hint)
        })?;
        answer.staged = true;
    }
    context.answer(&answer, |page| show(page, &answer))
}

fn paths_of(month: &CompactedMonth) -> impl Iterator<Item = &RelativePath> {
    month.removed.iter().chain([&month.written])
}

fn show(page: &mut Page, answer: &CompactAnswer) {
    let became = if answer.dry_run { " would become " } else { " became " };
    for month in &answer.months {
        page.label(GOOD, if answer.dry_run { "·" } else { "✓" });
        page.styled(STRONG, &month.month).literal("  ").count(month.removed.len(), "file");
        page.literal(became).text(&month.written).end();
    }
    if answer.months.is_empty() {
        page.line("There is nothing to unite: no month before this one has several files.");
    } else {
        let files = answer.months.iter().map(|month| month.removed.len()).sum();
        page.count(files, "file").literal(became);
        page.count(answer.months.len(), "file").end();
    }
    if !answer.left.is_empty() {
        page.count(answer.left.len(), "file").literal(" of closed months stayed: in no commit ");
        page.line("yet, or not readable; `intent evidence verify` says more");
    }
    if !answer.months.is_empty() && !answer.dry_run {
        let commit = "git commit -m \"Compact the evidence of closed months\"";
        page.next_command(&match answer.staged {
            true => commit.to_owned(),
            false => format!("git add --all .orchestration/agent_trace && {commit}"),
        });
    }
}
