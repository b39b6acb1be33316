//! Adds our entries to a host's JSON settings and removes them. Every byte that others wrote stays
//! as it is, comments and trailing commas included.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{
    CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use serde_json::{Map, Value};

use super::Conflict;
use super::recognise::starts_us;

/// An entry of ours in a JSON file. `within` holds the keys that lead to the object which contains
/// it.
#[derive(Clone, Debug)]
pub(super) enum JsonPart {
    /// Hooks: lists in an object, one for each event. Our hooks come after those of others, as in
    /// `{"PreToolUse": [theirs, ours]}`.
    Lists { within: &'static [&'static str], lists: Vec<(&'static str, Vec<Value>)> },
    /// A member with a name, such as `intent` in `mcpServers`.
    Member { within: &'static [&'static str], name: &'static str, value: Value },
    /// A member with a name, which is not added if the file has another value there.
    Offer { within: &'static [&'static str], name: &'static str, value: Value },
    /// A member that the host requires in every such file, such as its version. An existing value
    /// stays.
    Base { name: &'static str, value: Value },
}

/// The subcommands by which settings start this program.
const OURS: &[&str] = &["hook", "mcp", "lsp"];

/// Returns the file with each of our entries in it exactly once.
pub(super) fn with_entries(text: &str, parts: &[JsonPart]) -> Result<String, Conflict> {
    if text.trim() == "{}" {
        return Ok(new_file(parts));
    }
    let root = parse(text)?;
    let top = root.object_value_or_create().ok_or(Conflict::NoObject)?;
    for part in parts {
        match part {
            JsonPart::Base { name, value } => {
                if top.get(name).is_none() {
                    top.insert(0, name, input(value));
                }
            }
            JsonPart::Member { within, name, value } => {
                put_member(&find_or_create(&top, within)?, name, value)?
            }
            JsonPart::Offer { within, name, value } => {
                // An existing value is somebody's decision, so this is not an error.
                let _ = find_or_create(&top, within)
                    .and_then(|object| put_member(&object, name, value));
            }
            JsonPart::Lists { within, lists } => put_lists(&find_or_create(&top, within)?, lists)?,
        }
    }
    let done = root.to_string();
    Ok(if done == text || done.ends_with('\n') { done } else { done + "\n" })
}

/// Returns a file with nothing but our entries. Each hook has one line, so that a reviewer has few to
/// read.
fn new_file(parts: &[JsonPart]) -> String {
    let mut top = Map::new();
    for part in parts {
        let (within, members): (&[&str], Vec<(&str, Value)>) = match part {
            JsonPart::Base { name, value } => (&[], vec![(name, value.clone())]),
            JsonPart::Member { within, name, value } | JsonPart::Offer { within, name, value } => {
                (within, vec![(name, value.clone())])
            }
            JsonPart::Lists { within, lists } => {
                let lists = lists.iter().map(|(name, list)| (*name, Value::from(list.clone())));
                (within, lists.collect())
            }
        };
        let object = within.iter().fold(&mut top, |object, key| {
            let inner = object.entry(*key).or_insert_with(|| Value::Object(Map::new()));
            inner.as_object_mut().expect("keys that lead to a value lead only to objects")
        });
        object.extend(members.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    let mut text = String::new();
    write_spread(&Value::Object(top), 0, &mut text);
    text + "\n"
}

/// Writes a value with a line for each member or element, and what is in a list on one line.
fn write_spread(value: &Value, depth: usize, text: &mut String) {
    let mut spread = |open: char, lines: Vec<(String, &Value)>, close: char, is_list: bool| {
        text.push(open);
        for (nth, (name, value)) in lines.iter().enumerate() {
            text.push_str(if nth > 0 { ",\n" } else { "\n" });
            text.extend(std::iter::repeat_n("  ", depth + 1).chain([name.as_str()]));
            match is_list {
                true => text.push_str(&one_line(value)),
                false => write_spread(value, depth + 1, text),
            }
        }
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
        text.push(close);
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            let named = |(name, value)| (format!("{}: ", Value::from(name)), value);
            let members = members.iter().map(|(name, value)| named((name.as_str(), value)));
            spread('{', members.collect(), '}', false);
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            spread('[', list.iter().map(|value| (String::new(), value)).collect(), ']', true);
        }
        other => text.push_str(&one_line(other)),
    }
}

fn one_line(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Object(members) => {
            let member = |(name, value)| format!("{}: {}", Value::from(name), one_line(value));
            let members = members.iter().map(|(name, value)| member((name.as_str(), value)));
            format!("{{ {} }}", joined(members.collect()))
        }
        Value::Array(list) => format!("[{}]", joined(list.iter().map(one_line).collect())),
        other => other.to_string(),
    }
}

/// Returns the file without our entries, or `None` if nothing else is in it.
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
        let Some(object) = find(&top, within) else { continue };
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

fn has_comment(node: CstNode) -> bool {
    node.is_comment() || node.children().into_iter().any(has_comment)
}

pub(super) fn data(text: &str) -> Option<Value> {
    parse(text).ok()?.to_serde_value()
}

/// Parses a file. Hosts read JSON with comments and trailing commas, so nothing looser is accepted.
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

fn find_or_create(top: &CstObject, within: &[&str]) -> Result<CstObject, Conflict> {
    within.iter().try_fold(top.clone(), |object, key| {
        object.object_value_or_create(key).ok_or_else(|| Conflict::Shape((*key).to_owned()))
    })
}

fn find(top: &CstObject, within: &[&str]) -> Option<CstObject> {
    within.iter().try_fold(top.clone(), |object, key| object.object_value(key))
}

fn put_member(object: &CstObject, name: &str, value: &Value) -> Result<(), Conflict> {
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
    // Remove hooks for events that only an earlier version used.
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

/// Removes our hooks from every list of an object, except the lists in `kept`. Returns true if any
/// was removed.
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

/// Removes our hooks from a list. A group that also holds hooks of others keeps those. Returns true
/// if any was removed.
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

fn prune(top: &CstObject, within: &[&str]) {
    for depth in (1..=within.len()).rev() {
        let Some(parent) = find(top, &within[..depth - 1]) else { continue };
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

#[cfg(test)]
mod tests;
