//! The workspace with everything that verbs need, read once and never changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::caches::{IntentHistory, MatchCache};
use super::error::{ReadError, VerbError};
use super::history::History;
use super::shared_branches;
use code::{Document, MAX_BYTES, Unread};
use ground::cache::{CacheSlot, Computed};
use ground::store::StoreError;
use ground::{
    Attributes, CommitId, Environment, Finding, Git, Hint, Ignores, LayeredPolicy, Policy,
    RelativePath, Root, Selection,
    git::{
        GitError, PathChange, Target, configured_on_machine, path_on_machine, person_of_machine,
    },
    root::RootError,
    session, store,
    text::{counted, shell_word},
};
use intents::{FOLDER, Intent, Registry};
use ledger::read::is_ledger_path;
use ledger::{ClaimRef, Ledger, evidence};
use provenance::matching::{self, SharedTrail};

/// The number of files or blocks that [`Workspace::in_parts`] gives at a time.
pub const AT_ONCE: usize = 256;

/// Everything that a verb needs. It is cheap to clone and never changes: after a change on disk, a
/// new one is made.
#[derive(Clone)]
pub struct Workspace {
    pub root: Arc<Root>,
    /// The policy: what people allow.
    pub policy: Arc<Policy>,
    /// What is wrong in the policy.
    pub policy_findings: Arc<[Finding]>,
    pub registry: Arc<Registry>,
    /// The registry on disk, if it does not parse and `registry` is therefore an earlier version.
    broken_registry: Option<Arc<Registry>>,
    /// The records. The ledger is read on first use, so that the gate does not have to wait for it.
    pub ledger: Arc<LazyLedger>,
    /// The rules for what agents may not touch, and what git ignores.
    pub ignores: Arc<Ignores>,
    attributes: Arc<Attributes>,
    /// The repository and its `HEAD`. Opened on first use, so that the gate does not have to wait
    /// for it.
    repository: Arc<LazyRepository>,
    /// The intent that the person of this work tree has selected.
    pub selection: Option<Selection>,
    /// A cache of what was found out about other files while one file was matched with this ledger.
    pub match_cache: Arc<MatchCache>,
    /// A cache of what is known of earlier texts of the intents in `registry`.
    pub intent_history: Arc<IntentHistory>,
    /// Where files are read: the work tree, the index, or a commit.
    files: Target,
    /// The commit that the files are based on, if it differs from that of the work tree.
    base: Option<Option<CommitId>>,
}

/// The git repository of a work tree.
#[derive(Default)]
struct Repository {
    git: Option<Arc<Git>>,
    head: Option<CommitId>,
    error: Option<Arc<str>>,
    /// The histories that were walked, by the commit at which they end.
    histories: Mutex<HashMap<CommitId, Arc<History>>>,
}

type LazyRepository = LazyLock<Repository, Box<dyn FnOnce() -> Repository + Send + Sync>>;

impl Repository {
    fn open(root: &Root) -> Self {
        match Git::open(root) {
            Ok(Some(git)) => Self::from_git(Arc::new(git)),
            Ok(None) => Self { error: no_repository(root).map(Arc::from), ..Self::default() },
            Err(error) => Self { error: Some(Arc::from(error.with_hint())), ..Self::default() },
        }
    }

    fn from_git(git: Arc<Git>) -> Self {
        let (head, error) = match git.head() {
            Ok(head) => (head, None),
            Err(error) => (None, Some(Arc::from(error.with_hint()))),
        };
        Self { git: Some(git), head, error, ..Self::default() }
    }

    /// Returns the same repository with its present `HEAD`.
    fn refreshed(&self) -> Self {
        match &self.git {
            Some(git) => Self::from_git(Arc::clone(git)),
            None => Self { error: self.error.clone(), ..Self::default() },
        }
    }
}

/// A ledger that is read on first use.
pub type LazyLedger = LazyLock<Ledger, Box<dyn FnOnce() -> Ledger + Send + Sync>>;

fn lazily(read: impl FnOnce() -> Ledger + Send + Sync + 'static) -> Arc<LazyLedger> {
    Arc::new(LazyLock::new(Box::new(read)))
}

impl Workspace {
    /// Opens the workspace that contains a file or folder.
    pub fn open(target: &Path, environment: &Environment) -> Result<Self, RootError> {
        Ok(Self::at_root(Root::find(target, environment)?))
    }

    /// Opens the workspace at a known root. Errors in its rules do not make this fail; they become
    /// findings.
    pub fn at_root(root: Root) -> Self {
        Self::rules_of(Arc::new(root)).with_rules_left_out().with_ledger(Ledger::load)
    }

    /// Reads the rules at a root. The ledger is left empty.
    fn rules_of(root: Arc<Root>) -> Self {
        let (policy, policy_findings) = Policy::load(&root);
        let of_repository = Arc::clone(&root);
        Self {
            policy: Arc::new(policy),
            policy_findings: policy_findings.into(),
            registry: Arc::new(Registry::load(&root)),
            broken_registry: None,
            ledger: lazily(Ledger::default),
            ignores: Arc::new(Ignores::load(&root)),
            attributes: Arc::new(Attributes::load(&root)),
            selection: session::selected(&root),
            repository: Arc::new(LazyLock::new(Box::new(move || Repository::open(&of_repository)))),
            match_cache: Arc::default(),
            intent_history: Arc::default(),
            files: Target::WorkTree,
            base: None,
            root,
        }
    }

    /// If a sparse checkout leaves the registry out of the work tree, reads the registry and the
    /// other rules from the index. A registry that was deleted counts as missing.
    fn with_rules_left_out(self) -> Self {
        if self.registry.exists() || !self.root.governed() {
            return self;
        }
        let left_out = self.git().map(|git| git.left_out(&Registry::is_place));
        if !left_out.is_some_and(|files| files.is_ok_and(|files| !files.is_empty())) {
            return self;
        }
        match self.governed_by(Target::Index, None, Ledger::default()) {
            Ok(rules) => Self {
                policy: rules.policy,
                policy_findings: rules.policy_findings,
                registry: rules.registry,
                ignores: rules.ignores,
                ..self
            },
            Err(_) => self,
        }
    }

    /// Returns the same workspace with other rules than those on disk.
    pub fn under_rules(
        self,
        (policy, policy_findings): (Policy, Vec<Finding>),
        registry: Registry,
        ignores: Ignores,
    ) -> Self {
        Self {
            policy: Arc::new(policy),
            policy_findings: policy_findings.into(),
            registry: Arc::new(registry),
            intent_history: Arc::default(),
            ignores: Arc::new(ignores),
            ..self
        }
    }

    /// Returns the same workspace with a ledger that is read on first use.
    fn with_ledger(self, load: impl FnOnce(&Root) -> Ledger + Send + Sync + 'static) -> Self {
        let ws = self.clone();
        let load = move || {
            if let Some(git) = ws.git().filter(|_| ws.root.governed()) {
                shared_branches::remember(&ws.root, &ws.policy, git);
            }
            let left_out = ws.git().and_then(|git| git.left_out(&is_ledger_path).ok());
            let ledger = load(&ws.root);
            ws.deriving(match left_out.filter(|files| !files.is_empty()) {
                Some(files) => ledger.with_files(&files),
                None => ledger,
            })
        };
        Self { ledger: lazily(load), ..self }
    }

    /// Reads everything again that may have changed on disk. The ledger is read again only if its
    /// files differ.
    pub fn reload(&self) -> Self {
        let root = Root::find(self.root.path(), self.root.environment());
        let root = Arc::new(root.unwrap_or_else(|_| (*self.root).clone()));
        let repository = self.repository.refreshed();
        let ws = Self {
            ledger: Arc::clone(&self.ledger),
            match_cache: Arc::clone(&self.match_cache),
            repository: Arc::new(LazyLock::new(Box::new(move || repository))),
            files: self.files.clone(),
            base: self.base.clone(),
            ..Self::rules_of(root)
        };
        ws.with_rules_left_out().with_ledger_of_now()
    }

    /// Reads everything now that is otherwise read on first use, so that a server's first answer is
    /// not late.
    pub fn warmed(self) -> Self {
        LazyLock::force(&self.ledger);
        LazyLock::force(&self.repository);
        self
    }

    /// Returns the same workspace with the registry of `before`, if its own registry does not
    /// parse. Only for a server whose user is editing the registry; never use it to decide or to
    /// write.
    pub fn judged_as(self, before: &Self) -> Self {
        let is_broken = |registry: &Registry| registry.syntax_error().is_some();
        if !is_broken(&self.registry) || is_broken(&before.registry) {
            return self;
        }
        let registry = Arc::new(before.registry.copy());
        Self { broken_registry: Some(Arc::clone(&self.registry)), registry, ..self }
    }

    /// Returns the registry on disk, whether it parses or not.
    pub fn registry_on_disk(&self) -> &Arc<Registry> {
        self.broken_registry.as_ref().unwrap_or(&self.registry)
    }

    /// Returns a sentence that says that an older registry is in use. `None` if it is not.
    pub fn judged_by_older(&self) -> Option<String> {
        let broken = self.broken_registry.as_ref()?;
        Some(format!(
            "{} does not parse; edits are judged by its last version that did.",
            broken.path()
        ))
    }

    /// Returns the same workspace with the present ledger. If the files of the ledger have not
    /// changed, it is the same ledger, so that cached results stay valid.
    pub fn with_ledger_of_now(&self) -> Self {
        if self.ledger.is_current(&self.root) {
            return self.clone();
        }
        let before = Arc::clone(&self.ledger);
        let match_cache = Arc::new(self.match_cache.with_other_records());
        Self { match_cache, ..self.clone() }.with_ledger(move |root| before.reload(root))
    }

    /// Divides a long list of files or blocks into parts. Each part comes with a workspace of its
    /// own, so that what is read of the ledger for one part is not kept in memory for the next.
    pub fn in_parts<'a, T>(&self, all: &'a [T]) -> impl Iterator<Item = (Self, &'a [T])> {
        all.chunks(AT_ONCE).map(move |part| {
            let before = Arc::clone(&self.ledger);
            let ledger = lazily(move || before.without_derived());
            (Self { ledger, ..self.clone() }, part)
        })
    }

    /// Returns the repository. `None` without git.
    pub fn git(&self) -> Option<&Arc<Git>> {
        self.repository.git.as_ref()
    }

    /// Returns the name that git has for the person who works here, if any.
    pub fn person(&self) -> Option<String> {
        let of_machine = || person_of_machine(self.root.environment());
        self.git().map_or_else(of_machine, |git| git.person())
    }

    /// Returns a git setting of the repository or the person. `None` if it is not set.
    pub fn setting(&self, key: &str) -> Option<String> {
        let of_machine = || configured_on_machine(key, self.root.environment());
        self.git().map_or_else(of_machine, |git| git.configured(key))
    }

    /// Like [`Workspace::setting`], for a setting that is a path.
    pub fn path_setting(&self, key: &str) -> Option<PathBuf> {
        let of_machine = || path_on_machine(key, self.root.environment());
        self.git().map_or_else(of_machine, |git| git.configured_path(key))
    }

    /// Returns the commit that the files are based on.
    pub fn head(&self) -> Option<&CommitId> {
        match &self.base {
            Some(base) => base.as_ref(),
            None => self.repository.head.as_ref(),
        }
    }

    /// Returns the same workspace with the files of the index or of a commit, the commit that they
    /// are based on, and their ledger.
    pub fn with_files(&self, files: Target, base: Option<CommitId>, ledger: Ledger) -> Self {
        Self {
            files,
            base: Some(base),
            ledger: lazily(move || ledger),
            match_cache: Arc::default(),
            intent_history: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns the same workspace with the files of the index, and the journal: the content of the
    /// next commit after sealing.
    pub fn at_index(&self) -> Result<Self, GitError> {
        let ledger = self.ledger_at(&Target::Index)?.with_journals(&self.root);
        self.governed_by(Target::Index, self.head().cloned(), ledger)
    }

    /// Returns the same workspace with the files of the index, without the journal: what everyone
    /// will see after `git commit`.
    pub fn at_index_alone(&self) -> Result<Self, GitError> {
        let ledger = self.ledger_at(&Target::Index)?;
        self.governed_by(Target::Index, self.head().cloned(), ledger)
    }

    /// Returns the workspace as a commit has it. Work tree, index and journal are not read.
    pub fn at_commit(&self, commit: CommitId, base: Option<CommitId>) -> Result<Self, GitError> {
        let target = Target::Commit(commit);
        let ledger = self.ledger_at(&target)?;
        self.governed_by(target, base, ledger)
    }

    /// Like [`Workspace::at_commit`], for questions about a commit on this machine: evidence that
    /// this clone has sealed is trusted as its own.
    pub fn recalled_at(&self, commit: CommitId) -> Result<Self, GitError> {
        let then = self.at_commit(commit.clone(), Some(commit))?;
        let (before, root) = (Arc::clone(&then.ledger), Arc::clone(&then.root));
        Ok(Self { ledger: lazily(move || before.with_seals(&root)), ..then })
    }

    /// Returns the files of this workspace, with the ledger and the rules of a commit.
    pub fn as_of(&self, commit: CommitId) -> Result<Self, GitError> {
        let then = self.at_commit(commit, None)?;
        let (files, base) = (self.files.clone(), self.base.clone());
        Ok(Self { files, base, match_cache: Arc::default(), ..then })
    }

    /// Returns the same workspace with the files of the index or of a commit, and with the
    /// registry, policy, ignore rules and attributes from there.
    fn governed_by(
        &self,
        target: Target,
        base: Option<CommitId>,
        ledger: Ledger,
    ) -> Result<Self, GitError> {
        let Some(git) = self.git() else { return Ok(self.clone()) };
        let policy = policy_at(git, &target)?.unwrap_or_default();
        let registry = Registry::at_target(git, &target)?;
        let ignores = ignores_at(&self.root, git, &target)?;
        let (of, source) = (Arc::clone(git), target.clone());
        let attributes = Attributes::from_reader(move |path| of.text(&source, path).ok()?);
        let ws = self.with_files(target, base, Ledger::default());
        let ws = ws.under_rules(policy, registry, ignores);
        let ws = Self { attributes: Arc::new(attributes), broken_registry: None, ..ws };
        let ledger = ws.deriving(ledger);
        Ok(Self { ledger: lazily(move || ledger), ..ws })
    }

    /// Returns every regular file of the commit from which files are read, or else of the index.
    pub fn tracked(&self) -> Result<Vec<RelativePath>, GitError> {
        let Some(git) = self.git() else { return Ok(Vec::new()) };
        match &self.files {
            Target::Commit(commit) => git.files_at(commit),
            Target::WorkTree | Target::Index => git.tracked(),
        }
    }

    /// Returns the commit from which files are read, or else the `HEAD` of the work tree.
    pub fn tip(&self) -> Option<&CommitId> {
        match &self.files {
            Target::Commit(commit) => Some(commit),
            Target::WorkTree | Target::Index => self.repository.head.as_ref(),
        }
    }

    /// Returns true if [`Self::tip`] is the commit that is checked out.
    pub(crate) fn is_checked_out(&self) -> bool {
        self.tip() == self.repository.head.as_ref()
    }

    /// Returns the ledger in the index or at a commit: evidence, and the records that other tools
    /// wrote.
    pub fn ledger_at(&self, target: &Target) -> Result<Ledger, GitError> {
        let Some(git) = self.git() else { return Ok(Ledger::default()) };
        let files = git.read_below(".orchestration", target, &is_ledger_path)?;
        Ok(Ledger::from_files(&files))
    }

    /// Returns the history that ends at [`Self::tip`]. `None` before the first commit.
    pub fn history(&self) -> Option<Arc<History>> {
        let repository = &**self.repository;
        let (git, tip) = (repository.git.as_ref()?, self.tip()?);
        let mut known = repository.histories.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(History::walked_from(&self.root, git, tip));
        Some(Arc::clone(known.entry(tip.clone()).or_insert_with(new)))
    }

    pub(crate) fn without_ledger(&self) -> Self {
        let ledger = lazily(Ledger::default);
        Self { ledger, match_cache: Arc::default(), ..self.clone() }
    }

    /// Returns where files are read: the work tree, the index, or a commit.
    pub fn files(&self) -> &Target {
        &self.files
    }

    pub fn exists(&self, path: &RelativePath) -> bool {
        match &self.files {
            Target::WorkTree => self.root.absolute(path).symlink_metadata().is_ok(),
            target => self.git().is_none_or(|git| matches!(git.file(target, path), Ok(Some(_)))),
        }
    }

    pub fn changes_since(&self, base: Option<&CommitId>) -> Result<Vec<PathChange>, GitError> {
        self.git().map_or(Ok(Vec::new()), |git| git.changes(base, &self.files))
    }

    /// Returns why the repository cannot be read although there is a `.git`.
    pub fn git_error(&self) -> Option<&str> {
        self.repository.error.as_deref()
    }

    /// Returns the path of `target` inside the workspace. `target` may be relative to `cwd`.
    pub fn path(&self, cwd: &Path, target: &Path) -> Result<RelativePath, VerbError> {
        Ok(self.root.relative(cwd, target)?)
    }

    /// Reads a file. If it does not parse, its outline is carried over from the last commit.
    pub fn read(&self, path: &RelativePath) -> Result<Document, ReadError> {
        let unread = |reason| ReadError::Unread { path: path.clone(), reason };
        let too_large =
            |bytes: u64| unread(Unread::TooLarge { bytes: bytes.try_into().unwrap_or(usize::MAX) });
        let bytes = match &self.files {
            Target::WorkTree => match self.root.read(path, MAX_BYTES as u64) {
                Err(StoreError::TooLarge { .. }) => {
                    let found = self.root.absolute(path).symlink_metadata();
                    let bytes = found.map_or(0, |found| found.len()).max(MAX_BYTES as u64 + 1);
                    return Err(too_large(bytes));
                }
                bytes => bytes.map_err(ReadError::Store)?,
            },
            target => match self.git().map(|git| git.file(target, path)).transpose() {
                Err(GitError::TooLarge { bytes, .. }) => return Err(too_large(bytes)),
                bytes => bytes.map_err(ReadError::Git)?.flatten(),
            },
        };
        let bytes = bytes.ok_or_else(|| ReadError::Missing { path: path.clone() })?;
        let (ws, at) = (self.clone(), path.clone());
        self.document(path, &bytes)
            .map(|document| document.with_origin(move || ws.read_at(ws.head()?, &at).ok()?))
            .map_err(unread)
    }

    /// Like [`Workspace::read`], with the blocks but without the syntax tree, which is enough to
    /// find the records of blocks.
    pub fn read_outlined(&self, path: &RelativePath) -> Result<Document, ReadError> {
        Ok(self.outlined(path, &self.read(path)?))
    }

    /// Returns a text with its blocks but without its syntax tree. Most texts that are needed are
    /// those of earlier commits, and parsing one takes milliseconds, so the blocks are cached
    /// between processes.
    pub fn outlined(&self, path: &RelativePath, document: &Document) -> Document {
        const LARGE: usize = 32 * 1024;
        let digest = store::sha256(document.text().as_bytes());
        // A build without the grammar of a language divides the same text into other blocks.
        let language = document.language().map_or("", |language| language.id);
        let key = format!("{path}\0{}\0{language}\0{digest}", self.is_generated(path));
        self.match_cache.text(key, |key| {
            let slot = CacheSlot::of_inputs(&self.root, Computed::Blocks, key.as_bytes());
            let kept = slot.as_ref().and_then(CacheSlot::recall);
            if let Some(known) = kept.and_then(|kept| document.with_kept_blocks(&kept)) {
                return known;
            }
            let document = match document.len_bytes() >= LARGE {
                true => self.match_cache.parsed(path, document),
                false => document.without_tree(),
            };
            if let (Some(slot), Some(blocks)) = (slot, document.kept_blocks()) {
                slot.keep(&blocks);
            }
            document
        })
    }

    /// Returns the text of a rule file. `None` if the file does not exist.
    pub fn text(&self, path: &RelativePath) -> Result<Option<String>, VerbError> {
        let bytes = match (&self.files, self.git()) {
            (Target::WorkTree, _) | (_, None) => self.root.read(path, MAX_BYTES as u64)?,
            (target, Some(git)) => return Ok(git.text(target, path)?),
        };
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Returns true if `.gitattributes` declares the file as generated by a program.
    pub fn is_generated(&self, path: &RelativePath) -> bool {
        self.attributes.is_generated(path)
    }

    /// Parses a text of a file. The text may be that of any commit.
    pub fn document(&self, path: &RelativePath, bytes: &[u8]) -> Result<Document, Unread> {
        let document = Document::from_bytes(path.as_str(), bytes)?;
        Ok(if self.is_generated(path) { document.declared_generated() } else { document })
    }

    /// Reads a file at a commit. `None` if it did not exist there or cannot be read as text.
    pub fn read_at(
        &self,
        commit: &CommitId,
        path: &RelativePath,
    ) -> Result<Option<Document>, GitError> {
        let Some(git) = self.git() else { return Ok(None) };
        let bytes = match git.file_at(commit, path) {
            Err(GitError::TooLarge { .. }) => None,
            bytes => bytes?,
        };
        Ok(bytes.and_then(|bytes| self.document(path, &bytes).ok()))
    }

    /// Returns the recorded history of a file.
    pub fn trail(&self, path: &RelativePath) -> SharedTrail {
        matching::Surroundings::trail(self, path)
    }

    /// Returns the claims under an intent, under any id that it has or had, in fold order.
    pub fn claims_of(&self, intent: &str) -> Vec<ClaimRef> {
        let ids = self.registry.ids(intent);
        let mut claims: Vec<ClaimRef> =
            ids.iter().flat_map(|id| self.ledger.of_intent(id)).collect();
        claims.retain(|at| self.namesake_of(&self.ledger.claim(*at)).is_none());
        if ids.len() > 1 {
            claims.sort_unstable();
        }
        claims
    }

    /// Returns the indices of the entries that name an intent, under any id that it has or had, in
    /// fold order.
    pub fn entries_of(&self, intent: &str) -> Vec<u32> {
        let ids = self.registry.ids(intent);
        let mut entries: Vec<u32> =
            ids.iter().flat_map(|id| self.ledger.entries_of_intent(id)).collect();
        entries.sort_unstable();
        entries
    }

    pub fn intent(&self, id: &str) -> Result<&Intent, VerbError> {
        self.sound_registry()?;
        self.registry.get(id).ok_or_else(|| VerbError::UnknownIntent {
            id: id.to_owned(),
            known: self.registry.intents().iter().map(|it| it.id.value.clone()).collect(),
        })
    }

    /// Says that a governed workspace has no registry, and how to create or restore one. `None` if
    /// it has one.
    pub fn missing_registry(&self) -> Option<String> {
        if !self.root.governed() || self.registry.exists() {
            return None;
        }
        let path = self.registry.path();
        let back = self.lost_registry();
        Some(back.unwrap_or_else(|| format!("{path} is missing; `intent init` creates it")))
    }

    /// Says that the registry is missing on disk and how to restore it from git. `None` if git has
    /// none.
    pub fn lost_registry(&self) -> Option<String> {
        let held = |target: &Target| {
            Registry::at_target(self.git()?, target).ok().filter(Registry::exists)
        };
        // The staged version may be newer than the committed one.
        let (command, held) = match held(&Target::Index) {
            Some(staged) => ("git restore", staged),
            None => ("git checkout HEAD --", held(&Target::Commit(self.head()?.clone()))?),
        };
        let path = if held.list().exists() { held.path().as_str() } else { FOLDER };
        let place = self.place_for_git(path);
        Some(format!("{path} is missing in the work tree; `{command} {place}` gets it back"))
    }

    /// Returns a path of the workspace for a git command line, relative to the top of the work
    /// tree, so that the command works in every folder.
    pub fn place_for_git(&self, path: &str) -> String {
        let top = self.root.work_tree().unwrap_or(self.root.path());
        let below = self.root.path().strip_prefix(top).unwrap_or(Path::new(""));
        let place = below.join(path).display().to_string().replace('\\', "/");
        shell_word(&format!(":/{place}"))
    }

    /// Returns the intent with this id, or an error if it is not in progress.
    pub fn intent_in_progress(&self, id: &str) -> Result<&Intent, VerbError> {
        let intent = self.intent(id)?;
        if intent.in_progress() {
            return Ok(intent);
        }
        let status =
            intent.status.as_ref().map_or("without a known status", |status| status.value.as_str());
        Err(VerbError::NotInProgress { id: id.to_owned(), status: status.to_owned() })
    }

    /// Returns an error unless the registry exists and parses.
    pub fn sound_registry(&self) -> Result<(), VerbError> {
        if let Some(reason) = self.missing_registry() {
            return Err(VerbError::refused(reason));
        }
        match self.registry.syntax_error() {
            None => Ok(()),
            Some(finding) => {
                let (place, what) =
                    (finding.place_in_compiler_form(self.registry.path()), &finding.message);
                let hint = "fix it first; nothing was changed";
                Err(VerbError::mendable(format!("{place}: {what}"), hint))
            }
        }
    }

    /// Says that the registry is missing or cannot be read, where and why. `None` if it was read.
    pub fn unread_registry(&self) -> Option<String> {
        if let Some(missing) = self.missing_registry() {
            return Some(missing);
        }
        let finding = self.registry.syntax_error()?;
        let place = finding.place_in_compiler_form(self.registry.path());
        Some(format!("The registry cannot be read. {place}: {}", finding.message))
    }

    /// Says how much evidence has a newer format than this program can read. `None` if there is
    /// none.
    pub fn unread_evidence(&self) -> Option<String> {
        let newest = self.ledger.newer_formats().map(|(_, version)| version).max()?;
        let files = counted(self.ledger.newer_formats().count(), "file");
        Some(format!(
            "The ledger is not read in full: {files} of evidence in format {newest}, while this version of `intent` knows {}. Install a newer version; `intent verify` names the files.",
            evidence::FORMAT
        ))
    }

    /// Returns an error unless there is an `.orchestration/` folder.
    pub fn governed(&self) -> Result<(), VerbError> {
        if self.root.governed() {
            return Ok(());
        }
        let root = self.root.path().display();
        let message = format!("{root} has no .orchestration/ folder");
        Err(VerbError::mendable(message, "create one with `intent init`"))
    }

    /// Returns an error if there is a git repository that cannot be read.
    pub fn readable_git(&self) -> Result<(), VerbError> {
        let broken = |reason: &str| VerbError::refused(format!("nothing can be judged: {reason}"));
        self.git_error().map_or(Ok(()), |reason| Err(broken(reason)))
    }

    /// Returns the error for a question that needs a git repository. `what` cannot be judged.
    pub fn no_git(&self, what: &str) -> VerbError {
        let root = self.root.path().display();
        VerbError::refused(format!(
            "{root} has no git repository that can be read, so {what} cannot be judged"
        ))
    }

    /// Returns the present id of the intent that the session has selected, or the person if no
    /// session is named.
    pub fn selected(&self, session: Option<&str>) -> Option<String> {
        let selected = match session {
            Some(session) => session::selected_by(&self.root, session),
            None => self.selection.clone(),
        };
        selected.map(|selection| self.registry.present_id(&selection.intent_id).to_owned())
    }
}

pub const POLICY: &str = ".orchestration/policy.yaml";

/// Returns the policy in the index or at a commit, and what is wrong with it.
pub fn policy_at(git: &Git, target: &Target) -> Result<Option<(Policy, Vec<Finding>)>, GitError> {
    let path = RelativePath::new(POLICY).expect("a fixed name is a path");
    let read = |path: &RelativePath| {
        let text = git.text(target, path).map_err(|_| "cannot be read".to_owned())?;
        Ok(text.map(String::into_bytes))
    };
    let layered =
        git.text(target, &path)?.map(|text| LayeredPolicy::from_text(&path, &text, &read));
    Ok(layered.map(|layered| (layered.policy, layered.findings)))
}

/// The default path of the file with the findings that `intent check --baseline` leaves out.
pub const KNOWN_FINDINGS: &str = ".orchestration/baseline.json";

/// The ignore files for agents, at the root of a workspace.
pub const IGNORE_FILES: [&str; 2] = [".intentignore", ".rooignore"];

/// Returns the ignore rules for agents in the index or at a commit.
pub fn ignores_at(root: &Root, git: &Git, target: &Target) -> Result<Ignores, GitError> {
    let mut texts = Vec::new();
    for name in IGNORE_FILES {
        let path = RelativePath::new(name).expect("a fixed name is a path");
        if let Some(text) = git.text(target, &path)? {
            texts.push((path, text));
        }
    }
    Ok(Ignores::from_texts(root, &texts))
}

/// Returns an error text if there is a `.git` that leads nowhere, for example because the
/// repository was moved. Without a `.git` there is no error.
fn no_repository(root: &Root) -> Option<String> {
    let dot_git = root.path().join(".git");
    dot_git.symlink_metadata().ok()?;
    Some(format!(
        "{} is no repository, and names none that is there; `git status` says more",
        dot_git.display()
    ))
}
