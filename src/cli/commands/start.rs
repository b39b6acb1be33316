//! `intent start`: puts an intent in progress.

use super::shared;
use crate::cli::{CliError, Context, Exit};
use intents::Status;
use judgement::registry;

/// Put an intent in progress, so that work may be done under it
#[derive(Debug, clap::Args)]
pub struct StartArgs {
    /// The intent's id
    id: String,
}

pub fn run(context: &Context, args: StartArgs) -> Result<Exit, CliError> {
    let answer = registry::set_status(&context.open_workspace()?, &args.id, Status::InProgress)?;
    shared::answer_changed_intent(context, &answer)
}
