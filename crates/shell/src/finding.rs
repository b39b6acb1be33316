//! The judgement of a program, and the data that flows from one program to the next.

use super::Class;
use super::expand::{Arg, WordOrigin, WordPiece};

/// A judgement: the class of a command, the rule that decided the class, the word that the rule
/// applied to, and the reason.
#[derive(Clone, Debug)]
pub(super) struct ShellFinding {
    pub(super) class: Class,
    pub(super) rule: &'static str,
    pub(super) word: String,
    pub(super) reason: String,
    pub(super) safer: Option<&'static str>,
    /// True if the class is opaque but the command is likely to read only: the program is made for
    /// inspection, or only an unknown word or variable makes the class opaque. See
    /// [`super::Prediction::inspects`].
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

    /// Returns true if this finding is less severe than the other one. Within a class, a finding
    /// about a command that only inspects is the less severe one.
    pub(super) fn lighter(&self, other: &Self) -> bool {
        let weight = |found: &Self| (found.class, !found.inspects);
        weight(self) < weight(other)
    }

    /// Returns the more severe of this finding and another one, if there is another one. If both
    /// are equally severe, this finding is returned. The two together only inspect if each does.
    pub(super) fn or(self, other: impl Into<Option<Self>>) -> Self {
        let Some(other) = other.into() else { return self };
        let looks = |one: &Self| one.inspects || one.class == Class::Read;
        let inspects = looks(&self) && looks(&other);
        let worse = if self.lighter(&other) { other } else { self };
        Self { inspects: worse.inspects && inspects, ..worse }
    }
}

/// The data on the standard input of a program: the output of the program before it, or what a
/// redirection supplies.
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
    /// The path of the file, if a redirection (`<file`) opened it.
    pub(super) path: Option<String>,
    /// True if a program or a redirection read the data from a file of keys or passwords.
    pub(super) tainted: bool,
}

impl StreamData {
    pub(super) fn known(pieces: Vec<WordPiece>) -> Self {
        Self { present: true, pieces: Some(pieces), ..Self::default() }
    }

    /// Returns data whose content is not known.
    pub(super) fn some() -> Self {
        Self { present: true, ..Self::default() }
    }

    /// Returns the text, if all of it is known.
    pub(super) fn text(&self) -> Option<String> {
        Arg::from_pieces(self.pieces.as_deref()?).literal().map(str::to_owned)
    }

    /// Returns true if the data may contain a secret, such as a key or a password.
    pub(super) fn secret(&self) -> bool {
        let marked = |piece: &WordPiece| {
            matches!(piece, WordPiece::Unknown { origin: WordOrigin::Secret, .. })
        };
        self.tainted || self.pieces.iter().flatten().any(marked)
    }

    /// Returns the most dangerous origin of the data. `None` if the data was neither downloaded,
    /// nor decoded, nor read from a file of secrets.
    pub(super) fn origin(&self) -> Option<WordOrigin> {
        match self {
            Self { download: true, .. } => Some(WordOrigin::Download),
            Self { decoded: true, .. } => Some(WordOrigin::Decoded),
            Self { tainted: true, .. } => Some(WordOrigin::Secret),
            _ => None,
        }
    }
}
