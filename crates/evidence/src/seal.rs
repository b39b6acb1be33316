//! `intent evidence seal`: makes evidence for a commit from those records of the journal whose lines the
//! commit brings.
//!
//! The lines that a commit brings to a file are those that the walk through history gives to it. Each
//! of them belongs to the record whose kept text has it ([`history::attribute`]). So ten edits of one
//! function become one entry, an edit that was undone leaves nothing, and a line without a record
//! gets no evidence. If several intents wrote one block, each gets its own lines.
//!
//! - `carried` finds late evidence that only another branch carries.
//! - `draft` groups lines and writes the files of evidence.
//! - `late` finds earlier commits that were made without our hook.
//! - `open` counts the records that are in no commit.
//! - `settle` moves records out of the journal once a commit has their evidence, and back if the
//!   commit leaves the history.
//! - `thrown_away` removes the records whose change no commit will have.

mod carried;
mod draft;
mod late;
mod open;
mod settle;
mod thrown_away;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::comparison::{digests, is_evidence, still_named};
use code::Document;
use code::saying_lines::says_something;
use ground::git::{BString, ChangeKind, ChangedBlob, ObjectId, PathChange, Target};
use ground::{CommitId, Finding, Git, RelativePath, clock, store};
use history::runs_about;
use history::{
    JournalTexts, LineText, RecordedText, Walk, attribute, language_of, new_lines, recorded_texts,
};
use ledger::journal::{self, DraftNote, Note};
use ledger::{Digest, Entry, LineRuns, RecordKind, Trust};
use why::baseline::commits_of_work;
use why::{VerbError, Workspace};

pub use open::{
    OpenRecords, and_commit, commits_without_evidence, drafts, is_code_committed, nothing_sealed,
    open, open_note, unstaged_note,
};
pub use settle::{retire, retire_daily};

use draft::{Draft, LaterEdits, TextsOfCommit};

/// What was sealed, or would be sealed in a dry run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SealAnswer {
    /// The files of evidence that were written and have to be committed.
    pub written: Vec<RelativePath>,
    /// Drafts that were removed, since the new files replace them. A draft is a file of evidence
    /// that was sealed here and that no commit of the history has.
    pub removed: Vec<RelativePath>,
    /// The content of the files, one item for each intent, session and file.
    pub sealed: Vec<SealedFile>,
    /// The number of records that were sealed.
    pub records: usize,
    /// The number of records that are in no commit because their code is not in the index. Not
    /// counted when a git hook calls.
    pub waiting: usize,
    /// The files with the code of these records.
    pub unstaged: Vec<RelativePath>,
}

/// What one session did to one file, as the evidence states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SealedFile {
    /// The changed file, relative to the workspace.
    pub path: RelativePath,
    /// The commit that the evidence is about, if it is sealed late.
    pub commit: Option<String>,
    /// The id of the intent.
    pub intent: Option<String>,
    /// The session that wrote the lines, as `host:id`.
    pub session: Option<String>,
    /// The model that wrote the code.
    pub model: Option<String>,
    /// The names of the blocks, with containers.
    pub blocks: Vec<String>,
    /// How many lines were brought.
    pub lines: usize,
}

/// Who asks for a seal. A hook of git must be quick, and its person reads little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealCaller {
    Person,
    Hook,
}

/// Seals records and writes the evidence into the work tree: for the commit that is being made from
/// the index, and for earlier commits that were made without our hook.
pub fn seal(ws: &Workspace, caller: SealCaller) -> Result<SealAnswer, VerbError> {
    run(ws, caller, true)
}

pub fn would_seal(ws: &Workspace) -> Result<SealAnswer, VerbError> {
    run(ws, SealCaller::Person, false)
}

/// Moves records out of the journal whose evidence is in `HEAD` now, and back in if their commit has
/// left the history. Removes those that were thrown away. A hook calls this after each commit. Returns
/// a finding for each commit that broke runs of its evidence, as an amend does that adds a line
/// between recorded ones.
pub fn after_commit(ws: &Workspace) -> Result<Vec<Finding>, VerbError> {
    let Some(git) = ws.git().filter(|_| ws.root.governed()) else { return Ok(Vec::new()) };
    let has_broken_runs = settle::settle_and_reopen(ws, git, &[])?;
    let ws = &ws.clone().with_records_of_now();
    thrown_away::retire_thrown_away(ws, git)?;
    settle::settle_selections(ws)?;
    match has_broken_runs {
        true => commits_without_evidence(&ws.clone().with_records_of_now()),
        false => Ok(Vec::new()),
    }
}

/// Returns true if git ignores evidence here, so that no commit ever carries it.
pub(crate) fn is_ignored(ws: &Workspace) -> bool {
    ws.ignores.git_ignored(&draft::folder())
}

fn is_carried(entry: &Entry) -> bool {
    matches!(entry.record.kind, RecordKind::Approval | RecordKind::Registry | RecordKind::Test)
        && is_open(entry)
}

/// Returns true if a record is in the journal, and no chain contradicts it.
fn is_open(entry: &Entry) -> bool {
    journal::is_open(&entry.origin.path) && entry.trust != Trust::Contradicted
}

fn is_acceptance(entry: &Entry) -> bool {
    entry.record.kind == RecordKind::Ack && entry.record.of.is_none() && is_open(entry)
}

fn has_blocks_of(document: &Document, entry: &Entry) -> bool {
    let mut ranges = entry.record.files.iter().flat_map(|file| file.ranges());
    let blocks = document.blocks();
    ranges.all(|range| blocks.blocks.iter().any(|block| range.has_text_of(block)))
}

/// Returns true if a record is about a change of files that is, or will be, in the next commit.
fn is_work(entry: &Entry) -> bool {
    entry.record.kind == RecordKind::Mutation && entry.record.of.is_none() && is_open(entry)
}

fn run(ws: &Workspace, caller: SealCaller, write: bool) -> Result<SealAnswer, VerbError> {
    ws.governed()?;
    ws.readable_git()?;
    let Some(git) = ws.git().filter(|_| !is_ignored(ws)) else { return Ok(SealAnswer::default()) };
    let mut taken_away = TakenAway::find(ws)?;
    let (mut staged, mut restored) = (std::mem::take(&mut taken_away.added), Vec::new());
    if write {
        restored = taken_away.write_back(ws)?;
        settle::settle_and_reopen(ws, git, &staged)?;
        settle::redraft_lost(ws, git)?;
        staged.clear();
    }
    let ws = &ws.clone().with_records_of_next_commit(staged);
    let mut now = of_index(ws, git)?;
    add_acceptances(ws, git, &mut now)?;
    now.carry(ws);
    let mut drafts = vec![now];
    drafts.extend(late::drafts_of_earlier_commits(ws, git, &drafts)?);
    drafts.retain(|draft| !draft.is_empty());
    let carried = carried::files_of_other_branches(ws, git)?;
    let all: BTreeSet<&String> = drafts.iter().flat_map(|draft| &draft.records).collect();
    let mut answer = SealAnswer {
        records: all.len(),
        sealed: drafts
            .iter()
            .flat_map(Draft::brief)
            .chain(carried.iter().flat_map(|(file, bytes)| carried::stated(file, bytes)))
            .collect(),
        written: restored,
        ..SealAnswer::default()
    };
    if caller == SealCaller::Person {
        (answer.waiting, answer.unstaged) = open::waiting(ws, &all);
    }
    if !write {
        return Ok(answer);
    }
    let with_more_lines = records_with_more_lines(ws, git, &all)?;
    let is_settled = |id: &&String| {
        let has_line = drafts.iter().any(|draft| draft.with_lines.contains(*id));
        !with_more_lines.contains(*id) && (has_line || !brought_lines(ws, id))
    };
    let mut overwritten = records_overwritten_by(ws, &all);
    let entries = overwritten.iter().filter_map(|(id, _)| ws.journal.by_id(id));
    let entries: Vec<&Arc<Entry>> = entries.collect();
    // If another branch still has the lines, the later change was not made on them.
    let gone = thrown_away::thrown_away(ws, git, &entries, thrown_away::Age::Old)?;
    overwritten.retain(|(id, _)| gone.contains(&**id) && !with_more_lines.contains(id));
    let mut notes = Vec::new();
    let files = drafts
        .iter()
        .flat_map(|draft| draft.files(ws).into_iter().map(move |bytes| (draft, bytes)));
    let mut new: Vec<(RelativePath, Vec<u8>)> = Vec::new();
    for (draft, bytes) in files {
        journal::note_made(&ws.root, Digest::compute(&bytes))?;
        let file = draft::file_for(&bytes, draft.of.as_ref());
        let settled = draft.records.iter().filter(is_settled);
        let also = overwritten.iter().filter(|(_, by)| draft.records.contains(by));
        let records = settled.chain(also.map(|(id, _)| id)).cloned().collect();
        notes.push(DraftNote { file: file.clone(), records });
        new.push((file, bytes));
    }
    for (file, bytes) in carried {
        notes.push(DraftNote { file: file.clone(), records: Vec::new() });
        new.push((file, bytes));
    }
    // All notes are written before the files. If this fails in between, the next seal removes the files
    // that are there, and a note about evidence that does not exist does no harm.
    let mut former = DraftNote::read_all(&ws.root);
    former.retain(|note| !notes.iter().any(|new| new.file == note.file));
    let noted = [&notes[..], &former].concat();
    DraftNote::write_all(&ws.root, &noted)?;
    for (file, bytes) in new {
        store::write_atomic(&ws.root.absolute(&file), &bytes)?;
        answer.written.push(file);
    }
    for note in former {
        if answer.written.contains(&note.file) {
            notes.push(note);
        } else {
            store::remove(&ws.root.absolute(&note.file))?;
            answer.removed.push(note.file);
        }
    }
    if notes != noted {
        DraftNote::write_all(&ws.root, &notes)?;
    }
    answer.written.extend(taken_away.replaced_by(ws));
    Ok(answer)
}

struct LinesByEntry {
    text: LineText,
    /// The records about the file, newest first.
    entries: Vec<Arc<Entry>>,
    owners: Vec<Option<usize>>,
    /// The text of the file right after its newest record. `None` if the committed text is the same, or
    /// if the text was not kept.
    left: Option<Arc<LineText>>,
}

impl LinesByEntry {
    /// Attributes the lines of a text for which `is_new` has true.
    fn attributed(
        ws: &Workspace,
        path: &RelativePath,
        from: Option<&RelativePath>,
        text: LineText,
        is_new: &[bool],
    ) -> Self {
        let mut records = recorded_texts(&ws.root, &ws.journal, path, is_work);
        if let Some(from) = from {
            records.extend(recorded_texts(&ws.root, &ws.journal, from, is_work));
        }
        let (entries, texts): (Vec<Arc<Entry>>, Vec<RecordedText>) = records.into_iter().unzip();
        let on_disk = ws.bytes_as_stored(path).map(LineText::new);
        let owners = attribute(path.as_str(), (&text, on_disk.as_ref()), is_new, &texts);
        let left = text_left(&texts, &text);
        Self { text, entries, owners, left }
    }

    /// Adds the records that brought lines to another place, from which they were moved.
    fn with_moved(
        mut self,
        texts: &mut JournalTexts<'_, '_>,
        path: &RelativePath,
        (is_new, lines): (bool, &[bool]),
    ) -> Result<Self, VerbError> {
        let is_open = |line: usize| lines[line] && self.owners[line].is_none();
        let open: Vec<bool> = (0..lines.len()).map(is_open).collect();
        let moved = texts.records_of_moved_lines(path, (&self.text, is_new), &open)?;
        for (line, record) in moved.into_iter().enumerate() {
            let Some((entry, _)) = record else { continue };
            self.owners[line] = Some(index_among(&mut self.entries, entry));
        }
        Ok(self)
    }

    fn owner_ids(&self) -> BTreeSet<String> {
        let owners = self.owners.iter().flatten();
        owners.map(|at| self.entries[*at].record.id.clone()).collect()
    }

    fn later_edits(&self, ws: &Workspace, path: &RelativePath, is_new: &[bool]) -> LaterEdits {
        let is_unrecorded = |line: &usize| is_new[*line] && self.owners[*line].is_none();
        let lines = (0..self.owners.len()).filter(is_unrecorded);
        let left = self.left.as_ref().and_then(|left| ws.document(path, left.as_bytes()).ok());
        LaterEdits {
            unrecorded: lines.filter_map(|line| u32::try_from(line + 1).ok()).collect(),
            left,
        }
    }

    /// Divides the records into groups that share a line of evidence, each with its lines. A record
    /// of which nothing is left, since its change was undone or is elsewhere, is in no group.
    fn groups(
        &self,
        ws: &Workspace,
        path: &RelativePath,
        texts: TextsOfCommit<'_>,
    ) -> Vec<(Vec<&Entry>, LineRuns)> {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate().rev() {
            let has_line = self.owners.contains(&Some(at));
            if !has_line && !draft::left_a_block(ws, entry, path, texts) {
                continue;
            }
            let key = draft::group_key(entry);
            match groups.iter_mut().find(|(other, _)| *other == key) {
                Some((_, members)) => members.push(at),
                None => groups.push((key, vec![at])),
            }
        }
        let groups = groups.into_iter().map(|(_, members)| {
            let is_its = |line: usize| self.owners[line].is_some_and(|at| members.contains(&at));
            let lines = LineRuns::of_chosen(&self.text, is_its);
            (members.iter().map(|at| &*self.entries[*at]).collect(), lines)
        });
        groups.collect()
    }
}

/// Returns the text of a file right after the newest of some records of the journal; see
/// [`LinesByEntry::left`].
fn text_left_by(
    ws: &Workspace,
    path: &RelativePath,
    text: &LineText,
    is_wanted: impl Fn(&Entry) -> bool,
) -> Option<Arc<LineText>> {
    let records = recorded_texts(&ws.root, &ws.journal, path, is_wanted);
    let texts: Vec<RecordedText> = records.into_iter().map(|(_, text)| text).collect();
    text_left(&texts, text)
}

fn text_left(records: &[RecordedText], text: &LineText) -> Option<Arc<LineText>> {
    let is_recorded = records.iter().any(|record| *record.text == *text);
    let last = records.first().filter(|last| !is_recorded && last.unkept.is_empty());
    last.map(|last| Arc::clone(&last.text))
}

fn index_among(entries: &mut Vec<Arc<Entry>>, entry: Arc<Entry>) -> usize {
    let known = entries.iter().position(|other| other.record.id == entry.record.id);
    known.unwrap_or_else(|| {
        entries.push(entry);
        entries.len() - 1
    })
}

/// If the changed files of the languages that were recorded have more bytes than this, recorded code
/// is not looked for in the rest of those that no record names.
const MAX_SEARCHED: usize = 4 * 1024 * 1024;
/// If open records are about more files of a language than this, moved code is not looked for.
const MAX_RECORDED: usize = 512;

fn of_index(ws: &Workspace, git: &Git) -> Result<Draft, VerbError> {
    let mut draft = Draft::default();
    let open: Vec<&Arc<Entry>> =
        ws.journal.entries().iter().filter(|entry| is_work(entry)).collect();
    let recorded: HashSet<&RelativePath> =
        open.iter().flat_map(|entry| entry.record.paths()).collect();
    if recorded.is_empty() {
        return Ok(draft);
    }
    let parents = commits_of_work(ws)?;
    let changes = git.changes(parents.first(), &Target::Index)?;
    // Somebody may have moved recorded code to a file that no record is about, but only to one of the
    // same language.
    let languages: HashSet<_> =
        recorded.iter().filter_map(|path| language_of(path.as_str())).collect();
    let is_wanted = |change: &&PathChange| {
        let may_have_moved = |language| languages.contains(language);
        recorded.contains(&change.path)
            || !change.path.is_orchestration()
                && language_of(change.path.as_str()).is_some_and(may_have_moved)
    };
    let wanted: Vec<&PathChange> = changes.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Ok(draft);
    }
    let changed = changed_blobs(git, parents.first(), &changes)?;
    let ids: Vec<ObjectId> =
        parents.iter().map(|commit| git.object_id(commit)).collect::<Result<_, _>>()?;
    let (mut reader, mut left) = (git.object_reader()?, MAX_SEARCHED);
    let mut texts = JournalTexts {
        root: &ws.root,
        reader: &mut reader,
        journal: &ws.journal,
        is_wanted: &is_work,
        present: &|_, other| git.file_in_index(other).ok()?,
        max_files: MAX_RECORDED,
        known: HashMap::new(),
    };
    for change in wanted {
        let path = &change.path;
        let bytes = match change.kind {
            ChangeKind::Deleted => Vec::new(),
            _ => git.file_in_index(path)?.unwrap_or_default(),
        };
        if !recorded.contains(path) {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                continue;
            }
        }
        let full = git.path_in_repository(path.as_str());
        let walk = Walk::new(texts.reader);
        let new = walk.new_lines_of_text(&ids, &full, bytes.clone(), changed.clone())?;
        let text = LineText::new(bytes.clone());
        let mut is_new = vec![false; text.len()];
        new.into_iter().for_each(|line| is_new[line] = true);
        let from = open.iter().rev().find_map(|entry| {
            let mut files = entry.record.files.iter();
            files.find(|file| file.relative_path == *path)?.from.clone()
        });
        let brought = LinesByEntry::attributed(ws, path, from.as_ref(), text, &is_new).with_moved(
            &mut texts,
            path,
            (change.kind == ChangeKind::Added, &is_new),
        )?;
        let gone = deletions_of(ws, path).filter(|_| change.kind == ChangeKind::Deleted);
        if brought.entries.is_empty() && gone.is_none() {
            continue;
        }
        let now = document_of(ws, path, &bytes);
        let before = before_of(ws, parents.first(), from.as_ref().unwrap_or(path))?;
        let (versions, later) = ((before.as_ref(), &now), brought.later_edits(ws, path, &is_new));
        draft.with_lines.extend(brought.owner_ids());
        for (entries, lines) in brought.groups(ws, path, versions) {
            draft.add_lines(ws, path, &entries, versions, lines, &later);
        }
        for entries in gone.into_iter().flatten() {
            let (lines, later) = (LineRuns::default(), LaterEdits::default());
            draft.add_lines(ws, path, &entries, versions, lines, &later);
        }
    }
    Ok(draft)
}

fn add_acceptances(ws: &Workspace, git: &Git, draft: &mut Draft) -> Result<(), VerbError> {
    for entry in ws.journal.entries().iter().filter(|entry| is_acceptance(entry)) {
        let Some(path) = entry.record.paths().next() else { continue };
        let staged = git.file_in_index(path)?;
        let committed = ws.head().map(|head| git.file_at(head, path)).transpose()?.flatten();
        let is_in = |bytes: Vec<u8>| {
            ws.document(path, &bytes).is_ok_and(|document| has_blocks_of(&document, entry))
        };
        if staged != committed && staged.is_some_and(is_in) {
            draft.add_record(entry);
        }
    }
    Ok(())
}

/// Returns the records of which nothing is left because later changes overwrote them, each with the
/// record of the last of these changes. They need not stay once that one is committed.
///
/// A record whose change was undone, for example by `git stash`, is not among them: the change after
/// it was not made on its text.
fn records_overwritten_by(ws: &Workspace, sealed: &BTreeSet<&String>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in sealed_paths(ws, sealed) {
        let records = recorded_texts(&ws.root, &ws.journal, path, is_work);
        let mut records =
            records.iter().skip_while(|(entry, _)| !sealed.contains(&entry.record.id));
        let Some((last, left)) = records.next() else { continue };
        let mut later = left;
        for (entry, earlier) in records {
            // Without the texts nobody can tell what is left.
            if !later.unkept.is_empty() || !earlier.unkept.is_empty() {
                break;
            }
            let is_new = new_lines(&[&earlier.text], &later.text);
            let is_its = |line: usize| later.brought.binary_search(&line).is_ok();
            if is_new.iter().enumerate().any(|(line, new)| *new && !is_its(line)) {
                break;
            }
            let is_gone = new_lines(&[&left.text], &earlier.text);
            let says = |line: &&usize| {
                says_something(earlier.text.line(**line), language_of(path.as_str()))
            };
            if entry.record.files.len() == 1
                && !sealed.contains(&entry.record.id)
                && earlier.brought.iter().filter(says).all(|line| is_gone[*line])
            {
                found.push((entry.record.id.clone(), last.record.id.clone()));
            }
            later = earlier;
        }
    }
    found
}

fn sealed_paths<'a>(ws: &'a Workspace, sealed: &BTreeSet<&String>) -> BTreeSet<&'a RelativePath> {
    let is_sealed = |entry: &&Arc<Entry>| is_work(entry) && sealed.contains(&entry.record.id);
    let entries = ws.journal.entries().iter().filter(is_sealed);
    entries.flat_map(|entry| entry.record.paths()).collect()
}

/// Returns the records that deleted a file, by group. No text is kept for them. `None` if there are
/// none.
fn deletions_of<'a>(ws: &'a Workspace, path: &RelativePath) -> Option<Vec<Vec<&'a Entry>>> {
    let mut groups: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in ws.journal.of_path(path).filter(|entry| is_work(entry)) {
        let mut files = entry.record.files.iter().filter(|file| file.relative_path == *path);
        if files.any(|file| file.text.is_none() && file.ranges().any(|range| range.deleted)) {
            groups.entry(draft::group_key(entry)).or_default().push(entry);
        }
    }
    (!groups.is_empty()).then(|| groups.into_values().collect())
}

fn before_of(
    ws: &Workspace,
    parent: Option<&CommitId>,
    path: &RelativePath,
) -> Result<Option<Document>, VerbError> {
    let Some(parent) = parent else { return Ok(None) };
    Ok(ws.read_at(parent, path)?)
}

/// Returns a version of a file with its blocks. If it is too large or holds a NUL byte, it has none, and
/// evidence names only its lines.
fn document_of(ws: &Workspace, path: &RelativePath, bytes: &[u8]) -> Document {
    ws.document(path, bytes).unwrap_or_else(|_| Document::from_text("", ""))
}

fn changed_blobs(
    git: &Git,
    parent: Option<&CommitId>,
    changes: &[PathChange],
) -> Result<Vec<ChangedBlob>, VerbError> {
    let Some(parent) = parent else { return Ok(Vec::new()) };
    let paths: HashSet<&RelativePath> = changes.iter().map(|change| &change.path).collect();
    let staged: BTreeMap<RelativePath, ObjectId> =
        git.list_below("", &Target::Index, &|path| paths.contains(path))?.into_iter().collect();
    let mut reader = git.object_reader()?;
    let tree = reader.commit(git.object_id(parent)?)?.tree;
    let mut changed = Vec::new();
    for change in changes.iter().filter(|change| !change.path.is_orchestration()) {
        let path: BString = git.path_in_repository(change.path.as_str());
        let before = reader.locate(tree, path.as_ref(), None)?.blob;
        changed.push(ChangedBlob { path, before, now: staged.get(&change.path).copied() });
    }
    Ok(changed)
}

/// Evidence that is in `HEAD` and that the new commit removes.
#[derive(Default)]
struct TakenAway {
    files: Vec<(RelativePath, Vec<u8>)>,
    staged: HashSet<RelativePath>,
    /// The evidence that is staged and not in `HEAD`.
    added: Vec<RelativePath>,
}

impl TakenAway {
    fn find(ws: &Workspace) -> Result<Self, VerbError> {
        let (Some(git), Some(head)) = (ws.git(), ws.head()) else { return Ok(Self::default()) };
        let listed = |target: &Target| git.list_below(".orchestration", target, &is_evidence);
        let staged = listed(&Target::Index)?.into_iter().map(|(path, _)| path);
        let staged: HashSet<RelativePath> = staged.collect();
        let mut files = listed(&Target::Commit(head.clone()))?;
        let mut added = Vec::new();
        if files.iter().filter(|(path, _)| staged.contains(path)).count() < staged.len() {
            let committed: HashSet<&RelativePath> = files.iter().map(|(path, _)| path).collect();
            added.extend(staged.iter().filter(|path| !committed.contains(path)).cloned());
        }
        files.retain(|(path, _)| !staged.contains(path));
        Ok(Self { files: git.read_blobs(&files)?, staged, added })
    }

    /// Returns the files that `compact` or `erase` wrote in place of others, if they are not in the
    /// index. `git commit -a` stages only the removal of the old files, so the hook has to stage
    /// the new ones.
    fn replaced_by(&self, ws: &Workspace) -> Vec<RelativePath> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let held: HashSet<Digest> =
            self.files.iter().flat_map(|(_, bytes)| digests(bytes)).collect();
        let files = ws.ledger.evidence_files().into_iter();
        let moved = files.filter(|(path, sections)| {
            !self.staged.contains(path) && sections.iter().all(|one| held.contains(one))
        });
        moved.map(|(path, _)| path).collect()
    }

    /// Restores removed evidence if some of its code stays in the commit. This happens in a revert
    /// if a person resolved a conflict by keeping lines.
    fn write_back(&self, ws: &Workspace) -> Result<Vec<RelativePath>, VerbError> {
        let Some(head) = ws.head().filter(|_| !self.files.is_empty()) else {
            return Ok(Vec::new());
        };
        let index = ws.at_index()?;
        // A compaction or an erasure may have moved the sections into a file that is not staged
        // yet.
        let mut stands = index.ledger.sections();
        stands.extend(ws.ledger.sections());
        let named = still_named(&index, head, &stands)?;
        let mut written = Vec::new();
        for (path, bytes) in self.files.iter().filter(|(path, _)| named.has_file(path)) {
            store::write_atomic(&ws.root.absolute(path), bytes)?;
            written.push(path.clone());
        }
        Ok(written)
    }
}

/// Returns true if a record brought lines. If none of them is in the commit, it need not be settled:
/// the commit may only have a block that is as the record left it.
fn brought_lines(ws: &Workspace, id: &str) -> bool {
    let entry = ws.journal.by_id(id).filter(|entry| is_work(entry));
    entry.is_some_and(|entry| {
        entry.record.paths().any(|path| runs_about(entry, path).any(|runs| !runs.is_empty()))
    })
}

/// If there are more stashes than this, nobody looks which lines they have.
const MAX_STASHES: usize = 128;

/// Returns the commits of those stashes that may have lines of open records about these files: they
/// are not older than the first of the records.
fn stashes_with_work_on(
    ws: &Workspace,
    git: &Git,
    paths: &BTreeSet<&RelativePath>,
) -> Result<Vec<CommitId>, VerbError> {
    let entries = paths.iter().flat_map(|path| ws.journal.of_path(path));
    let times = entries.filter(|entry| is_work(entry)).map(|entry| &entry.record.timestamp);
    let Some(first) = times.filter_map(|time| clock::milliseconds(time)).min() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for stash in git.stashes()? {
        // The time of a commit is rounded down to seconds.
        if (git.commit_info(&stash)?.time + 1) * 1_000 >= first {
            found.push(stash);
        }
    }
    Ok(found)
}

/// Returns the records that must stay open after this seal, because the work tree or a stash has more
/// of their lines than was sealed. For example, one record has two functions, and `git add -p` staged
/// only one of them. The commit then carries that function, and the next commit can still carry the
/// other.
fn records_with_more_lines(
    ws: &Workspace,
    git: &Git,
    sealed: &BTreeSet<&String>,
) -> Result<BTreeSet<String>, VerbError> {
    let (paths, mut open) = (sealed_paths(ws, sealed), BTreeSet::new());
    let mut stashes = stashes_with_work_on(ws, git, &paths)?;
    if stashes.len() > MAX_STASHES {
        stashes.clear();
        for entry in sealed.iter().filter_map(|id| ws.journal.by_id(id)) {
            if brought_lines(ws, &entry.record.id) && thrown_away::may_lack_lines(ws, git, entry)? {
                open.insert(entry.record.id.clone());
            }
        }
    }
    for path in paths {
        let base = git.file_in_index(path)?.unwrap_or_default();
        let mut texts: Vec<Vec<u8>> = ws.bytes_as_stored(path).into_iter().collect();
        for stash in &stashes {
            texts.extend(git.file_at(stash, path)?);
        }
        texts.sort();
        texts.dedup();
        texts.retain(|text| *text != base);
        let base = LineText::new(base);
        for text in texts {
            let text = LineText::new(text);
            let is_new = new_lines(&[&base], &text);
            open.extend(LinesByEntry::attributed(ws, path, None, text, &is_new).owner_ids());
        }
    }
    Ok(open)
}
