//! The table of what the server can do. Each row names a method, its typed parameters, its handler
//! and where the handler runs (see [`MethodTable`]).
//!
//! `initialize`, `shutdown`, `exit` and `$/cancelRequest` are not in the table, because the loop
//! answers them itself.

use tower_lsp::lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles,
    DidChangeWorkspaceFolders, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Initialized, Notification as _, SetTrace,
};
use tower_lsp::lsp_types::request::{
    CodeActionRequest, CodeActionResolveRequest, CodeLensRequest, CodeLensResolve, Completion,
    DocumentDiagnosticRequest, DocumentLinkRequest, DocumentSymbolRequest, GotoDefinition,
    HoverRequest, InlayHintRequest, PrepareRenameRequest, References, Rename,
    WorkspaceDiagnosticRequest, WorkspaceSymbolRequest,
};

use super::execute_command;
use super::features;
use super::method_table::MethodTable;
use super::ordered::Ordered;
use super::pool::Lane::{LatencySensitive, Worker};

pub(crate) fn table() -> MethodTable {
    MethodTable::default()
        .on_sync_mut(Initialized::METHOD, Ordered::initialized)
        .on_sync_mut(DidOpenTextDocument::METHOD, Ordered::did_open)
        .on_sync_mut(DidChangeTextDocument::METHOD, Ordered::did_change)
        .on_sync_mut(DidCloseTextDocument::METHOD, Ordered::did_close)
        .on_sync_mut(DidSaveTextDocument::METHOD, Ordered::did_save)
        .on_sync_mut("notebookDocument/didOpen", Ordered::did_open_notebook)
        .on_sync_mut("notebookDocument/didChange", Ordered::did_change_notebook)
        .on_sync_mut("notebookDocument/didSave", Ordered::did_save_notebook)
        .on_sync_mut("notebookDocument/didClose", Ordered::did_close_notebook)
        .on_sync_mut(DidChangeWatchedFiles::METHOD, Ordered::did_change_watched_files)
        .on_sync_mut(DidChangeConfiguration::METHOD, Ordered::did_change_configuration)
        .on_sync_mut(DidChangeWorkspaceFolders::METHOD, Ordered::did_change_workspace_folders)
        .on_sync_mut(SetTrace::METHOD, Ordered::set_trace)
        .on_lane::<HoverRequest>(LatencySensitive, features::hover::handle)
        .on_lane::<CodeLensRequest>(LatencySensitive, features::code_lens::handle)
        .on_lane::<CodeLensResolve>(LatencySensitive, features::code_lens::resolve)
        .on_lane::<InlayHintRequest>(LatencySensitive, features::inlay_hints::handle)
        .on_lane::<GotoDefinition>(LatencySensitive, features::definition::handle)
        .on_lane::<DocumentLinkRequest>(LatencySensitive, features::document_link::handle)
        .on_lane::<DocumentSymbolRequest>(LatencySensitive, features::document_symbols::handle)
        .on_lane::<PrepareRenameRequest>(LatencySensitive, features::rename::prepare)
        .on_lane::<Rename>(Worker, features::rename::handle)
        .on_lane::<References>(Worker, features::references::handle)
        .on_lane::<WorkspaceSymbolRequest>(Worker, features::workspace_symbols::handle)
        .on_lane::<DocumentDiagnosticRequest>(Worker, features::diagnostics::handle)
        .on_lane::<WorkspaceDiagnosticRequest>(Worker, features::diagnostics::of_workspaces)
        .on_lane::<Completion>(LatencySensitive, features::completion::handle)
        .on_lane::<CodeActionRequest>(LatencySensitive, features::code_actions::handle)
        .on_lane::<CodeActionResolveRequest>(LatencySensitive, features::code_actions::resolve)
        .on_conversation::<execute_command::ExecuteCommandRequest, _>(execute_command::handle)
}
