//! Installs, removes and inspects the git hooks that seal records into commits.
//!
//! If a hook already exists, it is kept, and our hook calls it first, with the same arguments and
//! the same input. If it fails, the commit fails, as it did before. Our own part never makes a
//! commit fail: it exits with 0 even if `intent` is no longer installed. If another program manages
//! the hooks, we write none and say what to add to that program's files.

mod calls;
mod manager;
mod own_hooks;

use std::collections::BTreeSet;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use ground::Git;
use why::{VerbError, Workspace};

pub use manager::Manager;

const SEALING: [&str; 4] = ["pre-commit", "pre-merge-commit", "post-commit", "post-rewrite"];
/// The hook that adds trailers to the commit message. Only needed if the policy has `trailers`.
pub const MESSAGE: &str = "commit-msg";

fn hook_names() -> impl Iterator<Item = &'static str> {
    SEALING.into_iter().chain([MESSAGE])
}

fn needed(ws: &Workspace) -> impl Iterator<Item = &'static str> {
    let has_trailers = !ws.policy.trailers.is_empty();
    hook_names().filter(move |name| has_trailers || *name != MESSAGE)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Install,
    /// Remove our hooks, and restore the hooks that were there before.
    Remove,
    Status,
}

/// The answer of `intent setup git-hooks`: the state of the git hooks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GitHooksAnswer {
    /// The folder in which git looks for hooks.
    pub folder: String,
    /// Whether all hooks that this workspace needs are installed.
    pub installed: bool,
    /// The state of each hook that this workspace needs or has.
    pub hooks: Vec<GitHook>,
    /// The program or team that manages the hooks of this repository, unless `intent` does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<Manager>,
}

/// The state of one git hook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GitHook {
    /// The name of the hook, for example `pre-commit`.
    pub name: String,
    /// Whether the hook is installed and seals.
    pub state: HookState,
    /// Whether it first calls a hook that existed before it was installed.
    pub chained: bool,
}

/// Whether a git hook is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookState {
    /// The hook exists and seals.
    Installed,
    /// There is no hook with this name.
    Missing,
    /// There is a hook with this name, but it does not seal.
    Other,
}

pub fn git_hooks(ws: &Workspace, act: Act) -> Result<GitHooksAnswer, VerbError> {
    let git = ws.git().ok_or_else(|| ws.no_git("hooks of git"))?;
    let (folder, _) = git.hooks_folder();
    match act {
        Act::Install if manager(ws, git).is_none() => {
            own_hooks::install(&folder, ws.root.environment())?
        }
        Act::Remove => own_hooks::remove(&folder)?,
        Act::Install | Act::Status => {}
    }
    let hooks: Vec<GitHook> = states(ws, git).collect();
    Ok(GitHooksAnswer {
        folder: folder.display().to_string(),
        installed: hooks.iter().all(|hook| hook.state == HookState::Installed),
        hooks,
        manager: manager(ws, git),
    })
}

fn manager(ws: &Workspace, git: &Git) -> Option<Manager> {
    let (folder, is_shared) = git.hooks_folder();
    manager::find(ws, &folder, is_shared)
}

pub struct SealingHooks {
    /// Our own hooks. For each, whether a hook that was there before comes back when it is removed.
    pub ours: Vec<(PathBuf, bool)>,
    /// Files of other programs. Their owners remove the line.
    pub others: BTreeSet<PathBuf>,
}

/// Finds the hooks that call `intent evidence seal`, also those in `.git/hooks` if git now looks for hooks in
/// another folder, and removes ours if `remove` says so.
pub fn take_out(ws: &Workspace, act: Act) -> Result<SealingHooks, VerbError> {
    let mut found = SealingHooks { ours: Vec::new(), others: BTreeSet::new() };
    let Some(git) = ws.git() else { return Ok(found) };
    let (folder, _) = git.hooks_folder();
    let usual = ws.root.common_dir().map(|common| common.join("hooks"));
    let usual = usual.filter(|usual| *usual != folder);
    for folder in [&folder].into_iter().chain(&usual) {
        found.ours.extend(own_hooks::installed(folder));
        if act == Act::Remove {
            own_hooks::remove(folder)?;
        }
    }
    let top = ws.root.work_tree().unwrap_or(ws.root.path());
    let calling = hook_names().flat_map(|name| calls::callers(top, &folder, name));
    found.others = calling.filter(|path| !own_hooks::is_ours(path)).collect();
    Ok(found)
}

fn states(ws: &Workspace, git: &Git) -> impl Iterator<Item = GitHook> {
    let (folder, _) = git.hooks_folder();
    let top = ws.root.work_tree().unwrap_or(ws.root.path());
    let hooks = hook_names().map(move |name| GitHook {
        name: name.to_owned(),
        state: calls::state(top, &folder, name),
        chained: own_hooks::is_chained(&folder, name),
    });
    let needed: Vec<&str> = needed(ws).collect();
    hooks.filter(move |hook| needed.contains(&&*hook.name) || hook.state == HookState::Installed)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HooksState {
    Installed,
    Missing {
        /// The program or team that manages the hooks, unless `intent` does.
        manager: Option<Manager>,
        /// The command that installs the hooks, or prints what to add to the files of the manager.
        remedy: &'static str,
    },
    /// No hooks are needed. The text says why.
    NotNeeded(&'static str),
}

pub fn standing(ws: &Workspace) -> HooksState {
    let Some(git) = ws.git() else { return HooksState::NotNeeded("not needed without git") };
    if !ws.root.governed() {
        return HooksState::NotNeeded("not needed before `intent setup init`");
    }
    if states(ws, git).all(|hook| hook.state == HookState::Installed) {
        HooksState::Installed
    } else if git.declines_hooks() {
        HooksState::NotNeeded("a person declined them with `git config intent.hooks false`")
    } else if super::seal::is_ignored(ws) {
        HooksState::NotNeeded("not needed where git ignores the ledger")
    } else {
        let manager = manager(ws, git);
        let remedy = match manager {
            None => "intent setup git-hooks --install",
            Some(_) => "intent setup git-hooks",
        };
        HooksState::Missing { manager, remedy }
    }
}

pub fn remedy(ws: &Workspace) -> Option<&'static str> {
    match standing(ws) {
        HooksState::Missing { remedy, .. } => Some(remedy),
        HooksState::Installed | HooksState::NotNeeded(_) => None,
    }
}

pub fn hint(ws: &Workspace) -> Option<String> {
    let HooksState::Missing { manager, remedy } = standing(ws) else { return None };
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
