//! Compares large data files entry by entry.
//!
//! For a lock file of a megabyte in which one package changed, it would be wasted work to build the
//! trees of `code::program`: apart from formatting, the rules for programs can prove nothing about
//! data. So the blocks of both versions are compared by their hashes, and no such tree is built.

use std::collections::HashMap;

use code::{Block, Document, FileBlocks, Identity, Language};
use ledger::Basis;

use super::{BlockChange, Classification, class_if};

const LARGE: usize = 64 * 1024;

/// A large data file: its path, and the versions before and after.
pub(super) type DataFile<'a> = (&'a str, &'a Document, &'a Document);

/// Returns true if a file is to be compared entry by entry. Both versions must be in a data format,
/// because a text in another format may be a program.
pub(super) fn is_large_data(before: &Document, after: &Document) -> bool {
    let is_data = |document: &Document| {
        let has_entries = |it: &Language| it.is_data() && it.grammar.is_some();
        document.language().is_some_and(has_entries)
    };
    before.len_bytes().max(after.len_bytes()) > LARGE && is_data(before) && is_data(after)
}

pub(super) fn added(mut found: Classification, files: &[DataFile<'_>]) -> Classification {
    let mut error = found.basis == Basis::ParseError;
    let mut changes = Vec::new();
    for (path, before, after) in files {
        let is_same = before.text() == after.text();
        let (before, after) = (before.blocks(), after.blocks());
        error |= before.has_error || after.has_error;
        let entries = changed(path, &before, &after);
        if entries.is_empty() && !is_same {
            changes.push(BlockChange::of_file(path, "text"));
        }
        changes.extend(entries);
    }
    if changes.is_empty() {
        return found;
    }
    found.blocks.extend(changes);
    Classification::from_changes(found.blocks, error)
}

fn changed(path: &str, before: &FileBlocks, after: &FileBlocks) -> Vec<BlockChange> {
    let by_identity = |blocks: &FileBlocks| -> HashMap<Identity, usize> {
        blocks.blocks.iter().enumerate().map(|(at, one)| (one.identity.clone(), at)).collect()
    };
    let (old, new) = (by_identity(before), by_identity(after));
    let mut changes = Vec::new();
    // For each entry that is in both versions, its position in the old version, in the order of the
    // new one.
    let mut order = Vec::with_capacity(after.blocks.len());
    for block in &after.blocks {
        match old.get(&block.identity) {
            None => changes.push(changed_block(path, "added", (None, Some(block)))),
            Some(at) => {
                order.push(*at);
                changes.extend(compared(path, &before.blocks[*at], block));
            }
        }
    }
    let gone = before.blocks.iter().filter(|block| !new.contains_key(&block.identity));
    changes.extend(gone.map(|block| changed_block(path, "removed", (Some(block), None))));
    if !order.is_sorted() {
        changes.push(BlockChange::of_file(path, "order"));
    }
    changes
}

/// Returns the change of one block. Returns `None` if the block is unchanged, or if only blocks
/// inside it changed, because those are reported on their own.
fn compared(path: &str, old: &Block, new: &Block) -> Option<BlockChange> {
    let (was, is) = (&old.fingerprint, &new.fingerprint);
    if was.content == is.content {
        return None;
    }
    let both = (Some(old), Some(new));
    if was.own_tokens() != is.own_tokens() {
        return Some(changed_block(path, "body", both));
    }
    let is_container = was.own.is_some() || is.own.is_some();
    (!is_container).then(|| BlockChange {
        class: Some(class_if(true)),
        contained: true,
        ..changed_block(path, "formatting", both)
    })
}

fn changed_block(
    path: &str,
    what: &str,
    (before, after): (Option<&Block>, Option<&Block>),
) -> BlockChange {
    let identity = after.or(before).map(|block| block.identity.clone());
    let name = identity.as_ref();
    let label = name.map_or_else(String::new, |id| format!("{} {}", id.kind.as_str(), id.path));
    BlockChange {
        reason: format!("{label}: {what}"),
        identity,
        class: Some(class_if(false)),
        after: after.map(|block| (path.to_owned(), block.bytes.clone())),
        contained: false,
    }
}
