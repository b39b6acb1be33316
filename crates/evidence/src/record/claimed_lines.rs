//! The lines of a file that no record is about. A person claims them for an intent by `intent record
//! --all`, also those that were committed long ago.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::{self, ChangedLines};
use super::{RecordExtent, leave_out_accepted};
use code::Document;
use ground::RelativePath;
use history::LineText;
use ledger::{BlockRecord, LineRuns, Record};
use why::{VerbError, Workspace, answers};

/// Lines of a file that no record is about, and that a person claims as they stand.
#[derive(Default)]
pub(super) struct ClaimedLines {
    /// Those that are in no commit, counted from 0.
    pub uncommitted: Vec<usize>,
    pub committed: Vec<OfCommit>,
    /// Why nobody can tell who brought some of the lines, so that those cannot be claimed.
    pub why_unknown: Option<String>,
}

pub(super) struct OfCommit {
    pub commit: String,
    pub path: RelativePath,
    pub lines: LineRuns,
    pub ranges: Vec<BlockRecord>,
}

/// Leaves out the lines that are not asked about. If a person claims lines as they stand, those that are
/// in no commit are added to `lines`. All that is claimed is returned.
pub(super) fn keep_asked_lines(
    ws: &Workspace,
    (path, records): (&RelativePath, &[Record]),
    document: &Document,
    extent: RecordExtent,
    lines: &mut ChangedLines,
) -> Result<ClaimedLines, VerbError> {
    if extent == RecordExtent::Changes {
        leave_out_accepted(ws, path, document, lines);
        changes::leave_out_cut_blocks(ws, records, document, &mut lines.brought);
        return Ok(ClaimedLines::default());
    }
    let claimed = ClaimedLines::find(ws, path, document, extent)?;
    claimed.uncommitted.iter().for_each(|line| lines.brought[*line] = true);
    if let RecordExtent::Lines(asked) = extent {
        let is_asked = |line: usize| u32::try_from(line + 1).is_ok_and(|at| asked.contains(at));
        for line in (0..lines.brought.len()).filter(|line| !is_asked(*line)) {
            if lines.brought[line] {
                lines.leave_out(line..line + 1);
            }
        }
    }
    Ok(claimed)
}

impl ClaimedLines {
    pub(super) fn find(
        ws: &Workspace,
        path: &RelativePath,
        document: &Document,
        extent: RecordExtent,
    ) -> Result<Self, VerbError> {
        let file = answers::file(ws, path, document);
        if let Some(reason) = file.unread_evidence() {
            return Err(VerbError::refused(format!(
                "{reason} Until then nothing is recorded: code that has a record would be claimed anew"
            )));
        }
        let is_wanted = |line: usize| match extent {
            RecordExtent::Lines(lines) => {
                u32::try_from(line + 1).is_ok_and(|line| lines.contains(line))
            }
            RecordExtent::WholeFile | RecordExtent::Changes => true,
        };
        let mut claimed = Self::default();
        let mut by_version: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (line, source) in file.lines.lines.iter().enumerate() {
            if source.claim.is_some() || !is_wanted(line) {
                continue;
            }
            if source.is_missing {
                claimed.why_unknown.get_or_insert_with(|| match file.is_converted {
                    true => "nobody can tell who brought its lines: a program converts it for git"
                        .to_owned(),
                    false => format!(
                        "history-missing: nobody can tell who brought its lines: {}",
                        ws.how_to_get_history()
                    ),
                });
                continue;
            }
            let version = source.version.filter(|at| !file.lines.versions[*at].is_uncommitted());
            match version {
                Some(version) => {
                    by_version.entry(version).or_default().insert(source.line_there);
                }
                None => claimed.uncommitted.push(line),
            }
        }
        for (version, lines) in by_version {
            let version = &file.lines.versions[version];
            let of_commit = || {
                let git = ws.git()?;
                let path = git.path_in_workspace(version.path.as_ref())?;
                let bytes = git.object_reader().ok()?.blob(version.blob).ok()?;
                let then = ws.document(&path, &bytes).ok()?;
                let text = LineText::new(bytes);
                let blocks = then.blocks();
                let line_number = |line: &usize| u32::try_from(line + 1).ok();
                let at_lines = lines.iter().filter_map(line_number);
                let innermost: BTreeSet<usize> =
                    at_lines.filter_map(|line| blocks.at_line(line)).collect();
                let language = then.language().map(|language| language.id);
                let ranges = innermost.into_iter().map(|at| &blocks.blocks[at]);
                Some(OfCommit {
                    commit: version.commit.to_string(),
                    path,
                    lines: LineRuns::of_chosen(&text, |line| lines.contains(&line)),
                    ranges: ranges.map(|block| provenance::textless(block, language)).collect(),
                })
            };
            claimed.committed.extend(of_commit());
        }
        Ok(claimed)
    }
}
