//! Who has selected which intent: the person in this work tree, and each agent session.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Root;
use super::store::{self, StoreError};

/// A selected intent. The person's is `.orchestration/active_intent_current.json`; a session's is below `.orchestration/local/sessions/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Selection {
    /// The intent.
    pub intent_id: String,
    /// When, RFC 3339 in UTC.
    pub selected_at: String,
}

/// A selection larger than this, in bytes, was not written by us.
const MAX_SELECTION: u64 = 64 * 1024;

/// The person's selection; `None` when nothing (readable) is selected.
pub fn selected(root: &Root) -> Option<Selection> {
    read(&person(root))
}
/// Writes the person's selection.
pub fn select(root: &Root, selection: &Selection) -> Result<(), StoreError> {
    write(&person(root), selection)
}
/// Removes the person's selection; whether there was one.
pub fn clear(root: &Root) -> Result<bool, StoreError> {
    store::remove(&person(root))
}
/// A session's selection (`session` is `host:id`, any text; the file name is derived safely).
pub fn selected_by(root: &Root, session: &str) -> Option<Selection> {
    read(&of_session(root, session))
}
/// Writes a session's selection.
pub fn select_for(root: &Root, session: &str, selection: &Selection) -> Result<(), StoreError> {
    local(root)?;
    write(&of_session(root, session), selection)
}

/// `.orchestration/local`, made if need be together with the ignore file that keeps it out of every commit.
pub fn local(root: &Root) -> Result<PathBuf, StoreError> {
    let folder = root.orchestration().join("local");
    store::create_new(&folder.join(".gitignore"), b"*\n")?;
    Ok(folder)
}

fn person(root: &Root) -> PathBuf {
    root.orchestration().join("active_intent_current.json")
}

/// The text of a session is the host's: only its hash becomes a file name.
fn of_session(root: &Root, session: &str) -> PathBuf {
    use std::fmt::Write;
    let mut name = String::with_capacity(37);
    for byte in &Sha256::digest(session.as_bytes())[..16] {
        write!(name, "{byte:02x}").expect("writing to a string cannot fail");
    }
    name.push_str(".json");
    root.orchestration().join("local").join("sessions").join(name)
}

fn read(path: &std::path::Path) -> Option<Selection> {
    let bytes = store::read_capped(path, MAX_SELECTION).ok()??;
    serde_json::from_slice(&bytes).ok()
}

fn write(path: &std::path::Path, selection: &Selection) -> Result<(), StoreError> {
    let mut text = serde_json::to_string_pretty(selection).expect("two strings always become JSON");
    text.push('\n');
    store::write_atomic(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Place;
    use super::*;

    fn selection(id: &str) -> Selection {
        Selection { intent_id: id.into(), selected_at: store::now() }
    }

    #[test]
    fn the_person_selects_and_clears() {
        let place = Place::governed();
        let root = place.root("");
        assert_eq!(selected(&root), None);
        assert!(!clear(&root).unwrap());
        let one = selection("INT-001");
        select(&root, &one).unwrap();
        assert_eq!(selected(&root), Some(one));
        assert!(clear(&root).unwrap());
        assert_eq!(selected(&root), None);
    }

    #[test]
    fn sessions_do_not_see_each_other() {
        let place = Place::governed();
        let root = place.root("");
        let hostile =
            ["claude-code:1", "claude-code:2", "../../x", "a/b\0c", "", &"x".repeat(9000)];
        for (n, session) in hostile.iter().enumerate() {
            select_for(&root, session, &selection(&format!("INT-{n:03}"))).unwrap();
        }
        for (n, session) in hostile.iter().enumerate() {
            let found = selected_by(&root, session).unwrap();
            assert_eq!(found.intent_id, format!("INT-{n:03}"));
        }
        assert_eq!(selected(&root), None);
        let sessions = root.orchestration().join("local/sessions");
        assert_eq!(std::fs::read_dir(sessions).unwrap().count(), hostile.len());
    }

    #[test]
    fn a_session_is_never_committed() {
        let place = Place::governed();
        place.git(&["init", "-q"]);
        let root = place.root("");
        select_for(&root, "host:1", &selection("INT-001")).unwrap();
        let untracked = place.git(&["ls-files", "-o", "--exclude-standard"]);
        assert!(!untracked.contains("local"), "{untracked}");
    }

    #[test]
    fn what_does_not_parse_selects_nothing() {
        let place = Place::governed();
        let root = place.root("");
        for text in ["", "{", "[]", "{\"intent_id\": 3}", "null"] {
            place.write(".orchestration/active_intent_current.json", text);
            assert_eq!(selected(&root), None, "{text:?}");
        }
    }
}
