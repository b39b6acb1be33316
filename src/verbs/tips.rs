//! Remembers where shared branches were, so that evidence which disappears from them is noticed.
//!
//! Shared are the default branch of each remote and the branches that the policy protects (`main` and `master` if it
//! names none). Each time the ledger is read, the commits at which they are get stored. `intent verify` compares these
//! commits with the branch as it is now. If evidence is gone although its code is still there, that is a finding, until
//! the evidence is back or a person accepts it. Else only the present commit is kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::evidence::{digests, is_evidence, still_named};
use super::{VerbError, Workspace};
use crate::ledger::Ledger;
use crate::workspace::git::{Change, ChangeKind, Target};
use crate::workspace::text::counted;
use crate::workspace::{Code, CommitId, Finding, Git, RelativePath, store};

const FOLDER: &str = ".orchestration/agent_trace";
/// A file larger than this, in bytes, was not written by us.
const MAX_TIPS: u64 = 1024 * 1024;

/// How many commits of a branch are stored between two comparisons.
const MAX_SEEN: usize = 16;

/// For each branch, the commits at which it was seen since the last comparison, oldest first.
type Tips = BTreeMap<String, Vec<CommitId>>;

fn path(ws: &Workspace) -> Option<PathBuf> {
    Some(ws.root.common_dir()?.join("intent").join("tips.json"))
}

fn remembered(ws: &Workspace) -> Tips {
    let bytes = path(ws).and_then(|path| store::read_capped(&path, MAX_TIPS).ok()?);
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn save(ws: &Workspace, tips: &Tips) -> Result<(), VerbError> {
    if let (Some(path), Ok(bytes)) = (path(ws), serde_json::to_vec(tips)) {
        store::write_atomic(&path, &bytes)?;
    }
    Ok(())
}

/// The shared branches of remotes, each with its commit.
fn protected(ws: &Workspace, git: &Git) -> Vec<(String, CommitId)> {
    let names = &ws.policy.protected_branches;
    let is_protected = |name: &str| {
        let Some((_, branch)) = name.split_once('/') else { return false };
        branch == "HEAD"
            || names.iter().any(|name| name == branch)
            || names.is_empty() && matches!(branch, "main" | "master")
    };
    let branches = git.remote_branches().unwrap_or_default();
    let all: Vec<(String, CommitId)> =
        branches.into_iter().filter(|(name, _)| is_protected(name)).collect();
    // `origin/HEAD` is often another name of `origin/main`. Then only the latter is kept.
    let is_again = |(name, commit): &(String, CommitId)| {
        name.ends_with("/HEAD") && all.iter().any(|(other, at)| other != name && at == commit)
    };
    all.iter().filter(|branch| !is_again(branch)).cloned().collect()
}

/// The commit of the branch into which work here is merged: the default branch of a remote, else the first protected
/// one.
pub(super) fn target(ws: &Workspace) -> Option<CommitId> {
    let branches = protected(ws, ws.git()?);
    let default = branches.iter().find(|(name, _)| name.ends_with("/HEAD"));
    default.or(branches.first()).map(|(_, commit)| commit.clone())
}

/// Stores where the shared branches are.
pub(super) fn remember(ws: &Workspace) {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else { return };
    let mut tips = remembered(ws);
    let before = tips.clone();
    for (name, commit) in protected(ws, git) {
        let seen = tips.entry(name).or_default();
        if seen.last() != Some(&commit) {
            seen.truncate(MAX_SEEN - 1);
            seen.push(commit);
        }
    }
    if tips != before
        && let Err(error) = save(ws, &tips)
    {
        tracing::debug!(%error, "the shared branches are not remembered");
    }
}

/// Compares shared branches with what was stored, and reports evidence that is gone. With `accept` nothing is reported,
/// and the branches are stored as they are now.
pub(super) fn look(ws: &Workspace, accept: bool) -> Result<Vec<Finding>, VerbError> {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else { return Ok(Vec::new()) };
    let (mut tips, mut findings) = (remembered(ws), Vec::new());
    let before = tips.clone();
    for (name, now) in protected(ws, git) {
        let seen = tips.entry(name.clone()).or_default();
        let mut gone: Option<(CommitId, Vec<String>)> = None;
        for then in seen.iter().filter(|then| **then != now && !accept) {
            let lost = lost(ws, git, then, &now)?;
            if lost.len() > gone.as_ref().map_or(0, |(_, known)| known.len()) {
                gone = Some((then.clone(), lost));
            }
        }
        match gone {
            None => *seen = vec![now],
            Some((then, lost)) => findings.push(Finding::new(
                Code::LedgerTruncated,
                format!(
                    "{} had evidence at {} that is gone from it although its code stands: {}, {} among them{}.",
                    name,
                    brief(&then),
                    counted(lost.len(), "file"),
                    lost[0],
                    removed_by(git, &now, &lost[0])
                ),
                format!(
                    "Restore it: `git checkout {} -- {}`, and commit. Where it was taken out on purpose, `intent verify --accept-rewrite`.",
                    brief(&then),
                    lost.join(" ")
                ),
            )),
        }
    }
    if tips != before {
        save(ws, &tips)?;
    }
    Ok(findings)
}

fn brief(commit: &CommitId) -> &str {
    commit.0.get(..12).unwrap_or(&commit.0)
}

/// The files of evidence that a commit `then` held and `now` does not, although their code is still there.
fn lost(
    ws: &Workspace,
    git: &Git,
    then: &CommitId,
    now: &CommitId,
) -> Result<Vec<String>, VerbError> {
    let Ok(changes) = git.changes_below(FOLDER, then, now) else { return Ok(Vec::new()) };
    let changes = changes.into_iter().filter(|change| is_evidence(&change.path));
    let changes: Vec<Change> = changes.filter(|change| change.kind != ChangeKind::Added).collect();
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    // A compaction may have moved the sections into another file.
    let below = git.read_below(FOLDER, &Target::Commit(now.clone()), &is_evidence)?;
    let stands: std::collections::HashSet<_> =
        below.iter().flat_map(|(_, bytes)| digests(bytes)).collect();
    let at_now = ws.with_files(Target::Commit(now.clone()), None, Ledger::default());
    let named = still_named(&at_now, then, &stands)?;
    let is_gone = |path: &RelativePath| changes.iter().any(|change| change.path == *path);
    let lost = named.into_keys().filter(is_gone);
    Ok(lost.map(|path| path.to_string()).collect())
}

/// Names the commit that removed a file. Empty if that commit is not in the history, as after a push with force.
fn removed_by(git: &Git, now: &CommitId, path: &str) -> String {
    let removed =
        RelativePath::new(path).ok().and_then(|path| git.removed(now, &path).ok().flatten());
    removed.map(|commit| format!(", removed by {}", brief(&commit))).unwrap_or_default()
}
