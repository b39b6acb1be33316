//! `intent report`: everything that is known of a workspace in one answer, as data for a page that
//! people look at.
//!
//! The report judges nothing itself: it combines the answers of *verify*, *why*, *check* and the
//! registry's lints. The recorded files are read once, and the records once more for the activity
//! by day.

mod gather;
mod scopes;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use self::gather::Gathered;
use super::own_setup;
use super::source::SourceBrief;
use evidence::verify::{self, VerdictCounts};
use ground::{Hint, Level, RelativePath, clock, ignores};
use intents::Status;
use judgement::check;
use ledger::{Contributor, RecordKind, Strength};
use provenance::Verdict;
use why::answers::{BroughtLines, CommitBrief, OriginAnswer, RecordedBlock};
use why::findings::FindingAnswer;
use why::{VerbError, Workspace};

/// The whole report. Contributors and records are listed once; other parts refer to them by their
/// index in these lists, from 0.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportAnswer {
    /// When the report was made, as RFC 3339 in UTC.
    pub generated: String,
    /// The name of the workspace's folder, without its path.
    pub workspace: String,
    /// The commit the work tree is based on.
    pub head: Option<String>,
    /// Why the registry is missing or cannot be read. If it is set, nothing is known about any
    /// intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_registry: Option<String>,
    /// The most important numbers of the report.
    pub summary: ReportSummary,
    /// The intents in the order of the registry, then those that only the ledger knows, by id.
    pub intents: Vec<ReportedIntent>,
    /// The authors, in the order in which the files name them.
    pub contributors: Vec<Contributor>,
    /// The records that blocks refer to. A record appears once for each of its contributors.
    pub records: Vec<ReportedRecord>,
    /// What is known of the commits that brought most lines of the blocks without a record.
    pub origins: Vec<ReportedOrigin>,
    /// The files with recorded lines, by path.
    pub files: Vec<ReportedFile>,
    /// The folders with files without recorded lines.
    pub without_records: Vec<FolderGap>,
    /// What was recorded, by day, contributor and intent.
    pub activity: Vec<Activity>,
    /// The findings of *check* about the work tree against `HEAD`, and those of *verify* about
    /// ledger, registry and policy.
    pub findings: Vec<FindingAnswer>,
    /// Pairs of intents that own the same files, or have blocks in them. Those that share most
    /// files come first.
    pub overlaps: Vec<Overlap>,
    /// What could not be judged, and why, and what was left out.
    pub notes: Vec<String>,
}

/// The most important numbers of the report.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ReportSummary {
    /// The number of records that were read.
    pub records: usize,
    /// The number of chains (one for each writer) that were verified.
    pub ledger_files: usize,
    /// The number of files in the report.
    pub files: usize,
    /// Their blocks by verdict, as *verify* counts them.
    pub blocks: VerdictCounts,
    /// The number of files without recorded lines.
    pub without_records: usize,
    /// The number of findings with the level `error`.
    pub errors: usize,
    /// The number of findings with the level `warning`.
    pub warnings: usize,
}

/// An intent, and what was done under it.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ReportedIntent {
    /// The id of the intent, for example `INT-001`.
    pub id: String,
    /// The name of the intent. `None` if the registry has no such intent, or the intent has no
    /// name.
    pub name: Option<String>,
    /// The status of the intent. `None` if it is missing or unknown.
    pub status: Option<Status>,
    /// Whether the registry or another format contains the intent; if not, only records name it.
    /// `None` if the registry cannot be read.
    pub in_registry: Option<bool>,
    /// What another format says of the intent, if it is kept there.
    #[serde(flatten)]
    pub kept: SourceBrief,
    /// Whether the person of this work tree has selected it.
    pub selected: bool,
    /// The person who asked for the intent.
    pub owner: Option<String>,
    /// The globs of its scope.
    pub owned_scope: Vec<String>,
    /// The constraints of the intent.
    pub constraints: Vec<String>,
    /// The acceptance criteria of the intent.
    pub acceptance_criteria: Vec<String>,
    /// The requirements that the intent serves.
    pub related_specs: Vec<String>,
    /// The number of files in the tree that its scope owns.
    pub owned_files: usize,
    /// The number of owned files that contain blocks recorded under it.
    pub worked_files: usize,
    /// The number of all files that contain blocks recorded under it.
    pub recorded_files: usize,
    /// The number of blocks in the tree that are recorded under it.
    pub recorded_blocks: usize,
    /// The same blocks, counted by verdict.
    pub blocks: VerdictCounts,
}

/// A short form of one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedRecord {
    /// The id of the record.
    pub id: String,
    /// `mutation` for a change, or `ack` if a person accepted a block as it was.
    pub kind: RecordKind,
    /// The intent that the record names, if any.
    pub intent: Option<String>,
    /// Reassignments by a person that put the recorded blocks under another intent since, oldest
    /// first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reassigned: Vec<why::answers::ReassignmentBrief>,
    /// The author, as an index in `contributors`.
    pub contributor: usize,
    /// The time, as written in the record.
    pub timestamp: String,
    /// The tool that made the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The session that wrote the code, as `host:id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The commit that brought the lines. Only for a record that a block is under.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitBrief>,
    /// How strong the evidence is, as the record itself states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
}

/// What git and the commit tell about lines without a record. It is about the commit, not about a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedOrigin {
    #[serde(flatten)]
    pub origin: OriginAnswer,
    /// The same in one line, each thing with the word of its strength.
    pub in_words: String,
}

/// A file and the blocks in it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportedFile {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The intents in progress that own the file.
    pub owners: Vec<String>,
    /// How many of its blocks are under no intent.
    pub unrecorded: usize,
    /// The blocks, in the order in which they start.
    pub blocks: Vec<ReportedBlock>,
}

/// A block, and the record that it comes from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReportedBlock {
    /// The kind of the block, for example `method`.
    pub kind: String,
    /// The name with containers, for example `AuthMiddleware.verify`.
    pub name: String,
    /// The first line of the block, counted from 1.
    pub start_line: u32,
    /// The last line of the block, counted from 1.
    pub end_line: u32,
    /// The verdict of `intent why` on the block.
    pub verdict: Verdict,
    /// Whether the block differs from its record only in inner blocks. They have verdicts of their
    /// own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_inside: bool,
    /// The intent under which the block was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The record that the block is under, as an index in `records`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<usize>,
    /// What is known of the commit that brought most of its lines, as an index in `origins`. Only
    /// for a block without a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<usize>,
    /// How many of its lines were brought under the intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brought: Option<BroughtLines>,
    /// How many of its lines are newer than the record and have none.
    #[serde(skip_serializing_if = "is_zero")]
    pub newer: usize,
    /// Whether lines were removed since the record, and none is newer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Whether this clone lacks history that says who brought some of its lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub history_missing: bool,
    /// Why the named intent may no longer be the reason for the block, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// Whether only the writer of the record vouches for it, because it was not written in this
    /// clone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
    /// The records that brought lines of the block, newest first, as indices in `records`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<usize>,
    /// The number of older ones of these records that are left out here. `intent why` shows them.
    #[serde(skip_serializing_if = "is_zero")]
    pub earlier: usize,
    /// If the verdict is ambiguous, a record of each of the two intents, as indices in `records`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<usize>,
    /// The name and place under which the block was recorded, if they have changed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedBlock>,
}

/// A folder with files without recorded lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FolderGap {
    /// The folder, without a slash at its end. Empty for the root of the workspace.
    pub folder: String,
    /// The number of such files directly in the folder.
    pub files: usize,
}

/// What one contributor did on one day under one intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Activity {
    /// The day in UTC, for example `2026-02-18`. `None` if the record's time cannot be read.
    pub day: Option<String>,
    /// The author, as an index in `contributors`.
    pub contributor: usize,
    /// The intent. `None` if the records name none.
    pub intent: Option<String>,
    /// The number of records of changes and acknowledgements.
    pub records: usize,
    /// The number of blocks in these records.
    pub blocks: usize,
}

/// Two intents that own or have changed the same files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Overlap {
    /// The intent that comes first in the registry, or by id if the registry does not have both.
    pub first: String,
    /// The id of the other intent.
    pub second: String,
    /// The number of files that both own while both are in progress.
    pub owned: usize,
    /// The number of files that contain blocks of both.
    pub worked: usize,
    /// The path of one of these files.
    pub example: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub fn report(ws: &Workspace) -> Result<ReportAnswer, VerbError> {
    ws.governed()?;
    let tree = ignores::walk(&ws.root);
    let mut gathered = Gathered::new(ws);
    let verified = verify::verify(ws);
    let blocks = verify::blocks(ws, |path, file| gathered.add_file(ws, path, file));
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
        generated: clock::now(),
        workspace: ws.root.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
        head: ws.head().map(|head| head.0.clone()),
        unread_registry,
        summary: ReportSummary {
            records: verified.records,
            ledger_files: verified.files,
            files: gathered.files.len(),
            blocks,
            without_records: without_records.iter().map(|gap| gap.files).sum(),
            errors,
            warnings,
        },
        intents: scopes::intents(ws, &tree, &gathered),
        overlaps: scopes::overlaps(ws, &tree, &gathered, &mut notes),
        without_records,
        contributors: gathered.contributors,
        records: gathered.records,
        origins: gathered.origins,
        files: gathered.files,
        activity,
        findings,
        notes,
    })
}

/// Returns the findings of *check*, and those findings of *verify* that *check* does not have. If
/// both report the same, that of *check* is taken, since its level comes from the rules of the
/// base.
fn findings(
    ws: &Workspace,
    verified: Vec<FindingAnswer>,
    notes: &mut Vec<String>,
) -> Vec<FindingAnswer> {
    let mut all = match check::change(ws, &own_setup::check_request()) {
        Ok(checked) => {
            notes.extend(checked.summary.notes);
            checked.findings
        }
        Err(error) => {
            notes.push(format!("The change against HEAD was not judged: {}", error.with_hint()));
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
