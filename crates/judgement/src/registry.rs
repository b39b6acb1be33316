//! Changes to the registry: `intent new`, `start`, `complete`, `edit` and `renumber`. The file is
//! edited in place, and the change is recorded.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{scope_notes, seen_blocks};
use evidence::record;
use ground::RelativePath;
use ground::session;
use ground::store::{self, Lock};
use ground::text::counted;
use intents::dialect::Field;
use intents::entries::{self, SplitList};
use intents::{
    FOLDER, Intent, IntentEntry, IntentFile, Registry, RegistryEdit, Status, edit, name_after_id,
    reserved_ids, single_name,
};
use ledger::{Entry, Record, RecordKind};
use why::{VerbError, Workspace};

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
    /// `intent` is the intent after the change; `None` if it was removed.
    fn about(id: &str, intent: Option<&Intent>, path: &RelativePath) -> Self {
        let status = intent.and_then(|intent| Some(intent.status.as_ref()?.value));
        Self { id: id.to_owned(), status, path: path.to_string(), notes: Vec::new() }
    }

    /// Adds notes about the globs of the scope. `cwd` is the folder in which they were typed.
    pub fn with_notes(self, ws: &Workspace, globs: &[String], cwd: &Path) -> Self {
        Self { notes: scope_notes::notes(ws, globs, cwd), ..self }
    }
}

/// Writes a folder in a scope as the glob that owns what is below it: `lib/**` for `lib`. Returns a
/// sentence about each.
pub fn spell_out_folders(ws: &Workspace, scope: &mut [String]) -> Vec<String> {
    let mut notes = Vec::new();
    for entry in scope {
        let (negation, path) = match entry.strip_prefix('!') {
            Some(path) => ("!", path),
            None => ("", entry.as_str()),
        };
        let is_folder = |path: RelativePath| ws.root.absolute(&path).is_dir();
        if !path.ends_with('/') && RelativePath::new(path).is_ok_and(is_folder) {
            let glob = format!("{negation}{path}/**");
            notes.push(format!("{entry} is a folder, so the scope is {glob}"));
            *entry = glob;
        }
    }
    notes
}

/// Returns what is doubtful about a new intent: another one has its name, or it owns nothing.
pub fn doubts_about(ws: &Workspace, new: &IntentEntry) -> Vec<String> {
    let name = new.name.trim().to_lowercase();
    let same = ws.registry.intents().iter().find(|intent| {
        intent.name.value.trim().to_lowercase() == name
            && intent.id.value != new.id
            && !intent.is_closed()
    });
    let same =
        same.map(|intent| format!("{} is called {:?} too", intent.id.value, intent.name.value));
    let scopeless = new.owned_scope.is_empty().then(|| {
        "it has no scope, so nothing may be written under it; `--scope 'src/**'` gives it one"
            .to_owned()
    });
    same.into_iter().chain(scopeless).collect()
}

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
    let (used, taken) = reserved_ids::used_or_reserved(&ws.root, ws.git(), &registry);
    let is_ours_to_choose = intent.id.is_empty();
    match is_ours_to_choose {
        true => intent.id = reserved_ids::reserve_next(&ws.root, &registry, taken, "")?,
        false => used.refuse(&registry, &intent)?,
    }
    let id = intent.id.clone();
    let answer = change(ws, &turn, &id, &[RegistryEdit::Add(intent)], "created");
    match &answer {
        Ok(_) => reserved_ids::reserve(&ws.root, &id),
        Err(_) if is_ours_to_choose => reserved_ids::give_back(&ws.root, &id),
        Err(_) => {}
    }
    answer
}

/// Adds a file that points to an intent in another format, and gives it a scope. It is in progress
/// from then on, whatever its boxes say, because agents tick those.
pub fn adopt(ws: &Workspace, id: &str, scope: Vec<String>) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let (id, status) = (id.to_owned(), Some(Status::InProgress));
    let edit = RegistryEdit::Adopt { id: id.clone(), status, scope };
    change(ws, &turn(ws)?, &id, &[edit], "adopted")
}

/// What a person changes of an intent. Nothing but what is given is changed.
#[derive(Clone, Debug, Default)]
pub struct IntentChange {
    pub name: Option<String>,
    pub owner: Option<String>,
    pub status: Option<Status>,
    /// The entries to add, and those to take away, each with its list.
    pub add: Vec<(Field, String)>,
    pub remove: Vec<(Field, String)>,
}

/// Changes an intent as a person wants it. It is one change: either all of it is made or nothing.
pub fn edit_intent(
    ws: &Workspace,
    id: &str,
    wanted: IntentChange,
) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let id = ws.intent(id)?.id.value.clone();
    let text = |field, text| RegistryEdit::SetText { id: id.clone(), field, text };
    let mut edits = Vec::new();
    edits.extend(wanted.name.map(|name| text(Field::Name, name)));
    edits.extend(wanted.owner.map(|owner| text(Field::Owner, owner)));
    edits.extend(wanted.status.map(|status| RegistryEdit::SetStatus { id: id.clone(), status }));
    let remove = wanted.remove.into_iter();
    edits.extend(remove.map(|(field, entry)| RegistryEdit::RemoveEntry {
        id: id.clone(),
        field,
        entry,
    }));
    let add = wanted.add.into_iter();
    edits.extend(add.map(|(field, entry)| RegistryEdit::AddEntry { id: id.clone(), field, entry }));
    change(ws, &turn(ws)?, &id, &edits, "edited")
}

pub fn remove(ws: &Workspace, id: &str) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent(id)?;
    let id = intent.id.value.as_str();
    let entries = ws.entries_of(id);
    let open = ws.journal.entries().iter();
    let ids = ws.registry.ids(id);
    let open = open.filter(|entry| ids.iter().any(|id| entry.record.names_intent(id)));
    let works = |entry: &Arc<Entry>| entry.record.kind != RecordKind::Registry;
    let named = entries.into_iter().chain(open).filter(|entry| works(entry)).count();
    if named > 0 {
        return Err(VerbError::mendable(
            format!("{id} is named by {}, and would be missing there", counted(named, "record")),
            format!("`intent edit {id} --status ARCHIVED` puts it away"),
        ));
    }
    let edits = [RegistryEdit::Remove { id: id.to_owned() }];
    let mut answer = change(ws, &turn(ws)?, id, &edits, "removed")?;
    if ws.selected(None).as_deref() == Some(id) {
        session::clear(&ws.root)?;
        answer.notes.push(format!("{id} was selected here; nothing is selected now"));
    }
    Ok(answer)
}

/// Writes down that a person edited the registry in an editor: one record for each intent that is
/// another one now.
pub fn note_edited(ws: &Workspace, before: &Registry) -> Result<Vec<RegistryAnswer>, VerbError> {
    let registry = on_disk(ws)?;
    if let Some(error) = registry.syntax_error() {
        let place = error.place_in_compiler_form(registry.path());
        return Err(VerbError::mendable(
            format!("{place}: {}", error.message),
            "mend it there; until it parses, no intent can be selected",
        ));
    }
    let mut answers = Vec::new();
    for intent in registry.intents() {
        let id = &intent.id.value;
        if registry.version(id) == before.version(id) {
            continue;
        }
        let Some((file, _)) = registry.intent_with_file(id) else { continue };
        seen_blocks::note_own_write(ws, file.path(), Some(id));
        append(ws, id, Some(intent), "edited")?;
        answers.push(RegistryAnswer::about(id, Some(intent), file.path()));
    }
    Ok(answers)
}

/// What became of a list whose intents have files now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SplitAnswer {
    /// The files that were written, one for each intent.
    pub created: Vec<String>,
    /// The path of the list.
    pub list: String,
    /// Whether the list is still there, because it holds more than intents.
    pub kept: bool,
}

/// Moves each intent of the list into a file of its own. The list is changed last; until then both
/// are there, and running this again goes on. Lines of the list that are in `known` may be lost.
pub fn split(ws: &Workspace, known: &str) -> Result<SplitAnswer, VerbError> {
    ws.governed()?;
    ws.sound_registry()?;
    let _lock = turn(ws)?;
    let registry = on_disk(ws)?;
    let list = registry.list();
    if list.intents().is_empty() {
        return Err(VerbError::refused(format!(
            "{} lists no intents; each new one gets a file of its own",
            list.path()
        )));
    }
    let SplitList { files, rest } = entries::split(list, known)?;
    for (path, text) in &files {
        let there = ws.root.read(path, MAX_FILE)?;
        if there.is_some_and(|there| there != text.as_bytes()) {
            return Err(VerbError::refused(format!("{path} is there already, with another text")));
        }
    }
    for (path, text) in &files {
        store::create_new(&ws.root.absolute(path), text.as_bytes())?;
    }
    let at = ws.root.absolute(list.path());
    match &rest {
        Some(rest) => store::write_atomic(&at, rest.as_bytes())?,
        None => drop(store::remove(&at)?),
    }
    for (path, _) in &files {
        seen_blocks::note_own_write(ws, path, None);
    }
    seen_blocks::note_own_write(ws, list.path(), None);
    Ok(SplitAnswer {
        created: files.iter().map(|(path, _)| path.to_string()).collect(),
        list: list.path().to_string(),
        kept: rest.is_some(),
    })
}

/// The most bytes of a file with one intent.
const MAX_FILE: u64 = 1024 * 1024;

pub fn settle(ws: &Workspace, path: &RelativePath, text: &str) -> Result<(), VerbError> {
    let _lock = turn(ws)?;
    store::write_atomic(&ws.root.absolute(path), text.as_bytes())?;
    seen_blocks::note_own_write(ws, path, None);
    Ok(())
}

/// Gives the next free id to the intent in this file, the second of two that took one id in two
/// clones. Its records are found by its name and its former id.
pub fn renumber(
    ws: &Workspace,
    id: &str,
    path: &RelativePath,
) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let lock = turn(ws)?;
    let registry = on_disk(ws)?;
    let known = |file: &&Arc<IntentFile>| file.path() == path;
    let file = registry.files().iter().find(known).filter(|file| file.exists());
    let Some(file) = file else {
        return Err(VerbError::refused(format!("{path} holds no intent")));
    };
    let found = file.intents().iter().rfind(|intent| intent.id.value == id);
    let Some(intent) = found else {
        let ids: Vec<&str> = file.intents().iter().map(|it| it.id.value.as_str()).collect();
        return Err(VerbError::refused(format!("{path} holds {}, and no {id}", ids.join(", "))));
    };
    let (used, taken) = reserved_ids::used_or_reserved(&ws.root, ws.git(), &registry);
    let name = &intent.name.value;
    if registry.positions(id).len() < 2 && !used.is_used_by_another(id, name) {
        return Err(VerbError::mendable(
            format!("only one intent is {id}, in every branch that is known here"),
            "an id is changed only where two intents have it; `git fetch` brings what others wrote",
        ));
    }
    let new = reserved_ids::reserve_next(&ws.root, &registry, taken, "")?;
    let planned = edit::plan_renumbering(&registry, path, (id, &new))?;
    store::write_atomic(&ws.root.absolute(path), planned.text.as_bytes())?;
    let mut to = path.clone();
    if let Some(rest) = name_after_id(path, id)
        && let Ok(new_path) = RelativePath::new(&format!("{FOLDER}/{new}{rest}.yaml"))
        && !ws.root.absolute(&new_path).exists()
    {
        let moved = store::rename(&ws.root.absolute(path), &ws.root.absolute(&new_path));
        moved.map_err(|error| store::failed(&ws.root.absolute(path), "renamed")(error))?;
        to = new_path;
    }
    drop(lock);
    seen_blocks::note_own_write(ws, &to, Some(&new));
    let after = Registry::load(&ws.root);
    append(ws, &new, after.get(&new), &format!("renumbered from {id}"))?;
    Ok(RegistryAnswer::about(&new, Some(intent), &to))
}

pub fn set_status(ws: &Workspace, id: &str, status: Status) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let intent = ws.intent(id)?;
    let id = intent.id.value.as_str();
    if intent.status.as_ref().is_some_and(|now| now.value == status)
        && let Some((file, _)) = ws.registry.intent_with_file(id)
    {
        let note = "the intent already has this status; nothing was changed";
        let answer = RegistryAnswer::about(id, Some(intent), file.path());
        return Ok(RegistryAnswer { notes: vec![note.to_owned()], ..answer });
    }
    let wanted = RegistryEdit::SetStatus { id: id.to_owned(), status };
    let mut answer = change(ws, &turn(ws)?, id, &[wanted], status.as_str())?;
    if status != Status::InProgress && ws.selected(None).as_deref() == Some(id) {
        answer.notes.push(format!(
            "{id} is still selected here, and nothing may be written under it; `intent clear` forgets that"
        ));
    }
    Ok(answer)
}

pub fn widen(ws: &Workspace, id: &str, entry: &str) -> Result<RegistryAnswer, VerbError> {
    ws.governed()?;
    let id = ws.intent(id)?.id.value.as_str();
    let note = format!("scope widened by {entry}");
    let (id, entry) = (id.to_owned(), entry.to_owned());
    let wanted = RegistryEdit::AddEntry { id: id.clone(), field: Field::Scope, entry };
    change(ws, &turn(ws)?, &id, &[wanted], &note)
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
    wanted: &[RegistryEdit],
    note: &str,
) -> Result<RegistryAnswer, VerbError> {
    let registry = on_disk(ws)?;
    let (path, text) = edit::plan_all(&registry, wanted)?;
    let file = ws.root.absolute(&path);
    let is_gone = text.is_empty() && single_name(&path).is_some();
    match is_gone {
        true => drop(store::remove(&file)?),
        false => store::write_atomic(&file, text.as_bytes())?,
    }
    let after = registry.with_file(&path, &text);
    let intent = after.get(id);
    seen_blocks::note_own_write(ws, &path, Some(id));
    append(ws, id, intent, note)?;
    Ok(RegistryAnswer::about(id, intent, &path))
}

fn append(ws: &Workspace, id: &str, intent: Option<&Intent>, note: &str) -> Result<(), VerbError> {
    let record = Record {
        note: Some(note.to_owned()),
        intent_id: Some(id.to_owned()),
        ..record::skeleton(ws, RecordKind::Registry, intent, None, None)
    };
    record::append(ws, record).map(drop)
}
