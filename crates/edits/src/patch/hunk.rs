//! The hunks of a patch, and how they are applied to a text.

use std::ops::Range;

use super::seek::find;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkLine {
    /// A line of the file that stays, byte for byte as the file has it.
    Keep(String),
    Cut(String),
    New(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The text after `@@`: a line of the file below which the hunk applies.
    pub header: Option<String>,
    pub lines: Vec<HunkLine>,
    /// Whether the hunk must be at the end of the file (`*** End of File`).
    pub at_end: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingLines {
    #[error("the patch looks for the line `{0}`, which is not there")]
    Header(String),
    /// The kept and removed lines are not together in the file below the preceding hunk.
    #[error("the patch expects these lines, which are not there:\n{0}")]
    Lines(String),
}

impl Hunk {
    fn old(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|line| match line {
                HunkLine::Keep(text) | HunkLine::Cut(text) => Some(text.as_str()),
                HunkLine::New(_) => None,
            })
            .collect()
    }

    pub(crate) fn old_and_new_text(&self) -> (String, String) {
        let (mut old, mut new) = (String::new(), String::new());
        for line in &self.lines {
            let (is_old, is_new, text) = match line {
                HunkLine::Keep(text) => (true, true, text),
                HunkLine::Cut(text) => (true, false, text),
                HunkLine::New(text) => (false, true, text),
            };
            old.extend(is_old.then_some([text, "\n"]).into_iter().flatten());
            new.extend(is_new.then_some([text, "\n"]).into_iter().flatten());
        }
        (old, new)
    }

    fn only_adds(&self) -> bool {
        self.lines.iter().all(|line| matches!(line, HunkLine::New(_)))
    }
}

#[derive(Debug)]
struct Swap {
    /// The indices of the lines to remove. Empty if lines are only inserted.
    rows: Range<usize>,
    lines: Vec<String>,
}

/// Returns the text after all hunks, or the reason why the tool would refuse them.
///
/// Lines that stay keep their own line ends. New lines, and a last line without a line end, get the
/// line end of the first line of the file. So the result of an update always ends with a line end.
pub fn apply(text: &str, hunks: &[Hunk]) -> Result<String, MissingLines> {
    let mut rows = rows(text);
    let swaps = swaps(&rows, hunks)?;
    let end = rows.first().map(|[_, end]| *end).filter(|end| !end.is_empty()).unwrap_or("\n");
    if let Some([_, last]) = rows.last_mut().filter(|[_, last]| last.is_empty()) {
        *last = end;
    }
    let mut out = String::with_capacity(text.len());
    let mut next = 0;
    for swap in &swaps {
        out.extend(rows[next..swap.rows.start].iter().flatten().copied());
        out.extend(swap.lines.iter().flat_map(|line| [line.as_str(), end]));
        next = swap.rows.end;
    }
    out.extend(rows[next..].iter().flatten().copied());
    Ok(out)
}

/// Returns the lines of a file, with the text and the line end of each apart. A carriage return
/// without a line feed ends a line too.
fn rows(text: &str) -> Vec<[&str; 2]> {
    let mut rows = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\n']) {
        let end = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        rows.push([&rest[..at], &rest[at..at + end]]);
        rest = &rest[at + end..];
    }
    if !rest.is_empty() {
        rows.push([rest, ""]);
    }
    rows
}

/// Returns the changes of all hunks, in the order of the file.
fn swaps(rows: &[[&str; 2]], hunks: &[Hunk]) -> Result<Vec<Swap>, MissingLines> {
    let texts: Vec<&str> = rows.iter().map(|[text, _]| *text).collect();
    let mut swaps = Vec::new();
    let mut next = 0;
    for hunk in hunks {
        if let Some(header) = &hunk.header {
            let at = find(&texts, &[header.as_str()], next);
            next = at.ok_or_else(|| MissingLines::Header(header.clone()))? + 1;
        }
        if hunk.only_adds() {
            swaps.extend(changed_groups(&hunk.lines, texts.len()));
            continue;
        }
        next = place_hunk(&texts, hunk, next, &mut swaps)?;
    }
    swaps.sort_by_key(|swap| swap.rows.start);
    Ok(swaps)
}

/// Finds the hunk at row `next` or below, and adds its changes to `swaps`. Returns the row after
/// the hunk.
fn place_hunk(
    texts: &[&str],
    hunk: &Hunk,
    next: usize,
    swaps: &mut Vec<Swap>,
) -> Result<usize, MissingLines> {
    let old = hunk.old();
    // A hunk of the end must be the last lines of the file.
    let find = |wanted: &[&str]| {
        let is_last = hunk.at_end && !wanted.is_empty();
        let last = texts.len().saturating_sub(wanted.len());
        find(texts, wanted, if is_last { next.max(last) } else { next })
    };
    if let Some(at) = find(&old) {
        swaps.extend(changed_groups(&hunk.lines, at));
        return Ok(at + old.len());
    }
    // An empty line at the end of a hunk often means the line feed at the end of the file.
    let shorter = old.split_last().filter(|(last, _)| last.is_empty());
    if let Some((_, rest)) = shorter
        && let Some(at) = find(rest)
    {
        swaps.extend(changed_groups(&without_last_empty(&hunk.lines), at));
        return Ok(at + rest.len());
    }
    Err(MissingLines::Lines(old.join("\n")))
}

fn changed_groups(lines: &[HunkLine], at: usize) -> Vec<Swap> {
    let mut swaps = Vec::new();
    let mut swap = Swap { rows: at..at, lines: Vec::new() };
    for line in lines {
        match line {
            HunkLine::Cut(_) => swap.rows.end += 1,
            HunkLine::New(text) => swap.lines.push(text.clone()),
            HunkLine::Keep(_) => {
                let below = swap.rows.end + 1;
                let done =
                    std::mem::replace(&mut swap, Swap { rows: below..below, lines: Vec::new() });
                swaps.push(done);
            }
        }
    }
    swaps.push(swap);
    swaps.retain(|swap| !swap.rows.is_empty() || !swap.lines.is_empty());
    swaps
}

/// Returns the lines without the empty line at the end of the expected text. If the new text ends
/// in an empty line as well, that one is left out too.
fn without_last_empty(lines: &[HunkLine]) -> Vec<HunkLine> {
    let mut lines = lines.to_vec();
    if let Some(at) = lines.iter().rposition(|line| !matches!(line, HunkLine::New(_))) {
        match &lines[at] {
            HunkLine::Keep(text) => lines[at] = HunkLine::New(text.clone()),
            _ => drop(lines.remove(at)),
        }
    }
    if let Some(at) = lines.iter().rposition(|line| !matches!(line, HunkLine::Cut(_))) {
        match &lines[at] {
            HunkLine::Keep(text) if text.is_empty() => lines[at] = HunkLine::Cut(String::new()),
            HunkLine::New(text) if text.is_empty() => drop(lines.remove(at)),
            _ => {}
        }
    }
    lines
}
