//! Evidence of another project, whose history was merged into a folder of the workspace.
//!
//! [`why`](why::answers) names its intents with the folder, as in `INT-001 (lib)`. What it says of the
//! commit that adds it counts only for lines which that commit brought. Late evidence names any
//! commit, so it is judged as ours is, but for the scopes of its intents, which we do not know.

use std::sync::Arc;

use super::changes::bytes_now;
use crate::compared::is_evidence;
use ground::git::{ChangeKind, PathChange};
use ground::{CommitId, Git, RelativePath};
use history::knowledge::of_project;
use ledger::{Entry, Trust, read};
use why::{VerbError, Workspace};

/// Returns the late evidence of projects in folders that differs from the base, with the paths that
/// its files have in the commits which it is about.
pub(super) fn late_entries(
    ws: &Workspace,
    git: &Git,
    base: &CommitId,
    changes: &[PathChange],
) -> Result<Vec<Arc<Entry>>, VerbError> {
    let mut found = Vec::new();
    for change in changes.iter().filter(|change| change.kind != ChangeKind::Deleted) {
        let Some((folder, path)) = folder_and_path(&change.path) else { continue };
        let (Some(now), before) =
            (bytes_now(ws, git, &change.path)?, git.file_at(base, &change.path)?)
        else {
            continue;
        };
        if before.as_ref() == Some(&now) {
            continue;
        }
        for entry in read::bytes(&path, &now).entries {
            let Some(of) = entry.late_commit.clone().map(CommitId) else { continue };
            if entry.trust == Trust::Contradicted {
                continue;
            }
            let mut entry = of_project(&entry, folder);
            entry.origin.path = change.path.clone();
            for file in &mut entry.record.files {
                // The commit is one of the project alone, or a later one of the whole.
                let below = RelativePath::new(&format!("{folder}/{}", file.relative_path))?;
                if git.has_file(&of, &below).unwrap_or(false) {
                    file.relative_path = below;
                }
            }
            found.push(Arc::new(entry));
        }
    }
    Ok(found)
}

/// Splits the path of a file of evidence in a folder: `lib/.orchestration/agent_trace/…` into `lib`
/// and the rest.
fn folder_and_path(path: &RelativePath) -> Option<(&str, RelativePath)> {
    let at = path.as_str().rfind("/.orchestration/")?;
    let (folder, rest) = path.as_str().split_at(at);
    let rest = RelativePath::new(rest.strip_prefix('/')?).ok()?;
    is_evidence(&rest).then_some((folder, rest))
}
