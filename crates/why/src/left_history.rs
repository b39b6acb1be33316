//! Which commits with settled records have left the history, so that their records count again.
//!
//! A commit has left if the branch that is checked out goes on without it, after an amend, a rebase or
//! a reset, and no other branch, remote branch, tag or stash has it. Whoever goes to another branch, or
//! deletes one, has not taken its work along. Records also count again if the work or `HEAD` took over
//! the evidence of their commit: by a squash, or by a cherry-pick.
//!
//! If a person has erased a part of the evidence of a commit that has left, its records do not count
//! again, since a seal would publish what was erased.
//!
//! The references that keep the settled commits are noted. As long as each of them goes on from the
//! commit that it named then, no commit has left, and nothing else is looked at.

use std::collections::{HashMap, HashSet};

use ground::git::{GitError, WRONG_CLOCK};
use ground::{CommitId, Git, RelativePath, Root, store};
use history::LineText;
use history::runs_about;
use ledger::LineRuns;
use ledger::evidence::{self, Section};
use ledger::journal::{self, DraftNote, KeeperNote, Note};

#[derive(Debug, Default)]
pub struct LeftHistory {
    /// The commits whose settled records count again.
    pub commits: Vec<CommitId>,
    /// The commits whose settled records must never be published again.
    pub erased: Vec<CommitId>,
    /// The references that keep the other ones.
    pub keepers: Vec<KeeperNote>,
}

impl LeftHistory {
    /// `is_taken_over` says whether evidence of another commit is here, as in a squash; see
    /// [`takes_evidence_over`].
    pub fn since_last_seal(
        root: &Root,
        git: &Git,
        head: &CommitId,
        is_taken_over: bool,
    ) -> Result<Self, GitError> {
        match is_taken_over {
            true => Self::of_all_settled(root, git, head),
            false => Self::since_noted(root, git, head),
        }
    }

    /// Compares the references with those that were noted.
    fn since_noted(root: &Root, git: &Git, head: &CommitId) -> Result<Self, GitError> {
        let noted = KeeperNote::read_all(root);
        let own = KeeperNote { name: git.name_of_head(), commit: head.0.clone() };
        let go_on: Option<Vec<KeeperNote>> =
            noted.iter().map(|note| goes_on(git, note, &own)).collect();
        match go_on.filter(|keepers| !keepers.is_empty()) {
            Some(mut keepers) => {
                if !keepers.contains(&own) {
                    keepers.push(own);
                }
                Ok(Self { keepers, ..Self::default() })
            }
            None => Self::of_all_settled(root, git, head),
        }
    }

    /// Looks for each settled commit in the histories of all references.
    fn of_all_settled(root: &Root, git: &Git, head: &CommitId) -> Result<Self, GitError> {
        let own = KeeperNote { name: git.name_of_head(), commit: head.0.clone() };
        let mut found = Self { keepers: vec![own], ..Self::default() };
        let settled: HashSet<CommitId> =
            journal::settled_commits(root).into_iter().map(CommitId).collect();
        if settled.is_empty() {
            return Ok(found);
        }
        let elsewhere = git.outside(&[head], settled)?;
        let times = elsewhere.iter().filter_map(|commit| Some(git.commit_info(commit).ok()?.time));
        let kept = match times.min() {
            Some(oldest) => git.kept_commits(oldest.saturating_sub(WRONG_CLOCK))?,
            None => Vec::new(),
        };
        let tips: Vec<&CommitId> = kept.iter().map(|(_, commit)| commit).collect();
        let lost = git.outside(&tips, elsewhere.clone())?;
        let mut unkept: HashSet<CommitId> = elsewhere.difference(&lost).cloned().collect();
        for (name, commit) in &kept {
            if unkept.is_empty() {
                break;
            }
            let rest = git.outside(&[commit], unkept.clone())?;
            // Only the newest stash is named; the others are in the log of its name.
            if rest.len() < unkept.len()
                && let Some(CommitId(commit)) = git.commit_at(name)?
            {
                found.keepers.push(KeeperNote { name: name.clone(), commit });
            }
            unkept = rest;
        }
        let left = left_by_branch(root, git, head, lost)?;
        let is_open =
            |commit: &CommitId| left.contains(commit) || is_taken_over(root, git, head, commit);
        found.commits = elsewhere.into_iter().filter(is_open).collect();
        found.commits.sort();
        found.take_out_erased(root, git, head);
        Ok(found)
    }

    /// Moves those commits to `erased` that have, themselves or in the history that left with them,
    /// evidence of which a person has erased a part: a record with lines in two commits was settled with
    /// the later one. What is left of the evidence stands by itself.
    fn take_out_erased(&mut self, root: &Root, git: &Git, head: &CommitId) {
        let (mut seen, mut erased) = (vec![head.clone()], HashSet::new());
        for commit in &self.commits {
            let added = git.added_below(evidence::EVIDENCE_FOLDER, commit, &seen);
            let commits = added.unwrap_or_default().into_iter().map(|file| file.commit);
            let commits: HashSet<CommitId> = commits.collect();
            erased.extend(commits.into_iter().filter(|it| has_erased_evidence(root, git, it)));
            seen.push(commit.clone());
        }
        let has_erased = |commit: &CommitId| {
            erased.iter().any(|one| git.is_ancestor(commit, one).unwrap_or(true))
        };
        self.erased = self.commits.extract_if(.., |commit| has_erased(commit)).collect();
    }

    /// Returns those of the commits whose evidence `HEAD` does not have under another commit, or not
    /// with all of its lines.
    pub(crate) fn commits_without_evidence_in(self, git: &Git, head: &CommitId) -> Vec<String> {
        let stands = |file: &RelativePath| {
            let held = git.file_at(head, file).ok().flatten();
            held.is_some_and(|held| stands_as_sealed(git, head, (file, &held)).unwrap_or(false))
        };
        let is_open = |commit: &CommitId| {
            let files = evidence_added_by(git, commit);
            files.is_empty() || !files.iter().all(stands)
        };
        self.commits.into_iter().filter(is_open).map(|commit| commit.0).collect()
    }
}

/// Returns true if evidence of another commit that was sealed here is staged, or came with the new
/// `HEAD`: in a squash, or by a cherry-pick. A merge in progress takes none over, since it brings the
/// commit itself. `staged` is the evidence that the next commit adds.
pub fn takes_evidence_over(
    root: &Root,
    git: &Git,
    head: &CommitId,
    staged: &[RelativePath],
) -> Result<bool, GitError> {
    let (mut files, made) = (staged.to_vec(), journal::sections_made(root));
    if made.is_empty() {
        return Ok(false);
    }
    let is_noted = KeeperNote::read_all(root).iter().any(|keeper| keeper.commit == head.0);
    if !is_noted && !journal::settled_commits(root).contains(&head.0) {
        files.extend(evidence_added_by(git, head));
    }
    let drafts = DraftNote::read_all(root);
    files.retain(|file| !drafts.iter().any(|draft| draft.file == *file));
    if files.is_empty() {
        return Ok(false);
    }
    let incoming = git.incoming()?;
    Ok(files.iter().any(|file| {
        let is_merged = |commit| git.has_file(commit, file).unwrap_or(true);
        evidence::digest_of_path(file).is_some_and(|digest| made.contains(&digest))
            && !incoming.iter().any(is_merged)
    }))
}

/// Returns true if no branch, remote branch, tag or stash has a commit.
pub fn has_left_history(git: &Git, commit: &CommitId) -> Result<bool, GitError> {
    let time = git.commit_info(commit).map_or(i64::MIN, |info| info.time);
    let kept = git.kept_commits(time.saturating_sub(WRONG_CLOCK))?;
    let tips: Vec<&CommitId> = kept.iter().map(|(_, tip)| tip).collect();
    Ok(!git.outside(&tips, HashSet::from([commit.clone()]))?.is_empty())
}

/// Returns the note about a reference as it is now. `None` if it is gone, or does not come from the
/// commit that it named.
fn goes_on(git: &Git, noted: &KeeperNote, own: &KeeperNote) -> Option<KeeperNote> {
    let now = match noted.name == own.name {
        true => CommitId(own.commit.clone()),
        false => git.commit_at(&noted.name).ok()??,
    };
    let then = CommitId(noted.commit.clone());
    let is_kept = now == then || git.is_ancestor(&now, &then).unwrap_or(false);
    is_kept.then(|| KeeperNote { name: noted.name.clone(), commit: now.0 })
}

/// Returns those of these commits that the branch which is checked out had when it was noted. If a
/// commit is checked out directly, nobody can tell a reset from a switch.
fn left_by_branch(
    root: &Root,
    git: &Git,
    head: &CommitId,
    lost: HashSet<CommitId>,
) -> Result<HashSet<CommitId>, GitError> {
    let name = git.name_of_head();
    let noted = KeeperNote::read_all(root).into_iter().find(|keeper| keeper.name == name);
    let Some(then) = noted.filter(|_| name != "HEAD").map(|keeper| CommitId(keeper.commit)) else {
        return Ok(HashSet::new());
    };
    if lost.is_empty() || git.is_ancestor(head, &then).unwrap_or(false) {
        return Ok(HashSet::new());
    }
    // If git has removed the commit that was noted, it has also removed what followed the others.
    match git.commit_info(&then) {
        Ok(_) => {
            let never_had = git.outside(&[&then], lost.clone())?;
            Ok(lost.difference(&never_had).cloned().collect())
        }
        Err(_) => Ok(lost),
    }
}

/// Returns true if the evidence that a commit added is in the work or in `HEAD`, although the commit
/// is not in its history.
fn is_taken_over(root: &Root, git: &Git, head: &CommitId, commit: &CommitId) -> bool {
    let is_here = |file: &RelativePath| {
        root.absolute(file).is_file() || git.has_file(head, file).unwrap_or(false)
    };
    evidence_added_by(git, commit).iter().any(is_here)
}

/// Returns true if a commit and those before it have all lines where a file of evidence names them.
/// Another hook may have formatted the code after it was sealed, and an amend replaces the commit of
/// a late section.
pub fn stands_as_sealed(
    git: &Git,
    commit: &CommitId,
    (file, bytes): (&RelativePath, &[u8]),
) -> Result<bool, GitError> {
    let mut texts: HashMap<RelativePath, LineText> = HashMap::new();
    for entry in ledger::read::bytes(file, bytes).entries {
        if let Some(late) = &entry.late_commit {
            if !git.is_ancestor(commit, &CommitId(late.clone())).unwrap_or(false) {
                return Ok(false);
            }
            continue;
        }
        for path in entry.record.paths() {
            if !texts.contains_key(path) {
                let text = LineText::new(git.file_at(commit, path)?.unwrap_or_default());
                texts.insert(path.clone(), text);
            }
            let stands =
                |runs: &LineRuns| runs.runs().iter().all(|run| run.stands_in(&texts[path]));
            if !runs_about(&entry, path).all(stands) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Returns true if a person erased a part of the evidence that a commit added.
pub fn has_erased_evidence(root: &Root, git: &Git, commit: &CommitId) -> bool {
    evidence_added_by(git, commit).iter().any(|file| has_tombstone(root, file))
}

/// Returns true if a tombstone says that a person erased a line of a file of evidence. The file with
/// the tombstone replaces it in the same folder.
fn has_tombstone(root: &Root, file: &RelativePath) -> bool {
    let (path, digest) = (root.absolute(file), evidence::digest_of_path(file));
    let Some(folder) = path.parent().filter(|_| digest.is_some() && !path.is_file()) else {
        return false;
    };
    let is_its = |section: &Section| {
        Some(section.digest) == digest && section.lines.iter().any(|(_, line)| line.is_erased())
    };
    store::entries(folder).any(|other| {
        let bytes = store::read_capped(&other.path(), store::MAX_CONTENT).ok().flatten();
        bytes.is_some_and(|it| evidence::read(&it).is_ok_and(|all| all.iter().any(is_its)))
    })
}

/// Returns the files of evidence that a commit has and none of its parents. Empty if git has removed
/// the commit.
pub fn evidence_added_by(git: &Git, commit: &CommitId) -> Vec<RelativePath> {
    let place = git.path_in_repository(evidence::EVIDENCE_FOLDER);
    let added = git
        .object_id(commit)
        .and_then(|commit| git.object_reader()?.added_to_folder(commit, place.as_ref()));
    let names = added
        .unwrap_or_default()
        .into_iter()
        .map(|(name, _)| RelativePath::new(&format!("{}/{name}", evidence::EVIDENCE_FOLDER)).ok());
    names.flatten().filter(|path| evidence::digest_of_path(path).is_some()).collect()
}
