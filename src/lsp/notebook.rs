//! Open notebooks. An editor shows each cell as a document of its own, but a notebook is recorded as
//! a file, in which the cells are blocks.
//!
//! The server keeps the file with the text that it would have if the editor saved it now, as one
//! open document. A cell is a window onto that document: its positions are converted, and everything
//! that is answered about the file is answered in its cells.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tower_lsp::lsp_types as lsp;

use super::open_document::OpenDocument;
use edits::notebook_cells::{self, CellSource, ShownCell};

pub(crate) struct Notebook {
    pub path: Option<PathBuf>,
    /// The file when it was opened or saved.
    pub on_disk: String,
    /// In the order of the editor.
    pub cells: Vec<NotebookCell>,
}

#[derive(Clone)]
pub(crate) struct NotebookCell {
    pub open: Arc<OpenDocument>,
    pub is_code: bool,
    /// The number of the cell in the file on disk, if it was there.
    pub on_disk: Option<usize>,
}

pub(crate) struct CellDocument {
    pub open: Arc<OpenDocument>,
    pub notebook: lsp::Url,
    sources: Arc<[CellSource]>,
    index: usize,
}

pub(crate) type Cells = HashMap<Arc<str>, Arc<CellDocument>>;

impl Notebook {
    pub(crate) fn text(&self) -> String {
        let texts: Vec<String> = self.cells.iter().map(|cell| cell.open.document.text()).collect();
        let cells = self.cells.iter().zip(&texts).map(|(cell, text)| ShownCell {
            from: cell.on_disk,
            is_code: cell.is_code,
            text,
        });
        notebook_cells::with_cells(&self.on_disk, &Vec::from_iter(cells))
    }

    pub(crate) fn saved(&mut self, on_disk: String) {
        self.on_disk = on_disk;
        for (at, cell) in self.cells.iter_mut().enumerate() {
            cell.on_disk = Some(at);
        }
    }

    pub(crate) fn documents(&self, uri: &lsp::Url, text: &str) -> Vec<Arc<CellDocument>> {
        let sources: Arc<[CellSource]> = notebook_cells::sources(text).unwrap_or_default().into();
        let cells = self.cells.iter().enumerate().take(sources.len());
        let document = |(index, cell): (usize, &NotebookCell)| {
            let (open, notebook) = (Arc::clone(&cell.open), uri.clone());
            Arc::new(CellDocument { open, notebook, sources: Arc::clone(&sources), index })
        };
        cells.map(document).collect()
    }
}

impl CellDocument {
    pub(crate) fn source(&self) -> &CellSource {
        &self.sources[self.index]
    }

    pub(crate) fn in_cell(&self, bytes: &Range<usize>) -> Range<usize> {
        self.source().in_cell(bytes.start)..self.source().in_cell(bytes.end)
    }

    pub(crate) fn holds(&self, bytes: &Range<usize>) -> bool {
        self.source().bytes.start <= bytes.start && bytes.end <= self.source().bytes.end
    }

    /// Returns true if bytes of the notebook are shown in this cell: in the first one with a part of
    /// them or, if they are in none, in the first cell.
    pub(crate) fn shows(&self, bytes: &Range<usize>) -> bool {
        let holds = |cell: &CellSource| {
            cell.bytes.start < bytes.end.max(bytes.start + 1) && bytes.start < cell.bytes.end
        };
        self.sources.iter().position(holds).unwrap_or(0) == self.index
    }
}
