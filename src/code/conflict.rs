//! A file in the middle of a merge: the lines that git wrote into it are not the language's.
//!
//! Both sides are read, one after the other, without the markers and without the common ancestor of the `diff3` style.
//! So the blocks around a conflict keep their names and their records while it is there.

use std::ops::Range as Bytes;

use tree_sitter::{Point, Range};

use super::LineRange;

/// Whether a merge left both sides in the text.
pub(crate) fn holds_conflict(text: &str) -> bool {
    markers(text).is_some()
}

/// The lines of each conflict, its markers among them; none in a text without.
pub(crate) fn conflicts(text: &str) -> Vec<LineRange> {
    let (mut conflicts, mut start) = (Vec::new(), 0);
    for (marker, at, _) in markers(text).unwrap_or_default() {
        let line = at.row as u32 + 1;
        match marker {
            Marker::Ours => start = line,
            Marker::Theirs => conflicts.extend(LineRange::new(start, line)),
            Marker::Ancestor | Marker::Sides => {}
        }
    }
    conflicts
}

/// The text as each side of its conflicts has it, ours first; `None` of a text without.
pub(crate) fn sides(text: &str) -> Option<[String; 2]> {
    let mut sides = [String::new(), String::new()];
    let (mut from, mut before) = (0, Marker::Theirs);
    let end = LineStart { byte: text.len(), row: 0 };
    for (marker, at, next) in markers(text)?.into_iter().chain([(Marker::Ours, end, end)]) {
        let part = &text[from..at.byte];
        let [ours, theirs] = &mut sides;
        match before {
            Marker::Theirs => [ours, theirs].into_iter().for_each(|side| side.push_str(part)),
            Marker::Ours => ours.push_str(part),
            Marker::Sides => theirs.push_str(part),
            Marker::Ancestor => {}
        }
        (from, before) = (next.byte, marker);
    }
    Some(sides)
}

/// What is to be parsed of a text with conflicts; `None` of one without.
pub(super) fn parts(text: &str) -> Option<Vec<Range>> {
    let (mut parts, mut from, mut before) = (Vec::new(), LineStart::default(), Marker::Theirs);
    for (marker, at, next) in markers(text)? {
        // The ancestor ends where the other side begins.
        if before != Marker::Ancestor {
            parts.push(part(from, at));
        }
        (from, before) = (next, marker);
    }
    let end = Range { end_byte: END, end_point: Point::new(END, END), ..part(from, from) };
    parts.push(end);
    Some(parts)
}

/// Every marker of a text with conflicts, with its line's start and the next one's. A marker without its others is text.
fn markers(text: &str) -> Option<Vec<(Marker, LineStart, LineStart)>> {
    if !text.contains("<<<<<<<") || !text.contains(">>>>>>>") {
        return None;
    }
    let (mut markers, mut before, mut at) = (Vec::new(), Marker::Theirs, LineStart::default());
    for line in text.split_inclusive('\n') {
        let next = LineStart { byte: at.byte + line.len(), row: at.row + 1 };
        if let Some(marker) = Marker::of(line).filter(|marker| marker.may_follow(before)) {
            markers.push((marker, at, next));
            before = marker;
        }
        at = next;
    }
    (!markers.is_empty() && before == Marker::Theirs).then_some(markers)
}

/// Beyond the end of any text, as tree-sitter writes it.
const END: usize = u32::MAX as usize;

/// In the order in which they stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Ours,
    Ancestor,
    Sides,
    Theirs,
}

impl Marker {
    fn of(line: &str) -> Option<Self> {
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
            Self::Ours => before == Self::Theirs,
            Self::Ancestor => before == Self::Ours,
            Self::Sides => matches!(before, Self::Ours | Self::Ancestor),
            Self::Theirs => before == Self::Sides,
        }
    }
}

/// The start of a line.
#[derive(Clone, Copy, Default)]
struct LineStart {
    byte: usize,
    row: usize,
}

fn part(from: LineStart, to: LineStart) -> Range {
    let Bytes { start, end } = from.byte..to.byte;
    Range {
        start_byte: start,
        end_byte: end,
        start_point: Point::new(from.row, 0),
        end_point: Point::new(to.row, 0),
    }
}

#[cfg(test)]
mod tests {
    use crate::code::{Block, Document};

    fn names(document: &Document) -> Vec<String> {
        let blocks = document.blocks();
        let name = |block: &Block| {
            format!("{} {:?}", block.identity.path, (block.lines.start(), block.lines.end()))
        };
        let named = blocks.blocks.iter().filter(|block| !block.identity.kind.is_unnamed());
        named.map(name).collect()
    }

    /// Line by line, so that this file holds no conflict itself.
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
    fn around_a_conflict_blocks_are_what_they_are_and_both_sides_are_read() {
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
    fn each_side_is_a_text_without_the_other_and_the_ancestor() {
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
    fn markers_alone_are_text() {
        for line in ["<<<<<<< ours\n", "=======\n", ">>>>>>> theirs\n", "<<<<<<< a\n>>>>>>> b\n"] {
            assert!(super::parts(&format!("fn a() {{}}\n{line}fn b() {{}}\n")).is_none(), "{line}");
        }
    }

    #[test]
    fn a_conflict_that_is_typed_or_solved_is_read_like_a_fresh_file() {
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
