//! `accept`: a person confirms that a block is right as it is now. A record of this kind ends every
//! doubt about the block.

use schemars::JsonSchema;
use serde::Serialize;

use super::gate;
use evidence::record;
use why::{VerbError, Workspace, answers, suspect};

use ground::{RelativePath, session};
use ledger::{Contributor, FileRecord, Record, RecordKind};
use provenance::{Provenance, Verdict, matching};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptExtent {
    /// The innermost block at this 1-based line.
    Line(u32),
    /// Every block that differs from its record, or is suspect. Blocks without a record are left alone.
    Differing,
}

/// The blocks of one file that a person accepted, and the records that say so.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AcceptAnswer {
    /// The file, relative to the workspace.
    pub path: RelativePath,
    /// The accepted blocks, each with the names of its containers.
    pub accepted: Vec<String>,
    /// The ids of the new records, one for each block.
    pub records: Vec<String>,
    /// True if the person also settled a write to this file that no gate had approved.
    pub settled: bool,
}

/// Appends a record for each chosen block of a file, saying that the person `by` accepts it as it
/// is now. Each block keeps the intent that it had; a block without an intent stays without one.
pub fn accept(
    ws: &Workspace,
    path: &RelativePath,
    extent: AcceptExtent,
    by: &Contributor,
) -> Result<AcceptAnswer, VerbError> {
    ws.governed()?;
    let mut answer = AcceptAnswer {
        path: path.clone(),
        accepted: Vec::new(),
        records: Vec::new(),
        settled: false,
    };
    let document = match ws.read(path) {
        Ok(document) => document,
        Err(error) => {
            // The file is gone or is not text, so it has no blocks to accept. A write that no gate
            // approved can still be settled.
            answer.settled = extent == AcceptExtent::Differing && settle(ws, path)?;
            return if answer.settled { Ok(answer) } else { Err(error.into()) };
        }
    };
    if let AcceptExtent::Line(line) = extent {
        answers::has_line(path, &document, line)?;
    }
    let file = answers::file(ws, path, &document);
    let conflicts = code::conflicts(&document.text());
    let conflict_in = |at: &usize| {
        conflicts.iter().copied().find(|it| it.overlaps(file.blocks.blocks[*at].lines))
    };
    let chosen: Vec<usize> = match extent {
        AcceptExtent::Line(line) => file.blocks.at_line(line).into_iter().collect(),
        AcceptExtent::Differing => {
            let differs = |found: &Provenance| {
                matches!(found.verdict, Verdict::Modified | Verdict::Ambiguous)
                    || suspect::suspicion_about(ws, found).is_some()
            };
            (0..file.provenance.len()).filter(|at| differs(&file.provenance[*at])).collect()
        }
    };
    if let Some(lines) = chosen.iter().find_map(conflict_in) {
        let (start, end) = (lines.start(), lines.end());
        let message = format!("{path} holds a merge conflict in lines {start}-{end}");
        return Err(VerbError::mendable(message, "resolve that first"));
    }
    // The outline that this record carries changes only in the accepted block, so that other
    // changes of the file can still be recorded later.
    let mut last = ws.trail(path).last_outline();
    for at in chosen {
        let block = &file.blocks.blocks[at];
        let found = &file.provenance[at];
        let mut before =
            found.claim.map(|claim| record::recorded_before(ws, claim, &document, block));
        let outlines = last.as_mut().map(|last| {
            let (after, row, was) = matching::with_block(last, &file.blocks, at);
            let before = before.get_or_insert_default();
            (before.row, before.was) = (Some(row), was);
            let change = after.changed_from(last);
            *last = after;
            change
        });
        let intent = answers::intent_of(ws, found);
        let known = intent.as_deref().and_then(|id| ws.registry.get(id));
        // The id may belong to a different intent by now, so the record repeats the id and the hash
        // of the old record, which say which intent is meant.
        let of_namesake = found.claim.map(|at| ws.ledger.claim(at));
        let of_namesake = of_namesake.filter(|claim| ws.namesake_of(claim).is_some());
        let of_namesake = of_namesake.map(|claim| &claim.entry.record);
        let skeleton = record::skeleton(ws, RecordKind::Ack, known, None, None);
        let (intent_id, intent_hash) = match of_namesake {
            Some(record) => (record.intent_id.clone(), record.intent_hash.clone()),
            None => (intent, skeleton.intent_hash.clone()),
        };
        let related = known.filter(|_| of_namesake.is_none());
        let range = record::block_record(&document, block, before.unwrap_or_default());
        let file = record::of_blocks(path, related, None, by.clone(), vec![range]);
        let (kind, name) = (block.identity.kind.as_str(), &block.identity.path);
        let record = Record {
            intent_id,
            intent_hash,
            note: Some(format!("accepted {kind} {name} as it stands")),
            files: vec![FileRecord { outlines, ..file }],
            ..skeleton
        };
        answer.records.push(record::append(ws, record)?);
        answer.accepted.push(name.clone());
    }
    if extent == AcceptExtent::Differing {
        answer.settled = settle(ws, path)?;
    }
    Ok(answer)
}

/// Confirms a file although no gate approved the last write to it. Returns true if there was such a
/// write.
fn settle(ws: &Workspace, path: &RelativePath) -> Result<bool, VerbError> {
    let ruled = gate::is_rejected(ws, path) && gate::accept_rules(ws)?;
    Ok(session::ungated::settle(&ws.root, path)? || ruled)
}
