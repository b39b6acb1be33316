//! What counts as an edit: the difference between a text and its baseline, block by block.
//!
//! A block that contains others is edited only when its own tokens are: what
//! happens inside is told by the blocks inside. A region that merely got
//! another neighbour is not edited.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{VerbError, Workspace};
use crate::code::{Block, ContentHash, Document, FileBlocks, Identity};
use crate::ledger::BlockName;
use crate::provenance::matching;
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
    /// Blocks that are gone, as they were. Only known against commits.
    pub gone: Vec<Block>,
}

/// The commit the work tree is based on, and those that a merge or rebase brings in; none without git.
pub fn commits_of_work(ws: &Workspace) -> Result<Vec<CommitId>, VerbError> {
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
            return Ok(ws.recorded_outline(path).map_or(Self::Unknown, Self::Outline));
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
        let mut versions = Vec::with_capacity(commits.len());
        for commit in commits {
            match git.file_at(commit, path)? {
                None => versions.push(Arc::default()),
                Some(bytes) => match Document::from_bytes(path.as_str(), &bytes) {
                    Ok(document) => versions.push(document.blocks()),
                    // It was there, and nobody can say with which blocks: not the same as empty.
                    Err(_) => return Ok(Self::Unknown),
                },
            }
        }
        if versions.is_empty() {
            versions.push(Arc::default());
        }
        Ok(Self::Blocks(versions))
    }

    /// The same, knowing which files are gone at the same time: where a file that was not there before goes on one of
    /// them under another name ([`matching::goes_on`]), what it holds unchanged is no edit.
    pub fn or_renamed(
        self,
        ws: &Workspace,
        path: &RelativePath,
        now: &FileBlocks,
        commit: &CommitId,
        gone: &[RelativePath],
    ) -> Result<Self, VerbError> {
        let Self::Blocks(mut versions) = self else { return Ok(self) };
        if versions.iter().any(|old| !old.blocks.is_empty()) {
            return Ok(Self::Blocks(versions));
        }
        let extension = |path: &RelativePath| {
            path.file_name().rsplit_once('.').map(|(_, extension)| extension.to_owned())
        };
        let alike = gone.iter().filter(|old| extension(old) == extension(path)).take(MAX_RENAMED);
        for old in alike {
            if let Some(document) = ws.read_at(commit, old)? {
                let blocks = document.blocks();
                if matching::goes_on((old, &Outline::of(&blocks)), (path, now)) {
                    versions.push(blocks);
                }
            }
        }
        Ok(Self::Blocks(versions))
    }

    /// The difference of the blocks as they stand now.
    pub fn edits(&self, now: &FileBlocks) -> Edits {
        let against = match self {
            Self::Unknown => return Edits::default(),
            Self::Outline(outline) => {
                standing(now, |block| outline.against(block), |text| outline.count(text))
            }
            Self::Blocks(versions) => least(versions, now),
        };
        let gone = match self {
            Self::Blocks(versions) => {
                versions.first().map(|first| gone(first, now)).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let edited = against.into_iter().enumerate();
        Edits { now: edited.filter(|(at, how)| counts(*how, &now.blocks[*at])).collect(), gone }
    }

    /// Whether a version the baseline is made of has a syntax error.
    pub fn has_error(&self) -> bool {
        matches!(self, Self::Blocks(versions) if versions.iter().any(|version| version.has_error))
    }

    /// Whether it is known that there was no block at all.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Blocks(versions) if versions.iter().all(|old| old.blocks.is_empty()))
    }

    /// Whether it is known that the recorded block was not there: none was called so; none read so, where it has no
    /// name of its own.
    pub fn lacks(&self, name: &BlockName, content: &ContentHash) -> bool {
        let is_it = |block: &Block| {
            let kind = block.identity.kind;
            kind.as_str() == name.kind
                && (block.identity.path == name.path
                    || kind.is_unnamed() && block.fingerprint.content == *content)
        };
        matches!(self, Self::Blocks(versions) if !versions.iter().any(|old| old.blocks.iter().any(is_it)))
    }

    /// What the block was before, where the baseline knows its full hash.
    pub fn content_before(&self, block: &Block) -> Option<ContentHash> {
        let Self::Blocks(versions) = self else { return None };
        let before = |version: &Arc<FileBlocks>| {
            let same = version.blocks.iter().find(|old| old.identity == block.identity)?;
            Some(same.fingerprint.content.clone())
        };
        versions.iter().find_map(before)
    }
}

/// Among more vanished files than this, no other name is looked for.
const MAX_RENAMED: usize = 64;

fn counts(against: Against, block: &Block) -> bool {
    match against {
        Against::Same => false,
        Against::Reformatted => block.fingerprint.own.is_none(),
        Against::New | Against::Changed => true,
    }
}

/// How each block stands, given how it stands by name and how often an unnamed text was there before.
///
/// A region or paragraph is named after its surroundings, so it is the same wherever its text was before; but as
/// often as it was there, no more: another copy of it is new.
fn standing(
    now: &FileBlocks,
    by_name: impl Fn(&Block) -> Against,
    count: impl Fn(&ContentHash) -> usize,
) -> Vec<Against> {
    let mut all: Vec<Against> = now.blocks.iter().map(by_name).collect();
    let mut left: HashMap<&ContentHash, usize> = HashMap::new();
    for kept in [true, false] {
        for (block, how) in
            now.blocks.iter().zip(&mut all).filter(|(block, _)| block.identity.kind.is_unnamed())
        {
            let text = &block.fingerprint.content;
            let left = left.entry(text).or_insert_with(|| count(text));
            if (*how == Against::Same) == kept && *left > 0 {
                *left -= 1;
                *how = Against::Same;
            }
        }
    }
    all
}

/// The smallest difference to any version: during a merge a block that equals any parent is no edit.
fn least(versions: &[Arc<FileBlocks>], now: &FileBlocks) -> Vec<Against> {
    let rank = |against: &Against| match against {
        Against::Same => 0,
        Against::Reformatted => 1,
        Against::Changed => 2,
        Against::New => 3,
    };
    let mut smallest = vec![Against::New; now.blocks.len()];
    for version in versions {
        for (best, how) in smallest.iter_mut().zip(against_version(version, now)) {
            if rank(&how) < rank(best) {
                *best = how;
            }
        }
    }
    smallest
}

fn against_version(version: &FileBlocks, now: &FileBlocks) -> Vec<Against> {
    let named: HashMap<&Identity, &Block> =
        version.blocks.iter().map(|old| (&old.identity, old)).collect();
    let mut texts: HashMap<&ContentHash, usize> = HashMap::new();
    for old in &version.blocks {
        *texts.entry(&old.fingerprint.content).or_default() += 1;
    }
    let by_name = |block: &Block| match named.get(&block.identity) {
        None => Against::New,
        Some(old) if old.fingerprint.content == block.fingerprint.content => Against::Same,
        Some(old) if own_tokens(old) == own_tokens(block) => Against::Reformatted,
        Some(_) => Against::Changed,
    };
    standing(now, by_name, |text| texts.get(text).copied().unwrap_or_default())
}

fn gone(before: &FileBlocks, now: &FileBlocks) -> Vec<Block> {
    let names: HashSet<&Identity> = now.blocks.iter().map(|block| &block.identity).collect();
    let texts: HashSet<&ContentHash> =
        now.blocks.iter().map(|block| &block.fingerprint.content).collect();
    let still = |old: &Block| {
        names.contains(&old.identity)
            || (old.identity.kind.is_unnamed() && texts.contains(&old.fingerprint.content))
    };
    before.blocks.iter().filter(|old| !still(old)).cloned().collect()
}
