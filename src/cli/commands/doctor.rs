//! `intent doctor`: examines whether everything is in place.

use super::shared;
use crate::cli::print::{Page, STRONG};
use crate::cli::{CliError, Context, Exit};
use hook::doctor::examine as agents;
use hook::install::Folders;
use judgement::after::retry;
use overview::doctor::{DoctorAnswer, examine};
use why::health::Health;

/// Examine the workspace: is everything in place, and if not, what to do
#[derive(Debug, clap::Args)]
#[command(
    after_help = "✓ in order   ✗ not in order   ? not known, or not needed\nExit code 1 when something is not in order.\n\nOf every agent that is wired here it says whether it asks: present, trusted, strict, switched\noff, when it last called, and what stays open whatever we do."
)]
pub struct DoctorArgs {
    /// First try again to write the records that could not be written
    #[arg(long)]
    retry: bool,
}

pub fn run(context: &Context, args: DoctorArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let workspace =
        if args.retry && retry(&workspace) > 0 { context.open_workspace()? } else { workspace };
    let mut answer = examine(&workspace);
    if let Some(folders) = Folders::of_process(&workspace.root)
        && workspace.root.governed()
    {
        answer.checks.extend(agents(&workspace.root, &folders, context.environment().search()));
    }
    if workspace.root.governed() {
        let means = fence::means(|| super::fence::probe(context.environment()));
        answer.checks.push(judgement::fence_plan::examine(&workspace, means));
    }
    context.answer(&answer, |page| show(page, &answer))?;
    Ok(Exit::found(answer.checks.iter().any(|check| check.state == Health::Bad)))
}

fn show(page: &mut Page, answer: &DoctorAnswer) {
    let width = answer.checks.iter().map(|check| check.what.chars().count()).max().unwrap_or(0);
    for check in &answer.checks {
        let good = match check.state {
            Health::Good => Some(true),
            Health::Bad => Some(false),
            Health::Unknown => None,
        };
        shared::mark(page, good).styled(STRONG, &check.what);
        page.pad_to(width + 4).text(&check.detail).end();
    }
}
