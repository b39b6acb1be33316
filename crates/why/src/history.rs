//! Finds out which commit added which evidence, and which of two commits came first.
//!
//! Both come from one walk through the history. The result is cached in two tables in the git
//! directory, so that the next walk visits only new commits. The cache cannot become stale, since a
//! commit never changes. If a table is missing or damaged, the whole history is walked again.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use ground::git::{AddedFile, WalkedHistory};
use ground::table::{Damaged, Table};
use ground::{CommitId, Git, RelativePath, Root, cache};
use ledger::{Digest, EVIDENCE_FOLDER, evidence};

const BROUGHT: &str = "brought 3";
const LINE: &str = "line 1";
/// The length of the longest commit id (SHA-256), in bytes.
const ID: usize = 32;
/// The length of a row of the first table, in bytes: a digest, the commit that added it, and the
/// first parent of that commit.
const ROW: usize = 16 + 2 * ID;
/// The length of a row of the second table, in bytes: a commit on the line of first parents, and
/// its place on that line, which is its distance from the root commit.
const PLACE: usize = ID + 4;
/// The maximum number of stored tips. More would exist only after very many rewrites of history.
const MAX_TIPS: usize = 64;
/// The tables are written again after a walk of more commits than this. Writing takes longer the
/// more commits the tables hold, so the limit grows with them, within this range.
const MAX_COMMITS: std::ops::RangeInclusive<usize> = 8..=64;
/// The limit grows by one commit for each this many commits in the tables.
const COMMITS_PER_STEP: usize = 1_000;

/// The commit that evidence is about, with its first parent.
#[derive(Clone, Debug, Default)]
pub struct Covered {
    /// The commit; `None` if the evidence is not committed yet.
    pub commit: Option<CommitId>,
    pub parent: Option<CommitId>,
}

impl Covered {
    /// Returns true if the commit is `of` or an ancestor of `of`.
    pub fn is_before(&self, git: &Git, of: &CommitId) -> bool {
        self.commit.as_ref().is_some_and(|commit| git.is_ancestor(of, commit).unwrap_or(false))
    }
}

/// What is known of the history that leads to a commit: the cached tables, and the commits walked
/// since.
pub struct History {
    recent: Found,
    kept: Option<Tables>,
    /// The result of walking the whole history. Filled only if a table turns out to be damaged.
    rewalked: OnceLock<Found>,
    /// The commits in `recent` and `kept` that are not in the history of the head, because a rebase
    /// or a reset has dropped them. Filled only if several commits added the same evidence. One
    /// walk finds all of them, because a walk for each would take longer with each rebase.
    dropped: OnceLock<HashSet<CommitId>>,
    head: CommitId,
}

/// The result of one walk.
#[derive(Default)]
struct Found {
    commits: usize,
    /// For each section of evidence, the commits that added it: several if it was cherry-picked, or
    /// removed and restored.
    brought: HashMap<Digest, Vec<Covered>>,
    /// The commits on the line of first parents, each with its distance from the root commit.
    line: HashMap<CommitId, u32>,
}

struct Tables {
    brought: Table<ROW>,
    line: Table<PLACE>,
    /// The commits at which earlier walks began, newest first. Both tables have them as header.
    tips: Vec<CommitId>,
    /// The place of the last stored commit on the line of first parents that leads to the head.
    /// `None` if no commit of that line is stored.
    end: Option<u32>,
}

/// Returns a commit id as bytes, padded with zeros.
fn bytes(commit: Option<&CommitId>) -> [u8; ID] {
    let hex = commit.map_or("", |commit| &commit.0).as_bytes();
    let digit =
        |at: usize| hex.get(at).and_then(|digit| (*digit as char).to_digit(16)).unwrap_or(0);
    std::array::from_fn(|at| (digit(2 * at) << 4 | digit(2 * at + 1)) as u8)
}

/// The inverse of [`bytes`]. The result is as long as the id `like`.
fn commit(bytes: &[u8], like: &CommitId) -> Option<CommitId> {
    let is_none = bytes.iter().all(|byte| *byte == 0);
    let hex = || code::hex(bytes).chars().take(like.0.len()).collect();
    (!is_none).then(|| CommitId(hex()))
}

fn digest(name: &str) -> Option<Digest> {
    evidence::digest_of_path(&RelativePath::new(&format!("{EVIDENCE_FOLDER}/{name}")).ok()?)
}

impl Found {
    fn from_walk(walked: &WalkedHistory, end: Option<u32>) -> Self {
        let mut brought: HashMap<Digest, Vec<Covered>> = HashMap::new();
        for AddedFile { name, commit, parent } in &walked.added {
            let Some(digest) = digest(name) else { continue };
            let covered = Covered { commit: Some(commit.clone()), parent: parent.clone() };
            brought.entry(digest).or_default().push(covered);
        }
        // Places can only be numbered from the root commit, or from a commit whose place is stored.
        let is_known = end.is_some() || walked.onto.is_none();
        let line = walked.line.iter().rev().filter(|_| is_known);
        let line = line.zip(end.map_or(0, |end| end + 1)..);
        let line = line.map(|(commit, at)| (commit.clone(), at)).collect();
        Self { commits: walked.commits, brought, line }
    }
}

impl Tables {
    fn open((brought, line): &(PathBuf, PathBuf)) -> Option<Self> {
        let (brought, head) = Table::open(brought, BROUGHT)?;
        let (line, same) = Table::open(line, LINE)?;
        let tips = postcard::from_bytes(&head).ok().filter(|_| head == same)?;
        Some(Self { brought, line, tips, end: None })
    }

    fn row_of(&self, of: &CommitId) -> Result<Option<u32>, Damaged> {
        Ok(self.line.rows(&bytes(Some(of)))?.first().map(place_in))
    }
}

/// Returns the place in a row of the second table.
fn place_in(row: &[u8; PLACE]) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|at| row[ID + at]))
}

fn paths(root: &Root) -> Option<(PathBuf, PathBuf)> {
    cache::shared(root, "brought").zip(cache::shared(root, "line"))
}

impl History {
    /// Walks from `head` back to the commits that earlier walks visited.
    pub(crate) fn walked_from(root: &Root, git: &Git, head: &CommitId) -> Self {
        let paths = paths(root);
        let kept = paths.as_ref().and_then(Tables::open);
        let (recent, kept) = match kept.and_then(|kept| Self::walked_onward(git, head, kept)) {
            Some((recent, kept)) => (recent, Some(kept)),
            None => (Self::walk_all(git, head), None),
        };
        let end = kept.as_ref().and_then(|kept| kept.end).map_or(0, |end| end as usize);
        let (rewalked, dropped, head) = (OnceLock::new(), OnceLock::new(), head.clone());
        let history = Self { recent, kept, rewalked, dropped, head };
        let most = (end / COMMITS_PER_STEP).clamp(*MAX_COMMITS.start(), *MAX_COMMITS.end());
        if let Some(paths) = paths.filter(|_| history.recent.commits > most) {
            history.write(&paths);
        }
        history
    }

    fn walk_all(git: &Git, head: &CommitId) -> Found {
        let walked = git.walk(EVIDENCE_FOLDER, head, &[]).inspect_err(|error| {
            tracing::warn!(%error, "the history of the evidence cannot be read");
        });
        Found::from_walk(&walked.unwrap_or_default(), None)
    }

    /// Walks only the commits that the tables do not have. `None` if the tables are damaged.
    fn walked_onward(git: &Git, head: &CommitId, mut kept: Tables) -> Option<(Found, Tables)> {
        let walked = match kept.tips.contains(head) {
            true => WalkedHistory { onto: Some(head.clone()), ..WalkedHistory::default() },
            false => git.walk(EVIDENCE_FOLDER, head, &kept.tips).ok()?,
        };
        kept.end = match &walked.onto {
            Some(onto) => kept.row_of(onto).ok()?,
            None => None,
        };
        Some((Found::from_walk(&walked, kept.end), kept))
    }

    fn write(&self, (brought_path, line_path): &(PathBuf, PathBuf)) {
        let mut tips = vec![self.head.clone()];
        let mut brought: Vec<[u8; ROW]> = Vec::new();
        let mut line: Vec<[u8; PLACE]> = Vec::new();
        if let Some(kept) = &self.kept {
            let (Ok(then), Ok(places)) = (kept.brought.all_rows(), kept.line.all_rows()) else {
                return;
            };
            brought.extend(then);
            let end = kept.end;
            line.extend(
                places.into_iter().filter(|row| end.is_some_and(|end| place_in(row) <= end)),
            );
            tips.extend(kept.tips.iter().filter(|tip| **tip != self.head).cloned());
            tips.truncate(MAX_TIPS);
        }
        let recent = self.recent.brought.iter();
        let recent = recent.flat_map(|(digest, all)| all.iter().map(move |one| (digest, one)));
        brought.extend(recent.map(|(digest, Covered { commit, parent })| {
            let row =
                [&digest.as_bytes()[..], &bytes(commit.as_ref()), &bytes(parent.as_ref())].concat();
            std::array::from_fn(|at| row[at])
        }));
        line.extend(self.recent.line.iter().map(|(commit, place)| {
            let row = [&bytes(Some(commit))[..], &place.to_le_bytes()].concat();
            std::array::from_fn(|at| row[at])
        }));
        let head = postcard::to_stdvec(&tips).unwrap_or_default();
        let written = Table::write(brought_path, BROUGHT, &head, brought)
            .and_then(|()| Table::write(line_path, LINE, &head, line));
        if let Err(error) = written {
            tracing::debug!(%error, "the history of the evidence is not kept");
        }
    }

    fn rewalked(&self, git: &Git) -> &Found {
        self.rewalked.get_or_init(|| Self::walk_all(git, &self.head))
    }

    /// Returns the commit that added a section of evidence, and its first parent. If several
    /// commits added it, the earliest one is returned: a section that was removed and restored
    /// still describes the commit that it was sealed for.
    pub fn covering(&self, git: &Git, evidence: Digest) -> Option<Covered> {
        let mut all = self.recent.brought.get(&evidence).cloned().unwrap_or_default();
        if let Some(kept) = &self.kept {
            match kept.brought.rows(evidence.as_bytes()) {
                Ok(rows) => all.extend(rows.iter().map(|row| Covered {
                    commit: commit(&row[16..16 + ID], &self.head),
                    parent: commit(&row[16 + ID..], &self.head),
                })),
                Err(Damaged) => all = self.rewalked(git).brought.get(&evidence)?.clone(),
            }
        }
        if all.len() > 1 {
            let dropped = self.dropped(git);
            all.retain(|one| one.commit.as_ref().is_some_and(|commit| !dropped.contains(commit)));
        }
        let mut all = all.into_iter();
        let first = all.next()?;
        Some(all.fold(first, |first, other| {
            let is_earlier =
                first.commit.as_ref().is_some_and(|commit| other.is_before(git, commit));
            if is_earlier { other } else { first }
        }))
    }

    fn dropped(&self, git: &Git) -> &HashSet<CommitId> {
        self.dropped.get_or_init(|| {
            let recent = self.recent.brought.values().flatten();
            let mut commits: HashSet<_> = recent.filter_map(|one| one.commit.clone()).collect();
            let kept = self.kept.as_ref().and_then(|kept| kept.brought.all_rows().ok());
            let kept = kept.unwrap_or_default().into_iter();
            commits.extend(kept.filter_map(|row| commit(&row[16..16 + ID], &self.head)));
            commits.retain(|commit| self.row_of(git, commit).is_none());
            git.outside(&self.head, commits.clone()).unwrap_or(commits)
        })
    }

    fn row_of(&self, git: &Git, of: &CommitId) -> Option<u32> {
        if let Some(at) = self.recent.line.get(of) {
            return Some(*at);
        }
        let kept = self.kept.as_ref()?;
        match kept.row_of(of) {
            Ok(at) => at.filter(|at| kept.end.is_some_and(|end| *at <= end)),
            Err(Damaged) => self.rewalked(git).line.get(of).copied(),
        }
    }

    /// Returns true if `one` is the same commit as `other` or comes before it. `None` if they are
    /// not both on the line of first parents.
    pub fn precedes(&self, git: &Git, one: &CommitId, other: &CommitId) -> Option<bool> {
        Some(self.row_of(git, one)? <= self.row_of(git, other)?)
    }
}
