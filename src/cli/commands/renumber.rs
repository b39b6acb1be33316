//! `intent setup renumber`: gives the second of two intents with one id an id of its own.

use std::ffi::OsString;

use super::shared;
use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context, Exit, person};
use judgement::registry;

/// Give the second of two intents that took one id, in two clones, an id of its own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The intent in FILE gets the next free id, and `formerly` keeps the old one. What was
recorded under it goes with it: the name of the intent tells the records of the two apart.

Example:
  intent setup renumber INT-005 --file .orchestration/intents/INT-005-jwt-migration.yaml")]
pub struct RenumberArgs {
    /// The id that two intents have
    id: String,

    /// The file of the one that gets another id; in a list, it is the last one with the id
    #[arg(long, value_name = "FILE")]
    file: OsString,
}

pub fn run(context: &Context, args: RenumberArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let target = FileTarget::without_lines(&context.cwd, args.file.as_ref());
    let (workspace, path) = context.existing_file(&target)?;
    let answer = registry::renumber(&workspace, &args.id, &path)?;
    shared::answer_changed_intent(context, &answer)
}
