//! Where a key is found among many: sorted keys with their rows, behind a directory of their first bits.
//!
//! Keys are hashes, so they are spread evenly and the directory leads to a few postings. Two reads a look-up,
//! however many postings there are; a few more where thousands share a key.

use serde::{Deserialize, Serialize};

use super::pages::{Bytes, Damaged};

/// About so many postings stand behind an entry of the directory.
const IN_BUCKET: usize = 16;
/// A bucket larger than this is searched where it stands: one key has taken it over.
const MAX_READ: u64 = 512;
/// So many are read at once rather than halved.
const AT_ONCE: u64 = 128;
const ROW: usize = 4;

/// A table in an image.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Table {
    /// Where its directory begins, which its postings follow.
    at: u64,
    /// How many of a key's first bits the directory is ordered by.
    bits: u8,
    /// How many bytes a key has.
    width: u8,
    postings: u32,
}

impl Table {
    /// Puts a table of keys of `width` bytes and their rows behind what is there.
    pub fn put(image: &mut Vec<u8>, width: u8, mut postings: Vec<(u64, u32)>) -> Self {
        postings.sort_unstable();
        let at = image.len() as u64;
        let buckets = postings.len() / IN_BUCKET;
        let bits = (usize::BITS - buckets.leading_zeros()).min(u32::from(width) * 8) as u8;
        let count =
            u32::try_from(postings.len()).expect("fewer than 2^32 postings fit into memory");
        let table = Self { at, bits, width, postings: count };
        let mut next = 0;
        for bucket in 0..=(1_u64 << bits) {
            while postings.get(next).is_some_and(|(key, _)| table.bucket(*key) < bucket) {
                next += 1;
            }
            image.extend_from_slice(&(next as u32).to_be_bytes());
        }
        for (key, row) in postings {
            image.extend_from_slice(&key.to_be_bytes()[8 - table.kept()..]);
            image.extend_from_slice(&row.to_be_bytes());
        }
        table
    }

    /// The rows of a key, in order.
    pub fn rows(&self, bytes: &Bytes, key: u64) -> Result<Vec<u32>, Damaged> {
        let (mut from, mut to) = self.postings_of_bucket(bytes, key)?;
        let wanted = &key.to_be_bytes()[8 - self.kept()..];
        if to - from > MAX_READ {
            let all = (from, to);
            from = self.first(bytes, all, |posting| posting < wanted)?;
            to = self.first(bytes, all, |posting| posting <= wanted)?;
        }
        self.read_rows(bytes, (from, to), wanted)
    }

    /// The last rows of a key, at most `limit`, in order; however many it has.
    pub fn last_rows(&self, bytes: &Bytes, key: u64, limit: usize) -> Result<Vec<u32>, Damaged> {
        let (mut from, mut to) = self.postings_of_bucket(bytes, key)?;
        let wanted = &key.to_be_bytes()[8 - self.kept()..];
        if to - from > MAX_READ {
            to = self.first(bytes, (from, to), |posting| posting <= wanted)?;
            from = from.max(to.saturating_sub(limit as u64));
        }
        let mut rows = self.read_rows(bytes, (from, to), wanted)?;
        rows.drain(..rows.len().saturating_sub(limit));
        Ok(rows)
    }

    /// Where the postings begin and end among which those of a key are.
    fn postings_of_bucket(&self, bytes: &Bytes, key: u64) -> Result<(u64, u64), Damaged> {
        let bucket = bytes.read(self.at + self.bucket(key) * 4, 8)?;
        let (from, to) = bucket.split_at(4);
        let (from, to) = (u64::from(number(from)), u64::from(number(to)));
        if from > to || to > u64::from(self.postings) {
            return Err(Damaged);
        }
        Ok((from, to))
    }

    /// The rows of those postings that are of a key.
    fn read_rows(
        &self,
        bytes: &Bytes,
        (from, to): (u64, u64),
        wanted: &[u8],
    ) -> Result<Vec<u32>, Damaged> {
        let (kept, size) = (self.kept(), self.size());
        let length = to.checked_sub(from).ok_or(Damaged)? as usize * size;
        let found = bytes.read(self.place(from), length)?;
        Ok(found
            .chunks_exact(size)
            .filter(|posting| posting[..kept] == *wanted)
            .map(|posting| number(&posting[kept..]))
            .collect())
    }

    /// The first posting that is not before what is looked for, by halves.
    fn first(
        &self,
        bytes: &Bytes,
        (mut low, mut high): (u64, u64),
        before: impl Fn(&[u8]) -> bool,
    ) -> Result<u64, Damaged> {
        while high - low > AT_ONCE {
            let middle = low + (high - low) / 2;
            let posting = bytes.read(self.place(middle), self.kept())?;
            if before(&posting) { low = middle + 1 } else { high = middle }
        }
        let few = bytes.read(self.place(low), (high - low) as usize * self.size())?;
        let few = few.chunks_exact(self.size()).map(|posting| &posting[..self.kept()]);
        Ok(low + few.take_while(|posting| before(posting)).count() as u64)
    }

    fn bucket(&self, key: u64) -> u64 {
        match self.bits {
            0 => 0,
            bits => key >> (u32::from(self.width) * 8 - u32::from(bits)),
        }
    }

    /// Bytes of a key that its bucket does not tell.
    fn kept(&self) -> usize {
        usize::from(self.width - self.bits / 8)
    }

    fn size(&self) -> usize {
        self.kept() + ROW
    }

    fn place(&self, posting: u64) -> u64 {
        self.at + ((1_u64 << self.bits) + 1) * 4 + posting * self.size() as u64
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn holds(width: u8, postings: Vec<(u64, u32)>, strangers: &[u64]) {
        let mut wanted: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (key, row) in &postings {
            wanted.entry(*key).or_default().push(*row);
        }
        let mut image = b"before".to_vec();
        let table = Table::put(&mut image, width, postings);
        let bytes = Bytes::Hand(image);
        for (key, rows) in &mut wanted {
            rows.sort_unstable();
            assert_eq!(table.rows(&bytes, *key).as_ref(), Ok(&*rows));
            for limit in [0, 1, 7, 256, 2_999, rows.len()] {
                let last = rows[rows.len().saturating_sub(limit)..].to_vec();
                assert_eq!(table.last_rows(&bytes, *key, limit), Ok(last));
            }
        }
        for key in strangers {
            let rows = wanted.get(key).cloned().unwrap_or_default();
            assert_eq!(table.rows(&bytes, *key), Ok(rows.clone()));
            assert_eq!(table.last_rows(&bytes, *key, 9_999), Ok(rows));
        }
    }

    #[test]
    fn thousands_of_rows_under_one_key_hide_nobody() {
        let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut postings: Vec<(u64, u32)> = (0..5_000).map(|n| (spread(n), n as u32)).collect();
        postings.extend((0..3_000).map(|n| (spread(77), n)));
        postings.extend((0..3).map(|n| (spread(77) + 1, n)));
        holds(8, postings, &[spread(77) - 1, spread(9_999), 0, u64::MAX]);
    }

    proptest! {
        #[test]
        fn every_key_leads_to_its_rows(
            keys in prop::collection::vec((any::<u32>(), 0..50_u32), 0..600),
            strangers in prop::collection::vec(any::<u32>(), 0..20),
            width in 3..=8_u8,
        ) {
            let cut = |key: u32| match width {
                3 => u64::from(key & 0xff_ffff),
                width => u64::from(key) << (u32::from(width) * 8 - 32),
            };
            let postings = keys.into_iter().map(|(key, row)| (cut(key), row)).collect();
            let strangers: Vec<u64> = strangers.into_iter().map(cut).collect();
            holds(width, postings, &strangers);
        }
    }
}
