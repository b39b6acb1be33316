//! The names of files that control the gate, in any folder.

use super::RelativePath;

pub const CONTROL_NAMES: &[&str] = &[
    ".intentignore",
    ".rooignore",
    ".gitattributes",
    ".git-blame-ignore-revs",
    ".mcp.json",
    ".git",
    ".orchestration",
];

/// Returns true if a path inside a workspace controls the gate, and not only an agent. `check`
/// never judges such a file as code.
pub fn is_control_file(path: &RelativePath) -> bool {
    has_control_name(&folded_segments(path.as_str()))
}

pub fn has_control_name(segments: &[String]) -> bool {
    segments.iter().any(|segment| CONTROL_NAMES.contains(&segment.as_str()))
}

/// Splits a path and converts it to lower case, because on some file systems another spelling is
/// the same file.
pub fn folded_segments(path: &str) -> Vec<String> {
    let segments = path.split(['/', '\\']).filter(|segment| !segment.is_empty());
    segments.map(folded).collect()
}

/// Converts a name to lower case. Some letters, such as `ſ`, have an ASCII letter only as their
/// upper case.
pub fn folded(name: &str) -> String {
    match name.is_ascii() {
        true => name.to_ascii_lowercase(),
        false => name.to_uppercase().to_lowercase(),
    }
}
