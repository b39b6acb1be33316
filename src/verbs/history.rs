//! Which commit brought which evidence, and which of two commits came first.
//!
//! Both are found by one walk through history, which is kept in two tables in the git directory and goes on from there: a
//! commit never changes, so neither does what it brought. Where a table is missing or damaged, all of history is walked.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::derive::Covered;
use crate::ledger::{Digest, evidence};
use crate::workspace::git::{Brought, Walked};
use crate::workspace::table::{Damaged, Table};
use crate::workspace::{CommitId, Git, RelativePath, Root};

const FOLDER: &str = ".orchestration/agent_trace";
const BROUGHT: &str = "brought 2";
const LINE: &str = "line 1";
/// Bytes of the longest id of a commit.
const ID: usize = 32;
/// A digest, two commits, and whether the first of them took evidence away, too.
const ROW: usize = 16 + 2 * ID + 1;
/// A commit, and its place in the line.
const PLACE: usize = ID + 4;
/// So many tips are kept in mind; more would only be there after very many rewrites.
const MAX_TIPS: usize = 64;
/// When so many commits were walked, the tables are written anew.
const MAX_COMMITS: usize = 64;

/// What was found by walking from a commit.
pub(super) struct History {
    recent: Found,
    kept: Option<Tables>,
    /// All of it, where a table turns out to be damaged.
    again: OnceLock<Found>,
    head: CommitId,
}

/// What a walk found.
#[derive(Default)]
struct Found {
    commits: usize,
    /// With whether the commit also took evidence away.
    brought: HashMap<Digest, (Covered, bool)>,
    /// The commits that are reached by first parents, by their distance from the first one.
    line: HashMap<CommitId, u32>,
}

struct Tables {
    brought: Table<ROW>,
    line: Table<PLACE>,
    head: Head,
    /// The last place of the line that the head of this walk goes on from.
    end: Option<u32>,
}

/// What is said of a table of commits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    /// The commits from which was walked, newest first.
    tips: Vec<CommitId>,
}

/// An id of a commit, filled up with zeros.
fn bytes(commit: Option<&CommitId>) -> [u8; ID] {
    let hex = commit.map_or("", |commit| &commit.0).as_bytes();
    let digit =
        |at: usize| hex.get(at).and_then(|digit| (*digit as char).to_digit(16)).unwrap_or(0);
    std::array::from_fn(|at| (digit(2 * at) << 4 | digit(2 * at + 1)) as u8)
}

/// The reverse, for an id as long as `like`.
fn commit(bytes: &[u8], like: &CommitId) -> Option<CommitId> {
    let is_none = bytes.iter().all(|byte| *byte == 0);
    let hex = || crate::workspace::store::hex(bytes).chars().take(like.0.len()).collect();
    (!is_none).then(|| CommitId(hex()))
}

fn has_moved(row: &[u8; ROW]) -> bool {
    row[ROW - 1] != 0
}

fn digest(name: &str) -> Option<Digest> {
    evidence::digest_of_path(&RelativePath::new(&format!("{FOLDER}/{name}")).ok()?)
}

impl Found {
    fn of(walked: &Walked, end: Option<u32>) -> Self {
        let mut brought: HashMap<Digest, (Covered, bool)> = HashMap::new();
        // Newest first: of several that brought a file, the first speaks. A compaction that is reverted brings files back
        // without what they are about, so whoever took no other evidence away goes before.
        for Brought { name, commit, parent, moved } in &walked.brought {
            let Some(digest) = digest(name) else { continue };
            let is_better = |(_, then): &(Covered, bool)| *then && !moved;
            if brought.get(&digest).is_none_or(is_better) {
                let covered = Covered { commit: Some(commit.clone()), parent: parent.clone() };
                brought.insert(digest, (covered, *moved));
            }
        }
        // Where it does not begin at a first commit or at a known place, places say nothing.
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
        let head = postcard::from_bytes(&head).ok().filter(|_| head == same)?;
        Some(Self { brought, line, head, end: None })
    }

    fn place(&self, of: &CommitId) -> Result<Option<u32>, Damaged> {
        let row = self.line.rows(&bytes(Some(of)))?.into_iter().next();
        Ok(row.map(|row| u32::from_le_bytes(std::array::from_fn(|at| row[ID + at]))))
    }
}

fn paths(root: &Root) -> Option<(PathBuf, PathBuf)> {
    let cache = root.common_dir()?.join("intent/cache");
    Some((cache.join("brought"), cache.join("line")))
}

impl History {
    /// Walks from a commit to where was walked before.
    pub(super) fn of(root: &Root, git: &Git, head: &CommitId) -> Self {
        let paths = paths(root);
        let kept = paths.as_ref().and_then(Tables::open);
        let history = kept.and_then(|kept| Self::onward(git, head, kept));
        let history = history.unwrap_or_else(|| Self::whole(git, head));
        if let Some(paths) = paths.filter(|_| history.recent.commits > MAX_COMMITS) {
            history.write(&paths);
        }
        history
    }

    fn whole(git: &Git, head: &CommitId) -> Self {
        let recent = Self::walk_all(git, head);
        Self { recent, kept: None, again: OnceLock::new(), head: head.clone() }
    }

    fn walk_all(git: &Git, head: &CommitId) -> Found {
        let walked = git.walk(FOLDER, head, &[]).inspect_err(|error| {
            tracing::warn!(%error, "the history of the evidence cannot be read");
        });
        Found::of(&walked.unwrap_or_default(), None)
    }

    /// `None` where the tables are damaged.
    fn onward(git: &Git, head: &CommitId, mut kept: Tables) -> Option<Self> {
        let walked = match kept.head.tips.contains(head) {
            true => Walked { onto: Some(head.clone()), ..Walked::default() },
            false => git.walk(FOLDER, head, &kept.head.tips).ok()?,
        };
        kept.end = match &walked.onto {
            Some(onto) => kept.place(onto).ok()?,
            None => None,
        };
        let recent = Found::of(&walked, kept.end);
        Some(Self { recent, kept: Some(kept), again: OnceLock::new(), head: head.clone() })
    }

    fn write(&self, (brought_path, line_path): &(PathBuf, PathBuf)) {
        let mut head = Head { tips: vec![self.head.clone()] };
        let mut brought: Vec<[u8; ROW]> = Vec::new();
        let mut recent = self.recent.brought.clone();
        let mut line: Vec<[u8; PLACE]> = Vec::new();
        if let Some(kept) = &self.kept {
            let (Ok(then), Ok(places)) = (kept.brought.all(), kept.line.all()) else { return };
            for row in then {
                let digest = Digest::from_bytes(std::array::from_fn(|at| row[at]));
                let newer = recent.get(&digest);
                if newer.is_none_or(|(_, moved)| *moved && !has_moved(&row)) {
                    recent.remove(&digest);
                    brought.push(row);
                }
            }
            let at = |row: &[u8; PLACE]| u32::from_le_bytes(std::array::from_fn(|at| row[ID + at]));
            line.extend(
                places.into_iter().filter(|row| kept.end.is_some_and(|end| at(row) <= end)),
            );
            head.tips.extend(kept.head.tips.iter().filter(|tip| **tip != self.head).cloned());
            head.tips.truncate(MAX_TIPS);
        }
        brought.extend(recent.iter().map(|(digest, (covered, moved))| {
            let row = [
                &digest.as_bytes()[..],
                &bytes(covered.commit.as_ref()),
                &bytes(covered.parent.as_ref()),
                &[u8::from(*moved)],
            ];
            let row = row.concat();
            std::array::from_fn(|at| row[at])
        }));
        line.extend(self.recent.line.iter().map(|(commit, place)| {
            let row = [&bytes(Some(commit))[..], &place.to_le_bytes()].concat();
            std::array::from_fn(|at| row[at])
        }));
        let head = postcard::to_stdvec(&head).unwrap_or_default();
        let written = Table::write(brought_path, BROUGHT, &head, brought)
            .and_then(|()| Table::write(line_path, LINE, &head, line));
        if let Err(error) = written {
            tracing::debug!(%error, "the history of the evidence is not kept");
        }
    }

    fn again(&self, git: &Git) -> &Found {
        self.again.get_or_init(|| Self::walk_all(git, &self.head))
    }

    /// The commit that brought a file of evidence, and the one that it was made on.
    pub(super) fn covering(&self, git: &Git, evidence: Digest) -> Option<Covered> {
        let recent = self.recent.brought.get(&evidence);
        if let Some((covered, false)) = recent {
            return Some(covered.clone());
        }
        let recent = recent.map(|(covered, _)| covered.clone());
        let Some(kept) = &self.kept else { return recent };
        match kept.brought.rows(evidence.as_bytes()) {
            Ok(rows) => {
                let mut rows = rows.iter().filter(|row| recent.is_none() || !has_moved(row));
                let then = rows.next().map(|row| Covered {
                    commit: commit(&row[16..16 + ID], &self.head),
                    parent: commit(&row[16 + ID..16 + 2 * ID], &self.head),
                });
                then.or(recent)
            }
            Err(Damaged) => self.again(git).brought.get(&evidence).map(|(found, _)| found.clone()),
        }
    }

    fn place(&self, git: &Git, of: &CommitId) -> Option<u32> {
        if let Some(at) = self.recent.line.get(of) {
            return Some(*at);
        }
        let kept = self.kept.as_ref()?;
        match kept.place(of) {
            Ok(at) => at.filter(|at| kept.end.is_some_and(|end| *at <= end)),
            Err(Damaged) => self.again(git).line.get(of).copied(),
        }
    }

    /// Whether one commit is the other, or an ancestor of it; `None` where that is not told by the line of first parents.
    pub(super) fn precedes(&self, git: &Git, one: &CommitId, other: &CommitId) -> Option<bool> {
        Some(self.place(git, one)? <= self.place(git, other)?)
    }
}
