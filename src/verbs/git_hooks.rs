//! Installs, removes and inspects the git hooks that seal.
//!
//! A hook that was there before is kept, and ours calls it first, with its arguments and its input. If it fails, the
//! commit fails, as before. Our part never makes a commit fail: it ends with 0 whatever happens, even if `intent` is no
//! longer installed. Where another program manages the hooks, we write none, and say what to add to its files.

mod calls;
mod manager;
mod ours;

use schemars::JsonSchema;
use serde::Serialize;

use super::{VerbError, Workspace};
use crate::workspace::Git;

pub(crate) use manager::Manager;

/// The hooks that seal.
const SEALING: [&str; 4] = ["pre-commit", "pre-merge-commit", "post-commit", "post-rewrite"];
/// The hook that adds trailers to the message. It is only needed if the policy has `trailers`.
const MESSAGE: &str = "commit-msg";

/// The names of all our hooks.
fn all() -> impl Iterator<Item = &'static str> {
    SEALING.into_iter().chain([MESSAGE])
}

/// The names of the hooks that this workspace needs.
fn needed(ws: &Workspace) -> impl Iterator<Item = &'static str> {
    let has_trailers = !ws.policy.trailers.is_empty();
    all().filter(move |name| has_trailers || *name != MESSAGE)
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Install the hooks.
    Install,
    /// Remove the hooks, and restore those that were there before.
    Remove,
    /// Change nothing.
    Status,
}

/// The state of the hooks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GitHooksAnswer {
    /// The folder in which git looks for hooks.
    pub folder: String,
    /// Whether all needed hooks seal.
    pub installed: bool,
    /// The state of each hook.
    pub hooks: Vec<GitHook>,
    /// What manages the hooks of this repository, if it is not us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<Manager>,
}

/// The state of one hook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct GitHook {
    /// `pre-commit`.
    pub name: String,
    /// Whether it is installed.
    pub state: HookState,
    /// Whether it first calls a hook that was there before.
    pub chained: bool,
}

/// Whether a hook is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HookState {
    /// It is there and seals.
    Installed,
    /// There is no such hook.
    Missing,
    /// There is a hook, and it does not seal.
    Other,
}

/// Installs, removes or inspects the hooks.
pub(crate) fn git_hooks(ws: &Workspace, act: Act) -> Result<GitHooksAnswer, VerbError> {
    let what = "hooks of git".to_owned();
    let no_git = || VerbError::NoGit { root: ws.root.path().display().to_string(), what };
    let git = ws.git().ok_or_else(no_git)?;
    let (folder, _) = git.hooks_folder();
    match act {
        Act::Install if manager(ws, git).is_none() => ours::install(&folder)?,
        Act::Remove => ours::remove(&folder)?,
        Act::Install | Act::Status => {}
    }
    let hooks: Vec<GitHook> = look(ws, git).collect();
    Ok(GitHooksAnswer {
        folder: folder.display().to_string(),
        installed: hooks.iter().all(|hook| hook.state == HookState::Installed),
        hooks,
        manager: manager(ws, git),
    })
}

/// What taking the hooks out is about.
pub(super) struct TakenHooks {
    /// Our scripts, and whether a hook that was there before comes back in their place.
    pub ours: Vec<(std::path::PathBuf, bool)>,
    /// Files of others that call us; only they can take the line out.
    pub callers: Vec<std::path::PathBuf>,
}

/// Takes our hooks out, also those that lie where git looks no more; with `dry_run` nothing is changed.
pub(super) fn take_out(ws: &Workspace, git: &Git, dry_run: bool) -> Result<TakenHooks, VerbError> {
    let (folder, _) = git.hooks_folder();
    let usual = ws.root.common_dir().map(|common| common.join("hooks"));
    let mut folders = vec![folder.clone()];
    folders.extend(usual.filter(|usual| *usual != folder));
    let mut taken = TakenHooks { ours: Vec::new(), callers: Vec::new() };
    for folder in &folders {
        taken.ours.extend(ours::installed(folder));
        if !dry_run {
            ours::remove(folder)?;
        }
    }
    let top = ws.root.work_tree().unwrap_or(ws.root.path());
    let calling = all().flat_map(|name| calls::callers(top, &folder, name));
    taken.callers = calling.filter(|path| !ours::is_ours(path)).collect();
    taken.callers.sort();
    taken.callers.dedup();
    Ok(taken)
}

fn manager(ws: &Workspace, git: &Git) -> Option<Manager> {
    let (folder, is_shared) = git.hooks_folder();
    manager::find(ws, &folder, is_shared)
}

/// The needed hooks.
fn look(ws: &Workspace, git: &Git) -> impl Iterator<Item = GitHook> {
    let (folder, _) = git.hooks_folder();
    let top = ws.root.work_tree().unwrap_or(ws.root.path());
    needed(ws).map(move |name| GitHook {
        name: name.to_owned(),
        state: calls::state(top, &folder, name),
        chained: ours::is_chained(&folder, name),
    })
}

/// Whether commits of this workspace carry what was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HooksStanding {
    /// All needed hooks seal.
    Installed,
    /// A needed hook does not seal, so commits carry no evidence.
    Missing {
        /// What manages the hooks, if it is not us.
        manager: Option<Manager>,
        /// The command that installs the hooks, or prints what to add to those of the manager.
        remedy: &'static str,
    },
    /// No hooks are needed, for this reason.
    NotNeeded(&'static str),
}

/// Finds out whether commits carry what was recorded.
pub(crate) fn standing(ws: &Workspace) -> HooksStanding {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else {
        return HooksStanding::NotNeeded("not needed without git");
    };
    if look(ws, git).all(|hook| hook.state == HookState::Installed) {
        return HooksStanding::Installed;
    }
    if git.declines_hooks() {
        return HooksStanding::NotNeeded(
            "a person declined them with `git config intent.hooks false`",
        );
    }
    match super::seal::is_ignored(ws) {
        true => HooksStanding::NotNeeded("not needed where git ignores the ledger"),
        false => missing(manager(ws, git)),
    }
}

fn missing(manager: Option<Manager>) -> HooksStanding {
    let remedy = match manager {
        None => "intent git-hooks --install",
        Some(_) => "intent git-hooks",
    };
    HooksStanding::Missing { manager, remedy }
}

/// The command to start with if commits carry no records.
pub(crate) fn remedy(ws: &Workspace) -> Option<&'static str> {
    match standing(ws) {
        HooksStanding::Missing { remedy, .. } => Some(remedy),
        HooksStanding::Installed | HooksStanding::NotNeeded(_) => None,
    }
}

/// The text that people are shown if commits carry no records. It names the command that mends that.
pub(crate) fn hint(ws: &Workspace) -> Option<String> {
    let HooksStanding::Missing { manager, remedy } = standing(ws) else { return None };
    let declines = "or declines them with `git config intent.hooks false`";
    Some(match manager {
        None => format!(
            "Git's hooks are missing in this clone, so commits carry no records. A person puts them in with `{remedy}`, {declines}."
        ),
        Some(manager) => format!(
            "Git's hooks are managed by {} here and do not seal, so commits carry no records. A person adds what `{remedy}` prints, {declines}.",
            manager.name
        ),
    })
}
