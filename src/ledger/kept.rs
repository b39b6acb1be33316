//! The kept look-up: which entries of evidence speak of a path, a text, a name, an intent.
//!
//! Evidence never changes, so what its files say need not be found out by every process again. A table in the git
//! directory names, for everything an entry can be looked up by, the entries; and each of their files by its digest. It is
//! written anew when enough files have come or gone, from the table before and the files that came.
//!
//! No answer depends on it. A folder that changed since is listed, a file in it that is not as it was is read; what an
//! entry says is always read from its file, whose bytes are held against its name; and where the table is damaged or
//! missing, all files are read.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::evidence::{Digest, digest_of_path};
use super::lookup::{Sought, keys_of};
use super::source::{Known, millis};
use crate::workspace::cache::{self, Stamp};
use crate::workspace::store::{self, StoreError};
use crate::workspace::table::{Damaged, Table};
use crate::workspace::{RelativePath, Root};

const WHAT: &str = "evidence 2";
const FOLDER: &str = ".orchestration/agent_trace";
/// A key, and a row of the entries.
const WIDTH: usize = 12;
/// Bytes of a file in the head: digest, stamp, number of its entries.
const FILE: usize = 28;
/// Bytes of an entry in the head: time, file, place in the file.
const ENTRY: usize = 16;

/// What entries are looked up by, as the table has it.
pub(super) type Key = [u8; 8];

/// The table and what is known of its files.
pub(super) struct Kept {
    folders: Vec<Folder>,
    /// Sections of files that hold others than the one that the file is named by.
    sections: HashMap<u32, Vec<Digest>>,
    paths: Vec<RelativePath>,
    intents: Vec<String>,
    /// The head as it was read; files and entries are not copied out of it.
    bytes: Vec<u8>,
    /// Where in it the files begin.
    files_at: usize,
    /// Where in it the entries begin.
    entries_at: usize,
    table: Table<WIDTH>,
}

/// A month.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Folder {
    /// `2026-02`.
    name: String,
    /// As it was before it was listed; `None` where it had just changed.
    stamp: Option<Stamp>,
    /// Where its files end among all.
    end: u32,
}

/// What is said of the whole, besides files and entries.
#[derive(Serialize, Deserialize)]
struct Head {
    folders: Vec<Folder>,
    sections: Vec<(u32, Vec<Digest>)>,
    paths: Vec<RelativePath>,
    intents: Vec<String>,
    entries: u32,
}

/// A file that the table is to know.
pub(super) struct New<'a> {
    /// In the workspace.
    pub path: &'a RelativePath,
    /// [`print`] of its stamp.
    pub stamp: u64,
    /// What it holds.
    pub known: &'a Known,
}

/// A stamp in short.
pub(super) fn print(stamp: &Stamp) -> u64 {
    let digest = Sha256::digest(format!("{stamp:?}"));
    u64::from_le_bytes(std::array::from_fn(|at| digest[at]))
}

/// The month that a folder of the workspace is, where it is one of evidence.
pub(super) fn month(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix(FOLDER)?.strip_prefix('/')?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

/// Where the table of a workspace is; several work trees and workspaces may share a git directory.
pub(super) fn place(root: &Root) -> Option<PathBuf> {
    let digest = Sha256::digest(root.path().as_os_str().as_encoded_bytes());
    Some(cache::folder(root)?.join(format!("evidence-{}", store::hex(&digest[..8]))))
}

/// The state of a folder, where a change from now on would show in it.
pub(super) fn state(folder: &Path) -> Option<Stamp> {
    let now = SystemTime::now();
    let found = folder.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Stamp::of(&found).filter(|stamp| stamp.at_rest(now))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

impl Kept {
    /// `None` where there is none that can be used.
    pub(super) fn open(place: &Path) -> Option<Self> {
        let (table, bytes) = Table::open(place, WHAT)?;
        let (head, rest) = postcard::take_from_bytes::<Head>(&bytes).ok()?;
        let files = head.folders.last().map_or(0, |folder| folder.end as usize) * FILE;
        let rises = head.folders.is_sorted_by(|a, b| a.name < b.name && a.end <= b.end);
        if !rises || rest.len() != files + head.entries as usize * ENTRY {
            return None;
        }
        let files_at = bytes.len() - rest.len();
        let kept = Self {
            folders: head.folders,
            sections: head.sections.into_iter().collect(),
            paths: head.paths,
            intents: head.intents,
            files_at,
            entries_at: files_at + files,
            bytes,
            table,
        };
        Some(kept)
    }

    /// How many files it knows.
    pub(super) fn files(&self) -> usize {
        (self.entries_at - self.files_at) / FILE
    }

    /// How many entries they hold.
    pub(super) fn entries(&self) -> usize {
        (self.bytes.len() - self.entries_at) / ENTRY
    }

    fn folder(&self, at: usize) -> (&Folder, Range<u32>) {
        let start = at.checked_sub(1).map_or(0, |before| self.folders[before].end);
        (&self.folders[at], start..self.folders[at].end)
    }

    /// The files of a month, where its folder is as it was when it was last listed.
    pub(super) fn as_it_was(&self, month: &str, disk: &Path) -> Option<Range<u32>> {
        let at = self.folders.binary_search_by(|folder| folder.name.as_str().cmp(month)).ok()?;
        let (folder, files) = self.folder(at);
        (folder.stamp.is_some() && folder.stamp == state(disk)).then_some(files)
    }

    /// The file with this path.
    pub(super) fn find(&self, path: &RelativePath) -> Option<u32> {
        let digest = digest_of_path(path)?;
        let month = month(path.as_str().rsplit_once('/')?.0)?;
        let at = self.folders.binary_search_by(|folder| folder.name.as_str().cmp(month)).ok()?;
        self.find_in(at, &digest)
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

    /// The files that are named by a digest, in whatever month.
    pub(super) fn named(&self, digest: &Digest) -> impl Iterator<Item = u32> {
        (0..self.folders.len()).filter_map(|at| self.find_in(at, digest))
    }

    /// The files that hold other sections than the one that they are named by.
    pub(super) fn united(&self) -> impl Iterator<Item = (u32, &[Digest])> {
        self.sections.iter().map(|(file, sections)| (*file, &sections[..]))
    }

    /// The digest that a file is named by.
    pub(super) fn digest(&self, file: u32) -> Digest {
        let at = self.files_at + file as usize * FILE;
        Digest::from_bytes(std::array::from_fn(|byte| self.bytes[at + byte]))
    }

    /// [`print`] of the stamp that a file had.
    pub(super) fn stamp(&self, file: u32) -> u64 {
        u64_at(&self.bytes, self.files_at + file as usize * FILE + 16)
    }

    /// How many entries a file holds.
    pub(super) fn count(&self, file: u32) -> u32 {
        u32_at(&self.bytes, self.files_at + file as usize * FILE + 24)
    }

    /// The path of a file in the workspace.
    pub(super) fn path(&self, file: u32) -> RelativePath {
        let folder = self.folders.partition_point(|folder| folder.end <= file);
        let month = &self.folders[folder].name;
        RelativePath::new(&format!("{FOLDER}/{month}/{}.jsonl", self.digest(file)))
            .expect("a fixed folder, a month and a digest are a path")
    }

    /// The sections of a file.
    pub(super) fn sections(&self, file: u32) -> Vec<Digest> {
        self.sections.get(&file).cloned().unwrap_or_else(|| vec![self.digest(file)])
    }

    /// When an entry was recorded, in milliseconds since 1970.
    pub(super) fn time(&self, row: u32) -> Option<i64> {
        let time = u64_at(&self.bytes, self.entries_at + row as usize * ENTRY).cast_signed();
        (time != i64::MIN).then_some(time)
    }

    /// The file of an entry, and which of its entries it is.
    pub(super) fn origin(&self, row: u32) -> (u32, u32) {
        let at = self.entries_at + row as usize * ENTRY + 8;
        (u32_at(&self.bytes, at), u32_at(&self.bytes, at + 4))
    }

    /// The entries that have a key.
    pub(super) fn rows(&self, key: &Key) -> Result<Vec<u32>, Damaged> {
        let rows = self.table.rows(key)?.into_iter().map(|row| u32_at(&row, 8));
        let mut rows: Vec<u32> = rows.filter(|row| (*row as usize) < self.entries()).collect();
        rows.sort_unstable();
        Ok(rows)
    }

    /// The paths that entries name, sorted.
    pub(super) fn paths(&self) -> &[RelativePath] {
        &self.paths
    }

    /// The intents that entries name, sorted.
    pub(super) fn intents(&self) -> &[String] {
        &self.intents
    }

    /// Whether the head is not at odds with itself.
    fn is_sound(&self) -> bool {
        (0..self.entries()).all(|row| {
            let (file, nth) = self.origin(row as u32);
            (file as usize) < self.files() && nth < self.count(file)
        })
    }
}

/// A file, by its month and the digest that it is named by.
type Name = (String, Digest);

/// What is gathered of the files for a table.
#[derive(Default)]
struct Gathered {
    /// With the stamp, the number of entries and the sections of each.
    files: Vec<(Name, u64, u32, Vec<Digest>)>,
    /// Time, file, place in the file, keys.
    entries: Vec<(Option<i64>, Name, u32, Vec<Key>)>,
    paths: Vec<RelativePath>,
    intents: Vec<String>,
}

impl Gathered {
    /// What the table before knows of the files that stand; nothing where it is damaged.
    fn of_kept(kept: &Kept, standing: &[bool]) -> Self {
        let mut gathered = Self::default();
        let Some(rows) = kept.table.all().ok().filter(|_| kept.is_sound()) else { return gathered };
        let mut keys: Vec<Vec<Key>> = vec![Vec::new(); kept.entries()];
        for row in rows {
            if let Some(keys) = keys.get_mut(u32_at(&row, 8) as usize) {
                keys.push(std::array::from_fn(|byte| row[byte]));
            }
        }
        let mut names: Vec<Name> = Vec::with_capacity(kept.files());
        for at in 0..kept.folders.len() {
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
        (gathered.paths, gathered.intents) = (kept.paths.clone(), kept.intents.clone());
        if gathered.files.len() < names.len() {
            let known: HashSet<&Key> = gathered.entries.iter().flat_map(|entry| &entry.3).collect();
            gathered.paths.retain(|path| known.contains(&Sought::Path(path).key()));
            gathered.intents.retain(|intent| known.contains(&Sought::Intent(intent).key()));
        }
        gathered
    }

    fn add(&mut self, new: &New<'_>) -> Option<()> {
        let month = month(new.path.as_str().rsplit_once('/')?.0)?;
        let name: Name = (month.to_owned(), digest_of_path(new.path)?);
        let count = u32::try_from(new.known.entries.len()).ok()?;
        self.files.push((name.clone(), new.stamp, count, new.known.sections.to_vec()));
        for (nth, entry) in (0..).zip(&new.known.entries) {
            let record = &entry.record;
            let time = millis(&record.timestamp);
            self.entries.push((time, name.clone(), nth, keys_of(entry)));
            self.paths.extend(record.files.iter().map(|file| file.relative_path.clone()));
            self.intents.extend(record.intent_id.clone());
        }
        Some(())
    }
}

/// Writes the table anew: what stands of the one before, and what came. `folders` are the states in which the months were
/// listed.
pub(super) fn write(
    place: &Path,
    before: Option<(&Kept, &[bool])>,
    new: &[New<'_>],
    folders: &HashMap<String, Option<Stamp>>,
) -> Result<(), StoreError> {
    let before = before.map(|(kept, standing)| Gathered::of_kept(kept, standing));
    let mut all = before.unwrap_or_default();
    for new in new {
        all.add(new);
    }
    let Gathered { mut files, mut entries, mut paths, mut intents } = all;
    files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    files.dedup_by(|a, b| a.0 == b.0);
    entries.sort_unstable_by(|a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
    paths.sort_unstable();
    paths.dedup();
    intents.sort_unstable();
    intents.dedup();
    let mut head = Head {
        folders: Vec::new(),
        sections: Vec::new(),
        paths,
        intents,
        entries: u32::try_from(entries.len()).unwrap_or(u32::MAX),
    };
    let (mut places, mut packed): (HashMap<&Name, u32>, Vec<u8>) = Default::default();
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
                head.folders.push(Folder { name: name.0.clone(), stamp, end: at + 1 });
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
    Table::write(place, WHAT, &bytes, rows)
}
