//! `accept`: a person confirms that a block is right as it is now. A record of this kind ends every
//! doubt about the block.

use schemars::JsonSchema;
use serde::Serialize;

use super::gate;
use evidence::record;
use why::answers::FileProvenance;
use why::{Provenance, VerbError, Workspace, answers, suspect};

use ground::{RelativePath, session};
use ledger::{Contributor, Conversation, FileRecord, Record, RecordKind, Strength};
use provenance::Verdict;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptExtent {
    /// The innermost block at this 1-based line.
    Line(u32),
    /// Every block that differs from its record, or is suspect. Blocks without a record are left alone.
    Differing,
    /// Every block that is suspect: its intent, or a specification of it, changed since.
    Suspect,
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
        AcceptExtent::Differing | AcceptExtent::Suspect => {
            let differs = |found: &Provenance| {
                extent == AcceptExtent::Differing
                    && matches!(found.verdict, Verdict::Modified | Verdict::Ambiguous)
                    && found.accepted.is_none()
            };
            let is_chosen = |found: &Provenance| {
                differs(found) || suspect::suspicion_about(ws, found).is_some()
            };
            (0..file.provenance.len()).filter(|at| is_chosen(&file.provenance[*at])).collect()
        }
    };
    if let Some(lines) = chosen.iter().find_map(conflict_in) {
        let (start, end) = (lines.start(), lines.end());
        let message = format!("{path} holds a merge conflict in lines {start}-{end}");
        return Err(VerbError::mendable(message, "resolve that first"));
    }
    let language = document.language().map(|language| language.id);
    let mut records = Vec::with_capacity(chosen.len());
    for at in chosen {
        let (block, found) = (&file.blocks.blocks[at], &file.provenance[at]);
        let intent = answers::intent_of(ws, found);
        let known = intent.as_deref().and_then(|id| ws.registry.get(id));
        // The id may belong to a different intent by now, so the record repeats the id and the hash
        // of the old record, which say which intent is meant.
        let of_namesake = found.claim.as_ref().filter(|claim| ws.namesake_of(claim).is_some());
        let of_namesake = of_namesake.map(|claim| &claim.entry.record);
        let skeleton = record::skeleton(ws, RecordKind::Ack, known, None, None);
        let (intent_id, intent_hash) = match of_namesake {
            Some(record) => (record.intent_id.clone(), record.intent_hash.clone()),
            None => (intent, skeleton.intent_hash.clone()),
        };
        let related = known.filter(|_| of_namesake.is_none());
        let (path, of) = match newest_commit(ws, &file, found) {
            Some((path, commit)) => (path, Some(commit)),
            None => (path.clone(), None),
        };
        let conversations = vec![Conversation {
            ranges: vec![provenance::textless(block, language)],
            ..record::conversation_under(related, None, by.clone())
        }];
        let record = Record {
            intent_id,
            intent_hash,
            note: Some(format!("accepted {} as it stands", block.identity)),
            files: vec![FileRecord { conversations, ..FileRecord::with_path_only(path) }],
            of,
            strength: Some(Strength::Declared),
            ..skeleton
        };
        answer.records.push(record.id.clone());
        answer.accepted.push(block.identity.path.clone());
        records.push(record);
    }
    record::append_all(ws, records)?;
    if extent == AcceptExtent::Differing {
        answer.settled = settle(ws, path)?;
    }
    Ok(answer)
}

/// Returns the newest of the commits that brought the lines of a block, with the path that the file
/// had there. `None` if that is not known, or if a line is not committed.
fn newest_commit(
    ws: &Workspace,
    file: &FileProvenance,
    found: &Provenance,
) -> Option<(RelativePath, String)> {
    let mut newest = None;
    for (_, source) in &found.own {
        let version = &file.lines.versions[source.version?];
        if version.is_uncommitted() || source.is_missing {
            return None;
        }
        newest = newest.max(Some((version.time, version)));
    }
    let (_, version) = newest?;
    let path = ws.git()?.path_in_workspace(version.path.as_ref())?;
    Some((path, version.commit.to_string()))
}

/// Confirms a file although no gate approved the last write to it. Returns true if there was such a
/// write.
fn settle(ws: &Workspace, path: &RelativePath) -> Result<bool, VerbError> {
    let ruled = gate::is_rejected(ws, path) && gate::accept_rules(ws)?;
    Ok(session::ungated::settle(&ws.root, path)? || ruled)
}
