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

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::digest::is_lower_hex;
use super::entry::{finding, span};
use super::evidence;
use super::journal;
use super::{Entry, RecordDialect};
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
    /// Entries whose writer and sequence number another intact, different entry also has.
    pub forked: HashSet<usize>,
}

/// Checks how the canonical entries are linked: gaps in the sequence, wrong `prev` hashes, forks.
/// The hash of each line itself was checked when the line was read.
pub(super) fn judge(entries: &[Arc<Entry>]) -> Judgement {
    let mut judgement = Judgement::default();
    for chain in chains(entries, &mut judgement).values() {
        follow(entries, chain, &mut judgement);
        order(entries, chain, &mut judgement);
    }
    judgement
}

type Chain = BTreeMap<u64, usize>;

/// Groups the entries by writer. If several entries have the same sequence number, an intact entry
/// is preferred, so that a forged one cannot make the rest of the chain look broken.
fn chains<'a>(entries: &'a [Arc<Entry>], judgement: &mut Judgement) -> BTreeMap<&'a str, Chain> {
    let mut slots: BTreeMap<&str, BTreeMap<u64, Vec<usize>>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.dialect == RecordDialect::Canonical {
            let writer = slots.entry(&entry.record.writer).or_default();
            writer.entry(entry.record.seq).or_default().push(at);
        }
    }
    let mut settle = |(seq, mut claims): (u64, Vec<usize>)| {
        claims.sort_by_key(|&at| !is_intact(&entries[at].stored));
        let holder = claims[0];
        for &rival in &claims[1..] {
            if entries[rival].stored == entries[holder].stored {
                judgement.duplicates.insert(rival);
                judgement.findings.push(duplicate(&entries[rival], &entries[holder]));
            } else if is_intact(&entries[rival].stored) {
                judgement.forked.extend([holder, rival]);
                judgement.findings.push(fork(&entries[rival], &entries[holder]));
            }
        }
        (seq, holder)
    };
    let chains = slots
        .into_iter()
        .map(|(writer, claims)| (writer, claims.into_iter().map(&mut settle).collect()));
    chains.collect()
}

fn follow(entries: &[Arc<Entry>], chain: &Chain, judgement: &mut Judgement) {
    let mut before: Option<&Entry> = None;
    for (&seq, &at) in chain {
        let entry = &*entries[at];
        let expected = before.map_or(0, |before| before.record.seq.saturating_add(1));
        let h = before.map(|before| before.record.h.as_str());
        if seq > expected {
            if !journal::is_open(&entry.origin.path) {
                judgement.findings.push(gap(entry, expected, before));
            }
        } else if entry.record.prev.as_deref() != h {
            judgement.findings.push(wrong_link(entry, before));
        }
        before = Some(entry);
    }
}

/// Checks that the entries of a chain are in the right order within each file. Order across files
/// says nothing, because copies of a chain may be spread over several files.
fn order(entries: &[Arc<Entry>], chain: &Chain, judgement: &mut Judgement) {
    let mut last: HashMap<&str, &Entry> = HashMap::new();
    for &at in chain.values() {
        let entry = &*entries[at];
        let before = last.insert(entry.origin.path.as_str(), entry);
        if let Some(before) = before.filter(|b| b.origin.start > entry.origin.start) {
            let place = place_of_entry(before, "written earlier, but further down in the file");
            let message = format!(
                "Record {} of writer {} comes before record {}, which was written before it; lines were moved.",
                entry.record.seq, entry.record.writer, before.record.seq
            );
            judgement.findings.push(broken_link(entry, Some(place), message));
        }
    }
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
        "Writer {} has two different records {}; at most one of them is what it wrote.",
        entry.record.writer, entry.record.seq
    );
    let help = "Find out from git history which of the two came first; remove the other, and the records of this writer that follow it in the same copy of the file.";
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
