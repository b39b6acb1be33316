//! Names of blocks, as files and as the ledger have them.

use crate::code::{Block, BlockKind, Identity};
use crate::ledger::{BlockName, BlockRecord};

/// A block's name as the ledger writes it.
pub(super) fn block_name(block: &Block, language: Option<&str>) -> BlockName {
    BlockName {
        kind: block.identity.kind.as_str().to_owned(),
        path: block.identity.path.clone(),
        parameters: block.identity.parameters.clone(),
        ordinal: block.identity.ordinal,
        language: language.map(str::to_owned),
    }
}

/// Returns true if the ledger's name of a block is this identity. Evidence leaves out parameters where no other block has
/// the same kind and path.
pub(crate) fn is_named(name: &BlockName, identity: &Identity) -> bool {
    name.kind == identity.kind.as_str()
        && name.path == identity.path
        && (name.parameters.is_none() || name.parameters == identity.parameters)
        && name.ordinal == identity.ordinal
}

/// A block whose text is not at hand, as the ledger writes it.
pub(crate) fn textless(block: &Block, language: Option<&str>) -> BlockRecord {
    let print = &block.fingerprint;
    BlockRecord {
        block: Some(block_name(block, language)),
        token_hash: Some(print.tokens.clone()),
        shape_hash: Some(print.shape.clone()),
        own_hash: print.own.clone(),
        own_text_hash: print.own_text.clone(),
        lead_hash: print.lead.clone(),
        sketch: Some(print.sketch.clone()),
        pairs: Some(print.pairs.clone()),
        tokens: Some(print.token_count),
        ..BlockRecord::bare(block.lines.start(), block.lines.end(), print.content.clone())
    }
}

/// The last segment of a recorded path; a region's path is all of it.
pub(super) fn leaf(name: &BlockName) -> &str {
    name.path.rsplit('.').next().unwrap_or(&name.path)
}

/// Whether a block goes by the recorded name, its containers aside. The name of a file or of a key may hold dots itself.
pub(super) fn is_called(name: &BlockName, block: &Block) -> bool {
    let before = name.path.strip_suffix(&*block.name);
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// [`BlockKind::is_unnamed`] of the ledger's word for a kind.
pub(crate) fn is_unnamed(kind: &str) -> bool {
    BlockKind::parse(kind).is_some_and(BlockKind::is_unnamed)
}

/// Kinds that a definition may pass into and still be the same one: a function becomes a method, a struct a class.
const FAMILIES: [&[&str]; 3] = [
    &["function", "method", "macro"],
    &["class", "struct", "enum", "union", "trait", "interface", "type"],
    &["constant", "variable"],
];

/// Whether a definition of one kind may have become one of the other.
pub(super) fn may_become(then: &str, now: &str) -> bool {
    then == now || kinds_it_may_have_been(&now).contains(&then)
}

/// The kinds that a definition of this one may have been; it is among them.
pub(super) fn kinds_it_may_have_been<'a>(now: &'a &'a str) -> &'a [&'a str] {
    let family = FAMILIES.iter().find(|kinds| kinds.contains(now));
    family.copied().unwrap_or(std::slice::from_ref(now))
}
