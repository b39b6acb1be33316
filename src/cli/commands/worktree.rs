//! `intent agent worktree`: makes a linked work tree for an agent. Behind the fence in it, git cannot be
//! made to run another program.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::print::{GOOD, INTENT, STRONG};
use crate::cli::{CliError, Context, Exit, person, programs};
use ground::text;
use overview::select::select;
use why::Workspace;

/// Make a linked work tree for an agent, on a branch of its own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It is made beside this one, at the commit that is checked out. Behind the fence in it, the
main work tree and the repository's settings and hooks are read-only: git there writes
contents, branches and what belongs to that work tree, and nothing that makes git run a
program. `git branch -D`, `git gc` and `git config` do not work in it. When it is no longer
needed: `git worktree remove`.

Examples:
  intent agent worktree sign-in --intent INT-001
  intent agent worktree try-it --path ../elsewhere")]
pub struct WorktreeArgs {
    /// The name of the branch, and of the folder
    name: String,

    /// Select this intent in it; else the intent that is selected here
    #[arg(long, value_name = "ID")]
    intent: Option<String>,

    /// Where to make it, rather than beside this work tree
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

/// A work tree that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeAnswer {
    /// The folder of the work tree.
    path: PathBuf,
    /// The branch that is checked out in it.
    branch: String,
    /// The intent that is selected in it.
    intent: Option<String>,
}

pub fn run(context: &Context, args: WorktreeArgs) -> Result<Exit, CliError> {
    person::no_agent(context)?;
    let workspace = context.governed_workspace()?;
    let Some(top) = workspace.root.work_tree() else {
        return Err(CliError::usage(
            "there is no git repository here, so there is nothing to link a work tree to",
            "make one first: `git init`",
        ));
    };
    let intent = args.intent.or_else(|| workspace.selected(None));
    if let Some(id) = &intent {
        workspace.intent_in_progress(id)?;
    }
    let path = match &args.path {
        Some(path) => context.cwd.join(path),
        None => folder_beside(top, &args.name)?,
    };
    let mut git = programs::command("git", context.environment());
    git.args(["worktree", "add", "--quiet", "-b", &args.name]).arg(&path).current_dir(top);
    let made = git.output().map_err(|error| CliError::io("git", "started", error))?;
    if !made.status.success() {
        let stderr = String::from_utf8_lossy(&made.stderr).trim().to_owned();
        return Err(CliError::usage(
            format!("git made no work tree: {stderr}"),
            "`git worktree list` shows those that are there; name another branch, or another folder with --path",
        ));
    }
    let below = workspace.root.path().strip_prefix(top).unwrap_or(std::path::Path::new(""));
    let linked = Workspace::open(&path.join(below), context.environment())?;
    if !linked.root.governed() {
        let (named, word) = (path.display(), text::shell_word(&path.to_string_lossy()));
        return Err(CliError::usage(
            format!(
                "{named} is made, but its commit holds no .orchestration/, so nothing is governed there"
            ),
            format!(
                "commit .orchestration/ here; `git worktree remove {word}` takes the work tree away"
            ),
        ));
    }
    if let Some(id) = &intent {
        select(&linked, id, None)?;
    }
    let path = path.canonicalize().unwrap_or(path);
    let answer = WorktreeAnswer { path, branch: args.name, intent };
    context.answer(&answer, |page| {
        page.label(GOOD, "●").styled(STRONG, answer.path.to_string_lossy());
        page.literal("  on ").text(&answer.branch);
        page.optional("  under ", INTENT, answer.intent.as_ref()).end();
        let folder = text::shell_word(&answer.path.to_string_lossy());
        page.literal("Run a command in it behind the fence: ");
        page.text(format!("`intent -C {folder} fence -- COMMAND`")).end();
    })
}

fn folder_beside(top: &std::path::Path, name: &str) -> Result<PathBuf, CliError> {
    let plain = name.replace(['/', '\\'], "-");
    let (Some(parent), Some(own)) = (top.parent(), top.file_name()) else {
        let hint = "say where with --path";
        return Err(CliError::usage(format!("{} has no folder above it", top.display()), hint));
    };
    Ok(parent.join(format!("{}-{plain}", own.to_string_lossy())))
}
