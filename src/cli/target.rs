//! Parses file arguments: `PATH`, `PATH:LINE`, `PATH:LINE:COLUMN` and `PATH:FIRST-LAST`, as people,
//! compilers and editors write them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::CliError;
use code::LineRange;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTarget {
    pub named: String,
    pub path: PathBuf,
    /// The line or lines that the argument names; `None` for the whole file.
    pub lines: Option<LineRange>,
}

impl FileTarget {
    /// Parses a file argument. If the whole text is the name of an existing file, it is the path,
    /// even if it ends like `:12`. Otherwise a number, or two numbers with a hyphen, after the last
    /// colon are the lines.
    pub fn parse(cwd: &Path, text: &OsStr) -> Result<Self, CliError> {
        let exists = |path: &OsStr| cwd.join(path).symlink_metadata().is_ok();
        let place =
            text.to_str().filter(|_| !exists(text)).and_then(|text| split_lines(text, &exists));
        let Some((path, lines)) = place else {
            return Ok(Self::without_lines(cwd, Path::new(text)));
        };
        let range = line_range(lines).ok_or_else(|| {
            let what = if lines.contains('-') { "range of lines" } else { "line" };
            let hint = "lines count from 1: PATH:LINE, or PATH:FIRST-LAST";
            CliError::usage(format!("{lines:?} is not a {what} of {path}"), hint)
        })?;
        Ok(Self { lines: Some(range), ..Self::without_lines(cwd, Path::new(path)) })
    }

    pub fn without_lines(cwd: &Path, path: &Path) -> Self {
        Self { named: path.display().to_string(), path: cwd.join(path), lines: None }
    }

    /// Returns the one line that is named. Fails if the argument names several lines.
    pub fn line(&self) -> Result<Option<u32>, CliError> {
        match self.lines {
            Some(lines) if lines.start() != lines.end() => Err(CliError::usage(
                format!("{}-{} are several lines", lines.start(), lines.end()),
                format!("name one, as {}:{}", self.named, lines.start()),
            )),
            lines => Ok(lines.map(LineRange::start)),
        }
    }

    /// Splits `REV:PATH` into a revision and a path, as git does. Returns `None` if the text is the
    /// name of an existing file.
    pub fn at_revision(&self) -> Option<(&str, &str)> {
        let (revision, path) = self.named.split_once(':')?;
        let is_file = self.path.symlink_metadata().is_ok();
        // No revision begins with these characters, and no path in a commit does. The text is an
        // absolute path, or a Windows path.
        let is_path = revision.starts_with(['/', '.', '\\']) || path.starts_with(['/', '\\']);
        let is_empty = revision.is_empty() || path.is_empty();
        (!is_file && !is_path && !is_empty).then_some((revision, path))
    }
}

pub fn line_range(text: &str) -> Option<LineRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse().ok();
    LineRange::new(number(first)?, number(last)?)
}

/// Splits the text into path and lines. A column after the line is accepted and ignored.
fn split_lines<'a>(text: &'a str, exists: &dyn Fn(&OsStr) -> bool) -> Option<(&'a str, &'a str)> {
    let (front, last) = lines_after_colon(text)?;
    let is_column = !last.contains('-') && !exists(OsStr::new(front));
    Some(lines_after_colon(front).filter(|_| is_column).unwrap_or((front, last)))
}

fn lines_after_colon(text: &str) -> Option<(&str, &str)> {
    let (front, lines) = text.rsplit_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    (is_number(first) && is_number(last) && !front.is_empty()).then_some((front, lines))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ground::Hint;

    /// Returns the path, with the first line and the last.
    fn parsed(cwd: &Path, text: &str) -> (String, Option<(u32, u32)>) {
        let target = FileTarget::parse(cwd, OsStr::new(text)).expect("a target");
        let path = target.path.strip_prefix(cwd).expect("below cwd").display().to_string();
        (path, target.lines.map(|lines| (lines.start(), lines.end())))
    }

    #[test]
    fn lines_follow_the_last_colon() {
        let cwd = Path::new("/nowhere");
        for (text, path, line) in [
            ("src/a.rs", "src/a.rs", None),
            ("src/a.rs:12", "src/a.rs", Some((12, 12))),
            ("src/a.rs:12:7", "src/a.rs", Some((12, 12))),
            ("src/a.rs:", "src/a.rs:", None),
            ("src/a.rs:x", "src/a.rs:x", None),
            ("src/a:b:3", "src/a:b", Some((3, 3))),
            ("a.rs:-3", "a.rs:-3", None),
            (":3", ":3", None),
            ("src/a.rs:10-20", "src/a.rs", Some((10, 20))),
            ("src/a.rs:7-7", "src/a.rs", Some((7, 7))),
            ("src/a.rs:10-", "src/a.rs:10-", None),
            ("src/a.rs:10-20:3", "src/a.rs", Some((10, 20))),
            (r"C:\src\a.rs:12", r"C:\src\a.rs", Some((12, 12))),
            ("HEAD~1:src/a.rs:12", "HEAD~1:src/a.rs", Some((12, 12))),
        ] {
            assert_eq!(parsed(cwd, text), (path.to_owned(), line), "{text}");
        }
    }

    #[test]
    fn a_file_with_exactly_that_name_wins() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a:12"), "x").expect("written");
        assert_eq!(parsed(folder.path(), "a:12"), ("a:12".to_owned(), None));
        assert_eq!(parsed(folder.path(), "a:12:3"), ("a:12".to_owned(), Some((3, 3))));
        std::fs::write(folder.path().join("b:7"), "x").expect("written");
        assert_eq!(parsed(folder.path(), "b:7:9").1, Some((9, 9)));
        assert_eq!(parsed(folder.path(), "c:7:9"), ("c".to_owned(), Some((7, 7))));
        let target = FileTarget::parse(folder.path(), OsStr::new("a:12")).expect("a target");
        assert_eq!(target.at_revision(), None);
    }

    #[test]
    fn a_revision_comes_before_the_first_colon() {
        let cwd = Path::new("/nowhere");
        for (text, found) in [
            ("HEAD~1:src/a.rs:12", Some(("HEAD~1", "src/a.rs"))),
            ("origin/main:src/a:b", Some(("origin/main", "src/a:b"))),
            ("src/a.rs:12", None),
            (":src/a.rs", None),
            (r"C:\src\a.rs", None),
            ("/etc/hostname:1:x", None),
            ("../a.rs:x", None),
            ("HEAD:", None),
        ] {
            let target = FileTarget::parse(cwd, OsStr::new(text)).expect("a target");
            assert_eq!(target.at_revision(), found, "{text}");
        }
    }

    #[test]
    fn an_invalid_line_is_refused() {
        for text in ["a.rs:0", "a.rs:99999999999", "a.rs:9-3", "a.rs:0-3"] {
            let error = FileTarget::parse(Path::new("/nowhere"), OsStr::new(text)).expect_err(text);
            assert!(error.hint().is_some_and(|hint| hint.contains("count from 1")), "{text}");
        }
    }
}
