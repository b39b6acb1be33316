//! `intent list`: shows the intents as a table.

use super::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page};
use crate::cli::{CliError, Context, Exit};
use ground::text::counted;
use intents::Status;
use overview::select::{IntentSummary, list};

/// List the intents
#[derive(Debug, clap::Args)]
#[command(after_help = "● marks the selected intent.")]
pub struct ListArgs {
    /// List only intents in progress
    #[arg(long)]
    in_progress: bool,
}

pub fn run(context: &Context, args: ListArgs) -> Result<Exit, CliError> {
    let workspace = context.governed_workspace()?;
    let mut intents = list(&workspace)?;
    if args.in_progress {
        intents.retain(|intent| intent.status == Some(Status::InProgress));
    }
    context.answer(&intents, |page| {
        show(page, &intents);
        shared::notes(page, &Vec::from_iter(workspace.unread_evidence()));
    })
}

fn show(page: &mut Page, intents: &[IntentSummary]) {
    if intents.is_empty() {
        page.line("No intents. Create one with `intent new NAME`.");
        return;
    }
    page.table(0, intents.iter().map(row));
}

fn row(intent: &IntentSummary) -> Vec<Cell> {
    let status = intent.status.map_or("no status", Status::as_str);
    let produced = match intent.blocks {
        0 => Cell::new(DIM, "nothing yet"),
        blocks => {
            let blocks = counted(blocks, "block");
            Cell::new(PLAIN, format!("{blocks} in {}", counted(intent.files, "file")))
        }
    };
    vec![
        Cell::new(GOOD, if intent.selected { "●" } else { " " }),
        Cell::new(INTENT, &intent.id),
        Cell::new(shared::status_style(status), status),
        Cell::new(PLAIN, &intent.name),
        produced,
        Cell::new(DIM, intent.owner.as_deref().unwrap_or_default()),
    ]
}
