//! A call that says two things at once. Hosts give different names to the same field, and each host reads its own; a
//! call with several of them, or with one of them twice, could be judged by one and carried out by another.

use std::path::Path;

use serde_json::Value;

use super::fields::{
    self, BACKGROUND, COMMAND, CONTENT, EDITS, EVERY, FOLDER, FROM, LISTS, NEW, OLD, PATH, TO,
};
use super::tools::ToolKind;

/// What an input says twice, and differently: the two names. `None` where it says all once.
pub(crate) fn found(kind: Option<ToolKind>, input: &Value, cwd: &Path) -> Option<(String, String)> {
    let mut groups = vec![PATH, OLD, NEW, EVERY, FOLDER, FROM, TO, EDITS, CONTENT];
    match kind {
        // An editor's `command` is its own word for what it does.
        Some(ToolKind::Edit | ToolKind::Edits) => {}
        // It is a patch, and may be called so.
        Some(ToolKind::Patch) => {}
        _ => groups.extend([COMMAND, BACKGROUND]),
    }
    if kind.is_none() {
        // Of a tool that nobody knows, a text may well be something else than a content.
        groups.retain(|group| *group != CONTENT && *group != PATH);
    }
    in_object(&groups, input, cwd).or_else(|| one_and_several(input))
}

fn in_object(groups: &[&[&str]], input: &Value, cwd: &Path) -> Option<(String, String)> {
    for group in groups {
        let mut said = group.iter().filter_map(|name| {
            let value = input.get(name).filter(|value| !is_empty(value))?;
            Some((*name, value))
        });
        if let Some((first, one)) = said.next()
            && let Some((second, _)) = said.find(|(_, other)| !are_same(one, other, cwd))
        {
            return Some((first.to_owned(), second.to_owned()));
        }
    }
    let lists = LISTS.iter().filter_map(|name| fields::list(input, &[name])).flatten();
    { lists }.find_map(|item| in_object(groups, &item, cwd))
}

/// One path or command beside a list of them: a host reads one of the two.
fn one_and_several(input: &Value) -> Option<(String, String)> {
    let pairs =
        [(PATH, &["files", "paths", "file_paths", "filePaths"][..]), (COMMAND, &["commands"][..])];
    pairs.into_iter().find_map(|(one, several)| {
        let named = |names: &[&str]| {
            let said = |name: &&&str| input.get(**name).is_some_and(|value| !is_empty(value));
            names.iter().find(said).map(|name| (*name).to_owned())
        };
        Some((named(one)?, named(several)?))
    })
}

/// Whether two values say the same: a path may be given whole, and from the folder of the call.
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
