//! `intent why --removed`: which commits removed blocks or lines of a file, and under which intents.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Workspace;
use crate::answers::{self, BlockAnswer, IntentBrief};
use crate::baseline::Edits;
use crate::commit_brief::brief;
use crate::commit_words::CommitBrief;
use crate::error::VerbError;
use code::saying_lines::says_something;
use code::{Block, Document};
use ground::{CommitId, RelativePath};
use history::knowledge::{AskedTree, Knowledge};
use history::{FileChanges, LineText};
use ledger::{BlockName, BlockRecord, Entry, Record};
use provenance::Difference;
use provenance::difference::lines_added_by_all;

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
    /// The intent whose evidence shows that its work removed the block or the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentBrief>,
    /// The session that removed it, as `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent or the person whose work it was, according to the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A version of a file: its path in the workspace, and its content.
type Version<'a> = (&'a RelativePath, &'a [u8]);

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
            let path_now = git.path_in_workspace(change.path.as_ref());
            let path_now = path_now.as_ref().unwrap_or(&path);
            let now = (path_now, change.now.as_deref().unwrap_or_default());
            let evidence = knowledge.of_commit(&mut of_evidence, change.commit)?;
            let removed = parts_of(ws, (&path, &before.content), now, &is_gone, &evidence);
            if removed.is_empty() {
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
            answer.commits.push(RemovalAnswer { commit: brief(ws, &commit), path, removed });
        }
    }
    if walk.is_cut_off() {
        answer.notes.push(ws.missing_history_note());
    }
    Ok(answer)
}

/// Like [`removed`], without what lay in none of these blocks.
pub fn removed_from(
    ws: &Workspace,
    path: &RelativePath,
    blocks: &[BlockAnswer],
) -> Result<RemovedAnswer, VerbError> {
    let mut answer = removed(ws, path)?;
    let is_its = |part: &RemovedPart| {
        let name = part.block.as_ref().map(|block| (&block.kind, &block.path));
        blocks.iter().any(|block| name == Some((&block.kind, &block.qualified_name)))
    };
    answer.commits.iter_mut().for_each(|commit| commit.removed.retain(is_its));
    answer.commits.retain(|commit| !commit.removed.is_empty());
    Ok(answer)
}

/// Divides lines that a commit removed into blocks that it removed, and lines in what stayed.
/// `is_gone` has an entry for each line of `before`.
fn parts_of(
    ws: &Workspace,
    (path, before): Version<'_>,
    (path_now, now): Version<'_>,
    is_gone: &[bool],
    evidence: &[Arc<Entry>],
) -> Vec<RemovedPart> {
    let text = LineText::new(before.to_vec());
    let Ok(before) = ws.document(path, before) else { return Vec::new() };
    let now = ws.document(path_now, now).ok();
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
    let part = |block: Option<&Block>, whole, (start_line, end_line), by: Option<&Entry>| {
        let record = by.map(|entry| &entry.record);
        RemovedPart {
            block: block.filter(|block| !block.identity.kind.is_unnamed()).map(name),
            whole,
            start_line,
            end_line,
            intent: by.and_then(|by| ws.intent_named(by)).map(|id| answers::brief(ws, &id)),
            session: record.and_then(|record| record.session.clone()),
            by: record.and_then(author_of),
        }
    };
    let mut parts = Vec::new();
    let difference = Difference::new(&before, &now);
    let edits = Edits::from_differences(std::slice::from_ref(&difference));
    // An outer block comes before the blocks inside it, so it takes their lines.
    for block in edits.gone.iter().filter(|block| !block.identity.kind.is_unnamed()) {
        let count = left.len();
        left.retain(|line| !block.whole_lines.contains(*line));
        if left.len() < count {
            let lines = (block.whole_lines.start(), block.whole_lines.end());
            let by = only_entry_about(evidence, (path, block), |range| range.deleted);
            parts.push(part(Some(block), true, lines, by));
        }
    }
    let blocks = before.blocks();
    let mut runs: Vec<(Option<usize>, (u32, u32))> = Vec::new();
    for line in left {
        let at = blocks.at_line(line);
        match runs.last_mut() {
            Some((block, (_, last))) if *last + 1 == line && *block == at => *last = line,
            _ => runs.push((at, (line, line))),
        }
    }
    for (at, (first, last)) in &runs {
        let by = difference.former_block_at(*first).and_then(|(_, now)| {
            let block = &difference.blocks_now().blocks[now?];
            let added = lines_added_by_all(std::slice::from_ref(&difference), now?)?;
            // A record of the block tells who removed the run if that is all that was done to it.
            let is_all =
                !added.contains(&true) && runs.iter().filter(|(other, _)| other == at).count() == 1;
            let has_left = |range: &BlockRecord| !range.deleted && range.has_text_of(block);
            only_entry_about(evidence, (path_now, block), has_left).filter(|_| is_all)
        });
        parts.push(part(at.map(|at| &blocks.blocks[at]), false, (*first, *last), by));
    }
    parts.sort_by_key(|part| part.start_line);
    parts
}

fn author_of(record: &Record) -> Option<String> {
    let conversation = record.files.first()?.conversations.first()?;
    let tool = record.tool.as_ref().map(|tool| tool.name.as_str());
    Some(answers::author_name(&conversation.contributor, tool))
}

/// Returns the only evidence that names a block of a file in such a way.
fn only_entry_about<'e>(
    evidence: &'e [Arc<Entry>],
    (path, block): (&RelativePath, &Block),
    is_meant: impl Fn(&BlockRecord) -> bool,
) -> Option<&'e Entry> {
    let has_named = |entry: &&Entry| {
        let files = entry.record.files.iter().filter(|file| file.relative_path == *path);
        let mut ranges = files.flat_map(|file| file.ranges()).filter(|range| is_meant(range));
        ranges.any(|range| range.has_name_of(block))
    };
    let mut found = evidence.iter().map(|entry| &**entry).filter(has_named);
    found.next().filter(|_| found.next().is_none())
}
