//! Computes the sketch of a block: a one-permutation MinHash of its token shingles.
//!
//! 1. A token's code is FNV-1a (64 bits) of its normalised text in UTF-8.
//! 2. A shingle is 4 consecutive tokens; a block of 1 to 3 tokens has one shingle of all its
//!    tokens. Its hash starts at 0 and, for each token, becomes `mix(hash ^ code)`, where `mix` is
//!    the finaliser of SplitMix64.
//! 3. The lowest 7 bits of a shingle's hash are the number of its lane (0 to 127). Each lane keeps
//!    the smallest of its hashes, shifted right by 7.
//! 4. A lane without a shingle borrows the hash of another lane: for attempt 1, 2, … it tries lane
//!    `mix(lane << 32 | attempt) & 127`, until that lane has a shingle.
//! 5. A lane's byte is the lowest 8 bits of `mix` of its hash.
//! 6. A block without tokens has 128 zero bytes.
//!
//! A sketch of pairs is computed in the same way, with shingles of 2 tokens and 64 lanes. It is more
//! precise for short blocks: the other sketch of such a block has few shingles, and one changed token
//! changes up to four of them.

use std::array;

/// The number of lanes in a sketch, of 8 bits each.
pub(super) const LANES: usize = 128;
/// The number of lanes in a sketch of pairs.
pub(super) const PAIR_LANES: usize = 64;
/// The number of tokens in a shingle.
pub(super) const SHINGLE: usize = 4;

/// Returns the FNV-1a hash of a token's text.
pub(super) fn token_code(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns how many shingles a block with this many tokens has, repetitions included.
pub(super) fn shingle_count(tokens: u32) -> u32 {
    if tokens == 0 { 0 } else { tokens.saturating_sub(SHINGLE as u32 - 1).max(1) }
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the sketch of a block with these token codes. `N` is a power of two.
pub(super) fn sketch<const N: usize>(codes: &[u64], shingle: usize) -> [u8; N] {
    if codes.is_empty() {
        return [0; N];
    }
    let mut smallest = [u64::MAX; N];
    for shingle in codes.windows(shingle.min(codes.len())) {
        let hash = shingle.iter().fold(0, |hash, code| mix(hash ^ code));
        let lane = &mut smallest[(hash & (N as u64 - 1)) as usize];
        *lane = (*lane).min(hash >> N.trailing_zeros());
    }
    array::from_fn(|lane| mix(smallest[lane_with_hash(&smallest, lane)]) as u8)
}

/// Returns the lane itself if it has a shingle, otherwise the lane that it borrows from.
fn lane_with_hash<const N: usize>(smallest: &[u64; N], lane: usize) -> usize {
    if smallest[lane] != u64::MAX {
        return lane;
    }
    (1u64..)
        .map(|attempt| (mix((lane as u64) << 32 | attempt) & (N as u64 - 1)) as usize)
        .find(|&other| smallest[other] != u64::MAX)
        .unwrap_or(lane)
}

pub(super) fn equal_lanes<const N: usize>(a: &[u8; N], b: &[u8; N]) -> usize {
    // The number of equal lanes among 128 fits into a byte. Counting in bytes lets the compiler use
    // vector instructions.
    let count = |(a, b): (&[u8], &[u8])| a.iter().zip(b).map(|(a, b)| u8::from(a == b)).sum::<u8>();
    a.chunks(LANES).zip(b.chunks(LANES)).map(count).map(usize::from).sum()
}

/// Estimates the Jaccard similarity from the number of equal lanes. Two different lanes are equal
/// by chance in 1 of 256 cases, so the expected share is `j + (1 - j) / 256`. This function solves
/// for `j`.
pub(super) fn jaccard(equal: usize, lanes: usize) -> f32 {
    let chance = 1.0 / 256.0;
    ((equal as f32 / lanes as f32 - chance) / (1.0 - chance)).clamp(0.0, 1.0)
}
