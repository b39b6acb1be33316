//! Installs, removes and inspects the git hooks that seal.
//!
//! A hook that was there before is renamed, and ours calls it first, with its arguments and its input. If it fails, the
//! commit fails, as before. Our part never makes a commit fail: it ends with 0 whatever happens, even if `intent` is no
//! longer installed.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::{VerbError, Workspace};
use crate::workspace::store::{self, StoreError};

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

/// A line in each of our hooks, by which it is recognised.
const MARK: &str = "Installed by `intent git-hooks --install`";
/// The ending that is added to the name of a hook that was there before.
const BEFORE: &str = "before-intent";
/// A hook larger than this, in bytes, is not ours.
const MAX_HOOK: u64 = 64 * 1024;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Install the hooks.
    Install,
    /// Remove the hooks, and restore those that were there before.
    Remove,
    /// Change nothing.
    Status,
}

/// The state of the hooks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GitHooksAnswer {
    /// The folder in which git looks for hooks.
    pub folder: String,
    /// Whether all needed hooks seal.
    pub installed: bool,
    /// The state of each hook.
    pub hooks: Vec<GitHook>,
    /// Another program that manages the hooks of this repository, with the line to add to its configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<Manager>,
}

/// The state of one hook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GitHook {
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
pub enum HookState {
    /// It is there and seals.
    Installed,
    /// There is no such hook.
    Missing,
    /// There is a hook, and it does not seal.
    Other,
}

/// A program that manages the hooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Manager {
    /// `husky`, `lefthook`, `pre-commit`, or the folder that `core.hooksPath` names.
    pub name: String,
    /// What to add, and where.
    pub advice: String,
}

/// Installs, removes or inspects the hooks.
pub fn git_hooks(ws: &Workspace, act: Act) -> Result<GitHooksAnswer, VerbError> {
    let what = "hooks of git".to_owned();
    let no_git = || VerbError::NoGit { root: ws.root.path().display().to_string(), what };
    let git = ws.git().ok_or_else(no_git)?;
    let (folder, is_configured) = git.hooks_folder();
    let manager = manager(ws, &folder, is_configured);
    let may_write = !is_configured || act == Act::Remove;
    if act != Act::Status && may_write {
        std::fs::create_dir_all(&folder).map_err(failed(&folder, "created"))?;
        for name in all() {
            match act {
                Act::Install => install(&folder, name)?,
                _ => remove(&folder, name)?,
            }
        }
    }
    let hooks: Vec<GitHook> = needed(ws).map(|name| look(&folder, name)).collect();
    Ok(GitHooksAnswer {
        folder: folder.display().to_string(),
        installed: hooks.iter().all(|hook| hook.state == HookState::Installed),
        hooks,
        manager,
    })
}

/// Whether commits of this workspace carry what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HooksStanding {
    /// All needed hooks are installed.
    Installed,
    /// A needed hook is missing, so commits carry no evidence.
    Missing,
    /// No hooks are needed, for this reason.
    NotNeeded(&'static str),
}

/// Finds out whether commits carry what was recorded.
pub fn standing(ws: &Workspace) -> HooksStanding {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else {
        return HooksStanding::NotNeeded("not needed without git");
    };
    let (folder, _) = git.hooks_folder();
    if needed(ws).all(|name| look(&folder, name).state == HookState::Installed) {
        return HooksStanding::Installed;
    }
    if git.declines_hooks() {
        return HooksStanding::NotNeeded(
            "a person declined them with `git config intent.hooks false`",
        );
    }
    match super::seal::is_ignored(ws) {
        true => HooksStanding::NotNeeded("not needed where git ignores the ledger"),
        false => HooksStanding::Missing,
    }
}

/// The text that people are shown if the hooks are missing. It names the command that installs them.
pub const HINT: &str = "Git's hooks are missing in this clone, so commits carry no records. A person puts them in with `intent git-hooks --install`, or declines them with `git config intent.hooks false`.";

/// [`HINT`] if the hooks are missing.
pub fn hint(ws: &Workspace) -> Option<&'static str> {
    (standing(ws) == HooksStanding::Missing).then_some(HINT)
}

fn script(name: &str, program: &Path) -> String {
    let program = program.display().to_string().replace('\'', "'\\''");
    format!(
        "#!/bin/sh\n\
         # {MARK}; `intent git-hooks --remove` takes it away.\n\
         # It carries what was recorded into the commit, and never makes a commit fail.\n\
         before=\"$(dirname \"$0\")/{name}.{BEFORE}\"\n\
         if [ -x \"$before\" ]; then\n    \"$before\" \"$@\" || exit $?\nfi\n\
         intent='{program}'\n\
         [ -x \"$intent\" ] || intent=intent\n\
         \"$intent\" seal --hook {name} \"$@\" </dev/null >/dev/null 2>&1\n\
         exit 0\n"
    )
}

/// Returns true if the text of a hook calls `intent seal --hook`, as ours do or in any other way.
fn seals(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        !line.starts_with('#') && line.contains("intent") && line.contains("seal --hook")
    })
}

fn look(folder: &Path, name: &str) -> GitHook {
    let path = folder.join(name);
    let text = read(&path).unwrap_or_default();
    let state = match text {
        None => HookState::Missing,
        Some(text) if seals(&text) && is_executable(&path) => HookState::Installed,
        Some(_) => HookState::Other,
    };
    GitHook { name: name.to_owned(), state, chained: before(folder, name).exists() }
}

fn before(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{BEFORE}"))
}

fn read(path: &Path) -> Result<Option<String>, StoreError> {
    let bytes = store::read_capped(path, MAX_HOOK)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn install(folder: &Path, name: &str) -> Result<(), VerbError> {
    let path = folder.join(name);
    let is_ours = read(&path)?.is_some_and(|text| text.contains(MARK));
    if !is_ours && path.exists() && !before(folder, name).exists() {
        std::fs::rename(&path, before(folder, name)).map_err(failed(&path, "renamed"))?;
    }
    let program = std::env::current_exe().map_err(failed(&path, "written"))?;
    std::fs::write(&path, script(name, &program)).map_err(failed(&path, "written"))?;
    make_executable(&path).map_err(failed(&path, "made executable"))?;
    Ok(())
}

fn remove(folder: &Path, name: &str) -> Result<(), VerbError> {
    let path = folder.join(name);
    if !read(&path)?.is_some_and(|text| text.contains(MARK)) {
        return Ok(());
    }
    std::fs::remove_file(&path).map_err(failed(&path, "removed"))?;
    let before = before(folder, name);
    if before.exists() {
        std::fs::rename(&before, &path).map_err(failed(&before, "renamed"))?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

/// Finds another program that manages the hooks. If `core.hooksPath` is set, the folder belongs to that program, and we
/// write nothing into it.
fn manager(ws: &Workspace, folder: &Path, is_configured: bool) -> Option<Manager> {
    let top = ws.root.work_tree()?;
    let there = |name: &str| top.join(name).exists();
    let line = |name: &str| format!("intent seal --hook {name} \"$@\" || true");
    let others = |folder: &str| {
        let names: Vec<String> = needed(ws).skip(1).map(|name| format!("{folder}{name}")).collect();
        names.join(", ")
    };
    if there(".husky") && is_configured {
        let advice = format!(
            "add a line to .husky/pre-commit, and the like to {}: {}",
            others(".husky/"),
            line("pre-commit")
        );
        return Some(Manager { name: "husky".to_owned(), advice });
    }
    if ["lefthook.yml", "lefthook.yaml", ".lefthook.yml"].into_iter().any(there) {
        let advice = format!(
            "add to lefthook.yml below each of pre-commit, {}: `commands: {{ intent: {{ priority: 99, run: intent seal --hook pre-commit || true }} }}`, with the hook's name in place of pre-commit, and behind commit-msg a `{{1}}`",
            others("")
        );
        return Some(Manager { name: "lefthook".to_owned(), advice });
    }
    if there(".pre-commit-config.yaml") {
        let advice = "pre-commit keeps a hook that was there before it and calls it; run `pre-commit install` first, then `intent git-hooks --install`".to_owned();
        return Some(Manager { name: "pre-commit".to_owned(), advice });
    }
    is_configured.then(|| Manager {
        name: folder.display().to_string(),
        advice: format!(
            "core.hooksPath names this folder, so nothing was written there; add a line to its pre-commit, and the like to {}: {}",
            others(""),
            line("pre-commit")
        ),
    })
}

fn failed(path: &Path, doing: &'static str) -> impl Fn(std::io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| StoreError::Io { path: path.clone(), doing, source }
}
