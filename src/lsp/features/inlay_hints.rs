//! `textDocument/inlayHint`: provenance at the end of a definition's line, for clients that show no
//! lenses.

use tower_lsp::gen_lsp_types as lsp;

use super::block_line;
use crate::lsp::analysis;
use crate::lsp::convert;
use crate::lsp::dispatch::RequestRefusal;
use crate::lsp::snapshot::Snapshot;

/// Returns the hints of a range. `None` if the client shows lenses, which say the same.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::InlayHintParams,
) -> Result<Option<Vec<lsp::InlayHint>>, RequestRefusal> {
    Ok(if snapshot.settings.shows_hints(&snapshot.client) {
        hints(snapshot, &params.text_document.uri, params.range)
    } else {
        None
    })
}

fn hints(snapshot: &Snapshot, uri: &lsp::Uri, range: lsp::Range) -> Option<Vec<lsp::InlayHint>> {
    let analysis = analysis::analyse(snapshot, uri)?;
    let (open, workspace, _) = analysis::governed(snapshot, uri)?;
    let blocks = analysis.file.blocks.blocks.iter().enumerate();
    let shown = blocks.filter(|(index, _)| block_line::is_shown(&analysis, *index));
    let hints = shown.filter_map(|(index, block)| {
        let name = convert::range(&open.document, block.name_bytes.clone(), snapshot.encoding);
        let line = name.end.line;
        if !(range.start.line..=range.end.line).contains(&line) {
            return None;
        }
        // A column beyond the end of the line becomes the end of the line.
        let end = lsp::Position { line, character: u32::MAX };
        let end = convert::byte(&open.document, end, snapshot.encoding);
        let answer = block_line::answer(workspace, &analysis, index)?;
        Some(lsp::InlayHint {
            position: convert::range(&open.document, end..end, snapshot.encoding).end,
            label: block_line::short(&answer).into(),
            kind: None,
            text_edits: None,
            tooltip: Some(block_line::full(&answer).into()),
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
    use crate::lsp::features::fixture::Editor;

    const CODE: &str =
        "//- /src/a.rs intent=INT-001 agent=claude-code\nfn a() { // ü\n}\n\nfn b() {}\n";

    fn shown(editor: &Editor) -> Vec<String> {
        let uri = editor.uri("/src/a.rs");
        let range = lsp::Range {
            start: lsp::Position { line: 0, character: 0 },
            end: lsp::Position { line: 1, character: 0 },
        };
        let params = json!({ "textDocument": { "uri": uri }, "range": range });
        let params = serde_json::from_value(params).unwrap();
        let hints = handle(&editor.snapshot(), params).unwrap().unwrap_or_default();
        let show = |hint: &lsp::InlayHint| {
            let lsp::Label::String(label) = &hint.label else { panic!("parts") };
            format!("{}:{} {label}", hint.position.line, hint.position.character)
        };
        hints.iter().map(show).collect()
    }

    #[test]
    fn hints_stand_in_for_lenses() {
        let mut editor = Editor::new(CODE);
        assert_eq!(shown(&editor), [""; 0]);
        editor.client.code_lens = false;
        assert_eq!(shown(&editor), ["0:13 INT-001 · claude-code"]);
        editor.settings.inlay_hints = Some(false);
        assert_eq!(shown(&editor), [""; 0]);
    }
}
