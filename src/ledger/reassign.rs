//! Blocks that a person has put under another intent since they were recorded.
//!
//! A record that named the wrong intent is never changed: a record of the kind `reassign` says of its blocks which intent
//! they belong to. It knows them by what evidence says of them too (path, kind, name and text), so it holds for a
//! record of the journal and for the evidence that this is sealed into.

use std::collections::HashMap;

use super::{
    BlockRecord, Claim, Entry, Ledger, Reassigned, ReassignedBlock, Record, RecordKind, Trust,
};
use crate::code::ContentHash;
use crate::workspace::RelativePath;

/// A block as evidence knows it: path, kind, name and text.
type Known = (RelativePath, String, String, String);

fn known(
    path: &RelativePath,
    kind: Option<&str>,
    name: Option<&str>,
    content: &ContentHash,
) -> Known {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    (path.clone(), text(kind), text(name), content.key().to_owned())
}

/// By block, each record that reassigns it (its index in the ledger, and the block's in the record), in fold order.
#[derive(Default)]
pub(super) struct Reassignments(HashMap<Known, Vec<(u32, u32)>>);

impl Reassignments {
    /// Of entries with their indices, in fold order.
    pub(super) fn of<'a>(entries: impl IntoIterator<Item = (u32, &'a Entry)>) -> Self {
        let mut all: HashMap<Known, Vec<(u32, u32)>> = HashMap::new();
        for (at, entry) in entries {
            let Some(said) = said(entry) else { continue };
            for (nth, block) in (0..).zip(&said.blocks) {
                let (kind, name) = (block.kind.as_deref(), block.name.as_deref());
                let block = known(&block.path, kind, name, &block.content_hash);
                all.entry(block).or_default().push((at, nth));
            }
        }
        Self(all)
    }

    /// Whether nothing was put under another intent.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paths of blocks that were put under an intent, sorted.
    pub(super) fn paths_under(&self, ledger: &Ledger, intent: &str) -> Vec<RelativePath> {
        let is_it =
            |(by, _): &(u32, u32)| ledger.entry(*by).record.intent_id.as_deref() == Some(intent);
        let moved = self.0.iter().filter(|(_, by)| by.iter().any(is_it));
        let mut paths: Vec<RelativePath> = moved.map(|((path, ..), _)| path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// What was said of a block since the entry `at` claimed it, under the intent `from`: each moves it on from where
    /// the one before left it.
    pub(super) fn since<'a>(
        &self,
        ledger: &'a Ledger,
        at: u32,
        path: &RelativePath,
        range: &BlockRecord,
        from: &str,
    ) -> Vec<Reassignment<'a>> {
        if self.is_empty() {
            return Vec::new();
        }
        let name = range.block.as_ref();
        let (kind, name) = (name.map(|name| &*name.kind), name.map(|name| &*name.path));
        let block = known(path, kind, name, &range.content_hash);
        let mut found: Vec<Reassignment<'a>> = Vec::new();
        for (by, nth) in self.0.get(&block).into_iter().flatten().filter(|(by, _)| *by > at) {
            let record = &ledger.entry(*by).record;
            let (Some(said), Some(to)) = (&record.reassigns, &record.intent_id) else { continue };
            let block: &ReassignedBlock = &said.blocks[*nth as usize];
            if found.last().map_or(from, |last| last.to) == block.from {
                found.push(Reassignment { from: &block.from, to, record, said });
            }
        }
        found
    }
}

/// What a record reassigns, where that counts.
fn said(entry: &Entry) -> Option<&Reassigned> {
    let counts = entry.record.kind == RecordKind::Reassign && entry.trust != Trust::Contradicted;
    entry.record.reassigns.as_ref().filter(|_| counts)
}

/// A block put under another intent.
#[derive(Clone, Copy, Debug)]
pub struct Reassignment<'a> {
    /// The intent that it was under.
    pub from: &'a str,
    /// The one that it is under since.
    pub to: &'a str,
    /// The record that says so.
    pub record: &'a Record,
    /// What that record says.
    pub said: &'a Reassigned,
}

impl<'a> Claim<'a> {
    /// Where a person has put the block since, oldest first.
    pub fn reassigned(&self) -> Vec<Reassignment<'a>> {
        let Some(from) = self.entry.record.intent_id.as_deref() else { return Vec::new() };
        self.reassignments_from(from)
    }

    /// The intent that the block is under: the record's, or the one that a person has put it under since.
    pub fn intent(&self) -> Option<&'a str> {
        let from = self.entry.record.intent_id.as_deref()?;
        Some(self.reassignments_from(from).last().map_or(from, |last| last.to))
    }
}
