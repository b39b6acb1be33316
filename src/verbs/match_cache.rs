//! Answers the matcher's questions about the rest of the work tree, and caches the answers as long
//! as nothing changes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::map::ByIntent;
use super::{ReadError, Workspace, trail_cache};
use crate::code::fingerprint::PairLanes;
use crate::code::{Block, BlockKind, ContentHash, Document, FileBlocks, Identity, TokenHash};
use crate::intent::{FOLDER, Registry};
use crate::ledger::ClaimRef;
use crate::provenance::file_history::Version;
use crate::provenance::matching::{self, CandidateRecord, Orphans, SharedTrail};
use crate::provenance::outline::{Outline, Row};
use crate::workspace::git::{ChangeKind, GitError, PathChange, Target};
use crate::workspace::{CommitId, RelativePath, cache};

/// The capacity of two caches: the blocks of files in the work tree, and the candidates of blocks.
/// A full cache is emptied.
const MAX_BLOCKS: usize = 20_000;
/// The number of commits that are searched at most for versions of the registry.
const MAX_COMMITS: usize = 2_000;
/// How many texts are kept with their syntax trees, which are large.
const MAX_TREES: usize = 4;
/// The capacity of the other caches. A full cache is emptied.
const MAX_KEPT: usize = 256;

/// Cached answers about files other than the one that is matched. They are valid for one state of
/// the ledger; [`Self::with_other_records`] keeps those that do not depend on records.
#[derive(Default)]
pub(super) struct MatchCache {
    committed: Arc<Mutex<CommittedFiles>>,
    texts: Arc<Mutex<HashMap<String, Document>>>,
    order: Arc<Mutex<HashMap<(String, String), bool>>>,
    standing: Arc<Mutex<StandingFiles>>,
    orphans: Mutex<HashMap<RelativePath, (TimeAndLength, Arc<Orphans>)>>,
    changed: Mutex<HashMap<String, (Instant, Arc<FileChanges>)>>,
    candidates: Mutex<HashMap<(Identity, ContentHash), Candidates>>,
    trails: Mutex<HashMap<RelativePath, SharedTrail>>,
    recorded: OnceLock<Recorded>,
    registries: Mutex<HashMap<CommitId, Option<Arc<Registry>>>>,
    rewritten: Mutex<Rewritten>,
    produced: Mutex<HashMap<Option<String>, KnownProducts>>,
    parsed: Mutex<Vec<(RelativePath, Document)>>,
}

impl MatchCache {
    /// Returns the blocks that one intent, or each intent, has produced. The answer is kept for
    /// [`FRESH`].
    pub(super) fn produced(
        &self,
        of: Option<&str>,
        find: impl FnOnce() -> ByIntent,
    ) -> Arc<ByIntent> {
        let of = of.map(str::to_owned);
        let lock = || self.produced.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, known)) = lock().get(&of)
            && then.elapsed() < FRESH
        {
            return Arc::clone(known);
        }
        let found = Arc::new(find());
        lock().insert(of, (Instant::now(), Arc::clone(&found)));
        found
    }

    /// Returns the text with this key and its blocks. The same text is requested again and again,
    /// because most files equal their version in the last commit and stay the same in most commits.
    pub(super) fn text(&self, key: String, find: impl FnOnce(&str) -> Document) -> Document {
        let lock = || self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let found = find(&key);
        // Not cached: the blocks of a text that does not parse depend also on the commit that it
        // was edited from.
        if found.blocks().has_error {
            return found;
        }
        let mut kept = lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, found.clone());
        found
    }

    /// Returns a text with its blocks and without its syntax tree. It is parsed as an edit of the
    /// version of the file that was parsed last, because versions usually differ in few lines.
    pub(super) fn parsed(&self, path: &RelativePath, document: &Document) -> Document {
        let lock = || self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        let before = {
            let mut parsed = lock();
            let at = parsed.iter().position(|(of, _)| of == path);
            at.map(|at| parsed.swap_remove(at).1)
        };
        let changed = before.and_then(|before| before.reparsed(&document.text()));
        let parsed = changed.unwrap_or_else(|| document.clone());
        let outlined = parsed.without_tree();
        let mut kept = lock();
        if kept.len() >= MAX_TREES {
            kept.remove(0);
        }
        kept.push((path.clone(), parsed));
        outlined
    }

    /// Returns the registry at a commit, or `None` if it cannot be read.
    pub(super) fn registry_at(&self, ws: &Workspace, commit: &CommitId) -> Option<Arc<Registry>> {
        let lock = || self.registries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(commit) {
            return known.clone();
        }
        let read = || Registry::at(ws.git()?, &Target::Commit(commit.clone())).ok().map(Arc::new);
        let registry = read();
        let mut kept = lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(commit.clone(), registry.clone());
        registry
    }

    /// Returns the commits at which the registry has different texts, newest first: those reachable
    /// from `newest` and not older than `oldest`, with one commit for each text. Empty if the
    /// history cannot be read.
    pub(super) fn rewritten(
        &self,
        ws: &Workspace,
        newest: &CommitId,
        oldest: &CommitId,
    ) -> Arc<[CommitId]> {
        let lock = || self.rewritten.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (newest.clone(), oldest.clone());
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        let find = || -> Result<Vec<CommitId>, GitError> {
            let Some(git) = ws.git() else { return Ok(Vec::new()) };
            let places = [ws.registry.path().as_str(), FOLDER];
            let (mut seen, mut found) = (HashSet::new(), Vec::new());
            for commit in git.commits_since(newest, git.commit_info(oldest)?.time, MAX_COMMITS)? {
                if seen.insert(git.blobs_at(&commit, &places)?) {
                    found.push(commit);
                }
            }
            Ok(found)
        };
        let found: Arc<[CommitId]> = find().unwrap_or_default().into();
        lock().insert(key, Arc::clone(&found));
        found
    }

    /// Returns a cache for another state of the ledger, with the answers that do not depend on
    /// records.
    pub(super) fn with_other_records(&self) -> Self {
        Self {
            committed: Arc::clone(&self.committed),
            texts: Arc::clone(&self.texts),
            order: Arc::clone(&self.order),
            standing: Arc::clone(&self.standing),
            ..Self::default()
        }
    }
}

/// For each pair of commits, the result of [`MatchCache::rewritten`].
type Rewritten = HashMap<(CommitId, CommitId), Arc<[CommitId]>>;

/// Files at commits, by the id of the commit and the path.
type CommittedFiles = HashMap<(String, RelativePath), Arc<AtCommit>>;

/// A file at a commit. Its outline is made on first use.
struct AtCommit {
    document: Document,
    outline: OnceLock<Outline>,
}

impl AtCommit {
    fn blocks(&self) -> Arc<FileBlocks> {
        self.document.blocks()
    }

    fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::of(&self.blocks()))
    }
}

/// Files of the work tree, each with the state for which it was read, and the number of their
/// blocks.
#[derive(Default)]
struct StandingFiles {
    files: HashMap<RelativePath, (cache::FileStamp, Document)>,
    blocks: usize,
}

/// When the answer was computed, and the blocks of each intent.
type KnownProducts = (Instant, Arc<ByIntent>);

/// The records that could describe a block.
type Candidates = Arc<Vec<CandidateRecord>>;

/// Files that are new or changed since a commit, each with its blocks.
type Changed = Vec<(RelativePath, Arc<FileBlocks>)>;

/// The differences between a commit and the work tree.
#[derive(Default)]
struct FileChanges {
    /// The new and changed files that exist now.
    now: Arc<Changed>,
    /// The changed and deleted files that existed at the commit.
    then: Vec<RelativePath>,
    /// The kind, name and tokens of each block in the files of `then`. Filled on first use.
    stood: OnceLock<HashSet<(BlockKind, String, TokenHash)>>,
}

/// The files that have records, by file name and by folder.
#[derive(Default)]
struct Recorded {
    by_name: HashMap<String, Vec<RelativePath>>,
    by_folder: HashMap<String, Vec<RelativePath>>,
}

/// How long an answer that depends on many files is reused without a check.
const FRESH: Duration = Duration::from_secs(20);
/// The number of changed files that are examined at most, on each side.
const MAX_CHANGED: usize = 200;
/// The number of recorded files with the same name, or in the same folder, above which they are not
/// searched.
const MAX_NEAR: usize = 32;

/// The modification time and the length of a file, by which a change is noticed; `None` if there is
/// no file.
type TimeAndLength = Option<(SystemTime, u64)>;

/// A workspace, as the matcher sees it from one of its files.
pub(super) struct WorkspaceSurroundings<'a>(pub(super) &'a Workspace);

impl WorkspaceSurroundings<'_> {
    fn stamp(&self, path: &RelativePath) -> TimeAndLength {
        let found =
            self.0.root.absolute(path).metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((found.modified().ok()?, found.len()))
    }

    /// Returns the blocks of a file in its present state.
    pub(super) fn blocks(&self, path: &RelativePath) -> Result<Arc<FileBlocks>, ReadError> {
        Ok(self.standing(path)?.blocks())
    }

    /// Reads a file in its present state.
    pub(super) fn standing(&self, path: &RelativePath) -> Result<Document, ReadError> {
        if let Target::Commit(commit) = self.0.files() {
            let file = self.at_commit(&commit.0, path).filter(|_| self.0.exists(path));
            let missing = || ReadError::Missing { path: path.clone() };
            return file.map(|file| file.document.clone()).ok_or_else(missing);
        }
        if *self.0.files() == Target::Index {
            return self.0.read_outlined(path);
        }
        let found = self.0.root.absolute(path).metadata().ok();
        let state = found.as_ref().and_then(cache::FileStamp::of);
        let lock = || self.0.match_cache.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, document)) = lock().files.get(path)
            && Some(*then) == state
        {
            return Ok(document.clone());
        }
        let document = self.0.read_outlined(path)?;
        if let Some(state) = state.filter(|state| state.at_rest(SystemTime::now())) {
            let mut kept = lock();
            if kept.blocks >= MAX_BLOCKS {
                *kept = StandingFiles::default();
            }
            kept.blocks += document.blocks().blocks.len();
            kept.files.insert(path.clone(), (state, document.clone()));
        }
        Ok(document)
    }

    /// Returns the file at the commit that a record was based on, or `None` if that cannot be read.
    fn at_commit(&self, commit: &str, path: &RelativePath) -> Option<Arc<AtCommit>> {
        let key = (commit.to_owned(), path.clone());
        let lock = || self.0.match_cache.committed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Some(Arc::clone(known));
        }
        let commit = CommitId(commit.to_owned());
        let bytes = self.0.git()?.file_at(&commit, path).ok()?;
        let document = self.0.document(path, &bytes.unwrap_or_default()).ok()?;
        let (document, outline) = (self.0.outlined(path, &document), OnceLock::new());
        let file = Arc::new(AtCommit { document, outline });
        let mut kept = lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&file));
        Some(file)
    }

    /// Returns true if the commit `one` is `other` or one of its ancestors, and also if that is not
    /// known.
    fn precedes(&self, one: &str, other: &str) -> bool {
        let key = (one.to_owned(), other.to_owned());
        let lock = || self.0.match_cache.order.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return *known;
        }
        let (earlier, later) = (CommitId(key.0.clone()), CommitId(key.1.clone()));
        let found = self.0.git().and_then(|git| {
            let of_line = self.0.history()?.precedes(git, &earlier, &later);
            of_line.or_else(|| git.is_ancestor(&later, &earlier).ok())
        });
        let precedes = found.unwrap_or(true);
        lock().insert(key, precedes);
        precedes
    }

    fn since(&self, commit: &str) -> Arc<FileChanges> {
        let lock = || self.0.match_cache.changed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, since)) = lock().get(commit)
            && then.elapsed() < FRESH
        {
            return Arc::clone(since);
        }
        let since = Arc::new(self.read_since(commit).unwrap_or_default());
        let mut kept = lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(commit.to_owned(), (Instant::now(), Arc::clone(&since)));
        since
    }

    fn read_since(&self, commit: &str) -> Option<FileChanges> {
        let commit = CommitId(commit.to_owned());
        let changes = self.0.changes_since(Some(&commit)).ok()?;
        let blocks = |change: &PathChange| {
            let blocks = self.blocks(&change.path).ok()?;
            blocks.language?;
            Some((change.path.clone(), blocks))
        };
        let there = changes.iter().filter(|change| change.kind != ChangeKind::Deleted);
        let now = Arc::new(there.take(MAX_CHANGED).filter_map(blocks).collect());
        let then = changes.into_iter().filter(|change| change.kind != ChangeKind::Added);
        let then = then.take(MAX_CHANGED).map(|change| change.path).collect();
        Some(FileChanges { now, then, stood: OnceLock::new() })
    }

    fn recorded(&self) -> &Recorded {
        self.0.match_cache.recorded.get_or_init(|| {
            let mut recorded = Recorded::default();
            for path in self.0.ledger.paths() {
                let name = path.file_name().to_owned();
                recorded.by_name.entry(name).or_default().push(path.clone());
                recorded.by_folder.entry(folder(path).to_owned()).or_default().push(path.clone());
            }
            recorded
        })
    }

    /// Returns the commit that a record was based on.
    fn based_on(&self, at: ClaimRef) -> Option<&str> {
        self.0.ledger.based_on(at.entry)
    }

    /// Returns true if a block with this name or this text existed in `path` before the record was
    /// made, or `None` if that is not known.
    pub(super) fn stood_as(&self, at: ClaimRef, path: &RelativePath, row: &Row) -> Option<bool> {
        let is_it = |other: &Row| other.identity == row.identity || other.text == row.text;
        let trail = self.0.trail(path);
        if trail.before(at).is_some_and(|version| trail.outline(version).rows.iter().any(is_it)) {
            return Some(true);
        }
        Some(self.at_commit(self.based_on(at)?, path)?.outline().rows.iter().any(is_it))
    }
}

fn folder(path: &RelativePath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl matching::Surroundings for WorkspaceSurroundings<'_> {
    fn orphans(&self, path: &RelativePath) -> Arc<Orphans> {
        let stamp = self.stamp(path);
        let lock = || self.0.match_cache.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, orphans)) = lock().get(path)
            && *then == stamp
        {
            return Arc::clone(orphans);
        }
        let orphans = |document| matching::orphans(&self.0.ledger, path, document, self);
        let orphans = match self.standing(path) {
            Ok(document) => orphans(Some(&document)),
            Err(ReadError::Missing { .. }) => orphans(None),
            // The file exists but cannot be read, so its blocks are unknown.
            Err(_) => Orphans::default(),
        };
        let orphans = Arc::new(orphans);
        lock().insert(path.clone(), (stamp, Arc::clone(&orphans)));
        orphans
    }

    fn is_gone(&self, path: &RelativePath) -> bool {
        !self.0.exists(path)
    }

    fn existed(&self, at: ClaimRef, path: &RelativePath, block: &Block) -> Option<bool> {
        self.stood_as(at, path, &Row::of(block, 0))
    }

    fn candidates(&self, block: &Block) -> Candidates {
        let key = (block.identity.clone(), block.fingerprint.content.clone());
        let lock = || self.0.match_cache.candidates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        let candidates = Arc::new(matching::candidates(&self.0.ledger, block));
        let mut kept = lock();
        if kept.len() >= MAX_BLOCKS {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&candidates));
        candidates
    }

    fn trail(&self, path: &RelativePath) -> SharedTrail {
        let lock = || self.0.match_cache.trails.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(path) {
            return Arc::clone(known);
        }
        let trail = Arc::new(trail_cache::trail(self.0, path, &|a, b| self.precedes(a, b)));
        let mut kept = lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(path.clone(), Arc::clone(&trail));
        trail
    }

    fn text_of(
        &self,
        path: &RelativePath,
        version: &Version,
        outline: &Outline,
    ) -> Option<Document> {
        let head = self.0.head().map(|head| head.0.as_str());
        let based_on = version.last.and_then(|at| self.based_on(at));
        let commits = head.into_iter().chain(based_on);
        let mut files = commits.filter_map(|commit| self.at_commit(commit, path));
        files.find(|file| file.outline() == outline).map(|file| file.document.clone())
    }

    fn gone_nearby(&self, path: &RelativePath) -> Vec<RelativePath> {
        let recorded = self.recorded();
        let named = recorded.by_name.get(path.file_name());
        let beside = recorded.by_folder.get(folder(path));
        let near = [named, beside].into_iter().flatten().filter(|near| near.len() <= MAX_NEAR);
        near.flatten().filter(|near| *near != path && self.is_gone(near)).cloned().collect()
    }

    fn pairs_before(&self, at: ClaimRef, before: &ContentHash) -> Option<PairLanes> {
        let path = &self.0.ledger.claim(at).file.relative_path;
        let then = self.at_commit(self.based_on(at)?, path)?.blocks();
        let replaced = then.blocks.iter().find(|old| old.fingerprint.content == *before)?;
        replaced.fingerprint.pairs.lanes()
    }

    fn existed_anywhere(&self, at: ClaimRef, path: &RelativePath, block: &Block) -> bool {
        let Some(commit) = self.based_on(at) else { return false };
        let known = |block: &Block| {
            let print = &block.fingerprint;
            (block.identity.kind, block.name.clone(), print.tokens.clone())
        };
        let wanted = known(block);
        let here = self.at_commit(commit, path);
        if here.is_some_and(|here| here.blocks().blocks.iter().any(|block| known(block) == wanted))
        {
            return true;
        }
        let since = self.since(commit);
        let stood = since.stood.get_or_init(|| {
            let files = since.then.iter().filter_map(|path| self.at_commit(commit, path));
            files
                .flat_map(|file| file.blocks().blocks.iter().map(known).collect::<Vec<_>>())
                .collect()
        });
        stood.contains(&wanted)
    }

    fn changed_since(&self, at: ClaimRef) -> Arc<Changed> {
        self.based_on(at).map(|commit| Arc::clone(&self.since(commit).now)).unwrap_or_default()
    }
}
