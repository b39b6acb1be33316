//! The errors of commands, with messages written for a person.

use std::path::Path;

use ground::{Hint, PathError, store};
use why::VerbError;

/// Why a command failed. Each of these errors gives exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Verb(VerbError),
    /// The arguments are valid one by one, but make no sense together or in this place.
    #[error("{message}")]
    Usage { message: String, hint: String },
    #[error("{what} could not be {doing}: {source}")]
    Io {
        what: String,
        doing: &'static str,
        #[source]
        source: std::io::Error,
    },
}

impl CliError {
    /// Returns a usage error. `message` says what is wrong, `hint` what to type instead.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    /// Returns the error for a file that could not be read or written. `doing` is a participle,
    /// such as "read".
    pub fn io(what: impl AsRef<Path>, doing: &'static str, source: std::io::Error) -> Self {
        Self::Io { what: what.as_ref().display().to_string(), doing, source }
    }
}

impl Hint for CliError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Usage { hint, .. } => hint,
            Self::Verb(VerbError::Path(PathError::Outside { .. })) => {
                "name a file below the workspace; symbolic links that lead out do not count"
            }
            Self::Verb(VerbError::UnknownIntent { id, known, meant: None })
                if !known.contains(id) =>
            {
                "`intent list` shows the intents, `intent new NAME` creates one"
            }
            Self::Verb(error) => return error.hint(),
            Self::Io { what, source, .. } => return store::hint_about(Path::new(what), source),
        };
        Some(hint.to_owned())
    }
}

impl<E: Into<VerbError>> From<E> for CliError {
    fn from(error: E) -> Self {
        Self::Verb(error.into())
    }
}
