//! Handles a registry with unresolved merge conflicts: finds ids that both sides use for different
//! intents, and explains how to keep both.

use std::collections::{BTreeMap, BTreeSet};

use super::file::IntentFile;
use super::{Registry, edit};

use ground::{Code, Finding};

/// Returns the finding for a file that contains merge conflict markers. It must be called before
/// the file is parsed, because in a list in brackets the markers would be read as entries.
pub(super) fn finding(file: &IntentFile) -> Option<Finding> {
    let text = file.text();
    let conflicts = code::conflicts(text);
    let first = conflicts.first()?;
    let byte = |line: u32| {
        let next = code::position::line_ranges(text).nth(line as usize);
        next.map_or(text.len(), |next| next.start)
    };
    let lines: Vec<String> =
        conflicts.iter().map(|lines| format!("{} to {}", lines.start(), lines.end())).collect();
    let message =
        format!("The registry holds a merge conflict in the lines {}.", lines.join(" and "));
    let mut help = "Keep the intents of both sides and remove the marker lines; until then no intent can be selected and nothing is written to this file.".to_owned();
    let [ours, theirs] = code::sides(text)?.map(|side| names(file, &side));
    let mut used: BTreeSet<String> = ours.keys().chain(theirs.keys()).cloned().collect();
    let empty = Registry::from_files(vec![IntentFile::unread(file.path().clone(), "")]);
    for (id, name) in &ours {
        let Some(other) = theirs.get(id).filter(|other| *other != name) else { continue };
        let free = edit::next_id(&empty, &used);
        let settle = match file.is_single() {
            false => format!("write both in full, and give one of them `id: {free}`, which is free in this file"),
            true => "keep one of them in this file, and then write the other down with `intent new`, which takes a free id".to_owned(),
        };
        let to = if file.is_single() { "ID" } else { &free };
        help.push_str(&format!(
            " {id} is {name:?} on one side and {other:?} on the other. If these are two intents, {settle}. For the intent that gets the new id, move its records with `intent reassign PATH --from {id} --to {to}`; `intent why PATH` shows which files that concerns."
        ));
        used.insert(free);
    }
    let span = byte(first.start() - 1)..byte(first.end());
    Some(file.finding(Code::RegistrySyntax, span, message, help))
}

/// Returns the names of the intents on one side of the conflict, by id. Returns nothing if that
/// side does not parse on its own.
fn names(file: &IntentFile, side: &str) -> BTreeMap<String, String> {
    let intents = file.intents_of(side).unwrap_or_default();
    intents.into_iter().map(|intent| (intent.id.value, intent.name.value)).collect()
}
