//! The fields of records of other tools: taking those that are understood out of an object, and
//! keeping the others.

use serde_json::{Map, Value};

use super::{Extra, Related};

pub(super) type JsonObject = Map<String, Value>;

/// The key in `extra` for values whose names our records use for something else.
pub(super) const FOREIGN: &str = "foreign";

pub(super) fn take_where(
    object: &mut JsonObject,
    names: &[&str],
    fits: impl Fn(&Value) -> bool,
) -> Option<Value> {
    let name = names.iter().find(|name| object.get(**name).is_some_and(&fits))?;
    object.shift_remove(*name)
}

pub(super) fn take(object: &mut JsonObject, names: &[&str]) -> Option<Value> {
    take_where(object, names, |value| !value.is_null())
}

/// Removes and returns the first of these fields that contains a text that fits.
pub(super) fn take_text_where(
    object: &mut JsonObject,
    names: &[&str],
    fits: impl Fn(&str) -> bool,
) -> Option<String> {
    match take_where(object, names, |value| value.as_str().is_some_and(&fits)) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Removes and returns the first of these fields that contains text other than white space.
pub(super) fn take_text(object: &mut JsonObject, names: &[&str]) -> Option<String> {
    take_text_where(object, names, |text| !text.trim().is_empty())
}

/// Stores a foreign value under its own name or, if our records use that name or it is taken, below
/// [`FOREIGN`]. `ours` are the field names of our records at this level.
pub(super) fn keep_beside(extra: &mut Extra, ours: &[&str], key: &str, value: Value) {
    if key != FOREIGN && !ours.contains(&key) && !extra.contains_key(key) {
        extra.insert(key.into(), value);
        return;
    }
    if value.is_null() {
        return;
    }
    let foreign = extra.entry(FOREIGN).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(foreign) = foreign {
        foreign.insert(key.into(), value);
    }
}

/// Parses relations, which are objects with a type and a value, or plain ids.
pub(super) fn relations(value: &Value) -> Vec<Related> {
    let one = |value: &Value| match value {
        Value::String(id) => Some(Related { kind: "intent".into(), value: id.clone() }),
        Value::Object(fields) => {
            let text = |names: &[&str]| {
                names.iter().find_map(|&name| fields.get(name)?.as_str()).map(str::to_owned)
            };
            Some(Related { kind: text(&["type"])?, value: text(&["value", "url", "id"])? })
        }
        _ => None,
    };
    match value {
        Value::Array(list) => list.iter().filter_map(one).collect(),
        other => one(other).into_iter().collect(),
    }
}

/// Returns the relations of a file and removes them from the object. If the list contains more than
/// our form can hold, it also stays in the object.
pub(super) fn take_relations(object: &mut JsonObject) -> Vec<Related> {
    let Some(value) = object.get("related") else { return Vec::new() };
    let found = relations(value);
    let plain = |one: &Value| one.as_object().is_none_or(|fields| fields.len() == 2);
    let whole = value.as_array().is_some_and(|l| l.len() == found.len() && l.iter().all(plain));
    if whole {
        object.shift_remove("related");
    }
    found
}
