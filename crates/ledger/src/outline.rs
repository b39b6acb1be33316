//! The outline of a file: short hashes of *all* its blocks, recorded or not, in file order.
//!
//! It shows which blocks were next to a recorded block. Without it, if a recorded block is deleted
//! and a similar block is next to it, the record is given to the wrong block two times in three
//! (measured on real histories).
//!
//! A row is 39 bytes, written as base64url without padding. Each hash is the first bytes of a
//! SHA-256:
//!
//! | bytes | hash of |
//! | --- | --- |
//! | 8 | the identity: kind, path and parameters, separated by NUL; 0x01 in place of parameters that are not known |
//! | 8 | the text that the block answers for: its content hash or, for a block that contains others, the hash of its own text; if the block has a lead, followed by a NUL and the hash of the lead |
//! | 8 | the token hash or, for a block that contains others, the hash of its own tokens; followed by the lead in the same way |
//! | 8 | the shape hash or, for a block that contains others, again the hash of its own tokens |
//! | 4 | the last segment of the name |
//! | 2 | the word of the kind |
//! | 1 | not hashed: how many blocks contain this one |
//!
//! [`OutlineChange`] describes how the outlines before and after a change are written.

use std::collections::HashSet;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::{BlockName, OutlineChange};
use code::{Block, ContentHash, FileBlocks, difference};

/// The first bytes of a SHA-256.
pub type Short = [u8; 8];

const BYTES: usize = 39;

/// The short hashes of the kinds `region` and `paragraph`.
const UNNAMED: [[u8; 2]; 2] = [[0xc6, 0x97], [0xc0, 0x97]];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Row {
    /// The hash of its kind, its path (the names of its containers and its own), and its
    /// parameters.
    pub identity: Short,
    /// The hash of its own text and its lead, without the blocks inside it.
    pub text: Short,
    /// The hash of its tokens and its lead, without the blocks inside it.
    pub tokens: Short,
    /// The hash of its shape: its tokens, with local names replaced consistently.
    pub shape: Short,
    /// The hash of the last segment of its name.
    pub name: [u8; 4],
    /// The hash of its kind.
    pub kind: [u8; 2],
    /// How many blocks contain it.
    pub depth: u8,
}

/// The outline of a file: one row for each of its blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Outline {
    pub rows: Vec<Row>,
}

/// How a block differs from an earlier version of its file, in the order of the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Against {
    Same,
    /// The text differs, but the tokens are the same. For a block that contains others, only its
    /// own tokens count.
    Reformatted,
    /// The tokens of the block differ.
    Changed,
    /// The block is new: no block of the earlier version corresponds to it.
    New,
}

impl Row {
    /// Returns the row of a block that is inside `depth` other blocks.
    pub fn from_block(block: &Block, depth: u8) -> Self {
        let print = &block.fingerprint;
        let text = print.own_text.as_ref().unwrap_or(&print.content);
        let lead = print.lead.as_ref();
        let kind = block.identity.kind.as_str();
        Self {
            identity: identity(kind, &block.identity.path, block.identity.parameters.as_deref()),
            text: with_lead(text.key(), lead),
            tokens: with_lead(print.own_tokens().as_str(), lead),
            shape: short(print.own.as_ref().map_or(print.shape.as_str(), |own| own.as_str())),
            name: name(&block.name),
            kind: kind_of(kind),
            depth,
        }
    }

    fn encode(&self) -> String {
        // An array of bytes is written as these bytes, one after the other.
        BASE64_URL_SAFE_NO_PAD.encode(postcard::to_stdvec(self).unwrap_or_default())
    }

    fn decode(text: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        postcard::from_bytes(&bytes).ok().filter(|_| bytes.len() == BYTES)
    }

    /// Returns true if the block has no name of its own, because it is a region or a paragraph.
    pub fn is_unnamed(&self) -> bool {
        UNNAMED.contains(&self.kind)
    }
}

impl Outline {
    pub fn from_blocks(blocks: &FileBlocks) -> Self {
        let mut depths: Vec<u8> = Vec::with_capacity(blocks.blocks.len());
        for block in &blocks.blocks {
            let around = block.container.and_then(|outer| depths.get(outer));
            depths.push(around.map_or(0, |depth| depth.saturating_add(1)));
        }
        let rows =
            blocks.blocks.iter().zip(depths).map(|(block, depth)| Row::from_block(block, depth));
        Self { rows: rows.collect() }
    }

    /// Returns for each row the index of the innermost block that contains it.
    pub fn containers(&self) -> Vec<Option<usize>> {
        let mut open: Vec<usize> = Vec::new();
        let mut containers = Vec::with_capacity(self.rows.len());
        for (at, row) in self.rows.iter().enumerate() {
            open.truncate(usize::from(row.depth));
            containers.push(open.last().copied());
            open.push(at);
        }
        containers
    }

    /// Returns this outline and the one before a change, in the form in which a record stores them.
    pub fn changed_from(&self, before: &Self) -> OutlineChange {
        let mut edits = Vec::new();
        let mut at = 0;
        for change in difference::changes(&before.rows, &self.rows) {
            if change.before.start > at {
                edits.push(format!("={}", change.before.start - at));
            }
            if !change.before.is_empty() {
                edits.push(format!("-{}", change.before.len()));
            }
            edits.extend(self.rows[change.now].iter().map(|row| format!("+{}", row.encode())));
            at = change.before.end;
        }
        OutlineChange { before: before.entries(), edits }
    }

    /// Returns the identities of the blocks that were added, changed or removed between this
    /// outline and `after`.
    pub fn touched(&self, after: &Self) -> HashSet<Short> {
        let mut touched = HashSet::new();
        let text = |row: &Row| (row.identity, row.text);
        let texts = |rows: &[Row]| rows.iter().map(text).collect::<Vec<_>>();
        for change in difference::changes(&texts(&self.rows), &texts(&after.rows)) {
            let rows = self.rows[change.before].iter().chain(&after.rows[change.now]);
            touched.extend(rows.map(|row| row.identity));
        }
        touched
    }

    pub fn entries(&self) -> Vec<String> {
        self.rows.iter().map(Row::encode).collect()
    }

    /// Parses rows that [`Self::entries`] wrote. `None` if one of them cannot be read.
    pub fn from_entries(entries: &[String]) -> Option<Self> {
        let rows: Option<Vec<Row>> = entries.iter().map(|entry| Row::decode(entry)).collect();
        rows.map(|rows| Self { rows })
    }
}

impl OutlineChange {
    /// Returns the outlines before and after the change. `None` if they cannot be read.
    pub fn read(&self) -> Option<(Outline, Outline)> {
        let before = Outline::from_entries(&self.before)?;
        let mut after = Outline::default();
        let mut at: usize = 0;
        for edit in &self.edits {
            if let Some(count) = edit.strip_prefix('=') {
                let end = at.checked_add(count.parse().ok()?)?;
                after.rows.extend_from_slice(before.rows.get(at..end)?);
                at = end;
            } else if let Some(count) = edit.strip_prefix('-') {
                at = at.checked_add(count.parse().ok()?)?;
            } else {
                after.rows.push(Row::decode(edit.strip_prefix('+')?)?);
            }
        }
        after.rows.extend_from_slice(before.rows.get(at..)?);
        Some((before, after))
    }
}

/// Returns the short hash of a recorded block's identity.
pub fn identity_of_name(name: &BlockName) -> Short {
    identity(&name.kind, &name.path, name.parameters.as_deref())
}

fn identity(kind: &str, path: &str, parameters: Option<&str>) -> Short {
    short(&format!("{kind}\0{path}\0{}", parameters.unwrap_or("\u{1}")))
}

/// Returns the short hash of a text hash or token hash, combined with the hash of the lead.
pub fn with_lead(hash: &str, lead: Option<&ContentHash>) -> Short {
    match lead {
        None => short(hash),
        Some(lead) => short(&format!("{hash}\0{}", lead.key())),
    }
}

/// Returns the short hash of the last segment of a name.
pub fn name(leaf: &str) -> [u8; 4] {
    let hash = short(leaf);
    std::array::from_fn(|i| hash[i])
}

/// Returns the short hash of a kind's word.
pub fn kind_of(word: &str) -> [u8; 2] {
    let hash = short(word);
    [hash[0], hash[1]]
}

/// Returns the first 8 bytes of a text's SHA-256.
pub fn short(text: &str) -> Short {
    let digest = Sha256::digest(text.as_bytes());
    std::array::from_fn(|i| digest[i])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use code::BlockKind;

    fn outlines(count: usize) -> impl Strategy<Value = Vec<Outline>> {
        let row = (0u8..6, 0u8..3).prop_map(|(name, text)| Row {
            identity: [name.wrapping_mul(51); 8],
            text: [text; 8],
            tokens: [text; 8],
            shape: [text; 8],
            name: [name; 4],
            kind: [1; 2],
            depth: 0,
        });
        let outline = prop::collection::vec(row, 0..12).prop_map(|rows| Outline { rows });
        prop::collection::vec(outline, count)
    }

    proptest! {
        #[test]
        fn a_difference_restores_both_outlines(all in outlines(2)) {
            let [before, after] = &all[..] else { unreachable!("there are two") };
            let change = after.changed_from(before);
            prop_assert_eq!(change.read(), Some((before.clone(), after.clone())));
            prop_assert_eq!(Outline::from_entries(&after.entries()), Some(after.clone()));
            let damaged = OutlineChange { edits: vec!["=99".into()], ..change };
            prop_assert_eq!(damaged.read(), None);
        }
    }

    #[test]
    fn regions_and_paragraphs_have_no_name() {
        assert_eq!(
            UNNAMED,
            [BlockKind::Region, BlockKind::Paragraph].map(|it| kind_of(it.as_str()))
        );
    }

    #[test]
    fn no_two_kinds_have_one_short_hash() {
        let kinds: HashSet<[u8; 2]> =
            BlockKind::every_kind().map(|kind| kind_of(kind.as_str())).collect();
        assert_eq!(kinds.len(), BlockKind::every_kind().count());
    }
}
