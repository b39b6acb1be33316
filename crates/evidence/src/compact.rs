//! *Compact*: merges the evidence of each closed month into one file, where there was a file for
//! each commit before.
//!
//! Sections are copied byte for byte, so their digests stay the same, and with them the ids of
//! records. A section is still about the commit that added it in another file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::compared::is_evidence;
use ground::git::Target;
use ground::{RelativePath, store};
use ledger::{Digest, evidence};
use why::{VerbError, Workspace};

/// The months that were compacted, or would be with `--dry-run`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CompactAnswer {
    /// Each month that had more than one file, oldest first.
    pub months: Vec<CompactedMonth>,
    /// Files of closed months that were left alone, because they are not committed, cannot be read
    /// completely, or have too many lines to be united with the others of their month.
    pub left: Vec<RelativePath>,
    /// Whether nothing was written (`--dry-run`).
    pub dry_run: bool,
    /// Whether the result was staged.
    pub staged: bool,
}

/// A month whose evidence became one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CompactedMonth {
    /// The month, as in `2026-02`.
    pub month: String,
    /// The files that were removed.
    pub removed: Vec<RelativePath>,
    /// The file that holds all of their sections.
    pub written: RelativePath,
}

/// Compacts all months before `before` (`2026-02`, in UTC). With `dry_run` nothing is written.
pub fn compact(ws: &Workspace, before: &str, dry_run: bool) -> Result<CompactAnswer, VerbError> {
    ws.governed()?;
    ws.readable_git()?;
    let mut answer = CompactAnswer { dry_run, ..CompactAnswer::default() };
    let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(answer) };
    // Only files that the commit contains with the same bytes are compacted. Other files may be
    // drafts, which the next seal replaces.
    let target = Target::Commit(head.clone());
    let committed = git.read_below(".orchestration", &target, &is_evidence)?;
    let committed: BTreeMap<RelativePath, Vec<u8>> = committed.into_iter().collect();
    let mut months: BTreeMap<String, Vec<(RelativePath, Vec<u8>)>> = BTreeMap::new();
    for (path, digest) in ws.ledger.files_by_digest() {
        // Late evidence is found by its commit, so it stays where it is.
        let Some(month) = evidence::month_of(&path).filter(|month| *month < before) else {
            continue;
        };
        let month = month.to_owned();
        match committed.get(&path) {
            Some(bytes) if is_sound(&path, bytes) && digest == Digest::compute(bytes) => {
                months.entry(month).or_default().push((path, bytes.clone()));
            }
            _ => answer.left.push(path),
        }
    }
    for (month, mut files) in months {
        files.sort();
        let left = remove_those_too_long(&mut files, evidence::MAX_LINES);
        if files.len() < 2 {
            continue;
        }
        answer.left.extend(left);
        let united = unite(&files);
        let written = evidence::compacted_path(Digest::compute(&united), &month);
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
    answer.left.sort();
    Ok(answer)
}

/// Removes the files with which a united file would have more than `max_lines` lines, and returns their
/// paths.
fn remove_those_too_long(
    files: &mut Vec<(RelativePath, Vec<u8>)>,
    max_lines: usize,
) -> Vec<RelativePath> {
    let (mut count, mut left) = (0, Vec::new());
    files.retain(|(path, bytes)| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').count();
        let has_room = count + lines <= max_lines;
        match has_room {
            true => count += lines,
            false => left.push(path.clone()),
        }
        has_room
    });
    left
}

/// Returns true if the digest in a file's name is that of its bytes and every line can be read.
fn is_sound(path: &RelativePath, bytes: &[u8]) -> bool {
    let sections = evidence::read(bytes).unwrap_or_default();
    evidence::digest_of_path(path) == Some(Digest::compute(bytes))
        && !sections.is_empty()
        && sections.iter().all(|section| section.unreadable.is_empty())
}

/// Joins the sections of several files. A section that occurs more than once is kept once. If lines
/// were erased from one copy of it only, that copy is kept, so that no erased line comes back.
fn unite(files: &[(RelativePath, Vec<u8>)]) -> Vec<u8> {
    let mut copies = Vec::new();
    for (_, bytes) in files {
        for section in evidence::read(bytes).unwrap_or_default() {
            let erased = section.lines.iter().filter(|(_, line)| line.is_erased()).count();
            copies.push((Reverse(erased), section.digest, &bytes[section.bytes]));
        }
    }
    copies.sort_by_key(|(erased, ..)| *erased);
    let mut known = HashSet::new();
    copies.retain(|(_, digest, _)| known.insert(*digest));
    copies.into_iter().flat_map(|(_, _, bytes)| bytes).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_united_as_far_as_one_file_may_hold_it() {
        let file = |name: &str, lines: usize| {
            (RelativePath::new(name).unwrap(), "{}\n".repeat(lines).into_bytes())
        };
        let mut files = vec![file("a", 3), file("b", 3), file("c", 1), file("d", 1)];
        let left = remove_those_too_long(&mut files, 5);
        assert_eq!(left, [RelativePath::new("b").unwrap()]);
        assert_eq!(files, [file("a", 3), file("c", 1), file("d", 1)]);
    }

    #[test]
    fn an_erased_line_does_not_come_back() {
        let header = "{\"evidence\":3}\n";
        let line = r#"{"id":"r","timestamp":"t","kind":"approval","intent_id":null}"#;
        let whole = format!("{header}{line}\n");
        let (of_line, of_whole) =
            (Digest::compute(line.as_bytes()), Digest::compute(whole.as_bytes()));
        let erased = format!(
            "{header}{{\"erased\":\"{of_line}\",\"section\":\"{of_whole}\",\"time\":\"2026-02-18T12:00:00Z\",\"why\":\"w\"}}\n"
        );
        let file = |text: &str| {
            let bytes = text.as_bytes().to_vec();
            (evidence::path_of(Digest::compute(&bytes), "2026-02"), bytes)
        };
        let (whole, erased) = (file(&whole), file(&erased));
        for files in [[whole.clone(), erased.clone()], [erased.clone(), whole.clone()]] {
            assert_eq!(unite(&files), erased.1);
        }
    }
}
