//! *Trace*: the records themselves, oldest first, in whatever dialect they were written.

use super::{ReadError, VerbError, Workspace};
use crate::ledger::Entry;

/// Which records.
#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// Only of this intent, whatever it was called then.
    pub intent: Option<String>,
    /// Only those that touch this file.
    pub path: Option<crate::workspace::RelativePath>,
}

/// The records that are asked for, in the order of their time.
pub fn trace<'a>(
    ws: &'a Workspace,
    request: &TraceRequest,
) -> Result<impl Iterator<Item = Entry> + use<'a>, VerbError> {
    ws.governed()?;
    let ledger = &*ws.ledger;
    let of_intent = request.intent.as_ref().map(|intent| ws.entries_of(intent));
    if let (Some(intent), Some(true)) = (&request.intent, of_intent.as_ref().map(Vec::is_empty)) {
        ws.intent(intent)?;
    }
    let of_path = request.path.as_ref().map(|path| ledger.entries_of_path(path));
    if let (Some(path), Some(true)) = (&request.path, of_path.as_ref().map(Vec::is_empty))
        && !ws.exists(path)
    {
        return Err(ReadError::Missing { path: path.clone() }.into());
    }
    let wanted: Vec<u32> = match (of_intent, of_path) {
        (Some(both), Some(of_path)) => {
            both.into_iter().filter(|at| of_path.binary_search(at).is_ok()).collect()
        }
        (Some(wanted), None) | (None, Some(wanted)) => wanted,
        (None, None) => (0..).take(ledger.entries().len()).collect(),
    };
    // Read one by one and let go again: there may be very many.
    Ok(wanted.into_iter().map(|at| {
        let entry = ledger.entry(at);
        Entry { trust: ledger.trust(entry), ..entry.clone() }
    }))
}
