//! `intent complete`: sets the status of an intent.

use super::shared;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::intent::Status;

/// Mark an intent as completed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The intent's id
    id: String,
}

pub(crate) fn run(context: &Context, args: Args) -> Result<Exit, CliError> {
    shared::set_status(context, &args.id, Status::Completed)
}
