//! Lists the last records of an intent: the kind of each change, the reason for that kind, and who
//! made it.

use super::{ContextText, escaped};
use code::Identity;
use evidence::record::call;
use intents::Intent;
use ledger::{Entry, FileRecord, MutationClass};
use provenance::{Classification, is_named};
use why::Workspace;
use why::answers::agent;
use why::evidence_texts::TextCache;

/// The number of records that are listed at most.
const MAX_RECORDS: usize = 10;
/// The number of characters to which the reason for a record's class is shortened.
const MAX_REASON: usize = 200;
/// The size in bytes above which the class of a committed record is not computed again.
const MAX_TEXT: usize = 256 * 1024;

/// Adds the last records of the intent to the context, newest first.
pub(super) fn add_last_records(ws: &Workspace, intent: &Intent, out: &mut ContextText) {
    let all = ws.entries_of(&intent.id.value).into_iter().rev();
    let is_its = |entry: &&Entry| !entry.record.files.is_empty() && ws.namesake(entry).is_none();
    let records = all.map(|at| ws.ledger.entry(at)).filter(is_its);
    let records: Vec<_> = records.take(MAX_RECORDS).collect();
    if out.room() {
        let texts = TextCache::new(ws);
        let add = |out: &mut ContextText, entry: &&Entry| out.line(2, &element(entry, &texts));
        out.element(1, "history", "", &records, add);
    }
}

/// Formats one record. Attributes that the ledger does not know are left out.
fn element(entry: &Entry, texts: &TextCache) -> String {
    let record = &entry.record;
    let (class, reasons) = match entry.section {
        None => (record.mutation_class, kept_reasons(entry)),
        Some(_) => committed(entry, texts).unwrap_or_default(),
    };
    let conversation = record.files.iter().flat_map(|file| &file.conversations).next();
    let contributor = conversation.map(|one| &one.contributor);
    let reason = ground::text::shorten(&reasons.join("; "), MAX_REASON);
    let attributes = [
        ("id", Some(record.id.as_str())),
        ("timestamp", Some(record.timestamp.as_str())),
        ("class", class.map(MutationClass::as_str)),
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

/// Returns the reasons for the class of a record in the journal, and the note of a person if there
/// is one.
fn kept_reasons(entry: &Entry) -> Vec<String> {
    let found = entry.record.files.iter().flat_map(|file| &file.reasons);
    entry.record.note.iter().chain(found).cloned().collect()
}

/// Computes the class and the reasons of a committed record again, because evidence contains
/// neither. Returns `None` if a block that the record names did not change in its commit.
fn committed(entry: &Entry, texts: &TextCache) -> Option<(Option<MutationClass>, Vec<String>)> {
    let file = entry.record.files.first()?;
    let (before, after) = texts.change_of(entry)?;
    if before.len_bytes().max(after.len_bytes()) > MAX_TEXT {
        return None;
    }
    of_blocks(file, &call::class_of(&file.relative_path, &before, &after))
}

fn of_blocks(
    file: &FileRecord,
    found: &Classification,
) -> Option<(Option<MutationClass>, Vec<String>)> {
    let (mut classes, mut reasons) = (Vec::new(), Vec::new());
    for range in file.ranges() {
        let block = range.block.as_ref()?;
        let is_it = |identity: &Identity| is_named(block, identity);
        let change =
            found.blocks.iter().find(|change| change.identity.as_ref().is_some_and(is_it))?;
        classes.push(change.class);
        reasons.push(change.reason.clone());
    }
    let evolved = classes.contains(&Some(MutationClass::IntentEvolution));
    let class = match classes.contains(&None) {
        _ if evolved => Some(MutationClass::IntentEvolution),
        true => None,
        false => classes.first().copied().flatten(),
    };
    Some((class, reasons))
}
