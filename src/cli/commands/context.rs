//! `intent context`: prints what to know before working under an intent.

use crate::cli::{CliError, Context, Exit};
use overview::context::{self, ContextExtent};

/// Print what to know before working under an intent, as XML for a model
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Constraints, scope, criteria, open questions and lessons, the last records that are in no
commit yet, and how much was produced, in at most 4,000 characters. Everything in it is
escaped.")]
pub struct ContextArgs {
    /// The intent; without one, the selected intent
    id: Option<String>,

    /// Only constraints and scope
    #[arg(long)]
    minimal: bool,

    /// Everything, however long: no list is cut, and what was produced is listed by file
    #[arg(long, conflicts_with = "minimal")]
    full: bool,
}

pub fn run(cli: &Context, args: ContextArgs) -> Result<Exit, CliError> {
    let workspace = cli.open_workspace()?;
    let id = match args.id {
        Some(id) => id,
        None => {
            workspace.governed()?;
            workspace.selected(cli.agent()).ok_or_else(|| workspace.nothing_selected())?
        }
    };
    let intent = workspace.intent(&id)?;
    let extent = ContextExtent::from_switches(args.minimal, args.full);
    let answer = context::answer(&workspace, intent, extent);
    cli.answer(&answer, |page| {
        page.lines(&answer.context);
    })
}
