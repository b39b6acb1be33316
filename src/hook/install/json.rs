//! Our entries in a host's JSON settings: put in and taken out, with every byte that others wrote left where it is,
//! comments and trailing commas included.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{
    CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use serde_json::Value;

use super::Conflict;
use super::ours::starts_us;

/// Something of ours in a JSON file. `within` are the keys that lead to the object it stands in.
#[derive(Clone, Debug)]
pub(super) enum JsonPart {
    /// Hooks: lists in an object, by name. Ours stand behind those of others.
    Lists { within: &'static [&'static str], lists: Vec<(&'static str, Vec<Value>)> },
    /// A named member.
    Member { within: &'static [&'static str], name: &'static str, value: Value },
    /// A named member that is left out where somebody has decided otherwise.
    Offer { within: &'static [&'static str], name: &'static str, value: Value },
    /// What the host wants in every such file, such as its version. Whatever stands there already stays.
    Base { name: &'static str, value: Value },
}

/// What starts us from a settings file.
const OURS: &[&str] = &["hook", "mcp", "lsp"];

/// The file with our parts in it, and each of them once.
pub(super) fn put(text: &str, parts: &[JsonPart]) -> Result<String, Conflict> {
    let root = parse(text)?;
    let top = root.object_value_or_create().ok_or(Conflict::NoObject)?;
    for part in parts {
        match part {
            JsonPart::Base { name, value } => {
                if top.get(name).is_none() {
                    top.insert(0, name, input(value));
                }
            }
            JsonPart::Member { within, name, value } => member(&reach(&top, within)?, name, value)?,
            JsonPart::Offer { within, name, value } => {
                // What stands in the way is a decision, not an error.
                let _ = reach(&top, within).and_then(|object| member(&object, name, value));
            }
            JsonPart::Lists { within, lists } => put_lists(&reach(&top, within)?, lists)?,
        }
    }
    let done = root.to_string();
    Ok(if done == text { done } else { ended(done) })
}

/// The file without our parts; `None` where nothing else is in it.
pub(super) fn take(text: &str, parts: &[JsonPart]) -> Result<Option<String>, Conflict> {
    let root = parse(text)?;
    let Some(top) = root.object_value() else { return Ok(Some(text.to_owned())) };
    let mut taken = false;
    for part in parts {
        let (within, name) = match part {
            JsonPart::Base { .. } => continue,
            JsonPart::Member { within, name, .. } | JsonPart::Offer { within, name, .. } => {
                (within, Some(name))
            }
            JsonPart::Lists { within, .. } => (within, None),
        };
        let Some(object) = lead(&top, within) else { continue };
        let ours = match name {
            Some(name) => take_member(&object, name),
            None => take_lists(&object, &[]),
        };
        if ours {
            taken = true;
            prune(&top, within);
        }
    }
    if !taken {
        return Ok(Some(text.to_owned()));
    }
    let base = |prop: &CstObjectProp| {
        parts.iter().any(|part| {
            matches!(part, JsonPart::Base { name, .. } if prop.decoded_name().as_deref() == Some(name))
        })
    };
    let commented = has_comment(CstNode::Container(CstContainerNode::Root(root.clone())));
    let empty = !commented && top.properties().iter().all(base);
    Ok((!empty).then(|| root.to_string()))
}

/// Whether somebody says something in it.
fn has_comment(node: CstNode) -> bool {
    node.is_comment() || node.children().into_iter().any(has_comment)
}

/// The file as data; for `intent doctor`.
pub(super) fn data(text: &str) -> Option<Value> {
    parse(text).ok()?.to_serde_value()
}

/// What is in a file of a host that reads JSON with comments at most.
fn parse(text: &str) -> Result<CstRootNode, Conflict> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| Conflict::Syntax(error.to_string()))
}

/// The object at the end of these keys, made where it is missing.
fn reach(top: &CstObject, within: &[&str]) -> Result<CstObject, Conflict> {
    within.iter().try_fold(top.clone(), |object, key| {
        object.object_value_or_create(key).ok_or_else(|| Conflict::Shape((*key).to_owned()))
    })
}

/// The object at the end of these keys, if it is there.
fn lead(top: &CstObject, within: &[&str]) -> Option<CstObject> {
    within.iter().try_fold(top.clone(), |object, key| object.object_value(key))
}

fn member(object: &CstObject, name: &str, value: &Value) -> Result<(), Conflict> {
    let Some(there) = object.get(name) else {
        object.append(name, input(value));
        return Ok(());
    };
    let found = there.value().and_then(|node| node.to_serde_value());
    match found {
        Some(found) if found == *value => Ok(()),
        Some(found) if starts_us(&found, OURS) => {
            there.set_value(input(value));
            Ok(())
        }
        _ => Err(Conflict::Taken(name.to_owned())),
    }
}

fn take_member(object: &CstObject, name: &str) -> bool {
    let Some(there) = object.get(name) else { return false };
    let ours = there.value().and_then(|node| node.to_serde_value());
    if !ours.is_some_and(|value| starts_us(&value, OURS)) {
        return false;
    }
    there.remove();
    true
}

fn put_lists(object: &CstObject, lists: &[(&str, Vec<Value>)]) -> Result<(), Conflict> {
    let wanted: Vec<&str> = lists.iter().map(|(name, _)| *name).collect();
    // An event that an earlier version asked for.
    take_lists(object, &wanted);
    for (name, entries) in lists {
        let list = object
            .array_value_or_create(name)
            .ok_or_else(|| Conflict::Shape((*name).to_owned()))?;
        let ours: Vec<Value> = list
            .elements()
            .iter()
            .filter_map(CstNode::to_serde_value)
            .filter(|entry| starts_us(entry, OURS))
            .collect();
        if ours == *entries {
            continue;
        }
        strip(&list);
        for entry in entries {
            list.append(input(entry));
        }
        list.ensure_multiline();
    }
    Ok(())
}

/// Takes our hooks out of every list of an object but those that are kept; whether there were any.
fn take_lists(object: &CstObject, kept: &[&str]) -> bool {
    let mut taken = false;
    for prop in object.properties() {
        let known = prop.decoded_name().is_some_and(|name| kept.contains(&name.as_str()));
        let Some(list) = prop.array_value().filter(|_| !known) else { continue };
        if strip(&list) {
            taken = true;
            if list.elements().is_empty() {
                prop.remove();
            }
        }
    }
    taken
}

/// Takes our hooks out of a list; a group that holds hooks of others too keeps those.
fn strip(list: &CstArray) -> bool {
    let mut taken = false;
    for entry in list.elements() {
        if !entry.to_serde_value().is_some_and(|value| starts_us(&value, OURS)) {
            continue;
        }
        taken = true;
        let group = entry.as_object().and_then(|group| group.array_value("hooks"));
        let shared = group.is_some_and(|group| {
            strip(&group);
            !group.elements().is_empty()
        });
        if !shared {
            remove(entry);
        }
    }
    taken
}

fn remove(entry: CstNode) {
    match entry {
        CstNode::Container(CstContainerNode::Object(object)) => object.remove(),
        other => other.remove(),
    }
}

/// Takes away the objects on the way that have nothing left in them.
fn prune(top: &CstObject, within: &[&str]) {
    for depth in (1..=within.len()).rev() {
        let Some(parent) = lead(top, &within[..depth - 1]) else { continue };
        let Some(prop) = parent.get(within[depth - 1]) else { continue };
        let empty = prop.object_value().is_some_and(|object| object.properties().is_empty());
        if empty && !has_comment(CstNode::Container(CstContainerNode::ObjectProp(prop.clone()))) {
            prop.remove();
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}

fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
