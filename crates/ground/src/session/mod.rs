//! The state of the people and sessions that work in a work tree: the intent that each has
//! selected, what a session has seen of each file, and which calls are in progress.
//!
//! Everything except the person's selection is stored below `.orchestration/local/`. It may be lost
//! at any time, and it is not evidence.
//!
//! - `announced`: commands of this program that an agent is about to run
//! - `calls`: calls between their two hooks
//! - `seen`: the state in which a session last saw a file, and who last wrote it
//! - `failures`: tests that failed in a session
//! - `hosts`: processes that run hooks here
//! - `left_running`: commands that go on after their call
//! - `off`: the switch with which a person turns the gate off
//! - `ungated`: writes that happened without the gate

pub mod announced;
pub mod calls;
mod failures;
pub mod hosts;
pub mod left_running;
mod off;
pub mod seen;
pub mod ungated;

pub use failures::failed_again;
pub use off::{MAX_OFF, Off, off_until, switch_off, switch_on};

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use super::local_files::local;
use super::local_files::path_of_local_file;
use super::store::{self, StoreError};
use super::{Hint, Root};
use crate::clock;
use code::hex;

/// A selected intent. The person's selection is stored in
/// `.orchestration/active_intent_current.json`, and a session's below
/// `.orchestration/local/sessions/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Selection {
    /// The id of the intent.
    pub intent_id: String,
    /// When it was selected: RFC 3339 in UTC.
    pub selected_at: String,
    /// The branch on which it was selected. Absent outside of branches and without git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The session that selected it: `host:session`. Absent for the person's own selection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// What the intent was then, since its id may belong to another intent later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<SelectedText>,
}

/// What an intent was when it was selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SelectedText {
    /// The name of the intent.
    pub name: String,
    /// The hash of its text, as records have it.
    pub hash: String,
    /// The commit that was checked out. Absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// A selection larger than this, in bytes, was not written by us and is not read.
const MAX_SELECTION: u64 = 64 * 1024;

/// Returns the person's selection on the branch that is checked out. `None` if there is none, or if
/// it cannot be read. `is_known` says whether the registry of this branch has an intent.
pub fn selected(root: &Root, is_known: impl Fn(&str) -> bool) -> Option<Selection> {
    on_branch(root, &person(root), is_known)
}
pub fn select(root: &Root, selection: &Selection) -> Result<(), StoreError> {
    local(root)?;
    write(root, &person(root), selection)
}
/// Removes the person's selection on this branch. Returns true if there was one.
pub fn clear(root: &Root) -> Result<bool, StoreError> {
    remove(root, &person(root))
}

/// Returns the selection on the branch that is checked out. A selection belongs to the branch on
/// which it was made. On a branch without one, such as a new branch, the last one goes on if the
/// registry there has its intent.
fn on_branch(root: &Root, file: &Path, is_known: impl Fn(&str) -> bool) -> Option<Selection> {
    let last = read(file);
    let Some(branch) = root.branch() else { return last };
    let is_of_it = |last: &Selection| last.branch.as_ref().is_none_or(|of| *of == branch);
    if last.as_ref().is_some_and(is_of_it) {
        return last;
    }
    read(&of_branch(root, file, &branch)).or_else(|| last.filter(|last| is_known(&last.intent_id)))
}

/// Puts the last selection aside if it was made on another branch, so that it is found again there.
fn put_aside(root: &Root, file: &Path) -> Result<(), StoreError> {
    let last = read(file);
    let Some((last, of)) = last.as_ref().and_then(|last| Some((last, last.branch.as_ref()?)))
    else {
        return Ok(());
    };
    if root.branch().is_some_and(|here| here != *of) {
        write_as_is(&of_branch(root, file, of), last)?;
        store::remove(file)?;
    }
    Ok(())
}

fn write(root: &Root, file: &Path, selection: &Selection) -> Result<(), StoreError> {
    put_aside(root, file)?;
    let branch = root.branch();
    if let Some(branch) = &branch {
        store::remove(&of_branch(root, file, branch))?;
    }
    write_as_is(file, &Selection { branch, ..selection.clone() })
}

fn remove(root: &Root, file: &Path) -> Result<bool, StoreError> {
    put_aside(root, file)?;
    let branch = root.branch();
    let aside = branch.map(|branch| store::remove(&of_branch(root, file, &branch)));
    Ok(store::remove(file)? | aside.transpose()?.unwrap_or(false))
}

/// Returns the file that holds a selection which was made on a branch, while another is checked
/// out. `file` holds the last selection of the same person or session.
fn of_branch(root: &Root, file: &Path, branch: &str) -> PathBuf {
    let whose = file.file_stem().unwrap_or_default().to_string_lossy();
    note(root, "selected", &format!("{whose} {branch}"))
}

/// Returns the selection of a session. `session` is `host:id` and may contain any characters,
/// because only its hash becomes a file name.
///
/// A session that goes on in another work tree of the repository keeps its last selection.
pub fn selected_by(
    root: &Root,
    session: &str,
    is_known: impl Fn(&str) -> bool,
) -> Option<Selection> {
    on_branch(root, &of_session(root, session), is_known).or_else(|| {
        // If this work tree has a file of the session, that file decides.
        if of_session(root, session).exists() {
            return None;
        }
        let elsewhere = selections_elsewhere(root, session);
        let found = elsewhere.iter().filter_map(|file| read(file));
        found.max_by(|a, b| a.selected_at.cmp(&b.selected_at))
    })
}

/// Returns the files in which other work trees of the repository keep the selection of a session.
fn selections_elsewhere(root: &Root, session: &str) -> Vec<PathBuf> {
    let own = of_session(root, session);
    let Ok(below) = own.strip_prefix(root.path()) else { return Vec::new() };
    root.in_other_trees().into_iter().map(|tree| tree.join(below)).collect()
}
/// Returns the selections of the sessions of this work tree, sorted by actor.
pub fn selections(root: &Root) -> Vec<Selection> {
    let entries = store::entries(&path_of_local_file(root, "sessions")).take(MAX_SESSIONS);
    let found = entries.filter_map(|entry| read(&entry.path()));
    let mut all: Vec<Selection> = found.filter(|selection| selection.actor.is_some()).collect();
    all.sort_by(|a, b| a.actor.cmp(&b.actor));
    all
}

pub fn keep_time_of_write(root: &Root, session: &str) -> Result<(), StoreError> {
    keep_word(root, session, WROTE, &clock::now())
}

/// Returns when a session wrote a file of this work tree the last time, as RFC 3339 in UTC. `None` if
/// it has ended since.
pub fn time_of_write(root: &Root, session: &str) -> Option<String> {
    kept_word(root, session, WROTE, MAX_SELECTION)
}

pub fn forget_writes(root: &Root, session: &str) -> Result<(), StoreError> {
    store::remove(&of_actor(root, session).join(WROTE)).map(drop)
}

fn keep_word(root: &Root, actor: &str, name: &str, word: &str) -> Result<(), StoreError> {
    local(root)?;
    store::write_scratch(&of_actor(root, actor).join(name), word.as_bytes())
}

/// Returns what [`keep_word`] kept. `None` if it is longer than `max` bytes, or no text.
fn kept_word(root: &Root, actor: &str, name: &str, max: u64) -> Option<String> {
    let bytes = store::read_capped(&of_actor(root, actor).join(name), max).ok()??;
    String::from_utf8(bytes).ok()
}

const WROTE: &str = "wrote";

/// At most this many files are looked at.
const MAX_SESSIONS: usize = 500;

pub fn select_for(root: &Root, session: &str, selection: &Selection) -> Result<(), StoreError> {
    local(root)?;
    write(root, &of_session(root, session), selection)
}

pub fn clear_for(root: &Root, session: &str) -> Result<(), StoreError> {
    let subagents = format!("{session}/");
    let of_it = |actor: &String| actor == session || actor.starts_with(&subagents);
    let actors = selections(root).into_iter().filter_map(|selection| selection.actor);
    for actor in actors.filter(of_it).chain([session.to_owned()]) {
        for file in selections_elsewhere(root, &actor) {
            store::remove(&file)?;
        }
        remove(root, &of_session(root, &actor))?;
    }
    Ok(())
}

/// Stores which intents the person asked for in their last prompt to a session. The session may switch
/// to one of them.
pub fn store_prompted_intents(
    root: &Root,
    session: &str,
    intents: &[String],
) -> Result<(), StoreError> {
    keep_word(root, session, PROMPTED, &intents.join("\n"))
}

/// Returns true if the person asked for the intent in their last prompt to a session. This allows one
/// switch: the names are then removed.
pub fn take_prompted_intent(root: &Root, session: &str, intent: &str) -> bool {
    let path = of_actor(root, session).join(PROMPTED);
    let named = store::read_capped(&path, MAX_SELECTION).ok().flatten().unwrap_or_default();
    let is_named = String::from_utf8_lossy(&named).lines().any(|named| named == intent);
    is_named && store::remove(&path).unwrap_or(false)
}

const PROMPTED: &str = "prompted";

/// Returns the session of an actor, and its subagent if it is one: an actor is written `host:session` or
/// `host:session/subagent`.
pub fn actor_parts(actor: &str) -> (&str, Option<&str>) {
    match actor.split_once('/') {
        Some((session, subagent)) => (session, Some(subagent)),
        None => (actor, None),
    }
}

/// Notes that a session or subagent has changed files under an intent. The note of a subagent is also
/// one of its session, whose intent it may share.
pub fn note_work(root: &Root, actor: &str, intent: &str) -> Result<(), StoreError> {
    let (session, subagent) = actor_parts(actor);
    for actor in std::iter::once(session).chain(subagent.map(|_| actor)) {
        if !works_under(root, actor, intent) {
            keep_word(root, actor, WORK, intent)?;
        }
    }
    Ok(())
}

pub fn works_under(root: &Root, actor: &str, intent: &str) -> bool {
    kept_word(root, actor, WORK, MAX_SELECTION).is_some_and(|noted| noted == intent)
}

const WORK: &str = "works-under";

/// Stores the model that a host names for a session. Some hosts name it once, and not with each
/// call.
pub fn keep_model(root: &Root, session: &str, model: &str) -> Result<(), StoreError> {
    if model_of(root, session).as_deref() == Some(model) {
        return Ok(());
    }
    keep_word(root, session, MODEL, model)
}

pub fn model_of(root: &Root, session: &str) -> Option<String> {
    kept_word(root, session, MODEL, MAX_MODEL).filter(|model| !model.is_empty())
}

const MODEL: &str = "model";
const MAX_MODEL: u64 = 1024;

/// Logs a problem that could not be reported to anybody at once, as a line in
/// `.orchestration/local/hook_errors.log`, which `intent doctor` reads. Never fails: if the file
/// cannot be written, the message is only in the program's own log.
pub fn log(root: &Root, message: &str) {
    use std::io::Write;
    tracing::warn!(message);
    let Ok(folder) = local(root) else { return };
    let path = folder.join("hook_errors.log");
    let Ok((mut file, _)) = store::append_to(&path) else { return };
    if file.metadata().is_ok_and(|found| found.len() > MAX_LOG) {
        return;
    }
    let line = format!("{} {}\n", clock::now(), super::text::visible(message, false));
    // If even this fails, there is nobody to report it to.
    let _ = file.write_all(line.as_bytes());
}

/// Logs the error of a result, if it is one. `what` says what did not work: `a prompt could not be
/// noted`.
pub fn or_log<T>(root: &Root, what: &str, result: Result<T, impl Hint>) -> Option<T> {
    result.map_err(|error| log(root, &format!("{what}: {}", error.with_hint()))).ok()
}

/// No more lines are added to a log that is larger than this, in bytes.
const MAX_LOG: u64 = 1024 * 1024;

fn person(root: &Root) -> PathBuf {
    root.orchestration().join("active_intent_current.json")
}

fn of_session(root: &Root, session: &str) -> PathBuf {
    of_actor(root, session).with_extension("json")
}

fn of_actor(root: &Root, actor: &str) -> PathBuf {
    path_of_local_file(root, "sessions").join(digest(actor))
}

fn note(root: &Root, folder: &str, key: &str) -> PathBuf {
    path_of_local_file(root, folder).join(format!("{}.json", digest(key)))
}

fn keep_note(root: &Root, file: &Path, note: &impl Serialize) -> Result<(), StoreError> {
    local(root)?;
    store::write_json_scratch(file, note)
}

/// Hashes a text for use as a file name. The id of a session comes from the host, and a path can
/// contain any characters.
fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..16])
}

fn read(path: &Path) -> Option<Selection> {
    store::read_json(path, MAX_SELECTION)
}

fn write_as_is(path: &Path, selection: &Selection) -> Result<(), StoreError> {
    let mut text = serde_json::to_string_pretty(selection).expect("two strings always become JSON");
    text.push('\n');
    store::write_atomic(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::TestFolder;
    use super::*;

    fn selection(id: &str) -> Selection {
        Selection { intent_id: id.into(), selected_at: clock::now(), ..Selection::default() }
    }

    #[test]
    fn the_person_selects_and_clears() {
        let place = TestFolder::governed();
        let root = place.root("");
        assert_eq!(selected(&root, |_| true), None);
        assert!(!clear(&root).unwrap());
        let one = selection("INT-001");
        select(&root, &one).unwrap();
        assert_eq!(selected(&root, |_| true), Some(one));
        assert!(clear(&root).unwrap());
        assert_eq!(selected(&root, |_| true), None);
    }

    #[test]
    fn a_selection_belongs_to_its_branch() {
        let place = TestFolder::governed();
        place.git(&["init", "-q", "-b", "main"]);
        let root = place.root("");
        let switch = |branch: &str| place.git(&["symbolic-ref", "HEAD", branch]);
        let here = |is_known: bool| {
            let person = selected(&root, |_| is_known).map(|it| it.intent_id);
            let session = selected_by(&root, "host:1", |_| is_known).map(|it| it.intent_id);
            assert_eq!(person, session);
            person.unwrap_or_default()
        };
        let choose = |id: &str| {
            select(&root, &selection(id)).unwrap();
            select_for(&root, "host:1", &selection(id)).unwrap();
        };
        choose("INT-001");
        switch("refs/heads/new");
        assert_eq!((here(true), here(false)), ("INT-001".into(), String::new()));
        choose("INT-002");
        switch("refs/heads/main");
        assert_eq!(here(false), "INT-001");
        switch("refs/heads/new");
        assert_eq!(here(false), "INT-002");
        // Nothing is selected on a branch after `clear`, whatever is selected on others.
        switch("refs/heads/main");
        assert!(clear(&root).unwrap());
        clear_for(&root, "host:1").unwrap();
        assert_eq!(here(true), "");
        switch("refs/heads/new");
        assert_eq!(here(false), "INT-002");
    }

    #[test]
    fn sessions_do_not_see_each_other() {
        let place = TestFolder::governed();
        let root = place.root("");
        let hostile =
            ["claude-code:1", "claude-code:2", "../../x", "a/b\0c", "", &"x".repeat(9000)];
        for (n, session) in hostile.iter().enumerate() {
            select_for(&root, session, &selection(&format!("INT-{n:03}"))).unwrap();
        }
        for (n, session) in hostile.iter().enumerate() {
            let found = selected_by(&root, session, |_| true).unwrap();
            assert_eq!(found.intent_id, format!("INT-{n:03}"));
        }
        assert_eq!(selected(&root, |_| true), None);
        let sessions = root.orchestration().join("local/sessions");
        assert_eq!(std::fs::read_dir(sessions).unwrap().count(), hostile.len());
    }

    #[test]
    fn a_session_is_never_committed() {
        let place = TestFolder::governed();
        place.git(&["init", "-q"]);
        let root = place.root("");
        select_for(&root, "host:1", &selection("INT-001")).unwrap();
        let untracked = place.git(&["ls-files", "-o", "--exclude-standard"]);
        assert!(!untracked.contains("local"), "{untracked}");
    }

    #[test]
    fn a_selection_that_does_not_parse_selects_nothing() {
        let place = TestFolder::governed();
        let root = place.root("");
        for text in ["", "{", "[]", "{\"intent_id\": 3}", "null"] {
            place.write(".orchestration/active_intent_current.json", text);
            assert_eq!(selected(&root, |_| true), None, "{text:?}");
        }
    }
}
