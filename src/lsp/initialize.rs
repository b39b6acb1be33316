//! The handshake: reads the client's `initialize` and says what this server offers.

use serde_json::{Value, json};
use tower_lsp::jsonrpc::Error;
use tower_lsp::lsp_types as lsp;

use super::ordered::{Ordered, Phase};
use super::refusal::RequestRefusal;
use super::requests::Ticket;
use super::world::World;
use super::{convert, features};

impl Ordered {
    pub(super) fn initialize(&mut self, ticket: Ticket, params: Value) {
        if !params["capabilities"].is_object() {
            let refusal = RequestRefusal::params("initialize", "`capabilities` is no object");
            return self.reply(ticket, Err(refusal.into()));
        }
        let mut warnings = self.world.initialize(&params);
        warnings.extend(self.world.distrust_client_of((self.agent)()));
        let result = serde_json::to_value(result(&self.world));
        let mut result = result.map_err(|_| Error::internal_error());
        if let Ok(result) = &mut result
            && self.world.snapshot.client.notebooks
        {
            result["capabilities"]["notebookDocumentSync"] = notebook_sync();
        }
        self.phase = Phase::Running;
        self.reply(ticket, result);
        self.warn(warnings);
        let process = params["processId"].as_u64().and_then(|id| u32::try_from(id).ok());
        if let Some(process) = process {
            self.outside.end_with(process);
        }
    }

    pub(crate) fn initialized(&mut self, _: lsp::InitializedParams) {
        self.register();
        if self.world.snapshot.client.configuration {
            self.pull_configuration();
        }
        if self.world.snapshot.settings.interactive || self.world.snapshot.settings.status {
            self.look_for_questions();
        }
        for folder in self.world.snapshot.folders.as_ref().clone() {
            self.look_up(folder);
        }
    }
}

fn result(world: &World) -> lsp::InitializeResult {
    let mut capabilities = lsp::ServerCapabilities {
        position_encoding: Some(convert::encoding_kind(world.snapshot.encoding)),
        text_document_sync: Some(sync()),
        workspace: Some(lsp::WorkspaceServerCapabilities {
            workspace_folders: Some(lsp::WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(lsp::OneOf::Left(true)),
            }),
            ..Default::default()
        }),
        ..Default::default()
    };
    features::advertise(&world.snapshot.client, &mut capabilities);
    lsp::InitializeResult {
        capabilities,
        server_info: Some(lsp::ServerInfo {
            name: "intent-lsp".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
        }),
    }
}

fn sync() -> lsp::TextDocumentSyncCapability {
    lsp::TextDocumentSyncCapability::Options(lsp::TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
        save: Some(lsp::TextDocumentSyncSaveOptions::Supported(true)),
        ..Default::default()
    })
}

/// Returns the notebooks that the client shall send. The protocol crate has no type for it.
fn notebook_sync() -> Value {
    let notebook = json!({ "scheme": "file", "notebookType": "jupyter-notebook" });
    json!({ "notebookSelector": [{ "notebook": notebook }], "save": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_field_affects_no_other_one() {
        let mut world = World::new(|_, _| Vec::new(), |_, _| Vec::new());
        let warnings = world.initialize(&json!({
            "processId": "none", "locale": 7, "rootUri": ":no address:", "trace": 7,
            "workspaceFolders": [7, { "uri": "file:///shop", "name": "shop" }],
            "capabilities": {
                "general": { "positionEncodings": ["utf-8"] },
                "window": 7,
                "workspace": { "configuration": true, "applyEdit": "perhaps" },
            },
            "initializationOptions": { "interactive": true },
        }));
        assert!(warnings.is_empty(), "{warnings:?}");
        let snapshot = &world.snapshot;
        assert!(snapshot.client.configuration && snapshot.settings.interactive);
        assert!(!snapshot.client.progress && !snapshot.settings.trace);
        assert_eq!(snapshot.encoding, code::Encoding::Utf8);
        assert_eq!(snapshot.folders.len(), 1);
    }
}
