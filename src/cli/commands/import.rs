//! `intent evidence import`: takes over what another tool recorded.

use std::path::PathBuf;

use claims::{ImportedFile, import_ledger, import_trace};
use ground::Hint;

use crate::cli::print::{DIM, GOOD, Page, WARN};
use crate::cli::{CliError, Context, Exit};

/// Take over what another tool recorded about lines
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What the file says about a line is shown as claimed, and never instead of a record.

agent-trace keeps a copy in the git directory of this clone, so no commit carries it. Files in
.agent-trace/traces.jsonl, at the top or in a package, are read where they are, and need no
import.

records keeps a copy byte for byte in .orchestration/agent_trace/imported/, also the lines that
cannot be read. Commit it, and every clone has it. A ledger in .orchestration/ is read where it
is.")]
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
    /// The ledger of an earlier system, such as agent_trace.jsonl
    Records,
}

pub fn run(context: &Context, args: ImportArgs) -> Result<Exit, CliError> {
    let file = context.cwd.join(&args.file);
    let imported = match args.format {
        ImportFormat::AgentTrace => import_trace(&context.open_workspace()?.root, &file),
        ImportFormat::Records => import_ledger(&context.governed_workspace()?.root, &file),
    };
    let answer = imported.map_err(|error| {
        let hint = error
            .hint()
            .unwrap_or_else(|| "`intent evidence import --help` says what is read".into());
        CliError::usage(error.to_string(), hint)
    })?;
    context.answer(&answer, |page| show(page, &args, &answer))
}

fn show(page: &mut Page, args: &ImportArgs, answer: &ImportedFile) {
    page.label(GOOD, "✓");
    match answer.was_known {
        true => page.line("this file was imported before"),
        false => page.literal("imported ").count(answer.records, "record").end(),
    };
    for part in &answer.unreadable {
        let (first, last) = (part.start_line, part.end_line);
        let (noun, lines, kept) = match first == last {
            true => ("line", first.to_string(), " is kept, and says nothing: "),
            false => ("lines", format!("{first}–{last}"), " are kept, and say nothing: "),
        };
        page.label(WARN, noun).text(lines).literal(kept).text(&part.reason).end();
    }
    if answer.was_known {
        return;
    }
    page.styled(DIM, "Next:");
    match args.format {
        ImportFormat::AgentTrace => {
            page.line(" `intent why FILE:LINE` shows what the records claim")
        }
        ImportFormat::Records => page.literal(" commit ").text(&answer.name).end(),
    };
}
