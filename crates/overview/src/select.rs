//! `intent select`: declares the intent that a person or session works under, and returns the
//! context of that intent. Also `list` and `status`.

use judgement::selection::{OtherSession, bind, other_sessions, sharing, without_scope};

use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, ContextExtent};
use ground::session;
use intents::Intent;
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    /// The number of files that contain blocks recorded under it. Absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The number of existing blocks that are recorded under it. Absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// Whether the person of this work tree has selected it.
    pub selected: bool,
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
    Ok(SelectAnswer {
        intent: IntentSummary { selected: true, owned_scope, ..summary(ws, intent) },
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

/// Returns all intents, in the order of the registry.
pub fn list(ws: &Workspace) -> Result<Vec<IntentSummary>, VerbError> {
    ws.sound_registry()?;
    Ok(ws.registry.intents().iter().map(|intent| summary(ws, intent)).collect())
}

/// Like [`list`], with what each intent has produced. All files are read for this.
pub fn list_with_counts(ws: &Workspace) -> Result<Vec<IntentSummary>, VerbError> {
    let mut intents = list(ws)?;
    let produced = judgement::map::produced_by_all(ws);
    for intent in &mut intents {
        let files = produced.get(&intent.id).into_iter().flatten();
        let counts = files.map(|(_, blocks)| blocks.len()).filter(|blocks| *blocks > 0);
        intent.files = Some(counts.clone().count());
        intent.blocks = Some(counts.sum());
    }
    Ok(intents)
}

/// Returns an intent as it is shown in lists, without what it has produced.
pub(crate) fn summary(ws: &Workspace, intent: &Intent) -> IntentSummary {
    IntentSummary {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        owned_scope: intent.owned_scope.iter().map(|entry| entry.value.clone()).collect(),
        owner: intent.owner.as_ref().map(|owner| owner.value.clone()),
        files: None,
        blocks: None,
        selected: ws.selected(None).as_deref() == Some(&intent.id.value),
    }
}
