//! `intent init`: the first files of a workspace.

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::print::{DIM, GOOD, Page, STRONG};
use crate::verbs::init::{InitAnswer, init};

/// Make the first files of a workspace; never overwrites one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes a commented registry and policy below .orchestration/, with the .gitignore and
.gitattributes that keep private files out of commits and git's hands off the ledger,
and .intentignore beside it.")]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _args: Args) -> Result<Exit, CliError> {
    let answer = init(&context.cwd)?;
    context.answer(&answer, |page| show(page, &answer))?;
    Ok(Exit::Fine)
}

fn show(page: &mut Page, answer: &InitAnswer) {
    page.styled(STRONG, &answer.root).end();
    for path in &answer.created {
        page.own("  ").styled(GOOD, "created").to(11).text(path).end();
    }
    for path in &answer.kept {
        page.own("  ").styled(DIM, "kept").to(11).styled(DIM, path).end();
    }
    page.own("  ledger").to(11).text(&answer.layout).end();
    if !answer.created.is_empty() {
        page.gap()
            .own("Next: intent new \"What somebody asked for\" --scope 'src/**' --start")
            .end();
    }
}
