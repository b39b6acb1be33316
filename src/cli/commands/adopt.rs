//! `intent adopt`: a person gives a scope to an intent that is kept in another format.

use super::shared;
use crate::cli::person::{self, Terminal};
use crate::cli::print::{DIM, INTENT, Page, STRONG};
use crate::cli::{CliError, Context, Exit};
use ground::text::counted;
use intents::ImportedIntent;
use judgement::{map, registry};
use overview::adopt::{self, ScopeForAdoption};

/// Give a scope to an intent of OpenSpec, Spec Kit or another format, and begin it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person: refused where an agent runs it. Shows the scope that would hold: the intent's own
files, what was recorded or committed for it so far, and what its tasks name, as far as it
exists. Once confirmed, it writes a file in .orchestration/intents/ that points to the source
and adds only the scope. From then on, writes outside the scope are denied. The intent is in
progress, and selected for you if nothing else is.

Examples:
  intent adopt openspec:add-login
  intent adopt speckit:003-user-login --scope 'src/auth/**' --yes")]
pub struct AdoptArgs {
    /// The intent's id, with its prefix
    id: String,

    /// A glob of files it owns beside its own, in place of those that are proposed; may be repeated
    #[arg(long, value_name = "GLOB")]
    scope: Vec<String>,

    /// Adopt it without a question
    #[arg(long)]
    yes: bool,
}

pub fn run(context: &Context, args: AdoptArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let workspace = context.open_workspace()?;
    let imported = adopt::adoptable(&workspace, &args.id)?;
    let id = imported.intent.id.value.clone();
    let (mut proposed, mut notes) = (adopt::proposed_scope(&workspace, imported)?, Vec::new());
    if !args.scope.is_empty() {
        let mut scope = args.scope;
        notes = registry::spell_out_folders(&workspace, &mut scope);
        scope.insert(0, adopt::own_files(&workspace, imported));
        proposed = ScopeForAdoption { scope, ..ScopeForAdoption::default() };
    } else if proposed.is_empty() {
        return Err(CliError::usage(
            format!(
                "nothing is known of the files that {id} is about, so it would own only {}",
                imported.unit
            ),
            format!("say it: `intent adopt {id} --scope 'src/**'`"),
        ));
    }
    if !args.yes {
        confirm(context, imported, &proposed)?;
    }
    let mut answer = adopt::adopt(&workspace, &id, proposed.scope)?;
    answer.registry.notes.append(&mut notes);
    map::refresh(&context.open_workspace()?);
    context.answer(&answer, |page| {
        shared::changed_intent(page, &answer.registry);
        page.literal("  ").styled(DIM, "owns").pad_to(15);
        page.text(answer.owned_scope.join("  ")).end();
        if answer.selected {
            page.literal("  ").styled(DIM, "selected").pad_to(15);
            page.line("for you; agents select it for themselves");
        }
    })
}

fn confirm(
    context: &Context,
    imported: &ImportedIntent,
    proposed: &ScopeForAdoption,
) -> Result<(), CliError> {
    let terminal = Terminal::of_a_person(context).map_err(|_| {
        let scope = proposed.scope.join(", ");
        let hint = format!("the scope would be {scope}; `--yes` adopts it without a question");
        CliError::usage("nothing was adopted: there is nobody to ask", hint)
    })?;
    let mut page = Page::default();
    let intent = &imported.intent;
    page.styled(INTENT, &intent.id.value).literal("  ").styled(STRONG, &intent.name.value).end();
    page.literal("  source").pad_to(15).text(&imported.unit).end();
    for entry in &proposed.scope {
        page.literal("  would own").pad_to(15).text(entry).end();
    }
    let from = [
        (proposed.recorded, "recorded file"),
        (proposed.committed, "file of its commits"),
        (proposed.named, "named path"),
    ];
    let from = from.into_iter().filter(|(count, _)| *count > 0);
    let from: Vec<String> = from.map(|(count, what)| counted(count, what)).collect();
    if !from.is_empty() {
        page.literal("  from").pad_to(15).text(from.join(", ")).end();
    }
    let hint = "`--scope GLOB` adopts it with another scope";
    let refused = CliError::usage("nothing was adopted", hint);
    terminal.confirms(&context.printer, &mut page, " to adopt it: ", refused)
}
