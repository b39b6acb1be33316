//! Builds the outline of a text that does not parse from an earlier outline.
//!
//! One open bracket can make a parser lose or misread every definition after it. So as long as a
//! text has new damage, its outline comes from the earlier text, and the parse is used only for the
//! blocks that were edited:
//!
//! - A block that no edit touches is kept, at its present position.
//! - A block that an edit touches is taken from the parse if the parse has it at the expected
//!   place, without a new error in it. Otherwise the earlier block is kept and marked as broken.
//! - A new block with a name is taken from the parse if it is in edited text, holds no error, and
//!   fits between the other blocks.
//!
//! For example, after `foo(` is typed into a method, the method and its class are broken, and all
//! other blocks are unchanged.
//!
//! A file may always have had syntax errors, because grammars have gaps. Only errors that the
//! earlier text did not have count as new damage.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::incremental::ParsedText;
use super::text_difference::TextDifference;
use super::{Block, FileBlocks, words};

#[derive(Clone)]
pub(super) struct Earlier {
    pub blocks: Arc<FileBlocks>,
    /// The byte ranges of the syntax errors that the text had already, in order.
    pub known_errors: Arc<Vec<Range<usize>>>,
    pub difference: TextDifference,
}

impl Earlier {
    pub(super) fn and_edit(&self, range: &Range<usize>, length: usize) -> Self {
        Self { difference: self.difference.and_edit(range, length), ..self.clone() }
    }
}

pub(super) struct Carry<'a> {
    pub earlier: &'a Earlier,
    pub now: &'a ParsedText,
    pub text: &'a str,
}

impl Carry<'_> {
    fn difference(&self) -> &TextDifference {
        &self.earlier.difference
    }

    fn start_of(&self, byte: usize) -> usize {
        self.difference().start(byte).likely
    }

    /// Returns the blocks in order. Their lines and ordinals are not yet set.
    pub(super) fn run(&self) -> Vec<Block> {
        let mut taken = HashSet::new();
        let mut kept: Vec<Block> = Vec::with_capacity(self.earlier.blocks.blocks.len());
        for block in &self.earlier.blocks.blocks {
            kept.extend(self.carried_block(block, &mut taken));
        }
        let new: Vec<Block> = (0..self.now.blocks.blocks.len())
            .filter(|at| !taken.contains(at) && self.is_new(*at, &kept))
            .map(|at| self.now.blocks.blocks[at].clone())
            .collect();
        kept.extend(new);
        nested_blocks(self.text, kept)
    }

    /// Returns true if the parser still finds every block that no edit touches, unchanged.
    pub(super) fn keeps_the_untouched(&self) -> bool {
        let now = &self.now.blocks.blocks;
        let untouched = self.earlier.blocks.blocks.iter().filter(|block| {
            let is_named = !block.identity.kind.is_unnamed() && !block.broken;
            is_named && !self.difference().touches_block(&block.whole_bytes(), self.text)
        });
        let mut from = 0;
        untouched.into_iter().all(|block| {
            let start = self.start_of(block.bytes.start);
            from += now[from..].partition_point(|other| other.bytes.start < start);
            let mut here = now[from..].iter().take_while(|other| other.bytes.start == start);
            here.any(|other| {
                let (other_is, it_is) = (&other.fingerprint, &block.fingerprint);
                is_same(other, block)
                    && (&other_is.content, &other_is.lead) == (&it_is.content, &it_is.lead)
            })
        })
    }

    pub(super) fn known_errors(&self) -> Vec<Range<usize>> {
        self.earlier.known_errors.iter().map(|error| self.difference().now(error)).collect()
    }

    /// Returns true if there is no new damage: each error was in the earlier text at the same
    /// place, or there are not more errors than before and they cover no more bytes.
    pub(super) fn is_old_damage(&self) -> bool {
        let (known, now) = (&self.earlier.known_errors, &self.now.errors);
        if now.len() > known.len() {
            return false;
        }
        let bytes = |errors: &[Range<usize>]| errors.iter().map(Range::len).sum::<usize>();
        let mut old = known.iter();
        let is_known = |error: &Range<usize>| {
            old.any(|old| {
                self.difference().start(old.start).holds(error.start)
                    && self.difference().end(old.end).holds(error.end)
            })
        };
        now.iter().all(is_known) || bytes(now) <= bytes(known)
    }

    fn carried_block(&self, block: &Block, taken: &mut HashSet<usize>) -> Option<Block> {
        let whole = block.whole_bytes();
        if !self.difference().touches_block(&whole, self.text) {
            return Some(self.block_moved(block));
        }
        if let Some(at) = self.parsed_anew(block) {
            taken.insert(at);
            return Some(self.now.blocks.blocks[at].clone());
        }
        match self.difference().only_add_lines_around(&whole, self.text) {
            true => Some(self.block_moved(block)),
            false => self.marked_as_broken(block),
        }
    }

    fn block_moved(&self, block: &Block) -> Block {
        let moved = |bytes: &Range<usize>| {
            let start = self.start_of(bytes.start);
            start..start + bytes.len()
        };
        Block {
            lead: moved(&block.lead),
            bytes: moved(&block.bytes),
            name_bytes: moved(&block.name_bytes),
            ..block.clone()
        }
    }

    /// Finds the parsed block that an edited block became. It has the same identity or, if the
    /// block was not replaced as a whole, the same kind and container. It must not contain more
    /// errors than the block did before.
    fn parsed_anew(&self, block: &Block) -> Option<usize> {
        let start = self.difference().start(block.bytes.start);
        let end = self.difference().end(block.bytes.end);
        let lead = self.difference().start(block.lead.start).first;
        let errors = count(&self.earlier.known_errors, &block.whole_bytes());
        let is_anchored = !self.difference().replaces_all(&block.bytes);
        let blocks = &self.now.blocks.blocks;
        let from = blocks.partition_point(|other| other.bytes.start < start.first);
        let fits = |other: &Block| {
            let whole = lead.min(other.lead.start)..other.bytes.end;
            other.identity.kind == block.identity.kind
                && end.holds(other.bytes.end)
                && count(&self.now.errors, &whole) <= errors
        };
        let near = || {
            let starting =
                blocks[from..].iter().take_while(|other| other.bytes.start <= start.last);
            starting.zip(from..).filter(|(other, _)| fits(other))
        };
        let same = near().find(|(other, _)| is_same(other, block));
        let alike = || {
            near().find(|(other, _)| is_anchored && container_path(other) == container_path(block))
        };
        same.or_else(alike).map(|(_, at)| at)
    }

    /// Returns the earlier block, marked as broken, at the place of the text that replaced it.
    /// Returns `None` if that text is empty or, after a complete replacement, no longer contains
    /// the block's name.
    fn marked_as_broken(&self, block: &Block) -> Option<Block> {
        let mut bytes =
            self.start_of(block.bytes.start)..self.difference().end(block.bytes.end).likely;
        if self.difference().replaces_all(&block.bytes) {
            bytes.start = self.difference().start(block.bytes.start).first;
            bytes.start += line_of_name(self.text.get(bytes.clone())?, block)?;
        }
        let bytes = trimmed_range(self.text, bytes)?;
        let lead = match block.lead.is_empty() {
            true => bytes.start,
            false => self.start_of(block.lead.start).min(bytes.start),
        };
        let name = self.start_of(block.name_bytes.start);
        let name = name..name + block.name_bytes.len();
        let is_name = bytes.start <= name.start
            && name.end <= bytes.end
            && !self.difference().touches_block(&block.name_bytes, self.text);
        let line = self.text[bytes.clone()].lines().next().unwrap_or_default().trim_end().len();
        let name_bytes = if is_name { name } else { bytes.start..bytes.start + line };
        Some(Block { lead: lead..bytes.start, bytes, name_bytes, broken: true, ..block.clone() })
    }

    /// Returns true if it is certain that the edit added a parsed block, although the text does not parse. The block
    /// must have a name and no syntax error. It may overlap only kept blocks that contain it or that it contains. And
    /// the block around it must have been kept, too, and must not be broken.
    fn is_new(&self, at: usize, kept: &[Block]) -> bool {
        let blocks = &self.now.blocks.blocks;
        let new = &blocks[at];
        let whole = new.whole_bytes();
        // A block without a name may be a definition that is not yet fully typed.
        if new.identity.kind.is_unnamed()
            || !self.difference().overlaps_new_text(&whole)
            || count(&self.now.errors, &whole) > 0
        {
            return false;
        }
        let mut container: Option<&Block> = None;
        for other in kept {
            let bytes = &other.bytes;
            if bytes.end <= whole.start || whole.end <= bytes.start {
                continue;
            }
            let is_around = bytes.start <= new.bytes.start && new.bytes.end <= bytes.end;
            if is_around && *bytes != new.bytes && !other.identity.kind.is_unnamed() {
                container =
                    container.filter(|inner| inner.bytes.len() < bytes.len()).or(Some(other));
            } else if !is_inside(other, new) {
                return false;
            }
        }
        let expected = new.container.map(|outer| &blocks[outer].identity.path);
        container.map(|outer| &outer.identity.path) == expected
            && !container.is_some_and(|outer| outer.broken)
    }
}

fn count(errors: &[Range<usize>], bytes: &Range<usize>) -> usize {
    let from = errors.partition_point(|error| error.end < bytes.start);
    errors[from..].iter().take_while(|error| error.start <= bytes.end).count()
}

fn is_same(one: &Block, other: &Block) -> bool {
    let (one, other) = (&one.identity, &other.identity);
    (one.kind, &one.path, &one.parameters) == (other.kind, &other.path, &other.parameters)
}

fn container_path(block: &Block) -> &str {
    block.identity.path.strip_suffix(block.name.as_str()).unwrap_or_default()
}

fn is_inside(inner: &Block, outer: &Block) -> bool {
    let rest = inner.identity.path.strip_prefix(&outer.identity.path);
    outer.bytes.start <= inner.bytes.start
        && inner.bytes.end <= outer.bytes.end
        && rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the offset of the line that contains the block's name as a whole word.
fn line_of_name(text: &str, block: &Block) -> Option<usize> {
    if block.identity.kind.is_unnamed() {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let stands_alone = |(at, name): &(usize, &str)| {
        !text[..*at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word)
    };
    let (at, _) = text.match_indices(block.name.as_str()).find(stands_alone)?;
    Some(text[..at].rfind('\n').map_or(0, |at| at + 1))
}

fn trimmed_range(text: &str, bytes: Range<usize>) -> Option<Range<usize>> {
    text.get(bytes.clone())?;
    Some(words::trimmed_range(text, bytes)).filter(|left| !left.is_empty())
}

/// Sorts the blocks and sets their containers. If two blocks overlap, the first one is cut off
/// where the second one starts.
fn nested_blocks(text: &str, mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.sort_by_key(|block| (block.bytes.start, Reverse(block.bytes.end)));
    blocks.dedup_by(|later, earlier| later.bytes == earlier.bytes);
    let mut nested: Vec<Block> = Vec::with_capacity(blocks.len());
    let mut open: Vec<usize> = Vec::new();
    for mut block in blocks {
        while let Some(&outer) = open.last() {
            let outer = &mut nested[outer];
            if block.bytes.end <= outer.bytes.end && block.bytes.start < outer.bytes.end {
                break;
            }
            if block.bytes.start < outer.bytes.end {
                let cut = outer.bytes.start..block.lead.start.max(outer.bytes.start);
                outer.bytes.end = trimmed_range(text, cut).map_or(block.bytes.start, |cut| cut.end);
                outer.name_bytes.end = outer.name_bytes.end.min(outer.bytes.end);
                outer.name_bytes.start = outer.name_bytes.start.min(outer.name_bytes.end);
            }
            open.pop();
        }
        block.container = open.last().copied();
        if !block.identity.kind.is_unnamed() {
            open.push(nested.len());
        }
        nested.push(block);
    }
    nested
}
