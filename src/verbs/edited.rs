//! What counts as an edit: the difference between a text and its baseline, block by block.
//!
//! A block that contains others is edited only when its own tokens are: what
//! happens inside is told by the blocks inside. A region that merely got
//! another neighbour is not edited.

use std::sync::Arc;

use super::{VerbError, Workspace};
use crate::code::{Block, BlockKind, ContentHash, FileBlocks};
use crate::provenance::outline::{Against, Outline, own_tokens};
use crate::workspace::{CommitId, RelativePath};

/// What a file is compared with.
#[derive(Clone, Debug)]
pub enum Baseline {
    /// The file at one or more commits (several while a merge is under way); an empty list of blocks where it did not exist.
    Blocks(Vec<Arc<FileBlocks>>),
    /// Short hashes of the file as last recorded.
    Outline(Outline),
    /// Nothing is known, so edits are not judged.
    Unknown,
}

/// The difference of a file to its baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Blocks that are new or changed: index and how.
    pub now: Vec<(usize, Against)>,
    /// Blocks that are gone: kind, path, last content hash. Only known against commits.
    pub gone: Vec<Gone>,
}

/// A block that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The block as it was.
    pub block: Block,
}

/// The commit the work tree is based on, and those that a merge or rebase brings in; none without git.
pub fn commits_of_work(ws: &Workspace) -> Result<Vec<CommitId>, VerbError> {
    let mut commits: Vec<CommitId> = ws.head.clone().into_iter().collect();
    if let Some(git) = &ws.git {
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
        if ws.git.is_none() {
            return Ok(ws.recorded_outline(path).map_or(Self::Unknown, Self::Outline));
        }
        Self::at_commits(ws, path, commits)
    }

    /// The file at these commits.
    pub fn at_commits(
        ws: &Workspace,
        path: &RelativePath,
        commits: &[CommitId],
    ) -> Result<Self, VerbError> {
        let mut versions = Vec::with_capacity(commits.len());
        for commit in commits {
            let document = ws.read_at(commit, path)?;
            versions.push(document.map(|document| document.blocks()).unwrap_or_default());
        }
        if versions.is_empty() {
            versions.push(Arc::default());
        }
        Ok(Self::Blocks(versions))
    }

    /// The difference of the blocks as they stand now.
    pub fn edits(&self, now: &FileBlocks) -> Edits {
        match self {
            Self::Unknown => Edits::default(),
            Self::Outline(outline) => Edits {
                now: (0..now.blocks.len())
                    .map(|at| (at, against_outline(outline, &now.blocks[at])))
                    .filter(|(at, against)| counts(*against, &now.blocks[*at]))
                    .collect(),
                gone: Vec::new(),
            },
            Self::Blocks(versions) => Edits {
                now: (0..now.blocks.len())
                    .filter_map(|at| Some((at, least(versions, &now.blocks[at])?)))
                    .filter(|(at, against)| counts(*against, &now.blocks[*at]))
                    .collect(),
                gone: versions.first().map(|first| gone(first, now)).unwrap_or_default(),
            },
        }
    }

    /// Whether a version the baseline is made of has a syntax error.
    pub fn has_error(&self) -> bool {
        matches!(self, Self::Blocks(versions) if versions.iter().any(|version| version.has_error))
    }

    /// What the block was before, where the baseline knows its full hash.
    pub fn content_before(&self, block: &Block) -> Option<ContentHash> {
        let Self::Blocks(versions) = self else { return None };
        let same = versions.first()?.blocks.iter().find(|old| old.identity == block.identity)?;
        Some(same.fingerprint.content.clone())
    }
}

fn counts(against: Against, block: &Block) -> bool {
    match against {
        Against::Same => false,
        Against::Reformatted => block.fingerprint.own.is_none(),
        Against::New | Against::Changed => true,
    }
}

fn against_outline(outline: &Outline, block: &Block) -> Against {
    if unnamed(block) && outline.holds_content(&block.fingerprint.content) {
        return Against::Same;
    }
    outline.against(block)
}

/// The smallest difference to any version: during a merge a block that equals any parent is no edit.
fn least(versions: &[Arc<FileBlocks>], block: &Block) -> Option<Against> {
    let rank = |against: &Against| match against {
        Against::Same => 0,
        Against::Reformatted => 1,
        Against::Changed => 2,
        Against::New => 3,
    };
    versions.iter().map(|version| against_version(version, block)).min_by_key(rank)
}

fn against_version(version: &FileBlocks, block: &Block) -> Against {
    let print = &block.fingerprint;
    if unnamed(block) && version.blocks.iter().any(|old| old.fingerprint.content == print.content) {
        return Against::Same;
    }
    let Some(old) = version.blocks.iter().find(|old| old.identity == block.identity) else {
        return Against::New;
    };
    if old.fingerprint.content == print.content {
        Against::Same
    } else if own_tokens(old) == own_tokens(block) {
        Against::Reformatted
    } else {
        Against::Changed
    }
}

fn gone(before: &FileBlocks, now: &FileBlocks) -> Vec<Gone> {
    let still = |old: &Block| {
        now.blocks.iter().any(|block| {
            block.identity == old.identity
                || (unnamed(old) && block.fingerprint.content == old.fingerprint.content)
        })
    };
    before.blocks.iter().filter(|old| !still(old)).map(|old| Gone { block: old.clone() }).collect()
}

/// Regions and paragraphs are named after their surroundings, so their text is all they are known by.
pub fn unnamed(block: &Block) -> bool {
    matches!(block.identity.kind, BlockKind::Region | BlockKind::Paragraph)
}
