//! Why a verb could not do its work, and why a file could not be read.

use super::lesson_error::LessonError;
use code::Unread;
use ground::git::GitError;
use ground::store::StoreError;
use ground::text::{self, counted};
use ground::{Code, Hint, RelativePath};

/// Why a verb could not do its work. The message says what happened, and [`Hint::hint`] what a person
/// can do next.
///
/// A reason has a variant of its own only if a face treats it in its own way, or if it is the error
/// of another room. All others are [`VerbError::Refused`].
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    #[error(transparent)]
    Root(#[from] ground::root::RootError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Path(#[from] ground::PathError),
    #[error(transparent)]
    Git(#[from] ground::git::GitError),
    #[error(transparent)]
    Store(#[from] ground::store::StoreError),
    #[error(transparent)]
    Append(#[from] ledger::AppendError),
    #[error(transparent)]
    Edit(#[from] intents::EditError),
    #[error(transparent)]
    Approval(#[from] ground::approvals::ApprovalError),
    #[error(transparent)]
    Lesson(#[from] LessonError),
    /// The proposal is not put to a person, for example because it is not valid.
    #[error("{0}")]
    Proposal(String),
    #[error("{message}")]
    Refused { message: String, hint: Option<String> },
    /// The hint is the command that fetches what is missing.
    #[error("{}: {message}", Code::HistoryMissing.as_str())]
    HistoryMissing { message: String, hint: &'static str },
    /// The registry has no such intent, or has two entries with this id.
    #[error("{}", unknown(.id, .known))]
    UnknownIntent { id: String, known: Vec<String>, meant: Option<String> },
    #[error("intent {id} is {status}, not IN_PROGRESS")]
    NotInProgress {
        id: String,
        /// The status as the registry has it, or `without a status`.
        status: String,
    },
    #[error("no intent is selected")]
    NothingSelected {
        /// A command: the one that selects an intent, or the one that has to come before it.
        next: String,
    },
}

impl VerbError {
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: None }
    }

    pub fn mendable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: Some(hint.into()) }
    }

    /// Returns the code of the error, as findings have one. `None` if it has none.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::HistoryMissing { .. }
            | Self::Git(GitError::Missing { .. })
            | Self::Read(ReadError::Git(GitError::Missing { .. })) => Some(Code::HistoryMissing),
            _ => None,
        }
    }
}

impl Hint for VerbError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Root(error) => error.hint(),
            Self::Read(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Append(error) => error.hint(),
            Self::Edit(error) => error.hint(),
            Self::Approval(error) => error.hint(),
            Self::Lesson(error) => error.hint(),
            Self::Refused { hint, .. } => hint.clone(),
            Self::HistoryMissing { hint, .. } => Some((*hint).to_owned()),
            Self::NothingSelected { next } => Some(next.clone()),
            Self::NotInProgress { id, .. } => Some(format!("start it with `intent start {id}`")),
            Self::UnknownIntent { id, known, .. } if known.contains(id) => {
                Some("`intent evidence verify` shows where, and what to do".to_owned())
            }
            Self::UnknownIntent { meant: Some(meant), .. } => {
                Some(format!("did you mean {meant}?"))
            }
            Self::UnknownIntent { .. } | Self::Path(_) | Self::Proposal(_) => None,
        }
    }
}

fn unknown(id: &str, known: &[String]) -> String {
    if known.iter().any(|known| known == id) {
        return format!(
            "the registry defines {id} more than once, so nobody can tell which intent is meant"
        );
    }
    match known {
        [] => format!("no intent {id}; the registry holds no intents yet (`intent new`)"),
        known => format!("no intent {id}; the registry holds {}", text::listed(known)),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{path} does not exist")]
    Missing { path: RelativePath },
    /// The file is not read on purpose, for example because it is too large.
    #[error("{path}: {reason}")]
    Unread { path: RelativePath, reason: Unread },
    #[error("{path} has {}, counted from 1, so there is no line {line}", counted(*.lines, "line"))]
    NoLine {
        path: RelativePath,
        /// The requested line, counted from 1.
        line: u32,
        lines: usize,
    },
    #[error(transparent)]
    Git(GitError),
    /// The path is not a regular file of the workspace, or the operating system refused.
    #[error(transparent)]
    Store(StoreError),
}

impl Hint for ReadError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unread { reason, .. } => reason.hint(),
            Self::Git(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Missing { .. } | Self::NoLine { .. } => None,
        }
    }
}
