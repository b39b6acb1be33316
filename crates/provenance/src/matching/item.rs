//! One block on either side of an alignment.

use code::{Block, FileBlocks};

use ledger::outline::{Outline, Row};

pub(super) struct ComparedBlock<'a> {
    pub(super) block: &'a Block,
    pub(super) row: Row,
}

impl<'a> ComparedBlock<'a> {
    pub(super) fn of_blocks(blocks: &'a FileBlocks) -> Vec<Self> {
        let rows = Outline::from_blocks(blocks).rows.into_iter();
        let items = rows.zip(&blocks.blocks);
        items.map(|(row, block)| Self { block, row }).collect()
    }

    pub(super) fn is_unnamed(&self) -> bool {
        self.row.is_unnamed()
    }

    pub(super) fn size(&self) -> u32 {
        self.block.fingerprint.token_count
    }

    pub(super) fn container_path(&self) -> &'a str {
        let path = self.block.identity.path.as_str();
        path.strip_suffix(self.block.name.as_str()).unwrap_or(path).trim_end_matches('.')
    }
}
