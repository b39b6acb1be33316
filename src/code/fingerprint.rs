//! Fingerprints of a block, strictest first: content, tokens, shape, sketch.
//!
//! Every one of them is stored in ledgers that outlive this program, so each
//! carries the version of its normalisation as a prefix.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::minhash;
pub(crate) use super::minhash::BANDS;

macro_rules! hash_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);
        impl $name {
            /// The text as it stands in the ledger, prefix included.
            pub fn as_str(&self) -> &str {
                &self.0
            }
            /// Takes a text from a ledger as it stands; nothing is checked, so that foreign records survive.
            pub fn from_ledger(text: impl Into<String>) -> Self {
                Self(text.into())
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// `sha256:<64 hex>`: SHA-256 of the text of the block's syntax node, first byte to last, with CRLF folded to LF and nothing else normalised.
///
/// Evidence keeps the first 128 bits of it, `sha256:<32 hex>` here. So two content hashes are equal where these are.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// Length of `sha256:` and 32 digits.
    const KEY: usize = 39;

    /// The text as it stands in the ledger, prefix included.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes a text from a ledger as it stands; nothing is checked, so that foreign records survive.
    pub fn from_ledger(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// What it is compared by.
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

impl PartialOrd for ContentHash {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ContentHash {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(other.key())
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

hash_newtype! {
    /// `t1:<32 hex>`: the block's tokens; white space, comments and what formatters add or take aside.
    TokenHash
}
hash_newtype! {
    /// `s1:<32 hex>`: the block's tokens with identifiers renamed consistently.
    ShapeHash
}

/// A MinHash of token shingles: `m1:<base64url>`. Two sketches tell how alike two blocks are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Sketch(String);

impl Sketch {
    const PREFIX: &str = "m1:";

    fn lanes(&self) -> Option<[u8; minhash::LANES]> {
        minhash::decode(Self::PREFIX, &self.0)
    }
    /// The text as it stands in the ledger.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// Takes a text from a ledger as it stands.
    pub fn from_ledger(text: impl Into<String>) -> Self {
        Self(text.into())
    }
    /// Estimated Jaccard similarity of the two shingle sets, 0 to 1; `None` when one of them is not an `m1` sketch.
    pub fn similarity(&self, other: &Sketch) -> Option<f32> {
        let equal = minhash::equal_lanes(&self.lanes()?, &other.lanes()?);
        Some(minhash::jaccard(equal, minhash::LANES))
    }
    /// Keys for an index: two sketches of blocks that share half of their shingles or more have at least one in common,
    /// in 97 of 100 cases. `None` when this is not an `m1` sketch, or one of a block without tokens.
    pub fn bands(&self) -> Option<[u32; BANDS]> {
        minhash::bands(&self.lanes()?)
    }
}

/// A MinHash of pairs of tokens: `p1:<base64url>`; finer than a [`Sketch`] where blocks are short.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Pairs(String);

impl Pairs {
    const PREFIX: &str = "p1:";

    /// What is compared; `None` when this is not a `p1` sketch.
    pub fn lanes(&self) -> Option<PairLanes> {
        minhash::decode(Self::PREFIX, &self.0).map(PairLanes)
    }
}

/// A [`Pairs`] made ready to be compared with many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairLanes([u8; minhash::PAIR_LANES]);

impl PairLanes {
    /// How many lanes there are.
    pub const COUNT: usize = minhash::PAIR_LANES;

    /// How many lanes are the same.
    pub fn in_common(&self, other: &Self) -> usize {
        minhash::equal_lanes(&self.0, &other.0)
    }

    /// Estimated Jaccard similarity, 0 to 1, of two sets of pairs that have so many lanes in common.
    pub fn similarity(in_common: usize) -> f32 {
        minhash::jaccard(in_common, minhash::PAIR_LANES)
    }

    /// In how many lanes this is as the one and not as the other, and the reverse: what two texts do not share, and this
    /// one shares with either.
    pub fn between(&self, one: &Self, other: &Self) -> [usize; 2] {
        let as_first = |one: &Self, other: &Self| {
            let lanes = self.0.iter().zip(one.0.iter().zip(&other.0));
            lanes.filter(|(now, (one, other))| now == one && one != other).count()
        };
        [as_first(one, other), as_first(other, one)]
    }
}

/// The estimated share of the recorded block's shingles that are still there, 0 to 1.
///
/// From the Jaccard similarity `j` and the two sizes: both sets together hold
/// `j / (1 + j) * (a + b)` shared shingles. `None` when one of them is not an `m1` sketch.
pub fn kept(recorded: &Sketch, recorded_tokens: u32, now: &Sketch, now_tokens: u32) -> Option<f32> {
    let similarity = recorded.similarity(now)?;
    let before = minhash::shingle_count(recorded_tokens);
    let after = minhash::shingle_count(now_tokens);
    if before == 0 {
        return Some(if after == 0 { 1.0 } else { 0.0 });
    }
    let shared = similarity / (1.0 + similarity) * (before as f32 + after as f32);
    Some((shared / before as f32).clamp(0.0, 1.0))
}

/// All fingerprints of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Same text.
    pub content: ContentHash,
    /// Same tokens.
    pub tokens: TokenHash,
    /// Same tokens after consistent renaming; the block's own name is a placeholder.
    pub shape: ShapeHash,
    /// Similar tokens.
    pub sketch: Sketch,
    /// The same, finer.
    pub pairs: Pairs,
    /// Tokens of the block without the blocks inside it, their leads, and the separators next to them; only for a block
    /// that contains others. So a class that gains, loses or reorders a method keeps it.
    pub own: Option<TokenHash>,
    /// The text of the block without the blocks inside it and their leads, indentation, blank lines and the separators
    /// next to those aside; only for a block that contains others.
    pub own_text: Option<ContentHash>,
    /// The text of the block's lead, indentation and blank lines aside; `None` without a lead.
    pub lead: Option<ContentHash>,
    /// How many tokens the block has.
    pub token_count: u32,
}

impl Fingerprint {
    /// What [`Fingerprint::own`] is of a block that contains no others: so a class compares to the same class before its
    /// first method.
    pub fn own_tokens(&self) -> &TokenHash {
        self.own.as_ref().unwrap_or(&self.tokens)
    }
}

/// The content hash of any text: `sha256:` and the 64 hex digits of SHA-256 over
/// the UTF-8 bytes, each CRLF folded to LF first.
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

/// What the hashes are made of: see [`events_hash`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    /// A token's normalised text.
    Token(&'a str),
    /// A syntax node of this many items (one at least) ends here.
    Close(u32),
    /// A local identifier, numbered by first use.
    Local(u32),
    /// The block's own name.
    OwnName,
}

/// The hash under [`TokenHash`] and [`ShapeHash`]: the first 16 bytes of SHA-256, as hex.
///
/// The tree of tokens is written in postfix: each token, and after the last item
/// of a syntax node that holds any, that the node ends and how many items (tokens,
/// and nodes that hold any) it has directly. So `a(b)` and, on two lines, `a` and
/// `(b)`, differ though their tokens are the same. Nodes that a formatter may add
/// or take count as the one item they hold. In bytes, all numbers being 32 bits,
/// little endian:
///
/// | piece | bytes |
/// | --- | --- |
/// | token | length of its text, the text in UTF-8 |
/// | end of a node | `0xFFFFFFFF`, number of items |
/// | local identifier (shape only) | `0xFFFFFFFE`, its number, from 0 |
/// | the block's own name (shape only) | `0xFFFFFFFD` |
///
/// In `own` a block directly inside is no item of the nodes around it, nor are a `,` or `;` next to it, and a node all
/// of whose items are left out is left out itself.
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
    // Files end at 2 MiB, so a token's length is always below the marks.
    push_numbers(bytes, [text.len() as u32]);
    bytes.extend_from_slice(text.as_bytes());
}

fn push_numbers<const N: usize>(bytes: &mut Vec<u8>, numbers: [u32; N]) {
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS[usize::from(nibble)] as char;
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(super) fn token_hash<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> TokenHash {
    TokenHash(format!("t1:{}", events_hash(pieces)))
}

pub(super) fn shape_hash<'a>(pieces: impl Iterator<Item = Piece<'a>>) -> ShapeHash {
    ShapeHash(format!("s1:{}", events_hash(pieces)))
}

pub(super) fn pairs(codes: &[u64]) -> Pairs {
    Pairs(minhash::encode(Pairs::PREFIX, &minhash::pair_lanes(codes)))
}

/// The sketch of tokens, given by [`minhash::token_code`] of each, in order.
pub(super) fn sketch(codes: &[u64]) -> Sketch {
    Sketch(minhash::encode(Sketch::PREFIX, &minhash::lanes(codes)))
}
