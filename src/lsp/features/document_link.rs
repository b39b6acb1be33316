//! `textDocument/documentLink`: links ids to the registry or to the file of another format, the
//! specifications of an intent and the paths in the ledger to their files, and the keys of issues
//! and pull requests to their web pages.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use tower_lsp::lsp_types as lsp;

use super::intent_text::{file_of, source_of};
use super::mention::{self, ShownRegistry};
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, GovernedFile, WorkspaceView};
use code::TextRole;
use ground::key_links::LinkedKey;
use intents::IntentFile;
use ledger::read::is_ledger_path;

const MAX_LINKS: usize = 1_000;

/// Returns the options that are announced. Links are sent with their targets, so the client need not
/// ask for them with `documentLink/resolve`.
pub(crate) fn options() -> lsp::DocumentLinkOptions {
    lsp::DocumentLinkOptions {
        resolve_provider: Some(false),
        work_done_progress_options: Default::default(),
    }
}

pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::DocumentLinkParams,
) -> RequestResult<Option<Vec<lsp::DocumentLink>>> {
    Ok(links(snapshot, &params.text_document.uri))
}

fn links(snapshot: &Snapshot, uri: &lsp::Url) -> Option<Vec<lsp::DocumentLink>> {
    let file = workspace_view::shown_file(snapshot, uri)?;
    if file.open.document.unread().is_some() {
        return None;
    }
    let text = file.open.document.text();
    let shown = ShownRegistry::in_view(file.view);
    let mut found: Vec<(Range<usize>, lsp::Url)> = if file.is_registry() {
        specs(file.view, shown.registry.file(&file.path)?)
    } else {
        let paths = if is_ledger_path(&file.path) { paths(file.view, &text) } else { Vec::new() };
        let ids = ids(file.view, &shown, &text);
        paths.into_iter().chain(specs_in_text(&file, &text)).chain(ids).collect()
    };
    let keys = keys(&file, &text);
    let is_free = |bytes: &Range<usize>| {
        found.iter().all(|(taken, _)| taken.end <= bytes.start || bytes.end <= taken.start)
    };
    let keys: Vec<_> = keys.into_iter().filter(|(bytes, _)| is_free(bytes)).collect();
    found.extend(keys);
    let link = |(bytes, target)| lsp::DocumentLink {
        range: file.range(bytes),
        target: Some(target),
        tooltip: None,
        data: None,
    };
    let found = found.into_iter().filter(|(bytes, _)| file.shows(bytes));
    let mut links: Vec<_> = found.take(MAX_LINKS).map(link).collect();
    links.sort_by_key(|link| link.range.start);
    Some(links)
}

/// Finds keys with a web page in the registry, in prose, in comments and in strings. In a string, `#7`
/// is no pull request unless the policy says so: it may be a colour or an anchor.
fn keys(file: &GovernedFile<'_>, text: &str) -> Vec<(Range<usize>, lsp::Url)> {
    let is_registry = file.is_registry();
    let found = file.view.key_links().in_text(text).into_iter().take(MAX_LINKS);
    let is_meant = |key: &LinkedKey| match file.open.document.role_of(&key.bytes) {
        _ if is_registry => true,
        TextRole::Prose | TextRole::Comment => true,
        TextRole::String => key.of_policy,
        TextRole::Code => false,
    };
    let meant = found.filter(is_meant);
    meant.filter_map(|key| Some((key.bytes, key.page.parse().ok()?))).collect()
}

fn specs(view: WorkspaceView<'_>, file: &IntentFile) -> Vec<(Range<usize>, lsp::Url)> {
    let intents = file.intents().iter();
    let specs = intents.clone().flat_map(|intent| &intent.related_specs);
    // What only a source says has no place in the file.
    let written = specs.filter(|spec| !spec.span.is_empty());
    let specs = written.filter_map(|spec| Some((spec.span.clone(), file_of(view, &spec.value)?)));
    let sources = intents.filter_map(|it| Some((it.id.span.clone(), source_of(view, it)?)));
    specs.chain(sources).collect()
}

fn specs_in_text(file: &GovernedFile<'_>, text: &str) -> Vec<(Range<usize>, lsp::Url)> {
    let imported = file.view.workspace.registry.imported_in(&file.path);
    let specs: BTreeSet<&str> = imported
        .flat_map(|imported| &imported.intent.related_specs)
        .map(|spec| spec.value.as_str())
        .collect();
    let linked = specs.into_iter().filter_map(|spec| Some((spec, file_of(file.view, spec)?)));
    let places = linked.flat_map(|(spec, uri)| {
        let found = text.match_indices(spec).map(move |(at, _)| at..at + spec.len());
        found.map(move |bytes| (bytes, uri.clone()))
    });
    places.take(MAX_LINKS).collect()
}

fn ids(
    view: WorkspaceView<'_>,
    shown: &ShownRegistry<'_>,
    text: &str,
) -> Vec<(Range<usize>, lsp::Url)> {
    let target = |id: &str| {
        let (location, _) = shown.location(id)?;
        let line = location.range.start.line + 1;
        format!("{}#L{line}", location.uri).parse::<lsp::Url>().ok()
    };
    let mut known: HashMap<&str, Option<lsp::Url>> = HashMap::new();
    let words = mention::words_in(text);
    let mentions = words.filter(|(_, word)| mention::is_known(view.workspace, word));
    let links = mentions.filter_map(|(bytes, id)| {
        let target = known.entry(id).or_insert_with(|| target(id)).clone();
        Some((bytes, target?))
    });
    links.take(MAX_LINKS).collect()
}

/// Finds the values of `relative_path` in a ledger. Other parts of the text may be broken.
fn paths(view: WorkspaceView<'_>, text: &str) -> Vec<(Range<usize>, lsp::Url)> {
    const KEY: &str = "\"relative_path\":";
    let mut known: HashMap<String, Option<lsp::Url>> = HashMap::new();
    let values = text.match_indices(KEY).filter_map(|(at, _)| {
        let rest = &text[at + KEY.len()..];
        let start = at + KEY.len() + (rest.len() - rest.trim_start_matches(' ').len());
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<String>();
        let value = values.next()?.ok()?;
        let end = start + values.byte_offset();
        // The range excludes the quotes.
        (end >= start + 2).then(|| (start + 1..end - 1, value))
    });
    values
        .take(MAX_LINKS)
        .filter_map(|(bytes, value)| {
            let file = || file_of(view, &value);
            let target = known.entry(value.clone()).or_insert_with(file).clone();
            Some((bytes, target?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;

    fn shown_links(editor: &Editor, path: &str) -> Vec<String> {
        let uri = editor.uri(path);
        let links = links(&editor.snapshot(), &uri).unwrap_or_default();
        let show = |link: &lsp::DocumentLink| {
            let target = link.target.as_ref().unwrap().to_string();
            format!("{} -> {}", editor.show(&uri, link.range), editor.steady(&target))
        };
        links.iter().map(show).collect()
    }

    #[test]
    fn ids_lead_to_the_registry() {
        let editor = Editor::new("//- /a.md\nUnder INT-002, not INT-009.\n");
        assert_eq!(
            shown_links(&editor, "/a.md"),
            ["a.md:1: INT-002 -> file:///ws/.orchestration/active_intents.yaml#L7"]
        );
    }

    #[test]
    fn specifications_that_are_files_are_links() {
        let editor = Editor::new(
            "
//- /.orchestration/active_intents.yaml
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
    related_specs: [docs/spec.md, REQ-001, ../outside.md, docs/none.md]
//- /docs/spec.md closed
Spec.
",
        );
        assert_eq!(
            shown_links(&editor, "/.orchestration/active_intents.yaml"),
            [".orchestration/active_intents.yaml:6: docs/spec.md -> file:///ws/docs/spec.md"]
        );
    }

    #[test]
    fn keys_lead_to_their_pages() {
        let mut editor = Editor::in_git(
            "
//- /.orchestration/policy.yaml closed
links: { \"SHOP-{number}\": \"https://tracker.example.org/browse/{key}\", \"EVIL-{number}\": \"command:{key}\" }
//- /.orchestration/active_intents.yaml
active_intents:
  - id: INT-001
    name: Sign in, SHOP-3 after
    status: IN_PROGRESS
    owned_scope: [\"src/**\"]
    related_specs: [SHOP-4]
//- /src/a.rs
// Under INT-001, for SHOP-12 and #214, not EVIL-1.
fn a() { b(\"SHOP-7 #214\", SHOP-8, 1) }
//- /a.md
See #7.
",
        );
        let root = editor.workspace().root.path().to_owned();
        crate::features::fixture::git(
            &root,
            &["remote", "add", "origin", "git@github.com:ada/shop.git"],
        );
        editor.reload();
        assert_eq!(
            shown_links(&editor, "/src/a.rs"),
            [
                "src/a.rs:1: INT-001 -> file:///ws/.orchestration/active_intents.yaml#L2",
                "src/a.rs:1: SHOP-12 -> https://tracker.example.org/browse/SHOP-12",
                "src/a.rs:1: #214 -> https://github.com/ada/shop/pull/214",
                "src/a.rs:2: SHOP-7 -> https://tracker.example.org/browse/SHOP-7",
            ]
        );
        assert_eq!(
            shown_links(&editor, "/a.md"),
            ["a.md:1: #7 -> https://github.com/ada/shop/pull/7"]
        );
        assert_eq!(
            shown_links(&editor, "/.orchestration/active_intents.yaml"),
            [
                ".orchestration/active_intents.yaml:3: SHOP-3 -> https://tracker.example.org/browse/SHOP-3",
                ".orchestration/active_intents.yaml:6: SHOP-4 -> https://tracker.example.org/browse/SHOP-4",
            ]
        );
    }

    #[test]
    fn paths_of_the_ledger_lead_to_their_files() {
        let editor = Editor::new(
            "
//- /.orchestration/agent_trace.jsonl
{\"id\":\"1\",\"files\":[{\"relative_path\": \"src/a.rs\"},{\"relative_path\":\"src/gone.rs\"}]}
{\"relative_path\":\"/etc/passwd\"} {\"relative_path\":\"bro
//- /src/a.rs closed
fn a() {}
",
        );
        assert_eq!(
            shown_links(&editor, "/.orchestration/agent_trace.jsonl"),
            [".orchestration/agent_trace.jsonl:1: src/a.rs -> file:///ws/src/a.rs"]
        );
    }
}
