//! Requests that were not started yet.

use serde_json::Value;
use tower_lsp::lsp_types as lsp;

use super::requests::Ticket;
use super::snapshot::Snapshot;

pub(super) struct PendingRequest {
    pub(super) ticket: Ticket,
    pub(super) method: String,
    pub(super) params: Value,
    /// The document and the version to which the answer applies. `None` if the client would not
    /// send the request again after a `ContentModified` error.
    pub(super) asked_of: Option<(lsp::Url, i32)>,
    pub(super) snapshot: Snapshot,
}
