//! Lists the last records of an intent that are in no commit yet: the kind of each change, the reason
//! for that kind, and who made it.

use std::sync::Arc;

use super::{ContextText, escaped};
use ledger::{Entry, MutationClass};
use why::answers::agent;

/// The number of records that are listed at most.
const MAX_RECORDS: usize = 3;
/// The number of characters to which the reason for a record's class is shortened.
const MAX_REASON: usize = 200;

/// Adds the last of these records to the context, newest first.
pub(super) fn add_last_records(records: &[&Arc<Entry>], out: &mut ContextText) {
    if out.room() {
        let last: Vec<_> = records.iter().rev().take(MAX_RECORDS).collect();
        out.element(1, "history", "", &last, |out, entry| out.line(2, &element(entry)));
    }
}

/// Formats one record. Attributes that the record does not have are left out.
fn element(entry: &Entry) -> String {
    let record = &entry.record;
    let conversation = record.files.iter().flat_map(|file| &file.conversations).next();
    let contributor = conversation.map(|one| &one.contributor);
    let reasons = record.files.iter().flat_map(|file| &file.reasons);
    let reasons: Vec<&str> = record.note.iter().chain(reasons).map(String::as_str).collect();
    let reason = ground::text::shorten(&reasons.join("; "), MAX_REASON);
    let attributes = [
        ("id", Some(record.id.as_str())),
        ("timestamp", Some(record.timestamp.as_str())),
        ("class", record.mutation_class.map(MutationClass::as_str)),
        ("author", contributor.map(|who| who.name.as_deref().unwrap_or(who.entity_type.as_str()))),
        ("agent", agent(record.tool.as_ref().map(|tool| tool.name.as_str()))),
        ("model", contributor.and_then(|who| who.model_identifier.as_deref())),
        ("session", record.session.as_deref()),
        ("reason", Some(reason.as_str())),
    ];
    let attributes: String = attributes
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)))
        .map(|(name, value)| format!(" {name}=\"{}\"", escaped(value)))
        .collect();
    let paths: Vec<&str> = record.files.iter().map(|file| file.relative_path.as_str()).collect();
    format!("<record{attributes}>{}</record>", escaped(&paths.join(", ")))
}
