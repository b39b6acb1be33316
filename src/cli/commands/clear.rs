//! `intent clear`: deselects the selected intent.

use crate::cli::print::INTENT;
use crate::cli::{CliError, Context, Exit, person};
use overview::select;

/// Forget the selected intent
#[derive(Debug, clap::Args)]
pub struct ClearArgs {}

pub fn run(context: &Context, _args: ClearArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let answer = select::clear(&context.open_workspace()?)?;
    context.answer(&answer, |page| {
        match &answer.cleared {
            Some(id) => page.styled(INTENT, id).literal(" is no longer selected"),
            None => page.literal("No intent was selected"),
        };
        page.end();
    })
}
