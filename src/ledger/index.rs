//! The ledger in memory: entries, and look-ups by hash, path, intent and block. No question scans it.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::chain::{self, Head};
use super::files::{self, FileState};
use super::{BlockRecord, Conversation, Entry, FileRecord, OutlineDelta, Trust, heads, read};
use crate::code::{ContentHash, ShapeHash, TokenHash};
use crate::workspace::{Finding, RelativePath, Root};

/// One recorded block: entry, file, conversation and range by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClaimRef {
    /// Index in [`Ledger::entries`].
    pub entry: u32,
    /// Index in its files.
    pub file: u32,
    /// Index in the file's conversations.
    pub conversation: u32,
    /// Index in the conversation's ranges.
    pub range: u32,
}

/// A [`ClaimRef`] resolved.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The record and where it stands.
    pub entry: &'a Entry,
    /// The file in it.
    pub file: &'a FileRecord,
    /// Who wrote.
    pub conversation: &'a Conversation,
    /// The block.
    pub range: &'a BlockRecord,
}

/// All entries of a workspace, in fold order (time, then writer and sequence), with their indices.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Vec<Entry>,
    findings: Vec<Finding>,
    /// Byte-identical copies: they count once, but their bytes have been read.
    copies: Vec<Entry>,
    files: Vec<FileState>,
    memory: Memory,
    lookups: Lookups,
}

#[derive(Debug, Default)]
struct Lookups {
    paths: HashMap<RelativePath, Vec<ClaimRef>>,
    named: Vec<RelativePath>,
    contents: HashMap<ContentHash, Vec<ClaimRef>>,
    tokens: HashMap<TokenHash, Vec<ClaimRef>>,
    shapes: HashMap<ShapeHash, Vec<ClaimRef>>,
    intents: HashMap<String, Vec<ClaimRef>>,
    ids: HashMap<String, u32>,
    outlines: HashMap<RelativePath, Vec<Outline>>,
    /// Outlines whose parts stood in several records.
    joined: Vec<OutlineDelta>,
}

/// Where an outline delta stands.
#[derive(Clone, Copy, Debug)]
enum Outline {
    /// In this entry, in this of its files.
    Entry(u32, u32),
    /// In [`Lookups::joined`].
    Joined(usize),
}

/// What this clone remembers, in a stable order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Memory {
    /// Where its own chains stand.
    own: Vec<Head>,
    /// Where all chains stand that it has seen.
    heads: Vec<Head>,
}

impl Memory {
    fn of(root: &Root) -> Self {
        let mut memory = Self { own: heads::of(root, heads::Memory::Own), heads: heads::all(root) };
        for heads in [&mut memory.own, &mut memory.heads] {
            heads.sort_by(|a, b| (&a.writer, a.seq, &a.h).cmp(&(&b.writer, b.seq, &b.h)));
        }
        memory
    }
}

impl Ledger {
    /// Reads every ledger file of the workspace; verifies chains; marks trust.
    pub fn load(root: &Root) -> Self {
        Self::default().reload(root)
    }

    /// Reads again only what has changed on disk since (size, time, name); files that only grew are read from where they ended.
    pub fn reload(&self, root: &Root) -> Self {
        let mut known: HashMap<&RelativePath, Vec<Entry>> = HashMap::new();
        for entry in self.entries.iter().chain(&self.copies) {
            known.entry(&entry.origin.path).or_default().push(entry.clone());
        }
        let mut entries = Vec::new();
        let mut states = Vec::new();
        for path in read::files(root) {
            let state = self.files.iter().find(|state| state.path == path);
            let before = known.remove(&path).unwrap_or_default();
            let (state, mut found) = files::refresh(root, path, state, before);
            entries.append(&mut found);
            states.push(state);
        }
        Self::build(entries, states, Memory::of(root))
    }

    /// Whether no ledger file has come, gone or changed (in size or time) since this was read, and this clone
    /// remembers what it did; cheaper than a reload that finds nothing.
    pub fn is_current(&self, root: &Root) -> bool {
        let found = read::files(root);
        found.len() == self.files.len()
            && found
                .iter()
                .zip(&self.files)
                .all(|(path, state)| *path == state.path && state.is_current(root))
            && Memory::of(root) == self.memory
    }

    /// From (path, bytes) in hand, for tests and for a base commit.
    pub fn from_files(files: &[(RelativePath, Vec<u8>)]) -> Self {
        let mut entries = Vec::new();
        let mut states = Vec::new();
        for (path, bytes) in files {
            let mut reading = read::bytes(path, bytes);
            entries.append(&mut reading.entries);
            states.push(FileState::in_hand(path.clone(), reading.findings));
        }
        Self::build(entries, states, Memory::default())
    }

    fn build(mut entries: Vec<Entry>, files: Vec<FileState>, memory: Memory) -> Self {
        fold(&mut entries);
        // Forks mark entries as contradicted; which of them are so by their own hash is told by the findings of their file.
        let forged: HashSet<(&RelativePath, u64)> =
            files.iter().flat_map(FileState::forged).collect();
        let intact: Vec<bool> = entries
            .iter()
            .map(|entry| !forged.contains(&(&entry.origin.path, entry.origin.start)))
            .collect();
        let judgement = chain::judge(&entries, &intact, &memory.heads);
        let own = chain::vouched(&entries, &intact, &memory.own);
        for (at, entry) in entries.iter_mut().enumerate() {
            entry.trust = match () {
                () if own.contains(&at) => Trust::Own,
                () if !intact[at] || judgement.forked.contains(&at) => Trust::Contradicted,
                () => Trust::Claimed,
            };
        }
        let mut findings: Vec<Finding> =
            files.iter().flat_map(|file| file.findings.iter().cloned()).collect();
        findings.extend(judgement.findings);
        let mut kept = Vec::with_capacity(entries.len());
        let mut copies = Vec::new();
        let mut counted = Vec::with_capacity(entries.len());
        for (at, entry) in entries.into_iter().enumerate() {
            if judgement.duplicates.contains(&at) {
                copies.push(entry);
            } else {
                counted.push(!judgement.incomplete.contains(&at));
                kept.push(entry);
            }
        }
        let lookups = Lookups::of(&kept, &counted);
        Self { entries: kept, findings, copies, files, memory, lookups }
    }

    /// In fold order. Incomplete multi-part mutations are left out of every look-up below.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
    /// Everything wrong in files and chains.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
    /// The claim behind a reference.
    ///
    /// # Panics
    ///
    /// Where the reference is not one of this ledger's.
    pub fn claim(&self, at: ClaimRef) -> Claim<'_> {
        let entry = &self.entries[at.entry as usize];
        let file = &entry.record.files[at.file as usize];
        let conversation = &file.conversations[at.conversation as usize];
        Claim { entry, file, conversation, range: &conversation.ranges[at.range as usize] }
    }
    /// Claims on a path, in fold order, deletions included.
    pub fn of_path(&self, path: &RelativePath) -> &[ClaimRef] {
        self.lookups.paths.get(path).map_or(&[], Vec::as_slice)
    }
    /// Paths that any record names, sorted.
    pub fn paths(&self) -> Vec<&RelativePath> {
        self.lookups.named.iter().collect()
    }
    /// Claims with this content.
    pub fn by_content(&self, hash: &ContentHash) -> &[ClaimRef] {
        self.lookups.contents.get(hash).map_or(&[], Vec::as_slice)
    }
    /// Claims with these tokens.
    pub fn by_tokens(&self, hash: &TokenHash) -> &[ClaimRef] {
        self.lookups.tokens.get(hash).map_or(&[], Vec::as_slice)
    }
    /// Claims with this shape.
    pub fn by_shape(&self, hash: &ShapeHash) -> &[ClaimRef] {
        self.lookups.shapes.get(hash).map_or(&[], Vec::as_slice)
    }
    /// Claims under an intent, in fold order.
    pub fn of_intent(&self, intent: &str) -> &[ClaimRef] {
        self.lookups.intents.get(intent).map_or(&[], Vec::as_slice)
    }
    /// The entry with this record id; of several the first in fold order.
    pub fn by_id(&self, record: &str) -> Option<&Entry> {
        self.lookups.ids.get(record).map(|&at| &self.entries[at as usize])
    }
    /// The outline deltas of the path, newest (in fold order) first.
    pub fn outlines_of(&self, path: &RelativePath) -> Vec<&OutlineDelta> {
        let all = self.lookups.outlines.get(path).map_or(&[][..], Vec::as_slice);
        let resolve = |outline: &Outline| match *outline {
            Outline::Joined(at) => self.lookups.joined.get(at),
            Outline::Entry(entry, file) => {
                self.entries[entry as usize].record.files[file as usize].outline.as_ref()
            }
        };
        all.iter().rev().filter_map(resolve).collect()
    }
    /// Where the chains in this ledger stand, so that a clone can keep them in mind ([`super::append::remember_heads`]).
    pub fn heads(&self) -> Vec<Head> {
        let mut heads: HashMap<&str, &Entry> = HashMap::new();
        let sound = |entry: &&Entry| {
            entry.dialect == super::Dialect::Canonical && entry.trust != Trust::Contradicted
        };
        for entry in self.entries.iter().filter(sound) {
            let head = heads.entry(&entry.record.writer).or_insert(entry);
            if head.record.seq < entry.record.seq {
                *head = entry;
            }
        }
        let mut heads: Vec<Head> = heads
            .into_values()
            .map(|entry| Head {
                writer: entry.record.writer.clone(),
                seq: entry.record.seq,
                h: entry.record.h.clone(),
            })
            .collect();
        heads.sort_by(|a, b| a.writer.cmp(&b.writer));
        heads
    }
}

/// Sorts into fold order: time, writer, sequence; entries without a time that can be read come first, as they stand in their files.
///
/// Within a chain the sequence is the truth and time a claim: where a clock was set back, a record counts as no
/// earlier than the one before it. Indices are sorted, not entries, which are large.
fn fold(entries: &mut Vec<Entry>) {
    let mut times: Vec<Option<i64>> = entries.iter().map(millis).collect();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|&a, &b| place_in_chain(&entries[a]).cmp(&place_in_chain(&entries[b])));
    for pair in 1..order.len() {
        let (before, at) = (order[pair - 1], order[pair]);
        let writer = &entries[at].record.writer;
        if !writer.is_empty() && *writer == entries[before].record.writer {
            times[at] = times[at].max(times[before]);
        }
    }
    // Stable, so that equal times keep the order of writer and sequence, or of file and place.
    order.sort_by_key(|&at| times[at]);
    if order.is_sorted() {
        return;
    }
    let mut left: Vec<Option<Entry>> = std::mem::take(entries).into_iter().map(Some).collect();
    entries.extend(order.into_iter().filter_map(|at| left[at].take()));
}

fn place_in_chain(entry: &Entry) -> (&str, u64, &RelativePath, u64) {
    (&entry.record.writer, entry.record.seq, &entry.origin.path, entry.origin.start)
}

fn millis(entry: &Entry) -> Option<i64> {
    let time: jiff::Timestamp = entry.record.timestamp.trim().parse().ok()?;
    Some(time.as_millisecond())
}

impl Lookups {
    fn of(entries: &[Entry], counted: &[bool]) -> Self {
        let mut lookups = Self::default();
        let mut joining: HashMap<(&str, &str, &RelativePath), usize> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            if !counted[at] {
                continue;
            }
            let at = index(at);
            if !entry.record.id.is_empty() {
                lookups.ids.entry(entry.record.id.clone()).or_insert(at);
            }
            for (file, record) in entry.record.files.iter().enumerate() {
                let file = index(file);
                lookups.add_claims(entry, at, file, record);
                let Some(outline) = &record.outline else { continue };
                let deltas = lookups.outlines.entry(record.relative_path.clone()).or_default();
                let Some(mutation) =
                    entry.record.mutation.as_deref().filter(|_| entry.record.part.is_some())
                else {
                    deltas.push(Outline::Entry(at, file));
                    continue;
                };
                let key = (entry.record.writer.as_str(), mutation, &record.relative_path);
                match joining.get(&key) {
                    Some(&joined) => {
                        let whole = &mut lookups.joined[joined];
                        whole.put.extend_from_slice(&outline.put);
                        whole.drop.extend_from_slice(&outline.drop);
                    }
                    None => {
                        joining.insert(key, lookups.joined.len());
                        deltas.push(Outline::Joined(lookups.joined.len()));
                        lookups.joined.push(outline.clone());
                    }
                }
            }
        }
        let named: HashSet<&RelativePath> = entries
            .iter()
            .zip(counted)
            .filter(|(_, counted)| **counted)
            .flat_map(|(entry, _)| entry.record.files.iter().map(|file| &file.relative_path))
            .collect();
        lookups.named = named.into_iter().cloned().collect();
        lookups.named.sort();
        lookups
    }

    fn add_claims(&mut self, entry: &Entry, at: u32, file: u32, record: &FileRecord) {
        let intents = intents(entry, record);
        for (c, conversation) in record.conversations.iter().enumerate() {
            for (r, range) in conversation.ranges.iter().enumerate() {
                let claim = ClaimRef { entry: at, file, conversation: index(c), range: index(r) };
                push(&mut self.paths, &record.relative_path, claim);
                if is_content_hash(&range.content_hash) {
                    push(&mut self.contents, &range.content_hash, claim);
                }
                if let Some(tokens) = &range.token_hash {
                    push(&mut self.tokens, tokens, claim);
                }
                if let Some(shape) = &range.shape_hash {
                    push(&mut self.shapes, shape, claim);
                }
                for intent in &intents {
                    push(&mut self.intents, *intent, claim);
                }
            }
        }
    }
}

/// The intents that claims of a file belong to: the record's, or, where it names none, those the file is related to.
fn intents<'a>(entry: &'a Entry, file: &'a FileRecord) -> Vec<&'a str> {
    if let Some(intent) = &entry.record.intent_id {
        return vec![intent];
    }
    let mut related: Vec<&str> = file
        .related
        .iter()
        .filter(|related| related.kind.eq_ignore_ascii_case("intent"))
        .map(|related| related.value.as_str())
        .collect();
    related.dedup();
    related
}

/// Copies the key only when it is new.
fn push<K, Q>(map: &mut HashMap<K, Vec<ClaimRef>>, key: &Q, claim: ClaimRef)
where
    K: Hash + Eq + Borrow<Q>,
    Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
{
    match map.get_mut(key) {
        Some(claims) => claims.push(claim),
        None => {
            map.insert(key.to_owned(), vec![claim]);
        }
    }
}

/// A SHA-256 in our spelling, and of more than nothing: failed reads have left the hash of the empty text in many ledgers.
fn is_content_hash(hash: &ContentHash) -> bool {
    const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    hash.as_str().strip_prefix("sha256:").is_some_and(|digits| {
        digits.len() == 64
            && digits != NOTHING
            && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Four thousand million records, or blocks in one, do not fit into memory.
fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 entries fit into memory")
}
