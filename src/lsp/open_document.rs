//! The documents that the client has open.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tower_lsp::lsp_types as lsp;

use code::Document;

#[derive(Clone)]
pub(crate) struct OpenDocument {
    pub uri: lsp::Url,
    /// The document's path. `None` if the address is not that of a local file.
    pub path: Option<PathBuf>,
    pub version: i32,
    pub document: Document,
    pub changed: Instant,
    /// False after an edit could not be applied. The text may then differ from the client's, so
    /// nothing is answered about it.
    pub in_sync: bool,
}

pub(crate) type Documents = HashMap<Arc<str>, Arc<OpenDocument>>;
