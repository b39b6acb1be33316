//! The chain: each writer's records linked by hashes over the bytes as stored.
//!
//! Verification groups by writer, so that a git merge in any order stays valid. Within one file the
//! records of one writer stand in the order in which they were written.
//!
//! What a chain cannot show by itself: that its end was cut off at a record boundary, or that
//! everything after some record was written anew. Only a head that somebody remembers shows that.

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::{Dialect, Entry, Origin};
use crate::code::LineRange;
use crate::workspace::{Code, Finding, Related};

/// What goes before the line's bytes into the hash.
pub const DOMAIN: &str = "intent-ledger/1\n";

const TAIL_START: &[u8] = b",\"h\":\"";
const TAIL_END: &[u8] = b"\"}";
const DIGITS: usize = 64;
/// Bytes of the fixed tail `,"h":"<64 hex>"}`.
pub(super) const TAIL: usize = TAIL_START.len() + DIGITS + TAIL_END.len();

/// `h` of a line's stored bytes before the fixed tail `,"h":"…"}`.
pub fn hash(stored: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(DOMAIN.as_bytes());
    hasher.update(stored);
    to_hex(&hasher.finalize())
}

/// Bytes as lowercase hex.
pub(super) fn to_hex(bytes: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(HEX[usize::from(byte >> 4)] as char);
        text.push(HEX[usize::from(byte & 15)] as char);
    }
    text
}

/// The bytes before the tail and the 64 hex digits in it; `None` when the line has no such tail.
pub fn split_tail(line: &[u8]) -> Option<(&[u8], &str)> {
    let at = line.len().checked_sub(TAIL)?;
    let (stored, tail) = line.split_at(at);
    let digits = tail.strip_prefix(TAIL_START)?.strip_suffix(TAIL_END)?;
    if !digits.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b)) {
        return None;
    }
    Some((stored, std::str::from_utf8(digits).ok()?))
}

/// Whether a line ends in the hash of what stands before.
pub(super) fn is_intact(line: &[u8]) -> bool {
    split_tail(line).is_some_and(|(stored, h)| hash(stored) == h)
}

/// A chain's last record: where a writer stands.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Head {
    /// The chain.
    pub writer: String,
    /// Its last sequence number.
    pub seq: u64,
    /// Its last hash.
    pub h: String,
}

/// Checks every canonical entry: hash, sequence, links, forks, missing parts; and against the heads that this clone remembers, truncation.
/// A byte-identical duplicate counts once. A remembered chain of which nothing is here is no finding: a branch switch takes files away.
pub fn verify(entries: &[Entry], remembered: &[Head]) -> Vec<Finding> {
    let intact: Vec<bool> = entries.iter().map(|entry| is_intact(&entry.stored)).collect();
    let mut findings: Vec<Finding> = entries
        .iter()
        .zip(&intact)
        .filter(|(entry, intact)| entry.dialect == Dialect::Canonical && !**intact)
        .map(|(entry, _)| forged(entry))
        .collect();
    findings.extend(judge(entries, &intact, remembered).findings);
    findings
}

/// What the links between entries show, by index into the entries.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// Everything wrong with the links.
    pub findings: Vec<Finding>,
    /// Byte-identical copies of an earlier entry.
    pub duplicates: HashSet<usize>,
    /// Entries that another intact entry of the same place contradicts.
    pub forked: HashSet<usize>,
    /// Parts of mutations of which other parts are missing.
    pub incomplete: HashSet<usize>,
}

/// Everything but the hash of each line itself, which `intact` tells.
pub(super) fn judge(entries: &[Entry], intact: &[bool], remembered: &[Head]) -> Judgement {
    let mut judgement = Judgement::default();
    let chains = chains(entries, intact, &mut judgement);
    let heads: HashMap<&str, &Head> =
        remembered.iter().map(|head| (head.writer.as_str(), head)).collect();
    for (writer, chain) in &chains {
        links(entries, chain, &mut judgement);
        order(entries, chain, &mut judgement);
        if let Some(head) = heads.get(writer) {
            truncation(entries, chain, head, &mut judgement);
        }
    }
    parts(entries, &mut judgement);
    judgement
}

/// A writer's slots: sequence number to the entry that holds it.
type Chain = BTreeMap<u64, usize>;

/// Groups by writer. A forged entry takes a slot only where no intact one stands, so that it condemns nobody else.
fn chains<'a>(
    entries: &'a [Entry],
    intact: &[bool],
    judgement: &mut Judgement,
) -> BTreeMap<&'a str, Chain> {
    let mut slots: BTreeMap<&str, BTreeMap<u64, Vec<usize>>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.dialect == Dialect::Canonical {
            let writer = slots.entry(&entry.record.writer).or_default();
            writer.entry(entry.record.seq).or_default().push(at);
        }
    }
    let settle = |(seq, mut claims): (u64, Vec<usize>)| {
        claims.sort_by_key(|&at| !intact[at]);
        let holder = claims[0];
        for &rival in &claims[1..] {
            if entries[rival].stored == entries[holder].stored {
                judgement.duplicates.insert(rival);
                judgement.findings.push(duplicate(&entries[rival], &entries[holder]));
            } else if intact[rival] {
                judgement.forked.extend([holder, rival]);
                judgement.findings.push(fork(&entries[rival], &entries[holder]));
            }
        }
        (seq, holder)
    };
    let mut settle = settle;
    let mut chains = BTreeMap::new();
    for (writer, claims) in slots {
        chains.insert(writer, claims.into_iter().map(&mut settle).collect());
    }
    chains
}

/// The entries that the heads of this clone's own chains lead back to, link by link: those it wrote. Another's
/// record behind our last, or in the place of one of ours, is not among them, whatever writer it names.
pub(super) fn vouched(entries: &[Entry], intact: &[bool], own: &[Head]) -> HashSet<usize> {
    let writers: HashSet<&str> = own.iter().map(|head| head.writer.as_str()).collect();
    let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let record = &entry.record;
        if intact[at] && writers.contains(record.writer.as_str()) {
            places.entry((&record.writer, &record.h)).or_default().push(at);
        }
    }
    let mut found = HashSet::new();
    for head in own {
        let mut h = Some(head.h.as_str());
        // A place is taken out when it is used, so that no circle of links can hold us.
        while let Some(copies) = h.and_then(|h| places.remove(&(head.writer.as_str(), h))) {
            h = entries[copies[0]].record.prev.as_deref();
            found.extend(copies);
        }
    }
    found
}

fn links(entries: &[Entry], chain: &Chain, judgement: &mut Judgement) {
    let mut before: Option<&Entry> = None;
    for (&seq, &at) in chain {
        let entry = &entries[at];
        let expected = before.map_or(0, |b| b.record.seq.saturating_add(1));
        if seq != expected {
            judgement.findings.push(gap(entry, expected, before));
        } else if entry.record.prev.as_deref() != before.map(|b| b.record.h.as_str()) {
            judgement.findings.push(wrong_link(entry, before));
        }
        before = Some(entry);
    }
}

/// Only files tell an order: copies of a chain may be spread over several.
fn order(entries: &[Entry], chain: &Chain, judgement: &mut Judgement) {
    let mut last: HashMap<&str, &Entry> = HashMap::new();
    for &at in chain.values() {
        let entry = &entries[at];
        let before = last.insert(entry.origin.path.as_str(), entry);
        if let Some(before) = before.filter(|b| b.origin.start > entry.origin.start) {
            judgement.findings.push(Finding {
                related: vec![related(before, "written earlier, stands later")],
                ..finding(
                    Code::LedgerBroken,
                    &entry.origin,
                    format!(
                        "Record {} of writer {} stands above record {}, which was written before it; lines were moved.",
                        entry.record.seq, entry.record.writer, before.record.seq
                    ),
                    RESTORE,
                )
            });
        }
    }
}

fn truncation(entries: &[Entry], chain: &Chain, head: &Head, judgement: &mut Judgement) {
    let Some((&last, &last_at)) = chain.last_key_value() else { return };
    let message = match chain.get(&head.seq) {
        Some(&at) if entries[at].record.h == head.h => return,
        Some(_) => format!(
            "Record {} of writer {} is not the one that this clone has seen; the chain was written anew.",
            head.seq, head.writer
        ),
        None if last < head.seq => format!(
            "The chain of writer {} ends at record {last}, but this clone has seen record {}; {} records were cut off.",
            head.writer,
            head.seq,
            head.seq - last
        ),
        // A gap in the middle, which the links report.
        None => return,
    };
    let at = chain.get(&head.seq).copied().unwrap_or(last_at);
    judgement.findings.push(finding(Code::LedgerTruncated, &entries[at].origin, message, RESTORE));
}

fn parts(entries: &[Entry], judgement: &mut Judgement) {
    let mut mutations: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if judgement.duplicates.contains(&at) || entry.record.part.is_none() {
            continue;
        }
        let mutation = entry.record.mutation.as_deref().unwrap_or(&entry.record.id);
        mutations.entry((&entry.record.writer, mutation)).or_default().push(at);
    }
    for ((_, mutation), members) in mutations {
        let numbers: Vec<(u32, u32)> =
            members.iter().filter_map(|&at| entries[at].record.part).collect();
        if is_complete(&numbers) {
            continue;
        }
        judgement.incomplete.extend(&members);
        let wanted = numbers.iter().map(|part| part.1).max().unwrap_or_default();
        judgement.findings.push(finding(
            Code::LedgerBroken,
            &entries[members[0]].origin,
            format!(
                "Mutation {mutation} was written in {wanted} parts, of which {} are here; it counts only when complete.",
                numbers.len()
            ),
            RESTORE,
        ));
    }
}

/// Every part from 1 to the number all agree on, each once.
fn is_complete(numbers: &[(u32, u32)]) -> bool {
    let Some(&(_, wanted)) = numbers.first() else { return false };
    let mut seen: Vec<u32> = numbers.iter().map(|part| part.0).collect();
    seen.sort_unstable();
    numbers.iter().all(|part| part.1 == wanted)
        && seen.len() == wanted as usize
        && seen.iter().zip(1..).all(|(&have, want)| have == want)
}

const RESTORE: &str = "Compare the file with its history (`git log -p -- <file>`) and restore the lines that git holds; records that are lost for good stay a gap.";

/// The finding for a line whose hash is not that of its bytes.
pub(super) fn forged(entry: &Entry) -> Finding {
    let message = if split_tail(&entry.stored).is_some() {
        "The line was changed after it was written: its hash is not that of its bytes."
    } else {
        "The line belongs to a chain but does not end in `,\"h\":\"<64 lowercase hex digits>\"}`."
    };
    let help =
        "Restore the line from git history; what it says is shown as contradicted until then.";
    finding(Code::LedgerForged, &entry.origin, message.into(), help)
}

fn duplicate(entry: &Entry, first: &Entry) -> Finding {
    Finding {
        related: vec![related(first, "the first")],
        ..finding(
            Code::LedgerDuplicate,
            &entry.origin,
            format!(
                "Record {} of writer {} stands here again, byte for byte; it counts once.",
                entry.record.seq, entry.record.writer
            ),
            "Nothing needs to be done; a merge that keeps both sides leaves this behind.",
        )
    }
}

fn fork(entry: &Entry, first: &Entry) -> Finding {
    Finding {
        related: vec![related(first, "the other record")],
        ..finding(
            Code::LedgerFork,
            &entry.origin,
            format!(
                "Writer {} has two different records {}; at most one of them is what it wrote.",
                entry.record.writer, entry.record.seq
            ),
            "Find out from git history which of the two came first, and remove the other in a commit of its own.",
        )
    }
}

fn gap(entry: &Entry, expected: u64, before: Option<&Entry>) -> Finding {
    let missing = match entry.record.seq - expected {
        1 => format!("record {expected} is missing"),
        _ => format!("records {expected} to {} are missing", entry.record.seq - 1),
    };
    Finding {
        related: before.map(|b| related(b, "the record before the gap")).into_iter().collect(),
        ..finding(
            Code::LedgerBroken,
            &entry.origin,
            format!("Chain of writer {}: {missing}.", entry.record.writer),
            RESTORE,
        )
    }
}

fn wrong_link(entry: &Entry, before: Option<&Entry>) -> Finding {
    Finding {
        related: before.map(|b| related(b, "the record before")).into_iter().collect(),
        ..finding(
            Code::LedgerBroken,
            &entry.origin,
            format!(
                "Record {} of writer {} does not name the hash of the record before it.",
                entry.record.seq, entry.record.writer
            ),
            RESTORE,
        )
    }
}

/// A finding at a place of a ledger file.
pub(super) fn finding(code: Code, at: &Origin, message: String, help: &str) -> Finding {
    Finding {
        code,
        path: Some(at.path.clone()),
        span: Some(span(at)),
        lines: LineRange::new(at.line, at.line),
        intent: None,
        message,
        help: help.into(),
        related: Vec::new(),
        fixes: Vec::new(),
    }
}

fn related(entry: &Entry, message: &str) -> Related {
    let line = entry.origin.line.max(1);
    Related {
        path: entry.origin.path.clone(),
        span: span(&entry.origin),
        lines: LineRange::new(line, line).expect("a line is its own range, and lines start at 1"),
        message: message.into(),
    }
}

/// A file longer than memory can address does not exist on this machine, so the cast saturates in theory only.
fn span(at: &Origin) -> std::ops::Range<usize> {
    let cast = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    cast(at.start)..cast(at.end)
}
