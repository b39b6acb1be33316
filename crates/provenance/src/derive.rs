//! Computes the fingerprints and history of blocks in evidence from the file's texts before and
//! after the commit. Evidence itself only names the blocks.

use super::Difference;
use super::names::{is_named_apart_from_ordinal, textless};
use code::lines::{self, Lines};
use code::{Block, ContentHash, Document, FileBlocks, Places, fingerprint};
use ledger::{BlockRecord, Derived};

/// The history of a recorded block, for [`block_record`].
#[derive(Default)]
pub struct Before {
    /// The content hash of the earlier block. `None` if the block is new.
    pub replaces: Option<ContentHash>,
    /// For each line of the block, whether the change added it. `None` if this is not known, or if
    /// all lines are new.
    pub brought: Option<Vec<bool>>,
    /// The block's row in the outline after the change.
    pub row: Option<usize>,
    /// The block's row in the outline before the change.
    pub was: Option<usize>,
}

/// Returns a complete ledger record of a block, including its line hashes, from the text of its
/// file.
pub fn block_record(document: &Document, block: &Block, before: Before) -> BlockRecord {
    let language = document.language().map(|language| language.id);
    let lines = Lines::of_own(&lines::own_lines(document, block));
    let brought = before.brought.filter(|_| lines.is_some());
    // If the block is new and every line was added, the record leaves `brought` out.
    let is_whole =
        |brought: &Vec<bool>| before.replaces.is_none() && brought.iter().all(|brought| *brought);
    let brought = brought.filter(|brought| !is_whole(brought));
    let row = |row: Option<usize>| row.and_then(|row| u32::try_from(row).ok());
    BlockRecord {
        lines,
        brought: brought.map(|brought| Places::from_selection(&brought)),
        row: row(before.row),
        was: row(before.was),
        replaces: before.replaces,
        ..textless(block, language)
    }
}

/// Computes records for the blocks that evidence names (`said`), from the texts of the file before
/// and after the commit.
///
/// A claim never goes beyond what the commit changed, whatever the evidence says: a block that the
/// commit did not touch becomes an empty claim, and lines that existed before the commit do
/// not count as added. The text of a block may differ from the one in the commit, for example if a
/// squash lost the intermediate version. Such a block keeps the data of the evidence and gets its
/// row in the outline. `is_its_own` is false if the commit that the evidence was sealed for was
/// later rewritten as several commits, so that its own changes are not known.
pub fn derive(
    said: &[BlockRecord],
    before: &Document,
    after: &Document,
    is_its_own: bool,
) -> Derived {
    let difference = Difference::new(before, after);
    let (old, new) = (before.blocks(), after.blocks());
    let is_touched = |at: usize| !is_its_own || difference.touches(at);
    let record_of = |at: usize, said: Option<&BlockRecord>| {
        let replaces = difference.origin(at).map(|was| was.fingerprint.content.clone());
        let own = lines::own_lines(after, &new.blocks[at]).len();
        let said = said.and_then(|said| said.brought.as_ref()?.selected_among(own));
        let mut brought = said.or_else(|| replaces.as_ref().map(|_| vec![true; own]));
        if let (Some(said), true) = (&mut brought, is_its_own) {
            let known = difference.added_lines(at);
            said.iter_mut().zip(known).for_each(|(said, known)| *said &= known);
        }
        let known = Before { brought, row: Some(at), was: difference.origins[at], replaces };
        block_record(after, &new.blocks[at], known)
    };
    let gone = |block: &Block| {
        let range = block_record(before, block, Before::default());
        BlockRecord { replaces: Some(range.content_hash.clone()), deleted: true, ..range }
    };
    let mut ranges = Vec::with_capacity(said.len());
    for range in said {
        match (&range.block, range.deleted) {
            // If the evidence is about a whole file with another text, nothing is known about its
            // blocks.
            (None, false) if !is_claim_true(range, after) => {}
            (None, false) => {
                let touched = (0..new.blocks.len()).filter(|at| is_touched(*at));
                ranges.extend(touched.map(|at| record_of(at, None)));
            }
            (None, true) => ranges.extend(old.blocks.iter().map(gone)),
            (Some(_), true) => {
                let found = find_recorded(&old, range).map(|at| gone(&old.blocks[at]));
                ranges.push(found.unwrap_or_else(|| range.clone()));
            }
            (Some(_), false) => ranges.push(match find_recorded(&new, range) {
                Some(at) if !is_touched(at) => BlockRecord::default(),
                Some(at) if new.blocks[at].fingerprint.content == range.content_hash => {
                    let block = record_of(at, Some(range));
                    match &range.recorded {
                        Some(recorded) => changed_since(block, recorded),
                        None => block,
                    }
                }
                Some(at) => BlockRecord {
                    row: u32::try_from(at).ok(),
                    was: difference.origins[at].and_then(|was| u32::try_from(was).ok()),
                    ..range.clone()
                },
                None if is_its_own => BlockRecord::default(),
                None => range.clone(),
            }),
        }
    }
    Derived { ranges, ..Derived::default() }
}

/// Returns true if the text after a commit contains what the evidence claims. A claim about a
/// deletion is always true.
pub fn is_claim_true(said: &BlockRecord, after: &Document) -> bool {
    if said.block.is_none() {
        return said.deleted || fingerprint::content_hash(&after.text()) == said.content_hash;
    }
    let blocks = after.blocks();
    let reads = |at: usize| blocks.blocks[at].fingerprint.content == said.content_hash;
    said.deleted || find_recorded(&blocks, said).is_some_and(reads)
}

/// Returns the record of a block whose text was changed, without a record, between being recorded
/// and being committed. Only the hash of the recorded text is known, and those recorded lines that
/// are in the commit.
fn changed_since(committed: BlockRecord, recorded: &ContentHash) -> BlockRecord {
    let is_lead = committed.content_hash == *recorded;
    BlockRecord {
        content_hash: recorded.clone(),
        token_hash: None,
        shape_hash: None,
        own_hash: None,
        own_text_hash: None,
        // If the block's own text is as recorded, its lead is what changed. The hash of a block is
        // never the hash of a lead, so this value makes the lead count as different.
        lead_hash: if is_lead { Some(recorded.clone()) } else { committed.lead_hash },
        sketch: None,
        pairs: None,
        ..committed
    }
}

/// Returns the index of the block that a record names. The best match has the same name and text,
/// then the same kind and text, then the same name. Among equals, the nearest one wins.
pub fn find_recorded(blocks: &FileBlocks, range: &BlockRecord) -> Option<usize> {
    let name = range.block.as_ref()?;
    let rank = |block: &Block| {
        let is_named = is_named_apart_from_ordinal(name, &block.identity);
        let reads = block.fingerprint.content == range.content_hash;
        match (is_named, reads) {
            (true, true) => Some(0),
            (false, true) if block.identity.kind.as_str() == name.kind => Some(1),
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
