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
mod branch_rewrites;
pub(crate) mod check;
pub(crate) mod classes;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod criteria;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod error;
pub(crate) mod event;
mod evidence;
mod evidence_texts;
pub(crate) mod explain;
pub(crate) mod fence;
pub(crate) mod file;
pub(crate) mod findings;
pub(crate) mod gate;
pub(crate) mod git_hooks;
pub(crate) mod health;
mod history;
pub(crate) mod init;
mod intent_history;
pub(crate) mod judged_record;
pub(crate) mod lesson;
pub(crate) mod lesson_error;
pub(crate) mod map;
mod match_cache;
mod memo;
mod namesake;
pub(crate) mod owners;
pub(crate) mod produced;
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
pub(crate) mod selectable;
pub(crate) mod selection;
mod shared_branches;
pub(crate) mod signing;
pub(crate) mod status;
pub(crate) mod suspect;
pub(crate) mod team;
pub(crate) mod trace;
mod trail_cache;
pub(crate) mod trailers;
pub(crate) mod uninstall;
pub(crate) mod verify;
pub(crate) mod why;
mod workspace;

pub use error::VerbError;
pub use workspace::Workspace;
pub(crate) use workspace::{LazyLedger, ReadError};
