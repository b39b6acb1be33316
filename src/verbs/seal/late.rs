//! Late sealing: commits that were made without our hook, by other tools, with `--no-verify`, or before hooks were
//! installed.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use super::retire::is_there;
use super::{COMMAND, Draft, Sealing, Sources, claims_as_it_stood, may_hold, of_change};
use crate::ledger::{Digest, Entry, journal};
use crate::verbs::{VerbError, Workspace};
use crate::workspace::git::Target;
use crate::workspace::{CommitId, Git, RelativePath, store};

/// No more commits than this are searched for code of the journal.
const MAX_COMMITS: usize = 1_000;
/// No more commits than this are looked at for where code came from that was claimed as it stood.
const MAX_HISTORY: usize = 20_000;
/// A file larger than this, in bytes, was not written by us.
const MAX_HANDLED: u64 = 16 * 1024 * 1024;

/// The commits that were searched without finding code of the journal, each with the time of the search in milliseconds
/// since 1970. Only records that were made after that time are searched for in that commit again. A commit in which
/// something was found is not listed here, so it is searched until its evidence is committed, and again if a reset
/// removes that.
pub(super) struct Handled {
    path: Option<PathBuf>,
    at: BTreeMap<String, i64>,
}

impl Handled {
    fn load(ws: &Workspace) -> Self {
        let path = ws.root.common_dir().map(|common| common.join("intent/cache/handled.json"));
        let bytes = path.as_ref().and_then(|path| store::read_capped(path, MAX_HANDLED).ok()?);
        let at = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { path, at }
    }

    /// Stores the commits that were searched.
    pub(super) fn save(mut self, since: i64) {
        self.at.retain(|_, at| *at >= since);
        if let (Some(path), Ok(bytes)) = (self.path, serde_json::to_vec(&self.at))
            && let Err(error) = store::write_scratch(&path, &bytes)
        {
            tracing::debug!(%error, "which commits were sealed is not kept");
        }
    }
}

/// The result of late sealing.
pub(super) struct Late {
    /// The drafts, oldest commit first.
    pub drafts: Vec<Draft>,
    pub handled: Handled,
    /// The time of the oldest record that is still open.
    pub since: i64,
}

/// Searches commits for code of the journal.
pub(super) fn look(
    ws: &Workspace,
    sources: &Sources,
    until: Option<Instant>,
) -> Result<Late, VerbError> {
    let mut late = Late { drafts: Vec::new(), handled: Handled::load(ws), since: 0 };
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(late) };
    let (sealed, history) = (journal::sealed(&ws.root), ws.history());
    // `git revert` takes out the evidence of a commit together with its code, so it is not made again.
    let stands = LazyCell::new(|| ws.ledger.sections());
    let was_reverted = |entry: &Entry| {
        let was_taken_out = |section: &Digest| {
            let brought = history.as_ref().and_then(|history| history.covering(git, *section));
            brought.is_some() && !stands.contains(section)
        };
        sealed.sections_of(&entry.record.id).iter().any(was_taken_out) && !is_there(ws, entry)
    };
    let open: Vec<(i64, &Entry)> = sources
        .ledger
        .open()
        .filter(|entry| !entry.record.files.is_empty() && !was_reverted(entry))
        .filter_map(|entry| Some((store::milliseconds(&entry.record.timestamp)?, entry)))
        .collect();
    let Some(since) = open.iter().map(|(time, _)| *time).min() else { return Ok(late) };
    late.since = since - COMMAND;
    let mut commits = git.commits_since(head, late.since / 1_000, MAX_COMMITS)?;
    let found: Vec<&Entry> = open.iter().map(|(_, entry)| *entry).collect();
    match earlier(git, head, &commits, &found, until)? {
        Some(earlier) => commits.extend(earlier),
        None => late.drafts.push(Draft { incomplete: true, ..Draft::default() }),
    }
    for commit in commits.into_iter().rev() {
        let about = git.about(&commit)?;
        if is_cut_off(git, &about.parents) {
            continue;
        }
        let sealing = Sealing {
            target: Target::Commit(commit.clone()),
            bases: about.parents,
            committed: Some(about.time * 1_000),
        };
        let handled = late.handled.at.get(&commit.0).copied().unwrap_or(i64::MIN);
        let may_be_in = |(time, entry): &&(i64, &Entry)| {
            let record = &entry.record;
            *time > handled && (!sealing.is_before(record) || claims_as_it_stood(record))
        };
        let paths: HashSet<&RelativePath> = open
            .iter()
            .filter(may_be_in)
            .flat_map(|(_, entry)| entry.record.files.iter().map(|file| &file.relative_path))
            .collect();
        if paths.is_empty() {
            continue;
        }
        if until.is_some_and(|until| Instant::now() > until) {
            late.drafts.push(Draft { incomplete: true, ..Draft::default() });
            break;
        }
        let now = store::milliseconds(&store::now()).unwrap_or_default();
        let draft = of_commit(ws, sources, &sealing, &paths, until)?;
        if !draft.incomplete && draft.is_empty() {
            late.handled.at.insert(commit.0.clone(), now);
        }
        late.drafts.push(Draft { of: Some(commit), ..draft });
    }
    Ok(late)
}

/// Returns true for the first commit of a shallow clone: its parents are not here, so nobody knows what it changed.
fn is_cut_off(git: &Git, parents: &[CommitId]) -> bool {
    git.is_shallow() && parents.iter().any(|parent| git.about(parent).is_err())
}

/// The commits before `commits` that brought files of which something was claimed as it stood, newest first. `None` if
/// the time was not enough.
fn earlier(
    git: &Git,
    head: &CommitId,
    commits: &[CommitId],
    open: &[&Entry],
    until: Option<Instant>,
) -> Result<Option<Vec<CommitId>>, VerbError> {
    let found = open.iter().filter(|entry| claims_as_it_stood(&entry.record));
    let files = found.flat_map(|entry| &entry.record.files);
    let mut sought: HashSet<&RelativePath> = files.map(|file| &file.relative_path).collect();
    let mut earlier = Vec::new();
    if sought.is_empty() {
        return Ok(Some(earlier));
    }
    let known: HashSet<&CommitId> = commits.iter().collect();
    for commit in git.commits_since(head, 0, MAX_HISTORY)? {
        if until.is_some_and(|until| Instant::now() > until) {
            return Ok(None);
        }
        let parents = git.about(&commit)?.parents;
        if is_cut_off(git, &parents) {
            continue;
        }
        let brought = git.brought_by(&commit)?;
        if !known.contains(&commit) && sought.iter().any(|path| brought.contains(*path)) {
            earlier.push(commit.clone());
        }
        // Before the commit that added it, a file has no history under this name.
        let had = |path: &RelativePath| {
            parents.iter().any(|parent| git.has_file(parent, path).unwrap_or(true))
        };
        sought.retain(|path| !brought.contains(*path) || had(path));
        if sought.is_empty() {
            break;
        }
    }
    Ok(Some(earlier))
}

fn of_commit(
    ws: &Workspace,
    sources: &Sources,
    sealing: &Sealing,
    paths: &HashSet<&RelativePath>,
    until: Option<Instant>,
) -> Result<Draft, VerbError> {
    let changes = ws.git().map(|git| git.changes(sealing.bases.first(), &sealing.target));
    let changes = changes.transpose()?.unwrap_or_default();
    match changes.iter().any(|change| may_hold(change, |path| paths.contains(path))) {
        true => of_change(ws, sources, sealing, until),
        false => Ok(Draft::default()),
    }
}
