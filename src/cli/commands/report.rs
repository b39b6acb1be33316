//! `intent report`: shows the whole workspace, in short or as a page for a browser.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page};
use crate::cli::report::html;
use crate::cli::{CliError, Context, Exit};
use evidence::verify::VerdictCounts;
use ground::store;
use ground::text::counted;
use intents::Status;
use overview::report::{ReportAnswer, ReportedIntent, report};

/// The default file. Git ignores `.orchestration/local/`, so writing a page about the work tree
/// does not change the work tree.
const FILE: &str = ".orchestration/local/report.html";

/// Show everything that is known of the workspace, as one page for a browser
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page stands alone: it needs no network and no other file, works from disk, and can be
sent to somebody without the repository. It holds paths, names of blocks, intents and
contributors, and no code.

Examples:
  intent report                      in short, here
  intent report --html               writes .orchestration/local/report.html
  intent report --html -o page.html  writes it where you want it
  intent report --json               the same as data")]
pub struct ReportArgs {
    /// Write the report as an HTML page
    #[arg(long)]
    html: bool,

    /// Where to write the page; - for stdout
    #[arg(short, long, value_name = "FILE", requires = "html")]
    out: Option<PathBuf>,
}

/// A page that was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PageAnswer {
    /// The file: relative to the current folder if no file was named, else absolute.
    written: String,
    /// The size of the page, in bytes.
    bytes: usize,
}

pub fn run(context: &Context, args: ReportArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?.with_kept_answers();
    let answer = report(&workspace)?;
    if !args.html {
        return context.answer(&answer, |page| show(page, &answer));
    }
    let page = html(&answer)
        .map_err(|error| CliError::io("the page", "written", std::io::Error::from(error)))?;
    if args.out.as_deref() == Some(Path::new("-")) {
        if context.printer.json_asked {
            return Err(CliError::usage(
                "--out - cannot be combined with --json",
                "name a file after --out, or leave out --html to get the report as JSON",
            ));
        }
        return context.printer.document(page.as_bytes());
    }
    let (path, written) = match args.out {
        None => (workspace.root.path().join(FILE), context.path_for_shell(&workspace.root, FILE)),
        Some(out) => {
            let path = context.cwd.join(out);
            let written = path.display().to_string();
            (path, written)
        }
    };
    if path.is_dir() {
        return Err(CliError::usage(format!("{written} is a folder"), "name a file after --out"));
    }
    store::write_atomic(&path, page.as_bytes())?;
    let answer = PageAnswer { written, bytes: page.len() };
    context.answer(&answer, |page| {
        page.styled(GOOD, "✓").literal(" wrote ").text(&answer.written);
        page.line("; open it in a browser");
    })
}

fn show(page: &mut Page, answer: &ReportAnswer) {
    let summary = &answer.summary;
    page.count(summary.records, "record").literal(", ").count(summary.files, "file").literal(", ");
    page.count(total(&summary.blocks), "block").literal("; ");
    page.count(summary.without_records, "file").line(" without recorded lines");
    page.gap();
    shared::notes(page, &answer.notes);
    if answer.intents.is_empty() && answer.unread_registry.is_none() {
        page.line("No intents. Create one with `intent new NAME`.");
    }
    page.table(0, answer.intents.iter().map(row));
    page.gap();
    shared::totals(page, summary.errors, summary.warnings);
    page.literal(", ");
    page.count(answer.overlaps.len(), "overlap").line(" between intents");
    page.styled(DIM, "as a page for a browser: intent report --html").end();
}

fn row(intent: &ReportedIntent) -> Vec<Cell> {
    let status = match (intent.in_registry, intent.status) {
        (None, _) => "unknown",
        (Some(false), _) => "not in the registry",
        (Some(true), status) => status.map_or("no status", Status::as_str),
    };
    let blocks = &intent.blocks;
    let stands = format!("{} of {} as recorded", standing(blocks), total(blocks));
    let files = format!("{} of {}", intent.worked_files, counted(intent.owned_files, "file"));
    vec![
        Cell::new(GOOD, if intent.selected { "●" } else { " " }),
        Cell::new(INTENT, &intent.id),
        Cell::new(shared::status_style(status), status),
        Cell::new(PLAIN, intent.name.as_deref().unwrap_or_default()),
        Cell::new(if total(blocks) == 0 { DIM } else { PLAIN }, stands),
        Cell::new(DIM, files),
    ]
}

fn total(blocks: &VerdictCounts) -> usize {
    standing(blocks) + blocks.modified + blocks.ambiguous + blocks.unrecorded
}

/// The number of blocks that still have the recorded content, whatever their place and their names
/// are.
fn standing(blocks: &VerdictCounts) -> usize {
    blocks.exact + blocks.reformatted + blocks.moved + blocks.renamed + blocks.inside
}
