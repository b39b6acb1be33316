//! `intent new`: adds an intent to the registry.

use super::shared;
use crate::cli::person::Terminal;
use crate::cli::print::Page;
use crate::cli::{CliError, Context, Exit};
use intents::{IntentEntry, Status};
use judgement::registry;

/// Write down an intent: what somebody asked for, and which files it owns
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Repeat an option for several entries. Scopes are globs from the workspace's root: the
last match wins, `!` excludes, a trailing / means everything below.

Example:
  intent new \"JWT migration\" --scope 'src/auth/**' --scope '!src/auth/legacy/**' \\
      --constraint \"No external auth providers\" --owner @ada --start")]
pub struct NewArgs {
    /// The name of the intent
    name: String,

    /// The id of the intent; without one, the next free id
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// A glob of files it owns
    #[arg(long, value_name = "GLOB")]
    scope: Vec<String>,

    /// A condition that the work must keep true
    #[arg(long, value_name = "TEXT")]
    constraint: Vec<String>,

    /// How to tell that the work is done
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,

    /// A requirement it serves
    #[arg(long, value_name = "SPEC")]
    spec: Vec<String>,

    /// Who asked for it (a handle)
    #[arg(long, value_name = "HANDLE")]
    owner: Option<String>,

    /// Put it in progress at once, instead of leaving it a draft
    #[arg(long)]
    start: bool,
}

pub fn run(context: &Context, args: NewArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let mut owned_scope = args.scope;
    let mut notes = registry::spell_out_folders(&workspace, &mut owned_scope);
    let intent = IntentEntry {
        id: args.id.unwrap_or_default(),
        name: args.name,
        status: if args.start { Status::InProgress } else { Status::Draft },
        owned_scope,
        constraints: args.constraint,
        acceptance_criteria: args.criterion,
        related_specs: args.spec,
        owner: args.owner,
        ..IntentEntry::default()
    };
    let doubts = registry::doubts_about(&workspace, &intent);
    match Terminal::of_a_person(context) {
        Ok(terminal) if !doubts.is_empty() => ask_whether(context, &terminal, &doubts)?,
        _ => notes.extend(doubts),
    }
    let scope = intent.owned_scope.clone();
    let answer = registry::new(&workspace, intent)?;
    let mut answer = answer.with_notes(&workspace, &scope, &context.cwd);
    answer.notes.splice(0..0, notes);
    shared::answer_changed_intent(context, &answer)
}

fn ask_whether(context: &Context, terminal: &Terminal, doubts: &[String]) -> Result<(), CliError> {
    let mut page = Page::default();
    shared::notes(&mut page, doubts);
    let refused = CliError::usage("no intent was written down", "type yes to write it down");
    terminal.confirms(&context.printer, &mut page, " to write it down all the same: ", refused)
}
