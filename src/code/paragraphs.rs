//! Blocks of a text without a grammar: runs of lines that are not blank.

use ropey::Rope;

use super::block::{Block, BlockKind, FileBlocks};
use super::outline::{self, Draft};
use super::tokens;

const NAME_CHARS: usize = 40;

/// The paragraphs of a text. Named by how they begin, so that a new one does not
/// rename those after it.
pub(super) fn paragraphs(rope: &Rope) -> FileBlocks {
    let text = &rope.to_string();
    let mut blocks: Vec<Block> = ranges(text).map(|range| paragraph(text, range)).collect();
    outline::finish(rope, &mut blocks);
    FileBlocks { language: None, blocks, has_error: false }
}

fn paragraph(text: &str, bytes: std::ops::Range<usize>) -> Block {
    let body = &text[bytes.clone()];
    let first = body.split(['\n', '\r']).next().unwrap_or(body);
    let words: Vec<&str> = first.split_whitespace().collect();
    let name: String = words.join(" ").chars().take(NAME_CHARS).collect();
    let draft = Draft {
        kind: BlockKind::Paragraph,
        name: name.trim_end().into(),
        name_bytes: bytes.start..bytes.start + first.trim_end().len(),
        bytes: bytes.clone(),
    };
    draft.block_of_words(text, tokens::words(text, bytes))
}

fn ranges(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    let mut open = false;
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let start = at + (line.len() - line.trim_start().len());
        let end = at + line.trim_end().len();
        at += line.len();
        // The second half of CRLF is no line of its own.
        if line == "\n" && text[..at - 1].ends_with('\r') {
            continue;
        }
        if line.trim().is_empty() {
            open = false;
            continue;
        }
        match found.last_mut().filter(|_| open) {
            Some(last) => last.end = end,
            None => found.push(start..end),
        }
        open = true;
    }
    found.into_iter()
}
