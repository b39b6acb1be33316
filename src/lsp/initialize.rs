//! The handshake: reads the client's `initialize` and says what this server offers.

use serde_json::{Map, Value, json};
use tower_lsp::jsonrpc::Error;
use tower_lsp::lsp_types as lsp;

use super::ordered::{Ordered, Phase};
use super::refusal::{RequestRefusal, RequestResult};
use super::requests::Ticket;
use super::world::World;
use super::{convert, features};

impl Ordered {
    pub(super) fn initialize(&mut self, ticket: Ticket, params: Value) {
        let (params, capabilities) = match parse(params) {
            Ok(read) => read,
            Err(refusal) => return self.reply(ticket, Err(refusal.into())),
        };
        let mut warnings = self.world.initialize(&params, &capabilities);
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
        if let Some(process) = params.process_id {
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

/// Reads the parameters, and returns them with the capabilities as the client sent them. A field or capability that does not follow the protocol is dropped instead
/// of refused, because a session without it is better than none.
fn parse(mut params: Value) -> RequestResult<(lsp::InitializeParams, Value)> {
    let strict = match serde_json::from_value(params.clone()) {
        Ok(read) => return Ok((read, params["capabilities"].take())),
        Err(error) => error,
    };
    let refusal = || RequestRefusal::params("initialize", &strict);
    let fields = params.as_object_mut().ok_or_else(refusal)?;
    let sections = fields.get_mut("capabilities").and_then(Value::as_object_mut);
    let sections = sections.ok_or_else(refusal)?;
    for (section, capabilities) in sections.iter_mut() {
        if let Some(capabilities) = capabilities.as_object_mut() {
            keep_readable(capabilities, |one| json!({ "capabilities": { section: one } }));
        }
    }
    keep_readable(sections, |one| json!({ "capabilities": one }));
    keep_readable(fields, |one| {
        let mut alone = json!({ "capabilities": {} });
        if let (Some(alone), Value::Object(one)) = (alone.as_object_mut(), one) {
            alone.extend(one);
        }
        alone
    });
    let read = serde_json::from_value(params.clone()).map_err(|_| refusal())?;
    Ok((read, params["capabilities"].take()))
}

/// Keeps the entries that can be read if nothing else is present.
fn keep_readable(entries: &mut Map<String, Value>, alone: impl Fn(Value) -> Value) {
    entries.retain(|name, value| {
        let read = serde_json::from_value::<lsp::InitializeParams>(alone(json!({ name: value })));
        if let Err(error) = &read {
            tracing::warn!(name, %error, "a field of initialize cannot be read and is ignored");
        }
        read.is_ok()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_capability_affects_no_other_one() {
        let (params, _) = parse(json!({
            "processId": "none", "locale": 7, "rootUri": ":no address:",
            "capabilities": {
                "general": { "positionEncodings": ["utf-8"] },
                "window": 7,
                "workspace": { "configuration": true, "applyEdit": "perhaps" },
            },
            "initializationOptions": { "interactive": true },
        }))
        .unwrap();
        let workspace = params.capabilities.workspace.unwrap();
        assert_eq!((workspace.configuration, workspace.apply_edit), (Some(true), None));
        assert!(params.capabilities.general.unwrap().position_encodings.is_some());
        assert_eq!((params.process_id, params.capabilities.window), (None, None));
        assert_eq!(params.initialization_options, Some(json!({ "interactive": true })));
    }

    #[test]
    fn an_invalid_handshake_is_refused() {
        for params in [json!(null), json!([]), json!({}), json!({ "capabilities": 7 })] {
            assert!(parse(params.clone()).is_err(), "{params}");
        }
    }
}
