//! The ledger as it is asked: entries, and look-ups by content, path, intent and name. No question scans it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use super::append::own_chains;
use super::chain;
use super::evidence::Digest;
use super::journal::{self, Sealed};
use super::read::{self, ErasedSection, LedgerFile, Reading};
use super::reassign::{Reassignment, Reassignments};
use super::{
    BlockRecord, Conversation, Dialect, Entry, FileRecord, Origin, Outline, Record, Trust,
};
use crate::code::ContentHash;
use crate::workspace::{Code, Finding, RelativePath, Root, cache};

/// One recorded block: entry, file, conversation and range by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClaimRef {
    /// Index in [`Ledger::entries`].
    pub entry: u32,
    /// Index in its files.
    pub file: u32,
    /// Index in the file's conversations.
    pub conversation: u32,
    /// Index in the conversation's ranges; of a file that was recorded as a whole, in what is derived of it.
    pub range: u32,
}

/// A [`ClaimRef`] resolved.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    ledger: &'a Ledger,
    at: ClaimRef,
    /// The record and where it stands.
    pub entry: &'a Entry,
    /// The file in it.
    pub file: &'a FileRecord,
    /// Who wrote.
    pub conversation: &'a Conversation,
}

impl<'a> Claim<'a> {
    /// The block as the record has it. Of evidence that is its name, its lines and its content.
    pub fn said(&self) -> &'a BlockRecord {
        let ranges = &self.conversation.ranges;
        match ranges.get(self.at.range as usize) {
            Some(range) if range.block.is_some() || self.entry.dialect != Dialect::Evidence => {
                range
            }
            _ => self.range(),
        }
    }

    /// The block with all that is known of it. For evidence that reads the texts of the commit.
    pub fn range(&self) -> &'a BlockRecord {
        let derived = self.ledger.derived(self.at.entry);
        let range = derived.and_then(|derived| derived.ranges.get(self.at.range as usize));
        let ranges = &self.conversation.ranges;
        range.unwrap_or_else(|| &ranges[(self.at.range as usize).min(ranges.len() - 1)])
    }

    pub(super) fn reassignments_from(&self, intent: &str) -> Vec<Reassignment<'a>> {
        let Said { entries, reassigned, .. } = &*self.ledger.said;
        let path = &self.file.relative_path;
        reassigned.since(entries, self.at.entry, path, self.said(), intent)
    }
}

/// What the texts before and after a record tell of it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Derived {
    /// The file before.
    pub before: Outline,
    /// The file after.
    pub after: Outline,
    /// The blocks that the record speaks of, in its order; of a whole file, all of it.
    pub ranges: Vec<BlockRecord>,
    /// The commit that brought it, as hex; `None` where it is about to be made.
    pub commit: Option<String>,
    /// When that was made, in seconds since 1970.
    pub committed: Option<i64>,
    /// The commit that the texts before are of, as hex.
    pub based_on: Option<String>,
}

/// Finds the texts of evidence, and tells what they say.
pub trait Derive: Send + Sync {
    /// `None` where the texts cannot be had.
    fn derive(&self, entry: &Entry) -> Option<Derived>;
}

/// All entries of a workspace, in fold order (time, then file and place), with their indices.
pub struct Ledger {
    said: Arc<Said>,
    derive: Option<Arc<dyn Derive>>,
    derived: Vec<OnceLock<Option<Arc<Derived>>>>,
    of_wholes: OnceLock<HashMap<u64, Vec<ClaimRef>>>,
}

/// What the files of a ledger say.
#[derive(Default)]
struct Said {
    entries: Vec<Arc<Entry>>,
    claims: HashMap<u64, Vec<ClaimRef>>,
    named: HashMap<u64, Vec<u32>>,
    /// Files that were recorded as a whole: what is in them is derived before a block is looked up.
    wholes: Vec<u32>,
    reassigned: Reassignments,
    findings: Vec<Finding>,
    files: BTreeMap<RelativePath, Known>,
    sealed: Sealed,
    paths: Vec<RelativePath>,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("entries", &self.said.entries.len()).finish_non_exhaustive()
    }
}

/// A ledger file as it was read.
#[derive(Clone, Debug)]
struct Known {
    stamp: Option<Stamp>,
    entries: Vec<Arc<Entry>>,
    findings: Arc<[Finding]>,
    /// The sections of an evidence file, and what its bytes come to.
    sections: Arc<[Digest]>,
    erased: Arc<[ErasedSection]>,
    digest: Option<Digest>,
}

/// What the file system says of a state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<u128>,
    exact: Option<cache::Stamp>,
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self {
            length: meta.len(),
            modified: modified.map(|since| since.as_nanos()),
            exact: cache::Stamp::of(meta),
        }
    }

    fn now(file: &LedgerFile) -> Option<Self> {
        Some(Self::of(&file.disk.metadata().ok()?))
    }
}

/// What is looked for.
#[derive(Clone, Copy, Hash)]
enum Kind {
    Path,
    Content,
    Called,
    Intent,
    Id,
}

fn key(kind: Kind, texts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind, texts).hash(&mut hasher);
    hasher.finish()
}

/// The key of a block as evidence knows it: by path, kind, name and text.
pub(super) fn content_key(
    path: &RelativePath,
    kind: Option<&str>,
    name: Option<&str>,
    content: &ContentHash,
) -> u64 {
    let (kind, name) = (kind.unwrap_or_default(), name.unwrap_or_default());
    key(Kind::Content, &[path.as_str(), kind, name, content.key()])
}

/// The key of a block's kind and the last segment of its path, however that is spelled: `_get_hash` and `getHash` are
/// one.
fn key_of_called(kind: &str, path: &str) -> u64 {
    let leaf = path.rsplit('.').next().unwrap_or(path);
    let letters = leaf.chars().filter(|letter| letter.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    key(Kind::Called, &[kind, if plain.is_empty() { leaf } else { &plain }])
}

/// A SHA-256 in our spelling, and of more than nothing: failed reads have left the hash of the empty text in many ledgers.
fn is_content_hash(hash: &ContentHash) -> bool {
    const NOTHING: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb924";
    let key = hash.key();
    key != NOTHING
        && key.strip_prefix("sha256:").is_some_and(|digits| {
            digits.len() == 32
                && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        })
}

impl Default for Ledger {
    fn default() -> Self {
        Self::from_files(&[])
    }
}

impl Ledger {
    /// Reads the ledger of a workspace.
    pub fn load(root: &Root) -> Self {
        Self::read(root, &BTreeMap::new())
    }

    /// Reads again only the files that have changed on disk since.
    pub fn reload(&self, root: &Root) -> Self {
        Self::read(root, &self.said.files)
    }

    fn read(root: &Root, known: &BTreeMap<RelativePath, Known>) -> Self {
        let is_own = own_chains(root);
        let files = read::files(root).into_iter().map(|file| {
            let stamp = Stamp::now(&file);
            let as_it_was = known.get(&file.path).filter(|known| {
                stamp.is_some_and(|stamp| stamp.exact.is_some()) && known.stamp == stamp
            });
            let read = || Known::read(&file, stamp).owned_by(&is_own);
            (file.path.clone(), as_it_was.cloned().unwrap_or_else(read))
        });
        Self::of(files.collect(), journal::sealed(root))
    }

    /// The same, with what was recorded in this clone and is in no commit yet.
    pub fn with_journals(&self, root: &Root) -> Self {
        let mut files = self.said.files.clone();
        for file in read::files(root).into_iter().filter(|file| journal::is_open(&file.path)) {
            let known = Known::read(&file, None).owned_by(&|_, _| true);
            files.insert(file.path, known);
        }
        Self::of(files, journal::sealed(root))
    }

    /// The evidence that these files and sections hold, and no other entry.
    pub fn evidence_of(&self, is_kept: &dyn Fn(&RelativePath, &Digest) -> bool) -> Self {
        Self::of(self.evidence_in(is_kept), self.said.sealed.clone())
    }

    /// The same, and all journals, those of other work trees first.
    pub fn for_sealing(
        &self,
        root: &Root,
        is_kept: &dyn Fn(&RelativePath, &Digest) -> bool,
    ) -> Self {
        let mut files = self.evidence_in(is_kept);
        for (path, disk) in journal::all(root) {
            let file = LedgerFile { path: path.clone(), disk };
            files.insert(path, Known::read(&file, None).owned_by(&|_, _| true));
        }
        Self::of(files, journal::sealed(root))
    }

    fn evidence_in(
        &self,
        is_kept: &dyn Fn(&RelativePath, &Digest) -> bool,
    ) -> BTreeMap<RelativePath, Known> {
        let files = self.said.files.iter().filter(|(path, _)| !journal::is_open(path));
        let reduced = |(path, known): (&RelativePath, &Known)| {
            let sections = known.sections.iter().copied().filter(|one| is_kept(path, one));
            let sections: Arc<[Digest]> = sections.collect();
            let stands =
                |entry: &&Arc<Entry>| entry.section.is_none_or(|of| sections.contains(&of));
            let entries = known.entries.iter().filter(stands).cloned().collect();
            (path.clone(), Known { entries, sections, ..known.clone() })
        };
        files.map(reduced).collect()
    }

    /// The files of evidence, each with its sections.
    pub fn evidence_files(&self) -> Vec<(RelativePath, Arc<[Digest]>)> {
        let files = self.said.files.iter().filter(|(_, known)| known.digest.is_some());
        files.map(|(path, known)| (path.clone(), Arc::clone(&known.sections))).collect()
    }

    /// The same, with whoever knows the texts of evidence.
    pub fn with_texts(self, derive: Arc<dyn Derive>) -> Self {
        Self { derive: Some(derive), ..self }
    }

    /// Whether no ledger file has come, gone or changed (in size or time) since this was read; cheaper than a reload
    /// that finds nothing.
    pub fn is_current(&self, root: &Root) -> bool {
        let found = read::files(root);
        found.len() == self.said.files.len()
            && found.iter().zip(&self.said.files).all(|(file, (path, known))| {
                file.path == *path && known.stamp.is_some() && known.stamp == Stamp::now(file)
            })
            && journal::sealed(root) == self.said.sealed
    }

    /// From (path, bytes) in hand: for a commit, the index, and tests.
    pub fn from_files(files: &[(RelativePath, Vec<u8>)]) -> Self {
        let files = files.iter().map(|(path, bytes)| (path.clone(), Known::of(path, bytes, None)));
        Self::of(files.collect(), Sealed::default())
    }

    fn of(files: BTreeMap<RelativePath, Known>, sealed: Sealed) -> Self {
        let sections: HashSet<Digest> =
            files.values().flat_map(|known| known.sections.iter().copied()).collect();
        let mut all = entries_once(&files);
        fold(&mut all);
        let judgement = chain::judge(&all);
        let mut findings: Vec<Finding> =
            files.values().flat_map(|known| known.findings.iter().cloned()).collect();
        findings.extend(judgement.findings);
        let place = |finding: &Finding| {
            (finding.path.clone(), finding.span.as_ref().map(|span| (span.start, span.end)))
        };
        findings.sort_by_cached_key(|finding| {
            (place(finding), finding.code.as_str(), finding.message.clone())
        });
        for at in judgement.forked {
            if all[at].trust != Trust::Own {
                Arc::make_mut(&mut all[at]).trust = Trust::Contradicted;
            }
        }
        let mut at = 0;
        all.retain(|entry| {
            at += 1;
            // What a commit that stands here has sealed is told by its evidence.
            let is_sealed = entry.trust == Trust::Own
                && sealed.is_in(&entry.record.id, |one| sections.contains(one));
            !is_sealed && !judgement.duplicates.contains(&(at - 1))
        });
        let reassigned = Reassignments::of(&all);
        let mut said =
            Said { entries: all, reassigned, findings, files, sealed, ..Said::default() };
        for at in 0..index(said.entries.len()) {
            said.add(at, &Arc::clone(&said.entries[at as usize]));
        }
        said.paths.sort();
        said.paths.dedup();
        Self::saying(Arc::new(said))
    }

    fn saying(said: Arc<Said>) -> Self {
        let derived = said.entries.iter().map(|_| OnceLock::new()).collect();
        Self { said, derive: None, derived, of_wholes: OnceLock::new() }
    }

    /// The same ledger with nothing of it in memory that was derived so far: for those who go through all of it.
    pub fn forgetful(&self) -> Self {
        Self { derive: self.derive.clone(), ..Self::saying(Arc::clone(&self.said)) }
    }

    /// In fold order.
    pub fn entries(&self) -> Entries<'_> {
        Entries { ledger: self, from: 0, to: index(self.said.entries.len()) }
    }

    /// The entry with this index.
    pub fn entry(&self, at: u32) -> &Entry {
        &self.said.entries[at as usize]
    }

    /// What the texts of an entry's commit tell; `None` where they cannot be had, or where the record tells it itself.
    pub fn derived(&self, at: u32) -> Option<&Arc<Derived>> {
        self.derived[at as usize]
            .get_or_init(|| {
                let entry = &self.said.entries[at as usize];
                let is_evidence =
                    entry.dialect == Dialect::Evidence && !entry.record.files.is_empty();
                let derive = self.derive.as_ref().filter(|_| is_evidence)?;
                derive.derive(entry).map(Arc::new)
            })
            .as_ref()
    }

    /// What the file of an entry was before the record and after it, where that is known.
    pub fn outlines(&self, at: u32, path: &RelativePath) -> Option<(Outline, Outline)> {
        if let Some(derived) = self.derived(at) {
            return Some((derived.before.clone(), derived.after.clone()));
        }
        let mut files = self.entry(at).record.files.iter();
        files.find(|file| file.relative_path == *path)?.outlines.as_ref()?.read()
    }

    /// The commit that the work tree was based on when the record was made.
    pub fn based_on(&self, at: u32) -> Option<&str> {
        match self.derived(at) {
            Some(derived) => derived.based_on.as_deref(),
            None => self.entry(at).record.vcs.as_ref()?.revision_id.as_deref(),
        }
    }

    /// Everything wrong in files and chains, file by file.
    pub fn findings(&self) -> &[Finding] {
        &self.said.findings
    }

    /// The claim behind a reference.
    pub fn claim(&self, at: ClaimRef) -> Claim<'_> {
        let entry = self.entry(at.entry);
        let file = &entry.record.files[at.file as usize];
        let conversation = &file.conversations[at.conversation as usize];
        Claim { ledger: self, at, entry, file, conversation }
    }

    fn blocks(&self, key: u64) -> Vec<ClaimRef> {
        let of_wholes = self.of_wholes.get_or_init(|| {
            let mut claims = HashMap::new();
            for at in &self.said.wholes {
                let record = &self.entry(*at).record;
                for claim in self.claims_of(*at) {
                    let range = self.claim(claim).range();
                    self.said.add_claim(&mut claims, claim, record, &record.files[0], range);
                }
            }
            claims
        });
        let mut found = self.said.claims.get(&key).cloned().unwrap_or_default();
        if let Some(more) = of_wholes.get(&key) {
            found.extend(more);
            found.sort_unstable();
        }
        found
    }

    /// The claims of an entry, in order; of a file that was recorded as a whole, one for each block in it.
    fn claims_of(&self, at: u32) -> Vec<ClaimRef> {
        let entry = self.entry(at);
        if !is_whole(entry) {
            return claims(at, &entry.record).map(|(claim, ..)| claim).collect();
        }
        let count = self.derived(at).map_or(1, |derived| derived.ranges.len());
        let claim = |range| ClaimRef { entry: at, file: 0, conversation: 0, range };
        (0..index(count)).map(claim).collect()
    }

    /// The claims of a record, by its id.
    pub fn claims_of_record(&self, record: &str) -> Vec<ClaimRef> {
        let named = self.said.named.get(&key(Kind::Id, &[record]));
        named.into_iter().flatten().flat_map(|at| self.claims_of(*at)).collect()
    }

    /// Claims on a path, in fold order, deletions included.
    pub fn of_path(&self, path: &RelativePath) -> Vec<ClaimRef> {
        let key = key(Kind::Path, &[path.as_str()]);
        let mut claims = self.said.claims.get(&key).cloned().unwrap_or_default();
        let entries = self.said.named.get(&key).into_iter().flatten().copied();
        let wholes = entries.filter(|at| is_whole(self.entry(*at)));
        let more: Vec<ClaimRef> = wholes.flat_map(|at| self.claims_of(at)).collect();
        if !more.is_empty() {
            claims.extend(more);
            claims.sort_unstable();
        }
        claims
    }

    /// Whether anything is recorded of a path.
    pub fn knows(&self, path: &RelativePath) -> bool {
        self.said.named.contains_key(&key(Kind::Path, &[path.as_str()]))
    }

    /// Paths that any record names, sorted.
    pub fn paths(&self) -> &[RelativePath] {
        &self.said.paths
    }

    /// Claims with this content.
    pub fn by_content(&self, hash: &ContentHash) -> Vec<ClaimRef> {
        if !is_content_hash(hash) {
            return Vec::new();
        }
        self.blocks(key(Kind::Content, &[hash.key()]))
    }

    /// Claims on blocks of this kind whose path ends in this name, in any container and any file; of a name that holds
    /// dots, what is behind the last of them counts.
    pub fn by_called(&self, kind: &str, leaf: &str) -> Vec<ClaimRef> {
        self.blocks(key_of_called(kind, leaf))
    }

    /// Claims under an intent, in fold order.
    pub fn of_intent(&self, intent: &str) -> Vec<ClaimRef> {
        self.blocks(key(Kind::Intent, &[intent]))
    }

    /// The entry with this record id; of several the first in fold order.
    pub fn by_id(&self, record: &str) -> Option<&Entry> {
        let at = self.said.named.get(&key(Kind::Id, &[record]))?.first()?;
        Some(self.entry(*at))
    }

    /// Whether a record is in a commit, but not in one that is part of the history here: that commit was reset, or is on
    /// another branch.
    pub fn is_taken_back(&self, entry: &Entry) -> bool {
        journal::is_open(&entry.origin.path) && self.said.sealed.knows(&entry.record.id)
    }

    /// Whether a record is in no commit yet, on no branch.
    pub fn is_unsealed(&self, entry: &Entry) -> bool {
        journal::is_open(&entry.origin.path) && !self.said.sealed.knows(&entry.record.id)
    }

    /// Indices of the entries that name an intent, in fold order.
    pub fn entries_of_intent(&self, intent: &str) -> Vec<u32> {
        self.said.named.get(&key(Kind::Intent, &[intent])).cloned().unwrap_or_default()
    }

    /// Indices of the entries that name a path, in fold order.
    pub fn entries_of_path(&self, path: &RelativePath) -> Vec<u32> {
        self.said.named.get(&key(Kind::Path, &[path.as_str()])).cloned().unwrap_or_default()
    }

    /// Intents that any record names, sorted.
    pub fn intents(&self) -> Vec<String> {
        let named = self.said.entries.iter().filter_map(|entry| entry.record.intent_id.clone());
        let mut intents: Vec<String> = named.collect();
        intents.sort();
        intents.dedup();
        intents
    }

    /// How many files it is read from.
    pub fn files(&self) -> usize {
        self.said.files.len()
    }

    /// The files of evidence, each with what its bytes come to.
    pub fn files_by_digest(&self) -> HashMap<&RelativePath, Digest> {
        let files = self.said.files.iter();
        files.filter_map(|(path, known)| Some((path, known.digest?))).collect()
    }

    /// The sections of which something was erased.
    pub fn erased(&self) -> Vec<&ErasedSection> {
        self.said.files.values().flat_map(|known| known.erased.iter()).collect()
    }

    /// The digests of all sections of evidence.
    pub fn sections(&self) -> HashSet<Digest> {
        self.said.files.values().flat_map(|known| known.sections.iter().copied()).collect()
    }
}

impl Said {
    fn add(&mut self, at: u32, entry: &Entry) {
        let record = &entry.record;
        let mut name = |kind, text: &str| {
            let entries = self.named.entry(key(kind, &[text])).or_default();
            if entries.last() != Some(&at) {
                entries.push(at);
            }
        };
        if !record.id.is_empty() {
            name(Kind::Id, &record.id);
        }
        record.intent_id.iter().for_each(|intent| name(Kind::Intent, intent));
        for file in &record.files {
            name(Kind::Path, file.relative_path.as_str());
        }
        self.paths.extend(record.files.iter().map(|file| file.relative_path.clone()));
        if is_whole(entry) {
            self.wholes.push(at);
            return;
        }
        let mut known = std::mem::take(&mut self.claims);
        for (claim, file, range) in claims(at, record) {
            self.add_claim(&mut known, claim, record, file, range);
        }
        self.claims = known;
    }

    fn add_claim(
        &self,
        claims: &mut HashMap<u64, Vec<ClaimRef>>,
        claim: ClaimRef,
        record: &Record,
        file: &FileRecord,
        range: &BlockRecord,
    ) {
        let path = &file.relative_path;
        let mut keys = vec![key(Kind::Path, &[path.as_str()])];
        for intent in intents(record, file) {
            let moved = self.reassigned.since(&self.entries, claim.entry, path, range, intent);
            keys.push(key(Kind::Intent, &[moved.last().map_or(intent, |last| last.to)]));
        }
        if is_content_hash(&range.content_hash) {
            keys.push(key(Kind::Content, &[range.content_hash.key()]));
        }
        keys.extend(range.block.iter().map(|name| key_of_called(&name.kind, &name.path)));
        for key in keys {
            claims.entry(key).or_default().push(claim);
        }
    }
}

/// Whether an entry speaks of a file as a whole, so that its blocks have to be derived.
fn is_whole(entry: &Entry) -> bool {
    let mut ranges = entry.record.files.iter().flat_map(|file| &file.conversations);
    entry.dialect == Dialect::Evidence
        && ranges.any(|one| one.ranges.iter().any(|range| range.block.is_none()))
}

fn claims(
    entry: u32,
    record: &Record,
) -> impl Iterator<Item = (ClaimRef, &FileRecord, &BlockRecord)> {
    (0..).zip(&record.files).flat_map(move |(file, of)| {
        (0..).zip(&of.conversations).flat_map(move |(conversation, by)| {
            (0..).zip(&by.ranges).map(move |(range, block)| {
                (ClaimRef { entry, file, conversation, range }, of, block)
            })
        })
    })
}

/// The entries of files, file by file. A section of evidence that stands in several files counts once: two branches may
/// each have compacted it.
fn entries_once(files: &BTreeMap<RelativePath, Known>) -> Vec<Arc<Entry>> {
    let mut known: HashSet<Digest> = HashSet::new();
    let mut all = Vec::new();
    for file in files.values() {
        let is_again = |entry: &&Arc<Entry>| {
            entry.trust != Trust::Contradicted
                && entry.section.is_some_and(|one| known.contains(&one))
        };
        let new: Vec<&Arc<Entry>> = file.entries.iter().filter(|entry| !is_again(entry)).collect();
        all.extend(new.iter().map(|entry| Arc::clone(entry)));
        let sound = new.iter().filter(|entry| entry.trust != Trust::Contradicted);
        known.extend(sound.filter_map(|entry| entry.section));
    }
    all
}

/// The intents that claims of a file belong to: the record's, or, where it names none, those the file is related to.
fn intents<'a>(record: &'a Record, file: &'a FileRecord) -> Vec<&'a str> {
    if let Some(intent) = &record.intent_id {
        return vec![intent];
    }
    let mut related: Vec<&str> = file
        .relations()
        .filter(|related| related.kind.eq_ignore_ascii_case("intent"))
        .map(|related| related.value.as_str())
        .collect();
    related.dedup();
    related
}

/// By time; records of one writer never before those that it wrote earlier, whatever its clock said.
fn fold(entries: &mut Vec<Arc<Entry>>) {
    entries.sort_by(|a, b| {
        let place = |entry: &Entry| (entry.record.seq, entry.origin.start);
        (&a.record.writer, &a.origin.path)
            .cmp(&(&b.record.writer, &b.origin.path))
            .then_with(|| place(a).cmp(&place(b)))
    });
    let mut before: Option<(String, Option<i64>)> = None;
    let mut timed: Vec<(Option<i64>, Arc<Entry>)> = Vec::with_capacity(entries.len());
    for entry in entries.drain(..) {
        let mut time = millis(&entry.record.timestamp);
        let writer = entry.record.writer.clone();
        if let Some((_, earlier)) = before.filter(|(of, _)| !writer.is_empty() && *of == writer) {
            time = time.max(earlier);
        }
        before = Some((writer, time));
        timed.push((time, entry));
    }
    timed.sort_by_key(|(time, _)| *time);
    entries.extend(timed.into_iter().map(|(_, entry)| entry));
}

fn millis(timestamp: &str) -> Option<i64> {
    let time: jiff::Timestamp = timestamp.trim().parse().ok()?;
    Some(time.as_millisecond())
}

impl Known {
    fn read(file: &LedgerFile, stamp: Option<Stamp>) -> Self {
        match file.read() {
            Ok(reading) => Self::with(reading, stamp),
            Err(error) => {
                let origin = Origin { path: file.path.clone(), line: 1, start: 0, end: 0 };
                let finding = chain::finding(
                    Code::LedgerUnreadable,
                    &origin,
                    format!("The ledger file {} cannot be read: {error}.", file.path),
                    "Look at its permissions; what it records is unknown until it can be read.",
                );
                let reading = Reading { findings: vec![finding], ..Reading::default() };
                Self::with(reading, None)
            }
        }
    }

    fn of(path: &RelativePath, bytes: &[u8], stamp: Option<Stamp>) -> Self {
        Self::with(read::bytes(path, bytes), stamp)
    }

    fn with(reading: Reading, stamp: Option<Stamp>) -> Self {
        Self {
            stamp,
            entries: reading.entries.into_iter().map(Arc::new).collect(),
            findings: reading.findings.into(),
            sections: reading.sections.into(),
            erased: reading.erased.into(),
            digest: reading.digest,
        }
    }

    /// The same, knowing whose chains were written here.
    fn owned_by(mut self, is_own: &dyn Fn(Option<&str>, &str) -> bool) -> Self {
        for entry in &mut self.entries {
            let record = &entry.record;
            let is_sound = entry.trust == Trust::Claimed && entry.dialect == Dialect::Canonical;
            if is_sound && is_own(record.session.as_deref(), &record.writer) {
                Arc::make_mut(entry).trust = Trust::Own;
            }
        }
        self
    }
}

/// Four thousand million records, or blocks in one, do not fit into memory.
fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 entries fit into memory")
}

/// The entries of a ledger.
#[derive(Clone, Copy)]
pub struct Entries<'a> {
    ledger: &'a Ledger,
    from: u32,
    to: u32,
}

impl<'a> Entries<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The one with that index.
    pub fn get(&self, at: usize) -> Option<&'a Entry> {
        (at < self.len()).then(|| self.ledger.entry(self.from + index(at)))
    }
    /// The first in fold order.
    pub fn first(&self) -> Option<&'a Entry> {
        self.get(0)
    }
    /// The last in fold order.
    pub fn last(&self) -> Option<&'a Entry> {
        self.get(self.len().checked_sub(1)?)
    }
    /// One after the other.
    pub fn iter(&self) -> Entries<'a> {
        *self
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = &'a Entry;

    fn next(&mut self) -> Option<&'a Entry> {
        let entry = self.get(0)?;
        self.from += 1;
        Some(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (Entries::len(self), Some(Entries::len(self)))
    }
}

impl DoubleEndedIterator for Entries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let entry = Entries::last(self)?;
        self.to -= 1;
        Some(entry)
    }
}

impl ExactSizeIterator for Entries<'_> {}

impl std::ops::Index<usize> for Entries<'_> {
    type Output = Entry;

    fn index(&self, at: usize) -> &Entry {
        self.get(at).expect("an index below the number of entries")
    }
}
