//! A cache file of rows that all have the same size. A look-up reads only the rows that begin with
//! given bytes.
//!
//! The rows are sorted and grouped into buckets by their first bits. The header (the caller's own
//! data) is read when the file is opened, and a bucket is read when one of its rows is requested.
//! Each of them has a checksum. Like every cache file, it may be missing, damaged or of another
//! version at any time. Then there is no table, and the caller has to find the answer in another
//! way.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::store::{self, StoreError};

/// The version of the layout; raise it when the layout changes. The first line of a file also
/// contains the version of the program.
const FORMAT: u32 = 1;
/// The approximate number of rows in a bucket.
const PER_BUCKET: usize = 128;
/// A file with more bytes than this was not written by us and is not read.
const MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// The size in bytes of three numbers and a checksum, 4 bytes each.
const NUMBERS: usize = 16;

/// An open file with rows of `W` bytes.
#[derive(Debug)]
pub struct Table<const W: usize> {
    file: Mutex<File>,
    /// The offset of the first row in the file.
    body: u64,
    /// For each bucket, the number of rows up to its end, and its checksum.
    buckets: Vec<(u64, u32)>,
}

/// The checksum of a bucket is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

fn first_line(what: &str) -> String {
    format!("intent-table {FORMAT} {} {what}\n", env!("CARGO_PKG_VERSION"))
}

/// Returns how many bits select the bucket in a table with this many rows.
fn bits(rows: usize) -> u32 {
    (rows / PER_BUCKET).next_power_of_two().trailing_zeros().min(20)
}

/// Returns the bucket of a row that begins with these bytes.
fn bucket(beginning: &[u8], bits: u32) -> usize {
    let mut first = [0; 4];
    first.copy_from_slice(&beginning[..4]);
    (u64::from(u32::from_be_bytes(first)) >> (32 - bits)) as usize
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(4 * at..4 * at + 4)?.try_into().ok()?))
}

impl<const W: usize> Table<W> {
    /// Writes a file with these rows, which may be in any order. `what` names the kind of table;
    /// opening it requires the same name.
    pub fn write(
        path: &Path,
        what: &str,
        head: &[u8],
        mut rows: Vec<[u8; W]>,
    ) -> Result<(), StoreError> {
        rows.sort_unstable();
        let bits = bits(rows.len());
        let (mut directory, mut from) = (Vec::new(), 0);
        for at in 0..1 << bits {
            let to = from + rows[from..].partition_point(|row| bucket(row, bits) <= at);
            let count = u32::try_from(to - from).unwrap_or(u32::MAX);
            directory.extend(count.to_le_bytes());
            directory.extend(crc32fast::hash(rows[from..to].as_flattened()).to_le_bytes());
            from = to;
        }
        let mut bytes = first_line(what).into_bytes();
        let mut covered = Vec::new();
        for number in [W, head.len(), 1 << bits] {
            covered.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        covered.extend([head, &directory].concat());
        let (numbers, rest) = covered.split_at(NUMBERS - 4);
        bytes.extend(numbers);
        bytes.extend(crc32fast::hash(&covered).to_le_bytes());
        bytes.extend(rest);
        bytes.extend(rows.as_flattened());
        store::write_scratch(path, &bytes)
    }

    /// Opens a table. Returns it with its header. `None` if it is missing, damaged, or of another
    /// version or kind.
    pub fn open(path: &Path, what: &str) -> Option<(Self, Vec<u8>)> {
        let mut file = store::open(path).ok()?;
        let found = file.metadata().ok()?;
        let wanted = first_line(what);
        let mut first = vec![0; wanted.len() + NUMBERS];
        file.read_exact(&mut first).ok()?;
        let numbers = first.strip_prefix(wanted.as_bytes())?;
        let [width, head, count, sum] = [0, 1, 2, 3].map(|at| number(numbers, at));
        let (head, count) = (head? as usize, count? as usize);
        let length = head as u64 + 8 * count as u64;
        let fits = width? as usize == W
            && count.is_power_of_two()
            && length <= found.len()
            && found.len() <= MAX_BYTES;
        if !fits {
            return None;
        }
        let mut rest = vec![0; usize::try_from(length).ok()?];
        file.read_exact(&mut rest).ok()?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&numbers[..NUMBERS - 4]);
        hasher.update(&rest);
        if hasher.finalize() != sum? {
            return None;
        }
        let directory = rest.split_off(head);
        let mut end = 0;
        let bucket = |at| {
            end += u64::from(number(&directory, 2 * at)?);
            Some((end, number(&directory, 2 * at + 1)?))
        };
        let buckets = (0..count).map(bucket).collect::<Option<Vec<_>>>()?;
        let body = first.len() as u64 + length;
        Some((Self { file: Mutex::new(file), body, buckets }, rest))
    }

    /// Returns the rows that begin with `beginning`, in order. `beginning` must have at least 4
    /// bytes.
    pub fn rows(&self, beginning: &[u8]) -> Result<Vec<[u8; W]>, Damaged> {
        let at = bucket(beginning, self.buckets.len().trailing_zeros());
        let mut rows = self.read(at..at + 1)?;
        rows.retain(|row| row.starts_with(beginning));
        Ok(rows)
    }

    pub fn all_rows(&self) -> Result<Vec<[u8; W]>, Damaged> {
        self.read(0..self.buckets.len())
    }

    fn read(&self, buckets: Range<usize>) -> Result<Vec<[u8; W]>, Damaged> {
        let start = |at: usize| at.checked_sub(1).map_or(0, |before| self.buckets[before].0);
        let (from, to) = (start(buckets.start), start(buckets.end));
        let count = usize::try_from(to - from).map_err(|_| Damaged)?;
        if (to - from).saturating_mul(W as u64) > MAX_BYTES {
            return Err(Damaged);
        }
        let mut rows = vec![[0; W]; count];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.body + from * W as u64)).map_err(|_| Damaged)?;
        file.read_exact(rows.as_flattened_mut()).map_err(|_| Damaged)?;
        drop(file);
        for at in buckets {
            let place = |row: u64| usize::try_from(row - from).unwrap_or(count);
            let of_it = &rows[place(start(at))..place(self.buckets[at].0)];
            if crc32fast::hash(of_it.as_flattened()) != self.buckets[at].1 {
                return Err(Damaged);
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: u32) -> Vec<[u8; 8]> {
        let spread = |n: u32| n.wrapping_mul(2_654_435_761);
        let row = |n: u32| [spread(n).to_be_bytes(), n.to_le_bytes()].concat();
        (0..count).map(|n| row(n).try_into().unwrap()).collect()
    }

    #[test]
    fn every_row_is_found_by_its_prefix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        for count in [0, 1, 127, 1_000, 20_000] {
            Table::write(&path, "test", b"head", rows(count)).unwrap();
            let (table, head) = Table::<8>::open(&path, "test").unwrap();
            assert_eq!(head, b"head");
            for row in rows(count).iter().step_by(97) {
                assert_eq!(table.rows(&row[..4]), Ok(vec![*row]));
                assert_eq!(table.rows(row), Ok(vec![*row]));
            }
            let mut sorted = rows(count);
            sorted.sort_unstable();
            assert_eq!(table.all_rows(), Ok(sorted));
            assert_eq!(table.rows(&[0xff; 8]), Ok(vec![]));
        }
    }

    #[test]
    fn an_incomplete_table_answers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        Table::write(&path, "test", b"head", rows(300)).unwrap();
        assert!(Table::<8>::open(&path, "other").is_none());
        assert!(Table::<16>::open(&path, "test").is_none());
        let whole = std::fs::read(&path).unwrap();
        let is_right = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let (table, head) = Table::<8>::open(&path, "test")?;
            assert_eq!(head, b"head");
            table.all_rows().ok()
        };
        for length in (0..whole.len()).step_by(7) {
            assert_eq!(is_right(&whole[..length]), None, "{length}");
        }
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 1;
            assert_eq!(is_right(&bent), None, "{at}");
        }
        assert!(is_right(&whole).is_some());
    }
}
