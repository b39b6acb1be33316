//! What the client can do, read once from `initialize`. No feature looks at the client's own
//! message.

use tower_lsp::gen_lsp_types as lsp;

use super::diagnostics_schedule::Clean;
use crate::code::Encoding;

/// What the client can do. Every field is `false` or the protocol's default until `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// The column units in the client's order of preference. If empty, the client supports UTF-16
    /// only.
    pub(crate) encodings: Vec<Encoding>,
    /// Hover texts may be Markdown instead of plain text.
    pub(crate) hover_markdown: bool,
    /// Completion documentation may be Markdown.
    pub(crate) completion_markdown: bool,
    /// Completion items may hold snippets.
    pub(crate) completion_snippets: bool,
    /// Completion items may give one range for inserting and another for replacing.
    pub(crate) completion_insert_replace: bool,
    /// Completion items may share one range that they replace.
    pub(crate) completion_edit_range: bool,
    /// The answer to a definition request may be `LocationLink`s.
    pub(crate) definition_links: bool,
    /// Document symbols may be a tree.
    pub(crate) symbol_tree: bool,
    /// The client asks before a rename whether it is possible.
    pub(crate) prepare_rename: bool,
    /// The client shows code lenses.
    pub(crate) code_lens: bool,
    /// The client handles `workspace/codeLens/refresh` requests.
    pub(crate) code_lens_refresh: bool,
    /// The client shows inlay hints.
    pub(crate) inlay_hints: bool,
    /// The client handles `workspace/inlayHint/refresh` requests.
    pub(crate) inlay_hint_refresh: bool,
    /// Code actions may be objects with an edit, not only commands.
    pub(crate) code_action_literals: bool,
    /// A code action's edit may be resolved later.
    pub(crate) code_action_resolve: bool,
    /// A code action may be shown disabled, with the reason.
    pub(crate) code_action_disabled: bool,
    /// A code action may be marked as the preferred one.
    pub(crate) code_action_preferred: bool,
    /// A code action keeps its `data` until it is resolved.
    pub(crate) code_action_data: bool,
    /// Edits may name the version of the document that they change.
    pub(crate) document_changes: bool,
    /// Workspace edits may create files.
    pub(crate) create_files: bool,
    /// Workspace edits may rename files.
    pub(crate) rename_files: bool,
    /// Edits may carry annotations that ask for confirmation.
    pub(crate) change_annotations: bool,
    /// Diagnostics may point to related places.
    pub(crate) related_information: bool,
    /// Diagnostics may link to their documentation.
    pub(crate) code_description: bool,
    /// Diagnostics may be shown faded, as unnecessary.
    pub(crate) diagnostic_unnecessary: bool,
    /// Diagnostics keep their `data` for code actions.
    pub(crate) diagnostic_data: bool,
    /// The client sends `textDocument/diagnostic` requests.
    pub(crate) pull_diagnostics: bool,
    /// The client handles `workspace/diagnostic/refresh` requests.
    pub(crate) diagnostic_refresh: bool,
    /// The server may register file watchers.
    pub(crate) watch_files: bool,
    /// The client answers `workspace/configuration` requests.
    pub(crate) configuration: bool,
    /// The client sends `workspace/didChangeConfiguration` only after a registration.
    pub(crate) register_configuration: bool,
    /// The client handles `window/workDoneProgress/create` requests.
    pub(crate) progress: bool,
    /// The client handles `window/showDocument` requests.
    pub(crate) show_document: bool,
    /// Methods that the client repeats by itself after a `ContentModified` error.
    pub(crate) retried: Vec<String>,
}

impl Capabilities {
    /// Reads the capabilities. A missing one counts as "no".
    pub(crate) fn new(client: &lsp::ClientCapabilities) -> Self {
        let mut resolved = Self::default();
        if let Some(text_document) = &client.text_document {
            resolved.read_text_document(text_document);
        }
        if let Some(workspace) = &client.workspace {
            resolved.read_workspace(workspace);
        }
        if let Some(window) = &client.window {
            resolved.progress = window.work_done_progress == Some(true);
            resolved.show_document = window.show_document.as_ref().is_some_and(|show| show.support);
        }
        if let Some(general) = &client.general {
            let encodings = general.position_encodings.iter().flatten();
            resolved.encodings = encodings.filter_map(encoding).collect();
            if let Some(stale) = &general.stale_request_support {
                resolved.retried = stale.retry_on_content_modified.clone();
            }
        }
        resolved
    }

    fn read_text_document(&mut self, client: &lsp::TextDocumentClientCapabilities) {
        let markdown = |formats: &Option<Vec<lsp::MarkupKind>>| {
            formats.as_ref().is_some_and(|kinds| kinds.first() == Some(&lsp::MarkupKind::Markdown))
        };
        self.hover_markdown =
            client.hover.as_ref().is_some_and(|hover| markdown(&hover.content_format));
        if let Some(item) = client.completion.as_ref().and_then(|it| it.completion_item.as_ref()) {
            self.completion_markdown = markdown(&item.documentation_format);
            self.completion_snippets = item.snippet_support == Some(true);
            self.completion_insert_replace = item.insert_replace_support == Some(true);
        }
        let list = client.completion.as_ref().and_then(|it| it.completion_list.as_ref());
        self.completion_edit_range = list
            .and_then(|list| list.item_defaults.as_ref())
            .is_some_and(|defaults| defaults.iter().any(|name| name == "editRange"));
        self.definition_links =
            client.definition.as_ref().is_some_and(|it| it.link_support == Some(true));
        self.symbol_tree = client
            .document_symbol
            .as_ref()
            .is_some_and(|it| it.hierarchical_document_symbol_support == Some(true));
        self.prepare_rename =
            client.rename.as_ref().is_some_and(|it| it.prepare_support == Some(true));
        self.code_lens = client.code_lens.is_some();
        self.inlay_hints = client.inlay_hint.is_some();
        self.pull_diagnostics = client.diagnostic.is_some();
        if let Some(action) = &client.code_action {
            self.code_action_literals = action.code_action_literal_support.is_some();
            self.code_action_resolve = action
                .resolve_support
                .as_ref()
                .is_some_and(|it| it.properties.iter().any(|property| property == "edit"));
            self.code_action_disabled = action.disabled_support == Some(true);
            self.code_action_preferred = action.is_preferred_support == Some(true);
            self.code_action_data = action.data_support == Some(true);
        }
        let pushed = client.publish_diagnostics.as_ref().map(|it| &it.diagnostics_capabilities);
        let pulled = client.diagnostic.as_ref().map(|it| &it.diagnostics_capabilities);
        let any = |has: fn(&lsp::DiagnosticsCapabilities) -> Option<bool>| {
            [pushed, pulled].into_iter().flatten().any(|it| has(it) == Some(true))
        };
        self.related_information = any(|it| it.related_information);
        self.code_description = any(|it| it.code_description_support);
        self.diagnostic_data = any(|it| it.data_support);
        let unnecessary = |it: &lsp::DiagnosticsCapabilities| {
            let tags = it.tag_support.as_ref();
            tags.is_some_and(|tags| tags.value_set.contains(&lsp::DiagnosticTag::Unnecessary))
        };
        self.diagnostic_unnecessary = [pushed, pulled].into_iter().flatten().any(unnecessary);
    }

    fn read_workspace(&mut self, client: &lsp::WorkspaceClientCapabilities) {
        self.configuration = client.configuration == Some(true);
        self.code_lens_refresh =
            client.code_lens.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.inlay_hint_refresh =
            client.inlay_hint.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.diagnostic_refresh =
            client.diagnostics.as_ref().is_some_and(|it| it.refresh_support == Some(true));
        self.register_configuration = client
            .did_change_configuration
            .as_ref()
            .is_some_and(|it| it.dynamic_registration == Some(true));
        if let Some(watched) = &client.did_change_watched_files {
            self.watch_files = watched.dynamic_registration == Some(true);
        }
        if let Some(edit) = &client.workspace_edit {
            self.document_changes = edit.document_changes == Some(true);
            self.change_annotations = edit.change_annotation_support.is_some();
            let may = |kind| {
                let operations = edit.resource_operations.as_ref();
                self.document_changes && operations.is_some_and(|listed| listed.contains(&kind))
            };
            self.create_files = may(lsp::ResourceOperationKind::Create);
            self.rename_files = may(lsp::ResourceOperationKind::Rename);
        }
    }

    /// Returns the column unit for this session: the one that the user demands if the client
    /// supports it, else the first of the client's choices that we support, else the protocol's
    /// default.
    pub(crate) fn negotiate(&self, forced: Option<Encoding>) -> Encoding {
        // Every client must support UTF-16, even if it does not list it.
        let can = |it: Encoding| it == Encoding::Utf16 || self.encodings.contains(&it);
        forced
            .filter(|it| can(*it))
            .or_else(|| self.encodings.first().copied())
            .unwrap_or(Encoding::Utf16)
    }

    /// Returns true if the client pulls diagnostics. Otherwise they are pushed.
    ///
    /// A client that pulls but does not handle a refresh would show outdated diagnostics after a
    /// change of the ledger, so diagnostics are pushed to it.
    pub(crate) fn pulls(&self) -> bool {
        self.pull_diagnostics && self.diagnostic_refresh
    }

    /// Returns whether an empty list is published for a document without findings. A client that
    /// could pull, but to which diagnostics are pushed, may wait for the push: opencode waits five
    /// seconds for each file that its agent writes.
    pub(crate) fn when_clean(&self) -> Clean {
        if self.pull_diagnostics && !self.pulls() { Clean::Published } else { Clean::Silent }
    }
}

fn encoding(kind: &lsp::PositionEncodingKind) -> Option<Encoding> {
    match kind {
        lsp::PositionEncodingKind::UTF8 => Some(Encoding::Utf8),
        lsp::PositionEncodingKind::UTF16 => Some(Encoding::Utf16),
        lsp::PositionEncodingKind::UTF32 => Some(Encoding::Utf32),
        lsp::PositionEncodingKind::Custom(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolve(client: serde_json::Value) -> Capabilities {
        Capabilities::new(&serde_json::from_value(client).unwrap())
    }

    #[test]
    fn a_client_that_says_nothing_can_do_nothing() {
        assert_eq!(resolve(json!({})), Capabilities::default());
        assert_eq!(resolve(json!({})).negotiate(None), Encoding::Utf16);
    }

    #[test]
    fn the_encoding_is_the_clients_first_that_we_know_unless_forced() {
        for (offered, forced, expected) in [
            (json!(["utf-8", "utf-16"]), None, Encoding::Utf8),
            (json!(["utf-7", "utf-32", "utf-8"]), None, Encoding::Utf32),
            (json!(["utf-7"]), None, Encoding::Utf16),
            (json!(["utf-8"]), Some(Encoding::Utf16), Encoding::Utf16),
            (json!(["utf-16"]), Some(Encoding::Utf8), Encoding::Utf16),
            (json!([]), Some(Encoding::Utf32), Encoding::Utf16),
        ] {
            let client = resolve(json!({ "general": { "positionEncodings": offered } }));
            assert_eq!(client.negotiate(forced), expected, "{offered} {forced:?}");
        }
    }

    #[test]
    fn who_pulls_diagnostics_must_be_able_to_hear_of_changes() {
        let pull = json!({ "diagnostic": {} });
        assert!(!resolve(json!({ "textDocument": pull })).pulls());
        let refresh = json!({ "diagnostics": { "refreshSupport": true } });
        assert!(resolve(json!({ "textDocument": pull, "workspace": refresh })).pulls());
        assert!(!resolve(json!({ "workspace": refresh })).pulls());
    }
}
