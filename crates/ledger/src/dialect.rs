//! Converts records of other tools to our form, without losing a value.
//!
//! Each function takes the fields that it understands out of the foreign object. The remaining
//! fields stay in `extra`. A field whose name means something else in our records goes to
//! `extra.foreign`. Nothing is guessed: a path outside the workspace is no file, a hash that is not
//! a SHA-256 is kept but matches nothing, and if the files of a record name different intents, the
//! record has no intent.

use serde_json::Value;

use super::dialect_files as files;
pub use super::dialect_files::has_mended_lines;
use super::foreign_fields::{
    FOREIGN, JsonObject, keep_beside, relations, take_text, take_text_where,
};
use super::{MutationClass, Record, RecordDialect, RecordKind, Related, Tool, Vcs};
use code::lists::words;

/// The top-level field names of our records. A foreign value with one of these names moves to
/// [`FOREIGN`].
pub(super) const OURS: &[&str] = words!(
    "id timestamp kind intent_id intent_hash mutation_class basis decision vcs files tool session
    strength claimed_class as_it_stood note approves test takes of writer seq prev h"
);

const IDS: &[&str] = words!("id trace_id traceId req_id tool_use_id");
const TIMES: &[&str] = words!("timestamp ts");
const INTENTS: &[&str] = words!("intent_id intentId active_intent_id spec_id");
const SPECIFICATIONS: &[&str] = words!("related_requirements related_reqs spec_refs");
const CLASSES: &[&str] =
    words!("mutation_class mutationClass mutation_type classification semantic_change");
const EVENTS: &[&str] =
    words!("event event_type action_type tool_name toolName operation tool state");
/// The paths of objects in which event records keep the fields that a flat record has at its top
/// level.
const NESTED: &[&[&str]] = &[&["payload"], &["details"], &["params"], &["tool", "params"]];
const NO_CHANGE: &[&str] = &["READ_ONLY", "OBSERVATIONAL", "STALE_FILE_CONFLICT"];
const FAILED: &[&str] = words!("failed failure error denied blocked rejected cancelled aborted");

/// Converts a foreign object to a record, and returns the format that it had. `None` if it is not a
/// record at all.
pub fn read(mut object: JsonObject) -> Option<(Record, RecordDialect)> {
    let mut record = Record {
        id: take_text(&mut object, IDS).unwrap_or_default(),
        timestamp: take_time(&mut object).unwrap_or_default(),
        ..Record::default()
    };
    let event = event_text(&object);
    let is_nesting = has_conversations(&object);
    let is_list = ["files", "modified_ranges"].iter().any(|&key| object.contains_key(key));
    record.claimed_class = claimed_class(&mut object);
    let changes = claims_a_change(&object, event.as_deref(), record.claimed_class.as_deref());
    record.intent_id = intent(&mut object);
    if changes {
        let mut kept = files::take(&mut object, &mut record.files);
        unnest(&mut object, &mut record, &mut kept);
        if !kept.is_empty() {
            keep_beside(&mut record.extra, OURS, "files", Value::Array(kept));
        }
    }
    if record.intent_id.is_none() {
        record.intent_id = agreed_intent(&record);
    }
    record.mutation_class = record.claimed_class.as_deref().and_then(mutation_class);
    record.vcs = revision(&mut object).map(|revision_id| Vcs { revision_id: Some(revision_id) });
    record.tool = tool(&mut object);
    record.session = take_text(&mut object, &["session", "session_id", "sessionId"]);
    record.kind = kind(&object, &record, event.as_deref());
    let known = event.is_some()
        || record.intent_id.is_some()
        || !record.files.is_empty()
        || record.extra.contains_key(FOREIGN)
        || (!record.id.is_empty() && !record.timestamp.is_empty());
    for (key, value) in object {
        keep_beside(&mut record.extra, OURS, &key, value);
    }
    let shape = match () {
        () if is_nesting => RecordDialect::AgentTrace,
        () if is_list => RecordDialect::FilesFlat,
        () if event.is_some() || record.files.is_empty() => RecordDialect::Event,
        () => RecordDialect::Flat,
    };
    known.then_some((record, shape))
}

/// Converts a line that belongs to a chain but differs from what this version writes, because it
/// was damaged or a later version wrote it. Its position in the chain is kept, and every other
/// field that can be read.
pub(super) fn damaged(mut object: JsonObject) -> (Record, RecordDialect) {
    let writer = take_text(&mut object, &["writer"]).unwrap_or_default();
    let seq = object.shift_remove("seq").and_then(|seq| seq.as_u64()).unwrap_or_default();
    let prev = take_text(&mut object, &["prev"]);
    let h = take_text(&mut object, &["h"]).unwrap_or_default();
    let kind = object.get("kind").and_then(Value::as_str).map(str::to_owned);
    let mut record = read(object).map(|(record, _)| record).unwrap_or_default();
    if kind.as_deref() != Some("mutation") {
        // It is not known what a record of an unknown kind says about files, so nothing is read
        // from them.
        record.files.clear();
        record.kind = kind.as_deref().and_then(known_kind).unwrap_or(RecordKind::Event);
    }
    (Record { writer, seq, prev, h, ..record }, RecordDialect::Canonical)
}

fn known_kind(text: &str) -> Option<RecordKind> {
    serde_json::from_value(Value::from(text.to_lowercase())).ok()
}

fn take_time(object: &mut JsonObject) -> Option<String> {
    if let Some(text) = take_text(object, TIMES) {
        return Some(text);
    }
    let name = TIMES.iter().find(|&&name| object.get(name).is_some_and(Value::is_number))?;
    let number = object.get(*name)?.as_f64()?;
    // Until far in the future, seconds since 1970 have ten digits and milliseconds have thirteen.
    let millis = if number.abs() < 1e11 { number * 1000.0 } else { number };
    let time = jiff::Timestamp::from_millisecond(millis as i64).ok()?;
    object.shift_remove(*name);
    Some(format!("{time:.3}"))
}

fn has_conversations(object: &JsonObject) -> bool {
    let files = object.get("files").and_then(Value::as_array);
    files.is_some_and(|files| files.iter().any(|file| file.get("conversations").is_some()))
}

fn event_text(object: &JsonObject) -> Option<String> {
    if has_conversations(object) {
        return None;
    }
    let words = EVENTS.iter().filter_map(|&key| match object.get(key)? {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Object(tool) => tool.get("name")?.as_str().map(str::to_lowercase),
        _ => None,
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns true if a record says that files were changed. An event must name a kind of write, and
/// must not have failed.
fn claims_a_change(object: &JsonObject, event: Option<&str>, class: Option<&str>) -> bool {
    if class.is_some_and(|class| NO_CHANGE.iter().any(|none| none.eq_ignore_ascii_case(class))) {
        return false;
    }
    let Some(event) = event else { return true };
    if object.get("success").and_then(Value::as_bool) == Some(false) {
        return false;
    }
    let failed = ["status", "result", "state"].iter().any(|&key| {
        let text = object.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        FAILED.contains(&text.as_str())
    });
    const ACTS: &[&str] = words!(
        "write edit replace diff patch creat insert delet append mutat modif change save update"
    );
    const ASKED: &[&str] = words!("fail denied block reject pre_ pretool request intent_");
    !failed
        && ACTS.iter().any(|act| event.contains(act))
        && !ASKED.iter().any(|word| event.contains(word))
}

fn kind(object: &JsonObject, record: &Record, event: Option<&str>) -> RecordKind {
    if let Some(kind) = object.get("kind").and_then(Value::as_str).and_then(known_kind) {
        return kind;
    }
    let Some(event) = event else {
        let read_only = record.files.is_empty();
        return if read_only { RecordKind::Event } else { RecordKind::Mutation };
    };
    match () {
        () if !record.files.is_empty() => RecordKind::Mutation,
        () if event.contains("select") && event.contains("intent") => RecordKind::Selection,
        () if event.contains("approved") => RecordKind::Approval,
        () => RecordKind::Event,
    }
}

fn intent(object: &mut JsonObject) -> Option<String> {
    take_intent(object)
        .or_else(|| NESTED.iter().find_map(|path| take_intent(nested_object(object, path)?)))
        .or_else(|| related_intent(&relations(object.get("related")?)))
        .or_else(|| {
            let listed = SPECIFICATIONS.iter().find_map(|&key| object.get(key))?;
            related_intent(&relations(listed))
        })
}

fn nested_object<'o>(object: &'o mut JsonObject, path: &[&str]) -> Option<&'o mut JsonObject> {
    path.iter().try_fold(object, |inner, key| inner.get_mut(*key)?.as_object_mut())
}

/// Returns true for an id that means "no intent". Tools write such ids when they do not know the
/// intent.
///
/// Examples are `UNSPECIFIED`, `n/a` and `none`, but not `INT-000`.
pub fn is_placeholder(id: &str) -> bool {
    const NONE: &[&str] = words!(
        "- unspecified unknown undefined unassigned n/a na none null nil tbd no-intent no_intent"
    );
    let id = id.trim();
    id.is_empty() || NONE.iter().any(|none| none.eq_ignore_ascii_case(id))
}

fn take_intent(object: &mut JsonObject) -> Option<String> {
    take_text_where(object, INTENTS, |text| !is_placeholder(text))
}

/// Returns the intent that all files name. `None` if two files name different intents, or if a file
/// names none.
fn agreed_intent(record: &Record) -> Option<String> {
    let mut all = record.files.iter().map(|file| related_intent(&file.related));
    let first = all.next()??;
    all.all(|other| other.as_deref() == Some(&first)).then_some(first)
}

/// Returns the intent among the relations: the one of type `intent`, otherwise one of the other
/// types in which people write intents.
fn related_intent(related: &[Related]) -> Option<String> {
    ["intent", "specification", "requirement", "request"].iter().find_map(|kind| {
        let says =
            |one: &&Related| one.kind.eq_ignore_ascii_case(kind) && !is_placeholder(&one.value);
        related.iter().find(says).map(|one| one.value.clone())
    })
}

/// Returns the claimed class as it was written. If it is in several places, the first one counts.
fn claimed_class(object: &mut JsonObject) -> Option<String> {
    take_text(object, CLASSES)
        .or_else(|| class_in(object.get("mutation")?.as_object()?))
        .or_else(|| NESTED.iter().find_map(|path| class_in(nested_object(object, path)?)))
        .or_else(|| class_among(object.get("related")?))
        .or_else(|| object.get("files")?.as_array()?.iter().find_map(class_of_file))
}

fn class_of_file(file: &Value) -> Option<String> {
    let own = file.as_object().and_then(class_in);
    let in_list = |holder: &Value, list: &str| {
        holder.get(list)?.as_array()?.iter().find_map(|one| class_in(one.as_object()?))
    };
    let in_conversation = |conversation: &Value| {
        class_in(conversation.as_object()?)
            .or_else(|| class_in(conversation.get("meta")?.as_object()?))
            .or_else(|| in_list(conversation, "ranges"))
            .or_else(|| class_among(conversation.get("related")?))
    };
    own.or_else(|| file.get("conversations")?.as_array()?.iter().find_map(in_conversation))
        .or_else(|| in_list(file, "ranges"))
        .or_else(|| class_among(file.get("related")?))
}

fn class_in(fields: &JsonObject) -> Option<String> {
    CLASSES.iter().find_map(|&name| fields.get(name)?.as_str()).map(str::to_owned)
}

fn class_among(related: &Value) -> Option<String> {
    let all = relations(related);
    all.into_iter().find(|one| one.kind == "mutation_class").map(|one| one.value)
}

fn mutation_class(text: &str) -> Option<MutationClass> {
    serde_json::from_value(Value::from(text.trim().to_uppercase())).ok()
}

/// Returns the commit. A placeholder (`local`, `no-git-sha`) is not a commit and stays in the
/// object.
fn revision(object: &mut JsonObject) -> Option<String> {
    const PLACES: &[(&str, &str)] =
        &[("vcs", "revision_id"), ("vcs", "revision"), ("git_revision", "commit")];
    for (outer, inner) in PLACES {
        if let Some(Value::Object(fields)) = object.get(*outer)
            && let Some(text) = fields.get(*inner).and_then(Value::as_str)
            && is_commit(text)
        {
            let text = text.to_owned();
            if fields.len() == 1 {
                object.shift_remove(*outer);
            }
            return Some(text);
        }
    }
    let names = ["revision_id", "git_rev", "git_sha", "git_revision", "revision"];
    take_text_where(object, &names, is_commit)
}

fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn tool(object: &mut JsonObject) -> Option<Tool> {
    let (tool, is_whole) = match object.get("tool") {
        Some(Value::Object(fields)) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
            let tool = Tool { name: text("name")?, version: text("version") };
            (tool, fields.keys().all(|key| key == "name" || key == "version"))
        }
        Some(Value::String(name)) => (Tool { name: name.clone(), version: None }, true),
        _ => {
            let name = take_text(object, &["tool_name", "toolName"])?;
            return Some(Tool { name, version: None });
        }
    };
    if is_whole {
        object.shift_remove("tool");
    }
    Some(tool)
}

/// Reads the files from the nested objects in which events keep paths and hashes.
fn unnest(object: &mut JsonObject, record: &mut Record, kept: &mut Vec<Value>) {
    for path in NESTED {
        if record.files.is_empty()
            && let Some(inner) = nested_object(object, path)
        {
            kept.extend(files::take(inner, &mut record.files));
        }
    }
}
