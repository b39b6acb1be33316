//! Extracts the parts of a text that are used in the names of blocks.

use std::ops::Range;

/// Returns the first line of a part of a text, shortened to 60 characters, with single spaces.
pub(super) fn first_line_shortened(text: &str, bytes: &Range<usize>) -> String {
    const CHARS: usize = 60;
    let line = &text[first_line(text, bytes)];
    let words: Vec<&str> = line.trim_end_matches('\\').split_whitespace().collect();
    words.join(" ").chars().take(CHARS).collect()
}

/// Returns the first line of a part of a text, without the white space at its end.
pub(super) fn first_line(text: &str, bytes: &Range<usize>) -> Range<usize> {
    let line = text[bytes.clone()].split(['\n', '\r']).next().unwrap_or_default();
    bytes.start..bytes.start + line.trim_end().len()
}

pub(super) fn unquoted(text: &str, bytes: Range<usize>) -> Range<usize> {
    let part = &text[bytes.clone()];
    let quote = part.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    match quote.filter(|&quote| part.len() > 2 && part.ends_with(quote)) {
        Some(_) => bytes.start + 1..bytes.end - 1,
        None => bytes,
    }
}

/// Splits `A<x::Y>::b` at each `::` outside angle brackets.
pub(super) fn segments(name: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    while let Some(c) = name[at..].chars().next() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && name[at..].starts_with("::") => {
                found.push(&name[start..at]);
                start = at + 2;
                at += 1;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    found.push(&name[start..]);
    found.retain(|segment| !segment.is_empty());
    found
}

pub(super) fn trimmed_range(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..(range.start + part.trim_end().len()).max(start)
}
