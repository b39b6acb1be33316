//! What a workspace keeps in memory: answers about files, records and earlier texts of intents.
//! `match_cache` and `intent_history` find these answers.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::memo::Memo;
use super::produced::ByIntent;
use code::{BlockKind, ContentHash, Document, FileBlocks, Identity, TokenHash};
use ground::git::{BlobId, PathChange};
use ground::{CommitId, RelativePath, cache};
use intents::{Intent, Registry};
use ledger::Digest;
use provenance::matching::{CandidateRecord, Orphans, SharedTrail};
use provenance::outline::Outline;

/// The capacity of two caches: the blocks of files in the work tree, and the candidates of blocks.
/// A full cache is emptied.
pub(super) const MAX_BLOCKS: usize = 20_000;
/// How many texts are kept with their syntax trees, which are large.
const MAX_TREES: usize = 4;
/// The number of files of earlier commits whose signatures are kept. They need about 5 KB each.
const MAX_SIGNATURES: usize = 4_096;
/// The capacity of the other caches. A full cache is emptied.
const MAX_KEPT: usize = 256;
/// How long an answer that depends on many files is reused without a check.
pub(super) const FRESH: Duration = Duration::from_secs(20);
/// The maximum number of commits that are visited to find the one that created an intent.
pub(super) const MAX_VISITED: usize = 20_000;
/// The number of texts of intents that are kept in memory at most.
const MAX_TEXTS: usize = 10_000;
/// The number of registries that are kept in memory at most.
const MAX_REGISTRIES: usize = 256;

/// Cached answers about files other than the one that is matched. They are valid for one state of
/// the ledger; `Self::with_other_records` keeps those that do not depend on records.
#[derive(Default)]
pub struct MatchCache {
    pub(super) committed: Arc<CommittedFiles>,
    pub(super) signatures: Arc<KnownSignatures>,
    pub(super) texts: Arc<Memo<String, Document, MAX_KEPT>>,
    pub(super) order: Arc<Memo<(String, String), bool>>,
    pub(super) standing: Arc<Mutex<StandingFiles>>,
    pub(super) orphans: Memo<RelativePath, (TimeAndLength, Arc<Orphans>)>,
    pub(super) changed: Memo<String, (Instant, Arc<FileChanges>), MAX_KEPT>,
    pub(super) since_head: Memo<(), (Instant, Arc<Vec<PathChange>>)>,
    pub(super) candidates: Memo<(Identity, ContentHash), Candidates, MAX_BLOCKS>,
    pub(super) trails: Memo<RelativePath, SharedTrail, MAX_KEPT>,
    pub(super) recorded: OnceLock<Recorded>,
    pub registries: Arc<Registries>,
    pub(super) produced: Memo<Option<String>, (Instant, Arc<ByIntent>)>,
    pub(super) parsed: Mutex<Vec<(RelativePath, Document)>>,
}

impl MatchCache {
    /// Returns the blocks that one intent, or each intent, has produced. The answer is kept for
    /// `FRESH`.
    pub fn produced(&self, of: Option<&str>, find: impl FnOnce() -> ByIntent) -> Arc<ByIntent> {
        let of = of.map(str::to_owned);
        if let Some((then, known)) = self.produced.get(&of)
            && then.elapsed() < FRESH
        {
            return known;
        }
        let found = Arc::new(find());
        self.produced.keep(of, (Instant::now(), found)).1
    }

    /// Returns the text with this key and its blocks. The same text is requested again and again,
    /// because most files equal their version in the last commit and stay the same in most commits.
    pub fn text(&self, key: String, find: impl FnOnce(&str) -> Document) -> Document {
        if let Some(known) = self.texts.get(&key) {
            return known;
        }
        let found = find(&key);
        // Not cached: the blocks of a text that does not parse depend also on the commit that it
        // was edited from.
        if found.blocks().has_error {
            return found;
        }
        self.texts.keep(key, found)
    }

    /// Returns a text with its blocks and without its syntax tree. It is parsed as an edit of the
    /// version of the file that was parsed last, because versions usually differ in few lines.
    pub fn parsed(&self, path: &RelativePath, document: &Document) -> Document {
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

    /// Returns a cache for another state of the ledger, with the answers that do not depend on
    /// records.
    pub(crate) fn with_other_records(&self) -> Self {
        Self {
            committed: Arc::clone(&self.committed),
            signatures: Arc::clone(&self.signatures),
            texts: Arc::clone(&self.texts),
            order: Arc::clone(&self.order),
            standing: Arc::clone(&self.standing),
            registries: Arc::clone(&self.registries),
            ..Self::default()
        }
    }
}

/// Files at commits, by the id of the commit and the path.
pub(super) type CommittedFiles = Memo<(String, RelativePath), Arc<AtCommit>, MAX_KEPT>;

/// A file at a commit. Its outline is made on first use.
pub(super) struct AtCommit {
    pub(super) document: Document,
    pub(super) outline: OnceLock<Outline>,
}

impl AtCommit {
    pub(super) fn blocks(&self) -> Arc<FileBlocks> {
        self.document.blocks()
    }

    pub(super) fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::from_blocks(&self.blocks()))
    }
}

/// Files of the work tree, each with the state for which it was read, and the number of their
/// blocks.
#[derive(Default)]
pub(super) struct StandingFiles {
    pub(super) files: HashMap<RelativePath, (cache::FileStamp, Document)>,
    pub(super) blocks: usize,
}

/// The records that could describe a block.
pub(super) type Candidates = Arc<Vec<CandidateRecord>>;

/// Files that are new or changed since a commit, each with its blocks.
pub(super) type Changed = Vec<(RelativePath, Arc<FileBlocks>)>;

/// The differences between a commit and the work tree.
#[derive(Default)]
pub(super) struct FileChanges {
    /// The new and changed files that exist now.
    pub(super) now: Arc<Changed>,
    /// The changed and deleted files that existed at the commit.
    pub(super) then: Vec<RelativePath>,
    /// For each file of `then`, the signatures of its blocks at the commit. Filled on first use.
    pub(super) stood: OnceLock<Vec<Signatures>>,
}

/// What makes two blocks of any files the same block: the kind, the name and the tokens.
pub(super) type Signature = (BlockKind, String, TokenHash);

pub(super) type Signatures = Arc<HashSet<Signature>>;

pub(super) type KnownSignatures = Memo<(RelativePath, BlobId), Signatures, MAX_SIGNATURES>;

/// The files that have records, by file name and by folder.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) by_name: HashMap<String, Vec<RelativePath>>,
    pub(super) by_folder: HashMap<String, Vec<RelativePath>>,
}

/// The modification time and the length of a file, by which a change is noticed; `None` if there is
/// no file.
pub(super) type TimeAndLength = Option<(SystemTime, u64)>;

/// The files from which a registry is read at a commit, at all places where it may be.
pub(super) type RegistryFiles = Arc<Vec<(RelativePath, BlobId)>>;

/// The registries of commits. Commits with the same files share one registry, because most commits
/// do not change it.
pub(crate) type Registries = Memo<RegistryFiles, Option<Arc<Registry>>, MAX_REGISTRIES>;

/// The intent id and the hash of a text, and where the text is searched for: at these commits, and
/// up to the one that added this section of evidence.
pub(super) type TextKey = (String, String, Vec<CommitId>, Option<Digest>);

/// Answers about earlier texts of intents. They depend on the present registry, because it lists
/// the former ids.
#[derive(Default)]
pub struct IntentHistory {
    /// The names of namesakes. The key is a record's intent id, its intent hash, the name that it
    /// cites (or else its commit), and its section.
    pub names: Memo<[String; 4], Option<String>>,
    pub(super) files: Memo<CommitId, Option<RegistryFiles>, MAX_VISITED>,
    /// For each intent id, all texts that the intent has had. `None` if git cannot tell.
    pub(super) versions: Memo<String, Option<Arc<Vec<Intent>>>>,
    /// For each look-up, the text with the wanted hash, or `None`.
    pub(super) texts: Memo<TextKey, Option<Arc<Intent>>, MAX_TEXTS>,
}
