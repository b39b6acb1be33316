//! `intent evidence seal`: makes evidence of records that are in no commit yet.

mod message;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};

use crate::cli::git::{self, stage, update_index};
use crate::cli::print::{DIM, INTENT, PLAIN, Page, WARN};
use crate::cli::{CliError, Context, Exit, programs};
use evidence::seal::{
    SealAnswer, SealCaller, after_commit, nothing_sealed, retire, retire_daily, seal, would_seal,
};
use ground::git::{Target, short_id};
use ground::{Hint, RelativePath, clock};
use judgement::map;
use why::Workspace;

/// Seal what was recorded into evidence that commits carry
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Git's hooks do this by themselves (`intent setup git-hooks --install`). By hand it is for
commits that were made without them: with --no-verify, by another tool, by a rebase.
What it writes is staged and rides in the next commit.

Evidence names intents, sessions, models, files and blocks, and holds no code;
--dry-run shows which.")]
pub struct SealArgs {
    /// Write nothing; say what would be published
    #[arg(long)]
    dry_run: bool,

    /// Run as this git hook, and never fail
    #[arg(long, value_name = "NAME", hide = true)]
    hook: Option<String>,

    /// The arguments that git gives the hook: for `commit-msg`, the file with the message
    #[arg(requires = "hook", hide = true)]
    handed: Vec<PathBuf>,
}

pub fn run(context: &Context, args: SealArgs) -> Result<Exit, CliError> {
    if let Some(hook) = &args.hook {
        // As a hook this command never fails, so that it never stops a commit. But a record that
        // stays behind is announced, so that nobody takes the commit for complete.
        for workspace in workspaces_of_work_tree(context) {
            let Err(error) = run_hook(context, &workspace, hook, &args.handed) else { continue };
            let message = format!("{hook} could not seal: {error}");
            ground::session::log(&workspace.root, &message);
            let hint = "the records stay in the journal; `intent evidence seal` completes it";
            context.error(&CliError::usage(message, hint));
        }
        return Ok(Exit::Fine);
    }
    let workspace = context.open_workspace()?;
    let answer = match args.dry_run {
        true => would_seal(&workspace)?,
        false => seal(&workspace, SealCaller::Person)?,
    };
    if !args.dry_run {
        retire(&workspace, clock::now_in_milliseconds())?;
        stage_sealed(context, &workspace, &answer)?;
    }
    if answer.sealed.is_empty() && answer.records == 0 && answer.waiting == 0 {
        return context.answer(&answer, |page| {
            page.text(nothing_sealed(&workspace)).end();
        });
    }
    context.answer(&answer, |page| show(page, &answer, args.dry_run))
}

/// Returns the workspaces in which a hook has to seal. Git calls it at the top of the work tree, and a
/// workspace may be a folder below, as in a repository of many projects.
fn workspaces_of_work_tree(context: &Context) -> Vec<Workspace> {
    let Ok(top) = context.open_workspace() else { return Vec::new() };
    let mut folders = BTreeSet::new();
    if !top.root.governed() || !top.policy.nested_roots.is_empty() {
        for path in top.tracked().unwrap_or_default() {
            folders.extend(path.as_str().split_once("/.orchestration/").map(|it| it.0.to_owned()));
        }
    }
    let below = folders.into_iter().filter_map(|folder| {
        let folder = top.root.path().join(folder);
        let workspace = Workspace::open(&folder, context.environment()).ok()?;
        (workspace.root.path() == folder).then_some(workspace)
    });
    let below: Vec<Workspace> = below.collect();
    let all = [top].into_iter().chain(below);
    all.filter(|workspace| workspace.root.governed()).collect()
}

/// Does what one of git's hooks is for. `handed` are the arguments that git gives the hook.
fn run_hook(
    context: &Context,
    workspace: &Workspace,
    hook: &str,
    handed: &[PathBuf],
) -> Result<(), Box<dyn Error>> {
    match hook {
        "pre-merge-commit" if !is_merging(workspace) => {}
        "pre-commit" if is_reworded(workspace)? => {}
        "pre-commit" | "pre-merge-commit" => {
            let sealed = seal(workspace, SealCaller::Hook);
            let answer = sealed.map_err(|error| error.with_hint())?;
            stage(workspace, changed_files(&answer))?;
            // Git commits a merge from the tree that it had before this hook. A map that is staged
            // now would stay behind in the index.
            if hook == "pre-commit" {
                match map::write_for_commit(workspace) {
                    Ok(map) => stage(workspace, map.iter())?,
                    Err(error) => drop(context.error(&error.into())),
                }
            }
        }
        "commit-msg" => {
            let message = handed.first().ok_or("git names no file with the message")?;
            message::add_trailers(workspace, &context.cwd.join(message))?;
        }
        _ => {
            for left in after_commit(workspace).map_err(|error| error.with_hint())? {
                let mut page = Page::default();
                page.label(WARN, "warning:").text(left.message).literal(" ");
                context.printer.aside(page.text(left.help).end())?;
            }
            keep(workspace)?;
            retire_daily(workspace)?;
        }
    }
    Ok(())
}

pub(super) fn stage_sealed(
    context: &Context,
    workspace: &Workspace,
    answer: &SealAnswer,
) -> Result<(), CliError> {
    stage(workspace, changed_files(answer)).map_err(|error| {
        let trace = context.path_for_shell(&workspace.root, ".orchestration/agent_trace");
        let hint = format!("stage it yourself: `git add {trace}`");
        CliError::usage(format!("what was sealed could not be staged: {error}"), hint)
    })
}

fn changed_files(answer: &SealAnswer) -> impl Iterator<Item = &RelativePath> {
    answer.written.iter().chain(&answer.removed)
}

/// Returns true if git will commit the merge from the index. If both sides changed different files,
/// git writes the tree of the merge before it calls the hook, and there is no `MERGE_HEAD`; then
/// nothing may be staged.
fn is_merging(workspace: &Workspace) -> bool {
    workspace.root.git_dir().is_some_and(|git| git.join("MERGE_HEAD").is_file())
}

/// Returns true if a rebase only gives the last commit another message. Git has read the index before,
/// and stops the rebase if the hook stages anything.
fn is_reworded(workspace: &Workspace) -> Result<bool, Box<dyn Error>> {
    let is_rebase = |git: &Path| git.join("rebase-merge").is_dir();
    let (Some(git), true) = (workspace.git(), workspace.root.git_dir().is_some_and(is_rebase))
    else {
        return Ok(false);
    };
    Ok(git.changes(workspace.head(), &Target::Index)?.is_empty())
}

/// Runs after a commit. Adds to the index the evidence that the commit holds and the index lacks:
/// `git commit --only` commits from another index, so the next commit would remove that evidence
/// again.
///
/// This does not seal code that was committed without our hooks. Such evidence would stay in the
/// index, and git refuses to rebase, to revert or to pull if the index differs from the commit. The
/// next commit seals that code, or `intent evidence seal` does.
fn keep(workspace: &Workspace) -> std::io::Result<()> {
    let Some(top) = workspace.root.work_tree() else { return Ok(()) };
    let folder = workspace.root.path().join(".orchestration/agent_trace");
    let mut git = programs::command("git", workspace.root.environment());
    git.args(["diff-index", "--cached", "--diff-filter=D", "--name-only", "-z", "HEAD", "--"]);
    let output = git::run(git.arg(&folder).current_dir(top))?;
    let missing = String::from_utf8_lossy(&output.stdout).into_owned();
    let missing = missing.split('\0').filter(|path| !path.is_empty() && top.join(path).is_file());
    update_index(top, missing.map(str::to_owned).collect(), workspace.root.environment())
}

fn show(page: &mut Page, answer: &SealAnswer, dry_run: bool) {
    if answer.sealed.is_empty() && answer.records == 0 {
        show_waiting(page, answer);
        return;
    }
    for sealed in &answer.sealed {
        match &sealed.intent {
            Some(intent) => page.styled(INTENT, intent),
            None => page.literal("no intent"),
        };
        page.literal("  ").text(&sealed.path);
        if let Some(commit) = &sealed.commit {
            page.literal(" ").label(DIM, "in").styled(DIM, short_id(commit));
        }
        page.end();
        for one in sealed.session.iter().chain(&sealed.model) {
            page.literal("    ").styled(DIM, one).end();
        }
        for block in &sealed.blocks {
            page.literal("    ").text(block).end();
        }
    }
    let sealed = if dry_run { " would be sealed" } else { " sealed" };
    page.count(answer.records, "record").line(sealed);
    for path in &answer.written {
        page.literal("staged ").text(path.as_str()).end();
    }
    if answer.waiting > 0 {
        show_waiting(page, answer);
    }
}

/// The most files that a suggested command names. For more files it names the root folder.
const MAX_NAMED: usize = 4;

/// Says how many records are not sealed because their code is not in the index.
fn show_waiting(page: &mut Page, answer: &SealAnswer) {
    let (wait, it) = match answer.waiting {
        1 => (" waits for its code to be staged: ", "it"),
        _ => (" wait for their code to be staged: ", "them"),
    };
    let named = answer.unstaged.iter().map(|path| path.for_shell());
    let files = match named.len() <= MAX_NAMED {
        true => named.collect::<Vec<_>>().join(" "),
        false => ".".to_owned(),
    };
    page.count(answer.waiting, "record").literal(wait);
    page.advice(PLAIN, &format!("`git add {files} && intent evidence seal`;"));
    page.literal(" a commit with that code takes ").literal(it).line(" too.");
}
