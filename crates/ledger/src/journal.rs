//! The journal: records that are in no commit yet.
//!
//! There is one file for each session and work tree, `<common git directory>/intent/open/<work
//! tree>/<writer>.jsonl`. A hard link below `.orchestration/agent_trace/open/` shows the same file
//! to people. Because the file is in the git directory, neither `git clean -fdx` nor `git worktree
//! remove` loses a record. Without git there is no journal: records are appended to
//! `.orchestration/agent_trace.jsonl`.
//!
//! When a record is sealed into evidence, a note about it is written beside the journal
//! ([`Sealed`]). The record counts as sealed as long as that evidence is part of the history. After
//! `git reset` to a commit without that evidence, the record is open again.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Read, Seek, Write as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::evidence::Digest;
use super::ledger_file::{LedgerFile, MAX_OBJECT};
use code::hex;
use ground::store::{self, StoreError};
use ground::{RelativePath, Root};

const SHOWN: &str = ".orchestration/agent_trace/open";
/// The name of the folder with the journals of the repository's main work tree.
const MAIN: &str = "main";

/// The places of the journals of a workspace. Each work tree has its own folder.
pub(super) struct Journals {
    /// The folder that contains the folders of all work trees.
    all: PathBuf,
    /// The name of this work tree's folder.
    own: String,
    /// Git's `worktrees` folder, which has a folder for each work tree except the main one.
    trees: PathBuf,
}

impl Journals {
    /// Returns `None` if the workspace has no git directory.
    pub(super) fn in_git_directory(root: &Root) -> Option<Self> {
        let (top, git_dir) = (root.work_tree()?, root.git_dir()?);
        let common = root.common_dir()?;
        let tree = match git_dir == common {
            true => MAIN.into(),
            false => git_dir.file_name()?.to_string_lossy().into_owned(),
        };
        // Several workspaces may share one work tree (`nested_roots` of the policy).
        let below = root.path().strip_prefix(top).ok()?.to_string_lossy().into_owned();
        let own = match below.is_empty() {
            true => tree,
            false => format!("{tree}+{}", &hex(&Sha256::digest(below))[..16]),
        };
        let trees = common.join("worktrees");
        Some(Self { all: common.join("intent").join("open"), own, trees })
    }

    fn folder(&self) -> PathBuf {
        self.all.join(&self.own)
    }

    /// The path of a writer's journal in this work tree.
    pub(super) fn file(&self, writer: &str) -> PathBuf {
        self.folder().join(format!("{writer}.jsonl"))
    }

    /// The journals of this work tree, each with its name in the work tree and its path in the git
    /// directory. The journals of removed work trees are included, since otherwise nobody could
    /// seal their records.
    pub(super) fn files(&self) -> Vec<LedgerFile> {
        let mut folders = self.folders_of_other_trees();
        folders.retain(|folder| self.is_removed(folder));
        folders.push(self.folder());
        folders.iter().flat_map(|folder| files_in(folder)).collect()
    }

    /// Returns true if the folder belongs to a work tree that git no longer knows.
    fn is_removed(&self, folder: &Path) -> bool {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return false };
        let tree = name.rsplit_once('+').map_or(name, |(tree, _)| tree);
        let known = |tree: &str| self.trees.join(tree).is_dir();
        tree != MAIN && !known(tree) && !known(name)
    }

    /// The folders of the other work trees of this workspace, including work trees that were
    /// removed.
    pub(super) fn folders_of_other_trees(&self) -> Vec<PathBuf> {
        let ending = |name: &str| name.split_once('+').map(|(_, below)| below.to_owned());
        let named =
            store::entries(&self.all).filter_map(|folder| folder.file_name().into_string().ok());
        let others = named.filter(|name| *name != self.own && ending(name) == ending(&self.own));
        others.map(|name| self.all.join(name)).collect()
    }
}

fn files_in(folder: &Path) -> Vec<LedgerFile> {
    let mut files: Vec<LedgerFile> = store::entries(folder)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let disk = entry.path();
            let writer = disk.file_name()?.to_str()?.strip_suffix(".jsonl")?;
            Some(LedgerFile { path: shown_path(writer), disk })
        })
        .collect();
    files.sort_by(|a, b| (&a.path, &a.disk).cmp(&(&b.path, &b.disk)));
    files
}

/// All journals of a repository: first those of other work trees, including removed ones, then
/// those of this work tree.
pub(super) fn all_journals(root: &Root) -> Vec<LedgerFile> {
    let Some(journals) = Journals::in_git_directory(root) else { return Vec::new() };
    let folders = journals.folders_of_other_trees().into_iter().chain([journals.folder()]);
    folders.flat_map(|folder| files_in(&folder)).collect()
}

/// The journals of this work tree and of work trees that were removed. None without git.
pub(super) fn of_work_tree(root: &Root) -> Vec<LedgerFile> {
    Journals::in_git_directory(root).map(|journals| journals.files()).unwrap_or_default()
}

/// The path of a writer's journal as it is shown in the work tree.
pub(super) fn shown_path(writer: &str) -> RelativePath {
    let name: String = writer.chars().filter(char::is_ascii_alphanumeric).collect();
    RelativePath::new(&format!("{SHOWN}/{name}.jsonl"))
        .expect("a fixed folder and letters are a path")
}

/// Returns true if the path is the path of a journal in the work tree.
pub fn is_open(path: &RelativePath) -> bool {
    path.as_str().strip_prefix(SHOWN).is_some_and(|rest| rest.starts_with('/'))
}

/// Creates the hard link that shows a journal in the work tree, if the file system has hard links.
/// The link only helps people to watch the journal, so a failure is logged and not returned.
pub(super) fn show(root: &Root, writer: &str, file: &Path) {
    let shown = root.absolute(&shown_path(writer));
    if shown.symlink_metadata().is_ok() {
        return;
    }
    let ignored =
        shown.parent().map(|folder| store::create_new(&folder.join(".gitignore"), b"*\n"));
    let linked = ignored.transpose().map_err(std::io::Error::other);
    if let Err(error) = linked.and_then(|_| store::hard_link(file, &shown)) {
        tracing::debug!(%error, "the journal is not shown in the work tree");
    }
}

/// Which records have been sealed, and into which evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    into: HashMap<String, Vec<Digest>>,
    sections: HashSet<Digest>,
}

#[derive(Serialize, Deserialize)]
struct Mark {
    record: String,
    evidence: String,
}

impl Sealed {
    /// Returns a function that takes the id of a record and returns true if the record was sealed
    /// into one of these sections. `sections` is only called if anything was sealed in this clone.
    pub(super) fn sealed_among<'a>(
        &'a self,
        sections: &dyn Fn() -> HashSet<Digest>,
    ) -> impl Fn(&str) -> bool + Sync + use<'a> {
        let sections = if self.into.is_empty() { HashSet::new() } else { sections() };
        move |record| self.is_in(record, |one| sections.contains(one))
    }

    /// Returns true if a record was sealed into any evidence, including evidence on another branch.
    pub fn knows(&self, record: &str) -> bool {
        self.into.contains_key(record)
    }

    pub fn made(&self, section: &Digest) -> bool {
        self.sections.contains(section)
    }

    pub fn sections_of(&self, record: &str) -> &[Digest] {
        self.into.get(record).map_or(&[], Vec::as_slice)
    }

    /// Returns true if a record was sealed into a section for which `stands` is true.
    pub fn is_in(&self, record: &str, stands: impl Fn(&Digest) -> bool) -> bool {
        self.into.get(record).is_some_and(|into| into.iter().any(stands))
    }
}

fn marks(root: &Root) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent").join("sealed.jsonl"))
}

/// A larger file of notes, in bytes, was not written by us and is not read.
const MAX_MARKS: u64 = 256 * 1024 * 1024;

pub fn sealed(root: &Root) -> Sealed {
    let Some(path) = marks(root) else { return Sealed::default() };
    let bytes = store::read_capped(&path, MAX_MARKS).ok().flatten().unwrap_or_default();
    let mut sealed = Sealed::default();
    for mark in json_lines::<Mark>(&bytes) {
        if let Some(digest) = Digest::parse(&mark.evidence) {
            sealed.into.entry(mark.record).or_default().push(digest);
            sealed.sections.insert(digest);
        }
    }
    sealed
}

/// For each section that was sealed in this clone, the records that it was made from. Also, the
/// records that the journals still contain.
pub struct SectionSources {
    records: HashMap<Digest, Vec<String>>,
    held: HashSet<String>,
}

impl SectionSources {
    pub fn load(root: &Root) -> Self {
        #[derive(Deserialize)]
        struct JournalLine {
            id: String,
        }
        let mut records: HashMap<Digest, Vec<String>> = HashMap::new();
        for (record, into) in sealed(root).into {
            into.into_iter().for_each(|one| records.entry(one).or_default().push(record.clone()));
        }
        let journals = all_journals(root).into_iter();
        let journals =
            journals.filter_map(|file| store::read_capped(&file.disk, MAX_JOURNAL).ok()?);
        let mut held = HashSet::new();
        for journal in journals {
            held.extend(json_lines::<JournalLine>(&journal).map(|line| line.id));
        }
        Self { records, held }
    }

    /// Returns true if a section can be sealed again, because the journals still contain all
    /// records that it was made from.
    pub fn can_make(&self, section: &Digest) -> bool {
        let records = self.records.get(section);
        records.is_some_and(|records| records.iter().all(|record| self.held.contains(record)))
    }
}

/// Reads the records at the beginning of a journal for which `is_sealed` is true. Returns their ids
/// and their length in bytes. Sealed records are most of a journal, because they are only removed
/// after a while.
pub(super) fn sealed_start(
    file: &mut (impl Read + Seek),
    is_sealed: impl Fn(&str) -> bool,
) -> std::io::Result<(Vec<String>, u64)> {
    let (mut ids, mut length) = (Vec::new(), 0);
    let mut lines = BufReader::with_capacity(128 * 1024, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = lines.by_ref().take(MAX_OBJECT as u64).read_until(b'\n', &mut line)?;
        let Some(id) = id_of(&line).filter(|id| line.ends_with(b"\n") && is_sealed(id)) else {
            return Ok((ids, length));
        };
        ids.push(id.to_owned());
        length += read as u64;
    }
}

/// Returns the id of a record line. Only finds it in lines that this program wrote, which begin
/// with the id.
fn id_of(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"id\":\"")?;
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Parses the lines of a file that are of this type. All others are skipped.
fn json_lines<T: DeserializeOwned>(bytes: &[u8]) -> impl Iterator<Item = T> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

/// A record in a journal, sealed or not.
#[derive(Deserialize)]
pub struct JournalRecord {
    pub id: String,
    pub timestamp: String,
}

/// All records of the journals of this work tree and of work trees that were removed, including
/// those that were sealed.
pub fn held_records(root: &Root) -> Result<Vec<JournalRecord>, StoreError> {
    let mut all = Vec::new();
    for file in of_work_tree(root) {
        let bytes = store::read_capped(&file.disk, MAX_JOURNAL)?.unwrap_or_default();
        all.extend(json_lines::<JournalRecord>(&bytes));
    }
    Ok(all)
}

/// Removes records from the beginning of each journal of this work tree and of work trees that were
/// removed, up to the first record for which `goes` is false, so the rest is one unbroken chain.
/// Returns how many were removed. The caller holds the lock of the ledger.
pub(super) fn take_out(root: &Root, goes: &dyn Fn(&str) -> bool) -> Result<usize, StoreError> {
    let mut gone = 0;
    for LedgerFile { path: shown, disk } in of_work_tree(root) {
        let bytes = store::read_capped(&disk, MAX_JOURNAL)?.unwrap_or_default();
        let is_going = |line: &&[u8]| {
            line.ends_with(b"\n")
                && serde_json::from_slice::<JournalRecord>(line).is_ok_and(|held| goes(&held.id))
        };
        let going: Vec<&[u8]> =
            bytes.split_inclusive(|byte| *byte == b'\n').take_while(is_going).collect();
        let length: usize = going.iter().map(|line| line.len()).sum();
        if length == 0 {
            continue;
        }
        gone += going.len();
        // The hard link in the work tree still refers to the old file, so it is created again.
        let shown = root.absolute(&shown);
        store::remove(&shown)?;
        if length == bytes.len() {
            store::remove(&disk)?;
            continue;
        }
        store::write_atomic(&disk, &bytes[length..])?;
        if let Err(error) = store::hard_link(&disk, &shown) {
            tracing::debug!(%error, "the journal is not shown in the work tree");
        }
    }
    Ok(gone)
}

/// A journal larger than this, in bytes, is an error when its records are listed or removed.
const MAX_JOURNAL: u64 = 1024 * 1024 * 1024;

/// Writes a note that records were sealed into a section of evidence.
pub fn note_sealed(root: &Root, records: &[String], evidence: Digest) -> Result<(), StoreError> {
    let Some(path) = marks(root).filter(|_| !records.is_empty()) else { return Ok(()) };
    let mut lines = Vec::new();
    for record in records {
        let mark = Mark { record: record.clone(), evidence: evidence.to_string() };
        serde_json::to_writer(&mut lines, &mark).expect("texts always become JSON");
        lines.push(b'\n');
    }
    let (mut file, _) = store::append_to(&path)?;
    let written = file.write_all(&lines).and_then(|()| file.sync_data());
    written.map_err(store::failed(&path, "appended to"))
}
