//! The outline of a file: short hashes of *all* its blocks, recorded or not, in file order.
//!
//! The gate stores the outline of what a session has read, to see later which blocks somebody else
//! has changed. It is here because its rows are the hashes of records in short, and are stored, so
//! that both must stay readable when the rules of the gate change.
//!
//! A row is 38 bytes, written as base64url without padding. Each hash is the first bytes of a
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

use std::collections::HashSet;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use code::{Block, ContentHash, FileBlocks, difference};

/// The first bytes of a SHA-256.
pub type Short = [u8; 8];

const BYTES: usize = 38;

/// The short hashes of the kinds `region` and `paragraph`.
const UNNAMED: [[u8; 2]; 2] = [[0xc6, 0x97], [0xc0, 0x97]];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Row {
    /// The hash of its kind, its path (the names of its containers and its own), and its
    /// parameters.
    pub identity: Short,
    pub text: Short,
    pub tokens: Short,
    /// The hash of its shape: its tokens, with local names replaced consistently.
    pub shape: Short,
    pub name: [u8; 4],
    pub kind: [u8; 2],
}

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
    Changed,
    New,
}

impl Row {
    fn from_block(block: &Block) -> Self {
        let print = &block.fingerprint;
        let text = print.own_text.as_ref().unwrap_or(&print.content);
        let lead = print.lead.as_ref();
        let kind = block.identity.kind.as_str();
        Self {
            identity: identity(kind, &block.identity.path, block.identity.parameters.as_deref()),
            text: with_lead(text.key(), lead),
            tokens: with_lead(print.own_tokens().as_str(), lead),
            shape: short(print.own.as_ref().map_or(print.shape.as_str(), |own| own.as_str())),
            name: start_of_hash(&block.name),
            kind: start_of_hash(kind),
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
        Self { rows: blocks.blocks.iter().map(Row::from_block).collect() }
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

fn identity(kind: &str, path: &str, parameters: Option<&str>) -> Short {
    short(&format!("{kind}\0{path}\0{}", parameters.unwrap_or("\u{1}")))
}

fn with_lead(hash: &str, lead: Option<&ContentHash>) -> Short {
    match lead {
        None => short(hash),
        Some(lead) => short(&format!("{hash}\0{}", lead.key())),
    }
}

pub fn short(text: &str) -> Short {
    start_of_hash(text)
}

fn start_of_hash<const N: usize>(text: &str) -> [u8; N] {
    let digest = Sha256::digest(text.as_bytes());
    std::array::from_fn(|at| digest[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use code::BlockKind;

    #[test]
    fn regions_and_paragraphs_have_no_name() {
        assert_eq!(
            UNNAMED,
            [BlockKind::Region, BlockKind::Paragraph].map(|it| start_of_hash(it.as_str()))
        );
    }

    #[test]
    fn no_two_kinds_have_one_short_hash() {
        let kinds: HashSet<[u8; 2]> =
            BlockKind::every_kind().map(|kind| start_of_hash(kind.as_str())).collect();
        assert_eq!(kinds.len(), BlockKind::every_kind().count());
    }
}
