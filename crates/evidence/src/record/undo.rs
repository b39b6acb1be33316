//! `intent record --undo`: takes back the last records of a work tree that are in no commit.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use ground::{RelativePath, store};
use ledger::journal::{self, DraftNote, Note};
use ledger::{Entry, RecordKind, Strength};
use why::{VerbError, Workspace};

/// The file that names the records of the last command, because one command may record many files.
const LAST: &str = "last_records.json";
/// A larger file, in bytes, was not written by us.
const MAX_LAST: u64 = 16 * 1024 * 1024;

/// A record that was taken back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UndoneRecord {
    /// The file that the record is about.
    pub path: RelativePath,
    /// The intent that the record names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The number of lines that the record names.
    pub lines: usize,
    /// The id of the record.
    pub record: String,
}

pub(super) fn remember(ws: &Workspace, records: &[&String]) -> Result<(), VerbError> {
    Ok(store::write_json_scratch(&ws.root.private().join(LAST), &records)?)
}

pub struct LastRecords<'a> {
    ws: &'a Workspace,
    entries: Vec<Arc<Entry>>,
}

impl<'a> LastRecords<'a> {
    /// It is an error if every record is in a commit.
    pub fn find(ws: &'a Workspace) -> Result<Self, VerbError> {
        ws.governed()?;
        if ws.git().is_none() {
            return Err(VerbError::refused(
                "without git no record waits for a commit, and the ledger keeps each of them",
            ));
        }
        let is_undoable = |entry: &&Arc<Entry>| {
            let record = &entry.record;
            let kinds = [RecordKind::Mutation, RecordKind::Reassign, RecordKind::Ack];
            journal::is_open(&entry.origin.path)
                && kinds.contains(&record.kind)
                && !record.files.is_empty()
        };
        let open: Vec<&Arc<Entry>> = ws.journal.entries().iter().filter(is_undoable).collect();
        let order = |entry: &Entry| (entry.record.timestamp.clone(), entry.record.id.clone());
        let Some(last) = open.iter().max_by_key(|entry| order(entry)) else {
            return Err(VerbError::mendable(
                "no record of this work tree waits for a commit",
                "a committed one is taken back with `intent evidence reassign PATH --from ID --to nobody`",
            ));
        };
        let named: Vec<String> =
            store::read_json(&ws.root.private().join(LAST), MAX_LAST).unwrap_or_default();
        let is_of_command = |entry: &&&Arc<Entry>| match named.contains(&last.record.id) {
            true => named.contains(&entry.record.id),
            false => entry.record.id == last.record.id,
        };
        let entries = open.iter().filter(is_of_command).map(|entry| Arc::clone(entry)).collect();
        Ok(Self { ws, entries })
    }

    pub fn are_observed(&self) -> bool {
        self.entries.iter().any(|entry| entry.record.strength != Some(Strength::Declared))
    }

    /// Returns true if evidence of the records was sealed for the next commit.
    pub fn are_sealed(&self) -> bool {
        let drafts = DraftNote::read_all(&self.ws.root);
        drafts.iter().flat_map(|draft| &draft.records).any(|id| self.has_record(id))
    }

    fn has_record(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.record.id == id)
    }

    pub fn take_back(&self) -> Result<Vec<UndoneRecord>, VerbError> {
        journal::retire(&self.ws.root, &|id| self.has_record(id))?;
        let undone = self.entries.iter().flat_map(|entry| {
            entry.record.files.iter().map(|file| UndoneRecord {
                path: file.relative_path.clone(),
                intent: self.ws.intent_named(entry),
                lines: file.conversations.iter().map(|one| one.lines.line_count()).sum(),
                record: entry.record.id.clone(),
            })
        });
        Ok(undone.collect())
    }
}
