//! `intent clear`: forgets the selection.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::print::INTENT;
use crate::verbs::select;

/// Forget the selected intent
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// What was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClearAnswer {
    /// The intent that was selected; `None` when none was.
    cleared: Option<String>,
}

pub(crate) fn run(context: &Context, _args: Args) -> Result<Exit, CliError> {
    let answer = ClearAnswer { cleared: select::clear(&context.here()?)? };
    context.answer(&answer, |page| {
        match &answer.cleared {
            Some(id) => page.styled(INTENT, id).own(" is no longer selected"),
            None => page.own("No intent was selected"),
        };
        page.end();
    })?;
    Ok(Exit::Fine)
}
