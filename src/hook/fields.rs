//! Reads fields of a payload. Hosts use different names for the same field, so each constant lists
//! all names of one field, separated by blanks.

use std::path::PathBuf;

use serde_json::Value;

use super::json;
use code::LineRange;
use ground::path::named_path;

pub(crate) const PATH: &str = "
    file_path filePath path target_file targetFile TargetFile notebook_path notebookPath
    target_notebook AbsolutePath absolute_path relative_path relative_workspace_path filename
    file_name file uri
";
pub(crate) const CONTENT: &str = "content contents file_text fileText CodeContent text new_content";
pub(crate) const OLD: &str = "old_string oldString old_str oldStr oldText old_text TargetContent";
pub(crate) const NEW: &str = "
    new_string newString new_str newStr newText new_text ReplacementContent
";
/// True if every occurrence is to be replaced.
pub(crate) const EVERY: &str = "replace_all replaceAll change_all allow_multiple AllowMultiple";
pub(crate) const EDITS: &str = "edits changes ReplacementChunks replacements";
pub(crate) const COMMAND: &str = "command CommandLine command_line commandLine cmd script";
pub(crate) const FOLDER: &str = "
    dir_path workdir cwd Cwd working_directory workingDirectory directory
";
pub(crate) const FROM: &str = "source source_path sourcePath from old_path oldPath src";
pub(crate) const TO: &str = "
    destination destination_path destinationPath to new_path newPath dest target dst
";
/// Lists of files. An item is a path, or an object with a field that holds the path.
pub(crate) const FILES: &str = "files paths file_paths filePaths";
/// Lists of paths, commands or edits. An item is a string, or an object with fields of its own.
pub(crate) const LISTS: &str = "
    files paths file_paths filePaths operations replacements edits changes ReplacementChunks
    commands
";
pub(crate) const PATCH: &str = "patchText patch input command patch_text content";
/// The text that is typed into a shell that already runs.
pub(crate) const TYPED: &str = "input chars command";
pub(crate) const CALLED: &str = "tool_name toolName tool name";
pub(crate) const SERVER: &str = "server_name serverName server";
pub(crate) const ARGUMENTS: &str = "arguments tool_input input args";
pub(crate) const BACKGROUND: &str = "run_in_background is_background isBackground background async";

pub(crate) fn first_field<'a>(object: &'a Value, names: &str) -> Option<&'a Value> {
    names.split_whitespace().filter_map(|name| object.get(name)).find(|value| !value.is_null())
}

pub(crate) fn text<'a>(object: &'a Value, names: &str) -> Option<&'a str> {
    first_field(object, names)?.as_str()
}

pub(crate) fn word<'a>(object: &'a Value, names: &str) -> Option<&'a str> {
    let mut texts = names.split_whitespace().filter_map(|name| object.get(name)?.as_str());
    texts.find(|text| !text.is_empty())
}

pub(crate) fn is_true(object: &Value, names: &str) -> bool {
    first_field(object, names).is_some_and(|value| value.as_bool().unwrap_or(value == "true"))
}

/// Returns a list. The field holds the list itself, or a string with its JSON.
pub(crate) fn list(object: &Value, names: &str) -> Option<Vec<Value>> {
    match first_field(object, names)? {
        Value::Array(items) => Some(items.clone()),
        Value::String(text) => match json::distinct(text)? {
            Value::Array(items) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the object that a string holds as JSON. Any other value is returned unchanged.
pub(crate) fn unpacked_json(value: &Value) -> Value {
    let inner = value.as_str().and_then(json::distinct);
    inner.filter(Value::is_object).unwrap_or_else(|| value.clone())
}

/// Returns the input of a call. A string may contain the input as JSON.
pub(crate) fn input(object: &Value, names: &str) -> Value {
    first_field(object, names).map_or(Value::Null, unpacked_json)
}

/// Returns true if the input of a call is a string that begins like a JSON object. [`input`] could
/// not read it: it is not valid JSON, or it names a field twice. The host may read it nevertheless.
pub(crate) fn is_broken(input: &Value) -> bool {
    input.as_str().is_some_and(|text| text.trim_start().starts_with('{'))
}

/// Returns the lines that a reading tool should show, or `None` for all lines.
///
/// Some hosts count `offset` from 0 and others from 1, so the one line in doubt is left out.
pub(crate) fn lines(object: &Value) -> Option<LineRange> {
    const FIRST: &str = "startLine start_line StartLine start_line_one_indexed line_start";
    const LAST: &str = "endLine end_line EndLine end_line_one_indexed_inclusive line_end";
    if is_true(object, "should_read_entire_file") {
        return None;
    }
    if let Some(range) = first_field(object, "view_range viewRange").and_then(Value::as_array) {
        let at = |at: usize| range.get(at).and_then(number);
        // -1 means the end of the file. It is no `u32`, so the range has no end.
        return range_of(at(0), at(1));
    }
    let named = |names: &str| first_field(object, names).and_then(number);
    let (first, last) = (named(FIRST), named(LAST));
    if first.is_some() || last.is_some() {
        return range_of(first, last);
    }
    let (offset, limit) = (named("offset"), named("limit"));
    if offset.is_none() && first_field(object, "offset").is_some() {
        // A negative offset counts from the end of the file, so nobody knows which lines these are.
        return range_of(Some(u32::MAX), None);
    }
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

/// Returns the lines that a tool says it has shown. Only answers in the format of Claude Code say
/// so.
pub(crate) fn lines_shown(payload: &Value) -> Option<LineRange> {
    let file = first_field(payload, "tool_response toolResponse")?.get("file")?;
    let first = file.get("startLine").and_then(number)?;
    let count = file.get("numLines").and_then(number)?;
    range_of(Some(first), Some(first.saturating_add(count).saturating_sub(1)))
}

/// Returns a number. Some models write it as a string, and hosts accept that.
fn number(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    u32::try_from(number).ok()
}

/// Returns a range of lines. If the last line is before the first, the range is only the first
/// line.
fn range_of(first: Option<u32>, last: Option<u32>) -> Option<LineRange> {
    let first = first.unwrap_or(1).max(1);
    LineRange::new(first, last.unwrap_or(u32::MAX).max(first))
}

/// Returns true if a text is the address of something that is not on this disk. Where a file system
/// leads back with `..`, as in `x://../src/a.rs`, a program may take the text for a path.
pub(crate) fn is_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    scheme != "file" && rest.split(['/', '\\']).all(|part| part != "..")
}

pub(crate) fn path(text: &str) -> Option<PathBuf> {
    if text.trim().is_empty() || text.contains('\0') {
        return None;
    }
    named_path(text).map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_field_with_a_value_wins() {
        let of = json!({"cwd": "", "path": null, "file": "b", "n": 3, "yes": "true"});
        assert_eq!(text(&of, PATH), Some("b"));
        assert_eq!(text(&of, "cwd"), Some(""));
        assert_eq!(word(&of, "cwd file"), Some("b"));
        assert_eq!(text(&of, "n file"), None, "it is there, and no text");
        assert!(is_true(&of, "yes"));
        assert!(!is_true(&of, "n"));
    }

    #[test]
    fn the_requested_lines_are_read_under_many_names() {
        let asked = |of: Value| lines(&of).map(|lines| (lines.start(), lines.end()));
        assert_eq!(asked(json!({"file_path": "a"})), None);
        assert_eq!(asked(json!({"offset": null, "limit": null})), None);
        assert_eq!(asked(json!({"limit": 20})), Some((1, 20)));
        assert_eq!(asked(json!({"offset": 0, "limit": 20})), Some((1, 20)));
        assert_eq!(asked(json!({"offset": 1, "limit": 20})), Some((1, 20)));
        assert_eq!(asked(json!({"offset": 11, "limit": 10})), Some((12, 20)), "0 or 1");
        assert_eq!(asked(json!({"offset": 11})), Some((12, u32::MAX)));
        assert_eq!(asked(json!({"offset": "1", "limit": "20"})), Some((1, 20)));
        assert_eq!(asked(json!({"offset": -5, "limit": 5})), Some((u32::MAX, u32::MAX)));
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
