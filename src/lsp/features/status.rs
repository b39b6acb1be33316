//! `intent/status`: sends the status of a workspace to clients that show it
//! (`initializationOptions.status`).

use overview::status;
use std::path::Path;

use serde_json::Value;

use crate::snapshot::Snapshot;

pub(crate) const METHOD: &str = "intent/status";

/// Returns the status of a workspace. `None` if the workspace is not loaded any more.
pub(crate) fn of_workspace(snapshot: &Snapshot, root: &Path) -> Option<Value> {
    let workspace = snapshot.workspace_at(root)?;
    let survey = workspace.root.governed().then(|| snapshot.view(workspace).survey());
    let checked = survey.as_ref().map_or(&[][..], |survey| survey.checked(workspace));
    serde_json::to_value(status::status_given(workspace, None, checked)).ok()
}
