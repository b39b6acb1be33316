//! Parses the text of a patch.

use super::{FilePatch, Hunk, HunkLine};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ENVIRONMENT: &str = "*** Environment ID:";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// The reason why a text is not a patch. The tool refuses such a text before it changes any file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The first line is not `*** Begin Patch`.
    #[error("the patch does not begin with `*** Begin Patch`")]
    Begin,
    /// The last line is not `*** End Patch`, or something follows it.
    #[error("the patch does not end with `*** End Patch`")]
    End,
    /// A line that is not allowed in its place.
    #[error("line {line} of the patch: {what}")]
    HunkLine {
        /// The number of the line, counted from 1 at `*** Begin Patch`.
        line: usize,
        /// A description of the error.
        what: &'static str,
    },
}

/// Reads a patch. The files are in the order of the patch, and a file may occur twice.
///
/// A patch that is still inside `<<'EOF' … EOF` is accepted too, as the tool does.
pub fn read(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let lines: Vec<&str> = text.trim().lines().collect();
    let lines = match enclosed(&lines) {
        Ok(()) => &lines[..],
        Err(error) => unwrapped(&lines).ok_or(error)?,
    };
    enclosed(lines)?;
    let (_end, lines) = lines.split_last().ok_or(PatchError::End)?;
    let mut reader = PatchReader::default();
    for (index, line) in lines.iter().enumerate().skip(1) {
        reader.line = index + 1;
        reader.take(line.strip_suffix('\r').unwrap_or(line))?;
    }
    reader.line += 1;
    // The last line ends the patch even if it is indented. The patch may also have ended before it.
    if reader.state != PatchPart::Ended {
        reader.finished()?;
    }
    Ok(reader.files)
}

/// Checks that the first line begins a patch and the last line ends it.
fn enclosed(lines: &[&str]) -> Result<(), PatchError> {
    let is = |line: Option<&&str>, marker: &str| line.is_some_and(|line| line.trim() == marker);
    if !is(lines.first(), BEGIN) {
        return Err(PatchError::Begin);
    }
    match is(lines.last(), END) {
        true => Ok(()),
        false => Err(PatchError::End),
    }
}

/// Returns the lines inside a here-document, if no shell has removed its first and last line.
fn unwrapped<'a>(lines: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let (first, rest) = lines.split_first()?;
    let (last, inner) = rest.split_last()?;
    let opens = matches!(*first, "<<EOF" | "<<'EOF'" | "<<\"EOF\"");
    (opens && last.ends_with("EOF") && inner.len() >= 2).then_some(inner)
}

/// The part of the patch that the next line belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PatchPart {
    #[default]
    Start,
    Add,
    Delete,
    Update,
    Ended,
}

#[derive(Debug, Default)]
struct PatchReader {
    state: PatchPart,
    /// Whether the patch has named its environment, which is allowed once.
    environment: bool,
    line: usize,
    files: Vec<FilePatch>,
}

impl PatchReader {
    fn take(&mut self, line: &str) -> Result<(), PatchError> {
        if self.state == PatchPart::Ended {
            return match line.trim().is_empty() {
                true => Ok(()),
                false => Err(PatchError::End),
            };
        }
        // In an update, an indented header is a line of the file.
        let header = match self.state {
            PatchPart::Update => line.trim_end(),
            _ => line.trim(),
        };
        if self.environment(header)? || self.header(header)? {
            return Ok(());
        }
        match self.state {
            PatchPart::Add => self.added(line),
            PatchPart::Update => self.update(line),
            _ => self.refuse("expected a file: Add, Delete or Update"),
        }
    }

    fn refuse<T>(&self, what: &'static str) -> Result<T, PatchError> {
        Err(PatchError::HunkLine { line: self.line, what })
    }

    /// Reads the line that names the environment. Returns false if the line does not.
    fn environment(&mut self, line: &str) -> Result<bool, PatchError> {
        let name = line.strip_prefix(ENVIRONMENT);
        let Some(name) = name.filter(|_| self.state == PatchPart::Start) else {
            return Ok(false);
        };
        if self.environment || name.trim().is_empty() {
            return self.refuse("the environment must be named once, with a name");
        }
        self.environment = true;
        Ok(true)
    }

    /// Reads a line that begins a file or ends the patch. Returns false if the line does neither.
    fn header(&mut self, line: &str) -> Result<bool, PatchError> {
        let file = if line == END {
            None
        } else if let Some(path) = line.strip_prefix(ADD) {
            let text = String::new();
            Some((PatchPart::Add, FilePatch::Add { path: path.into(), text }))
        } else if let Some(path) = line.strip_prefix(DELETE) {
            Some((PatchPart::Delete, FilePatch::Delete { path: path.into() }))
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let file = FilePatch::Update { path: path.into(), to: None, hunks: Vec::new() };
            Some((PatchPart::Update, file))
        } else {
            return Ok(false);
        };
        self.finished()?;
        match file {
            None => self.state = PatchPart::Ended,
            Some((state, file)) => {
                self.state = state;
                self.files.push(file);
            }
        }
        Ok(true)
    }

    /// Checks that the last hunk of the preceding file has lines.
    fn finished(&self) -> Result<(), PatchError> {
        let Some(FilePatch::Update { hunks, .. }) = self.files.last() else {
            return Ok(());
        };
        match hunks.last() {
            Some(hunk) if !hunk.lines.is_empty() => Ok(()),
            _ => self.refuse("the update before this line changes nothing"),
        }
    }

    fn added(&mut self, line: &str) -> Result<(), PatchError> {
        match (line.strip_prefix('+'), self.files.last_mut()) {
            (Some(line), Some(FilePatch::Add { text, .. })) => {
                text.push_str(line);
                text.push('\n');
                Ok(())
            }
            _ => self.refuse("a line of a new file begins with `+`"),
        }
    }

    fn update(&mut self, line: &str) -> Result<(), PatchError> {
        let Some(FilePatch::Update { to, hunks, .. }) = self.files.last_mut() else {
            return self.refuse("a hunk must follow `*** Update File:`");
        };
        let bare = line.trim_end();
        let opens = bare == "@@" || bare.starts_with("@@ ");
        match hunks.last() {
            None if to.is_none() && bare.starts_with(MOVE) => {
                *to = Some(bare[MOVE.len()..].to_owned());
                return Ok(());
            }
            Some(hunk) if hunk.at_end && !opens => {
                return match bare.is_empty() {
                    true => Ok(()),
                    false => self.refuse("after the end of the file only another `@@` may follow"),
                };
            }
            Some(hunk) if hunk.lines.is_empty() && (opens || bare == END_OF_FILE) => {
                return self.refuse("the hunk before this line has no lines");
            }
            _ => {}
        }
        if opens {
            let header = bare.strip_prefix("@@ ").map(str::to_owned);
            hunks.push(Hunk { header, ..Hunk::default() });
            return Ok(());
        }
        if bare == END_OF_FILE {
            if let Some(hunk) = hunks.last_mut() {
                hunk.at_end = true;
            }
            return Ok(());
        }
        let Some(line) = hunk_line(line) else {
            return self.refuse("a line of a hunk begins with a space, `+` or `-`");
        };
        if hunks.is_empty() {
            hunks.push(Hunk::default());
        }
        hunks.last_mut().expect("pushed above if there was none").lines.push(line);
        Ok(())
    }
}

/// Reads a line of a hunk by its first character. An empty line is one that stays.
fn hunk_line(line: &str) -> Option<HunkLine> {
    if line.is_empty() {
        return Some(HunkLine::Keep(String::new()));
    }
    let keep = line.strip_prefix(' ').map(|line| HunkLine::Keep(line.to_owned()));
    keep.or_else(|| line.strip_prefix('+').map(|line| HunkLine::New(line.to_owned())))
        .or_else(|| line.strip_prefix('-').map(|line| HunkLine::Cut(line.to_owned())))
}
