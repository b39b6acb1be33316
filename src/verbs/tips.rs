//! The branches that everybody shares, as this clone has seen them: evidence that stood there does not go unnoticed.
//!
//! Of the default branch of each remote, `main` and `master` where that is not known, and of the branches that the policy
//! protects, the commit is remembered at which this clone saw them. It is advanced by `intent verify` where the branch
//! only grew; where evidence that stood there is gone although its code stands, that is a finding until somebody accepts
//! it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::evidence::{digests, is_evidence, standing_of};
use super::{VerbError, Workspace};
use crate::ledger::Ledger;
use crate::workspace::git::{Change, ChangeKind, Target};
use crate::workspace::{Code, CommitId, Finding, Git, store};

const FOLDER: &str = ".orchestration/agent_trace";
/// A file larger than this, in bytes, was not written by us.
const MAX_TIPS: u64 = 1024 * 1024;

/// So many states of a branch are remembered between two looks.
const MAX_SEEN: usize = 16;

/// By branch the commits at which it was seen since it was looked at, oldest first.
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

/// The branches of remotes that are protected, and where they are.
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
    // The default branch is named once, by its own name where that is protected, too.
    let is_again = |(name, commit): &(String, CommitId)| {
        name.ends_with("/HEAD") && all.iter().any(|(other, at)| other != name && at == commit)
    };
    all.iter().filter(|branch| !is_again(branch)).cloned().collect()
}

/// The branch that work here is merged into, as far as a remote tells: its default branch, or the first protected one.
pub(super) fn target(ws: &Workspace) -> Option<CommitId> {
    let branches = protected(ws, ws.git()?);
    let default = branches.iter().find(|(name, _)| name.ends_with("/HEAD"));
    default.or(branches.first()).map(|(_, commit)| commit.clone())
}

/// Remembers where the branches are.
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

/// What is gone from a shared branch since it was seen; branches that only grew are remembered as they are now.
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
                    "{} had evidence at {} that is gone from it although its code stands: {} file(s), {} among them{}.",
                    name,
                    brief(&then),
                    lost.len(),
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

/// The files of evidence that stood at a commit, do not stand at another, and are about code that does.
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
    // Another file may hold what is gone from its own.
    let below = git.read_below(FOLDER, &Target::Commit(now.clone()), &is_evidence)?;
    let stands: std::collections::HashSet<_> =
        below.iter().flat_map(|(_, bytes)| digests(bytes)).collect();
    let files = ws.with_files(Target::Commit(now.clone()), None, Ledger::default());
    let mut lost = Vec::new();
    for path in changes.into_iter().map(|change| change.path) {
        let bytes = git.file_at(then, &path)?.unwrap_or_default();
        let ledger = Ledger::from_files(&[(path.clone(), bytes)]);
        let is_gone = ledger.entries().iter().any(|entry| {
            entry.section.is_some_and(|section| !stands.contains(&section))
                && standing_of(&files, entry).is_some()
        });
        if is_gone {
            lost.push(path.to_string());
        }
    }
    Ok(lost)
}

/// The commit that took a file away, where the branch still has it in its history.
fn removed_by(git: &Git, now: &CommitId, path: &str) -> String {
    let removed = crate::workspace::RelativePath::new(path)
        .ok()
        .and_then(|path| git.removed(now, &path).ok().flatten());
    removed.map(|commit| format!(", removed by {}", brief(&commit))).unwrap_or_default()
}
