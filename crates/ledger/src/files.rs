//! Reads the files of a ledger.
//!
//! The table on disk (`look_up_table`) says what most files of evidence contain. Such a file is
//! read only when one of its entries is requested. These files are called the *shelf*. All other
//! files are read when the ledger is loaded.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::journal::{self, Sealed};
use super::ledger_file::{LedgerFile, ParsedLedgerFile, ReadStamp};
use super::look_up_table::{self, LookUpTable};
use super::read;
use super::{Digest, Entry, EntryOrigin, Record, RecordDialect, Trust, chain, evidence, sorted};
use ground::parallel::in_parallel;
use ground::{Code, RelativePath, Root, cache};

/// A function that takes a session and a writer and returns true if this clone wrote the chain of
/// that writer.
type IsOwn<'a> = &'a (dyn Fn(Option<&str>, &str) -> bool + Sync);

impl ParsedLedgerFile {
    pub(super) fn read(file: &LedgerFile, stamp: Option<ReadStamp>) -> Self {
        Self::with_result(file, file.read(), stamp)
    }

    /// Reads a journal of this clone without the sealed records at its beginning.
    pub(super) fn read_open(
        file: &LedgerFile,
        stamp: Option<ReadStamp>,
        is_sealed: &(dyn Fn(&str) -> bool + Sync),
    ) -> Self {
        Self::with_result(file, file.read_open(is_sealed), stamp).owned_by(&|_, _| true)
    }

    /// Adds the stamp. The bytes that could not be read are dropped to save memory. A file that
    /// could not be read at all has a finding, and no stamp, so that it is read again next time.
    fn with_result(
        file: &LedgerFile,
        read: std::io::Result<Self>,
        stamp: Option<ReadStamp>,
    ) -> Self {
        match read {
            Ok(read) => Self { stamp, unreadable: Vec::new(), ..read },
            Err(error) => {
                let finding = chain::finding(
                    Code::LedgerUnreadable,
                    &EntryOrigin::of_file(&file.path),
                    format!("The ledger file {} cannot be read: {error}.", file.path),
                    "Look at its permissions; what it records is unknown until it can be read.",
                );
                Self { findings: vec![finding], ..Self::default() }
            }
        }
    }

    /// Marks the records that this clone wrote as [`Trust::Own`].
    pub(super) fn owned_by(mut self, is_own: IsOwn<'_>) -> Self {
        for entry in &mut self.entries {
            let record = &entry.record;
            let is_sound =
                entry.trust == Trust::Claimed && entry.dialect == RecordDialect::Canonical;
            if is_sound && is_own(record.session.as_deref(), &record.writer) {
                Arc::make_mut(entry).trust = Trust::Own;
            }
        }
        self
    }

    /// Returns a copy with only the sections for which `is_kept` is true.
    fn keeping(&self, is_kept: impl Fn(&Digest) -> bool) -> Self {
        let sections: Vec<Digest> = self.sections.iter().copied().filter(is_kept).collect();
        let stands = |entry: &&Arc<Entry>| entry.section.is_none_or(|of| sections.contains(&of));
        let entries = self.entries.iter().filter(stands).cloned().collect();
        Self { entries, sections, ..self.clone() }
    }

    /// Returns true if the table may list the file. It must be evidence without findings or
    /// tombstones, and its digest must be equal to the one in its name.
    fn may_be_kept(&self, path: &RelativePath) -> bool {
        let named = evidence::digest_of_path(path);
        named.is_some()
            && self.digest == named
            && self.findings.is_empty()
            && self.erased.is_empty()
            && self.entries.iter().all(|entry| entry.record.writer.is_empty())
    }

    /// Sets the number of entries to `count`, which is what the table says. If the file was changed
    /// in place and has fewer entries, the missing ones are filled up with empty, contradicted
    /// entries.
    fn with_count(mut self, count: u32, path: &RelativePath) -> Self {
        let missing = || {
            Arc::new(Entry {
                record: Record::default(),
                origin: EntryOrigin::of_file(path),
                dialect: RecordDialect::Evidence,
                trust: Trust::Contradicted,
                stored: Arc::from([]),
                section: None,
                late_commit: None,
            })
        };
        self.entries.resize_with(count as usize, missing);
        self
    }
}

/// A list of values that are computed on first use. Memory is allocated in chunks, because of
/// 100,000 entries only few are ever requested.
pub(super) struct Lazy<T>(Vec<OnceLock<Box<[OnceLock<T>]>>>);

impl<T> Lazy<T> {
    const CHUNK: usize = 32;

    pub(super) fn with_slots(count: usize) -> Self {
        Self((0..count.div_ceil(Self::CHUNK)).map(|_| OnceLock::new()).collect())
    }

    pub(super) fn get(&self, at: u32) -> &OnceLock<T> {
        let at = at as usize;
        let chunk = || (0..Self::CHUNK).map(|_| OnceLock::new()).collect();
        &self.0[at / Self::CHUNK].get_or_init(chunk)[at % Self::CHUNK]
    }
}

/// The files of evidence that the table lists. A file is read when one of its entries is first
/// requested.
pub(super) struct Shelf {
    pub kept: LookUpTable,
    root: PathBuf,
    slots: Lazy<ParsedLedgerFile>,
}

impl Shelf {
    fn open(root: &Root) -> Option<Self> {
        let kept = LookUpTable::open(&look_up_table::table_path(root)?)?;
        let slots = Lazy::with_slots(kept.files());
        Some(Self { kept, root: root.path().to_path_buf(), slots })
    }

    /// Returns the content of a file, which is read on first use.
    pub(super) fn parsed_file(&self, file: u32) -> &ParsedLedgerFile {
        self.slots.get(file).get_or_init(|| {
            let path = self.kept.path(file);
            let disk = self.root.join(path.as_str());
            let known = ParsedLedgerFile::read(&LedgerFile { path: path.clone(), disk }, None);
            known.with_count(self.kept.count(file), &path)
        })
    }

    /// Reads all files that still exist, on all processors.
    pub(super) fn read_all(&self, standing: &[bool]) {
        let all = (0_u32..).zip(standing).filter(|(_, stands)| **stands).map(|(file, _)| file);
        let files: Vec<u32> = all.filter(|file| self.slots.get(*file).get().is_none()).collect();
        in_parallel(&files, |at| self.parsed_file(*at).entries.len());
    }
}

/// The files of a ledger on disk, before they are read.
#[derive(Default)]
struct FoundLedgerFiles {
    shelf: Option<Arc<Shelf>>,
    /// For each file of the shelf, whether it still exists and has not changed.
    standing: Vec<bool>,
    /// All other files, each with its stamp.
    others: BTreeMap<RelativePath, (LedgerFile, Option<ReadStamp>)>,
    /// The state of each month's folder. `None` if that state does not show whether a file changed.
    months: HashMap<String, Option<cache::FileStamp>>,
}

impl FoundLedgerFiles {
    fn find_in(root: &Root, shelf: Option<Arc<Shelf>>) -> Self {
        let mut found = Self::default();
        let kept = shelf.as_ref().map(|shelf| &shelf.kept);
        found.standing.resize(kept.map_or(0, LookUpTable::files), false);
        let (files, outer) = read::list(root, &mut |folder, disk| {
            let Some(month) = look_up_table::month(folder) else { return false };
            let known = kept.and_then(|kept| kept.as_it_was(month, disk));
            let is_known = known.is_some();
            known.into_iter().flatten().for_each(|file| found.standing[file as usize] = true);
            found.months.insert(month.to_owned(), look_up_table::state(disk));
            is_known
        });
        // A change in an inner folder does not change the times of the month's folder.
        for month in outer.iter().filter_map(|folder| look_up_table::month(folder)) {
            found.months.insert(month.to_owned(), None);
        }
        for file in files {
            let stamp = ReadStamp::now(&file);
            let print = || Some(look_up_table::stamp_digest(stamp.as_ref()?.exact.as_ref()?));
            let of_shelf = kept.and_then(|kept| {
                let at = kept.find(&file.path)?;
                (print()? == kept.stamp(at)).then_some(at)
            });
            match of_shelf {
                Some(at) => found.standing[at as usize] = true,
                None => drop(found.others.insert(file.path.clone(), (file, stamp))),
            }
        }
        Self { shelf, ..found }
    }

    /// Returns how many files of the shelf were removed or changed.
    fn count_of_missing(&self) -> usize {
        self.standing.iter().filter(|stands| !**stands).count()
    }

    /// Returns how many files of evidence were added or removed since the table was written.
    fn changes(&self) -> usize {
        let is_evidence = |path: &&RelativePath| evidence::digest_of_path(path).is_some();
        self.count_of_missing() + self.others.keys().filter(is_evidence).count()
    }

    /// Reads the files that are not on the shelf. Those that have not changed are taken from
    /// `before`.
    fn read(&self, before: &LedgerFiles, is_own: IsOwn<'_>, sealed: &Sealed) -> LedgerFiles {
        let as_it_was = |file: &LedgerFile, stamp: &Option<ReadStamp>| {
            let known = before.others.get(&file.path)?;
            let is_same = stamp.is_some_and(|stamp| stamp.exact.is_some()) && known.stamp == *stamp;
            is_same.then_some(known)
        };
        let (open, rest): (Vec<_>, Vec<_>) =
            self.others.values().partition(|(file, _)| journal::is_open(&file.path));
        let read = |(file, stamp): &&(LedgerFile, Option<ReadStamp>)| {
            let read = || ParsedLedgerFile::read(file, *stamp).owned_by(is_own);
            (file.path.clone(), as_it_was(file, stamp).cloned().unwrap_or_else(read))
        };
        let mut files = LedgerFiles {
            shelf: self.shelf.clone(),
            standing: self.standing.clone(),
            others: in_parallel(&rest, read).into_iter().collect(),
        };
        let is_sealed = sealed.sealed_among(&|| files.sections().collect());
        let read = |(file, stamp): &&(LedgerFile, Option<ReadStamp>)| {
            let known = as_it_was(file, stamp);
            let known = known.filter(|known| known.passed_over.iter().all(|id| is_sealed(id)));
            let read = || ParsedLedgerFile::read_open(file, *stamp, &is_sealed);
            (file.path.clone(), known.cloned().unwrap_or_else(read))
        };
        files.others.extend(in_parallel(&open, read));
        files
    }

    /// Writes the table again from the files that were read, and opens it. `None` if too few files
    /// have changed, or if it cannot be written.
    fn write(&self, root: &Root, read: &LedgerFiles) -> Option<Shelf> {
        let place = look_up_table::table_path(root)?;
        let mut months = self.months.clone();
        let mut new = Vec::new();
        let mut sections: HashSet<Digest> =
            read.of_shelf().flat_map(|(shelf, at)| shelf.kept.sections(at)).collect();
        for (path, known) in &read.others {
            let stamp = known.stamp.and_then(|stamp| stamp.exact).filter(|_| {
                // If several files contain the same section, the table lists only one of them.
                known.may_be_kept(path) && known.sections.iter().all(|one| !sections.contains(one))
            });
            match stamp {
                Some(stamp) => {
                    let stamp = look_up_table::stamp_digest(&stamp);
                    sections.extend(known.sections.iter());
                    new.push(look_up_table::New { path, stamp, known });
                }
                None => {
                    let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
                    if let Some(month) = look_up_table::month(folder) {
                        months.insert(month.to_owned(), None);
                    }
                }
            }
        }
        if new.len() + self.count_of_missing() <= MAX_CHANGES {
            return None;
        }
        let before = self.shelf.as_ref().map(|shelf| (&shelf.kept, &self.standing[..]));
        if let Err(error) = look_up_table::write(&place, before, &new, &months) {
            tracing::debug!(%error, "what the evidence says is not kept");
            return None;
        }
        Shelf::open(root)
    }
}

/// The files of a ledger: those on the shelf, and all others with their content.
#[derive(Default)]
pub(super) struct LedgerFiles {
    pub shelf: Option<Arc<Shelf>>,
    /// For each file of the shelf, whether it still exists and has not changed.
    pub standing: Vec<bool>,
    pub others: BTreeMap<RelativePath, ParsedLedgerFile>,
}

/// The table is written again when more files than this were added or removed.
const MAX_CHANGES: usize = 64;

impl LedgerFiles {
    /// Reads the files of a ledger again. Files that have not changed are taken from `before`.
    pub(super) fn read(root: &Root, before: &Self, is_own: IsOwn<'_>, sealed: &Sealed) -> Self {
        let open = || Shelf::open(root).map(Arc::new);
        let mut found = FoundLedgerFiles::find_in(root, before.shelf.clone().or_else(open));
        if found.changes() > MAX_CHANGES && before.shelf.is_some() {
            // Another process may have written a newer table.
            found = FoundLedgerFiles::find_in(root, open());
        }
        let read = found.read(before, is_own, sealed);
        if found.changes() <= MAX_CHANGES {
            return read;
        }
        match found.write(root, &read) {
            // The new table lists most of the files that were just read. Their content moves to the
            // shelf, so that it is not read again.
            Some(written) => {
                let written = Arc::new(written);
                let found = FoundLedgerFiles::find_in(root, Some(Arc::clone(&written)));
                for (path, known) in &read.others {
                    let at = written.kept.find(path).filter(|at| found.standing[*at as usize]);
                    if let Some(at) = at {
                        drop(written.slots.get(at).set(known.clone()));
                    }
                }
                found.read(&read, is_own, sealed)
            }
            None => read,
        }
    }

    /// Returns true if no file was added, removed or changed (in size or time) since they were
    /// read.
    pub(super) fn are_current(&self, root: &Root) -> bool {
        let found = FoundLedgerFiles::find_in(root, self.shelf.clone());
        found.standing == self.standing
            && found.others.len() == self.others.len()
            && found.others.iter().zip(&self.others).all(|((path, (_, now)), (then, known))| {
                path == then && known.stamp.is_some() && known.stamp == *now
            })
    }

    /// Returns the files of the shelf that still exist.
    pub(super) fn of_shelf(&self) -> impl Iterator<Item = (&Shelf, u32)> {
        let standing = (0..).zip(&self.standing).filter(|(_, stands)| **stands);
        standing.filter_map(|(at, _)| Some((self.shelf.as_deref()?, at)))
    }

    pub(super) fn sections(&self) -> impl Iterator<Item = Digest> {
        let of_shelf = self.of_shelf().flat_map(|(shelf, at)| shelf.kept.sections(at));
        of_shelf.chain(self.others.values().flat_map(|known| known.sections.iter().copied()))
    }

    /// Returns a copy without some of the files that are not on the shelf, and with additional
    /// files. The shelf stays the same.
    pub(super) fn but(
        &self,
        is_left_out: impl Fn(&RelativePath) -> bool,
        more: impl IntoIterator<Item = (RelativePath, ParsedLedgerFile)>,
    ) -> Self {
        let others = self.others.iter().filter(|(path, _)| !is_left_out(path));
        let mut others: BTreeMap<_, _> =
            others.map(|(path, known)| (path.clone(), known.clone())).collect();
        others.extend(more);
        Self { shelf: self.shelf.clone(), standing: self.standing.clone(), others }
    }

    /// Returns a copy with only the sections for which `is_kept` is true. A file of the shelf that
    /// loses a section is no longer on the shelf.
    pub(super) fn keeping(&self, is_kept: &dyn Fn(&RelativePath, &Digest) -> bool) -> Self {
        let others = self.others.iter();
        let mut others: BTreeMap<_, _> = others
            .map(|(path, known)| (path.clone(), known.keeping(|one| is_kept(path, one))))
            .collect();
        let mut standing = self.standing.clone();
        for (shelf, at) in self.of_shelf() {
            let (path, sections) = (shelf.kept.path(at), shelf.kept.sections(at));
            let kept = sections.iter().filter(|one| is_kept(&path, one)).count();
            if kept == sections.len() {
                continue;
            }
            standing[at as usize] = false;
            if kept > 0 {
                let left = shelf.parsed_file(at).keeping(|one| is_kept(&path, one));
                others.insert(path, left);
            }
        }
        Self { shelf: self.shelf.clone(), standing, others }
    }

    /// Returns the files of the shelf that share a section with a file that is not on the shelf.
    /// Two files of the shelf never share a section.
    pub(super) fn files_with_shared_sections(&self) -> Vec<u32> {
        let Some(shelf) = &self.shelf else { return Vec::new() };
        let others: HashSet<&Digest> =
            self.others.values().flat_map(|known| known.sections.iter()).collect();
        if others.is_empty() {
            return Vec::new();
        }
        let named = others.iter().flat_map(|digest| shelf.kept.files_named(digest));
        let is_there = |sections: &[Digest]| sections.iter().any(|one| others.contains(one));
        let united = shelf.kept.united().filter(|(_, sections)| is_there(sections));
        let all = named.chain(united.map(|(at, _)| at));
        sorted(all.filter(|at| self.standing[*at as usize]))
    }

    /// Returns the entries of all files that are not on the shelf, and of the files `twice` on the
    /// shelf, file by file. A section that is in several files (because two branches compacted it)
    /// counts once.
    pub(super) fn entries_once(&self, twice: &[u32]) -> Vec<Arc<Entry>> {
        let shelf = self.shelf.iter().flat_map(|shelf| {
            twice.iter().map(|at| (shelf.kept.path(*at), shelf.parsed_file(*at)))
        });
        let mut all: Vec<(RelativePath, &ParsedLedgerFile)> = shelf.collect();
        all.extend(self.others.iter().map(|(path, known)| (path.clone(), known)));
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut counted: HashSet<Digest> = HashSet::new();
        let mut entries = Vec::new();
        for (_, known) in all {
            let is_sound = |entry: &&Arc<Entry>| entry.trust != Trust::Contradicted;
            let is_again = |entry: &&Arc<Entry>| {
                is_sound(entry) && entry.section.is_some_and(|one| counted.contains(&one))
            };
            let new: Vec<&Arc<Entry>> = known.entries.iter().filter(|one| !is_again(one)).collect();
            counted.extend(new.iter().copied().filter(is_sound).filter_map(|entry| entry.section));
            entries.extend(new.into_iter().cloned());
        }
        entries
    }
}
