//! Builds the record of what one call of an agent's tool did to one file. It compares the disk with
//! the text that the gate stored before the call.
//!
//! The ledger is not read: the earlier versions of the blocks come from the earlier text.

use std::collections::HashSet;

use serde_json::Value;

use super::{Before as WasBefore, block_record, no_code, related, skeleton};
use crate::code::{self, Block, Document, FileBlocks, Identity};
use crate::intent::Intent;
use crate::ledger::{
    BlockRecord, Contributor, Conversation, EntityType, FileRecord, MutationClass, Record,
    RecordKind, RecordedDecision, Strength,
};
use crate::provenance::classify::{self, ChangedBlock, Classification, Parsed};
use crate::provenance::{Difference, Outline};
use crate::verbs::Workspace;
use crate::verbs::baseline::Edits;
use crate::workspace::RelativePath;
use crate::workspace::session::calls::{FileBefore, PendingCall, Predicted};
use crate::workspace::session::seen::FileState;

/// One finished call and one file that it may have changed.
pub(in crate::verbs) struct FinishedCall<'a> {
    pub(in crate::verbs) call: &'a PendingCall,
    pub(in crate::verbs) before: &'a FileBefore,
    /// The file as it is now.
    pub(in crate::verbs) now: &'a FileState,
    /// The name of the agent.
    pub(in crate::verbs) host: &'a str,
    pub(in crate::verbs) session: &'a str,
    pub(in crate::verbs) model: Option<&'a str>,
    pub(in crate::verbs) claimed_class: Option<MutationClass>,
}

/// The record of a call, and the changes that it leaves out.
pub(in crate::verbs) struct CallRecord {
    /// `None` if the call changed no block.
    pub(in crate::verbs) record: Option<Record>,
    /// The names of blocks that changed at the same time but not by this call.
    pub(in crate::verbs) others: Vec<String>,
    /// The file as it is now, parsed.
    pub(in crate::verbs) now: Document,
}

/// Finds out what a call did to a file. An `Err` says why that cannot be known.
pub(in crate::verbs) fn record_of_call(
    ws: &Workspace,
    intent: &Intent,
    work: &FinishedCall<'_>,
) -> Result<CallRecord, String> {
    let path = &work.before.path;
    if let Some(reason) = no_code(path) {
        return Err(reason.to_owned());
    }
    let earlier = document(ws, work, work.earlier_text(), work.before.hash.is_some())?;
    let current = document(ws, work, work.now.text.as_deref(), work.now.hash.is_some())?;
    let current = current.carrying(&earlier);
    let now = current.blocks();
    if work.now.text.as_deref().is_some_and(code::holds_conflict) {
        return Err("it holds the markers of a merge conflict".to_owned());
    }
    let differences = [Difference::new(&earlier, &current)];
    let mut edits = Edits::of(&differences);
    let others = match &work.before.predicted {
        Predicted::Text(after) if !work.before.foresaw(work.now) => {
            let predicted = document(ws, work, Some(after), true)?;
            let foreseen = Edits::of(&[Difference::new(&earlier, &predicted)]);
            leave_others(&mut edits, &now, &foreseen, &predicted.blocks())
        }
        _ => Vec::new(),
    };
    let (ranges, gone) = ranges(work, &differences[0], &edits, &current, &earlier);
    let outline = Outline::of(&now);
    if ranges.is_empty() {
        return Ok(CallRecord { record: None, others, now: current });
    }
    let changed: Vec<ChangedBlock<'_>> = edits
        .now
        .iter()
        .map(|(at, against)| ChangedBlock::Now(&now.blocks[*at], *against))
        .chain(gone.iter().map(|(kind, path)| ChangedBlock::Gone(kind, path)))
        .collect();
    let parsed = match now.has_error || earlier.blocks().has_error {
        true => Parsed::WithErrors,
        false => Parsed::Cleanly,
    };
    // If both texts are known and nobody else changed the file in between, comparing the texts
    // gives a more precise class than comparing hashes.
    let texts = (work.earlier_text(), work.now.text.as_deref());
    let class = match texts {
        (Some(_), Some(_)) if others.is_empty() => class_of(path, &earlier, &current),
        _ => classify::provisional(&changed, parsed),
    };
    let file = FileRecord {
        conversations: vec![Conversation {
            url: Some(work.session.to_owned()),
            contributor: Contributor {
                entity_type: EntityType::Ai,
                model_identifier: work.model.map(str::to_owned),
                name: None,
            },
            ranges,
            related: related(intent),
            extra: Default::default(),
        }],
        outlines: Some(outline.changed_from(&Outline::of(&earlier.blocks()))),
        reasons: class.reasons,
        ..FileRecord::bare(path.clone())
    };
    let mut record = Record {
        mutation_class: class.class,
        basis: Some(class.basis),
        decision: Some(RecordedDecision {
            outcome: work.call.outcome.clone(),
            rule: work.call.rule.clone(),
            approval: work.call.approval.clone(),
        }),
        files: vec![file],
        strength: Some(work.strength()),
        claimed_class: work.claimed_class.map(|class| class.as_str().to_owned()),
        ..skeleton(
            ws,
            RecordKind::Mutation,
            Some(intent),
            Some(work.session.to_owned()),
            Some(work.host),
        )
    };
    if work.call.command {
        record.extra.insert("via".to_owned(), Value::String("shell".to_owned()));
    }
    Ok(CallRecord { record: Some(record), others, now: current })
}

impl FinishedCall<'_> {
    /// Returns the text before the call. If the call moved the file, that is its text at the old
    /// path.
    fn earlier_text(&self) -> Option<&str> {
        if let Some(text) = &self.before.text {
            return Some(text);
        }
        let from = self.before.moved_from.as_ref().filter(|_| self.before.hash.is_none())?;
        self.call.files.iter().find(|file| file.path == *from)?.text.as_deref()
    }

    fn strength(&self) -> Strength {
        match self.call.command {
            true => Strength::Inferred,
            false if self.before.foresaw(self.now) => Strength::Verified,
            false => Strength::Observed,
        }
    }

    /// Returns true if this call moved the file, with its blocks, to another path.
    fn moved_away(&self) -> bool {
        let path = Some(&self.before.path);
        self.call.files.iter().any(|file| file.moved_from.as_ref() == path)
    }
}

/// Returns the class of a change to one file. Other files are not read, so a name that they might
/// use counts as used.
pub(in crate::verbs) fn class_of(
    path: &RelativePath,
    before: &Document,
    after: &Document,
) -> Classification {
    let name = path.as_str();
    classify::change_among(&[(name, before)], &[(name, after)], &|_| None)
}

fn document(
    ws: &Workspace,
    work: &FinishedCall<'_>,
    text: Option<&str>,
    exists: bool,
) -> Result<Document, String> {
    match text {
        None if exists => Err("it is no text, or too large to be looked at".to_owned()),
        None => Ok(Document::from_text("", "")),
        Some(text) => {
            ws.document(&work.before.path, text.as_bytes()).map_err(|reason| reason.to_string())
        }
    }
}

/// Removes the changes that the gate did not predict for this call, and returns the names of their
/// blocks.
fn leave_others(
    edits: &mut Edits,
    now: &FileBlocks,
    foreseen: &Edits,
    predicted: &FileBlocks,
) -> Vec<String> {
    let ours: HashSet<&Identity> =
        foreseen.now.iter().map(|(at, _)| &predicted.blocks[*at].identity).collect();
    let gone: HashSet<&Identity> = foreseen.gone.iter().map(|block| &block.identity).collect();
    let mut others = Vec::new();
    edits.now.retain(|(at, _)| {
        let identity = &now.blocks[*at].identity;
        let kept = ours.contains(identity);
        if !kept {
            others.push(identity.path.clone());
        }
        kept
    });
    edits.gone.retain(|lost| {
        let kept = gone.contains(&lost.identity);
        if !kept {
            others.push(lost.identity.path.clone());
        }
        kept
    });
    others
}

/// Returns the records of the changed and deleted blocks, and the kinds and names of the deleted
/// ones.
fn ranges(
    work: &FinishedCall<'_>,
    difference: &Difference,
    edits: &Edits,
    now: &Document,
    before: &Document,
) -> (Vec<BlockRecord>, Vec<(String, String)>) {
    let is_gone = |block: &&Block| !block.identity.kind.is_unnamed() && !work.moved_away();
    let blocks = now.blocks();
    let mut ranges = Vec::new();
    for (at, _) in &edits.now {
        let known = WasBefore {
            replaces: difference.origin(*at).map(|was| was.fingerprint.content.clone()),
            brought: Some(difference.added_lines(*at)),
            row: Some(*at),
            was: difference.origins[*at],
        };
        ranges.push(block_record(now, &blocks.blocks[*at], known));
    }
    let mut names = Vec::new();
    for block in edits.gone.iter().filter(is_gone) {
        let replaces = Some(block.fingerprint.content.clone());
        let record = block_record(before, block, WasBefore::default());
        ranges.push(BlockRecord { replaces, deleted: true, ..record });
        names.push((block.identity.kind.as_str().to_owned(), block.identity.path.clone()));
    }
    (ranges, names)
}
