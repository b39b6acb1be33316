//! `intent why`: which intent produced this block, and is it still what was recorded?

mod show;

use std::ffi::OsString;

use jiff::Timestamp;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::target::Target;
use crate::verbs::why::{Which, on_disk, on_disk_explained, on_disk_in_full};

/// Say which intent asked for code, who wrote it, and whether it is still what was recorded
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Verdicts:
  exact        as recorded
  reformatted  as recorded but for formatting and comments
  moved        as recorded, in another place
  renamed      as recorded but for names
  modified     changed since, by nobody who recorded it
  ambiguous    several records fit equally well
  unrecorded   no record speaks of it

Examples:
  intent why src/auth/jwt.rs          every block of the file
  intent why src/auth/jwt.rs:42       the innermost block at line 42
  intent why src/auth/jwt.rs:42 --lines
                                      which of its lines are whose, and which changed since
  intent why src/auth/jwt.rs:42 --explain
                                      every earlier block that it was compared with, how alike
                                      the two are, and which rule decided")]
pub(crate) struct Args {
    /// A file, or a line of it
    #[arg(value_name = "PATH[:LINE]")]
    target: OsString,

    /// Show the whole history of each block
    #[arg(long)]
    lineage: bool,

    /// Show whose each line is, and which changed since
    #[arg(long)]
    lines: bool,

    /// Show what each verdict rests on: every earlier block that was compared, and the rule that decided
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(context: &Context, args: Args) -> Result<Exit, CliError> {
    let target = Target::parse(&context.cwd, &args.target)?;
    let (workspace, path) = context.existing_file(&target)?;
    workspace.governed()?;
    let which = target.line.map_or(Which::All, Which::Line);
    let answer = match (args.explain, args.lines) {
        (true, _) => on_disk_explained(&workspace, &path, which)?,
        (false, true) => on_disk_in_full(&workspace, &path, which)?,
        (false, false) => on_disk(&workspace, &path, which)?,
    };
    let wanted = show::Wanted {
        line: target.line,
        history: if args.lineage { show::History::Whole } else { show::History::Latest },
        evidence: if args.explain { show::Evidenced::InFull } else { show::Evidenced::InBrief },
        lines: if args.lines { show::Lines::Each } else { show::Lines::InBrief },
    };
    context.answer(&answer, |page| show::answer(page, &answer, &wanted, Timestamp::now()))?;
    Ok(Exit::Fine)
}
