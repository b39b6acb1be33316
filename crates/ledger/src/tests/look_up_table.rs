//! Tests of the table on disk. A ledger must give the same answers with it, without it, and with a
//! damaged one.

use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::evidence::{self, CitedIntent, CitedSession, EvidenceLine, Header};
use crate::{PathEntryIds, look_up_table};
use ground::{Finding, store};

/// Makes a workspace with a git directory, in which the table can be stored.
fn place() -> TestWorkspace {
    let w = TestWorkspace::new(Layout::Single);
    std::fs::create_dir(w.dir.path().join(".orchestration/local")).unwrap();
    w
}

fn evidence_of(n: u32) -> (RelativePath, Vec<u8>) {
    let header = Header {
        evidence: evidence::FORMAT,
        of: n.is_multiple_of(7).then(|| format!("{n:040x}")),
        intents: vec![CitedIntent { id: format!("INT-{:03}", n % 5), ..CitedIntent::default() }],
        sessions: vec![CitedSession { id: Some(format!("s:{n}")), ..CitedSession::default() }],
        ..Header::default()
    };
    let time = format!("2026-{:02}-{:02}T00:00:{:02}Z", n % 3 + 1, n % 28 + 1, n % 60);
    let hash = |n: u32| evidence::short(&format!("sha256:{n:064x}")).unwrap();
    let line = |file: u32| -> EvidenceLine {
        let mut line =
            json!({ "intent": 0, "by": 0, "time": time, "path": format!("src/f{}.rs", file % 9) });
        match n % 11 {
            0 => line["whole"] = json!({ "lines": 3, "hash": hash(n) }),
            _ => {
                line["blocks"] =
                    json!([["function", format!("Auth.get_{}", n % 13), "1-3", hash(n % 17 + 1)]])
            }
        }
        serde_json::from_value(line).unwrap()
    };
    let mut bytes = evidence::write(header.clone(), vec![line(n), line(n + 1)], &[]);
    if n.is_multiple_of(10) {
        bytes.extend(evidence::write(header, vec![line(n + 2)], &[]));
    }
    (evidence::path_of(Digest::compute(&bytes), &time), bytes)
}

fn put(w: &TestWorkspace, numbers: impl IntoIterator<Item = u32>) -> Vec<PathBuf> {
    let write = |n| {
        let (path, bytes) = evidence_of(n);
        store::write_scratch(&w.root().absolute(&path), &bytes).unwrap();
        w.root().absolute(&path)
    };
    let written = numbers.into_iter().map(write).collect();
    // A folder that changed within the last 20 ms is always listed again, so wait until the table
    // is used.
    std::thread::sleep(std::time::Duration::from_millis(40));
    written
}

/// Returns the answers of a ledger to every kind of look-up.
fn told(ledger: &Ledger) -> Vec<String> {
    let mut told = Vec::new();
    let numbers = |claims: Vec<ClaimRef>| {
        let claim =
            |at: &ClaimRef| format!("{} {}", at.entry, ledger.claim(*at).full_block().start_line);
        claims.iter().map(claim).collect::<Vec<_>>()
    };
    for n in 0..20 {
        let file = path(&format!("src/f{n}.rs"));
        told.push(format!("{file} {:?}", numbers(ledger.of_path(&file))));
        told.push(format!("{file} {:?} {}", ledger.entries_of_path(&file), ledger.has_path(&file)));
        let PathEntryIds { evidence, rest, .. } = ledger.entry_ids_of_path(&file);
        let claims = ledger.claims_on(&file, evidence.into_iter().chain(rest));
        told.push(format!("{file} {:?}", numbers(claims)));
        let hash = ContentHash::from_ledger(format!("sha256:{n:064x}"));
        told.push(format!("{hash} {:?}", numbers(ledger.by_content(&hash))));
        told.push(format!(
            "get{n} {:?}",
            numbers(ledger.by_called("function", &format!("get{n}")))
        ));
        let intent = format!("INT-{n:03}");
        told.push(format!("{intent} {:?}", numbers(ledger.of_intent(&intent))));
        told.push(format!("{intent} {:?}", ledger.entries_of_intent(&intent)));
    }
    told.push(format!(
        "{:?} {:?} {}",
        ledger.paths(),
        ledger.intents(),
        ledger.evidence_files().len()
    ));
    let mut sections: Vec<Digest> = ledger.sections().into_iter().collect();
    sections.sort();
    told.push(format!("{sections:?}"));
    for entry in ledger.entries() {
        let found = ledger.by_id(&entry.record.id).map(|entry| &entry.origin);
        told.push(format!("{:?} {:?} {:?} {found:?}", entry.record.id, entry.origin, entry.trust));
    }
    told.extend(ledger.findings().iter().map(|finding: &Finding| finding.message.clone()));
    told
}

/// Reads all files of a workspace's ledger, without the table.
fn read_afresh(w: &TestWorkspace) -> Ledger {
    let files = crate::read::files(&w.root()).into_iter();
    let files: Vec<_> = files.map(|file| (file.path, std::fs::read(file.disk).unwrap())).collect();
    Ledger::from_files(&files)
}

fn afresh(w: &TestWorkspace) -> Vec<String> {
    told(&read_afresh(w))
}

/// Returns the ids of the evidence about each file.
fn ids(ledger: &Ledger) -> Vec<Vec<(crate::Digest, u32)>> {
    let files = (0..9).map(|n| path(&format!("src/f{n}.rs")));
    files.map(|file| ledger.entry_ids_of_path(&file).ids).collect()
}

fn table(w: &TestWorkspace) -> PathBuf {
    look_up_table::table_path(&w.root()).expect("a place")
}

#[test]
fn the_table_always_agrees_with_the_files() {
    let w = place();
    let files = put(&w, 0..200);
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w), "while the table is written");
    assert!(table(&w).is_file());
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w), "from the table");
    assert_eq!(ids(&Ledger::load(&w.root())), ids(&read_afresh(&w)));
    assert!(ids(&read_afresh(&w)).iter().all(|ids| ids.len() > 20));
    let before = Ledger::load(&w.root());
    put(&w, 200..210);
    w.append(mutation("s", "src/f3.rs", [1, 2]));
    assert!(!before.is_current(&w.root()));
    assert_eq!(told(&before.reload(&w.root())), told(&Ledger::load(&w.root())), "some came");
    for file in &files[20..30] {
        std::fs::remove_file(file).unwrap();
    }
    let here = |ledger: &Ledger| -> Vec<String> {
        // In another clone, the records of the journal were written by somebody else.
        told(ledger).into_iter().map(|line| line.replace(" Own ", " Claimed ")).collect()
    };
    assert_eq!(here(&Ledger::load(&w.root())), afresh(&w), "some went");
    let written = std::fs::read(table(&w)).unwrap();
    put(&w, 210..300);
    assert_eq!(here(&Ledger::load(&w.root())), afresh(&w), "many came");
    assert_ne!(std::fs::read(table(&w)).unwrap(), written, "the table was written anew");
    assert_eq!(here(&Ledger::load(&w.root())), afresh(&w), "from the new table");
    let ledger = Ledger::load(&w.root());
    assert!(ledger.is_current(&w.root()));
    assert_eq!(here(&before.reload(&w.root())), afresh(&w), "from an old one in memory");
}

#[test]
fn a_damaged_table_changes_no_answer() {
    let w = place();
    put(&w, 0..120);
    drop(Ledger::load(&w.root()));
    let whole = std::fs::read(table(&w)).unwrap();
    let wanted = afresh(&w);
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bent = whole.clone();
        bent[at] ^= 0x10;
        std::fs::write(table(&w), &bent).unwrap();
        assert_eq!(told(&Ledger::load(&w.root())), wanted, "byte {at}");
    }
    std::fs::write(table(&w), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(told(&Ledger::load(&w.root())), wanted, "half of it");
}

#[test]
fn evidence_that_was_changed_in_place_is_noticed() {
    let w = place();
    let files = put(&w, 0..120);
    drop(Ledger::load(&w.root()));
    let mut bytes = std::fs::read(&files[5]).unwrap();
    let at = bytes.windows(4).position(|text| text == b"src/").unwrap();
    bytes[at + 4] = b'g';
    std::fs::write(&files[5], &bytes).unwrap();
    let ledger = Ledger::load(&w.root());
    assert_eq!(codes(ledger.findings()), ["ledger-forged"]);
    let is_of_it = |entry: &&Entry| entry.origin.path == evidence_of(5).0;
    let entries = ledger.entries().into_iter();
    let mut of_it = entries.filter(is_of_it).peekable();
    assert!(of_it.peek().is_some() && of_it.all(|entry| entry.trust == Trust::Contradicted));
    // When the table is written again, it must not list the changed file either.
    put(&w, 120..240);
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w));
    assert_eq!(codes(Ledger::load(&w.root()).findings()), ["ledger-forged"]);
}

fn write(w: &TestWorkspace, bytes: &[u8], month: &str) -> PathBuf {
    let path = w.root().absolute(&evidence::path_of(Digest::compute(bytes), month));
    store::write_scratch(&path, bytes).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(40));
    path
}

#[test]
fn blocks_are_found_under_the_intent_they_were_reassigned_to() {
    let w = place();
    put(&w, 0..120);
    let record = json!({
        "id": "r-1", "timestamp": "2026-05-01T00:00:00.000Z", "kind": "reassign", "intent_id": "INT-009",
        "reassigns": { "blocks": [{
            "path": "src/f1.rs", "kind": "function", "name": "Auth.get_1",
            "content_hash": format!("sha256:{:064x}", 2), "from": "INT-001",
        }] },
    });
    let header = Header { evidence: evidence::FORMAT, ..Header::default() };
    let record = serde_json::from_value(record).unwrap();
    write(&w, &evidence::write(header, vec![], &[record]), "2026-05");
    drop(Ledger::load(&w.root()));
    let ledger = Ledger::load(&w.root());
    let claims = ledger.of_intent("INT-009");
    let are = claims.iter().all(|at| ledger.claim(*at).intent() == Some("INT-009"));
    assert!(!claims.is_empty() && are, "{claims:?}");
    assert!(ledger.of_intent("INT-001").iter().all(|at| !claims.contains(at)));
    assert_eq!(told(&ledger), afresh(&w));
}

#[test]
fn a_section_that_is_in_two_files_counts_once() {
    let w = place();
    let files = put(&w, 0..120);
    drop(Ledger::load(&w.root()));
    // Two files of one month, with one section each.
    let united = [evidence_of(1).1, evidence_of(4).1].concat();
    write(&w, &united, "2026-02");
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w), "beside the table");
    let other = [evidence_of(4).1, evidence_of(7).1].concat();
    write(&w, &other, "2026-02");
    put(&w, 120..240);
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w), "while the table is written");
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w), "from the new table");
    for file in [1, 4, 7] {
        std::fs::remove_file(&files[file]).unwrap();
    }
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w), "only united");
    put(&w, 240..360);
    assert_eq!(told(&Ledger::load(&w.root())), afresh(&w), "in the table");
    let kept = |path: &RelativePath, section: &Digest| {
        *section != Digest::compute(&evidence_of(4).1) && *path != evidence_of(2).0
    };
    let files = crate::read::files(&w.root()).into_iter();
    let files: Vec<_> = files.map(|file| (file.path, std::fs::read(file.disk).unwrap())).collect();
    let some = Ledger::load(&w.root()).evidence_of(&kept);
    assert_eq!(told(&some.evidence_of(&|_, _| true)), told(&some));
    let afresh = Ledger::from_files(&files).evidence_of(&kept);
    let ids = |ledger: &Ledger| -> Vec<String> {
        ledger.entries().into_iter().map(|entry| entry.record.id.clone()).collect()
    };
    assert_eq!(ids(&some), ids(&afresh), "without a file and a section");
    let sought = |section: &Digest| *section == Digest::compute(&evidence_of(1).1);
    assert_eq!(some.entries_in(&sought).len(), 2);
}

#[test]
fn erased_records_are_known() {
    let w = place();
    let files = put(&w, 0..120);
    drop(Ledger::load(&w.root()));
    let bytes = evidence_of(8).1;
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let stone = format!(
        "{{\"erased\":\"{}\",\"section\":\"{}\",\"time\":\"2026-06-01T00:00:00Z\",\"why\":\"a name\"}}\n",
        Digest::compute(lines[1].trim_ascii_end()),
        Digest::compute(&bytes)
    );
    lines[1] = stone.as_bytes();
    write(&w, &lines.concat(), "2026-03");
    std::fs::remove_file(&files[8]).unwrap();
    for _ in 0..2 {
        let ledger = Ledger::load(&w.root());
        assert_eq!(ledger.erased().len(), 1);
        assert_eq!(told(&ledger), afresh(&w));
        let audit = crate::audit(&w.root());
        assert_eq!((audit.erased.len(), audit.records), (1, ledger.len()));
        assert_eq!(audit.sections, ledger.sections());
        put(&w, 120..240);
    }
}
