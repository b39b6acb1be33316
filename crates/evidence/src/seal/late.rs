//! Late sealing: makes evidence for commits that were made without our hook, for example by other
//! tools, with `--no-verify`, or before the hooks were installed.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use super::retire::is_there;
use super::{Draft, LONGEST_COMMAND, Sealing, Sources, claims_as_it_stood, of_change};
use ground::cache::SharedAnswers;
use ground::git::Target;
use ground::{CommitId, Git, RelativePath, clock};
use ledger::{Digest, Entry, journal};
use why::{VerbError, Workspace};

/// The maximum number of commits that are searched for code of the journal.
const MAX_COMMITS: usize = 1_000;
/// The maximum number of commits that are searched for the origin of code that was claimed as it
/// was.
const MAX_HISTORY: usize = 20_000;

/// The commits that were searched without finding code of the journal, each with the time of the
/// search in milliseconds since 1970. Only records that were made after that time are searched for
/// in that commit again.
///
/// A commit in which something was found is not listed, so it is searched until its evidence is
/// committed, and again if a reset removes the evidence. The key `..COMMIT` stands for the whole
/// history of a commit.
type Handled = SharedAnswers<i64>;

pub(super) struct Late {
    /// The drafts, those of the oldest commits first.
    pub drafts: Vec<Draft>,
    handled: Handled,
    /// The time before which no commit has to be searched: that of the oldest open record, less
    /// [`LONGEST_COMMAND`].
    since: i64,
}

impl Late {
    /// Stores which commits were searched, without those that need not be searched again.
    pub(super) fn save_handled(mut self) {
        self.handled.known.retain(|_, at| *at >= self.since);
        self.handled.save();
    }
}

/// Searches commits for code of the journal.
pub(super) fn look(
    ws: &Workspace,
    sources: &Sources,
    until: Option<Instant>,
) -> Result<Late, VerbError> {
    let mut late =
        Late { drafts: Vec::new(), handled: Handled::load(&ws.root, "handled.json"), since: 0 };
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(late) };
    let (sealed, history) = (journal::sealed(&ws.root), ws.history());
    // `git revert` removes the evidence of a commit together with its code. That evidence must not
    // be made again.
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
        .filter_map(|entry| Some((clock::milliseconds(&entry.record.timestamp)?, entry)))
        .collect();
    let Some(since) = open.iter().map(|(time, _)| *time).min() else { return Ok(late) };
    late.since = since - LONGEST_COMMAND;
    let search = Search { ws, sources, git, open: &open, until };
    let commits = git.commits_since(head, late.since / 1_000, MAX_COMMITS)?;
    for commit in commits.iter().rev() {
        late.drafts.extend(search.commit(commit, &mut late.handled)?);
        if late.drafts.last().is_some_and(|draft| draft.incomplete) {
            return Ok(late);
        }
    }
    let earlier = search.earlier(head, &commits, &mut late.handled)?;
    late.drafts.splice(0..0, earlier);
    Ok(late)
}

/// The search for the commits that contain the code of open records.
struct Search<'a> {
    ws: &'a Workspace,
    sources: &'a Sources,
    git: &'a Git,
    /// The open records, each with its time in milliseconds since 1970.
    open: &'a [(i64, &'a Entry)],
    until: Option<Instant>,
}

impl Search<'_> {
    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    /// Searches one commit for code of the journal. `None` if it cannot contain any.
    fn commit(&self, commit: &CommitId, handled: &mut Handled) -> Result<Option<Draft>, VerbError> {
        let about = self.git.commit_info(commit)?;
        if is_cut_off(self.git, &about.parents) {
            return Ok(None);
        }
        let sealing = Sealing {
            target: Target::Commit(commit.clone()),
            bases: about.parents,
            committed: Some(about.time * 1_000),
        };
        let before = handled.known.get(&commit.0).copied().unwrap_or(i64::MIN);
        let may_be_in = |(time, entry): &&(i64, &Entry)| {
            let record = &entry.record;
            *time > before && (!sealing.is_before(record) || claims_as_it_stood(record))
        };
        let records = self.open.iter().filter(may_be_in).map(|(_, entry)| *entry);
        let paths = paths_of(records);
        if paths.is_empty() {
            return Ok(None);
        }
        if self.is_late() {
            return Ok(Some(Draft::unsearched()));
        }
        let now = clock::now_in_milliseconds();
        let mut draft = of_change(self.ws, self.sources, &sealing, &paths, self.until)?;
        if draft.is_nothing() {
            handled.known.insert(commit.0.clone(), now);
        }
        draft.of = Some(commit.clone());
        Ok(Some(draft))
    }

    /// Finds the commits of code that was recorded long after it was committed. Commits in `known`
    /// are left out, and the oldest comes first. If nothing was found in a history, it is not
    /// searched again. For example, a person records a file of which one function was committed
    /// in March and the other in May. The result is one draft for each of these two commits.
    fn earlier(
        &self,
        head: &CommitId,
        known: &[CommitId],
        handled: &mut Handled,
    ) -> Result<Vec<Draft>, VerbError> {
        let mut found: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
        for (time, entry) in self.open.iter().filter(|(_, one)| claims_as_it_stood(&one.record)) {
            let based_on = entry.record.vcs.as_ref().and_then(|vcs| vcs.revision_id.clone());
            let before = |revision: &String| handled.known.get(&history_of(revision)).copied();
            if let Some(revision) = based_on.filter(|one| before(one).is_none_or(|at| *time > at)) {
                found.entry(revision).or_default().push(entry);
            }
        }
        let mut drafts: Vec<Draft> = Vec::new();
        for (revision, entries) in found {
            let from = CommitId(revision.clone());
            if !self.git.is_ancestor(head, &from).unwrap_or(false) {
                continue;
            }
            let now = clock::now_in_milliseconds();
            let mut is_empty = true;
            let Some(commits) = self.history(&from, paths_of(entries.into_iter()))? else {
                drafts.push(Draft::unsearched());
                break;
            };
            for commit in commits.into_iter().filter(|commit| !known.contains(commit)) {
                let is_there = drafts.iter().any(|draft| draft.of.as_ref() == Some(&commit));
                let draft = if is_there { None } else { self.commit(&commit, handled)? };
                is_empty &= !is_there && draft.as_ref().is_none_or(Draft::is_nothing);
                drafts.extend(draft);
            }
            if is_empty {
                handled.known.insert(history_of(&revision), now);
            }
        }
        Ok(drafts)
    }

    /// Returns the commits that changed these files, from `from` back to the commit that added each
    /// file, oldest first. `None` if the time ran out.
    fn history(
        &self,
        from: &CommitId,
        mut paths: HashSet<&RelativePath>,
    ) -> Result<Option<Vec<CommitId>>, VerbError> {
        let mut commits = Vec::new();
        for commit in self.git.commits_since(from, 0, MAX_HISTORY)? {
            if paths.is_empty() {
                break;
            }
            if self.is_late() {
                return Ok(None);
            }
            let parents = self.git.commit_info(&commit)?.parents;
            if is_cut_off(self.git, &parents) {
                continue;
            }
            let brought = self.git.changed_by(&commit)?;
            if !paths.iter().any(|path| brought.contains(*path)) {
                continue;
            }
            // A file has no history under this name before the commit that added it.
            let had = |path: &RelativePath| {
                parents.iter().any(|parent| self.git.has_file(parent, path).unwrap_or(true))
            };
            paths.retain(|path| !brought.contains(*path) || had(path));
            commits.push(commit);
        }
        commits.reverse();
        Ok(Some(commits))
    }
}

/// Returns the files that these records name.
pub(super) fn paths_of<'a>(records: impl Iterator<Item = &'a Entry>) -> HashSet<&'a RelativePath> {
    records.flat_map(|entry| entry.record.files.iter().map(|file| &file.relative_path)).collect()
}

/// Returns the key in [`Handled`] for the whole history of a commit.
fn history_of(revision: &str) -> String {
    format!("..{revision}")
}

/// Returns true for the oldest commits of a shallow clone. Their parents are missing, so their
/// changes are not known.
fn is_cut_off(git: &Git, parents: &[CommitId]) -> bool {
    git.is_shallow() && parents.iter().any(|parent| git.commit_info(parent).is_err())
}
