//! The text of a file in a commit, of which single lines are asked for.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use ground::git::ByteSlice;
use ground::store;

/// A text with the places where its lines begin.
pub(crate) struct VersionText {
    bytes: Vec<u8>,
    /// Where each line begins, and where the last one ends.
    starts: Vec<usize>,
}

impl VersionText {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        let mut starts = vec![0];
        for line in bytes.lines_with_terminator() {
            starts.push(starts.last().copied().unwrap_or_default() + line.len());
        }
        Self { bytes, starts }
    }

    /// Returns these lines, which are counted from 1. `None` if the text has not all of them.
    fn lines(&self, lines: &RangeInclusive<u32>) -> Option<&[u8]> {
        let first = usize::try_from(*lines.start()).ok()?.checked_sub(1)?;
        let end = usize::try_from(*lines.end()).ok()?;
        self.bytes.get(*self.starts.get(first)?..*self.starts.get(end)?)
    }

    /// Returns true if the text has all of these lines.
    pub(crate) fn has_lines(&self, lines: &RangeInclusive<u32>) -> bool {
        self.lines(lines).is_some()
    }

    /// Returns true if lines have this SHA-256, in hex. Tools disagree about whether the last line
    /// end is part of it.
    pub(crate) fn matches_hash(&self, lines: &RangeInclusive<u32>, hash: &str) -> bool {
        let Some(whole) = self.lines(lines) else { return false };
        let without_feed = whole.strip_suffix(b"\n").unwrap_or(whole);
        let without_return = without_feed.strip_suffix(b"\r").unwrap_or(without_feed);
        [whole, without_feed, without_return].iter().any(|text| store::sha256(text) == hash)
    }
}

impl VersionText {
    /// Returns the number of lines.
    pub(crate) fn line_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the numbers of the lines with the same text, by the SHA-256 of that text without its
    /// line end.
    pub(crate) fn lines_by_hash(&self) -> HashMap<String, Vec<u32>> {
        let mut found: HashMap<String, Vec<u32>> = HashMap::new();
        for (line, number) in self.bytes.lines().zip(1..) {
            found.entry(store::sha256(line)).or_default().push(number);
        }
        found
    }

    /// Returns true if lines, with a line feed between them, have this SHA-256, in hex.
    pub(crate) fn matches_hash_of_lines(&self, lines: &RangeInclusive<u32>, hash: &str) -> bool {
        let Some(whole) = self.lines(lines) else { return false };
        let lines: Vec<&[u8]> = whole.lines().collect();
        store::sha256(&lines.join(&b'\n')) == hash
    }
}

/// Returns the digits of a SHA-256. `None` for anything else, which cannot be compared.
pub(crate) fn sha256_digits(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    let is_sha = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sha.then(|| digits.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_numbers() {
        let text = VersionText::new(b"a\nb\r\n\nc".to_vec());
        let cases: [(RangeInclusive<u32>, Option<&[u8]>); 7] = [
            (1..=1, Some(b"a\n")),
            (2..=3, Some(b"b\r\n\n")),
            (4..=4, Some(b"c")),
            (1..=4, Some(b"a\nb\r\n\nc")),
            (0..=1, None),
            (4..=5, None),
            (9..=9, None),
        ];
        for (lines, found) in cases {
            assert_eq!(text.lines(&lines), found, "{lines:?}");
        }
        assert!(!VersionText::new(Vec::new()).has_lines(&(1..=1)));
    }

    #[test]
    fn a_hash_may_leave_out_the_last_line_end() {
        let text = VersionText::new(b"a\nb\r\nc\n".to_vec());
        for bytes in [b"a\nb\r\n".as_slice(), b"a\nb\r", b"a\nb"] {
            assert!(text.matches_hash(&(1..=2), &store::sha256(bytes)));
        }
        assert!(!text.matches_hash(&(2..=3), &store::sha256(b"a\nb")));
        assert!(!text.matches_hash(&(3..=4), &store::sha256(b"c\n")));
    }
}
