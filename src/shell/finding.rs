//! The judgement of a program, and the data that flows from one program to the next.

use super::Class;
use super::expand::{Arg, WordOrigin, WordPiece};

/// A judgement: the class of a command, the rule that decided it, the word it applied to, and the
/// reason.
#[derive(Clone, Debug)]
pub(super) struct ShellFinding {
    pub(super) class: Class,
    pub(super) rule: &'static str,
    pub(super) word: String,
    pub(super) reason: String,
    pub(super) safer: Option<&'static str>,
    /// True for an opaque program that is made for inspection; see [`super::Prediction::inspects`].
    pub(super) inspects: bool,
}

impl ShellFinding {
    pub(super) fn new(class: Class, rule: &'static str, word: &str, reason: &str) -> Self {
        let (word, reason) = (word.to_owned(), reason.to_owned());
        Self { class, rule, word, reason, safer: None, inspects: false }
    }

    pub(super) fn safer(mut self, safer: &'static str) -> Self {
        self.safer = Some(safer);
        self
    }

    pub(super) fn inspects(mut self) -> Self {
        self.inspects = true;
        self
    }

    /// Returns the more severe of two findings, either of which may be absent.
    pub(super) fn worst(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        [one, other].into_iter().flatten().reduce(|one, other| one.or(other))
    }

    /// Returns true if this finding is less severe than the other one. Within a class, programs
    /// that only inspect are less severe.
    pub(super) fn lighter(&self, other: &Self) -> bool {
        let weight = |found: &Self| (found.class, !found.inspects);
        weight(self) < weight(other)
    }

    /// Returns the more severe of this finding and another one, if there is another one. This one
    /// wins if they are equal.
    pub(super) fn or(self, other: impl Into<Option<Self>>) -> Self {
        match other.into() {
            Some(other) if self.lighter(&other) => other,
            _ => self,
        }
    }
}

/// The output of a program, as the input of the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StreamData {
    /// True if there is any data.
    pub(super) present: bool,
    /// The content, if it is known.
    pub(super) pieces: Option<Vec<WordPiece>>,
    /// True if the data was downloaded.
    pub(super) download: bool,
    /// True if the data was decoded, for example from base64.
    pub(super) decoded: bool,
    /// True if the data is the content of a file.
    pub(super) file: bool,
    /// The path of the file that was opened for reading.
    pub(super) path: Option<String>,
    /// True if the data comes from a file of keys or passwords.
    pub(super) tainted: bool,
}

impl StreamData {
    pub(super) fn known(pieces: Vec<WordPiece>) -> Self {
        Self { present: true, pieces: Some(pieces), ..Self::default() }
    }

    pub(super) fn some() -> Self {
        Self { present: true, ..Self::default() }
    }

    /// Returns the text, if all of it is known.
    pub(super) fn text(&self) -> Option<String> {
        Arg::from_pieces(self.pieces.as_deref()?).literal().map(str::to_owned)
    }

    /// Returns true if the data contains a secret, such as a key or a password.
    pub(super) fn secret(&self) -> bool {
        let marked = |piece: &WordPiece| {
            matches!(piece, WordPiece::Unknown { origin: WordOrigin::Secret, .. })
        };
        self.tainted || self.pieces.iter().flatten().any(marked)
    }

    /// Returns the origin of downloaded, decoded or secret data.
    pub(super) fn origin(&self) -> Option<WordOrigin> {
        match self {
            Self { download: true, .. } => Some(WordOrigin::Download),
            Self { decoded: true, .. } => Some(WordOrigin::Decoded),
            Self { tainted: true, .. } => Some(WordOrigin::Secret),
            _ => None,
        }
    }
}
