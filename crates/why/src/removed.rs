//! `intent why --removed`: which commits removed blocks or lines of a file, and under which intents.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Workspace;
use crate::answers::{self, IntentBrief};
use crate::baseline::Edits;
use crate::commit_brief::brief;
use crate::commit_words::CommitBrief;
use crate::error::VerbError;
use code::saying_lines::says_something;
use code::{Block, Document};
use ground::{CommitId, RelativePath};
use history::knowledge::{AskedTree, Knowledge};
use history::{FileChanges, LineText};
use ledger::{BlockName, Entry};
use provenance::Difference;

const MAX_COMMITS: usize = 50;

/// What commits removed from a file, newest commit first. A merge that removed lines of several parents
/// is there once for each of them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemovedAnswer {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// One entry for each commit that removed something, and each of its parents that had it.
    pub commits: Vec<RemovalAnswer>,
    /// Remarks on what the answer lacks, or what to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What one commit removed from a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemovalAnswer {
    /// The commit. `None` if it cannot be read.
    pub commit: Option<CommitBrief>,
    /// The path of the file before the commit.
    pub path: RelativePath,
    /// The blocks and the lines, in the order in which they stood.
    pub removed: Vec<RemovedPart>,
}

/// A block that was removed, or lines that were removed or replaced in one that stayed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemovedPart {
    /// The block that was removed, or in which the lines stood. `None` outside of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockName>,
    /// Whether the block was removed as a whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// The first line, counted from 1 in the file before the commit.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// The intent whose evidence says that the commit removed the block. Evidence does not say it of
    /// single lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentBrief>,
    /// The session that removed it, as `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

pub fn removed(ws: &Workspace, path: &RelativePath) -> Result<RemovedAnswer, VerbError> {
    let mut answer = RemovedAnswer { path: path.clone(), commits: Vec::new(), notes: Vec::new() };
    let (Some(git), Some(tip)) = (ws.git(), ws.tip()) else {
        answer.notes.push("There is no commit here.".to_owned());
        return Ok(answer);
    };
    let tip = git.object_id(tip)?;
    let mut of_evidence = git.object_reader()?;
    let asked = AskedTree::Tree(of_evidence.commit(tip)?.tree);
    let mut knowledge = Knowledge::new(&ws.root, git.path_in_repository(""), asked);
    let path = git.path_in_repository(path.as_str());
    let mut walk = FileChanges::new(git.object_reader()?, tip, path)?;
    while let Some(change) = walk.next_change()? {
        let commit = CommitId(change.commit.to_string());
        for (before, is_gone) in change.before.iter().zip(change.removed_lines()) {
            let Some(before) = before.as_ref().filter(|_| is_gone.contains(&true)) else {
                continue;
            };
            let Some(path) = git.path_in_workspace(before.path.as_ref()) else { continue };
            let parts = parts_of(ws, &path, (&before.content, &is_gone), change.now.as_deref());
            if parts.is_empty() {
                continue;
            }
            if answer.commits.len() == MAX_COMMITS {
                answer.notes.push(format!(
                    "Earlier commits removed more: `intent why {}:{} --removed`.",
                    commit.short(),
                    answer.path.for_shell()
                ));
                return Ok(answer);
            }
            let evidence = knowledge.of_commit(&mut of_evidence, change.commit)?;
            let removed = parts.into_iter().map(|part| with_intent(ws, &path, part, &evidence));
            let removed = removed.collect();
            answer.commits.push(RemovalAnswer { commit: brief(ws, &commit), path, removed });
        }
    }
    if walk.is_cut_off() {
        answer.notes.push("The history before is missing here.".to_owned());
    }
    Ok(answer)
}

/// Divides lines that a commit removed into blocks that it removed, and lines in what stayed.
/// `is_gone` has an entry for each line of `before`.
fn parts_of(
    ws: &Workspace,
    path: &RelativePath,
    (before, is_gone): (&[u8], &[bool]),
    now: Option<&[u8]>,
) -> Vec<RemovedPart> {
    let text = LineText::new(before.to_vec());
    let Ok(before) = ws.document(path, before) else { return Vec::new() };
    let now = now.and_then(|now| ws.document(path, now).ok());
    let now = now.unwrap_or_else(|| Document::from_text(path.as_str(), ""));
    let language = before.language().map(|language| language.id);
    let name = |block: &Block| BlockName {
        kind: block.identity.kind.as_str().to_owned(),
        path: block.identity.path.clone(),
        language: language.map(str::to_owned),
    };
    let mut left: Vec<u32> = (0..is_gone.len())
        .filter(|line| is_gone[*line] && says_something(text.line(*line), language))
        .filter_map(|line| u32::try_from(line + 1).ok())
        .collect();
    let part = |block, whole, (start_line, end_line)| RemovedPart {
        block,
        whole,
        start_line,
        end_line,
        intent: None,
        session: None,
    };
    let mut parts = Vec::new();
    let edits = Edits::from_differences(&[Difference::new(&before, &now)]);
    // An outer block comes before the blocks inside it, so it takes their lines.
    for block in edits.gone.iter().filter(|block| !block.identity.kind.is_unnamed()) {
        let count = left.len();
        left.retain(|line| !block.whole_lines.contains(*line));
        if left.len() < count {
            let lines = (block.whole_lines.start(), block.whole_lines.end());
            parts.push(part(Some(name(block)), true, lines));
        }
    }
    let blocks = before.blocks();
    let mut runs: Vec<RemovedPart> = Vec::new();
    for line in left {
        let at = blocks.at_line(line).map(|at| &blocks.blocks[at]);
        let block = at.filter(|block| !block.identity.kind.is_unnamed()).map(name);
        match runs.last_mut() {
            Some(run) if run.end_line + 1 == line && run.block == block => run.end_line = line,
            _ => runs.push(part(block, false, (line, line))),
        }
    }
    parts.extend(runs);
    parts.sort_by_key(|part| part.start_line);
    parts
}

/// If two intents name the block of a part as deleted, no intent is added.
fn with_intent(
    ws: &Workspace,
    path: &RelativePath,
    part: RemovedPart,
    evidence: &[Arc<Entry>],
) -> RemovedPart {
    let Some(block) = part.block.as_ref().filter(|_| part.whole) else { return part };
    let has_removed = |entry: &&Arc<Entry>| {
        let files = entry.record.files.iter().filter(|file| file.relative_path == *path);
        let mut ranges = files.flat_map(|file| file.ranges()).filter(|range| range.deleted);
        ranges.any(|range| {
            range.block.as_ref().is_some_and(|one| one.kind == block.kind && one.path == block.path)
        })
    };
    let found: Vec<&Arc<Entry>> = evidence.iter().filter(has_removed).collect();
    let [entry] = found[..] else { return part };
    let intent = entry.record.intent_id.as_deref();
    RemovedPart {
        intent: intent.map(|id| answers::brief(ws, id)),
        session: entry.record.session.clone(),
        ..part
    }
}
