//! The state of the server at the time when a request arrived.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp::lsp_types as lsp;

use super::analysis::Analyses;
use super::capabilities::Capabilities;
use super::config::Settings;
use super::notebook::{CellDocument, Cells};
use super::open_document::{Documents, OpenDocument};
use super::refusal::{RequestRefusal, RequestResult};
use super::requests::Cancel;
use code::Encoding;
use why::Workspace;

pub(crate) type Diagnose = fn(&Snapshot, &lsp::Url) -> Vec<lsp::Diagnostic>;

pub(crate) type DiagnoseUnopened = fn(&Snapshot, &Path) -> Vec<(lsp::Url, Vec<lsp::Diagnostic>)>;

#[derive(Clone, Default)]
pub(crate) struct Workspaces {
    /// The root that governs each folder, by the path that the client uses. `None` if no workspace
    /// governs the folder.
    pub folders: HashMap<PathBuf, Option<PathBuf>>,
    pub loaded: BTreeMap<PathBuf, Workspace>,
}

impl Workspaces {
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        let loaded = |root: &Path| self.loaded.get_key_value(root).map(|(root, _)| root.as_path());
        match path.parent().and_then(|folder| self.folders.get(folder)) {
            Some(root) => loaded(root.as_ref()?),
            // The folder was not looked up yet, so take the nearest loaded root above it. A nested
            // workspace is looked up before it is loaded.
            None => path.ancestors().skip(1).find_map(loaded),
        }
    }
}

/// The state of the server at one moment: immutable, cheap to clone, safe to keep.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub settings: Arc<Settings>,
    pub client: Arc<Capabilities>,
    pub encoding: Encoding,
    pub(super) documents: Arc<Documents>,
    pub(super) cells: Arc<Cells>,
    pub(super) workspaces: Arc<Workspaces>,
    pub folders: Arc<BTreeSet<PathBuf>>,
    pub(super) analyses: Arc<Analyses>,
    pub(super) cancel: Cancel,
    pub(super) diagnose: Diagnose,
    pub(super) unopened: DiagnoseUnopened,
}

impl Snapshot {
    pub(super) fn new(diagnose: Diagnose, unopened: DiagnoseUnopened) -> Self {
        Self {
            settings: Arc::default(),
            client: Arc::default(),
            encoding: Encoding::default(),
            documents: Arc::default(),
            cells: Arc::default(),
            workspaces: Arc::default(),
            folders: Arc::default(),
            analyses: Arc::default(),
            cancel: Cancel::default(),
            diagnose,
            unopened,
        }
    }

    /// Returns an open document. `None` if it is not open, or out of step with the client.
    pub(crate) fn document(&self, uri: &lsp::Url) -> Option<&OpenDocument> {
        self.documents.get(uri.as_str()).map(Arc::as_ref).filter(|open| open.in_sync)
    }

    /// Returns the version of an open document or cell. `None` if it is not open, or out of step
    /// with the client.
    pub(crate) fn version_of(&self, uri: &lsp::Url) -> Option<i32> {
        let cell = || self.cell(uri).map(|cell| cell.open.as_ref()).filter(|open| open.in_sync);
        self.document(uri).or_else(cell).map(|open| open.version)
    }

    pub(crate) fn cell(&self, uri: &lsp::Url) -> Option<&CellDocument> {
        self.cells.get(uri.as_str()).map(Arc::as_ref)
    }

    pub(crate) fn file_address<'a>(&'a self, uri: &'a lsp::Url) -> &'a lsp::Url {
        self.cell(uri).map_or(uri, |cell| &cell.notebook)
    }

    /// Returns the documents of the cells of a notebook, in no particular order. There are none for
    /// another document.
    pub(crate) fn cells_of<'a>(
        &'a self,
        uri: &'a lsp::Url,
    ) -> impl Iterator<Item = &'a CellDocument> {
        self.cells.values().map(Arc::as_ref).filter(move |cell| cell.notebook == *uri)
    }

    pub(crate) fn shown_as<'a>(&'a self, open: &'a OpenDocument) -> Vec<&'a lsp::Url> {
        let cells: Vec<&lsp::Url> = self.cells_of(&open.uri).map(|cell| &cell.open.uri).collect();
        if cells.is_empty() { vec![&open.uri] } else { cells }
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = &OpenDocument> {
        self.documents.values().map(Arc::as_ref).filter(|open| open.in_sync)
    }

    /// Returns the workspace that governs a document, open or not. `None` if the document is not a
    /// file, lies outside of every workspace, or its workspace is not loaded yet.
    pub(crate) fn workspace_of(&self, uri: &lsp::Url) -> Option<&Workspace> {
        self.workspace_of_path(&super::convert::path_of(uri)?)
    }

    /// Returns the workspace that governs a file given by its absolute path.
    pub(crate) fn workspace_of_path(&self, path: &Path) -> Option<&Workspace> {
        self.workspaces.loaded.get(self.workspaces.root_of(path)?)
    }

    pub(crate) fn workspace_at(&self, root: &Path) -> Option<&Workspace> {
        self.workspaces.loaded.get(root)
    }

    /// Returns all loaded workspaces, in the order of their roots.
    pub(crate) fn workspaces(&self) -> impl Iterator<Item = &Workspace> {
        self.workspaces.loaded.values()
    }

    /// Returns an error once the request is cancelled. Long computations call it between their
    /// steps.
    pub(crate) fn check_cancelled(&self) -> RequestResult<()> {
        if self.cancel.is_cancelled() { Err(RequestRefusal::Cancelled) } else { Ok(()) }
    }
}
