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

use std::array;

/// How many lanes, of 8 bits each, a sketch has.
pub(super) const LANES: usize = 128;
const SHINGLE: usize = 4;
const LANE_BITS: u32 = 7;
const PREFIX: &str = "m1:";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

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
    if codes.is_empty() {
        return [0; LANES];
    }
    let mut smallest = [u64::MAX; LANES];
    for shingle in codes.windows(SHINGLE.min(codes.len())) {
        let hash = shingle.iter().fold(0, |hash, code| mix(hash ^ code));
        let lane = &mut smallest[(hash & (LANES as u64 - 1)) as usize];
        *lane = (*lane).min(hash >> LANE_BITS);
    }
    array::from_fn(|lane| mix(smallest[lender(&smallest, lane)]) as u8)
}

/// The lane itself when it got a shingle, else the lane that it borrows from.
fn lender(smallest: &[u64; LANES], lane: usize) -> usize {
    if smallest[lane] != u64::MAX {
        return lane;
    }
    (1u64..)
        .map(|attempt| (mix((lane as u64) << 32 | attempt) & (LANES as u64 - 1)) as usize)
        .find(|&other| smallest[other] != u64::MAX)
        .unwrap_or(lane)
}

/// In how many lanes two sketches agree.
pub(super) fn equal_lanes(a: &[u8; LANES], b: &[u8; LANES]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}

/// Jaccard similarity from agreeing lanes. Two unlike lanes agree by chance once
/// in 256, so the expected share is `j + (1 - j) / 256`; this solves for `j`.
pub(super) fn jaccard(equal: usize) -> f32 {
    let chance = 1.0 / 256.0;
    ((equal as f32 / LANES as f32 - chance) / (1.0 - chance)).clamp(0.0, 1.0)
}

/// The text in the ledger.
pub(super) fn encode(lanes: &[u8; LANES]) -> String {
    let mut text = String::with_capacity(PREFIX.len() + LANES.div_ceil(3) * 4);
    text.push_str(PREFIX);
    for group in lanes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..=group.len() {
            text.push(ALPHABET[(bits >> (18 - 6 * digit) & 63) as usize] as char);
        }
    }
    text
}

/// The lanes of a text from the ledger; `None` when it is not an `m1` sketch.
pub(super) fn decode(text: &str) -> Option<[u8; LANES]> {
    let digits = text.strip_prefix(PREFIX)?.as_bytes();
    if digits.len() != (LANES * 4).div_ceil(3) {
        return None;
    }
    let mut bytes = Vec::with_capacity(LANES + 2);
    for group in digits.chunks(4) {
        let mut bits = 0;
        for at in 0..4 {
            bits = bits << 6 | group.get(at).map_or(Some(0), |&digit| value_of(digit))?;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    bytes.truncate(LANES);
    bytes.try_into().ok()
}

fn value_of(digit: u8) -> Option<u32> {
    match digit {
        b'A'..=b'Z' => Some(u32::from(digit - b'A')),
        b'a'..=b'z' => Some(u32::from(digit - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(digit - b'0') + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}
