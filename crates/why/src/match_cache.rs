//! Answers the matcher's questions about the rest of the work tree, and keeps the answers in the
//! `MatchCache` as long as nothing changes.

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};

use super::caches::{
    AtCommit, Candidates, Changed, FRESH, FileChanges, MAX_BLOCKS, Recorded, Signature, Signatures,
    StandingFiles, TimeAndLength,
};
use super::{ReadError, Workspace, trail_cache};
use code::fingerprint::PairLanes;
use code::{Block, ContentHash, Document, FileBlocks};
use ground::git::{self, BlobId, ChangeKind, GitError, PathChange, Target};
use ground::{CommitId, RelativePath, cache};
use ledger::ClaimRef;
use provenance::file_history::Version;
use provenance::matching::{self, Orphans, SharedTrail, Surroundings};
use provenance::outline::{Outline, Row};

/// The number of changed files that are examined at most, on each side.
const MAX_CHANGED: usize = 200;
/// The number of recorded files with the same name, or in the same folder, above which they are not
/// searched.
const MAX_NEAR: usize = 32;

impl Workspace {
    fn time_and_length(&self, path: &RelativePath) -> TimeAndLength {
        let found = self.root.absolute(path).metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((found.modified().ok()?, found.len()))
    }

    pub fn standing_blocks(&self, path: &RelativePath) -> Result<Arc<FileBlocks>, ReadError> {
        Ok(self.standing(path)?.blocks())
    }

    /// Reads a file in its present state.
    pub fn standing(&self, path: &RelativePath) -> Result<Document, ReadError> {
        if let Target::Commit(commit) = self.files() {
            let text = self.text_at(commit, path).filter(|_| self.exists(path));
            return text.ok_or_else(|| ReadError::Missing { path: path.clone() });
        }
        if *self.files() == Target::Index {
            return self.read_outlined(path);
        }
        let found = self.root.absolute(path).metadata().ok();
        let state = found.as_ref().and_then(cache::FileStamp::from_metadata);
        let lock = || self.match_cache.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, document)) = lock().files.get(path)
            && Some(*then) == state
        {
            return Ok(document.clone());
        }
        let document = self.read_outlined(path)?;
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

    /// Returns the text of a file at a commit, with its blocks but without its syntax tree. It is
    /// empty if the file did not exist there. `None` if it cannot be read.
    pub(crate) fn text_at(&self, commit: &CommitId, path: &RelativePath) -> Option<Document> {
        Some(self.file_at(&commit.0, path)?.document.clone())
    }

    /// Returns the file at the commit that a record was based on, or `None` if that cannot be read.
    fn file_at(&self, commit: &str, path: &RelativePath) -> Option<Arc<AtCommit>> {
        let key = (commit.to_owned(), path.clone());
        let kept = &self.match_cache.committed;
        if let Some(known) = kept.get(&key) {
            return Some(known);
        }
        let commit = CommitId(commit.to_owned());
        let bytes = self.git()?.file_at(&commit, path).ok()?;
        let document = self.document(path, &bytes.unwrap_or_default()).ok()?;
        let (document, outline) = (self.outlined(path, &document), OnceLock::new());
        Some(kept.keep(key, Arc::new(AtCommit { document, outline })))
    }

    /// Returns the signatures of the blocks of each of these files at a commit. Most files have the
    /// same content at many commits, so they are cached by content. Files that do not exist there
    /// or cannot be read are left out.
    fn signatures_at(&self, commit: &str, paths: &[&str]) -> Vec<Signatures> {
        let Some(git) = self.git() else { return Vec::new() };
        let files = git.blobs_at(&CommitId(commit.to_owned()), paths).unwrap_or_default();
        let of = |(path, blob): (RelativePath, BlobId)| {
            let key = (path, blob);
            if let Some(known) = self.match_cache.signatures.get(&key) {
                return Some(known);
            }
            let document = self.document(&key.0, &git.blob_of(key.1).ok()?).ok()?;
            let blocks = self.outlined(&key.0, &document).blocks();
            let found = blocks.blocks.iter().map(signature).collect();
            Some(self.match_cache.signatures.keep(key, Arc::new(found)))
        };
        files.into_iter().filter_map(of).collect()
    }

    /// Returns true if the commit `one` is `other` or one of its ancestors, and also if that is not
    /// known.
    fn precedes(&self, one: &str, other: &str) -> bool {
        let key = (one.to_owned(), other.to_owned());
        let find = || {
            let (earlier, later) = (CommitId(key.0.clone()), CommitId(key.1.clone()));
            let git = self.git()?;
            let of_line = self.history()?.precedes(git, &earlier, &later);
            of_line.or_else(|| git.is_ancestor(&later, &earlier).ok())
        };
        self.match_cache.order.get_or_find(&key, || find().unwrap_or(true))
    }

    fn remembered_changes(&self, commit: &str) -> Arc<FileChanges> {
        let kept = &self.match_cache.changed;
        if let Some((then, since)) = kept.get(commit)
            && then.elapsed() < FRESH
        {
            return since;
        }
        let since = Arc::new(self.read_since(commit).unwrap_or_default());
        kept.keep(commit.to_owned(), (Instant::now(), since)).1
    }

    fn read_since(&self, commit: &str) -> Option<FileChanges> {
        let commit = CommitId(commit.to_owned());
        let changes = self.changed_files_since(&commit).ok()?;
        let blocks = |change: &PathChange| {
            let blocks = self.standing_blocks(&change.path).ok()?;
            blocks.language?;
            Some((change.path.clone(), blocks))
        };
        let there = changes.iter().filter(|change| change.kind != ChangeKind::Deleted);
        let now = Arc::new(there.take(MAX_CHANGED).filter_map(blocks).collect());
        let then = changes.into_iter().filter(|change| change.kind != ChangeKind::Added);
        let then = then.take(MAX_CHANGED).map(|change| change.path).collect();
        Some(FileChanges { now, then, stood: OnceLock::new() })
    }

    /// Returns the files that differ from a commit, and perhaps files that were changed since and
    /// restored. The work tree is walked only once for many commits, to compare it with `HEAD`.
    pub fn changed_files_since(&self, commit: &CommitId) -> Result<Vec<PathChange>, GitError> {
        let (Some(git), Some(head)) = (self.git(), self.head()) else {
            return self.changes_since(Some(commit));
        };
        let known = self.match_cache.since_head.get(&()).filter(|(then, _)| then.elapsed() < FRESH);
        let since_head = match known {
            Some((_, changes)) => changes,
            None => {
                let changes = Arc::new(self.changes_since(Some(head))?);
                self.match_cache.since_head.keep((), (Instant::now(), changes)).1
            }
        };
        let until_head = git.changes(Some(commit), &Target::Commit(head.clone()))?;
        Ok(git::chained(until_head, &since_head))
    }

    fn recorded_files(&self) -> &Recorded {
        self.match_cache.recorded.get_or_init(|| {
            let mut recorded = Recorded::default();
            for path in self.ledger.paths() {
                let name = path.file_name().to_owned();
                recorded.by_name.entry(name).or_default().push(path.clone());
                recorded.by_folder.entry(folder(path).to_owned()).or_default().push(path.clone());
            }
            recorded
        })
    }

    /// Returns true if a block with this name or this text existed in `path` before the record was
    /// made, or `None` if that is not known.
    pub fn stood_as(&self, at: ClaimRef, path: &RelativePath, row: &Row) -> Option<bool> {
        let is_it = |other: &Row| other.identity == row.identity || other.text == row.text;
        let trail = self.trail(path);
        if trail
            .version_before(at)
            .is_some_and(|version| trail.outline(version).rows.iter().any(is_it))
        {
            return Some(true);
        }
        Some(self.file_at(self.ledger.based_on(at.entry)?, path)?.outline().rows.iter().any(is_it))
    }
}

fn signature(block: &Block) -> Signature {
    (block.identity.kind, block.name.clone(), block.fingerprint.tokens.clone())
}

fn folder(path: &RelativePath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The workspace, as the matcher sees it from one of its files.
impl Surroundings for Workspace {
    fn orphans(&self, path: &RelativePath) -> Arc<Orphans> {
        let stamp = self.time_and_length(path);
        let kept = &self.match_cache.orphans;
        if let Some((then, orphans)) = kept.get(path)
            && then == stamp
        {
            return orphans;
        }
        let orphans = |document| matching::orphans(&self.ledger, path, document, self);
        let orphans = match self.standing(path) {
            Ok(document) => orphans(Some(&document)),
            Err(ReadError::Missing { .. }) => orphans(None),
            // The file exists but cannot be read, so its blocks are unknown.
            Err(_) => Orphans::default(),
        };
        kept.keep(path.clone(), (stamp, Arc::new(orphans))).1
    }

    fn is_gone(&self, path: &RelativePath) -> bool {
        !self.exists(path)
    }

    fn existed(&self, at: ClaimRef, path: &RelativePath, block: &Block) -> Option<bool> {
        self.stood_as(at, path, &Row::from_block(block, 0))
    }

    fn candidates(&self, block: &Block) -> Candidates {
        let key = (block.identity.clone(), block.fingerprint.content.clone());
        let find = || Arc::new(matching::candidates(&self.ledger, block));
        self.match_cache.candidates.get_or_find(&key, find)
    }

    fn trail(&self, path: &RelativePath) -> SharedTrail {
        let find = || trail_cache::trail(self, path, &|a, b| self.precedes(a, b));
        self.match_cache.trails.get_or_find(path, || Arc::new(find()))
    }

    fn text_of(
        &self,
        path: &RelativePath,
        version: &Version,
        outline: &Outline,
    ) -> Option<Document> {
        let head = self.head().map(|head| head.0.as_str());
        let based_on = version.last.and_then(|at| self.ledger.based_on(at.entry));
        let commits = head.into_iter().chain(based_on);
        let mut files = commits.filter_map(|commit| self.file_at(commit, path));
        files.find(|file| file.outline() == outline).map(|file| file.document.clone())
    }

    fn gone_nearby(&self, path: &RelativePath) -> Vec<RelativePath> {
        let recorded = self.recorded_files();
        let named = recorded.by_name.get(path.file_name());
        let beside = recorded.by_folder.get(folder(path));
        let near = [named, beside].into_iter().flatten().filter(|near| near.len() <= MAX_NEAR);
        near.flatten().filter(|near| *near != path && self.is_gone(near)).cloned().collect()
    }

    fn pairs_before(&self, at: ClaimRef, before: &ContentHash) -> Option<PairLanes> {
        let path = &self.ledger.claim(at).file.relative_path;
        let then = self.file_at(self.ledger.based_on(at.entry)?, path)?.blocks();
        let replaced = then.blocks.iter().find(|old| old.fingerprint.content == *before)?;
        replaced.fingerprint.pairs.lanes()
    }

    fn existed_anywhere(&self, at: ClaimRef, path: &RelativePath, block: &Block) -> bool {
        let Some(commit) = self.ledger.based_on(at.entry) else { return false };
        let known = signature(block);
        if self.signatures_at(commit, &[path.as_str()]).iter().any(|file| file.contains(&known)) {
            return true;
        }
        let since = self.remembered_changes(commit);
        let stood = since.stood.get_or_init(|| {
            let paths: Vec<&str> = since.then.iter().map(RelativePath::as_str).collect();
            self.signatures_at(commit, &paths)
        });
        stood.iter().any(|file| file.contains(&known))
    }

    fn changed_since(&self, at: ClaimRef) -> Arc<Changed> {
        self.ledger
            .based_on(at.entry)
            .map(|commit| Arc::clone(&self.remembered_changes(commit).now))
            .unwrap_or_default()
    }
}
