//! Ledgers as other tools write them: every fixture is read as its snapshot says, and nothing in a file is lost,
//! however the file is cut, joined or damaged.

#![allow(clippy::unwrap_used)]

use ground::RelativePath;
use ledger::{Ledger, ParsedLedgerFile, read};
use proptest::prelude::*;

use crate::support::runs_all;

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ledgers");
    let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    found.sort();
    assert!(found.len() > 10);
    found
}

fn path() -> RelativePath {
    RelativePath::new(".orchestration/agent_trace.jsonl").unwrap()
}

fn shown(reading: &ParsedLedgerFile) -> String {
    let mut lines = Vec::new();
    for entry in &reading.entries {
        let record = serde_json::to_string(&entry.record).unwrap();
        lines.push(format!("{} {:?} {:?} {record}", entry.origin.line, entry.dialect, entry.trust));
    }
    for (origin, bytes) in &reading.unreadable {
        let text = String::from_utf8_lossy(bytes);
        lines.push(format!("{} unreadable {}..{} {text:?}", origin.line, origin.start, origin.end));
    }
    for finding in &reading.findings {
        lines.push(format!(
            "{} {}: {}",
            finding.lines.unwrap().start(),
            finding.code.as_str(),
            finding.message
        ));
    }
    lines.join("\n")
}

#[test]
fn every_dialect_is_read() {
    for (name, bytes) in fixtures() {
        insta::assert_snapshot!(name.clone(), shown(&read::bytes(&path(), &bytes)));
    }
}

/// Asserts that every byte is in an entry, in an unreadable span, or is a blank, a comment, or a bracket or comma of an
/// array; and that the stored bytes of each span equal those of the file.
fn assert_nothing_is_lost(bytes: &[u8]) -> Result<(), TestCaseError> {
    let reading = read::bytes(&path(), bytes);
    let mut spans: Vec<(u64, u64, u32, &[u8])> = reading
        .entries
        .iter()
        .map(|e| (e.origin.start, e.origin.end, e.origin.line, &*e.stored))
        .chain(reading.unreadable.iter().map(|(o, kept)| (o.start, o.end, o.line, kept.as_slice())))
        .collect();
    spans.sort();
    let mut at = 0;
    for (start, end, line, kept) in spans {
        let (start, end) = (start as usize, end as usize);
        prop_assert!(start >= at, "spans overlap at {start}");
        assert_blank(&bytes[at..start], at == 0)?;
        prop_assert_eq!(&bytes[start..end], kept);
        let lines = bytes[..start].iter().filter(|&&b| b == b'\n').count() + 1;
        prop_assert_eq!(lines, line as usize);
        at = end;
    }
    assert_blank(&bytes[at..], at == 0)
}

fn assert_blank(gap: &[u8], first: bool) -> Result<(), TestCaseError> {
    let gap = if first { gap.strip_prefix(b"\xef\xbb\xbf").unwrap_or(gap) } else { gap };
    for line in gap.split(|&b| b == b'\n') {
        let text = line.split(|&b| b == b'#').next().unwrap_or_default();
        let blank = text.iter().all(|b| b" \t\r[],".contains(b));
        prop_assert!(blank, "lost: {:?}", String::from_utf8_lossy(gap));
    }
    Ok(())
}

#[test]
#[ignore = "slow"]
fn no_byte_of_a_fixture_is_lost() {
    for (name, bytes) in fixtures() {
        assert_nothing_is_lost(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Every cut, or every sixth and those around the ends of lines.
        let near_end = |cut: usize| bytes[cut.saturating_sub(2)..=cut].contains(&b'\n');
        for cut in (0..bytes.len()).filter(|cut| runs_all() || cut % 6 == 0 || near_end(*cut)) {
            assert_nothing_is_lost(&bytes[..cut])
                .unwrap_or_else(|e| panic!("{name}[..{cut}]: {e}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_byte_is_lost_when_files_are_cut_and_joined(
        pieces in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let all = fixtures();
        let mut bytes = Vec::new();
        for (file, from, to) in pieces {
            let (_, piece) = &all[file.index(all.len())];
            let (a, b) = (from.index(piece.len() + 1), to.index(piece.len() + 1));
            bytes.extend_from_slice(&piece[a.min(b)..a.max(b)]);
        }
        for (at, byte) in flips {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        assert_nothing_is_lost(&bytes)?;
        Ledger::from_files(&[(path(), bytes)]);
    }

    #[test]
    fn no_byte_of_a_file_that_is_no_ledger_is_lost(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_nothing_is_lost(&bytes)?;
    }

    #[test]
    fn no_byte_of_a_file_that_looks_like_json_is_lost(text in r##"([{}\[\],:"#\n \\]|"a"|1|null|\{"id":"1","ts":"2"\}){0,60}"##) {
        assert_nothing_is_lost(text.as_bytes())?;
    }
}
