//! `intent select`: declares the intent that a person or session works under, and returns the
//! context of that intent. Also `list` and `status`.

use std::collections::BTreeMap;

use judgement::selection::{OtherSession, bind, other_sessions, sharing, without_scope};

use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, ContextExtent};
use super::criteria;
use super::last_counts::{LastCounts, ProducedCounts};
use super::line_counts::LineCounts;
use super::source::SourceBrief;
use ground::policy::SourceFormat;
use ground::session;
use ground::text::counted;
use intents::{ImportedIntent, Intent, Status};
use why::{VerbError, Workspace};

/// The result of selecting an intent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SelectAnswer {
    /// The intent that is selected now.
    pub intent: IntentSummary,
    /// The id of the intent that was selected before, if it was another one.
    pub previous: Option<String>,
    /// The curated context, as XML.
    pub context: String,
    /// The rules for work under the intent, as data.
    #[serde(flatten)]
    pub terms: context::Terms,
    /// Other intents in progress whose scopes share an entry with this one's, by id.
    pub overlaps: Vec<String>,
    /// Sessions of agents that recently selected this intent or one of `overlaps`.
    pub sessions: Vec<OtherSession>,
    /// Sentences that say that the intent has no scope here, or that the git hooks are missing, and
    /// what to do. `None` if neither is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// An intent as it is shown in lists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct IntentSummary {
    /// The id of the intent, for example `INT-001`.
    pub id: String,
    /// The name of the intent.
    pub name: String,
    /// The status of the intent. `None` if it is missing or unknown.
    pub status: Option<intents::Status>,
    /// The globs of its scope.
    pub owned_scope: Vec<String>,
    /// The person who asked for the intent.
    pub owner: Option<String>,
    /// The number of lines that were brought under it and are still there, counted as `intent why`
    /// counts them. Absent unless it was counted, now or before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    /// The number of files that have these lines. Absent unless they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The number of blocks of which at least half of the lines were brought under it. Absent unless
    /// they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// The commit that was checked out when `lines`, `files` and `blocks` were counted. Absent if they
    /// were counted for this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_at: Option<String>,
    /// Its acceptance criteria. Only lists have them, and only of an intent that has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<CriteriaProgress>,
    /// Whether the person of this work tree has selected it.
    pub selected: bool,
    /// Whether it is being worked on, as the branch's name or the tool of its format says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
    /// What another format says of it, if it is kept there.
    #[serde(flatten)]
    pub kept: SourceBrief,
}

/// How many acceptance criteria of an intent were shown to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CriteriaProgress {
    /// The number of criteria whose command has passed, perhaps at another commit. `None` if records
    /// have to be read to know it and nobody asked for that.
    pub shown: Option<usize>,
    /// The number of all criteria.
    pub all: usize,
}

impl CriteriaProgress {
    /// Returns what the registry alone tells. Only a criterion that names a command can be shown.
    fn of_registry(intent: &Intent) -> Option<Self> {
        let shown = criteria::commands(intent).is_empty().then_some(0);
        let all = intent.acceptance_criteria.len();
        (all > 0).then_some(Self { shown, all })
    }
}

impl IntentSummary {
    fn set_produced(&mut self, counts: ProducedCounts) {
        let ProducedCounts { lines, files, blocks } = counts;
        (self.lines, self.files, self.blocks) = (Some(lines), Some(files), Some(blocks));
    }

    /// Returns true if a list leaves it out unless all intents are asked for: if it is kept in
    /// another format and closed, or only cited by others.
    pub fn is_in_the_background(&self) -> bool {
        let is_closed = self.status.is_some_and(Status::is_closed);
        let is_used = self.selected || self.current || !self.owned_scope.is_empty();
        self.kept.source.is_some_and(|source| is_closed || !source.is_work()) && !is_used
    }
}

/// Counts the intents that a list leaves out: `83 completed OpenSpec changes`.
pub fn counts_in_background(intents: &[IntentSummary]) -> Vec<String> {
    let mut counts: BTreeMap<(SourceFormat, &str), usize> = BTreeMap::new();
    for intent in intents.iter().filter(|intent| intent.is_in_the_background()) {
        let Some(source) = intent.kept.source else { continue };
        let state = match intent.status {
            Some(Status::Completed) if source.is_work() => "completed ",
            Some(Status::Archived) if source.is_work() => "archived ",
            _ => "",
        };
        *counts.entry((source, state)).or_default() += 1;
    }
    let words = |((source, state), count): ((SourceFormat, &str), usize)| {
        counted(count, &format!("{state}{}", source.noun()))
    };
    counts.into_iter().map(words).collect()
}

/// Selects an intent for the person, or for a session, and records the selection. Returns
/// everything that the person or agent needs before working under the intent.
pub fn select(
    ws: &Workspace,
    id: &str,
    session_id: Option<&str>,
) -> Result<SelectAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent_in_progress(id)?;
    let previous = bind(ws, intent, session_id)?;
    let overlaps = sharing(ws, intent);
    let curated = context::answer(ws, intent, ContextExtent::Curated);
    // The scope is the one that the context shows: it is not longer than an agent should read.
    let owned_scope = curated.terms.owned_scope.clone();
    let summary = summary(ws, intent);
    let kept = summary.kept.clone().without_lists();
    Ok(SelectAnswer {
        intent: IntentSummary { selected: true, owned_scope, kept, ..summary },
        previous: previous.filter(|previous| *previous != intent.id.value),
        context: curated.context,
        terms: curated.terms,
        sessions: other_sessions(ws, intent, &overlaps, session_id),
        overlaps,
        hint: hint(ws, &intent.id.value),
    })
}

fn hint(ws: &Workspace, id: &str) -> Option<String> {
    let without_scope = ws.registry.unadopted(id).map(without_scope);
    let hints: Vec<String> =
        without_scope.into_iter().chain(evidence::git_hooks::hint(ws)).collect();
    (!hints.is_empty()).then(|| hints.join(" "))
}

/// The result of clearing the selection.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClearAnswer {
    /// The intent that was selected. `None` if there was none.
    pub cleared: Option<String>,
}

pub fn clear(ws: &Workspace) -> Result<ClearAnswer, VerbError> {
    ws.governed()?;
    session::clear(&ws.root)?;
    Ok(ClearAnswer { cleared: ws.selected(None) })
}

/// Returns all intents: those that are being worked on, then the others in the order of the
/// registry, then those that are kept in other formats. If earlier answers are kept, the intents have
/// what [`list_with_counts`] counted last.
pub fn list(ws: &Workspace) -> Result<Vec<IntentSummary>, VerbError> {
    let mut intents = list_without_counts(ws)?;
    if let Some(last) = LastCounts::recall(ws) {
        for summary in &mut intents {
            if let Some(counts) = last.intents.get(&summary.id) {
                summary.set_produced(*counts);
                summary.counted_at = Some(last.commit.clone());
            }
        }
    }
    Ok(intents)
}

fn list_without_counts(ws: &Workspace) -> Result<Vec<IntentSummary>, VerbError> {
    ws.sound_registry()?;
    let current = ws.registry.current_work();
    let selected = ws.selected(None);
    let own = ws.registry.intents().iter();
    let own = own.map(|intent| (intent, ws.registry.imported_intent(&intent.id.value)));
    let kept = ws.registry.not_adopted().map(|imported| (&imported.intent, Some(imported)));
    let mut all: Vec<(usize, IntentSummary)> = own
        .chain(kept)
        .map(|(intent, imported)| {
            let is_it = |one: &&ImportedIntent| one.intent.id.value == intent.id.value;
            let is_meant = imported.is_some_and(|imported| !imported.ambiguous);
            let place = current.iter().position(|one| is_meant && is_it(one));
            let summary = IntentSummary {
                selected: selected.as_ref() == Some(&intent.id.value),
                current: place.is_some(),
                criteria: CriteriaProgress::of_registry(intent),
                ..summary_of_intent(intent, imported)
            };
            (place.unwrap_or(usize::MAX), summary)
        })
        .collect();
    all.sort_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, summary)| summary).collect())
}

/// Returns the intents of [`list`] with what each has produced and which criteria were shown, and notes
/// on lines that could not be counted. Where this clone lacks history, what was produced is left out. This
/// reads all records and all files.
pub fn list_with_counts(ws: &Workspace) -> Result<(Vec<IntentSummary>, Vec<String>), VerbError> {
    let mut intents = list_without_counts(ws)?;
    let mut counts = LineCounts::counted(ws, |_, _| (), drop);
    let is_complete = !counts.unknown.lacks_history() && !ws.is_stopped();
    let mut produced = BTreeMap::new();
    for summary in &mut intents {
        if is_complete {
            let lines = counts.intents.remove(&summary.id).unwrap_or_default();
            let counts = lines.counts();
            produced.insert(summary.id.clone(), counts);
            summary.set_produced(counts);
        }
        if let Some(criteria) = &mut summary.criteria
            && let Some(intent) = ws.registry.get(&summary.id)
        {
            criteria.shown = Some(criteria.all - criteria::not_shown(ws, intent));
        }
    }
    if let Some(head) = ws.head().filter(|_| is_complete) {
        LastCounts { commit: head.0.clone(), intents: produced }.keep(ws);
    }
    Ok((intents, counts.unknown.notes().collect()))
}

pub(crate) fn summary(ws: &Workspace, intent: &Intent) -> IntentSummary {
    let id = intent.id.value.as_str();
    IntentSummary {
        selected: ws.selected(None).as_deref() == Some(id),
        ..summary_of_intent(intent, ws.registry.imported_intent(id))
    }
}

fn summary_of_intent(intent: &Intent, imported: Option<&ImportedIntent>) -> IntentSummary {
    IntentSummary {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        owned_scope: intent.owned_scope.iter().map(|entry| entry.value.clone()).collect(),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        kept: imported.map(SourceBrief::new).unwrap_or_default(),
        ..IntentSummary::default()
    }
}
