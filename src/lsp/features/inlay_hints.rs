//! `textDocument/inlayHint`: provenance at the end of a definition's first line. By default, only
//! clients that show no lenses get these hints.

use tower_lsp::lsp_types as lsp;

use super::block_line;
use crate::refusal::RequestResult;
use crate::snapshot::Snapshot;
use crate::workspace_view;

/// Returns the hints of a range. `None` if the settings show no hints, or if the document is not
/// open or in no workspace. By default, a client that shows lenses gets no hints, because both say
/// the same.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::InlayHintParams,
) -> RequestResult<Option<Vec<lsp::InlayHint>>> {
    if !snapshot.settings.shows_hints(&snapshot.client) {
        return Ok(None);
    }
    Ok(hints(snapshot, &params.text_document.uri, params.range))
}

fn hints(snapshot: &Snapshot, uri: &lsp::Url, range: lsp::Range) -> Option<Vec<lsp::InlayHint>> {
    let file = workspace_view::shown_file(snapshot, uri)?;
    if !file.view.workspace.root.governed() && !snapshot.settings.also_labelled.unrecorded {
        return None;
    }
    let analysis = file.analyse();
    let shown = block_line::labelled_blocks(&analysis, snapshot.settings.also_labelled);
    let hints = shown.into_iter().filter_map(|index| {
        let block = &analysis.file.blocks.blocks[index];
        let line = file.range(block.name_bytes.clone()).end.line;
        if !file.shows(&block.bytes) || !(range.start.line..=range.end.line).contains(&line) {
            return None;
        }
        // A column beyond the end of the line becomes the end of the line.
        let end = file.byte(lsp::Position { line, character: u32::MAX });
        let answer = block_line::answer(file.view.workspace, &analysis, index)?;
        Some(lsp::InlayHint {
            position: file.range(end..end).end,
            label: block_line::short_line(&answer).into(),
            kind: None,
            text_edits: None,
            tooltip: Some(lsp::InlayHintTooltip::String(block_line::full(&answer))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        })
    });
    Some(hints.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::features::fixture::Editor;

    const CODE: &str =
        "//- /src/a.rs intent=INT-001 agent=claude-code\nfn a() { // ü\n}\n\nfn b() {}\n";

    fn shown_hints(editor: &Editor) -> Vec<String> {
        let uri = editor.uri("/src/a.rs");
        let range = lsp::Range {
            start: lsp::Position { line: 0, character: 0 },
            end: lsp::Position { line: 1, character: 0 },
        };
        let params = json!({ "textDocument": { "uri": uri }, "range": range });
        let params = serde_json::from_value(params).unwrap();
        let hints = handle(&editor.snapshot(), params).unwrap().unwrap_or_default();
        let show = |hint: &lsp::InlayHint| {
            let lsp::InlayHintLabel::String(label) = &hint.label else { panic!("parts") };
            format!("{}:{} {label}", hint.position.line, hint.position.character)
        };
        hints.iter().map(show).collect()
    }

    #[test]
    fn hints_stand_in_for_lenses() {
        let mut editor = Editor::new(CODE);
        assert_eq!(shown_hints(&editor), [""; 0]);
        editor.client.code_lens = false;
        assert_eq!(shown_hints(&editor), ["0:13 INT-001 · claude-code"]);
        editor.settings.inlay_hints = Some(false);
        assert_eq!(shown_hints(&editor), [""; 0]);
    }
}
