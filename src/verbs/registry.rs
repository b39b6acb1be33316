//! Changes to the registry: new, start, complete, widen. Edited in place, recorded.

use schemars::JsonSchema;
use serde::Serialize;

use super::{VerbError, Workspace, record};
use crate::edits;
use crate::intent::{EditError, NewIntent, Registry, RegistryEdit, Status, edit};
use crate::ledger::{Record, RecordKind};
use crate::workspace::store;

/// What was changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RegistryAnswer {
    /// The intent.
    pub id: String,
    /// Its status now.
    pub status: Option<Status>,
    /// The file that was edited, relative to the workspace.
    pub path: String,
}

/// Adds an intent; without an id, the next free one.
pub fn new(ws: &Workspace, mut intent: NewIntent) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    if intent.id.is_empty() {
        intent.id = edit::next_id(&ws.registry);
    }
    let id = intent.id.clone();
    change(ws, &id, &RegistryEdit::Add(intent), "created")
}

/// Sets an intent's status.
pub fn set_status(ws: &Workspace, id: &str, status: Status) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    ws.intent(id)?;
    change(ws, id, &RegistryEdit::SetStatus { id: id.to_owned(), status }, status.as_str())
}

/// Adds a scope entry to an intent.
pub fn widen(ws: &Workspace, id: &str, entry: &str) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    ws.intent(id)?;
    let note = format!("scope widened by {entry}");
    change(ws, id, &RegistryEdit::AddScope { id: id.to_owned(), entry: entry.to_owned() }, &note)
}

fn change(
    ws: &Workspace,
    id: &str,
    wanted: &RegistryEdit,
    note: &str,
) -> Result<RegistryAnswer, VerbError> {
    // Read again, so that what somebody wrote since is not lost.
    let registry = Registry::load(&ws.root);
    let edits = edit::plan(&registry, wanted)?;
    let text = edits::apply(registry.text(), &edits).ok_or_else(|| {
        EditError::Refused(format!(
            "{} could not be edited in place; nothing was changed",
            registry.path()
        ))
    })?;
    let path = registry.path().clone();
    store::write_atomic(&ws.root.absolute(&path), text.as_bytes())?;
    let after = Registry::parse(path.clone(), &text);
    let intent = after.get(id);
    let record = Record {
        note: Some(note.to_owned()),
        intent_id: Some(id.to_owned()),
        ..record::skeleton(ws, RecordKind::Registry, intent, None, None)
    };
    record::append(ws, record)?;
    Ok(RegistryAnswer {
        id: id.to_owned(),
        status: intent.and_then(|intent| Some(intent.status.as_ref()?.value)),
        path: path.to_string(),
    })
}
