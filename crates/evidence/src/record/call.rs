//! Builds the record of what one call of an agent's tool did to one file. It compares the disk with
//! the text that the gate stored before the call.
//!
//! The earlier versions of the blocks come from the earlier text. The journal is read only if the
//! call added whole blocks, because an earlier call may have cut them out of another place.

use super::changes::{FileChange, TextsOfChange, leave_out_cut_blocks, line_text};
use super::{RecordRequest, mutation, no_code};
use crate::event::Event;
use code::Document;
use ground::RelativePath;
use ground::git::StoredContent;
use ground::session::calls::{FileBefore, PendingCall, Predicted};
use ground::session::seen::FileState;
use history::new_lines;
use intents::Intent;
use ledger::{BlockRecord, Record, RecordedDecision, Strength};
use provenance::classify::{self, Classification};
use why::Workspace;

pub struct FinishedCall<'a> {
    pub call: &'a PendingCall,
    pub before: &'a FileBefore,
    pub now: &'a FileState,
    pub event: &'a Event,
}

pub struct CallRecord {
    /// `None` if the call changed no block.
    pub record: Option<Record>,
    pub others: Vec<String>,
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
    if work.now.text.as_deref().is_some_and(code::holds_conflict) {
        return Err("it holds the markers of a merge conflict".to_owned());
    }
    let elsewhere = texts_in_other_commits(ws, work.call, path).into_iter();
    let elsewhere = elsewhere.filter_map(|text| ws.document(path, text.as_bytes()).ok());
    let (before, elsewhere) = ([earlier], Vec::from_iter(elsewhere));
    let texts = TextsOfChange { elsewhere: &elsewhere, ..TextsOfChange::new(&before, &current) };
    let mut change = FileChange::default();
    let mut lines = texts.changed_lines(&mut change);
    let others = match &work.before.predicted {
        Predicted::Text(after) if !work.before.foresaw(work.now) => {
            let predicted = work.document(ws, Some(after), true)?;
            leave_others(&mut lines.brought, &current, &predicted)
        }
        _ => Vec::new(),
    };
    let journal_of_now = ws.clone().with_records_of_now();
    leave_out_cut_blocks(&journal_of_now, &[], &current, &mut lines.brought);
    change.complete(ws, &texts, &lines).map_err(|error| error.to_string())?;
    if !others.is_empty() {
        // What the call did not foresee somebody else did.
        let has_line = |range: &BlockRecord| {
            let (start, end) = (range.start_line as usize, range.end_line as usize);
            !range.deleted && lines.brought.iter().take(end).skip(start - 1).any(|brought| *brought)
        };
        change.ranges.retain(has_line);
    }
    if work.moved_away() {
        change.ranges.retain(|range| !range.deleted);
    }
    if change.is_nothing() {
        return Ok(CallRecord { record: None, others, now: current });
    }
    // If nobody else changed the file in between, comparing the texts gives the class.
    let is_known = work.earlier_text().is_some() || work.before.hash.is_none();
    let class = match &work.now.text {
        Some(_) if is_known && others.is_empty() => class_of(path, &before[0], &current),
        _ => Classification::undetermined(),
    };
    let PendingCall { outcome, rule, approval, .. } = work.call;
    let decision = RecordedDecision::new(outcome, rule.clone(), approval.clone());
    let request = RecordRequest {
        claimed_class: work.event.claimed_class.map(|class| class.as_str().to_owned()),
        strength: Some(work.strength()),
        ..RecordRequest::for_call(work.event)
    };
    let record = mutation(ws, &request, intent, path, change, class, decision);
    Ok(CallRecord { record: Some(record), others, now: current })
}

impl FinishedCall<'_> {
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
                let path = &self.before.path;
                let stored = ws.git().map(|git| git.conversions().stored(path, text.into()));
                let document = match stored {
                    // Git has no lines of a file in Git LFS but those of its pointer.
                    Some(StoredContent::Pointer(pointer)) => ws.document(path, &pointer),
                    _ => ws.document(path, text.as_bytes()),
                };
                document.map_err(|error| error.to_string())
            }
        }
    }

    fn moved_away(&self) -> bool {
        let path = Some(&self.before.path);
        self.call.files.iter().any(|file| file.moved_from.as_ref() == path)
    }
}

/// The number of commits that git could have taken a file from.
const MAX_COMMITS: usize = 50;

/// Returns the texts of a file in the commits that branches and the stash had before a call that runs
/// git. The call may have taken the file, or a part of it, from there.
pub fn texts_in_other_commits(
    ws: &Workspace,
    call: &PendingCall,
    path: &RelativePath,
) -> Vec<String> {
    let text = |commit| String::from_utf8(ws.git()?.file_at(commit, path).ok()??).ok();
    call.tips.iter().take(MAX_COMMITS).filter_map(text).collect()
}

/// Returns the class of a change to one file. Other files are not read, so a name that they might
/// use counts as used.
pub(crate) fn class_of(path: &RelativePath, before: &Document, after: &Document) -> Classification {
    let name = path.as_str();
    classify::change_among(&[(name, before.clone())], &[(name, after.clone())], &|_| None)
}

fn leave_others(brought: &mut [bool], now: &Document, predicted: &Document) -> Vec<String> {
    let unforeseen = new_lines(&[&line_text(predicted)], &line_text(now));
    let mut others = Vec::new();
    for (line, brought) in brought.iter_mut().enumerate() {
        if !*brought || !unforeseen[line] {
            continue;
        }
        *brought = false;
        let blocks = now.blocks();
        let block = u32::try_from(line + 1).ok().and_then(|line| blocks.at_line(line));
        let name = block.map(|at| blocks.blocks[at].identity.path.clone());
        others.extend(name.filter(|name| !others.contains(name)));
    }
    others
}
