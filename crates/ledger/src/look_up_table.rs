//! A table on disk that says which entries of evidence name a path, a content hash, a block or an
//! intent.
//!
//! Files of evidence never change, so a process need not parse all of them to find the few that it
//! needs. The table is in the git directory. It maps each look-up key to the entries that have it,
//! and each entry to its file. When enough files were added or removed, the table is written again,
//! from the old table and the new files.
//!
//! The table only saves time: without it, all files are read, and the answers are the same. A
//! folder that changed after the table was written is listed again, and a file that changed is
//! read. The content of an entry always comes from its file, whose bytes are checked against its
//! name.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::evidence::{Digest, digest_of_path};
use super::ledger_file::ParsedLedgerFile;
use super::lookup::{LookUp, LookUpKey, keys_of};
use super::sorted;
use code::hex;
use ground::cache::{self, FileStamp};
use ground::clock;
use ground::store::StoreError;
use ground::table::{Damaged, Table};
use ground::{RelativePath, Root};

const TABLE_KIND: &str = "evidence 3";
pub const FOLDER: &str = ".orchestration/agent_trace";
/// The size in bytes of a row of the table: a key and the number of an entry.
const WIDTH: usize = 12;
/// The size in bytes of a file in the header: its digest, its stamp, and the number of its entries.
const FILE: usize = 28;
/// The size in bytes of an entry in the header: its time, its file, and its position in the file.
const ENTRY: usize = 16;

pub(super) struct LookUpTable {
    pub head: TableHead,
    /// The bytes of the header. The data of files and entries is decoded from here when needed,
    /// because copying all of it would take longer than most look-ups.
    bytes: Vec<u8>,
    /// The offset in `bytes` of the first file.
    files_at: usize,
    /// The offset in `bytes` of the first entry.
    entries_at: usize,
    table: Table<WIDTH>,
}

/// A folder of evidence. There is one for each month.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TrackedFolder {
    /// The name of the folder, which is the month: `2026-02`.
    name: String,
    /// The state of the folder before it was listed. `None` if it had changed so recently that a
    /// later change might not be visible in its times.
    stamp: Option<FileStamp>,
    /// The number of the last file in this folder, plus one. Files are numbered month by month.
    end: u32,
}

/// The part of the header that is parsed when the table is opened. The data of files and entries
/// follows it.
#[derive(Serialize, Deserialize)]
pub(super) struct TableHead {
    folders: Vec<TrackedFolder>,
    /// The sections of compacted files, by the number of the file. Every other file has one
    /// section, whose digest is in the file's name.
    sections: Vec<(u32, Vec<Digest>)>,
    /// The paths and the intents that entries name, sorted.
    pub paths: Vec<RelativePath>,
    pub intents: Vec<String>,
    entries: u32,
}

/// A file that is to be added to the table.
pub(super) struct New<'a> {
    /// The path of the file, relative to the workspace.
    pub path: &'a RelativePath,
    /// The [`stamp_digest`] of the file's stamp.
    pub stamp: u64,
    pub known: &'a ParsedLedgerFile,
}

/// Hashes a stamp to 8 bytes, so that it can be stored and compared.
pub(super) fn stamp_digest(stamp: &FileStamp) -> u64 {
    let digest = Sha256::digest(format!("{stamp:?}"));
    u64::from_le_bytes(std::array::from_fn(|at| digest[at]))
}

/// Returns the month of a folder. `None` if it is not a folder of evidence.
pub(super) fn month(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix(FOLDER)?.strip_prefix('/')?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

/// Returns the path of a workspace's table. The file name contains a hash of the workspace's path,
/// because several work trees share a git directory.
pub(super) fn table_path(root: &Root) -> Option<PathBuf> {
    let digest = Sha256::digest(root.path().as_os_str().as_encoded_bytes());
    Some(cache::folder(root)?.join(format!("evidence-{}", hex(&digest[..8]))))
}

/// Returns the state of a folder. `None` if the folder changed so recently that its time might stay
/// the same after another change.
pub(super) fn state(folder: &Path) -> Option<FileStamp> {
    let now = SystemTime::now();
    let found = folder.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
    FileStamp::from_metadata(&found).filter(|stamp| stamp.at_rest(now))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

impl LookUpTable {
    /// Opens a table. `None` if it is missing, damaged or of another version.
    pub(super) fn open(place: &Path) -> Option<Self> {
        let (table, bytes) = Table::open(place, TABLE_KIND)?;
        let (head, rest) = postcard::take_from_bytes::<TableHead>(&bytes).ok()?;
        let files = head.folders.last().map_or(0, |folder| folder.end as usize) * FILE;
        let rises = head.folders.is_sorted_by(|a, b| a.name < b.name && a.end <= b.end);
        if !rises || rest.len() != files + head.entries as usize * ENTRY {
            return None;
        }
        let files_at = bytes.len() - rest.len();
        Some(Self { head, files_at, entries_at: files_at + files, bytes, table })
    }

    pub(super) fn files(&self) -> usize {
        (self.entries_at - self.files_at) / FILE
    }

    pub(super) fn entries(&self) -> usize {
        (self.bytes.len() - self.entries_at) / ENTRY
    }

    fn folder(&self, at: usize) -> (&TrackedFolder, Range<u32>) {
        let start = at.checked_sub(1).map_or(0, |before| self.head.folders[before].end);
        (&self.head.folders[at], start..self.head.folders[at].end)
    }

    fn find_folder(&self, month: &str) -> Option<usize> {
        self.head.folders.binary_search_by(|folder| folder.name.as_str().cmp(month)).ok()
    }

    /// Returns the files of a month, if its folder has not changed since it was listed. Then it
    /// need not be listed again.
    pub(super) fn as_it_was(&self, month: &str, disk: &Path) -> Option<Range<u32>> {
        let (folder, files) = self.folder(self.find_folder(month)?);
        (folder.stamp.is_some() && folder.stamp == state(disk)).then_some(files)
    }

    /// Returns the number of the file with this path.
    pub(super) fn find(&self, path: &RelativePath) -> Option<u32> {
        let digest = digest_of_path(path)?;
        let month = month(path.as_str().rsplit_once('/')?.0)?;
        self.find_in(self.find_folder(month)?, &digest)
    }

    fn find_in(&self, folder: usize, digest: &Digest) -> Option<u32> {
        let mut range = self.folder(folder).1;
        while range.start < range.end {
            let middle = range.start + (range.end - range.start) / 2;
            match self.digest(middle).cmp(digest) {
                std::cmp::Ordering::Less => range.start = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => range.end = middle,
            }
        }
        None
    }

    /// Returns the files with this digest in their name, in any month.
    pub(super) fn files_named(&self, digest: &Digest) -> impl Iterator<Item = u32> {
        (0..self.head.folders.len()).filter_map(|at| self.find_in(at, digest))
    }

    /// Returns the files that were compacted, each with its sections.
    pub(super) fn united(&self) -> impl Iterator<Item = (u32, &[Digest])> {
        self.head.sections.iter().map(|(file, sections)| (*file, &sections[..]))
    }

    pub(super) fn digest(&self, file: u32) -> Digest {
        let at = self.files_at + file as usize * FILE;
        Digest::from_bytes(std::array::from_fn(|byte| self.bytes[at + byte]))
    }

    /// Returns the stamp that a file had when it was read, in the form of [`stamp_digest`].
    pub(super) fn stamp(&self, file: u32) -> u64 {
        u64_at(&self.bytes, self.files_at + file as usize * FILE + 16)
    }

    /// Returns how many entries a file contains.
    pub(super) fn count(&self, file: u32) -> u32 {
        u32_at(&self.bytes, self.files_at + file as usize * FILE + 24)
    }

    pub(super) fn path(&self, file: u32) -> RelativePath {
        let folder = self.head.folders.partition_point(|folder| folder.end <= file);
        let month = &self.head.folders[folder].name;
        RelativePath::new(&format!("{FOLDER}/{month}/{}.jsonl", self.digest(file)))
            .expect("a fixed folder, a month and a digest are a path")
    }

    pub(super) fn sections(&self, file: u32) -> Vec<Digest> {
        let of_file = self.head.sections.binary_search_by_key(&file, |(file, _)| *file);
        of_file.map_or_else(|_| vec![self.digest(file)], |at| self.head.sections[at].1.clone())
    }

    /// Returns when an entry was recorded, in milliseconds since 1970.
    pub(super) fn time(&self, row: u32) -> Option<i64> {
        let time = u64_at(&self.bytes, self.entries_at + row as usize * ENTRY).cast_signed();
        (time != i64::MIN).then_some(time)
    }

    /// Returns the file of an entry, and the position of the entry in it.
    pub(super) fn origin(&self, row: u32) -> (u32, u32) {
        let at = self.entries_at + row as usize * ENTRY + 8;
        (u32_at(&self.bytes, at), u32_at(&self.bytes, at + 4))
    }

    /// Returns the entries that have a key.
    pub(super) fn rows(&self, key: &LookUpKey) -> Result<Vec<u32>, Damaged> {
        let rows = self.table.rows(key)?.into_iter().map(|row| u32_at(&row, 8));
        Ok(sorted(rows.filter(|row| (*row as usize) < self.entries())))
    }

    /// Returns true if every entry names a file of the table, and a position within that file.
    fn is_sound(&self) -> bool {
        (0..self.entries()).all(|row| {
            let (file, nth) = self.origin(row as u32);
            (file as usize) < self.files() && nth < self.count(file)
        })
    }
}

/// Identifies a file: its month, and the digest in its name.
type EvidenceName = (String, Digest);

/// The data of a table before it is written.
#[derive(Default)]
struct TableRows {
    /// For each file: its name, its stamp, the number of its entries, and its sections.
    files: Vec<(EvidenceName, u64, u32, Vec<Digest>)>,
    /// For each entry: its time, its file, its position in the file, and its keys.
    entries: Vec<(Option<i64>, EvidenceName, u32, Vec<LookUpKey>)>,
    paths: Vec<RelativePath>,
    intents: Vec<String>,
}

impl TableRows {
    /// Returns the data of the old table, without files that were removed. Empty if that table is
    /// damaged.
    fn of_kept(kept: &LookUpTable, standing: &[bool]) -> Self {
        let mut gathered = Self::default();
        let Some(rows) = kept.table.all_rows().ok().filter(|_| kept.is_sound()) else {
            return gathered;
        };
        let mut keys: Vec<Vec<LookUpKey>> = vec![Vec::new(); kept.entries()];
        for row in rows {
            if let Some(keys) = keys.get_mut(u32_at(&row, 8) as usize) {
                keys.push(std::array::from_fn(|byte| row[byte]));
            }
        }
        let mut names: Vec<EvidenceName> = Vec::with_capacity(kept.files());
        for at in 0..kept.head.folders.len() {
            let (folder, files) = kept.folder(at);
            names.extend(files.map(|file| (folder.name.clone(), kept.digest(file))));
        }
        for (file, name) in (0..).zip(&names).filter(|(file, _)| standing[*file as usize]) {
            let file = (name.clone(), kept.stamp(file), kept.count(file), kept.sections(file));
            gathered.files.push(file);
        }
        for (row, keys) in (0..).zip(keys) {
            let (file, nth) = kept.origin(row);
            if standing[file as usize] {
                let name = names[file as usize].clone();
                gathered.entries.push((kept.time(row), name, nth, keys));
            }
        }
        (gathered.paths, gathered.intents) = (kept.head.paths.clone(), kept.head.intents.clone());
        if gathered.files.len() < names.len() {
            let known: HashSet<&LookUpKey> =
                gathered.entries.iter().flat_map(|entry| &entry.3).collect();
            gathered.paths.retain(|path| known.contains(&LookUp::Path(path).key()));
            gathered.intents.retain(|intent| known.contains(&LookUp::Intent(intent).key()));
        }
        gathered
    }

    fn add_entry(&mut self, new: &New<'_>) -> Option<()> {
        let month = month(new.path.as_str().rsplit_once('/')?.0)?;
        let name: EvidenceName = (month.to_owned(), digest_of_path(new.path)?);
        let count = u32::try_from(new.known.entries.len()).ok()?;
        self.files.push((name.clone(), new.stamp, count, new.known.sections.clone()));
        for (nth, entry) in (0..).zip(&new.known.entries) {
            let record = &entry.record;
            let time = clock::milliseconds(&record.timestamp);
            self.entries.push((time, name.clone(), nth, keys_of(entry)));
            self.paths.extend(record.files.iter().map(|file| file.relative_path.clone()));
            self.intents.extend(record.intent_id.clone());
        }
        Some(())
    }
}

/// Writes a table from the old one, without the files that were removed, and the new files.
/// `folders` has the state of each month's folder before it was listed.
pub(super) fn write(
    place: &Path,
    before: Option<(&LookUpTable, &[bool])>,
    new: &[New<'_>],
    folders: &HashMap<String, Option<FileStamp>>,
) -> Result<(), StoreError> {
    let before = before.map(|(kept, standing)| TableRows::of_kept(kept, standing));
    let mut all = before.unwrap_or_default();
    for new in new {
        all.add_entry(new);
    }
    let TableRows { mut files, mut entries, paths, intents } = all;
    files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    files.dedup_by(|a, b| a.0 == b.0);
    entries.sort_unstable_by(|a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
    let mut head = TableHead {
        folders: Vec::new(),
        sections: Vec::new(),
        paths: sorted(paths),
        intents: sorted(intents),
        entries: u32::try_from(entries.len()).unwrap_or(u32::MAX),
    };
    let (mut places, mut packed): (HashMap<&EvidenceName, u32>, Vec<u8>) = Default::default();
    for (at, (name, stamp, count, sections)) in (0..).zip(&files) {
        places.insert(name, at);
        packed.extend(name.1.as_bytes());
        packed.extend(stamp.to_le_bytes());
        packed.extend(count.to_le_bytes());
        if **sections != [name.1] {
            head.sections.push((at, sections.clone()));
        }
        match head.folders.last_mut().filter(|last| last.name == name.0) {
            Some(last) => last.end = at + 1,
            None => {
                let stamp = folders.get(&name.0).copied().flatten();
                head.folders.push(TrackedFolder { name: name.0.clone(), stamp, end: at + 1 });
            }
        }
    }
    let mut rows: Vec<[u8; WIDTH]> = Vec::new();
    for (row, (time, name, nth, keys)) in (0_u32..).zip(&entries) {
        packed.extend(time.unwrap_or(i64::MIN).to_le_bytes());
        packed.extend(places[name].to_le_bytes());
        packed.extend(nth.to_le_bytes());
        let row = row.to_le_bytes();
        rows.extend(
            keys.iter()
                .map(|key| std::array::from_fn(|at| if at < 8 { key[at] } else { row[at - 8] })),
        );
    }
    let mut bytes = postcard::to_stdvec(&head).unwrap_or_default();
    bytes.extend(packed);
    Table::write(place, TABLE_KIND, &bytes, rows)
}
