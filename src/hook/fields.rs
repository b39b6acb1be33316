//! Fields of a payload by the several names that hosts give to the same thing.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json;
use crate::code::LineRange;

/// The file of a call.
pub(crate) const PATH: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "target_file",
    "targetFile",
    "TargetFile",
    "notebook_path",
    "notebookPath",
    "target_notebook",
    "AbsolutePath",
    "absolute_path",
    "relative_path",
    "relative_workspace_path",
    "filename",
    "file_name",
    "file",
    "uri",
];
/// The whole new text of a file.
pub(crate) const CONTENT: &[&str] =
    &["content", "contents", "file_text", "fileText", "CodeContent", "text", "new_content"];
/// What a replacement looks for.
pub(crate) const OLD: &[&str] =
    &["old_string", "oldString", "old_str", "oldStr", "oldText", "old_text", "TargetContent"];
/// What it puts there.
pub(crate) const NEW: &[&str] =
    &["new_string", "newString", "new_str", "newStr", "newText", "new_text", "ReplacementContent"];
/// Whether it replaces every occurrence.
pub(crate) const EVERY: &[&str] =
    &["replace_all", "replaceAll", "change_all", "allow_multiple", "AllowMultiple"];
/// Several replacements in one file.
pub(crate) const EDITS: &[&str] = &["edits", "changes", "ReplacementChunks", "replacements"];
/// A command line.
pub(crate) const COMMAND: &[&str] =
    &["command", "CommandLine", "command_line", "commandLine", "cmd", "script"];
/// Where a command runs.
pub(crate) const FOLDER: &[&str] =
    &["dir_path", "workdir", "cwd", "Cwd", "working_directory", "workingDirectory", "directory"];
/// Where a file is moved from.
pub(crate) const FROM: &[&str] =
    &["source", "source_path", "sourcePath", "from", "old_path", "oldPath", "src"];
/// Where a file is moved to.
pub(crate) const TO: &[&str] = &[
    "destination",
    "destination_path",
    "destinationPath",
    "to",
    "new_path",
    "newPath",
    "dest",
    "target",
    "dst",
];
/// Lists of paths, commands or edits, each of which stands for itself or for an object with fields of its own.
pub(crate) const LISTS: &[&str] = &[
    "files",
    "paths",
    "file_paths",
    "filePaths",
    "operations",
    "replacements",
    "edits",
    "changes",
    "ReplacementChunks",
    "commands",
];
/// Whether a command outlives its call.
pub(crate) const BACKGROUND: &[&str] =
    &["run_in_background", "is_background", "isBackground", "background", "async"];

/// The first of these fields that is there and not null.
pub(crate) fn any<'a>(of: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().filter_map(|name| of.get(name)).find(|value| !value.is_null())
}

/// The first of these fields, if it is a text.
pub(crate) fn text<'a>(of: &'a Value, names: &[&str]) -> Option<&'a str> {
    any(of, names)?.as_str()
}

/// The first of these fields that is a text and says something.
pub(crate) fn word<'a>(of: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().filter_map(|name| of.get(name)?.as_str()).find(|text| !text.is_empty())
}

/// Whether the first of these fields says yes, as a truth value or as a text.
pub(crate) fn yes(of: &Value, names: &[&str]) -> bool {
    any(of, names).is_some_and(|value| value.as_bool().unwrap_or(value == "true"))
}

/// A list, or the list that a text holds as JSON.
pub(crate) fn list(of: &Value, names: &[&str]) -> Option<Vec<Value>> {
    match any(of, names)? {
        Value::Array(items) => Some(items.clone()),
        Value::String(text) => match json::distinct(text.as_bytes()).ok()? {
            Value::Array(items) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

/// The value itself, or what a text holds as JSON.
pub(crate) fn unpacked(value: &Value) -> Value {
    let inner = value.as_str().and_then(|text| json::distinct(text.as_bytes()).ok());
    inner.filter(Value::is_object).unwrap_or_else(|| value.clone())
}

/// The lines that a reading tool is asked for; `None` is all of them.
///
/// Some hosts count an `offset` from 0 and others from 1, so the line in doubt is left out.
pub(crate) fn lines(of: &Value) -> Option<LineRange> {
    const FIRST: &[&str] =
        &["startLine", "start_line", "StartLine", "start_line_one_indexed", "line_start"];
    const LAST: &[&str] =
        &["endLine", "end_line", "EndLine", "end_line_one_indexed_inclusive", "line_end"];
    if yes(of, &["should_read_entire_file"]) {
        return None;
    }
    if let Some(range) = any(of, &["view_range", "viewRange"]).and_then(Value::as_array) {
        let at = |at: usize| range.get(at).and_then(number);
        // -1 is the end.
        return range_of(at(0), at(1));
    }
    let named = |names: &[&str]| any(of, names).and_then(number);
    let (first, last) = (named(FIRST), named(LAST));
    if first.is_some() || last.is_some() {
        return range_of(first, last);
    }
    let (offset, limit) = (named(&["offset"]), named(&["limit"]));
    if offset.is_none() && limit.is_none() {
        return None;
    }
    let offset = offset.unwrap_or(0);
    let last = limit.map(|limit| match offset {
        0 => limit,
        offset => (offset - 1).saturating_add(limit),
    });
    let first = if offset > 1 { offset.saturating_add(1) } else { 1 };
    range_of(Some(first), last)
}

/// The lines that a tool says it has shown, in an answer of the shape that Claude Code gives.
pub(crate) fn lines_shown(payload: &Value) -> Option<LineRange> {
    let file = any(payload, &["tool_response", "toolResponse"])?.get("file")?;
    let first = file.get("startLine").and_then(number)?;
    let count = file.get("numLines").and_then(number)?;
    range_of(Some(first), Some(first.saturating_add(count).saturating_sub(1)))
}

fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

/// From the first line to the last; an end that comes before its start shows nothing but the first line.
fn range_of(first: Option<u32>, last: Option<u32>) -> Option<LineRange> {
    let first = first.unwrap_or(1).max(1);
    LineRange::new(first, last.unwrap_or(u32::MAX).max(first))
}

/// A path as a host writes it: a plain one, or a `file://` address.
pub(crate) fn path(text: &str) -> Option<PathBuf> {
    if text.trim().is_empty() || text.contains('\0') {
        return None;
    }
    let plain = match text.strip_prefix("file://") {
        Some(address) => decoded(&address[address.find('/')?..])?,
        None => text.to_owned(),
    };
    Some(PathBuf::from(without_leading_slash(&plain)))
}

/// Cursor on Windows writes `/c:/Users/ada`.
fn without_leading_slash(path: &str) -> &str {
    let drive = |rest: &&str| {
        let mut chars = rest.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
    };
    path.strip_prefix('/').filter(drive).filter(|_| cfg!(windows)).unwrap_or(path)
}

/// `%20` and its kin.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

/// `path` below `folder`, where it is not absolute already.
pub(crate) fn below(folder: &Path, path: &Path) -> PathBuf {
    folder.join(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_name_that_says_something_wins() {
        let of = json!({"cwd": "", "path": null, "file": "b", "n": 3, "yes": "true"});
        assert_eq!(text(&of, PATH), Some("b"));
        assert_eq!(text(&of, &["cwd"]), Some(""));
        assert_eq!(word(&of, &["cwd", "file"]), Some("b"));
        assert_eq!(text(&of, &["n", "file"]), None, "it is there, and no text");
        assert!(yes(&of, &["yes"]));
        assert!(!yes(&of, &["n"]));
    }

    #[test]
    fn the_lines_that_are_asked_for_have_many_names() {
        let asked = |of: Value| lines(&of).map(|lines| (lines.start(), lines.end()));
        assert_eq!(asked(json!({"file_path": "a"})), None);
        assert_eq!(asked(json!({"offset": null, "limit": null})), None);
        assert_eq!(asked(json!({"limit": 20})), Some((1, 20)));
        assert_eq!(asked(json!({"offset": 0, "limit": 20})), Some((1, 20)));
        assert_eq!(asked(json!({"offset": 1, "limit": 20})), Some((1, 20)));
        assert_eq!(asked(json!({"offset": 11, "limit": 10})), Some((12, 20)), "0 or 1");
        assert_eq!(asked(json!({"offset": 11})), Some((12, u32::MAX)));
        assert_eq!(asked(json!({"startLine": 3, "endLine": 9})), Some((3, 9)));
        assert_eq!(asked(json!({"view_range": [3, -1]})), Some((3, u32::MAX)));
        let whole = json!({"offset": 2, "should_read_entire_file": true});
        assert_eq!(asked(whole), None);
    }

    #[test]
    fn addresses_become_paths() {
        assert_eq!(path("src/a b.rs"), Some(PathBuf::from("src/a b.rs")));
        assert_eq!(path("file:///p/a%20b.rs"), Some(PathBuf::from("/p/a b.rs")));
        assert_eq!(path("file://localhost/p/%C3%A9"), Some(PathBuf::from("/p/é")));
        for bad in ["", "  ", "a\0b", "file://x", "file:///%zz", "file:///%f", "file:///%ff"] {
            assert_eq!(path(bad), None, "{bad:?}");
        }
    }
}
