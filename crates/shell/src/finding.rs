//! The judgement of a program, and the data that flows from one program to the next.

use super::argument::{Arg, WordOrigin, WordPiece};
use super::{Class, table};

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
        [one, other].into_iter().flatten().reduce(|one, other| one.most_severe(other))
    }

    /// Returns true if this finding is less severe than the other one. Within a class, a finding
    /// about a command that only inspects is the less severe one.
    pub(super) fn is_lighter_than(&self, other: &Self) -> bool {
        let weight = |found: &Self| (found.class, !found.inspects);
        weight(self) < weight(other)
    }

    /// Returns the more severe of this finding and another one, if there is another one. If both
    /// are equally severe, this finding is returned. The two together only inspect if each does. So
    /// `ls; rm a; git status` is a write, with the rule of `rm a`.
    pub(super) fn most_severe(mut self, other: impl Into<Option<Self>>) -> Self {
        self.raise(other);
        self
    }

    pub(super) fn raise(&mut self, other: impl Into<Option<Self>>) {
        let Some(other) = other.into() else { return };
        let looks = |one: &Self| one.inspects || one.class == Class::Read;
        let inspect = looks(self) && looks(&other);
        if self.is_lighter_than(&other) {
            *self = other;
        }
        self.inspects &= inspect;
    }

    /// Raises this finding to the most severe one among these, in their order.
    pub(super) fn raise_all(&mut self, others: impl IntoIterator<Item = impl Into<Option<Self>>>) {
        others.into_iter().for_each(|other| self.raise(other));
    }
}

pub(super) fn reads(name: &str) -> ShellFinding {
    ShellFinding::new(Class::Read, "program.reads", name, &format!("`{name}` only reads."))
}

pub(super) fn writes(rule: &'static str, name: &str) -> ShellFinding {
    ShellFinding::new(Class::Write, rule, name, &format!("`{name}` changes the files it names."))
}

pub(super) fn inspects(name: &str) -> ShellFinding {
    let reason = format!("`{name}` only inspects, but may change its own cache or log.");
    ShellFinding::new(Class::Opaque, "program.looks", name, &reason).inspects()
}

pub(super) fn opaque(rule: &'static str, name: &str) -> ShellFinding {
    let reason = format!("`{name}` may change anything; its effects cannot be determined.");
    ShellFinding::new(Class::Opaque, rule, name, &reason)
}

pub(super) fn destructive(rule: &'static str, word: &str, reason: &str) -> ShellFinding {
    ShellFinding::new(Class::Destructive, rule, word, reason)
}

pub(super) fn destructive_rule(rule: &'static str, word: &str) -> ShellFinding {
    let (reason, safer) = table::reason(rule);
    let safer = Some(safer).filter(|safer| !safer.is_empty());
    ShellFinding { safer, ..destructive(rule, word, reason) }
}

pub(super) fn unreadable_rule(rule: &'static str, word: &str) -> ShellFinding {
    ShellFinding { class: Class::Unreadable, ..destructive_rule(rule, word) }
}

pub(super) fn downloaded(word: &str) -> ShellFinding {
    destructive_rule("download.run", word)
}

pub(super) fn decoded(word: &str) -> ShellFinding {
    destructive_rule("decode.run", word)
}

/// Returns a finding if a program or code that would be run was downloaded or decoded, so that
/// nobody has seen it.
pub(super) fn unseen(origin: Option<WordOrigin>, word: &str) -> Option<ShellFinding> {
    match origin? {
        WordOrigin::Download => Some(downloaded(word)),
        WordOrigin::Decoded => Some(decoded(word)),
        _ => None,
    }
}

/// The data on the standard input of a program: the output of the program before it, or what a
/// redirection supplies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StreamData {
    pub(super) present: bool,
    pub(super) pieces: Option<Vec<WordPiece>>,
    pub(super) download: bool,
    /// True if the data was decoded, for example from base64.
    pub(super) decoded: bool,
    pub(super) file: bool,
    /// The path of the file, if a redirection (`<file`) opened it.
    pub(super) path: Option<String>,
    pub(super) tainted: bool,
}

impl StreamData {
    pub(super) fn with_known_pieces(pieces: Vec<WordPiece>) -> Self {
        Self { present: true, pieces: Some(pieces), ..Self::default() }
    }

    pub(super) fn with_unknown_content() -> Self {
        Self { present: true, ..Self::default() }
    }

    /// Returns the output of two commands, one after the other. If it is not certain that both run, the
    /// text is unknown.
    pub(super) fn followed_by(self, next: Self, is_certain: bool) -> Self {
        if !self.present || !next.present {
            let only = if self.present { self } else { next };
            let pieces = only.pieces.filter(|pieces| is_certain || pieces.is_empty());
            return Self { pieces, ..only };
        }
        let both = self.pieces.zip(next.pieces).filter(|_| is_certain);
        Self {
            present: true,
            pieces: both.map(|(first, second)| [first, second].concat()),
            download: self.download || next.download,
            decoded: self.decoded || next.decoded,
            file: self.file || next.file,
            path: None,
            tainted: self.tainted || next.tainted,
        }
    }

    pub(super) fn text(&self) -> Option<String> {
        Arg::from_pieces(self.pieces.as_deref()?).literal().map(str::to_owned)
    }

    /// Returns true if the data may contain a secret, such as a key or a password.
    pub(super) fn may_hold_secret(&self) -> bool {
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
