//! `PATH`, `PATH:LINE` and `PATH:LINE:COLUMN`, as people, compilers and editors write them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::CliError;

/// A file, and a line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The path as it was written.
    pub(crate) named: String,
    /// Joined to the folder we are in.
    pub(crate) path: PathBuf,
    /// 1-based.
    pub(crate) line: Option<u32>,
}

impl Target {
    /// The whole text is the path when such a file exists, whatever it looks like; else a number after the last colon is a line.
    pub(crate) fn parse(cwd: &Path, text: &OsStr) -> Result<Self, CliError> {
        let whole = cwd.join(text);
        let place = text.to_str().filter(|_| whole.symlink_metadata().is_err()).and_then(place);
        let Some((path, line)) = place else { return Ok(Self::plain(cwd, Path::new(text))) };
        let line = line.parse().ok().filter(|line| *line > 0).ok_or_else(|| {
            CliError::usage(
                format!("{line:?} is not a line of {path}"),
                "lines count from 1: PATH:LINE",
            )
        })?;
        Ok(Self { line: Some(line), ..Self::plain(cwd, Path::new(path)) })
    }

    /// A path without a line.
    pub(crate) fn plain(cwd: &Path, path: &Path) -> Self {
        Self { named: path.display().to_string(), path: cwd.join(path), line: None }
    }
}

/// Path and line; a column after the line is accepted and ignored.
fn place(text: &str) -> Option<(&str, &str)> {
    let (front, last) = number_after_colon(text)?;
    Some(number_after_colon(front).unwrap_or((front, last)))
}

fn number_after_colon(text: &str) -> Option<(&str, &str)> {
    let (front, number) = text.rsplit_once(':')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !front.is_empty()).then_some((front, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(cwd: &Path, text: &str) -> (String, Option<u32>) {
        let target = Target::parse(cwd, OsStr::new(text)).expect("a target");
        let path = target.path.strip_prefix(cwd).expect("below cwd").display().to_string();
        (path, target.line)
    }

    #[test]
    fn lines_follow_the_last_colon() {
        let cwd = Path::new("/nowhere");
        for (text, path, line) in [
            ("src/a.rs", "src/a.rs", None),
            ("src/a.rs:12", "src/a.rs", Some(12)),
            ("src/a.rs:12:7", "src/a.rs", Some(12)),
            ("src/a.rs:", "src/a.rs:", None),
            ("src/a.rs:x", "src/a.rs:x", None),
            ("src/a:b:3", "src/a:b", Some(3)),
            ("a.rs:-3", "a.rs:-3", None),
            (":3", ":3", None),
        ] {
            assert_eq!(parsed(cwd, text), (path.to_owned(), line), "{text}");
        }
    }

    #[test]
    fn a_file_of_that_very_name_wins() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a:12"), "x").expect("written");
        assert_eq!(parsed(folder.path(), "a:12"), ("a:12".to_owned(), None));
        assert_eq!(parsed(folder.path(), "a:12:3"), ("a".to_owned(), Some(12)));
        std::fs::write(folder.path().join("b:7"), "x").expect("written");
        assert_eq!(parsed(folder.path(), "b:7:9").1, Some(7));
    }

    #[test]
    fn a_line_that_is_none_is_refused() {
        for text in ["a.rs:0", "a.rs:99999999999"] {
            let error = Target::parse(Path::new("/nowhere"), OsStr::new(text)).expect_err(text);
            assert!(error.help().is_some_and(|help| help.contains("count from 1")), "{text}");
        }
    }
}
