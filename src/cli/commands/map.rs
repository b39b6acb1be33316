//! `intent map`: shows which intent produced which blocks.

use schemars::JsonSchema;
use serde::Serialize;

use super::shared;
use crate::cli::print::{GOOD, Page};
use crate::cli::{CliError, Context, Exit};
use ground::RelativePath;
use judgement::map::{MapAnswer, map, markdown, text, write};
use why::Workspace;

const FILE: &str = ".orchestration/intent_map.md";

/// Write intent_map.md: intent, its files, their top-level definitions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The map is generated from the ledger and never read back. It is short: what is more
than a person reads at one look is counted. `intent record`, agents' sessions and
editors keep it fresh by themselves. Git ignores it, unless the policy says
`map: committed`; then git's hook writes it for each commit, from what the commit
holds, and this command does the same. In a merge that git commits by itself the
lines of both sides are united as they come, and the next commit writes them anew.")]
pub struct MapArgs {
    /// Write nothing; exit code 1 when the file is not up to date, 2 when missing history leaves that
    /// open
    #[arg(long, conflicts_with = "stdout")]
    check: bool,

    /// Write nothing; print the Markdown
    #[arg(long)]
    stdout: bool,
}

/// Whether the map is up to date.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapCheckAnswer {
    /// The file, relative to the workspace.
    path: String,
    /// True if the file has the content that `intent map` would write.
    up_to_date: bool,
}

pub fn run(context: &Context, args: MapArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    workspace.governed()?;
    if args.check {
        return check(context, &workspace);
    }
    let workspace = workspace.with_kept_answers();
    if args.stdout {
        let answer = context.with_progress(&workspace, || map(&workspace))?;
        let exit = context.answer(&answer, |page| {
            page.lines(&markdown(&answer));
        })?;
        return Ok(if answer.lacks_history { Exit::Usage } else { exit });
    }
    let answer = context.with_progress(&workspace, || write(&workspace))?;
    context.answer(&answer, |page| show(page, &answer))
}

fn check(context: &Context, workspace: &Workspace) -> Result<Exit, CliError> {
    let wanted = context.with_progress(workspace, || text(workspace))?;
    let path = RelativePath::new(FILE).expect("a fixed name is a path");
    let stored = workspace.root.read_rules(&path, u64::from(u32::MAX))?;
    let up_to_date = stored.is_some_and(|bytes| same_but_for_line_ends(&bytes, &wanted));
    let answer = MapCheckAnswer { path: FILE.to_owned(), up_to_date };
    context.answer(&answer, |page| {
        shared::mark(page, Some(up_to_date)).literal(FILE).line(match up_to_date {
            true => " is up to date",
            false => " is not up to date; write it with `intent map`",
        });
    })?;
    Ok(Exit::found(!up_to_date))
}

/// Compares two texts, ignoring a difference in line ends, because git may convert those of a
/// generated file.
fn same_but_for_line_ends(stored: &[u8], wanted: &str) -> bool {
    std::str::from_utf8(stored).is_ok_and(|stored| stored.replace("\r\n", "\n") == wanted)
}

fn show(page: &mut Page, answer: &MapAnswer) {
    let files: Vec<_> = answer.intents.iter().flat_map(|intent| &intent.files).collect();
    page.styled(GOOD, "✓").literal(" wrote ");
    page.text(answer.written.as_deref().unwrap_or(FILE)).literal(": ");
    page.count(answer.intents.len(), "intent").literal(", ");
    page.count(files.len(), "file").literal(", ");
    page.count(files.iter().map(|file| file.blocks.len()).sum(), "block").end();
    shared::notes(page, &answer.notes);
}
