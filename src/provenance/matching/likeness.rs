//! How alike two blocks are.
//!
//! Body, name, container, parameters and neighbours are measured once for a pair. The rules (see `rules`) read
//! them; the weights of the sum and its limits were set before anything was measured.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;

use crate::code::fingerprint::{self, PairLanes, Pairs, Sketch};
use crate::code::{Block, TokenHash};
use crate::ledger::{BlockName, BlockRecord, Claim};
use crate::provenance::Scores;
use crate::provenance::names::{is_called, leaf};
use crate::workspace::RelativePath;

/// At least this much, of 1, must speak for a pair.
pub(super) const ENOUGH: f32 = 0.6;
/// At least this share of the bodies must be common, whatever else speaks for a pair.
pub(super) const ENOUGH_BODY: f32 = 0.4;
/// At least this share, where the names have nothing in common.
pub(super) const ENOUGH_NAMELESS_BODY: f32 = 0.7;
/// Where the names have nothing in common, smaller blocks prove nothing.
pub(super) const MIN_NAMELESS_TOKENS: u32 = 30;
/// Shorter bodies are alike by chance.
pub(super) const MIN_TOKENS: u32 = 8;

/// How much of a block's body two items share, and of what surrounds them: everything that the rules may ask about a
/// pair. Measured once, never changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Likeness {
    /// Where the earlier block comes from.
    pub reach: Reach,
    /// The earlier block had gone before the last record of its file.
    pub had_gone: bool,
    /// Of a file that goes on another one: enough of its blocks read as they did there, or both are methods of a type
    /// of one name, so that it is that file, not its like.
    pub is_that_file: bool,
    /// Neither is a region or a paragraph.
    pub is_named: bool,
    /// The same text.
    pub text: bool,
    /// The same tokens.
    pub tokens: bool,
    /// The same tokens but for names.
    pub shape: bool,
    /// The same kind, path and parameters.
    pub identity: bool,
    /// The same kind and last segment of the name.
    pub leaf: bool,
    /// One kind may have become the other.
    pub may_become: bool,
    /// How many tokens the block has now.
    pub size: u32,
    /// How alike the bodies are, from 0 to 1; `None` where a body is not known.
    pub body: Option<f32>,
    /// The share of the earlier text that still stands, from 0 to 1; `None` where a body is not known.
    pub kept: Option<f32>,
    /// The share of words in common in the two names.
    pub words: f32,
    /// Whether the parameter types are the same, from 0 to 1.
    pub signature: f32,
    /// Whether the containers are the same, from 0 to 1.
    pub container: f32,
    /// The share of the blocks inside the earlier one that stand inside the other now.
    pub members: f32,
    /// Whether the neighbours are the same, from 0 to 1; 0 in another file.
    pub neighbours: f32,
    /// Both lie between the same unchanged neighbours.
    pub in_gap: bool,
    /// The lines of the earlier block are left where the other stands.
    pub lines_left: bool,
    /// What called the earlier block calls the other now.
    pub is_called_instead: bool,
    /// Another block that is still open carries the earlier one's name, and most of its text.
    pub name_stands: bool,
    /// No other open block on either side has this last segment of a name.
    pub is_only_leaf: bool,
    /// Nothing else went from the file and nothing else came.
    pub is_exchange: bool,
}

/// Where the earlier block of a pair comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The same file.
    File,
    /// A file that is gone, and that this one goes on under another name.
    Renamed,
    /// Another file, where nothing stands for it any more.
    Elsewhere,
}

impl Likeness {
    /// The weighed sum, and its parts.
    pub fn scores(&self) -> Scores {
        let body = self.body.unwrap_or_default();
        let names = if self.is_called_instead { 1.0 } else { self.words };
        let (scope, position) = match self.lines_left {
            // What contains it now was put around it.
            true => (1.0, 1.0),
            false => {
                let scope =
                    if self.is_only_leaf { self.container.max(0.5) } else { self.container };
                let least = if self.reach == Reach::Renamed { 0.5 } else { 0.0 };
                let position = if self.is_exchange { 1.0 } else { self.neighbours.max(least) };
                (scope, position)
            }
        };
        let alike = 0.45 * body + 0.2 * names + 0.1 * scope + 0.1 * self.signature;
        let (position, total) = match self.reach {
            Reach::Elsewhere => (0.0, alike / 0.85),
            Reach::File | Reach::Renamed => (position, alike + 0.15 * position),
        };
        Scores { body, name: names, scope, signature: self.signature, position, total }
    }
}

/// How alike a record and a block of any file are, to compare blocks of several files: a file of the same name counts
/// as the same place.
pub(super) fn anywhere(
    claim: &Claim<'_>,
    name: &BlockName,
    path: &RelativePath,
    block: &Block,
) -> f32 {
    let place = |same: bool| if same { 1.0 } else { 0.0 };
    let body = Body::of_record(claim.range()).likeness(&Body::of_block(block)).unwrap_or_default();
    let (then, now) = (name.parameters.as_deref(), block.identity.parameters.as_deref());
    let is_namesake = is_called(name, block);
    let signature = signature(is_namesake, then, now);
    let words = match is_namesake {
        true => 1.0,
        false => Words::of(leaf(name)).in_common(&Words::of(&block.name)),
    };
    0.45 * body
        + 0.2 * words
        + 0.1 * place(name.path == block.identity.path)
        + 0.1 * signature
        + 0.15 * place(claim.file.relative_path.file_name() == path.file_name())
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

    /// How alike two bodies are, about as a token by token comparison would say: 0 to 1, and `None` where nobody can say.
    ///
    /// The share of pairs of tokens in common (Dice), estimated from sketches; of records that have none, that of
    /// shingles of four tokens. One token changed takes up to two pairs or four shingles, which the exponents bring
    /// back.
    pub(super) fn likeness(&self, other: &Self) -> Option<f32> {
        if self.own.is_some() && self.own == other.own {
            return Some(1.0);
        }
        if let (Some(then), Some(now)) = (&self.pairs, &other.pairs) {
            return Some(LIKENESS_OF_PAIRS[then.in_common(now)]);
        }
        let (then, now) = self.sketch.zip(other.sketch)?;
        then.similarity(now).map(|similarity| dice(similarity).sqrt())
    }

    /// The estimated share of this body, of so many tokens, that stands in the other, of so many.
    pub(super) fn kept(&self, tokens: u32, other: &Self, now: u32) -> Option<f32> {
        fingerprint::kept(self.sketch?, tokens, other.sketch?, now)
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

/// The words of a name: `isValidToken` and `is_token_valid` have the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(BTreeSet<String>);

impl Words {
    pub(super) fn of(name: &str) -> Self {
        let mut words = BTreeSet::new();
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
        Self(words)
    }

    /// The share of words in common, from 0 to 1.
    pub(super) fn in_common(&self, other: &Self) -> f32 {
        let common = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - common;
        if all == 0 { 0.0 } else { common as f32 / all as f32 }
    }
}

/// Whether the parameter types are the same, from 0 to 1; where one of them is not known, neither yes nor no. A
/// definition that keeps its name and gains a parameter, or loses one, keeps the others.
pub(super) fn signature(is_namesake: bool, then: Option<&str>, now: Option<&str>) -> f32 {
    match (then, now) {
        (Some(then), Some(now)) if then != now => {
            let (then, now) = (types(then), types(now));
            let share = share(&then, &now);
            match is_namesake {
                true if then.is_subset(&now) || now.is_subset(&then) => (share + 1.0) / 2.0,
                _ => share,
            }
        }
        (Some(_), None) | (None, Some(_)) => 0.5,
        _ => 1.0,
    }
}

type Types<'a> = HashSet<&'a str>;

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
        let words_in_common = |a: &str, b: &str| Words::of(a).in_common(&Words::of(b));
        assert_eq!(words_in_common("isValidToken", "is_token_valid"), 1.0);
        assert_eq!(words_in_common("parseHTTPHeader", "parse_header"), 1.0 / 3.0);
        assert_eq!(words_in_common("read", "write"), 0.0);
        assert!(words_in_common("read_all", "read") > 0.4);
    }

    #[test]
    fn parameters_count_where_both_are_known() {
        assert_eq!(signature(false, Some("(u32, &str)"), Some("(u32, &str)")), 1.0);
        assert_eq!(signature(false, Some("(u32, &str)"), Some("(u32)")), 0.5);
        assert_eq!(signature(false, Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature(false, None, None), 1.0);
    }

    #[test]
    fn a_parameter_more_or_less_leaves_a_namesake_the_others() {
        let signature = |then, now| signature(true, then, now);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32)")), 0.75);
        assert_eq!(signature(Some("()"), Some("(u32)")), 0.5);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32, u64)")), 1.0 / 3.0);
        assert_eq!(signature(Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature(Some("(u32)"), None), 0.5);
    }
}
