//! Finds files that a switch of branches, a pull or a merge took from commits older than the call.
//! Their content was written earlier, by the authors of those commits, and not by the call.

use crate::verbs::Workspace;
use crate::workspace::session::calls::PendingCall;
use crate::workspace::session::seen;
use crate::workspace::{CommitId, RelativePath, store};

/// The number of new commits above which the search is given up and finds nothing.
const MAX_COMMITS: usize = 1_000;

/// Commits older than the call whose files git checked out during the call.
pub(super) struct CheckedOutCommits(Vec<CommitId>);

impl CheckedOutCommits {
    /// Finds the newest commits reachable from `HEAD` that existed before the call or that a remote
    /// has. The list is empty if `HEAD` did not move. Commits that the call itself made do not
    /// count, because the call wrote their content.
    pub(super) fn by(ws: &Workspace, call: &PendingCall) -> Self {
        let moved = ws.head().filter(|head| call.head.as_ref() != Some(&head.0));
        let (Some(git), Some(head)) = (ws.git(), moved.filter(|_| !call.tips.is_empty())) else {
            return Self(Vec::new());
        };
        let mut known = call.tips.clone();
        known.extend(git.remote_branches().unwrap_or_default().into_iter().map(|(_, tip)| tip));
        Self(git.newest_known(head, &known, MAX_COMMITS).unwrap_or_default())
    }

    /// Returns true if the file is now the same as in one of the commits. A file that exists in
    /// neither counts as the same.
    pub(super) fn holds(&self, ws: &Workspace, path: &RelativePath) -> bool {
        let Some(git) = ws.git().filter(|_| !self.0.is_empty()) else { return false };
        let now = seen::state(&ws.root, path, 0).hash;
        self.0.iter().any(|commit| {
            let then = git.file_at(commit, path);
            then.is_ok_and(|bytes| bytes.as_deref().map(store::sha256) == now)
        })
    }
}
