//! Binds a person or a session of an agent to an intent, and finds the other sessions that work on the same files.

use schemars::JsonSchema;
use serde::Serialize;

use evidence::event::Event;
use evidence::record;
use ground::{Selection, clock, session};
use intents::{ImportedIntent, Intent};
use ledger::{Record, RecordKind};
use why::{VerbError, Workspace};

/// Another session that lately wrote the same files, or may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherSession {
    /// The id of the session, as `host:session`.
    pub actor: String,
    /// The id of the intent that it has selected.
    pub intent: String,
    /// The time of the selection, as RFC 3339 in UTC.
    pub selected_at: String,
    /// When it wrote a file the last time, as RFC 3339 in UTC.
    pub wrote_at: String,
}

impl OtherSession {
    /// Says in a few words which session it is: `claude-code under INT-001, which wrote 5 minutes ago`.
    pub fn described(&self) -> String {
        let host = self.actor.split_once(':').map_or(self.actor.as_str(), |(host, _)| host);
        let age = clock::ago(&self.wrote_at).unwrap_or_else(|| "lately".to_owned());
        format!("{host} under {}, which wrote {age}", self.intent)
    }
}

pub(crate) fn selected_by(ws: &Workspace, event: &Event) -> Option<String> {
    ws.selected(Some(&works_as(ws, event)))
}

/// Returns the actor whose selection counts. A subagent without a selection uses that of its
/// session.
pub(crate) fn works_as(ws: &Workspace, event: &Event) -> String {
    let actor = event.actor();
    if ws.selected(Some(&actor)).is_some() { actor } else { event.session_key() }
}

/// Returns the sessions under the intent, or under one that overlaps it, that wrote a file within the
/// last hour and have not ended since.
pub fn other_sessions(
    ws: &Workspace,
    intent: &Intent,
    overlaps: &[String],
    me: Option<&str>,
) -> Vec<OtherSession> {
    let session_of = |actor: &str| actor.split('/').next().unwrap_or_default().to_owned();
    let (me, oldest) = (me.map(session_of), clock::hours_ago(RECENT_HOURS));
    let selections = session::selections(&ws.root).into_iter();
    let sessions = selections.filter_map(|selection| {
        let intent = ws.intent_of_selection(&selection);
        let Selection { selected_at, actor, .. } = selection;
        let actor = actor?;
        let wrote_at = session::time_of_write(&ws.root, &actor).filter(|at| *at >= oldest)?;
        Some(OtherSession { actor, intent, selected_at, wrote_at })
    });
    let same = |id: &String| *id == intent.id.value || overlaps.contains(id);
    sessions.filter(|it| same(&it.intent) && Some(session_of(&it.actor)) != me).collect()
}

/// A session that wrote nothing for this many hours holds no files.
const RECENT_HOURS: i64 = 1;

/// Refuses a selection that an agent makes in a way that its hooks do not see, such as a script. It
/// changes neither the person's selection nor one that a session has. `sign` says how the agent was
/// noticed.
pub fn refuse_unseen(
    ws: &Workspace,
    id: &str,
    session: Option<&str>,
    sign: &str,
) -> Result<(), VerbError> {
    if let Some(session) = session {
        let (above, _) = session::actor_parts(session);
        let selected = ws.selected(Some(session)).or_else(|| ws.selected(Some(above)));
        if selected.is_none_or(|selected| selected == id) {
            return Ok(());
        }
    }
    Err(VerbError::mendable(
        format!("{sign}, so an agent selects {id}, and no hook has seen that it does"),
        "an agent runs `intent select ID` as a command by itself, or uses the tool select_active_intent; a person selects in a terminal of their own",
    ))
}

/// Says that an intent in another format has no scope, and what gives it one.
pub fn without_scope(imported: &ImportedIntent) -> String {
    let id = &imported.intent.id.value;
    format!(
        "{id} has no scope here, so it may change what no other intent in progress owns. A person gives it a scope with `intent adopt {id}`."
    )
}

/// Stores the selection, and returns the id of the intent that was selected before.
pub fn bind(
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
    let then = session::SelectedText {
        name: intent.name.value.clone(),
        hash: intent.hash(),
        revision: ws.head().map(|head| head.0.clone()),
    };
    let selected_at = clock::now();
    let selection = Selection { intent_id: id, branch: None, selected_at, actor, then: Some(then) };
    match session_id {
        Some(session_id) => session::select_for(&ws.root, session_id, &selection)?,
        None => session::select(&ws.root, &selection)?,
    }
    Ok(previous)
}

/// Returns other intents in progress whose scopes share an entry with this one's. Does not read the
/// ledger.
pub fn sharing(ws: &Workspace, intent: &Intent) -> Vec<String> {
    let entries = intent.scope_entries();
    let shares = |other: &&Intent| {
        let (scope, is_other) = (other.scope_entries(), other.id.value != intent.id.value);
        let is_shared = |entry: &&str| !entry.starts_with('!') && entries.contains(entry);
        other.in_progress() && is_other && scope.iter().any(is_shared)
    };
    let others = ws.registry.intents().iter().filter(shares);
    others.map(|other| other.id.value.clone()).collect()
}
