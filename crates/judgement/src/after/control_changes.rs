//! Finds changed files that control git or the gate, or that would be started in place of this
//! program. The walk over the work tree does not find them, because git ignores them or because
//! they are in a git directory, in `.orchestration/` or in the home folder.
//!
//! The settings of agents are not searched here, because hosts write them themselves when a person
//! approves a call.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::disk::{last_change, relative};
use crate::earlier::{TICK, is_new};
use crate::{control, git_settings};
use fence::stand_in::StandIn;
use ground::session::calls::PendingCall;
use ground::{RelativePath, store};
use why::Workspace;

/// The maximum number of entries of one folder, or of the folders of all submodules, to look at.
const MAX_ENTRIES: usize = 1_000;

/// Files and folders of a git directory that git reads before it starts a program or looks up a
/// setting.
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
/// Files below the home folder that git reads for the same reasons.
const AT_HOME: [&str; 4] =
    [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];
/// Files of `.orchestration/` that control the gate or git, without the registry, the journal and
/// the evidence.
const OF_WORKSPACE: [&str; 5] =
    ["policy.yaml", "allowed_signers", "baseline.json", ".gitignore", ".gitattributes"];

#[derive(Debug, Default)]
pub(super) struct ControlChanges {
    pub inside: Vec<RelativePath>,
    /// Paths outside the workspace, in the form in which a person would write them.
    pub elsewhere: Vec<String>,
}

impl ControlChanges {
    /// Finds the changes since a call began. Of git's settings, only those count that decide what git
    /// does: `git push -u` and `git remote add` write others.
    pub(super) fn made_since(ws: &Workspace, call: &PendingCall) -> Self {
        let since = call.at.saturating_sub(TICK);
        let decides_the_same = |file: &Path| {
            call.settings.get(file).is_some_and(|before| *before == git_settings::digest(file))
        };
        let mut changes = Self::default();
        let changed = places(ws).into_iter().flat_map(|place| changed_files_at(&place, since));
        for path in changed.filter(|path| !decides_the_same(path)) {
            match relative(ws, &path) {
                Some(path) => changes.inside.push(path),
                None => changes.elsewhere.push(path.display().to_string()),
            }
        }
        let Some(home) = ws.root.environment().home() else { return changes };
        let at_home = AT_HOME.iter().filter(|place| {
            let file = home.join(place);
            relative(ws, &file).is_none()
                && std::fs::metadata(&file).is_ok_and(|state| last_change(&state) >= since)
                && !decides_the_same(&file)
        });
        changes.elsewhere.extend(at_home.map(|place| format!("~/{place}")));
        changes
    }
}

fn places(ws: &Workspace) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> =
        OF_WORKSPACE.map(|name| ws.root.orchestration().join(name)).into();
    places.extend(ws.registry.files().iter().map(|file| ws.root.absolute(file.path())));
    places.extend(control::programs_of_our_name().map(|path| ws.root.path().join(path)));
    // In a linked work tree or a submodule, `.git` is a file that names the git directory.
    let link = ws.root.work_tree().map(|top| top.join(".git"));
    places.extend(link.filter(|link| link.is_file()));
    let own = ws.root.git_dir().map(Path::to_path_buf);
    let mut of_git: Vec<PathBuf> = own.into_iter().chain(ws.root.common_dir()).collect();
    of_git.dedup();
    if let Some(common) = ws.root.common_dir() {
        of_git.extend(of_submodules(&common));
    }
    places.extend(of_git.iter().flat_map(|dir| OF_GIT.map(|name| dir.join(name))));
    places
}

/// Returns the folders below a git directory that are git directories of submodules or may become
/// ones. The name of a submodule may contain `/` (`vendor/lib`), and a submodule may have submodules
/// of its own.
fn of_submodules(common: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![common.join("modules")];
    let mut examined = 0;
    while let Some(folder) = folders.pop().filter(|_| examined < MAX_ENTRIES) {
        for entry in entries(&folder) {
            examined += 1;
            if !entry.symlink_metadata().is_ok_and(|state| state.is_dir()) {
                continue;
            }
            folders.push(match entry.join("HEAD").is_file() {
                true => entry.join("modules"),
                false => entry.clone(),
            });
            found.push(entry);
        }
    }
    found
}

/// Returns `place` if it is a changed file. For a folder, returns the changed files directly in it,
/// or the folder itself if entries were only removed.
fn changed_files_at(place: &Path, since: u128) -> Vec<PathBuf> {
    let has_changed = |state: &Metadata| last_change(state) >= since;
    let Ok(state) = place.symlink_metadata() else { return Vec::new() };
    let mut changed = if state.is_dir() { entries(place) } else { Vec::new() };
    changed.retain(|entry| {
        entry.symlink_metadata().is_ok_and(|state| !state.is_dir() && has_changed(&state))
    });
    // A new and empty folder is harmless: a fence creates one where a command must not create
    // anything.
    let is_harmless = || if state.is_dir() { is_new(&state, since) } else { is_stand_in(place) };
    if changed.is_empty() && has_changed(&state) && !is_harmless() {
        changed.push(place.to_path_buf());
    }
    changed
}

fn is_stand_in(place: &Path) -> bool {
    let text = match place.file_name().and_then(|name| name.to_str()) {
        Some("commondir") => ".",
        Some("config.worktree") => "",
        _ => return false,
    };
    StandIn { path: place.to_path_buf(), text: Some(text.to_owned()) }.is_unchanged()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    store::entries(folder).take(MAX_ENTRIES).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_git_directory_of_a_submodule_may_be_in_a_folder() {
        let common = tempfile::tempdir().expect("a folder");
        let names = ["modules/a", "modules/vendor/lib", "modules/vendor/lib/modules/deep"];
        for name in names {
            let folder = common.path().join(name);
            std::fs::create_dir_all(folder.join("hooks")).expect("made");
            std::fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").expect("written");
        }
        let found = of_submodules(common.path());
        assert!(names.iter().all(|name| found.contains(&common.path().join(name))), "{found:?}");
    }
}
