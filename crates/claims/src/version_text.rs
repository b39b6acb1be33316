//! The text of a file in a commit, of which single lines are asked for.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use ground::git::ByteSlice;
use ground::store;
use ledger::LineText;

/// How many bytes are hashed at most to find a text at another place. Each line is in as many runs as
/// a run has lines.
const MAX_HASHED: usize = 4 * 1024 * 1024;

pub(crate) struct VersionText(LineText);

impl VersionText {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(LineText::new(bytes))
    }

    /// Returns these lines, which are counted from 1. `None` if the text has not all of them.
    fn lines(&self, lines: &RangeInclusive<u32>) -> Option<&[u8]> {
        let first = usize::try_from(*lines.start()).ok()?.checked_sub(1)?;
        let end = usize::try_from(*lines.end()).ok()?;
        (first <= end && end <= self.line_count()).then(|| self.0.lines(first..end))
    }

    pub(crate) fn has_lines(&self, lines: &RangeInclusive<u32>) -> bool {
        self.lines(lines).is_some()
    }

    /// Returns true if lines have this SHA-256, in hex. Tools disagree about whether the last line
    /// end is part of it, and some have only line feeds.
    pub(crate) fn matches_hash(&self, lines: &RangeInclusive<u32>, hash: &str) -> bool {
        let Some(whole) = self.lines(lines) else { return false };
        let joined = whole.lines().collect::<Vec<_>>().join(&b'\n');
        let mut spellings = without_end(whole).into_iter().chain([joined.as_slice()]);
        spellings.any(|text| store::sha256(text) == hash)
    }

    /// Returns the lines of the text, or `None` for an empty one.
    pub(crate) fn all_lines(&self) -> Option<RangeInclusive<u32>> {
        let count = u32::try_from(self.line_count()).ok()?;
        (count > 0).then_some(1..=count)
    }

    /// Like [`Self::matches_hash`], for a hash by a system about which nothing more is known. It may
    /// be that of the text with other line ends, or without the white space around it, as with a
    /// block whose first line is indented.
    pub(crate) fn matches_hash_loosely(&self, lines: &RangeInclusive<u32>, hash: &str) -> bool {
        let Some(raw) = self.lines(lines) else { return false };
        let plain = raw.replace(b"\r\n", b"\n");
        let trimmed = plain.trim();
        // A system that failed to read the file records the hash of the empty text.
        if trimmed.is_empty() {
            return false;
        }
        let with_returns = plain.replace(b"\n", b"\r\n");
        let spellings = [raw, plain.as_slice(), with_returns.as_slice()];
        let mut spellings = spellings.into_iter().flat_map(without_end).chain([trimmed]);
        spellings.any(|text| store::sha256(text) == hash)
    }

    /// Returns the only run of so many lines that has this SHA-256. `None` if several have it, or if
    /// the text is too long to look.
    pub(crate) fn only_lines_with_hash(
        &self,
        count: u32,
        hash: &str,
    ) -> Option<RangeInclusive<u32>> {
        let last = u32::try_from(self.line_count()).ok()?.checked_sub(count.checked_sub(1)?)?;
        if self.0.as_bytes().len().saturating_mul(usize::try_from(count).ok()?) > MAX_HASHED {
            return None;
        }
        let runs = (1..=last).map(|first| first..=first + (count - 1));
        let mut found = runs.filter(|lines| self.matches_hash_loosely(lines, hash));
        found.next().filter(|_| found.next().is_none())
    }

    pub(crate) fn line_count(&self) -> usize {
        self.0.len()
    }

    /// Returns the numbers of the lines with the same text, by the SHA-256 of that text without its
    /// line end.
    pub(crate) fn lines_by_hash(&self) -> HashMap<String, Vec<u32>> {
        let mut found: HashMap<String, Vec<u32>> = HashMap::new();
        for (line, number) in self.0.as_bytes().lines().zip(1..) {
            found.entry(store::sha256(line)).or_default().push(number);
        }
        found
    }
}

/// Returns a text with its last line end, and without the parts of it.
fn without_end(whole: &[u8]) -> [&[u8]; 3] {
    let without_feed = whole.strip_suffix(b"\n").unwrap_or(whole);
    let without_return = without_feed.strip_suffix(b"\r").unwrap_or(without_feed);
    [whole, without_feed, without_return]
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

    #[test]
    fn a_hash_of_an_earlier_system_may_leave_out_the_indentation_and_the_line_ends() {
        let text = VersionText::new(b"a\n  b {\n    c\n  }\n\n".to_vec());
        for spelling in ["  b {\n    c\n  }\n", "b {\n    c\n  }", "  b {\r\n    c\r\n  }"] {
            let hash = store::sha256(spelling.as_bytes());
            assert!(text.matches_hash_loosely(&(2..=4), &hash), "{spelling:?}");
            assert_eq!(text.only_lines_with_hash(3, &hash), Some(2..=4), "{spelling:?}");
        }
        let other = store::sha256(b"b {\nc\n}");
        assert!(!text.matches_hash_loosely(&(2..=4), &other));
        let empty = store::sha256(b"");
        assert!(!text.matches_hash_loosely(&(5..=5), &empty));
        assert_eq!(text.only_lines_with_hash(9, &empty), None);
        let twice = VersionText::new(b"a\nb\na\nb\n".to_vec());
        assert_eq!(twice.only_lines_with_hash(2, &store::sha256(b"a\nb")), None);
    }
}
