//! `intent report`: shows what came of the intents, in short, as a page for a browser, or as a badge.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::print::{Cell, DIM, GOOD, INTENT, PLAIN, Page};
use crate::cli::report::badge::svg;
use crate::cli::report::html;
use crate::cli::{CliError, Context, Exit};
use ground::store;
use ground::text::{self, counted};
use intents::Status;
use ledger::EntityType;
use overview::report::{ReportAnswer, ReportedIntent, badge, report};
use why::Workspace;

/// The default file. Git ignores `.orchestration/local/`, so writing a page about the work tree
/// does not change the work tree.
const FILE: &str = ".orchestration/local/report.html";

/// Show what came of the intents, here or as one page for a browser
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page stands alone: it needs no network and no other file, works from disk, and can be
sent to somebody without the repository. It holds intents, paths, names of blocks and of
contributors, and no code. `#intent=INT-001` after its address leads to an intent.

The badge says how many lines of the commit that is checked out were recorded under an
intent: of all lines of its text files, without blank lines and brackets.

Examples:
  intent report                      in short, here
  intent report --html               writes .orchestration/local/report.html
  intent report --out page.html      writes it where you want it
  intent report --badge intents.svg  writes the badge
  intent report --json               the same as data")]
pub struct ReportArgs {
    /// Write the report as an HTML page
    #[arg(long)]
    html: bool,

    /// Where to write the page; - for stdout
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write a badge instead, as SVG [default file: - for stdout]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "-",
        conflicts_with_all = ["html", "out"]
    )]
    badge: Option<PathBuf>,
}

/// A page or a badge that was written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PageAnswer {
    /// The file: relative to the current folder if no file was named, else absolute.
    written: String,
    /// Its size in bytes.
    bytes: usize,
}

pub fn run(context: &Context, args: ReportArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?.with_kept_answers();
    if let Some(file) = args.badge {
        return write_badge(context, &workspace, &file);
    }
    let answer = context.with_progress(&workspace, || report(&workspace))?;
    if !args.html && args.out.is_none() {
        return context.answer(&answer, |page| show(page, &answer));
    }
    let page = html(&answer)
        .map_err(|error| CliError::io("the page", "written", std::io::Error::from(error)))?;
    let answer = match args.out {
        Some(out) => match write_named(context, &out, &page)? {
            Some(answer) => answer,
            None => return context.printer.document(page.as_bytes()),
        },
        None => {
            store::write_atomic(&workspace.root.path().join(FILE), page.as_bytes())?;
            let written = context.path_for_shell(&workspace.root, FILE);
            PageAnswer { written, bytes: page.len() }
        }
    };
    context.answer(&answer, |page| {
        page.styled(GOOD, "✓").literal(" wrote ").text(&answer.written);
        page.line("; open it in a browser");
    })
}

fn write_badge(context: &Context, workspace: &Workspace, file: &Path) -> Result<Exit, CliError> {
    let answer = context.with_progress(workspace, || badge(workspace))?;
    if file == Path::new("-") && context.printer.json_asked {
        return context.answer(&answer, |_| ());
    }
    let picture = svg(&answer);
    let Some(answer) = write_named(context, file, &picture)? else {
        return context.printer.document(picture.as_bytes());
    };
    context.answer(&answer, |page| {
        page.styled(GOOD, "✓").literal(" wrote ").text(&answer.written).end();
    })
}

/// Writes a file that was named on the command line. `None` if it is standard output, to which
/// nothing is written yet.
fn write_named(context: &Context, out: &Path, text: &str) -> Result<Option<PageAnswer>, CliError> {
    if out == Path::new("-") {
        if context.printer.json_asked {
            let hint = "name a file after --out, or leave out --html to get the report as JSON";
            return Err(CliError::usage("--out - cannot be combined with --json", hint));
        }
        return Ok(None);
    }
    let path = context.cwd.join(out);
    let written = path.display().to_string();
    if path.is_dir() {
        return Err(CliError::usage(format!("{written} is a folder"), "name a file"));
    }
    store::write_atomic(&path, text.as_bytes())?;
    Ok(Some(PageAnswer { written, bytes: text.len() }))
}

fn show(page: &mut Page, answer: &ReportAnswer) {
    let summary = &answer.summary;
    let share = text::percent(summary.under_intent, summary.lines);
    page.text(share).literal(" of ").count(summary.lines, "line").literal(" in ");
    page.count(summary.files, "file").literal(" came under an intent, ");
    let without_intent = summary.recorded.saturating_sub(summary.under_intent);
    page.text(without_intent).literal(" are recorded without one, ");
    let without_record = summary.lines.saturating_sub(summary.recorded + summary.unknown);
    page.text(without_record).literal(" have no record");
    if summary.unknown > 0 {
        page.literal(", ").text(summary.unknown).literal(" are unknown");
    }
    page.end();
    page.gap();
    shared::notes(page, &answer.notes);
    if answer.intents.is_empty() && answer.unread_registry.is_none() {
        page.line("No intents. Create one with `intent new NAME`.");
    }
    page.table(0, answer.intents.iter().map(|intent| row(answer, intent)));
    page.gap();
    shared::totals(page, summary.errors, summary.warnings);
    page.literal(", ").count(summary.suspect, "suspect line").end();
    page.styled(DIM, "as a page for a browser: intent report --html").end();
}

fn row(answer: &ReportAnswer, intent: &ReportedIntent) -> Vec<Cell> {
    let status = match (intent.in_registry, intent.status) {
        (None, _) => "unknown",
        (Some(false), _) => "not in the registry",
        (Some(true), status) => status.map_or("no status", Status::as_str),
    };
    let lines = match intent.lines {
        0 => "nothing yet".to_owned(),
        lines => format!("{} in {}", counted(lines, "line"), counted(intent.files, "file")),
    };
    let criteria = match intent.criteria.len() {
        0 => "no criteria".to_owned(),
        all => {
            let shown = intent.criteria.iter().filter(|one| one.standing.is_shown()).count();
            let noun = if all == 1 { "criterion" } else { "criteria" };
            format!("{shown} of {all} {noun} shown")
        }
    };
    vec![
        Cell::new(GOOD, if intent.selected { "●" } else { " " }),
        Cell::new(INTENT, &intent.id),
        Cell::new(shared::status_style(status), status),
        Cell::new(PLAIN, intent.name.as_deref().unwrap_or_default()),
        Cell::new(if intent.lines == 0 { DIM } else { PLAIN }, lines),
        Cell::new(PLAIN, by_whom(answer, intent)),
        Cell::new(DIM, criteria),
    ]
}

fn by_whom(answer: &ReportAnswer, intent: &ReportedIntent) -> String {
    let kinds = [
        (EntityType::Ai, "agents"),
        (EntityType::Human, "people"),
        (EntityType::Mixed, "agent and person together"),
        (EntityType::Unknown, "not known"),
    ];
    let lines_of = |kind: EntityType| -> usize {
        let of_kind = answer.brought.iter().filter(|brought| {
            brought.contributor == kind && brought.intent.as_ref() == Some(&intent.id)
        });
        of_kind.map(|brought| brought.lines).sum()
    };
    let lines = kinds.map(|(kind, _)| lines_of(kind));
    let shares = kinds.iter().zip(text::percents(&lines)).zip(lines);
    let has_lines = shares.filter(|(_, lines)| *lines > 0);
    let told = has_lines.map(|(((_, word), share), _)| format!("{word} {share}"));
    told.collect::<Vec<_>>().join(", ")
}
