//! *Select*: the handshake. Declares the intent one works under and answers with a curated context.

use schemars::JsonSchema;
use serde::Serialize;

use super::{VerbError, Workspace, context, record};
use crate::intent::Intent;
use crate::ledger::{Record, RecordKind};
use crate::workspace::{Selection, session, store};

/// The answer to a selection.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SelectAnswer {
    /// What is selected now.
    pub intent: IntentSummary,
    /// What was selected before.
    pub previous: Option<String>,
    /// The curated context, as XML.
    pub context: String,
    /// Other intents in progress that own some of the same files, by id.
    pub overlaps: Vec<String>,
}

/// An intent as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IntentSummary {
    /// `INT-001`.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// `None` when missing or unknown.
    pub status: Option<crate::intent::Status>,
    /// Its globs.
    pub owned_scope: Vec<String>,
    /// Who asked for it.
    pub owner: Option<String>,
    /// Files that it has produced blocks in.
    pub files: usize,
    /// Blocks that it is the last word on.
    pub blocks: usize,
    /// Selected by the person in this work tree.
    pub selected: bool,
}

/// The state of a workspace in brief.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// The root folder.
    pub root: String,
    /// Whether there is an `.orchestration/`.
    pub governed: bool,
    /// The id of what is selected, whether or not the registry holds it.
    pub selection: Option<String>,
    /// What is selected, as the registry has it.
    pub selected: Option<IntentSummary>,
    /// How many intents there are.
    pub intents: usize,
    /// How many are in progress.
    pub in_progress: usize,
    /// How many records the ledger holds.
    pub records: usize,
    /// Findings in registry, policy and ledger, by level.
    pub errors: usize,
    /// See `errors`.
    pub warnings: usize,
    /// The commit the work tree is based on.
    pub head: Option<String>,
}

/// Selects an intent for the person, or for a session, and records that.
pub fn select(
    ws: &Workspace,
    id: &str,
    session_id: Option<&str>,
) -> Result<SelectAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent_in_progress(id)?;
    let previous = ws.selected(session_id);
    let selection = Selection { intent_id: id.to_owned(), selected_at: store::now() };
    // The record first: nobody works under a selection that the ledger could not be told of.
    if previous.as_deref() != Some(id) {
        let selected = record::skeleton(
            ws,
            RecordKind::Selection,
            Some(intent),
            session_id.map(str::to_owned),
            None,
        );
        record::append(
            ws,
            Record {
                note: previous.as_ref().map(|previous| format!("before: {previous}")),
                ..selected
            },
        )?;
    }
    match session_id {
        Some(session_id) => session::select_for(&ws.root, session_id, &selection)?,
        None => session::select(&ws.root, &selection)?,
    }
    Ok(SelectAnswer {
        intent: IntentSummary { selected: true, ..summary(ws, intent) },
        previous: previous.filter(|previous| previous != id),
        context: context::xml(ws, intent, context::Extent::Curated),
        overlaps: overlaps(ws, intent),
    })
}

/// Forgets the person's selection; what was selected.
pub fn clear(ws: &Workspace) -> Result<Option<String>, VerbError> {
    ws.governed()?;
    session::clear(&ws.root)?;
    Ok(ws.selected(None))
}

/// All intents, in file order.
pub fn list(ws: &Workspace) -> Result<Vec<IntentSummary>, VerbError> {
    ws.sound_registry()?;
    Ok(ws.registry.intents().iter().map(|intent| summary(ws, intent)).collect())
}

/// The state in brief. Never fails: a broken registry is part of the state.
pub fn status(ws: &Workspace) -> StatusAnswer {
    status_given(ws, &super::verify::findings(ws))
}

/// The same for a caller that has the workspace's findings at hand.
pub fn status_given(ws: &Workspace, findings: &[crate::workspace::Finding]) -> StatusAnswer {
    let at = |level| {
        findings.iter().filter(|finding| ws.policy.check_level(finding.code) == level).count()
    };
    let selected = ws.selected(None);
    StatusAnswer {
        root: ws.root.path().display().to_string(),
        governed: ws.root.governed(),
        selected: selected.as_ref().and_then(|id| Some(summary(ws, ws.registry.get(id)?))),
        selection: selected,
        intents: ws.registry.intents().len(),
        in_progress: ws.registry.intents().iter().filter(|intent| intent.in_progress()).count(),
        records: ws.ledger.entries().len(),
        errors: at(crate::workspace::Level::Error),
        warnings: at(crate::workspace::Level::Warning),
        head: ws.head.as_ref().map(|head| head.0.clone()),
    }
}

/// An intent as lists show it.
pub fn summary(ws: &Workspace, intent: &Intent) -> IntentSummary {
    let produced = super::map::produced(ws, &intent.id.value);
    IntentSummary {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        owned_scope: intent.owned_scope.iter().map(|entry| entry.value.clone()).collect(),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        files: produced.len(),
        blocks: produced.iter().map(|(_, blocks)| blocks.len()).sum(),
        selected: ws.selected(None).as_deref() == Some(&intent.id.value),
    }
}

/// Other intents in progress that own a file which this one has produced blocks in, or share a scope entry with it.
fn overlaps(ws: &Workspace, intent: &Intent) -> Vec<String> {
    let files: Vec<_> =
        super::map::produced(ws, &intent.id.value).into_iter().map(|(path, _)| path).collect();
    let entries = intent.scope_entries();
    let others = ws
        .registry
        .intents()
        .iter()
        .filter(|other| other.in_progress() && other.id.value != intent.id.value);
    others
        .filter(|other| {
            let shares_entry = other
                .scope_entries()
                .iter()
                .any(|entry| !entry.starts_with('!') && entries.contains(entry));
            let owns_file = ws
                .registry
                .scope(&other.id.value)
                .is_some_and(|scope| files.iter().any(|path| scope.owns(path)));
            shares_entry || owns_file
        })
        .map(|other| other.id.value.clone())
        .collect()
}
