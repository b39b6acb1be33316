//! The fold order: all entries of a ledger sorted by time.

use std::sync::Arc;

use super::index;
use crate::Entry;
use crate::files::LedgerFiles;
use ground::clock;

/// The fold order of all entries. Entries on the shelf are rows of the table on disk; all other
/// entries are in memory.
#[derive(Default)]
pub(super) struct FoldOrder {
    /// For each entry, its row in the table or its index in [`super::LedgerData::entries`].
    pub all: Vec<EntryIndex>,
    /// For each row of the table, the index of its entry in `all`. [`GONE`] if the file of the row
    /// was removed.
    pub of_rows: Vec<u32>,
}

/// Where an entry is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryIndex {
    /// In the file that this row of the table names.
    Row(u32),
    /// At this index of [`super::LedgerData::entries`].
    InMemory(u32),
}

/// The index for an entry whose file was removed.
pub(super) const GONE: u32 = u32::MAX;

impl FoldOrder {
    /// Merges two lists by time: the entries in the table on disk (the shelf), and `others`.
    /// `twice` lists the files of the table whose entries are also in `others`; they count once.
    pub(super) fn merged_by_time(
        files: &LedgerFiles,
        twice: &[u32],
        others: &[Arc<Entry>],
        times: &[Option<i64>],
    ) -> Self {
        let mut order = Self::default();
        order.all.reserve(others.len());
        let mut rest = (0..).zip(others.iter().zip(times)).peekable();
        if let Some(shelf) = &files.shelf {
            let kept = &shelf.kept;
            order.of_rows.resize(kept.entries(), GONE);
            for row in 0..index(kept.entries()) {
                let (file, _) = kept.origin(row);
                if !files.standing[file as usize] || twice.binary_search(&file).is_ok() {
                    continue;
                }
                let time = kept.time(row);
                let is_before = |(_, (entry, other)): &(u32, (&Arc<Entry>, &Option<i64>))| {
                    let rest =
                        || (&*entry.record.writer, &entry.origin.path) < ("", &kept.path(file));
                    **other < time || **other == time && rest()
                };
                while let Some((other, _)) = rest.next_if(is_before) {
                    order.all.push(EntryIndex::InMemory(other));
                }
                order.of_rows[row as usize] = index(order.all.len());
                order.all.push(EntryIndex::Row(row));
            }
        }
        order.all.extend(rest.map(|(other, _): (u32, _)| EntryIndex::InMemory(other)));
        order
    }
}

/// Sorts entries by time and returns the times. The records of one writer in one file stay in the
/// order in which they were written, even if the writer's clock went back.
pub(super) fn fold(entries: &mut Vec<Arc<Entry>>) -> Vec<Option<i64>> {
    entries.sort_by(|a, b| {
        let place = |entry: &Entry| (entry.record.seq, entry.origin.start);
        (&a.record.writer, &a.origin.path)
            .cmp(&(&b.record.writer, &b.origin.path))
            .then_with(|| place(a).cmp(&place(b)))
    });
    let is_next = |entry: &Entry, before: &Entry| {
        !entry.record.writer.is_empty()
            && entry.record.writer == before.record.writer
            && entry.origin.path == before.origin.path
    };
    let mut timed: Vec<(Option<i64>, Arc<Entry>)> = Vec::with_capacity(entries.len());
    for entry in entries.drain(..) {
        let mut time = clock::milliseconds(&entry.record.timestamp);
        if let Some((earlier, _)) = timed.last().filter(|(_, before)| is_next(&entry, before)) {
            time = time.max(*earlier);
        }
        timed.push((time, entry));
    }
    timed.sort_by_key(|(time, _)| *time);
    let (times, sorted): (Vec<_>, Vec<_>) = timed.into_iter().unzip();
    *entries = sorted;
    times
}
