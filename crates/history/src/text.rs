//! A text as lines of bytes.

use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::ops::Range;
use std::sync::LazyLock;

use code::language;
use ledger::LinesOfText;

/// A text and the places where its lines start. As in git, a line ends with its line feed, and the
/// last line may lack it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineText {
    bytes: Vec<u8>,
    /// Where each line starts, and the length of the text.
    starts: Vec<u32>,
}

impl Default for LineText {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl LineText {
    pub fn new(bytes: Vec<u8>) -> Self {
        let ends =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let mut starts: Vec<u32> = vec![0];
        starts.extend(ends.filter_map(|end| u32::try_from(end).ok()));
        if starts.last().is_some_and(|start| (*start as usize) < bytes.len()) {
            starts.extend(u32::try_from(bytes.len()).ok());
        }
        Self { bytes, starts }
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The line feed is included. Lines are counted from 0.
    pub fn line(&self, at: usize) -> &[u8] {
        self.lines(at..at + 1)
    }

    pub fn lines(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[self.starts[range.start] as usize..self.starts[range.end] as usize]
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns how many lines begin before a byte.
    pub(crate) fn lines_before(&self, byte: usize) -> usize {
        self.starts[..self.len()].partition_point(|start| (*start as usize) < byte)
    }

    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        Self::new(self.lines(range).to_vec())
    }
}

impl LinesOfText for LineText {
    fn count(&self) -> usize {
        self.len()
    }

    fn line(&self, at: usize) -> &[u8] {
        Self::line(self, at)
    }
}

pub fn language_of(path: &str) -> Option<&'static str> {
    language::of_file(path, "").map(|language| language.id)
}

/// Returns true for the bytes that git ignores with `-w`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// A line that equals every other line which differs from it only in white space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loose<'a>(pub &'a [u8]);

impl Loose<'_> {
    fn letters(&self) -> impl Iterator<Item = u8> {
        self.0.iter().copied().filter(|byte| !is_space(*byte))
    }
}

impl PartialEq for Loose<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.letters().eq(other.letters())
    }
}

impl Eq for Loose<'_> {}

impl Hash for Loose<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The factor is random, so nobody can write a file of lines that all have one hash.
        static FACTOR: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0) | 1);
        let factor = *FACTOR;
        let mix =
            |hash: u64, byte: u8| (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(factor);
        state.write_u64(self.letters().fold(0, mix));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_their_line_feed() {
        let lines = |text: &str| {
            let text = LineText::new(text.into());
            let lines =
                (0..text.len()).map(|at| String::from_utf8_lossy(text.line(at)).into_owned());
            lines.collect::<Vec<_>>()
        };
        assert_eq!(lines("a\n\nb"), ["a\n", "\n", "b"]);
        assert_eq!(lines("a\r\n"), ["a\r\n"]);
        assert!(lines("").is_empty());
    }

    #[test]
    fn white_space_makes_no_difference_to_a_loose_line() {
        let is_same = |a: &str, b: &str| Loose(a.as_bytes()) == Loose(b.as_bytes());
        assert!(is_same("\tif (a) {\r\n", "if ( a ){"));
        assert!(!is_same("a b", "a c") && !is_same("ab", "abc"));
    }
}
