//! The hash chain: each record of a writer contains the hash of that writer's previous record.
//! Hashes are computed over the bytes as stored.
//!
//! Records are grouped by writer before they are checked, so a chain stays valid when git merges
//! two files in any order. Within one file, the records of one writer must be in the order in which
//! they were written.
//!
//! Records leave a journal one by one, so its chain has gaps. [`super::journal::lost_records`] knows which
//! of them are explained. Rewriting all records after some point with new hashes leaves no trace.
//! Evidence has no chain, because git's history protects it.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::digest::is_lower_hex;
use super::entry::{finding, span};
use super::evidence;
use super::journal;
use super::{Entry, RecordDialect, Trust};
use code::LineRange;
use code::hex;
use ground::{Code, Finding, RelatedPlace, RelativePath};

/// Hashed before the bytes of a line, so that no hash of something else can pass for one of a line.
pub(crate) const DOMAIN: &str = "intent-ledger/1\n";

const TAIL_START: &[u8] = b",\"h\":\"";
const TAIL_END: &[u8] = b"\"}";
const DIGITS: usize = 64;
/// The length in bytes of the end of a line, `,"h":"<64 hex>"}`, which is not hashed.
const TAIL: usize = TAIL_START.len() + DIGITS + TAIL_END.len();

/// Returns the hash `h` of a line. `stored` is the line without its end `,"h":"…"}`.
pub fn hash(stored: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(DOMAIN.as_bytes());
    hasher.update(stored);
    hex(&hasher.finalize())
}

/// Splits a line into the bytes that are hashed and the 64 hexadecimal digits of the hash. `None`
/// if the line does not end in a hash.
pub fn split_tail(line: &[u8]) -> Option<(&[u8], &str)> {
    let at = line.len().checked_sub(TAIL)?;
    let (stored, tail) = line.split_at(at);
    let digits = tail.strip_prefix(TAIL_START)?.strip_suffix(TAIL_END)?;
    let digits = std::str::from_utf8(digits).ok()?;
    is_lower_hex(digits).then_some((stored, digits))
}

pub(super) fn is_intact(line: &[u8]) -> bool {
    split_tail(line).is_some_and(|(stored, h)| hash(stored) == h)
}

#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// Gaps, wrong links, forks, duplicates and moved lines.
    pub findings: Vec<Finding>,
    /// Byte-identical copies of an earlier entry.
    pub duplicates: HashSet<usize>,
}

/// Checks how the canonical entries are linked: gaps in the sequence and wrong `prev` hashes. Several
/// records may continue one: a ledger that git tracks is continued on each branch, and a merge keeps
/// the records of both. The hash of each line itself was checked when the line was read.
pub(super) fn judge(entries: &[Arc<Entry>]) -> Judgement {
    let mut judgement = Judgement::default();
    for chain in chains(entries, &mut judgement).values() {
        let mut before: &[&Entry] = &[];
        for records in chain.values() {
            let rivals = records.iter().skip(1).map(|rival| fork(rival, records[0]));
            judgement.findings.extend(rivals);
            let wrong = records.iter().flat_map(|entry| wrong_place(entry, before));
            judgement.findings.extend(wrong);
            before = records;
        }
    }
    judgement
}

/// The records of one writer by their number.
type Chain<'a> = BTreeMap<u64, Vec<&'a Entry>>;

/// Groups the entries by writer. A forged entry whose number an intact one has is left out, so that it
/// cannot make the rest of the chain look broken.
fn chains<'a>(
    entries: &'a [Arc<Entry>],
    judgement: &mut Judgement,
) -> BTreeMap<&'a str, Chain<'a>> {
    let mut chains: BTreeMap<&str, Chain<'a>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.dialect != RecordDialect::Canonical {
            continue;
        }
        let chain = chains.entry(&entry.record.writer).or_default();
        let records = chain.entry(entry.record.seq).or_default();
        match records.iter().find(|other| other.stored == entry.stored) {
            Some(first) => {
                judgement.duplicates.insert(at);
                judgement.findings.push(duplicate(entry, first));
            }
            None => records.push(entry),
        }
    }
    let is_intact = |entry: &&Entry| entry.trust != Trust::Contradicted;
    for records in chains.values_mut().flat_map(BTreeMap::values_mut) {
        if records.iter().any(is_intact) {
            records.retain(is_intact);
        }
    }
    chains
}

/// Returns what is wrong with the place of an entry behind those with the number before it: a gap, a
/// wrong link, or a line that is further up in its file than the one that it continues.
fn wrong_place(entry: &Entry, before: &[&Entry]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let prev = entry.record.prev.as_deref();
    let continued = before.iter().find(|before| prev == Some(&*before.record.h));
    let before = continued.or(before.first()).copied();
    let expected = before.map_or(0, |before| before.record.seq.saturating_add(1));
    if entry.record.seq > expected {
        if !journal::is_open(&entry.origin.path) {
            findings.push(gap(entry, expected, before));
        }
    } else if prev != before.map(|before| &*before.record.h) {
        findings.push(wrong_link(entry, before));
    }
    // The order is checked only within a file, since copies of a chain may be in several files.
    let is_moved = |before: &&Entry| {
        before.origin.path == entry.origin.path && before.origin.start > entry.origin.start
    };
    if let Some(before) = before.filter(is_moved) {
        let place = place_of_entry(before, "written earlier, but further down in the file");
        let message = format!(
            "Record {} of writer {} comes before record {}, which was written before it; lines were moved.",
            entry.record.seq, entry.record.writer, before.record.seq
        );
        findings.push(broken_link(entry, Some(place), message));
    }
    findings
}

/// The advice for a file whose bytes were converted, for example its line ends.
pub(super) const KEEP_BYTES: &str = "Keep git and editors from converting the file: `*.jsonl -text` in .gitattributes, then check it out anew.";

pub(super) fn restore(path: &RelativePath) -> String {
    if journal::is_open(path) {
        let name = path.file_name();
        return format!(
            "Commit, so that intact records are sealed, and remove this journal under both of its names: `rm -f {path} \"$(git rev-parse --git-common-dir)\"/intent/open/*/{name}`. The next record begins a new one."
        );
    }
    if evidence::digest_of_path(path).is_some() {
        return format!(
            "Restore it as it was committed first: `git checkout \"$(git log --diff-filter=A --format=%h -1 -- {path})\" -- {path}`. If no commit added it, remove it: `rm {path}`."
        );
    }
    // Another person may have chosen the name of the file.
    let word = path.for_shell();
    format!(
        "Compare the file with its history (`git log -p -- {word}`) and restore the lines that git holds; permanently lost records remain reported as a gap."
    )
}

pub(super) fn forged(entry: &Entry) -> Finding {
    let message = if split_tail(&entry.stored).is_some() {
        "The line was changed after it was written: its hash is not that of its bytes."
    } else {
        "The line belongs to a chain but does not end in `,\"h\":\"<64 lowercase hex digits>\"}`."
    };
    finding(Code::LedgerForged, &entry.origin, message.into(), restore(&entry.origin.path))
}

fn duplicate(entry: &Entry, first: &Entry) -> Finding {
    let message = format!(
        "Record {} of writer {} is repeated here, byte for byte; it counts once.",
        entry.record.seq, entry.record.writer
    );
    let help = "Nothing needs to be done; a merge that keeps both sides leaves this behind.";
    let found = finding(Code::LedgerDuplicate, &entry.origin, message, help);
    Finding { related: vec![place_of_entry(first, "the first")], ..found }
}

fn fork(entry: &Entry, first: &Entry) -> Finding {
    let message = format!(
        "Writer {} has two different records {}, and both count.",
        entry.record.writer, entry.record.seq
    );
    let help = "Nothing needs to be done; a merge of two branches leaves this behind.";
    let found = finding(Code::LedgerFork, &entry.origin, message, help);
    Finding { related: vec![place_of_entry(first, "the other record")], ..found }
}

fn gap(entry: &Entry, expected: u64, before: Option<&Entry>) -> Finding {
    let place = before.map(|before| place_of_entry(before, "the record before the gap"));
    broken_link(
        entry,
        place,
        missing_records(&entry.record.writer, expected..=entry.record.seq - 1),
    )
}

fn missing_records(writer: &str, records: RangeInclusive<u64>) -> String {
    let (first, last) = records.into_inner();
    let missing = match first == last {
        true => format!("record {first} is missing"),
        false => format!("records {first} to {last} are missing"),
    };
    format!("Chain of writer {writer}: {missing}.")
}

pub(super) fn lost_records(lost: journal::LostRecords) -> Finding {
    let path = journal::shown_path(&lost.writer);
    let help = "Put the lines back where a copy of the journal has them. A person accepts that they are gone with `intent evidence verify --accept-rewrite`.";
    let message = missing_records(&lost.writer, lost.records);
    Finding::new(Code::LedgerBroken, message, help).in_file(&path)
}

fn wrong_link(entry: &Entry, before: Option<&Entry>) -> Finding {
    let message = format!(
        "Record {} of writer {} does not name the hash of the record before it.",
        entry.record.seq, entry.record.writer
    );
    broken_link(entry, before.map(|before| place_of_entry(before, "the record before")), message)
}

fn broken_link(entry: &Entry, place: Option<RelatedPlace>, message: String) -> Finding {
    let at = &entry.origin;
    let finding = finding(Code::LedgerBroken, at, message, restore(&at.path));
    Finding { related: place.into_iter().collect(), ..finding }
}

fn place_of_entry(entry: &Entry, message: &str) -> RelatedPlace {
    let line = entry.origin.line.max(1);
    RelatedPlace {
        path: entry.origin.path.clone(),
        span: span(&entry.origin),
        lines: LineRange::new(line, line).expect("a line is its own range, and lines start at 1"),
        message: message.into(),
    }
}
