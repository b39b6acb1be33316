//! `intent setup team`: adds the files that a team needs besides the ledger: a CI job that checks
//! each change before it is merged (`ci`), an entry for the framework pre-commit (`precommit`), and
//! code owners for the files that control agents (`codeowners`).
//!
//! An existing file is changed only if there is exactly one place for our lines, and these stand
//! between two marks. If the place is not clear, the lines are printed instead.

mod ci;
mod codeowners;
mod precommit;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::taken_back::{TakenHow, UninstallAnswer};
use ground::store::{self, StoreError};
use ground::text::shell_word;
use ground::{Environment, Git, Hint, Root};
use why::VerbError;

/// The largest file that is changed, in bytes.
const MAX_FILE: u64 = 1024 * 1024;
const BEGIN: &str =
    "# intent:begin (`intent init --team` wrote this; `intent uninstall` takes it away)";
const END: &str = "# intent:end";

/// What `intent setup team` did, and what is left to do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamAnswer {
    /// The files of the team, with what was done to each.
    pub files: Vec<TeamFile>,
    /// What a person still has to fill in or to know.
    pub notes: Vec<String>,
}

/// A file that a team needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TeamFile {
    /// The path, relative to the top of the work tree.
    pub path: String,
    /// What was done to the file.
    pub done: TeamFileDone,
    /// Lines that a person has to add, if the file is not written by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
}

/// What was done to a file of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamFileDone {
    /// The file did not exist and was created.
    Created,
    /// Our lines were added to the file, or replaced.
    Changed,
    /// The file was right already, or it is maintained by a person.
    Kept,
    /// A person has to add `lines` to the file.
    ToAdd,
}

struct TeamPlace {
    top: PathBuf,
    /// The path of the workspace's root below `top`: empty, or for example `services/shop`.
    below: String,
}

impl TeamPlace {
    fn in_root(root: &Root) -> Self {
        let top = root.work_tree().unwrap_or(root.path()).to_path_buf();
        let below = root.path().strip_prefix(&top).unwrap_or(Path::new(""));
        let below = below.to_string_lossy().replace('\\', "/");
        Self { top, below }
    }

    fn exists(&self, path: &str) -> bool {
        self.top.join(path).symlink_metadata().is_ok()
    }

    /// Returns the text of a file. `None` if it does not exist. It is an error if a part of the
    /// path is a symbolic link, since that may lead out of the repository.
    fn read(&self, path: &str) -> Result<Option<String>, StoreError> {
        let whole = self.top.join(path);
        let mut on_the_way = whole.ancestors().take_while(|above| *above != self.top);
        if let Some(link) = on_the_way.find(|above| above.is_symlink()) {
            return Err(StoreError::Symlink { path: link.to_path_buf() });
        }
        let bytes = store::read_capped(&whole, MAX_FILE)?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|error| store::failed(&whole, "read as UTF-8")(std::io::Error::other(error)))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), StoreError> {
        store::write_atomic(&self.top.join(path), text.as_bytes())
    }
}

pub fn team(
    folder: &Path,
    owners: &[String],
    environment: &Environment,
) -> Result<TeamAnswer, VerbError> {
    let root = Root::find(folder, environment)?;
    let git = Git::open(&root)?;
    let place = TeamPlace::in_root(&root);
    let remotes = git.map(|git| git.remotes()).unwrap_or_default();
    let job_files = ci::job_files(&place, &remotes);
    let mut answer = TeamAnswer { files: Vec::new(), notes: Vec::new() };
    ci::add_ci_job(&place, &job_files, &mut answer)?;
    precommit::add_precommit_hook(&place, &mut answer)?;
    codeowners::add_codeowners(&place, &job_files, owners, &mut answer)?;
    Ok(answer)
}

pub fn is_file(path: &str) -> bool {
    ci::PATHS.contains(&path) || path == precommit::CONFIG || codeowners::PLACES.contains(&path)
}

/// Returns true if a file at the top of the repository differs from its former text only in what
/// [`team`] writes.
pub fn is_as_written(path: &str, before: Option<&str>, now: &str) -> bool {
    match path {
        path if ci::PATHS.contains(&path) => before.is_none() && ci::is_template(path, now),
        precommit::CONFIG => precommit::is_as_written(before, now),
        path if codeowners::PLACES.contains(&path) => codeowners::is_as_written(before, now),
        _ => false,
    }
}

pub fn take_out(root: &Root, answer: &mut UninstallAnswer) -> Result<(), StoreError> {
    let place = TeamPlace::in_root(root);
    let paths = ci::PATHS.iter().chain([&precommit::CONFIG]).chain(&codeowners::PLACES);
    for path in paths {
        let whole = place.top.join(path);
        let rest = match place.read(path) {
            Ok(None) => continue,
            Ok(Some(text)) => rest_of(path, &text),
            Err(error) => {
                Some(Remainder::Theirs(format!("it was not looked at: {}", error.with_hint())))
            }
        };
        match rest {
            None => {}
            Some(Remainder::Theirs(why)) => {
                let word = shell_word(&answer.shown_path(&whole));
                answer.leave(&whole, why, format!("take our part out by hand, or `rm {word}`"));
            }
            Some(Remainder::Text(text)) => {
                if !answer.dry_run {
                    place.write(path, &text)?;
                }
                answer.took(&whole, TakenHow::Changed);
            }
            Some(Remainder::Nothing) => {
                if !answer.dry_run {
                    store::remove(&whole)?;
                    store::remove_empty_folders(&place.top, &whole);
                }
                answer.took(&whole, TakenHow::Removed);
            }
        }
    }
    Ok(())
}

/// Returns what remains of a file without our part. `None` if the file contains nothing of ours.
fn rest_of(path: &str, text: &str) -> Option<Remainder> {
    if ci::PATHS.contains(&path) {
        return ci::text_without_job(path, text);
    }
    if path == precommit::CONFIG { precommit::text_without_hook(text) } else { without_block(text) }
}

enum Remainder {
    Nothing,
    Text(String),
    Theirs(String),
}

/// Returns the text with our lines between the marks. If the marks exist, the lines between them
/// are replaced.
fn with_block(text: &str, lines: &str) -> String {
    let end_of_line = end_of_line(text);
    let block = between_marks(lines, "", end_of_line);
    match block_in(text) {
        Some(place) => format!("{}{block}{}", &text[..place.start], &text[place.end..]),
        None if text.is_empty() || text.ends_with('\n') => format!("{text}{block}"),
        None => format!("{text}{end_of_line}{block}"),
    }
}

fn between_marks(lines: &str, indent: &str, end_of_line: &str) -> String {
    let lines = [BEGIN].into_iter().chain(lines.lines()).chain([END]);
    lines.map(|line| format!("{indent}{line}{end_of_line}")).collect()
}

fn end_of_line(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns the byte range of our lines, including the marks and their line ends. `None` if the
/// marks do not pair.
fn block_in(text: &str) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    let (mut start, mut end) = (None, None);
    for line in text.split_inclusive('\n') {
        let begins = line.trim() == BEGIN;
        let ends = line.trim() == END;
        match (begins, ends, start, end) {
            (true, _, None, None) => start = Some(at),
            (_, true, Some(_), None) => end = Some(at + line.len()),
            (true, ..) | (_, true, ..) => return None,
            _ => {}
        }
        at += line.len();
    }
    Some(start?..end?)
}

fn has_mark(text: &str) -> bool {
    text.lines().any(|line| [BEGIN, END].contains(&line.trim()))
}

/// Returns the text without our lines. `None` if the text does not contain them.
fn without_block(text: &str) -> Option<Remainder> {
    let Some(place) = block_in(text) else {
        return has_mark(text)
            .then(|| Remainder::Theirs("the marks around our lines do not pair".to_owned()));
    };
    let rest = format!("{}{}", &text[..place.start], &text[place.end..]);
    Some(if rest.trim().is_empty() { Remainder::Nothing } else { Remainder::Text(rest) })
}

#[cfg(test)]
mod tests;
