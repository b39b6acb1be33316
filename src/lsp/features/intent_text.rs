//! Describes an intent to a person.

use tower_lsp::lsp_types as lsp;

use super::mention::ShownRegistry;
use super::prose::Prose;
use crate::workspace_view::WorkspaceView;
use ground::RelativePath;
use intents::{Intent, Spanned};
use why::answers::{self, IntentBrief, IntentVersion};

/// The largest number of entries of a list that are shown.
pub const MAX_ENTRIES: usize = 12;

/// Returns a line with the intent's id, name and status.
pub fn heading(text: &Prose, intent: &IntentBrief) -> String {
    let title = super::block_line::title(intent);
    let status = match (&intent.status, intent.version) {
        (Some(status), _) => status.as_str(),
        (None, Some(IntentVersion::Gone)) => "not in the registry",
        (None, Some(IntentVersion::Unread)) => "the registry cannot be read",
        (None, Some(IntentVersion::Other)) => "another intent has this id now",
        (None, _) => "without a known status",
    };
    let now = intent.now_called.as_deref();
    let now = now.map(|name| format!(" · now called {}", text.escaped(name))).unwrap_or_default();
    format!("{}{now} · {}", text.strong(&title), text.escaped(status))
}

/// Describes an intent in full: heading, scope, constraints, criteria, former ids and
/// links.
pub fn describe(view: WorkspaceView<'_>, id: &str, mut text: Prose) -> Prose {
    let workspace = view.workspace;
    let id = workspace.registry.present_id(id);
    let mut head = heading(&text, &answers::brief(workspace, id));
    let intent = workspace.registry.get(id);
    if let Some(owner) = intent.and_then(|intent| intent.owner.as_ref()) {
        head.push_str(&format!(" · {}", text.escaped(&owner.value)));
    }
    text.paragraph(&head);
    if let Some(intent) = intent {
        let (code, words) = (Prose::code, Prose::escaped);
        text.list("Owns", &listed(&text, &intent.owned_scope, code));
        text.list("Constraints", &listed(&text, &intent.constraints, words));
        text.list("Done when", &listed(&text, &intent.acceptance_criteria, words));
        text.list("Formerly", &listed(&text, &intent.formerly, code));
    }
    let mut links: Vec<String> = registry_link(view, id, &text).into_iter().collect();
    links.extend(intent.map(|intent| specs(view, intent, &text)).unwrap_or_default());
    text.joined(&links);
    text
}

fn listed(
    text: &Prose,
    entries: &[Spanned<String>],
    show: fn(&Prose, &str) -> String,
) -> Vec<String> {
    shortened(entries.iter().map(|entry| show(text, &entry.value)).collect(), MAX_ENTRIES)
}

/// Cuts a long list and says how many entries are left out.
pub(crate) fn shortened(mut entries: Vec<String>, most: usize) -> Vec<String> {
    let more = entries.len().saturating_sub(most);
    entries.truncate(most);
    entries.extend((more > 0).then(|| format!("{more} more")));
    entries
}

/// Returns a link to the intent in the registry. `None` if the registry does not contain it.
pub(crate) fn registry_link(view: WorkspaceView<'_>, id: &str, text: &Prose) -> Option<String> {
    let (location, _) = ShownRegistry::in_view(view)?.location(id)?;
    Some(text.link(id, Some(&location.uri), Some(location.range.start.line + 1)))
}

/// Returns the related specifications. Those that are files become links.
pub fn specs(view: WorkspaceView<'_>, intent: &Intent, text: &Prose) -> Vec<String> {
    let shown = intent.related_specs.iter().map(|spec| &spec.value).take(MAX_ENTRIES);
    shown.map(|spec| text.link(spec, file_of(view, spec).as_ref(), None)).collect()
}

/// Returns the address of a workspace file by its name. `None` if the workspace has no such file.
pub(crate) fn file_of(view: WorkspaceView<'_>, name: &str) -> Option<lsp::Url> {
    let root = &view.workspace.root;
    let path = RelativePath::new(name).ok()?;
    let really = root.resolve(&path).ok()?;
    root.absolute(&really).is_file().then(|| view.address(&path)).flatten()
}
