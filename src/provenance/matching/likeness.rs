//! Records and blocks that no equality brought together, by likeness.
//!
//! Body, name, container, parameters and neighbours are weighed together. A pair is taken when it is alike enough
//! ([`ENOUGH`]) and clearly more so than any rival on either side ([`super::MARGIN`]); the weights and both limits
//! were set before anything was measured.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::code::fingerprint::{PairLanes, Pairs, Sketch};
use crate::code::{Block, TokenHash};
use crate::ledger::{BlockName, BlockRecord, Claim};
use crate::provenance::Scores;
use crate::provenance::names::leaf;
use crate::workspace::RelativePath;

/// At least this much, of 1, must speak for a pair.
pub(super) const ENOUGH: f32 = 0.6;
/// At least this share of the bodies must be common, whatever else speaks for a pair.
pub(super) const ENOUGH_BODY: f32 = 0.4;
/// At least this share, where the names have nothing in common.
pub(super) const ENOUGH_NAMELESS_BODY: f32 = 0.7;
/// At least this share, where the block was another one before.
pub(super) const ENOUGH_TO_TAKE_OVER: f32 = 0.8;
/// Where the names have nothing in common, smaller blocks prove nothing.
pub(super) const MIN_NAMELESS_TOKENS: u32 = 30;
/// Shorter bodies are alike by chance.
pub(super) const MIN_TOKENS: u32 = 8;

/// What the tiers know of a pair, beyond its texts.
pub(super) struct Circumstances {
    /// Whether the containers are the same, from 0 to 1.
    pub(super) scope: f32,
    /// Whether the neighbours are the same, from 0 to 1; `None` where that says nothing: in another file.
    pub(super) position: Option<f32>,
    /// What called the one calls the other now.
    pub(super) is_called_instead: bool,
}

/// Weighs a record against a block whose bodies are so alike.
pub(super) fn weigh(
    body: f32,
    name: &BlockName,
    block: &Block,
    circumstances: &Circumstances,
) -> Scores {
    let names = match circumstances.is_called_instead {
        true => 1.0,
        false => words_in_common(leaf(name), &block.name),
    };
    let (then, now) = (name.parameters.as_deref(), block.identity.parameters.as_deref());
    let signature = match leaf(name) == block.name {
        true => signature_of_namesake(then, now),
        false => signature(then, now),
    };
    let Circumstances { scope, position, .. } = *circumstances;
    let alike = 0.45 * body + 0.2 * names + 0.1 * scope + 0.1 * signature;
    let total = match position {
        Some(position) => alike + 0.15 * position,
        None => alike / 0.85,
    };
    let position = position.unwrap_or_default();
    Scores { body, name: names, scope, signature, position, total }
}

/// How alike a record and a block of any file are, to compare blocks of several files: a file of the same name counts
/// as the same place.
pub(super) fn anywhere(
    claim: &Claim<'_>,
    name: &BlockName,
    path: &RelativePath,
    block: &Block,
) -> f32 {
    let same_path = name.path == block.identity.path;
    let same_file = claim.file.relative_path.file_name() == path.file_name();
    let place = |same: bool| if same { 1.0 } else { 0.0 };
    let there = Circumstances {
        scope: place(same_path),
        position: Some(place(same_file)),
        is_called_instead: false,
    };
    let body = Body::of_record(claim.range).likeness(&Body::of_block(block));
    weigh(body, name, block, &there).total
}

/// A body made ready to be compared with many.
pub(super) struct Body<'a> {
    own: Option<&'a TokenHash>,
    pairs: Option<PairLanes>,
    sketch: Option<&'a Sketch>,
}

impl<'a> Body<'a> {
    pub(super) fn of_record(range: &'a BlockRecord) -> Self {
        let pairs = range.pairs.as_ref().and_then(Pairs::lanes);
        Self { own: range.own_hash.as_ref(), pairs, sketch: range.sketch.as_ref() }
    }

    pub(super) fn of_block(block: &'a Block) -> Self {
        let print = &block.fingerprint;
        Self { own: print.own.as_ref(), pairs: print.pairs.lanes(), sketch: Some(&print.sketch) }
    }

    /// How alike two bodies are, about as a token by token comparison would say: 0 to 1, and 0 where nobody can say.
    ///
    /// The share of pairs of tokens in common (Dice), estimated from sketches; of records that have none, that of
    /// shingles of four tokens. One token changed takes up to two pairs or four shingles, which the exponents bring
    /// back.
    pub(super) fn likeness(&self, other: &Self) -> f32 {
        if self.own.is_some() && self.own == other.own {
            return 1.0;
        }
        if let (Some(then), Some(now)) = (&self.pairs, &other.pairs) {
            return LIKENESS_OF_PAIRS[then.in_common(now)];
        }
        let similarity = self.sketch.zip(other.sketch).and_then(|(then, now)| then.similarity(now));
        dice(similarity.unwrap_or_default()).sqrt()
    }
}

fn dice(similarity: f32) -> f32 {
    2.0 * similarity / (1.0 + similarity)
}

/// By the number of lanes that two sketches of pairs have in common: so many bodies are compared that it counts.
static LIKENESS_OF_PAIRS: LazyLock<[f32; PairLanes::COUNT + 1]> = LazyLock::new(|| {
    std::array::from_fn(|in_common| dice(PairLanes::similarity(in_common)).powf(0.65))
});

/// Whether two bodies are of sizes that can be alike enough.
pub(super) fn of_like_size(then: u32, now: u32) -> bool {
    then.max(now) <= then.min(now).saturating_mul(5)
}

/// The share of words that two names have in common: `isValidToken` and `is_token_valid` have all.
pub(super) fn words_in_common(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    let (a, b) = (words(a), words(b));
    let common = a.intersection(&b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f32 / all as f32 }
}

fn words(name: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        let boundary = !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower);
        if boundary && !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.insert(word);
    }
    words
}

/// Whether the parameter types are the same; where one of them is not known, neither yes nor no.
fn signature(then: Option<&str>, now: Option<&str>) -> f32 {
    compared(then, now, share)
}

/// The same of two definitions of one name: who adds a parameter, or takes one away, keeps the others.
fn signature_of_namesake(then: Option<&str>, now: Option<&str>) -> f32 {
    compared(then, now, |then, now| {
        let share = share(then, now);
        let kept = if then.is_subset(now) || now.is_subset(then) { 1.0 } else { share };
        (share + kept) / 2.0
    })
}

type Types<'a> = HashSet<&'a str>;

fn compared(
    then: Option<&str>,
    now: Option<&str>,
    alike: impl Fn(&Types<'_>, &Types<'_>) -> f32,
) -> f32 {
    match (then, now) {
        (Some(then), Some(now)) if then != now => alike(&types(then), &types(now)),
        (Some(_), None) | (None, Some(_)) => 0.5,
        _ => 1.0,
    }
}

fn types(parameters: &str) -> Types<'_> {
    let inside = parameters.trim_matches(['(', ')']);
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn share(then: &Types<'_>, now: &Types<'_>) -> f32 {
    let common = then.intersection(now).count();
    common as f32 / (then.len() + now.len() - common).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_their_words() {
        assert_eq!(words_in_common("isValidToken", "is_token_valid"), 1.0);
        assert_eq!(words_in_common("parseHTTPHeader", "parse_header"), 1.0 / 3.0);
        assert_eq!(words_in_common("read", "write"), 0.0);
        assert!(words_in_common("read_all", "read") > 0.4);
    }

    #[test]
    fn parameters_count_where_both_are_known() {
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32, &str)")), 1.0);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32)")), 0.5);
        assert_eq!(signature(Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature(None, None), 1.0);
    }

    #[test]
    fn a_parameter_more_or_less_leaves_a_namesake_the_others() {
        let signature = signature_of_namesake;
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32)")), 0.75);
        assert_eq!(signature(Some("()"), Some("(u32)")), 0.5);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32, u64)")), 1.0 / 3.0);
        assert_eq!(signature(Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature(Some("(u32)"), None), 0.5);
    }
}
