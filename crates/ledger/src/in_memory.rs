//! The ledger in memory: its entries, and look-ups by content, path, intent and name. No look-up
//! goes through all entries.

mod entry_ids;
mod fold;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::append::own_chains;
use super::chain;
use super::derived::{Derive, Derived, Outlines};
use super::evidence::Digest;
use super::files::{Lazy, LedgerFiles};
use super::journal::{self, Sealed};
use super::ledger_file::{ErasedSection, LedgerFile, ParsedLedgerFile};
use super::look_up_table::LookUpTable;
use super::lookup::{
    LookUp, LookUpKey, REASSIGN, REGISTRY, WHOLE, intents, is_content_hash, is_whole, keys_of,
    keys_of_block,
};
use super::read;
use super::reassign::{BlockReassignment, Reassignments};
use super::{
    BlockRecord, Conversation, Entry, FileRecord, Record, RecordDialect, RecordKind, Strength,
    Trust, sorted,
};
use code::ContentHash;
use entry_ids::Nothing;
use fold::{EntryIndex, FoldOrder, GONE, fold};
use ground::parallel::in_parallel;
use ground::{Finding, RelativePath, Root};

pub use entry_ids::PathEntryIds;

/// A reference to one recorded block, by the indices of its entry, file, conversation and range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClaimRef {
    pub entry: u32,
    /// The index of the file in the record's list of files.
    pub file: u32,
    /// The index in the file's conversations.
    pub conversation: u32,
    /// The index in the conversation's ranges. For a file that was recorded as a whole, the index
    /// in [`Derived::ranges`].
    pub range: u32,
}

/// One recorded block in one record: a resolved [`ClaimRef`].
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    ledger: &'a Ledger,
    at: ClaimRef,
    /// The record, and the place it was read from.
    pub entry: &'a Entry,
    pub file: &'a FileRecord,
    /// The conversation that names the block and its contributor.
    pub conversation: &'a Conversation,
}

impl<'a> Claim<'a> {
    /// Returns the block as the record has it. Evidence only has its name, lines and content hash.
    /// This is cheap, because no text is read.
    pub fn recorded_block(&self) -> &'a BlockRecord {
        let ranges = &self.conversation.ranges;
        match ranges.get(self.at.range as usize) {
            Some(range)
                if range.block.is_some() || self.entry.dialect != RecordDialect::Evidence =>
            {
                range
            }
            _ => self.full_block(),
        }
    }

    /// Returns the block with all fingerprints. For evidence they are computed from the file's text
    /// in the commit, which is read from git.
    pub fn full_block(&self) -> &'a BlockRecord {
        let derived = self.ledger.derived(self.at.entry);
        let range = derived.and_then(|derived| derived.ranges.get(self.at.range as usize));
        let ranges = &self.conversation.ranges;
        range.unwrap_or_else(|| &ranges[(self.at.range as usize).min(ranges.len() - 1)])
    }

    pub(super) fn reassignments_from(&self, intent: &str) -> Vec<BlockReassignment<'a>> {
        let path = &self.file.relative_path;
        let reassigned = self.ledger.reassigned();
        if reassigned.is_empty() {
            return Vec::new();
        }
        reassigned.applying_since(self.ledger, self.at.entry, path, self.recorded_block(), intent)
    }
}

/// The ledger of a workspace: all entries in fold order (by time, then by writer, file and place).
///
/// Evidence that is listed in the table on disk (see `look_up_table`) is read when one of its
/// entries is requested. All other files are read when the ledger is loaded.
pub struct Ledger {
    data: Arc<LedgerData>,
    derive: Option<Arc<dyn Derive>>,
    derived: Lazy<Option<Arc<Derived>>>,
    of_wholes: OnceLock<HashMap<LookUpKey, Vec<u32>>>,
    /// For each entry with more than [`MANY`] claims, its claims by the keys of their blocks.
    /// Filled on first use.
    by_block: Lazy<Option<HashMap<LookUpKey, Vec<ClaimRef>>>>,
}

/// An entry with more claims than this has its own table for finding a block in it.
const MANY: usize = 64;

/// The data that copies of a ledger share.
#[derive(Default)]
struct LedgerData {
    files: LedgerFiles,
    /// The entries that were read when the ledger was loaded, in fold order: those of files that
    /// are not on the shelf, and of files on the shelf that share a section with such a file.
    entries: Vec<Arc<Entry>>,
    /// For each look-up key of `entries`, the indices in [`FoldOrder::all`] of the entries that
    /// have it.
    named: HashMap<LookUpKey, Vec<u32>>,
    order: FoldOrder,
    reassigned: OnceLock<Reassignments>,
    /// Gaps, forks and wrong links in chains.
    links: Vec<Finding>,
    findings: OnceLock<Vec<Finding>>,
    sealed: Sealed,
    paths: OnceLock<Vec<RelativePath>>,
    nothing: Nothing,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger")
            .field("entries", &self.data.order.all.len())
            .finish_non_exhaustive()
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self::from_files(&[])
    }
}

impl Ledger {
    pub fn load(root: &Root) -> Self {
        Self::read(root, &LedgerFiles::default())
    }

    /// Loads the ledger again. Only files that changed on disk are read.
    pub fn reload(&self, root: &Root) -> Self {
        Self::read(root, &self.data.files)
    }

    fn read(root: &Root, before: &LedgerFiles) -> Self {
        let is_own = own_chains(root);
        let sealed = journal::sealed(root);
        Self::from_files_and_sealed(LedgerFiles::read(root, before, &is_own, &sealed), sealed)
    }

    /// Returns a copy of this ledger that also contains the journals of this work tree.
    pub fn with_journals(&self, root: &Root) -> Self {
        let files = read::files(root).into_iter();
        Self::from_files_and_journals(
            &self.data.files,
            root,
            files.filter(|file| journal::is_open(&file.path)),
        )
    }

    /// Makes a ledger from these files and from journals. Journal records that are sealed into one
    /// of the files are not read.
    fn from_files_and_journals(
        files: &LedgerFiles,
        root: &Root,
        journals: impl IntoIterator<Item = LedgerFile>,
    ) -> Self {
        let sealed = journal::sealed(root);
        let journals: Vec<(RelativePath, ParsedLedgerFile)> = {
            let is_sealed = sealed.sealed_among(&|| files.sections().collect());
            let read = |file: &LedgerFile| ParsedLedgerFile::read_open(file, None, &is_sealed);
            journals.into_iter().map(|file| (file.path.clone(), read(&file))).collect()
        };
        Self::from_files_and_sealed(files.but(|_| false, journals), sealed)
    }

    /// Returns a copy of this ledger that knows which of its evidence this clone has sealed.
    pub fn with_seals(&self, root: &Root) -> Self {
        let ledger = Self::from_files_and_sealed(
            self.data.files.but(|_| false, None),
            journal::sealed(root),
        );
        Self { derive: self.derive.clone(), ..ledger }
    }

    /// Returns a copy of this ledger with additional files that are not on disk.
    pub fn with_files(&self, files: &[(RelativePath, Vec<u8>)]) -> Self {
        let known = files.iter().map(|(path, bytes)| (path.clone(), read::bytes(path, bytes)));
        Self::from_files_and_sealed(self.data.files.but(|_| false, known), self.data.sealed.clone())
    }

    /// Returns a ledger with only the sections of evidence for which `is_kept` is true. Journals
    /// are left out.
    pub fn evidence_of(&self, is_kept: &dyn Fn(&RelativePath, &Digest) -> bool) -> Self {
        let files = self.data.files.but(journal::is_open, None).keeping(is_kept);
        Self::from_files_and_sealed(files, self.data.sealed.clone())
    }

    /// Like [`Self::evidence_of`], but also contains the journals of all work trees. Those of other
    /// work trees come first.
    pub fn for_sealing(
        &self,
        root: &Root,
        is_kept: &dyn Fn(&RelativePath, &Digest) -> bool,
    ) -> Self {
        let files = self.data.files.but(journal::is_open, None).keeping(is_kept);
        Self::from_files_and_journals(&files, root, journal::all_journals(root))
    }

    /// The files of evidence, each with the digests of its sections.
    pub fn evidence_files(&self) -> Vec<(RelativePath, Vec<Digest>)> {
        let files = &self.data.files;
        let others = files.others.iter().filter(|(_, known)| known.digest.is_some());
        let others = others.map(|(path, known)| (path.clone(), known.sections.clone()));
        let of_shelf = files.of_shelf();
        let of_shelf = of_shelf.map(|(shelf, at)| (shelf.kept.path(at), shelf.kept.sections(at)));
        of_shelf.chain(others).collect()
    }

    /// Sets the [`Derive`] that reads the texts of evidence from git.
    pub fn with_texts(self, derive: Arc<dyn Derive>) -> Self {
        Self { derive: Some(derive), ..self }
    }

    /// Returns true if no file of the ledger was added, removed or changed (in size or time) since
    /// it was read. This is cheaper than a reload.
    pub fn is_current(&self, root: &Root) -> bool {
        self.data.files.are_current(root) && journal::sealed(root) == self.data.sealed
    }

    /// Makes a ledger from files in memory, for example those of a commit or of the index. A file
    /// at the path of a journal is left out, since journals are only in the git directory.
    pub fn from_files(files: &[(RelativePath, Vec<u8>)]) -> Self {
        let files: Vec<_> = files.iter().filter(|(path, _)| !journal::is_open(path)).collect();
        let known = |file: &&(RelativePath, Vec<u8>)| {
            let (path, bytes) = *file;
            (path.clone(), read::bytes(path, bytes))
        };
        Self::of_known(in_parallel(&files, known).into_iter().collect(), Sealed::default())
    }

    /// Makes a ledger from files that were read already.
    pub(super) fn of_known(
        others: BTreeMap<RelativePath, ParsedLedgerFile>,
        sealed: Sealed,
    ) -> Self {
        Self::from_files_and_sealed(LedgerFiles { others, ..LedgerFiles::default() }, sealed)
    }

    fn from_files_and_sealed(files: LedgerFiles, sealed: Sealed) -> Self {
        let twice = files.files_with_shared_sections();
        let mut entries = files.entries_once(&twice);
        let times = fold(&mut entries);
        let judgement = chain::judge(&entries);
        for at in judgement.forked {
            if entries[at].trust != Trust::Own {
                Arc::make_mut(&mut entries[at]).trust = Trust::Contradicted;
            }
        }
        let (times, entries): (Vec<_>, Vec<_>) = {
            let is_sealed = sealed.sealed_among(&|| files.sections().collect());
            // A journal record that was sealed into evidence of this ledger is left out. Otherwise
            // it would count twice.
            let is_left_out = |at: usize, entry: &Entry| {
                entry.trust == Trust::Own && is_sealed(&entry.record.id)
                    || judgement.duplicates.contains(&at)
            };
            let all = times.into_iter().zip(entries).enumerate();
            let kept = all.filter(|(at, (_, entry))| !is_left_out(*at, entry));
            kept.map(|(_, timed)| timed).unzip()
        };
        let order = FoldOrder::merged_by_time(&files, &twice, &entries, &times);
        let mut data =
            LedgerData { files, sealed, links: judgement.findings, order, ..LedgerData::default() };
        for (at, place) in (0..).zip(&data.order.all) {
            let EntryIndex::InMemory(other) = *place else { continue };
            for key in keys_of(&entries[other as usize]) {
                data.named.entry(key).or_default().push(at);
            }
        }
        data.entries = entries;
        Self::with_data(Arc::new(data))
    }

    fn with_data(data: Arc<LedgerData>) -> Self {
        let count = data.order.all.len();
        let (derived, by_block) = (Lazy::with_slots(count), Lazy::with_slots(count));
        Self { data, derive: None, derived, of_wholes: OnceLock::new(), by_block }
    }

    /// Returns the same ledger without the data that was computed from texts so far. Callers that
    /// go through all entries use it to free memory.
    pub fn without_derived(&self) -> Self {
        Self { derive: self.derive.clone(), ..Self::with_data(Arc::clone(&self.data)) }
    }

    /// Returns all entries in fold order. Reads all files.
    pub fn entries(&self) -> Vec<&Entry> {
        self.data.read_all();
        (0..index(self.len())).map(|at| self.entry(at)).collect()
    }

    pub fn len(&self) -> usize {
        self.data.order.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entries of the journals in fold order. These records are in no commit of this
    /// history.
    pub fn open(&self) -> impl Iterator<Item = &Entry> {
        let all = self.data.entries.iter().map(|entry| &**entry);
        all.filter(|entry| journal::is_open(&entry.origin.path))
    }

    /// Returns the entry with this index in fold order.
    pub fn entry(&self, at: u32) -> &Entry {
        match self.data.order.all[at as usize] {
            EntryIndex::InMemory(other) => &self.data.entries[other as usize],
            EntryIndex::Row(row) => {
                let shelf = self.data.files.shelf.as_ref().expect("rows are of the shelf");
                let (file, nth) = shelf.kept.origin(row);
                &shelf.parsed_file(file).entries[nth as usize]
            }
        }
    }

    /// Returns how far an entry can be trusted. Evidence that this clone sealed is its own.
    pub fn trust(&self, entry: &Entry) -> Trust {
        let is_own = entry.section.is_some_and(|section| self.data.sealed.made(&section));
        match entry.trust {
            Trust::Claimed if is_own => Trust::Own,
            trust => trust,
        }
    }

    /// Returns how reliably the content of an entry is known. Evidence that somebody else added
    /// after its commit was made is at most [`Strength::Declared`], because no hook saw them add
    /// it.
    pub fn strength(&self, entry: &Entry) -> Option<Strength> {
        let is_word = entry.late_commit.is_some() && self.trust(entry) != Trust::Own;
        let strength = entry.record.strength;
        if is_word { strength.map(|strength| strength.min(Strength::Declared)) } else { strength }
    }

    /// Returns the data that is computed from the texts of an entry's commit. `None` if the texts
    /// cannot be read, and for a record of the journal, which already contains this data.
    pub fn derived(&self, at: u32) -> Option<&Arc<Derived>> {
        let slot = self.derived.get(at);
        slot.get_or_init(|| {
            let entry = self.entry(at);
            let is_evidence =
                entry.dialect == RecordDialect::Evidence && !entry.record.files.is_empty();
            let derive = self.derive.as_ref().filter(|_| is_evidence)?;
            derive.derive(entry).map(Arc::new)
        })
        .as_ref()
    }

    /// Returns the outlines of a file before and after a record, if they are known.
    pub fn outlines(&self, at: u32, path: &RelativePath) -> Option<Outlines> {
        let entry = self.entry(at);
        if let (Some(derive), RecordDialect::Evidence) = (&self.derive, entry.dialect) {
            return derive.outlines(entry);
        }
        let mut files = entry.record.files.iter();
        files.find(|file| file.relative_path == *path)?.outlines.as_ref()?.read()
    }

    /// Returns the commit that the work tree was based on when the record was made.
    pub fn based_on(&self, at: u32) -> Option<&str> {
        match self.derived(at) {
            Some(derived) => derived.based_on.as_deref(),
            None => self.entry(at).record.vcs.as_ref()?.revision_id.as_deref(),
        }
    }

    /// The files of evidence in a newer format, each with the version of that format. Nothing is
    /// read from them.
    pub fn newer_formats(&self) -> impl Iterator<Item = (&RelativePath, u32)> {
        let others = self.data.files.others.iter();
        others.filter_map(|(path, known)| Some((path, known.newer_format?)))
    }

    /// Returns all findings about files and chains, file by file. Reads all files.
    pub fn findings(&self) -> &[Finding] {
        self.data.findings()
    }

    /// Returns the claim that a reference names. If the entry is no longer in the file that it was
    /// read from, the claim has no blocks.
    pub fn claim(&self, at: ClaimRef) -> Claim<'_> {
        let entry = self.entry(at.entry);
        let nothing = &self.data.nothing;
        let file = entry.record.files.get(at.file as usize).unwrap_or(&nothing.file);
        let by = file.conversations.get(at.conversation as usize);
        let conversation = by.unwrap_or(&nothing.conversation);
        Claim { ledger: self, at, entry, file, conversation }
    }

    /// Returns the claims that match a look-up, in fold order.
    fn claims(&self, sought: LookUp<'_>) -> Vec<ClaimRef> {
        let key = sought.key();
        let mut entries = self.data.entries_with_key(&key);
        if matches!(sought, LookUp::Content(_) | LookUp::Called(..)) {
            // The keys of an entry that names a file as a whole do not include the keys of the
            // blocks in it.
            entries.extend(self.of_wholes().get(&key).into_iter().flatten());
        }
        if let LookUp::Intent(intent) = sought {
            let moved = self.reassigned().paths_under(self, intent);
            entries.extend(
                moved.iter().flat_map(|path| self.data.entries_with_key(&LookUp::Path(path).key())),
            );
        }
        sorted(entries).into_iter().flat_map(|at| self.claims_of(at, sought)).collect()
    }

    /// Returns the claims of an entry that match a look-up, in the order of the record.
    fn claims_of(&self, at: u32, sought: LookUp<'_>) -> Vec<ClaimRef> {
        let is_of_block = matches!(sought, LookUp::Content(_) | LookUp::Called(..));
        let by_block = if is_of_block { self.by_block(at) } else { None };
        let mut claims = match by_block {
            Some(by_block) => by_block.get(&sought.key()).cloned().unwrap_or_default(),
            None => self.all_of(at),
        };
        claims.retain(|claim| {
            let claim = self.claim(*claim);
            self.is_sought(sought, at, claim.file, claim.recorded_block())
        });
        claims
    }

    fn by_block(&self, at: u32) -> Option<&HashMap<LookUpKey, Vec<ClaimRef>>> {
        let by_block = self.by_block.get(at).get_or_init(|| {
            let claims = self.all_of(at);
            let mut by_block: HashMap<LookUpKey, Vec<ClaimRef>> = HashMap::new();
            for claim in claims.iter().filter(|_| claims.len() > MANY) {
                for key in keys_of_block(self.claim(*claim).recorded_block()) {
                    by_block.entry(key).or_default().push(*claim);
                }
            }
            (claims.len() > MANY).then_some(by_block)
        });
        by_block.as_ref()
    }

    /// Returns all claims of an entry, in the order of the record. A file that was recorded as a
    /// whole has one claim for each block in it.
    fn all_of(&self, at: u32) -> Vec<ClaimRef> {
        let entry = self.entry(at);
        if !is_whole(entry) {
            return claims(at, &entry.record).collect();
        }
        let count = self.derived(at).map_or(1, |derived| derived.ranges.len());
        (0..index(count))
            .map(|range| ClaimRef { entry: at, file: 0, conversation: 0, range })
            .collect()
    }

    /// Returns true if a block of an entry matches. A look-up of an intent matches the blocks that
    /// belong to it now, after reassignments.
    fn is_sought(
        &self,
        sought: LookUp<'_>,
        at: u32,
        file: &FileRecord,
        range: &BlockRecord,
    ) -> bool {
        let record = &self.entry(at).record;
        let (LookUp::Intent(intent), reassigned) = (sought, self.reassigned()) else {
            return sought.is_of(record, file, range);
        };
        let path = &file.relative_path;
        let now = |from| {
            reassigned.applying_since(self, at, path, range, from).last().map_or(from, |to| to.to)
        };
        intents(record, file).into_iter().any(|from| now(from) == intent)
    }

    /// The blocks that were reassigned to other intents.
    fn reassigned(&self) -> &Reassignments {
        self.data.reassigned.get_or_init(|| {
            let records = self.data.entries_with_key(&REASSIGN);
            Reassignments::from_entries(records.into_iter().map(|at| (at, self.entry(at))))
        })
    }

    /// For each key of a block, the entries that name its file as a whole. Filled on first use,
    /// because this reads texts from git.
    fn of_wholes(&self) -> &HashMap<LookUpKey, Vec<u32>> {
        self.of_wholes.get_or_init(|| {
            let mut wholes = self.data.entries_with_key(&WHOLE);
            wholes.retain(|at| is_whole(self.entry(*at)));
            let keys = |at: &u32| {
                let claims = self.all_of(*at).into_iter();
                claims
                    .flat_map(|at| keys_of_block(self.claim(at).recorded_block()))
                    .collect::<Vec<LookUpKey>>()
            };
            let mut found: HashMap<LookUpKey, Vec<u32>> = HashMap::new();
            for (at, keys) in wholes.iter().zip(in_parallel(&wholes, keys)) {
                for key in keys {
                    found.entry(key).or_default().push(*at);
                }
            }
            found
        })
    }

    /// Returns the records of changes to the registry, in fold order.
    pub fn of_registry(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.data.entries_with_key(&REGISTRY).into_iter().map(|at| self.entry(at));
        entries.filter(|entry| entry.record.kind == RecordKind::Registry)
    }

    pub fn claims_of_record(&self, record: &str) -> Vec<ClaimRef> {
        self.claims(LookUp::Id(record))
    }

    /// Returns the claims on a path in fold order, including those for deleted blocks.
    pub fn of_path(&self, path: &RelativePath) -> Vec<ClaimRef> {
        self.claims(LookUp::Path(path))
    }

    pub fn has_path(&self, path: &RelativePath) -> bool {
        !self.entries_of_path(path).is_empty()
    }

    /// Returns the paths that any record names, sorted.
    pub fn paths(&self) -> &[RelativePath] {
        self.data.paths.get_or_init(|| {
            let files = self.data.entries.iter().flat_map(|entry| &entry.record.files);
            let mut paths: Vec<RelativePath> =
                files.map(|file| file.relative_path.clone()).collect();
            paths.extend(self.data.of_kept(
                |kept| &kept.head.paths,
                |path| LookUp::Path(path),
                |path| self.has_path(path),
            ));
            sorted(paths)
        })
    }

    pub fn by_content(&self, hash: &ContentHash) -> Vec<ClaimRef> {
        if !is_content_hash(hash) {
            return Vec::new();
        }
        self.claims(LookUp::Content(hash))
    }

    /// Returns the claims on blocks of this kind and name, in any container and any file. Only the
    /// last segment of the name counts: of `a.b.c` it is `c`.
    pub fn by_called(&self, kind: &str, leaf: &str) -> Vec<ClaimRef> {
        self.claims(LookUp::Called(kind, leaf))
    }

    /// Returns the claims under an intent, in fold order.
    pub fn of_intent(&self, intent: &str) -> Vec<ClaimRef> {
        self.claims(LookUp::Intent(intent))
    }

    /// Returns the entry with this record id. If there are several, the first in fold order.
    pub fn by_id(&self, record: &str) -> Option<&Entry> {
        let found = self.data.entries_with_key(&LookUp::Id(record).key());
        found.into_iter().map(|at| self.entry(at)).find(|entry| entry.record.id == record)
    }

    /// Returns true if a record was sealed into a commit that is not part of the history here. That
    /// commit was reset, or is on another branch.
    pub fn is_taken_back(&self, entry: &Entry) -> bool {
        journal::is_open(&entry.origin.path) && self.data.sealed.knows(&entry.record.id)
    }

    /// Returns true if a record was never sealed into any commit.
    pub fn is_unsealed(&self, entry: &Entry) -> bool {
        journal::is_open(&entry.origin.path) && !self.data.sealed.knows(&entry.record.id)
    }

    /// Returns the indices of the entries that name an intent, in fold order.
    pub fn entries_of_intent(&self, intent: &str) -> Vec<u32> {
        let mut found = self.data.entries_with_key(&LookUp::Intent(intent).key());
        found.retain(|at| self.entry(*at).record.intent_id.as_deref() == Some(intent));
        found
    }

    /// Returns the indices of the entries that name a path, in fold order.
    pub fn entries_of_path(&self, path: &RelativePath) -> Vec<u32> {
        let mut found = self.data.entries_with_key(&LookUp::Path(path).key());
        let is_it = |file: &FileRecord| file.relative_path == *path;
        found.retain(|at| self.entry(*at).record.files.iter().any(is_it));
        found
    }

    /// Returns the intents that any record names, sorted.
    pub fn intents(&self) -> Vec<String> {
        let named = self.data.entries.iter().filter_map(|entry| entry.record.intent_id.clone());
        let mut intents: Vec<String> = named.collect();
        intents.extend(self.data.of_kept(
            |kept| &kept.head.intents,
            |intent| LookUp::Intent(intent),
            |intent| !self.entries_of_intent(intent).is_empty(),
        ));
        sorted(intents)
    }

    /// The files of evidence, each with the digest of its bytes. Reads all of them.
    pub fn files_by_digest(&self) -> HashMap<RelativePath, Digest> {
        let files = self.data.all_files();
        files.filter_map(|(path, known)| Some((path, known.digest?))).collect()
    }

    /// Returns the sections from which a line was erased. Reads all files.
    pub fn erased(&self) -> Vec<&ErasedSection> {
        self.data.all_files().flat_map(|(_, known)| known.erased.iter()).collect()
    }

    /// Returns the entries of the sections for which `is_sought` is true, in fold order. Reads only
    /// the files that contain such a section.
    pub fn entries_in(&self, is_sought: &dyn Fn(&Digest) -> bool) -> Vec<&Entry> {
        let of_shelf = self.data.files.of_shelf();
        let holds = of_shelf.filter(|(shelf, at)| shelf.kept.sections(*at).iter().any(is_sought));
        let found: HashSet<u32> = holds.map(|(_, at)| at).collect();
        let may_be = |place: &EntryIndex| match (place, &self.data.files.shelf) {
            (EntryIndex::Row(row), Some(shelf)) => found.contains(&shelf.kept.origin(*row).0),
            _ => true,
        };
        let all = (0..).zip(&self.data.order.all).filter(|(_, place)| may_be(place));
        let all = all.map(|(at, _)| self.entry(at));
        all.filter(|entry| entry.section.as_ref().is_some_and(is_sought)).collect()
    }

    pub fn sections(&self) -> HashSet<Digest> {
        self.data.files.sections().collect()
    }
}

impl LedgerData {
    fn read_all(&self) {
        if let Some(shelf) = &self.files.shelf {
            shelf.read_all(&self.files.standing);
        }
    }

    /// Returns all files, after reading those that were not read yet.
    fn all_files(&self) -> impl Iterator<Item = (RelativePath, &ParsedLedgerFile)> {
        self.read_all();
        let of_shelf = self.files.of_shelf();
        let of_shelf = of_shelf.map(|(shelf, at)| (shelf.kept.path(at), shelf.parsed_file(at)));
        of_shelf.chain(self.files.others.iter().map(|(path, known)| (path.clone(), known)))
    }

    /// Returns the entries that may have a key, in fold order. Keys are short hashes, so the caller
    /// has to check each entry.
    fn entries_with_key(&self, key: &LookUpKey) -> Vec<u32> {
        let mut found = self.named.get(key).cloned().unwrap_or_default();
        let Some(shelf) = &self.files.shelf else { return found };
        match shelf.kept.rows(key) {
            Ok(rows) => {
                let rows = rows.into_iter().map(|row| self.order.of_rows[row as usize]);
                found.extend(rows.filter(|at| *at != GONE));
            }
            // The table is damaged, so any of its entries may have the key.
            Err(_) => found.extend(self.order.of_rows.iter().filter(|at| **at != GONE)),
        }
        sorted(found)
    }

    /// Returns the paths (or intents) that the table lists, without those that only removed files
    /// name. If the table is damaged, `is_named` decides.
    fn of_kept<T: Clone>(
        &self,
        list: impl Fn(&LookUpTable) -> &[T],
        sought: impl for<'a> Fn(&'a T) -> LookUp<'a>,
        is_named: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let Some(shelf) = &self.files.shelf else { return Vec::new() };
        let all = list(&shelf.kept).iter();
        if self.files.standing.iter().all(|stands| *stands) {
            return all.cloned().collect();
        }
        let stands = |one: &&T| match shelf.kept.rows(&sought(one).key()) {
            Ok(rows) => rows.iter().any(|row| self.order.of_rows[*row as usize] != GONE),
            Err(_) => is_named(one),
        };
        all.filter(stands).cloned().collect()
    }

    fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| {
            let mut findings: Vec<Finding> =
                self.all_files().flat_map(|(_, known)| known.findings.iter().cloned()).collect();
            findings.extend(self.links.iter().cloned());
            let place = |finding: &Finding| {
                (finding.path.clone(), finding.span.as_ref().map(|span| (span.start, span.end)))
            };
            findings.sort_by_cached_key(|finding| {
                (place(finding), finding.code.as_str(), finding.message.clone())
            });
            findings
        })
    }
}

fn claims(entry: u32, record: &Record) -> impl Iterator<Item = ClaimRef> {
    (0..).zip(&record.files).flat_map(move |(file, of)| {
        (0..).zip(&of.conversations).flat_map(move |(conversation, by)| {
            let ranges = 0..index(by.ranges.len());
            ranges.map(move |range| ClaimRef { entry, file, conversation, range })
        })
    })
}

/// Converts an index to `u32`. Never fails in practice, because 2^32 entries, or blocks of one
/// entry, do not fit into memory.
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 entries fit into memory")
}
