//! `textDocument/documentSymbol`: the intents of the registry, and those in a file of another format
//! with their requirements. Symbols of code are left to the language's own server.

use std::ops::Range;

use tower_lsp::lsp_types as lsp;

use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, GovernedFile};
use ground::text;
use ground::text::counted;
use intents::{ImportedIntent, Intent, IntentFile, Requirement};

const MAX_REQUIREMENT: usize = 80;

pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::DocumentSymbolParams,
) -> RequestResult<Option<lsp::DocumentSymbolResponse>> {
    let uri = params.text_document.uri;
    let Some(tree) = tree(snapshot, &uri) else { return Ok(None) };
    Ok(Some(match snapshot.client.symbol_tree {
        true => lsp::DocumentSymbolResponse::Nested(tree),
        false => lsp::DocumentSymbolResponse::Flat(flat(&uri, tree)),
    }))
}

fn tree(snapshot: &Snapshot, uri: &lsp::Url) -> Option<Vec<lsp::DocumentSymbol>> {
    let open = workspace_view::located(snapshot, uri)?;
    if !open.is_registry() {
        return Some(imported_intents(&open)).filter(|symbols| !symbols.is_empty());
    }
    let file = IntentFile::parse(open.path.clone(), &open.open.document.text());
    let intents = file.intents().iter().enumerate();
    Some(intents.map(|(index, intent)| symbol(&open, &file, index, intent)).collect())
}

fn imported_intents(file: &GovernedFile<'_>) -> Vec<lsp::DocumentSymbol> {
    let is_here = |imported: &&ImportedIntent| {
        imported.main == file.path || imported.requirements.iter().any(|one| one.path == file.path)
    };
    let found = file.view.workspace.registry.imported_in(&file.path).filter(is_here);
    let mut found: Vec<&ImportedIntent> = found.collect();
    let start = |imported: &ImportedIntent| match imported.main == file.path {
        true => imported.intent.name.span.start,
        false => 0,
    };
    found.sort_by_key(|imported| start(imported));
    let ends = found.iter().skip(1).map(|next| start(next)).chain([usize::MAX]);
    let symbols = found.iter().zip(ends).enumerate().map(|(nth, (imported, end))| {
        let length = file.open.document.len_bytes();
        let from = if nth == 0 { 0 } else { start(imported).min(length) };
        let whole = file.range(from..end.min(length));
        let named = imported.intent.name.span.clone();
        // The text may be newer than what was read from it.
        let is_inside = imported.main == file.path
            && named.start >= from
            && file.open.document.slice(named.clone()).is_some();
        let name_at =
            if is_inside { file.range(named) } else { lsp::Range::new(whole.start, whole.start) };
        let own = imported.requirements.iter().filter(|one| one.path == file.path);
        lsp::DocumentSymbol {
            detail: Some(super::intent_text::progress(imported).join(" · ")),
            children: Some(own.map(|one| requirement(file, one)).collect()),
            ..entry(&name(&imported.intent), lsp::SymbolKind::OBJECT, whole, name_at)
        }
    });
    symbols.collect()
}

fn requirement(file: &GovernedFile<'_>, one: &Requirement) -> lsp::DocumentSymbol {
    let line = file.range(file.bytes_of_line(one.line));
    let text = text::terminal(&text::shorten(&one.as_criterion(), MAX_REQUIREMENT));
    let detail = one.done.map(|done| if done { "done" } else { "not done" }.to_owned());
    lsp::DocumentSymbol { detail, ..entry(&text, lsp::SymbolKind::PROPERTY, line, line) }
}

pub(super) fn name(intent: &Intent) -> String {
    let name = text::terminal(&format!("{} {}", intent.id.value, intent.name.value));
    // Some editors drop the whole answer if a name is empty.
    if name.is_empty() { "an intent without id and name".to_owned() } else { name }
}

fn symbol(
    open: &GovernedFile<'_>,
    file: &IntentFile,
    index: usize,
    intent: &Intent,
) -> lsp::DocumentSymbol {
    let inside = |span: &Range<usize>| {
        span.start >= intent.span.start && span.end <= intent.span.end && !span.is_empty()
    };
    let id = Some(intent.id.span.clone()).filter(|span| inside(span));
    let fields = file.written(index).places.iter().filter(|place| inside(&place.key.span));
    let children = fields.map(|place| {
        let end = if inside(&place.value.span) { place.value.span.end } else { 0 };
        let whole = open.range(place.key.span.start..end.max(place.key.span.end));
        let key = open.range(place.key.span.clone());
        lsp::DocumentSymbol {
            detail: place.value.text().map(|value| text::terminal(&text::shorten(value, 80))),
            ..entry(place.field.key(), lsp::SymbolKind::KEY, whole, key)
        }
    });
    let status = intent.status.as_ref().map(|status| status.value.as_str().to_owned());
    let scope = counted(intent.owned_scope.len(), "glob");
    let named = open.range(id.unwrap_or(intent.span.start..intent.span.start));
    let whole = open.range(intent.span.clone());
    lsp::DocumentSymbol {
        detail: Some(status.map_or(scope.clone(), |status| format!("{status} · {scope}"))),
        children: Some(children.collect()),
        ..entry(&name(intent), lsp::SymbolKind::OBJECT, whole, named)
    }
}

fn entry(
    name: &str,
    kind: lsp::SymbolKind,
    range: lsp::Range,
    selection_range: lsp::Range,
) -> lsp::DocumentSymbol {
    // The protocol deprecates this field, but the type still has it.
    #[expect(deprecated)]
    lsp::DocumentSymbol {
        name: name.to_owned(),
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children: None,
    }
}

fn flat(uri: &lsp::Url, tree: Vec<lsp::DocumentSymbol>) -> Vec<lsp::SymbolInformation> {
    let information = |it: &lsp::DocumentSymbol, container_name: Option<String>| {
        let location = lsp::Location { uri: uri.clone(), range: it.range };
        super::workspace_symbols::information(&it.name, it.kind, container_name, location)
    };
    let mut flat = Vec::new();
    for intent in tree {
        flat.push(information(&intent, None));
        let fields = intent.children.iter().flatten();
        flat.extend(fields.map(|field| information(field, Some(intent.name.clone()))));
    }
    flat
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::features::fixture::{Editor, REGISTRY};

    fn registry() -> Editor {
        Editor::new(&format!("//- /.orchestration/active_intents.yaml\n{REGISTRY}"))
    }

    #[test]
    fn the_registry_is_a_tree_of_intents() {
        let editor = registry();
        let uri = editor.uri("/.orchestration/active_intents.yaml");
        let mut out = String::new();
        for intent in tree(&editor.snapshot(), &uri).unwrap() {
            out += &format!("{} ({})\n", intent.name, intent.detail.as_deref().unwrap());
            for field in intent.children.iter().flatten() {
                assert!(
                    intent.range.start <= field.range.start && field.range.end <= intent.range.end
                );
                out += &format!("  {}: {}\n", field.name, field.detail.as_deref().unwrap_or("…"));
            }
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn a_client_without_trees_gets_a_list() {
        let mut editor = registry();
        editor.client.symbol_tree = false;
        let uri = editor.uri("/.orchestration/active_intents.yaml");
        let params = json!({ "textDocument": { "uri": uri } });
        let params = serde_json::from_value(params).unwrap();
        let answer = handle(&editor.snapshot(), params).unwrap();
        let Some(lsp::DocumentSymbolResponse::Flat(list)) = answer else { panic!("{answer:?}") };
        assert_eq!(list.len(), 11);
    }
}
