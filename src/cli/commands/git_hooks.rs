//! `intent setup git-hooks`: installs, removes and shows the git hooks that seal records into commits.

use crate::cli::print::{DIM, GOOD, NOTE, Page, WARN};
use crate::cli::{CliError, Context, Exit};
use evidence::git_hooks::{Act, GitHook, GitHooksAnswer, HookState, MESSAGE, git_hooks};

/// Install the git hooks that carry records into commits
#[derive(Debug, clap::Args)]
#[command(after_help = "\
pre-commit and pre-merge-commit seal what was recorded into the commit, and what earlier
commits were made of without them. post-commit and post-rewrite keep the evidence in the
index after `git commit --only`. commit-msg adds trailers if the policy has some. A hook
that is there already is kept and called first. None of ours makes a commit fail, also
where this program is gone. Where husky, lefthook or core.hooksPath say which hooks run,
nothing is written, and what to add is printed.

A clone has no hooks: whoever clones runs `intent setup git-hooks --install` once. Without
them `intent evidence seal` does the same, and what was committed meanwhile is sealed late.
Who wants none says `git config intent.hooks false`, and is not reminded again.")]
pub struct GitHooksArgs {
    /// Install the hooks
    #[arg(long, conflicts_with_all = ["remove", "status"])]
    install: bool,

    /// Remove the hooks, and restore those that were there before
    #[arg(long, conflicts_with = "status")]
    remove: bool,

    /// Show the state of each hook (the default); exit code 1 if one is missing
    #[arg(long)]
    status: bool,
}

pub fn run(context: &Context, args: GitHooksArgs) -> Result<Exit, CliError> {
    let workspace = context.open_workspace()?;
    let act = match (args.install, args.remove) {
        (true, _) => Act::Install,
        (_, true) => Act::Remove,
        _ => Act::Status,
    };
    let answer = git_hooks(&workspace, act)?;
    context.answer(&answer, |page| show_after(page, &answer, act))?;
    Ok(Exit::found(act != Act::Remove && !answer.installed))
}

/// After a removal, missing hooks are the expected result, so they are not shown as missing.
fn show_after(page: &mut Page, answer: &GitHooksAnswer, act: Act) {
    let is_gone = |hook: &GitHook| hook.state == HookState::Missing;
    if act == Act::Remove && answer.hooks.iter().all(is_gone) {
        page.literal("No hook of ours is in ").text(&answer.folder);
        page.line(" any more, so commits carry no records");
        return;
    }
    show(page, answer);
}

pub(super) fn show(page: &mut Page, answer: &GitHooksAnswer) {
    for hook in &answer.hooks {
        let (style, word) = match hook.state {
            HookState::Installed if hook.name == MESSAGE => {
                (GOOD, "adds trailers if the policy has some")
            }
            HookState::Installed => (GOOD, "seals"),
            HookState::Missing => (WARN, "is missing"),
            HookState::Other => (WARN, "is there, and does not seal"),
        };
        page.text(&hook.name).literal(" ").styled(style, word);
        if hook.chained {
            page.styled(DIM, ", after the hook that was there before");
        }
        page.end();
    }
    page.literal("in ").text(&answer.folder).end();
    if let Some(manager) = answer.manager.as_ref().filter(|_| !answer.installed) {
        page.styled(NOTE, &manager.name).literal(": ").text(&manager.advice).end();
        page.gap().lines(&manager.lines);
    }
}
