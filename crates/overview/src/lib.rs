//! What concerns a whole workspace: setting it up and removing it, and the overviews of what is
//! known of it.
//!
//! - [`adopt`]: giving a scope to an intent that is kept in another format.
//! - [`context`]: what an agent should know before it works under an intent.
//! - [`criteria`]: testing the acceptance criteria of an intent, and completing it.
//! - [`doctor`]: whether everything is in place, and what to do if not.
//! - [`init`]: creating the first files of a workspace.
//! - `last_counts`: what `intent list --count` counted last.
//! - `line_counts`: how many lines each intent, contributor and month brought.
//! - [`own_setup`]: what `init` wrote, which no check reports.
//! - [`report`]: what came of the intents of a workspace, in one answer.
//! - [`select`]: selecting an intent, and listing all of them.
//! - [`source`]: what another format says of an intent that is kept there.
//! - [`status`]: a short overview of the state of a workspace.
//! - `taken_back`: what `intent setup uninstall` took back.
//! - [`team`]: the files that a team needs besides the ledger.
//! - [`uninstall`]: removing what `init` added.

pub mod adopt;
pub mod context;
pub mod criteria;
pub mod doctor;
pub mod init;
mod last_counts;
mod line_counts;
pub mod own_setup;
pub mod report;
pub mod select;
pub mod source;
pub mod status;
mod taken_back;
pub mod team;
pub mod uninstall;
