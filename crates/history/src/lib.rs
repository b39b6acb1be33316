//! Whose line is it: which change brought each line of a file.
//!
//! - `ancestors`: the commits that a commit comes from.
//! - `attribution`: the records that brought the lines of a text that is not committed.
//! - `claimed_lines`: which lines the records of a commit name.
//! - `file_changes`: the commits that changed a file, and the lines that they removed.
//! - `file_lines`: who brought each line of a file.
//! - `journal_moves`: lines that were moved after they were recorded and before a commit.
//! - `journal_texts`: the texts that the journal kept.
//! - `knowledge`: what is known of the lines of a commit.
//! - `known_origins`: where lines come from, as it was found before.
//! - `line_diff`: the hunks in which two texts differ, as git finds them.
//! - `line_map`: which lines of a text pass to an earlier text.
//! - `moves`: whole blocks that one commit moved.
//! - `origins`: the commit that brought each line.
//! - `removals`: which step of a change removed each line of a text.
//! - `renames`: which file a new file was before.
//! - `run_places`: where the runs of evidence are in the text of a commit.
//! - `text`: lines that equal each other but for white space, and the language of a file.

mod ancestors;
mod attribution;
mod claimed_lines;
mod file_changes;
mod file_lines;
mod journal_moves;
mod journal_texts;
pub mod knowledge;
mod known_origins;
mod line_diff;
mod line_map;
mod moves;
mod origins;
mod removals;
mod renames;
mod run_places;
mod text;

pub use attribution::{RecordedText, attribute};
pub use claimed_lines::{claimed_lines, lines_of_entry, runs_about, writer_of_entry};
pub use file_changes::{FileChanges, FormerText, VersionChange};
pub use file_lines::{FileLines, LineFinder, LineSource, lines_without_git};
pub use journal_moves::JournalTexts;
pub use journal_texts::{lines_of_unkept_texts, recorded_texts};
pub use known_origins::KnownOrigins;
pub use line_map::{lines_in, new_lines, respaced_lines};
pub use moves::MAX_FILES;
pub use origins::{FileVersion, LineOrigins, Origin, OriginRun, Walk, WalkOptions};
pub use removals::{GoneLine, RemovalStep, Removals};
pub use text::{LineText, language_of};
