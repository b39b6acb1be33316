//! Texts that are made to overload a parser: none causes a panic, and none takes long.

use std::time::{Duration, Instant};

use code::{Document, document::MAX_BYTES, language};

/// The limit is generous, because this is a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Repeats a piece in lines of ordinary length. With a line that is too long, the file would be one block and would not
/// be parsed.
fn in_lines(piece: &str, bytes: usize) -> String {
    const LINE: usize = 4_000;
    let line = piece.repeat(LINE / piece.len()) + "\n";
    line.repeat(bytes / line.len())
}

fn blocks_in_time(name: &str, text: &str) {
    let start = Instant::now();
    Document::from_text(name, text).blocks();
    let took = start.elapsed();
    assert!(
        took < PATIENCE,
        "{name}: {:?} took {took:?}",
        text.chars().take(8).collect::<String>()
    );
}

#[test]
#[ignore = "slow"]
fn the_largest_text_of_brackets_ends_in_time() {
    blocks_in_time("a.rs", &"(".repeat(MAX_BYTES));
    blocks_in_time("a.rs", &in_lines("(", MAX_BYTES));
}

#[test]
#[ignore = "slow"]
fn deep_nesting_ends_in_time_in_every_language() {
    for language in language::with_grammar() {
        let name = format!("a.{}", language.extensions[0]);
        for piece in ["(", "[", "{", "f(x){", "\"", "- ", "# a\n"] {
            blocks_in_time(&name, &in_lines(piece, 8 * 1024));
        }
    }
}

/// Some scanners read on from a character without checking whether the text ends first.
#[test]
fn a_text_that_ends_in_the_middle_ends_in_time() {
    for language in language::with_grammar() {
        let name = format!("a.{}", language.extensions[0]);
        for text in
            ["class A\n@b", "class A {\n val b = 1\n @c(d", "@", "a\r@b(", "/*", "\"#{", "<<~A"]
        {
            blocks_in_time(&name, text);
        }
    }
}

#[test]
fn very_many_tags_end_in_time() {
    blocks_in_time("a.svelte", &in_lines("</script>", 180_000));
    blocks_in_time("a.html", &in_lines("<script>a</script>", 36_000));
    blocks_in_time("a.vue", &in_lines("<style>a{b:c}</style>", 42_000));
}

#[test]
fn one_open_bracket_does_not_hide_the_rest_of_the_file() {
    let function =
        |i| format!("fn thing_{i}(n: u32) -> u32 {{\n    let m = n * {i};\n    m + 1\n}}\n\n");
    let whole: String = (0..9).map(function).collect();
    let broken = whole.replace("let m = n * 4;", "(let m = n * 4;");
    let blocks = Document::from_text("a.rs", &broken).blocks();
    let names: Vec<&str> = blocks.blocks.iter().map(|block| block.name.as_str()).collect();
    for i in [0, 1, 2, 3, 6, 7, 8] {
        assert!(names.contains(&format!("thing_{i}").as_str()), "{names:?}");
    }
}
