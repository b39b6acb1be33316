//! The result of matching one block: which record it comes from, how it compares with that record,
//! and how the record was found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use code::named_enum::named_enum;
use ledger::ClaimRef;

// The variants are ordered from strictest to weakest; the code compares them.
/// How the text of a block compares with the recorded text.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// The text is the same.
    Exact,
    /// The tokens are the same. White space, comments or what a formatter changes may differ.
    Reformatted,
    /// The tokens are the same except for names that were changed consistently.
    Renamed,
    /// The tokens differ in more than names.
    Modified,
}

/// Where a block is now, compared with where it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// In the same file and the same container, in any order.
    Same,
    /// In another container or another file.
    Moved,
}

named_enum! {
    /// The verdict on a block, in one word.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum Verdict, WORDS {
        /// The block is as recorded.
        Exact: "exact",
        /// The block is as recorded except for formatting and comments.
        Reformatted: "reformatted",
        /// The block is as recorded, but in another file or container.
        Moved: "moved",
        /// The block is as recorded except for names.
        Renamed: "renamed",
        /// The block was changed since it was recorded.
        Modified: "modified",
        /// Several records fit the block equally well.
        Ambiguous: "ambiguous",
        /// No record covers the block.
        #[default]
        Unrecorded: "unrecorded",
    }
}

impl Verdict {
    /// Returns the word that is used in `--json` and in the editor.
    pub fn as_str(self) -> &'static str {
        WORDS[self as usize].1
    }
    /// Returns true if a record covers the block's current text.
    pub fn covered(self) -> bool {
        matches!(self, Self::Exact | Self::Reformatted | Self::Moved | Self::Renamed)
    }
}

/// Everything that is known about where one block comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    pub verdict: Verdict,
    /// How the text compares with the record. `None` if the block is unrecorded or ambiguous.
    pub content: Option<Content>,
    /// Where the block is compared with the record. `None` if the block is unrecorded or ambiguous.
    pub place: Option<Placement>,
    /// For a modified block, the estimated share of the recorded text that is still there, from 0
    /// to 1.
    pub kept: Option<f32>,
    /// True for a modified block that contains others if its own text is as recorded, so that only
    /// the blocks inside it differ.
    pub only_inside: bool,
    /// The record that the block comes from. `None` if the block is unrecorded or ambiguous.
    pub claim: Option<ClaimRef>,
    /// For an ambiguous block, every record that fits.
    pub candidates: Vec<ClaimRef>,
    /// How the record was found.
    pub tier: Option<Tier>,
    /// The record of an earlier state of this block that does not apply to it now, and the reason.
    pub refused: Option<Refused>,
}

/// How a record was found, strongest evidence first.
///
/// How often each tier is right, measured on real histories, is listed in `docs/accuracy.md`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// By the recorded name and the same text.
    Text,
    /// By the recorded name and the same tokens.
    Tokens,
    /// By the same text under another name or in another place, while the recorded name is gone.
    TextElsewhere,
    /// By the same tokens under another name or in another place, while the recorded name is gone.
    TokensElsewhere,
    /// By the same tokens except for names.
    Shape,
    /// By the recorded name alone. The tokens differ.
    Name,
    /// By body, name, container, parameters and neighbours together, with a clear lead over any
    /// rival.
    Likeness,
}

/// How alike a record and a block are. Each part is between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// How alike the bodies are: roughly the share of tokens in common.
    pub body: f32,
    /// The share of words in common in the two names.
    pub name: f32,
    /// Whether the containers are the same.
    pub scope: f32,
    /// Whether the parameter types are the same.
    pub signature: f32,
    /// Whether the neighbouring blocks are the same.
    pub position: f32,
    /// The weighted sum of the parts.
    pub total: f32,
}

/// A record of an earlier state of a block that does not apply to the block now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    pub claim: ClaimRef,
    pub why: Rejection,
}

/// Why a record was not accepted for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The two are not alike enough.
    TooUnlike,
    /// Another record, or another block, fits about as well.
    Rivals,
    /// The block reads as it did before the record was made.
    StoodBefore,
}

/// Recorded code that is now in a block that its record does not name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodeOrigin {
    pub claim: ClaimRef,
    /// How the code came into the block.
    pub relation: Relation,
    /// The share of the smaller of the two blocks that both have in common, from 0 to 1.
    pub share: f32,
}

/// How recorded code came into another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The recorded block still exists, and this block is a copy of it.
    CopiedFrom,
    /// This block holds a part of the recorded block.
    SplitFrom,
    /// The recorded block is gone, and its code is in this block.
    MergedFrom,
}

impl Relation {
    /// Returns the words to print before the name of the recorded block.
    pub fn as_words(self) -> &'static str {
        match self {
            Self::CopiedFrom => "copied from",
            Self::SplitFrom => "split from",
            Self::MergedFrom => "merged from",
        }
    }
}

impl Provenance {
    /// Returns true if a record covers the block's own text, so that no new record is needed. A
    /// block that differs only in the blocks inside it is covered, because those are judged on
    /// their own.
    pub fn covered(&self) -> bool {
        self.verdict.covered() || self.only_inside
    }

    /// Returns true if a record may still be found for the block: there is none yet, and the block
    /// is not known to be older than the record of its earlier state.
    pub(super) fn is_open(found: Option<&Self>) -> bool {
        found.is_none_or(|found| {
            let older = found.refused.is_some_and(|refused| refused.why == Rejection::StoodBefore);
            found.verdict == Verdict::Unrecorded && !older
        })
    }

    /// Returns an unrecorded result for a block whose earlier state has a record that does not
    /// apply to it.
    pub(super) fn refused(claim: ClaimRef, why: Rejection) -> Self {
        Self { refused: Some(Refused { claim, why }), ..Self::unrecorded() }
    }

    pub(super) fn unrecorded() -> Self {
        Self::default()
    }

    pub(super) fn ambiguous(candidates: Vec<ClaimRef>) -> Self {
        Self { verdict: Verdict::Ambiguous, candidates, ..Self::unrecorded() }
    }

    pub(super) fn found(claim: ClaimRef, tier: Tier, content: Content, place: Placement) -> Self {
        let verdict = match (content, place) {
            (Content::Exact, Placement::Moved) => Verdict::Moved,
            (Content::Exact, Placement::Same) => Verdict::Exact,
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
