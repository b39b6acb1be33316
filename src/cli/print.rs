//! All output of the command line: pages for people, JSON for programs, errors on stderr.
//!
//! A [`Page`] takes our own words as `'static` text, and escapes everything else with
//! `text::terminal`. So no text from a registry or a ledger can move the cursor or hide a word. A
//! closed pipe (`| head`) is not an error.

use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use clap::ColorChoice;
use serde::Serialize;
use serde_json::json;

use super::error::CliError;
use super::exit::Exit;
use super::process::{Streams, takes_colours};
use ground::text::counted;
use ground::{Environment, Hint, text};

pub const PLAIN: Style = Style::new();
pub const DIM: Style = Style::new().dimmed();
pub const STRONG: Style = Style::new().bold();
pub const INTENT: Style = AnsiColor::Cyan.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const WARN: Style = AnsiColor::Yellow.on_default();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const UNSURE: Style = AnsiColor::Magenta.on_default();
pub const NOTE: Style = AnsiColor::Blue.on_default();

/// The greatest width of a table's column. A wider cell moves only the cells after it in its row.
/// So one very long text does not make every row as long.
const MAX_COLUMN: usize = 200;

#[derive(Clone)]
pub struct Printer {
    /// True if the answer is for a program and is printed as JSON. Otherwise a person reads it.
    pub json_asked: bool,
    pub color: ColorChoice,
    pub quiet: bool,
    pub streams: Arc<Streams>,
    pub environment: Environment,
}

pub fn json_line<T: Serialize>(answer: &T) -> io::Result<String> {
    serde_json::to_string(answer).map_err(io::Error::from).map(as_printed)
}

/// Indents a document. To write each kind of answer in both forms would compile its code twice.
fn indented(document: &str) -> io::Result<String> {
    let value: serde_json::Value = serde_json::from_str(document)?;
    serde_json::to_string_pretty(&value).map_err(io::Error::from).map(as_printed)
}

fn as_printed(document: String) -> String {
    format!("{}\n", ascii_where_invisible(&document))
}

/// Everything that prints an answer returns [`Exit::Fine`], so that it can be the last step of a
/// command.
impl Printer {
    pub fn page(&self, page: &Page) -> Result<Exit, CliError> {
        if self.quiet {
            return Ok(Exit::Fine);
        }
        let bytes = page.bytes(self.is_coloured(self.streams.terminals.output));
        self.exit_of(self.streams.output().write_all(&bytes))
    }

    /// Prints one JSON document on stdout: indented if stdout is a terminal, otherwise on one line.
    pub fn json<T: Serialize>(&self, answer: &T) -> Result<Exit, CliError> {
        let line = json_line(answer);
        let document = match self.streams.terminals.output {
            true => line.and_then(|line| indented(&line)),
            false => line,
        };
        self.exit_of(document.and_then(|text| self.streams.output().write_all(text.as_bytes())))
    }

    /// Prints a document that has its own format (roff, a shell script) without any change.
    pub fn document(&self, bytes: &[u8]) -> Result<Exit, CliError> {
        self.exit_of(self.streams.output().write_all(bytes))
    }

    /// Prints pieces one after the other, as the iterator produces them. Stops without an error if
    /// the reader has closed the pipe.
    pub fn stream(&self, mut pieces: impl Iterator<Item = PrintedPiece>) -> Result<Exit, CliError> {
        let shown = self.streams.terminals.output;
        let coloured = self.is_coloured(shown);
        let write = |out: &mut dyn Write, piece| match piece {
            PrintedPiece::Page(_) if self.quiet => Ok(()),
            PrintedPiece::Page(page) => out.write_all(&page.bytes(coloured)),
            PrintedPiece::Json(bytes) if shown => {
                out.write_all(ascii_where_invisible(&String::from_utf8_lossy(&bytes)).as_bytes())
            }
            PrintedPiece::Json(bytes) => out.write_all(&bytes),
        };
        self.raw(|out| pieces.try_for_each(|piece| write(out, piece)))
    }

    pub fn raw(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Exit, CliError> {
        let mut stdout = self.streams.output();
        let mut out = io::BufWriter::new(&mut *stdout);
        let result = write(&mut out);
        self.exit_of(result.and_then(|()| out.flush()))
    }

    /// Prints an error. The commands in its hint act in `folder`, if there is one.
    pub fn error(&self, error: &CliError, folder: Option<String>) -> Exit {
        let mut page = Page::with_commands_in(folder);
        let hint = error.hint().map(|hint| page.advised(&hint));
        let printed = if self.json_asked {
            let mut told = json!({ "message": error.to_string(), "help": hint });
            if let CliError::Verb(error) = error
                && let Some(code) = error.code()
            {
                told["code"] = json!(code.as_str());
            }
            self.json(&json!({ "error": told }))
        } else {
            page.label(BAD, "error:").text(error).end();
            if let Some(hint) = hint {
                page.label(NOTE, "help:").text(hint).end();
            }
            self.aside(&page)
        };
        // If the stream is closed, nobody can read the message, but the exit code still reports the
        // error.
        let _ = printed;
        Exit::Usage
    }

    pub fn aside(&self, page: &Page) -> Result<Exit, CliError> {
        let bytes = page.bytes(self.is_coloured(self.streams.terminals.error));
        self.exit_of(self.streams.error().write_all(&bytes))
    }

    pub fn for_terminal(&self, page: &Page) -> Vec<u8> {
        page.bytes(self.is_coloured(true))
    }

    fn is_coloured(&self, is_terminal: bool) -> bool {
        match self.color {
            ColorChoice::Auto => takes_colours(&self.environment, is_terminal),
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        }
    }

    fn exit_of(&self, result: io::Result<()>) -> Result<Exit, CliError> {
        match result {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(CliError::io("the answer", "written", error))
            }
            _ => Ok(Exit::Fine),
        }
    }
}

pub enum PrintedPiece {
    Page(Page),
    /// Lines of JSON as they are stored. On a terminal, invisible characters are escaped, which
    /// changes no value.
    Json(Vec<u8>),
}

/// Writes every invisible character as `\uXXXX`. This keeps the JSON's meaning, because JSON
/// outside of strings is plain ASCII.
fn ascii_where_invisible(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut from = 0;
    for (at, character) in text::invisible_characters(json) {
        if character.is_ascii() && character != '\u{7f}' {
            continue;
        }
        out.push_str(&json[from..at]);
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
        from = at + character.len_utf8();
    }
    out.push_str(&json[from..]);
    out
}

#[derive(Debug, Default)]
pub struct Page {
    text: String,
    column: usize,
    /// The folder that commands in advice name with `-C`, quoted for the shell.
    folder: Option<String>,
}

impl Page {
    pub fn with_commands_in(folder: Option<String>) -> Self {
        Self { folder, ..Self::default() }
    }

    fn advised(&self, words: &str) -> String {
        match &self.folder {
            Some(folder) => text::with_commands_in(folder, words),
            None => words.to_owned(),
        }
    }

    #[cfg(test)]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn bytes(&self, coloured: bool) -> Vec<u8> {
        match coloured {
            true => self.text.clone().into_bytes(),
            false => anstream::adapter::strip_str(&self.text).to_string().into_bytes(),
        }
    }

    /// Adds our own words, which are printed without escaping.
    pub fn literal(&mut self, words: &'static str) -> &mut Self {
        self.text.push_str(words);
        self.column += words.chars().count();
        self
    }

    pub fn text(&mut self, words: impl Display) -> &mut Self {
        self.styled(PLAIN, words)
    }

    /// Adds advice, whose commands name paths from the root of the workspace.
    pub fn advice(&mut self, style: Style, words: &str) -> &mut Self {
        let words = self.advised(words);
        self.styled(style, words)
    }

    /// Adds a line with the command to run next. It names paths from the root of the workspace.
    pub fn next_command(&mut self, command: &str) -> &mut Self {
        let command = self.advised(&format!("`{command}`"));
        let command = command.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        self.label(DIM, "Next:").text(command.unwrap_or_default()).end()
    }

    /// Adds text from any source, escaped, in a style.
    pub fn styled(&mut self, style: Style, words: impl Display) -> &mut Self {
        let safe = text::terminal(&words.to_string());
        if safe.is_empty() {
            return self;
        }
        self.column += safe.chars().count();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{style}{safe}{style:#}");
        self
    }

    /// Adds words in a style behind our own words `before`, or nothing if there are none.
    pub fn optional(
        &mut self,
        before: &'static str,
        style: Style,
        words: Option<impl Display>,
    ) -> &mut Self {
        match words {
            Some(words) => self.literal(before).styled(style, words),
            None => self,
        }
    }

    /// Adds a word such as `note:`, or a mark such as `✓`, in a style, and a space after it.
    pub fn label(&mut self, style: Style, label: &'static str) -> &mut Self {
        self.styled(style, label).literal(" ")
    }

    pub fn line(&mut self, words: &'static str) -> &mut Self {
        self.literal(words).end()
    }

    pub fn count(&mut self, count: usize, noun: &'static str) -> &mut Self {
        self.text(counted(count, noun))
    }

    /// Adds spaces up to a column (counted from 0), and at least one space if the line is not
    /// empty.
    pub fn pad_to(&mut self, column: usize) -> &mut Self {
        let missing = column.saturating_sub(self.column).max(usize::from(self.column > 0));
        self.text.extend(std::iter::repeat_n(' ', missing));
        self.column += missing;
        self
    }

    /// Ends the line, and removes spaces at its end.
    pub fn end(&mut self) -> &mut Self {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.text.push('\n');
        self.column = 0;
        self
    }

    /// Adds an empty line, unless the page is empty or already ends with one.
    pub fn gap(&mut self) -> &mut Self {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.end();
        }
        self
    }

    /// Adds a text of several lines (XML, Markdown). Keeps its white space, and shows invisible
    /// characters as `U+202E`.
    pub fn lines(&mut self, lines: &str) -> &mut Self {
        self.text.push_str(&text::visible(lines, true));
        if !lines.ends_with('\n') {
            self.text.push('\n');
        }
        self.column = 0;
        self
    }

    /// Adds rows whose columns are aligned, up to [`MAX_COLUMN`]. Each row begins after `indent`
    /// spaces.
    pub fn table(&mut self, indent: usize, rows: impl IntoIterator<Item = Vec<Cell>>) -> &mut Self {
        let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |at: usize| {
            let last = |row: &&Vec<Cell>| row.len() == at + 1;
            let wide = |row: &Vec<Cell>| row.get(at).map_or(0, Cell::width);
            rows.iter().filter(|row| !last(row)).map(wide).max().unwrap_or(0).min(MAX_COLUMN)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &rows {
            let mut start = indent;
            for (cell, width) in row.iter().zip(&widths) {
                let shift = if cell.right { width.saturating_sub(cell.width()) } else { 0 };
                self.pad_to(start + shift).styled(cell.style, &cell.text);
                start += if *width == 0 { 0 } else { width + 2 };
            }
            self.end();
        }
        self
    }
}

#[derive(Clone, Debug)]
pub struct Cell {
    style: Style,
    text: String,
    right: bool,
}

impl Cell {
    /// Makes a cell of text from any source, which is escaped.
    pub fn new(style: Style, words: impl Into<String>) -> Self {
        Self { style, text: text::terminal(&words.into()), right: false }
    }

    pub fn number(style: Style, number: usize) -> Self {
        Self { style, text: number.to_string(), right: true }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain_text(page: &Page) -> String {
        anstream::adapter::strip_str(&page.text).to_string()
    }

    #[test]
    fn tables_align_all_columns_but_the_last() {
        let mut page = Page::default();
        page.table(
            2,
            [
                vec![Cell::number(PLAIN, 7), Cell::new(GOOD, "größer"), Cell::new(PLAIN, "end")],
                vec![Cell::number(PLAIN, 123), Cell::new(BAD, "a cell that is wide and last")],
                vec![Cell::number(PLAIN, 40), Cell::new(PLAIN, ""), Cell::new(PLAIN, "end")],
            ],
        );
        let expected = concat!(
            "    7  größer  end\n",
            "  123  a cell that is wide and last\n",
            "   40          end\n",
        );
        assert_eq!(plain_text(&page), expected);
    }

    #[test]
    fn a_very_long_cell_moves_only_its_own_row() {
        let row = |word: &str| vec![Cell::new(PLAIN, word), Cell::new(PLAIN, "end")];
        let (mut page, long) = (Page::default(), "x".repeat(10_000));
        page.table(0, [row("a"), row(&long)]);
        assert_eq!(plain_text(&page), format!("{:<202}end\n{long} end\n", "a"));
    }

    #[test]
    fn styles_do_not_count_as_width() {
        let mut page = Page::default();
        page.styled(BAD, "ab").pad_to(6).styled(GOOD, "c").pad_to(3).literal("d").end();
        assert_eq!(plain_text(&page), "ab    c d\n");
    }

    #[test]
    fn empty_lines_are_never_doubled_or_first() {
        let mut page = Page::default();
        page.gap().literal("a").end().gap().gap().literal("b").end();
        assert_eq!(plain_text(&page), "a\n\nb\n");
    }

    #[test]
    fn texts_of_others_stay_on_one_line_and_are_escaped() {
        let mut page = Page::default();
        page.text("a\nb\u{1b}[31m\u{202e}c").end().lines("x\u{7}\n  y");
        assert_eq!(plain_text(&page), "a bU+001B[31mU+202Ec\nxU+0007\n  y\n");
    }

    #[test]
    fn json_escapes_invisible_characters() {
        let value = serde_json::json!({"k": "a\u{202e}\u{7f}\u{e0041}\u{9b}ü\n"});
        let json = ascii_where_invisible(&value.to_string());
        assert_eq!(json, r#"{"k":"a\u202e\u007f\udb40\udc41\u009bü\n"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).expect("JSON"), value);
    }

    #[test]
    fn an_indented_document_has_the_same_order_numbers_and_escapes() {
        let line = r#"{"z":[1,0.97],"a":"\u202e","big":18446744073709551615}"#;
        let lines = r#"{
  "z": [
    1,
    0.97
  ],
  "a": "\u202e",
  "big": 18446744073709551615
}
"#;
        assert_eq!(indented(line).expect("JSON"), lines);
    }
}
