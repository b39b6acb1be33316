//! The result of an agent's edit of a file, for each way in which patches are written.
#![no_main]

use edits::patch::{FilePatch, heredoc, read};
use edits::{After, Change};
use libfuzzer_sys::fuzz_target;

// The text before is above the patch, with a NUL between them.
fuzz_target!(|text: &str| {
    let (before, patch) = text.split_once('\0').unwrap_or(("one\ntwo\nthree\n", text));
    let inside = heredoc(patch).map(|found| found.patch);
    for patch in [Some(patch), inside.as_deref()].into_iter().flatten() {
        let Ok(files) = read(patch) else { continue };
        for file in files {
            let FilePatch::Update { hunks, .. } = file else { continue };
            let change = Change::Hunks(hunks);
            assert_eq!(change.text_after(Some(before)), change.text_after(Some(before)));
        }
    }
    let after = Change::Blocks(patch.to_owned()).text_after(Some(before));
    assert!(
        !matches!(after, After::Fails(_)),
        "a block that is not found may still be found loosely"
    );
});
