//! Positions in a text: lines for people, bytes inside this program, lines and columns for editors.

use std::ops::Range;

use ropey::Rope;
use serde::{Deserialize, Serialize};

/// A non-empty range of lines, counted from 1 and inclusive, as used in the ledger and in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineRange {
    start: u32,
    end: u32,
}

impl LineRange {
    pub(super) const FIRST: Self = Self { start: 1, end: 1 };

    /// Returns `None` unless `1 <= start <= end`.
    pub fn new(start: u32, end: u32) -> Option<Self> {
        (start >= 1 && start <= end).then_some(Self { start, end })
    }
    /// Returns the first line, counted from 1.
    pub fn start(self) -> u32 {
        self.start
    }
    /// Returns the last line, counted from 1.
    pub fn end(self) -> u32 {
        self.end
    }
    pub fn contains(self, line: u32) -> bool {
        (self.start..=self.end).contains(&line)
    }
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Encoding {
    /// Columns are counted in bytes.
    #[serde(rename = "utf-8")]
    Utf8,
    /// Columns are counted in UTF-16 code units, the default of the protocol.
    #[default]
    #[serde(rename = "utf-16")]
    Utf16,
    /// Columns are counted in Unicode scalar values.
    #[serde(rename = "utf-32")]
    Utf32,
}

/// A position in an editor. The unit of the column depends on the [`Encoding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Counted from 0. Lines end at `\n`, `\r\n` or `\r`.
    pub line: u32,
    /// Counted from 0, in units of the encoding.
    pub column: u32,
}

fn line_bounds(rope: &Rope, line: usize) -> (usize, usize) {
    let start = rope.line_to_byte(line);
    let mut end = start + rope.line(line).len_bytes();
    let ends_in = |end: usize, byte: u8| end > start && rope.byte(end - 1) == byte;
    if ends_in(end, b'\n') {
        end -= 1;
    }
    if ends_in(end, b'\r') {
        end -= 1;
    }
    (start, end)
}

/// Returns the byte at an editor's position, or `None` if the line does not exist. A column beyond
/// the end of the line means its end. A column inside a character means the start of the character.
pub(super) fn byte_of(rope: &Rope, position: Position, encoding: Encoding) -> Option<usize> {
    let line = position.line as usize;
    if line >= rope.len_lines() {
        return None;
    }
    let column = position.column as usize;
    let (start, end) = line_bounds(rope, line);
    let first = rope.byte_to_char(start);
    let character = match encoding {
        Encoding::Utf8 => rope.byte_to_char(start.saturating_add(column).min(end)),
        Encoding::Utf16 => {
            let unit = rope.char_to_utf16_cu(first).saturating_add(column);
            rope.utf16_cu_to_char(unit.min(rope.len_utf16_cu()))
        }
        Encoding::Utf32 => first.saturating_add(column).min(rope.len_chars()),
    };
    Some(rope.char_to_byte(character).min(end))
}

pub(super) fn position_of(rope: &Rope, byte: usize, encoding: Encoding) -> Position {
    let character = rope.byte_to_char(byte.min(rope.len_bytes()));
    let line = rope.char_to_line(character);
    let first = rope.line_to_char(line);
    let column = match encoding {
        Encoding::Utf8 => rope.char_to_byte(character) - rope.char_to_byte(first),
        Encoding::Utf16 => rope.char_to_utf16_cu(character) - rope.char_to_utf16_cu(first),
        Encoding::Utf32 => character - first,
    };
    Position { line: line as u32, column: column as u32 }
}

/// Returns the lines that a byte range touches. An empty range touches the line that it is on.
pub(super) fn lines_of(rope: &Rope, range: Range<usize>) -> LineRange {
    let line = |byte: usize| rope.byte_to_line(byte.min(rope.len_bytes())) as u32 + 1;
    let start = line(range.start);
    let last = if range.end > range.start { range.end - 1 } else { range.start };
    LineRange { start, end: line(last).max(start) }
}

/// Returns the lines of a text, without their line breaks. The text after the last line break is a
/// line too.
pub fn line_ranges(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let length = bytes[start..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = length.map_or(bytes.len(), |length| start + length);
        next = length.map(|_| end + if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 });
        Some(start..end)
    })
}
