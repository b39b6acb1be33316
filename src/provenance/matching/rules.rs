//! The rules by which an earlier block is found again, strictest first.
//!
//! A rule is a pure function of a `Likeness`. The assignment (`align`) goes through them in order; each sees
//! only the pairs of which both blocks are still open. `intent why --explain` prints which rule decided.

use super::likeness::{self, Likeness, Reach};
use crate::provenance::Tier;

/// Below this many tokens an equal shape proves nothing: getters and wrappers all look alike.
pub(crate) const MIN_RENAMED_TOKENS: u32 = 15;
/// Below this many tokens a block is never given to a record of another file by its body alone.
pub(super) const MIN_ACROSS_TOKENS: u32 = 12;
/// A name under which less than this stands of the recorded text may have passed to another block.
pub(super) const MOSTLY_KEPT: f32 = 0.5;
/// A region or paragraph has no name of its own, so it must keep at least this share to be called modified.
const MIN_KEPT: f32 = 0.3;
/// The share of its members that a container must hold still, to be known by them.
const MIN_MEMBERS: f32 = 0.5;
/// Two rivals that are this close fit equally well.
pub(super) const MARGIN: f32 = 0.08;

/// One row of the table.
pub(crate) struct MatchRule {
    /// What `--explain` calls it.
    pub word: &'static str,
    /// What the answer says.
    pub tier: Tier,
    /// Whether a pair may be one block.
    pub fits: fn(&Likeness) -> bool,
    /// Among pairs that fit, more is better.
    pub score: fn(&Likeness) -> f32,
}

impl std::fmt::Debug for MatchRule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.word)
    }
}

/// All rules, in order.
pub(crate) const RULES: &[MatchRule] = &[
    MatchRule {
        word: "same name and text",
        tier: Tier::Text,
        fits: name_and_text,
        score: by_place,
    },
    MatchRule { word: "same text", tier: Tier::Text, fits: unnamed_text, score: by_place },
    MatchRule {
        word: "same name and tokens",
        tier: Tier::Tokens,
        fits: name_and_tokens,
        score: by_place,
    },
    MatchRule {
        word: "same name and shape",
        tier: Tier::Shape,
        fits: name_and_shape,
        score: by_place,
    },
    MatchRule { word: "text moved", tier: Tier::TextElsewhere, fits: text_moved, score: by_place },
    MatchRule {
        word: "tokens moved",
        tier: Tier::TokensElsewhere,
        fits: tokens_moved,
        score: by_place,
    },
    MatchRule {
        word: "same name, mostly kept",
        tier: Tier::Name,
        fits: name_mostly_kept,
        score: by_kept,
    },
    MatchRule { word: "renamed", tier: Tier::Shape, fits: renamed, score: by_place },
    MatchRule { word: "same name", tier: Tier::Name, fits: same_name, score: by_kept },
    MatchRule { word: "same name in its place", tier: Tier::Name, fits: same_leaf, score: by_kept },
    MatchRule {
        word: "holds the same blocks",
        tier: Tier::Name,
        fits: same_members,
        score: by_members,
    },
    MatchRule { word: "alike", tier: Tier::Likeness, fits: alike, score: by_likeness },
    MatchRule {
        word: "text in its place",
        tier: Tier::Name,
        fits: unnamed_in_place,
        score: by_kept,
    },
];

fn is_within(pair: &Likeness) -> bool {
    pair.reach != Reach::Elsewhere
}

fn name_and_text(pair: &Likeness) -> bool {
    pair.is_named && pair.identity && pair.text
}

fn unnamed_text(pair: &Likeness) -> bool {
    !pair.is_named && pair.text && is_within(pair)
}

fn name_and_tokens(pair: &Likeness) -> bool {
    pair.is_named && pair.identity && pair.tokens
}

fn name_and_shape(pair: &Likeness) -> bool {
    pair.is_named && pair.identity && pair.shape
}

fn has_moved(pair: &Likeness) -> bool {
    pair.is_named && pair.may_become && !pair.name_stands && !pair.had_gone
}

fn text_moved(pair: &Likeness) -> bool {
    pair.text && has_moved(pair)
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

/// A name alone is enough in the same file, and in one that certainly is that file under another name: two that
/// implement one interface have the same names, too.
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

/// Of two that are about as much alike, the one that has the name is ahead of the one that has some of its words.
fn by_likeness(pair: &Likeness) -> f32 {
    let name = if pair.leaf { MARGIN } else { 0.0 };
    pair.scores().total + name
}
