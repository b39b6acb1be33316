//! The bytes of an index: in hand, or on disk in pages that carry a checksum each.
//!
//! Nothing is mapped: what a look-up needs is read where it stands. A page whose checksum is not that of its
//! bytes, or that cannot be read, makes the whole index worthless; whoever asked reads the ledger itself then.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes under one checksum: as few as a look-up reads anyway.
const PAGE: usize = 1024;

/// An index that cannot be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// Where the bytes are.
#[derive(Debug)]
pub(super) enum Bytes {
    /// In memory.
    Hand(Vec<u8>),
    /// In a file, from its beginning.
    Disk {
        /// For systems that cannot read at a place of an open file.
        path: PathBuf,
        /// Open for as long as the index is used, so that nobody can exchange it meanwhile.
        file: File,
        /// How many of the file's bytes are meant.
        length: u64,
        /// One for each page.
        sums: Vec<u32>,
    },
}

impl Bytes {
    /// The checksums of an image's pages.
    pub fn sums(image: &[u8]) -> Vec<u32> {
        image.chunks(PAGE).map(crc32fast::hash).collect()
    }

    /// How many checksums an image of this length has.
    pub fn pages(length: u64) -> usize {
        usize::try_from(length.div_ceil(PAGE as u64)).unwrap_or(usize::MAX)
    }

    /// How many there are.
    pub fn length(&self) -> u64 {
        match self {
            Self::Hand(bytes) => bytes.len() as u64,
            Self::Disk { length, .. } => *length,
        }
    }

    /// So many bytes from there on.
    pub fn read(&self, from: u64, length: usize) -> Result<Vec<u8>, Damaged> {
        match self {
            Self::Hand(bytes) => {
                let from = usize::try_from(from).map_err(|_| Damaged)?;
                let to = from.checked_add(length).ok_or(Damaged)?;
                bytes.get(from..to).map(<[u8]>::to_vec).ok_or(Damaged)
            }
            Self::Disk { path, file, length: all, sums } => {
                let to = from.checked_add(length as u64).filter(|to| to <= all).ok_or(Damaged)?;
                if length == 0 {
                    return Ok(Vec::new());
                }
                let first = from / PAGE as u64;
                let start = first * PAGE as u64;
                let end = (to.div_ceil(PAGE as u64) * PAGE as u64).min(*all);
                let mut bytes = vec![0; usize::try_from(end - start).map_err(|_| Damaged)?];
                read_at(path, file, start, &mut bytes).map_err(|_| Damaged)?;
                let wanted = usize::try_from(first).map_err(|_| Damaged)?;
                let whole = bytes
                    .chunks(PAGE)
                    .zip(sums.get(wanted..).ok_or(Damaged)?)
                    .all(|(page, sum)| crc32fast::hash(page) == *sum);
                if !whole {
                    return Err(Damaged);
                }
                bytes.drain(..(from - start) as usize);
                bytes.truncate(length);
                Ok(bytes)
            }
        }
    }
}

#[cfg(unix)]
fn read_at(_: &Path, file: &File, from: u64, bytes: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, from)
}

#[cfg(not(unix))]
fn read_at(path: &Path, _: &File, from: u64, bytes: &mut [u8]) -> std::io::Result<()> {
    read_from(path, from, bytes)
}

/// Reads a part of a file that is opened for it.
pub(super) fn read_from(path: &Path, from: u64, bytes: &mut [u8]) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_from_disk_is_what_was_written_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let image: Vec<u8> = (0..10_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        std::fs::write(&path, [&image[..], b"what follows"].concat()).unwrap();
        let disk = |sums| Bytes::Disk {
            path: path.clone(),
            file: File::open(&path).unwrap(),
            length: image.len() as u64,
            sums,
        };
        let bytes = disk(Bytes::sums(&image));
        let hand = Bytes::Hand(image.clone());
        assert_eq!(Bytes::sums(&image).len(), Bytes::pages(image.len() as u64));
        for (from, length) in [
            (0, 0),
            (0, 1),
            (4095, 2),
            (4096, 4096),
            (0, 10_000),
            (9_999, 1),
            (10_000, 0),
            (3, 9_000),
        ] {
            let wanted = image[from..from + length].to_vec();
            assert_eq!(bytes.read(from as u64, length), Ok(wanted.clone()), "{from} {length}");
            assert_eq!(hand.read(from as u64, length), Ok(wanted), "{from} {length}");
        }
        for (from, length) in [(10_000, 1), (0, 10_001), (u64::MAX, 1), (1 << 40, 0)] {
            assert_eq!(bytes.read(from, length), Err(Damaged));
            assert_eq!(hand.read(from, length), Err(Damaged));
        }
        let mut sums = Bytes::sums(&image);
        sums[4_100 / PAGE] ^= 1;
        let bent = disk(sums);
        assert_eq!(bent.read(4_000, 200), Err(Damaged));
        assert!(bent.read(8_192, 10).is_ok());
    }
}
