//! *Report*: everything that is known of a workspace in one answer, for people who look rather than read.
//!
//! It judges nothing itself: what stands, who wrote it and what is wrong is what *verify*, *why*, *check* and the
//! registry's own lints say. The recorded files are gone through once, the records once more for what was done when;
//! what was read for one part of them is let go before the next.

mod gather;
mod scopes;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use self::gather::Gathered;
use super::check::{self, CheckRequest, FindingAnswer};
use super::verify::{self, LostBlock, VerdictCounts};
use super::why::{CommitBrief, RecordedBlock};
use super::{VerbError, Workspace};
use crate::intent::Status;
use crate::ledger::{Contributor, RecordKind, Strength};
use crate::provenance::Verdict;
use crate::workspace::{Level, RelativePath, ignores, store};

/// The whole report. Contributors and records are told once and named by their places in these lists, from 0.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportAnswer {
    /// When it was made, RFC 3339 in UTC.
    pub generated: String,
    /// The name of the workspace's folder, without where that is.
    pub workspace: String,
    /// The commit the work tree is based on.
    pub head: Option<String>,
    /// That the registry is missing or cannot be read, and why; then nothing is known of any intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_registry: Option<String>,
    /// In numbers.
    pub summary: ReportSummary,
    /// As in the registry, then intents that only the ledger knows, by id.
    pub intents: Vec<ReportedIntent>,
    /// Who wrote, in the order in which the files name them.
    pub contributors: Vec<Contributor>,
    /// The records that blocks name, each once for every contributor it names.
    pub records: Vec<ReportedRecord>,
    /// The files that hold recorded blocks, or are in the ledger and still there, by path.
    pub files: Vec<ReportedFile>,
    /// Where files lie that no record is about, by folder.
    pub without_records: Vec<FolderGap>,
    /// Recorded blocks that no block of the tree goes on from, and whose deletion nobody recorded.
    pub lost: Vec<LostBlock>,
    /// What was recorded when, by day, contributor and intent.
    pub activity: Vec<Activity>,
    /// What *check* says of the work tree against HEAD, and *verify* of ledger, registry and policy.
    pub findings: Vec<FindingAnswer>,
    /// Pairs of intents that own, or have worked in, the same files; those that share most first.
    pub overlaps: Vec<Overlap>,
    /// What could not be judged, and why, and what was left out.
    pub notes: Vec<String>,
}

/// The report in numbers.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ReportSummary {
    /// Records read.
    pub records: usize,
    /// Chains (writers) verified.
    pub ledger_files: usize,
    /// Files that are told of.
    pub files: usize,
    /// Their blocks by verdict, as *verify* counts them.
    pub blocks: VerdictCounts,
    /// Recorded blocks that cannot be found.
    pub lost: usize,
    /// Files that no record is about.
    pub without_records: usize,
    /// Findings at this level.
    pub errors: usize,
    /// See `errors`.
    pub warnings: usize,
}

/// An intent, and what came of it.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ReportedIntent {
    /// `INT-001`.
    pub id: String,
    /// `None` when the registry does not hold it, or it has none.
    pub name: Option<String>,
    /// `None` when missing or unknown.
    pub status: Option<Status>,
    /// The registry holds it; else only records name it. `None` where the registry cannot be read.
    pub in_registry: Option<bool>,
    /// Selected by the person in this work tree.
    pub selected: bool,
    /// Who asked for it.
    pub owner: Option<String>,
    /// Its globs.
    pub owned_scope: Vec<String>,
    /// What must hold.
    pub constraints: Vec<String>,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
    /// Requirements it serves.
    pub related_specs: Vec<String>,
    /// Files of the tree that its scope owns.
    pub owned_files: usize,
    /// Of those, files that hold blocks it asked for.
    pub worked_files: usize,
    /// Files that hold blocks it asked for.
    pub recorded_files: usize,
    /// Blocks of the tree that it asked for, as the list counts them.
    pub recorded_blocks: usize,
    /// How the blocks of the tree that it asked for stand today.
    pub blocks: VerdictCounts,
    /// Blocks recorded under it that cannot be found.
    pub lost: usize,
}

/// A record in brief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedRecord {
    /// Its id.
    pub id: String,
    /// `mutation`, or `ack` where a person accepted a block as it was.
    pub kind: RecordKind,
    /// The intent; `None` when it names none.
    pub intent: Option<String>,
    /// Where a person has put what it recorded under another intent since, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reassigned: Vec<super::why::Reassignment>,
    /// Who: a place in `contributors`.
    pub contributor: usize,
    /// When, as the record writes it.
    pub timestamp: String,
    /// The tool that recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The session that wrote it, as `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The commit that brought it, of a record that answers for a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitBrief>,
    /// How strong the evidence is, by the record's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

/// A file and its blocks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportedFile {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// The intents in progress that own it.
    pub owners: Vec<String>,
    /// How many of its blocks no record speaks of. Of a file that no record names only those blocks are told that one does.
    pub unrecorded: usize,
    /// In the order in which they start.
    pub blocks: Vec<ReportedBlock>,
}

/// A block, and where it comes from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportedBlock {
    /// `method`.
    pub kind: String,
    /// With its containers: `AuthMiddleware.verify`.
    pub name: String,
    /// 1-based.
    pub start_line: u32,
    /// Inclusive.
    pub end_line: u32,
    /// The one word.
    pub verdict: Verdict,
    /// The difference lies in the blocks inside it, each of which speaks for itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_inside: bool,
    /// Of a modified block, the estimated share of the recorded text still there, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<f32>,
    /// The intent that asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Why its reason may be another one now, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// Nobody but the line's writer vouches for the record: this clone did not write it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
    /// Its record first, then what it was before; empty where no record, or not one alone, is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<ReportedStep>,
    /// Steps of its history that are left out here; `intent why` tells them.
    #[serde(skip_serializing_if = "is_zero")]
    pub earlier: usize,
    /// When ambiguous, every record that fits: places in `records`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<usize>,
    /// Where it was recorded, where it has another name or place now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedBlock>,
}

/// A step of a block's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedStep {
    /// A place in `records`; `None` for a stretch that nobody recorded.
    pub record: Option<usize>,
    /// What the block was called then, where that is another name than today's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Files of a folder that no record is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FolderGap {
    /// The folder, without a slash at its end; empty for the workspace's own.
    pub folder: String,
    /// How many files lie directly in it.
    pub files: usize,
}

/// What a contributor did on a day under an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Activity {
    /// `2026-02-18`, in UTC; `None` where the record's time cannot be read.
    pub day: Option<String>,
    /// Who: a place in `contributors`.
    pub contributor: usize,
    /// The intent; `None` where the records name none.
    pub intent: Option<String>,
    /// Records of changes and acknowledgements.
    pub records: usize,
    /// Blocks in them.
    pub blocks: usize,
}

/// Two intents that meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Overlap {
    /// The one that stands first in the registry, or in the alphabet.
    pub first: String,
    /// The other.
    pub second: String,
    /// Files that both own while both are in progress.
    pub owned: usize,
    /// Files that hold blocks of both.
    pub worked: usize,
    /// One of the files.
    pub example: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Gathers the whole report.
pub(crate) fn report(ws: &Workspace) -> Result<ReportAnswer, VerbError> {
    ws.governed()?;
    let tree = ignores::walk(&ws.root);
    let mut gathered = Gathered::default();
    let verified = verify::verify(ws);
    let held = verify::blocks(ws, |held| gathered.add(held));
    let activity = gathered.activity(ws);
    let unread_registry = ws.unread_registry();
    let mut notes = Vec::from_iter(unread_registry.clone());
    notes.extend(ws.unread_evidence());
    let findings = findings(ws, verified.findings, &mut notes);
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    gathered.finish(ws);
    let without_records = scopes::gaps(&tree, &gathered.files);
    Ok(ReportAnswer {
        generated: store::now(),
        workspace: ws.root.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
        head: ws.head().map(|head| head.0.clone()),
        unread_registry,
        summary: ReportSummary {
            records: verified.records,
            ledger_files: verified.files,
            files: gathered.files.len(),
            blocks: held.blocks,
            lost: held.lost.len(),
            without_records: without_records.iter().map(|gap| gap.files).sum(),
            errors,
            warnings,
        },
        intents: scopes::intents(ws, &tree, &gathered, &held.lost),
        overlaps: scopes::overlaps(ws, &tree, &gathered, &mut notes),
        without_records,
        contributors: gathered.contributors,
        records: gathered.records,
        files: gathered.files,
        lost: held.lost,
        activity,
        findings,
        notes,
    })
}

/// What *check* says, and of what *verify* says the rest. Where both speak of the same, *check* does: it judges by the
/// rules of the base.
fn findings(
    ws: &Workspace,
    verified: Vec<FindingAnswer>,
    notes: &mut Vec<String>,
) -> Vec<FindingAnswer> {
    let mut all = match check::change(ws, &CheckRequest::default()) {
        Ok(checked) => {
            notes.extend(checked.summary.notes);
            checked.findings
        }
        Err(error) => {
            notes.push(format!("The change against HEAD was not judged: {error}"));
            Vec::new()
        }
    };
    let whatever_level =
        |finding: &FindingAnswer| FindingAnswer { level: Level::Off, ..finding.clone() };
    let said: BTreeSet<FindingAnswer> = all.iter().map(whatever_level).collect();
    let more = verified.into_iter().filter(|finding| !said.contains(&whatever_level(finding)));
    all.extend(more);
    all.sort_by(|one, other| other.level.cmp(&one.level).then_with(|| one.cmp(other)));
    all
}
