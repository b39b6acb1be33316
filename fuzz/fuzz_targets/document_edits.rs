//! An edited document has the same blocks as one that is parsed anew.
#![no_main]

use code::{Document, language};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str, Vec<(u16, u8, &str)>)| {
    let (which, text, edits) = input;
    let languages = language::languages();
    let language = &languages[usize::from(which) % languages.len()];
    let ending = language.extensions.first().map(|ending| format!("a.{ending}"));
    let Some(name) = ending.as_deref().or(language.file_names.first().copied()) else { return };
    let mut text = text.to_owned();
    let mut document = Document::from_text(name, &text);
    document.blocks();
    for (at, removed, new) in edits.into_iter().take(8) {
        let start = text.floor_char_boundary(usize::from(at) % (text.len() + 1));
        let end = text.floor_char_boundary((start + usize::from(removed)).min(text.len()));
        document = document.edited(start..end, new).expect("on boundaries of characters");
        text.replace_range(start..end, new);
    }
    assert_eq!(document.text(), text);
    let fresh = Document::from_text(name, &text);
    assert_eq!(document.parsed_blocks(), fresh.parsed_blocks(), "{name}: {text:?}");
    for block in &document.blocks().blocks {
        assert!(text.get(block.bytes.clone()).is_some(), "a block ends within a character");
    }
});
