//! The table of what the server can do. Each row names a method, its typed parameters, its handler
//! and where the handler runs (see [`MethodTable`]).
//!
//! `initialize`, `shutdown`, `exit` and `$/cancelRequest` are not in the table, because the loop
//! answers them itself.

use tower_lsp::gen_lsp_types as lsp;

use super::features;
use super::method_table::MethodTable;
use super::ordered::Ordered;

/// Returns the table of this server.
pub fn table() -> MethodTable {
    MethodTable::default()
        .on_sync_mut::<lsp::InitializedNotification>(Ordered::initialized)
        .on_sync_mut::<lsp::DidOpenTextDocumentNotification>(Ordered::did_open)
        .on_sync_mut_raw("textDocument/didChange", Ordered::did_change)
        .on_sync_mut::<lsp::DidCloseTextDocumentNotification>(Ordered::did_close)
        .on_sync_mut::<lsp::DidSaveTextDocumentNotification>(Ordered::did_save)
        .on_sync_mut::<lsp::DidChangeWatchedFilesNotification>(Ordered::did_change_watched_files)
        .on_sync_mut::<lsp::DidChangeConfigurationNotification>(Ordered::did_change_configuration)
        .on_sync_mut::<lsp::DidChangeWorkspaceFoldersNotification>(
            Ordered::did_change_workspace_folders,
        )
        .on_sync_mut::<lsp::SetTraceNotification>(Ordered::set_trace)
        .on_latency_sensitive::<lsp::HoverRequest>(features::hover::handle)
        .on_latency_sensitive::<lsp::CodeLensRequest>(features::code_lens::handle)
        .on_latency_sensitive::<lsp::CodeLensResolveRequest>(features::code_lens::resolve)
        .on_latency_sensitive::<lsp::InlayHintRequest>(features::inlay_hints::handle)
        .on_latency_sensitive::<lsp::DefinitionRequest>(features::definition::handle)
        .on_latency_sensitive::<lsp::DocumentLinkRequest>(features::document_link::handle)
        .on_latency_sensitive::<lsp::DocumentSymbolRequest>(features::document_symbols::handle)
        .on_latency_sensitive::<lsp::PrepareRenameRequest>(features::rename::prepare)
        .on_worker::<lsp::RenameRequest>(features::rename::handle)
        .on_worker::<lsp::ReferencesRequest>(features::references::handle)
        .on_worker::<lsp::WorkspaceSymbolRequest>(features::workspace_symbols::handle)
        .on_worker::<lsp::DocumentDiagnosticRequest>(features::diagnostics::handle)
        .on_latency_sensitive::<lsp::CompletionRequest>(features::completion::handle)
        .on_latency_sensitive::<lsp::CodeActionRequest>(features::code_actions::handle)
        .on_latency_sensitive::<lsp::CodeActionResolveRequest>(features::code_actions::resolve)
        .on_conversation::<lsp::ExecuteCommandRequest, _>(features::execute_command::handle)
}
