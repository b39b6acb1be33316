//! Finding the lines that a hunk expects, strictly first and then leniently.

use std::borrow::Cow;

/// Where lines may be found.
#[derive(Clone, Copy, Debug)]
pub(super) enum SearchArea {
    /// At this row or below it.
    From(usize),
    /// The same, but only where the file ends with them.
    AtEnd(usize),
}

/// Four ways to compare two lines, each more lenient than the one before: as they
/// are, without white space at the end, without white space at both ends, and
/// with typographic punctuation and spaces written plainly.
const VIEWS: [fn(&str) -> Cow<'_, str>; 4] = [
    |line| line.into(),
    |line| line.trim_end().into(),
    |line| line.trim().into(),
    |line| line.trim().chars().map(plain).collect::<String>().into(),
];

/// The first row at which `wanted` stands in `rows`. A stricter comparison wins
/// over an earlier row.
pub(super) fn find(rows: &[&str], wanted: &[&str], place: SearchArea) -> Option<usize> {
    let (SearchArea::From(start) | SearchArea::AtEnd(start)) = place;
    if wanted.is_empty() {
        return Some(start);
    }
    let last = rows.len().checked_sub(wanted.len())?;
    let first = match place {
        SearchArea::From(_) => start,
        SearchArea::AtEnd(_) => last.max(start),
    };
    let from = rows.get(first..)?;
    VIEWS.iter().find_map(|view| {
        let wanted: Vec<_> = wanted.iter().map(|line| view(line)).collect();
        let same = |run: &[&str]| run.iter().zip(&wanted).all(|(row, wanted)| view(row) == *wanted);
        Some(first + from.windows(wanted.len()).position(same)?)
    })
}

/// A character that people type for one that editors and models make of it.
fn plain(character: char) -> char {
    match character {
        // hyphens, dashes and the minus sign
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        // single quotes
        '\u{2018}'..='\u{201B}' => '\'',
        // double quotes
        '\u{201C}'..='\u{201F}' => '"',
        // spaces that do not break, or have a width of their own
        '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        other => other,
    }
}
