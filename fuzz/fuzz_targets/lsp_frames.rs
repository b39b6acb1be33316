//! A stream to the language server: its frames do not depend on how the bytes arrive.
#![no_main]

use std::io::BufReader;

use intent_lsp::facade::fuzz::frames;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = frames(bytes);
    assert_eq!(whole, frames(BufReader::with_capacity(1, bytes)));
    assert!(whole.iter().flatten().map(Vec::len).sum::<usize>() <= bytes.len());
});
