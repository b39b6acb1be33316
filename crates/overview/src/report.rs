//! `intent report`: what came of the intents of a workspace, as data for a page that people look at.
//!
//! The report judges nothing itself. It counts lines, and adds the answers of *check*, *verify* and
//! the criteria of the intents.

mod intents;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::criteria::CriterionAnswer;
use super::line_counts::LineCounts;
use super::own_setup;
use super::source::SourceBrief;
use ::intents::Status;
use evidence::verify;
use ground::{Hint, Level, RelativePath, clock};
use judgement::check;
use ledger::EntityType;
use why::answers::FileProvenance;
use why::findings::FindingAnswer;
use why::{VerbError, Workspace, suspect};

const MAX_FINDINGS: usize = 100;

/// The whole report. All lines are counted as `intent why` counts those of a block: brackets and blank
/// lines do not count.
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
    /// The intents in the order of the registry, then those that only records name, by id.
    pub intents: Vec<ReportedIntent>,
    /// The lines that a record is about, by month, intent and contributor.
    pub brought: Vec<BroughtInMonth>,
    /// The findings of *check* about the work tree against `HEAD`, and those of *verify* about
    /// ledger, registry and policy, the gravest first.
    pub findings: Vec<FindingAnswer>,
    /// What could not be judged, and why, and what was left out.
    pub notes: Vec<String>,
}

/// The most important numbers of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportSummary {
    /// The number of text files, except those in `.orchestration` and those that git ignores.
    pub files: usize,
    /// The number of their lines.
    pub lines: usize,
    /// The number of lines that a record is about.
    pub recorded: usize,
    /// The number of lines of which nobody can tell here who brought them.
    pub unknown: usize,
    /// The number of lines that were brought under an intent.
    pub under_intent: usize,
    /// The number of lines under an intent that are suspect, see `suspects` of an intent.
    pub suspect: usize,
    /// The number of findings with the level `error`.
    pub errors: usize,
    /// The number of findings with the level `warning`.
    pub warnings: usize,
}

/// An intent, and what came of it.
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
    /// The acceptance criteria of the intent, and whether each was shown to hold.
    pub criteria: Vec<CriterionAnswer>,
    /// The requirements that the intent serves.
    pub related_specs: Vec<String>,
    /// The number of lines that were brought under it and are still there.
    pub lines: usize,
    /// The number of files that have these lines.
    pub files: usize,
    /// The files with most of these lines, most lines first.
    pub largest: Vec<ReportedFile>,
    /// How many of these lines are suspect.
    pub suspect: usize,
    /// The blocks that are suspect: they were written for the intent, and its text, or a
    /// specification, has changed since. Those with most lines come first.
    pub suspects: Vec<ReportedSuspect>,
}

/// A file, and how much of it an intent brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedFile {
    /// The path, relative to the workspace.
    pub path: RelativePath,
    /// The number of lines of the intent in it.
    pub lines: usize,
}

/// A block whose reason has changed since it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedSuspect {
    /// The path of the file, relative to the workspace.
    pub path: RelativePath,
    /// The name of the block with containers, for example `AuthMiddleware.verify`.
    pub name: String,
    /// The first line of the block, counted from 1.
    pub start_line: u32,
    /// The number of its lines that the intent brought.
    pub lines: usize,
    /// What changed, in a sentence.
    pub message: String,
}

/// The lines that one contributor brought in one month under one intent, and that are still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BroughtInMonth {
    /// The month in which the lines were recorded, in UTC, for example `2026-02`. `None` if the time
    /// of the record cannot be read.
    pub month: Option<String>,
    /// The intent. `None` if the record names none.
    pub intent: Option<String>,
    /// Whether a person or an agent wrote the lines, as the record says.
    pub contributor: EntityType,
    /// The name of the contributor, as `intent why` gives it: an agent by its tool or model.
    pub name: String,
    /// The number of lines.
    pub lines: usize,
}

/// How much of a commit was recorded under an intent. It is a function of the commit and its
/// history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BadgeAnswer {
    /// The number of lines of all text files in the commit.
    pub lines: usize,
    /// The number of these lines that were brought under an intent.
    pub under_intent: usize,
}

pub fn report(ws: &Workspace) -> Result<ReportAnswer, VerbError> {
    ws.governed()?;
    let mut suspects = intents::Suspects::new();
    let of_file = |path: &RelativePath, file: &FileProvenance| suspects_of_file(ws, path, file);
    let counts = LineCounts::counted(ws, of_file, |found| {
        for (intent, suspect) in found {
            suspects.entry(intent).or_default().push(suspect);
        }
    });
    let unread_registry = ws.unread_registry();
    let mut notes = Vec::from_iter(unread_registry.clone());
    notes.extend(counts.unknown.notes());
    let mut findings = findings(ws, &mut notes);
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let summary = ReportSummary {
        files: counts.files,
        lines: counts.lines,
        recorded: counts.total_recorded(),
        unknown: counts.untold,
        under_intent: counts.under_intents(),
        suspect: suspects.values().flatten().map(|suspect| suspect.lines).sum(),
        errors: count(Level::Error),
        warnings: count(Level::Warning),
    };
    if findings.len() > MAX_FINDINGS {
        notes.push(format!(
            "{} more findings are not listed; `intent check` and `intent evidence verify` list them.",
            findings.len() - MAX_FINDINGS
        ));
        findings.truncate(MAX_FINDINGS);
    }
    Ok(ReportAnswer {
        generated: clock::now(),
        workspace: ws.root.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
        head: ws.head().map(|head| head.0.clone()),
        unread_registry,
        summary,
        intents: intents::intents(ws, &counts, suspects),
        brought: brought_in_months(&counts),
        findings,
        notes,
    })
}

fn suspects_of_file(
    ws: &Workspace,
    path: &RelativePath,
    file: &FileProvenance,
) -> Vec<(String, ReportedSuspect)> {
    let suspects = suspect::of_file(ws, &file.provenance).into_iter();
    let reported = |(at, suspicion): (usize, suspect::Suspicion)| {
        let block = &file.blocks.blocks[at];
        let reported = ReportedSuspect {
            path: path.clone(),
            name: block.identity.path.clone(),
            start_line: block.lines.start(),
            lines: file.provenance[at].brought().map_or(0, |(lines, _)| lines),
            message: suspicion.message,
        };
        (suspicion.intent, reported)
    };
    suspects.map(reported).collect()
}

fn brought_in_months(counts: &LineCounts) -> Vec<BroughtInMonth> {
    let in_month = |(owner, lines): (&super::line_counts::LineOwner, &usize)| BroughtInMonth {
        month: owner.month.clone(),
        intent: owner.intent.clone(),
        contributor: owner.kind,
        name: owner.name.clone(),
        lines: *lines,
    };
    counts.recorded.iter().map(in_month).collect()
}

/// Counts the lines of `HEAD`, or of the work tree without git. It is an error if this clone lacks
/// history, because then the number would be too low.
pub fn badge(ws: &Workspace) -> Result<BadgeAnswer, VerbError> {
    ws.governed()?;
    let counts = match ws.head() {
        Some(head) => LineCounts::counted(&ws.at_commit(head.clone(), None)?, |_, _| (), drop),
        None => LineCounts::counted(ws, |_, _| (), drop),
    };
    counts.unknown.error("the badge is not written")?;
    Ok(BadgeAnswer { lines: counts.lines, under_intent: counts.under_intents() })
}

/// Returns the findings of *check*, and those findings of *verify* that *check* does not have. If
/// both report the same, that of *check* is taken, since its level comes from the rules of the
/// base.
fn findings(ws: &Workspace, notes: &mut Vec<String>) -> Vec<FindingAnswer> {
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
    let verified = verify::verify(ws).findings.into_iter();
    all.extend(verified.filter(|finding| !said.contains(&whatever_level(finding))));
    all.sort_by(|one, other| other.level.cmp(&one.level).then_with(|| one.cmp(other)));
    all
}
