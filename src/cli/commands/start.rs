//! `intent start`: puts an intent in progress.

use super::shared;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::intent::Status;

/// Put an intent in progress, so that work may be done under it
#[derive(Debug, clap::Args)]
pub(crate) struct StartArgs {
    /// The intent's id
    id: String,
}

pub(crate) fn run(context: &Context, args: StartArgs) -> Result<Exit, CliError> {
    shared::set_status(context, &args.id, Status::InProgress)
}
