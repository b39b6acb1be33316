//! Measures how alike two blocks are.
//!
//! Body, name, container, parameters and neighbours are measured once for each pair. The rules (see
//! `rules`) read the results. The weights and limits were not fitted to the benchmark.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use code::Fingerprint;
use code::fingerprint::PairLanes;

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Likeness {
    /// Neither block is a region or a paragraph.
    pub is_named: bool,
    pub text: bool,
    pub tokens: bool,
    pub shape: bool,
    pub identity: bool,
    pub leaf: bool,
    /// A block of the earlier kind may have become one of the current kind.
    pub may_become: bool,
    pub size: u32,
    pub body: f32,
    /// The share of the earlier text that is still there, from 0 to 1.
    pub kept: f32,
    pub words: f32,
    /// Whether the parameter types are the same, from 0 to 1.
    pub signature: f32,
    /// Whether the containers are the same, from 0 to 1.
    pub container: f32,
    /// The share of the blocks inside the earlier block that are now inside the current one.
    pub members: f32,
    /// Whether the neighbours are the same, from 0 to 1.
    pub neighbours: f32,
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

impl Likeness {
    pub(super) fn likeness_of_names(&self) -> f32 {
        if self.is_called_instead { 1.0 } else { self.words }
    }

    pub(super) fn total(&self) -> f32 {
        let (scope, position) = match self.lines_left {
            // The block kept its lines in their place. A different container was put around it.
            true => (1.0, 1.0),
            false => (
                if self.is_only_leaf { self.container.max(0.5) } else { self.container },
                if self.is_exchange { 1.0 } else { self.neighbours },
            ),
        };
        let names = self.likeness_of_names();
        0.45 * self.body + 0.2 * names + 0.1 * scope + 0.1 * self.signature + 0.15 * position
    }
}

/// Returns how alike two bodies are, from 0 to 1, close to the result of a comparison token by token.
///
/// This is the share of token pairs in common (Dice), estimated from sketches. One changed token
/// affects up to two pairs; the exponent corrects for that.
pub(super) fn body_likeness(then: &Fingerprint, now: &Fingerprint) -> f32 {
    if then.own.is_some() && then.own == now.own {
        return 1.0;
    }
    LIKENESS_OF_PAIRS[then.pairs().in_common(now.pairs())]
}

/// The likeness by the number of lanes that two sketches of pairs have in common. It is computed in
/// advance because very many bodies are compared.
static LIKENESS_OF_PAIRS: LazyLock<[f32; PairLanes::COUNT + 1]> = LazyLock::new(|| {
    let dice = |similarity: f32| 2.0 * similarity / (1.0 + similarity);
    std::array::from_fn(|in_common| dice(PairLanes::similarity(in_common)).powf(0.65))
});

pub(super) fn are_like_sizes(then: u32, now: u32) -> bool {
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
            if !letter.is_alphanumeric() || letter.is_uppercase() && was_lower {
                words.insert(std::mem::take(&mut word));
            }
            was_lower = letter.is_lowercase() || letter.is_numeric();
            if letter.is_alphanumeric() {
                word.extend(letter.to_lowercase());
            }
        }
        words.insert(word);
        words.remove("");
        Self(words)
    }

    pub(super) fn in_common(&self, other: &Self) -> f32 {
        share_in_common(&self.0, &other.0)
    }
}

/// Returns how far the parameter types are the same, from 0 to 1. If one of them is not known,
/// returns 0.5. A definition that keeps its name and only gains or only loses parameters gets a
/// higher value.
pub(super) fn signature_likeness(is_namesake: bool, then: Option<&str>, now: Option<&str>) -> f32 {
    match (then, now) {
        (Some(then), Some(now)) if then != now => {
            let (then, now) = (parameter_types(then), parameter_types(now));
            let share = share_in_common(&then, &now);
            match is_namesake {
                true if then.is_subset(&now) || now.is_subset(&then) => (share + 1.0) / 2.0,
                _ => share,
            }
        }
        (Some(_), None) | (None, Some(_)) => 0.5,
        _ => 1.0,
    }
}

fn parameter_types(parameters: &str) -> BTreeSet<&str> {
    let inside = parameters.trim_matches(['(', ')']);
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns the share of items in common, from 0 to 1. If there are none at all, returns 0.
fn share_in_common<T: Ord>(then: &BTreeSet<T>, now: &BTreeSet<T>) -> f32 {
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
        assert_eq!(signature_likeness(false, Some("(u32, &str)"), Some("(u32, &str)")), 1.0);
        assert_eq!(signature_likeness(false, Some("(u32, &str)"), Some("(u32)")), 0.5);
        assert_eq!(signature_likeness(false, Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature_likeness(false, None, None), 1.0);
    }

    #[test]
    fn a_namesake_with_another_parameter_shares_the_rest() {
        let signature = |then, now| signature_likeness(true, then, now);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32)")), 0.75);
        assert_eq!(signature(Some("()"), Some("(u32)")), 0.5);
        assert_eq!(signature(Some("(u32, &str)"), Some("(u32, u64)")), 1.0 / 3.0);
        assert_eq!(signature(Some("(u32)"), Some("(String)")), 0.0);
        assert_eq!(signature(Some("(u32)"), None), 0.5);
    }
}
