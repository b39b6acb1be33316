//! `intent select`: declares the intent that a person or session works under, and returns the
//! context of that intent. Also `list` and `status`.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::check::{self, CheckRequest, FindingAnswer};
use super::context::{self, ContextExtent};
use super::{VerbError, Workspace, record};
use crate::intent::Intent;
use crate::ledger::{Record, RecordKind};
use crate::workspace::{Hint, RelativePath, Selection, clock, session, text};

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
    /// Other intents in progress that own some of the same files, by id.
    pub overlaps: Vec<String>,
    /// Sessions of agents that recently selected this intent or one of `overlaps`.
    pub sessions: Vec<OtherSession>,
    /// A sentence that says that the git hooks are missing and what to do. `None` if they are
    /// installed or not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Another session that may work on the same files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherSession {
    /// The id of the session, as `host:session`.
    pub actor: String,
    /// The id of the intent that it has selected.
    pub intent: String,
    /// The time of the selection, as RFC 3339 in UTC.
    pub selected_at: String,
}

/// An intent as it is shown in lists.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IntentSummary {
    /// The id of the intent, for example `INT-001`.
    pub id: String,
    /// The name of the intent.
    pub name: String,
    /// The status of the intent. `None` if it is missing or unknown.
    pub status: Option<crate::intent::Status>,
    /// The globs of its scope.
    pub owned_scope: Vec<String>,
    /// The person who asked for the intent.
    pub owner: Option<String>,
    /// The number of files that contain blocks recorded under it.
    pub files: usize,
    /// The number of existing blocks that are recorded under it.
    pub blocks: usize,
    /// Whether the person of this work tree has selected it.
    pub selected: bool,
}

/// A short overview of the state of a workspace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// The root folder of the workspace.
    pub root: String,
    /// Whether there is an `.orchestration/` folder.
    pub governed: bool,
    /// The id of the selected intent, even if the registry does not contain it.
    pub selection: Option<String>,
    /// The selected intent, if the registry contains it.
    pub selected: Option<IntentSummary>,
    /// Why the registry is missing or cannot be read. If it is set, nothing is known about any
    /// intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_registry: Option<String>,
    /// The number of intents in the registry.
    pub intents: usize,
    /// The number of intents in progress.
    pub in_progress: usize,
    /// The number of records in the ledger.
    pub records: usize,
    /// The number of records that are in no commit yet and whose code is in the work tree or in the
    /// index.
    pub open_records: usize,
    /// The number of files of evidence that are staged or on disk, but in no commit.
    pub drafts: usize,
    /// Whether the git hooks put records into commits. Also `true` if none are needed.
    pub git_hooks: bool,
    /// The command to run first if they do not.
    pub hooks_remedy: Option<&'static str>,
    /// The number of errors that `intent check` finds in the work tree.
    pub errors: usize,
    /// The number of warnings that `intent check` finds in the work tree.
    pub warnings: usize,
    /// A sentence that says that the registry does not parse and edits are judged by an older
    /// version. Only a running server has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older_registry: Option<String>,
    /// The commit the work tree is based on.
    pub head: Option<String>,
    /// Set while a person has switched the gate off.
    pub off: Option<crate::workspace::session::Off>,
    /// The number of questions that wait for a person.
    pub waiting: usize,
}

/// Returns what has to be done before an intent is selected here: the command that selects one, or
/// the step before that. The text is the hint of the error "no intent is selected".
pub(crate) fn next_step(ws: &Workspace) -> String {
    if let Err(error) = ws.sound_registry() {
        return error.with_hint();
    }
    match ids(ws, Intent::in_progress)[..] {
        [only] => format!("`intent select {only}`"),
        [] => format!("none is in progress; {}", start_step(ws)),
        ref several => format!("`intent select ID`, with one of {}", text::listed(several)),
    }
}

/// Returns the intents in progress that own all of the paths. Empty if there are no paths.
pub(super) fn owners_of_all<'a>(ws: &'a Workspace, paths: &[RelativePath]) -> Vec<&'a Intent> {
    let Some((first, rest)) = paths.split_first() else { return Vec::new() };
    let mut owners = ws.registry.owners(first);
    owners.retain(|owner| ws.registry.get(&owner.id.value).is_some());
    for path in rest {
        let others = ws.registry.owners(path);
        owners.retain(|owner| others.iter().any(|other| other.id.value == owner.id.value));
    }
    owners
}

/// Returns the command that puts an intent in progress, for a workspace in which none is.
pub(super) fn start_step(ws: &Workspace) -> String {
    match ids(ws, can_start)[..] {
        [] => NEW_INTENT.to_owned(),
        [only] => format!("`intent start {only}` starts it"),
        ref several => format!("`intent start ID` starts one of {}", text::listed(several)),
    }
}

fn ids(ws: &Workspace, wanted: impl Fn(&Intent) -> bool) -> Vec<&str> {
    unambiguous(ws, wanted).map(|intent| intent.id.value.as_str()).collect()
}

/// Returns the wanted intents whose id belongs to no other intent.
pub(super) fn unambiguous(
    ws: &Workspace,
    wanted: impl Fn(&Intent) -> bool,
) -> impl Iterator<Item = &Intent> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for intent in ws.registry.intents() {
        *counts.entry(&intent.id.value).or_default() += 1;
    }
    let is_only = move |intent: &Intent| counts.get(intent.id.value.as_str()) == Some(&1);
    ws.registry.intents().iter().filter(move |intent| wanted(intent) && is_only(intent))
}

/// The advice for a registry without an open intent.
const NEW_INTENT: &str =
    "write one down with `intent new \"What somebody asked for\" --scope 'src/**' --start`";

/// Returns true if an intent is neither completed nor archived, so that it can be put in progress.
pub(super) fn can_start(intent: &Intent) -> bool {
    use crate::intent::Status::{Archived, Completed};
    intent.status.as_ref().is_none_or(|status| !matches!(status.value, Completed | Archived))
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
    let overlaps = overlaps(ws, intent);
    let curated = context::answer(ws, intent, ContextExtent::Curated);
    Ok(SelectAnswer {
        intent: IntentSummary { selected: true, ..summary(ws, intent) },
        previous: previous.filter(|previous| *previous != intent.id.value),
        context: curated.context,
        terms: curated.terms,
        sessions: others(ws, intent, &overlaps, session_id),
        overlaps,
        hint: super::git_hooks::hint(ws),
    })
}

/// Returns the sessions that selected the intent, or one that overlaps it, within the last
/// [`RECENT_HOURS`].
pub(super) fn others(
    ws: &Workspace,
    intent: &Intent,
    overlaps: &[String],
    me: Option<&str>,
) -> Vec<OtherSession> {
    let selections = session::selections(&ws.root, &clock::hours_ago(RECENT_HOURS)).into_iter();
    let sessions = selections.filter_map(|Selection { intent_id, selected_at, actor }| {
        let id = ws.registry.present_id(&intent_id).to_owned();
        Some(OtherSession { actor: actor?, intent: id, selected_at })
    });
    let same = |id: &String| *id == intent.id.value || overlaps.contains(id);
    sessions.filter(|other| same(&other.intent) && Some(&*other.actor) != me).collect()
}

/// A session that selected its intent longer ago than this many hours is assumed to have ended.
const RECENT_HOURS: i64 = 12;

/// Stores the selection, and returns the id of the intent that was selected before.
pub(super) fn bind(
    ws: &Workspace,
    intent: &Intent,
    session_id: Option<&str>,
) -> Result<Option<String>, VerbError> {
    let id = intent.id.value.clone();
    let previous = ws.selected(session_id);
    let actor = session_id.map(str::to_owned);
    // The record is written first, so that nobody works under a selection that the ledger does not
    // have.
    if previous.as_ref() != Some(&id) {
        let session = actor.clone();
        let selected = record::skeleton(ws, RecordKind::Selection, Some(intent), session, None);
        let note = previous.as_ref().map(|previous| format!("before: {previous}"));
        record::append(ws, Record { note, ..selected })?;
    }
    let selection = Selection { intent_id: id, selected_at: clock::now(), actor };
    match session_id {
        Some(session_id) => session::select_for(&ws.root, session_id, &selection)?,
        None => session::select(&ws.root, &selection)?,
    }
    Ok(previous)
}

/// The result of clearing the selection.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClearAnswer {
    /// The intent that was selected. `None` if there was none.
    pub cleared: Option<String>,
}

/// Clears the selection of the person.
pub fn clear(ws: &Workspace) -> Result<ClearAnswer, VerbError> {
    ws.governed()?;
    session::clear(&ws.root)?;
    Ok(ClearAnswer { cleared: ws.selected(None) })
}

/// Returns all intents, in the order of the registry.
pub fn list(ws: &Workspace) -> Result<Vec<IntentSummary>, VerbError> {
    ws.sound_registry()?;
    let produced = super::map::produced_by_all(ws);
    let blocks = |intent: &Intent| {
        let files = produced.get(&intent.id.value).into_iter().flatten();
        files.map(|(_, blocks)| blocks.len()).collect::<Vec<_>>()
    };
    let intents = ws.registry.intents().iter();
    Ok(intents.map(|intent| summary_of(ws, intent, &blocks(intent))).collect())
}

/// Returns the state of the workspace, with the intent that the session has selected, or the person
/// if no session is named. Never fails: a broken registry is part of the state.
pub fn status(ws: &Workspace, session: Option<&str>) -> StatusAnswer {
    let checked = check::change(ws, &CheckRequest::default()).map(|answer| answer.findings);
    let findings = checked.unwrap_or_else(|_| check::answers(ws, super::verify::findings(ws)));
    status_given(ws, session, &findings)
}

/// Like [`status`], for a caller that already has the findings of `intent check`.
pub(crate) fn status_given(
    ws: &Workspace,
    session: Option<&str>,
    findings: &[FindingAnswer],
) -> StatusAnswer {
    let at = |level| findings.iter().filter(|finding| finding.level == level).count();
    let selected = ws.selected(session);
    let as_selected = |intent| IntentSummary { selected: true, ..summary(ws, intent) };
    let hooks_remedy = super::git_hooks::remedy(ws);
    StatusAnswer {
        root: ws.root.path().display().to_string(),
        governed: ws.root.governed(),
        selected: selected.as_ref().and_then(|id| ws.registry.get(id).map(as_selected)),
        selection: selected,
        unread_registry: ws.unread_registry(),
        intents: ws.registry.intents().len(),
        in_progress: ws.registry.intents().iter().filter(|intent| intent.in_progress()).count(),
        records: ws.ledger.len(),
        open_records: super::seal::open(ws).standing.len(),
        drafts: super::seal::drafts(ws).len(),
        git_hooks: hooks_remedy.is_none(),
        hooks_remedy,
        errors: at(crate::workspace::Level::Error),
        warnings: at(crate::workspace::Level::Warning),
        older_registry: ws.judged_by_older(),
        head: ws.head().map(|head| head.0.clone()),
        off: session::off_until(&ws.root),
        waiting: crate::workspace::approvals::pending(&ws.root).len(),
    }
}

/// Returns an intent as it is shown in lists.
pub(crate) fn summary(ws: &Workspace, intent: &Intent) -> IntentSummary {
    let produced = super::map::produced(ws, &intent.id.value);
    let blocks: Vec<usize> = produced.iter().map(|(_, blocks)| blocks.len()).collect();
    summary_of(ws, intent, &blocks)
}

/// Like [`summary`], for a caller that knows the number of the intent's blocks in each of its
/// files.
fn summary_of(ws: &Workspace, intent: &Intent, blocks: &[usize]) -> IntentSummary {
    IntentSummary {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        owned_scope: intent.owned_scope.iter().map(|entry| entry.value.clone()).collect(),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        files: blocks.len(),
        blocks: blocks.iter().sum(),
        selected: ws.selected(None).as_deref() == Some(&intent.id.value),
    }
}

/// Returns other intents in progress whose scopes share an entry with this one's. Does not read the
/// ledger.
pub(super) fn sharing(ws: &Workspace, intent: &Intent) -> Vec<String> {
    let entries = intent.scope_entries();
    let shares = |other: &&Intent| {
        let scope = other.scope_entries();
        scope.iter().any(|entry| !entry.starts_with('!') && entries.contains(entry))
    };
    in_progress_beside(ws, intent).filter(shares).map(|other| other.id.value.clone()).collect()
}

fn in_progress_beside<'a>(
    ws: &'a Workspace,
    intent: &'a Intent,
) -> impl Iterator<Item = &'a Intent> {
    let others = ws.registry.intents().iter();
    others.filter(|other| other.in_progress() && other.id.value != intent.id.value)
}

/// Returns other intents in progress that share a scope entry with this one, or that own a file
/// with blocks of this one.
fn overlaps(ws: &Workspace, intent: &Intent) -> Vec<String> {
    let files = super::map::produced(ws, &intent.id.value);
    let owns_file = |other: &&Intent| {
        let scope = ws.registry.scope(&other.id.value);
        scope.is_some_and(|scope| files.iter().any(|(path, _)| scope.owns(path)))
    };
    let mut overlapping = sharing(ws, intent);
    for other in in_progress_beside(ws, intent).filter(owns_file) {
        if !overlapping.contains(&other.id.value) {
            overlapping.push(other.id.value.clone());
        }
    }
    overlapping
}
