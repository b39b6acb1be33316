//! Counts the lines of a workspace by intent, contributor and month, as *why* counts the lines of a
//! block: each line once, and only lines that say something.
//!
//! `intent list --count`, the report and its badge take their numbers from here.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::last_counts::ProducedCounts;
use evidence::verify::{self, UnknownLines};
use ground::RelativePath;
use ledger::{Claim, EntityType};
use why::answers::FileProvenance;
use why::{Workspace, answers};

#[derive(Debug, Default)]
pub(crate) struct LineCounts {
    pub(crate) files: usize,
    pub(crate) lines: usize,
    /// The lines of which nobody can tell here who brought them.
    pub(crate) untold: usize,
    pub(crate) recorded: BTreeMap<LineOwner, usize>,
    pub(crate) intents: BTreeMap<String, IntentLines>,
    /// The files with such lines.
    pub(crate) unknown: UnknownLines,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineOwner {
    /// The month of the record in UTC: `2026-02`. `None` if its time cannot be read.
    pub(crate) month: Option<String>,
    pub(crate) intent: Option<String>,
    pub(crate) kind: EntityType,
    pub(crate) name: String,
}

#[derive(Debug, Default)]
pub(crate) struct IntentLines {
    pub(crate) lines: usize,
    pub(crate) files: BTreeMap<RelativePath, usize>,
    /// The number of blocks of which it brought at least half.
    pub(crate) blocks: usize,
}

impl IntentLines {
    pub(crate) fn counts(&self) -> ProducedCounts {
        ProducedCounts { lines: self.lines, files: self.files.len(), blocks: self.blocks }
    }
}

impl LineCounts {
    /// Counts the lines of all files. `each` makes what else the caller needs of a file, and `take` gets
    /// it; see [`verify::of_all_files`].
    pub(crate) fn counted<R: Send>(
        ws: &Workspace,
        each: impl Fn(&RelativePath, &FileProvenance) -> R + Sync,
        mut take: impl FnMut(R),
    ) -> Self {
        let mut counts = Self::default();
        let of_file = |path: &RelativePath, file: &FileProvenance| {
            (Self::of_file(ws, path, file), each(path, file))
        };
        let unknown =
            verify::of_all_files(ws, answers::standing_owners, of_file, |(of_file, found)| {
                counts.add_lines(of_file);
                take(found);
            });
        Self { unknown, ..counts }
    }

    fn of_file(ws: &Workspace, path: &RelativePath, file: &FileProvenance) -> Self {
        let mut counts = Self { files: 1, ..Self::default() };
        let mut by_claim: BTreeMap<usize, usize> = BTreeMap::new();
        for found in &file.provenance {
            for share in &found.shares {
                counts.lines += share.lines;
                counts.untold += if share.is_missing { share.lines } else { 0 };
                for (claim, lines) in &share.by_claim {
                    *by_claim.entry(*claim).or_default() += lines;
                }
            }
            if let Some(intent) = answers::intent_of(ws, found) {
                counts.intents.entry(intent).or_default().blocks += 1;
            }
        }
        for (claim, lines) in by_claim {
            let owner = LineOwner::of_claim(ws, &file.lines.claims[claim]);
            if let Some(intent) = &owner.intent {
                let intent = counts.intents.entry(intent.clone()).or_default();
                intent.lines += lines;
                *intent.files.entry(path.clone()).or_default() += lines;
            }
            *counts.recorded.entry(owner).or_default() += lines;
        }
        counts
    }

    fn add_lines(&mut self, other: Self) {
        self.files += other.files;
        self.lines += other.lines;
        self.untold += other.untold;
        for (owner, lines) in other.recorded {
            *self.recorded.entry(owner).or_default() += lines;
        }
        for (intent, of_file) in other.intents {
            let all = self.intents.entry(intent).or_default();
            all.lines += of_file.lines;
            all.blocks += of_file.blocks;
            all.files.extend(of_file.files);
        }
    }

    pub(crate) fn total_recorded(&self) -> usize {
        self.recorded.values().sum()
    }

    pub(crate) fn under_intents(&self) -> usize {
        self.intents.values().map(|intent| intent.lines).sum()
    }
}

impl LineOwner {
    fn of_claim(ws: &Workspace, claim: &Claim) -> Self {
        let record = &claim.entry.record;
        let contributor =
            claim.conversation().map(|told| told.contributor.clone()).unwrap_or_default();
        let tool = record.tool.as_ref().map(|tool| tool.name.as_str());
        Self {
            month: month(&record.timestamp),
            intent: ws.intent_of(claim),
            kind: contributor.entity_type,
            name: answers::author_name(&contributor, tool),
        }
    }
}

fn month(timestamp: &str) -> Option<String> {
    let time: Timestamp = timestamp.parse().ok()?;
    Some(time.strftime("%Y-%m").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_that_of_the_record_in_utc() {
        assert_eq!(month("2026-02-28T23:30:00.000-01:00").as_deref(), Some("2026-03"));
        assert_eq!(month("<script>"), None);
    }
}
