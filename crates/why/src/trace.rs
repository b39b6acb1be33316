//! `intent trace`: lists the records themselves, oldest first, from all dialects of the ledger.

use super::{ReadError, VerbError, Workspace};
use ledger::Entry;

#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// Only records of this intent, under any id that it has or had.
    pub intent: Option<String>,
    /// Only records that name this file.
    pub path: Option<ground::RelativePath>,
}

/// Returns the selected records, in the order of their time.
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
    // Entries are read one by one and not kept, since there may be very many.
    Ok(wanted.into_iter().map(|at| {
        let entry = ledger.entry(at);
        Entry { trust: ledger.trust(entry), ..entry.clone() }
    }))
}
