//! Converts the files, conversations and ranges in records of other tools. The records themselves
//! are converted in `dialect`.

use serde_json::{Map, Value};

use super::dialect::{keep_beside, take as take_value, take_relations, take_text};
use super::{BlockRecord, Contributor, Conversation, EntityType, Extra, FileRecord};
use crate::code::ContentHash;
use crate::workspace::RelativePath;

const PATHS: &[&str] =
    &["relative_path", "path", "file_path", "filePath", "file", "relative_file_path", "target"];
const HASHES: &[&str] = &[
    "content_hash",
    "contentHash",
    "content_sha256",
    "sha256",
    "newContentHash",
    "after_hash",
    "partial_hash",
];
const BEFORE: &[&str] = &["originalContentHash", "before_hash", "replaces"];
const STARTS: &[&str] = &["start_line", "startLine", "line_start", "start"];
const ENDS: &[&str] = &["end_line", "endLine", "line_end", "end"];
const MODELS: &[&str] = &["model_identifier", "model_id", "modelId", "model"];
const URLS: &[&str] = &["url", "session_id", "task_id", "taskId"];
const FILE_OURS: &[&str] = &["relative_path", "conversations", "related", "outlines", "reasons"];
const CONVERSATION_OURS: &[&str] = &["url", "contributor", "ranges"];
const RANGE_OURS: &[&str] = &[
    "start_line",
    "end_line",
    "content_hash",
    "block",
    "token_hash",
    "shape_hash",
    "own_hash",
    "sketch",
    "tokens",
    "lines",
    "brought",
    "replaces",
    "deleted",
];

/// Removes the files from an object that has a list of files, or is about one file. Returns the
/// items that could not be understood.
pub(super) fn take(object: &mut Map<String, Value>, files: &mut Vec<FileRecord>) -> Vec<Value> {
    let mut left = Vec::new();
    for name in ["files", "modified_ranges"] {
        let listed = match object.get(name) {
            Some(Value::Array(_) | Value::Object(_)) => object.shift_remove(name),
            _ => None,
        };
        let listed = match listed {
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
            None => continue,
        };
        let top = shared(object);
        for value in listed {
            match file(value, &top) {
                Ok(file) => merge(files, file),
                Err(value) => left.push(value),
            }
        }
    }
    if files.is_empty() && left.is_empty() {
        left.extend(targets(object, files));
    }
    if files.is_empty() && left.is_empty() {
        flat(object, files);
    }
    left
}

/// Adds a file. If it is already in the list, only its conversations are added to the existing one.
fn merge(files: &mut Vec<FileRecord>, file: FileRecord) {
    match files.iter_mut().find(|have| have.relative_path == file.relative_path) {
        Some(have) => have.conversations.extend(file.conversations),
        None => files.push(file),
    }
}

/// The fields at the top level of a record that apply to all of its files.
struct Shared {
    url: Option<String>,
    contributor: Contributor,
}

fn shared(object: &Map<String, Value>) -> Shared {
    let mut copy = object.clone();
    let contributor = contributor(&mut copy, &mut Extra::new());
    Shared { url: url(&mut copy), contributor }
}

/// Reads the files from `target_files`, which is a list of paths.
fn targets(object: &mut Map<String, Value>, files: &mut Vec<FileRecord>) -> Vec<Value> {
    let Some(Value::Array(list)) = object.shift_remove("target_files") else { return Vec::new() };
    let top = shared(object);
    list.into_iter()
        .filter_map(|value| match file(value, &top) {
            Ok(file) => {
                merge(files, file);
                None
            }
            Err(value) => Some(value),
        })
        .collect()
}

/// Reads a flat object about one file, whose path may be inside `ranges`.
fn flat(object: &mut Map<String, Value>, files: &mut Vec<FileRecord>) {
    let inner = match object.get("ranges") {
        Some(Value::Object(ranges)) => path_in(ranges),
        _ => None,
    };
    let Some((holder, path)) = path_in(object).map(|p| (true, p)).or(inner.map(|p| (false, p)))
    else {
        return;
    };
    if holder {
        take_text(object, &[path.0]);
    }
    let top = shared(object);
    let mut file = FileRecord { related: take_relations(object), ..FileRecord::bare(path.1) };
    let ranges = ranges(object);
    if !ranges.is_empty() {
        file.conversations.push(Conversation {
            url: top.url,
            contributor: top.contributor,
            ranges,
            related: Vec::new(),
            extra: Extra::new(),
        });
    }
    files.push(file);
}

/// Returns the first of the known path fields that contains a path in the workspace.
fn path_in(object: &Map<String, Value>) -> Option<(&'static str, RelativePath)> {
    PATHS.iter().find_map(|&name| {
        let path = path(object.get(name)?.as_str()?, name)?;
        Some((name, path))
    })
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

fn file(value: Value, top: &Shared) -> Result<FileRecord, Value> {
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
    let mut file = FileRecord { related, ..FileRecord::bare(relative_path) };
    match object.shift_remove("conversations") {
        Some(Value::Array(list)) => {
            for one in list {
                match one {
                    Value::Object(one) => conversation(one, top, &mut file),
                    other => keep_beside(&mut file.extra, FILE_OURS, "conversations", other),
                }
            }
        }
        Some(other) => keep_beside(&mut file.extra, FILE_OURS, "conversations", other),
        None => {}
    }
    let mut extra = Extra::new();
    let own = contributor(&mut object, &mut extra);
    let ranges = ranges(&mut object);
    if !ranges.is_empty() {
        let contributor = if own == Contributor::default() { top.contributor.clone() } else { own };
        let url = url(&mut object).or_else(|| top.url.clone());
        file.conversations.push(Conversation {
            url,
            contributor,
            ranges,
            related: Vec::new(),
            extra,
        });
    } else {
        file.extra.extend(extra);
    }
    for (key, value) in object {
        // A list that was understood only partly is kept here as well.
        keep_beside(&mut file.extra, FILE_OURS, &key, value);
    }
    Ok(file)
}

fn conversation(mut object: Map<String, Value>, top: &Shared, file: &mut FileRecord) {
    let mut extra = Extra::new();
    let mut who = contributor(&mut object, &mut extra);
    if who == Contributor::default() {
        who = top.contributor.clone();
    }
    let url = url(&mut object).or_else(|| top.url.clone());
    file.related.extend(take_relations(&mut object));
    let mut own = Vec::new();
    for mut range in ranges(&mut object) {
        // A range may name another contributor than its conversation does.
        match range.extra.shift_remove("contributor") {
            Some(Value::Object(fields)) => {
                let mut holder = Map::from_iter([("contributor".into(), Value::Object(fields))]);
                let mut extra = Extra::new();
                let contributor = contributor(&mut holder, &mut extra);
                file.conversations.push(Conversation {
                    url: url.clone(),
                    contributor,
                    ranges: vec![range],
                    related: Vec::new(),
                    extra,
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
    file.conversations.push(Conversation {
        url,
        contributor: who,
        ranges: own,
        related: Vec::new(),
        extra,
    });
}

fn url(object: &mut Map<String, Value>) -> Option<String> {
    if let Some(url) = take_text(object, URLS) {
        return Some(url);
    }
    let nested = object.get("conversation")?.get("url")?.as_str()?;
    Some(nested.to_owned())
}

/// Reads the contributor, which is an object, a word, or only the name of a model.
fn contributor(object: &mut Map<String, Value>, extra: &mut Extra) -> Contributor {
    let mut who = Contributor::default();
    match take_value(object, &["contributor", "actor"]) {
        Some(Value::Object(mut fields)) => {
            let word = ["entity_type", "type", "entityType"].iter().find_map(|&name| {
                let kind = entity(fields.get(name)?.as_str()?)?;
                Some((name, kind))
            });
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
fn ranges(object: &mut Map<String, Value>) -> Vec<BlockRecord> {
    let listed = match object.get("ranges") {
        Some(Value::Array(list)) if list.iter().all(Value::is_object) => {
            object.shift_remove("ranges")
        }
        Some(Value::Object(_)) => object.shift_remove("ranges"),
        _ => None,
    };
    let listed = match listed {
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let mut found: Vec<BlockRecord> = listed
        .into_iter()
        .filter_map(|value| match value {
            Value::Object(fields) => Some(range(fields)),
            _ => None,
        })
        .collect();
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

fn range(mut fields: Map<String, Value>) -> BlockRecord {
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
    let replaces = take_text(&mut fields, BEFORE).map(|text| hash(&text).0);
    for (key, value) in fields {
        keep_beside(&mut extra, RANGE_OURS, &key, value);
    }
    BlockRecord {
        replaces,
        deleted,
        extra,
        ..BlockRecord::bare(
            u32::try_from(start_line).unwrap_or(u32::MAX),
            u32::try_from(end_line).unwrap_or(u32::MAX),
            content_hash,
        )
    }
}

fn line(fields: &Map<String, Value>, names: &[&str]) -> Option<i64> {
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
