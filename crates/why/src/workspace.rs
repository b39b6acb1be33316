//! The workspace with everything that verbs need, read once and never changed.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use super::error::{ReadError, VerbError};
use super::file_progress::FileProgress;
use super::intent_history::IntentHistory;
use super::known_commits::KnownCommits;
use super::left_history::{LeftHistory, takes_evidence_over};
use super::rules_at::{ignores_at, policy_at};
use super::shared_branches;
use code::{Document, MAX_BYTES, Unread};
use ground::answer_store::AnswerStore;
use ground::parallel::locked_value;
use ground::store::{self, StoreError};
use ground::{
    Attributes, CommitId, Environment, Finding, Git, Hint, Ignores, Policy, RelativePath, Root,
    Selection, cache,
    git::{
        Aspect, ChangeKind, ComparedFiles, GitError, PathChange, StoredContent, Target,
        configured_on_machine, is_lfs_pointer, path_on_machine, person_of_machine,
    },
    root::RootError,
    session,
    text::shell_word,
};
use history::knowledge::ReadEvidence;
use intents::{FOLDER, Registry};
use ledger::read::is_ledger_path;
use ledger::{Entry, Ledger, Strength, Trust, journal};

/// Everything that a verb needs. It is cheap to clone and never changes: after a change on disk, a
/// new one is made.
#[derive(Clone)]
pub struct Workspace {
    pub root: Arc<Root>,
    pub policy: Arc<Policy>,
    pub policy_findings: Arc<[Finding]>,
    pub registry: Arc<Registry>,
    /// Set if the registry on disk does not parse. Then `registry` is an earlier version.
    broken_registry: Option<Arc<Registry>>,
    /// Why the rules cannot be read that a sparse checkout leaves out.
    unread_rules: Option<Arc<str>>,
    /// All records. Reading them, on first use, takes longer the more records there are, so
    /// only questions about all of them use this.
    pub ledger: Arc<LazyLedger>,
    /// The records that are no evidence: those of the journal, and those of other tools.
    pub journal: Arc<LazyLedger>,
    pub ignores: Arc<Ignores>,
    attributes: Arc<Attributes>,
    /// The repository and its `HEAD`. Opened on first use, so that the gate does not have to wait
    /// for it.
    repository: Arc<LazyRepository>,
    pub selection: Option<Selection>,
    pub intent_history: Arc<IntentHistory>,
    files: Target,
    /// Set if the evidence of this commit counts instead of the evidence among the files.
    evidence_at: Option<CommitId>,
    /// The commit that the files are based on. The outer `None` stands for that of the work
    /// tree, the inner one for no commit.
    base: Option<Option<CommitId>>,
    compared: Arc<Mutex<Vec<KnownComparison>>>,
    /// What [`Self::former_files`] found by itself.
    former: Arc<Mutex<Vec<FormerFiles>>>,
    pub(crate) known_evidence: Arc<ReadEvidence>,
    /// What was found out about history before. `None` if the caller must not rely on it.
    kept_answers: Option<Arc<AnswerStore>>,
    pub(crate) known_commits: Arc<KnownCommits>,
    files_of_intents: Arc<OnceLock<FilesOfIntents>>,
    first_evidence_month: Arc<OnceLock<Option<String>>>,
    stop: Arc<AtomicBool>,
    progress: Arc<FileProgress>,
}

type FormerFiles = (CommitId, Vec<PathChange>);

type KnownComparison = (Option<CommitId>, Arc<ComparedFiles>);

type FilesOfIntents = HashMap<String, BTreeSet<RelativePath>>;

#[derive(Default)]
struct Repository {
    git: Option<Arc<Git>>,
    head: Option<CommitId>,
    error: Option<Arc<str>>,
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
        Self { git: Some(git), head, error }
    }

    fn refreshed(&self) -> Self {
        match &self.git {
            Some(git) => Self::from_git(Arc::clone(git)),
            None => Self { error: self.error.clone(), ..Self::default() },
        }
    }
}

pub type LazyLedger = LazyLock<Ledger, Box<dyn FnOnce() -> Ledger + Send + Sync>>;

fn lazily(read: impl FnOnce() -> Ledger + Send + Sync + 'static) -> Arc<LazyLedger> {
    Arc::new(LazyLock::new(Box::new(read)))
}

impl Workspace {
    pub fn open(target: &Path, environment: &Environment) -> Result<Self, RootError> {
        Ok(Self::at_root(Root::find(target, environment)?))
    }

    /// Opens the workspace at a known root. Errors in its rules do not make this fail; they become
    /// findings.
    pub fn at_root(root: Root) -> Self {
        Self::rules_of(Arc::new(root)).with_rules_left_out().with_records_of_now()
    }

    fn rules_of(root: Arc<Root>) -> Self {
        let (policy, policy_findings) = Policy::load(&root);
        let of_repository = Arc::clone(&root);
        let registry = Registry::load(&root);
        let selection = session::selected(&root, |id| may_know(&registry, id));
        Self {
            policy: Arc::new(policy),
            policy_findings: policy_findings.into(),
            registry: Arc::new(registry),
            broken_registry: None,
            unread_rules: None,
            ledger: lazily(Ledger::default),
            journal: lazily(Ledger::default),
            ignores: Arc::new(Ignores::load(&root)),
            attributes: Arc::new(Attributes::load(&root)),
            selection,
            repository: Arc::new(LazyLock::new(Box::new(move || Repository::open(&of_repository)))),
            intent_history: Arc::default(),
            files: Target::WorkTree,
            evidence_at: None,
            base: None,
            compared: Arc::default(),
            former: Arc::default(),
            known_evidence: Arc::default(),
            kept_answers: None,
            known_commits: Arc::default(),
            files_of_intents: Arc::default(),
            first_evidence_month: Arc::default(),
            stop: Arc::default(),
            progress: Arc::default(),
            root,
        }
    }

    /// Questions about all files end early once `stop` is true. Their answers are then
    /// incomplete, so nobody may use them.
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    pub fn progress(&self) -> &FileProgress {
        &self.progress
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Answers faster with what was found out about history before. Commands that decide
    /// something, such as `check`, must not use this.
    pub fn with_kept_answers(self) -> Self {
        let place = cache::shared(&self.root, "answers");
        let kept_answers = place.and_then(|place| AnswerStore::open(&place)).map(Arc::new);
        Self { kept_answers, known_evidence: Arc::default(), ..self }
    }

    /// `None` if earlier answers must not be relied on, or cannot be kept.
    pub fn kept_answers(&self) -> Option<&AnswerStore> {
        self.kept_answers.as_deref()
    }

    /// If a sparse checkout leaves the registry out of the work tree, reads the registry and the
    /// other rules from the index. A registry that was deleted counts as missing.
    fn with_rules_left_out(self) -> Self {
        if self.registry.exists() || !self.root.governed() {
            return self;
        }
        let Some(git) = self.git() else { return self };
        let rules = match git.left_out(&Registry::is_place) {
            Ok(files) if files.is_empty() => return self,
            Ok(_) => self.governed_by(Target::Index, None),
            Err(error) => Err(error),
        };
        match rules {
            Ok(rules) => Self {
                policy: rules.policy,
                policy_findings: rules.policy_findings,
                registry: rules.registry,
                ignores: rules.ignores,
                ..self
            },
            Err(error) => Self { unread_rules: Some(error.with_hint().into()), ..self },
        }
    }

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
            unread_rules: None,
            intent_history: Arc::default(),
            ignores: Arc::new(ignores),
            ..self
        }
    }

    pub fn with_records_of_now(self) -> Self {
        self.with_records_of_next_commit(Vec::new())
    }

    /// Takes the records that a seal would find if the next commit adds this evidence.
    pub fn with_records_of_next_commit(self, evidence: Vec<RelativePath>) -> Self {
        let (ws, other) = (self.clone(), self.clone());
        let load = move || {
            if let Some(git) = ws.git().filter(|_| ws.root.governed()) {
                shared_branches::remember(&ws.root, &ws.policy, git);
            }
            ws.with_records_left_out(Ledger::load(&ws.root), &is_ledger_path)
        };
        let load_journal = move || {
            let is_wanted = |path: &RelativePath| {
                is_ledger_path(path) && ledger::evidence::digest_of_path(path).is_none()
            };
            let journal = Ledger::load_journal(&other.root, &other.commits_to_reopen(&evidence));
            other.with_records_left_out(journal, &is_wanted)
        };
        let journal = lazily(load_journal);
        Self {
            ledger: lazily(load),
            journal,
            compared: Arc::default(),
            former: Arc::default(),
            known_evidence: Arc::default(),
            files_of_intents: Arc::default(),
            first_evidence_month: Arc::default(),
            ..self
        }
    }

    /// Like [`Self::with_records_of_now`], but keeps what is known about files, so none of them may
    /// have changed since.
    pub fn with_new_records(self) -> Self {
        let (compared, former) = (Arc::clone(&self.compared), Arc::clone(&self.former));
        Self { compared, former, ..self.with_records_of_now() }
    }

    /// Returns the commits that have left the history since the last seal, and whose records it has to
    /// reopen. So after `git reset` the answers know these records at once.
    fn commits_to_reopen(&self, staged: &[RelativePath]) -> Vec<String> {
        let repository = self.git().zip(self.repository.head.as_ref());
        let Some((git, head)) = repository.filter(|_| self.root.governed()) else {
            return Vec::new();
        };
        let left = takes_evidence_over(&self.root, git, head, staged).and_then(|is_taken_over| {
            LeftHistory::since_last_seal(&self.root, git, head, is_taken_over)
        });
        left.map(|left| left.commits_without_evidence_in(git, head)).unwrap_or_default()
    }

    /// Adds the records of files that a sparse checkout leaves out of the work tree.
    fn with_records_left_out(
        &self,
        ledger: Ledger,
        is_wanted: &dyn Fn(&RelativePath) -> bool,
    ) -> Ledger {
        let files = self.records_left_out(is_wanted);
        if files.is_empty() { ledger } else { ledger.with_files(&files) }
    }

    /// Returns those of the wanted files that a sparse checkout leaves out of the work tree.
    pub fn records_left_out(
        &self,
        is_wanted: &dyn Fn(&RelativePath) -> bool,
    ) -> Vec<(RelativePath, Vec<u8>)> {
        let is_record = |path: &RelativePath| is_wanted(path) && !journal::is_open(path);
        self.git().and_then(|git| git.left_out(&is_record).ok()).unwrap_or_default()
    }

    /// Reads everything again. Kept answers are not used any more.
    pub fn reload(&self) -> Self {
        let root = Root::find(self.root.path(), self.root.environment());
        let root = Arc::new(root.unwrap_or_else(|_| (*self.root).clone()));
        let repository = self.repository.refreshed();
        Self {
            repository: Arc::new(LazyLock::new(Box::new(move || repository))),
            files: self.files.clone(),
            base: self.base.clone(),
            ..Self::rules_of(root)
        }
        .with_rules_left_out()
        .with_records_of_now()
    }

    /// Takes the registry of `before` if the workspace's own registry does not parse. Only
    /// for a server whose user is editing the registry; never use it to decide or to write.
    pub fn judged_as(self, before: &Self) -> Self {
        let is_broken = |registry: &Registry| registry.syntax_error().is_some();
        if !is_broken(&self.registry) || is_broken(&before.registry) {
            return self;
        }
        let registry = Arc::new(before.registry.copy());
        Self { broken_registry: Some(Arc::clone(&self.registry)), registry, ..self }
    }

    pub fn registry_on_disk(&self) -> &Arc<Registry> {
        self.broken_registry.as_ref().unwrap_or(&self.registry)
    }

    /// Returns a sentence that says that an older registry is in use. `None` if it is not.
    pub fn judged_by_older(&self) -> Option<String> {
        let broken = self.broken_registry.as_ref()?;
        Some(format!(
            "{} does not parse; edits are judged by its last version that did.",
            broken.broken_file().unwrap_or(broken.path())
        ))
    }

    /// Returns the repository. `None` without git.
    pub fn git(&self) -> Option<&Arc<Git>> {
        self.repository.git.as_ref()
    }

    pub fn person(&self) -> Option<String> {
        let of_machine = || person_of_machine(self.root.environment());
        self.git().map_or_else(of_machine, |git| git.person())
    }

    /// Returns a git setting of the repository or the person. `None` if it is not set.
    pub fn setting(&self, key: &str) -> Option<String> {
        let of_machine = || configured_on_machine(key, self.root.environment());
        self.git().map_or_else(of_machine, |git| git.configured(key))
    }

    pub fn path_setting(&self, key: &str) -> Option<PathBuf> {
        let of_machine = || path_on_machine(key, self.root.environment());
        self.git().map_or_else(of_machine, |git| git.configured_path(key))
    }

    pub fn head(&self) -> Option<&CommitId> {
        match &self.base {
            Some(base) => base.as_ref(),
            None => self.repository.head.as_ref(),
        }
    }

    /// Reads files from the index or from a commit; `base` is the commit that they are
    /// based on. The records are those of these files, without the journal.
    pub fn with_files(&self, files: Target, base: Option<CommitId>) -> Self {
        let (ws, target) = (self.clone(), files.clone());
        let ledger = lazily(move || ws.ledger_at(&target).unwrap_or_default());
        Self {
            files,
            evidence_at: None,
            base: Some(base),
            compared: Arc::default(),
            former: Arc::default(),
            known_evidence: Arc::default(),
            ledger,
            journal: lazily(Ledger::default),
            intent_history: Arc::default(),
            ..self.clone()
        }
    }

    /// With the journal, the files of the index are the content of the next commit after sealing.
    pub fn at_index(&self) -> Result<Self, GitError> {
        let index = self.at_index_alone()?;
        Ok(Self { journal: Arc::clone(&self.journal), ..index })
    }

    /// Returns the same workspace with the files of the index, without the journal: what everyone
    /// will see after `git commit`.
    pub fn at_index_alone(&self) -> Result<Self, GitError> {
        self.governed_by(Target::Index, self.head().cloned())
    }

    /// Returns the workspace as a commit has it. Work tree, index and journal are not read.
    pub fn at_commit(&self, commit: CommitId, base: Option<CommitId>) -> Result<Self, GitError> {
        self.governed_by(Target::Commit(commit), base)
    }

    pub fn as_of(&self, commit: CommitId) -> Result<Self, GitError> {
        let then = self.at_commit(commit.clone(), None)?;
        Ok(Self {
            files: self.files.clone(),
            base: self.base.clone(),
            compared: Arc::clone(&self.compared),
            former: Arc::clone(&self.former),
            evidence_at: Some(commit),
            ..then
        })
    }

    /// Returns the same workspace with the files of the index or of a commit, and with the
    /// registry, policy, ignore rules and attributes from there.
    fn governed_by(&self, target: Target, base: Option<CommitId>) -> Result<Self, GitError> {
        let Some(git) = self.git() else { return Ok(self.clone()) };
        let policy = policy_at(git, &target)?.unwrap_or_default();
        let registry = Registry::at_target(git, &target)?.importing(git, &target, &policy.0);
        let ignores = ignores_at(&self.root, git, &target)?;
        let (of, source) = (Arc::clone(git), target.clone());
        let attributes = Attributes::from_reader(move |path| of.text(&source, path).ok()?);
        let ws = self.with_files(target, base).under_rules(policy, registry, ignores);
        Ok(Self { attributes: Arc::new(attributes), broken_registry: None, ..ws })
    }

    /// Returns every regular file of the commit from which files are read, or else of the index.
    pub fn tracked(&self) -> Result<Vec<RelativePath>, GitError> {
        let Some(git) = self.git() else { return Ok(Vec::new()) };
        match &self.files {
            Target::Commit(commit) => git.files_at(commit),
            Target::WorkTree | Target::Index => git.tracked(),
        }
    }

    pub fn tip(&self) -> Option<&CommitId> {
        match &self.files {
            Target::Commit(commit) => Some(commit),
            Target::WorkTree | Target::Index => self.repository.head.as_ref(),
        }
    }

    /// Returns the ledger in the index or at a commit: evidence, and the records that other tools
    /// wrote.
    pub fn ledger_at(&self, target: &Target) -> Result<Ledger, GitError> {
        let Some(git) = self.git() else { return Ok(Ledger::default()) };
        let files = git.read_below(".orchestration", target, &is_ledger_path)?;
        Ok(Ledger::from_files(&files))
    }

    pub fn files(&self) -> &Target {
        &self.files
    }

    pub(crate) fn evidence_source(&self) -> Target {
        self.evidence_at.clone().map_or_else(|| self.files.clone(), Target::Commit)
    }

    pub fn exists(&self, path: &RelativePath) -> bool {
        match &self.files {
            Target::WorkTree => self.root.absolute(path).symlink_metadata().is_ok(),
            target => self.git().is_none_or(|git| matches!(git.file(target, path), Ok(Some(_)))),
        }
    }

    /// Returns how the files differ from a commit. Without a commit, all files differ.
    pub fn compared_with(&self, base: Option<&CommitId>) -> Result<Arc<ComparedFiles>, GitError> {
        let Some(git) = self.git() else { return Ok(Arc::default()) };
        let mut compared = locked_value(&self.compared);
        if let Some((_, known)) = compared.iter().find(|(commit, _)| commit.as_ref() == base) {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(git.compared(base, &self.files)?);
        compared.push((base.cloned(), Arc::clone(&found)));
        Ok(found)
    }

    /// Returns the files of a commit whose content differs or that are gone. New files are not looked
    /// for, so that an edit of one file does not cost a walk through all folders.
    pub(crate) fn former_files(&self, base: &CommitId) -> Result<Vec<PathChange>, GitError> {
        let compared = locked_value(&self.compared);
        let is_known = compared.iter().any(|(commit, _)| commit.as_ref() == Some(base));
        drop(compared);
        let of_work = |_: &&Arc<Git>| self.files == Target::WorkTree && !is_known;
        let Some(git) = self.git().filter(of_work) else {
            return Ok(self.compared_with(Some(base))?.former());
        };
        let mut former = locked_value(&self.former);
        if let Some((_, known)) = former.iter().find(|(commit, _)| commit == base) {
            return Ok(known.clone());
        }
        let changed = git.changed_tracked_files(base)?.into_iter().filter_map(|path| {
            let found = self.root.absolute(&path).symlink_metadata();
            let kind = match found {
                Ok(found) if found.is_file() => ChangeKind::Modified,
                Ok(_) => return None,
                Err(_) => ChangeKind::Deleted,
            };
            Some(PathChange { path, kind, aspect: Aspect::Content })
        });
        former.push((base.clone(), changed.collect()));
        Ok(former[former.len() - 1].1.clone())
    }

    /// Returns the content of a file. `None` if it cannot be read or has more bytes than `limit`.
    pub(crate) fn read_bytes(&self, path: &RelativePath, limit: u64) -> Option<Vec<u8>> {
        let bytes = match &self.files {
            Target::WorkTree => self.root.read(path, limit).ok()?,
            target => self.git()?.file(target, path).ok()?,
        };
        bytes.filter(|bytes| bytes.len() as u64 <= limit)
    }

    /// Returns what git would store for a file on disk. Where nobody can tell, that is the content as
    /// it is. `None` if the file cannot be read.
    pub fn bytes_as_stored(&self, path: &RelativePath) -> Option<Vec<u8>> {
        let bytes = self.root.read(path, store::MAX_CONTENT).ok()??;
        let Some(git) = self.git() else { return Some(bytes) };
        match git.conversions().stored(path, bytes.clone()) {
            StoredContent::Text(stored) | StoredContent::Pointer(stored) => Some(stored),
            StoredContent::CannotTell(_) => Some(bytes),
        }
    }

    pub fn git_error(&self) -> Option<&str> {
        self.repository.error.as_deref()
    }

    /// Returns the path of `target` inside the workspace. `target` may be relative to `cwd`.
    pub fn path(&self, cwd: &Path, target: &Path) -> Result<RelativePath, VerbError> {
        Ok(self.root.relative(cwd, target)?)
    }

    /// Returns the text of a file as people read it. Of a file in Git LFS this is its pointer, because
    /// git has no lines of it.
    pub fn read(&self, path: &RelativePath) -> Result<Document, ReadError> {
        let pointer = self.git().filter(|_| self.files == Target::WorkTree);
        let pointer = pointer.and_then(|git| git.lfs_pointer(path));
        let unread = |reason| ReadError::Unread { path: path.clone(), reason };
        let too_large =
            |bytes: u64| unread(Unread::TooLarge { bytes: bytes.try_into().unwrap_or(usize::MAX) });
        let bytes = match &self.files {
            Target::WorkTree if pointer.is_some() => pointer,
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
        let bytes = match (&self.files, self.git()) {
            (Target::WorkTree, Some(git)) => git.readable_text(path, bytes),
            _ => bytes,
        };
        let (ws, at) = (self.clone(), path.clone());
        let document = self.document(path, &bytes).map_err(unread)?;
        Ok(document.with_origin(move || ws.read_at(ws.head()?, &at).ok()?))
    }

    /// Returns the text of a rule file. `None` if the file does not exist.
    pub fn text(&self, path: &RelativePath) -> Result<Option<String>, VerbError> {
        let bytes = match (&self.files, self.git()) {
            (Target::WorkTree, _) | (_, None) => self.root.read(path, MAX_BYTES as u64)?,
            (target, Some(git)) => return Ok(git.text(target, path)?),
        };
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub fn is_generated(&self, path: &RelativePath) -> bool {
        self.attributes.is_generated(path)
    }

    pub fn document(&self, path: &RelativePath, bytes: &[u8]) -> Result<Document, Unread> {
        // A pointer is not in the language of its file.
        let name = if is_lfs_pointer(bytes) { "" } else { path.as_str() };
        let document = Document::from_bytes(name, bytes)?;
        Ok(if self.is_generated(path) { document.declared_generated_if(|| true) } else { document })
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

    pub fn trust(&self, entry: &Entry) -> Trust {
        self.journal.trust(entry)
    }

    pub fn strength(&self, entry: &Entry) -> Option<Strength> {
        self.journal.strength(entry)
    }

    /// Returns the records that name an intent, under any id that it has or had, oldest first. All
    /// records are read for this.
    pub fn entries_of(&self, intent: &str) -> Vec<&Arc<Entry>> {
        let ids = self.registry.ids(intent);
        let names = |entry: &&Arc<Entry>| ids.iter().any(|id| entry.record.names_intent(id));
        self.ledger.entries().iter().filter(names).collect()
    }

    /// Returns the files that the records of an intent name, under any id that it has or had. All
    /// records are read the first time, and only these names are kept.
    pub fn files_of_intent(&self, intent: &str) -> BTreeSet<RelativePath> {
        let all = self.files_of_intents.get_or_init(|| {
            let mut all = FilesOfIntents::new();
            for entry in self.clone().with_records_of_now().ledger.entries() {
                for id in entry.record.intents() {
                    let files = entry.record.files.iter().map(|file| file.relative_path.clone());
                    all.entry(id.to_owned()).or_default().extend(files);
                }
            }
            all
        });
        let ids = self.registry.ids(intent);
        ids.iter().filter_map(|id| all.get(*id)).flatten().cloned().collect()
    }

    /// Returns the month of the first evidence in the work tree, such as `2026-11`.
    pub(crate) fn first_evidence_month(&self) -> Option<&str> {
        let month = || ledger::evidence::first_month(&self.root);
        self.first_evidence_month.get_or_init(month).as_deref()
    }

    /// Says that the registry is missing on disk and how to get it from git. `None` if it is there, if
    /// git has none, or if the rules are those of a commit, which loses nothing.
    pub fn lost_registry(&self) -> Option<String> {
        if let Some(reason) = &self.unread_rules {
            let path = self.registry.path();
            return Some(format!("{path} is not in the work tree, and cannot be read: {reason}"));
        }
        let is_of_commit = matches!(self.files, Target::Commit(_));
        if self.registry.exists() || !self.root.governed() || is_of_commit {
            return None;
        }
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

    /// Frees the memory of the evidence that was read to find out who brought lines. A question about
    /// all files reads most of the evidence, and needs none of it after the answer.
    pub fn forget_read_evidence(&self) {
        self.known_evidence.forget();
    }

    /// Returns an error unless there is an `.orchestration/` folder.
    pub fn governed(&self) -> Result<(), VerbError> {
        if self.root.governed() {
            return Ok(());
        }
        let root = self.root.path();
        let is_here = self.root.environment().folder().is_ok_and(|folder| folder.starts_with(root));
        let command = match is_here {
            true => "intent setup init".to_owned(),
            false => format!("intent -C {} setup init", shell_word(&root.display().to_string())),
        };
        let message = format!("{} has no .orchestration/ folder", root.display());
        Err(VerbError::mendable(message, format!("create one with `{command}`")))
    }

    /// Returns the command that fetches what this clone lacks of the history, in a sentence.
    pub fn how_to_get_history(&self) -> &'static str {
        self.git().map_or("", |git| git.how_to_get_history())
    }

    pub fn readable_git(&self) -> Result<(), VerbError> {
        let Some(reason) = self.git_error() else { return Ok(()) };
        Err(VerbError::refused(format!("nothing can be judged: {reason}")))
    }

    pub fn no_git(&self, what: &str) -> VerbError {
        let root = self.root.path().display();
        VerbError::refused(format!(
            "{root} has no git repository that can be read, so {what} cannot be judged"
        ))
    }
}

/// Returns true if a registry has an intent, or if that is not known because it cannot be read.
pub(crate) fn may_know(registry: &Registry, id: &str) -> bool {
    !registry.exists()
        || registry.syntax_error().is_some()
        || registry.get(id).is_some()
        || !registry.definitions_of(id).is_empty()
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
