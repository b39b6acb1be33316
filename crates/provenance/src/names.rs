//! Converts and compares the names of blocks, as the parser returns them and as the ledger stores
//! them.

use code::{Block, BlockKind, Identity};
use ledger::{BlockName, BlockRecord, short_lead};

/// Returns true if a record means this block. Several blocks of a file may have one name, because a
/// record does not store parameters.
pub fn is_named(name: &BlockName, identity: &Identity) -> bool {
    name.kind == identity.kind.as_str() && name.path == identity.path
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
