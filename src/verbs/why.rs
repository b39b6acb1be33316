//! *Why is this code here?* Which intent produced each block, and is it still what was recorded?

use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use crate::code::{Block, Document, FileBlocks};
use crate::ledger::{Claim, ClaimRef, Contributor, Evidence, RecordKind, Trust};
use crate::provenance::{Content, Place, Provenance, Step, Verdict, lineage, matching};
use crate::workspace::RelativePath;

/// A file's blocks with what is known of each: the state behind every face's answer.
#[derive(Clone)]
pub struct FileProvenance {
    /// The blocks.
    pub blocks: Arc<FileBlocks>,
    /// One for each block.
    pub provenance: Vec<Provenance>,
}

/// The answer for a file, or for one place in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhyAnswer {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// In the order in which they start.
    pub blocks: Vec<BlockAnswer>,
    /// Why there are no blocks, where there is a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What is known of one block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlockAnswer {
    /// `function`, `method`, …
    pub kind: String,
    /// Its own name.
    pub name: String,
    /// With its containers: `AuthMiddleware.verify`.
    pub qualified_name: String,
    /// 1-based.
    pub start_line: u32,
    /// Inclusive.
    pub end_line: u32,
    /// The one word.
    pub verdict: Verdict,
    /// How its text stands to the record.
    pub content: Option<Content>,
    /// Where it stands compared with the record.
    pub place: Option<Place>,
    /// Of a modified block, the estimated share of the recorded text still there, 0 to 1.
    pub kept: Option<f32>,
    /// The difference lies in the blocks inside it, each of which speaks for itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_inside: bool,
    /// The intent that asked for it.
    pub intent: Option<IntentBrief>,
    /// Who wrote it.
    pub contributor: Option<Contributor>,
    /// When it was recorded, RFC 3339 in UTC.
    pub timestamp: Option<String>,
    /// The record's id.
    pub record: Option<String>,
    /// The tool that recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How strong the evidence is, by the record's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Nobody but the line's writer vouches for it: this clone did not write it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
    /// Its history, newest first.
    pub lineage: Vec<LineageStep>,
    /// When ambiguous, every record that fits.
    pub candidates: Vec<Candidate>,
}

/// An intent in brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IntentBrief {
    /// `INT-001`.
    pub id: String,
    /// `None` when the registry does not hold it.
    pub name: Option<String>,
    /// `None` when the registry does not hold it, or its status is unknown.
    pub status: Option<String>,
}

/// One step back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum LineageStep {
    /// A record.
    Record(Candidate),
    /// An unrecorded stretch.
    Gap {
        /// The content hash of what stood there.
        content_hash: String,
    },
}

/// A record of a block, in brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Candidate {
    /// Its id.
    pub record: String,
    /// `mutation`, or `ack` where a person accepted the block as it was.
    pub kind: RecordKind,
    /// The intent; `None` when it names none.
    pub intent: Option<String>,
    /// Who.
    pub contributor: Contributor,
    /// When.
    pub timestamp: String,
    /// What the block was then.
    pub content_hash: String,
    /// Its name then.
    pub name: Option<String>,
}

/// Which blocks are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// The innermost at a 1-based line.
    Line(u32),
    /// The one with this index.
    Block(usize),
}

/// Matches a file's blocks against the ledger.
pub fn file(ws: &Workspace, path: &RelativePath, document: &Document) -> FileProvenance {
    let blocks = document.blocks();
    let provenance = of_blocks(ws, path, &blocks);
    FileProvenance { blocks, provenance }
}

/// The same for blocks in hand.
pub(super) fn of_blocks(
    ws: &Workspace,
    path: &RelativePath,
    blocks: &FileBlocks,
) -> Vec<Provenance> {
    let mut provenance = matching::file(&ws.ledger, path, blocks);
    let mut heads: HashMap<RelativePath, Vec<ClaimRef>> = HashMap::new();
    for (block, found) in blocks.blocks.iter().zip(&mut provenance) {
        if found.verdict == Verdict::Unrecorded {
            let still_there = |other: &RelativePath| {
                other == path
                    || ws.root.absolute(other).exists()
                        && heads
                            .entry(other.clone())
                            .or_insert_with(|| matching::heads(&ws.ledger, other))
                            .iter()
                            .any(|at| matching::is_like(ws.ledger.claim(*at).range, block))
            };
            if let Some(moved) = matching::from_vanished(&ws.ledger, block, still_there) {
                *found = moved;
            }
        }
    }
    provenance
}

/// The answer for people and programs.
pub fn answer(
    ws: &Workspace,
    path: &RelativePath,
    file: &FileProvenance,
    which: Which,
) -> WhyAnswer {
    let chosen: Vec<usize> = match which {
        Which::All => (0..file.blocks.blocks.len()).collect(),
        Which::Line(line) => file.blocks.at_line(line).into_iter().collect(),
        Which::Block(index) => vec![index],
    };
    let blocks = chosen
        .into_iter()
        .filter_map(|at| Some(block(ws, file.blocks.blocks.get(at)?, file.provenance.get(at)?)))
        .collect();
    WhyAnswer { path: path.clone(), blocks, note: None }
}

/// The whole verb for a file on disk.
pub fn on_disk(
    ws: &Workspace,
    path: &RelativePath,
    which: Which,
) -> Result<WhyAnswer, super::ReadError> {
    let path = &ws.root.resolve(path).unwrap_or_else(|_| path.clone());
    let document = match ws.read(path) {
        Ok(document) => document,
        Err(super::ReadError::Unread { reason, .. }) => {
            return Ok(WhyAnswer {
                path: path.clone(),
                blocks: Vec::new(),
                note: Some(reason.to_string()),
            });
        }
        Err(error) => return Err(error),
    };
    Ok(answer(ws, path, &file(ws, path, &document), which))
}

/// The intent of a block: its claim's, or the one that all candidates share.
pub fn intent_of(ws: &Workspace, provenance: &Provenance) -> Option<String> {
    let id = |at: ClaimRef| ws.ledger.claim(at).entry.record.intent_id.clone();
    if let Some(claim) = provenance.claim {
        return id(claim);
    }
    let mut ids = provenance.candidates.iter().map(|at| id(*at));
    let first = ids.next()??;
    ids.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// An intent's brief, whether or not the registry holds it.
pub fn brief(ws: &Workspace, id: &str) -> IntentBrief {
    let intent = ws.registry.get(id);
    IntentBrief {
        id: id.to_owned(),
        name: intent.map(|intent| intent.name.value.clone()).filter(|name| !name.is_empty()),
        status: intent.and_then(|intent| Some(intent.status.as_ref()?.value.as_str().to_owned())),
    }
}

fn block(ws: &Workspace, block: &Block, found: &Provenance) -> BlockAnswer {
    let claim = found.claim.map(|at| ws.ledger.claim(at));
    let record = claim.map(|claim| &claim.entry.record);
    BlockAnswer {
        kind: block.identity.kind.as_str().to_owned(),
        name: block.name.clone(),
        qualified_name: block.identity.path.clone(),
        start_line: block.lines.start(),
        end_line: block.lines.end(),
        verdict: found.verdict,
        content: found.content,
        place: found.place,
        kept: found.kept,
        only_inside: found.only_inside,
        intent: intent_of(ws, found).map(|id| brief(ws, &id)),
        contributor: claim.map(|claim| claim.conversation.contributor.clone()),
        timestamp: record.map(|record| record.timestamp.clone()),
        record: record.map(|record| record.id.clone()),
        tool: record.and_then(|record| Some(record.tool.as_ref()?.name.clone())),
        evidence: record.and_then(|record| record.evidence),
        claimed: claim.is_some_and(|claim| claim.entry.trust == Trust::Claimed),
        lineage: found.claim.map(|at| steps(ws, at)).unwrap_or_default(),
        candidates: found.candidates.iter().map(|at| candidate(&ws.ledger.claim(*at))).collect(),
    }
}

fn steps(ws: &Workspace, claim: ClaimRef) -> Vec<LineageStep> {
    lineage::of(&ws.ledger, claim)
        .into_iter()
        .map(|step| match step {
            Step::Recorded(at) => LineageStep::Record(candidate(&ws.ledger.claim(at))),
            Step::Gap { before } => LineageStep::Gap { content_hash: before.to_string() },
        })
        .collect()
}

fn candidate(claim: &Claim<'_>) -> Candidate {
    let record = &claim.entry.record;
    Candidate {
        record: record.id.clone(),
        kind: record.kind,
        intent: record.intent_id.clone(),
        contributor: claim.conversation.contributor.clone(),
        timestamp: record.timestamp.clone(),
        content_hash: claim.range.content_hash.to_string(),
        name: claim.range.block.as_ref().map(|name| name.path.clone()),
    }
}
