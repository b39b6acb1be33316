//! Finds calls that contradict themselves. Hosts use different names for the same field, and each
//! host reads only its own name. A call that has several of these names with different values could
//! be judged by one value and carried out with another.

use std::path::Path;

use serde_json::Value;

use super::fields::{
    self, ARGUMENTS, BACKGROUND, CALLED, COMMAND, CONTENT, EDITS, EVERY, FILES, FOLDER, FROM,
    LISTS, NEW, OLD, PATCH, PATH, SERVER, TO, TYPED,
};
use super::tools::ToolKind;

/// Returns the names of two fields that mean the same and have different values. Returns `None` if
/// the input has no such pair.
pub(crate) fn found(kind: Option<ToolKind>, input: &Value, cwd: &Path) -> Option<(String, String)> {
    let mut groups = vec![PATH, OLD, NEW, EVERY, FOLDER, FROM, TO, EDITS, CONTENT];
    match kind {
        // An editor's `command` names its operation, so it is not a command line.
        Some(ToolKind::Edit) => {}
        Some(ToolKind::Edits) => groups.push(OPERATIONS),
        // A patch tool may call its patch `command`.
        Some(ToolKind::Patch) => groups.push(PATCH),
        Some(ToolKind::Type(_)) => groups.push(TYPED),
        Some(ToolKind::Foreign) => groups.extend([CALLED, SERVER, ARGUMENTS]),
        _ => groups.extend([COMMAND, BACKGROUND]),
    }
    match kind {
        Some(_) => groups.push(FILES),
        // For an unknown tool, a field such as `text` may be something other than file content.
        None => groups.retain(|group| *group != CONTENT && *group != PATH),
    }
    in_object(&groups, input, cwd).or_else(|| one_and_several(kind, input))
}

const OPERATIONS: &str = "operations replacements";

fn in_object(groups: &[&str], input: &Value, cwd: &Path) -> Option<(String, String)> {
    for group in groups {
        let mut said = group.split_whitespace().filter_map(|name| {
            let value = input.get(name).filter(|value| !is_empty(value))?;
            Some((name, value))
        });
        if let Some((first, one)) = said.next()
            && let Some((second, _)) = said.find(|(_, other)| !are_same(one, other, cwd))
        {
            return Some((first.to_owned(), second.to_owned()));
        }
    }
    let lists = LISTS.split_whitespace().filter_map(|name| fields::list(input, name));
    lists.flatten().find_map(|item| in_object(groups, &item, cwd))
}

/// Returns the names of two fields if the input has both a single path (or command) and a list of
/// them, because a host reads only one of the two.
fn one_and_several(kind: Option<ToolKind>, input: &Value) -> Option<(String, String)> {
    let mut pairs = vec![(PATH, FILES), (COMMAND, "commands")];
    if kind == Some(ToolKind::Edits) {
        pairs.push((PATH, OPERATIONS));
    }
    pairs.into_iter().find_map(|(one, several)| {
        let named = |names: &str| {
            let said = |name: &&str| input.get(name).is_some_and(|value| !is_empty(value));
            names.split_whitespace().find(said).map(str::to_owned)
        };
        Some((named(one)?, named(several)?))
    })
}

/// Returns true if both values mean the same. A path may be absolute in one and relative to the
/// folder of the call in the other.
fn are_same(one: &Value, other: &Value, cwd: &Path) -> bool {
    let place = |value: &Value| Some(cwd.join(fields::path(value.as_str()?)?));
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
