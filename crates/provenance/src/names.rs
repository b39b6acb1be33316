//! Converts and compares the names of blocks, as the parser returns them and as the ledger stores
//! them.

use code::{Block, BlockKind, Identity};
use ledger::{BlockName, BlockRecord};

pub fn is_named(name: &BlockName, identity: &Identity) -> bool {
    is_named_apart_from_ordinal(name, identity) && name.ordinal == identity.ordinal
}

/// Compares kind, path and parameters. Evidence leaves out the parameters if no other block has the
/// same kind and path.
pub(super) fn is_named_apart_from_ordinal(name: &BlockName, identity: &Identity) -> bool {
    name.kind == identity.kind.as_str()
        && name.path == identity.path
        && (name.parameters.is_none() || name.parameters == identity.parameters)
}

/// Returns the ledger record of a block without its line hashes and history, which need the text of
/// the file.
pub fn textless(block: &Block, language: Option<&str>) -> BlockRecord {
    let (print, identity) = (&block.fingerprint, &block.identity);
    let name = BlockName {
        kind: identity.kind.as_str().to_owned(),
        path: identity.path.clone(),
        parameters: identity.parameters.clone(),
        ordinal: identity.ordinal,
        language: language.map(str::to_owned),
    };
    BlockRecord {
        block: Some(name),
        token_hash: Some(print.tokens.clone()),
        shape_hash: Some(print.shape.clone()),
        own_hash: print.own.clone(),
        own_text_hash: print.own_text.clone(),
        lead_hash: print.lead.clone(),
        sketch: Some(print.sketch.clone()),
        pairs: Some(print.pairs.clone()),
        tokens: Some(print.token_count),
        ..BlockRecord::with_lines_only(
            block.lines.start(),
            block.lines.end(),
            print.content.clone(),
        )
    }
}

/// Returns the last segment of a recorded path. For a region, this is the whole path.
pub(super) fn leaf(name: &BlockName) -> &str {
    name.path.rsplit('.').next().unwrap_or(&name.path)
}

/// Returns true if a block has the recorded name, in any container. The name of a file or of a key
/// may itself contain dots: `tool.black` is called `black`, and also `tool.black`.
pub(super) fn is_called(name: &BlockName, block: &Block) -> bool {
    name.path
        .strip_suffix(&*block.name)
        .is_some_and(|before| before.is_empty() || before.ends_with('.'))
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

/// Returns true if a definition of kind `then` may have become one of kind `now`.
pub(super) fn may_become(then: &str, now: &str) -> bool {
    then == now || kinds_it_may_have_been(&now).contains(&then)
}

/// Returns the kinds that a definition of kind `now` may have had before, `now` included.
pub(super) fn kinds_it_may_have_been<'a>(now: &'a &'a str) -> &'a [&'a str] {
    let family = FAMILIES.iter().find(|kinds| kinds.contains(now));
    family.copied().unwrap_or(std::slice::from_ref(now))
}
