//! `intent import`: takes over what another tool recorded about lines.

use std::path::PathBuf;

use claims::{ImportedTrace, import_trace};
use ground::Hint;

use crate::cli::print::{DIM, GOOD, Page};
use crate::cli::{CliError, Context, Exit};

/// Take over what another tool recorded about lines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Keeps a copy of the file in the git directory of this clone, so no commit carries it. What
it says about a line is shown as claimed by the tool, and never instead of a record.

Files in .agent-trace/traces.jsonl, at the top or in a package, are read where they are, and
need no import.")]
pub struct ImportArgs {
    /// The format of the file
    #[arg(value_enum)]
    format: ImportFormat,

    /// The file, with one JSON object a line
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// A format of other tools that can be imported.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ImportFormat {
    /// Records of Agent Trace
    AgentTrace,
}

pub fn run(context: &Context, args: ImportArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let file = context.cwd.join(&args.file);
    let imported = match args.format {
        ImportFormat::AgentTrace => import_trace(&workspace.root, &file),
    };
    let answer = imported.map_err(|error| {
        let hint =
            error.hint().unwrap_or_else(|| "`intent import --help` says what is read".into());
        CliError::usage(error.to_string(), hint)
    })?;
    context.answer(&answer, |page| show(page, &answer))
}

fn show(page: &mut Page, answer: &ImportedTrace) {
    page.label(GOOD, "✓");
    if answer.was_known {
        page.line("this file was imported before");
        return;
    }
    page.literal("imported ").count(answer.records, "record").end();
    page.styled(DIM, "Next:").line(" `intent why FILE:LINE` shows what the records claim");
}
