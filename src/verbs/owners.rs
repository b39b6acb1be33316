//! *For*: which intents own a file, and what to do where none may write it.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Workspace, gate, judgement, select};
use crate::intent::{Intent, Status};
use crate::workspace::{RelativePath, text};

/// Who owns a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileOwners {
    /// Relative to the workspace. The file need not exist.
    pub path: RelativePath,
    /// The intents whose scope owns it: those in progress first, then in the order of the registry.
    pub owners: Vec<FileOwner>,
    /// The rule that keeps agents from it, whoever owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_by: Option<String>,
    /// The command to go on with. `None` if an owner is selected, or if a rule keeps agents from the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// An intent that owns a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileOwner {
    /// `INT-001`.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// `None` when missing or unknown.
    pub status: Option<Status>,
    /// Whether it is what the caller has selected.
    pub selected: bool,
}

/// The intents that own a file. `session` says whose selection counts; `None` is the person's.
pub fn of(ws: &Workspace, path: &RelativePath, session: Option<&str>) -> FileOwners {
    let selected = ws.selected(session);
    let mut owners = ws.registry.owners_among(path, |_| true);
    owners.sort_by_key(|intent| !intent.in_progress());
    let is_selected = |intent: &Intent| selected.as_deref() == Some(&intent.id.value);
    let kept_by = match gate::is_control_file(path) {
        true => Some("it steers the gate itself".to_owned()),
        false => judgement::kept_by(ws, path),
    };
    let may_go_on =
        kept_by.is_some() || owners.iter().any(|it| it.in_progress() && is_selected(it));
    let in_hand = ws.registry.get(selected.as_deref().unwrap_or_default());
    let in_hand = in_hand.filter(|intent| intent.in_progress());
    let next = (!may_go_on).then(|| next(path, &owners, in_hand));
    let owners = owners.into_iter().map(|intent| FileOwner {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        selected: is_selected(intent),
    });
    FileOwners { path: path.clone(), owners: owners.collect(), kept_by, next }
}

/// The command to go on with: select or start an owner, ask for a wider scope, or write down a new intent.
fn next(path: &RelativePath, owners: &[&Intent], selected: Option<&Intent>) -> String {
    let entry = text::shell_word(path.as_str());
    match (owners.iter().find(|owner| select::can_start(owner)), selected) {
        (Some(owner), _) if owner.in_progress() => format!("intent select {}", owner.id.value),
        (Some(owner), _) => format!("intent start {}", owner.id.value),
        (None, Some(selected)) => format!(
            "intent request-scope --intent {} --add {entry} --reason 'why it is needed'",
            selected.id.value
        ),
        (None, None) => format!("intent new 'what is asked for' --scope {entry} --start"),
    }
}
