//! The verbs of the domain: the questions and actions that every face offers, one module each, on
//! an immutable [`Workspace`].
//!
//! A face only translates between its protocol and these functions, which take and return plain
//! data. Answers derive `Serialize` and `JsonSchema`; the same JSON is the output of `--json` and
//! the result of the server's commands.
//!
//! - `accept`: a person confirms that a block is right as it is now.
//! - `after`: recording what a call of a tool did, after the call.
//! - `anchor`: signing the list of the evidence in a commit.
//! - `approval`: the questions that wait for a person, and the person's decisions.
//! - `baseline`: the blocks in which a text differs from its baseline.
//! - `check`: whether a change agrees with the intents, the scopes and the ledger.
//! - `classes`: the mutation class of a whole change, compared with what agents claimed.
//! - `compact`: merging the evidence of closed months.
//! - `context`: what an agent should know before it works under an intent.
//! - `criteria`: testing the acceptance criteria of an intent, and completing it.
//! - `doctor`: whether everything is in place, and what to do if not.
//! - `erase`: removing one line of evidence.
//! - `event`: what an agent is about to do, or has done.
//! - `evidence_texts`: the texts of a file before and after the commit that evidence is about.
//! - `evidence`: comparing evidence with that of a base commit.
//! - `explain`: how a shell command is understood.
//! - `fence`: what a fenced command may write.
//! - `file`: reading and writing files for an agent that has no file tools.
//! - `gate`: whether a call of an agent's tool may go ahead.
//! - `git_hooks`: the git hooks that seal records into commits.
//! - `history`: which commit added which evidence, and the order of commits.
//! - `init`: creating the first files of a workspace.
//! - `intent_history`: the texts that intents had at earlier commits.
//! - `lesson`: writing down what an agent or a person learned.
//! - `map`: which intent has produced which blocks.
//! - `match_cache`: look-ups in the rest of the work tree, for the matcher.
//! - `memo`: answers that are kept in memory.
//! - `namesake`: earlier intents whose id belongs to another intent now.
//! - `owners`: which intents own a file.
//! - `proposal`: proposals of an agent that only a person can approve.
//! - `protocol`: the text that tells an agent how to work with intents.
//! - `reassign`: putting recorded blocks under another intent.
//! - `record`: recording a change of files.
//! - `registry`: changes to the registry.
//! - `report`: everything that is known of a workspace, in one answer.
//! - `rules`: whether work under an intent may change a path.
//! - `scope_notes`: whether the globs of a scope match the intended files.
//! - `seal`: making evidence for a commit from the journal.
//! - `seen_blocks`: what each session knows of a file.
//! - `select`: selecting the intent that a person or session works under.
//! - `shared_branches`: noticing evidence that disappears from shared branches.
//! - `signing`: whose signatures count.
//! - `suspect`: blocks whose intent or specification has changed since they were recorded.
//! - `team`: the files that a team needs besides the ledger.
//! - `trace`: listing the records themselves.
//! - `trail_cache`: the recorded history of a file, and its cache.
//! - `trailers`: lines of a commit message that name its intents.
//! - `uninstall`: removing what `init` added.
//! - `verify`: whether the ledger is complete and unchanged.
//! - `why`: which intent produced each block of a file.
//! - `workspace`: the workspace with everything that verbs need, read once.

pub(crate) mod accept;
pub(crate) mod after;
pub(crate) mod anchor;
pub(crate) mod approval;
pub(crate) mod baseline;
pub(crate) mod check;
pub(crate) mod classes;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod criteria;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod event;
mod evidence;
mod evidence_texts;
pub(crate) mod explain;
pub(crate) mod fence;
pub(crate) mod file;
pub(crate) mod gate;
pub(crate) mod git_hooks;
mod history;
pub(crate) mod init;
mod intent_history;
pub(crate) mod lesson;
pub(crate) mod map;
mod match_cache;
mod memo;
mod namesake;
pub(crate) mod owners;
pub(crate) mod proposal;
pub(crate) mod protocol;
pub(crate) mod reassign;
pub(crate) mod record;
pub(crate) mod registry;
pub(crate) mod report;
pub(crate) mod rules;
mod scope_notes;
pub(crate) mod seal;
mod seen_blocks;
pub(crate) mod select;
mod shared_branches;
pub(crate) mod signing;
pub(crate) mod suspect;
pub(crate) mod team;
pub(crate) mod trace;
mod trail_cache;
pub(crate) mod trailers;
pub(crate) mod uninstall;
pub(crate) mod verify;
pub(crate) mod why;
mod workspace;

use crate::workspace::Hint;
pub use workspace::Workspace;
pub(crate) use workspace::{LazyLedger, ReadError};

/// Why a verb could not do its work. The message says what happened, and [`Hint::hint`] what a person
/// can do next.
///
/// A reason has a variant of its own only if a face treats it in its own way, or if it is the error
/// of another room. All others are [`VerbError::Refused`].
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    /// The root of the workspace cannot be found.
    #[error(transparent)]
    Root(#[from] crate::workspace::root::RootError),
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A path is outside the workspace.
    #[error(transparent)]
    Path(#[from] crate::workspace::PathError),
    #[error(transparent)]
    Git(#[from] crate::workspace::git::GitError),
    #[error(transparent)]
    Store(#[from] crate::workspace::store::StoreError),
    #[error(transparent)]
    Append(#[from] crate::ledger::AppendError),
    /// The registry was not edited.
    #[error(transparent)]
    Edit(#[from] crate::intent::EditError),
    /// The person could not be asked, or the answer could not be stored.
    #[error(transparent)]
    Approval(#[from] crate::workspace::approvals::ApprovalError),
    /// The lesson was not written.
    #[error(transparent)]
    Lesson(#[from] lesson::LessonError),
    /// The proposal is not put to a person, for example because it is not valid.
    #[error("{0}")]
    Proposal(String),
    /// Nothing was done.
    #[error("{message}")]
    Refused {
        message: String,
        /// What mends it, if that is known.
        hint: Option<String>,
    },
    /// The registry has no such intent, or has two entries with this id.
    #[error("{}", unknown(.id, .known))]
    UnknownIntent {
        id: String,
        /// The ids in the registry.
        known: Vec<String>,
    },
    /// The intent exists, but its status does not allow work under it.
    #[error("intent {id} is {status}, not IN_PROGRESS")]
    NotInProgress {
        id: String,
        /// The status as the registry has it, or `without a status`.
        status: String,
    },
    /// The session has not selected an intent, and the call needs one.
    #[error("no intent is selected")]
    NothingSelected {
        /// A command: the one that selects an intent, or the one that has to come before it.
        next: String,
    },
}

impl VerbError {
    /// Returns the error for something that was not done, if nothing is known that mends it.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: None }
    }

    /// Returns the error for something that was not done. `hint` says what mends it.
    pub(crate) fn mendable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), hint: Some(hint.into()) }
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
            Self::NothingSelected { next } => Some(next.clone()),
            Self::NotInProgress { id, .. } => Some(format!("start it with `intent start {id}`")),
            Self::UnknownIntent { id, known } if known.contains(id) => {
                Some("`intent verify` shows where, and what to do".to_owned())
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
        known => format!("no intent {id}; the registry holds {}", known.join(", ")),
    }
}
