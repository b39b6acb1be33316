//! Measures how alike two blocks are.
//!
//! Body, name, container, parameters and neighbours are measured once for each pair. The rules (see
//! `rules`) read the results. The weights and limits were not fitted to the benchmark.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Scores;
use crate::names::{is_called, leaf};
use code::fingerprint::{self, PairLanes, Pairs, Sketch};
use code::{Block, TokenHash};
use ground::RelativePath;
use ledger::{BlockName, BlockRecord, Claim};

/// The minimum total score of a pair, from 0 to 1.
pub(super) const ENOUGH: f32 = 0.6;
/// The minimum likeness of the bodies, whatever the other scores are.
pub(super) const ENOUGH_BODY: f32 = 0.4;
/// The minimum likeness of the bodies if the names have no word in common.
pub(super) const ENOUGH_NAMELESS_BODY: f32 = 0.7;
/// The minimum number of tokens if the names have no word in common. Smaller blocks prove nothing.
pub(super) const MIN_NAMELESS_TOKENS: u32 = 30;
/// The minimum number of tokens of a body. Shorter bodies are alike by chance.
pub(super) const MIN_TOKENS: u32 = 8;

/// How alike an earlier block and a current block are, and their surroundings. This is everything
/// that a rule may ask about a pair. It is measured once and never changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Likeness {
    /// Where the earlier block comes from.
    pub reach: Reach,
    /// The earlier block was removed before the last record of its file.
    pub had_gone: bool,
    /// For a renamed file: the file is certainly the earlier one, not merely one like it. Either
    /// enough of its blocks read as before, or both blocks are methods of a type with the same
    /// name.
    pub is_that_file: bool,
    /// Neither block is a region or a paragraph.
    pub is_named: bool,
    /// The text is the same.
    pub text: bool,
    /// The tokens are the same.
    pub tokens: bool,
    /// The tokens are the same except for names.
    pub shape: bool,
    /// Kind, path and parameters are the same.
    pub identity: bool,
    /// The kind and the last segment of the name are the same.
    pub leaf: bool,
    /// A block of the earlier kind may have become one of the current kind.
    pub may_become: bool,
    /// How many tokens the block has now.
    pub size: u32,
    /// How alike the bodies are, from 0 to 1. `None` if a body is not known.
    pub body: Option<f32>,
    /// The share of the earlier text that is still there, from 0 to 1. `None` if a body is not
    /// known.
    pub kept: Option<f32>,
    /// The share of words in common in the two names.
    pub words: f32,
    /// Whether the parameter types are the same, from 0 to 1.
    pub signature: f32,
    /// Whether the containers are the same, from 0 to 1.
    pub container: f32,
    /// The share of the blocks inside the earlier block that are now inside the current one.
    pub members: f32,
    /// Whether the neighbours are the same, from 0 to 1. Always 0 in another file.
    pub neighbours: f32,
    /// Both blocks are between the same unchanged neighbours.
    pub in_gap: bool,
    /// Enough lines of the earlier block are still there, inside the current block, and at least
    /// one of them occurs only once in the file.
    pub lines_left: bool,
    /// Code that called the earlier block now calls the current one instead.
    pub is_called_instead: bool,
    /// Another block without a match has the earlier block's name and most of its text.
    pub name_stands: bool,
    /// No other block without a match, on either side, has this last segment of a name.
    pub is_only_leaf: bool,
    /// Exactly one block was removed from the file and exactly one was added.
    pub is_exchange: bool,
}

/// Where the earlier block of a pair comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// From an earlier version of the same file.
    File,
    /// From a deleted file that is this file under another name.
    Renamed,
    /// From another file, in which no block matches the record any more.
    Elsewhere,
}

impl Likeness {
    /// Returns the weighted sum and its parts.
    pub fn scores(&self) -> Scores {
        let body = self.body.unwrap_or_default();
        let names = if self.is_called_instead { 1.0 } else { self.words };
        let (scope, position) = match self.lines_left {
            // The block kept its lines in their place. A different container was put around it.
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

/// A record, prepared once for comparisons with many blocks of any file. A block in a file with the
/// same name counts as being in the same place.
pub(super) struct RecordedSide<'a> {
    path: &'a RelativePath,
    name: &'a BlockName,
    body: Body<'a>,
    words: NameWords,
}

impl<'a> RecordedSide<'a> {
    /// The weight of the words that two names have in common.
    const WORDS: f32 = 0.2;

    pub(super) fn from_claim(claim: &Claim<'a>, name: &'a BlockName) -> Self {
        let body = Body::of_record(claim.full_block());
        Self {
            path: &claim.file.relative_path,
            name,
            body,
            words: NameWords::from_name(leaf(name)),
        }
    }

    /// Returns how alike the record and a block of the file `path` are, from 0 to 1.
    pub(super) fn likeness(&self, path: &RelativePath, block: &Block) -> f32 {
        self.without_words(path, block) + Self::WORDS * self.words_in_common(block)
    }

    /// Returns true if the likeness is more than `limit`. Splitting a name into words is slow, so it
    /// is left out if even equal names would not be enough.
    pub(super) fn is_more_alike(&self, limit: f32, path: &RelativePath, block: &Block) -> bool {
        let likeness = self.without_words(path, block);
        likeness + Self::WORDS > limit
            && likeness + Self::WORDS * self.words_in_common(block) > limit
    }

    fn without_words(&self, path: &RelativePath, block: &Block) -> f32 {
        let place = |same: bool| if same { 1.0 } else { 0.0 };
        let identity = &block.identity;
        let (then, now) = (self.name.parameters.as_deref(), identity.parameters.as_deref());
        0.45 * self.body.likeness(&Body::of_block(block)).unwrap_or_default()
            + 0.1 * place(self.name.path == identity.path)
            + 0.1 * signature(is_called(self.name, block), then, now)
            + 0.15 * place(self.path.file_name() == path.file_name())
    }

    fn words_in_common(&self, block: &Block) -> f32 {
        match is_called(self.name, block) {
            true => 1.0,
            false => self.words.in_common(&NameWords::from_name(&block.name)),
        }
    }
}

/// The body of a block, prepared for many comparisons.
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

    /// Returns how alike two bodies are, from 0 to 1, close to the result of a comparison token by
    /// token. Returns `None` if a body has no sketch.
    ///
    /// This is the share of token pairs in common (Dice), estimated from sketches. Records without
    /// such a sketch are compared by shingles of four tokens. One changed token affects up to two
    /// pairs or four shingles; the exponents correct for that.
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

    /// Returns the estimated share of this body, which has `tokens` tokens, that is in the other
    /// body, which has `now` tokens.
    pub(super) fn share_kept(&self, tokens: u32, other: &Self, now: u32) -> Option<f32> {
        fingerprint::share_kept(self.sketch?, tokens, other.sketch?, now)
    }
}

fn dice(similarity: f32) -> f32 {
    2.0 * similarity / (1.0 + similarity)
}

/// The likeness by the number of lanes that two sketches of pairs have in common. It is computed in
/// advance because very many bodies are compared.
static LIKENESS_OF_PAIRS: LazyLock<[f32; PairLanes::COUNT + 1]> = LazyLock::new(|| {
    std::array::from_fn(|in_common| dice(PairLanes::similarity(in_common)).powf(0.65))
});

/// Returns true if two bodies are close enough in size to be alike.
pub(super) fn of_like_size(then: u32, now: u32) -> bool {
    then.max(now) <= then.min(now).saturating_mul(5)
}

/// The words of a name: `isValidToken` and `is_token_valid` have the same words.
#[derive(Clone, Debug, Default)]
pub(super) struct NameWords(BTreeSet<String>);

impl NameWords {
    pub(super) fn from_name(name: &str) -> Self {
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

    /// Returns the share of words in common, from 0 to 1.
    pub(super) fn in_common(&self, other: &Self) -> f32 {
        let common = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - common;
        if all == 0 { 0.0 } else { common as f32 / all as f32 }
    }
}

/// Returns how far the parameter types are the same, from 0 to 1. If one of them is not known,
/// returns 0.5. A definition that keeps its name and only gains or only loses parameters gets a
/// higher value.
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

type ParameterTypes<'a> = HashSet<&'a str>;

fn types(parameters: &str) -> ParameterTypes<'_> {
    let inside = parameters.trim_matches(['(', ')']);
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn share(then: &ParameterTypes<'_>, now: &ParameterTypes<'_>) -> f32 {
    let common = then.intersection(now).count();
    common as f32 / (then.len() + now.len() - common).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_their_words() {
        let words_in_common =
            |a: &str, b: &str| NameWords::from_name(a).in_common(&NameWords::from_name(b));
        assert_eq!(words_in_common("isValidToken", "is_token_valid"), 1.0);
        assert_eq!(words_in_common("parseHTTPHeader", "parse_header"), 1.0 / 3.0);
        assert_eq!(words_in_common("read", "write"), 0.0);
        assert!(words_in_common("read_all", "read") > 0.4);
    }

    #[test]
    fn parameters_count_if_both_are_known() {
        assert_eq!(signature(false, Some("(u32, &str)"), Some("(u32, &str)")), 1.0);
        assert_eq!(signature(false, Some("(u32, &str)"), Some("(u32)")), 0.5);
        assert_eq!(signature(false, Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature(false, None, None), 1.0);
    }

    #[test]
    fn a_namesake_with_another_parameter_shares_the_rest() {
        let signature = |then, now| signature(true, then, now);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32)")), 0.75);
        assert_eq!(signature(Some("()"), Some("(u32)")), 0.5);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32, u64)")), 1.0 / 3.0);
        assert_eq!(signature(Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature(Some("(u32)"), None), 0.5);
    }
}
