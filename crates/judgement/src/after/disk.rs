//! Finds the files of the work tree that changed since a point in time, by the times that the file
//! system keeps.
//!
//! A program can set the modification time of a file (`mtime`), but not the time of the last change
//! of its inode (`ctime`), so `ctime` is used where the system has it. Nothing needs to be read
//! before the command runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use ignore::WalkState;

use crate::earlier::{TICK, is_new};
use ground::session::calls::PendingCall;
use ground::{CommitId, Git, RelativePath, ignores};
use ledger::evidence;
use why::Workspace;

const MAX_CHANGED: usize = 5_000;

/// Returns the files that were created, changed or deleted since `at` (nanoseconds since 1970),
/// except those that git ignores.
///
/// A deleted file is found only if the index names it. If the index changed too, the files of the
/// commit `before`, which was checked out when the command started, are searched as well.
pub(super) fn changed_since(ws: &Workspace, at: u128, before: Option<&CommitId>) -> ChangedFiles {
    let since = at.saturating_sub(TICK);
    let folders = AtomicBool::new(false);
    let (found, changed) = mpsc::channel();
    let top = ws.root.work_tree().unwrap_or(ws.root.path());
    // Workspaces and repositories below this one are walked too, because their rules could apply to
    // the changed files.
    let own = [top.join(".git"), ws.root.orchestration()];
    let is_entered = move |entry: &ignore::DirEntry| !own.iter().any(|own| entry.path() == own);
    let walk = ignores::walker(&ws.root, Some(top), is_entered).build_parallel();
    walk.run(|| {
        let (found, folders) = (found.clone(), &folders);
        Box::new(move |entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            let Ok(state) = entry.metadata() else { return WalkState::Continue };
            let is_repository = state.is_dir() && entry.file_name() == ".git";
            let has_changed = last_change(&state) >= since;
            let is_found = !state.is_dir() || (is_repository && is_new(&state, since));
            if has_changed && state.is_dir() && !is_repository {
                folders.store(true, Ordering::Relaxed);
            }
            if has_changed && is_found {
                // Sending cannot fail: the receiver lives until the walk is over.
                let _ = found.send(entry.into_path());
            }
            if is_repository { WalkState::Skip } else { WalkState::Continue }
        })
    });
    drop(found);
    let mut all = ChangedFiles::default();
    let inside = |path: PathBuf| Some(path.strip_prefix(ws.root.path()).ok()?.to_owned());
    for inside in changed.into_iter().filter_map(inside).take(MAX_CHANGED) {
        match inside.to_str() {
            Some(inside) => all.paths.extend(RelativePath::new(inside)),
            None => all.not_utf8.push(inside.to_string_lossy().into_owned()),
        }
    }
    all.paths.sort();
    all.not_utf8.sort();
    if folders.into_inner() {
        // A folder's time changes when an entry is added or removed, so files may have been
        // deleted.
        all.paths.extend(removed_files(ws, since, before));
    }
    all
}

#[derive(Debug, Default)]
pub(super) struct ChangedFiles {
    pub(super) paths: Vec<RelativePath>,
    /// The names of files that no scope can own, because they are not UTF-8. Other bytes
    /// are replaced.
    pub(super) not_utf8: Vec<String>,
}

/// Returns the other names of a file that was written since the given time. All names of a file change
/// at the same time.
#[cfg(unix)]
pub(super) fn other_names(ws: &Workspace, path: &RelativePath, at: u128) -> Vec<RelativePath> {
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &RelativePath| {
        let state = ws.root.absolute(path).symlink_metadata().ok()?;
        Some((state.dev(), state.ino()))
    };
    let own = inode(path);
    let changed = changed_since(ws, at, None).paths.into_iter();
    changed.filter(|other| other != path && inode(other) == own).collect()
}

/// Returns nothing, because the platform does not tell how many names a file has.
#[cfg(not(unix))]
pub(super) fn other_names(_: &Workspace, _: &RelativePath, _: u128) -> Vec<RelativePath> {
    Vec::new()
}

/// Returns when a file changed the last time, in nanoseconds since 1970. `None` if it does not exist.
pub(super) fn changed_at(ws: &Workspace, path: &RelativePath) -> Option<u128> {
    ws.root.absolute(path).symlink_metadata().ok().map(|state| last_change(&state))
}

fn removed_files(ws: &Workspace, since: u128, before: Option<&CommitId>) -> Vec<RelativePath> {
    let Some(git) = ws.git() else { return Vec::new() };
    let mut tracked = git.tracked().unwrap_or_default();
    let index = git.dir().join("index").metadata();
    if index.is_ok_and(|index| last_change(&index) >= since) {
        tracked.extend(before.and_then(|commit| git.files_at(commit).ok()).unwrap_or_default());
        tracked.sort();
        tracked.dedup();
    }
    let mut folders: HashMap<PathBuf, bool> = HashMap::new();
    let mut has_changed = |folder: &Path| {
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        // A folder that does not exist any more counts as changed.
        let is = folder.metadata().map_or(true, |found| last_change(&found) >= since);
        folders.insert(folder.to_path_buf(), is);
        is
    };
    tracked.retain(|path| {
        let file = ws.root.absolute(path);
        file.parent().is_some_and(&mut has_changed) && file.symlink_metadata().is_err()
    });
    tracked
}

pub(super) fn relative(ws: &Workspace, path: &Path) -> Option<RelativePath> {
    let inside = path.strip_prefix(ws.root.path()).ok()?;
    RelativePath::new(inside.to_str()?).ok()
}

/// The number of new commits above which the search is given up and finds nothing.
const MAX_COMMITS: usize = 1_000;

/// How many commits of a call are asked which commits they revert.
const MAX_REVERTS: usize = 64;

/// Commits older than the call whose files git checked out during the call: by a switch of branches,
/// a pull or a merge. The content of such a file was written earlier, by the authors of the commits,
/// and not by the call.
#[derive(Default)]
pub(super) struct CheckedOutCommits {
    newest: Vec<CommitId>,
    /// The commits before those that the call has reverted.
    before_reverted: Vec<CommitId>,
}

impl CheckedOutCommits {
    /// Finds the newest commits reachable from `HEAD` that existed before the call or that a remote
    /// has. The list is empty if `HEAD` did not move. Commits that the call itself made do not
    /// count, because the call wrote their content.
    pub(super) fn found_after_call(ws: &Workspace, call: &PendingCall) -> Self {
        let moved = ws.head().filter(|head| call.head.as_ref() != Some(&head.0));
        let (Some(git), Some(head)) = (ws.git(), moved.filter(|_| !call.tips.is_empty())) else {
            return Self::default();
        };
        let mut known = call.tips.clone();
        known.extend(git.remote_branches().unwrap_or_default().into_iter().map(|(_, tip)| tip));
        let newest = git.newest_known(head, &known, MAX_COMMITS).unwrap_or_default();
        Self { before_reverted: before_reverted(git, head, &newest), newest }
    }

    /// Returns true if the file is now the same as in one of the commits. A file that exists in
    /// neither counts as the same. Only evidence goes away with a revert: what a message says is no
    /// proof for other files.
    pub(super) fn holds(&self, ws: &Workspace, path: &RelativePath) -> bool {
        let is_evidence = evidence::digest_of_path(path).is_some();
        let reverted = self.before_reverted.iter().filter(|_| is_evidence);
        self.newest.iter().chain(reverted).any(|commit| is_as_in(ws, commit, path))
    }
}

/// Returns the parents of the commits that those after `known` revert, as `git revert` writes it in
/// their messages.
fn before_reverted(git: &Git, head: &CommitId, known: &[CommitId]) -> Vec<CommitId> {
    let parent = |commit: &CommitId| git.commit_info(commit).ok()?.parents.into_iter().next();
    let made = std::iter::successors(Some(head.clone()), parent);
    let made = made.take_while(|commit| !known.contains(commit)).take(MAX_REVERTS);
    let mut before = Vec::new();
    for commit in made {
        let message = git.headline(&commit).map(|headline| headline.message).unwrap_or_default();
        let named = message.split("This reverts commit ").skip(1);
        let named = named.filter_map(|rest| rest.split(|c: char| !c.is_ascii_hexdigit()).next());
        before.extend(named.filter_map(|id| parent(&CommitId(id.to_owned()))));
    }
    before
}

/// Returns true if the file is now as this commit has it.
pub(super) fn is_as_in(ws: &Workspace, commit: &CommitId, path: &RelativePath) -> bool {
    let is_same = ws.git().map(|git| git.are_as_committed(commit, std::slice::from_ref(path)));
    matches!(is_same, Some(Ok(is_same)) if is_same == [Some(true)])
}

#[cfg(unix)]
pub(super) fn last_change(found: &std::fs::Metadata) -> u128 {
    use std::os::unix::fs::MetadataExt;
    let seconds = u128::try_from(found.ctime()).unwrap_or(0);
    seconds * 1_000_000_000 + u128::try_from(found.ctime_nsec()).unwrap_or(0)
}

#[cfg(not(unix))]
pub(super) fn last_change(found: &std::fs::Metadata) -> u128 {
    use std::time::{SystemTime, UNIX_EPOCH};
    let at = found.modified().unwrap_or_else(|_| SystemTime::now());
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}
