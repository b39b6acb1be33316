//! The lines that a block answers for, and fingerprints of them that a ledger may keep.
//!
//! A block answers for all its lines, its lead's among them, but those of the blocks inside it and their leads, each of
//! which answers for its own. So the fingerprints of all blocks of a file hold each line once at most (a line on which
//! two blocks meet, twice).
//!
//! Exactly, so that another program can recompute `l1` fingerprints:
//!
//! 1. The lines are those of the block's lead and syntax node, first byte to last; they end at LF, CRLF or CR. Of the first
//!    line only what the block holds of it counts, and so of the last.
//! 2. What the blocks inside and their leads hold is cut out. A line that they touch is theirs alone where nothing is left of it that
//!    has a letter or a digit in it.
//! 3. A line's hash is the first 3 bytes of the SHA-256 of its text in UTF-8, without white space at both ends: what
//!    is indented otherwise is the same line. A blank line has the hash of no text.
//! 4. The text is `l1:` and base64url, without padding, of the hashes in order. More than [`MAX_LINES`] have none.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Block, Document, FileBlocks, difference};

/// A block that answers for more lines than this has no line fingerprints.
pub(crate) const MAX_LINES: usize = 2_000;

const PREFIX: &str = "l1:";
const BYTES: usize = 3;

/// Fingerprints of the lines that a block answers for, in order: `l1:<base64url>`, 4 characters a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Lines(String);

impl Lines {
    /// Of a block of the document as it stands; `None` where there are more than [`MAX_LINES`], or none.
    pub fn of(document: &Document, block: &Block) -> Option<Self> {
        Self::of_own(&own(document, block))
    }

    /// The same of lines in hand.
    pub fn of_own(lines: &[OwnLine]) -> Option<Self> {
        if lines.is_empty() || lines.len() > MAX_LINES {
            return None;
        }
        let bytes: Vec<u8> = lines.iter().flat_map(|line| line.hash.0).collect();
        Some(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// The text as it stands in the ledger.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a text from a ledger as it stands.
    pub fn from_ledger(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// One a line; `None` when these are not `l1` fingerprints, or are too many.
    pub fn hashes(&self) -> Option<Vec<LineHash>> {
        let text = self.0.strip_prefix(PREFIX)?;
        if text.len() > MAX_LINES * 4 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (hashes, rest) = bytes.as_chunks::<BYTES>();
        rest.is_empty().then(|| hashes.iter().copied().map(LineHash).collect())
    }
}

/// The fingerprint of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineHash([u8; BYTES]);

impl LineHash {
    /// Of a line's text; white space at both ends does not count.
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text.trim());
        Self([digest[0], digest[1], digest[2]])
    }
}

/// Some of the lines of [`Lines`], by their places in it, counted from 1: `2-3,7`; none of them is the empty text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Places(String);

impl Places {
    /// Those of which it is said.
    pub fn of(said: &[bool]) -> Self {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (place, _) in (1..).zip(said).filter(|(_, said)| **said) {
            match spans.last_mut() {
                Some((_, last)) if *last + 1 == place => *last = place,
                _ => spans.push((place, place)),
            }
        }
        let span = |(first, last): &(usize, usize)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        Self(spans.iter().map(span).collect::<Vec<_>>().join(","))
    }

    /// The text as it stands in the ledger.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a text from a ledger as it stands.
    pub fn from_ledger(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For each of so many lines whether it is one of these; `None` when the text is not of this form.
    pub fn among(&self, count: usize) -> Option<Vec<bool>> {
        let mut among = vec![false; count];
        for span in self.0.split(',').filter(|_| !self.0.is_empty()) {
            let (first, last) = span.split_once('-').unwrap_or((span, span));
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            if first > last {
                return None;
            }
            among.get_mut(first.checked_sub(1)?..last)?.fill(true);
        }
        Some(among)
    }
}

/// A line that a block answers for, as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnLine {
    /// In the file, counted from 1.
    pub number: u32,
    /// What it is known by.
    pub hash: LineHash,
    /// It is blank or holds punctuation alone: the like of it stands everywhere, so it proves nothing.
    pub common: bool,
}

impl OwnLine {
    /// Nothing but white space stands on it.
    pub fn is_blank(&self) -> bool {
        self.common && self.hash == LineHash::of("")
    }
}

/// The lines that a block of the document answers for.
pub fn own(document: &Document, block: &Block) -> Vec<OwnLine> {
    let Some(text) = document.slice(block.whole_bytes()) else { return Vec::new() };
    let blocks = document.blocks();
    let mut inner: VecDeque<Range<usize>> = inside(&blocks, block).collect();
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
        let left = without(&text, &line, &holes);
        let common = !left.contains(char::is_alphanumeric);
        if holes.is_empty() || !common && !is_comment_behind(&left) {
            own.push(OwnLine { number, hash: LineHash::of(&left), common });
        }
    }
    own
}

/// Which line of a text before each line now is: its index, or `None` for a line that is new or changed.
///
/// Rare lines are matched first. `common` says of which lines the like stands everywhere: where such a one, or several,
/// stand alone between changed lines they are taken for changed too, since it says nothing that a brace or a blank line
/// is there as before; and where nothing else is left, nothing is.
pub fn matched(
    before: &[LineHash],
    now: &[LineHash],
    common: impl Fn(&LineHash) -> bool,
) -> Vec<Option<usize>> {
    let mut found = vec![None; now.len()];
    // What has no counterpart at all only costs time.
    let (old_places, old) = shared(before, now);
    let (new_places, new) = shared(now, before);
    for (before, now) in difference::common(&old, &new) {
        found[new_places[now]] = Some(old_places[before]);
    }
    let common: Vec<bool> = now.iter().map(common).collect();
    if found.iter().zip(&common).all(|(at, common)| at.is_none() || *common)
        && found.iter().any(Option::is_none)
    {
        return vec![None; now.len()];
    }
    forget_lone(&mut found, &common);
    found
}

/// The lines that stand on the other side too, somewhere: their places and what they are known by.
fn shared(lines: &[LineHash], others: &[LineHash]) -> (Vec<usize>, Vec<LineHash>) {
    let others: HashSet<&LineHash> = others.iter().collect();
    lines.iter().enumerate().filter(|(_, line)| others.contains(line)).unzip()
}

/// The same of lines in hand, which tell themselves whether they are common.
pub(crate) fn matched_own(before: &[LineHash], now: &[OwnLine]) -> Vec<Option<usize>> {
    let common: HashSet<LineHash> =
        now.iter().filter(|line| line.common).map(|line| line.hash).collect();
    let now: Vec<LineHash> = now.iter().map(|line| line.hash).collect();
    matched(before, &now, |hash| common.contains(hash))
}

/// Takes out runs of matched lines that are common without exception, where changed lines stand on both sides.
fn forget_lone(found: &mut [Option<usize>], common: &[bool]) {
    let mut start = 0;
    while start < found.len() {
        let is = found[start].is_some();
        let length = found[start..].iter().take_while(|at| at.is_some() == is).count();
        let end = start + length;
        let between = start > 0 && end < found.len();
        if is && between && common[start..end].iter().all(|common| *common) {
            found[start..end].fill(None);
        }
        start = end;
    }
}

/// Where the blocks directly inside a block and their leads stand, counted from the first byte of its own lead, in order.
fn inside<'a>(
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
        // In an outline that is carried across damage, what is inside may begin before what is around it.
        .map(move |other| {
            other.lead.start.max(start) - start..other.bytes.end.min(block.bytes.end) - start
        })
}

/// The lines of a text, each without its line break; the text after the last line break is a line too.
pub(super) fn line_ranges(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
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

/// Whether what is left of a line on which an inner block ends is a comment, which is about that block.
fn is_comment_behind(left: &str) -> bool {
    let is_punctuation = |letter: char| letter.is_whitespace() || "()[]{},;".contains(letter);
    let said = left.trim_start_matches(is_punctuation);
    ["//", "/*", "#", "--", "<!--", "%"].iter().any(|opener| said.starts_with(opener))
}

fn without(text: &str, line: &Range<usize>, holes: &[Range<usize>]) -> String {
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

    /// The lines of each block, by its name: number and text.
    fn pictured(path: &str, text: &str) -> Vec<(String, Vec<(u32, String)>)> {
        let document = Document::from_text(path, text);
        let blocks = document.blocks();
        blocks
            .blocks
            .iter()
            .map(|block| {
                let lines = own(&document, block);
                let texts: Vec<&str> = text.split('\n').collect();
                let picture = lines.iter().map(|line| {
                    let whole = texts[line.number as usize - 1].trim();
                    let whole = if line.hash == LineHash::of(whole) { whole } else { "(a part)" };
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
    fn a_block_answers_for_all_but_what_is_inside_others() {
        let text = "impl A {\n    // of a\n    fn a() {\n        x();\n\n        y();\n    }\n\n    fn b() {}\n}\n";
        let pictured = pictured("a.rs", text);
        let all: Vec<(&str, Vec<u32>)> =
            pictured.iter().map(|(name, lines)| (name.as_str(), numbers(lines))).collect();
        assert_eq!(all, [("A", vec![1, 8, 10]), ("A.a", vec![2, 3, 4, 5, 6, 7]), ("A.b", vec![9])]);
    }

    #[test]
    fn a_line_on_which_two_blocks_meet_is_of_both_where_both_have_words_on_it() {
        let text = "mod a { fn b() {\n    x();\n} }\nexport();";
        let pictured = pictured("a.rs", text);
        let of = |name: &str| pictured.iter().find(|(path, _)| path == name).expect(name);
        assert_eq!(of("a").1, [(1, "(a part)".to_owned())]);
        assert_eq!(numbers(&of("a.b").1), [1, 2, 3]);
    }

    #[test]
    fn what_stands_behind_a_block_on_its_last_line_is_not_its_own() {
        let plain = Document::from_text("a.ts", "export function a() {\n  x();\n}\n");
        let behind = Document::from_text("a.ts", "b(); export function a() {\n\tx();\n};\n");
        let lines = |document: &Document| {
            let blocks = document.blocks();
            let a = blocks.blocks.iter().find(|block| block.name == "a").expect("a");
            Lines::of(document, a).expect("lines")
        };
        assert_eq!(lines(&plain), lines(&behind));
    }

    #[test]
    fn the_form_is_what_the_documentation_says() {
        let document = Document::from_text("a.rs", "fn a() {\r\n\r\n\tx();\r\n}");
        let lines = Lines::of(&document, &document.blocks().blocks[0]).expect("lines");
        let hash = |text: &str| Sha256::digest(text)[..3].to_vec();
        let bytes = ["fn a() {", "", "x();", "}"].map(hash).concat();
        assert_eq!(lines.as_str(), format!("l1:{}", URL_SAFE_NO_PAD.encode(bytes)));
        assert_eq!(lines.hashes().expect("hashes").len(), 4);
    }

    #[test]
    fn foreign_texts_are_no_fingerprints() {
        for text in ["", "l1", "l2:AAAA", "l1:AAA", "l1:AAAAA", "l1:ÄÄÄÄ", "l1:AAAA\n", "l1:AA=="]
        {
            assert_eq!(Lines::from_ledger(text).hashes(), None, "{text}");
        }
        assert_eq!(Lines::from_ledger("l1:").hashes(), Some(vec![]));
        let many = format!("l1:{}", "AAAA".repeat(MAX_LINES + 1));
        assert_eq!(Lines::from_ledger(many).hashes(), None);
    }

    #[test]
    fn very_long_blocks_have_none() {
        let of = |lines: usize| {
            let text = format!("fn a() {{\n{}}}\n", "x();\n".repeat(lines - 2));
            let document = Document::from_text("a.rs", &text);
            Lines::of(&document, &document.blocks().blocks[0])
        };
        assert!(of(MAX_LINES).is_some());
        assert_eq!(of(MAX_LINES + 1), None);
    }

    #[test]
    fn places_are_told_and_read_again() {
        for (matched, text) in [
            (vec![], ""),
            (vec![Some(0), Some(1)], ""),
            (vec![None, Some(1), None, None, Some(9), None], "1,3-4,6"),
            (vec![None, None], "1-2"),
        ] {
            let new: Vec<bool> = matched.iter().map(Option::is_none).collect();
            let places = Places::of(&new);
            assert_eq!(places.0, text);
            let among: Vec<bool> = matched.iter().map(Option::is_none).collect();
            assert_eq!(places.among(matched.len()), Some(among));
        }
        for text in ["0", "3-2", "-", "1-", "-1", "a", "4", "1-4294967295", "1,,2", " 1", "+"] {
            assert_eq!(Places(text.to_owned()).among(3), None, "{text}");
        }
    }

    /// A ledger that somebody else wrote costs time, but not much.
    #[test]
    fn the_worst_that_can_be_compared_ends_soon() {
        let hash = |n: usize| LineHash([(n >> 16) as u8, (n >> 8) as u8, n as u8]);
        let many: Vec<LineHash> = (0..MAX_LINES).map(hash).collect();
        let reversed: Vec<LineHash> = (0..2 * MAX_LINES).rev().map(hash).collect();
        let two = |odd: usize| (0..MAX_LINES * odd).map(|n| hash(n * n / 7 * odd % 2)).collect();
        let (few, more): (Vec<LineHash>, Vec<LineHash>) = (two(1), two(3));
        let start = std::time::Instant::now();
        assert_eq!(matched(&many, &reversed, |_| false).iter().flatten().count(), 1);
        assert!(matched(&few, &more, |_| false).iter().flatten().count() > 1_000);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }

    proptest! {
        /// Every line of a block is its own or one that a block inside touches, in order and once.
        #[test]
        fn no_line_is_lost(text in "(fn a\\(\\) \\{|mod b \\{|#\\[c\\]|//d|\\}| |\r\n|\r|\n|x\\(\\);){0,40}") {
            let document = Document::from_text("a.rs", &text);
            let blocks = document.blocks();
            for (at, block) in blocks.blocks.iter().enumerate() {
                let lines = own(&document, block);
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
