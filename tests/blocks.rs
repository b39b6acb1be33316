//! The blocks of a real file in each language, as a picture.

use std::fmt::Write as _;
use std::path::Path;

use code::{Document, FileBlocks, language};

fn sample(id: &str) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages").join(id);
    let file = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(Result::ok)
        .find(|entry| entry.file_name().to_string_lossy().starts_with("sample."))
        .unwrap_or_else(|| panic!("no sample in {}", folder.display()));
    let text = std::fs::read_to_string(file.path()).expect("a readable sample");
    (file.file_name().to_string_lossy().into_owned(), text)
}

/// Returns a line for each block, such as `12-20 method Foo.bar(u32)`, indented by nesting. `10+12-20` says that the
/// lead starts at line 10; `12+12-20` says that the lead is on the first line of the node.
fn picture(file: &FileBlocks) -> String {
    let mut out = String::new();
    for block in &file.blocks {
        let mut depth = 0;
        let mut outer = block.container;
        while let Some(at) = outer {
            depth += 1;
            outer = file.blocks[at].container;
        }
        let identity = &block.identity;
        let parameters = identity.parameters.as_deref().unwrap_or_default();
        let ordinal =
            if identity.ordinal > 0 { format!(" #{}", identity.ordinal) } else { String::new() };
        let lead = match block.lead.is_empty() {
            true => String::new(),
            false => format!("{}+", block.whole_lines.start()),
        };
        writeln!(
            out,
            "{}{lead}{}-{} {} {}{parameters}{ordinal}",
            "  ".repeat(depth),
            block.lines.start(),
            block.lines.end(),
            identity.kind.as_str(),
            identity.path,
        )
        .expect("a string takes all");
    }
    out
}

#[test]
fn the_blocks_of_a_sample_in_each_language() {
    for language in language::with_grammar() {
        let (name, text) = sample(language.id);
        let file = Document::from_text(&name, &text).blocks();
        assert_eq!(file.language, Some(language.id));
        assert!(!file.has_error, "{name} has a syntax error");
        insta::assert_snapshot!(language.id, picture(&file));
    }
}

/// The output of a notebook cell is no part of its block, because nobody wrote it.
#[test]
fn only_the_source_of_a_cell_counts() {
    let (name, text) = sample("notebook");
    let other = text
        .replace("\"execution_count\": 3", "\"execution_count\": 4")
        .replace("[\"1\\n\"]", "[\"2\\n\"]");
    assert_ne!(text, other);
    let (one, two) = (Document::from_text(&name, &text), Document::from_text(&name, &other));
    let prints = |document: &Document| -> Vec<_> {
        document.blocks().blocks.iter().map(|block| block.fingerprint.clone()).collect()
    };
    assert_eq!(prints(&one), prints(&two));
    let edited = Document::from_text(&name, &text.replace("rows[0]", "rows[1]"));
    let same = prints(&one).iter().zip(&prints(&edited)).filter(|(a, b)| a == b).count();
    assert_eq!((prints(&one).len(), same), (3, 2));
}
