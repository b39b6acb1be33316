//! The table of what the server can do. Each row names a method, its typed parameters, its handler
//! and where the handler runs (see [`MethodTable`]).
//!
//! `initialize`, `shutdown`, `exit` and `$/cancelRequest` are not in the table, because the loop
//! answers them itself.

use tower_lsp::lsp_types as lsp;

use super::execute_command;
use super::features;
use super::method_table::MethodTable;
use super::ordered::Ordered;
use super::world::notebooks;

pub(crate) fn table() -> MethodTable {
    MethodTable::default()
        .on_sync_mut::<lsp::notification::Initialized>(Ordered::initialized)
        .on_sync_mut::<lsp::notification::DidOpenTextDocument>(Ordered::did_open)
        .on_sync_mut_raw("textDocument/didChange", Ordered::did_change)
        .on_sync_mut::<lsp::notification::DidCloseTextDocument>(Ordered::did_close)
        .on_sync_mut::<lsp::notification::DidSaveTextDocument>(Ordered::did_save)
        .on_sync_mut::<notebooks::DidOpenNotebook>(Ordered::did_open_notebook)
        .on_sync_mut::<notebooks::DidChangeNotebook>(Ordered::did_change_notebook)
        .on_sync_mut::<notebooks::DidSaveNotebook>(Ordered::did_save_notebook)
        .on_sync_mut::<notebooks::DidCloseNotebook>(Ordered::did_close_notebook)
        .on_sync_mut::<lsp::notification::DidChangeWatchedFiles>(Ordered::did_change_watched_files)
        .on_sync_mut::<lsp::notification::DidChangeConfiguration>(Ordered::did_change_configuration)
        .on_sync_mut::<lsp::notification::DidChangeWorkspaceFolders>(
            Ordered::did_change_workspace_folders,
        )
        .on_sync_mut::<lsp::notification::SetTrace>(Ordered::set_trace)
        .on_latency_sensitive::<lsp::request::HoverRequest>(features::hover::handle)
        .on_latency_sensitive::<lsp::request::CodeLensRequest>(features::code_lens::handle)
        .on_latency_sensitive::<lsp::request::CodeLensResolve>(features::code_lens::resolve)
        .on_latency_sensitive::<lsp::request::InlayHintRequest>(features::inlay_hints::handle)
        .on_latency_sensitive::<lsp::request::GotoDefinition>(features::definition::handle)
        .on_latency_sensitive::<lsp::request::DocumentLinkRequest>(features::document_link::handle)
        .on_latency_sensitive::<lsp::request::DocumentSymbolRequest>(
            features::document_symbols::handle,
        )
        .on_latency_sensitive::<lsp::request::PrepareRenameRequest>(features::rename::prepare)
        .on_worker::<lsp::request::Rename>(features::rename::handle)
        .on_worker::<lsp::request::References>(features::references::handle)
        .on_worker::<lsp::request::WorkspaceSymbolRequest>(features::workspace_symbols::handle)
        .on_worker::<lsp::request::DocumentDiagnosticRequest>(features::diagnostics::handle)
        .on_worker::<lsp::request::WorkspaceDiagnosticRequest>(features::diagnostics::of_workspaces)
        .on_latency_sensitive::<features::completion::CompletionRequest>(
            features::completion::handle,
        )
        .on_latency_sensitive::<lsp::request::CodeActionRequest>(features::code_actions::handle)
        .on_latency_sensitive::<lsp::request::CodeActionResolveRequest>(
            features::code_actions::resolve,
        )
        .on_conversation::<execute_command::ExecuteCommandRequest, _>(execute_command::handle)
}
