//! Changes to the registry: `intent new`, `start`, `complete` and wider scopes. The file is edited
//! in place, and the change is recorded.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{scope_notes, seen_blocks};
use evidence::record;
use ground::session;
use ground::store::{self, Lock};
use intents::{IntentEntry, PlannedEdit, Registry, RegistryEdit, Status, UsedIds, edit};
use ledger::{Record, RecordKind};
use why::{VerbError, Workspace};

/// How long to wait for another process that edits the registry.
const PATIENCE: Duration = Duration::from_secs(5);

/// The result of a change to the registry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RegistryAnswer {
    /// The id of the changed intent.
    pub id: String,
    /// The status of the intent after the change.
    pub status: Option<Status>,
    /// The file that was edited, relative to the workspace.
    pub path: String,
    /// Remarks, each a sentence: for example about globs that probably do not match the intended
    /// files, or about a selected intent under which nothing may be written any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl RegistryAnswer {
    /// Adds notes about the globs of the scope. `cwd` is the folder in which they were typed.
    pub fn with_notes(self, ws: &Workspace, globs: &[String], cwd: &Path) -> Self {
        Self { notes: scope_notes::notes(ws, globs, cwd), ..self }
    }
}

/// Adds an intent to the registry. If it has no id, it gets the next free one.
pub fn new(ws: &Workspace, mut intent: IntentEntry) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    if intent.name.trim().is_empty() {
        return Err(VerbError::mendable(
            "an intent needs a name",
            "say in a few words what is wanted",
        ));
    }
    let turn = turn(ws)?;
    let registry = on_disk(ws)?;
    let used = ws.git().map(|git| UsedIds::in_repository(git, registry.path())).unwrap_or_default();
    if intent.id.is_empty() {
        intent.id = edit::next_id(&registry, &used.ids());
    }
    used.refuse(&registry, &intent)?;
    let id = intent.id.clone();
    change(ws, &turn, &id, &RegistryEdit::Add(intent), "created")
}

pub fn set_status(ws: &Workspace, id: &str, status: Status) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent(id)?;
    let id = intent.id.value.as_str();
    if intent.status.as_ref().is_some_and(|now| now.value == status)
        && let Some((file, _)) = ws.registry.intent_with_file(id)
    {
        return Ok(RegistryAnswer {
            id: id.to_owned(),
            status: Some(status),
            path: file.path().to_string(),
            notes: vec!["the intent already has this status; nothing was changed".to_owned()],
        });
    }
    let wanted = RegistryEdit::SetStatus { id: id.to_owned(), status };
    let mut answer = change(ws, &turn(ws)?, id, &wanted, status.as_str())?;
    if status != Status::InProgress && ws.selected(None).as_deref() == Some(id) {
        answer.notes.push(format!(
            "{id} is still selected here, and nothing may be written under it; `intent clear` forgets that"
        ));
    }
    Ok(answer)
}

/// Adds an entry to the scope of an intent.
pub fn widen(ws: &Workspace, id: &str, entry: &str) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let id = ws.intent(id)?.id.value.as_str();
    let note = format!("scope widened by {entry}");
    let wanted = RegistryEdit::AddScope { id: id.to_owned(), entry: entry.to_owned() };
    change(ws, &turn(ws)?, id, &wanted, &note)
}

/// Like [`widen`], for a file that is open in an editor which already has the same change in its
/// buffer. The file keeps its modification time; otherwise the editor would refuse to save its
/// buffer over a file that changed on disk.
pub fn widen_beside_editor(
    ws: &Workspace,
    id: &str,
    entry: &str,
) -> Result<RegistryAnswer, VerbError> {
    let file = ws.registry.intent_with_file(id).map(|(file, _)| ws.root.absolute(file.path()));
    let time = file.as_ref().and_then(|file| fs::metadata(file).ok()?.modified().ok());
    let answer = widen(ws, id, entry)?;
    if let (Some(file), Some(time)) = (file, time) {
        let set = File::options().write(true).open(&file).and_then(|it| it.set_modified(time));
        let set = set.map_err(|error| store::failed(&file, "written")(error));
        session::or_log(&ws.root, &format!("{} did not keep its time", answer.path), set);
    }
    Ok(answer)
}

/// Locks the registry. The lock covers reading, planning and writing, so that two processes cannot
/// overwrite each other's changes.
fn turn(ws: &Workspace) -> Result<Lock, VerbError> {
    Ok(store::lock(&ws.root.private().join("registry.lock"), PATIENCE)?)
}

/// Reads the registry again, so that changes made since are not lost. It is an error if the file is
/// missing although git has one: a new one is not created in its place.
fn on_disk(ws: &Workspace) -> Result<Registry, VerbError> {
    let registry = Registry::load(&ws.root);
    match ws.lost_registry() {
        Some(reason) if !registry.exists() => Err(VerbError::refused(reason)),
        _ => Ok(registry),
    }
}

fn change(
    ws: &Workspace,
    _turn: &Lock,
    id: &str,
    wanted: &RegistryEdit,
    note: &str,
) -> Result<RegistryAnswer, VerbError> {
    let registry = on_disk(ws)?;
    let PlannedEdit { path, text, .. } = edit::plan(&registry, wanted)?;
    store::write_atomic(&ws.root.absolute(&path), text.as_bytes())?;
    let after = registry.with_file(&path, &text);
    let intent = after.get(id);
    seen_blocks::note_own_write(ws, &path, Some(id));
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
        notes: Vec::new(),
    })
}
