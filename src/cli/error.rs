//! What can go wrong in a command, as a person reads it.

use std::path::PathBuf;

use crate::verbs::{OpenError, ReadError, VerbError};
use crate::workspace::PathError;
use crate::workspace::root::RootError;

/// Why a command did not do what was asked. All of them end with exit code 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A verb refused.
    #[error(transparent)]
    Verb(#[from] VerbError),
    /// The arguments make no sense here.
    #[error("{message}")]
    Usage { message: String, help: String },
    /// A file or stream of the command line's own.
    #[error("{what} could not be {doing}: {source}")]
    Io {
        what: String,
        doing: &'static str,
        #[source]
        source: std::io::Error,
    },
}

impl CliError {
    /// Arguments that make no sense: what is wrong, and what to type instead.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }

    /// A file that is not there, as it was named.
    pub(crate) fn missing(named: &str) -> Self {
        Self::usage(
            format!("{named} does not exist"),
            "paths are taken from the current folder, or from the one named with -C",
        )
    }

    /// A file that could not be written or read.
    pub(crate) fn io(path: PathBuf, doing: &'static str, source: std::io::Error) -> Self {
        Self::Io { what: path.display().to_string(), doing, source }
    }

    /// What to do next, where the message does not say so itself.
    pub(crate) fn help(&self) -> Option<&str> {
        match self {
            Self::Usage { help, .. } => Some(help),
            Self::Verb(VerbError::UnknownIntent { .. }) => {
                Some("`intent list` shows the intents, `intent new NAME` creates one")
            }
            Self::Verb(VerbError::Path(PathError::Outside { .. })) => {
                Some("name a file below the workspace; symbolic links that lead out do not count")
            }
            _ => None,
        }
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        Self::Verb(error.into())
    }
}

impl From<RootError> for CliError {
    fn from(error: RootError) -> Self {
        OpenError::from(error).into()
    }
}

impl From<ReadError> for CliError {
    fn from(error: ReadError) -> Self {
        Self::Verb(error.into())
    }
}

impl From<PathError> for CliError {
    fn from(error: PathError) -> Self {
        Self::Verb(error.into())
    }
}
