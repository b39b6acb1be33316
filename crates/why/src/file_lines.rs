//! Who brought each line of a file of the workspace, and what that says about its blocks.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use code::{Block, Document, FileBlocks};
use ground::git::{ChangeKind, ChangedBlob, GitError, ObjectId, ObjectReader, PathChange, Target};
use ground::parallel::locked_value;
use ground::{CommitId, Git, RelativePath};
use history::knowledge::{AskedTree, Knowledge};
use history::{
    FileLines, JournalTexts, KnownOrigins, LineFinder, LineText, Walk, WalkOptions,
    lines_without_git,
};
use ledger::{Entry, FileRecord, Ledger, RecordKind, SINGLE_LEDGER, kept_text};

use crate::Workspace;
use crate::block_changes::BlockChanges;
use crate::provenance_of_blocks::{AskedOfBlocks, BlocksThen, FileToJudge, Provenance};
use crate::unread::newer_format_note;

/// A file's blocks with what is known about each. The answers of all faces are made from it.
#[derive(Clone)]
pub struct FileProvenance {
    pub document: Document,
    pub blocks: Arc<FileBlocks>,
    pub lines: Arc<FileLines>,
    /// One entry for each block, in the same order.
    pub provenance: Vec<Provenance>,
    pub error: Option<String>,
    /// Whether nothing is known because a program converts the file for git.
    pub is_converted: bool,
}

impl FileProvenance {
    pub fn lacks_history(&self) -> bool {
        let is_unread = self.error.is_some() && !self.is_converted;
        is_unread || self.provenance.iter().any(|found| found.is_missing)
    }

    /// Says that the answer lacks evidence in a newer format. `None` if it does not.
    pub fn unread_evidence(&self) -> Option<String> {
        self.lines.newer_format.map(newer_format_note)
    }
}

/// Finds out who brought the lines of a file, and what that says about its blocks.
pub(crate) fn provenance_of_file(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    asked: AskedOfBlocks<'_>,
) -> FileProvenance {
    let blocks = document.blocks();
    let (mut lines, error) = match lines_of_file(ws, path, document, asked) {
        Ok(lines) => (lines, None),
        Err(error) => {
            let lines = LineText::new(document.text().into_bytes()).len();
            (FileLines::unknown(lines), Some(error))
        }
    };
    let is_converted = matches!(error, Some(GitError::Converted { .. }));
    let error = error.map(|error| ground::Hint::with_hint(&error));
    let known: Mutex<HashMap<Option<usize>, Option<Arc<BlocksThen>>>> = Mutex::default();
    let blocks_of_version = |at: Option<usize>| {
        let mut known = locked_value(&known);
        known
            .entry(at)
            .or_insert_with(|| match at {
                Some(at) => blocks_of_version(ws, &lines, at),
                None => {
                    let text = ws.last_recorded_text(path)?;
                    Some(Arc::new(BlocksThen::of_document(&ws.document(path, &text).ok()?)))
                }
            })
            .clone()
    };
    let changes = RefCell::new(BlockChanges::default());
    let last_change = |block: &Block| changes.borrow_mut().last_change(ws, path, document, block);
    let file = FileToJudge {
        asked,
        path,
        document,
        blocks: &blocks,
        lines: &lines,
        blocks_of_version: &blocks_of_version,
        last_change: &last_change,
        more_versions: RefCell::default(),
    };
    let mut provenance = file.judged();
    // If a program converts the file for git, its history is not missing, but has other lines.
    provenance.iter_mut().for_each(|found| found.is_missing &= !is_converted);
    let more_versions = file.more_versions.into_inner();
    lines.versions.extend(more_versions);
    let (document, lines) = (document.clone(), Arc::new(lines));
    FileProvenance { document, blocks, lines, provenance, error, is_converted }
}

fn blocks_of_version(ws: &Workspace, lines: &FileLines, at: usize) -> Option<Arc<BlocksThen>> {
    let version = lines.versions.get(at).filter(|version| !version.is_uncommitted())?;
    let git = ws.git()?;
    let path = git.path_in_workspace(version.path.as_ref())?;
    let bytes = git.object_reader().ok()?.blob(version.blob).ok()?;
    Some(Arc::new(BlocksThen::of_document(&ws.document(&path, &bytes).ok()?)))
}

enum AskedText {
    Committed(ObjectId),
    /// A text that is in no commit, the commits that it is based on, and the files that differ from
    /// the first of them.
    Work {
        parents: Vec<ObjectId>,
        text: Vec<u8>,
        changed: Vec<ChangedBlob>,
    },
}

fn lines_of_file(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    asked: AskedOfBlocks<'_>,
) -> Result<FileLines, GitError> {
    let text = document.text().into_bytes();
    let Some(git) = ws.git() else {
        return Ok(lines_without_git(&ws.root, &ws.journal, path, &LineText::new(text)));
    };
    let mut reader = git.object_reader()?.accepting(ws.head())?;
    let prefix = git.path_in_repository("");
    let none = Ledger::default();
    let (tree, journal): (AskedTree, &Ledger) = match ws.evidence_source() {
        Target::WorkTree => (AskedTree::WorkTree, &ws.journal),
        Target::Index => (AskedTree::Index(Arc::new(evidence_in_index(git)?)), &ws.journal),
        Target::Commit(commit) => {
            (AskedTree::Tree(reader.commit(git.object_id(&commit)?)?.tree), &none)
        }
    };
    let store = ws.kept_answers();
    let known = store.map(|store| KnownOrigins::new(store, &mut reader)).transpose()?;
    let known = known.as_ref();
    let knowledge = Knowledge::new(&ws.root, prefix.clone(), tree).with_known(known);
    let mut knowledge = knowledge.with_evidence(Arc::clone(&ws.known_evidence));
    if *ws.files() == Target::Index && ws.evidence_source() == Target::Index {
        let compared = ws.compared_with(ws.head())?;
        let added = compared.contents().filter(|change| {
            change.kind == ChangeKind::Added && ledger::evidence::month_of(&change.path).is_some()
        });
        knowledge = knowledge.with_drafts(added.map(|change| change.path.clone()).collect());
    }
    let asked_text = match ws.files() {
        Target::Commit(commit) => AskedText::Committed(git.object_id(commit)?),
        Target::WorkTree | Target::Index => {
            let parents = parents_of_work(ws, git)?;
            let text = text_as_stored(ws, git, path, text, &parents)?;
            let changed = changes_of_work(ws, (git, &mut reader), path, &text)?;
            AskedText::Work { parents, text, changed }
        }
    };
    let within = match asked {
        AskedOfBlocks::VerdictsWithin(commits) => Some(commits),
        AskedOfBlocks::Owners | AskedOfBlocks::Verdicts => None,
    };
    let mut finder = LineFinder {
        root: &ws.root,
        reader: &mut reader,
        knowledge: &mut knowledge,
        prefix: prefix.as_ref(),
        journal,
        options: WalkOptions { known, within, document: Some(document) },
    };
    match asked_text {
        AskedText::Committed(commit) => Ok(finder.of_file(commit, path)?.unwrap_or_default()),
        AskedText::Work { parents, text, changed } => {
            let present =
                |_: &mut ObjectReader<'_>, other: &RelativePath| ws.read_bytes(other, MAX_BYTES);
            finder.of_text(&parents, (path, text), changed, &present)
        }
    }
}

/// Returns the text that git would store for a text of the work, line for line. Files of the index
/// are as git stores them.
fn text_as_stored(
    ws: &Workspace,
    git: &Git,
    path: &RelativePath,
    text: Vec<u8>,
    parents: &[ObjectId],
) -> Result<Vec<u8>, GitError> {
    match ws.files() {
        Target::WorkTree => git.conversions().stored_lines(path, text, parents),
        _ => Ok(text),
    }
}

impl Workspace {
    /// Returns the text of a file after the last change of it that the journal has, which is empty if
    /// that change deleted the file. `None` if it has none, or the text was not kept.
    pub fn last_recorded_text(&self, path: &RelativePath) -> Option<Vec<u8>> {
        let (_, file) = self.last_change_in_journal(path)?;
        match &file.text {
            Some(key) => kept_text(&self.root, key),
            None => Some(Vec::new()),
        }
    }

    /// Returns true if the last change of a file that the journal has is based on the commit that the
    /// work is based on. Otherwise commits may have changed the file since.
    pub fn has_record_since_head(&self, path: &RelativePath) -> bool {
        self.last_change_in_journal(path).is_some_and(|(entry, _)| {
            let base = entry.record.vcs.as_ref().and_then(|vcs| vcs.revision_id.as_deref());
            base == self.head().map(|head| head.0.as_str())
        })
    }

    fn last_change_in_journal(&self, path: &RelativePath) -> Option<(&Entry, &FileRecord)> {
        let changes = self.journal.of_path(path).filter_map(|entry| {
            let mut files = entry.record.files.iter();
            let file = files.find(|file| file.relative_path == *path)?;
            let is_known = file.text.is_some() || is_deletion(file);
            (entry.record.kind == RecordKind::Mutation && is_known).then_some((&**entry, file))
        });
        changes.last()
    }
}

fn is_deletion(file: &FileRecord) -> bool {
    file.ranges().next().is_some() && file.ranges().all(|range| range.deleted)
}

fn parents_of_work(ws: &Workspace, git: &Git) -> Result<Vec<ObjectId>, GitError> {
    let mut commits: Vec<CommitId> = ws.head().cloned().into_iter().collect();
    commits.extend(git.incoming()?);
    commits.iter().map(|commit| git.object_id(commit)).collect()
}

/// Returns for each line of a file of the work whether the work added it. `brought` says this for each
/// line as the walk of the file sees it. A line that was only moved, from where the base commit or a
/// recorded text had it, does not count as added. `None` without git.
pub fn lines_of_work(
    ws: &Workspace,
    path: &RelativePath,
    document: &Document,
    brought: &[bool],
) -> Result<Option<Vec<bool>>, GitError> {
    let Some(git) = ws.git() else { return Ok(None) };
    let (text, mut reader) =
        (document.text().into_bytes(), git.object_reader()?.accepting(ws.head())?);
    let mut is_new = vec![false; LineText::new(text.clone()).len()];
    let (parents, full) = (parents_of_work(ws, git)?, git.path_in_repository(path.as_str()));
    let text = text_as_stored(ws, git, path, text, &parents)?;
    let changed = changes_of_work(ws, (git, &mut reader), path, &text)?;
    let is_new_file = changed.first().is_some_and(|one| one.before.is_none());
    let lines = Walk::new(&mut reader).new_lines_of_text(&parents, &full, text.clone(), changed)?;
    lines.into_iter().for_each(|line| is_new[line] = true);
    let mut texts = JournalTexts {
        root: &ws.root,
        reader: &mut reader,
        journal: &ws.journal,
        is_wanted: &|entry| entry.record.of.is_none(),
        present: &|_, other| ws.read_bytes(other, MAX_BYTES),
        max_files: history::MAX_FILES,
        known: HashMap::new(),
    };
    let open: Vec<bool> = is_new.iter().zip(brought).map(|(new, one)| *new && *one).collect();
    let moved = texts.records_of_moved_lines(path, (&LineText::new(text), is_new_file), &open)?;
    is_new.iter_mut().zip(moved).for_each(|(new, record)| *new &= record.is_none());
    Ok(Some(is_new))
}

/// Returns the files in which the work differs from the commit that it is based on, as if it were a
/// commit, so that renames and moved blocks can be found. The reader holds the contents that git does
/// not have.
///
/// Only files are read of which some code of `path` may come, up to a bound. Beyond it nothing is
/// returned, so that no rename and no move is found.
fn changes_of_work(
    ws: &Workspace,
    (git, reader): (&Git, &mut ObjectReader<'_>),
    path: &RelativePath,
    text: &[u8],
) -> Result<Vec<ChangedBlob>, GitError> {
    let Some(head) = ws.head() else { return Ok(Vec::new()) };
    let language = |path: &RelativePath| history::language_of(path.as_str());
    let tree = reader.commit(git.object_id(head)?)?.tree;
    let at_head = |reader: &mut ObjectReader<'_>, path: &RelativePath| {
        let full = git.path_in_repository(path.as_str());
        Ok::<_, GitError>((reader.locate(tree, full.as_ref(), None)?.blob, full))
    };
    let (before, full) = at_head(reader, path)?;
    let is_gone = |change: &PathChange| change.kind == ChangeKind::Deleted;
    let now = Some(reader.hold(text.to_vec())?);
    if before == now {
        return Ok(Vec::new());
    }
    let mut changed = vec![ChangedBlob { path: full, before, now }];
    let is_new = before.is_none();
    // A file is at most twice as large before a rename as after it. Another file that is like it is
    // at most twice as large as the file before the rename.
    let larger = 4 * text.len() as u64;
    let mut left = MAX_BYTES;
    let former = ws.former_files(head)?;
    let is_partner =
        |change: &PathChange| language(&change.path) == language(path) && language(path).is_some();
    // Then no block counts as moved, and a file that is not new was not renamed.
    if !is_new && former.iter().filter(|change| is_partner(change)).count() > history::MAX_FILES {
        return Ok(Vec::new());
    }
    // Another new file may be more like the file that is gone.
    let mut rivals: Vec<PathChange> = Vec::new();
    if is_new && former.iter().any(is_gone) {
        let compared = ws.compared_with(Some(head))?;
        let added = compared.contents().filter(|change| change.kind == ChangeKind::Added);
        rivals.extend(added.take(MAX_RIVALS + 1).cloned());
    }
    let has_many_rivals = rivals.len() > MAX_RIVALS;
    if has_many_rivals {
        rivals.clear();
    }
    for change in former.iter().chain(&rivals).filter(|change| change.path != *path) {
        let is_partner = is_partner(change);
        let is_wanted = match change.kind {
            ChangeKind::Deleted => is_new || is_partner,
            ChangeKind::Added => !change.path.is_orchestration(),
            ChangeKind::Modified => is_partner,
        };
        if !is_wanted {
            continue;
        }
        let (before, full) = at_head(reader, &change.path)?;
        if is_gone(change) && is_new && has_many_rivals && before != now {
            continue;
        }
        let now = match change.kind {
            ChangeKind::Deleted => None,
            ChangeKind::Added => match ws.read_bytes(&change.path, left.min(larger)) {
                Some(bytes) => Some(bytes),
                None => continue,
            },
            ChangeKind::Modified => match ws.read_bytes(&change.path, left) {
                Some(bytes) => Some(bytes),
                None => return Ok(Vec::new()),
            },
        };
        left -= now.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let now = now.map(|bytes| reader.hold(bytes)).transpose()?;
        changed.push(ChangedBlob { path: full, before, now });
    }
    Ok(changed)
}

/// If there are more new files than this, a file of the work counts as renamed only if it is unchanged.
const MAX_RIVALS: usize = 256;
/// How many bytes of other files are read to find out where code was moved from.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

fn evidence_in_index(git: &Git) -> Result<BTreeMap<RelativePath, ObjectId>, GitError> {
    let is_evidence = |path: &RelativePath| {
        ledger::evidence::digest_of_path(path).is_some() || path.as_str() == SINGLE_LEDGER
    };
    Ok(git.list_below(".orchestration", &Target::Index, &is_evidence)?.into_iter().collect())
}
