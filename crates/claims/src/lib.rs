//! What other tools recorded about lines and commits. It is read where it stands, and never
//! verified: it is what the tool claims.
//!
//! - `agent_blame`: the notes of Agent Blame.
//! - `checkpoints`: the checkpoints of Entire.
//! - `claimed_line`: what a tool claims about a line.
//! - `claims`: the answer for a line.
//! - `commit_note`: what a note claims about the lines of a commit.
//! - `git_ai`: the notes of Git AI.
//! - `imported_files`: files that a person imported.
//! - `notes_tree`: finding the note of a commit.
//! - `other_notes`: notes that are not read.
//! - `session_runs`: lines that sessions on this machine wrote.
//! - `trace_files`: the trace files of a workspace.
//! - `traced_commit`: what a trace file says about the lines of a commit.
//! - `traced_lines`: files in the format of Agent Trace.
//! - `transcripts`: the transcripts of agents on this machine.
//! - `version_text`: the text of a file in a commit.

mod agent_blame;
mod checkpoints;
mod claimed_line;
mod claims;
mod commit_note;
mod git_ai;
mod imported_files;
mod notes_tree;
mod other_notes;
mod session_runs;
mod trace_files;
mod traced_commit;
mod traced_lines;
mod transcripts;
mod version_text;

pub use checkpoints::{Checkpoint, CheckpointSession, checkpoint};
pub use claimed_line::{ClaimedLine, ClaimingTool};
pub use claims::Claims;
pub use imported_files::{ImportError, ImportedFile, UnreadablePart, import_ledger, import_trace};
pub use other_notes::{MissingNotes, missing_notes, unknown_notes};
pub use session_runs::{ImportStep, ImportedSessions, import_sessions};
