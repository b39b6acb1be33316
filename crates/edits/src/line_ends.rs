//! Converts line ends. Most tools show only line feeds to a model, and restore the file's own line
//! ends when they write it.

use std::borrow::Cow;

pub(super) fn lf(text: &str) -> Cow<'_, str> {
    match text.contains("\r\n") {
        true => text.replace("\r\n", "\n").into(),
        false => text.into(),
    }
}

/// Returns `new` with the line ends that most lines of `text` have.
pub(super) fn with_ends_of(text: &str, new: &str) -> String {
    let crlf = text.matches("\r\n").count();
    let all = text.matches('\n').count();
    match crlf * 2 > all {
        true => lf(new).replace('\n', "\r\n"),
        false => new.to_owned(),
    }
}

/// Converts offsets in [`lf`] of a text to offsets in the text itself. The offsets must be given in
/// rising order.
pub(super) struct RawOffsets<'a> {
    rest: &'a str,
    raw: usize,
    plain: usize,
}

impl<'a> RawOffsets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        RawOffsets { rest: text, raw: 0, plain: 0 }
    }

    pub(super) fn raw_offset(&mut self, plain: usize) -> usize {
        // Skip the CRLF line ends before this offset: each one is a byte shorter in the `lf` form.
        while let Some(end) = self.rest.find("\r\n") {
            if self.plain + end >= plain {
                break;
            }
            self.raw += end + 2;
            self.plain += end + 1;
            self.rest = &self.rest[end + 2..];
        }
        self.raw + (plain - self.plain)
    }
}

/// Returns true if two texts are equal except for line ends and a byte order mark. Several tools
/// change these when they write a file.
pub fn same_text(predicted: &str, actual: &str) -> bool {
    let [predicted, actual] = [predicted, actual].map(|text| {
        text.strip_prefix('\u{FEFF}')
            .unwrap_or(text)
            .split('\n')
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
    });
    predicted.eq(actual)
}
