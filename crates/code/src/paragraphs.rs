//! Finds the blocks of a text without a grammar: runs of lines that are not blank, and the entries
//! of some lock files.

use std::ops::Range;

use ropey::Rope;

use super::block::{Block, BlockKind, FileBlocks, MAX_BLOCKS};
use super::position::line_ranges;
use super::{outline, words};

const NAME_CHARS: usize = 40;
const KEY_CHARS: usize = 80;

/// The lock files that have no grammar, and how their entries are written.
const LOCK_FILES: [(&str, LockFileEntries); 3] = [
    ("go.sum", LockFileEntries::Lines { words: 2 }),
    ("go.work.sum", LockFileEntries::Lines { words: 2 }),
    ("yarn.lock", LockFileEntries::Paragraphs),
];

#[derive(Clone, Copy)]
enum LockFileEntries {
    /// One entry on each line, named after its first words: `golang.org/x/text v0.3.0`.
    Lines { words: usize },
    /// One paragraph for each entry, named after its first line: `"@babel/core@^7.0.0"`.
    Paragraphs,
}

/// Returns the paragraphs of a text, or the entries of a lock file. Returns `None` if there are too
/// many. A paragraph is named after its first words, so that a new paragraph does not rename those
/// after it.
pub(super) fn paragraphs(path: &str, rope: &Rope) -> Option<FileBlocks> {
    let text = &rope.to_string();
    let name = path.rsplit('/').next().unwrap_or(path);
    let entries = LOCK_FILES.iter().find(|(file, _)| *file == name).map(|(_, entries)| *entries);
    let limit = MAX_BLOCKS + 1;
    let mut blocks: Vec<Block> = match entries {
        Some(LockFileEntries::Lines { words }) => {
            let lines = lines(text).filter(|range| !range.is_empty());
            lines.take(limit).map(|range| entry(text, range, words)).collect()
        }
        Some(LockFileEntries::Paragraphs) => {
            ranges(text).take(limit).map(|range| entry(text, range, usize::MAX)).collect()
        }
        None => ranges(text).take(limit).map(|range| paragraph(text, range)).collect(),
    };
    if blocks.len() == limit {
        return None;
    }
    outline::finish(rope, &mut blocks);
    Some(FileBlocks { language: None, blocks, has_error: false })
}

fn paragraph(text: &str, bytes: Range<usize>) -> Block {
    let name = first_words(text, &bytes, usize::MAX, NAME_CHARS);
    outline::block_of_words(text, BlockKind::Paragraph, name, bytes)
}

fn entry(text: &str, bytes: Range<usize>, words: usize) -> Block {
    let name = first_words(text, &bytes, words, KEY_CHARS);
    outline::block_of_words(text, BlockKind::Key, name.trim_end_matches(':').to_owned(), bytes)
}

fn first_words(text: &str, bytes: &Range<usize>, most: usize, chars: usize) -> String {
    let first = &text[words::first_line(text, bytes)];
    let words: Vec<&str> = first.split_whitespace().take(most).collect();
    let name: String = words.join(" ").chars().take(chars).collect();
    name.trim_end().to_owned()
}

fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    line_ranges(text).map(|line| words::trimmed_range(text, line))
}

fn ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for line in lines(text) {
        match found.last_mut().filter(|_| open) {
            _ if line.is_empty() => {}
            Some(last) => last.end = line.end,
            None => found.push(line.clone()),
        }
        open = !line.is_empty();
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::super::Document;

    fn names(path: &str, text: &str) -> Vec<String> {
        let blocks = Document::from_text(path, text).blocks();
        blocks.blocks.iter().map(|block| block.identity.path.clone()).collect()
    }

    #[test]
    fn entries_of_lock_files_are_named_after_their_package() {
        let sums = "a.org/b v1.0.0 h1:x=\na.org/b v1.0.0/go.mod h1:y=\r\n\na.org/c v2.0.0 h1:z=\n";
        let expected = ["a.org/b v1.0.0", "a.org/b v1.0.0/go.mod", "a.org/c v2.0.0"];
        assert_eq!(names("sub/go.sum", sums), expected);
        let yarn = "# yarn lockfile v1\n\n\n\"@a/b@^1\", \"@a/b@^2\":\n  version \"1\"\n\nc@1:\n  version \"1\"\n";
        let expected = ["# yarn lockfile v1", "\"@a/b@^1\", \"@a/b@^2\"", "c@1"];
        assert_eq!(names("yarn.lock", yarn), expected);
        assert_eq!(names("sums.txt", sums), ["a.org/b v1.0.0 h1:x=", "a.org/c v2.0.0 h1:z="]);
    }
}
