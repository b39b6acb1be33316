//! `textDocument/hover`: which intent asked for the block under the cursor.

use tower_lsp::gen_lsp_types as lsp;

use crate::lsp::convert;
use crate::lsp::dispatch::Refusal;
use crate::lsp::snapshot::Snapshot;

/// The hover of a place, `None` where there is nothing to say.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::HoverParams,
) -> Result<Option<lsp::Hover>, Refusal> {
    let place = params.text_document_position_params;
    let uri = &place.text_document.uri;
    let (Some(open), Some(_workspace)) = (snapshot.document(uri), snapshot.workspace_of(uri))
    else {
        return Ok(None);
    };
    let byte = convert::byte(&open.document, place.position, snapshot.encoding);
    tracing::trace!(%uri, byte, "no provenance is known here");
    Ok(None)
}
