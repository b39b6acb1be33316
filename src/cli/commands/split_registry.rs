//! `intent setup split-registry`: moves each intent of the list into a file of its own.

use crate::cli::print::{DIM, GOOD};
use crate::cli::{CliError, Context, Exit, person};
use judgement::{map, registry};

/// Move each intent of the list into a file of its own, so that branches do not conflict
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Comments and unknown keys go with their intent. The list stays if it holds anything else.
New intents get files from then on; nothing else changes, and records stay where they are.")]
pub struct SplitRegistryArgs {}

pub fn run(context: &Context, _: SplitRegistryArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let known = overview::init::LIST_TEMPLATE;
    let answer = registry::split(&context.open_workspace()?, known)?;
    map::refresh(&context.open_workspace()?);
    context.answer(&answer, |page| {
        for path in &answer.created {
            page.label(GOOD, "✓").text(path.as_str()).end();
        }
        page.label(DIM, "note:").styled(DIM, answer.list.as_str());
        let kept = if answer.kept { " keeps what it holds beside intents" } else { " is gone" };
        page.styled(DIM, kept).end();
        page.next_command("git add .orchestration && git commit -m 'Give each intent a file'");
    })
}
