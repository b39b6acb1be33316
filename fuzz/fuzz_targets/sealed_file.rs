//! A file of evidence: its sections are in the file in order, and under its own name nothing in it counts as changed.
#![no_main]

use ground::Code;
use ledger::{Digest, evidence, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(sections) = evidence::read(bytes) else { return };
    let mut at = 0;
    for section in &sections {
        assert_eq!(section.bytes.start, at, "sections follow each other");
        at = section.bytes.end;
        let lines = section.lines.len() + section.unreadable.len();
        let digests = section.line_digests(bytes).len();
        assert!(
            digests == lines || digests == lines + 1,
            "each line is read, or said to be unreadable"
        );
        let spans = section.lines.iter().map(|(span, _)| span).chain(&section.unreadable);
        for span in spans {
            assert!(section.bytes.start <= span.start && span.end <= section.bytes.end);
        }
    }
    assert_eq!(at, bytes.len(), "the sections are the file");
    let path = |digest| evidence::path_of(digest, "2026-01-01T00:00:00Z");
    let file = read::bytes(&path(Digest::compute(bytes)), bytes);
    assert!(file.findings.iter().all(|finding| finding.code != Code::LedgerForged));
    let renamed = read::bytes(&path(Digest::compute(b"another")), bytes);
    assert!(renamed.findings.iter().any(|finding| finding.code == Code::LedgerForged));
    assert_eq!(renamed.entries.len(), file.entries.len());
});
