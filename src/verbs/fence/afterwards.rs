//! What came of a fenced command that no fence can prevent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Fenced;
use crate::fence::watch::Watched;
use crate::verbs::Workspace;
use crate::workspace::git::Target;
use crate::workspace::text::listed;
use crate::workspace::{CommitId, Git, Root, text};

/// How things stood before a fenced command.
#[derive(Debug)]
pub(crate) struct FencedState {
    root: Arc<Root>,
    head: Option<CommitId>,
    files: Watched,
    /// Control files that may appear in folders that may be written.
    absent: Vec<PathBuf>,
}

/// More files than this are not named.
const NAMED: usize = 5;

impl FencedState {
    /// Looks at how things stand.
    pub(crate) fn before(ws: &Workspace, fenced: &Fenced) -> Self {
        let open = fenced.plan.places.iter().filter(|place| {
            place.access == crate::fence::FenceAccess::Writable
                && place.path.starts_with(ws.root.path())
        });
        let absent = open
            .filter(|place| place.path.is_dir() && !place.path.ends_with(".git"))
            .flat_map(|place| {
                crate::verbs::gate::settings_below().map(|name| place.path.join(name))
            })
            .filter(|path| path.symlink_metadata().is_err())
            .collect();
        // Agents and people write those in the home folder all the time.
        let places = [ws.root.work_tree().map(Path::to_path_buf), ws.root.common_dir()];
        let near = |path: &PathBuf| places.iter().flatten().any(|place| path.starts_with(place));
        let weak = fenced.plan.weak().into_iter().filter(near);
        Self {
            root: Arc::clone(&ws.root),
            head: ws.head().cloned(),
            files: Watched::now(weak),
            absent,
        }
    }

    /// Looks again: what a person should look at, a sentence each.
    pub(crate) fn after(&self, fenced: &Fenced) -> Vec<String> {
        let mut told = Vec::new();
        for path in self.files.changed() {
            told.push(format!(
                "{} was replaced while the command ran, from outside the fence, and the command could have written what stands there now; look at it",
                path.display()
            ));
        }
        for path in self.absent.iter().filter(|path| path.symlink_metadata().is_ok()) {
            told.push(format!(
                "{} is new: it steers the gate or an agent, and the command could make it because it lies in a folder that it may write; look at it, or remove it: `rm -r {}`",
                path.display(),
                text::shell_word(&path.to_string_lossy())
            ));
        }
        told.extend(self.half_done(fenced));
        told
    }

    /// When `git checkout` cannot write a file, it says so, goes on, and ends well. And a commit can hold what the work
    /// tree never did. Either way `HEAD` says what the files outside the fence do not.
    fn half_done(&self, fenced: &Fenced) -> Option<String> {
        let git = Git::open(&self.root).ok()??;
        let head = git.head().ok()??;
        if self.head.as_ref() == Some(&head) {
            return None;
        }
        let kept = |path: &crate::workspace::RelativePath| {
            !fenced.plan.lets_write(&self.root.absolute(path))
        };
        let brought = git.all_changes(self.head.as_ref(), &Target::Commit(head.clone())).ok()?;
        let brought: Vec<_> =
            brought.into_iter().map(|change| change.path).filter(|path| kept(path)).collect();
        if brought.is_empty() {
            return None;
        }
        let differing = git.all_changes(Some(&head), &Target::WorkTree).ok()?;
        let mut half: Vec<String> = differing
            .into_iter()
            .map(|change| change.path)
            .filter(|path| brought.contains(path))
            .map(|path| text::shell_word(path.as_str()))
            .collect();
        if half.is_empty() {
            return None;
        }
        let all = half.len();
        half.truncate(NAMED);
        let more = if all > NAMED { format!(" and {} more", all - NAMED) } else { String::new() };
        Some(format!(
            "HEAD is at {} now, but the fence kept {}{more} as before: the change was made by half, or the commit holds what the work tree does not. Do not commit with -a. `git diff HEAD -- {2}` shows it; `git restore --source HEAD -- {2}`, outside the fence, finishes it",
            head.short(),
            listed(&half),
            half.join(" ")
        ))
    }
}
