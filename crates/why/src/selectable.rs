//! Which intents can be selected or started, and the command that does it.

use std::collections::HashMap;

use super::{VerbError, Workspace};
use ground::{Hint, RelativePath, text};
use intents::{ImportedIntent, Intent};

impl Workspace {
    pub fn nothing_selected(&self) -> VerbError {
        VerbError::NothingSelected { next: next_step(self) }
    }
}

/// Returns what has to be done before an intent is selected here: the command that selects one, or
/// the step before that. The text is the hint of the error "no intent is selected".
pub fn next_step(ws: &Workspace) -> String {
    if let Err(error) = ws.sound_registry() {
        return error.with_hint();
    }
    let offered = selectable_intents(ws);
    let ids: Vec<&str> = offered.iter().map(|intent| intent.id.value.as_str()).collect();
    match ids[..] {
        [only] => format!("`intent select {only}`"),
        [] => {
            let mut ids = ws.registry.intents().iter().filter(|intent| intent.in_progress());
            let unclear = ids.find_map(|intent| ws.registry.why_ambiguous(&intent.id.value));
            unclear.unwrap_or_else(|| format!("none is in progress; {}", start_step(ws)))
        }
        ref several => format!("`intent select ID`, with one of {}", text::listed(several)),
    }
}

/// Returns the intents that are offered for a selection: what is being worked on in another format,
/// and then what is in progress in the registry. If there is none, those in other formats that are
/// begun, or else that are open. Others may be selected too.
pub fn selectable_intents(ws: &Workspace) -> Vec<&Intent> {
    let current = ws.registry.current_work().into_iter();
    let current = current.filter_map(|one| ws.registry.get(&one.intent.id.value));
    let mut offered: Vec<&Intent> =
        current.filter(|intent| ws.registry.allows_work(intent)).collect();
    let is_new = |intent: &&Intent| !offered.iter().any(|known| known.id == intent.id);
    let own: Vec<&Intent> = unambiguous(ws, Intent::in_progress).filter(is_new).collect();
    offered.extend(own);
    if !offered.is_empty() {
        return offered;
    }
    let (begun, open): (Vec<_>, Vec<_>) =
        unadopted_open(ws).map(|one| &one.intent).partition(|intent| intent.in_progress());
    if begun.is_empty() { open } else { begun }
}

pub fn unadopted_open(ws: &Workspace) -> impl Iterator<Item = &ImportedIntent> {
    let open = ws.registry.imported().iter().filter(|one| one.is_open() && !one.ambiguous);
    open.filter(|one| ws.registry.unadopted(&one.intent.id.value).is_some())
}

/// Returns the intents in progress that own all of the paths. Empty if there are no paths.
pub fn owners_of_all<'a>(ws: &'a Workspace, paths: &[RelativePath]) -> Vec<&'a Intent> {
    let Some((first, rest)) = paths.split_first() else { return Vec::new() };
    let mut owners = ws.registry.owners(first);
    owners.retain(|owner| ws.registry.get(&owner.id.value).is_some());
    for path in rest {
        let others = ws.registry.owners(path);
        owners.retain(|owner| others.iter().any(|other| other.id.value == owner.id.value));
    }
    owners
}

pub fn start_step(ws: &Workspace) -> String {
    let ids: Vec<&str> = unambiguous(ws, can_start).map(|one| one.id.value.as_str()).collect();
    match ids[..] {
        [] => NEW_INTENT.to_owned(),
        [only] => format!("`intent start {only}` starts it"),
        ref several => format!("`intent start ID` starts one of {}", text::listed(several)),
    }
}

pub fn unambiguous(
    ws: &Workspace,
    wanted: impl Fn(&Intent) -> bool,
) -> impl Iterator<Item = &Intent> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for intent in ws.registry.intents() {
        *counts.entry(&intent.id.value).or_default() += 1;
    }
    let is_only = move |intent: &Intent| counts.get(intent.id.value.as_str()) == Some(&1);
    ws.registry.intents().iter().filter(move |intent| wanted(intent) && is_only(intent))
}

const NEW_INTENT: &str =
    "write one down with `intent new \"What somebody asked for\" --scope 'src/**' --start`";

/// Returns true if an intent is neither completed nor archived, so that it can be put in progress.
pub fn can_start(intent: &Intent) -> bool {
    use intents::Status::{Archived, Completed};
    intent.status.as_ref().is_none_or(|status| !matches!(status.value, Completed | Archived))
}
