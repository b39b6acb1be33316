//! `textDocument/references`: finds the blocks of an intent and the words that name it.

use tower_lsp::lsp_types as lsp;

use super::places;
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view;

/// Returns the present places of the intent's blocks, its mentions in open documents, and its
/// definition if the client asks for it.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::ReferenceParams,
) -> RequestResult<Option<Vec<lsp::Location>>> {
    let at = &params.text_document_position;
    let file = workspace_view::located(snapshot, &at.text_document.uri);
    let Some(place) = file.map(|file| file.position(at.position)) else { return Ok(None) };
    let Some((id, _)) = places::target(&place) else { return Ok(None) };
    let view = place.file.view;
    let definition = places::definition(view, &id).map(|(location, _)| location);
    let mut found: Vec<lsp::Location> =
        definition.iter().filter(|_| params.context.include_declaration).cloned().collect();
    let mentions = places::mentions(view, &id)?;
    found.extend(mentions.into_iter().filter(|it| Some(it) != definition.as_ref()));
    let blocks = places::blocks_of_intent(view, &id)?;
    found.extend(blocks.into_iter().map(|block| block.location));
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::features::fixture::{Editor, REGISTRY};

    fn shown_references(editor: &Editor, include_declaration: bool) -> String {
        let context = json!({ "context": { "includeDeclaration": include_declaration } });
        let params = editor.ask(context);
        let found = handle(&editor.snapshot(), params).unwrap().unwrap_or_default();
        found.iter().map(|it| editor.show(&it.uri, it.range) + "\n").collect()
    }

    #[test]
    fn an_intent_is_found_in_blocks_and_words() {
        let mut editor = Editor::new(
            "
//- /src/open.rs intent=INT-001
// INT-0$001 asked for this, not INT-002.
fn open(a: u32) -> u32 { a + 1 }
//- /src/closed.rs closed intent=INT-001
fn closed(b: u32) -> u32 { b * 2 }
//- /src/other.rs
fn other() {} // INT-001-b is another word, INT-001 is not
",
        );
        insta::assert_snapshot!(shown_references(&editor, true));
        editor.replace("/src/open.rs", "fn open", "\n\nfn open");
        let moved = shown_references(&editor, false);
        assert!(moved.contains("src/open.rs:4: open") && !moved.contains("yaml"), "{moved}");
    }

    #[test]
    fn an_intent_that_was_renamed_is_found_by_any_id_that_it_had() {
        let mut editor = Editor::new(
            "
//- /a.md
INT-0$001, AUTH-1
//- /src/a.rs closed intent=INT-001
fn a() {}
",
        );
        let registry = REGISTRY.replace("id: INT-001\n", "id: AUTH-1\n    formerly: [INT-001]\n");
        editor.write("/.orchestration/active_intents.yaml", &registry);
        let words = ".orchestration/active_intents.yaml:2: AUTH-1\n";
        let found = shown_references(&editor, true);
        assert!(found.starts_with(words), "{found}");
        for place in
            ["yaml:3: INT-001\n", "a.md:1: INT-001\n", "a.md:1: AUTH-1\n", "src/a.rs:1: a\n"]
        {
            assert!(found.contains(place), "{place}{found}");
        }
    }

    #[test]
    fn a_gone_file_is_no_reference() {
        let editor = Editor::new(
            "
//- /a.md
INT-0$001
//- /src/gone.rs closed intent=INT-001
fn gone() {}
",
        );
        std::fs::remove_file(editor.path("/src/gone.rs")).unwrap();
        assert_eq!(shown_references(&editor, false), "a.md:1: INT-001\n");
    }
}
