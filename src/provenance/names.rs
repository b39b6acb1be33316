//! Names of blocks, as files and as the ledger have them.

use crate::code::{Block, BlockKind};
use crate::ledger::{BlockName, BlockRecord};

pub(super) fn same_name(a: Option<&BlockName>, b: Option<&BlockName>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            a.kind == b.kind
                && a.path == b.path
                && a.parameters == b.parameters
                && a.ordinal == b.ordinal
        }
        _ => false,
    }
}

/// A block's name as the ledger writes it.
pub fn block_name(block: &Block, language: Option<&str>) -> BlockName {
    BlockName {
        kind: block.identity.kind.as_str().to_owned(),
        path: block.identity.path.clone(),
        parameters: block.identity.parameters.clone(),
        ordinal: block.identity.ordinal,
        language: language.map(str::to_owned),
    }
}

/// A block whose text is not at hand, as the ledger writes it.
pub fn textless(block: &Block, language: Option<&str>) -> BlockRecord {
    let print = &block.fingerprint;
    BlockRecord {
        block: Some(block_name(block, language)),
        token_hash: Some(print.tokens.clone()),
        shape_hash: Some(print.shape.clone()),
        own_hash: print.own.clone(),
        sketch: Some(print.sketch.clone()),
        pairs: Some(print.pairs.clone()),
        tokens: Some(print.token_count),
        ..BlockRecord::bare(block.lines.start(), block.lines.end(), print.content.clone())
    }
}

pub(super) type NameKey<'a> = (&'a str, &'a str, Option<&'a str>);

pub(super) fn key_of_block(block: &Block) -> NameKey<'_> {
    (block.identity.kind.as_str(), &block.identity.path, block.identity.parameters.as_deref())
}

pub(super) fn key_of_name(name: &BlockName) -> NameKey<'_> {
    (&name.kind, &name.path, name.parameters.as_deref())
}

/// The last segment of a recorded path; a region's path is all of it.
pub(super) fn leaf(name: &BlockName) -> &str {
    name.path.rsplit('.').next().unwrap_or(&name.path)
}

/// [`BlockKind::is_unnamed`] of the ledger's word for a kind.
pub(super) fn is_unnamed(kind: &str) -> bool {
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
