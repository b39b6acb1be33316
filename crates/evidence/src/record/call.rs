//! Builds the record of what one call of an agent's tool did to one file. It compares the disk with
//! the text that the gate stored before the call.
//!
//! The ledger is not read: the earlier versions of the blocks come from the earlier text.

use std::collections::HashSet;

use super::changes::Changes;
use super::{Before as WasBefore, RecordRequest, block_record, mutation, no_code};
use crate::event::Event;
use code::{Block, Document, FileBlocks, Identity};
use ground::RelativePath;
use ground::session::calls::{FileBefore, PendingCall, Predicted};
use ground::session::seen::FileState;
use intents::Intent;
use ledger::{BlockRecord, Record, RecordedDecision, Strength};
use provenance::classify::{self, Classification};
use provenance::{Difference, Outline};
use why::Workspace;
use why::baseline::Edits;

/// One finished call and one file that it may have changed.
pub struct FinishedCall<'a> {
    pub call: &'a PendingCall,
    /// The file before the call, with the text that the gate predicted for it.
    pub before: &'a FileBefore,
    pub now: &'a FileState,
    /// The end of the call, as its host reported it.
    pub event: &'a Event,
}

/// The record of a call, and the changes that it leaves out.
pub struct CallRecord {
    /// `None` if the call changed no block.
    pub record: Option<Record>,
    /// The names of blocks that changed at the same time but not by this call.
    pub others: Vec<String>,
    /// The file as it is now, parsed.
    pub now: Document,
}

/// Finds out what a call did to a file. An `Err` says why that cannot be known.
pub fn record_of_call(
    ws: &Workspace,
    intent: &Intent,
    work: &FinishedCall<'_>,
) -> Result<CallRecord, String> {
    let path = &work.before.path;
    if let Some(reason) = no_code(path) {
        return Err(reason.to_owned());
    }
    let earlier = work.document(ws, work.earlier_text(), work.before.hash.is_some())?;
    let current = work.document(ws, work.now.text.as_deref(), work.now.hash.is_some())?;
    let current = current.carrying(&earlier);
    let now = current.blocks();
    if work.now.text.as_deref().is_some_and(code::holds_conflict) {
        return Err("it holds the markers of a merge conflict".to_owned());
    }
    let differences = [Difference::new(&earlier, &current)];
    let mut edits = Edits::from_differences(&differences);
    let others = match &work.before.predicted {
        Predicted::Text(after) if !work.before.foresaw(work.now) => {
            let predicted = work.document(ws, Some(after), true)?;
            let foreseen = Edits::from_differences(&[Difference::new(&earlier, &predicted)]);
            leave_others(&mut edits, &now, &foreseen, &predicted.blocks())
        }
        _ => Vec::new(),
    };
    let ranges = ranges(work, &differences[0], &edits, &current, &earlier);
    if ranges.is_empty() {
        return Ok(CallRecord { record: None, others, now: current });
    }
    let before = earlier.blocks();
    let outlines = Outline::from_blocks(&now).changed_from(&Outline::from_blocks(&before));
    let changes = Changes { left: Vec::new(), committed_since: 0, edits, ranges, outlines };
    // If both texts are known and nobody else changed the file in between, comparing the texts
    // gives a more precise class than comparing hashes.
    let class = match (work.earlier_text(), &work.now.text) {
        (Some(_), Some(_)) if others.is_empty() => class_of(path, &earlier, &current),
        _ => changes.provisional_class(&now, before.has_error),
    };
    let PendingCall { outcome, rule, approval, .. } = work.call;
    let decision = RecordedDecision::new(outcome, rule.clone(), approval.clone());
    let request = RecordRequest {
        claimed_class: work.event.claimed_class.map(|class| class.as_str().to_owned()),
        strength: Some(work.strength()),
        ..RecordRequest::for_call(work.event)
    };
    let record = mutation(ws, &request, intent, path, changes, class, decision);
    Ok(CallRecord { record: Some(record), others, now: current })
}

impl FinishedCall<'_> {
    /// Returns the file as it was before the call, at the path that it had then.
    pub fn origin(&self) -> &FileBefore {
        let from = self.before.moved_from.as_ref();
        self.call.files.iter().find(|file| Some(&file.path) == from).unwrap_or(self.before)
    }

    /// Returns the text before the call. If the call moved the file, that is its text at the old
    /// path, unless the call replaced another file.
    fn earlier_text(&self) -> Option<&str> {
        let moved = || self.origin().text.as_deref().filter(|_| self.before.hash.is_none());
        self.before.text.as_deref().or_else(moved)
    }

    fn strength(&self) -> Strength {
        match self.call.command {
            true => Strength::Inferred,
            false if self.before.foresaw(self.now) => Strength::Verified,
            false => Strength::Observed,
        }
    }

    fn document(
        &self,
        ws: &Workspace,
        text: Option<&str>,
        exists: bool,
    ) -> Result<Document, String> {
        match text {
            None if exists => Err("it is no text, or too large to be looked at".to_owned()),
            None => Ok(Document::from_text("", "")),
            Some(text) => {
                ws.document(&self.before.path, text.as_bytes()).map_err(|error| error.to_string())
            }
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
pub fn class_of(path: &RelativePath, before: &Document, after: &Document) -> Classification {
    let name = path.as_str();
    classify::change_among(&[(name, before.clone())], &[(name, after.clone())], &|_| None)
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
    let mut is_ours = |identity: &Identity, ours: &HashSet<&Identity>| {
        let is_ours = ours.contains(identity);
        if !is_ours {
            others.push(identity.path.clone());
        }
        is_ours
    };
    edits.now.retain(|(at, _)| is_ours(&now.blocks[*at].identity, &ours));
    edits.gone.retain(|lost| is_ours(&lost.identity, &gone));
    others
}

/// Returns the records of the changed and deleted blocks.
fn ranges(
    work: &FinishedCall<'_>,
    difference: &Difference,
    edits: &Edits,
    now: &Document,
    before: &Document,
) -> Vec<BlockRecord> {
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
    for block in edits.gone.iter().filter(is_gone) {
        let replaces = Some(block.fingerprint.content.clone());
        let record = block_record(before, block, WasBefore::default());
        ranges.push(BlockRecord { replaces, deleted: true, ..record });
    }
    ranges
}
