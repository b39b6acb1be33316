//! Notices evidence that disappeared from shared branches, and lets a person accept that.
//!
//! The stored commits of the branches ([`why::shared_branches`]) are compared with the branches
//! as they are now, even if the policy no longer protects a branch, since the commit that removed
//! evidence may have changed the policy as well. A stored commit is forgotten once the branch is a
//! descendant of it and has lost none of its evidence. Any other one is kept until a person accepts
//! that the branch was rewritten.

use serde::{Deserialize, Serialize};

use crate::comparison::{EvidenceChanges, StillNamed, UNREAD};
use ground::git::Target;
use ground::text::counted;
use ground::{Code, CommitId, Finding, Git, Policy, RelativePath, clock, store};
use ledger::evidence::is_readable;
use ledger::{journal, sorted};
use why::findings::{FindingAnswer, levelled};
use why::rules_at::policy_at;
use why::shared_branches::{MAX_BYTES, Remotes, path, removed, save, seen_tips};
use why::{VerbError, Workspace};

#[derive(Default)]
pub(crate) struct TipsReport {
    /// Missing evidence. The level of each finding comes from the policy at the commit that had the
    /// evidence, which the commit that removed it could not change.
    pub findings: Vec<FindingAnswer>,
    /// Sentences about branches that were rewritten without losing evidence. They are not findings.
    pub notes: Vec<String>,
}

pub fn look(ws: &Workspace) -> Result<TipsReport, VerbError> {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else {
        return Ok(TipsReport::default());
    };
    let remotes = Remotes::from_git(git)?;
    let (mut tips, mut looked) =
        (seen_tips(&ws.root, &ws.policy, git, &remotes), TipsReport::default());
    for (name, seen) in &mut tips {
        let Some(now) = remotes.at.get(name) else {
            looked.notes.extend(seen.last().map(|then| {
                format!(
                    "{name} was at {} and does not exist any more; `intent evidence verify --accept-rewrite` accepts that.",
                    then.short()
                )
            }));
            continue;
        };
        let open = open(ws, git, seen, now);
        tell(ws, git, (name, now), &open, &mut looked);
        *seen = open.into_iter().map(|(then, _)| then).chain([now.clone()]).collect();
    }
    save(&ws.root, &tips)?;
    Ok(looked)
}

/// A line of `rewrites.jsonl`: a person accepted a branch as it is.
#[derive(Serialize, Deserialize)]
struct Rewrite {
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    branch: String,
    /// The stored commits that are forgotten by this.
    was: Vec<CommitId>,
    /// The present commit of the branch. `None` if the branch does not exist any more.
    now: Option<CommitId>,
}

/// Accepts the shared branches as they are, and forgets their stored commits. Also accepts that
/// records of the journal are gone. The decision about branches is recorded in `rewrites.jsonl` in the git directory. `by` is the person's name, if git knows it.
/// Returns one sentence for each accepted branch.
pub fn accept(ws: &Workspace, by: Option<String>) -> Result<Vec<String>, VerbError> {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else { return Ok(Vec::new()) };
    let remotes = Remotes::from_git(git)?;
    let (mut tips, mut rewrites) = (seen_tips(&ws.root, &ws.policy, git, &remotes), Vec::new());
    for (name, seen) in &mut tips {
        let now = remotes.at.get(name).cloned();
        let was: Vec<CommitId> = match &now {
            Some(now) => open(ws, git, seen, now).into_iter().map(|(then, _)| then).collect(),
            None => seen.clone(),
        };
        *seen = now.iter().cloned().collect();
        if !was.is_empty() {
            let (time, by, branch) = (clock::now(), by.clone(), name.clone());
            rewrites.push(Rewrite { time, by, branch, was, now });
        }
    }
    tips.retain(|_, seen| !seen.is_empty());
    // The record is written first, so that nothing is forgotten without a record.
    record(ws, &rewrites)?;
    save(&ws.root, &tips)?;
    let mut accepted: Vec<String> = rewrites.iter().map(Rewrite::sentence).collect();
    for lost in journal::lost_records(&ws.root) {
        journal::accept_lost(&ws.root, &lost)?;
        let count = lost.records.end() - lost.records.start() + 1;
        let count = counted(usize::try_from(count).unwrap_or(usize::MAX), "record");
        accepted.push(format!("Accepted: {count} of writer {} will not come back.", lost.writer));
    }
    Ok(accepted)
}

fn record(ws: &Workspace, rewrites: &[Rewrite]) -> Result<(), VerbError> {
    let Some(path) = path(&ws.root, "rewrites.jsonl").filter(|_| !rewrites.is_empty()) else {
        return Ok(());
    };
    let mut bytes = store::read_capped(&path, MAX_BYTES)?.unwrap_or_default();
    for rewrite in rewrites {
        serde_json::to_writer(&mut bytes, rewrite).expect("texts always become JSON");
        bytes.push(b'\n');
    }
    Ok(store::write_atomic(&path, &bytes)?)
}

impl Rewrite {
    fn sentence(&self) -> String {
        let was: Vec<&str> = self.was.iter().map(CommitId::short).collect();
        let now = self.now.as_ref().map_or("gone".to_owned(), |now| format!("at {}", now.short()));
        format!("Accepted and recorded: {} is {now}, and was at {}.", self.branch, was.join(", "))
    }
}

enum KeptReason {
    /// The branch is not a descendant of the commit, but no evidence is lost.
    Diverged,
    Lost(Vec<String>),
    /// This file of evidence is missing, and maybe others. What they say cannot be read.
    LostUnread(String),
    Unreadable,
}

fn open(
    ws: &Workspace,
    git: &Git,
    seen: &[CommitId],
    now: &CommitId,
) -> Vec<(CommitId, KeptReason)> {
    // In a shallow clone the order of commits cannot be determined.
    let goes_on = |then: &CommitId| git.is_shallow() || git.is_ancestor(now, then).unwrap_or(false);
    let why = |then: &CommitId| match lost_files(ws, git, then, now) {
        Ok(None) => (!goes_on(then)).then_some(KeptReason::Diverged),
        Ok(lost) => lost,
        Err(error) => {
            tracing::debug!(%error, commit = then.0, "a shared branch cannot be compared");
            Some(KeptReason::Unreadable)
        }
    };
    let earlier = seen.iter().filter(|then| *then != now);
    earlier.filter_map(|then| Some((then.clone(), why(then)?))).collect()
}

fn tell(
    ws: &Workspace,
    git: &Git,
    (name, now): (&str, &CommitId),
    open: &[(CommitId, KeptReason)],
    looked: &mut TipsReport,
) {
    let lost = open.iter().filter_map(|(then, why)| match why {
        KeptReason::Lost(lost) => Some((then, lost)),
        _ => None,
    });
    // Only the commit with the most missing files is reported; the files that the others miss are
    // mostly among them.
    if let Some((then, lost)) = lost.max_by_key(|(_, lost)| lost.len()) {
        let policy = policy_at(git, &Target::Commit(then.clone())).ok().flatten();
        let policy = policy.map(|(policy, _)| policy).unwrap_or_default();
        let finding = truncated(ws, git, (name, now), (then, lost));
        looked.findings.extend(levelled(&policy, vec![finding]));
    }
    let unread = open.iter().rev().find_map(|(then, why)| match why {
        KeptReason::LostUnread(path) => Some((then, path)),
        _ => None,
    });
    looked.notes.extend(unread.map(|(then, path)| {
        format!(
            "{name} had files of evidence at {} that are missing there now and that this version of `intent` cannot read, {path} among them. So {UNREAD}. `intent evidence verify --accept-rewrite` accepts that.",
            then.short()
        )
    }));
    let unreadable = open.iter().rev().find(|(_, why)| matches!(why, KeptReason::Unreadable));
    if let Some((then, _)) = unreadable {
        looked.findings.extend(levelled(&Policy::default(), vec![unreadable_commit(name, then)]));
    }
    if let Some((then, KeptReason::Diverged)) = open.last()
        && open.iter().all(|(_, why)| matches!(why, KeptReason::Diverged))
    {
        looked.notes.push(format!(
            "{name} was at {} and is not a descendant of it now; no evidence is missing. `intent evidence verify --accept-rewrite` accepts it.",
            then.short()
        ));
    }
}

fn truncated(
    ws: &Workspace,
    git: &Git,
    (name, now): (&str, &CommitId),
    (then, lost): (&CommitId, &[String]),
) -> Finding {
    // If the local branch is behind, it may still have the files, and then a restore would give
    // nothing to commit. So a pull comes first.
    let is_behind = !ws.head().is_some_and(|head| git.is_ancestor(head, now).unwrap_or(false));
    Finding::new(
        Code::LedgerTruncated,
        format!(
            "{name} had evidence at {} that is missing there now, although its code still exists: {}, {} among them{}.",
            then.short(),
            counted(lost.len(), "file"),
            lost[0],
            removed_by(git, now, &lost[0])
        ),
        format!(
            "Restore it: {}`git checkout {} -- {}`, commit, and push. Where it was taken out on purpose, `intent evidence verify --accept-rewrite`.",
            if is_behind { "`git pull`, then " } else { "" },
            then.short(),
            lost.join(" ")
        ),
    )
}

fn unreadable_commit(name: &str, then: &CommitId) -> Finding {
    let remote = name.split('/').next().unwrap_or(name);
    Finding::new(
        Code::LedgerTruncated,
        format!(
            "{name} was at {}, and this clone cannot read that commit any more, so nobody can say whether evidence is gone.",
            then.short()
        ),
        format!(
            "`git fetch {remote} {}` brings the commit back where the remote still has it. Else look at what {name} holds, and then `intent evidence verify --accept-rewrite`.",
            then.0
        ),
    )
}

/// Says which files of evidence the commit `then` has and `now` lacks, without those whose code is
/// gone as well. `None` if there are none.
fn lost_files(
    ws: &Workspace,
    git: &Git,
    then: &CommitId,
    now: &CommitId,
) -> Result<Option<KeptReason>, VerbError> {
    if removed(git, then, now)?.is_empty() {
        return Ok(None);
    }
    let at_now = ws.with_files(Target::Commit(now.clone()), None);
    let changes = EvidenceChanges::find(&at_now, git, then)?;
    let named = StillNamed::find(&at_now, &changes, &changes.sections_now())?;
    let lost = changes.before.iter().filter(|(path, _)| named.has_file(path));
    let lost = sorted(lost.map(|(path, _)| path.to_string()));
    if !lost.is_empty() {
        return Ok(Some(KeptReason::Lost(lost)));
    }
    let unread = changes.before.iter().find(|(_, bytes)| !is_readable(bytes));
    Ok(unread.map(|(path, _)| KeptReason::LostUnread(path.to_string())))
}

/// Names the commit that removed a file. Empty if that commit is not in the history, for example
/// after a forced push.
fn removed_by(git: &Git, now: &CommitId, path: &str) -> String {
    let removed =
        RelativePath::new(path).ok().and_then(|path| git.removed(now, &path).ok().flatten());
    removed.map(|commit| format!(", removed by {}", commit.short())).unwrap_or_default()
}
