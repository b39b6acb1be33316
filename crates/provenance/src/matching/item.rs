//! One block on either side of an alignment. It comes from the current file, from an outline, or
//! from a record.

use crate::names::leaf;
use crate::outline::{self, Outline, Row};
use code::{Block, FileBlocks, LineRange};
use ledger::{BlockName, BlockRecord, ClaimRef};

use super::likeness::Body;

/// A block and what is known about it.
pub(crate) struct ComparedBlock<'a> {
    pub(super) row: Row,
    /// The index of the item that contains this one.
    pub(super) container: Option<usize>,
    /// True if the block has a position in the file. False for a removed block, and for items that
    /// were collected from several files.
    pub(super) in_sequence: bool,
    /// True if the block was removed before the last record of its file. Then it can only have come
    /// back unchanged.
    pub(super) had_gone: bool,
    pub(super) name: Option<ComparedName<'a>>,
    pub(super) body: Option<Body<'a>>,
    /// The number of tokens, if it is known.
    pub(super) size: Option<u32>,
    pub(super) lines: Option<LineRange>,
    /// The record of the block. Rivals that have the same record do not compete.
    pub(super) answer: Option<ClaimRef>,
}

/// The name of a block, as text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedName<'a> {
    pub(super) kind: &'a str,
    pub(super) path: &'a str,
    pub(super) leaf: &'a str,
    pub(super) parameters: Option<&'a str>,
}

impl<'a> ComparedBlock<'a> {
    /// Creates an item of which only the outline row is known.
    pub fn of_row(row: Row, container: Option<usize>) -> Self {
        Self {
            row,
            container,
            in_sequence: true,
            had_gone: false,
            name: None,
            body: None,
            size: None,
            lines: None,
            answer: None,
        }
    }

    /// Creates the items of all blocks of a file, in order.
    pub fn of_blocks(blocks: &'a FileBlocks) -> Vec<Self> {
        let rows = Outline::from_blocks(blocks).rows;
        let items = rows.into_iter().zip(&blocks.blocks).map(|(row, block)| {
            let mut item = Self::of_row(row, block.container);
            item.add_block(block);
            item
        });
        items.collect()
    }

    /// Creates the items of all rows of an outline, in order.
    pub(crate) fn of_outline(outline: &Outline) -> Vec<Self> {
        let rows = outline.rows.iter().zip(outline.containers());
        rows.map(|(row, container)| Self::of_row(*row, container)).collect()
    }

    /// Marks the item as having no position in the file.
    pub fn aside(self) -> Self {
        Self { in_sequence: false, ..self }
    }

    /// Marks the item as removed.
    pub(crate) fn marked_removed(self) -> Self {
        Self { had_gone: true, ..self.aside() }
    }

    /// Adds what is known from the block itself.
    pub(super) fn add_block(&mut self, block: &'a Block) {
        self.name = Some(ComparedName {
            kind: block.identity.kind.as_str(),
            path: &block.identity.path,
            leaf: &block.name,
            parameters: block.identity.parameters.as_deref(),
        });
        self.body = Some(Body::of_block(block));
        self.size = Some(block.fingerprint.token_count);
        self.lines = Some(block.lines);
    }

    /// Adds what is known from the block's record.
    pub(crate) fn with_record(mut self, range: &'a BlockRecord, answer: ClaimRef) -> Self {
        self.answer = Some(answer);
        self.name = range.block.as_ref().map(ComparedName::from_name);
        self.body = Some(Body::of_record(range));
        self.size = range.tokens;
        self.lines = LineRange::new(range.start_line, range.end_line);
        self
    }

    /// Creates an item from a record alone. Returns `None` if the record names no block.
    pub fn of_record(range: &'a BlockRecord, answer: ClaimRef) -> Option<Self> {
        let row = row_of_record(range)?;
        Some(Self::of_row(row, None).aside().with_record(range, answer))
    }

    pub(super) fn is_unnamed(&self) -> bool {
        self.row.is_unnamed()
    }
}

impl<'a> ComparedName<'a> {
    fn from_name(name: &'a BlockName) -> Self {
        Self {
            kind: &name.kind,
            path: &name.path,
            leaf: leaf(name),
            parameters: name.parameters.as_deref(),
        }
    }

    /// Returns the path of the container, without the block's own name.
    pub(super) fn container(&self) -> &'a str {
        self.path.strip_suffix(self.leaf).unwrap_or(self.path).trim_end_matches('.')
    }
}

/// Returns the outline row that a recorded block would have. Returns `None` if the record names no
/// block.
pub fn row_of_record(range: &BlockRecord) -> Option<Row> {
    let name = range.block.as_ref()?;
    let (text, lead) = (range.own_text_hash.as_ref(), range.lead_hash.as_ref());
    let tokens = range.own_hash.as_ref().or(range.token_hash.as_ref());
    let own = range.own_hash.as_ref().map(|hash| hash.as_str());
    let shape = own.or(range.shape_hash.as_ref().map(|hash| hash.as_str()));
    Some(Row {
        identity: outline::identity_of_name(name),
        text: outline::with_lead(text.unwrap_or(&range.content_hash).as_str(), lead),
        tokens: tokens.map(|hash| outline::with_lead(hash.as_str(), lead)).unwrap_or_default(),
        shape: shape.map(outline::short).unwrap_or_default(),
        name: outline::name(leaf(name)),
        kind: outline::kind_of(&name.kind),
        depth: 0,
    })
}
