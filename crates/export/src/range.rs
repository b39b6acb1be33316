//! The commits of a range, and all of their rows.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use super::claims::{self, CarryingCommit, ClaimRows};
use super::evidence::ChangeReader;
use super::findings::{self, FindingRow};
use super::intents::{IntentRow, KnownIntents};
use super::people::People;
use ground::CommitId;
use ground::git::{CommitNode, Git, GitError, ObjectId, ObjectReader, short_id};
use ledger::Entry;
use why::{VerbError, Workspace};

/// What takes the rows, in a fixed order: the commits oldest first.
pub trait RowSink {
    fn commit(&mut self, carried: &CarriedRecords<'_>) -> io::Result<()>;

    fn intent(&mut self, _row: &IntentRow) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, _row: &FindingRow) -> io::Result<()> {
        Ok(())
    }
}

pub struct CarriedRecords<'a> {
    pub by: &'a CarryingCommit,
    pub entries: &'a [Arc<Entry>],
    pub rows: ClaimRows<'a>,
}

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Read(#[from] VerbError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl From<GitError> for ExportError {
    fn from(error: GitError) -> Self {
        Self::Read(error.into())
    }
}

/// A range of commits: the ancestors of `to`, with itself, that are not ancestors of `from`.
#[derive(Clone, Debug)]
pub struct CommitRange {
    /// `None` for the whole history.
    pub from: Option<CommitId>,
    pub to: CommitId,
    /// When `to` was committed, in seconds since 1970.
    pub time: i64,
}

impl CommitRange {
    /// Reads `A..B`, or a single revision, which means its whole history.
    pub fn parse(git: &Git, text: &str) -> Result<Self, GitError> {
        match text.split_once("..") {
            Some((from, to)) => {
                let to = if to.is_empty() { "HEAD" } else { to };
                Self::new(git, Some(git.resolve(from)?), git.resolve(to)?)
            }
            None => Self::new(git, None, git.resolve(text)?),
        }
    }

    /// Returns the range from the newest first parent of `HEAD` that is older than a time.
    pub fn newer_than(git: &Git, time: Timestamp) -> Result<Self, GitError> {
        let to = git.resolve("HEAD")?;
        let mut reader = git.object_reader()?;
        let mut next = Some(git.object_id(&to)?);
        while let Some(commit) = next {
            let node = reader.commit(commit)?;
            if node.time < time.as_second() {
                return Self::new(git, Some(CommitId(commit.to_string())), to);
            }
            next = node.parents.into_iter().next();
        }
        Self::new(git, None, to)
    }

    fn new(git: &Git, from: Option<CommitId>, to: CommitId) -> Result<Self, GitError> {
        let time = git.commit_info(&to)?.time;
        Ok(Self { from, to, time })
    }

    /// Returns the name of the files of this range, without what follows the dot.
    pub fn file_stem(&self) -> String {
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        let from = self.from.as_ref().map_or_else(|| "0".repeat(12), |from| short(&from.0));
        format!("{from}-{}", short(&self.to.0))
    }

    /// Returns the day of the last commit in UTC: `2026-02-18`.
    pub fn day(&self) -> String {
        let time = Timestamp::from_second(self.time).unwrap_or_default();
        time.to_zoned(TimeZone::UTC).date().to_string()
    }

    pub fn in_words(&self) -> String {
        let to = short_id(&self.to.0);
        match &self.from {
            Some(from) => format!("{}..{to}", short_id(&from.0)),
            None => format!("the history of {to}"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RowCounts {
    pub commits: usize,
    pub claims: usize,
    pub intents: usize,
    pub findings: usize,
}

/// Gives all rows of a range to a sink. At most the records of one commit are held.
pub fn export(
    ws: &Workspace,
    range: &CommitRange,
    (repo, people): (&str, &People),
    sink: &mut dyn RowSink,
) -> Result<RowCounts, ExportError> {
    let git = ws.git().ok_or_else(|| ws.no_git("an export"))?;
    let mut counts = RowCounts::default();
    let mut reader = ChangeReader::new(git)?;
    let commits = oldest_first(git, &mut reader.objects, range)?;
    let mut known = KnownIntents::default();
    if let Some(from) = &range.from {
        known.changed(&ws.at_commit(from.clone(), None)?.registry, (repo, &from.0), people);
    }
    let time_of = |commit: &str| {
        let info = git.commit_info(&CommitId(commit.to_owned())).ok()?;
        claims::written_time(info.time)
    };
    for (id, node) in commits {
        counts.commits += 1;
        let change = reader.change(id, &node)?;
        let commit = CommitId(id.to_string());
        let time = claims::written_time(node.time);
        let carried = CarryingCommit { repo: repo.to_owned(), id: commit.0.clone(), time };
        if !change.entries.is_empty() {
            let entries = &change.entries;
            let rows = ClaimRows::new(entries, &carried, people, &time_of);
            counts.claims += rows.count();
            sink.commit(&CarriedRecords { by: &carried, entries, rows })?;
        }
        if change.has_other_rules || commit == range.to {
            let registry = ws.at_commit(commit, None)?.registry;
            for row in known.changed(&registry, (repo, &carried.id), people) {
                sink.intent(&row)?;
                counts.intents += 1;
            }
        }
    }
    if let Some(from) = &range.from {
        for row in findings::of_range(ws, (from, &range.to), repo)? {
            sink.finding(&row)?;
            counts.findings += 1;
        }
    }
    Ok(counts)
}

/// Returns the commits of a range. Parents come before their children, and where that leaves a choice,
/// the earlier commit comes first, then the smaller id.
fn oldest_first(
    git: &Git,
    reader: &mut ObjectReader<'_>,
    range: &CommitRange,
) -> Result<Vec<(ObjectId, CommitNode)>, GitError> {
    let seen: Vec<&CommitId> = range.from.iter().collect();
    let mut nodes = HashMap::new();
    for commit in git.commits_between(&seen, &range.to, usize::MAX)? {
        let id = git.object_id(&commit)?;
        nodes.insert(id, reader.commit(id)?);
    }
    let mut children: HashMap<ObjectId, Vec<ObjectId>> = HashMap::new();
    let mut waits_for: HashMap<ObjectId, usize> = HashMap::new();
    for (commit, node) in &nodes {
        let inside = node.parents.iter().filter(|parent| nodes.contains_key(*parent));
        waits_for.insert(*commit, inside.clone().count());
        inside.for_each(|parent| children.entry(*parent).or_default().push(*commit));
    }
    let ready = waits_for.iter().filter(|(_, count)| **count == 0);
    let mut ready: BinaryHeap<Reverse<(i64, ObjectId)>> =
        ready.map(|(commit, _)| Reverse((nodes[commit].time, *commit))).collect();
    let mut ordered = Vec::with_capacity(nodes.len());
    while let Some(Reverse((_, commit))) = ready.pop() {
        for child in children.remove(&commit).unwrap_or_default() {
            let left = waits_for.entry(child).or_default();
            *left -= 1;
            if *left == 0 {
                ready.push(Reverse((nodes[&child].time, child)));
            }
        }
        ordered.extend(nodes.remove(&commit).map(|node| (commit, node)));
    }
    Ok(ordered)
}
