//! The journal: records that are in no commit yet.
//!
//! There is one file for each session and work tree, `<common git directory>/intent/open/<work
//! tree>/<writer>.jsonl`. A hard link below `.orchestration/agent_trace/open/` shows the same file
//! to people. Because the file is in the git directory, neither `git clean -fdx` nor `git worktree
//! remove` loses a record. Without git there is no journal: records are appended to
//! `.orchestration/agent_trace.jsonl`.
//!
//! When a commit has the evidence of a record, the record moves to a file of that commit,
//! `settled/<work tree>/<commit>.jsonl`. If the commit leaves the history, by an amend, a rebase or
//! a reset, the record goes back into the journal. So the journal has only open records.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::digest::Digest;
use super::ledger_file::{LedgerFile, ParsedLedgerFile};
use code::hex;
use ground::folder::is_missing;
use ground::store::{self, StoreError};
use ground::{RelativePath, Root};

const PATIENCE: Duration = Duration::from_secs(5);
const SHOWN: &str = ".orchestration/agent_trace/open";
const MAIN: &str = "main";

pub(super) fn lock(root: &Root) -> Result<store::Lock, StoreError> {
    store::lock(&root.private().join("ledger.lock"), PATIENCE)
}

/// The places of the journals of a workspace. Each work tree has its own folder.
pub(super) struct Journals {
    all: PathBuf,
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
    let listed = match std::fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if is_missing(&error) => return Vec::new(),
        // The folder stands for the journals in it. Whoever reads it gets the error.
        Err(_) => return vec![LedgerFile { path: shown_path(MAIN), disk: folder.to_owned() }],
    };
    let mut files: Vec<LedgerFile> = listed
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let disk = entry.path();
            let writer = disk.file_name()?.to_str()?.strip_suffix(".jsonl")?;
            Some(LedgerFile { path: shown_path(writer), disk })
        })
        .collect();
    files.sort_by(|a, b| (&a.path, &a.disk).cmp(&(&b.path, &b.disk)));
    files
}

pub(super) fn of_work_tree(root: &Root) -> Vec<LedgerFile> {
    Journals::in_git_directory(root).map(|journals| journals.files()).unwrap_or_default()
}

pub(super) fn shown_path(writer: &str) -> RelativePath {
    let name: String = writer.chars().filter(char::is_ascii_alphanumeric).collect();
    RelativePath::new(&format!("{SHOWN}/{name}.jsonl"))
        .expect("a fixed folder and letters are a path")
}

pub fn is_open(path: &RelativePath) -> bool {
    path.as_str().strip_prefix(SHOWN).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns what stands for the journals of a folder that cannot be read.
pub(super) fn unread(error: &StoreError) -> (RelativePath, ParsedLedgerFile) {
    let path = shown_path(MAIN);
    let parsed = ParsedLedgerFile::from_read_error(&path, error);
    (path, parsed)
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

fn json_lines<T: DeserializeOwned>(bytes: &[u8]) -> impl Iterator<Item = T> {
    // An editor may have put a byte order mark in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

/// A record in a journal. Its other fields are not parsed.
#[derive(Deserialize)]
struct JournalLine {
    id: String,
    #[serde(default)]
    writer: String,
    #[serde(default)]
    seq: u64,
    of: Option<String>,
}

fn lines_with_text(bytes: &[u8]) -> impl Iterator<Item = (JournalLine, &[u8])> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(|line| Some((serde_json::from_slice(line).ok()?, line)))
}

/// A journal larger than this, in bytes, is an error when records are moved.
const MAX_JOURNAL: u64 = 1024 * 1024 * 1024;

/// Evidence that was sealed in this clone and is in no commit yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftNote {
    pub file: RelativePath,
    /// The ids of the records that need not stay in the journal once the file is committed.
    pub records: Vec<String>,
}

/// Records that are in the journal again because their commit left the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReopenedNote {
    /// The evidence of the commit. If the history has all of it again, the records need not stay.
    pub files: Vec<RelativePath>,
    pub records: Vec<String>,
}

/// A reference that had all settled commits in its history when it was noted, and the commit that it
/// named then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeeperNote {
    pub name: String,
    pub commit: String,
}

/// A file of late evidence, and the commit that carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedNote {
    pub file: RelativePath,
    pub commit: String,
}

pub fn open_ids(root: &Root) -> HashSet<String> {
    open_lines(root).map(|line| line.id).collect()
}

/// Returns the commits that open records name, since they are about lines of that commit.
pub fn commits_of_open_records(root: &Root) -> HashSet<String> {
    open_lines(root).filter_map(|line| line.of).collect()
}

fn open_lines(root: &Root) -> impl Iterator<Item = JournalLine> {
    let files = of_work_tree(root).into_iter();
    let read = files.map(|file| store::read_capped(&file.disk, MAX_JOURNAL).ok().flatten());
    read.flatten().flat_map(|bytes| json_lines(&bytes).collect::<Vec<JournalLine>>())
}

/// A note about a work tree. All notes of a kind are in one file, one JSON object a line.
pub trait Note: Serialize + DeserializeOwned {
    const FILE: &'static str;

    fn read_all(root: &Root) -> Vec<Self> {
        let bytes = notes_file(root, Self::FILE)
            .and_then(|path| store::read_capped(&path, MAX_NOTES).ok()?);
        json_lines(&bytes.unwrap_or_default()).collect()
    }

    fn write_all(root: &Root, notes: &[Self]) -> Result<(), StoreError> {
        let Some(path) = notes_file(root, Self::FILE) else { return Ok(()) };
        if notes.is_empty() {
            return store::remove(&path).map(drop);
        }
        let mut lines = Vec::new();
        for note in notes {
            serde_json::to_writer(&mut lines, note).expect("plain data always serialises");
            lines.push(b'\n');
        }
        store::write_atomic(&path, &lines)
    }
}

impl Note for DraftNote {
    const FILE: &'static str = "drafts";
}

impl Note for ReopenedNote {
    const FILE: &'static str = "reopened";
}

impl Note for KeeperNote {
    const FILE: &'static str = "keepers";
}

impl Note for CarriedNote {
    const FILE: &'static str = "carried";
}

fn notes_file(root: &Root, name: &str) -> Option<PathBuf> {
    Some(Journals::in_git_directory(root)?.folder().join(name))
}

/// A larger file of notes, in bytes, was not written by us and is not read.
const MAX_NOTES: u64 = 64 * 1024 * 1024;

/// The digests of the sections that were sealed in this clone: 16 bytes each.
fn made_file(root: &Root) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent").join("made"))
}

pub fn sections_made(root: &Root) -> HashSet<Digest> {
    let bytes = made_file(root).and_then(|path| store::read_capped(&path, MAX_NOTES).ok()?);
    let bytes = bytes.unwrap_or_default();
    let rows = bytes.chunks_exact(16);
    rows.filter_map(|row| Some(Digest::from_bytes(row.try_into().ok()?))).collect()
}

pub fn note_made(root: &Root, section: Digest) -> Result<(), StoreError> {
    let Some(path) = made_file(root) else { return Ok(()) };
    let (mut file, _) = store::append_to(&path)?;
    // A call that was ended here may have left a part of a digest, after which none would be read.
    let written = file.metadata().and_then(|about| {
        file.set_len(about.len() - about.len() % 16)?;
        file.write_all(section.as_bytes())
    });
    written.map_err(store::failed(&path, "appended to"))
}

/// The records that a commit carries, as they were in the journal. They are needed again if the
/// commit leaves the history.
fn settled_file(root: &Root, commit: &str) -> Option<PathBuf> {
    Some(settled_folder(root)?.join(format!("{commit}.jsonl")))
}

fn settled_folder(root: &Root) -> Option<PathBuf> {
    let journals = Journals::in_git_directory(root)?;
    Some(root.common_dir()?.join("intent").join("settled").join(journals.own))
}

/// Moves records out of the journal, because a commit has their evidence. Returns how many.
pub fn settle(
    root: &Root,
    commit: &str,
    is_settled: &dyn Fn(&str) -> bool,
) -> Result<usize, StoreError> {
    let _lock = lock(root)?;
    let Some(settled) = settled_file(root, commit) else { return Ok(0) };
    move_lines(root, &of_work_tree(root), is_settled, |lines| {
        let mut all = store::read_capped(&settled, MAX_JOURNAL)?.unwrap_or_default();
        // Earlier versions of this program left a part of a line if they were ended here.
        all.truncate(all.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        all.extend(lines);
        store::write_atomic(&settled, &all)?;
        note_in_heads(root, lines, |head, seq| add_number(&mut head.settled, seq))
    })
}

/// Removes records from the journals of this work tree and of work trees that were removed. Returns
/// how many.
pub fn retire(root: &Root, goes: &dyn Fn(&str) -> bool) -> Result<usize, StoreError> {
    let _lock = lock(root)?;
    move_lines(root, &of_work_tree(root), goes, |lines| {
        note_in_heads(root, lines, |head, seq| add_number(&mut head.gone, seq))
    })
}

/// Removes the records from the journals for which `is_it` is true, after `keep` has stored their
/// lines elsewhere. Returns how many.
fn move_lines(
    root: &Root,
    files: &[LedgerFile],
    is_it: &dyn Fn(&str) -> bool,
    keep: impl Fn(&[u8]) -> Result<(), StoreError>,
) -> Result<usize, StoreError> {
    let mut moved = 0;
    for LedgerFile { path: shown, disk } in files {
        let bytes = store::read_capped(disk, MAX_JOURNAL)?.unwrap_or_default();
        let is_going = |line: &&[u8]| {
            line.ends_with(b"\n")
                && serde_json::from_slice::<JournalLine>(line).is_ok_and(|held| is_it(&held.id))
        };
        let (going, staying): (Vec<&[u8]>, Vec<&[u8]>) =
            bytes.split_inclusive(|byte| *byte == b'\n').partition(is_going);
        if going.is_empty() {
            continue;
        }
        keep(&going.concat())?;
        moved += going.len();
        replace(root, shown, disk, &staying.concat())?;
    }
    Ok(moved)
}

/// Replaces the content of a journal. Its second name in the work tree would still refer to the old
/// file, so it is made again.
fn replace(root: &Root, shown: &RelativePath, disk: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let shown = root.absolute(shown);
    store::remove(&shown)?;
    if bytes.is_empty() {
        return store::remove(disk).map(drop);
    }
    store::write_atomic(disk, bytes)?;
    if let Err(error) = store::hard_link(disk, &shown) {
        tracing::debug!(%error, "the journal is not shown in the work tree");
    }
    Ok(())
}

pub fn settled_commits(root: &Root) -> Vec<String> {
    let Some(folder) = settled_folder(root) else { return Vec::new() };
    let names = store::entries(&folder).filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned)).collect()
}

pub fn settled_records(root: &Root, commit: &str) -> Vec<String> {
    let bytes =
        settled_file(root, commit).and_then(|path| store::read_capped(&path, MAX_JOURNAL).ok()?);
    json_lines::<JournalLine>(&bytes.unwrap_or_default()).map(|line| line.id).collect()
}

pub fn needed_texts(root: &Root) -> Result<HashSet<Digest>, StoreError> {
    #[derive(Deserialize)]
    struct FileLine {
        text: Option<Digest>,
    }
    #[derive(Deserialize)]
    struct RecordLine {
        #[serde(default)]
        files: Vec<FileLine>,
    }
    let mut keys = HashSet::new();
    for file in files_of_all_trees(root, &["open", "settled"]) {
        let bytes = store::read_capped(&file, MAX_JOURNAL)?.unwrap_or_default();
        let lines = json_lines::<RecordLine>(&bytes);
        keys.extend(lines.flat_map(|line| line.files).filter_map(|file| file.text));
    }
    Ok(keys)
}

fn files_of_all_trees(root: &Root, folders: &[&str]) -> Vec<PathBuf> {
    let Some(common) = root.common_dir() else { return Vec::new() };
    let folders = folders.iter().flat_map(|name| {
        let trees = store::entries(&common.join("intent").join(name)).map(|tree| tree.path());
        trees.flat_map(|tree| store::entries(&tree))
    });
    let is_journal = |file: &PathBuf| file.extension().is_some_and(|kind| kind == "jsonl");
    folders.map(|file| file.path()).filter(is_journal).collect()
}

/// A journal as it is once settled records are back in it.
pub(super) struct ReopenedJournal {
    pub file: LedgerFile,
    pub bytes: Vec<u8>,
    /// How many records are back.
    back: usize,
}

/// Returns the journals with the records of these commits, which stay where they are. A journal that
/// gets none is left out.
pub(super) fn reopened_journals(
    root: &Root,
    commits: &[String],
) -> Result<Vec<ReopenedJournal>, StoreError> {
    let Some(journals) = Journals::in_git_directory(root) else { return Ok(Vec::new()) };
    let files = commits.iter().filter_map(|commit| settled_file(root, commit));
    let settled = files.map(|file| store::read_capped(&file, MAX_JOURNAL));
    let settled: Vec<Vec<u8>> =
        settled.map(|read| Ok(read?.unwrap_or_default())).collect::<Result<_, StoreError>>()?;
    // A writer whose head was lost may have used a number twice, so the number alone names no record.
    let mut by_writer: HashMap<String, BTreeMap<(u64, String), &[u8]>> = HashMap::new();
    for (held, line) in settled.iter().flat_map(|bytes| lines_with_text(bytes)) {
        by_writer.entry(held.writer).or_default().insert((held.seq, held.id), line);
    }
    let mut reopened = Vec::new();
    for (writer, mut lines) in by_writer {
        let file = LedgerFile { path: shown_path(&writer), disk: journals.file(&writer) };
        let bytes = store::read_capped(&file.disk, MAX_JOURNAL)?.unwrap_or_default();
        let held = lines_with_text(&bytes).map(|(held, line)| ((held.seq, held.id), line));
        let held: BTreeMap<(u64, String), &[u8]> = held.collect();
        let before = held.len();
        lines.extend(held);
        let back = lines.len() - before;
        let bytes = lines.into_values().flatten().copied().collect();
        reopened.push(ReopenedJournal { file, bytes, back });
    }
    Ok(reopened)
}

/// Puts the records of a commit that has left the history back into the journal. Returns how many.
pub fn reopen(root: &Root, commit: &str) -> Result<usize, StoreError> {
    let _lock = lock(root)?;
    let Some(settled) = settled_file(root, commit) else { return Ok(0) };
    let reopened = reopened_journals(root, &[commit.to_owned()])?;
    for journal in &reopened {
        replace(root, &journal.file.path, &journal.file.disk, &journal.bytes)?;
    }
    let bytes = store::read_capped(&settled, MAX_JOURNAL)?.unwrap_or_default();
    note_in_heads(root, &bytes, |head, seq| remove_number(&mut head.settled, seq))?;
    store::remove(&settled)?;
    Ok(reopened.iter().map(|journal| journal.back).sum())
}

pub fn forget_settled(root: &Root, commit: &str) -> Result<usize, StoreError> {
    let Some(path) = settled_file(root, commit) else { return Ok(0) };
    let _lock = lock(root)?;
    let bytes = store::read_capped(&path, MAX_JOURNAL)?.unwrap_or_default();
    note_in_heads(root, &bytes, |head, seq| add_number(&mut head.gone, seq))?;
    store::remove(&path)?;
    Ok(json_lines::<JournalLine>(&bytes).count())
}

/// The last record of a writer: its number and its hash. It is remembered outside of the journal, so
/// that a journal that was emptied goes on where it was, and a dropped last record is noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WriterHead {
    pub seq: u64,
    pub h: String,
    /// The records that are in no file any more because they are not needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: NumberRanges,
    /// The records that were moved to the file of a commit. So the files of all commits need not be
    /// read to find out whether a journal is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settled: NumberRanges,
}

impl WriterHead {
    fn gone_or_settled(&self) -> NumberRanges {
        let mut all = self.gone.clone();
        self.settled.iter().for_each(|range| add_range(&mut all, *range));
        all
    }
}

/// The first and the last number of each range, in ascending order. For example, 0, 1 and 4 are
/// `[[0, 1], [4, 4]]`.
type NumberRanges = Vec<(u64, u64)>;

fn add_number(ranges: &mut NumberRanges, number: u64) {
    add_range(ranges, (number, number));
}

fn add_range(ranges: &mut NumberRanges, range: (u64, u64)) {
    ranges.push(range);
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let follows = next.0 <= range.1.saturating_add(1);
        if follows {
            range.1 = range.1.max(next.1);
        }
        follows
    });
}

/// Returns the numbers from 0 to `last` that are in none of the ranges.
fn missing_numbers(ranges: &NumberRanges, last: u64) -> Vec<RangeInclusive<u64>> {
    let (mut missing, mut next) = (Vec::new(), 0);
    let end = last.saturating_add(1);
    for (first, last) in ranges.iter().copied().chain([(end, end)]) {
        if next < first {
            missing.push(next..=first - 1);
        }
        next = last.saturating_add(1);
    }
    missing
}

fn remove_number(ranges: &mut NumberRanges, number: u64) {
    let split = ranges.iter().flat_map(|(first, last)| {
        let before = number.checked_sub(1).map(|end| (*first, end.min(*last)));
        [before, number.checked_add(1).map(|start| (start.max(*first), *last))]
    });
    *ranges = split.flatten().filter(|(first, last)| first <= last).collect();
}

/// Notes in the heads what became of the records in these lines. The caller holds the lock of the
/// ledger.
fn note_in_heads(
    root: &Root,
    lines: &[u8],
    note: impl Fn(&mut WriterHead, u64),
) -> Result<(), StoreError> {
    let mut by_writer: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in json_lines::<JournalLine>(lines) {
        by_writer.entry(line.writer).or_default().push(line.seq);
    }
    for (writer, records) in by_writer {
        let Some(mut head) = head_of(root, &writer) else { continue };
        records.into_iter().for_each(|seq| note(&mut head, seq));
        remember_head(root, &writer, &head)?;
    }
    Ok(())
}

pub struct LostRecords {
    pub writer: String,
    pub records: RangeInclusive<u64>,
}

/// Returns the records that every journal and every settled commit lacks, although they were written
/// and are still needed.
pub fn lost_records(root: &Root) -> Vec<LostRecords> {
    let heads = heads_in(root, HEADS).into_iter().chain(heads_in(root, SETTLED_HEADS));
    records_in_none_of(heads, &files_of_all_trees(root, &["open", "settled"]))
}

/// Like [`lost_records`], at the cost of the open records: whether the files of settled commits still
/// have theirs is not asked.
pub(super) fn lost_open_records(root: &Root) -> Vec<LostRecords> {
    let open = files_of_all_trees(root, &["open"]);
    let heads = heads_in(root, HEADS).into_iter().map(|(writer, mut head)| {
        head.gone = head.gone_or_settled();
        (writer, head)
    });
    let lost = records_in_none_of(heads, &open);
    // The list of settled records may lack some, since earlier versions of this program kept no list.
    // So a record counts as lost only if it is in no other place either.
    if lost.is_empty() { lost } else { lost_records(root) }
}

fn records_in_none_of(
    heads: impl Iterator<Item = (String, WriterHead)>,
    files: &[PathBuf],
) -> Vec<LostRecords> {
    let mut held: HashMap<String, Vec<u64>> = HashMap::new();
    for file in files {
        let bytes = store::read_capped(file, MAX_JOURNAL).ok().flatten();
        for line in json_lines::<JournalLine>(&bytes.unwrap_or_default()) {
            held.entry(line.writer).or_default().push(line.seq);
        }
    }
    let mut lost = Vec::new();
    for (writer, mut known) in heads {
        let held = held.remove(&writer).unwrap_or_default();
        held.into_iter().for_each(|seq| add_number(&mut known.gone, seq));
        let missing = missing_numbers(&known.gone, known.seq).into_iter();
        lost.extend(missing.map(|records| LostRecords { writer: writer.clone(), records }));
    }
    lost
}

pub fn accept_lost(root: &Root, lost: &LostRecords) -> Result<(), StoreError> {
    let _lock = lock(root)?;
    let Some(mut head) = head_of(root, &lost.writer) else { return Ok(()) };
    add_range(&mut head.gone, (*lost.records.start(), *lost.records.end()));
    remember_head(root, &lost.writer, &head)
}

/// The heads of the writers with open records, and those of the others. So what is open costs as much
/// after many sessions as after the first.
const HEADS: &str = "heads";
const SETTLED_HEADS: &str = "heads/settled";

fn head_file(root: &Root, folder: &str, writer: &str) -> Option<PathBuf> {
    Some(root.common_dir()?.join("intent").join(folder).join(writer))
}

pub(super) fn head_of(root: &Root, writer: &str) -> Option<WriterHead> {
    let files = [HEADS, SETTLED_HEADS].map(|folder| head_file(root, folder, writer));
    files.into_iter().flatten().find_map(|file| store::read_json(&file, MAX_HEAD))
}

fn heads_in(root: &Root, folder: &str) -> Vec<(String, WriterHead)> {
    let Some(folder) = head_file(root, folder, "") else { return Vec::new() };
    let files = store::entries(&folder).filter_map(|file| {
        let writer = file.file_name().into_string().ok()?;
        Some((writer, store::read_json(&file.path(), MAX_HEAD)?))
    });
    files.collect()
}

/// The size limit of the file with the head of a writer, in bytes.
const MAX_HEAD: u64 = 1024 * 1024;

pub(super) fn remember_head(
    root: &Root,
    writer: &str,
    head: &WriterHead,
) -> Result<(), StoreError> {
    let [open, settled] = [HEADS, SETTLED_HEADS].map(|folder| head_file(root, folder, writer));
    let Some((open, settled)) = open.zip(settled) else { return Ok(()) };
    let is_settled = missing_numbers(&head.gone_or_settled(), head.seq).is_empty();
    let (place, other) = if is_settled { (settled, open) } else { (open, settled) };
    store::write_json_scratch(&place, head)?;
    store::remove(&other).map(drop)
}
