//! *Compact*: the evidence of closed months, one file a month instead of one a commit.
//!
//! Sections are moved byte for byte and in the order in which they were read before, so everything that is known by a
//! section's digest stays known: the ids of its records, what it was sealed from, and the commit that it is about.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::evidence::is_evidence;
use super::{VerbError, Workspace};
use crate::ledger::evidence::{self, Digest};
use crate::workspace::git::Target;
use crate::workspace::{RelativePath, store};

/// What was united, or would be.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CompactAnswer {
    /// One for each month of which there was something to unite, oldest first.
    pub months: Vec<CompactedMonth>,
    /// Files of closed months that stay as they are: in no commit yet, or not readable as a whole.
    pub left: Vec<RelativePath>,
    /// Whether this was only a rehearsal.
    pub dry_run: bool,
    /// Whether it was staged.
    pub staged: bool,
}

/// A month whose evidence became one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CompactedMonth {
    /// `2026-02`.
    pub month: String,
    /// The files that were taken away.
    pub removed: Vec<RelativePath>,
    /// The file that holds all that they held.
    pub written: RelativePath,
}

/// Unites the evidence of all months before one (`2026-02`, in UTC); with `dry_run` nothing is written.
pub fn compact(ws: &Workspace, before: &str, dry_run: bool) -> Result<CompactAnswer, VerbError> {
    ws.governed()?;
    if let Some(reason) = ws.git_error() {
        return Err(VerbError::BrokenGit { reason: reason.to_string() });
    }
    let mut answer = CompactAnswer { dry_run, ..CompactAnswer::default() };
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(answer) };
    // The bytes are those of the commit: what is not committed may still be a draft.
    let committed: BTreeMap<RelativePath, Vec<u8>> = git
        .read_below(".orchestration", &Target::Commit(head.clone()), &is_evidence)?
        .into_iter()
        .collect();
    let mut months: BTreeMap<String, Vec<(RelativePath, Vec<u8>)>> = BTreeMap::new();
    for (path, digest) in ws.ledger.files_by_digest() {
        let month = month_of(&path);
        if month.as_str() >= before {
            continue;
        }
        match committed
            .get(&path)
            .filter(|bytes| is_sound(&path, bytes) && digest == Digest::of(bytes))
        {
            Some(bytes) => months.entry(month).or_default().push((path, bytes.clone())),
            None => answer.left.push(path),
        }
    }
    answer.left.sort();
    for (month, mut files) in months.into_iter().filter(|(_, files)| files.len() > 1) {
        files.sort();
        let united = unite(&files);
        let written = evidence::path_of(Digest::of(&united), &month);
        let removed = files.into_iter().map(|(path, _)| path).filter(|path| *path != written);
        let removed: Vec<RelativePath> = removed.collect();
        if !dry_run {
            store::write_atomic(&ws.root.absolute(&written), &united)?;
            for path in &removed {
                store::remove(&ws.root.absolute(path))?;
            }
        }
        answer.months.push(CompactedMonth { month, removed, written });
    }
    Ok(answer)
}

/// The folder that evidence stands in.
fn month_of(path: &RelativePath) -> String {
    let mut segments = path.as_str().rsplit('/');
    segments.nth(1).unwrap_or_default().to_owned()
}

/// Whether a file is what its name says, and every line of it can be read.
fn is_sound(path: &RelativePath, bytes: &[u8]) -> bool {
    let sections = evidence::read(bytes).unwrap_or_default();
    evidence::digest_of_path(path) == Some(Digest::of(bytes))
        && !sections.is_empty()
        && sections.iter().all(|section| section.unreadable.is_empty())
}

/// The sections of files, each once.
fn unite(files: &[(RelativePath, Vec<u8>)]) -> Vec<u8> {
    let mut known = HashSet::new();
    let mut united = Vec::new();
    for (_, bytes) in files {
        for section in evidence::read(bytes).unwrap_or_default() {
            if known.insert(section.digest) {
                united.extend_from_slice(&bytes[section.bytes]);
            }
        }
    }
    united
}
