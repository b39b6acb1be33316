//! `intent trace`: lists the records themselves, oldest first, from all dialects of the ledger.

use std::sync::Arc;

use super::{ReadError, VerbError, Workspace};
use ground::RelativePath;
use ledger::Entry;

#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// Only records of this intent, under any id that it has or had.
    pub intent: Option<String>,
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
    let is_wanted = |entry: &&Arc<Entry>| {
        let record = &entry.record;
        let names = |ids: &Vec<&str>| ids.iter().any(|id| record.names_intent(id));
        let is_about =
            |path: &RelativePath| record.files.iter().any(|file| file.relative_path == *path);
        ids.as_ref().is_none_or(names) && request.path.as_ref().is_none_or(is_about)
    };
    let found: Vec<&Arc<Entry>> = ledger.entries().iter().filter(is_wanted).collect();
    if found.is_empty() {
        if let Some(intent) = &request.intent {
            ws.intent(intent)?;
        }
        if let Some(path) = request.path.as_ref().filter(|path| !ws.exists(path)) {
            return Err(ReadError::Missing { path: path.clone() }.into());
        }
    }
    let trusted = |entry: &Arc<Entry>| Entry { trust: ledger.trust(entry), ..Entry::clone(entry) };
    Ok(found.into_iter().map(trusted).collect())
}
