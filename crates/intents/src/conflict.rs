//! Reports a registry with unresolved merge conflicts, and ids that both sides use for different
//! intents.

use std::collections::BTreeMap;

use super::file::IntentFile;

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
    let mut help = "`intent setup merge-registry` keeps the intents of both sides. Until then no intent can be selected, and nothing is written to this file.".to_owned();
    let [ours, theirs] = code::sides(text)?.map(|side| names_on_side(file, &side));
    for (id, name) in &ours {
        if let Some(other) = theirs.get(id).filter(|other| *other != name) {
            help.push_str(&format!(
                " {id} is {name:?} on one side and {other:?} on the other; if both sides added it, the second gets another id, and its records go with it."
            ));
        }
    }
    let span = byte(first.start() - 1)..byte(first.end());
    Some(file.finding(Code::RegistrySyntax, span, message, help))
}

/// Returns the names of the intents on one side of the conflict, by id. Returns nothing if that
/// side does not parse on its own.
fn names_on_side(file: &IntentFile, side: &str) -> BTreeMap<String, String> {
    let intents = file.intents_of(side).unwrap_or_default();
    intents.into_iter().map(|intent| (intent.id.value, intent.name.value)).collect()
}
