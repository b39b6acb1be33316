//! Paths as text. No file is looked up.

use std::path::Path;

pub(super) fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    normal(text.strip_prefix("//?/").unwrap_or(&text))
}

/// Returns true if a path is absolute: it begins with `/` or with a drive such as `C:`.
pub(super) fn is_absolute(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.starts_with('/') || bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

/// Resolves a path against a folder. Returns `None` for a relative path if the folder is not known.
pub(super) fn resolved_in(folder: Option<&str>, path: &str) -> Option<String> {
    match is_absolute(path) {
        true => Some(normal(path)),
        false => folder.map(|folder| normal(&format!("{folder}/{path}"))),
    }
}

/// Removes `.`, `..` and doubled separators from a path. Works on the text alone.
pub(super) fn normal(path: &str) -> String {
    let (drive, rest) = match path.as_bytes() {
        [letter, b':', ..] if letter.is_ascii_alphabetic() => path.split_at(2),
        _ => ("", path),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("{drive}/{}", parts.join("/"))
}

pub(super) fn is_in_folder(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub(super) fn is_socket(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}
