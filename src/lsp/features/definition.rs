//! `textDocument/definition`: leads from an id, or from the name of a block, to the intent in the
//! registry or in another format, and from a specification or a source there to its file.

use tower_lsp::lsp_types as lsp;

use super::intent_text::{file_of, source_of};
use super::mention::ShownRegistry;
use super::places;
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view::{self, DocumentPosition};
use intents::Spanned;

/// Returns the definition of the intent at a position, or the file of the specification there.
/// `None` if the position refers to neither.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::GotoDefinitionParams,
) -> RequestResult<Option<lsp::GotoDefinitionResponse>> {
    Ok(definition(snapshot, &params.text_document_position_params))
}

fn definition(
    snapshot: &Snapshot,
    at: &lsp::TextDocumentPositionParams,
) -> Option<lsp::GotoDefinitionResponse> {
    let place = workspace_view::located(snapshot, &at.text_document.uri)?.position(at.position);
    let (origin, location, whole) = match file_named_at(&place) {
        Some((origin, location)) => (origin, location.clone(), location.range),
        None => {
            let (id, origin) = places::target(&place)?;
            let (location, whole) = places::definition(place.file.view, &id)?;
            (origin, location, whole)
        }
    };
    if !snapshot.client.definition_links {
        return Some(location.into());
    }
    Some(
        vec![lsp::LocationLink {
            origin_selection_range: Some(origin),
            target_uri: location.uri,
            target_range: whole,
            target_selection_range: location.range,
        }]
        .into(),
    )
}

fn file_named_at(place: &DocumentPosition<'_>) -> Option<(lsp::Range, lsp::Location)> {
    let DocumentPosition { file, byte } = place;
    if !file.is_registry() {
        return None;
    }
    let shown = ShownRegistry::in_view(file.view);
    let intents = shown.registry.file(&file.path)?.intents();
    let is_here = |word: &&Spanned<String>| {
        !word.span.is_empty() && (word.span.start..=word.span.end).contains(byte)
    };
    let mut specs = intents.iter().flat_map(|intent| &intent.related_specs);
    let (word, uri) = match specs.find(is_here) {
        Some(spec) => (spec, file_of(file.view, &spec.value)?),
        None => {
            let intent = intents.iter().find(|intent| is_here(&&intent.id))?;
            (&intent.id, source_of(file.view, intent)?)
        }
    };
    let location = lsp::Location { uri, range: lsp::Range::default() };
    Some((file.range(word.span.clone()), location))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::fixture::Editor;
    use code::Encoding;

    fn shown_targets(editor: &Editor) -> String {
        match definition(&editor.snapshot(), &editor.at_cursor()) {
            None => "nowhere".to_owned(),
            Some(lsp::GotoDefinitionResponse::Scalar(to)) => editor.show(&to.uri, to.range),
            Some(lsp::GotoDefinitionResponse::Link(links)) => {
                let origin = links[0].origin_selection_range.unwrap();
                let from = editor.show(&editor.at_cursor().text_document.uri, origin);
                let to = editor.show(&links[0].target_uri, links[0].target_selection_range);
                format!("{from} -> {to}")
            }
            Some(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn ids_and_names_lead_to_the_registry() {
        let registry = ".orchestration/active_intents.yaml";
        for (code, expected) in [
            ("//- /a.md\nSee INT-00$01.", "a.md:1: INT-001 -> {}:2: INT-001"),
            ("//- /a.md\nSee INT-002$0.", "a.md:1: INT-002 -> {}:7: INT-002"),
            ("//- /a.md\nSee INT-$0009.", "nowhere"),
            ("//- /src/a.rs intent=INT-001\nfn a$0b() {}", "src/a.rs:1: ab -> {}:2: INT-001"),
            ("//- /src/a.rs intent=INT-001\nfn ab() { $0 }", "nowhere"),
            ("//- /src/a.rs\nfn a$0b() {}", "nowhere"),
        ] {
            assert_eq!(
                shown_targets(&Editor::new(code)),
                expected.replace("{}", registry),
                "{code}"
            );
        }
    }

    #[test]
    fn a_specification_that_is_a_file_leads_there() {
        let code = "
//- /.orchestration/active_intents.yaml
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: []
    related_specs: [docs/s$0pec.md]
//- /docs/spec.md closed
Spec.
";
        assert_eq!(
            shown_targets(&Editor::new(code)),
            ".orchestration/active_intents.yaml:6: docs/spec.md -> docs/spec.md:1: "
        );
        assert_eq!(
            shown_targets(&Editor::new(&code.replace("docs/spec.md closed", "x closed"))),
            "nowhere"
        );
    }

    #[test]
    fn columns_are_counted_in_the_clients_unit() {
        let code = "//- /a.md\n日本 🦀 [[id:INT-001]]$0";
        for (encoding, column) in [(Encoding::Utf8, 12), (Encoding::Utf16, 6), (Encoding::Utf32, 5)]
        {
            let mut editor = Editor::new(code);
            let mut here = editor.at_cursor();
            editor.encoding = encoding;
            here.position.character = column + 7;
            let place = workspace_view::located(&editor.snapshot(), &here.text_document.uri)
                .map(|file| file.position(here.position).byte);
            assert_eq!(place, Some(19), "{encoding:?}");
            let snapshot = editor.snapshot();
            let place = workspace_view::located(&snapshot, &here.text_document.uri)
                .unwrap()
                .position(here.position);
            let (_, origin) = places::target(&place).unwrap();
            assert_eq!((origin.start.character, origin.end.character), (column, column + 7));
        }
    }

    #[test]
    fn an_unsaved_registry_counts() {
        let code = format!(
            "//- /a.md\nINT-00$01\n//- /.orchestration/active_intents.yaml\n{}",
            super::super::fixture::REGISTRY
        );
        let mut editor = Editor::new(&code);
        editor.client.definition_links = false;
        editor.replace(
            "/.orchestration/active_intents.yaml",
            "active_intents:",
            "# new\n\nactive_intents:",
        );
        assert_eq!(shown_targets(&editor), ".orchestration/active_intents.yaml:4: INT-001");
    }
}
