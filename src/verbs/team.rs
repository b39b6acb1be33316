//! `init --team`: what a team has beside the ledger. A job of the forge that judges what is to be merged, an entry for the
//! framework pre-commit, and who answers for the files that steer agents.
//!
//! A file of somebody else is changed only where there is one place for ours, and our lines stand between two marks. Where
//! we cannot tell, the lines are printed.

mod ci;
mod codeowners;
mod precommit;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::{OpenError, VerbError};
use crate::workspace::store::{self, StoreError};
use crate::workspace::{Git, Root};

/// A file larger than this, in bytes, is not ours to change.
const MAX_FILE: u64 = 1024 * 1024;
/// In the lines around ours.
const BEGIN: &str =
    "# intent:begin (`intent init --team` wrote this; `intent uninstall` takes it away)";
const END: &str = "# intent:end";

/// What was done for a team.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TeamAnswer {
    /// The files, with what became of them.
    pub files: Vec<TeamFile>,
    /// What is left for a person to fill in or to know.
    pub notes: Vec<String>,
}

/// A file of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TeamFile {
    /// Relative to the top of the work tree.
    pub path: String,
    /// What became of it.
    pub done: TeamFileDone,
    /// Lines for a person to add, where we do not write into the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
}

/// What became of a file of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TeamFileDone {
    /// It was not there.
    Created,
    /// Our lines were put in.
    Changed,
    /// It was as it should be, or is a person's own.
    Kept,
    /// A person adds `lines`.
    ToAdd,
}

/// Where a team's files are.
struct TeamPlace {
    /// The top of the work tree.
    top: PathBuf,
    /// The workspace's root below it: empty, or `services/shop`.
    below: String,
}

impl TeamPlace {
    fn of(root: &Root) -> Self {
        let top = root.work_tree().unwrap_or(root.path()).to_path_buf();
        let below = root.path().strip_prefix(&top).unwrap_or(Path::new(""));
        let below = below.to_string_lossy().replace('\\', "/");
        Self { top, below }
    }

    fn exists(&self, path: &str) -> bool {
        self.top.join(path).symlink_metadata().is_ok()
    }

    /// The text of a file; `None` where there is none. Nothing on the way may be a link: it may lead out of the
    /// repository.
    fn read(&self, path: &str) -> Result<Option<String>, StoreError> {
        let whole = self.top.join(path);
        let mut on_the_way = whole.ancestors().take_while(|above| *above != self.top);
        if let Some(link) = on_the_way.find(|above| above.is_symlink()) {
            return Err(StoreError::Symlink { path: link.to_path_buf() });
        }
        let bytes = store::read_capped(&whole, MAX_FILE)?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|error| StoreError::Io {
            path: whole,
            doing: "read as UTF-8",
            source: std::io::Error::other(error),
        })
    }

    fn write(&self, path: &str, text: &str) -> Result<(), StoreError> {
        store::write_atomic(&self.top.join(path), text.as_bytes())
    }
}

/// Adds what a team needs to the workspace that holds `folder`. `owners` are handles, as the forge knows them.
pub(crate) fn team(folder: &Path, owners: &[String]) -> Result<TeamAnswer, VerbError> {
    let root = Root::find(folder).map_err(OpenError::from)?;
    let git = Git::open(&root)?;
    let place = TeamPlace::of(&root);
    let remotes = git.map(|git| git.remotes()).unwrap_or_default();
    let forges = ci::forges(&place, &remotes);
    let mut answer = TeamAnswer { files: Vec::new(), notes: Vec::new() };
    ci::add(&place, &forges, &mut answer)?;
    precommit::add(&place, &mut answer)?;
    codeowners::add(&place, &forges, owners, &mut answer)?;
    Ok(answer)
}

/// What was, or would be, taken out of a team's files.
pub(super) struct TeamTaken {
    /// Files without our lines, or gone where these were all there was; `true` for gone.
    pub taken: Vec<(PathBuf, bool)>,
    /// Files that stay as they are, and why.
    pub left: Vec<(PathBuf, String)>,
}

/// Takes our files and lines out again; with `dry_run` nothing is written.
pub(super) fn take_out(root: &Root, dry_run: bool) -> Result<TeamTaken, StoreError> {
    let place = TeamPlace::of(root);
    let mut found = TeamTaken { taken: Vec::new(), left: Vec::new() };
    let paths = ci::PATHS.iter().chain([&precommit::CONFIG]).chain(&codeowners::PLACES);
    for path in paths {
        let whole = place.top.join(path);
        let rest = match place.read(path) {
            Ok(None) => continue,
            Ok(Some(text)) => rest_of(path, &text),
            Err(error) => Some(Remainder::Theirs(format!("it was not looked at: {error}"))),
        };
        match rest {
            None => {}
            Some(Remainder::Theirs(why)) => found.left.push((whole, why)),
            Some(Remainder::Text(text)) => {
                if !dry_run {
                    place.write(path, &text)?;
                }
                found.taken.push((whole, false));
            }
            Some(Remainder::Nothing) => {
                if !dry_run {
                    store::remove(&whole)?;
                    leave_no_empty_folder(&place.top, &whole);
                }
                found.taken.push((whole, true));
            }
        }
    }
    Ok(found)
}

/// What is left of a file without ours; `None` where nothing of ours is in it.
fn rest_of(path: &str, text: &str) -> Option<Remainder> {
    if ci::PATHS.contains(&path) {
        return ci::without(path, text);
    }
    if path == precommit::CONFIG { precommit::without(text) } else { without_block(text) }
}

/// What is left of a file without ours.
enum Remainder {
    /// Nothing: it goes.
    Nothing,
    /// The text of others.
    Text(String),
    /// It stays as it is, for this reason.
    Theirs(String),
}

/// A text with our lines between the marks; where they are there already, in their place.
fn with_block(text: &str, lines: &str) -> String {
    let end_of_line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block: String = [BEGIN]
        .into_iter()
        .chain(lines.lines())
        .chain([END])
        .map(|line| format!("{line}{end_of_line}"))
        .collect();
    match block_in(text) {
        Some(place) => format!("{}{block}{}", &text[..place.start], &text[place.end..]),
        None if text.is_empty() || text.ends_with('\n') => format!("{text}{block}"),
        None => format!("{text}{end_of_line}{block}"),
    }
}

/// The bytes of our lines, marks and their line ends among them. `None` where the marks do not pair.
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

/// The rest of a text without our lines; `None` where they are not in it.
fn without_block(text: &str) -> Option<Remainder> {
    let Some(place) = block_in(text) else {
        let is_half = text.lines().any(|line| [BEGIN, END].contains(&line.trim()));
        return is_half
            .then(|| Remainder::Theirs("the marks around our lines do not pair".to_owned()));
    };
    let rest = format!("{}{}", &text[..place.start], &text[place.end..]);
    Some(if rest.trim().is_empty() { Remainder::Nothing } else { Remainder::Text(rest) })
}

/// Folders that hold nothing any more; one that is not empty is not removed by this.
pub(super) fn leave_no_empty_folder(top: &Path, path: &Path) {
    for folder in path.ancestors().skip(1) {
        if folder == top || !folder.starts_with(top) || std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
