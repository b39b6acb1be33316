//! Files that a call changed in a linked work tree below the workspace. They have the rules of that
//! work tree, and what git checked out there was written earlier, by the authors of the commits.

use std::path::{Path, PathBuf};

use super::disk::{CheckedOutCommits, is_as_in, last_change};
use super::is_objected_to;
use crate::earlier::{TICK, is_new};
use ground::session::calls::PendingCall;
use ground::{CommitId, RelativePath, Root};
use why::Workspace;

pub(super) struct LinkedTrees(Vec<LinkedTree>);

struct LinkedTree {
    top: PathBuf,
    ws: Workspace,
    is_new: bool,
    checked_out: CheckedOutCommits,
    /// The commit that is checked out, if that is so since before the call.
    head: Option<CommitId>,
}

impl LinkedTrees {
    pub(super) fn below_workspace(ws: &Workspace, call: &PendingCall) -> Self {
        let since = call.at.saturating_sub(TICK);
        let tree = |(git_dir, top): (PathBuf, PathBuf)| {
            let root = Root::find(&top, ws.root.environment()).ok()?;
            let is_linked = root.governed()
                && root.path().starts_with(&top)
                && root.common_dir() == ws.root.common_dir();
            let is_in = |folder: &Path| folder.metadata().is_ok_and(|it| is_new(&it, since));
            // A work tree that a call made of a folder from before has the rules of that folder.
            let (is_new, is_new_folder) = (is_in(&git_dir), is_in(&top));
            if !is_linked || is_new != is_new_folder {
                return None;
            }
            let ws = Workspace::at_root(root);
            let log = git_dir.join("logs/HEAD").metadata();
            let stays = log.is_ok_and(|log| last_change(&log) < since);
            let head = ws.head().cloned().filter(|_| stays);
            let checked_out = CheckedOutCommits::found_after_call(&ws, call);
            Some(LinkedTree { top, ws, is_new, checked_out, head })
        };
        let trees = ws.root.linked_trees().into_iter();
        let below = trees.filter(|(_, top)| top.starts_with(ws.root.path()));
        Self(below.filter_map(tree).collect())
    }

    /// Returns true if a changed file is in a linked work tree and needs no word: the intent of the
    /// call owns it there, or git checked it out.
    pub(super) fn explain(&self, ws: &Workspace, call: &PendingCall, path: &RelativePath) -> bool {
        let file = ws.root.absolute(path);
        let Some(tree) = self.0.iter().find(|tree| file.starts_with(&tree.top)) else {
            return false;
        };
        if file == tree.top.join(".git") {
            return tree.is_new;
        }
        let Some(path) = super::disk::relative(&tree.ws, &file) else { return false };
        // The rules in a new work tree may be what the call wrote there.
        let is_owned = !tree.is_new && !is_objected_to(&tree.ws, &path, call.intent.as_ref());
        is_owned || tree.is_checked_out(call, &path)
    }
}

impl LinkedTree {
    fn is_checked_out(&self, call: &PendingCall, path: &RelativePath) -> bool {
        let commits = self.head.iter().cloned().chain(call.head.clone().map(CommitId));
        commits.into_iter().any(|commit| is_as_in(&self.ws, &commit, path))
            || self.checked_out.holds(&self.ws, path)
    }
}
