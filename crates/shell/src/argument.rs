//! A word of a command after expansion, and the pieces that it consists of.

/// Where an unknown text comes from, from least to most dangerous. This decides how code made of it
/// is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordOrigin {
    Variable,
    Output,
    /// The content of a file of keys or passwords.
    Secret,
    /// Data that a program has decoded, for example from base64.
    Decoded,
    Download,
}

/// A piece of an expanded word. `shown` and other texts are kept as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPiece {
    Text(String),
    Glob(String),
    Unknown {
        shown: String,
        origin: WordOrigin,
    },
    /// A path below the folder for temporary files, not known which.
    Temp(String),
    /// Marks that the piece before it is not quoted, so that the word may become several words.
    Splits,
}

impl WordPiece {
    /// Returns the length of the text in bytes, as it is written.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) | Self::Glob(text) | Self::Temp(text) => text.len(),
            Self::Unknown { shown, .. } => shown.len(),
            Self::Splits => 0,
        }
    }
}

pub(super) fn unknown(shown: String) -> WordPiece {
    WordPiece::Unknown { shown, origin: WordOrigin::Variable }
}

/// A word of a command after expansion.
///
/// - `src/a.rs` is known in full: `sure` is true, and `lead` is the whole text.
/// - `src/$x.rs`, if the text does not set `x`, has the `lead` `src/` and the `origin` `Variable`.
/// - `*.rs` has `glob` set. `sure` is false, and there is no `origin`.
/// - `$x` without quotes has `may_split` set, because its value may contain blanks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arg {
    /// The whole text. Unknown pieces are given as written.
    pub(super) text: String,
    /// The known text before the first piece that is not known.
    pub(super) lead: String,
    pub(super) sure: bool,
    pub(super) glob: bool,
    pub(super) may_split: bool,
    /// True if the word begins with a path below the temporary folder.
    pub(super) temp: bool,
    /// Where the unknown pieces come from; the most dangerous origin if there are several.
    pub(super) origin: Option<WordOrigin>,
    pub(super) pieces: Vec<WordPiece>,
}

impl Arg {
    pub(super) fn with_known_text(text: impl Into<String>) -> Self {
        Self::from_pieces(&[WordPiece::Text(text.into())])
    }

    pub(super) fn unknown(shown: impl Into<String>, origin: WordOrigin) -> Self {
        Self::from_pieces(&[WordPiece::Unknown { shown: shown.into(), origin }])
    }

    pub(super) fn from_pieces(pieces: &[WordPiece]) -> Self {
        let mut arg = Self { sure: true, pieces: pieces.to_vec(), ..Self::default() };
        for piece in pieces {
            match piece {
                WordPiece::Text(text) => {
                    arg.text.push_str(text);
                    if arg.sure {
                        arg.lead.push_str(text);
                    }
                }
                WordPiece::Glob(text) => {
                    arg.text.push_str(text);
                    arg.glob = true;
                    arg.sure = false;
                }
                WordPiece::Splits => arg.may_split = true,
                WordPiece::Temp(shown) => {
                    arg.temp |= arg.text.is_empty();
                    arg.text.push_str(shown);
                    arg.sure = false;
                }
                WordPiece::Unknown { shown, origin } => {
                    arg.text.push_str(shown);
                    arg.sure = false;
                    arg.origin = arg.origin.max(Some(*origin));
                }
            }
        }
        arg
    }

    pub(super) fn literal(&self) -> Option<&str> {
        self.sure.then_some(self.text.as_str())
    }

    pub(super) fn is_word(&self, text: &str) -> bool {
        self.sure && self.text == text
    }

    pub(super) fn is_any_of(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.is_word(text))
    }

    pub(super) fn looks_like_option(&self) -> bool {
        self.lead.len() > 1 && self.lead.starts_with('-')
    }
}

pub(super) fn joined_by_spaces(args: &[&Arg]) -> Vec<WordPiece> {
    let mut pieces = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        if at > 0 {
            pieces.push(WordPiece::Text(" ".to_owned()));
        }
        pieces.extend(arg.pieces.iter().cloned());
    }
    pieces
}

/// Returns an argument with a word in place of each placeholder: `src/{}` becomes `src/a.rs`. An
/// argument that is not known is returned as it is.
pub(super) fn with_placeholder_filled(arg: &Arg, placeholder: &str, word: &Arg) -> Arg {
    if !arg.sure || !arg.text.contains(placeholder) {
        return arg.clone();
    }
    let mut text = arg.text.clone();
    if !word.sure {
        // In `sh -c "rm '{}'"`, the quotes would make plain text of the parameter that stands for
        // the word.
        text = text.replace(&format!("'{placeholder}'"), placeholder);
    }
    let mut pieces = Vec::new();
    for (at, part) in text.split(placeholder).enumerate() {
        if at > 0 {
            pieces.extend(word.pieces.iter().cloned());
        }
        if !part.is_empty() {
            pieces.push(WordPiece::Text(part.to_owned()));
        }
    }
    Arg::from_pieces(&pieces)
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
