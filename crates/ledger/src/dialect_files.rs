//! Converts the files, conversations and ranges in records of other tools. The records themselves
//! are converted in `dialect`.

use serde_json::{Map, Value};

use super::foreign_fields::{
    FOREIGN, JsonObject, keep_beside, take as take_value, take_relations, take_text,
};
use super::{BlockRecord, Contributor, Conversation, EntityType, Extra, FileRecord};
use code::ContentHash;
use code::lists::words;
use ground::RelativePath;

const PATHS: &[&str] =
    words!("relative_path path file_path filePath file relative_file_path target");
const HASHES: &[&str] =
    words!("content_hash contentHash content_sha256 sha256 newContentHash after_hash partial_hash");
const BEFORE: &[&str] = words!("originalContentHash before_hash replaces");
const STARTS: &[&str] = words!("start_line startLine line_start start");
const ENDS: &[&str] = words!("end_line endLine line_end end");
const MODELS: &[&str] = words!("model_identifier model_id modelId model");
const URLS: &[&str] = words!("url session_id task_id taskId");
pub(super) const FILE_OURS: &[&str] =
    words!("relative_path conversations related text from reasons");
pub(super) const CONVERSATION_OURS: &[&str] = words!("url contributor related ranges lines");
pub(super) const RANGE_OURS: &[&str] =
    words!("start_line end_line content_hash lead block deleted");

/// Removes the files from an object that has a list of files, or is about one file. Returns the
/// items that could not be understood.
pub(super) fn take(object: &mut JsonObject, files: &mut Vec<FileRecord>) -> Vec<Value> {
    let mut left = Vec::new();
    for name in ["files", "modified_ranges"] {
        if matches!(object.get(name), Some(Value::Array(_) | Value::Object(_))) {
            let listed = take_list(object, name);
            left.extend(merge(files, listed, &shared(object)));
        }
    }
    if files.is_empty()
        && left.is_empty()
        && let Some(Value::Array(list)) = object.shift_remove("target_files")
    {
        left.extend(merge(files, list, &shared(object)));
    }
    if files.is_empty() && left.is_empty() {
        flat(object, files);
    }
    left
}

/// Removes a list. A single value is a list of its own.
fn take_list(object: &mut JsonObject, name: &str) -> Vec<Value> {
    match object.shift_remove(name) {
        Some(Value::Array(list)) => list,
        one => one.into_iter().collect(),
    }
}

/// Adds files. If a file is already in the list, only its conversations are added to the existing
/// one. Returns the values that are not understood.
fn merge(files: &mut Vec<FileRecord>, listed: Vec<Value>, top: &Conversation) -> Vec<Value> {
    let mut left = Vec::new();
    for value in listed {
        let file = match file(value, top) {
            Ok(file) => file,
            Err(value) => {
                left.push(value);
                continue;
            }
        };
        match files.iter_mut().find(|have| have.relative_path == file.relative_path) {
            Some(have) => have.conversations.extend(file.conversations),
            None => files.push(file),
        }
    }
    left
}

/// Returns a conversation with what the top level of a record says about all of its files.
fn shared(object: &JsonObject) -> Conversation {
    let mut copy = object.clone();
    let contributor = contributor(&mut copy, &mut Extra::new());
    Conversation { url: url(&mut copy), contributor, ..Conversation::default() }
}

fn flat(object: &mut JsonObject, files: &mut Vec<FileRecord>) {
    let own = path_in(object);
    if let Some((name, _)) = own {
        take_text(object, &[name]);
    }
    let inner = || path_in(object.get("ranges")?.as_object()?);
    let Some((_, path)) = own.or_else(inner) else { return };
    let top = shared(object);
    let mut file =
        FileRecord { related: take_relations(object), ..FileRecord::with_path_only(path) };
    let ranges = ranges(object);
    if !ranges.is_empty() {
        file.conversations.push(Conversation { ranges, ..top });
    }
    files.push(file);
}

/// Returns the first of the known path fields that contains a path in the workspace.
fn path_in(object: &JsonObject) -> Option<(&'static str, RelativePath)> {
    PATHS.iter().find_map(|&name| Some((name, path(object.get(name)?.as_str()?, name)?)))
}

/// Converts a path to one in the workspace. An absolute path is `None`, except in the field
/// `relative_file_path`, where a leading slash is removed.
fn path(text: &str, name: &str) -> Option<RelativePath> {
    let slashed = text.trim().replace('\\', "/");
    let drive = slashed.as_bytes().get(1) == Some(&b':');
    let text = match name {
        "relative_file_path" => slashed.trim_start_matches('/'),
        _ => &slashed,
    };
    if drive || text.contains("://") {
        return None;
    }
    RelativePath::new(text).ok()
}

fn file(value: Value, top: &Conversation) -> Result<FileRecord, Value> {
    let mut object = match value {
        Value::Object(object) => object,
        Value::String(text) => match path(&text, "path") {
            Some(path) => Map::from_iter([("path".into(), Value::from(path.as_str()))]),
            None => return Err(Value::String(text)),
        },
        other => return Err(other),
    };
    let Some((name, relative_path)) = path_in(&object) else { return Err(Value::Object(object)) };
    take_text(&mut object, &[name]);
    let related = take_relations(&mut object);
    let mut file = FileRecord { related, ..FileRecord::with_path_only(relative_path) };
    let is_list = object.get("conversations").is_some_and(Value::is_array);
    for one in take_list(&mut object, "conversations") {
        match one {
            Value::Object(one) if is_list => conversation(one, top, &mut file),
            other => keep_beside(&mut file.extra, FILE_OURS, "conversations", other),
        }
    }
    let mut extra = Extra::new();
    let contributor = contributor_or(top, &mut object, &mut extra);
    let ranges = ranges(&mut object);
    if !ranges.is_empty() {
        let url = url(&mut object).or_else(|| top.url.clone());
        let own = Conversation { url, contributor, ranges, extra, ..Conversation::default() };
        file.conversations.push(own);
    } else {
        file.extra.extend(extra);
    }
    for (key, value) in object {
        // A list that was understood only partly is kept here as well.
        keep_beside(&mut file.extra, FILE_OURS, &key, value);
    }
    Ok(file)
}

fn conversation(mut object: JsonObject, top: &Conversation, file: &mut FileRecord) {
    let mut extra = Extra::new();
    let contributor = contributor_or(top, &mut object, &mut extra);
    let url = url(&mut object).or_else(|| top.url.clone());
    file.related.extend(take_relations(&mut object));
    let mut own = Vec::new();
    for mut range in ranges(&mut object) {
        // A range may name another contributor than its conversation does.
        match range.extra.shift_remove("contributor") {
            Some(Value::Object(fields)) => {
                let mut holder = Map::from_iter([("contributor".into(), Value::Object(fields))]);
                let mut extra = Extra::new();
                let contributor = self::contributor(&mut holder, &mut extra);
                file.conversations.push(Conversation {
                    url: url.clone(),
                    contributor,
                    ranges: vec![range],
                    extra,
                    ..Conversation::default()
                });
            }
            Some(other) => {
                range.extra.insert("contributor".into(), other);
                own.push(range);
            }
            None => own.push(range),
        }
    }
    for (key, value) in object {
        keep_beside(&mut extra, CONVERSATION_OURS, &key, value);
    }
    let own = Conversation { url, contributor, ranges: own, extra, ..Conversation::default() };
    file.conversations.push(own);
}

fn url(object: &mut JsonObject) -> Option<String> {
    let nested =
        |object: &JsonObject| Some(object.get("conversation")?.get("url")?.as_str()?.to_owned());
    take_text(object, URLS).or_else(|| nested(object))
}

fn contributor_or(top: &Conversation, object: &mut JsonObject, extra: &mut Extra) -> Contributor {
    let own = contributor(object, extra);
    if own == Contributor::default() { top.contributor.clone() } else { own }
}

/// Reads the contributor, which is an object, a word, or only the name of a model.
fn contributor(object: &mut JsonObject, extra: &mut Extra) -> Contributor {
    let mut who = Contributor::default();
    match take_value(object, &["contributor", "actor"]) {
        Some(Value::Object(mut fields)) => {
            let word = ["entity_type", "type", "entityType"]
                .iter()
                .find_map(|&name| Some((name, entity(fields.get(name)?.as_str()?)?)));
            if let Some((name, kind)) = word {
                fields.shift_remove(name);
                who.entity_type = kind;
            }
            who.model_identifier = take_text(&mut fields, MODELS);
            if !fields.is_empty() {
                keep_beside(extra, CONVERSATION_OURS, "contributor", Value::Object(fields));
            }
        }
        Some(Value::String(text)) => match entity(&text) {
            Some(kind) => who.entity_type = kind,
            None => keep_beside(extra, CONVERSATION_OURS, "contributor", Value::String(text)),
        },
        Some(other) => keep_beside(extra, CONVERSATION_OURS, "contributor", other),
        None => {}
    }
    if who.model_identifier.is_none() {
        who.model_identifier = take_text(object, MODELS);
    }
    who
}

fn entity(text: &str) -> Option<EntityType> {
    serde_json::from_value(Value::from(text.trim().to_uppercase())).ok()
}

/// Reads the ranges of an object. If it has no ranges but a hash or a line, these become a single
/// range.
fn ranges(object: &mut JsonObject) -> Vec<BlockRecord> {
    let is_readable = match object.get("ranges") {
        Some(Value::Array(list)) => list.iter().all(Value::is_object),
        other => other.is_some_and(Value::is_object),
    };
    let listed = if is_readable { take_list(object, "ranges") } else { Vec::new() };
    let fields = listed.into_iter().filter_map(|value| match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    let mut found: Vec<BlockRecord> = fields.map(range).collect();
    let names = [HASHES, STARTS].concat();
    let says_more = names.iter().any(|&name| object.get(name).is_some_and(|v| !v.is_null()));
    match found.as_mut_slice() {
        [] if says_more => {
            let mut own = Map::new();
            for name in [HASHES, BEFORE, STARTS, ENDS].concat() {
                if let Some(value) = object.shift_remove(name) {
                    own.insert(name.into(), value);
                }
            }
            found.push(range(own));
        }
        // If the only range has no hash, a hash next to it belongs to it.
        [one] if one.content_hash.as_str().is_empty() => {
            if let Some(text) = take_text(object, HASHES) {
                (one.content_hash, one.deleted) = hash(&text);
            }
        }
        _ => {}
    }
    found
}

fn range(mut fields: JsonObject) -> BlockRecord {
    let mut extra = Extra::new();
    let start = line(&fields, STARTS);
    let end = line(&fields, ENDS);
    // Lines that are counted from 0, unknown, or mean "to the end" are replaced by the nearest
    // valid line.
    let start_line = start.filter(|&n| n >= 1).unwrap_or(1);
    let end_line = end.filter(|&n| n >= start_line).unwrap_or(start_line);
    let exact = start == Some(start_line) && end == Some(end_line);
    for name in [STARTS, ENDS].concat() {
        if let Some(value) = fields.shift_remove(name)
            && !exact
        {
            keep_beside(&mut extra, RANGE_OURS, name, value);
        }
    }
    if start.is_none() && end.is_none() {
        keep_beside(&mut extra, RANGE_OURS, "line_numbers", "unknown".into());
    }
    let (content_hash, deleted) =
        take_text(&mut fields, HASHES).map_or((ContentHash::from_ledger(""), false), |t| hash(&t));
    for (key, value) in fields {
        keep_beside(&mut extra, RANGE_OURS, &key, value);
    }
    BlockRecord {
        deleted,
        extra,
        ..BlockRecord::with_lines_only(
            u32::try_from(start_line).unwrap_or(u32::MAX),
            u32::try_from(end_line).unwrap_or(u32::MAX),
            content_hash,
        )
    }
}

/// Returns true if the lines of a converted range are not those that the record has, because these
/// were invalid or missing.
pub fn has_mended_lines(range: &BlockRecord) -> bool {
    let kept = range.extra.get(FOREIGN).and_then(Value::as_object);
    let is_kept = |name: &str| {
        range.extra.contains_key(name) || kept.is_some_and(|kept| kept.contains_key(name))
    };
    [STARTS, ENDS, &["line_numbers"]].concat().iter().any(|name| is_kept(name))
}

fn line(fields: &JsonObject, names: &[&str]) -> Option<i64> {
    names.iter().find_map(|&name| {
        let value = fields.get(name)?;
        value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
    })
}

/// Returns the hash and whether it says that the file was deleted. A SHA-256 is converted to our
/// spelling. Any other text is kept unchanged, and matches nothing.
fn hash(text: &str) -> (ContentHash, bool) {
    let trimmed = text.trim();
    let digits = trimmed.strip_prefix("sha256:").unwrap_or(trimmed);
    let is_sha = digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let kept = match is_sha {
        true => format!("sha256:{}", digits.to_ascii_lowercase()),
        false => text.to_owned(),
    };
    (ContentHash::from_ledger(kept), trimmed.eq_ignore_ascii_case("deleted"))
}
