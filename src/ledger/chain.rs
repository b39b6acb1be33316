//! The chain: each writer's records linked by hashes over the bytes as stored.
//!
//! Verification groups by writer, so that a git merge in any order stays valid. Within one file the
//! records of one writer stand in the order in which they were written.
//!
//! What a chain cannot show by itself: that its end was cut off at a record boundary, or that
//! everything after some record was written anew. Only a head that somebody remembers shows that.

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::rows::Row;
use super::{Entry, Origin};
use crate::code::LineRange;
use crate::workspace::{Code, Finding, Related, RelativePath};

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

/// What the chain knows of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<'a> {
    /// Where it stands; see [`Origin`].
    pub path: &'a RelativePath,
    pub line: u32,
    pub start: u64,
    pub end: u64,
    /// It belongs to a chain.
    pub canonical: bool,
    /// It is not in a chain, or its hash is that of its bytes.
    pub intact: bool,
    /// Equal only for equal bytes.
    pub digest: &'a [u8; DIGEST],
    pub id: &'a str,
    pub writer: &'a str,
    pub seq: u64,
    pub h: &'a str,
    pub prev: Option<&'a str>,
    pub part: Option<(u32, u32)>,
    pub mutation: Option<&'a str>,
}

impl Link<'_> {
    fn origin(&self) -> Origin {
        Origin { path: self.path.clone(), line: self.line, start: self.start, end: self.end }
    }
}

/// Bytes of a [`digest`].
pub(super) const DIGEST: usize = 16;

/// What tells one stored line from all others.
pub(super) fn digest(stored: &[u8]) -> [u8; DIGEST] {
    let mut short = [0; DIGEST];
    short.copy_from_slice(&Sha256::digest(stored)[..DIGEST]);
    short
}

/// Checks every canonical entry: hash, sequence, links, forks, missing parts; and against the heads that this clone remembers, truncation.
/// A byte-identical duplicate counts once. A remembered chain of which nothing is here is no finding: a branch switch takes files away.
pub fn verify(entries: &[Entry], remembered: &[Head]) -> Vec<Finding> {
    let rows: Vec<Row> = entries.iter().map(Row::in_chain).collect();
    let links: Vec<Link<'_>> =
        entries.iter().zip(&rows).map(|(entry, row)| row.link(&entry.origin.path)).collect();
    let forged = entries.iter().zip(&links).filter(|(_, link)| !link.intact);
    let mut findings: Vec<Finding> = forged.map(|(entry, _)| self::forged(entry)).collect();
    findings.extend(judge(&links, &HashMap::new()).findings);
    findings.extend(remembered.iter().filter_map(|head| truncated(&links, head)));
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
    /// Entries whose place in the chain is not the one they should have.
    pub misplaced: HashSet<usize>,
}

/// Everything but the hash of each line itself, which the links tell, and what is remembered. `before` are the
/// last records, by writer, of chains whose beginning is not among these links.
pub(super) fn judge(links: &[Link<'_>], before: &HashMap<&str, (u64, &str)>) -> Judgement {
    let mut judgement = Judgement::default();
    let chains = chains(links, &mut judgement);
    for (writer, chain) in &chains {
        follow(links, chain, before.get(writer).copied(), &mut judgement);
        order(links, chain, &mut judgement);
    }
    parts(links, &mut judgement);
    judgement
}

/// A writer's slots: sequence number to the entry that holds it.
type Chain = BTreeMap<u64, usize>;

/// Groups by writer. A forged entry takes a slot only where no intact one stands, so that it condemns nobody else.
fn chains<'a>(links: &[Link<'a>], judgement: &mut Judgement) -> BTreeMap<&'a str, Chain> {
    let mut slots: BTreeMap<&str, BTreeMap<u64, Vec<usize>>> = BTreeMap::new();
    for (at, link) in links.iter().enumerate() {
        if link.canonical {
            let writer = slots.entry(link.writer).or_default();
            writer.entry(link.seq).or_default().push(at);
        }
    }
    let settle = |(seq, mut claims): (u64, Vec<usize>)| {
        claims.sort_by_key(|&at| !links[at].intact);
        let holder = claims[0];
        for &rival in &claims[1..] {
            if links[rival].digest == links[holder].digest {
                judgement.duplicates.insert(rival);
                judgement.findings.push(duplicate(&links[rival], &links[holder]));
            } else if links[rival].intact {
                judgement.forked.extend([holder, rival]);
                judgement.findings.push(fork(&links[rival], &links[holder]));
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
pub(super) fn vouched(links: &[Link<'_>], own: &Head) -> HashSet<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, link) in links.iter().enumerate() {
        if link.intact && link.writer == own.writer {
            places.entry(link.h).or_default().push(at);
        }
    }
    let mut found = HashSet::new();
    let mut h = Some(own.h.as_str());
    // A place is taken out when it is used, so that no circle of links can hold us.
    while let Some(copies) = h.and_then(|h| places.remove(h)) {
        h = links[copies[0]].prev;
        found.extend(copies);
    }
    found
}

fn follow(links: &[Link<'_>], chain: &Chain, seed: Option<(u64, &str)>, judgement: &mut Judgement) {
    let mut last: Option<(u64, &str)> = seed;
    let mut before: Option<&Link<'_>> = None;
    for (&seq, &at) in chain {
        let link = &links[at];
        let expected = last.map_or(0, |(seq, _)| seq.saturating_add(1));
        let finding = match () {
            () if seq < expected => wrong_link(link, before),
            () if seq > expected => gap(link, expected, before),
            () if link.prev != last.map(|(_, h)| h) => wrong_link(link, before),
            () => {
                (last, before) = (Some((seq, link.h)), Some(link));
                continue;
            }
        };
        judgement.misplaced.insert(at);
        judgement.findings.push(finding);
        (last, before) = (Some((seq, link.h)), Some(link));
    }
}

/// Only files tell an order: copies of a chain may be spread over several.
fn order(links: &[Link<'_>], chain: &Chain, judgement: &mut Judgement) {
    let mut last: HashMap<&str, &Link<'_>> = HashMap::new();
    for &at in chain.values() {
        let link = &links[at];
        let before = last.insert(link.path.as_str(), link);
        if let Some(before) = before.filter(|b| b.start > link.start) {
            judgement.misplaced.insert(at);
            judgement.findings.push(Finding {
                related: vec![related(before, "written earlier, stands later")],
                ..finding(
                    Code::LedgerBroken,
                    &link.origin(),
                    format!(
                        "Record {} of writer {} stands above record {}, which was written before it; lines were moved.",
                        link.seq, link.writer, before.seq
                    ),
                    RESTORE,
                )
            });
        }
    }
}

/// What is wrong with the chain of a head that is remembered.
pub(super) fn truncated(links: &[Link<'_>], head: &Head) -> Option<Finding> {
    let of_writer: Vec<Link<'_>> =
        links.iter().copied().filter(|link| link.writer == head.writer).collect();
    let chains = chains(&of_writer, &mut Judgement::default());
    let chain = chains.get(head.writer.as_str())?;
    let (&last, &last_at) = chain.last_key_value()?;
    let message = match chain.get(&head.seq) {
        Some(&at) if of_writer[at].h == head.h => return None,
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
        None => return None,
    };
    let at = chain.get(&head.seq).copied().unwrap_or(last_at);
    Some(finding(Code::LedgerTruncated, &of_writer[at].origin(), message, RESTORE))
}

fn parts(links: &[Link<'_>], judgement: &mut Judgement) {
    let mut mutations: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, link) in links.iter().enumerate() {
        if judgement.duplicates.contains(&at) || link.part.is_none() {
            continue;
        }
        let mutation = link.mutation.unwrap_or(link.id);
        mutations.entry((link.writer, mutation)).or_default().push(at);
    }
    for ((_, mutation), members) in mutations {
        let numbers: Vec<(u32, u32)> = members.iter().filter_map(|&at| links[at].part).collect();
        if is_complete(&numbers) {
            continue;
        }
        judgement.incomplete.extend(&members);
        let wanted = numbers.iter().map(|part| part.1).max().unwrap_or_default();
        judgement.findings.push(finding(
            Code::LedgerBroken,
            &links[members[0]].origin(),
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

fn duplicate(link: &Link<'_>, first: &Link<'_>) -> Finding {
    Finding {
        related: vec![related(first, "the first")],
        ..finding(
            Code::LedgerDuplicate,
            &link.origin(),
            format!(
                "Record {} of writer {} stands here again, byte for byte; it counts once.",
                link.seq, link.writer
            ),
            "Nothing needs to be done; a merge that keeps both sides leaves this behind.",
        )
    }
}

fn fork(link: &Link<'_>, first: &Link<'_>) -> Finding {
    Finding {
        related: vec![related(first, "the other record")],
        ..finding(
            Code::LedgerFork,
            &link.origin(),
            format!(
                "Writer {} has two different records {}; at most one of them is what it wrote.",
                link.writer, link.seq
            ),
            "Find out from git history which of the two came first, and remove the other in a commit of its own.",
        )
    }
}

fn gap(link: &Link<'_>, expected: u64, before: Option<&Link<'_>>) -> Finding {
    let missing = match link.seq - expected {
        1 => format!("record {expected} is missing"),
        _ => format!("records {expected} to {} are missing", link.seq - 1),
    };
    Finding {
        related: before.map(|b| related(b, "the record before the gap")).into_iter().collect(),
        ..finding(
            Code::LedgerBroken,
            &link.origin(),
            format!("Chain of writer {}: {missing}.", link.writer),
            RESTORE,
        )
    }
}

fn wrong_link(link: &Link<'_>, before: Option<&Link<'_>>) -> Finding {
    Finding {
        related: before.map(|b| related(b, "the record before")).into_iter().collect(),
        ..finding(
            Code::LedgerBroken,
            &link.origin(),
            format!(
                "Record {} of writer {} does not name the hash of the record before it.",
                link.seq, link.writer
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

fn related(link: &Link<'_>, message: &str) -> Related {
    let line = link.line.max(1);
    Related {
        path: link.path.clone(),
        span: span(&link.origin()),
        lines: LineRange::new(line, line).expect("a line is its own range, and lines start at 1"),
        message: message.into(),
    }
}

/// A file longer than memory can address does not exist on this machine, so the cast saturates in theory only.
fn span(at: &Origin) -> std::ops::Range<usize> {
    let cast = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    cast(at.start)..cast(at.end)
}
