//! Keeps the open documents equal to the client's.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use tower_lsp::lsp_types as lsp;

use super::World;
use crate::open_document::OpenDocument;
use crate::ordered::Ordered;
use crate::{convert, watch, workspace_view};
use code::Document;
use ground::{Attributes, Environment, Git, RelativePath, Root};
use judgement::after::note_saved_file;

/// The parameters of `textDocument/didChange`, read strictly.
///
/// The type in the protocol crate treats a change whose range cannot be read as a change without a
/// range. The few characters of that change would then replace the whole document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidChange {
    text_document: Versioned,
    content_changes: Vec<TextChange>,
}

#[derive(Deserialize)]
pub(super) struct Versioned {
    pub uri: lsp::Url,
    pub version: Option<i32>,
}

#[derive(Deserialize)]
pub(super) struct TextChange {
    range: Option<lsp::Range>,
    text: String,
}

/// Returns a document for a text that was just opened. If the text has a syntax error, the document
/// takes its blocks from the file at the last commit.
///
/// Nothing is read from the disk here. The two closures read what is needed when the blocks are
/// first needed.
pub(super) fn new_document(uri: &lsp::Url, text: &str) -> Document {
    let path = convert::path_of(uri);
    // The name determines the language. The path of an address that is not a local file also
    // ends in a name.
    let name = path.as_ref().and_then(|path| path.to_str()).unwrap_or(uri.path());
    let document = Document::from_text(&name.replace(std::path::MAIN_SEPARATOR, "/"), text);
    let Some(path) = path else { return document };
    let file = path.clone();
    document
        .declared_generated_if(move || is_declared_generated(&path))
        .with_origin(move || committed_document(&file))
}

fn governed_place(path: &Path) -> Option<(Root, RelativePath)> {
    let root = Root::find(path, &Environment::of_process()).ok().filter(Root::governed)?;
    let relative = root.relative(root.path(), path).ok()?;
    Some((root, relative))
}

fn is_declared_generated(path: &Path) -> bool {
    governed_place(path).is_some_and(|(root, path)| Attributes::load(&root).is_generated(&path))
}

fn committed_document(path: &Path) -> Option<Document> {
    let (root, relative) = governed_place(path)?;
    let git = Git::open(&root).ok()??;
    let bytes = git.file_at(&git.head().ok()??, &relative).ok()??;
    Document::from_bytes(relative.as_str(), &bytes).ok()
}

impl Ordered {
    pub(crate) fn did_open(&mut self, params: lsp::DidOpenTextDocumentParams) {
        let item = params.text_document;
        let path = convert::path_of(&item.uri);
        self.world.store(OpenDocument {
            document: new_document(&item.uri, &item.text),
            path: path.clone(),
            changed: Instant::now(),
            version: item.version,
            in_sync: true,
            uri: item.uri.clone(),
        });
        if let Some(folder) = path.as_deref().and_then(Path::parent) {
            self.look_up(folder.to_owned());
        }
        // A client that pulls diagnostics requests those of open files itself. The diagnostics that
        // were pushed while the file was closed would be shown a second time.
        if self.world.snapshot.client.pulls_diagnostics() {
            self.forget(item.uri.clone());
        }
        self.diagnose_soon(item.uri);
    }

    /// Applies the changes of one notification: all of them, or none if one fails.
    pub(crate) fn did_change(&mut self, changes: DidChange) {
        let uri = changes.text_document.uri;
        let Some(open) = self.world.snapshot.documents.get(uri.as_str()) else {
            tracing::debug!(%uri, "a change of a document that is not open");
            return;
        };
        let version = changes.text_document.version.unwrap_or(open.version.saturating_add(1));
        match self.world.apply_changes(open, version, &changes.content_changes) {
            Ok(Some(document)) => {
                let (changed, before) = (Instant::now(), open.as_ref().clone());
                self.world.store(OpenDocument {
                    document,
                    changed,
                    version,
                    in_sync: true,
                    ..before
                });
                self.diagnose_beside_registry(&uri);
                self.diagnose_soon(uri);
            }
            Ok(None) => {}
            Err(reason) => self.mark_out_of_step(&uri, &reason),
        }
    }

    pub(crate) fn distrust(&mut self, uri: Option<&lsp::Url>, reason: String) {
        tracing::error!(reason, "a notification broke off");
        if let Some(uri) = uri {
            self.mark_out_of_step(uri, &reason);
        }
    }

    /// Keeps the old text, but gives no answers about the document until the client sends its whole
    /// text.
    fn mark_out_of_step(&mut self, uri: &lsp::Url, reason: &str) {
        let Some(open) = self.world.snapshot.documents.get(uri.as_str()) else { return };
        self.world.store(OpenDocument { in_sync: false, ..open.as_ref().clone() });
        self.tell_out_of_step(uri, reason);
    }

    pub(super) fn tell_out_of_step(&mut self, uri: &lsp::Url, reason: &str) {
        let message = format!(
            "{uri} is out of step with the editor and is ignored until you reopen it: {reason}"
        );
        self.outside.client.log(lsp::MessageType::ERROR, message);
        self.forget(uri.clone());
    }

    /// Removes a document that the client closed. Findings of its workspace may concern the closed
    /// file, so they are published again.
    pub(crate) fn did_close(&mut self, params: lsp::DidCloseTextDocumentParams) {
        self.close_document(params.text_document.uri);
    }

    pub(super) fn close_document(&mut self, uri: lsp::Url) {
        // Its unsaved text counts no more.
        self.diagnose_beside_registry(&uri);
        let now = &mut self.world.snapshot;
        let Some(closed) = Arc::make_mut(&mut now.documents).remove(uri.as_str()) else { return };
        let root = closed.path.as_ref().and_then(|path| now.workspaces.root_of(path));
        let root = root.map(ToOwned::to_owned);
        self.forget(uri);
        if let Some(root) = root {
            self.diagnose_unopened(root);
        }
    }

    /// Handles a saved file. A file that governs the workspace is read again, even if no watcher
    /// reports the save.
    pub(crate) fn did_save(&mut self, params: lsp::DidSaveTextDocumentParams) {
        let uri = params.text_document.uri;
        let path = convert::path_of(&uri).filter(|path| watch::is_relevant(path));
        self.files_changed(path.into_iter().collect());
        self.note_saved(&uri);
        if self.world.snapshot.version_of(&uri).is_some() {
            self.diagnose_soon(uri);
        }
    }

    /// Keeps that a person saved the file, so that nobody takes an agent's command for the author.
    pub(super) fn note_saved(&self, uri: &lsp::Url) {
        let now = &self.world.snapshot;
        let open = now.documents.get(uri.as_str()).filter(|open| open.in_sync).cloned();
        let workspace = now.workspace_of(uri).cloned();
        let Some((open, workspace)) = open.zip(workspace) else { return };
        if now.settings.started_by_agent.is_some() {
            return;
        }
        self.outside.pool.run(move || {
            let path =
                open.path.as_ref().and_then(|path| workspace_view::relative(&workspace, path));
            if let Some(path) = path.filter(|_| workspace.root.governed()) {
                note_saved_file(&workspace, &path, &open.document.text());
            }
        });
    }
}

impl World {
    /// Returns the document after the changes. `None` if it was out of step and no change contains
    /// the whole text.
    pub(super) fn apply_changes(
        &self,
        open: &OpenDocument,
        version: i32,
        changes: &[TextChange],
    ) -> Result<Option<Document>, String> {
        // The changes before a whole text do not matter, even if they could not be applied.
        let whole = changes.iter().rposition(|change| change.range.is_none());
        if whole.is_none() && !open.in_sync {
            return Ok(None);
        }
        if whole.is_none() && version <= open.version {
            return Err(format!("version {version} came after version {}", open.version));
        }
        let mut document = open.document.clone();
        for change in &changes[whole.unwrap_or(0)..] {
            let Some(range) = change.range else {
                document = document.replaced(&change.text);
                continue;
            };
            let bytes = convert::bytes_strict(&document, range, self.snapshot.encoding);
            let edited = bytes.and_then(|bytes| document.edited(bytes, &change.text));
            document = edited.ok_or_else(|| {
                let lsp::Range { start: from, end: to } = range;
                format!(
                    "a change reaches from {}:{} to {}:{}, which is outside of the text",
                    from.line, from.character, to.line, to.character
                )
            })?;
        }
        Ok(Some(document))
    }

    pub(super) fn store(&mut self, open: OpenDocument) {
        let key = Arc::from(open.uri.as_str());
        // This copies the map (not the texts) only while a request still holds the old map.
        Arc::make_mut(&mut self.snapshot.documents).insert(key, Arc::new(open));
    }
}
