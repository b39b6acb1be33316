//! What steers git or the gate, or would be started in place of this program, and changed while a command ran. The look
//! at the work tree does not find it: git ignores it, or it stands in git's own folder or in the home folder.
//!
//! The settings of agents are left out here: hosts write them themselves when a person approves a call.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::disk::{TICK, is_new, last_change};
use crate::fence::stand_in::StandIn;
use crate::verbs::{Workspace, gate};
use crate::workspace::{RelativePath, Root};

/// More entries of one folder than this are not looked at.
const MAX_ENTRIES: usize = 1_000;

/// What git reads before it starts a program or looks for a setting, in a git directory.
const OF_GIT: [&str; 8] = [
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "info/attributes",
    "info/exclude",
    "info/grafts",
];
/// The same in the home folder.
const AT_HOME: [&str; 4] =
    [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];
/// What stands in the folder of the workspace beside registry, journal and evidence.
const OF_WORKSPACE: [&str; 5] =
    ["policy.yaml", "allowed_signers", "baseline.json", ".gitignore", ".gitattributes"];

/// What changed since a moment.
#[derive(Debug, Default)]
pub(super) struct SteeringChanges {
    /// Files of the workspace.
    pub inside: Vec<RelativePath>,
    /// Files elsewhere, as a person names them.
    pub elsewhere: Vec<String>,
}

impl SteeringChanges {
    /// Since `at`, in nanoseconds since 1970.
    pub(super) fn since(ws: &Workspace, at: u128) -> Self {
        let since = at.saturating_sub(TICK);
        let mut found = Vec::new();
        for place in places(ws) {
            add_changed(&place, since, &mut found);
        }
        let mut changes = Self::default();
        for path in found {
            match relative(&ws.root, &path) {
                Some(path) => changes.inside.push(path),
                None => changes.elsewhere.push(path.display().to_string()),
            }
        }
        let Some(home) = std::env::home_dir() else { return changes };
        let at_home = AT_HOME.iter().filter(|place| {
            let file = home.join(place);
            relative(&ws.root, &file).is_none()
                && std::fs::metadata(file).is_ok_and(|state| last_change(&state) >= since)
        });
        changes.elsewhere.extend(at_home.map(|place| format!("~/{place}")));
        changes
    }
}

fn places(ws: &Workspace) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> =
        OF_WORKSPACE.map(|name| ws.root.orchestration().join(name)).into();
    places.extend(ws.registry.files().iter().map(|file| ws.root.absolute(file.path())));
    places.extend(gate::programs_of_our_name().map(|path| ws.root.path().join(path)));
    let own = ws.root.git_dir().map(Path::to_path_buf);
    let mut of_git: Vec<PathBuf> = own.into_iter().chain(ws.root.common_dir()).collect();
    of_git.dedup();
    if let Some(top) = ws.root.work_tree()
        && top.join(".git").is_file()
    {
        // It names the git directory.
        places.push(top.join(".git"));
    }
    if let Some(common) = ws.root.common_dir() {
        of_git.extend(entries(&common.join("modules")));
    }
    places.extend(of_git.iter().flat_map(|dir| OF_GIT.map(|name| dir.join(name))));
    places
}

/// Adds a file, or the files directly in a folder, or the folder itself where something was taken out of it.
fn add_changed(place: &Path, since: u128, found: &mut Vec<PathBuf>) {
    let has_changed = |state: &Metadata| last_change(state) >= since;
    let Ok(state) = place.symlink_metadata() else { return };
    if !state.is_dir() {
        if has_changed(&state) && !is_stand_in(place) {
            found.push(place.to_path_buf());
        }
        return;
    }
    let changed = entries(place).into_iter().filter(|entry| {
        let state = entry.symlink_metadata();
        state.is_ok_and(|state| !state.is_dir() && has_changed(&state))
    });
    let changed: Vec<PathBuf> = changed.collect();
    // A folder that is new and empty holds nothing: a fence puts one where nothing may be made.
    if changed.is_empty() && has_changed(&state) && !is_new(&state, since) {
        found.push(place.to_path_buf());
    }
    found.extend(changed);
}

/// Whether a fence put the file there for as long as a command runs.
fn is_stand_in(place: &Path) -> bool {
    let text = match place.file_name().and_then(|name| name.to_str()) {
        Some("commondir") => ".",
        Some("config.worktree") => "",
        _ => return false,
    };
    StandIn { path: place.to_path_buf(), text: Some(text.to_owned()) }.stands()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
    entries.map(|entry| entry.path()).collect()
}

fn relative(root: &Root, path: &Path) -> Option<RelativePath> {
    RelativePath::new(path.strip_prefix(root.path()).ok()?.to_str()?).ok()
}
