//! Reassignments: a person has put recorded blocks under another intent.
//!
//! A record that names the wrong intent is never changed. Instead, a later record of the kind
//! `reassign` says which intent its blocks belong to. It identifies a block by path, kind, name and
//! content hash. Journal and evidence both have these, so the reassignment still applies after the
//! record was sealed.

use std::collections::HashMap;

use super::{
    BlockRecord, Claim, Entry, Ledger, Reassigned, ReassignedBlock, Record, RecordKind, Trust,
    sorted,
};
use code::ContentHash;
use ground::RelativePath;

/// What identifies a block: path, kind, name and content hash.
type BlockKey = (RelativePath, String, String, String);

fn block_key(
    path: &RelativePath,
    kind: Option<&str>,
    name: Option<&str>,
    content: &ContentHash,
) -> BlockKey {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    (path.clone(), text(kind), text(name), content.key().to_owned())
}

/// For each block, the records that reassign it, in fold order. Each is given as the index of the
/// entry and the index of the block in that record.
#[derive(Default)]
pub(super) struct Reassignments(HashMap<BlockKey, Vec<(u32, u32)>>);

impl Reassignments {
    /// Collects the reassignments from entries, which are given with their indices in fold order.
    pub(super) fn from_entries<'a>(entries: impl IntoIterator<Item = (u32, &'a Entry)>) -> Self {
        let mut all: HashMap<BlockKey, Vec<(u32, u32)>> = HashMap::new();
        for (at, entry) in entries {
            let Some(reassigned) = reassigned_blocks(entry) else { continue };
            for (nth, block) in (0..).zip(&reassigned.blocks) {
                let (kind, name) = (block.kind.as_deref(), block.name.as_deref());
                let block = block_key(&block.path, kind, name, &block.content_hash);
                all.entry(block).or_default().push((at, nth));
            }
        }
        Self(all)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sorted paths of the blocks that were ever reassigned to an intent. Some of them
    /// may have been reassigned to another intent since.
    pub(super) fn paths_under(&self, ledger: &Ledger, intent: &str) -> Vec<RelativePath> {
        let is_to_intent =
            |(by, _): &(u32, u32)| ledger.entry(*by).record.intent_id.as_deref() == Some(intent);
        let reassigned = self.0.iter().filter(|(_, by)| by.iter().any(is_to_intent));
        sorted(reassigned.map(|((path, ..), _)| path.clone()))
    }

    /// Returns the reassignments that apply to a block that the entry `at` recorded under the
    /// intent `from`, oldest first. Each reassignment must start from the intent to which the one
    /// before led, for example INT-001 to INT-002, then INT-002 to INT-003. Others are skipped.
    pub(super) fn applying_since<'a>(
        &self,
        ledger: &'a Ledger,
        at: u32,
        path: &RelativePath,
        range: &BlockRecord,
        from: &str,
    ) -> Vec<BlockReassignment<'a>> {
        if self.is_empty() {
            return Vec::new();
        }
        let name = range.block.as_ref();
        let (kind, name) = (name.map(|name| &*name.kind), name.map(|name| &*name.path));
        let block = block_key(path, kind, name, &range.content_hash);
        let mut found: Vec<BlockReassignment<'a>> = Vec::new();
        for (by, nth) in self.0.get(&block).into_iter().flatten().filter(|(by, _)| *by > at) {
            let record = &ledger.entry(*by).record;
            let (Some(decision), Some(to)) = (&record.reassigns, &record.intent_id) else {
                continue;
            };
            let block: &ReassignedBlock = &decision.blocks[*nth as usize];
            if found.last().map_or(from, |last| last.to) == block.from {
                found.push(BlockReassignment { from: &block.from, to, record, decision });
            }
        }
        found
    }
}

/// Returns the reassigned blocks that a record lists. `None` if the record is of another kind, or
/// if its hash or its chain is broken.
fn reassigned_blocks(entry: &Entry) -> Option<&Reassigned> {
    let counts = entry.record.kind == RecordKind::Reassign && entry.trust != Trust::Contradicted;
    entry.record.reassigns.as_ref().filter(|_| counts)
}

#[derive(Clone, Copy, Debug)]
pub struct BlockReassignment<'a> {
    /// The intent that the block had before.
    pub from: &'a str,
    /// The intent that the block has since then.
    pub to: &'a str,
    pub record: &'a Record,
    /// The content of that record: the blocks, and the person who reassigned them.
    pub decision: &'a Reassigned,
}

impl<'a> Claim<'a> {
    /// Returns the reassignments of the block since it was recorded, oldest first.
    pub fn reassigned(&self) -> Vec<BlockReassignment<'a>> {
        let Some(from) = self.entry.record.intent_id.as_deref() else { return Vec::new() };
        self.reassignments_from(from)
    }

    /// Returns the intent that the block belongs to: the record's own, or the one to which a person
    /// has reassigned the block since.
    pub fn intent(&self) -> Option<&'a str> {
        let from = self.entry.record.intent_id.as_deref()?;
        Some(self.reassignments_from(from).last().map_or(from, |last| last.to))
    }
}
