//! `intent list`: shows the intents as a table.

use super::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page};
use crate::cli::{CliError, Context, Exit};
use ground::text::counted;
use intents::Status;
use overview::select::{IntentSummary, list, list_with_counts};

/// List the intents
#[derive(Debug, clap::Args)]
#[command(after_help = "● marks the selected intent.")]
pub struct ListArgs {
    /// List only intents in progress
    #[arg(long)]
    in_progress: bool,

    /// Also count what each intent has produced, which may take long: all records are read
    #[arg(long)]
    count: bool,
}

pub fn run(context: &Context, args: ListArgs) -> Result<Exit, CliError> {
    let workspace = context.governed_workspace()?;
    let mut intents = match args.count {
        true => list_with_counts(&workspace)?,
        false => list(&workspace)?,
    };
    if args.in_progress {
        intents.retain(|intent| intent.status == Some(Status::InProgress));
    }
    context.answer(&intents, |page| {
        match shared::why_no_intents(&workspace).filter(|_| intents.is_empty()) {
            Some(why) => {
                page.text(why).end();
            }
            None => show(page, &intents),
        }
        let unread = match args.count {
            true => workspace.unread_evidence(),
            false => workspace.unread_evidence_seen(),
        };
        shared::notes(page, &Vec::from_iter(unread));
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
    let mut row = vec![
        Cell::new(GOOD, if intent.selected { "●" } else { " " }),
        Cell::new(INTENT, &intent.id),
        Cell::new(shared::status_style(status), status),
        Cell::new(PLAIN, &intent.name),
    ];
    row.extend(intent.blocks.zip(intent.files).map(|produced| match produced {
        (0, _) => Cell::new(DIM, "nothing yet"),
        (blocks, files) => {
            let blocks = counted(blocks, "block");
            Cell::new(PLAIN, format!("{blocks} in {}", counted(files, "file")))
        }
    }));
    row.push(Cell::new(DIM, intent.owner.as_deref().unwrap_or_default()));
    row
}
