//! What is found about a program, and what comes out of it.

use super::Class;
use super::expand::{Arg, WordOrigin, WordPiece};

/// Why something is what it is.
#[derive(Clone, Debug)]
pub(super) struct ShellFinding {
    pub(super) class: Class,
    pub(super) rule: &'static str,
    pub(super) word: String,
    pub(super) reason: String,
    pub(super) safer: Option<&'static str>,
    /// It is opaque, but made for looking.
    pub(super) looks: bool,
}

impl ShellFinding {
    pub(super) fn new(class: Class, rule: &'static str, word: &str, reason: &str) -> Self {
        Self {
            class,
            rule,
            word: word.to_owned(),
            reason: reason.to_owned(),
            safer: None,
            looks: false,
        }
    }

    pub(super) fn safer(mut self, safer: &'static str) -> Self {
        self.safer = Some(safer);
        self
    }

    pub(super) fn looks(mut self) -> Self {
        self.looks = true;
        self
    }

    /// With another one, if there is any.
    pub(super) fn worse(self, other: Option<Self>) -> Self {
        match other {
            Some(other) => self.or(other),
            None => self,
        }
    }

    /// The one that weighs more of two that may be missing.
    pub(super) fn worst(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match one {
            Some(one) => Some(one.worse(other)),
            None => other,
        }
    }

    /// Whether it weighs less than the other one.
    pub(super) fn lighter(&self, other: &Self) -> bool {
        let weight = |found: &Self| (found.class.weight(), !found.looks);
        weight(self) < weight(other)
    }

    /// The one that weighs more; of two alike the first.
    pub(super) fn or(self, other: Self) -> Self {
        if self.lighter(&other) { other } else { self }
    }
}

/// What comes out of a program, for the next one to take in.
#[derive(Clone, Debug, Default)]
pub(super) struct Feed {
    /// Something comes out at all.
    pub(super) present: bool,
    /// What, where it is known.
    pub(super) pieces: Option<Vec<WordPiece>>,
    /// It was fetched from elsewhere.
    pub(super) download: bool,
    /// It was decoded.
    pub(super) decoded: bool,
    /// It is a file's content.
    pub(super) file: bool,
    /// The file that was opened for it.
    pub(super) path: Option<String>,
    /// It came out of a file of keys or passwords.
    pub(super) tainted: bool,
}

impl Feed {
    pub(super) fn known(pieces: Vec<WordPiece>) -> Self {
        Self { present: true, pieces: Some(pieces), ..Self::default() }
    }

    pub(super) fn some() -> Self {
        Self { present: true, ..Self::default() }
    }

    /// The text, when all of it is known.
    pub(super) fn text(&self) -> Option<String> {
        let arg = Arg::from_pieces(self.pieces.as_deref()?);
        arg.literal().map(str::to_owned)
    }

    /// Whether it holds what only its owner should read.
    pub(super) fn secret(&self) -> bool {
        let marked = |piece: &WordPiece| {
            matches!(piece, WordPiece::Unknown { origin: WordOrigin::Secret, .. })
        };
        self.tainted || self.pieces.iter().flatten().any(marked)
    }

    /// Where it comes from, when it is not known.
    pub(super) fn origin(&self) -> Option<WordOrigin> {
        match self {
            Self { download: true, .. } => Some(WordOrigin::Download),
            Self { decoded: true, .. } => Some(WordOrigin::Decoded),
            Self { tainted: true, .. } => Some(WordOrigin::Secret),
            _ => None,
        }
    }
}
