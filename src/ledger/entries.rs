//! The entries of a ledger as a list. An entry is read from disk when it is first requested.

use super::in_memory::index;
use super::{Entry, Ledger};

/// The entries of a ledger, or a range of them, in fold order.
#[derive(Clone, Copy)]
pub struct Entries<'a> {
    ledger: &'a Ledger,
    from: u32,
    to: u32,
}

impl<'a> Entries<'a> {
    pub(super) fn of(ledger: &'a Ledger, count: u32) -> Self {
        Self { ledger, from: 0, to: count }
    }
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }
    /// Returns the entry with this index.
    pub fn get(&self, at: usize) -> Option<&'a Entry> {
        (at < self.len()).then(|| self.ledger.entry(self.from + index(at)))
    }
    /// Returns the last entry in fold order.
    pub fn last(&self) -> Option<&'a Entry> {
        self.get(self.len().checked_sub(1)?)
    }
    pub fn iter(&self) -> Entries<'a> {
        *self
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = &'a Entry;

    fn next(&mut self) -> Option<&'a Entry> {
        let entry = self.get(0)?;
        self.from += 1;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (Entries::len(self), Some(Entries::len(self)))
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let entry = Entries::last(self)?;
        self.to -= 1;
        Some(entry)
    }
}

impl ExactSizeIterator for Entries<'_> {}

impl std::ops::Index<usize> for Entries<'_> {
    type Output = Entry;

    fn index(&self, at: usize) -> &Entry {
        self.get(at).expect("an index below the number of entries")
    }
}
