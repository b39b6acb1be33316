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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("the patch does not begin with `*** Begin Patch`")]
    Begin,
    #[error("the patch does not end with `*** End Patch`")]
    End,
    #[error("line {line} of the patch: {what}")]
    HunkLine {
        /// The number of the line, counted from 1 at `*** Begin Patch`.
        line: usize,
        what: &'static str,
    },
}

/// Reads a patch. The files are in the order of the patch, and a file may occur twice.
///
/// A patch that is still inside `<<'EOF' … EOF` is accepted too, as the tool does.
pub fn read(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let lines: Vec<&str> = text.trim().lines().collect();
    let lines = match require_markers(&lines) {
        Ok(()) => &lines[..],
        Err(error) => lines_in_heredoc(&lines).ok_or(error)?,
    };
    require_markers(lines)?;
    let (_end, lines) = lines.split_last().ok_or(PatchError::End)?;
    let mut reader = PatchReader::default();
    for (index, line) in lines.iter().enumerate().skip(1) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if reader.is_ended && !line.trim().is_empty() {
            return Err(PatchError::End);
        }
        reader.take(line).map_err(|what| PatchError::HunkLine { line: index + 1, what })?;
    }
    // The last line ends the patch even if it is indented.
    let at_end = |what| PatchError::HunkLine { line: lines.len() + 1, what };
    reader.require_change().map_err(at_end)?;
    Ok(reader.files)
}

fn require_markers(lines: &[&str]) -> Result<(), PatchError> {
    let is = |line: Option<&&str>, marker: &str| line.is_some_and(|line| line.trim() == marker);
    if !is(lines.first(), BEGIN) {
        return Err(PatchError::Begin);
    }
    match is(lines.last(), END) {
        true => Ok(()),
        false => Err(PatchError::End),
    }
}

fn lines_in_heredoc<'a>(lines: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let (first, rest) = lines.split_first()?;
    let (last, inner) = rest.split_last()?;
    let opens = matches!(*first, "<<EOF" | "<<'EOF'" | "<<\"EOF\"");
    (opens && last.ends_with("EOF") && inner.len() >= 2).then_some(inner)
}

#[derive(Debug, Default)]
struct PatchReader {
    /// Whether the patch has named its environment, which is allowed once.
    environment: bool,
    is_ended: bool,
    files: Vec<FilePatch>,
}

impl PatchReader {
    /// Reads a line. The error says what is wrong with it.
    fn take(&mut self, line: &str) -> Result<(), &'static str> {
        if self.is_ended {
            return Ok(());
        }
        // In an update, an indented header is a line of the file.
        let header = match self.files.last() {
            Some(FilePatch::Update { .. }) => line.trim_end(),
            _ => line.trim(),
        };
        if self.environment(header)? || self.header(header)? {
            return Ok(());
        }
        match self.files.last_mut() {
            Some(FilePatch::Add { text, .. }) => {
                let line = line.strip_prefix('+').ok_or("a line of a new file begins with `+`")?;
                text.push_str(line);
                text.push('\n');
                Ok(())
            }
            Some(FilePatch::Update { to, hunks, .. }) => update(to, hunks, line),
            _ => Err("expected a file: Add, Delete or Update"),
        }
    }

    fn environment(&mut self, line: &str) -> Result<bool, &'static str> {
        let name = line.strip_prefix(ENVIRONMENT);
        let Some(name) = name.filter(|_| self.files.is_empty()) else { return Ok(false) };
        if self.environment || name.trim().is_empty() {
            return Err("the environment must be named once, with a name");
        }
        self.environment = true;
        Ok(true)
    }

    /// Reads a line that begins a file or ends the patch. Returns false if the line does neither.
    fn header(&mut self, line: &str) -> Result<bool, &'static str> {
        let file = if line == END {
            None
        } else if let Some(path) = line.strip_prefix(ADD) {
            Some(FilePatch::Add { path: path.into(), text: String::new() })
        } else if let Some(path) = line.strip_prefix(DELETE) {
            Some(FilePatch::Delete { path: path.into() })
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            Some(FilePatch::Update { path: path.into(), to: None, hunks: Vec::new() })
        } else {
            return Ok(false);
        };
        self.require_change()?;
        self.is_ended = file.is_none();
        self.files.extend(file);
        Ok(true)
    }

    fn require_change(&self) -> Result<(), &'static str> {
        let Some(FilePatch::Update { hunks, .. }) = self.files.last() else { return Ok(()) };
        match hunks.last() {
            Some(hunk) if !hunk.lines.is_empty() => Ok(()),
            _ => Err("the update before this line changes nothing"),
        }
    }
}

fn update(to: &mut Option<String>, hunks: &mut Vec<Hunk>, line: &str) -> Result<(), &'static str> {
    let bare = line.trim_end();
    let opens = bare == "@@" || bare.starts_with("@@ ");
    match hunks.last_mut() {
        None if to.is_none() && bare.starts_with(MOVE) => *to = Some(bare[MOVE.len()..].to_owned()),
        Some(hunk) if hunk.at_end && !opens => {
            if !bare.is_empty() {
                return Err("after the end of the file only another `@@` may follow");
            }
        }
        Some(hunk) if hunk.lines.is_empty() && (opens || bare == END_OF_FILE) => {
            return Err("the hunk before this line has no lines");
        }
        _ if opens => {
            let header = bare.strip_prefix("@@ ").map(str::to_owned);
            hunks.push(Hunk { header, ..Hunk::default() });
        }
        Some(hunk) if bare == END_OF_FILE => hunk.at_end = true,
        None if bare == END_OF_FILE => {}
        last => {
            let line = hunk_line(line).ok_or("a line of a hunk begins with a space, `+` or `-`")?;
            match last {
                Some(hunk) => hunk.lines.push(line),
                None => hunks.push(Hunk { lines: vec![line], ..Hunk::default() }),
            }
        }
    }
    Ok(())
}

/// Reads a line of a hunk by its first character. An empty line is one that stays.
fn hunk_line(line: &str) -> Option<HunkLine> {
    let kind = match line.chars().next() {
        None | Some(' ') => HunkLine::Keep,
        Some('+') => HunkLine::New,
        Some('-') => HunkLine::Cut,
        Some(_) => return None,
    };
    Some(kind(line.get(1..).unwrap_or_default().to_owned()))
}
