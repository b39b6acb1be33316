//! Which file a new file was before, by git's rule: the same content, else the content that is most
//! alike, if at least half of it is the same. Each old file goes to at most one new file.
//!
//! The likeness is that of git's `diffcore-delta.c`: the share of the larger file whose lines (or
//! pieces of 64 bytes) are in the other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use ground::git::{BStr, BString, ChangedBlob, GitError, ObjectId, ObjectReader, TwoTrees};

/// A pair of files is a rename from this likeness on, out of [`FULL`].
const ENOUGH: u64 = FULL / 2;
/// A pair of files with the same name in other folders is taken at once from this likeness on.
const ENOUGH_FOR_SAME_NAME: u64 = FULL / 4 * 3;
const FULL: u64 = 60_000;
/// If there are more pairs of files than this, only equal files are paired, as git does with
/// `diff.renameLimit`.
const MAX_PAIRS: usize = 1_000 * 1_000;
/// How many bytes of files are compared at most.
const MAX_BYTES: usize = 64 * 1024 * 1024;

const PIECES_WEIGHT: usize = 2 * 1024;

/// The files that one commit added and removed, to find out what a new file was before.
pub(crate) struct Renames {
    /// The new files without an equal one among those that are gone.
    new: Vec<RenamedFile>,
    /// The files that are gone, without those that went on unchanged under another name.
    gone: Vec<RenamedFile>,
    /// The new files that equal a file that is gone: the path now, and the file before.
    equal: HashMap<BString, RenamedFile>,
    left: AtomicUsize,
}

struct RenamedFile {
    path: BString,
    blob: ObjectId,
    pieces: OnceLock<Pieces>,
}

impl RenamedFile {
    fn new(path: &BString, blob: ObjectId) -> Self {
        Self { path: path.clone(), blob, pieces: OnceLock::new() }
    }

    fn name(&self) -> &[u8] {
        name(&self.path)
    }

    fn pieces(
        &self,
        reader: &mut ObjectReader<'_>,
        left: &AtomicUsize,
    ) -> Result<&Pieces, GitError> {
        if let Some(pieces) = self.pieces.get() {
            return Ok(pieces);
        }
        let bytes = match reader.blob(self.blob) {
            Err(GitError::TooLarge { .. }) => Vec::new(),
            read => read?,
        };
        let rest = left.load(Ordering::Relaxed).saturating_sub(bytes.len());
        left.store(rest, Ordering::Relaxed);
        let pieces = if rest == 0 { Pieces::default() } else { Pieces::new(&bytes) };
        Ok(self.pieces.get_or_init(|| pieces))
    }
}

impl Renames {
    pub(crate) fn from_trees(
        reader: &mut ObjectReader<'_>,
        trees: TwoTrees,
    ) -> Result<Arc<Self>, GitError> {
        reader.remembered("renames", trees, Self::weight, |reader| {
            Ok(Self::from_changes(&reader.changed_blobs(trees.0, trees.1)?))
        })
    }

    /// About how much memory it takes once its files were compared; see [`ObjectReader::remembered`].
    fn weight(&self) -> usize {
        let compared = if self.gone.is_empty() { 0 } else { self.new.len() + self.gone.len() };
        PIECES_WEIGHT * compared + 128 * (self.new.len() + self.equal.len())
    }

    pub(crate) fn from_changes(changed: &[ChangedBlob]) -> Self {
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        for one in changed {
            match (one.before, one.now) {
                (Some(before), None) => gone.push(RenamedFile::new(&one.path, before)),
                (None, Some(now)) => new.push(RenamedFile::new(&one.path, now)),
                _ => {}
            }
        }
        let mut equal = HashMap::new();
        new.retain(|file: &RenamedFile| {
            let is_equal = |old: &&RenamedFile| old.blob == file.blob;
            let has_name = |old: &RenamedFile| is_equal(&old) && old.name() == file.name();
            let at = gone
                .iter()
                .position(has_name)
                .or_else(|| gone.iter().position(|old| is_equal(&old)));
            at.is_none_or(|at| equal.insert(file.path.clone(), gone.remove(at)).is_some())
        });
        Self { new, gone, equal, left: AtomicUsize::new(MAX_BYTES) }
    }

    /// Returns the path and the content that a new file had before. `None` if it is not a rename.
    pub(crate) fn former_file(
        &self,
        reader: &mut ObjectReader<'_>,
        now: &BStr,
    ) -> Result<Option<(BString, ObjectId)>, GitError> {
        let found = |file: &RenamedFile| Ok(Some((file.path.clone(), file.blob)));
        if let Some(file) = self.equal.get(now) {
            return found(file);
        }
        let Some(file) = self.new.iter().find(|file| file.path == now) else { return Ok(None) };
        if let Some(old) = self.of_same_name(file)
            && self.likeness(reader, old, file)? >= ENOUGH_FOR_SAME_NAME
        {
            return found(old);
        }
        if self.gone.len().saturating_mul(self.new.len()) > MAX_PAIRS {
            return Ok(None);
        }
        let mut scored: Vec<(u64, &RenamedFile)> = Vec::new();
        for old in &self.gone {
            let score = self.likeness(reader, old, file)?;
            if score >= ENOUGH {
                scored.push((score, old));
            }
        }
        // The sort is stable, so that files with equal scores stay in the order of their paths.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        for (score, old) in scored {
            if !self.has_rival(reader, old, file, score)? {
                return found(old);
            }
        }
        Ok(None)
    }

    /// Returns the file that had the same name in another folder. `None` if several files have it.
    fn of_same_name(&self, file: &RenamedFile) -> Option<&RenamedFile> {
        let mut named = self.gone.iter().filter(|old| old.name() == file.name());
        let old = named.next().filter(|_| named.next().is_none())?;
        let count = self.new.iter().filter(|new| new.name() == file.name()).count();
        (count == 1).then_some(old)
    }

    fn has_rival(
        &self,
        reader: &mut ObjectReader<'_>,
        old: &RenamedFile,
        file: &RenamedFile,
        score: u64,
    ) -> Result<bool, GitError> {
        for other in self.new.iter().filter(|other| other.path != file.path) {
            let of_name = self.of_same_name(other);
            // A file that probably has an origin of its own is no rival.
            if of_name.is_none_or(|before| before.path == old.path)
                && self.likeness(reader, old, other)? > score
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn likeness(
        &self,
        reader: &mut ObjectReader<'_>,
        before: &RenamedFile,
        now: &RenamedFile,
    ) -> Result<u64, GitError> {
        Ok(before.pieces(reader, &self.left)?.likeness(now.pieces(reader, &self.left)?))
    }
}

fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// How many bytes of a file each of its pieces has. A piece is a line, or 64 bytes of a longer one.
#[derive(Clone, Debug, Default)]
struct Pieces {
    /// The hashes of the pieces with their bytes, in the order of the hashes.
    bytes: Vec<(u32, u32)>,
    size: u64,
}

impl Pieces {
    fn new(text: &[u8]) -> Self {
        const LONGEST: usize = 64;
        let mut bytes_of: HashMap<u32, u32> = HashMap::new();
        let is_binary = text[..text.len().min(8_000)].contains(&0);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            for piece in line.chunks(LONGEST) {
                let mut hash: u64 = 0;
                let mut bytes = 0;
                for (at, byte) in piece.iter().enumerate() {
                    // Line ends are compared as if they were all line feeds.
                    if !is_binary && *byte == b'\r' && piece.get(at + 1) == Some(&b'\n') {
                        continue;
                    }
                    hash = (hash.rotate_left(7) ^ u64::from(*byte))
                        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    bytes += 1;
                }
                // The upper bits depend on all bytes of the piece.
                *bytes_of.entry((hash >> 32) as u32).or_default() += bytes;
            }
        }
        let mut bytes = Vec::from_iter(bytes_of);
        bytes.sort_unstable();
        Self { bytes, size: text.len() as u64 }
    }

    /// Returns how alike two files are, from 0 to [`FULL`].
    fn likeness(&self, now: &Self) -> u64 {
        let larger = self.size.max(now.size);
        let difference = larger - self.size.min(now.size);
        if larger == 0 || larger * (FULL - ENOUGH) < difference * FULL {
            return 0;
        }
        let (mut common, mut others) = (0, now.bytes.iter().peekable());
        for (piece, bytes) in &self.bytes {
            while others.next_if(|other| other.0 < *piece).is_some() {}
            if let Some((_, other)) = others.next_if(|other| other.0 == *piece) {
                common += u64::from(*other.min(bytes));
            }
        }
        common * FULL / larger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_the_share_of_the_larger_file() {
        let pieces = |text: &str| Pieces::new(text.as_bytes());
        let of = |before: &str, now: &str| pieces(before).likeness(&pieces(now));
        assert_eq!(of("a\nb\nc\nd\n", "a\nb\nc\nd\n"), FULL);
        assert_eq!(of("a\nb\nc\nd\n", "a\nb\nx\ny\n"), FULL / 2);
        assert_eq!(of("a\nb\n", "x\ny\n"), 0);
        assert_eq!(of("a\r\nb\r\n", "a\nb\n"), FULL * 4 / 6);
        assert_eq!(of("", ""), 0);
        // Such a difference in size is no rename, whatever the content is.
        assert_eq!(of("a\n", "a\na\na\n"), 0);
    }
}
