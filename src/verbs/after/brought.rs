//! Files that git took from commits which were there before the call: by a switch of branches, a pull or a merge. What
//! they hold was written earlier, by whoever made those commits.

use crate::verbs::Workspace;
use crate::workspace::session::calls::PendingCall;
use crate::workspace::session::seen;
use crate::workspace::{CommitId, RelativePath, store};

/// More commits than this are not looked through.
const MAX_COMMITS: usize = 1_000;

/// The commits from which git took files.
pub(super) struct Brought(Vec<CommitId>);

impl Brought {
    /// Finds the newest commits below the present `HEAD` that existed before the call, or that a remote has. Finds none if
    /// `HEAD` did not move. Commits that the call itself made do not count: what they hold, the call wrote.
    pub(super) fn by(ws: &Workspace, call: &PendingCall) -> Self {
        let moved = ws.head().filter(|head| call.head.as_ref() != Some(&head.0));
        let (Some(git), Some(head)) = (ws.git(), moved.filter(|_| !call.tips.is_empty())) else {
            return Self(Vec::new());
        };
        let mut known = call.tips.clone();
        known.extend(git.remote_branches().unwrap_or_default().into_iter().map(|(_, tip)| tip));
        Self(git.newest_known(head, &known, MAX_COMMITS).unwrap_or_default())
    }

    /// Whether a file is now as one of the commits has it; both may lack it.
    pub(super) fn holds(&self, ws: &Workspace, path: &RelativePath) -> bool {
        let Some(git) = ws.git().filter(|_| !self.0.is_empty()) else { return false };
        let now = seen::state(&ws.root, path, 0).hash;
        self.0.iter().any(|commit| {
            let then = git.file_at(commit, path);
            then.is_ok_and(|bytes| bytes.as_deref().map(store::sha256) == now)
        })
    }
}
