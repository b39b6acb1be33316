//! `intent for`: which intents own a file, and what to do if nobody may write it.

use crate::selectable;
use ground::control_files;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Workspace, rules};
use ground::{RelativePath, text};
use intents::{ImportedIntent, Intent, Status, scope};

/// The intents that own a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileOwners {
    /// The path, relative to the workspace. The file need not exist.
    pub path: RelativePath,
    /// The intents whose scope owns the file: those in progress first, then in the order of the
    /// registry.
    pub owners: Vec<FileOwner>,
    /// Open intents that are kept in other formats and name the file. They do not own it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_be_about: Vec<HintingIntent>,
    /// The rule that forbids agents to change the file, whichever intent owns it.
    #[serde(rename = "kept_by", skip_serializing_if = "Option::is_none")]
    pub forbidden_by: Option<String>,
    /// The command to run next. `None` if an owner is selected, or if a rule forbids the caller to
    /// change the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// An intent that owns a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileOwner {
    /// The id of the intent, for example `INT-001`.
    pub id: String,
    /// The name of the intent.
    pub name: String,
    /// The status of the intent. `None` if it is missing or unknown.
    pub status: Option<Status>,
    /// Whether the caller has selected this intent.
    pub selected: bool,
    /// The rule that forbids work under this intent on the file, although its scope owns the file.
    #[serde(rename = "kept_by", skip_serializing_if = "Option::is_none")]
    pub forbidden_by: Option<String>,
}

/// An open intent that is kept in another format and names a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HintingIntent {
    /// The id of the intent, for example `openspec:add-login`.
    pub id: String,
    /// The name of the intent.
    pub name: String,
    /// The status of the intent. `None` if it is missing or unknown.
    pub status: Option<Status>,
}

impl FileOwner {
    pub fn may_write(&self) -> bool {
        self.status == Some(Status::InProgress) && self.forbidden_by.is_none()
    }
}

/// Returns who owns a file. An agent is told to propose an intent, because it may not write one down.
pub fn owners_of_file(
    ws: &Workspace,
    path: &RelativePath,
    selected: Option<&str>,
    by_agent: bool,
) -> FileOwners {
    let mut owners = ws.registry.owners_among(path, |_| true);
    owners.sort_by_key(|intent| !intent.in_progress());
    let is_selected = |intent: &Intent| selected == Some(&*intent.id.value);
    let forbidden_by = match control_files::is_control_file(path) {
        true => Some("it controls the gate".to_owned()),
        false => rules::forbidden_by(ws, path, None),
    };
    let keeping = |intent: &Intent| match &forbidden_by {
        Some(_) => None,
        None => rules::forbidden_by(ws, path, Some(&intent.id.value)),
    };
    let in_hand = ws.registry.get(selected.unwrap_or_default());
    let in_hand = in_hand.filter(|intent| intent.in_progress());
    let open: Vec<&Intent> = owners.iter().filter(|it| keeping(it).is_none()).copied().collect();
    let may_go_on =
        forbidden_by.is_some() || open.iter().any(|it| it.in_progress() && is_selected(it));
    let next = match may_go_on {
        true => None,
        false if !ws.root.governed() => Some("intent setup init".to_owned()),
        false => {
            let is_clear = |it: &&Intent| ws.registry.get(&it.id.value).is_some();
            let clear: Vec<&Intent> = open.iter().copied().filter(is_clear).collect();
            match open.first().filter(|_| clear.is_empty()) {
                Some(unclear) => ws.registry.renumbering(&unclear.id.value),
                None => next_command(path, &clear, (in_hand, by_agent), keeping),
            }
        }
    };
    let owners = owners.into_iter().map(|intent| FileOwner {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
        selected: is_selected(intent),
        forbidden_by: keeping(intent),
    });
    let (path, owners) = (path.clone(), owners.collect());
    let may_be_about = hinting(ws, &path);
    FileOwners { path, owners, may_be_about, forbidden_by, next }
}

fn hinting(ws: &Workspace, path: &RelativePath) -> Vec<HintingIntent> {
    let names = |hint: &String| {
        let below = path.as_str().strip_prefix(hint.trim_end_matches('/'));
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    };
    let open = ws.registry.not_adopted().filter(|one| !one.is_closed() && !one.ambiguous);
    let named = open.filter(|imported| imported.scope_hints.iter().any(names));
    let hinting = named.map(|ImportedIntent { intent, .. }| HintingIntent {
        id: intent.id.value.clone(),
        name: intent.name.value.clone(),
        status: intent.status.as_ref().map(|status| status.value),
    });
    hinting.collect()
}

/// Returns the command to run next: select or start an owner, ask for a wider scope, or create a
/// new intent. `None` if a rule forbids the selected intent to change the file, since no scope can
/// lift that.
fn next_command(
    path: &RelativePath,
    owners: &[&Intent],
    (selected, by_agent): (Option<&Intent>, bool),
    keeping: impl Fn(&Intent) -> Option<String>,
) -> Option<String> {
    let entry = scope::entry_for(path);
    Some(match (owners.iter().find(|owner| selectable::can_start(owner)), selected) {
        (Some(owner), _) if owner.in_progress() => format!("intent select {}", owner.id.value),
        (Some(owner), _) => format!("intent start {}", owner.id.value),
        (None, Some(selected)) if keeping(selected).is_some() => return None,
        (None, Some(selected)) => rules::ask_for_scope(&selected.id.value, &entry),
        (None, None) => {
            let entry = text::shell_path(&entry);
            match by_agent {
                true => rules::propose(&entry),
                false => format!("intent new 'what is asked for' --scope {entry} --start"),
            }
        }
    })
}
