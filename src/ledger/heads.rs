//! The private memory of a clone: where each chain stood when it was last seen.
//!
//! One small file a chain, so that an append replaces one of them and no more. `own` are the chains
//! that this clone wrote, `seen` those of others.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::SystemTime;

use super::chain::Head;
use crate::workspace::Root;
use crate::workspace::store::{StoreError, write_scratch};

/// Whose chain it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// This clone wrote it.
    Own,
    /// Somebody else did.
    Seen,
}

impl Memory {
    const ALL: [Memory; 2] = [Memory::Own, Memory::Seen];

    fn folder(self, root: &Root) -> PathBuf {
        let name = match self {
            Memory::Own => "own",
            Memory::Seen => "seen",
        };
        root.private().join("heads").join(name)
    }
}

/// Remembers where a chain stands. The record itself is durable; this may be lost in a crash, and is then behind.
pub(super) fn remember(root: &Root, head: &Head, memory: Memory) -> Result<(), StoreError> {
    // The id of somebody else's chain is somebody else's text, and not fit for a file name unless it is one of ours.
    if !is_writer_id(&head.writer) {
        return Ok(());
    }
    let shard = memory.folder(root).join(&head.writer[..2]);
    let json = serde_json::to_vec(head).expect("plain texts and numbers always serialise");
    write_scratch(&shard.join(&head.writer), &json)
}

/// Every head that is remembered, sorted by writer.
pub(super) fn all(root: &Root) -> Vec<Head> {
    let mut heads: Vec<Head> =
        Memory::ALL.into_iter().flat_map(|memory| of(root, memory)).collect();
    heads.sort_by(|a, b| a.writer.cmp(&b.writer));
    heads
}

/// The heads of one kind.
pub(super) fn of(root: &Root, memory: Memory) -> Vec<Head> {
    files(root, memory).iter().filter_map(|path| read(path)).collect()
}

/// The chains that this clone wrote.
pub(super) fn own(root: &Root) -> HashSet<String> {
    let name = |path: PathBuf| path.file_name()?.to_str().map(str::to_owned);
    files(root, Memory::Own).into_iter().filter_map(name).collect()
}

/// The heads that changed last, newest first.
pub(super) fn newest(root: &Root, limit: usize) -> Vec<Head> {
    let mut dated: Vec<(SystemTime, PathBuf)> = Memory::ALL
        .into_iter()
        .flat_map(|memory| files(root, memory))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .collect();
    dated.sort_by(|a, b| b.cmp(a));
    dated.iter().filter_map(|(_, path)| read(path)).take(limit).collect()
}

fn read(path: &std::path::Path) -> Option<Head> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn files(root: &Root, memory: Memory) -> Vec<PathBuf> {
    let paths = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect::<Vec<_>>()
    };
    let named =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(is_writer_id);
    paths(memory.folder(root)).into_iter().flat_map(paths).filter(named).collect()
}

fn is_writer_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
