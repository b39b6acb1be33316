//! `intent reassign`: a person decides that recorded blocks belong to another intent than the one
//! they were recorded under.
//!
//! Existing records are not changed. A new record names the blocks, the intent that they were
//! under, and the person who decided. `ledger::reassign` applies it to every answer of the
//! ledger.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::record;
use crate::comparison::Compared;
use code::{Block, LineRange};
use ground::text::{counted, shell_word};
use ground::{Code, Finding, RelativePath};
use ledger::{ClaimRef, FileRecord, Reassigned, ReassignedBlock, Record, RecordKind, Strength};
use provenance::{Step, lineage};
use why::{VerbError, Workspace, answers};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReassignTarget {
    /// All blocks of a file as it is now.
    File(RelativePath),
    /// The innermost block at a line of a file. Lines count from 1.
    Line(RelativePath, u32),
    /// The blocks with this name in a file. The name is complete (`AuthMiddleware.verify`) or only
    /// the last segment (`verify`).
    Named(RelativePath, String),
    /// All blocks of the record with this id.
    Record(String),
}

/// The result of a reassignment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReassignAnswer {
    /// The intent that the blocks are under now.
    pub to: String,
    /// The id of the new record.
    pub record: String,
    /// The reassigned blocks, each of them once.
    pub blocks: Vec<ReassignedItem>,
    /// Files that the new intent does not own. `intent check --base` will report them.
    pub not_owned: Vec<RelativePath>,
}

/// A block that was put under another intent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ReassignedItem {
    /// The file that contains the block.
    pub path: RelativePath,
    /// The name of the block with its containers. `None` if the block has no name.
    pub name: Option<String>,
    /// The intent that the block was under before.
    pub from: String,
}

/// Returns the claims on the selected blocks that are under the intent `from`, including the
/// earlier claims in the history of these blocks.
///
/// If a whole file is selected and some of its blocks belong to a namesake of that intent, only
/// those are returned: they are certainly under the wrong intent, the others may be right.
fn claims(
    ws: &Workspace,
    what: &ReassignTarget,
    from: &str,
) -> Result<BTreeSet<ClaimRef>, VerbError> {
    let is_under = |at: &ClaimRef| {
        ws.ledger.claim(*at).intent().map(|id| ws.registry.present_id(id)) == Some(from)
    };
    let path = match what {
        ReassignTarget::File(path)
        | ReassignTarget::Line(path, _)
        | ReassignTarget::Named(path, _) => path,
        ReassignTarget::Record(id) => {
            let of_record = ws.ledger.claims_of_record(id).into_iter();
            return Ok(of_record.filter(is_under).collect());
        }
    };
    let file = answers::file(ws, path, &ws.read(path)?);
    let is_selected = |at: usize, block: &Block| match what {
        ReassignTarget::Line(_, line) => file.blocks.at_line(*line) == Some(at),
        ReassignTarget::Named(_, name) => block.identity.path == *name || block.name == *name,
        ReassignTarget::File(_) | ReassignTarget::Record(_) => true,
    };
    let mut found = BTreeSet::new();
    for (at, (block, provenance)) in file.blocks.blocks.iter().zip(&file.provenance).enumerate() {
        if !is_selected(at, block) {
            continue;
        }
        for claim in provenance.claim.iter().chain(&provenance.candidates) {
            let steps = lineage::history_of_claim(&ws.ledger, ws, *claim);
            found.extend(steps.iter().filter_map(Step::claim));
        }
    }
    found.retain(is_under);
    let is_namesake = |at: &ClaimRef| ws.namesake_of(&ws.ledger.claim(*at)).is_some();
    if matches!(what, ReassignTarget::File(_)) && found.iter().any(is_namesake) {
        found.retain(is_namesake);
    }
    Ok(found)
}

fn refused(reason: &str) -> VerbError {
    VerbError::mendable(reason, "`intent why PATH` says which intent each block is under")
}

/// Moves the selected blocks from the intent `from` to the intent `to`. `by` is the person's name,
/// if git knows it. It is an error if no block matches.
pub fn reassign(
    ws: &Workspace,
    what: &ReassignTarget,
    (from, to): (&str, &str),
    by: Option<String>,
) -> Result<ReassignAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent(to)?;
    let from = ws.registry.present_id(from);
    if from == intent.id.value {
        return Err(refused(&format!("{from} and {to} are one intent")));
    }
    let mut blocks: Vec<ReassignedBlock> = Vec::new();
    for at in claims(ws, what, from)? {
        let claim = ws.ledger.claim(at);
        let (said, Some(under)) = (claim.recorded_block(), claim.intent()) else { continue };
        let block = ReassignedBlock {
            path: claim.file.relative_path.clone(),
            kind: said.block.as_ref().map(|name| name.kind.clone()),
            name: said.block.as_ref().map(|name| name.path.clone()),
            content_hash: said.content_hash.clone(),
            from: under.to_owned(),
        };
        if !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    if blocks.is_empty() {
        return Err(refused(&format!("none of the selected blocks is recorded under {from}")));
    }
    let reassigned: BTreeSet<ReassignedItem> = blocks
        .iter()
        .map(|block| ReassignedItem {
            path: block.path.clone(),
            name: block.name.clone(),
            from: ws.registry.present_id(&block.from).to_owned(),
        })
        .collect();
    let paths: BTreeSet<&RelativePath> = reassigned.iter().map(|block| &block.path).collect();
    let scope = ws.registry.scope(&intent.id.value);
    let not_owned = paths.iter().filter(|path| scope.is_none_or(|scope| !scope.owns(path)));
    let not_owned = not_owned.map(|path| (*path).clone()).collect();
    let files = paths.into_iter().map(|path| FileRecord::with_path_only(path.clone())).collect();
    let record = Record {
        files,
        strength: Some(Strength::Declared),
        note: Some(format!("{} put under {to}", counted(reassigned.len(), "block"))),
        reassigns: Some(Reassigned { by, blocks }),
        ..record::skeleton(ws, RecordKind::Reassign, Some(intent), None, None)
    };
    Ok(ReassignAnswer {
        to: intent.id.value.clone(),
        record: record::append(ws, record)?,
        blocks: reassigned.into_iter().collect(),
        not_owned,
    })
}

/// Returns the notes and findings about one reassignment record of a change. The intent that
/// receives a block must own the block's file. If the block was reassigned again later, only the
/// last intent must own it.
pub fn judge(ws: &Workspace, at: u32) -> Compared {
    let record = &ws.ledger.entry(at).record;
    let later = ws.ledger.entries().into_iter().skip(at as usize + 1);
    let later = later.filter_map(|entry| entry.record.reassigns.as_ref());
    let moved_on: Vec<&ReassignedBlock> = later.flat_map(|said| &said.blocks).collect();
    let (Some(said), Some(to)) = (&record.reassigns, record.intent_id.as_deref()) else {
        return Compared::default();
    };
    let to = ws.registry.present_id(to).to_owned();
    let by = said.by.as_deref().unwrap_or("somebody");
    let mut notes = BTreeSet::new();
    let mut wrong: BTreeSet<(&RelativePath, String)> = BTreeSet::new();
    for block in &said.blocks {
        let (path, from) = (&block.path, ws.registry.present_id(&block.from));
        notes.insert(format!(
            "{by} put recorded blocks of {path} under {to}; they were under {from}."
        ));
        let on =
            ReassignedBlock { from: record.intent_id.clone().unwrap_or_default(), ..block.clone() };
        if moved_on.contains(&&on) {
            continue;
        }
        let is_known = ws.registry.syntax_error().is_none();
        if is_known && ws.registry.scope(&to).is_none_or(|scope| !scope.owns(path)) {
            wrong.insert((path, from.to_owned()));
        }
    }
    let findings = wrong.into_iter().map(|(path, from)| {
        let (code, why) = match ws.registry.get(&to) {
            Some(_) => (Code::ScopeViolation, "does not own that file"),
            None => (Code::UnknownIntent, "is not in the registry"),
        };
        let [place, here, back] = [path.as_str(), &to, &from].map(shell_word);
        Finding {
            path: Some(path.clone()),
            lines: LineRange::new(1, 1),
            intent: Some(to.clone()),
            ..Finding::new(
                code,
                format!("Blocks of {path} were reassigned from {from} to {to}, which {why}."),
                format!(
                    "Put them back with `intent reassign {place} --from {here} --to {back}`, or let a person widen the scope of {to} first."
                ),
            )
        }
    });
    Compared { findings: findings.collect(), notes: notes.into_iter().collect() }
}
