//! Reports effects of a fenced command that no fence can prevent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::control::settings_below;
use crate::fence_plan::Fenced;
use fence::FenceAccess;
use fence::watch::Watched;
use ground::git::{PathChange, Target};
use ground::text::listed;
use ground::{CommitId, Git, Root, text};
use why::Workspace;

#[derive(Debug)]
pub struct FencedState {
    root: Arc<Root>,
    head: Option<CommitId>,
    files: Watched,
    /// Control files that do not exist and that the command could create in a writable folder.
    absent: Vec<PathBuf>,
}

/// The number of files that a message names at most.
const NAMED: usize = 5;

impl FencedState {
    pub fn before_command(ws: &Workspace, fenced: &Fenced) -> Self {
        let open = fenced.plan.places.iter().filter(|place| {
            place.access == FenceAccess::Writable
                && place.path.starts_with(ws.root.path())
                && place.path.is_dir()
                && !place.path.ends_with(".git")
        });
        let settings = open.flat_map(|place| settings_below().map(|name| place.path.join(name)));
        let absent = settings.filter(|path| path.symlink_metadata().is_err()).collect();
        // Control files in the home folder are not watched, because agents and people write them
        // all the time.
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

    /// Compares the present state with the state before. Returns a sentence for each thing that a
    /// person should look at.
    pub fn changes_since(&self, fenced: &Fenced) -> Vec<String> {
        let mut messages = Vec::new();
        for path in self.files.changed() {
            messages.push(format!(
                "{} was replaced while the command ran, from outside the fence, and the command could have written what stands there now; look at it",
                path.display()
            ));
        }
        for path in self.absent.iter().filter(|path| path.symlink_metadata().is_ok()) {
            messages.push(format!(
                "{} is new: it controls the gate or an agent, and the command could make it because it lies in a folder that it may write; look at it, or remove it: `rm -r {}`",
                path.display(),
                text::shell_word(&path.to_string_lossy())
            ));
        }
        messages.extend(self.half_done(fenced));
        messages
    }

    /// Reports files that `HEAD` changed but the fence kept. If `git checkout` cannot write a file,
    /// it prints that, goes on, and exits with success. A commit can also contain files that never
    /// were in the work tree. In both cases `HEAD` and the files outside the writable places
    /// differ.
    fn half_done(&self, fenced: &Fenced) -> Option<String> {
        let git = Git::open(&self.root).ok()??;
        let head = git.head().ok()??;
        if self.head.as_ref() == Some(&head) {
            return None;
        }
        let kept = |change: &PathChange| !fenced.plan.lets_write(&self.root.absolute(&change.path));
        let mut brought =
            git.compared(self.head.as_ref(), &Target::Commit(head.clone())).ok()?.changes;
        brought.retain(kept);
        if brought.is_empty() {
            return None;
        }
        let mut differing = git.compared(Some(&head), &Target::WorkTree).ok()?.changes;
        differing.retain(|change| brought.iter().any(|it| it.path == change.path));
        let shown = differing.iter().map(|change| change.path.for_shell());
        let mut half: Vec<String> = shown.collect();
        if half.is_empty() {
            return None;
        }
        let all = half.len();
        half.truncate(NAMED);
        let more = if all > NAMED { format!(" and {} more", all - NAMED) } else { String::new() };
        Some(format!(
            "HEAD is at {} now, but the fence kept {}{more} as before: the change was only partly made, or the commit holds what the work tree does not. Do not commit with -a. `git diff HEAD -- {2}` shows it; `git restore --source HEAD -- {2}`, outside the fence, finishes it",
            head.short(),
            listed(&half),
            half.join(" ")
        ))
    }
}
