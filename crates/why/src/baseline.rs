//! Finds the edited blocks of a file: the difference between a text and its baseline, block by
//! block.
//!
//! The two texts are aligned ([`Difference`]). A block that contains other blocks counts as edited
//! only if its own lines are; the blocks inside count separately. A block that only moved, or got a
//! new neighbour, is not edited.

use super::{VerbError, Workspace};
use code::{Block, Document};
use ground::git::deleted_paths;
use ground::{CommitId, RelativePath};
use ledger::outline::Against;
use provenance::difference::{Difference, lines_added_by_all};
use provenance::matching;

#[derive(Clone, Debug)]
pub enum Baseline {
    /// The file at one or more commits (several while a merge is in progress). The text is empty
    /// where the file did not exist.
    Texts(Vec<Document>),
    Unknown,
}

#[derive(Clone, Debug)]
pub struct FormerFile {
    pub baseline: Baseline,
    /// The path before a rename. `None` if the file was not renamed.
    pub from: Option<RelativePath>,
}

impl FormerFile {
    /// Finds the former state of a file at `commits`, the result of [`commits_of_work`]. If none of
    /// them has the file, a deleted file may have been renamed to it.
    pub fn of_work(
        ws: &Workspace,
        path: &RelativePath,
        now: &Document,
        commits: &[CommitId],
    ) -> Result<Self, VerbError> {
        let baseline = Baseline::of_commits(ws, path, commits)?.parsed_beside(now);
        let gone = match commits.first() {
            Some(head) if baseline.is_empty() => {
                deleted_paths(ws.compared_with(Some(head))?.contents())
            }
            _ => Vec::new(),
        };
        baseline.or_renamed(ws, path, now, commits.first(), &gone)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// The index of each new or changed block, and how it changed.
    pub now: Vec<(usize, Against)>,
    /// The deleted blocks as they were. Known only if the baseline is made of commits.
    pub gone: Vec<Block>,
}

/// Returns the commit that the work tree is based on, followed by those that a merge or rebase in
/// progress brings in. Empty without git.
pub fn commits_of_work(ws: &Workspace) -> Result<Vec<CommitId>, VerbError> {
    let mut commits: Vec<CommitId> = ws.head().cloned().into_iter().collect();
    if let Some(git) = ws.git() {
        commits.extend(git.incoming()?);
    }
    Ok(commits)
}

impl Baseline {
    /// Returns the baseline of a file of the work tree: the file at [`commits_of_work`], or its
    /// last recorded outline if there is no git.
    pub fn of_work(ws: &Workspace, path: &RelativePath) -> Result<Self, VerbError> {
        Self::of_commits(ws, path, &commits_of_work(ws)?)
    }

    /// Like [`Self::of_work`], for a caller that has the result of [`commits_of_work`] already.
    pub fn of_commits(
        ws: &Workspace,
        path: &RelativePath,
        commits: &[CommitId],
    ) -> Result<Self, VerbError> {
        if ws.git().is_none() {
            // Without git, what was last recorded is the baseline.
            let last = ws.last_recorded_text(path);
            let last = last.and_then(|bytes| ws.document(path, &bytes).ok());
            return Ok(last.map_or(Self::Unknown, |last| Self::Texts(vec![last])));
        }
        if ws.git_error().is_some() {
            // Git cannot be read, so the commit is unknown. That is not the same as having no
            // commit.
            return Ok(Self::Unknown);
        }
        Self::at_commits(ws, path, commits)
    }

    pub fn at_commits(
        ws: &Workspace,
        path: &RelativePath,
        commits: &[CommitId],
    ) -> Result<Self, VerbError> {
        let Some(git) = ws.git() else { return Ok(Self::Unknown) };
        let mut versions = Vec::with_capacity(commits.len().max(1));
        for commit in commits {
            let bytes = git.file_at(commit, path)?.unwrap_or_default();
            match ws.document(path, &bytes) {
                Ok(document) => versions.push(document),
                // The file existed but cannot be read, so its blocks are unknown. That is not the
                // same as an empty file.
                Err(_) => return Ok(Self::Unknown),
            }
        }
        if versions.is_empty() {
            versions.push(Document::from_text(path.as_str(), ""));
        }
        Ok(Self::Texts(versions))
    }

    /// Returns the same baseline. Of each of its texts only the parts that differ from `now` are parsed;
    /// the syntax tree of `now` serves for the rest.
    pub fn parsed_beside(self, now: &Document) -> Self {
        match self {
            Self::Texts(versions) => {
                let beside = versions.into_iter().map(|version| version.parsed_beside(now));
                Self::Texts(beside.collect())
            }
            Self::Unknown => Self::Unknown,
        }
    }

    /// Completes the baseline of a renamed file. If `commit` lacks the file, the texts of those
    /// deleted files in `gone` are added that have mostly the same lines
    /// ([`matching::has_same_lines`]). So a block that did not change is no edit.
    pub fn or_renamed(
        self,
        ws: &Workspace,
        path: &RelativePath,
        now: &Document,
        commit: Option<&CommitId>,
        gone: &[RelativePath],
    ) -> Result<FormerFile, VerbError> {
        let is_empty = self.is_empty();
        let (mut versions, commit) = match (self, commit) {
            (Self::Texts(versions), Some(commit)) if is_empty => (versions, commit),
            (baseline, _) => return Ok(FormerFile { baseline, from: None }),
        };
        let mut from = None;
        let alike = gone.iter().filter(|old| may_be_renamed(old, path)).take(MAX_RENAMED);
        for old in alike {
            if let Some(document) = ws.read_at(commit, old)?
                && matching::has_same_lines(&document.text(), &now.text())
            {
                versions.push(document);
                from.get_or_insert_with(|| old.clone());
            }
        }
        Ok(FormerFile { baseline: Self::Texts(versions), from })
    }

    /// Returns `now`. If it does not parse, it gets the outline of the first text of the baseline.
    pub fn carried_by(&self, now: Document) -> Document {
        match self {
            Self::Texts(versions) => versions.first().map_or(now.clone(), |old| now.carrying(old)),
            _ => now,
        }
    }

    pub fn edits(&self, now: &Document) -> Edits {
        Edits::from_differences(&self.differences(now))
    }

    pub fn differences(&self, now: &Document) -> Vec<Difference> {
        self.versions().iter().map(|version| Difference::new(version, now)).collect()
    }

    pub fn has_error(&self) -> bool {
        self.versions().iter().any(|version| version.blocks().has_error)
    }

    /// Empty if the texts are not known.
    pub fn versions(&self) -> &[Document] {
        match self {
            Self::Texts(versions) => versions,
            Self::Unknown => &[],
        }
    }

    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Texts(versions) if versions.iter().all(|old| old.blocks().blocks.is_empty()))
    }
}

impl Edits {
    /// Returns the blocks that every one of the differences touches. So during a merge, a block
    /// that equals one of the parents is not an edit. Deleted blocks are those of the first
    /// difference.
    pub fn from_differences(differences: &[Difference]) -> Self {
        let Some(first) = differences.first() else { return Self::default() };
        let brings = |index: usize| {
            let is_new = differences.iter().all(|difference| difference.origins[index].is_none());
            let added = || lines_added_by_all(differences, index).unwrap_or_default();
            differences.len() == 1 || !is_new || added().contains(&true)
        };
        let touched = |index: &usize| {
            differences.iter().all(|difference| difference.touches(*index)) && brings(*index)
        };
        let least =
            |index: usize| differences.iter().map(|difference| difference.against[index]).min();
        let now = (0..first.against.len())
            .filter(touched)
            .filter_map(|index| Some((index, least(index)?)))
            .collect();
        // If another parent lacks the block, it was deleted there, and not by the merge.
        let is_gone = |block: &&Block| {
            let mut others = differences.iter().skip(1);
            others.all(|other| {
                other.removed_blocks().iter().any(|gone| gone.identity == block.identity)
            })
        };
        Self { now, gone: first.removed_blocks().into_iter().filter(is_gone).cloned().collect() }
    }
}

/// The number of deleted files that are examined as the possible origin of a renamed file at most.
const MAX_RENAMED: usize = 64;

/// Returns true if the file names alone permit a rename: they have the same extension, or one
/// begins with the other, as `Dockerfile` and `Dockerfile.release`.
fn may_be_renamed(old: &RelativePath, new: &RelativePath) -> bool {
    let (old, new) = (old.file_name(), new.file_name());
    let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    ending(old) == ending(new) || old.starts_with(new) || new.starts_with(old)
}
