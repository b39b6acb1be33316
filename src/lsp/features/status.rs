//! `intent/status`: sends the status of a workspace to clients that show it
//! (`initializationOptions.status`).

use overview::status;
use std::path::Path;

use serde_json::Value;

use crate::snapshot::Snapshot;

/// The method of the notification. Its data are those of the command `intent.status`.
pub(crate) const METHOD: &str = "intent/status";

/// Returns the status of a workspace. `None` if the workspace is not loaded any more.
pub fn of_workspace(snapshot: &Snapshot, root: &Path) -> Option<Value> {
    let workspace = snapshot.workspace_at(root)?;
    if !workspace.root.governed() {
        return serde_json::to_value(status::status_given(workspace, None, &[])).ok();
    }
    let survey = snapshot.view(workspace).survey();
    serde_json::to_value(status::status_given(workspace, None, survey.checked(workspace))).ok()
}
