//! `intent trace`: lists the records themselves, oldest first, from all dialects of the ledger.

use std::collections::HashSet;
use std::sync::Arc;

use super::{ReadError, VerbError, Workspace};
use ground::RelativePath;
use history::FileChanges;
use ledger::Entry;

#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// Only records of this intent, under any id that it has or had.
    pub intent: Option<String>,
    /// Only records that touch this file, under any path that it has or had.
    pub path: Option<RelativePath>,
}

/// Returns the selected records, in the order of their time.
pub fn trace(ws: &Workspace, request: &TraceRequest) -> Result<Vec<Entry>, VerbError> {
    // An intent of another format is also known without `.orchestration/`.
    if request.intent.as_ref().is_none_or(|id| ws.registry.get(id).is_none()) {
        ws.governed()?;
    }
    let ledger = &*ws.ledger;
    let ids = request.intent.as_ref().map(|intent| ws.registry.ids(intent));
    let paths = request.path.as_ref().map(|path| former_paths(ws, path)).transpose()?;
    let is_wanted = |entry: &&Arc<Entry>| {
        let record = &entry.record;
        let names = |ids: &Vec<&str>| ids.iter().any(|id| record.names_intent(id));
        let is_about = |path: &RelativePath| {
            let is_its = |one| one == path || paths.as_ref().is_some_and(|all| all.contains(one));
            record.files.iter().any(|file| is_its(&file.relative_path))
        };
        ids.as_ref().is_none_or(names) && request.path.as_ref().is_none_or(is_about)
    };
    let found: Vec<&Arc<Entry>> = ledger.entries().iter().filter(is_wanted).collect();
    if found.is_empty() {
        if let Some(intent) = &request.intent {
            ws.intent(intent)?;
        }
        let was_there = paths.is_some_and(|paths| !paths.is_empty());
        if let Some(path) = request.path.as_ref().filter(|path| !was_there && !ws.exists(path)) {
            return Err(ReadError::Missing { path: path.clone() }.into());
        }
    }
    let trusted = |entry: &Arc<Entry>| Entry { trust: ledger.trust(entry), ..Entry::clone(entry) };
    Ok(found.into_iter().map(trusted).collect())
}

/// Returns the paths that a file had in the commits.
fn former_paths(ws: &Workspace, path: &RelativePath) -> Result<HashSet<RelativePath>, VerbError> {
    let mut paths = HashSet::new();
    if let (Some(git), Some(tip)) = (ws.git(), ws.tip()) {
        let (tip, path) = (git.object_id(tip)?, git.path_in_repository(path.as_str()));
        let mut changes = FileChanges::new(git.object_reader()?, tip, path)?;
        while let Some(change) = changes.next_change()? {
            let path = git.path_in_workspace(change.path.as_ref());
            paths.extend(path.filter(|_| change.now.is_some()));
        }
    }
    Ok(paths)
}
