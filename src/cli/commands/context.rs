//! `intent context`: prints what to know before working under an intent.

use crate::cli::{CliError, Context, Exit};
use overview::context::{self, ContextExtent};

/// Print what to know before working under an intent, as XML for a model
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Constraints, scope, criteria, and what was recorded under it and is in no commit yet,
curated to a size. Everything in it is escaped.")]
pub struct ContextArgs {
    /// The intent; without one, the selected intent
    id: Option<String>,

    /// Only constraints and scope
    #[arg(long)]
    minimal: bool,
}

pub fn run(cli: &Context, args: ContextArgs) -> Result<Exit, CliError> {
    let workspace = cli.open_workspace()?;
    workspace.governed()?;
    let selected = || workspace.selected(cli.agent());
    let id = args.id.or_else(selected).ok_or_else(|| workspace.nothing_selected())?;
    let intent = workspace.intent(&id)?;
    let extent = match args.minimal {
        true => ContextExtent::Minimal,
        false => ContextExtent::Curated,
    };
    let answer = context::answer(&workspace, intent, extent);
    cli.answer(&answer, |page| {
        page.lines(&answer.context);
    })
}
