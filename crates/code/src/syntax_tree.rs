//! Parses a text into a syntax tree. A text whose parse takes too long, or whose tree would be too
//! large for queries, has none.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::conflict;
use super::language::Language;
use super::syntax::visit;

/// The time limit of a parse, longer than any real program needs.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);

pub(super) fn whole_tree(language: &'static Language, text: &str) -> Option<Tree> {
    if !language.syntax.incremental && nests_beyond_scanner(text) {
        return None;
    }
    tree_within(language, text, &conflict::parts(text).unwrap_or_default())
}

/// Parses some parts of a text, or the whole text if there are none. Bytes and lines in the tree are
/// those of the whole text.
pub(super) fn tree_within(
    language: &'static Language,
    text: &str,
    parts: &[tree_sitter::Range],
) -> Option<Tree> {
    let mut parser = parser(language)?;
    parser.set_included_ranges(parts).ok()?;
    let tree = patiently(&mut parser, text, None)?;
    (!is_tangled(tree.root_node())).then_some(tree)
}

pub(super) fn parser(language: &Language) -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar?()).ok()?;
    Some(parser)
}

/// Parses a text, or gives up after [`PATIENCE`]. In some grammars, a text that is not a program
/// takes time in the square of its length.
pub(super) fn patiently(parser: &mut Parser, text: &str, base: Option<&Tree>) -> Option<Tree> {
    let start = Instant::now();
    let mut in_time = |_: &ParseState| match start.elapsed() < PATIENCE {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| &bytes[at.min(bytes.len())..], base, Some(options))
}

/// Returns true if a tree has more nodes, is deeper, or has more unnamed nodes (punctuation) in a
/// row than the tree of any real program. The time of a query grows with the square of the depth
/// and of the length of such a row: 2 MiB of `(` would take an hour.
///
/// The walk skips the children of a node with few descendants, because they can be neither that deep
/// nor such a row.
pub(super) fn is_tangled(root: Node) -> bool {
    const LONGEST_RUN: usize = 1000;
    const DEEPEST: usize = 4000;
    const MOST_NODES: usize = 1_000_000;
    if root.descendant_count() > MOST_NODES {
        return true;
    }
    let mut cursor = root.walk();
    let (mut run, mut depth) = (0, 0);
    loop {
        let node = cursor.node();
        run = if node.is_named() { 0 } else { run + 1 };
        if run > LONGEST_RUN || depth > DEEPEST {
            return true;
        }
        let count = node.descendant_count();
        let may_be_tangled = count > LONGEST_RUN || depth + count > DEEPEST;
        if may_be_tangled && cursor.goto_first_child() {
            (run, depth) = (0, depth + 1);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            (run, depth) = (0, depth - 1);
        }
    }
}

/// Returns true if a line opens or continues more lists and quotes than the scanners of Markdown
/// and YAML can store. They write one entry for each into a buffer of 1,024 bytes, and not all of
/// them check whether it fits.
fn nests_beyond_scanner(text: &str) -> bool {
    const DEEPEST: usize = 200;
    let opens = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.):?[]{}&!|".contains(c);
    text.split(['\n', '\r']).any(|line| {
        let prefix = &line[..line.find(|c| !opens(c)).unwrap_or(line.len())];
        let columns = prefix.chars().filter(|c| c.is_whitespace()).count();
        let quotes = prefix.matches('>').count();
        columns + quotes > DEEPEST
    })
}

/// Returns the byte ranges of the syntax errors in a tree: the outermost error nodes, and the
/// tokens that the parser inserted because they were missing.
pub(super) fn errors(root: Node) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    visit(root, |node| {
        let is_damage = node.is_error() || node.is_missing();
        if is_damage {
            found.push(node.byte_range());
        }
        !is_damage && node.has_error()
    });
    found
}
