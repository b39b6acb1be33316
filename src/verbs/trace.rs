//! *Trace*: the records themselves, oldest first, in whatever dialect they were written.

use super::{VerbError, Workspace};
use crate::ledger::Entry;

/// Which records.
#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// Only of this intent.
    pub intent: Option<String>,
    /// Only those that touch this file.
    pub path: Option<crate::workspace::RelativePath>,
}

/// The records that are asked for, in the order of their time.
pub fn trace<'a>(
    ws: &'a Workspace,
    request: &'a TraceRequest,
) -> Result<impl Iterator<Item = &'a Entry>, VerbError> {
    ws.governed()?;
    Ok(ws.ledger.entries().iter().filter(move |entry| {
        let record = &entry.record;
        let of_intent = request.intent.is_none() || record.intent_id == request.intent;
        let of_path = request
            .path
            .as_ref()
            .is_none_or(|path| record.files.iter().any(|file| file.relative_path == *path));
        of_intent && of_path
    }))
}
