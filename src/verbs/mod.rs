//! The verbs of the domain, one file each, on a [`Workspace`].
//!
//! Every face is a thin adapter over them: plain data in, plain data out. What
//! they answer derives `Serialize` and `JsonSchema`: that is the `--json` of
//! the command line and the result of the server's commands alike.

pub(crate) mod accept;
pub(crate) mod after;
pub(crate) mod anchor;
pub(crate) mod approval;
pub(crate) mod check;
pub(crate) mod classes;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod criteria;
mod derive;
pub(crate) mod doctor;
pub(crate) mod edited;
mod elsewhere;
pub(crate) mod erase;
pub(crate) mod event;
mod evidence;
pub(crate) mod explain;
pub(crate) mod fence;
pub(crate) mod file;
pub(crate) mod gate;
pub(crate) mod git_hooks;
mod history;
pub(crate) mod init;
pub(crate) mod judgement;
mod knowledge;
pub(crate) mod lesson;
pub(crate) mod map;
mod namesake;
pub(crate) mod owners;
pub(crate) mod proposal;
pub(crate) mod protocol;
mod reach;
pub(crate) mod reassign;
pub(crate) mod record;
pub(crate) mod registry;
pub(crate) mod report;
pub(crate) mod seal;
pub(crate) mod select;
pub(crate) mod signing;
pub(crate) mod suspect;
pub(crate) mod team;
mod tips;
pub(crate) mod trace;
pub(crate) mod trailers;
mod trails;
pub(crate) mod uninstall;
pub(crate) mod verify;
pub(crate) mod why;
mod workspace;

pub use workspace::Workspace;
pub(crate) use workspace::{LazyLedger, OpenError, ReadError};

/// An error of a verb: what happened and what to do next, for a person.
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    /// A workspace that cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A file that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A path outside the workspace.
    #[error(transparent)]
    Path(#[from] crate::workspace::PathError),
    /// Nothing that could be approved has this name.
    #[error(
        "{what} is no code of a question that waits, no intent and no file of rules; `intent approve` lists what waits"
    )]
    NothingToApprove {
        /// As it was named.
        what: String,
    },
    /// A block in which a merge left both sides.
    #[error("{path} holds a merge conflict in lines {}-{}; resolve that first", lines.start(), lines.end())]
    InConflict {
        /// The file.
        path: crate::workspace::RelativePath,
        /// The lines of the conflict, its markers among them.
        lines: crate::code::LineRange,
    },
    /// A baseline of findings that is not there, or cannot be read.
    #[error(
        "the baseline {path} {what}; `intent check --write-baseline {path}` makes one of what comes up now"
    )]
    Baseline {
        /// The file.
        path: String,
        /// What is wrong with it, as the end of a sentence.
        what: String,
    },
    /// Two revisions without a common commit.
    #[error(
        "{from} and what is checked have no commit in common{}", if *shallow { "; this is a shallow clone, so fetch more history: `git fetch --unshallow`, or `git fetch --depth 1000 origin`; in CI set the depth of the checkout to 0" } else { ", so nobody can say what the change is; name a revision that it was made on: `intent check --base REV`" }
    )]
    NoMergeBase {
        /// The revision as it was asked for.
        from: String,
        /// Whether history is cut off here.
        shallow: bool,
    },
    /// Git said no.
    #[error(transparent)]
    Git(#[from] crate::workspace::git::GitError),
    /// A file that cannot be written.
    #[error(transparent)]
    Store(#[from] crate::workspace::store::StoreError),
    /// A record that cannot be appended.
    #[error(transparent)]
    Append(#[from] crate::ledger::AppendError),
    /// A registry that was not edited.
    #[error(transparent)]
    Edit(#[from] crate::intent::EditError),
    /// A person cannot be asked, or what they decided not be kept.
    #[error(transparent)]
    Approval(#[from] crate::workspace::approvals::ApprovalError),
    /// A proposal that no person is asked about.
    #[error("{0}")]
    Proposal(String),
    /// A command that is not fenced, and so not run.
    #[error("no fence can be put up: {0}")]
    NotFenced(String),
    /// A lesson that was not written down.
    #[error(transparent)]
    Lesson(#[from] lesson::LessonError),
    /// No such intent.
    #[error("{}", unknown(.id, .known))]
    UnknownIntent {
        /// What was asked for.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The intent exists but work may not be done under it.
    #[error("intent {id} is {status}, not IN_PROGRESS; start it with `intent start {id}`")]
    NotInProgress {
        /// Which.
        id: String,
        /// Its status as written, or `without a status`.
        status: String,
    },
    /// Nothing is selected where something must be.
    #[error("no intent is selected: {next}")]
    NothingSelected {
        /// The command that selects one, or what comes before it.
        next: String,
    },
    /// What was asked for needs a repository that can be read.
    #[error("{root} has no git repository that can be read, so {what} cannot be judged")]
    NoGit {
        /// The workspace.
        root: String,
        /// What was asked for.
        what: String,
    },
    /// There is a repository, but what the files are based on cannot be read from it.
    #[error("nothing can be judged: {reason}")]
    BrokenGit {
        /// Git's own words, and what to do.
        reason: String,
    },
    /// Nothing was recorded, since not all of the ledger can be read.
    #[error(
        "{reason} Until then nothing is recorded: code that has a record would be claimed anew"
    )]
    NewerEvidence {
        /// What is not read, and what to do.
        reason: String,
    },
    /// Nothing was reassigned.
    #[error("{reason}; `intent why PATH` says which intent each block is under")]
    NothingToReassign {
        /// Why not.
        reason: String,
    },
    /// Nothing was erased.
    #[error("nothing was erased: {reason}")]
    NotErased {
        /// Why.
        reason: String,
    },
    /// An intent that was not completed, since the policy wants its criteria shown.
    #[error("{id} was not completed, since policy.yaml says `completion: passed`: {reason}")]
    NotShown {
        /// Which.
        id: String,
        /// What is missing, and what to do.
        reason: String,
    },
    /// Nothing was anchored.
    #[error("nothing was anchored: {reason}")]
    NotAnchored {
        /// Why.
        reason: String,
    },
    /// A program that is needed could not be started.
    #[error("{program} cannot be run, so {what}: {reason}; install it (it is part of OpenSSH)")]
    NoProgram {
        /// Its name.
        program: &'static str,
        /// What could not be done.
        what: &'static str,
        /// The error message of the system.
        reason: String,
    },
    /// There is no `.orchestration/`.
    #[error("{root} has no .orchestration/ folder; create one with `intent init`")]
    NotGoverned {
        /// The folder that was looked at.
        root: String,
    },
    /// There is no registry.
    #[error("{reason}")]
    MissingRegistry {
        /// That it is missing, and how to get it: a sentence.
        reason: String,
    },
    /// The registry does not parse.
    #[error("{path}: {reason} Mend it first; nothing was changed")]
    BrokenRegistry {
        /// The registry, and the line of the error where there is one.
        path: String,
        /// The first error: a sentence.
        reason: String,
    },
}

fn unknown(id: &str, known: &[String]) -> String {
    if known.iter().any(|known| known == id) {
        return format!(
            "the registry defines {id} more than once, so nobody can tell which intent is meant; `intent verify` shows where, and what to do"
        );
    }
    format!("no intent {id}; the registry holds {}", list(known))
}

fn list(ids: &[String]) -> String {
    if ids.is_empty() { "no intents yet (`intent new`)".to_owned() } else { ids.join(", ") }
}
