//! `intent edit`: a person changes an intent, by options or in an editor, or removes it.

use super::shared;
use crate::cli::person::{self, Terminal};
use crate::cli::print::{DIM, GOOD, INTENT};
use crate::cli::{CliError, Context, Exit, programs};
use intents::dialect::Field;
use intents::{Intent, Status};
use judgement::map;
use judgement::registry::{self, IntentChange, RegistryAnswer};
use why::Workspace;

/// Change an intent: its name, scope, conditions, owner or status
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a person: refused where an agent runs it; an agent asks with `intent request-scope`.
Without options, the intent's file is opened in $VISUAL or $EDITOR.

Examples:
  intent edit INT-003 --add-scope 'src/auth/**' --remove-scope 'lib/**'
  intent edit INT-003 --name \"JWT migration\" --status BLOCKED
  intent edit INT-003 --remove         where no record names it; else --status ARCHIVED")]
pub struct EditArgs {
    /// The intent's id
    id: String,

    /// Give it another name
    #[arg(long, value_name = "NAME", aliases = ["rename", "title"])]
    name: Option<String>,

    /// The globs of files it owns, in place of those it had
    #[arg(long, value_name = "GLOB")]
    scope: Vec<String>,

    /// A glob of files it owns too
    #[arg(long, value_name = "GLOB", conflicts_with = "scope")]
    add_scope: Vec<String>,

    /// A glob to take out of its scope
    #[arg(long, value_name = "GLOB", conflicts_with = "scope")]
    remove_scope: Vec<String>,

    /// A condition that the work must keep true too
    #[arg(long, value_name = "TEXT")]
    add_constraint: Vec<String>,

    /// A condition to take away
    #[arg(long, value_name = "TEXT")]
    remove_constraint: Vec<String>,

    /// Another way to tell that the work is done
    #[arg(long, value_name = "TEXT")]
    add_criterion: Vec<String>,

    /// A criterion to take away
    #[arg(long, value_name = "TEXT")]
    remove_criterion: Vec<String>,

    /// Who asked for it (a handle)
    #[arg(long, value_name = "HANDLE")]
    owner: Option<String>,

    /// DRAFT, PENDING, IN_PROGRESS, BLOCKED, COMPLETED or ARCHIVED
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<Status>,

    /// Remove the intent from the registry
    #[arg(long, conflicts_with_all = ["name", "scope", "add_scope", "remove_scope", "owner", "status"])]
    remove: bool,
}

fn status(text: &str) -> Result<Status, String> {
    let all = Status::ALL.map(Status::as_str).join(", ");
    Status::parse(text).ok_or_else(|| format!("one of {all}"))
}

pub fn run(context: &Context, args: EditArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let workspace = context.open_workspace()?;
    if args.remove {
        let answer = registry::remove(&workspace, &args.id)?;
        map::refresh(&context.open_workspace()?);
        return context.answer(&answer, |page| {
            page.label(GOOD, "✓").styled(INTENT, &answer.id).line(" is removed from the registry");
            shared::notes(page, &answer.notes);
        });
    }
    let intent = workspace.intent(&args.id)?;
    let mut notes = Vec::new();
    let wanted = wanted_changes(&workspace, intent, args, &mut notes);
    let Some((id, wanted, scope)) = wanted else {
        let id = intent.id.value.clone();
        return in_editor(context, &workspace, &id);
    };
    let answer = registry::edit_intent(&workspace, &id, wanted)?;
    let after = context.open_workspace()?;
    let mut answer = answer.with_notes(&after, &scope, &context.cwd);
    answer.notes.splice(0..0, notes);
    map::refresh(&after);
    context.answer(&answer, |page| shared::changed_intent(page, &answer))
}

/// Returns the id, what is to change, and the globs that are new. `None` if no option is given.
fn wanted_changes(
    workspace: &Workspace,
    intent: &Intent,
    args: EditArgs,
    notes: &mut Vec<String>,
) -> Option<(String, IntentChange, Vec<String>)> {
    let (mut add_scope, remove_scope) = match args.scope.is_empty() {
        true => (args.add_scope, args.remove_scope),
        false => {
            let held = intent.scope_entries();
            let same = held.iter().zip(&args.scope).take_while(|(a, b)| *a == b).count();
            let gone = held[same..].iter().map(|entry| (*entry).to_owned()).collect();
            (args.scope[same..].to_vec(), gone)
        }
    };
    notes.extend(registry::spell_out_folders(workspace, &mut add_scope));
    let of = |field: Field, texts: Vec<String>| texts.into_iter().map(move |text| (field, text));
    let add: Vec<_> = of(Field::Scope, add_scope.clone())
        .chain(of(Field::Constraints, args.add_constraint))
        .chain(of(Field::Acceptance, args.add_criterion))
        .collect();
    let remove: Vec<_> = of(Field::Scope, remove_scope)
        .chain(of(Field::Constraints, args.remove_constraint))
        .chain(of(Field::Acceptance, args.remove_criterion))
        .collect();
    let (name, owner, status) = (args.name, args.owner, args.status);
    let is_nothing = name.is_none() && owner.is_none() && status.is_none();
    if is_nothing && add.is_empty() && remove.is_empty() && args.scope.is_empty() {
        return None;
    }
    let change = IntentChange { name, owner, status, add, remove };
    Some((intent.id.value.clone(), change, add_scope))
}

fn in_editor(context: &Context, workspace: &Workspace, id: &str) -> Result<Exit, CliError> {
    Terminal::of_a_person(context)?;
    let named = |name| context.environment().variable(name).filter(|text| !text.is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR"));
    let Some(editor) = editor else {
        let hint = "set one, or change the intent by options: `intent edit --help`";
        return Err(CliError::usage("neither $VISUAL nor $EDITOR names an editor", hint));
    };
    let Some((file, _)) = workspace.registry.intent_with_file(id) else { return Ok(Exit::Fine) };
    let path = workspace.root.absolute(file.path());
    // As git does: the variable holds a command with its options.
    let words = format!("{} \"$@\"", editor.to_string_lossy());
    let mut command = programs::command("sh", context.environment());
    command.args(["-c", &words, "editor"]).arg(&path);
    let done = command.status().map_err(|source| CliError::io("the editor", "started", source))?;
    if !done.success() {
        return Err(CliError::usage("the editor failed", "nothing was written down; try again"));
    }
    let answers = registry::note_edited(workspace, &workspace.registry)?;
    map::refresh(&context.open_workspace()?);
    context.answer(&answers, |page| {
        answers.iter().for_each(|answer: &RegistryAnswer| shared::changed_intent(page, answer));
        if answers.is_empty() {
            page.styled(DIM, "no intent was changed").end();
        }
    })
}
