//! A file of records, ours or foreign: nothing in it is lost, and what is kept equals what is in the file.
#![no_main]

use ground::RelativePath;
use ledger::{Ledger, Record, RecordDialect, chain, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = RelativePath::new(".orchestration/agent_trace.jsonl").expect("a path");
    let file = read::bytes(&path, bytes);
    let entries = file.entries.iter().map(|entry| (&entry.origin, &*entry.stored));
    let unreadable = file.unreadable.iter().map(|(origin, kept)| (origin, kept.as_slice()));
    let mut spans: Vec<_> = entries
        .chain(unreadable)
        .map(|(origin, kept)| (origin.start as usize, origin.end as usize, kept))
        .collect();
    spans.sort();
    let mut at = 0;
    for (start, end, kept) in spans {
        assert!(at <= start, "two spans overlap");
        assert_blank(&bytes[at..start], at == 0);
        assert_eq!(&bytes[start..end], kept);
        at = end;
    }
    assert_blank(&bytes[at..], at == 0);
    for entry in file.entries.iter().filter(|entry| entry.dialect == RecordDialect::Canonical) {
        // A damaged line is read leniently, and is never written again.
        let tail = chain::split_tail(&entry.stored);
        if !tail.is_some_and(|(stored, hash)| chain::hash(stored) == hash) {
            continue;
        }
        let written = serde_json::to_vec(&entry.record).expect("a record is JSON");
        let again: Record = serde_json::from_slice(&written).expect("what was written is read");
        // The hash belongs to the stored line and is not written again.
        assert_eq!(again, Record { h: String::new(), ..entry.record.clone() });
    }
    Ledger::from_files(&[(path, bytes.to_vec())]);
});

/// Between two spans are blanks, comments and the punctuation of an array.
fn assert_blank(gap: &[u8], first: bool) {
    let gap = if first { gap.strip_prefix(b"\xef\xbb\xbf").unwrap_or(gap) } else { gap };
    for line in gap.split(|&byte| byte == b'\n') {
        let text = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        assert!(text.iter().all(|byte| b" \t\r[],".contains(byte)), "lost: {text:?}");
    }
}
