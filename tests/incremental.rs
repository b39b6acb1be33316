//! A document that was edited has the same blocks as a new document with its text.

use std::path::Path;
use std::sync::LazyLock;

use code::{Document, Encoding, Position, language};
use proptest::prelude::*;

use crate::support::sample_or_all;

static SAMPLES: LazyLock<Vec<(String, String)>> = LazyLock::new(samples);

fn samples() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for language in language::with_grammar() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages").join(language.id);
        for entry in std::fs::read_dir(folder).expect("samples").filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.push((name, std::fs::read_to_string(entry.path()).expect("a sample")));
        }
    }
    found.push(("notes.txt".into(), "one\ntwo\n\nthree\r\n\r\nfour".into()));
    found
}

/// A piece of text that an edit inserts. Many pieces break the syntax.
fn insertion() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" ".into()),
        Just("\n".into()),
        Just("\r\n".into()),
        Just("\r".into()),
        Just("x".into()),
        Just("1".into()),
        Just("{".into()),
        Just("}".into()),
        Just("\"".into()),
        Just("/*".into()),
        Just("*/".into()),
        Just("// 😀 note\n".into()),
        Just("# note\n".into()),
        Just("\n\nfn added() { 1 }\n\n".into()),
        Just("\ndef added():\n    pass\n".into()),
        Just("\nfunction added() {}\n".into()),
        Just("\nint added(int a) { return a; }\n".into()),
        Just("\n## Added\n".into()),
        Just("\nadded: 1\n".into()),
        Just("\nconst ADDED = 1\n".into()),
        "[a-z é{}();,\n]{0,12}",
    ]
}

/// Edits: the position as a fraction of the text, the number of bytes that are removed, and the inserted text.
fn edits() -> impl Strategy<Value = Vec<(f64, usize, String)>> {
    let removed = prop_oneof![3 => 0..1_usize, 3 => 0..4_usize, 1 => 0..400_usize];
    prop::collection::vec((0.0..1.0_f64, removed, insertion()), 1..8)
}

fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Describes the first block in which two documents differ.
fn difference(edited: &Document, fresh: &Document) -> Option<String> {
    let (edited, new) = (edited.parsed_blocks(), fresh.parsed_blocks());
    if edited == new {
        return None;
    }
    let at = edited.blocks.iter().zip(&new.blocks).take_while(|(a, b)| a == b).count();
    let counts = (edited.blocks.len(), new.blocks.len(), edited.has_error, new.has_error);
    let text = fresh.text();
    Some(format!(
        "{counts:?} at {at}: {:#?} {:#?} {text}",
        edited.blocks.get(at),
        new.blocks.get(at)
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(sample_or_all(120, 500)) })]

    #[test]
    #[ignore = "slow"]
    fn an_edited_document_has_the_blocks_of_a_new_one(which in any::<prop::sample::Index>(), edits in edits(), parse_between in any::<u8>()) {
        let (name, text) = &SAMPLES[which.index(SAMPLES.len())];
        let first = Document::from_text(name, text);
        let (mut document, mut text) = (first.clone(), text.clone());
        document.blocks();
        for (step, (place, removed, inserted)) in edits.into_iter().enumerate() {
            let start = boundary(&text, (place * text.len() as f64) as usize);
            let end = boundary(&text, start + removed).max(start);
            document = document.edited(start..end, &inserted).expect("on boundaries");
            text.replace_range(start..end, &inserted);
            if parse_between >> step & 1 == 1 {
                let fresh = Document::from_text(name, &text);
                prop_assert_eq!(difference(&document, &fresh), None);
            }
        }
        prop_assert_eq!(document.text(), text.clone());
        let fresh = Document::from_text(name, &text);
        prop_assert_eq!(difference(&document, &fresh), None);
        let beside = Document::from_text(name, &text).parsed_beside(&first);
        prop_assert_eq!(difference(&beside, &fresh), None);
    }

    #[test]
    #[ignore = "slow"]
    fn blocks_lie_in_the_text_in_order(which in any::<prop::sample::Index>(), edits in edits()) {
        let (name, text) = &SAMPLES[which.index(SAMPLES.len())];
        let mut text = text.clone();
        for (place, removed, inserted) in edits {
            let start = boundary(&text, (place * text.len() as f64) as usize);
            let end = boundary(&text, start + removed).max(start);
            text.replace_range(start..end, &inserted);
        }
        let document = Document::from_text(name, &text);
        let file = document.blocks();
        for (at, block) in file.blocks.iter().enumerate() {
            prop_assert!(text.get(block.bytes.clone()).is_some_and(|body| !body.trim().is_empty()));
            prop_assert!(text.get(block.name_bytes.clone()).is_some());
            prop_assert!(block.bytes.start <= block.name_bytes.start);
            prop_assert!(block.name_bytes.end <= block.bytes.end);
            let line_of = |byte: usize| document.position_of(byte, Encoding::Utf8).line + 1;
            prop_assert_eq!(block.lines.start(), line_of(block.bytes.start));
            prop_assert_eq!(block.lines.end(), line_of(block.bytes.end - 1));
            if at > 0 {
                prop_assert!(file.blocks[at - 1].bytes.start <= block.bytes.start);
            }
            if let Some(outer) = block.container {
                prop_assert!(outer < at);
                prop_assert!(file.blocks[outer].bytes.end >= block.bytes.end);
            } else {
                let mut before = file.blocks[..at].iter().filter(|other| other.container.is_none());
                prop_assert!(before.next_back().is_none_or(|other| other.bytes.end <= block.bytes.start));
            }
            prop_assert!(file.at_byte(block.bytes.start).is_some());
        }
    }

    #[test]
    fn positions_and_byte_offsets_convert_both_ways(text in "[a\u{e9}\u{4e2d}\u{1f600}\r\n\u{2028}\u{b}]{0,40}") {
        let document = Document::from_text("a.txt", &text);
        for (byte, _) in text.char_indices().chain([(text.len(), ' ')]) {
            // The middle of a CRLF has no position of its own.
            let in_break = text[..byte].ends_with('\r') && text[byte..].starts_with('\n');
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let position = document.position_of(byte, encoding);
                prop_assert_eq!(position, counted(&text, byte, encoding));
                if !in_break {
                    prop_assert_eq!(document.byte_of_strict(position, encoding), Some(byte));
                }
            }
        }
    }
}

/// The position of a byte, counted from the start of the text by the rules of the protocol.
fn counted(text: &str, byte: usize, encoding: Encoding) -> Position {
    let (mut line, mut start) = (0, 0);
    let bytes = text.as_bytes();
    for at in 0..byte {
        let crlf = bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
        if bytes[at] == b'\n' || (bytes[at] == b'\r' && !crlf) {
            line += 1;
            start = at + 1;
        }
    }
    let before = &text[start..byte];
    let column = match encoding {
        Encoding::Utf8 => before.len(),
        Encoding::Utf16 => before.encode_utf16().count(),
        Encoding::Utf32 => before.chars().count(),
    };
    Position { line, column: column as u32 }
}

#[test]
fn positions_beyond_the_text_are_clamped() {
    let document = Document::from_text("a.txt", "ab\r\n😀c\n");
    let at = |line, column, encoding| document.byte_of(Position { line, column }, encoding);
    assert_eq!(at(0, 99, Encoding::Utf16), 2);
    assert_eq!(at(1, 1, Encoding::Utf16), 4, "inside a surrogate pair: its start");
    assert_eq!(at(1, 2, Encoding::Utf16), 8);
    assert_eq!(at(1, 2, Encoding::Utf8), 4, "inside a character: its start");
    assert_eq!(at(2, 0, Encoding::Utf32), 10);
    assert_eq!(at(3, 0, Encoding::Utf32), 10);
    assert_eq!(document.byte_of_strict(Position { line: 3, column: 0 }, Encoding::Utf16), None);
    assert_eq!(document.line_count(), 3);
}

#[test]
fn edits_outside_the_text_or_inside_a_character_are_refused() {
    let document = Document::from_text("a.rs", "fn é() {}");
    assert!(document.edited(4..4, "x").is_none());
    assert!(document.edited(0..99, "").is_none());
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 3..2;
    assert!(document.edited(reversed, "").is_none());
    assert_eq!(document.slice(3..5).as_deref(), Some("é"));
    assert_eq!(document.slice(4..5), None);
}

#[test]
fn a_text_that_cannot_be_read_says_why() {
    use code::Unread;
    let large = vec![b'a'; 2 * 1024 * 1024 + 1];
    assert_eq!(
        Document::from_bytes("a.rs", &large).expect_err("too large"),
        Unread::TooLarge { bytes: large.len() }
    );
    assert_eq!(Document::from_bytes("a.rs", b"a\0").expect_err("binary"), Unread::Binary);
    assert_eq!(
        Document::from_bytes("a.rs", b"ab\xff").expect_err("not UTF-8"),
        Unread::NotUtf8 { offset: 2 }
    );
    let text = Document::from_bytes("a.rs", b"\xef\xbb\xbffn a() {}").expect("text").text();
    assert_eq!(text, "fn a() {}");
    let buffer = Document::from_text("a.rs", std::str::from_utf8(&large).expect("ASCII"));
    assert!(buffer.unread().is_some());
    assert!(buffer.blocks().blocks.is_empty());
    let smaller = buffer.edited(0..large.len(), "fn a() {}").expect("in range");
    assert!(smaller.unread().is_none());
    assert_eq!(smaller.blocks().blocks.len(), 1);
}

/// `replaced` is one edit, which touches none of the bytes that both texts have at the start and at the end.
#[test]
fn replacing_the_text_is_one_small_edit() {
    for (before, after, new) in [
        ("fn a() {}\nfn b() {}\n", "fn a() {}\nfn c() {}\n", 13..14),
        ("fn a() {}\nfn b() {}\n", "fn a() {}\nfn bed() {}\n", 14..16),
        ("fn a() {}\n", "", 0..0),
        ("", "fn a() {}\n", 0..10),
        ("aaa", "aa", 2..2),
        ("é😀", "è😁", 0..6),
        ("fn a() {}\r\n", "fn a() {}\n", 9..9),
        ("same", "same", 4..4),
    ] {
        let document = Document::from_text("a.rs", before);
        document.blocks();
        let replaced = document.replaced(after);
        assert_eq!(replaced.text(), after);
        assert_eq!(difference(&replaced, &Document::from_text("a.rs", after)), None);
        let edit = replaced.edits_since(&document).expect("one edit");
        for byte in 0..=after.len() {
            let touched = (new.start <= byte && byte <= new.end).then(|| new.clone());
            assert_eq!(edit.new_text_at(byte), touched, "{before:?} {after:?} {byte}");
        }
    }
}

/// An operator at the beginning of a line continues the line before it in Scala.
#[test]
fn an_operator_that_joins_two_definitions_is_noticed() {
    let text = "case class Line(name: String)\n\nobject Order {\n  val limit = 10\n\n  def load = limit\n}\n\nobject Other {\n  def load = 1\n}\n";
    for place in 0..=text.len() {
        for operator in ["*/", "++", "-> "] {
            let end = boundary(text, place + 2);
            let document = Document::from_text("a.scala", text);
            document.blocks();
            let edited = document.edited(place..end, operator).expect("on boundaries");
            let fresh = Document::from_text("a.scala", &edited.text());
            assert_eq!(difference(&edited, &fresh), None);
        }
    }
}
