//! A text as lines of bytes.

use std::ops::Range;

use ground::git::ByteSlice;

/// A text and the places where its lines start. As in git, a line ends with its line feed, and the
/// last line may lack it. A byte order mark is left out at the start of each line, because editors show
/// none. A line with one is the first line, until somebody writes another one above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineText {
    bytes: Vec<u8>,
    /// Where each line starts, and the length of the text.
    starts: Vec<u32>,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl Default for LineText {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl LineText {
    pub fn new(mut bytes: Vec<u8>) -> Self {
        if bytes.contains_str(BYTE_ORDER_MARK) {
            let lines = bytes.lines_with_terminator();
            bytes = lines
                .map(|line| line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line))
                .collect::<Vec<_>>()
                .concat();
        }
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
    pub fn lines_before(&self, byte: usize) -> usize {
        self.starts[..self.len()].partition_point(|start| (*start as usize) < byte)
    }

    pub fn part(&self, range: Range<usize>) -> Self {
        Self::new(self.lines(range).to_vec())
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
        assert_eq!(lines("\u{feff}a\nb\n"), ["a\n", "b\n"]);
        assert_eq!(lines("a\n\u{feff}b\u{feff}\n"), ["a\n", "b\u{feff}\n"]);
    }
}
