//! *For*: which intents own a file, and what to do where none may write it.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Workspace, gate, judgement, select};
use crate::intent::{Intent, Status};
use crate::workspace::{RelativePath, text};

/// Who owns a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FileOwners {
    /// Relative to the workspace. The file need not exist.
    pub path: RelativePath,
    /// The intents whose scope owns it: those in progress first, then in the order of the registry.
    pub owners: Vec<FileOwner>,
    /// The rule that keeps agents from it, whoever owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_by: Option<String>,
    /// The command to go on with. `None` if an owner is selected, or if a rule keeps the caller from the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// An intent that owns a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FileOwner {
    /// `INT-001`.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// `None` when missing or unknown.
    pub status: Option<Status>,
    /// Whether it is what the caller has selected.
    pub selected: bool,
    /// The rule that keeps work under this intent from the file, though its scope owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_by: Option<String>,
}

impl FileOwner {
    /// Whether work under it may change the file now.
    pub(crate) fn may_write(&self) -> bool {
        self.status == Some(Status::InProgress) && self.kept_by.is_none()
    }
}

/// Who asks, so whose selection counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerAsker<'a> {
    /// The person of this work tree.
    Person,
    /// A session: `host:id`.
    Session(&'a str),
    /// An agent of which nobody can tell which session it is: none is taken for its selection.
    Nameless,
}

/// The intents that own a file.
pub(crate) fn of(ws: &Workspace, path: &RelativePath, asker: OwnerAsker<'_>) -> FileOwners {
    let selected = match asker {
        OwnerAsker::Person => ws.selected(None),
        OwnerAsker::Session(session) => ws.selected(Some(session)),
        OwnerAsker::Nameless => None,
    };
    let mut owners = ws.registry.owners_among(path, |_| true);
    owners.sort_by_key(|intent| !intent.in_progress());
    let is_selected = |intent: &Intent| selected.as_deref() == Some(&intent.id.value);
    let kept_by = match gate::is_control_file(path) {
        true => Some("it steers the gate itself".to_owned()),
        false => judgement::kept_by(ws, path, None),
    };
    let keeping = |intent: &Intent| match &kept_by {
        Some(_) => None,
        None => judgement::kept_by(ws, path, Some(&intent.id.value)),
    };
    let in_hand = ws.registry.get(selected.as_deref().unwrap_or_default());
    let in_hand = in_hand.filter(|intent| intent.in_progress());
    let open: Vec<&Intent> = owners.iter().filter(|it| keeping(it).is_none()).copied().collect();
    let may_go_on = kept_by.is_some() || open.iter().any(|it| it.in_progress() && is_selected(it));
    let next = if may_go_on { None } else { next(path, &open, in_hand, keeping) };
    let owners = owners.into_iter().map(|intent| FileOwner {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        selected: is_selected(intent),
        kept_by: keeping(intent),
    });
    FileOwners { path: path.clone(), owners: owners.collect(), kept_by, next }
}

/// The command to go on with: select or start an owner, ask for a wider scope, or write down a new intent. No scope is
/// wide enough for an intent that a rule keeps from the file.
fn next(
    path: &RelativePath,
    owners: &[&Intent],
    selected: Option<&Intent>,
    keeping: impl Fn(&Intent) -> Option<String>,
) -> Option<String> {
    let entry = text::shell_word(path.as_str());
    Some(match (owners.iter().find(|owner| select::can_start(owner)), selected) {
        (Some(owner), _) if owner.in_progress() => format!("intent select {}", owner.id.value),
        (Some(owner), _) => format!("intent start {}", owner.id.value),
        (None, Some(selected)) if keeping(selected).is_some() => return None,
        (None, Some(selected)) => judgement::ask_for_scope(&selected.id.value, path),
        (None, None) => format!("intent new 'what is asked for' --scope {entry} --start"),
    })
}
