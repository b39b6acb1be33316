//! Formats the records of an intent that are in no commit yet: the kind of each change, the reason
//! for that kind, and who made it.

use super::layout::escaped;
use ground::text;
use ledger::{Entry, MutationClass};
use why::answers::agent;

/// Formats one record. Attributes that the record does not have are left out, and each text is cut to
/// `longest` characters. Which record and which session it was is only said if nothing is cut.
pub(super) fn element(entry: &Entry, longest: usize) -> String {
    let record = &entry.record;
    let conversation = record.files.iter().flat_map(|file| &file.conversations).next();
    let contributor = conversation.map(|one| &one.contributor);
    let reasons = record.files.iter().flat_map(|file| &file.reasons);
    let reasons: Vec<&str> = record.note.iter().chain(reasons).map(String::as_str).collect();
    let reason = reasons.join("; ");
    let is_whole = |_: &&str| longest == usize::MAX;
    let attributes = [
        ("id", Some(record.id.as_str()).filter(is_whole)),
        ("timestamp", Some(record.timestamp.as_str())),
        ("class", record.mutation_class.map(MutationClass::as_str)),
        ("author", contributor.map(|who| who.name.as_deref().unwrap_or(who.entity_type.as_str()))),
        ("agent", agent(record.tool.as_ref().map(|tool| tool.name.as_str()))),
        ("model", contributor.and_then(|who| who.model_identifier.as_deref())),
        ("session", record.session.as_deref().filter(is_whole)),
        ("reason", Some(reason.as_str())),
    ];
    let attributes: String = attributes
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)))
        .map(|(name, value)| format!(" {name}=\"{}\"", escaped(value, longest)))
        .collect();
    let paths: Vec<&str> = record.files.iter().map(|file| file.relative_path.as_str()).collect();
    let paths = match longest {
        usize::MAX => paths.join(", "),
        _ => text::listed(&paths),
    };
    format!("<record{attributes}>{}</record>", escaped(&paths, longest))
}
