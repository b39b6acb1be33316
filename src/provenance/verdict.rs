//! What is known of one block, and on which evidence.

use serde::{Deserialize, Serialize};

use crate::ledger::ClaimRef;

// In order, strictest first.
/// How a block's text stands to what was recorded.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// The same text.
    Exact,
    /// The same tokens; white space, comments or what a formatter does.
    Reformatted,
    /// The same but for consistent renames.
    Renamed,
    /// Other tokens.
    Modified,
}

/// Where a block stands compared with where it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Same file, same container, in whatever order.
    Same,
    /// Another container or file.
    Moved,
}

/// The one word about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As recorded.
    Exact,
    /// As recorded but for formatting and comments.
    Reformatted,
    /// As recorded, elsewhere.
    Moved,
    /// As recorded but for names.
    Renamed,
    /// Changed since.
    Modified,
    /// Several records fit equally well.
    Ambiguous,
    /// No record speaks of it.
    Unrecorded,
}

impl Verdict {
    /// The word in `--json` and in the editor.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Reformatted => "reformatted",
            Self::Moved => "moved",
            Self::Renamed => "renamed",
            Self::Modified => "modified",
            Self::Ambiguous => "ambiguous",
            Self::Unrecorded => "unrecorded",
        }
    }
    /// Whether a record covers the block's text as it stands.
    pub fn covered(self) -> bool {
        matches!(self, Self::Exact | Self::Reformatted | Self::Moved | Self::Renamed)
    }
}

/// What is known of one block.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The one word.
    pub verdict: Verdict,
    /// How its text stands; `None` when unrecorded or ambiguous.
    pub content: Option<Content>,
    /// Where it stands; `None` when unrecorded or ambiguous.
    pub place: Option<Place>,
    /// Of a modified block, the estimated share of what was recorded that is still there, 0 to 1.
    pub kept: Option<f32>,
    /// Of a modified block that contains others: its own text is as recorded, the difference lies inside those.
    pub only_inside: bool,
    /// The record; `None` when unrecorded or ambiguous.
    pub claim: Option<ClaimRef>,
    /// When ambiguous: every record that fits.
    pub candidates: Vec<ClaimRef>,
    /// On which evidence the record was found.
    pub tier: Option<Tier>,
    /// A record that the block was found to go on from, and that does not answer for it all the same.
    pub refused: Option<Refused>,
}

/// On which evidence a record was found, strongest first.
///
/// How often each is right, measured on real histories, stands in `docs/accuracy.md`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The recorded name, and the same text.
    Text,
    /// The recorded name, and the same tokens.
    Tokens,
    /// The same text under another name or elsewhere, and the recorded name is gone.
    TextElsewhere,
    /// The same tokens under another name or elsewhere, and the recorded name is gone.
    TokensElsewhere,
    /// The same tokens but for names.
    Shape,
    /// The recorded name alone; the tokens differ.
    Name,
    /// Body, name, container, parameters and neighbours taken together, well above any rival.
    Likeness,
}

impl Tier {
    /// The word in `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Tokens => "tokens",
            Self::TextElsewhere => "text_elsewhere",
            Self::TokensElsewhere => "tokens_elsewhere",
            Self::Shape => "shape",
            Self::Name => "name",
            Self::Likeness => "likeness",
        }
    }
}

/// How alike a record and a block are, each part from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Scores {
    /// How alike the bodies are, about the share of tokens in common.
    pub body: f32,
    /// The share of words in common in the two names.
    pub name: f32,
    /// Whether the containers are the same.
    pub scope: f32,
    /// Whether the parameter types are the same.
    pub signature: f32,
    /// Whether it stands between the same neighbours.
    pub position: f32,
    /// The weighted sum.
    pub total: f32,
}

/// A record that does not answer for a block that was found to go on from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// The record.
    pub claim: ClaimRef,
    /// Why not.
    pub why: Rejection,
}

/// Why a record was not taken for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// Not alike enough.
    TooUnlike,
    /// Another record, or another block, fits about as well.
    Rivals,
    /// The block reads as it did before that record was made.
    StoodBefore,
}

/// Recorded code that stands in a block its record is not about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CodeOrigin {
    /// The record.
    pub claim: ClaimRef,
    /// How the code came here.
    pub relation: Relation,
    /// The share in common, 0 to 1: of the smaller of the two.
    pub share: f32,
}

/// How recorded code came to stand in another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the variants are named as they are written in JSON")]
pub enum Relation {
    /// The recorded block still stands; this is another like it.
    CopiedFrom,
    /// This block holds a part of the recorded one.
    SplitFrom,
    /// The recorded block is gone, and stands in this one.
    MergedFrom,
}

impl Relation {
    /// What a person reads before the name of the recorded block.
    pub fn words(self) -> &'static str {
        match self {
            Self::CopiedFrom => "copied from",
            Self::SplitFrom => "split from",
            Self::MergedFrom => "merged from",
        }
    }
}

impl Provenance {
    /// Whether a record covers what the block answers for, so that it needs no new one. A block whose only difference
    /// lies in the blocks inside it is covered: those answer for themselves.
    pub fn covered(&self) -> bool {
        self.verdict.covered() || self.only_inside
    }

    /// Whether a record may still be found for it: none is, and it is not known to be older than those it might have.
    pub(super) fn is_open(found: Option<&Self>) -> bool {
        found.is_none_or(|found| {
            let older = found.refused.is_some_and(|refused| refused.why == Rejection::StoodBefore);
            found.verdict == Verdict::Unrecorded && !older
        })
    }

    /// Unrecorded, although the block goes on from what was recorded.
    pub(super) fn refused(claim: ClaimRef, why: Rejection) -> Self {
        Self { refused: Some(Refused { claim, why }), ..Self::unrecorded() }
    }

    pub(super) fn unrecorded() -> Self {
        Self {
            verdict: Verdict::Unrecorded,
            content: None,
            place: None,
            kept: None,
            only_inside: false,
            claim: None,
            candidates: Vec::new(),
            tier: None,
            refused: None,
        }
    }

    pub(super) fn ambiguous(candidates: Vec<ClaimRef>) -> Self {
        Self { verdict: Verdict::Ambiguous, candidates, ..Self::unrecorded() }
    }

    pub(super) fn found(claim: ClaimRef, tier: Tier, content: Content, place: Place) -> Self {
        let verdict = match (content, place) {
            (Content::Exact, Place::Moved) => Verdict::Moved,
            (Content::Exact, Place::Same) => Verdict::Exact,
            (Content::Reformatted, _) => Verdict::Reformatted,
            (Content::Renamed, _) => Verdict::Renamed,
            (Content::Modified, _) => Verdict::Modified,
        };
        Self {
            verdict,
            content: Some(content),
            place: Some(place),
            claim: Some(claim),
            tier: Some(tier),
            ..Self::unrecorded()
        }
    }
}
