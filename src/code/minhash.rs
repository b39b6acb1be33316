//! The sketch of a block: one-permutation MinHash of its token shingles.
//!
//! Exactly, so that another program can recompute an `m1` sketch (all numbers
//! are unsigned 64 bits, sums and products wrap):
//!
//! 1. A token's code is FNV-1a (64 bits) of its normalised text in UTF-8.
//! 2. A shingle is 4 consecutive tokens; a block of 1 to 3 tokens has one
//!    shingle of all its tokens. Its hash starts at 0 and, for each token, becomes
//!    `mix(hash ^ code)`, where `mix` is the finaliser of SplitMix64.
//! 3. The lowest 7 bits of a shingle's hash name its lane (0 to 127); each lane
//!    keeps the smallest hash shifted right by 7.
//! 4. A lane that got no shingle borrows: for attempt 1, 2, … it looks at lane
//!    `mix(lane << 32 | attempt) & 127` until it meets one that got a shingle.
//! 5. A lane's byte is the lowest 8 bits of `mix` of what it holds.
//! 6. No tokens at all: 128 zero bytes.
//! 7. The text is `m1:` and base64url of the 128 bytes, without padding.
//!
//! A `p1` sketch is the same with shingles of 2 tokens and 64 lanes (6 bits name
//! the lane, the hash is shifted by 6). It tells more of short blocks, in which one
//! token changed takes four of few shingles.

use std::array;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

/// How many lanes, of 8 bits each, a sketch has.
pub(super) const LANES: usize = 128;
/// The same of a sketch of pairs.
pub(super) const PAIR_LANES: usize = 64;
const SHINGLE: usize = 4;

/// How many bands a sketch is looked up by: with `ROWS` lanes each, two blocks that share half of all their shingles
/// have one of them in common with a probability of `1 - (1 - 0.5^3)^28`, which is 97.6 %.
pub(crate) const BANDS: usize = 28;
const ROWS: usize = 3;

/// FNV-1a of a token's text.
pub(super) fn token_code(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// How many shingles, repetitions included, a block of so many tokens has.
pub(super) fn shingle_count(tokens: u32) -> u32 {
    if tokens == 0 { 0 } else { tokens.saturating_sub(SHINGLE as u32 - 1).max(1) }
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The lanes of a block's tokens.
pub(super) fn lanes(codes: &[u64]) -> [u8; LANES] {
    sketch(codes, SHINGLE)
}

/// The lanes of a block's pairs of tokens.
pub(super) fn pair_lanes(codes: &[u64]) -> [u8; PAIR_LANES] {
    sketch(codes, 2)
}

fn sketch<const N: usize>(codes: &[u64], shingle: usize) -> [u8; N] {
    if codes.is_empty() {
        return [0; N];
    }
    let mut smallest = [u64::MAX; N];
    for shingle in codes.windows(shingle.min(codes.len())) {
        let hash = shingle.iter().fold(0, |hash, code| mix(hash ^ code));
        let lane = &mut smallest[(hash & (N as u64 - 1)) as usize];
        *lane = (*lane).min(hash >> N.trailing_zeros());
    }
    array::from_fn(|lane| mix(smallest[lender(&smallest, lane)]) as u8)
}

/// The lane itself when it got a shingle, else the lane that it borrows from.
fn lender<const N: usize>(smallest: &[u64; N], lane: usize) -> usize {
    if smallest[lane] != u64::MAX {
        return lane;
    }
    (1u64..)
        .map(|attempt| (mix((lane as u64) << 32 | attempt) & (N as u64 - 1)) as usize)
        .find(|&other| smallest[other] != u64::MAX)
        .unwrap_or(lane)
}

/// In how many lanes two sketches agree.
pub(super) fn equal_lanes<const N: usize>(a: &[u8; N], b: &[u8; N]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}

/// Jaccard similarity from agreeing lanes. Two unlike lanes agree by chance once
/// in 256, so the expected share is `j + (1 - j) / 256`; this solves for `j`.
pub(super) fn jaccard(equal: usize, lanes: usize) -> f32 {
    let chance = 1.0 / 256.0;
    ((equal as f32 / lanes as f32 - chance) / (1.0 - chance)).clamp(0.0, 1.0)
}

/// The keys under which alike sketches meet: which band, and its lanes. None for a block without tokens, which is like nothing.
pub(super) fn bands(lanes: &[u8; LANES]) -> Option<[u32; BANDS]> {
    let key = |band: usize| {
        let lanes = lanes[band * ROWS..(band + 1) * ROWS].iter();
        lanes.fold(band as u32, |key, lane| key << 8 | u32::from(*lane))
    };
    (*lanes != [0; LANES]).then(|| array::from_fn(key))
}

/// The text in the ledger: what it is, and base64url of the lanes.
pub(super) fn encode(prefix: &str, lanes: &[u8]) -> String {
    format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(lanes))
}

/// The lanes of a text from the ledger; `None` when it is not such a sketch.
pub(super) fn decode<const N: usize>(prefix: &str, text: &str) -> Option<[u8; N]> {
    BASE64_URL_SAFE_NO_PAD.decode(text.strip_prefix(prefix)?).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens of two blocks whose shingles are the same but for so many of each.
    fn pair(seed: u64, shared: usize, different: usize) -> (Vec<u64>, Vec<u64>) {
        let codes = |of: u64, n: usize| (0..n as u64).map(move |at| mix(mix(seed ^ of << 40) ^ at));
        let common: Vec<u64> = codes(0, shared + SHINGLE - 1).collect();
        let with = |of| common.iter().copied().chain(codes(of, different)).collect();
        (with(1), with(2))
    }

    fn meet(seed: u64, shared: usize, different: usize) -> bool {
        let (a, b) = pair(seed, shared, different);
        let keys = |codes: &[u64]| bands(&lanes(codes)).expect("there are tokens");
        keys(&a).iter().zip(keys(&b)).any(|(a, b)| *a == b)
    }

    #[test]
    fn blocks_that_share_half_of_their_shingles_meet_in_a_band() {
        const TRIES: usize = 2_000;
        for shared in [20, 60, 150, 400] {
            let met = (0..TRIES as u64).filter(|seed| meet(*seed, shared, shared / 2)).count();
            assert!(met * 100 >= TRIES * 95, "{shared} shared shingles: {met} of {TRIES}");
            let by_chance = (0..TRIES as u64).filter(|seed| meet(*seed, 0, shared)).count();
            assert!(by_chance * 1000 <= TRIES, "{shared} shingles: {by_chance} of {TRIES}");
        }
    }

    #[test]
    fn a_block_without_tokens_is_like_nothing() {
        assert_eq!(bands(&lanes(&[])), None);
        assert!(bands(&lanes(&[1])).is_some());
    }
}
