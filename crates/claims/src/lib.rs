//! What other tools recorded about lines and commits. It is read where it stands, and never
//! verified: it is what the tool claims.
//!
//! - `agent_blame`: the notes of Agent Blame.
//! - `claimed_line`: what a tool claims about a line.
//! - `claims`: the answer for a line.
//! - `commit_note`: what a note claims about the lines of a commit.
//! - `git_ai`: the notes of Git AI.
//! - `notes_tree`: finding the note of a commit.

mod agent_blame;
mod claimed_line;
mod claims;
mod commit_note;
mod git_ai;
mod notes_tree;

pub use claimed_line::{ClaimedLine, ClaimingTool};
pub use claims::Claims;
