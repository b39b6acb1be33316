//! Describes an intent to a person.

use std::collections::BTreeSet;
use std::ops::Range;

use tower_lsp::lsp_types as lsp;

use super::block_line;
use super::mention::{self, ShownRegistry};
use super::prose::Prose;
use crate::workspace_view::{DocumentPosition, WorkspaceView};
use ground::RelativePath;
use intents::{ImportedIntent, Intent, Requirement, Spanned};
use overview::context;
use why::answers::{self, IntentBrief, IntentVersion};

const MAX_ENTRIES: usize = 12;

/// The longest name of an intent, in characters.
const LONGEST_NAME: usize = 60;

/// Returns the intent's id and name, and what to know before one trusts them.
pub(crate) fn headline(text: &Prose, intent: &IntentBrief) -> String {
    let title = text.strong(&block_line::title(intent, LONGEST_NAME));
    let now = intent.now_called.as_deref().map(|name| format!("now called {}", text.escaped(name)));
    let doubt = match intent.version {
        Some(IntentVersion::Gone) => Some("not in the registry".to_owned()),
        Some(IntentVersion::Shared) => Some("several intents have this id".to_owned()),
        Some(IntentVersion::Unread) => Some("the registry cannot be read".to_owned()),
        Some(IntentVersion::Other) => Some("another intent has this id now".to_owned()),
        Some(IntentVersion::Earlier | IntentVersion::Unknown) | None => None,
    };
    [Some(title), now, doubt].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn heading_line(text: &Prose, intent: &IntentBrief) -> String {
    let status = intent.status.as_deref().map(|status| text.escaped(status));
    let unknown = || intent.version.is_none().then(|| "without a known status".to_owned());
    let parts = [Some(headline(text, intent)), status.or_else(unknown)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

pub(crate) fn describe(view: WorkspaceView<'_>, id: &str, mut text: Prose) -> Prose {
    let workspace = view.workspace;
    let id = workspace.registry.present_id(id);
    let mut head = heading_line(&text, &answers::brief(workspace, id));
    let intent = workspace.registry.get(id);
    if let Some(owner) = intent.and_then(|intent| intent.owner.as_ref()) {
        head.push_str(&format!(" · {}", text.escaped(&owner.value)));
    }
    let imported = workspace.registry.imported_intent(id);
    for said in imported.map(facts).unwrap_or_default() {
        head.push_str(&format!(" · {}", text.escaped(&said)));
    }
    text.paragraph(&head);
    if let Some(reason) = imported.and_then(|imported| imported.reason.as_deref()) {
        text.paragraph(&text.escaped(reason));
    }
    if let Some(intent) = intent {
        let (code, words) = (Prose::code, Prose::escaped);
        text.list("Owns", &list_of_entries(&text, &intent.owned_scope, code));
        text.list("Constraints", &list_of_entries(&text, &intent.constraints, words));
        text.list("Done when", &list_of_entries(&text, &intent.acceptance_criteria, words));
        text.list("Formerly", &list_of_entries(&text, &intent.formerly, code));
    }
    if let Some(imported) = imported {
        let required = imported.other_requirements().map(|one| with_box(&text, one)).collect();
        text.list("Requirements", &first_entries(required, MAX_ENTRIES));
        let paths = imported.scope_hints.iter().map(|path| text.code(path)).collect();
        text.list("Names these files", &first_entries(paths, MAX_ENTRIES));
    }
    let mut links: Vec<String> = registry_link(view, id, &text).into_iter().collect();
    links.extend(intent.map(|intent| specs(view, intent, &text)).unwrap_or_default());
    text.joined(&links);
    text
}

fn facts(imported: &ImportedIntent) -> Vec<String> {
    let ImportedIntent { tasks_done, tasks, note, .. } = imported;
    let tasks = (*tasks > 0).then(|| format!("{tasks_done} of {tasks} tasks done"));
    tasks.into_iter().chain(note.clone()).collect()
}

pub(super) fn progress(imported: &ImportedIntent) -> Vec<String> {
    let status = imported.intent.status.as_ref().map(|status| status.value.as_str().to_owned());
    status.into_iter().chain(facts(imported)).collect()
}

fn with_box(text: &Prose, requirement: &Requirement) -> String {
    let mark = match requirement.done {
        Some(true) => "✓ ",
        Some(false) => "☐ ",
        None => "",
    };
    format!("{mark}{}", text.escaped(&requirement.as_criterion()))
}

pub(crate) struct RequirementAt<'a> {
    imported: &'a ImportedIntent,
    requirement: &'a Requirement,
    pub bytes: Range<usize>,
}

pub(crate) fn requirement_at<'a>(place: &'a DocumentPosition<'_>) -> Option<RequirementAt<'a>> {
    let file = &place.file;
    let here: Vec<_> = file.view.workspace.registry.imported_in(&file.path).collect();
    let all = || here.iter().flat_map(|one| one.requirements.iter().map(move |it| (*one, it)));
    if here.is_empty() {
        return None;
    }
    if let Some((word, bytes)) = mention::word_at(place)
        && let Some((imported, requirement)) = all().find(|(_, one)| one.id == word)
    {
        return Some(RequirementAt { imported, requirement, bytes });
    }
    let line = file.range(place.byte..place.byte).start.line + 1;
    let bytes = file.bytes_of_line(line);
    let written = file.open.document.slice(bytes.clone())?;
    // The text may be newer than what was read from it.
    let is_written = |one: &Requirement| {
        let word = one.text.split_whitespace().next();
        written.contains(&one.id) || word.is_some_and(|word| written.contains(word))
    };
    let is_here = |one: &Requirement| one.line == line && one.path == file.path && is_written(one);
    let (imported, requirement) = all().find(|(_, one)| is_here(one))?;
    Some(RequirementAt { imported, requirement, bytes })
}

pub(crate) fn describe_requirement(
    view: WorkspaceView<'_>,
    at: &RequirementAt<'_>,
    mut text: Prose,
) -> Prose {
    let RequirementAt { imported, requirement, .. } = at;
    let done = requirement.done.map(|done| if done { " · done" } else { " · not done" });
    let head = text.strong(&requirement.id);
    text.paragraph(&format!("{head}{}", done.unwrap_or_default()));
    text.paragraph(&text.escaped(&requirement.text));
    let id = imported.intent.id.value.as_str();
    text.paragraph(&heading_line(&text, &answers::brief(view.workspace, id)));
    let produced = context::produced_names(view.workspace, &imported.intent);
    let file = |(path, names): (&RelativePath, &BTreeSet<String>)| {
        let names: Vec<String> = names.iter().map(|name| text.code(name)).collect();
        format!("{}: {}", text.code(path.as_str()), first_entries(names, MAX_ENTRIES).join(", "))
    };
    let produced: Vec<String> = produced.iter().map(file).collect();
    match produced.is_empty() {
        true => text.paragraph("No recorded block came with it."),
        false => text.list("Came with it, as recorded", &first_entries(produced, MAX_ENTRIES)),
    }
    let link = view.address(&imported.main);
    text.joined(&[text.link(id, link.as_ref(), None)]);
    text
}

fn list_of_entries(
    text: &Prose,
    entries: &[Spanned<String>],
    show: fn(&Prose, &str) -> String,
) -> Vec<String> {
    first_entries(entries.iter().map(|entry| show(text, &entry.value)).collect(), MAX_ENTRIES)
}

fn first_entries(mut entries: Vec<String>, most: usize) -> Vec<String> {
    let more = entries.len().saturating_sub(most);
    entries.truncate(most);
    entries.extend((more > 0).then(|| format!("{more} more")));
    entries
}

/// Returns a link to the intent in the registry. `None` if the registry does not contain it.
fn registry_link(view: WorkspaceView<'_>, id: &str, text: &Prose) -> Option<String> {
    let (location, _) = ShownRegistry::in_view(view).location(id)?;
    Some(text.link(id, Some(&location.uri), Some(location.range.start.line + 1)))
}

pub(crate) fn specs(view: WorkspaceView<'_>, intent: &Intent, text: &Prose) -> Vec<String> {
    let shown = intent.related_specs.iter().map(|spec| &spec.value).take(MAX_ENTRIES);
    shown.map(|spec| text.link(spec, page_of_spec(view, spec).as_ref(), None)).collect()
}

/// Returns the address of the main file of the intent to which an intent of the registry points.
pub(crate) fn source_of(view: WorkspaceView<'_>, intent: &Intent) -> Option<lsp::Url> {
    let imported = view.workspace.registry.imported_intent(intent.source()?)?;
    file_of(view, imported.main.as_str())
}

pub(crate) fn page_of_spec(view: WorkspaceView<'_>, spec: &str) -> Option<lsp::Url> {
    file_of(view, spec).or_else(|| view.key_links().page(spec)?.parse().ok())
}

/// Returns the address of a workspace file by its name. `None` if the workspace has no such file.
pub(crate) fn file_of(view: WorkspaceView<'_>, name: &str) -> Option<lsp::Url> {
    let root = &view.workspace.root;
    let path = RelativePath::new(name).ok()?;
    let really = root.resolve(&path).ok()?;
    root.absolute(&really).is_file().then(|| view.address(&path)).flatten()
}
