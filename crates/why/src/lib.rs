//! What a workspace says about its code: which intent owns a file, which record a block comes from,
//! and whether the block is still what was recorded.
//!
//! [`Workspace`] is an immutable snapshot with everything that an answer needs. All functions take
//! one and return plain data, which derives `Serialize` and `JsonSchema`: the same JSON is the
//! output of `--json` and the result of the server's commands.
//!
//! - [`answers`]: which intent produced each block of a file.
//! - [`baseline`]: the blocks in which a text differs from its baseline.
//! - `block_changes`: the last change of a block.
//! - [`change_class`]: the mutation class of a whole change, compared with what agents claimed.
//! - `commit_brief`: a short description of a commit.
//! - `commit_intents`: the intent that a commit names or whose files it changed.
//! - `commit_words`: what the message of a commit says beside its subject.
//! - [`error`]: why a verb could not do its work, and why a file could not be read.
//! - [`file_lines`]: who brought each line of a file.
//! - [`file_progress`]: how far a question about all files has come.
//! - [`findings`]: findings in the form that programs read.
//! - [`health`]: one result of `intent doctor`.
//! - `intent_history`: the texts that intents had at earlier commits.
//! - `known_commits`: what was found out about the intents of commits.
//! - [`left_history`]: which commits with settled records have left the history.
//! - [`lesson_error`]: why a lesson was not written.
//! - `memo`: answers that are kept in memory.
//! - `named_intents`: which intent a text means, and what to say if it is not there.
//! - [`namesake`]: earlier intents whose id belongs to another intent now.
//! - [`owners`]: which intents own a file.
//! - [`produced`]: the blocks that each intent has produced.
//! - `provenance_of_blocks`: who each block belongs to.
//! - [`removed`]: what commits removed from a file.
//! - [`rules`]: whether work under an intent may change a path.
//! - [`rules_at`]: the policy and the ignore files as they are in the index or at a commit.
//! - [`selectable`]: which intents can be selected or started, and the command that does it.
//! - [`shared_branches`]: remembering the commits of shared branches.
//! - [`suspect`]: blocks whose intent or specification has changed since they were recorded.
//! - [`trace`]: listing the records themselves.
//! - `unread`: sentences about a registry or evidence that cannot be read.
//! - [`workspace`]: the workspace with everything that verbs need, read once.

pub mod answers;
pub mod baseline;
mod block_changes;
pub mod change_class;
pub(crate) mod commit_brief;
pub mod commit_intents;
pub(crate) mod commit_words;
pub mod error;
pub mod file_lines;
pub mod file_progress;
pub mod findings;
pub mod health;
pub(crate) mod intent_history;
pub(crate) mod known_commits;
pub mod left_history;
pub mod lesson_error;
pub(crate) mod memo;
mod named_intents;
pub mod namesake;
pub mod owners;
pub mod produced;
pub(crate) mod provenance_of_blocks;
pub mod removed;
pub mod rules;
pub mod rules_at;
pub mod selectable;
pub mod shared_branches;
pub mod suspect;
pub mod trace;
mod unread;
pub mod workspace;

pub use error::{ReadError, VerbError};
pub use provenance_of_blocks::{LineShare, LinesOfBlock, Provenance, lines_of_blocks};
pub use workspace::{LazyLedger, Workspace};
