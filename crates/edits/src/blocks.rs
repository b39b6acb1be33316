//! Reads and applies SEARCH/REPLACE blocks: a text to find, and below it the text that replaces it,
//! between markers.

use std::ops::Range;

use super::After;
use super::line_ends::{lf, with_ends_of};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchReplace {
    /// Whole lines to find. Empty for the whole file.
    pub search: String,
    pub replace: String,
}

/// Reads the blocks of a diff. Returns `None` if a marker is missing or in the wrong place.
///
/// Both spellings are accepted: `------- SEARCH` … `+++++++ REPLACE` and `<<<<<<< SEARCH` …
/// `>>>>>>> REPLACE`, with `=======` between. Text outside the blocks is ignored.
pub fn read(diff: &str) -> Option<Vec<SearchReplace>> {
    let mut blocks: Vec<SearchReplace> = Vec::new();
    let mut next = BlockMarker::Search;
    for line in diff.lines() {
        next = match (next, marker(line), blocks.last_mut()) {
            (BlockMarker::Search, Some(BlockMarker::Search), _) => {
                blocks.push(SearchReplace::default());
                BlockMarker::Between
            }
            (BlockMarker::Between, Some(BlockMarker::Between), _) => BlockMarker::End,
            (BlockMarker::End, Some(BlockMarker::End), _) => BlockMarker::Search,
            (_, Some(_), _) => return None,
            (BlockMarker::Between, None, Some(block)) => {
                block.search.extend([line, "\n"]);
                next
            }
            (BlockMarker::End, None, Some(block)) => {
                block.replace.extend([line, "\n"]);
                next
            }
            (_, None, _) => next,
        };
    }
    (next == BlockMarker::Search && !blocks.is_empty()).then_some(blocks)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockMarker {
    Search,
    Between,
    End,
}

fn marker(line: &str) -> Option<BlockMarker> {
    let sign = line.chars().next()?;
    let word = line.trim_start_matches(sign);
    if line.len() - word.len() < 3 {
        return None;
    }
    match (sign, word) {
        ('-' | '<', " SEARCH" | " SEARCH>") => Some(BlockMarker::Search),
        ('=', "") => Some(BlockMarker::Between),
        ('+' | '>', " REPLACE" | " REPLACE>") => Some(BlockMarker::End),
        _ => None,
    }
}

/// Returns the text after all blocks of the diff.
///
/// If a block is not found, the result is `Unknown` and never `Fails`, because the tool then also
/// looks for the first and last line of the block.
pub(super) fn text_after_diff(before: &str, diff: &str) -> After {
    let unknown = |why: &str| After::Unknown(why.to_owned());
    let Some(blocks) = read(diff) else {
        return unknown("a marker is missing or in the wrong place");
    };
    let text = lf(before);
    let mut places: Vec<(Range<usize>, &str)> = Vec::new();
    let mut next = 0;
    for block in &blocks {
        let Some(place) = find(&text, &block.search, next) else {
            return unknown("a block is not in the file as it is written");
        };
        // A block that was found further up does not move the search back.
        next = next.max(place.end);
        places.push((place, &block.replace));
    }
    places.sort_by_key(|(place, _)| place.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (place, replace) in places {
        let Some(kept) = text.get(done..place.start) else {
            return unknown("two blocks overlap");
        };
        out.push_str(kept);
        out.push_str(replace);
        done = place.end;
    }
    out.push_str(&text[done..]);
    After::Text(with_ends_of(before, &out))
}

/// Finds the place of `search`: first exactly, at or after `from`; then with different white space
/// around its lines, also from there; then exactly, anywhere in the text.
fn find(text: &str, search: &str, from: usize) -> Option<Range<usize>> {
    if search.is_empty() {
        return Some(0..text.len());
    }
    let written = |at: usize| at..at + search.len();
    let below = text[from..].find(search).map(|at| written(from + at));
    below.or_else(|| find_trimmed(text, search, from)).or_else(|| text.find(search).map(written))
}

fn find_trimmed(text: &str, search: &str, from: usize) -> Option<Range<usize>> {
    let wanted: Vec<&str> = search.lines().map(str::trim).collect();
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        rows.push(start..start + line.len());
        start += line.len();
    }
    let first = rows.partition_point(|row| row.start < from);
    let same = |run: &[Range<usize>]| {
        run.iter().zip(&wanted).all(|(row, wanted)| text[row.clone()].trim() == *wanted)
    };
    let run = rows[first..].windows(wanted.len()).find(|run| same(run))?;
    Some(run.first()?.start..run.last()?.end)
}
