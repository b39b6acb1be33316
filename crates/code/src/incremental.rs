//! Parses a text, either as a whole or only the part that an edit touched.
//!
//! An edited document keeps the tree that it was made from and the range of touched bytes.
//! Top-level nodes outside that range keep their blocks, shifted by the difference in length. Only
//! the part between the last untouched node before the range and the first one after it is queried
//! again.
//!
//! A text that is parsed beside a similar one is treated as that one after an edit for each place in
//! which they differ, for example a file at two commits. The range then goes from the first of these
//! places to the last.
//!
//! The whole text is parsed if the result could differ otherwise: if it has carriage returns
//! without a line feed or conflict markers, or if the grammar's scanner looks at columns. It is
//! also parsed whole if there is a syntax error before or after the edit. Even then, the top-level
//! nodes at both ends of the file that came out unchanged keep their blocks, because finding blocks
//! takes longer than parsing.

use std::ops::Range;
use std::sync::Arc;

use ropey::Rope;
use tree_sitter::{InputEdit, Node, Point, Tree};

use super::block::{Block, FileBlocks, MAX_BLOCKS};
use super::conflict;
use super::language::Language;
use super::outline::{self, OutlinedPart, TopLevelNode};
use super::syntax_tree::{self, is_tangled, parser, patiently, whole_tree};
use super::text_difference::TextDifference;

#[derive(Clone)]
pub(super) struct ParsedText {
    tree: Option<Tree>,
    items: Arc<Vec<TopLevelNode>>,
    pub blocks: Arc<FileBlocks>,
    pub errors: Arc<Vec<Range<usize>>>,
    len: usize,
    reusable: bool,
}

impl ParsedText {
    pub(super) fn without_tree(blocks: Arc<FileBlocks>, errors: Arc<Vec<Range<usize>>>) -> Self {
        let items = Arc::default();
        Self { tree: None, items, blocks, errors, len: 0, reusable: false }
    }

    pub(super) fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }
}

#[derive(Clone)]
pub(super) struct Base {
    parsed: ParsedText,
    tree: Tree,
    /// The touched bytes, as a range in the present text.
    touched: Range<usize>,
}

impl Base {
    /// Returns the base for the text after one edit. Returns `None` if that text has to be parsed
    /// as a whole.
    pub(super) fn new(parsed: &ParsedText, edit: &InputEdit) -> Option<Self> {
        let mut tree = parsed.tree.clone().filter(|_| parsed.reusable)?;
        tree.edit(edit);
        let touched = edit.start_byte..edit.new_end_byte;
        Some(Self { parsed: parsed.clone(), tree, touched })
    }

    /// Returns the base for another text with these differences, see [`Self::new`].
    pub(super) fn of_difference(
        parsed: &ParsedText,
        (before, now): (&Rope, &Rope),
        difference: &TextDifference,
    ) -> Option<Self> {
        // The edits are made from the last to the first, so that the earlier ones keep their places.
        let mut edits = difference.ranges().iter().rev().map(|change| {
            let text = now.byte_slice(change.now.clone()).to_string();
            input_edit(before, &change.before, &text)
        });
        let last = Self::new(parsed, &edits.next()??)?;
        edits.try_fold(last, |base, edit| Some(base.edited(&edit?)))
    }

    pub(super) fn edited(&self, edit: &InputEdit) -> Self {
        let mut next = self.clone();
        next.tree.edit(edit);
        let end = self.touched.end.saturating_sub(edit.old_end_byte) + edit.new_end_byte;
        next.touched = self.touched.start.min(edit.start_byte)..end;
        next
    }
}

/// Converts an edit of a rope to one of tree-sitter. Returns `None` if the edit may leave or create
/// a carriage return without a line feed: editors count it as a line break, and tree-sitter does
/// not.
pub(super) fn input_edit(before: &Rope, range: &Range<usize>, text: &str) -> Option<InputEdit> {
    let splits = range.start > 0 && before.byte(range.start - 1) == b'\r';
    if splits || has_lone_return(text) {
        return None;
    }
    let start_position = point(before, range.start);
    let new_end_position = match text.rfind('\n') {
        Some(last) => {
            let rows = text.bytes().filter(|byte| *byte == b'\n').count();
            Point::new(start_position.row + rows, text.len() - last - 1)
        }
        None => Point::new(start_position.row, start_position.column + text.len()),
    };
    Some(InputEdit {
        start_byte: range.start,
        old_end_byte: range.end,
        new_end_byte: range.start + text.len(),
        start_position,
        old_end_position: point(before, range.end),
        new_end_position,
    })
}

fn point(rope: &Rope, byte: usize) -> Point {
    let row = rope.byte_to_line(byte);
    Point::new(row, byte - rope.line_to_byte(row))
}

fn has_lone_return(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
}

/// Parses a text, from its base if there is one. Returns `None` if the text has too many blocks, is
/// nested too deeply or takes too long.
pub(super) fn parse(
    language: &'static Language,
    rope: &Rope,
    base: Option<&Base>,
) -> Option<ParsedText> {
    let text = rope.to_string();
    let parsed = base.and_then(|base| from_base(language, &text, base));
    let mut parsed = parsed.or_else(|| parsed_whole(language, &text))?;
    if parsed.blocks.blocks.len() > MAX_BLOCKS {
        return None;
    }
    outline::finish(rope, &mut Arc::make_mut(&mut parsed.blocks).blocks);
    Some(parsed)
}

fn parsed_whole(language: &'static Language, text: &str) -> Option<ParsedText> {
    let tree = whole_tree(language, text)?;
    let found = outline::outline(text, tree.root_node(), 0..text.len(), language.compiled()?)?;
    Some(finish(language, text, tree, found))
}

fn finish(language: &'static Language, text: &str, tree: Tree, found: OutlinedPart) -> ParsedText {
    let is_conflict = conflict::holds_conflict(text);
    let mut errors = syntax_tree::errors(tree.root_node());
    errors.extend(found.embedded_errors);
    errors.sort_by_key(|error| (error.start, error.end));
    let has_error = !errors.is_empty() || is_conflict;
    let reusable =
        language.syntax.incremental && !found.embeds && !has_lone_return(text) && !is_conflict;
    let blocks = FileBlocks { language: Some(language.id), blocks: found.blocks, has_error };
    ParsedText {
        tree: Some(tree),
        items: Arc::new(found.items),
        blocks: Arc::new(blocks),
        errors: Arc::new(errors),
        len: text.len(),
        reusable,
    }
}

/// An edit that touches more bytes than this was pasted rather than typed.
const LARGE_EDIT: usize = 4 * 1024;

fn from_base(language: &'static Language, text: &str, base: &Base) -> Option<ParsedText> {
    if has_lone_return(text) || conflict::holds_conflict(text) {
        return None;
    }
    if base.parsed.blocks.has_error {
        return around_errors(language, text, base);
    }
    let tree = patiently(&mut parser(language)?, text, Some(&base.tree))?;
    if base.touched.len() > LARGE_EDIT && is_tangled(tree.root_node()) {
        return None;
    }
    if tree.root_node().has_error() {
        return around_errors(language, text, base);
    }
    let mut touched = base.touched.clone();
    for range in base.tree.changed_ranges(&tree) {
        touched = touched.start.min(range.start_byte)..touched.end.max(range.end_byte);
    }
    touched.end = touched.end.min(text.len());
    let found = spliced(language, text, tree.root_node(), &base.parsed, touched)?;
    Some(finish(language, text, tree, found))
}

/// Parses the whole text, and keeps the blocks of the top-level nodes that did not change.
fn around_errors(language: &'static Language, text: &str, base: &Base) -> Option<ParsedText> {
    let tree = whole_tree(language, text)?;
    let old = base.parsed.tree.as_ref()?;
    let ends = (base.parsed.len, text.len());
    let touched = beyond_equal_ends(old.root_node(), tree.root_node(), ends, &base.touched)?;
    let found = spliced(language, text, tree.root_node(), &base.parsed, touched)?;
    Some(finish(language, text, tree, found))
}

/// Returns the bytes between those top-level nodes at both ends of the file for which
/// [`is_same_and_sound`] holds. The result always contains the touched bytes.
fn beyond_equal_ends(
    old: Node,
    new: Node,
    (old_end, new_end): (usize, usize),
    touched: &Range<usize>,
) -> Option<Range<usize>> {
    if old.kind_id() != new.kind_id() {
        return None;
    }
    let (mut of_old, mut of_new) = (old.walk(), new.walk());
    let before: Vec<Node> = old.children(&mut of_old).collect();
    let after: Vec<Node> = new.children(&mut of_new).collect();
    let head = before.iter().zip(&after).take_while(|(old, new)| {
        let is_before = new.end_byte() < touched.start;
        is_before && old.start_byte() == new.start_byte() && is_same_and_sound(**old, **new)
    });
    let start = head.last().map_or(0, |(_, new)| new.end_byte());
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(old, new)| {
        let is_behind = new.start_byte() > touched.end;
        let from_end = (old_end - old.end_byte(), new_end - new.end_byte());
        is_behind && from_end.0 == from_end.1 && is_same_and_sound(**old, **new)
    });
    let end = tail.last().map_or(new_end, |(_, new)| new.start_byte());
    let start = touched.start.min(start + 1);
    Some(start..touched.end.max(end.saturating_sub(1)).max(start))
}

/// Returns true if two nodes contain no syntax error, and contain nodes of the same kinds at the
/// same places. Comparing the texts would not be enough: after an error elsewhere in the file, the
/// parser may read the same text in another way.
fn is_same_and_sound(old: Node, new: Node) -> bool {
    if old.has_error() || new.has_error() || old.descendant_count() != new.descendant_count() {
        return false;
    }
    let (mut a, mut b) = (old.walk(), new.walk());
    loop {
        let (x, y) = (a.node(), b.node());
        let starts = (x.start_byte() - old.start_byte(), y.start_byte() - new.start_byte());
        let lengths = (x.byte_range().len(), y.byte_range().len());
        let is_same = x.kind_id() == y.kind_id() && a.field_id() == b.field_id();
        if !is_same || starts.0 != starts.1 || lengths.0 != lengths.1 {
            return false;
        }
        let mut moved = (a.goto_first_child(), b.goto_first_child());
        while moved == (false, false) {
            moved = (a.goto_next_sibling(), b.goto_next_sibling());
            if moved == (false, false) {
                match (a.goto_parent(), b.goto_parent()) {
                    (true, true) => {}
                    (a, b) => return a == b,
                }
            }
        }
        if moved != (true, true) {
            return false;
        }
    }
}

/// Returns the old blocks, except that the blocks between the nearest untouched top-level nodes are
/// found again in the new tree.
fn spliced(
    language: &'static Language,
    text: &str,
    root: Node,
    old: &ParsedText,
    touched: Range<usize>,
) -> Option<OutlinedPart> {
    let shift = |byte: usize| (byte + text.len()).checked_sub(old.len);
    let untouched_from = (touched.end + old.len).checked_sub(text.len())?;
    let items = &old.items;
    let before = items.iter().rposition(|item| item.clean && item.bytes.end < touched.start);
    let after = items.iter().position(|item| item.clean && item.bytes.start > untouched_from);
    let start = before.map_or(0, |at| items[at].bytes.end);
    let end = after.map_or(Some(text.len()), |at| shift(items[at].bytes.end))?;
    if start > end || !is_seam(text, root, start) || !is_seam(text, root, end) {
        return None;
    }
    let middle = outline::outline(text, root, start..end, language.compiled()?)?;
    let head = before.map_or(0, |at| items[at].blocks.end);
    let tail = after.map_or(old.blocks.blocks.len(), |at| items[at].blocks.end);
    let mut found = OutlinedPart {
        blocks: old.blocks.blocks[..head].to_vec(),
        items: items[..before.map_or(0, |at| at + 1)].to_vec(),
        // A text that embeds other languages is never the base of an edit.
        embeds: middle.embeds,
        embedded_errors: middle.embedded_errors,
    };
    let inserted = middle.blocks.into_iter().map(|block| with_moved_container(block, 0, head));
    found.blocks.extend(inserted);
    found.items.extend(middle.items.into_iter().map(|item| TopLevelNode {
        blocks: item.blocks.start + head..item.blocks.end + head,
        ..item
    }));
    let at = found.blocks.len();
    for block in &old.blocks.blocks[tail..] {
        let mut block = with_moved_container(block.clone(), tail, at);
        block.lead = shift(block.lead.start)?..shift(block.lead.end)?;
        block.bytes = shift(block.bytes.start)?..shift(block.bytes.end)?;
        block.name_bytes = shift(block.name_bytes.start)?..shift(block.name_bytes.end)?;
        found.blocks.push(block);
    }
    for item in &items[after.map_or(items.len(), |at| at + 1)..] {
        found.items.push(TopLevelNode {
            bytes: shift(item.bytes.start)?..shift(item.bytes.end)?,
            blocks: item.blocks.start - tail + at..item.blocks.end - tail + at,
            clean: item.clean,
        });
    }
    Some(found)
}

/// Moves the container index of a block from a list that begins at `from` to one that begins at
/// `to`.
fn with_moved_container(mut block: Block, from: usize, to: usize) -> Block {
    block.container = block.container.map(|outer| outer - from + to);
    block
}

/// Returns true if no top-level node of the new tree spans the byte, except with white space.
fn is_seam(text: &str, root: Node, byte: usize) -> bool {
    let mut cursor = root.walk();
    let over = |node: &Node| node.start_byte() < byte && byte < node.end_byte();
    root.children(&mut cursor)
        .find(over)
        .is_none_or(|node| text[byte..node.end_byte()].trim().is_empty())
}
