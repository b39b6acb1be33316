//! What a request sees: the state of the server as it was when the request arrived.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tower_lsp::gen_lsp_types as lsp;

use super::analysis::Analyses;
use super::capabilities::Capabilities;
use super::config::Settings;
use super::dispatch::RequestRefusal;
use super::requests::Cancel;
use crate::code::{Document, Encoding};
use crate::verbs::Workspace;

/// Says what is wrong with a document; see [`super::features::diagnostics`].
pub(crate) type Diagnose = fn(&Snapshot, &lsp::Uri) -> Vec<lsp::Diagnostic>;

/// Says what is wrong with files of the workspace at this root that nobody has open; see [`super::features::diagnostics`].
pub(crate) type DiagnoseUnopened = fn(&Snapshot, &Path) -> Vec<(lsp::Uri, Vec<lsp::Diagnostic>)>;

/// A document as the client has it in front of a person, unsaved text included.
#[derive(Clone)]
pub(crate) struct OpenDocument {
    /// The client's address of it.
    pub(crate) uri: lsp::Uri,
    /// Its path, where the address is one of a local file.
    pub(crate) path: Option<PathBuf>,
    /// The client's number for this state of the text.
    pub(crate) version: i32,
    /// The text and its blocks.
    pub(crate) document: Document,
    /// When the text came.
    pub(crate) changed: Instant,
    /// False after an edit that could not be applied: then the text is not the client's, and nothing is said about it.
    pub(crate) in_sync: bool,
}

/// Open documents by address.
pub(crate) type Documents = HashMap<Arc<str>, Arc<OpenDocument>>;

/// What is known of the workspaces, as far as it is loaded.
#[derive(Clone, Default)]
pub(crate) struct Workspaces {
    /// Folders whose governing root was looked up, by the path that the client uses; `None`: no workspace governs it.
    pub(crate) folders: HashMap<PathBuf, Option<PathBuf>>,
    /// Loaded knowledge by root.
    pub(crate) loaded: BTreeMap<PathBuf, Workspace>,
}

impl Workspaces {
    /// The root that governs a file, if what is known under it is loaded.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        let loaded = |root: &Path| self.loaded.get_key_value(root).map(|(root, _)| root.as_path());
        match path.parent().and_then(|folder| self.folders.get(folder)) {
            Some(root) => loaded(root.as_ref()?),
            // Not looked up yet: the nearest root above it. A nested one is looked up before it is loaded.
            None => path.ancestors().skip(1).find_map(loaded),
        }
    }

    /// The knowledge that governs a file, if it is loaded.
    pub(crate) fn of_path(&self, path: &Path) -> Option<&Workspace> {
        self.loaded.get(self.root_of(path)?)
    }
}

/// The server's state at one moment: immutable, cheap to clone, safe to keep.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// The user's settings.
    pub(crate) settings: Arc<Settings>,
    /// What the client can do.
    pub(crate) client: Arc<Capabilities>,
    /// The unit of the client's columns.
    pub(crate) encoding: Encoding,
    pub(super) documents: Arc<Documents>,
    pub(super) workspaces: Arc<Workspaces>,
    pub(super) folders: Arc<[PathBuf]>,
    pub(super) analyses: Arc<Analyses>,
    pub(super) cancel: Cancel,
    pub(super) diagnose: Diagnose,
}

impl Snapshot {
    /// An open document; `None` when it is not open, or out of step with the client.
    pub(crate) fn document(&self, uri: &lsp::Uri) -> Option<&OpenDocument> {
        self.documents.get(uri.as_str()).map(Arc::as_ref).filter(|open| open.in_sync)
    }

    /// The open documents that are in step with the client, in no particular order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &OpenDocument> {
        self.documents.values().map(Arc::as_ref).filter(|open| open.in_sync)
    }

    /// The knowledge of the workspace that governs a document, open or not. `None`: the document lies outside
    /// of any workspace or is no file, or nothing is loaded yet; either way there is nothing to say.
    pub(crate) fn workspace_of(&self, uri: &lsp::Uri) -> Option<&Workspace> {
        self.workspace_of_path(&super::convert::path_of(uri)?)
    }

    /// The same of an absolute path.
    pub(crate) fn workspace_of_path(&self, path: &Path) -> Option<&Workspace> {
        self.workspaces.of_path(path)
    }

    /// The folders of the client's window.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The knowledge under a root, if it is loaded.
    pub(crate) fn workspace_at(&self, root: &Path) -> Option<&Workspace> {
        self.workspaces.loaded.get(root)
    }

    /// Every loaded workspace, by root.
    pub(crate) fn workspaces(&self) -> impl Iterator<Item = &Workspace> {
        self.workspaces.loaded.values()
    }

    /// Fails once the request is cancelled. Long computations call it between their steps.
    pub(crate) fn check_cancelled(&self) -> Result<(), RequestRefusal> {
        if self.cancel.is_cancelled() { Err(RequestRefusal::Cancelled) } else { Ok(()) }
    }
}
