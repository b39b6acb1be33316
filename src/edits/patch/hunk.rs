//! One hunk, and what a list of them makes of a text.

use std::ops::Range;

use super::seek::{SearchArea, find};

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkLine {
    /// Stands in the file and stays, byte for byte as the file has it.
    Keep(String),
    /// Stands in the file and goes.
    Cut(String),
    /// Is new.
    New(String),
}

/// A run of lines that belong together: `@@` and what follows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The text after `@@`: a line of the file below which the hunk applies.
    pub header: Option<String>,
    /// Kept, cut and new lines, without their ends.
    pub lines: Vec<HunkLine>,
    /// The hunk claims the end of the file (`*** End of File`).
    pub at_end: bool,
}

/// A hunk does not fit the text: the tool refuses the whole file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingLines {
    /// The `@@` line is nowhere below the hunk before it.
    #[error("the patch looks for the line `{0}`, which is not there")]
    Header(String),
    /// The kept and cut lines do not stand together below the hunk before them.
    #[error("the patch expects these lines, which are not there:\n{0}")]
    Lines(String),
}

impl Hunk {
    /// The lines that the hunk expects to find.
    fn old(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|line| match line {
                HunkLine::Keep(text) | HunkLine::Cut(text) => Some(text.as_str()),
                HunkLine::New(_) => None,
            })
            .collect()
    }

    /// Only new lines: there is nothing to find.
    fn only_adds(&self) -> bool {
        self.lines.iter().all(|line| matches!(line, HunkLine::New(_)))
    }
}

/// A run of whole lines that gives way to others.
#[derive(Debug)]
struct Swap {
    /// Indices of the lines that go; empty where lines are only inserted.
    rows: Range<usize>,
    lines: Vec<String>,
}

/// The text after all hunks, or why the tool would refuse them.
///
/// Lines that stay keep their own ends. New lines, and a last line that had no
/// end, get the end of the file's first line: an update always leaves a file
/// that ends in one.
pub(crate) fn apply(text: &str, hunks: &[Hunk]) -> Result<String, MissingLines> {
    let rows = rows(text);
    let swaps = swaps(&rows, hunks)?;
    let end = rows.first().map_or("\n", |row| match row.end {
        "" => "\n",
        end => end,
    });
    let mut out = String::with_capacity(text.len());
    let mut next = 0;
    for swap in &swaps {
        rows[next..swap.rows.start].iter().for_each(|row| row.push(&mut out, end));
        for line in &swap.lines {
            out.push_str(line);
            out.push_str(end);
        }
        next = swap.rows.end;
    }
    rows[next..].iter().for_each(|row| row.push(&mut out, end));
    Ok(out)
}

/// A line of the file, apart from its end.
struct HunkRow<'a> {
    text: &'a str,
    end: &'a str,
}

impl HunkRow<'_> {
    fn push(&self, out: &mut String, end: &str) {
        out.push_str(self.text);
        out.push_str(if self.end.is_empty() { end } else { self.end });
    }
}

/// The lines of a file; a lone carriage return ends one too.
fn rows(text: &str) -> Vec<HunkRow<'_>> {
    let mut rows = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\n']) {
        let end = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        rows.push(HunkRow { text: &rest[..at], end: &rest[at..at + end] });
        rest = &rest[at + end..];
    }
    if !rest.is_empty() {
        rows.push(HunkRow { text: rest, end: "" });
    }
    rows
}

/// Where every hunk applies, in the order of the file.
fn swaps(rows: &[HunkRow<'_>], hunks: &[Hunk]) -> Result<Vec<Swap>, MissingLines> {
    let texts: Vec<&str> = rows.iter().map(|row| row.text).collect();
    let mut swaps = Vec::new();
    let mut next = 0;
    for hunk in hunks {
        if let Some(header) = &hunk.header {
            let at = find(&texts, &[header.as_str()], SearchArea::From(next));
            next = at.ok_or_else(|| MissingLines::Header(header.clone()))? + 1;
        }
        if hunk.only_adds() {
            swaps.extend(changed(&hunk.lines, texts.len()));
            continue;
        }
        next = place(&texts, hunk, next, &mut swaps)?;
    }
    swaps.sort_by_key(|swap| swap.rows.start);
    Ok(swaps)
}

/// Finds the hunk at or below the row `next`; the row below it.
fn place(
    texts: &[&str],
    hunk: &Hunk,
    next: usize,
    swaps: &mut Vec<Swap>,
) -> Result<usize, MissingLines> {
    let old = hunk.old();
    let place = match hunk.at_end {
        true => SearchArea::AtEnd(next),
        false => SearchArea::From(next),
    };
    if let Some(at) = find(texts, &old, place) {
        swaps.extend(changed(&hunk.lines, at));
        return Ok(at + old.len());
    }
    // A last empty line often stands for the line feed that ends the file.
    let shorter = old.split_last().filter(|(last, _)| last.is_empty());
    if let Some((_, rest)) = shorter
        && let Some(at) = find(texts, rest, place)
    {
        swaps.extend(changed(&without_last_empty(&hunk.lines), at));
        return Ok(at + rest.len());
    }
    Err(MissingLines::Lines(old.join("\n")))
}

/// The runs of cut and new lines between lines that stay, for a hunk at row `at`.
fn changed(lines: &[HunkLine], at: usize) -> Vec<Swap> {
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

/// The lines without the empty line that ends what is expected, and without the
/// one that ends what is to stand there, if that is empty too.
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
