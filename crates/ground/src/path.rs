//! A path inside a workspace, in the form that ledgers, scopes and people use.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path relative to the workspace root, separated by `/`. It is never empty, and contains no `.`,
/// `..`, NUL or leading slash.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RelativePath(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path leads out of the workspace, by `..`, as an absolute path, or through a symbolic
    /// link.
    #[error("{path} is outside the workspace {root}")]
    Outside {
        path: String,
        /// The root of the workspace. The word `root` if the path was checked without a root.
        root: String,
    },
    /// The text is not a usable path, for example because it is empty, contains NUL, or leads
    /// through a file.
    #[error("{path:?} is not a path inside a workspace: {reason}")]
    Invalid { path: String, reason: &'static str },
}

impl RelativePath {
    /// Checks and normalises a text: `./a//b` becomes `a/b`, and on Windows `\` becomes `/`.
    /// Returns an error for a `..` that leaves the workspace, an absolute path, NUL, and the root
    /// itself.
    pub fn new(text: &str) -> Result<Self, PathError> {
        if is_normal(text) {
            return Ok(Self(text.to_owned()));
        }
        let invalid = |reason| PathError::Invalid { path: text.to_owned(), reason };
        let outside = || PathError::Outside { path: text.to_owned(), root: "root".to_owned() };
        if text.is_empty() {
            return Err(invalid("it is empty"));
        }
        if text.contains('\0') {
            return Err(invalid("it contains a NUL character"));
        }
        let unified = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
        if unified.starts_with('/') {
            return Err(outside());
        }
        let mut kept: Vec<&str> = Vec::new();
        for segment in unified.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    kept.pop().ok_or_else(outside)?;
                }
                name if is_foreign(name) => {
                    return Err(invalid("it names a drive, a stream or a device"));
                }
                name => kept.push(name),
            }
        }
        if kept.is_empty() {
            return Err(invalid("it is the workspace root itself"));
        }
        Ok(Self(kept.join("/")))
    }
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// Returns the path as a word for the shell, in a command that is shown to a person.
    pub fn for_shell(&self) -> String {
        super::text::shell_path(&self.0)
    }
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
    /// Returns true if any segment is `.orchestration`. On platforms that ignore case, so does
    /// this.
    pub fn is_orchestration(&self) -> bool {
        self.0.split('/').any(is_orchestration_name)
    }
    /// Returns the folders above the path, outermost first: for `a/b/c` these are `a` and `a/b`.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(at, _)| &self.0[..at])
    }
}

/// Returns true if a text is a path in the one form already. Nearly all are, and thousands are read
/// from caches.
fn is_normal(text: &str) -> bool {
    let is_name = |segment: &str| !matches!(segment, "" | "." | "..");
    !cfg!(windows) && !text.contains('\0') && text.split('/').all(is_name)
}

pub(crate) fn is_orchestration_name(segment: &str) -> bool {
    const NAME: &str = ".orchestration";
    if cfg!(windows) {
        // Windows ignores trailing dots and spaces when it opens a file.
        return segment.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(NAME);
    }
    if cfg!(target_os = "macos") {
        return segment.eq_ignore_ascii_case(NAME);
    }
    segment == NAME
}

/// Returns true for a name that Windows would take for a drive (`c:`), a stream (`a.ts:x`) or a
/// device (`nul.txt`).
fn is_foreign(segment: &str) -> bool {
    const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];
    if !cfg!(windows) {
        return false;
    }
    let stem = segment.split('.').next().unwrap_or(segment).trim_end().to_ascii_lowercase();
    let numbered = stem.len() == 4
        && (stem.starts_with("com") || stem.starts_with("lpt"))
        && stem.ends_with(|c: char| c.is_ascii_digit());
    segment.contains(':') || numbered || DEVICES.contains(&stem.as_str())
}

impl TryFrom<String> for RelativePath {
    type Error = PathError;
    fn try_from(text: String) -> Result<Self, PathError> {
        if is_normal(&text) { Ok(Self(text)) } else { Self::new(&text) }
    }
}
impl From<RelativePath> for String {
    fn from(path: RelativePath) -> String {
        path.0
    }
}
impl std::fmt::Display for RelativePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the path that a program writes as a path or as a `file:` address, and the host in the
/// address. `None` for an address that cannot be decoded.
pub fn named_path(text: &str) -> Option<(&str, PathBuf)> {
    let (host, path) = match text.strip_prefix("file://") {
        Some(address) => {
            let (host, path) = address.split_at(address.find('/')?);
            let decoded = percent_decode_str(path).decode_utf8().ok()?;
            // Each escape makes the path two bytes shorter, but one that is broken stays there.
            if decoded.len() + 2 * path.matches('%').count() != path.len() {
                return None;
            }
            (host, decoded.into_owned())
        }
        None => ("", text.to_owned()),
    };
    Some((host, PathBuf::from(without_leading_slash(&path))))
}

/// Removes the slash before a drive letter: Cursor on Windows writes `/c:/Users/ada`.
fn without_leading_slash(path: &str) -> &str {
    let drive = |rest: &&str| {
        let mut chars = rest.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
    };
    path.strip_prefix('/').filter(drive).filter(|_| cfg!(windows)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_become_one_form_or_an_error() {
        let kept = [
            ("a", "a"),
            ("./a//b", "a/b"),
            ("a/b/", "a/b"),
            ("src/auth/../x", "src/x"),
            ("a/./b/.", "a/b"),
            (".env", ".env"),
            ("src/[id].ts", "src/[id].ts"),
            ("...", "..."),
            ("a/..b", "a/..b"),
            (" a ", " a "),
        ];
        for (given, wanted) in kept {
            assert_eq!(RelativePath::new(given).unwrap().as_str(), wanted, "{given:?}");
        }
        for given in ["..", "../a", "a/../..", "a/../../b", "/", "/etc/passwd", "//a"] {
            let error = RelativePath::new(given).unwrap_err();
            assert!(matches!(error, PathError::Outside { .. }), "{given:?}: {error}");
        }
        for given in ["", ".", "./", "a/..", "a\0b"] {
            let error = RelativePath::new(given).unwrap_err();
            assert!(matches!(error, PathError::Invalid { .. }), "{given:?}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_backslash_is_part_of_a_name_on_unix() {
        assert_eq!(RelativePath::new("a\\b").unwrap().as_str(), "a\\b");
        assert_eq!(RelativePath::new("c:").unwrap().as_str(), "c:");
    }

    #[test]
    fn the_registry_folder_is_recognised_at_any_depth() {
        let is = |text: &str| RelativePath::new(text).unwrap().is_orchestration();
        assert!(is(".orchestration"));
        assert!(is(".orchestration/policy.yaml"));
        assert!(is("a/b/.orchestration/x"));
        assert!(!is("a/.orchestration.bak/x"));
        assert!(!is("orchestration/x"));
    }

    #[test]
    fn folders_are_listed_from_the_outside() {
        let path = RelativePath::new("a/b/c").unwrap();
        assert_eq!(path.folders().collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(RelativePath::new("a").unwrap().folders().count(), 0);
        assert_eq!(path.file_name(), "c");
    }

    #[test]
    fn json_that_leaves_the_workspace_is_refused() {
        assert!(serde_json::from_str::<RelativePath>("\"../x\"").is_err());
        let path: RelativePath = serde_json::from_str("\"./x\"").unwrap();
        assert_eq!(serde_json::to_string(&path).unwrap(), "\"x\"");
    }

    proptest! {
        #[test]
        fn an_accepted_path_is_normalised(text in "[a./\\\\ ]{0,12}|\\PC{0,8}") {
            if let Ok(path) = RelativePath::new(&text) {
                prop_assert!(!path.as_str().is_empty());
                for segment in path.as_str().split('/') {
                    prop_assert!(!matches!(segment, "" | "." | ".."));
                }
                prop_assert_eq!(RelativePath::new(path.as_str()).unwrap(), path);
            }
        }
    }
}
