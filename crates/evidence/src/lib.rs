//! Writes records, carries them into commits as evidence, and proves that both are complete and
//! unchanged.
//!
//! A record is made from a change of files, [`seal`] makes evidence of the records for a commit, and
//! [`verify`] compares what the ledger says with what git has.
//!
//! - [`anchor`]: signing the list of the evidence in a commit.
//! - `branch_rewrites`: noticing evidence that disappears from shared branches.
//! - [`compact`]: merging the evidence of closed months.
//! - `compared`: what a comparison finds.
//! - [`comparison`]: comparing evidence with that of a base commit.
//! - [`erase`]: removing one line of evidence.
//! - [`event`]: what an agent is about to do, or has done.
//! - [`git_hooks`]: the git hooks that seal records into commits.
//! - [`reassign`]: putting recorded lines under another intent.
//! - [`record`]: recording a change of files.
//! - [`seal`]: making evidence for a commit from the journal.
//! - [`signing`]: whose signatures count.
//! - [`trailers`]: lines of a commit message that name its intents.
//! - `unknown_intents`: intents that records name and the registry does not contain.
//! - [`verify`]: whether the ledger is complete and unchanged.

pub mod anchor;
pub(crate) mod branch_rewrites;
pub mod compact;
mod compared;
pub mod comparison;
pub mod erase;
pub mod event;
pub mod git_hooks;
pub mod reassign;
pub mod record;
pub mod seal;
pub mod signing;
pub mod trailers;
mod unknown_intents;
pub mod verify;
