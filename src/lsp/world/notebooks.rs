//! Keeps the open notebooks equal to the client's.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use tower_lsp::lsp_types as lsp;

use super::sync::{TextChange, Versioned};
use crate::convert;
use crate::notebook::{Notebook, NotebookCell};
use crate::open_document::OpenDocument;
use crate::ordered::Ordered;
use code::Document;
use ground::store;

/// The kind of a cell with code. The other kind is 1, Markdown.
const CODE: u32 = 2;

/// The protocol crate has no types for notebooks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenedNotebook {
    notebook_document: NotebookItem,
    cell_text_documents: Vec<lsp::TextDocumentItem>,
}

#[derive(Deserialize)]
struct NotebookItem {
    uri: lsp::Url,
    cells: Vec<CellItem>,
}

#[derive(Deserialize)]
struct CellItem {
    kind: u32,
    document: lsp::Url,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangedNotebook {
    notebook_document: NotebookId,
    change: NotebookChange,
}

#[derive(Deserialize)]
struct NotebookId {
    uri: lsp::Url,
}

#[derive(Deserialize)]
struct NotebookChange {
    #[serde(default)]
    cells: CellChanges,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CellChanges {
    structure: Option<StructureChange>,
    text_content: Option<Vec<CellTextChange>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StructureChange {
    array: CellSplice,
    #[serde(default)]
    did_open: Vec<lsp::TextDocumentItem>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CellSplice {
    start: usize,
    delete_count: usize,
    #[serde(default)]
    cells: Vec<CellItem>,
}

#[derive(Deserialize)]
struct CellTextChange {
    document: Versioned,
    changes: Vec<TextChange>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamedNotebook {
    notebook_document: NotebookId,
}

impl Ordered {
    pub(crate) fn did_open_notebook(&mut self, params: OpenedNotebook) {
        let OpenedNotebook { notebook_document: NotebookItem { uri, cells }, cell_text_documents } =
            params;
        let cells = new_cells(cells, cell_text_documents, &[]);
        let path = convert::path_of(&uri);
        let mut notebook = Notebook { path, on_disk: String::new(), cells };
        notebook.saved(text_on_disk(notebook.path.as_deref()));
        if let Some(folder) = notebook.path.as_deref().and_then(Path::parent) {
            self.look_up(folder.to_owned());
        }
        // What was pushed about the file while it was closed is now shown in its cells.
        self.forget(uri.clone());
        self.world.notebooks.insert(uri.clone(), notebook);
        self.show_notebook(&uri);
    }

    pub(crate) fn did_change_notebook(&mut self, params: ChangedNotebook) {
        let (uri, changes) = (params.notebook_document.uri, params.change.cells);
        let Some(notebook) = self.world.notebooks.get_mut(&uri) else { return };
        if let Some(StructureChange { array, did_open }) = changes.structure {
            let start = array.start.min(notebook.cells.len());
            let end = start.saturating_add(array.delete_count).min(notebook.cells.len());
            let known = notebook.cells.clone();
            let inserted = new_cells(array.cells, did_open, &known);
            let gone: Vec<NotebookCell> = notebook.cells.splice(start..end, inserted).collect();
            let is_left = |cell: &NotebookCell| {
                notebook.cells.iter().any(|left| left.open.uri == cell.open.uri)
            };
            let gone: Vec<NotebookCell> = gone.into_iter().filter(|cell| !is_left(cell)).collect();
            self.close_cells(gone);
        }
        for CellTextChange { document, changes } in changes.text_content.into_iter().flatten() {
            let cells = &self.world.notebooks[&uri].cells;
            let found = cells.iter().position(|cell| cell.open.uri == document.uri);
            let Some(at) = found else { continue };
            let open = Arc::clone(&cells[at].open);
            let version = document.version.unwrap_or(open.version.saturating_add(1));
            match self.world.apply_changes(&open, version, &changes) {
                Ok(Some(document)) => {
                    let open = OpenDocument { document, version, in_sync: true, ..(*open).clone() };
                    self.set_cell(&uri, at, open);
                }
                Ok(None) => {}
                Err(reason) => {
                    self.set_cell(&uri, at, OpenDocument { in_sync: false, ..(*open).clone() });
                    self.tell_out_of_step(&document.uri, &reason);
                }
            }
        }
        self.show_notebook(&uri);
    }

    pub(crate) fn did_save_notebook(&mut self, params: NamedNotebook) {
        let uri = params.notebook_document.uri;
        let Some(notebook) = self.world.notebooks.get_mut(&uri) else { return };
        notebook.saved(text_on_disk(notebook.path.as_deref()));
        self.show_notebook(&uri);
        self.note_saved(&uri);
    }

    pub(crate) fn did_close_notebook(&mut self, params: NamedNotebook) {
        let uri = params.notebook_document.uri;
        let Some(notebook) = self.world.notebooks.remove(&uri) else { return };
        self.close_cells(notebook.cells);
        self.close_document(uri);
    }

    fn set_cell(&mut self, notebook: &lsp::Url, at: usize, open: OpenDocument) {
        if let Some(notebook) = self.world.notebooks.get_mut(notebook) {
            notebook.cells[at].open = Arc::new(open);
        }
    }

    fn close_cells(&mut self, gone: Vec<NotebookCell>) {
        for cell in gone {
            Arc::make_mut(&mut self.world.snapshot.cells).remove(cell.open.uri.as_str());
            self.forget(cell.open.uri.clone());
        }
    }

    /// Stores the text of a notebook and its cells as requests see them. Nothing is answered about a
    /// notebook with a cell that is out of step.
    fn show_notebook(&mut self, uri: &lsp::Url) {
        let Some(notebook) = self.world.notebooks.get(uri) else { return };
        let text = notebook.text();
        let cells = notebook.documents(uri, &text);
        let in_sync = notebook.cells.iter().all(|cell| cell.open.in_sync);
        let before = self.world.snapshot.documents.get(uri.as_str());
        let document = match before {
            Some(before) => with_text(&before.document, &text),
            None => super::sync::new_document(uri, &text),
        };
        let version = before.map_or(1, |before| before.version.saturating_add(1));
        let (path, changed) = (notebook.path.clone(), Instant::now());
        let shown: Vec<lsp::Url> = cells.iter().map(|cell| cell.open.uri.clone()).collect();
        let known = Arc::make_mut(&mut self.world.snapshot.cells);
        known.extend(cells.into_iter().map(|cell| (Arc::from(cell.open.uri.as_str()), cell)));
        let open = OpenDocument { uri: uri.clone(), path, version, document, changed, in_sync };
        self.world.store(open);
        shown.into_iter().for_each(|cell| self.diagnose_soon(cell));
    }
}

fn new_cells(
    cells: Vec<CellItem>,
    texts: Vec<lsp::TextDocumentItem>,
    known: &[NotebookCell],
) -> Vec<NotebookCell> {
    let cell = |item: CellItem| {
        let is_code = item.kind == CODE;
        if let Some(text) = texts.iter().find(|text| text.uri == item.document) {
            let open = OpenDocument {
                // Cells are no files, so the name says nothing about them.
                document: Document::from_text("cell.txt", &text.text),
                path: None,
                changed: Instant::now(),
                version: text.version,
                in_sync: true,
                uri: item.document,
            };
            return Some(NotebookCell { open: Arc::new(open), is_code, on_disk: None });
        }
        known.iter().find(|known| known.open.uri == item.document).cloned()
    };
    cells.into_iter().filter_map(cell).collect()
}

/// Reads a notebook. It is at most as large as what is parsed, and this is done only when it is
/// opened or saved. Without a file, the notebook has only what the editor shows.
fn text_on_disk(path: Option<&Path>) -> String {
    let most = u64::try_from(code::MAX_BYTES).unwrap_or(u64::MAX);
    let bytes = path.and_then(|path| store::read_capped(path, most).ok().flatten());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// Returns a document with another text, as one edit of what differs.
fn with_text(before: &Document, text: &str) -> Document {
    let old = before.text();
    let same = |(a, b): &(char, char)| a == b;
    let forwards = old.chars().zip(text.chars()).take_while(same);
    let start: usize = forwards.map(|(c, _)| c.len_utf8()).sum();
    let (old_rest, new_rest) = (&old[start..], &text[start..]);
    let backwards = old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(same);
    let end: usize = backwards.map(|(c, _)| c.len_utf8()).sum();
    if start == old.len() && old.len() == text.len() {
        return before.clone();
    }
    let edited = before.edited(start..old.len() - end, &new_rest[..new_rest.len() - end]);
    edited.unwrap_or_else(|| before.replaced(text))
}
