//! Diagnostics: what is wrong with a document. One function computes them, for clients that pull and for those that are pushed to.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use tower_lsp::gen_lsp_types as lsp;

use crate::lsp::dispatch::Refusal;
use crate::lsp::snapshot::Snapshot;

/// What is wrong with a document. Runs on a worker, after the document was left alone for a moment.
pub(crate) fn diagnose(snapshot: &Snapshot, uri: &lsp::Uri) -> Vec<lsp::Diagnostic> {
    let (Some(_open), Some(_workspace)) = (snapshot.document(uri), snapshot.workspace_of(uri))
    else {
        return Vec::new();
    };
    Vec::new()
}

/// What is wrong with files of a workspace that nobody has open, the registry and the ledger above all: a broken one must
/// not wait for somebody to look into it. Runs on a worker whenever the workspace was loaded. Files without findings may be left out.
pub(crate) fn unopened(snapshot: &Snapshot, root: &Path) -> Vec<(lsp::Uri, Vec<lsp::Diagnostic>)> {
    let Some(_workspace) = snapshot.workspace_at(root) else { return Vec::new() };
    Vec::new()
}

/// `textDocument/diagnostic`. The result's id is made of its content, so an equal one is recognised whatever happened between.
pub(crate) fn handle(
    snapshot: &Snapshot,
    params: lsp::DocumentDiagnosticParams,
) -> Result<lsp::DocumentDiagnosticReport, Refusal> {
    let items = (snapshot.diagnose)(snapshot, &params.text_document.uri);
    snapshot.check_cancelled()?;
    let result_id = result_id(&items);
    if params.previous_result_id.as_ref() == Some(&result_id) {
        let unchanged = lsp::UnchangedDocumentDiagnosticReport { result_id };
        return Ok(lsp::RelatedUnchangedDocumentDiagnosticReport {
            unchanged_document_diagnostic_report: unchanged,
            ..Default::default()
        }
        .into());
    }
    let full = lsp::FullDocumentDiagnosticReport { result_id: Some(result_id), items };
    Ok(lsp::RelatedFullDocumentDiagnosticReport {
        full_document_diagnostic_report: full,
        ..Default::default()
    }
    .into())
}

fn result_id(items: &[lsp::Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    items.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// How the client may pull them.
pub(crate) fn options() -> lsp::DiagnosticProvider {
    lsp::DiagnosticOptions {
        identifier: Some("intent".into()),
        // The registry decides about every file.
        inter_file_dependencies: true,
        workspace_diagnostics: false,
        ..Default::default()
    }
    .into()
}
