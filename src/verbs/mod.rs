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

pub use workspace::Workspace;
pub(crate) use workspace::{LazyLedger, ReadError};

/// Why a verb could not do its work. The message says what happened and what a person can do next.
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
    /// `intent approve NAME` was called with a name that stands for nothing: no waiting question,
    /// no intent, no rule file. Holds the name, as it was typed.
    #[error(
        "{0} is not the code of a pending question, not an intent and not a file of rules; `intent approve` lists the pending questions"
    )]
    NothingToApprove(String),
    /// A merge left conflict markers in the block, so it has two texts.
    #[error("{path} holds a merge conflict in lines {}-{}; resolve that first", lines.start(), lines.end())]
    InConflict {
        path: crate::workspace::RelativePath,
        /// The lines of the conflict, including its markers.
        lines: crate::code::LineRange,
    },
    /// The file named by `--baseline` does not exist or cannot be read.
    #[error(
        "the baseline {path} {what}; `intent check --write-baseline {path}` makes one of what comes up now"
    )]
    Baseline {
        path: String,
        /// The end of the sentence "the baseline PATH …".
        what: String,
    },
    /// The two revisions have no common ancestor, so the change between them is undefined.
    #[error(
        "{from} and what is checked have no commit in common{}", if *shallow { "; this is a shallow clone, so fetch more history: `git fetch --unshallow`, or `git fetch --depth 1000 origin`; in CI set the depth of the checkout to 0" } else { ", so nobody can say what the change is; name a revision that it was made on: `intent check --base REV`" }
    )]
    NoMergeBase {
        /// The revision, as the caller named it.
        from: String,
        /// Whether this is a shallow clone, so the common ancestor may only be missing here.
        shallow: bool,
    },
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
    /// The proposal is not put to a person, for example because it is not valid.
    #[error("{0}")]
    Proposal(String),
    /// The command was not run, because no fence could be put around it.
    #[error("no fence can be put up: {0}")]
    NotFenced(String),
    /// The lesson was not written.
    #[error(transparent)]
    Lesson(#[from] lesson::LessonError),
    /// The registry has no such intent, or has two entries with this id.
    #[error("{}", unknown(.id, .known))]
    UnknownIntent {
        id: String,
        /// The ids in the registry.
        known: Vec<String>,
    },
    /// The intent exists, but its status does not allow work under it.
    #[error("intent {id} is {status}, not IN_PROGRESS; start it with `intent start {id}`")]
    NotInProgress {
        id: String,
        /// The status as the registry has it, or `without a status`.
        status: String,
    },
    /// The session has not selected an intent, and the call needs one.
    #[error("no intent is selected: {next}")]
    NothingSelected {
        /// A command: the one that selects an intent, or the one that has to come before it.
        next: String,
    },
    /// The question can only be answered in a git repository that can be read.
    #[error("{root} has no git repository that can be read, so {what} cannot be judged")]
    NoGit {
        /// The root folder of the workspace.
        root: String,
        /// The thing that could not be judged.
        what: String,
    },
    /// There is a git repository, but the base of the files cannot be read from it. Holds git's
    /// error message and what to do about it.
    #[error("nothing can be judged: {0}")]
    BrokenGit(String),
    /// A newer version of `intent` wrote part of the ledger and this version cannot read it, so
    /// nothing was recorded. Holds a sentence: the part that cannot be read, and what to do.
    #[error("{0} Until then nothing is recorded: code that has a record would be claimed anew")]
    NewerEvidence(String),
    /// Nothing was reassigned, for example because no block matches.
    #[error("{reason}; `intent why PATH` says which intent each block is under")]
    NothingToReassign { reason: String },
    /// `intent erase` refused, and changed nothing.
    #[error("nothing was erased: {reason}")]
    NotErased { reason: String },
    /// The policy says `completion: passed`, and the evidence for the criteria of the intent is not
    /// complete.
    #[error("{id} was not completed, since policy.yaml says `completion: passed`: {reason}")]
    NotShown {
        id: String,
        /// The missing evidence, and what to do.
        reason: String,
    },
    /// `intent anchor` made no anchor.
    #[error("nothing was anchored: {reason}")]
    NotAnchored { reason: String },
    /// A required program could not be started.
    #[error("{program} cannot be run, so {what}: {reason}; install it (it is part of OpenSSH)")]
    NoProgram {
        program: &'static str,
        /// What needed the program, as the middle of a sentence.
        what: &'static str,
        /// The error message of the operating system.
        reason: String,
    },
    /// The workspace has no `.orchestration/` folder. Holds the folder that was searched.
    #[error("{0} has no .orchestration/ folder; create one with `intent init`")]
    NotGoverned(String),
    /// The workspace has no registry. Holds a sentence that says so, and how to create one.
    #[error("{0}")]
    MissingRegistry(String),
    /// The registry cannot be parsed.
    #[error("{path}: {reason} Fix it first; nothing was changed")]
    BrokenRegistry {
        /// The path of the registry file, with the line number of the error if it is known.
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
    match known {
        [] => format!("no intent {id}; the registry holds no intents yet (`intent new`)"),
        known => format!("no intent {id}; the registry holds {}", known.join(", ")),
    }
}
