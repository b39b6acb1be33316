//! Fingerprints of a block, from the strictest to the most tolerant: content, tokens, shape,
//! sketch.
//!
//! Ledgers keep the content hash and outlive this program. So the hashes have a prefix with the
//! version of their normalisation.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::minhash;

macro_rules! hash_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

/// `sha256:<64 hex>`: SHA-256 of the text of the block's syntax node, from its first byte to its
/// last. CRLF is replaced by LF; nothing else is normalised.
///
/// Evidence keeps only the first 128 bits, as `sha256:<32 hex>`. Two content hashes are therefore
/// equal if their first 128 bits are equal.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct ContentHash(String);

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl ContentHash {
    const KEY: usize = 39;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a text from a ledger without checking it, so that records of other programs are
    /// preserved.
    pub fn from_ledger(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the part that is compared: the prefix and the first 128 bits.
    pub fn key(&self) -> &str {
        let digits = self.0.strip_prefix("sha256:");
        let is_whole = digits.is_some_and(|digits| digits.len() == 64 && digits.is_ascii());
        if is_whole { &self.0[..Self::KEY] } else { &self.0 }
    }
}

impl PartialEq for ContentHash {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ContentHash {}

impl std::hash::Hash for ContentHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

hash_newtype! {
    /// `t1:<32 hex>`: hash of the block's tokens. White space, comments and tokens that formatters
    /// add or remove do not count.
    TokenHash
}
hash_newtype! {
    /// `s1:<32 hex>`: hash of the block's tokens, with local identifiers replaced by numbers and
    /// the block's own name by a placeholder. Consistent renaming does not change it.
    ShapeHash
}

/// A MinHash of a block's token shingles (4 consecutive tokens). From two sketches, the similarity
/// of two blocks can be estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch([u8; minhash::LANES]);

impl Sketch {
    /// Returns the estimated Jaccard similarity of the two sets of shingles, from 0 to 1.
    pub fn similarity(&self, other: &Self) -> f32 {
        minhash::jaccard(minhash::equal_lanes(&self.0, &other.0), minhash::LANES)
    }
}

/// A MinHash of a block's pairs of consecutive tokens. It is more precise than a [`Sketch`] for
/// short blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairLanes([u8; minhash::PAIR_LANES]);

impl PairLanes {
    pub const COUNT: usize = minhash::PAIR_LANES;

    pub fn in_common(&self, other: &Self) -> usize {
        minhash::equal_lanes(&self.0, &other.0)
    }

    /// Returns the estimated Jaccard similarity, from 0 to 1, of two sets of pairs with this many
    /// equal lanes.
    pub fn similarity(in_common: usize) -> f32 {
        minhash::jaccard(in_common, minhash::PAIR_LANES)
    }
}

/// Returns the estimated share of an earlier block's shingles that are still in another block, from
/// 0 to 1.
///
/// It is computed from the Jaccard similarity `j` and the two sizes `a` and `b`: the sets have `j /
/// (1 + j) * (a + b)` shingles in common.
pub fn share_kept(before: &Fingerprint, now: &Fingerprint) -> f32 {
    let similarity = before.sketch().similarity(now.sketch());
    let all = minhash::shingle_count(before.token_count);
    let after = minhash::shingle_count(now.token_count);
    if all == 0 {
        return if after == 0 { 1.0 } else { 0.0 };
    }
    let shared = similarity / (1.0 + similarity) * (all as f32 + after as f32);
    (shared / all as f32).clamp(0.0, 1.0)
}

/// The sketches of a block. Most blocks are never compared, so they are computed on first use.
#[derive(Clone, Debug)]
pub(super) struct Sketches {
    /// The code of each token; see [`minhash::token_code`].
    codes: Arc<[u64]>,
    of_shingles: OnceLock<Sketch>,
    of_pairs: OnceLock<PairLanes>,
}

impl Sketches {
    pub(super) fn from_codes(codes: Arc<[u64]>) -> Self {
        Self { codes, of_shingles: OnceLock::new(), of_pairs: OnceLock::new() }
    }
}

impl PartialEq for Sketches {
    fn eq(&self, other: &Self) -> bool {
        self.codes == other.codes
    }
}

impl Eq for Sketches {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    pub content: ContentHash,
    pub tokens: TokenHash,
    /// Equal for blocks with the same tokens after consistent renaming. The block's own name is
    /// replaced by a placeholder.
    pub shape: ShapeHash,
    pub(super) sketches: Sketches,
    /// The tokens of the block without the blocks inside it, their leads, and the separators next
    /// to them. Only set for a block that contains others. A class keeps this hash if a method is
    /// added, removed or moved.
    pub own: Option<TokenHash>,
    /// The text of the block without the blocks inside it, their leads, and the separators next to
    /// them. Indentation and blank lines do not count. Only set for a block that contains others.
    pub own_text: Option<ContentHash>,
    /// The text of the block's lead, without indentation and blank lines. `None` if there is no
    /// lead.
    pub lead: Option<ContentHash>,
    pub token_count: u32,
}

impl Fingerprint {
    pub fn sketch(&self) -> &Sketch {
        let sketch = || Sketch(minhash::sketch(&self.sketches.codes, minhash::SHINGLE));
        self.sketches.of_shingles.get_or_init(sketch)
    }

    pub fn pairs(&self) -> &PairLanes {
        let pairs = || PairLanes(minhash::sketch(&self.sketches.codes, 2));
        self.sketches.of_pairs.get_or_init(pairs)
    }

    /// Returns [`Fingerprint::own`], or all tokens if the block contains no others. So a class can
    /// be compared with the same class before it had a method.
    pub fn own_tokens(&self) -> &TokenHash {
        self.own.as_ref().unwrap_or(&self.tokens)
    }
}

/// Returns the content hash of any text: `sha256:` and the 64 hex digits of SHA-256 over its UTF-8
/// bytes, after each CRLF was replaced by LF.
pub fn content_hash(text: &str) -> ContentHash {
    let mut sha = Sha256::new();
    let mut pieces = text.split("\r\n");
    sha.update(pieces.next().unwrap_or_default());
    for piece in pieces {
        sha.update("\n");
        sha.update(piece);
    }
    ContentHash(format!("sha256:{}", hex(&sha.finalize())))
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    Token(&'a str),
    /// The end of a syntax node with this number of items, which is at least 1.
    Close(u32),
    /// A local identifier, numbered by its first use.
    Local(u32),
    OwnName,
}

/// Returns the hash for [`TokenHash`] and [`ShapeHash`]: the first 16 bytes of SHA-256, as hex.
///
/// The tree of tokens is written in postfix order: each token, and after the last item of each
/// non-empty syntax node, a mark for its end with the number of its direct items. Items are tokens
/// and non-empty nodes. So `a(b)` differs from `a` and `(b)` on two lines, although the tokens are
/// the same. A node that a formatter may add or remove counts as the one item that it contains. In
/// bytes, with all numbers as 32 bits, little endian:
///
/// | piece | bytes |
/// | --- | --- |
/// | token | length of its text, the text in UTF-8 |
/// | end of a node | `0xFFFFFFFF`, number of items |
/// | local identifier (shape only) | `0xFFFFFFFE`, its number, from 0 |
/// | the block's own name (shape only) | `0xFFFFFFFD` |
///
/// For `own`, blocks directly inside are not items of the nodes around them, and neither is a `,`
/// or `;` next to one. A node whose items are all left out is left out as well.
pub(super) fn events_hash<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> String {
    let mut bytes = Vec::with_capacity(1024);
    for piece in pieces {
        match piece {
            Piece::Token(text) => push_text(&mut bytes, text),
            Piece::Close(items) => push_numbers(&mut bytes, [u32::MAX, items]),
            Piece::Local(number) => push_numbers(&mut bytes, [u32::MAX - 1, number]),
            Piece::OwnName => push_numbers(&mut bytes, [u32::MAX - 2]),
        }
    }
    hex(&Sha256::digest(&bytes)[..16])
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    // Files have at most 2 MiB, so the length of a token is always below these marks.
    push_numbers(bytes, [text.len() as u32]);
    bytes.extend_from_slice(text.as_bytes());
}

fn push_numbers<const N: usize>(bytes: &mut Vec<u8>, numbers: [u32; N]) {
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS[usize::from(nibble)] as char;
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}

pub(super) fn token_hash<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> TokenHash {
    TokenHash(format!("t1:{}", events_hash(pieces)))
}

pub(super) fn shape_hash<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> ShapeHash {
    ShapeHash(format!("s1:{}", events_hash(pieces)))
}
