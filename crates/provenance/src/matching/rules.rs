//! The rules that decide whether two blocks are the same block, strictest first.
//!
//! A rule is a pure function of a `Likeness`. The assignment (`align`) applies the rules in order,
//! and each rule only sees the pairs of which neither block has a match yet.

use super::likeness::{self, Likeness};

/// The minimum number of tokens for which an equal shape is evidence. Small getters and wrappers
/// all look alike.
const MIN_RENAMED_TOKENS: u32 = 15;
/// The share of the earlier text that must remain under a name. With less, the name may have passed
/// to another block.
pub(super) const MOSTLY_KEPT: f32 = 0.5;
/// The share of a region or paragraph that must remain for it to count as modified. It has no name
/// that could identify it.
const MIN_KEPT: f32 = 0.3;
/// A container is recognised by its members if it still holds more than this share of them.
const MIN_MEMBERS: f32 = 0.5;
/// Two rivals whose scores differ by less than this fit equally well.
pub(super) const MARGIN: f32 = 0.08;

pub(super) struct MatchRule {
    pub fits: fn(&Likeness) -> bool,
    /// Returns a score to compare the pairs that fit. Higher is better.
    pub score: fn(&Likeness) -> f32,
    /// If true, blocks that fit equally well get no match at all. If false, later rules may still
    /// match them.
    pub ties_are_final: bool,
}

/// Creates a rule that asks for something which all rivals then have in common, such as the name,
/// so that the block may be any of them.
const fn rule(fits: fn(&Likeness) -> bool, score: fn(&Likeness) -> f32) -> MatchRule {
    MatchRule { fits, score, ties_are_final: true }
}

/// All rules, in the order of application.
pub(super) const RULES: &[MatchRule] = &[
    rule(|pair| has_name(pair) && pair.text, by_place),
    rule(|pair| !pair.is_named && pair.text, by_place),
    rule(|pair| has_name(pair) && pair.tokens, by_place),
    rule(|pair| has_name(pair) && pair.shape, by_place),
    rule(|pair| pair.text && has_moved(pair), by_place),
    rule(has_moved_tokens, by_place),
    rule(|pair| has_name(pair) && pair.kept >= MOSTLY_KEPT, by_kept),
    rule(is_renamed, by_place),
    rule(has_name, by_kept),
    rule(has_same_leaf, by_kept),
    rule(holds_same_blocks, by_members),
    MatchRule { fits: is_alike, score: by_likeness, ties_are_final: false },
    rule(is_unnamed_in_place, by_kept),
];

fn has_name(pair: &Likeness) -> bool {
    pair.is_named && pair.identity
}

fn has_moved(pair: &Likeness) -> bool {
    pair.is_named && pair.may_become && !pair.name_stands
}

fn has_moved_tokens(pair: &Likeness) -> bool {
    pair.tokens && has_moved(pair) && pair.size > 0
}

fn is_renamed(pair: &Likeness) -> bool {
    pair.shape && has_moved(pair) && pair.size >= MIN_RENAMED_TOKENS
}

fn has_same_leaf(pair: &Likeness) -> bool {
    pair.is_named && pair.leaf && pair.is_only_leaf && pair.container == 1.0
}

fn holds_same_blocks(pair: &Likeness) -> bool {
    has_moved(pair) && pair.members > MIN_MEMBERS
}

fn is_alike(pair: &Likeness) -> bool {
    let is_nameless = pair.likeness_of_names() == 0.0 && !pair.lines_left;
    let least = match is_nameless {
        true => likeness::ENOUGH_NAMELESS_BODY,
        false => likeness::ENOUGH_BODY,
    };
    pair.is_named
        && pair.may_become
        && pair.size >= likeness::MIN_TOKENS
        && pair.total() >= likeness::ENOUGH
        && pair.body >= least
        && !(is_nameless && pair.size < likeness::MIN_NAMELESS_TOKENS)
}

fn is_unnamed_in_place(pair: &Likeness) -> bool {
    !pair.is_named && pair.in_gap && pair.kept >= MIN_KEPT
}

fn by_place(pair: &Likeness) -> f32 {
    let gap = if pair.in_gap { 0.4 } else { 0.0 };
    let name = if pair.identity { 0.1 } else { 0.0 };
    gap + 0.3 * pair.container + 0.2 * pair.neighbours + name
}

fn by_kept(pair: &Likeness) -> f32 {
    pair.kept + 0.2 * by_place(pair)
}

fn by_members(pair: &Likeness) -> f32 {
    pair.members + 0.2 * pair.words
}

/// If two pairs are about equally alike, the one with the same name wins over the one that only
/// shares words of it.
fn by_likeness(pair: &Likeness) -> f32 {
    let name = if pair.leaf { MARGIN } else { 0.0 };
    pair.total() + name
}
