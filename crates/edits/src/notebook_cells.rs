//! The cells of a Jupyter notebook in its text: where the source of each is, and the text with the
//! sources that an editor shows.
//!
//! An editor shows each cell as a document of its own, but a notebook is recorded as a file. The
//! text with the cells of the editor leaves everything else as it is on disk, line by line, so that
//! lines that nobody changed stay the same lines.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

const EMPTY: &str =
    "{\n \"cells\": [],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellSource {
    cell: Range<usize>,
    pub bytes: Range<usize>,
    pub text: String,
    /// For each byte of the text, and for its end, the byte in the notebook.
    places: Vec<u32>,
}

impl CellSource {
    pub fn in_notebook(&self, byte: usize) -> usize {
        self.places.get(byte).or(self.places.last()).map_or(self.bytes.start, |at| *at as usize)
    }

    /// Returns the byte of the cell's text at a byte of the notebook, or the nearest one.
    pub fn in_cell(&self, byte: usize) -> usize {
        let byte = u32::try_from(byte).unwrap_or(u32::MAX);
        let at = self.places.partition_point(|place| *place < byte);
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ShownCell<'a> {
    /// The number of the cell in the text that is given, counted from 0, if it has one.
    pub from: Option<usize>,
    /// Whether it is code. Else it is Markdown. Only for a cell that the text does not have.
    pub is_code: bool,
    pub text: &'a str,
}

/// Returns the sources of the cells of a notebook, in their order. `None` if the text is no notebook,
/// or a cell has no source.
pub fn sources(notebook: &str) -> Option<Vec<CellSource>> {
    let cells = cells_of(notebook)?;
    let mut found = Vec::new();
    for cell in items(notebook, &cells)? {
        let source = member(notebook, &cell, "source")?;
        let (text, places) = decoded_text(notebook, &source)?;
        found.push(CellSource { cell, bytes: source, text, places });
    }
    Some(found)
}

/// Returns the text of a notebook with these cells instead of its own. What is not a source of a cell
/// stays as it is. A text that is no notebook is treated as an empty one.
pub fn with_cells(notebook: &str, shown: &[ShownCell<'_>]) -> String {
    let (notebook, known) = match sources(notebook) {
        Some(known) => (notebook, known),
        None => (EMPTY, Vec::new()),
    };
    let cells = cells_of(notebook).unwrap_or_default();
    let written: Vec<String> = shown.iter().map(|cell| cell_text(notebook, &known, cell)).collect();
    let (start, end, between) = match (known.first(), known.get(1), known.last()) {
        (Some(first), Some(second), Some(last)) => {
            (first.cell.start, last.cell.end, &notebook[first.cell.end..second.cell.start])
        }
        (Some(only), None, _) => (only.cell.start, only.cell.end, ",\n  "),
        _ => {
            let inside = match written.is_empty() {
                true => String::new(),
                false => format!("\n  {}\n ", written.join(",\n  ")),
            };
            let (before, after) = (&notebook[..cells.start + 1], &notebook[cells.end - 1..]);
            return format!("{before}{inside}{after}");
        }
    };
    format!("{}{}{}", &notebook[..start], written.join(between), &notebook[end..])
}

fn cell_text(notebook: &str, known: &[CellSource], shown: &ShownCell<'_>) -> String {
    let Some(cell) = shown.from.and_then(|at| known.get(at)) else {
        let source = source_text(shown.text, "\n    ", "\n   ");
        let (kind, outputs) = match shown.is_code {
            true => (
                "code",
                "\n   \"execution_count\": null,\n   \"metadata\": {},\n   \"outputs\": [],",
            ),
            false => ("markdown", "\n   \"metadata\": {},"),
        };
        return format!(
            "{{\n   \"cell_type\": \"{kind}\",{outputs}\n   \"source\": {source}\n  }}"
        );
    };
    let (before, after) = (cell.cell.start..cell.bytes.start, cell.bytes.end..cell.cell.end);
    let written = &notebook[cell.bytes.clone()];
    let source = match cell.text == shown.text {
        true => written.to_owned(),
        false if written.starts_with('"') => json_string(shown.text),
        false => {
            let gap = |text: &str| text[..text.len() - text.trim_start().len()].to_owned();
            let (first, inside) = (gap(&written[1..]), &written[..written.len() - 1]);
            let last = inside[inside.trim_end().len()..].to_owned();
            match first.contains('\n') {
                true => source_text(shown.text, &first, &last),
                false => source_text(shown.text, "\n    ", "\n   "),
            }
        }
    };
    format!("{}{source}{}", &notebook[before], &notebook[after])
}

fn source_text(text: &str, before_line: &str, before_end: &str) -> String {
    let lines: Vec<String> = text
        .split_inclusive('\n')
        .map(|line| format!("{before_line}{}", json_string(line)))
        .collect();
    match lines.is_empty() {
        true => "[]".to_owned(),
        false => format!("[{}{before_end}]", lines.join(",")),
    }
}

fn json_string(text: &str) -> String {
    Value::from(text).to_string()
}

fn cells_of(notebook: &str) -> Option<Range<usize>> {
    let whole = value(notebook, 0)?;
    member(notebook, &whole, "cells").filter(|cells| notebook[cells.clone()].starts_with('['))
}

fn member(text: &str, object: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let mut at = start_of_first_item(text, object, b'{')?;
    let mut found = None;
    while at < object.end - 1 {
        let key = value(text, at)?;
        let colon = next_after_space(text, key.end);
        if text.as_bytes().get(colon) != Some(&b':') {
            return None;
        }
        let of_key = value(text, colon + 1)?;
        if text[key.clone()] == *json_string(name) {
            found = Some(of_key.clone());
        }
        at = after_comma(text, of_key.end);
    }
    found
}

fn items(text: &str, list: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let mut at = start_of_first_item(text, list, b'[')?;
    let mut found = Vec::new();
    while at < list.end - 1 {
        let item = value(text, at)?;
        at = after_comma(text, item.end);
        found.push(item);
    }
    Some(found)
}

/// Returns where the first item of a list or an object begins. If it is empty, this is the place of
/// its closing bracket. `None` if the value does not begin with `bracket`.
fn start_of_first_item(text: &str, value: &Range<usize>, bracket: u8) -> Option<usize> {
    (text.as_bytes().get(value.start) == Some(&bracket))
        .then(|| next_after_space(text, value.start + 1))
}

fn after_comma(text: &str, at: usize) -> usize {
    let at = next_after_space(text, at);
    if text.as_bytes().get(at) == Some(&b',') { next_after_space(text, at + 1) } else { at }
}

fn next_after_space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

fn value(text: &str, at: usize) -> Option<Range<usize>> {
    let start = next_after_space(text, at);
    let mut values = Deserializer::from_str(text.get(start..)?).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(start..start + values.byte_offset())
}

/// Returns the text of a string or of a list of strings, and for each byte of it and its end the byte
/// in the notebook.
fn decoded_text(notebook: &str, source: &Range<usize>) -> Option<(String, Vec<u32>)> {
    let strings = match notebook.as_bytes()[source.start] {
        b'"' => vec![source.clone()],
        _ => items(notebook, source)?,
    };
    let (mut text, mut places) = (String::new(), Vec::new());
    // An empty list has its text between the brackets.
    let mut end = source.start + 1;
    for string in strings {
        if notebook.as_bytes()[string.start] != b'"' {
            return None;
        }
        let inside = string.start + 1..string.end - 1;
        let mut at = inside.start;
        while at < inside.end {
            let long = escape_length(notebook.get(at..inside.end)?)?;
            let piece = notebook.get(at..at + long)?;
            let said = match piece.starts_with('\\') {
                true => serde_json::from_str::<String>(&format!("\"{piece}\"")).ok()?,
                false => piece.to_owned(),
            };
            for byte in 0..said.len() {
                // An escape such as `\u00e9` counts as one place. Any other character has the same
                // bytes in the notebook as in the text.
                let inner = if long == said.len() { byte } else { 0 };
                places.push(u32::try_from(at + inner).ok()?);
            }
            text.push_str(&said);
            at += long;
        }
        end = inside.end;
    }
    places.push(u32::try_from(end).ok()?);
    Some((text, places))
}

/// Returns the length of the first character of a text in a JSON string, escaped or not.
fn escape_length(text: &str) -> Option<usize> {
    let Some(escaped) = text.strip_prefix('\\') else {
        return text.chars().next().map(char::len_utf8);
    };
    if !escaped.starts_with('u') {
        return Some(2);
    }
    let is_half = |text: &str| {
        let code = text.get(2..6).and_then(|code| u32::from_str_radix(code, 16).ok());
        code.is_some_and(|code| (0xD800..0xDC00).contains(&code))
    };
    let long = if is_half(text) { 12 } else { 6 };
    (text.len() >= long && text.is_char_boundary(long)).then_some(long)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"source": "no"},
   "source": [
    "# Prices\n",
    "What \"is\" sold: \u00fc 😀 \ud83d\ude00"
   ]
  },
  {
   "cell_type": "code",
   "outputs": [{"text": ["}1\n"]}],
   "source": "rows[0]"
  },
  {"source": []}
 ],
 "nbformat": 4
}
"##;

    fn texts(notebook: &str) -> Vec<String> {
        sources(notebook).expect("a notebook").into_iter().map(|cell| cell.text).collect()
    }

    fn kept_cell(text: &str, from: usize) -> ShownCell<'_> {
        ShownCell { from: Some(from), is_code: true, text }
    }

    #[test]
    fn sources_are_found_with_their_places() {
        assert_eq!(texts(BOOK), ["# Prices\nWhat \"is\" sold: ü 😀 😀", "rows[0]", ""]);
        let cell = &sources(BOOK).unwrap()[0];
        let at = |text: &str| cell.in_notebook(cell.text.find(text).unwrap());
        assert!(BOOK[at("What")..].starts_with("What \\\"is"));
        assert!(BOOK[at("ü")..].starts_with("\\u00fc"));
        assert_eq!(cell.in_cell(at("sold")), cell.text.find("sold").unwrap());
        assert_eq!(cell.in_cell(0), 0);
        assert_eq!(cell.in_cell(BOOK.len()), cell.text.len());
        let before_second_line = BOOK.find("\"What").unwrap();
        assert_eq!(cell.in_cell(before_second_line), cell.text.find("What").unwrap());
    }

    #[test]
    fn what_is_no_notebook_has_no_sources() {
        for text in
            ["", "{", "[]", "{\"cells\": 1}", "{\"cells\": [{}]}", "{\"cells\": [{\"source\": 1}]}"]
        {
            assert_eq!(sources(text), None, "{text}");
        }
        assert_eq!(texts(EMPTY), [""; 0]);
    }

    #[test]
    fn cells_as_they_are_change_nothing() {
        let known = sources(BOOK).unwrap();
        let same: Vec<_> =
            known.iter().enumerate().map(|(at, cell)| kept_cell(&cell.text, at)).collect();
        assert_eq!(with_cells(BOOK, &same), BOOK);
    }

    #[test]
    fn a_changed_cell_changes_only_its_source() {
        let known = sources(BOOK).unwrap();
        let edited = with_cells(
            BOOK,
            &[
                kept_cell("# Prices\nMore\n", 0),
                kept_cell("rows[1]", 1),
                kept_cell(&known[2].text, 2),
            ],
        );
        let before = &BOOK[..BOOK.find("\n    \"What").unwrap()];
        assert!(
            edited.starts_with(&format!("{before}\n    \"More\\n\"\n   ]\n  }},\n")),
            "{edited}"
        );
        assert!(edited.contains("   \"source\": \"rows[1]\"\n"), "{edited}");
        assert!(edited.ends_with(&BOOK[BOOK.find("  {\"source\": []}").unwrap()..]));
    }

    #[test]
    fn cells_move_come_and_go() {
        let new = ShownCell { from: None, is_code: false, text: "new\n" };
        let moved = with_cells(BOOK, &[kept_cell("rows[0]", 1), new, kept_cell("", 2)]);
        assert_eq!(texts(&moved), ["rows[0]", "new\n", ""]);
        assert!(moved.contains("\"outputs\": [{\"text\": [\"}1\\n\"]}]"), "{moved}");
        assert_eq!(texts(&with_cells(BOOK, &[])), [""; 0]);
        assert_eq!(texts(&with_cells("no notebook", &[new, new])), ["new\n", "new\n"]);
    }
}
