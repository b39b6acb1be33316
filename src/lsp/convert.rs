//! Converts between the types of the protocol and those of this program: addresses and paths,
//! positions and bytes.

use std::path::{Component, Path, PathBuf, Prefix};

use tower_lsp::lsp_types as lsp;

use code::{Document, Encoding, LineRange, Position};
use ground::Level;

/// Returns the path of a `file:` address. `None` for other schemes. An address with a host other
/// than `localhost` has a path only on Windows, where it names a network share.
pub(crate) fn path_of(uri: &lsp::Url) -> Option<PathBuf> {
    if uri.scheme() != "file" {
        return None;
    }
    let path = uri.to_file_path().ok()?;
    Some(with_upper_drive(path))
}

/// Returns the address of an absolute path. `None` for a relative path.
pub(crate) fn uri_of(path: &Path) -> Option<lsp::Url> {
    lsp::Url::from_file_path(path).ok()
}

/// Writes the letter of a Windows drive as a capital. Clients use both cases for the same path.
fn with_upper_drive(path: PathBuf) -> PathBuf {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return path };
    let Prefix::Disk(letter) = prefix.kind() else { return path };
    let mut upper = PathBuf::from(format!("{}:", char::from(letter.to_ascii_uppercase())));
    upper.push(path.components().skip(1).collect::<PathBuf>());
    upper
}

pub(crate) fn encoding_kind(encoding: Encoding) -> lsp::PositionEncodingKind {
    match encoding {
        Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
        Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        Encoding::Utf32 => lsp::PositionEncodingKind::UTF32,
    }
}

fn position(from: lsp::Position) -> Position {
    Position { line: from.line, column: from.character }
}

/// Returns the byte at a position of the client. A column beyond the end of its line means the end
/// of the line, and a line beyond the last means the end of the text.
pub(crate) fn byte(document: &Document, at: lsp::Position, encoding: Encoding) -> usize {
    document.byte_of(position(at), encoding)
}

/// Returns the bytes of a range of the client. `None` if it begins or ends on a line that does not
/// exist, or ends before it begins. A column beyond the end of its line means the end of the line.
///
/// The start of the line after the last one counts as the end of the text, because editors that
/// replace the whole text send it.
pub(crate) fn bytes_strict(
    document: &Document,
    range: lsp::Range,
    encoding: Encoding,
) -> Option<std::ops::Range<usize>> {
    let strict = |at: lsp::Position| {
        if at.character == 0 && at.line == document.line_count() {
            return Some(document.len_bytes());
        }
        document.byte_of_strict(position(at), encoding)
    };
    let (start, end) = (strict(range.start)?, strict(range.end)?);
    (start <= end).then_some(start..end)
}

/// Returns the client's range for bytes of a document.
pub(crate) fn range(
    document: &Document,
    bytes: std::ops::Range<usize>,
    encoding: Encoding,
) -> lsp::Range {
    let at = |byte| {
        let Position { line, column } = document.position_of(byte, encoding);
        lsp::Position { line, character: column }
    };
    lsp::Range { start: at(bytes.start), end: at(bytes.end) }
}

/// Returns the range of whole lines, for which the text of the file is not needed. It begins at the
/// first column of the first line and ends at the start of the line after the last.
pub(crate) fn range_of_lines(lines: LineRange) -> lsp::Range {
    lsp::Range {
        start: lsp::Position { line: lines.start() - 1, character: 0 },
        end: lsp::Position { line: lines.end(), character: 0 },
    }
}

/// Returns the protocol's severity. `None` for a level that is off.
pub(crate) fn severity(level: Level) -> Option<lsp::DiagnosticSeverity> {
    match level {
        Level::Off => None,
        Level::Hint => Some(lsp::DiagnosticSeverity::HINT),
        Level::Info => Some(lsp::DiagnosticSeverity::INFORMATION),
        Level::Warning => Some(lsp::DiagnosticSeverity::WARNING),
        Level::Error => Some(lsp::DiagnosticSeverity::ERROR),
    }
}

pub(crate) fn document_address(params: &serde_json::Value) -> Option<lsp::Url> {
    params.pointer("/textDocument/uri")?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> lsp::Url {
        text.parse().unwrap()
    }

    #[test]
    fn only_local_files_have_a_path() {
        for text in [
            "untitled:Untitled-1",
            "git:/a/b.rs?%7B%7D",
            "vscode-notebook-cell:/a/b.ipynb#W0",
            "vscode-remote://ssh-remote%2Bhost/a",
            "https://example.org/a",
        ] {
            assert_eq!(path_of(&uri(text)), None, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_are_the_same_after_a_round_trip() {
        for path in ["/a/b.rs", "/a b/ü/日本.rs", "/100%/#x?.rs", "/src/[id].ts", "/a/{b}.rs"] {
            let there = uri_of(Path::new(path)).unwrap();
            assert_eq!(path_of(&there).as_deref(), Some(Path::new(path)), "{there}");
        }
        assert_eq!(path_of(&uri("file:///a/%5Bid%5D.ts")), Some(PathBuf::from("/a/[id].ts")));
        assert_eq!(uri_of(Path::new("relative")), None);
        assert_eq!(path_of(&uri("file://server/share/a")), None);
    }

    #[test]
    fn lines_counted_from_one_become_lines_counted_from_zero() {
        let range = range_of_lines(LineRange::new(3, 5).unwrap());
        assert_eq!((range.start.line, range.end.line), (2, 5));
    }
}
