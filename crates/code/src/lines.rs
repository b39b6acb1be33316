//! Finds the lines that belong to a block, and which of them stood there before a change.
//!
//! The lead of a block is what stands directly before it, such as attributes and a doc comment. All
//! lines of a block and its lead belong to the block, except the lines of the blocks inside it
//! and of their leads, which belong to those blocks. So each line of a file belongs to at most one
//! block. Only a line on which two blocks meet can belong to both.
//!
//! The text of the blocks inside and of their leads is cut out of the lines. If the rest of such a
//! line has no letter or digit, or is a comment, the line does not belong to the outer block.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::position::line_ranges;
use super::{Block, Document, FileBlocks, difference};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineHash([u8; 3]);

impl LineHash {
    pub fn from_text(text: &str) -> Self {
        let digest = Sha256::digest(text.trim());
        Self([digest[0], digest[1], digest[2]])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnLine {
    /// The line number in the file, counted from 1.
    pub number: u32,
    pub hash: LineHash,
    /// True if the line is blank or has only punctuation. Such lines occur everywhere, so finding
    /// one again proves nothing.
    pub common: bool,
}

impl OwnLine {
    pub fn is_blank(&self) -> bool {
        self.common && self.hash == LineHash::from_text("")
    }
}

pub fn own_lines(document: &Document, block: &Block) -> Vec<OwnLine> {
    let Some(text) = document.slice(block.whole_bytes()) else { return Vec::new() };
    let blocks = document.blocks();
    let mut inner: VecDeque<Range<usize>> = inner_ranges(&blocks, block).collect();
    let mut own = Vec::new();
    for (number, line) in (block.whole_lines.start()..).zip(line_ranges(&text)) {
        let holes: Vec<Range<usize>> = inner
            .iter()
            .take_while(|hole| hole.start < line.end)
            .map(|hole| hole.start.max(line.start)..hole.end.min(line.end))
            .collect();
        while inner.front().is_some_and(|hole| hole.end <= line.end) {
            inner.pop_front();
        }
        // What is left of the line without the blocks inside. Of `} // end of f`, where the inner
        // block `f` ends at the brace, this is the comment. It belongs to `f`, and so does the
        // line.
        let rest = without_holes(&text, &line, &holes);
        let common = !rest.contains(char::is_alphanumeric);
        if holes.is_empty() || !common && !is_trailing_comment(&rest) {
            own.push(OwnLine { number, hash: LineHash::from_text(&rest), common });
        }
    }
    own
}

/// Returns, for each line now, the index of the earlier line that it corresponds to, or `None` if
/// the line is new or changed.
///
/// Rare lines are matched first. Common lines, such as braces and blank lines, occur everywhere. If
/// only such lines are matched between two changed lines, they count as changed too, because they
/// prove nothing. If some lines are changed and all matched lines are common, nothing is matched.
///
/// Examples, each with the lines before and now (`}` is common):
///
/// - `a } b`, `x } b`: `}` and `b` are matched.
/// - `a } b c`, `x } y c`: only `c` is matched, because `}` stands between two changed lines.
/// - `a } b`, `x } b2`: nothing is matched, because `}` is all that is left.
pub fn matched_own_lines(before: &[LineHash], now: &[OwnLine]) -> Vec<Option<usize>> {
    let common: Vec<bool> = now.iter().map(|line| line.common).collect();
    let now: Vec<LineHash> = now.iter().map(|line| line.hash).collect();
    let mut found = vec![None; now.len()];
    // Compare only the lines that occur in both texts, because that is faster.
    let (old_places, old) = shared(before, &now);
    let (new_places, new) = shared(&now, before);
    for (before, now) in difference::common(&old, &new) {
        found[new_places[now]] = Some(old_places[before]);
    }
    if found.iter().zip(&common).all(|(at, common)| at.is_none() || *common)
        && found.iter().any(Option::is_none)
    {
        return vec![None; now.len()];
    }
    drop_isolated_common(&mut found, &common);
    found
}

fn shared(lines: &[LineHash], others: &[LineHash]) -> (Vec<usize>, Vec<LineHash>) {
    let others: HashSet<&LineHash> = others.iter().collect();
    lines.iter().enumerate().filter(|(_, line)| others.contains(line)).unzip()
}

/// Removes the matches of each run of common lines that has changed lines on both sides.
fn drop_isolated_common(found: &mut [Option<usize>], common: &[bool]) {
    let mut start = 0;
    while start < found.len() {
        let is_matched = found[start].is_some();
        let length = found[start..].iter().take_while(|at| at.is_some() == is_matched).count();
        let end = start + length;
        let is_between_changes = start > 0 && end < found.len();
        if is_matched && is_between_changes && common[start..end].iter().all(|common| *common) {
            found[start..end].fill(None);
        }
        start = end;
    }
}

/// Returns the byte ranges of the blocks directly inside a block, with their leads, in order. Byte
/// 0 is the first byte of the block's own lead.
fn inner_ranges<'a>(
    blocks: &'a FileBlocks,
    block: &'a Block,
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let start = block.lead.start;
    let node = block.bytes.start;
    let from = blocks.blocks.partition_point(|other| other.bytes.start < node);
    let at = blocks.blocks[from..].iter().position(|other| other.identity == block.identity);
    let at = at.map(|at| from + at);
    blocks.blocks[from..]
        .iter()
        .take_while(|other| other.bytes.start < block.bytes.end)
        .filter(move |other| at.is_some() && other.container == at)
        // In an outline that was carried over from a damaged text, an inner block may begin before
        // the outer one.
        .map(move |other| {
            other.lead.start.max(start) - start..other.bytes.end.min(block.bytes.end) - start
        })
}

/// Returns true if the rest of a line on which an inner block ends is a comment, such as
/// `// end of f`. Such a comment describes the inner block.
fn is_trailing_comment(rest: &str) -> bool {
    let is_punctuation = |letter: char| letter.is_whitespace() || "()[]{},;".contains(letter);
    let words = rest.trim_start_matches(is_punctuation);
    ["//", "/*", "#", "--", "<!--", "%"].iter().any(|opener| words.starts_with(opener))
}

/// Returns a line without the bytes in `holes`. All ranges are byte ranges of `text`.
fn without_holes(text: &str, line: &Range<usize>, holes: &[Range<usize>]) -> String {
    let mut left = String::with_capacity(line.len());
    let mut at = line.start;
    for hole in holes {
        left.push_str(text.get(at..hole.start).unwrap_or_default());
        at = at.max(hole.end);
    }
    left.push_str(text.get(at..line.end).unwrap_or_default());
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the lines of each block by its name, as number and text.
    fn pictured(path: &str, text: &str) -> Vec<(String, Vec<(u32, String)>)> {
        let document = Document::from_text(path, text);
        let blocks = document.blocks();
        blocks
            .blocks
            .iter()
            .map(|block| {
                let lines = own_lines(&document, block);
                let texts: Vec<&str> = text.split('\n').collect();
                let picture = lines.iter().map(|line| {
                    let whole = texts[line.number as usize - 1].trim();
                    let whole =
                        if line.hash == LineHash::from_text(whole) { whole } else { "(a part)" };
                    (line.number, whole.to_owned())
                });
                (block.identity.path.clone(), picture.collect())
            })
            .collect()
    }

    fn numbers(lines: &[(u32, String)]) -> Vec<u32> {
        lines.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn the_own_lines_of_a_block_exclude_inner_blocks() {
        let text = "impl A {\n    // of a\n    fn a() {\n        x();\n\n        y();\n    }\n\n    fn b() {}\n}\n";
        let pictured = pictured("a.rs", text);
        let all: Vec<(&str, Vec<u32>)> =
            pictured.iter().map(|(name, lines)| (name.as_str(), numbers(lines))).collect();
        assert_eq!(all, [("A", vec![1, 8, 10]), ("A.a", vec![2, 3, 4, 5, 6, 7]), ("A.b", vec![9])]);
    }

    #[test]
    fn a_line_with_words_of_two_blocks_belongs_to_both() {
        let text = "mod a { fn b() {\n    x();\n} }\nexport();";
        let pictured = pictured("a.rs", text);
        let of = |name: &str| pictured.iter().find(|(path, _)| path == name).expect(name);
        assert_eq!(of("a").1, [(1, "(a part)".to_owned())]);
        assert_eq!(numbers(&of("a.b").1), [1, 2, 3]);
    }

    #[test]
    fn text_after_a_block_on_its_last_line_is_not_its_own() {
        let plain = Document::from_text("a.ts", "export function a() {\n  x();\n}\n");
        let behind = Document::from_text("a.ts", "b(); export function a() {\n\tx();\n};\n");
        let lines = |document: &Document| {
            let blocks = document.blocks();
            let a = blocks.blocks.iter().find(|block| block.name == "a").expect("a");
            own_lines(document, a).into_iter().map(|line| line.hash).collect::<Vec<_>>()
        };
        assert_eq!(lines(&plain), lines(&behind));
    }

    /// A huge generated block may take time to compare, but not too much.
    #[test]
    fn the_slowest_comparison_ends_in_time() {
        const MAX_LINES: usize = 2_000;
        let hash = |n: usize| LineHash([(n >> 16) as u8, (n >> 8) as u8, n as u8]);
        let many: Vec<LineHash> = (0..MAX_LINES).map(hash).collect();
        let own = |hash| OwnLine { number: 1, hash, common: false };
        let reversed: Vec<OwnLine> = (0..2 * MAX_LINES).rev().map(|n| own(hash(n))).collect();
        let two = |odd: usize| (0..MAX_LINES * odd).map(move |n| hash(n * n / 7 * odd % 2));
        let few: Vec<LineHash> = two(1).collect();
        let more: Vec<OwnLine> = two(3).map(own).collect();
        let start = std::time::Instant::now();
        assert_eq!(matched_own_lines(&many, &reversed).iter().flatten().count(), 1);
        assert!(matched_own_lines(&few, &more).iter().flatten().count() > 1_000);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    proptest! {
        /// Checks that every line of a block is either its own, exactly once and in order, or
        /// touched by a block inside it.
        #[test]
        fn no_line_is_lost(text in "(fn a\\(\\) \\{|mod b \\{|#\\[c\\]|//d|\\}| |\r\n|\r|\n|x\\(\\);){0,40}") {
            let document = Document::from_text("a.rs", &text);
            let blocks = document.blocks();
            for (at, block) in blocks.blocks.iter().enumerate() {
                let lines = own_lines(&document, block);
                prop_assert!(lines.is_sorted_by(|a, b| a.number < b.number));
                for number in block.whole_lines.start()..=block.whole_lines.end() {
                    let held = lines.iter().any(|line| line.number == number);
                    let touched = blocks.blocks.iter().any(|other| {
                        other.container == Some(at) && other.whole_lines.contains(number)
                    });
                    prop_assert!(held || touched, "line {number} of {}", block.identity.path);
                }
                prop_assert!(lines.iter().all(|line| block.whole_lines.contains(line.number)));
            }
        }
    }
}
