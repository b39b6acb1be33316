//! `intent list`: shows the intents as a table.

use super::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page};
use crate::cli::{CliError, Context, Exit};
use ground::git::short_id;
use ground::text::counted;
use intents::Status;
use overview::select::{IntentSummary, counts_in_background, list, list_with_counts};
use why::Workspace;

/// List the intents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
● marks the selected intent, ▸ one that is being worked on, as the branch or the tool of its
format says. Intents that a team keeps in other formats, such as OpenSpec, are read where they
are.")]
pub struct ListArgs {
    /// List only intents in progress
    #[arg(long)]
    in_progress: bool,

    /// Also list completed intents and decisions that are kept in other formats
    #[arg(long)]
    all: bool,

    /// Count what each intent has produced, which may take long: all records are read. Later lists show
    /// these counts
    #[arg(long)]
    count: bool,
}

pub fn run(context: &Context, args: ListArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?.with_kept_answers();
    let (mut intents, notes) = match args.count {
        true => context.with_progress(&workspace, || list_with_counts(&workspace))?,
        false => (list(&workspace)?, Vec::from_iter(workspace.unread_evidence_seen())),
    };
    if args.in_progress {
        intents.retain(|intent| intent.status == Some(Status::InProgress));
    }
    context.answer(&intents, |page| {
        match shared::why_no_intents(&workspace).filter(|_| intents.is_empty()) {
            Some(why) => {
                page.text(why).end();
            }
            None => show(page, &workspace, &intents, args.all),
        }
        shared::notes(page, &notes);
        let how_to_count = || match intents.iter().find_map(|intent| intent.counted_at.as_deref()) {
            Some(commit) => {
                let commit = short_id(commit);
                format!("counted at commit {commit}; `intent list --count` counts again")
            }
            None => "`intent list --count` adds what each has produced".to_owned(),
        };
        if !args.count && !intents.is_empty() && has_records(&workspace) {
            shared::hint(page, Some(&how_to_count()));
        }
    })
}

/// Returns true if there may be something to count. No evidence is read for this.
fn has_records(workspace: &Workspace) -> bool {
    let mut entries = workspace.journal.entries().iter();
    ledger::evidence::is_present(&workspace.root)
        || entries.any(|entry| !entry.record.files.is_empty())
}

fn show(page: &mut Page, workspace: &Workspace, intents: &[IntentSummary], all: bool) {
    if intents.is_empty() {
        page.line(match workspace.root.governed() {
            true => "No intents. Create one with `intent new NAME`.",
            false => "No intents. `intent setup init` sets up a place for them.",
        });
        return;
    }
    let is_listed = |intent: &&IntentSummary| all || !intent.is_in_the_background();
    let listed: Vec<&IntentSummary> = intents.iter().filter(is_listed).collect();
    // Only intents of other formats say how far they are.
    let show_progress = listed.iter().any(|intent| intent.kept.source.is_some());
    page.table(0, listed.into_iter().map(|intent| row(intent, show_progress)));
    if !all {
        for count in counts_in_background(intents) {
            page.styled(DIM, format!("{count} (--all lists them)")).end();
        }
    }
}

fn row(intent: &IntentSummary, show_progress: bool) -> Vec<Cell> {
    let status = intent.status.map_or("no status", Status::as_str);
    let mark = match intent {
        IntentSummary { selected: true, .. } => "●",
        IntentSummary { current: true, .. } => "▸",
        _ => " ",
    };
    let mut row = vec![
        Cell::new(GOOD, mark),
        Cell::new(INTENT, &intent.id),
        Cell::new(shared::status_style(status), status),
        Cell::new(PLAIN, &intent.name),
    ];
    row.extend(intent.lines.zip(intent.files).map(|produced| match produced {
        (0, _) => Cell::new(DIM, "nothing yet"),
        (lines, files) => {
            let lines = counted(lines, "line");
            Cell::new(PLAIN, format!("{lines} in {}", counted(files, "file")))
        }
    }));
    row.extend(show_progress.then(|| Cell::new(DIM, intent.kept.progress())));
    row.push(Cell::new(DIM, intent.owner.as_deref().unwrap_or_default()));
    row
}
