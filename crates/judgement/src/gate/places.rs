//! Finds where a call would change something. Each path is assigned to the workspace that governs
//! it, which need not be the workspace of the process.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Denial, DenialCode, in_force, rules};
use crate::control;
use edits::{After, Change};
use evidence::event::{Effect, Event};
use ground::git::Target;
use ground::session::calls::{FileBefore, Predicted};
use ground::session::seen::{self, FileState};
use ground::{Environment, Git, Hint, RelativePath, Root, store};
use shell::PathEffect;
use why::{VerbError, Workspace};

pub(super) struct Touches {
    environment: Environment,
    pub(super) home: Option<Workspace>,
    pub(super) all: Vec<TouchedWorkspace>,
    pub(super) outside: Vec<PathBuf>,
    /// The denial for a path that is not valid or leads out of its workspace.
    pub(super) refused: Option<Denial>,
    /// Whether the rules of `home` on disk are not in force.
    pub(super) overruled: bool,
}

pub(super) struct TouchedWorkspace {
    pub(super) ws: Workspace,
    pub(super) paths: Vec<RelativePath>,
    /// Folders that are changed themselves, or with everything in them.
    pub(super) folders: Vec<RelativePath>,
    pub(super) whole: bool,
    /// For each target that a command names only in part (`rm src/$NAME`), the paths that it may
    /// mean. At least one of them is changed.
    pub(super) some_of: Vec<Vec<RelativePath>>,
    /// The changed files, by their paths after following links.
    pub(super) files: Vec<Touched>,
}

pub(super) struct Touched {
    pub(super) before: FileBefore,
    pub(super) manner: EditManner,
}

/// How a file would be changed. This decides how strictly its state is compared with what the
/// session has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditManner {
    Whole,
    Part,
    /// Lines are inserted below a line that is given by number.
    Placed,
    Away,
    Command,
}

/// The size in bytes above which the text of a file is not kept for comparison.
const MAX_KEPT: u64 = 4 * 1024 * 1024;
/// The number of files below a folder that are judged one by one at most. The others are judged by
/// the folder.
const MAX_BELOW: usize = 2_000;

impl Touches {
    pub(super) fn of_event(
        event: &Event,
        home: Option<Workspace>,
        readings: &[shell::Prediction],
    ) -> Self {
        let (home, overruled) = match home.map(in_force::governed) {
            Some((home, overruled)) => (Some(home), overruled),
            None => (None, false),
        };
        let mut places = Self {
            environment: event.environment.clone(),
            home,
            all: Vec::new(),
            outside: Vec::new(),
            refused: None,
            overruled,
        };
        for effect in &event.effects {
            match effect {
                Effect::Write { path, change } => places.write(&event.cwd.join(path), change),
                Effect::Delete { path } => places.touch_removed(&event.cwd.join(path)),
                Effect::Move { from, to, change } => {
                    places.add_move(&event.cwd.join(from), &event.cwd.join(to), change.as_ref());
                }
                Effect::Read { .. }
                | Effect::Shell { .. }
                | Effect::Select { .. }
                | Effect::Unforeseen
                | Effect::Unreadable { .. } => {}
            }
        }
        let trees: Vec<&str> = readings.iter().flat_map(shell::new_work_trees).collect();
        let targets = readings.iter().flat_map(|reading| &reading.targets);
        for target in targets.filter(|target| target.effect != PathEffect::Read) {
            let makes_tree = trees.contains(&target.path.as_str());
            if !(makes_tree && places.is_place_for_work_tree(Path::new(&target.path))) {
                places.add_commanded(target);
            }
        }
        for folder in readings.iter().flat_map(|reading| &reading.folders) {
            places.acted_in(Path::new(folder));
        }
        places
    }

    /// Returns true if nothing is at a path, and work trees are usually made there: in a folder for
    /// them (`.claude/worktrees/x`) or beside the work tree. What is written there has the rules of
    /// that work tree.
    fn is_place_for_work_tree(&self, path: &Path) -> bool {
        let Some(top) = self.home.as_ref().and_then(|home| home.root.work_tree()) else {
            return false;
        };
        let is_folder_for_trees = |name: &OsStr| {
            name.to_str().is_some_and(|name| name == "worktrees" || name.ends_with(".worktrees"))
        };
        let above = path.parent().unwrap_or(path);
        let is_usual = above.components().any(|part| is_folder_for_trees(part.as_os_str()))
            || top.parent() == Some(above);
        let is_free = match path.symlink_metadata() {
            Ok(found) => found.is_dir() && store::entries(path).next().is_none(),
            Err(_) => true,
        };
        let is_control = control::is_control_outside(path, &self.environment);
        is_usual && is_free && !is_control
    }

    fn write(&mut self, path: &Path, change: &Change) {
        let manner = match change {
            Change::Whole(_) => EditManner::Whole,
            Change::Insert { .. } => EditManner::Placed,
            _ => EditManner::Part,
        };
        if let Some(touched) = self.touch(path, manner) {
            touched.apply(change);
        }
    }

    fn touch_removed(&mut self, path: &Path) {
        if let Some(touched) = self.touch(path, EditManner::Away) {
            touched.before.predicted = Predicted::Gone;
        }
    }

    fn add_move(&mut self, from: &Path, to: &Path, change: Option<&Change>) {
        let source = self.touch(from, EditManner::Away).map(|touched| {
            if let Some(change) = change {
                touched.apply(change);
            }
            let text = touched.text_so_far();
            touched.before.predicted = Predicted::Gone;
            (touched.before.path.clone(), text)
        });
        if let Some(touched) = self.touch(to, EditManner::Whole)
            && let Some((from, text)) = source
        {
            touched.before.moved_from = Some(from);
            touched.before.predicted = text.map_or(Predicted::Unknown, Predicted::Text);
        }
    }

    /// Adds a file that a tool of the host changes. Its path is judged as written and after
    /// following links, and its text is kept from there.
    fn touch(&mut self, path: &Path, manner: EditManner) -> Option<&mut Touched> {
        let (place, paths) = self.located(path)?;
        let place = &mut self.all[place];
        let real = paths.last().cloned()?;
        place.paths.extend(paths);
        if manner == EditManner::Away {
            place.paths.extend(files_below(&place.ws, &real));
        }
        Some(place.touch(real, manner))
    }

    /// Adds a path that a command names. A folder stands for what is in it. A path that is known
    /// only in part is examined after the command.
    fn add_commanded(&mut self, target: &shell::TouchedPath) {
        let path = Path::new(&target.path);
        if is_device(path) {
            return;
        }
        let home = self.home.as_ref().filter(|home| home.root.path().starts_with(path));
        if let Some(root) = home.map(|home| Root::clone(&home.root)) {
            if !target.known {
                // This could be anything in the workspace, so it is examined after the command.
                return;
            }
            if target.recursive || root.path() == path {
                let at = self.at_root(root);
                self.all[at].whole = true;
                return;
            }
        }
        let Some((at, paths)) = self.located(path) else { return };
        let place = &mut self.all[at];
        let Some(real) = paths.last().cloned() else { return };
        // `rm -rf dist && npm run build` deletes nothing in a new clone.
        if target.known && target.effect == PathEffect::Delete && is_nowhere(&place.ws, &real) {
            return;
        }
        // Deleting or moving a folder changes everything in it.
        let all =
            target.recursive || matches!(target.effect, PathEffect::Delete | PathEffect::MoveFrom);
        let is_folder = place.ws.root.absolute(&real).is_dir();
        if !target.known {
            let below = files_below(&place.ws, &real).into_iter();
            place.some_of.push(below.chain([real]).collect());
        } else if is_folder && all {
            place.paths.extend(files_below(&place.ws, &real));
            place.folders.push(real);
        } else if is_folder || target.effect == PathEffect::MakeFolder {
            place.folders.push(real);
        } else {
            place.paths.extend(paths);
            place.touch(real, EditManner::Command);
        }
    }

    /// Adds the workspace of a folder in which a command acts, even if the call is made elsewhere,
    /// so that its rules apply too.
    fn acted_in(&mut self, folder: &Path) {
        let Ok(root) = Root::find(folder, &self.environment) else { return };
        let is_home = self.home.as_ref().is_some_and(|home| home.root.path() == root.path());
        if root.governed() && !is_home {
            self.at_root(root);
        }
    }

    /// Returns the file that a tool of the host would change at a path, with the workspace that
    /// governs it, if there is one.
    pub(super) fn file(&self, path: &Path) -> Option<(&Workspace, &Touched)> {
        self.all.iter().find_map(|place| {
            let real = rules::both_paths(&place.ws, path).ok()?.pop()?;
            let file = place.files.iter().find(|file| file.before.path == real)?;
            Some((&place.ws, file))
        })
    }

    /// Returns the index of a path's workspace in `all`, and the path there: as written, then after
    /// following links. Returns `None` if no workspace governs the path, or if the path is refused.
    fn located(&mut self, path: &Path) -> Option<(usize, Vec<RelativePath>)> {
        let root = match Root::find(path, &self.environment) {
            Ok(root) => root,
            Err(error) => {
                let message = format!("Scope Violation: {}.", error.with_hint());
                self.refused.get_or_insert(Denial::new(DenialCode::ScopeViolation, message));
                return None;
            }
        };
        if !root.governed() {
            self.outside.push(path.to_path_buf());
            return None;
        }
        let at = self.at_root(root);
        match rules::both_paths(&self.all[at].ws, path) {
            Ok(paths) => Some((at, paths)),
            Err(error) => {
                self.refused.get_or_insert(rules::outside(&path.to_string_lossy(), &error));
                None
            }
        }
    }

    fn at_root(&mut self, root: Root) -> usize {
        let known = self.all.iter().position(|place| place.ws.root.path() == root.path());
        known.unwrap_or_else(|| {
            let ws = match &self.home {
                Some(home) if home.root.path() == root.path() => home.clone(),
                _ => in_force::governed(Workspace::at_root(root)).0,
            };
            self.all.push(TouchedWorkspace {
                ws,
                paths: Vec::new(),
                folders: Vec::new(),
                whole: false,
                some_of: Vec::new(),
                files: Vec::new(),
            });
            self.all.len() - 1
        })
    }
}

/// Returns the workspace that governs a folder, such as the one in which a call is made.
pub(super) fn governed_at(
    folder: &Path,
    environment: &Environment,
) -> Result<Option<Workspace>, VerbError> {
    let root = Root::find(folder, environment)?;
    Ok(root.governed().then(|| Workspace::at_root(root)))
}

pub fn key(event: &Event) -> String {
    let call = event.call.as_deref().unwrap_or(&event.input);
    format!("{}\0{call}", event.actor())
}

impl TouchedWorkspace {
    /// Returns true if no path in the workspace is named, because a command only acts there.
    pub(super) fn names_nothing(&self) -> bool {
        let is_named = !self.paths.is_empty() || !self.folders.is_empty();
        !is_named && !self.whole && self.some_of.is_empty()
    }

    pub(super) fn names_only_files(&self) -> bool {
        let is_more = self.whole || !self.folders.is_empty() || !self.some_of.is_empty();
        !is_more && !self.files.is_empty()
    }

    fn touch(&mut self, path: RelativePath, manner: EditManner) -> &mut Touched {
        let known = self.files.iter().position(|file| file.before.path == path);
        let at = known.unwrap_or_else(|| {
            let FileState { text, hash } = seen::state(&self.ws.root, &path, MAX_KEPT);
            let (replaced, predicted) = (manner == EditManner::Whole, Predicted::Unknown);
            let before = FileBefore { path, text, hash, moved_from: None, replaced, predicted };
            self.files.push(Touched { before, manner });
            self.files.len() - 1
        });
        let file = &mut self.files[at];
        if manner == EditManner::Whole && file.manner != EditManner::Away {
            // An edit of a part comes first in this call, and now the whole text is replaced.
            (file.manner, file.before.replaced) = (manner, true);
        }
        file
    }
}

impl Touched {
    /// Returns the text that earlier effects of the same call make of the file.
    fn text_so_far(&self) -> Option<String> {
        match &self.before.predicted {
            Predicted::Text(text) => Some(text.clone()),
            Predicted::Gone => None,
            Predicted::Unknown => self.before.text.clone(),
        }
    }

    fn apply(&mut self, change: &Change) {
        let unreadable = self.before.hash.is_some() && self.before.text.is_none();
        let after = match change {
            Change::Whole(text) => After::Text(text.clone()),
            _ if unreadable => return,
            _ => change.text_after(self.text_so_far().as_deref()),
        };
        self.before.predicted = match after {
            After::Text(text) => Predicted::Text(text),
            // Either the tool itself will refuse the edit, or the result cannot be predicted.
            After::Fails(_) | After::Unknown(_) => Predicted::Unknown,
        };
    }
}

/// Returns true if neither the disk nor git's index has a path, so that deleting it changes nothing.
fn is_nowhere(ws: &Workspace, path: &RelativePath) -> bool {
    let is_indexed = |git: &Git| {
        let below = git.list_below(path.as_str(), &Target::Index, &|_| true);
        git.file_in_index(path).map_or(true, |file| file.is_some())
            || below.map_or(true, |files| !files.is_empty())
    };
    let is_on_disk = ws.root.absolute(path).symlink_metadata().is_ok();
    !is_on_disk && !ws.git().is_some_and(|git| is_indexed(git))
}

/// Returns the regular files in a folder and its subfolders. Empty if the path is not a folder.
fn files_below(ws: &Workspace, folder: &RelativePath) -> Vec<RelativePath> {
    let mut found = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in store::entries(&ws.root.absolute(&folder)) {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let Ok(path) = RelativePath::new(&format!("{folder}/{name}")) else { continue };
            let is_control =
                control::is_control_path(path.as_str()) || control::may_hold(path.as_str());
            if !is_control && ws.ignores.git_ignored(&path) {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                found.push(path);
            }
            if found.len() >= MAX_BELOW {
                return found;
            }
        }
    }
    found
}

pub(super) fn is_device(path: &Path) -> bool {
    let devices = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"];
    devices.map(Path::new).contains(&path) || path.starts_with("/dev/fd")
}

pub(super) fn outside(home: &Workspace, path: &Path) -> Option<Denial> {
    let shown = path.display().to_string();
    if control::is_control_outside(path, home.root.environment()) {
        return Some(Denial::of_control_file(&shown));
    }
    let allowed = home.policy.allowed_outside.iter().map(PathBuf::from);
    if allowed
        .chain(home.root.environment().temporary_folders())
        .any(|folder| is_below(path, &folder))
    {
        return None;
    }
    let message = format!(
        "Scope Violation: {shown} is outside the workspace {}. Write only below it, in a temporary folder, or in a folder that `allowed_outside` in .orchestration/policy.yaml lists.",
        home.root.path().display()
    );
    Some(Denial::new(DenialCode::ScopeViolation, message).about_path(shown))
}

fn is_below(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| Root::resolved_path(path).unwrap_or_else(|| path.to_path_buf());
    real(path).starts_with(real(folder))
}
