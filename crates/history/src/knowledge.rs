//! What is known of the lines that a commit brought, from the evidence about that commit.
//!
//! The evidence of a commit is in the files that the commit adds, and in the folder of late
//! evidence that is named after it. A file counts only while the tree that is asked about holds it,
//! under its name or in a compacted file of its month. So evidence that somebody took back says
//! nothing any more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ground::git::{BStr, BString, ByteSlice, GitError, ObjectId, ObjectReader};
use ground::{RelativePath, Root, store};
use ledger::evidence;
use ledger::{Entry, RecordDialect, SINGLE_LEDGER, Trust, read};

use crate::ancestors::RecentHistory;
use crate::claimed_lines::runs_about;
use crate::known_origins::KnownOrigins;
use crate::origins::FileVersion;

#[derive(Clone, Debug)]
pub enum AskedTree {
    /// The files on disk. Drafts of evidence count, too. A file that a sparse checkout leaves out
    /// counts as the index has it.
    WorkTree,
    /// The files of a tree in git, such as that of a commit.
    Tree(ObjectId),
    /// The files of the index, by their paths in the workspace.
    Index(Arc<StagedFiles>),
}

type StagedFiles = BTreeMap<RelativePath, ObjectId>;

pub struct Knowledge<'a> {
    root: &'a Root,
    /// The path of the workspace in the repository: empty, or with a trailing `/`.
    prefix: BString,
    /// The same path in the trees of the commits. It differs if a folder was moved as a whole, or if
    /// the history of another project was merged into a folder.
    prefix_then: BString,
    /// The place of the project in the workspace, with a trailing `/`. Empty for our own project.
    place: String,
    asked: AskedTree,
    /// The file that is asked about, from the top of the repository.
    pub(crate) asked_file: BString,
    known_evidence: Arc<ReadEvidence>,
    drafts: Vec<RelativePath>,
    /// The highest format among the files that were opened and that this program cannot read.
    newer_format: Option<u32>,
    /// `None` if earlier answers must not be relied on.
    known: Option<&'a KnownOrigins<'a>>,
}

#[derive(Debug, Default)]
pub struct ReadEvidence(Mutex<EvidenceByCommit>);

/// The evidence about a commit, and the highest format among it that this program cannot read.
type EvidenceOfCommit = (Arc<[Arc<Entry>]>, Option<u32>);

#[derive(Debug, Default)]
struct EvidenceByCommit {
    of_commits: HashMap<ObjectId, EvidenceOfCommit>,
    /// The evidence about one file, for commits about which nobody asked for more.
    about_one_file: HashMap<ObjectId, (RelativePath, EvidenceOfCommit)>,
    /// How many entries were added to these two.
    kept: usize,
    /// See [`Knowledge::about_missing_files`].
    about_missing_files: HashMap<ObjectId, Arc<[MissingFile]>>,
    compacted: HashMap<String, Arc<[Arc<Entry>]>>,
    /// The records of the single ledger file. `None` until they are first needed.
    single: Option<Arc<[Arc<Entry>]>>,
    /// Whether the tree that is asked about holds evidence at all.
    holds_any: Option<bool>,
    /// The files of the work tree that a sparse checkout leaves out. `None` until they are first
    /// needed.
    left_out: Option<Arc<StagedFiles>>,
    /// The commits with late evidence. `None` until they are first needed.
    late: Option<Arc<[LateCommit]>>,
    /// The evidence of projects at other places: then in the commits, and now in the workspace.
    elsewhere: HashMap<(BString, String), Arc<ReadEvidence>>,
    /// The commits that added files of late evidence. `None` for a file that is in no commit yet.
    added_in: HashMap<RelativePath, Option<ObjectId>>,
}

/// A file that a commit lacks, and an entry of the commit's evidence that names lines of it. For example, one
/// commit edited the file, the next one renamed it, and a squash made one commit of both.
type MissingFile = (RelativePath, Arc<Entry>);

/// A question about all files would keep the evidence of the whole history otherwise.
const MAX_KEPT: usize = 2048;

impl EvidenceByCommit {
    fn make_room_for(&mut self, evidence: &EvidenceOfCommit) {
        self.kept += evidence.0.len();
        if self.kept > MAX_KEPT {
            self.of_commits.clear();
            self.about_one_file.clear();
            self.about_missing_files.clear();
            self.kept = evidence.0.len();
        }
    }
}

impl ReadEvidence {
    pub fn forget(&self) {
        *self.lock() = EvidenceByCommit::default();
    }

    fn lock(&self) -> MutexGuard<'_, EvidenceByCommit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct LateCommit {
    commit: String,
    /// See [`ObjectReader::authorship`]. `None` if the repository does not have it.
    authorship: Option<String>,
    /// Whether the commit has left the history. The clone in which it was made may still have it.
    is_gone: bool,
    entries: OnceLock<Vec<Arc<Entry>>>,
}

pub(crate) type EvidenceAtPath = (RelativePath, Vec<Arc<Entry>>);

const FOLDER: &str = ".orchestration/agent_trace";

impl<'a> Knowledge<'a> {
    pub fn new(root: &'a Root, prefix: BString, asked: AskedTree) -> Self {
        Self {
            root,
            prefix_then: prefix.clone(),
            prefix,
            place: String::new(),
            asked,
            asked_file: BString::default(),
            known_evidence: Arc::default(),
            drafts: Vec::new(),
            newer_format: None,
            known: None,
        }
    }

    pub fn with_known(self, known: Option<&'a KnownOrigins<'a>>) -> Self {
        Self { known, ..self }
    }

    /// Shares what is read with other questions about the same tree.
    pub fn with_evidence(self, known_evidence: Arc<ReadEvidence>) -> Self {
        Self { known_evidence, ..self }
    }

    /// Returns the same knowledge for a text of the next commit, which adds these files of evidence.
    pub fn with_drafts(self, drafts: Vec<RelativePath>) -> Self {
        Self { drafts, ..self }
    }

    /// Returns the highest format among the files that were opened and that this program cannot
    /// read.
    pub fn newer_format(&self) -> Option<u32> {
        self.newer_format
    }

    /// Parses a file of evidence, or those of its lines that may be about one file.
    fn entries_in_file(
        &mut self,
        path: &RelativePath,
        bytes: &[u8],
        about: Option<&RelativePath>,
    ) -> Vec<Arc<Entry>> {
        let parsed = match about {
            Some(about) => read::evidence_about(path, bytes, about),
            None => read::bytes(path, bytes),
        };
        self.newer_format = self.newer_format.max(parsed.newer_format);
        parsed.entries
    }

    pub(crate) fn of_next_commit(
        &mut self,
        reader: &mut ObjectReader<'_>,
    ) -> Result<Vec<Arc<Entry>>, GitError> {
        let mut entries = Vec::new();
        for path in self.drafts.clone() {
            let bytes = self.read(reader, &path)?.unwrap_or_default();
            entries.extend(self.entries_in_file(&path, &bytes, None));
        }
        entries.retain(|entry| entry.late_commit.is_none() && entry.trust != Trust::Contradicted);
        Ok(entries)
    }

    /// Returns the evidence about a commit: one entry for each line, oldest first.
    pub fn of_commit(
        &mut self,
        reader: &mut ObjectReader<'_>,
        commit: ObjectId,
    ) -> Result<Arc<[Arc<Entry>]>, GitError> {
        if let Some((known, newer_format)) = self.known_evidence.lock().of_commits.get(&commit) {
            self.newer_format = self.newer_format.max(*newer_format);
            return Ok(Arc::clone(known));
        }
        let found = self.read_commit(reader, commit, None)?;
        self.newer_format = self.newer_format.max(found.1);
        let mut known = self.known_evidence.lock();
        known.about_one_file.remove(&commit);
        known.make_room_for(&found);
        Ok(Arc::clone(&known.of_commits.entry(commit).or_insert(found).0))
    }

    /// Returns the evidence about a file at a commit, oldest first. All evidence of the commit is
    /// parsed only if it is asked about a second file.
    pub(crate) fn of_file_at(
        &mut self,
        reader: &mut ObjectReader<'_>,
        commit: ObjectId,
        path: &RelativePath,
    ) -> Result<Vec<Arc<Entry>>, GitError> {
        let known = self.known_evidence.lock().about_one_file.get(&commit).cloned();
        let is_known = self.known_evidence.lock().of_commits.contains_key(&commit);
        let entries = match known {
            Some((about, (entries, newer_format))) if about == *path => {
                self.newer_format = self.newer_format.max(newer_format);
                entries
            }
            None if !is_known => {
                let found = self.read_commit(reader, commit, Some(path))?;
                self.newer_format = self.newer_format.max(found.1);
                let entries = Arc::clone(&found.0);
                let mut kept = self.known_evidence.lock();
                kept.make_room_for(&found);
                kept.about_one_file.insert(commit, (path.clone(), found));
                entries
            }
            _ => self.of_commit(reader, commit)?,
        };
        Ok(entries.iter().filter(|entry| is_about(entry, path)).cloned().collect())
    }

    /// Returns those entries of a commit's evidence that name lines of a file which the commit lacks.
    pub(crate) fn about_missing_files(
        &mut self,
        reader: &mut ObjectReader<'_>,
        commit: ObjectId,
    ) -> Result<Arc<[MissingFile]>, GitError> {
        let all = self.of_commit(reader, commit)?;
        let known = self.known_evidence.lock().about_missing_files.get(&commit).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let (mut missing, tree) = (Vec::new(), reader.commit(commit)?.tree);
        for entry in all.iter() {
            for file in &entry.record.files {
                let path = &file.relative_path;
                let full = joined_path(&[&self.prefix, path.as_str().as_bytes()]);
                if runs_about(entry, path).any(|runs| !runs.is_empty())
                    && reader.locate(tree, full.as_ref(), None)?.blob.is_none()
                {
                    missing.push((path.clone(), Arc::clone(entry)));
                }
            }
        }
        let missing: Arc<[MissingFile]> = missing.into();
        let mut known = self.known_evidence.lock();
        Ok(Arc::clone(known.about_missing_files.entry(commit).or_insert(missing)))
    }

    /// Reads the evidence about a commit, or the part of it that may be about one file.
    fn read_commit(
        &mut self,
        reader: &mut ObjectReader<'_>,
        commit: ObjectId,
        about: Option<&RelativePath>,
    ) -> Result<EvidenceOfCommit, GitError> {
        if !self.holds_any(reader)? {
            return Ok((Arc::default(), None));
        }
        let newer_elsewhere = self.newer_format.take();
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        for (path, blob) in self.added_by(reader, commit)? {
            if self.holds(reader, &path)? {
                let found = self.entries_in_file(&path, &reader.blob(blob)?, about).into_iter();
                entries.extend(found.filter(|entry| entry.late_commit.is_none()));
            } else {
                entries.extend(self.moved_to_compacted(reader, &path, blob)?);
            }
        }
        entries.extend(self.added_to_single_ledger(reader, commit)?);
        entries.extend(self.late_entries(reader, &commit.to_string(), about)?);
        entries.retain(|entry| entry.trust != Trust::Contradicted);
        entries.sort_by(|a, b| a.record.timestamp.cmp(&b.record.timestamp));
        if let Some(project) = self.place.strip_suffix('/') {
            for entry in &mut entries {
                let mut labelled = of_project(entry, project);
                // The origin is the place where the file of evidence lies now.
                labelled.origin.path =
                    self.at_place(entry.origin.path.as_str()).unwrap_or(labelled.origin.path);
                *entry = Arc::new(labelled);
            }
        }
        let newer_format = std::mem::replace(&mut self.newer_format, newer_elsewhere);
        Ok((entries.into(), newer_format))
    }

    /// Returns the records of changes that a commit adds to the single ledger file.
    fn added_to_single_ledger(
        &mut self,
        reader: &mut ObjectReader<'_>,
        commit: ObjectId,
    ) -> Result<Vec<Arc<Entry>>, GitError> {
        let Ok(path) = RelativePath::new(SINGLE_LEDGER) else { return Ok(Vec::new()) };
        let known = self.known_evidence.lock().single.clone();
        let all = match known {
            Some(all) => all,
            None => {
                let bytes = self.read(reader, &path)?.unwrap_or_default();
                let mut all = read::bytes(&path, &bytes).entries;
                all.retain(|entry| {
                    entry.dialect == RecordDialect::Canonical && entry.record.of.is_none()
                });
                Arc::clone(self.known_evidence.lock().single.insert(all.into()))
            }
        };
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let place = joined_path(&[&self.prefix_then, SINGLE_LEDGER.as_bytes()]);
        let node = reader.commit(commit)?;
        let Some(blob) = reader.locate(node.tree, place.as_ref(), None)?.blob else {
            return Ok(Vec::new());
        };
        let mut before: Vec<Vec<u8>> = Vec::new();
        for parent in node.parents {
            let tree = reader.commit(parent)?.tree;
            match reader.locate(tree, place.as_ref(), None)?.blob {
                Some(other) if other == blob => return Ok(Vec::new()),
                other => before.extend(other.map(|other| reader.blob(other)).transpose()?),
            }
        }
        let now = reader.blob(blob)?;
        fn lines_of(bytes: &[u8]) -> HashSet<&[u8]> {
            bytes.split(|byte| *byte == b'\n').collect()
        }
        let mut added = lines_of(&now);
        for before in &before {
            let before = lines_of(before);
            added.retain(|line| !before.contains(line));
        }
        let is_added = |entry: &&Arc<Entry>| added.contains(&*entry.stored);
        Ok(all.iter().filter(is_added).cloned().collect())
    }

    /// Returns the evidence about a file that a commit has at another place, and the path of the file
    /// in its project. The project may be ours, before its folder was moved as a whole, or another
    /// one whose history was merged into a folder of ours. `None` if there is no evidence.
    ///
    /// The place is found from the end of the path that the file has now, which must be the same.
    pub(crate) fn evidence_elsewhere(
        &mut self,
        reader: &mut ObjectReader<'_>,
        version: &FileVersion,
    ) -> Result<Option<EvidenceAtPath>, GitError> {
        let (then, now) = (version.path.clone(), self.asked_file.clone());
        let starts = then.rfind_iter(b"/").map(|at| at + 1).chain([0]).collect::<Vec<_>>();
        for start in starts.into_iter().rev() {
            let inside = &then[start..];
            let Some(at) = now.strip_suffix(inside).filter(|_| then != now) else { continue };
            let place = at.strip_prefix(self.prefix.as_slice());
            let place = place.and_then(|place| std::str::from_utf8(place).ok());
            let is_folder = |place: &&str| place.is_empty() || place.ends_with('/');
            let (Some(place), Ok(path)) =
                (place.filter(is_folder), std::str::from_utf8(inside).map(RelativePath::new))
            else {
                continue;
            };
            let Ok(path) = path else { continue };
            let (prefix_then, place) = (BString::from(&then[..start]), place.to_owned());
            let key = (prefix_then.clone(), place.clone());
            let known = Arc::clone(self.known_evidence.lock().elsewhere.entry(key).or_default());
            let own = Self::new(self.root, self.prefix.clone(), self.asked.clone());
            let mut other = Self { prefix_then, place, ..own }.with_evidence(known);
            let about = other.of_file_at(reader, version.commit, &path)?;
            if !about.is_empty() {
                return Ok(Some((path, about)));
            }
        }
        Ok(None)
    }

    fn at_place(&self, path: &str) -> Option<RelativePath> {
        RelativePath::new(&format!("{}{path}", self.place)).ok()
    }

    /// Returns the late evidence about a file at commits that a commit may have replaced, as a rebase
    /// or a squash does. It counts for the same runs of lines that the commit brought.
    ///
    /// A commit that has the author, the time and the message of the other one is a copy of it. If the
    /// other one has left the history, the commit that added the evidence may have replaced it, too. For
    /// example, somebody squashes a branch with an agent's commit and with the evidence about it: the
    /// squash brings both. What others committed before or on top of it replaced nothing, even if one of
    /// its lines is equal. A shallow clone may only lack a commit, so there nothing is known.
    pub(crate) fn of_replaced_commits(
        &mut self,
        reader: &mut ObjectReader<'_>,
        by: ObjectId,
        path: &RelativePath,
    ) -> Result<Vec<Arc<Entry>>, GitError> {
        let known = self.known_evidence.lock().late.clone();
        let late = match known {
            Some(known) => known,
            None => {
                let found = self.late_commits(reader)?.into();
                Arc::clone(self.known_evidence.lock().late.insert(found))
            }
        };
        let mut found = Vec::new();
        if late.is_empty() {
            return Ok(found);
        }
        let (id, authorship) = (by.to_string(), reader.authorship(by)?);
        for one in late.iter().filter(|one| one.commit != id) {
            if !one.is_gone && one.authorship.as_ref() != Some(&authorship) {
                continue;
            }
            let known = match one.entries.get() {
                Some(known) => known,
                None => {
                    let read = self.late_entries(reader, &one.commit, None)?;
                    one.entries.get_or_init(|| read)
                }
            };
            let is_its =
                |entry: &&Arc<Entry>| is_about(entry, path) && entry.trust != Trust::Contradicted;
            for entry in known.iter().filter(is_its) {
                let authored = one.authorship.as_ref().or(entry.authored.as_ref());
                if authored == Some(&authorship)
                    || self.has_added(reader, by, &entry.origin.path)?
                {
                    found.push(Arc::clone(entry));
                }
            }
        }
        Ok(found)
    }

    /// Returns true if this commit added a file of evidence.
    fn has_added(
        &self,
        reader: &mut ObjectReader<'_>,
        commit: ObjectId,
        file: &RelativePath,
    ) -> Result<bool, GitError> {
        let known = self.known_evidence.lock().added_in.get(file).copied();
        let added_in = match known {
            Some(known) => known,
            None => {
                let found = self.commit_that_added(reader, file)?;
                *self.known_evidence.lock().added_in.entry(file.clone()).or_insert(found)
            }
        };
        Ok(added_in == Some(commit))
    }

    /// Returns the commit that added a file which is still there. `None` if no commit has it.
    fn commit_that_added(
        &self,
        reader: &mut ObjectReader<'_>,
        file: &RelativePath,
    ) -> Result<Option<ObjectId>, GitError> {
        let (mut added_in, mut next) = (None, reader.tip());
        while let Some(commit) = next.take() {
            let node = reader.commit(commit)?;
            if self.locate(reader, node.tree, file)?.is_none() {
                break;
            }
            added_in = Some(commit);
            for parent in node.parents {
                let tree = reader.commit(parent)?.tree;
                if self.locate(reader, tree, file)?.is_some() {
                    next = Some(parent);
                    break;
                }
            }
        }
        Ok(added_in)
    }

    /// Returns the late evidence about a commit. A section that names another commit, or none, lies
    /// in the wrong folder and does not count.
    fn late_entries(
        &mut self,
        reader: &mut ObjectReader<'_>,
        commit: &str,
        about: Option<&RelativePath>,
    ) -> Result<Vec<Arc<Entry>>, GitError> {
        let mut entries = Vec::new();
        for path in self.list(reader, &evidence::late_folder(commit))? {
            let bytes = self.read(reader, &path)?.unwrap_or_default();
            let is_it = |entry: &Arc<Entry>| entry.late_commit.as_deref() == Some(commit);
            entries.extend(self.entries_in_file(&path, &bytes, about).into_iter().filter(is_it));
        }
        Ok(entries)
    }

    /// Returns the commits with late evidence. None in a shallow clone.
    fn late_commits(&self, reader: &mut ObjectReader<'_>) -> Result<Vec<LateCommit>, GitError> {
        let ids = if reader.is_shallow() { Vec::new() } else { self.ids_of_late(reader)? };
        let id_of = |commit: &String| ObjectId::from_hex(commit.as_bytes()).ok();
        let present = reader.present_objects(ids.iter().filter_map(id_of));
        let mut late = Vec::new();
        for commit in ids {
            let id = id_of(&commit).filter(|id| present.contains(id));
            let authorship = id.and_then(|id| reader.authorship(id).ok());
            let here = match id.filter(|_| authorship.is_some()) {
                Some(id) => Some((id, reader.commit(id)?.time)),
                None => None,
            };
            late.push((commit, authorship, here));
        }
        let oldest = late.iter().filter_map(|(_, _, here)| Some(here.as_ref()?.1)).min();
        let recent = RecentHistory::walked_to(reader, oldest)?;
        let late = late.into_iter().map(|(commit, authorship, here)| {
            let is_gone = here.is_none_or(|(id, time)| recent.lacks(id, time));
            LateCommit { commit, authorship, is_gone, entries: OnceLock::new() }
        });
        Ok(late.collect())
    }

    fn ids_of_late(&self, reader: &mut ObjectReader<'_>) -> Result<Vec<String>, GitError> {
        let folder = evidence::late_folder("");
        let staged = |files: &StagedFiles| -> Vec<String> {
            let below = files.keys().filter_map(|path| path.as_str().strip_prefix(&folder));
            below.filter_map(|rest| Some(rest.split('/').nth(1)?.to_owned())).collect()
        };
        let commits: Vec<String> = match &self.asked {
            AskedTree::WorkTree => {
                let Ok(path) = RelativePath::new(&folder) else { return Ok(Vec::new()) };
                let entries = store::entries(&self.root.absolute(&path));
                let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
                names.chain(staged(&*self.left_out(reader)?)).collect()
            }
            AskedTree::Tree(tree) => {
                let place = joined_path(&[&self.prefix, folder.as_bytes()]);
                let folder = reader.folder(*tree, place.as_ref())?;
                let names = folder.map(|folder| reader.folders_in(folder)).transpose()?;
                let names = names.unwrap_or_default().into_iter();
                names.filter_map(|name| String::from_utf8(name.into()).ok()).collect()
            }
            AskedTree::Index(files) => staged(files),
        };
        Ok(ledger::sorted(commits))
    }

    /// Returns the files of evidence that a commit has and none of its parents.
    fn added_by(
        &self,
        reader: &mut ObjectReader<'_>,
        commit: ObjectId,
    ) -> Result<Vec<(RelativePath, ObjectId)>, GitError> {
        let place = joined_path(&[&self.prefix_then, FOLDER.as_bytes()]);
        let added = match self.known.and_then(|known| known.added_files(&place, commit)) {
            Some(added) => added,
            None => {
                let added = reader.added_to_folder(commit, place.as_ref())?;
                if let Some(known) = self.known {
                    known.keep_added_files(&place, commit, &added);
                }
                added
            }
        };
        let paths = added.into_iter().filter_map(|(path, blob)| {
            let path = RelativePath::new(&format!("{FOLDER}/{path}")).ok()?;
            evidence::month_of(&path)?;
            evidence::digest_of_path(&path).map(|_| (path, blob))
        });
        Ok(paths.collect())
    }

    /// Returns the sections of a file that are now in a compacted file of its month.
    fn moved_to_compacted(
        &mut self,
        reader: &mut ObjectReader<'_>,
        path: &RelativePath,
        blob: ObjectId,
    ) -> Result<Vec<Arc<Entry>>, GitError> {
        let Some(month) = evidence::month_of(path).map(str::to_owned) else {
            return Ok(Vec::new());
        };
        let known = self.known_evidence.lock().compacted.get(&month).cloned();
        let all = match known {
            Some(known) => known,
            None => {
                let mut all = Vec::new();
                for path in self.list(reader, &format!("{FOLDER}/{month}"))? {
                    if evidence::is_compacted(&path) {
                        let bytes = self.read(reader, &path)?.unwrap_or_default();
                        all.extend(self.entries_in_file(&path, &bytes, None));
                    }
                }
                let mut known = self.known_evidence.lock();
                Arc::clone(known.compacted.entry(month).insert_entry(all.into()).get())
            }
        };
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let sections = read::bytes(path, &reader.blob(blob)?).sections;
        let is_here = |entry: &&Arc<Entry>| {
            entry.late_commit.is_none()
                && entry.section.is_some_and(|section| sections.contains(&section))
        };
        Ok(all.iter().filter(is_here).cloned().collect())
    }

    /// Returns the evidence that a sparse checkout leaves out of the work tree.
    fn left_out(&self, reader: &ObjectReader<'_>) -> Result<Arc<StagedFiles>, GitError> {
        let known = self.known_evidence.lock().left_out.clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = reader.left_out_of_work_tree(&|path| path.as_str().contains(FOLDER))?;
        let found = Arc::new(StagedFiles::from_iter(found));
        self.known_evidence.lock().left_out = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Returns true if the tree that is asked about may hold evidence. Otherwise no commit is looked up.
    fn holds_any(&self, reader: &mut ObjectReader<'_>) -> Result<bool, GitError> {
        let known = self.known_evidence.lock().holds_any;
        if let Some(known) = known {
            return Ok(known);
        }
        let mut found = false;
        for place in [FOLDER, SINGLE_LEDGER] {
            let Some(path) = self.at_place(place) else { continue };
            found |= match &self.asked {
                AskedTree::WorkTree => {
                    let is_there = self.root.absolute(&path).symlink_metadata().is_ok();
                    is_there || !self.left_out(reader)?.is_empty()
                }
                AskedTree::Tree(tree) => {
                    let full = joined_path(&[&self.prefix, path.as_str().as_bytes()]);
                    reader.folder(*tree, full.as_ref())?.is_some()
                        || self.locate(reader, *tree, &path)?.is_some()
                }
                AskedTree::Index(files) => !files.is_empty(),
            };
        }
        self.known_evidence.lock().holds_any = Some(found);
        Ok(found)
    }

    fn holds(&self, reader: &mut ObjectReader<'_>, path: &RelativePath) -> Result<bool, GitError> {
        let Some(path) = &self.at_place(path.as_str()) else { return Ok(false) };
        Ok(match &self.asked {
            AskedTree::WorkTree => match self.root.absolute(path).symlink_metadata() {
                Ok(meta) => meta.is_file(),
                Err(_) => self.left_out(reader)?.contains_key(path),
            },
            AskedTree::Tree(tree) => self.locate(reader, *tree, path)?.is_some(),
            AskedTree::Index(files) => files.contains_key(path),
        })
    }

    fn locate(
        &self,
        reader: &mut ObjectReader<'_>,
        tree: ObjectId,
        path: &RelativePath,
    ) -> Result<Option<ObjectId>, GitError> {
        let path = joined_path(&[&self.prefix, path.as_str().as_bytes()]);
        Ok(reader.locate(tree, path.as_ref(), None)?.blob)
    }

    fn read(
        &self,
        reader: &mut ObjectReader<'_>,
        path: &RelativePath,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let Some(path) = &self.at_place(path.as_str()) else { return Ok(None) };
        let blob = match &self.asked {
            AskedTree::WorkTree => match self.root.read_rules(path, store::MAX_CONTENT) {
                Ok(None) => self.left_out(reader)?.get(path).copied(),
                read => return Ok(read.ok().flatten()),
            },
            AskedTree::Tree(tree) => self.locate(reader, *tree, path)?,
            AskedTree::Index(files) => files.get(path).copied(),
        };
        blob.map(|blob| reader.blob(blob)).transpose()
    }

    fn list(
        &self,
        reader: &mut ObjectReader<'_>,
        folder: &str,
    ) -> Result<Vec<RelativePath>, GitError> {
        let below = |name: &str| RelativePath::new(&format!("{folder}/{name}")).ok();
        Ok(match &self.asked {
            AskedTree::WorkTree => {
                let Some(path) = self.at_place(folder) else { return Ok(Vec::new()) };
                let entries = store::entries(&self.root.absolute(&path));
                let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
                let files = names.filter_map(|name| below(&name));
                let left_out = self.left_out(reader)?;
                let names = left_out.keys().filter_map(|file| {
                    let rest = file.as_str().strip_prefix(path.as_str())?.strip_prefix('/')?;
                    below(rest).filter(|_| !rest.contains('/'))
                });
                ledger::sorted(files.chain(names))
            }
            AskedTree::Tree(tree) => {
                let parts = [&*self.prefix, self.place.as_bytes(), folder.as_bytes()];
                let folder = reader.folder(*tree, joined_path(&parts).as_ref())?;
                let files = folder.map(|folder| reader.files_in(folder)).transpose()?;
                let files = files.unwrap_or_default().into_iter();
                files.filter_map(|(name, _)| below(std::str::from_utf8(&name).ok()?)).collect()
            }
            // Of the index, only the evidence of our own project is known.
            AskedTree::Index(_) if !self.place.is_empty() => Vec::new(),
            AskedTree::Index(files) => {
                let Some(start) = below(" ") else { return Ok(Vec::new()) };
                let is_in = |path: &&RelativePath| {
                    path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
                };
                files.range(start..).map(|(path, _)| path).take_while(is_in).cloned().collect()
            }
        })
    }
}

pub(crate) fn joined_path(parts: &[&[u8]]) -> BString {
    parts.concat().into()
}

/// Returns an entry of another project: its intents are named with the project, in a form that no
/// registry has, so that none is taken for one of ours.
pub fn of_project(entry: &Entry, project: &str) -> Entry {
    let label = |id: &mut String| *id = format!("{id} ({project})");
    let mut entry = entry.clone();
    entry.record.intent_id.as_mut().map(label);
    entry.record.takes.as_mut().map(label);
    let conversations = entry.record.files.iter_mut().flat_map(|file| &mut file.conversations);
    let related = conversations.flat_map(|one| &mut one.related);
    let intents = related.filter(|related| related.kind == "intent");
    intents.for_each(|related| label(&mut related.value));
    entry
}

fn is_about(entry: &Entry, path: &RelativePath) -> bool {
    entry.record.files.iter().any(|file| file.relative_path == *path)
}

/// Returns the path in the workspace of a version of a file. `None` if it was outside of it.
pub(crate) fn path_of_version(version: &FileVersion, prefix: &BStr) -> Option<RelativePath> {
    let path = version.path.strip_prefix(prefix.as_ref() as &[u8])?;
    RelativePath::new(std::str::from_utf8(path).ok()?).ok()
}
