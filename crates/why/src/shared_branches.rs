//! Remembers the commits of shared branches, so that evidence which disappears from them is
//! noticed (`evidence::branch_rewrites`).
//!
//! Shared branches are the default branch of each remote and the branches that the policy protects
//! (`main` and `master` if it names none). Each time the ledger is read, their present commits are
//! stored.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use super::VerbError;
use ground::git::{ChangeKind, GitError, PathChange};
use ground::{CommitId, Git, Policy, Root, store};
use ledger::evidence;

/// The largest stored file that is read, in bytes.
pub const MAX_BYTES: u64 = 1024 * 1024;

const MAX_SEEN: usize = 16;

/// The branches that are protected if the policy names none, apart from the default one of a remote.
const USUAL_NAMES: [&str; 2] = ["main", "master"];

/// For each branch, the commits at which it was seen and that are still stored, oldest first.
pub(crate) type Tips = BTreeMap<String, Vec<CommitId>>;

pub struct Remotes {
    /// The commit of each branch. The key is its name, such as `origin/main`.
    pub at: BTreeMap<String, CommitId>,
    /// Maps `origin/HEAD` to the default branch that it stands for.
    defaults: HashMap<String, String>,
}

impl Remotes {
    pub fn from_git(git: &Git) -> Result<Self, GitError> {
        let defaults = git.default_branches()?;
        let mut remotes = Self { at: BTreeMap::new(), defaults };
        for (name, commit) in git.remote_branches()? {
            remotes.at.insert(remotes.real_name(name), commit);
        }
        Ok(remotes)
    }

    fn real_name(&self, name: String) -> String {
        self.defaults.get(&name).cloned().unwrap_or(name)
    }

    fn is_default(&self, name: &str) -> bool {
        name.ends_with("/HEAD") || self.defaults.values().any(|default| default == name)
    }

    fn is_protected(&self, policy: &Policy, name: &str) -> bool {
        let names = &policy.protected_branches;
        let branch = name.split_once('/').map_or(name, |(_, branch)| branch);
        self.is_default(name)
            || names.iter().any(|name| name == branch)
            || names.is_empty() && USUAL_NAMES.contains(&branch)
    }
}

pub fn path(root: &Root, name: &str) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent").join(name))
}

pub fn seen_tips(root: &Root, policy: &Policy, git: &Git, remotes: &Remotes) -> Tips {
    let mut tips = Tips::new();
    // Earlier versions stored the default branch under the name `origin/HEAD`.
    for (name, seen) in stored(root) {
        let known = tips.entry(remotes.real_name(name)).or_default();
        known.extend(seen);
    }
    for (name, now) in &remotes.at {
        if tips.contains_key(name) || remotes.is_protected(policy, name) {
            add_tip(git, tips.entry(name.clone()).or_default(), now);
        }
    }
    tips
}

fn stored(root: &Root) -> Tips {
    path(root, "tips.json").and_then(|path| store::read_json(&path, MAX_BYTES)).unwrap_or_default()
}

pub fn save(root: &Root, tips: &Tips) -> Result<(), VerbError> {
    if let (Some(path), Ok(bytes)) = (path(root, "tips.json"), serde_json::to_vec(tips))
        && *tips != stored(root)
    {
        store::write_atomic(&path, &bytes)?;
    }
    Ok(())
}

fn add_tip(git: &Git, seen: &mut Vec<CommitId>, now: &CommitId) {
    if seen.last() == Some(now) {
        return;
    }
    seen.retain(|then| then != now);
    if seen.len() >= MAX_SEEN {
        make_room(git, seen, now);
    }
    seen.push(now.clone());
}

/// Removes the commits that the branch descends from without having lost a file of evidence. If
/// there are still too many, further commits are removed, the newest first, and those that the
/// branch descends from before the others.
fn make_room(git: &Git, seen: &mut Vec<CommitId>, now: &CommitId) {
    let goes_on = |then: &CommitId| git.is_ancestor(now, then).unwrap_or(false);
    let is_whole = |then: &CommitId| removed(git, then, now).is_ok_and(|gone| gone.is_empty());
    seen.retain(|then| !(goes_on(then) && is_whole(then)));
    while seen.len() >= MAX_SEEN {
        let newest = seen.iter().rposition(goes_on).unwrap_or(seen.len() - 1);
        seen.remove(newest);
    }
}

pub fn protected(policy: &Policy, git: &Git) -> Vec<(String, CommitId)> {
    let Ok(remotes) = Remotes::from_git(git) else { return Vec::new() };
    let is_protected = |(name, _): &(&String, &CommitId)| remotes.is_protected(policy, name);
    let at = remotes.at.iter().filter(is_protected);
    at.map(|(name, commit)| (name.clone(), commit.clone())).collect()
}

/// Returns true if a branch is shared on a remote, or would be if it were pushed. If that cannot be
/// read, it may be.
pub fn is_shared(policy: &Policy, git: &Git, branch: &str) -> bool {
    let Ok(remotes) = Remotes::from_git(git) else { return true };
    let name = |known: &&String| known.split_once('/').is_some_and(|(_, it)| it == branch);
    remotes.is_protected(policy, &format!("/{branch}"))
        || remotes.at.keys().filter(name).any(|known| remotes.is_protected(policy, known))
}

/// Returns the commit of the branch into which this work will be merged: the default branch of a
/// remote, or else the first protected branch.
pub fn target(policy: &Policy, git: &Git) -> Option<CommitId> {
    let remotes = Remotes::from_git(git).ok()?;
    let default = remotes.at.iter().find(|(name, _)| remotes.is_default(name));
    let mut protected = remotes.at.iter();
    let mut protected = || protected.find(|(name, _)| remotes.is_protected(policy, name));
    default.or_else(&mut protected).map(|(_, commit)| commit.clone())
}

/// Returns the commit of the local branch into which this work will be merged, for a repository
/// without a remote.
pub fn local_target(policy: &Policy, git: &Git) -> Option<CommitId> {
    let mut names = policy.protected_branches.iter().map(String::as_str);
    let tip = |name: &str| git.resolve(&format!("refs/heads/{name}")).ok();
    match policy.protected_branches.is_empty() {
        true => USUAL_NAMES.into_iter().find_map(tip),
        false => names.find_map(tip),
    }
}

pub fn remember(root: &Root, policy: &Policy, git: &Git) {
    let Ok(remotes) = Remotes::from_git(git) else { return };
    if let Err(error) = save(root, &seen_tips(root, policy, git, &remotes)) {
        tracing::debug!(%error, "the shared branches are not remembered");
    }
}

/// Returns the files of evidence that the commit `then` has and that `now` lacks or has with other
/// content.
pub fn removed(git: &Git, then: &CommitId, now: &CommitId) -> Result<Vec<PathChange>, GitError> {
    let changes = git.changes_below(evidence::EVIDENCE_FOLDER, then, now)?.into_iter();
    let changes = changes.filter(|change| evidence::digest_of_path(&change.path).is_some());
    Ok(changes.filter(|change| change.kind != ChangeKind::Added).collect())
}
