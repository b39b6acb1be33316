//! How lines end. Most tools show a model line feeds, whatever the file has, and
//! give the file its own ends back.

use std::borrow::Cow;

/// The text with every line ended by a line feed alone.
pub(super) fn lf(text: &str) -> Cow<'_, str> {
    match text.contains("\r\n") {
        true => text.replace("\r\n", "\n").into(),
        false => text.into(),
    }
}

/// `new` with its lines ended as most lines of `text` are.
pub(super) fn with_ends_of(text: &str, new: &str) -> String {
    let crlf = text.matches("\r\n").count();
    let all = text.matches('\n').count();
    match crlf * 2 > all {
        true => lf(new).replace('\n', "\r\n"),
        false => new.to_owned(),
    }
}

/// From offsets in [`lf`] of a text to offsets in the text, asked in rising order.
pub(super) struct RawOffsets<'a> {
    rest: &'a str,
    raw: usize,
    plain: usize,
}

impl<'a> RawOffsets<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        RawOffsets { rest: text, raw: 0, plain: 0 }
    }

    /// The offset in the text of the offset `plain` in its view.
    pub(super) fn of(&mut self, plain: usize) -> usize {
        // Whole lines first: each of them ends where its line feed does.
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

/// Equal but for line ends and a byte order mark, which several tools normalise on
/// their way to the disk.
pub fn same_text(predicted: &str, actual: &str) -> bool {
    let [predicted, actual] = [predicted, actual].map(|text| {
        text.strip_prefix('\u{FEFF}')
            .unwrap_or(text)
            .split('\n')
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
    });
    predicted.eq(actual)
}
