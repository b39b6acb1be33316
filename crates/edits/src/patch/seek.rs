//! Finds the lines that a hunk expects, first strictly and then leniently.

use std::borrow::Cow;

/// Four ways to compare two lines, each more lenient than the one before: exactly, without white
/// space at the end, without white space at both ends, and with typographic punctuation and spaces
/// replaced by plain ones.
const VIEWS: [fn(&str) -> Cow<'_, str>; 4] = [
    |line| line.into(),
    |line| line.trim_end().into(),
    |line| line.trim().into(),
    |line| line.trim().chars().map(without_typography).collect::<String>().into(),
];

/// Returns the first row of `rows`, from row `start` on, at which `wanted` is found. A stricter
/// comparison wins over an earlier row.
pub(super) fn find(rows: &[&str], wanted: &[&str], start: usize) -> Option<usize> {
    if wanted.is_empty() {
        return Some(start);
    }
    let from = rows.get(start..)?;
    VIEWS.iter().find_map(|view| {
        let wanted: Vec<_> = wanted.iter().map(|line| view(line)).collect();
        let same = |run: &[&str]| run.iter().zip(&wanted).all(|(row, wanted)| view(row) == *wanted);
        Some(start + from.windows(wanted.len()).position(same)?)
    })
}

fn without_typography(character: char) -> char {
    match character {
        // Hyphens, dashes and the minus sign.
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        // Single quotation marks.
        '\u{2018}'..='\u{201B}' => '\'',
        // Double quotation marks.
        '\u{201C}'..='\u{201F}' => '"',
        // Spaces that do not break, or have a special width.
        '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    }
}
