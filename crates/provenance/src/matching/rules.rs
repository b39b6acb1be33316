//! The rules that decide whether two blocks are the same block, strictest first.
//!
//! A rule is a pure function of a `Likeness`. The assignment (`align`) applies the rules in order,
//! and each rule only sees the pairs of which neither block has a match yet. `intent why --explain`
//! prints which rule decided.

use super::likeness::{self, Likeness, Reach};
use crate::Tier;

/// The minimum number of tokens for which an equal shape is evidence. Small getters and wrappers
/// all look alike.
pub(crate) const MIN_RENAMED_TOKENS: u32 = 15;
/// The minimum number of tokens for a match with a record of another file by body alone.
pub(super) const MIN_ACROSS_TOKENS: u32 = 12;
/// The share of the recorded text that must remain under a name. With less, the name may have
/// passed to another block.
pub(super) const MOSTLY_KEPT: f32 = 0.5;
/// The share of a region or paragraph that must remain for it to count as modified. It has no name
/// that could identify it.
const MIN_KEPT: f32 = 0.3;
/// A container is recognised by its members if it still holds more than this share of them.
const MIN_MEMBERS: f32 = 0.5;
/// Two rivals whose scores differ by less than this fit equally well.
pub(super) const MARGIN: f32 = 0.08;

/// A rule for accepting a pair.
pub struct MatchRule {
    /// The name that `--explain` prints.
    pub word: &'static str,
    /// The tier of the result.
    pub tier: Tier,
    /// Returns true if a pair may be one block.
    pub fits: fn(&Likeness) -> bool,
    /// Returns a score to compare the pairs that fit. Higher is better.
    pub score: fn(&Likeness) -> f32,
}

impl std::fmt::Debug for MatchRule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word)
    }
}

const fn rule(
    word: &'static str,
    tier: Tier,
    fits: fn(&Likeness) -> bool,
    score: fn(&Likeness) -> f32,
) -> MatchRule {
    MatchRule { word, tier, fits, score }
}

/// All rules, in the order of application.
pub const RULES: &[MatchRule] = &[
    rule("same name and text", Tier::Text, |pair| has_name(pair) && pair.text, by_place),
    rule("same text", Tier::Text, unnamed_text, by_place),
    rule("same name and tokens", Tier::Tokens, |pair| has_name(pair) && pair.tokens, by_place),
    rule("same name and shape", Tier::Shape, |pair| has_name(pair) && pair.shape, by_place),
    rule("text moved", Tier::TextElsewhere, |pair| pair.text && has_moved(pair), by_place),
    rule("tokens moved", Tier::TokensElsewhere, tokens_moved, by_place),
    rule("same name, mostly kept", Tier::Name, name_mostly_kept, by_kept),
    rule("renamed", Tier::Shape, renamed, by_place),
    rule("same name", Tier::Name, same_name, by_kept),
    rule("same name in its place", Tier::Name, same_leaf, by_kept),
    rule("holds the same blocks", Tier::Name, same_members, by_members),
    rule("alike", Tier::Likeness, alike, by_likeness),
    rule("text in its place", Tier::Name, unnamed_in_place, by_kept),
];

fn has_name(pair: &Likeness) -> bool {
    pair.is_named && pair.identity
}

fn unnamed_text(pair: &Likeness) -> bool {
    !pair.is_named && pair.text && pair.reach != Reach::Elsewhere
}

fn has_moved(pair: &Likeness) -> bool {
    pair.is_named && pair.may_become && !pair.name_stands && !pair.had_gone
}

fn tokens_moved(pair: &Likeness) -> bool {
    pair.tokens && has_moved(pair) && pair.size > 0
}

fn name_mostly_kept(pair: &Likeness) -> bool {
    same_name(pair) && pair.kept.is_some_and(|kept| kept >= MOSTLY_KEPT)
}

fn renamed(pair: &Likeness) -> bool {
    pair.shape && has_moved(pair) && pair.size >= MIN_RENAMED_TOKENS
}

/// Returns true if a name alone is enough: in the same file, and in a file that is certainly the
/// same one under another name. Two files that implement one interface have the same names too.
fn name_tells(pair: &Likeness) -> bool {
    let in_file = match pair.reach {
        Reach::File => true,
        Reach::Renamed => pair.is_that_file || pair.kept.is_some_and(|kept| kept >= MIN_KEPT),
        Reach::Elsewhere => false,
    };
    in_file && pair.is_named && !pair.had_gone
}

fn same_name(pair: &Likeness) -> bool {
    pair.identity && name_tells(pair)
}

fn same_leaf(pair: &Likeness) -> bool {
    pair.leaf && pair.is_only_leaf && pair.container == 1.0 && name_tells(pair)
}

fn same_members(pair: &Likeness) -> bool {
    has_moved(pair) && pair.members > MIN_MEMBERS
}

fn alike(pair: &Likeness) -> bool {
    let (scores, body) = (pair.scores(), pair.body.unwrap_or_default());
    let is_nameless = scores.name == 0.0 && !pair.lines_left;
    let is_other_file = pair.reach == Reach::Renamed && !pair.is_that_file;
    let least = match () {
        () if is_nameless => likeness::ENOUGH_NAMELESS_BODY,
        () if is_other_file => likeness::ENOUGH,
        () => likeness::ENOUGH_BODY,
    };
    pair.is_named
        && pair.may_become
        && !pair.had_gone
        && pair.size >= likeness::MIN_TOKENS
        && scores.total >= likeness::ENOUGH
        && body >= least
        && !(is_nameless && pair.size < likeness::MIN_NAMELESS_TOKENS)
}

fn unnamed_in_place(pair: &Likeness) -> bool {
    !pair.is_named && !pair.had_gone && pair.in_gap && pair.kept.is_none_or(|kept| kept >= MIN_KEPT)
}

fn by_place(pair: &Likeness) -> f32 {
    let gap = if pair.in_gap { 0.4 } else { 0.0 };
    let name = if pair.identity { 0.1 } else { 0.0 };
    gap + 0.3 * pair.container + 0.2 * pair.neighbours + name
}

fn by_kept(pair: &Likeness) -> f32 {
    pair.kept.or(pair.body).unwrap_or_default() + 0.2 * by_place(pair)
}

fn by_members(pair: &Likeness) -> f32 {
    pair.members + 0.2 * pair.words
}

/// If two pairs are about equally alike, the one with the same name wins over the one that only
/// shares words of it.
fn by_likeness(pair: &Likeness) -> f32 {
    let name = if pair.leaf { MARGIN } else { 0.0 };
    pair.scores().total + name
}
