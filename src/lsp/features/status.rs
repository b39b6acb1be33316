//! `intent/status`: sends the status of a workspace to clients that show it
//! (`initializationOptions.status`).

use std::path::Path;

use serde_json::Value;
use tower_lsp::gen_lsp_types as lsp;

use crate::lsp::analysis;
use crate::lsp::snapshot::Snapshot;
use crate::verbs::select;

/// The notification. Its data are those of the command `intent.status`.
pub(crate) enum StatusNotification {}

impl lsp::Notification for StatusNotification {
    type Params = Value;
    const METHOD: lsp::LspNotificationMethod<'static> =
        lsp::LspNotificationMethod::new("intent/status");
    const MESSAGE_DIRECTION: lsp::MessageDirection = lsp::MessageDirection::ServerToClient;
}

/// Returns the status of a workspace. `None` if the workspace is not loaded any more.
pub(crate) fn of_workspace(snapshot: &Snapshot, root: &Path) -> Option<Value> {
    let workspace = snapshot.workspace_at(root)?;
    let survey = analysis::survey(snapshot, workspace);
    serde_json::to_value(select::status_given(workspace, None, survey.checked(workspace))).ok()
}
