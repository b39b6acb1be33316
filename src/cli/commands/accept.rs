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
after `intent seal`.

Examples:
  intent accept src/auth/jwt.rs:42
  intent accept src/auth/jwt.rs --all-differing
  intent accept src/auth/jwt.rs        a write that no gate let through")]
pub struct AcceptArgs {
    /// The block at this line: PATH:LINE; or a file, with --all-differing
    #[arg(value_name = "PATH[:LINE]")]
    target: OsString,

    /// Every block of the file that differs from its record
    #[arg(long)]
    all_differing: bool,
}

pub fn run(context: &Context, args: AcceptArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let target = FileTarget::parse(&context.cwd, &args.target)?;
    let line = target.line()?;
    // A bare file can only mean the open question about a write that no gate let through. The file
    // may be gone by now.
    let ungated = line.is_none() && !args.all_differing && is_ungated(context, &target)?;
    let extent = match (line, args.all_differing || ungated) {
        (Some(line), false) => AcceptExtent::Line(line),
        (None, true) => AcceptExtent::Differing,
        (Some(_), true) => return Err(say_which("a line and --all-differing exclude each other")),
        (None, false) => {
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
    map::follow(&workspace, std::slice::from_ref(&path));
    context.answer(&answer, |page| show(page, &answer, &workspace))
}

/// Returns true if the file still has the content of a write that no gate let through.
fn is_ungated(context: &Context, target: &FileTarget) -> Result<bool, CliError> {
    let (workspace, path) = context.file(target)?;
    let is_noted =
        session::ungated::still_valid(&workspace.root).iter().any(|note| note.path == path);
    Ok(is_noted || gate::is_rejected(&workspace, &path))
}

fn say_which(message: &str) -> CliError {
    CliError::usage(
        message,
        "name one block with PATH:LINE, or all that differ with --all-differing",
    )
}

fn show(page: &mut Page, answer: &AcceptAnswer, workspace: &Workspace) {
    if answer.settled {
        page.styled(GOOD, "✓").literal(" accepted the ungated write of ");
        page.text(&answer.path).end();
    } else if answer.accepted.is_empty() {
        page.text(&answer.path).line(": no block differs from its record");
    }
    for name in &answer.accepted {
        page.styled(GOOD, "✓").literal(" accepted ").styled(STRONG, name);
        page.literal(" in ").text(&answer.path).line(" as it stands");
    }
    if !answer.accepted.is_empty() && seal::is_code_committed(workspace, &answer.path) {
        shared::print_seal_command(page, &format!("Accept {}", answer.path));
    }
}
