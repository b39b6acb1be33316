//! The records of a workspace or a commit in memory, sorted by time.
//!
//! The journal and the records of other tools are few. All evidence is as much as was ever
//! recorded, so it is read only for questions that are about all of it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::append::own_chains;
use super::chain;
use super::digest::Digest;
use super::evidence;
use super::journal::{DraftNote, LostRecords, Note, ReopenedNote};
use super::ledger_file::{ErasedSection, LedgerFile, ParsedLedgerFile, is_imported};
use super::{Entry, Strength, Trust, journal, read, sorted};
use ground::parallel::in_parallel;
use ground::{Code, Finding, RelativePath, Root, clock};

/// Records sorted by time, and what is wrong in their files.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    entries: Vec<Arc<Entry>>,
    files: BTreeMap<RelativePath, ParsedLedgerFile>,
    findings: Vec<Finding>,
    made_here: Arc<HashSet<Digest>>,
}

impl Ledger {
    pub fn load(root: &Root) -> Self {
        let ledger =
            Self::of_parsed(root, read::files(root), Vec::new(), journal::lost_records(root));
        let notes = ReopenedNote::read_all(root);
        if notes.is_empty() {
            return ledger;
        }
        let sections = ledger.sections();
        let is_here = |file: &RelativePath| {
            evidence::digest_of_path(file).is_some_and(|digest| sections.contains(&digest))
        };
        ledger.without_reopened(root, &notes, is_here)
    }

    /// Reads the journal, and with it the records that were settled at these commits, as if they had
    /// been reopened already.
    pub fn load_journal(root: &Root, reopened_of: &[String]) -> Self {
        let is_here = |file: &RelativePath| root.absolute(file).symlink_metadata().is_ok();
        let mut files = read::files_without_evidence(root);
        let (reopened, unread) = match journal::reopened_journals(root, reopened_of) {
            Ok(reopened) => (reopened, None),
            Err(error) => (Vec::new(), Some(journal::unread(&error))),
        };
        files.retain(|file| !reopened.iter().any(|journal| journal.file.disk == file.disk));
        let is_own = own_chains(root);
        let parts = reopened.into_iter().map(|journal| {
            let parsed = read::bytes(&journal.file.path, &journal.bytes).owned_by(&is_own);
            (journal.file.path, parsed)
        });
        let lost = journal::lost_open_records(root);
        let ledger = Self::of_parsed(root, files, parts.chain(unread).collect(), lost);
        ledger.without_reopened(root, &ReopenedNote::read_all(root), is_here)
    }

    /// Leaves out the reopened records whose evidence is here again. The next seal settles them. If
    /// their evidence is a draft, the next seal replaces it, and needs them.
    fn without_reopened(
        mut self,
        root: &Root,
        notes: &[ReopenedNote],
        is_here: impl Fn(&RelativePath) -> bool,
    ) -> Self {
        if notes.is_empty() {
            return self;
        }
        let drafts: HashSet<RelativePath> =
            DraftNote::read_all(root).into_iter().map(|draft| draft.file).collect();
        let is_back = |file: &RelativePath| is_here(file) && !drafts.contains(file);
        let back = notes.iter().filter(|note| !note.files.is_empty());
        let back = back.filter(|note| note.files.iter().all(is_back));
        let ids: HashSet<&String> = back.flat_map(|note| &note.records).collect();
        self.entries.retain(|entry| {
            !journal::is_open(&entry.origin.path) || !ids.contains(&entry.record.id)
        });
        self
    }

    fn of_parsed(
        root: &Root,
        files: Vec<LedgerFile>,
        parsed: Vec<(RelativePath, ParsedLedgerFile)>,
        lost: Vec<LostRecords>,
    ) -> Self {
        let is_own = own_chains(root);
        let read = in_parallel(&files, |file| ParsedLedgerFile::read(file).owned_by(&is_own));
        let read = files.into_iter().map(|file| file.path).zip(read);
        let mut parts = read.chain(parsed).collect();
        add_losses(&mut parts, lost);
        Self { made_here: Arc::new(journal::sections_made(root)), ..Self::of_known(parts) }
    }

    /// Makes a ledger of files that are not on disk, such as those of a commit. A journal among them
    /// does not count, because only the clone that wrote a journal can know that nobody else did.
    pub fn from_files(files: &[(RelativePath, Vec<u8>)]) -> Self {
        let files: Vec<_> = files.iter().filter(|(path, _)| !journal::is_open(path)).collect();
        let parsed = in_parallel(&files, |(path, bytes)| read::bytes(path, bytes));
        Self::of_known(files.iter().map(|(path, _)| path.clone()).zip(parsed).collect())
    }

    pub fn with_files(&self, files: &[(RelativePath, Vec<u8>)]) -> Self {
        let other = Self::from_files(files);
        let mut parts = other.files;
        parts.extend(self.files.clone());
        let mut entries = other.entries;
        entries.extend(self.entries.iter().cloned());
        Self { made_here: Arc::clone(&self.made_here), ..Self::of_entries(entries, parts) }
    }

    pub(super) fn of_known(mut files: BTreeMap<RelativePath, ParsedLedgerFile>) -> Self {
        let entries = files.values_mut().flat_map(|file| std::mem::take(&mut file.entries));
        Self::of_entries(entries.collect(), files)
    }

    fn of_entries(
        mut entries: Vec<Arc<Entry>>,
        files: BTreeMap<RelativePath, ParsedLedgerFile>,
    ) -> Self {
        sort_by_time(&mut entries);
        // A section that is in several files, because two branches compacted it, counts once.
        let mut seen: HashSet<(Digest, String)> = HashSet::new();
        entries.retain(|entry| {
            entry.section.is_none_or(|section| seen.insert((section, entry.record.id.clone())))
        });
        // A line of another tool that is in several files counts once, such as one in an imported
        // ledger and in an earlier copy of it.
        let mut imported: HashMap<Arc<[u8]>, RelativePath> = HashMap::new();
        entries.retain(|entry| {
            let path = &entry.origin.path;
            !entry.dialect.is_foreign()
                || imported.entry(Arc::clone(&entry.stored)).or_insert_with(|| path.clone()) == path
        });
        let judged = chain::judge(&entries);
        // Whoever imported a ledger was told what cannot be read in it.
        let own = files.iter().filter(|(path, _)| !is_imported(path));
        let mut findings: Vec<Finding> =
            own.flat_map(|(_, file)| file.findings.iter().cloned()).collect();
        findings.extend(judged.findings);
        let mut at = 0..;
        entries.retain(|_| !at.next().is_some_and(|at| judged.duplicates.contains(&at)));
        Self { entries, files, findings, made_here: Arc::default() }
    }

    /// Returns all records, oldest first.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Returns the records about a file, oldest first.
    pub fn of_path(&self, path: &RelativePath) -> impl Iterator<Item = &Arc<Entry>> {
        let is_about = move |entry: &&Arc<Entry>| {
            entry.record.files.iter().any(|file| file.relative_path == *path)
        };
        self.entries.iter().filter(is_about)
    }

    /// Returns the records that name an intent, oldest first.
    pub fn of_intent(&self, intent: &str) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.iter().filter(move |entry| entry.record.names_intent(intent))
    }

    pub fn by_id(&self, record: &str) -> Option<&Arc<Entry>> {
        self.entries.iter().find(|entry| entry.record.id == record)
    }

    /// Returns the ids of all intents that records name. An imported ledger names the intents of an
    /// earlier registry, so they are not among them.
    pub fn intents(&self) -> BTreeSet<String> {
        let own = self.entries.iter().filter(|entry| !is_imported(&entry.origin.path));
        own.flat_map(|entry| entry.record.intents().map(str::to_owned)).collect()
    }

    pub fn paths(&self) -> Vec<RelativePath> {
        let files = self.entries.iter().flat_map(|entry| &entry.record.files);
        sorted(files.map(|file| file.relative_path.clone()))
    }

    /// Returns how far a record can be trusted. Evidence that was sealed in this clone is its own.
    pub fn trust(&self, entry: &Entry) -> Trust {
        match entry.section {
            Some(section) if entry.trust == Trust::Claimed && self.made_here.contains(&section) => {
                Trust::Own
            }
            _ => entry.trust,
        }
    }

    /// Returns how reliably the content of a record is known. Evidence that somebody else added
    /// after its commit was made is at most [`Strength::Declared`], because no hook saw them add it.
    pub fn strength(&self, entry: &Entry) -> Option<Strength> {
        let is_word = entry.late_commit.is_some() && self.trust(entry) != Trust::Own;
        let strength = entry.record.strength;
        if is_word { strength.map(|strength| strength.min(Strength::Declared)) } else { strength }
    }

    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the finding about a journal that could not be read.
    pub fn unread_journal(&self) -> Option<&Finding> {
        let journals = self.files.iter().filter(|(path, _)| journal::is_open(path));
        journals.filter(|(_, file)| file.is_unread).find_map(|(_, file)| file.findings.first())
    }

    pub fn evidence_files(&self) -> Vec<(RelativePath, Vec<Digest>)> {
        let files = self.files.iter().filter(|(path, _)| evidence::digest_of_path(path).is_some());
        files.map(|(path, file)| (path.clone(), file.sections.clone())).collect()
    }

    pub fn files_by_digest(&self) -> HashMap<RelativePath, Digest> {
        let files = self.files.iter();
        files.filter_map(|(path, file)| Some((path.clone(), file.digest?))).collect()
    }

    pub fn sections(&self) -> HashSet<Digest> {
        self.files.values().flat_map(|file| file.sections.iter().copied()).collect()
    }

    pub fn erased(&self) -> Vec<&ErasedSection> {
        self.files.values().flat_map(|file| &file.erased).collect()
    }

    pub fn newer_formats(&self) -> impl Iterator<Item = (&RelativePath, u32)> {
        self.files.iter().filter_map(|(path, file)| Some((path, file.newer_format?)))
    }
}

/// Adds the loss of records to what is wrong with their journals.
pub(super) fn add_losses(
    files: &mut BTreeMap<RelativePath, ParsedLedgerFile>,
    lost: Vec<LostRecords>,
) {
    for lost in lost {
        let file = files.entry(journal::shown_path(&lost.writer)).or_default();
        if file.is_unread {
            continue;
        }
        // A file that was once complete and is torn now has lost these.
        file.findings.retain(|finding| finding.code != Code::LedgerTorn);
        file.findings.push(chain::lost_records(lost));
    }
}

/// Sorts records by time. Those of one writer in one file stay in the order in which they were
/// written, even if the writer's clock went back.
fn sort_by_time(entries: &mut Vec<Arc<Entry>>) {
    entries.sort_by(|a, b| {
        let place = |entry: &Entry| (entry.record.seq, entry.origin.start);
        (&a.record.writer, &a.origin.path)
            .cmp(&(&b.record.writer, &b.origin.path))
            .then_with(|| place(a).cmp(&place(b)))
    });
    let mut timed: Vec<(Option<i64>, Arc<Entry>)> = Vec::with_capacity(entries.len());
    for entry in entries.drain(..) {
        let mut time = clock::milliseconds(&entry.record.timestamp);
        if let Some((earlier, before)) = timed.last()
            && !entry.record.writer.is_empty()
            && entry.record.writer == before.record.writer
            && entry.origin.path == before.origin.path
        {
            time = time.max(*earlier);
        }
        timed.push((time, entry));
    }
    timed.sort_by_key(|(time, _)| *time);
    entries.extend(timed.into_iter().map(|(_, entry)| entry));
}
