//! What counts as an edit: the difference between a text and its baseline, block by block.
//!
//! The two are aligned ([`Difference`]). A block that contains others is edited only where its own lines are: what happens
//! inside is told by the blocks inside. A block that merely moved, or got another neighbour, is not edited.

use super::{VerbError, Workspace};
use crate::code::{Block, Document};
use crate::ledger::BlockName;
use crate::provenance::difference::{Difference, brought_by_all};
use crate::provenance::matching;
use crate::provenance::outline::{Against, Outline};
use crate::workspace::{CommitId, RelativePath};

/// What a file is compared with.
#[derive(Clone, Debug)]
pub enum Baseline {
    /// The file at one or more commits (several while a merge is under way); an empty text where it did not exist.
    Texts(Vec<Document>),
    /// The file as last recorded, where there is no git.
    Outline(Outline),
    /// Nothing is known, so edits are not judged.
    Unknown,
}

/// What a file of the work tree is compared with, and its path before a rename.
#[derive(Clone, Debug)]
pub struct FormerFile {
    /// What it is compared with.
    pub baseline: Baseline,
    /// The path before a rename. `None` if the file was not renamed.
    pub from: Option<RelativePath>,
}

impl FormerFile {
    /// For a file and the commits of [`commits_of_work`]. If none of them has the file, a deleted file may have been
    /// renamed to it.
    pub fn of_work(
        ws: &Workspace,
        path: &RelativePath,
        now: &Document,
        commits: &[CommitId],
    ) -> Result<Self, VerbError> {
        let baseline = Baseline::of_commits(ws, path, commits)?;
        let (Some(git), Some(head)) = (ws.git(), commits.first()) else {
            return Ok(Self { baseline, from: None });
        };
        if !baseline.is_empty() {
            return Ok(Self { baseline, from: None });
        }
        let gone = super::check::deleted(&git.changes(Some(head), ws.files())?);
        let (baseline, from) = baseline.or_renamed_from(ws, path, now, head, &gone)?;
        Ok(Self { baseline, from })
    }
}

/// The difference of a file to its baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Blocks that are new or changed: index and how.
    pub now: Vec<(usize, Against)>,
    /// Blocks that are gone, as they were. Only known against commits.
    pub gone: Vec<Block>,
}

/// The commit the work tree is based on, and those that a merge or rebase brings in; none without git.
pub(crate) fn commits_of_work(ws: &Workspace) -> Result<Vec<CommitId>, VerbError> {
    let mut commits: Vec<CommitId> = ws.head().cloned().into_iter().collect();
    if let Some(git) = ws.git() {
        commits.extend(git.incoming()?);
    }
    Ok(commits)
}

impl Baseline {
    /// The commit the work tree is based on, and those that a merge or rebase brings in; without git the last recorded outline.
    pub fn of_work(ws: &Workspace, path: &RelativePath) -> Result<Self, VerbError> {
        Self::of_commits(ws, path, &commits_of_work(ws)?)
    }

    /// The file at [`commits_of_work`], for a caller that keeps them; without git its last recorded outline.
    pub fn of_commits(
        ws: &Workspace,
        path: &RelativePath,
        commits: &[CommitId],
    ) -> Result<Self, VerbError> {
        if ws.git().is_none() {
            return Ok(ws.trail(path).last_outline().map_or(Self::Unknown, Self::Outline));
        }
        if ws.git_error().is_some() {
            // Not knowing the commit is not the same as there being none.
            return Ok(Self::Unknown);
        }
        Self::at_commits(ws, path, commits)
    }

    /// The file at these commits.
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
                // It was there, and nobody can say with which blocks: not the same as empty.
                Err(_) => return Ok(Self::Unknown),
            }
        }
        if versions.is_empty() {
            versions.push(Document::from_text(path.as_str(), ""));
        }
        Ok(Self::Texts(versions))
    }

    /// The same, knowing which files are gone at the same time: where a file that was not there before goes on one of
    /// them under another name ([`matching::goes_on`], [`matching::reads_on`]), what it holds unchanged is no edit.
    pub fn or_renamed(
        self,
        ws: &Workspace,
        path: &RelativePath,
        now: &Document,
        commit: &CommitId,
        gone: &[RelativePath],
    ) -> Result<Self, VerbError> {
        Ok(self.or_renamed_from(ws, path, now, commit, gone)?.0)
    }

    /// Like [`Self::or_renamed`], and returns the path that the file had before.
    pub fn or_renamed_from(
        self,
        ws: &Workspace,
        path: &RelativePath,
        now: &Document,
        commit: &CommitId,
        gone: &[RelativePath],
    ) -> Result<(Self, Option<RelativePath>), VerbError> {
        let Self::Texts(mut versions) = self else { return Ok((self, None)) };
        if versions.iter().any(|old| !old.blocks().blocks.is_empty()) {
            return Ok((Self::Texts(versions), None));
        }
        let mut from = None;
        let alike = gone.iter().filter(|old| may_be_renamed(old, path)).take(MAX_RENAMED);
        for old in alike {
            if let Some(document) = ws.read_at(commit, old)? {
                let then = Outline::of(&document.blocks());
                if matching::goes_on((old, &then), (path, &now.blocks()))
                    || matching::reads_on(&document.text(), &now.text())
                {
                    versions.push(document);
                    from.get_or_insert_with(|| old.clone());
                }
            }
        }
        Ok((Self::Texts(versions), from))
    }

    /// A text that takes its outline from the first text of the baseline where it does not parse.
    pub fn carried_by(&self, now: Document) -> Document {
        match self {
            Self::Texts(versions) => versions.first().map_or(now.clone(), |old| now.carrying(old)),
            _ => now,
        }
    }

    /// The difference of the blocks as they stand now.
    pub fn edits(&self, now: &Document) -> Edits {
        self.edits_with(now, &self.differences(now))
    }

    /// Like [`Self::edits`], given the result of [`Self::differences`].
    pub fn edits_with(&self, now: &Document, differences: &[Difference]) -> Edits {
        match self {
            Self::Unknown => Edits::default(),
            Self::Outline(outline) => {
                let against = matching::against(outline, now).into_iter().enumerate();
                let is_edit = |(_, how): &(usize, Against)| *how != Against::Same;
                Edits { now: against.filter(is_edit).collect(), gone: Vec::new() }
            }
            Self::Texts(_) => Edits::of(differences),
        }
    }

    /// The differences to each text that the baseline is made of.
    pub fn differences(&self, now: &Document) -> Vec<Difference> {
        let Self::Texts(versions) = self else { return Vec::new() };
        versions.iter().map(|version| Difference::new(version, now)).collect()
    }

    /// Whether a version the baseline is made of has a syntax error.
    pub fn has_error(&self) -> bool {
        matches!(self, Self::Texts(versions) if versions.iter().any(|version| version.blocks().has_error))
    }

    /// The texts before the change. Empty if they are not known.
    pub fn versions(&self) -> &[Document] {
        match self {
            Self::Texts(versions) => versions,
            _ => &[],
        }
    }

    /// Whether it is known that there was no block at all.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Texts(versions) if versions.iter().all(|old| old.blocks().blocks.is_empty()))
    }

    /// Whether it is known that the recorded block was not there: none was called so; none read so, where it has no
    /// name of its own.
    pub fn lacks(&self, name: &BlockName, content: &crate::code::ContentHash) -> bool {
        let is_it = |block: &Block| {
            let kind = block.identity.kind;
            kind.as_str() == name.kind
                && (block.identity.path == name.path
                    || kind.is_unnamed() && block.fingerprint.content == *content)
        };
        matches!(self, Self::Texts(versions) if !versions.iter().any(|old| old.blocks().blocks.iter().any(is_it)))
    }
}

impl Edits {
    /// The blocks that every one of several differences touches: during a merge a block that equals any parent is no
    /// edit. What is gone is told by the first of them.
    pub fn of(differences: &[Difference]) -> Self {
        let Some(first) = differences.first() else { return Self::default() };
        let touched = |index: usize| {
            let is_touched = |difference: &Difference| difference.touches(index);
            let brought = || brought_by_all(differences, index).unwrap_or_default();
            let is_new_to_all = |difference: &Difference| difference.was(index).is_none();
            match differences {
                [only] => only.touches(index),
                all => {
                    let adds = !all.iter().all(is_new_to_all) || brought().contains(&true);
                    all.iter().all(is_touched) && adds
                }
            }
        };
        let least = |index: usize| {
            let all = differences.iter().map(|difference| difference.against(index));
            all.min_by_key(|how| match how {
                Against::Same => 0,
                Against::Reformatted => 1,
                Against::Changed => 2,
                Against::New => 3,
            })
        };
        let now = (0..first.len())
            .filter(|index| touched(*index))
            .filter_map(|index| Some((index, least(index)?)))
            .collect();
        // In a merge, a block that one of the parents does not have was removed there, and not by the merge.
        let is_gone = |block: &&Block| {
            let mut others = differences.iter().skip(1);
            others.all(|other| other.gone().iter().any(|gone| gone.identity == block.identity))
        };
        Self { now, gone: first.gone().into_iter().filter(is_gone).cloned().collect() }
    }
}

/// Among more vanished files than this, no other name is looked for.
const MAX_RENAMED: usize = 64;

/// By the names alone: the same ending, or `Dockerfile` and `Dockerfile.release`.
fn may_be_renamed(old: &RelativePath, new: &RelativePath) -> bool {
    let (old, new) = (old.file_name(), new.file_name());
    let ending = |name: &str| name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    ending(old) == ending(new) || old.starts_with(new) || new.starts_with(old)
}
