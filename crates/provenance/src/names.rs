//! Converts and compares the names of blocks, as the parser returns them and as the ledger stores
//! them.

use code::{Block, BlockKind, FileBlocks};
use ledger::{BlockName, BlockRecord, short_lead};

/// Returns true if a record left a block as it is. The content hash of a block changes with the blocks
/// inside it, so for work that is in no commit (`is_open`) the name of such a block has to do.
pub fn has_left(range: &BlockRecord, blocks: &FileBlocks, at: usize, is_open: bool) -> bool {
    let block = &blocks.blocks[at];
    let has_blocks = || blocks.blocks.iter().any(|inner| inner.container == Some(at));
    !range.deleted
        && range.has_lead_of(block)
        && (range.block.is_none() || range.has_name_of(block))
        && (range.content_hash == block.fingerprint.content
            || is_open && range.block.is_some() && has_blocks())
}

pub fn textless(block: &Block, language: Option<&str>) -> BlockRecord {
    let name = BlockName {
        kind: block.identity.kind.as_str().to_owned(),
        path: block.identity.path.clone(),
        language: language.map(str::to_owned),
    };
    let content = block.fingerprint.content.clone();
    let lines = block.lines;
    BlockRecord {
        block: Some(name),
        lead: Some(short_lead(block)),
        ..BlockRecord::with_lines_only(lines.start(), lines.end(), content)
    }
}

/// Returns [`BlockKind::is_unnamed`] for a kind as the ledger writes it.
pub fn is_unnamed(kind: &str) -> bool {
    BlockKind::parse(kind).is_some_and(BlockKind::is_unnamed)
}

/// Groups of kinds that a definition may change between and still be the same definition. For
/// example, a function may become a method, or a struct a class.
const FAMILIES: [&[&str]; 3] = [
    &["function", "method", "macro"],
    &["class", "struct", "enum", "union", "trait", "interface", "type"],
    &["constant", "variable"],
];

pub(super) fn may_become(then: BlockKind, now: BlockKind) -> bool {
    let (then, now) = (then.as_str(), now.as_str());
    then == now || FAMILIES.iter().any(|kinds| kinds.contains(&then) && kinds.contains(&now))
}
