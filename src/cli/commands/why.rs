//! `intent why`: says which intent produced a block, and whether it is still what was recorded.

mod folder;
pub(super) mod removed;
mod show;

use std::ffi::OsString;
use std::path::Path;

use jiff::Timestamp;

use crate::cli::target::FileTarget;
use crate::cli::{CliError, Context, Exit};
use ground::{RelativePath, text};
use why::Workspace;
use why::answers::{Which, on_disk};
use why::removed::removed_from;

/// Say which intent asked for code, who wrote it, and whether it is still what was recorded
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Verdicts:
  exact        as recorded
  reformatted  as recorded, but for layout and comments
  moved        as recorded, in another place
  renamed      as recorded, but for names that changed throughout
  modified     changed since, by nobody that is recorded
  ambiguous    two intents brought half of its lines each
  unrecorded   no record says that an intent brought half of its lines

What is said of lines without a record, in the words of its strength:
  the commit says  its message names the intent, or an agent
  inferred         the commit changed the files of one intent together with the code
  git says         commit, author and subject

Examples:
  intent why src/auth/jwt.rs          every block of the file
  intent why src/auth                 a table of the files below a folder
  intent why src/auth/jwt.rs:42       the innermost block at line 42
  intent why src/auth/jwt.rs:10-20    every block at these lines
  intent why main~3:src/auth/jwt.rs   as that commit had it, by the records of its time
  intent why src/auth/jwt.rs:42 --lines
                                      which of its lines are whose
  intent why src/auth/jwt.rs --removed
                                      which commits removed what of it")]
pub struct WhyArgs {
    /// A file, lines of it, or a folder; with a revision, as that commit has it
    #[arg(value_name = "[REV:]PATH[:LINE[-LINE]]")]
    target: OsString,

    /// Show every record that brought lines of a block, and what was removed of it
    #[arg(long, alias = "lineage")]
    history: bool,

    /// Show which record each line is from
    #[arg(long, alias = "explain")]
    lines: bool,

    /// Show which commits removed blocks or lines of the file, which may be gone
    #[arg(long, conflicts_with_all = ["history", "lines"])]
    removed: bool,
}

pub fn run(context: &Context, args: WhyArgs) -> Result<Exit, CliError> {
    let target = FileTarget::parse(&context.cwd, &args.target)?;
    if target.path.is_dir() && !args.removed {
        let answer = folder::summary(context, &target)?;
        return context.answer(&answer, |page| folder::show(page, &answer));
    }
    let (workspace, path) = asked_about(context, &args, &target)?;
    if workspace.git().is_none() {
        workspace.governed()?;
    }
    if args.removed {
        if target.lines.is_some() {
            let named = text::shell_path(&target.named);
            let hint = format!("name it without lines: `intent why {named} --removed`");
            return Err(CliError::usage("--removed is about a whole file", hint));
        }
        let answer = why::removed::removed(&workspace, &path)?;
        return context.answer(&answer, |page| removed::show(page, &answer, Timestamp::now()));
    }
    let workspace = workspace.with_kept_answers();
    let which = match target.lines {
        None if args.lines => Which::AllInFull,
        None => Which::All,
        Some(lines) if lines.start() == lines.end() => Which::Line(lines.start()),
        Some(lines) => Which::Lines(lines),
    };
    let answer = on_disk(&workspace, &path, which)?;
    let wanted = show::ShownParts {
        place: target.lines,
        whole_history: args.history,
        each_line: args.lines,
        now: Timestamp::now(),
    };
    let removed = args.history.then(|| match target.lines {
        Some(_) => removed_from(&workspace, &path, &answer.blocks),
        None => why::removed::removed(&workspace, &path),
    });
    let removed = removed.transpose()?.filter(|removed| !removed.commits.is_empty());
    context.answer(&answer, |page| {
        show::answer(page, &answer, &wanted);
        if let Some(removed) = &removed {
            removed::show_below_records(page, removed, wanted.now);
        }
    })
}

/// Resolves the argument to a file, either in the work tree or in a commit. With `--removed` it may be
/// gone there.
fn asked_about(
    context: &Context,
    args: &WhyArgs,
    target: &FileTarget,
) -> Result<(Workspace, RelativePath), CliError> {
    let Some((revision, named)) = target.at_revision() else {
        return if args.removed { context.file(target) } else { context.existing_file(target) };
    };
    let here = context.open_workspace()?;
    let Some(commit) = here.git().and_then(|git| git.resolve(revision).ok()) else {
        let help =
            "name a file, as PATH, PATH:LINE or REV:PATH; paths are taken from the current folder";
        let of_intent = context.hint_about_intent(Path::new(&target.named));
        return Err(CliError::usage(
            format!("{} does not exist, and {revision:?} is no revision here", target.named),
            of_intent.unwrap_or_else(|| help.to_owned()),
        ));
    };
    // Git takes a path after a revision from the top of the work tree, unless the path begins with
    // a dot.
    let is_here = named.starts_with("./") || named.starts_with("../");
    let top = here.root.work_tree().filter(|_| !is_here).unwrap_or(&context.cwd);
    let path = here.path(top, Path::new(named))?;
    let then = here.at_commit(commit.clone(), Some(commit))?;
    if !args.removed && !then.exists(&path) {
        let hint = format!("`git ls-tree -r --name-only {revision}` lists its files");
        return Err(CliError::usage(format!("{revision} has no file {path}"), hint));
    }
    Ok((then, path))
}
