//! What the texts before and after a commit tell of the blocks that its evidence names.

use super::Difference;
use super::names::textless;
use crate::code::lines::{self, Lines};
use crate::code::{Block, ContentHash, Document, FileBlocks, Places, fingerprint};
use crate::ledger::{BlockRecord, Derived};
use crate::provenance::difference;

/// What a recorded block was before.
#[derive(Default)]
pub(crate) struct Before {
    /// What it read; `None` of what is new.
    pub replaces: Option<ContentHash>,
    /// Which of its lines are new; `None` where nobody can say, or all are.
    pub brought: Option<Vec<bool>>,
    /// Its row in the outline.
    pub row: Option<usize>,
    /// Its row in the outline before.
    pub was: Option<usize>,
}

/// A block of a text in hand, with all that a record may say of it.
pub(crate) fn block_record(document: &Document, block: &Block, before: Before) -> BlockRecord {
    let language = document.language().map(|language| language.id);
    let lines = Lines::of_own(&lines::own(document, block));
    let brought = before.brought.filter(|_| lines.is_some());
    let brought = brought.and_then(|brought| match before.replaces {
        None => difference::places(&brought),
        Some(_) => Some(Places::of(&brought)),
    });
    let row = |row: Option<usize>| row.and_then(|row| u32::try_from(row).ok());
    BlockRecord {
        lines,
        brought,
        row: row(before.row),
        was: row(before.was),
        replaces: before.replaces,
        ..textless(block, language)
    }
}

/// Derives what is known of the blocks that evidence names, given the texts of its file before and after its commit.
///
/// What a commit did not touch, it did not bring, whatever its evidence says: such a block is [`BlockRecord::void`], and
/// of the others no line counts that stood there before. If the text of a block is not the one of the commit (an
/// intermediate version that a squash has lost, or one that was changed while its commit was made again), it keeps what
/// evidence says, and its row. `is_its_own` is false if the commit that the evidence was sealed for was made again as
/// several, so that nobody knows what it touched.
pub(crate) fn derive(
    said: &[BlockRecord],
    before: &Document,
    after: &Document,
    is_its_own: bool,
) -> Derived {
    let difference = Difference::new(before, after);
    let (old, new) = (before.blocks(), after.blocks());
    let is_touched = |at: usize| !is_its_own || difference.touches(at);
    let standing = |at: usize, said: Option<&BlockRecord>| {
        let replaces = difference.origin(at).map(|was| was.fingerprint.content.clone());
        let own = lines::own(after, &new.blocks[at]).len();
        let said = said.and_then(|said| said.brought.as_ref()?.among(own));
        let mut brought = said.or_else(|| replaces.as_ref().map(|_| vec![true; own]));
        if let (Some(said), true) = (&mut brought, is_its_own) {
            let known = difference.brought(at);
            said.iter_mut().zip(known).for_each(|(said, known)| *said &= known);
        }
        let known = Before { brought, row: Some(at), was: difference.was(at), replaces };
        block_record(after, &new.blocks[at], known)
    };
    let gone = |block: &Block| {
        let range = block_record(before, block, Before::default());
        BlockRecord { replaces: Some(range.content_hash.clone()), deleted: true, ..range }
    };
    let mut ranges = Vec::with_capacity(said.len());
    for range in said {
        match (&range.block, range.deleted) {
            // Of a whole file that reads otherwise nobody knows what is left.
            (None, false) if !stands_in(range, after) => {}
            (None, false) => {
                let touched = (0..new.blocks.len()).filter(|at| is_touched(*at));
                ranges.extend(touched.map(|at| standing(at, None)));
            }
            (None, true) => ranges.extend(old.blocks.iter().map(gone)),
            (Some(_), true) => {
                let found = find_recorded(&old, range).map(|at| gone(&old.blocks[at]));
                ranges.push(found.unwrap_or_else(|| range.clone()));
            }
            (Some(_), false) => ranges.push(match find_recorded(&new, range) {
                Some(at) if !is_touched(at) => BlockRecord::void(),
                Some(at) if new.blocks[at].fingerprint.content == range.content_hash => {
                    let block = standing(at, Some(range));
                    match &range.recorded {
                        Some(recorded) => changed_since(block, recorded),
                        None => block,
                    }
                }
                Some(at) => BlockRecord {
                    row: u32::try_from(at).ok(),
                    was: difference.was(at).and_then(|was| u32::try_from(was).ok()),
                    ..range.clone()
                },
                None if is_its_own => BlockRecord::void(),
                None => range.clone(),
            }),
        }
    }
    Derived { ranges, ..Derived::default() }
}

/// Whether a text holds what evidence says that its commit brought. What was removed is not looked for.
pub(crate) fn stands_in(said: &BlockRecord, after: &Document) -> bool {
    if said.block.is_none() {
        return said.deleted || fingerprint::content_hash(&after.text()) == said.content_hash;
    }
    let blocks = after.blocks();
    let reads = |at: usize| blocks.blocks[at].fingerprint.content == said.content_hash;
    said.deleted || find_recorded(&blocks, said).is_some_and(reads)
}

/// A block as it was recorded, given as it was committed: nothing is known of it but its text's hash, and the lines of it
/// that are in the commit.
fn changed_since(committed: BlockRecord, recorded: &ContentHash) -> BlockRecord {
    let is_lead = committed.content_hash == *recorded;
    BlockRecord {
        content_hash: recorded.clone(),
        token_hash: None,
        shape_hash: None,
        own_hash: None,
        own_text_hash: None,
        // No lead has the hash of a block.
        lead_hash: if is_lead { Some(recorded.clone()) } else { committed.lead_hash },
        sketch: None,
        pairs: None,
        ..committed
    }
}

/// The block that a record speaks of: of its name and text, of its name, or of its text; of several the nearest.
pub(crate) fn find_recorded(blocks: &FileBlocks, range: &BlockRecord) -> Option<usize> {
    let name = range.block.as_ref()?;
    let rank = |block: &Block| {
        let identity = &block.identity;
        let is_named = identity.kind.as_str() == name.kind
            && identity.path == name.path
            && (name.parameters.is_none() || identity.parameters == name.parameters);
        let reads = block.fingerprint.content == range.content_hash;
        match (is_named, reads) {
            (true, true) => Some(0),
            (false, true) if identity.kind.as_str() == name.kind => Some(1),
            (true, false) => Some(2),
            _ => None,
        }
    };
    let candidates = blocks.blocks.iter().enumerate();
    let candidates = candidates.filter_map(|(at, block)| {
        let ordinal = block.identity.ordinal.abs_diff(name.ordinal);
        let lines = block.lines.start().abs_diff(range.start_line);
        Some(((rank(block)?, ordinal, lines), at))
    });
    candidates.min().map(|(_, at)| at)
}
