//! `intent accept`: records that blocks are right as they are now.

use std::ffi::OsString;

use super::shared;
use crate::cli::print::{GOOD, Page, STRONG};
use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context, Exit, person};
use evidence::seal;
use ground::session;
use judgement::accept::{AcceptAnswer, AcceptExtent, accept};
use judgement::{gate, map};
use why::Workspace;

/// Accept a block as it is now, and record that
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each block keeps the intent it had. The record says who accepted it: the person at this
terminal, by the name that git has; without a terminal, somebody unknown. An agent is
refused. A commit carries the record to other clones: the one with the code, or any
after `intent evidence seal`.

Examples:
  intent accept src/auth/jwt.rs:42
  intent accept src/auth/jwt.rs --all-differing
  intent accept src/auth --suspect     the intent changed, and the code is right
  intent accept src/auth/jwt.rs        a write that no gate let through")]
pub struct AcceptArgs {
    /// The block at this line: PATH:LINE; or a file or folder, with --all-differing or --suspect
    #[arg(value_name = "PATH[:LINE]")]
    target: OsString,

    /// Every block that differs from its record or is suspect
    #[arg(long, conflicts_with = "suspect")]
    all_differing: bool,

    /// Every block whose intent, or a specification of it, changed since it was recorded
    #[arg(long)]
    suspect: bool,
}

pub fn run(context: &Context, args: AcceptArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let target = FileTarget::parse(&context.cwd, &args.target)?;
    let many = match (args.all_differing, args.suspect) {
        (true, _) => Some(AcceptExtent::Differing),
        (_, true) => Some(AcceptExtent::Suspect),
        _ => None,
    };
    if let (Some(extent), true) = (many, target.path.is_dir()) {
        return accept_below(context, &target, extent);
    }
    let line = target.line()?;
    // A bare file can only mean the open question about a write that no gate let through. The file
    // may be gone by now.
    let ungated = line.is_none() && many.is_none() && is_ungated(context, &target)?;
    let extent = match (line, many.or(ungated.then_some(AcceptExtent::Differing))) {
        (Some(line), None) => AcceptExtent::Line(line),
        (None, Some(extent)) => extent,
        (Some(_), Some(_)) => {
            return Err(say_which("a line names one block, and the option means all"));
        }
        (None, None) => {
            context.existing_file(&target)?;
            return Err(say_which("no block is named"));
        }
    };
    let (workspace, path) =
        if ungated { context.file(&target)? } else { context.existing_file(&target)? };
    let answer = accept(&workspace, &path, extent, &person::contributor(context, &workspace))?;
    if let (AcceptExtent::Line(line), true) = (extent, answer.accepted.is_empty()) {
        return Err(CliError::usage(
            format!("there is no block at {path}:{line}"),
            format!(
                "`intent why {}` lists the blocks",
                context.path_for_shell(&workspace.root, path.as_str())
            ),
        ));
    }
    map::refresh(&workspace);
    context.answer(&answer, |page| show(page, &answer, &workspace))
}

fn accept_below(
    context: &Context,
    target: &FileTarget,
    extent: AcceptExtent,
) -> Result<Exit, CliError> {
    let workspace = context.workspace_of(target)?;
    workspace.governed()?;
    let by = person::contributor(context, &workspace);
    let mut answers = Vec::new();
    for path in shared::files_below(&workspace, target)? {
        // A file without text has no blocks.
        if workspace.read(&path).is_ok() {
            let answer = accept(&workspace, &path, extent, &by)?;
            answers.extend((answer.settled || !answer.accepted.is_empty()).then_some(answer));
        }
    }
    map::refresh(&workspace);
    context.answer(&answers, |page| {
        if answers.is_empty() {
            page.line("There is nothing to accept below this folder");
        }
        answers.iter().for_each(|answer| show_accepted(page, answer));
        if answers.iter().any(|answer| seal::is_code_committed(&workspace, &answer.path)) {
            shared::print_seal_command(page, &format!("Accept blocks below {}", target.named));
        }
    })
}

fn is_ungated(context: &Context, target: &FileTarget) -> Result<bool, CliError> {
    let (workspace, path) = context.file(target)?;
    let is_noted =
        session::ungated::still_valid(&workspace.root).iter().any(|note| note.path == path);
    Ok(is_noted || gate::is_rejected(&workspace, &path))
}

fn say_which(message: &str) -> CliError {
    let hint = "name one block with PATH:LINE, or all that differ with --all-differing";
    CliError::usage(message, hint)
}

fn show(page: &mut Page, answer: &AcceptAnswer, workspace: &Workspace) {
    show_accepted(page, answer);
    if !answer.accepted.is_empty() && seal::is_code_committed(workspace, &answer.path) {
        shared::print_seal_command(page, &format!("Accept {}", answer.path));
    }
}

fn show_accepted(page: &mut Page, answer: &AcceptAnswer) {
    if answer.settled {
        page.styled(GOOD, "✓").literal(" accepted the ungated write of ");
        page.text(&answer.path).end();
    } else if answer.accepted.is_empty() {
        page.text(&answer.path).line(": there is nothing to accept");
    }
    for name in &answer.accepted {
        page.styled(GOOD, "✓").literal(" accepted ").styled(STRONG, name);
        page.literal(" in ").text(&answer.path).line(" as it stands");
    }
}
