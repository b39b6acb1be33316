//! What the client can do, read once from `initialize`. No feature looks at the client's own
//! message.

use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::diagnostics_schedule::Clean;
use code::Encoding;

/// What the client can do. Every field is `false` or the protocol's default until `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// The column units in the client's order of preference. If empty, the client supports UTF-16
    /// only.
    pub encodings: Vec<Encoding>,
    pub hover_markdown: bool,
    pub completion_snippets: bool,
    /// Completion items may give one range for inserting and another for replacing.
    pub completion_insert_replace: bool,
    /// The answer to a definition request may be `LocationLink`s.
    pub definition_links: bool,
    pub symbol_tree: bool,
    pub prepare_rename: bool,
    pub code_lens: bool,
    pub code_lens_refresh: bool,
    pub inlay_hints: bool,
    pub inlay_hint_refresh: bool,
    /// Code actions may be objects with an edit, not only commands.
    pub code_action_literals: bool,
    pub code_action_resolve: bool,
    pub code_action_disabled: bool,
    pub code_action_preferred: bool,
    pub code_action_data: bool,
    pub document_changes: bool,
    pub create_files: bool,
    pub rename_files: bool,
    pub change_annotations: bool,
    pub related_information: bool,
    pub code_description: bool,
    pub diagnostic_unnecessary: bool,
    pub diagnostic_data: bool,
    pub pull_diagnostics: bool,
    pub diagnostic_refresh: bool,
    pub notebooks: bool,
    pub watch_files: bool,
    pub configuration: bool,
    /// The client sends `workspace/didChangeConfiguration` only after a registration.
    pub register_configuration: bool,
    pub progress: bool,
    pub show_document: bool,
    /// Methods that the client repeats by itself after a `ContentModified` error.
    pub retried: Vec<String>,
}

impl Capabilities {
    /// Reads the capabilities, by the names that the protocol gives them. A missing one counts as
    /// "no".
    ///
    /// They are read from the message itself, because the types of the protocol crate lack a few of
    /// them.
    pub(crate) fn new(client: &Value) -> Self {
        let given = |path: String| client.pointer(&path).filter(|it| !it.is_null());
        let text = |path: &str| given(format!("/textDocument/{path}"));
        let workspace = |path: &str| given(format!("/workspace/{path}"));
        // What a client can show of diagnostics may be said of those that it pulls, or of those that
        // are pushed to it.
        let diagnostics = [text("publishDiagnostics"), text("diagnostic")];
        let shows = |path: &str| diagnostics.iter().flatten().any(|it| is_true(it.pointer(path)));
        let fades = |it: &&Value| {
            has_entry(it.pointer("/tagSupport/valueSet"), json!(lsp::DiagnosticTag::UNNECESSARY))
        };
        let document_changes = is_true(workspace("workspaceEdit/documentChanges"));
        let operations = workspace("workspaceEdit/resourceOperations");
        let encodings = texts(client.pointer("/general/positionEncodings")).into_iter();
        Self {
            encodings: encodings.filter_map(|it| serde_json::from_value(it.into()).ok()).collect(),
            hover_markdown: text("hover/contentFormat/0").is_some_and(|first| first == "markdown"),
            completion_snippets: is_true(text("completion/completionItem/snippetSupport")),
            completion_insert_replace: is_true(text(
                "completion/completionItem/insertReplaceSupport",
            )),
            definition_links: is_true(text("definition/linkSupport")),
            symbol_tree: is_true(text("documentSymbol/hierarchicalDocumentSymbolSupport")),
            prepare_rename: is_true(text("rename/prepareSupport")),
            code_lens: text("codeLens").is_some(),
            code_lens_refresh: is_true(workspace("codeLens/refreshSupport")),
            inlay_hints: text("inlayHint").is_some(),
            inlay_hint_refresh: is_true(workspace("inlayHint/refreshSupport")),
            code_action_literals: text("codeAction/codeActionLiteralSupport").is_some(),
            code_action_resolve: has_entry(text("codeAction/resolveSupport/properties"), "edit"),
            code_action_disabled: is_true(text("codeAction/disabledSupport")),
            code_action_preferred: is_true(text("codeAction/isPreferredSupport")),
            code_action_data: is_true(text("codeAction/dataSupport")),
            document_changes,
            create_files: document_changes && has_entry(operations, "create"),
            rename_files: document_changes && has_entry(operations, "rename"),
            change_annotations: workspace("workspaceEdit/changeAnnotationSupport").is_some(),
            related_information: shows("/relatedInformation"),
            code_description: shows("/codeDescriptionSupport"),
            diagnostic_unnecessary: diagnostics.iter().flatten().any(fades),
            diagnostic_data: shows("/dataSupport"),
            pull_diagnostics: text("diagnostic").is_some(),
            diagnostic_refresh: is_true(workspace("diagnostics/refreshSupport")),
            notebooks: given("/notebookDocument/synchronization".to_owned()).is_some(),
            watch_files: is_true(workspace("didChangeWatchedFiles/dynamicRegistration")),
            configuration: is_true(workspace("configuration")),
            register_configuration: is_true(workspace(
                "didChangeConfiguration/dynamicRegistration",
            )),
            progress: is_true(client.pointer("/window/workDoneProgress")),
            show_document: is_true(client.pointer("/window/showDocument/support")),
            retried: texts(client.pointer("/general/staleRequestSupport/retryOnContentModified")),
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
    pub(crate) fn pulls_diagnostics(&self) -> bool {
        self.pull_diagnostics && self.diagnostic_refresh
    }

    /// Returns whether an empty list is published for a document without findings. A client that
    /// could pull, but to which diagnostics are pushed, may wait for the push: opencode waits five
    /// seconds for each file that its agent writes.
    pub(crate) fn when_clean(&self) -> Clean {
        if self.pull_diagnostics && !self.pulls_diagnostics() {
            Clean::Published
        } else {
            Clean::Silent
        }
    }
}

fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}

fn has_entry(value: Option<&Value>, entry: impl Into<Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(|listed| listed.contains(&entry.into()))
}

fn texts(value: Option<&Value>) -> Vec<String> {
    value.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolve(client: serde_json::Value) -> Capabilities {
        Capabilities::new(&client)
    }

    #[test]
    fn a_client_that_says_nothing_can_do_nothing() {
        assert_eq!(resolve(json!({})), Capabilities::default());
        assert_eq!(resolve(json!({})).negotiate(None), Encoding::Utf16);
    }

    #[test]
    fn the_encoding_is_the_first_supported_one_of_the_client() {
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
    fn pulling_diagnostics_needs_support_for_refreshes() {
        let pull = json!({ "diagnostic": {} });
        assert!(!resolve(json!({ "textDocument": pull })).pulls_diagnostics());
        let refresh = json!({ "diagnostics": { "refreshSupport": true } });
        assert!(resolve(json!({ "textDocument": pull, "workspace": refresh })).pulls_diagnostics());
        assert!(!resolve(json!({ "workspace": refresh })).pulls_diagnostics());
    }
}
