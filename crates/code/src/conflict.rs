//! Reads files with merge conflicts, in which git has inserted conflict markers.
//!
//! Both sides of a conflict are parsed, one after the other. The markers are left out, and so is
//! the common ancestor that the `diff3` style adds. So the blocks around a conflict keep their
//! names and their records.

use std::ops::Range as Bytes;

use tree_sitter::{Point, Range};

use super::position::{LineRange, line_ranges};

pub fn holds_conflict(text: &str) -> bool {
    markers(text).is_some()
}

/// Returns the lines of each conflict, from its first marker to its last.
pub fn conflicts(text: &str) -> Vec<LineRange> {
    let Some(found) = markers(text) else { return Vec::new() };
    // As in a document, a carriage return alone ends a line too.
    let starts: Vec<usize> = line_ranges(text).map(|line| line.start).collect();
    let (mut conflicts, mut start) = (Vec::new(), 0);
    for (marker, at, _) in found {
        let line = starts.partition_point(|start| *start <= at.byte) as u32;
        match marker {
            Marker::Ours => start = line,
            Marker::Theirs => conflicts.extend(LineRange::new(start, line)),
            Marker::Ancestor | Marker::Sides => {}
        }
    }
    conflicts
}

/// Returns the text as it would be with each side of its conflicts, ours first. Returns `None` if
/// there is no conflict.
pub fn sides(text: &str) -> Option<[String; 2]> {
    let mut sides = [String::new(), String::new()];
    for (side, part) in sections(text, LineStart { byte: text.len(), row: 0 })? {
        let part = &text[part.start.byte..part.end.byte];
        let [ours, theirs] = &mut sides;
        match side {
            Marker::Theirs => [ours, theirs].into_iter().for_each(|side| side.push_str(part)),
            Marker::Ours => ours.push_str(part),
            Marker::Sides => theirs.push_str(part),
            Marker::Ancestor => {}
        }
    }
    Some(sides)
}

/// Returns the parts to parse in a text with conflicts. Returns `None` if there is no conflict.
pub(super) fn parts(text: &str) -> Option<Vec<Range>> {
    let end = LineStart { byte: END, row: END };
    let kept = sections(text, end)?.filter(|(side, _)| *side != Marker::Ancestor);
    let part = |(_, Bytes { start, end }): (_, Bytes<LineStart>)| Range {
        start_byte: start.byte,
        end_byte: end.byte,
        start_point: Point::new(start.row, 0),
        end_point: Point::new(end.row, if end.row == END { END } else { 0 }),
    };
    Some(kept.map(part).collect())
}

/// Returns the text between the conflict markers, each part with the marker before it. Text
/// outside of conflicts, also before the first one, is given with [`Marker::Theirs`]. `end` is the
/// end of the last part. Returns `None` if there is no conflict.
fn sections(
    text: &str,
    end: LineStart,
) -> Option<impl Iterator<Item = (Marker, Bytes<LineStart>)> + use<>> {
    let (mut before, mut from) = (Marker::Theirs, LineStart::default());
    let all = markers(text)?.into_iter().chain([(Marker::Ours, end, end)]);
    Some(all.map(move |(marker, at, next)| {
        let section = (before, from..at);
        (before, from) = (marker, next);
        section
    }))
}

/// Returns every conflict marker, with the start of its line and of the next line. A marker without
/// the others that belong to a conflict is ordinary text, whatever stands before or after it.
/// Returns `None` if there is no conflict.
fn markers(text: &str) -> Option<Vec<(Marker, LineStart, LineStart)>> {
    if !text.contains("<<<<<<<") || !text.contains(">>>>>>>") {
        return None;
    }
    let (mut markers, mut before, mut at) = (Vec::new(), Marker::Theirs, LineStart::default());
    // How many of the markers belong to conflicts that are complete.
    let mut complete = 0;
    for line in text.split_inclusive('\n') {
        let next = LineStart { byte: at.byte + line.len(), row: at.row + 1 };
        if let Some(marker) = Marker::in_line(line).filter(|marker| marker.may_follow(before)) {
            if marker == Marker::Ours {
                markers.truncate(complete);
            }
            markers.push((marker, at, next));
            if marker == Marker::Theirs {
                complete = markers.len();
            }
            before = marker;
        }
        at = next;
    }
    markers.truncate(complete);
    (!markers.is_empty()).then_some(markers)
}

const END: usize = u32::MAX as usize;

/// The markers of a conflict, in their order in the text. `Sides` is `=======`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Ours,
    Ancestor,
    Sides,
    Theirs,
}

impl Marker {
    fn in_line(line: &str) -> Option<Self> {
        let line = line.trim_end_matches(['\n', '\r']);
        let marker = match line.as_bytes().get(..7)? {
            b"<<<<<<<" => Self::Ours,
            b"|||||||" => Self::Ancestor,
            b"=======" => Self::Sides,
            b">>>>>>>" => Self::Theirs,
            _ => return None,
        };
        matches!(line.as_bytes().get(7), None | Some(b' ')).then_some(marker)
    }

    fn may_follow(self, before: Self) -> bool {
        match self {
            // If an earlier conflict is not complete, its markers are ordinary text.
            Self::Ours => true,
            Self::Ancestor => before == Self::Ours,
            Self::Sides => matches!(before, Self::Ours | Self::Ancestor),
            Self::Theirs => before == Self::Sides,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct LineStart {
    byte: usize,
    row: usize,
}

#[cfg(test)]
mod tests {
    use crate::{Block, Document};

    fn names(document: &Document) -> Vec<String> {
        let blocks = document.blocks();
        let name = |block: &Block| {
            format!("{} {:?}", block.identity.path, (block.lines.start(), block.lines.end()))
        };
        let named = blocks.blocks.iter().filter(|block| !block.identity.kind.is_unnamed());
        named.map(name).collect()
    }

    /// Joined from single lines, so that this file does not itself contain a conflict.
    fn conflict() -> String {
        let lines = [
            "mod all {",
            "    fn before() {}",
            "<<<<<<< ours",
            "    fn mine() {}",
            "||||||| base",
            "    fn old( {",
            "=======",
            "    fn theirs() {}",
            ">>>>>>> theirs",
            "    fn after() {}",
            "}\n",
        ];
        lines.join("\n")
    }

    #[test]
    fn both_sides_of_a_conflict_have_blocks() {
        let document = Document::from_text("a.rs", &conflict());
        let expected = [
            "all (1, 11)",
            "all.before (2, 2)",
            "all.mine (4, 4)",
            "all.theirs (8, 8)",
            "all.after (10, 10)",
        ];
        assert_eq!(names(&document), expected);
        assert!(document.blocks().has_error, "nobody may take it for a whole program");
        let without_end = Document::from_text("a.rs", conflict().trim_end());
        assert_eq!(names(&without_end), expected);
    }

    #[test]
    fn each_side_is_a_text_without_the_other_side() {
        let text = |inside: &str| {
            format!(
                "mod all {{\n    fn before() {{}}\n    fn {inside}() {{}}\n    fn after() {{}}\n}}\n"
            )
        };
        assert_eq!(super::sides(&conflict()), Some([text("mine"), text("theirs")]));
        assert_eq!(super::sides("fn a() {}\n"), None);
    }

    #[test]
    fn a_conflict_reaches_from_marker_to_marker() {
        let lines: Vec<_> =
            super::conflicts(&conflict()).iter().map(|it| (it.start(), it.end())).collect();
        assert_eq!(lines, [(3, 9)]);
        assert!(super::conflicts("fn a() {}\n").is_empty());
    }

    #[test]
    fn single_markers_are_ordinary_text() {
        for line in ["<<<<<<< ours\n", "=======\n", ">>>>>>> theirs\n", "<<<<<<< a\n>>>>>>> b\n"] {
            assert!(super::parts(&format!("fn a() {{}}\n{line}fn b() {{}}\n")).is_none(), "{line}");
        }
    }

    #[test]
    fn lines_are_counted_as_in_a_document() {
        let text = format!("// a\r// b\r\n{}", conflict());
        let lines: Vec<_> =
            super::conflicts(&text).iter().map(|it| (it.start(), it.end())).collect();
        assert_eq!(lines, [(5, 11)]);
    }

    #[test]
    fn a_single_marker_hides_no_conflict() {
        for line in ["<<<<<<< ours\n", "||||||| base\n", "=======\n", ">>>>>>> theirs\n"] {
            let lines = |text: &str| -> Vec<_> {
                super::conflicts(text).iter().map(|it| (it.start(), it.end())).collect()
            };
            assert_eq!(lines(&format!("{}{line}", conflict())), [(3, 9)], "behind: {line}");
            assert_eq!(lines(&format!("{line}{}", conflict())), [(4, 10)], "before: {line}");
        }
    }

    #[test]
    fn an_edited_conflict_is_read_like_a_new_file() {
        let mut text = conflict();
        let mut document = Document::from_text("a.rs", &text);
        let _ = document.blocks();
        while let Some(at) = text.rfind(['<', '|', '=', '>']) {
            text.remove(at);
            document = document.edited(at..at + 1, "").unwrap();
            let fresh = Document::from_text("a.rs", &text);
            assert_eq!(document.parsed_blocks(), fresh.blocks(), "{text}");
        }
    }
}
