//! A stream to the language server: its frames do not depend on how the bytes arrive.
#![no_main]

use std::io::{BufRead, BufReader, Cursor};

use libfuzzer_sys::fuzz_target;
use lsp::message::{self, Rejected};
use lsp::transport::Frames;

/// Returns the bodies of the frames of a stream, as the language server reads them; `None` for what was skipped. Each
/// body is read as a message, and what is none is answered.
fn frames(input: impl BufRead) -> Vec<Option<Vec<u8>>> {
    let mut frames = Frames::new(input);
    let mut bodies = Vec::new();
    while let Ok(Some(frame)) = frames.next_frame() {
        if let Ok(body) = &frame {
            drop(message::parse(body).map_err(Rejected::reply));
        }
        bodies.push(frame.ok());
    }
    bodies
}

fuzz_target!(|bytes: &[u8]| {
    let whole = frames(Cursor::new(bytes));
    assert_eq!(whole, frames(BufReader::with_capacity(1, bytes)));
    assert!(whole.iter().flatten().map(Vec::len).sum::<usize>() <= bytes.len());
});
