//! *Check*: does a change agree with the intents, the scopes and the ledger?
//!
//! [`change`] judges a whole change (work tree, index, or commits), and [`document`] judges one
//! text in an editor. Both cut the change into parts (a new, changed or deleted block, or a file as
//! a whole) and ask the same rules ([`why::rules`]) about each part.
//!
//! Which rules decide: on a person's own machine, the files in the work tree; for what is staged,
//! the staged files. A change that is to be merged is judged by the rules of its target branch as
//! they are now, so the rules that the change itself contains grant nothing.
//!
//! - `unrecorded_intent`: the intents that answer for work if no record does
//! - `changed_parts`: cuts a change into parts and judges each
//! - `edited_blocks`: who edited each block of a change
//! - `files`: reads the files of a change on both sides
//! - `known_findings`: the baseline of findings to leave out
//! - `removed_lines`: what a change did to the text of its base
//! - `rule_changes`: what a change does to the rules
//! - `suspects`: recorded blocks whose reason has changed

mod changed_parts;
mod edited_blocks;
mod files;
mod known_findings;
mod removed_lines;
mod rule_changes;
mod suspects;
mod unrecorded_intent;

use ground::git::deleted_paths;
use std::collections::{BTreeSet, HashSet};
use std::slice;
use std::sync::Arc;
use why::findings::FindingAnswer;
use why::findings::levelled;

use schemars::JsonSchema;
use serde::Serialize;

use self::changed_parts::{ChangedPart, PartJudge};
use self::edited_blocks::ChangeHistory;
use self::files::Judge;
pub use self::known_findings::KnownFindings;
use self::rule_changes::Approvals;
pub(crate) use self::unrecorded_intent::UnrecordedIntents;
use code::LineRange;
use evidence::signing::{NoSignatureChecks, Signatures};
use evidence::{comparison, seal, verify};
use ground::git::{Aspect, ChangeKind, ComparedFiles, PathChange, Target};
use ground::text::counted;
use ground::{Code, CommitId, Finding, Git, Hint, IGNORE_FILES, Level, POLICY, RelativePath, text};
use intents::{FOLDER, Registry};
use provenance::{Classification, Verdict};
use why::baseline::{FormerFile, commits_of_work};
use why::change_class;
use why::rules::{Layer, Rules, scope_related};
use why::rules_at::{ignores_at, is_governed_at, policy_at};
use why::{VerbError, Workspace, answers};

#[derive(Clone, Debug, Default)]
pub struct CheckRequest {
    pub against: ComparedSides,
    /// The intent that answers for the work, unless a record names another one.
    pub intent: Option<String>,
    /// The branch that the work is on, if it is not the one that is checked out.
    pub branch: Option<String>,
    /// Whether to search all files for blocks whose intent or specification has changed since they
    /// were recorded.
    pub suspect: bool,
    pub with_class: bool,
    /// The file with the findings to leave out, see [`KnownFindings`]; relative to the workspace.
    pub baseline: Option<RelativePath>,
    /// What recognises files that our own commands wrote for a person who set the repository up.
    /// That is nobody's work, so no scope has to own it.
    pub is_own_setup: Option<IsOwnSetup>,
    /// The policy that decides the levels of findings, if it is not the one that judges.
    pub levels: Option<Arc<ground::Policy>>,
}

/// Returns true if a file differs from its former text only in what our own commands write. It is
/// given the path, and what reads the former text and the present one.
pub(crate) type IsOwnSetup = fn(&str, &dyn Fn() -> Option<(Option<String>, String)>) -> bool;

impl CheckRequest {
    pub fn for_sides(against: ComparedSides) -> Self {
        Self { against, ..Self::default() }
    }
}

const MAX_NEW: usize = 500;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ComparedSides {
    #[default]
    Head,
    /// The work tree with the merge base of `HEAD` and this revision. The rules of the revision
    /// decide.
    Base(String),
    Staged,
    /// Two revisions. Only git is read, not the work tree.
    Range {
        /// The revision to compare with. Its rules decide. The change begins at the merge base of
        /// both revisions.
        from: String,
        to: String,
    },
}

/// The judgement of a change.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CheckAnswer {
    /// The findings, sorted by path and line, without those that the policy switches off.
    pub findings: Vec<FindingAnswer>,
    /// The size of the change and the counts of findings.
    pub summary: CheckSummary,
    /// What kind of change it is as a whole, from its base to its end; `None` if that was not
    /// determined (no git, too much text, or not asked for).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Classification>,
}

/// The size of a change, and how much of it is recorded.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CheckSummary {
    /// The commit that the change was compared with; `None` if there is none.
    pub base: Option<String>,
    /// How many files the change touches.
    pub files: usize,
    /// How many blocks are new or changed; deleted ones do not count.
    pub blocks: usize,
    /// How many of the changed blocks a record covers in their present state.
    pub recorded: usize,
    /// How many findings have the level `error`.
    pub errors: usize,
    /// How many findings have the level `warning`.
    pub warnings: usize,
    /// How many changes no record covers. A change is a block, the lines of a file outside of its
    /// blocks, or a file that is judged as a whole.
    pub uncovered: usize,
    /// These changes.
    #[serde(skip)]
    pub uncovered_changes: Vec<UncoveredChange>,
    /// How many findings were left out because the baseline lists them.
    pub known: usize,
    /// How many lines the change brought, without blank lines and brackets.
    pub lines: usize,
    /// The intents under which these lines were recorded; the intent with the most lines comes first.
    pub intents: Vec<Share>,
    /// Who wrote the recorded lines, agents by the name of their tool; the contributor with the most
    /// lines comes first.
    pub contributors: Vec<Share>,
    /// The files of which nobody can tell whether they changed, because a program converts them for
    /// git.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<RelativePath>,
    /// Whether nothing was judged, because this clone lacks history that decides.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lacks_history: bool,
    /// What could not be judged, and other remarks.
    pub notes: Vec<String>,
}

/// A change that no record covers. If an intent answers for it, no finding says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncoveredChange {
    pub path: RelativePath,
    pub lines: Option<LineRange>,
    /// What was done, as the beginning of a sentence: `function a.b changed`.
    pub what: String,
}

/// How many of the lines of a change were recorded for one intent or one contributor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    /// The id of the intent, or the name of the contributor.
    pub id: String,
    /// The name of the intent; absent for a contributor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many lines there are.
    pub lines: usize,
    /// How many of the blocks that records cover have such a line, or were edited without a new one.
    pub blocks: usize,
}

pub fn change(ws: &Workspace, request: &CheckRequest) -> Result<CheckAnswer, VerbError> {
    change_signed(ws, request, &NoSignatureChecks)
}

pub fn change_signed(
    here: &Workspace,
    request: &CheckRequest,
    signatures: &dyn Signatures,
) -> Result<CheckAnswer, VerbError> {
    here.governed()?;
    match judge_signed(here, request, signatures) {
        Err(error) if error.code() == Some(Code::HistoryMissing) => Ok(not_known(&error)),
        judged => judged,
    }
}

/// Returns the answer of a check that would have to decide by history that is missing here. No level
/// and no baseline leaves its finding out.
fn not_known(error: &VerbError) -> CheckAnswer {
    let code = Code::HistoryMissing;
    let message = error.to_string();
    let message = message.strip_prefix(&format!("{}: ", code.as_str())).unwrap_or(&message);
    let finding = Finding::new(
        code,
        format!("Nothing was judged: {message}."),
        error.hint().unwrap_or_default(),
    );
    let summary = CheckSummary { errors: 1, lacks_history: true, ..CheckSummary::default() };
    let findings = levelled(&ground::Policy::default(), vec![finding]);
    CheckAnswer { findings, summary, change: None }
}

fn judge_signed(
    here: &Workspace,
    request: &CheckRequest,
    signatures: &dyn Signatures,
) -> Result<CheckAnswer, VerbError> {
    let mut judged = JudgedChange::from_git(here, &request.against)?;
    judged.own_setup =
        request.is_own_setup.map(|is_own| judged.own_setup(is_own)).unwrap_or_default();
    let (ws, is_for_branch) = (&judged.ws, judged.tip.is_some());
    let (mut summary, mut class) = (CheckSummary::default(), None);
    let mut findings = verify::findings(ws);
    let mut policy = Arc::clone(&ws.policy);
    if ws.git().is_none() {
        let note = "There is no git here, so changes were not judged; registry and ledger were.";
        summary.notes.push(note.to_owned());
    } else {
        summary.base = judged.base().map(|base| base.0.clone());
        summary.notes.extend(judged.history.removed_note());
        // A range compares two commits, so records that wait in the work tree do not matter.
        if !matches!(judged.against, ComparedSides::Range { .. }) {
            summary.notes.extend(seal::open_note(here));
            findings.extend(seal::commits_without_evidence(here)?);
        }
        if judged.against == ComparedSides::Staged {
            summary.notes.extend(seal::unstaged_note(here));
            summary.notes.extend(rules_differ_note(here, ws));
        }
        let approvals = Approvals::collected(&judged, signatures)?;
        summary.notes.extend(approvals.notes.iter().cloned());
        let rules = judged.rules(&approvals)?;
        let accepted = &rules.accepted().registry;
        if is_for_branch {
            findings.extend(unreadable_registry(accepted, &judged.against));
        }
        if is_for_branch && accepted.exists() && !ws.registry.exists() {
            findings.retain(|finding| finding.code != Code::RegistryMissing);
            let help = how_to_restore_registry(here, accepted, &judged.against);
            findings.push(verify::no_registry(help));
        }
        policy = Arc::clone(&rules.accepted().policy);
        let mut compared = rule_changes::judge(&judged, &rules, &approvals)?;
        if is_for_branch && !(compared.findings.is_empty() && approvals.signed.is_empty()) {
            compared.notes.extend(rule_changes::unsent(here, &judged)?);
        }
        if let Some(base) = judged.base() {
            let sides = (base, judged.tip.as_ref().unwrap_or(base));
            compared.add_counts(comparison::against_base(
                ws,
                sides,
                &judged.history.added,
                &rules,
                signatures,
            )?);
        }
        findings.extend(compared.findings);
        summary.notes.extend(compared.notes);
        let bound = UnrecordedIntents::determined(here, request, &judged, &rules)?;
        let (mut texts, mut classes) = <(change_class::Texts, _)>::default();
        if request.with_class || judged.history.claims_refactoring() {
            texts = judged.texts()?;
            classes = judged.classified(&texts);
            if classes.is_none() {
                summary.notes.push("The change is too large to classify.".to_owned());
            }
            class = classes.clone().filter(|_| request.with_class);
        }
        let judge = Judge::from_change(&judged, &rules, bound, (texts, classes), &mut summary)?;
        findings.extend(judge.judge_all()?);
    }
    if request.suspect {
        findings.extend(suspects::suspect_findings(ws));
    }
    let mut findings = levelled(request.levels.as_ref().unwrap_or(&policy), findings);
    if let Some(path) = &request.baseline {
        let known = KnownFindings::read(&judged, path)?;
        let before = findings.len();
        summary.notes.extend(known.drop_from(&mut findings, path));
        summary.known = before - findings.len();
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    (summary.errors, summary.warnings) = (count(Level::Error), count(Level::Warning));
    Ok(CheckAnswer { findings, summary, change: class })
}

/// Classifies the difference between `HEAD` and the work tree, as a refactoring for example.
/// Returns `None` if nothing changed or if it cannot be determined.
pub fn class(ws: &Workspace) -> Option<Classification> {
    let judged = JudgedChange::from_git(ws, &ComparedSides::Head).ok()?;
    let found = judged.classified(&judged.texts().ok()?)?;
    (!found.reasons.is_empty()).then_some(found)
}

pub(crate) struct JudgedChange {
    ws: Workspace,
    /// The commits that the change is based on, of which there are several while a merge is in
    /// progress, and what was committed since.
    history: ChangeHistory,
    /// The tip of the branch that the change goes into; `None` for a comparison with `HEAD`.
    tip: Option<CommitId>,
    /// The last commit of the change; `None` before the first commit.
    head: Option<CommitId>,
    against: ComparedSides,
    /// The files that differ from every commit that the change is based on. During a merge, a file
    /// that one of the merged branches has in just this form is left out: nobody edited it.
    changes: Vec<PathChange>,
    unknown: Vec<RelativePath>,
    /// The changed files whose names are not valid UTF-8. They are not in `changes`.
    nameless: BTreeSet<RelativePath>,
    /// New files without a record, if there are too many of them to look into each. They are judged
    /// as a whole.
    unexamined: HashSet<RelativePath>,
    /// Files that are as our own commands write them, see [`CheckRequest::is_own_setup`].
    own_setup: HashSet<RelativePath>,
}

impl JudgedChange {
    fn own_setup(&self, is_own: IsOwnSetup) -> HashSet<RelativePath> {
        let is_one = |change: &&PathChange| {
            let texts = || {
                let before = self.base().map(|base| self.ws.read_at(base, &change.path));
                let before = before.transpose().ok()?.flatten();
                Some((before.map(|text| text.text()), self.ws.text(&change.path).ok()??))
            };
            change.aspect == Aspect::Content
                && change.kind != ChangeKind::Deleted
                && is_own(change.path.as_str(), &texts)
        };
        self.changes.iter().filter(is_one).map(|change| change.path.clone()).collect()
    }

    /// Reads the change from git. It is an error if that is not possible, so that such a check does
    /// not look like one without findings.
    fn from_git(here: &Workspace, against: &ComparedSides) -> Result<Self, VerbError> {
        here.readable_git()?;
        let mut judged = Self {
            ws: here.clone(),
            history: ChangeHistory::default(),
            tip: None,
            head: here.head().cloned(),
            against: against.clone(),
            changes: Vec::new(),
            unknown: Vec::new(),
            nameless: BTreeSet::new(),
            unexamined: HashSet::new(),
            own_setup: HashSet::new(),
        };
        let Some(git) = here.git() else {
            return match against {
                ComparedSides::Head => Ok(judged),
                ComparedSides::Staged => Err(here.no_git("the index")),
                ComparedSides::Base(from) => {
                    Err(here.no_git(&format!("the change since {from:?}")))
                }
                ComparedSides::Range { from, to } => {
                    Err(here.no_git(&format!("the change from {from:?} to {to:?}")))
                }
            };
        };
        match against {
            ComparedSides::Head | ComparedSides::Staged => {
                judged.history.bases = commits_of_work(here)?;
            }
            ComparedSides::Base(from) => judged.tip = Some(git.resolve(from)?),
            ComparedSides::Range { from, to } => {
                judged.tip = Some(git.resolve(from)?);
                judged.head = Some(git.resolve(to)?);
            }
        }
        if let Some(tip) = &judged.tip {
            let base = match &judged.head {
                Some(head) => git.merge_base(tip, head)?,
                None => Some(tip.clone()),
            };
            let base = base.ok_or_else(|| no_merge_base(git, against.base_revision()))?;
            judged.history.bases = vec![base];
        }
        judged.ws = match (against, &judged.head) {
            (ComparedSides::Staged, _) => here.at_index()?,
            (ComparedSides::Range { .. }, Some(to)) => {
                here.at_commit(to.clone(), judged.base().cloned())?
            }
            _ => judged.ws,
        };
        judged.history = judged.with_commits(git)?;
        let compared = judged.ws.compared_with(judged.base())?;
        let ComparedFiles { mut changes, unknown, mut nameless, .. } = (*compared).clone();
        for side in judged.history.bases.iter().skip(1) {
            let other = judged.ws.compared_with(Some(side))?;
            let same: HashSet<_> = other.changes.iter().map(|it| (&it.path, it.aspect)).collect();
            changes.retain(|change| same.contains(&(&change.path, change.aspect)));
            nameless.retain(|path| other.nameless.contains(path));
        }
        let judged = Self { changes, unknown, nameless, ..judged };
        let unexamined = judged.new_without_record()?;
        let unexamined = if unexamined.len() > MAX_NEW { unexamined } else { HashSet::new() };
        Ok(Self { unexamined, ..judged })
    }

    fn new_without_record(&self) -> Result<HashSet<RelativePath>, VerbError> {
        let recorded: HashSet<RelativePath> = self.ws.journal.paths().into_iter().collect();
        let uncommitted = self.uncommitted()?;
        let is_open = |path: &RelativePath| {
            uncommitted.as_ref().is_none_or(|paths| paths.contains(path))
                && !recorded.contains(path)
        };
        let new = self.changes.iter().filter(|change| {
            change.kind == ChangeKind::Added
                && change.aspect == Aspect::Content
                && is_open(&change.path)
        });
        Ok(new.map(|change| change.path.clone()).collect())
    }

    fn with_commits(&self, git: &Git) -> Result<ChangeHistory, VerbError> {
        let mut history = ChangeHistory::of_open_work(&self.ws, &self.history.bases);
        let Some(base) = self.base() else { return Ok(history) };
        history.added = comparison::sections_of_range(&self.ws, base)?;
        let (Some(tip), Some(head)) = (&self.tip, &self.head) else { return Ok(history) };
        let commits = git.commits_between(&[base, tip], head, usize::MAX)?;
        let ids = commits.iter().map(|commit| git.object_id(commit));
        history.commits = ids.collect::<Result<_, _>>()?;
        history.meant = comparison::commits_of_range(git, head, commits, &history.added)?;
        // A section that a compaction moved to another file stands.
        let standing = history.added.iter().filter(|(_, entry)| self.ws.exists(&entry.origin.path));
        let standing: HashSet<_> = standing.map(|(_, entry)| entry.section).collect();
        for (commit, entry) in &history.added {
            let is_there = standing.contains(&entry.section);
            let records = if is_there { &mut history.records } else { &mut history.removed };
            records.push((Some(commit.clone()), Arc::clone(entry)));
        }
        for records in [&mut history.records, &mut history.removed] {
            records.sort_by(|(_, a), (_, b)| a.record.timestamp.cmp(&b.record.timestamp));
        }
        Ok(history)
    }

    /// Returns the commit that the change begins at, or `None` before the first commit.
    fn base(&self) -> Option<&CommitId> {
        self.history.bases.first()
    }

    fn known_commits(&self) -> Vec<&CommitId> {
        self.history.bases.iter().chain(&self.tip).collect()
    }

    /// Returns the paths whose changes are in no commit yet, or `None` if that applies to the whole
    /// change.
    fn uncommitted(&self) -> Result<Option<HashSet<RelativePath>>, VerbError> {
        match &self.against {
            ComparedSides::Range { .. } => Ok(Some(HashSet::new())),
            ComparedSides::Base(_) => {
                let compared = self.ws.compared_with(self.head.as_ref())?;
                Ok(Some(compared.changes.iter().map(|change| change.path.clone()).collect()))
            }
            _ => Ok(None),
        }
    }

    /// Returns the rules that decide, together with those that the change proposes.
    fn rules(&self, approvals: &Approvals) -> Result<Rules, VerbError> {
        let ws = &self.ws;
        let (Some(git), Some(tip), Some(base)) = (ws.git(), &self.tip, self.base()) else {
            return Ok(Rules::from_workspace(ws).approving(approvals.work.clone()));
        };
        let mut proposed = Layer::from_workspace(ws);
        let accepted = Target::Commit(tip.clone());
        let policy = policy_at(git, &accepted)?.unwrap_or_default().0;
        let registry = Registry::at_target(git, &accepted)?.importing(git, &accepted, &policy);
        // The target branch has no workspace yet, so it has no rules that could be broken.
        if !registry.exists() && !is_governed_at(git, &accepted)? {
            return Ok(Rules::from_layers(proposed.clone(), proposed));
        }
        let accepted = Layer {
            registry: Arc::new(registry),
            policy: Arc::new(policy),
            ignores: Arc::new(ignores_at(&ws.root, git, &accepted)?),
        };
        // A change that does not touch the policy or the ignore files proposes those of the target
        // branch, even if that branch has changed them since the change began.
        let begin = Target::Commit(base.clone());
        let policy_at_begin = policy_at(git, &begin)?.unwrap_or_default().0;
        if *ws.policy == policy_at_begin {
            proposed.policy = Arc::clone(&accepted.policy);
        }
        let mut ignores_changed = false;
        for name in IGNORE_FILES {
            let path = RelativePath::new(name)?;
            ignores_changed |= git.text(&begin, &path)? != ws.text(&path)?;
        }
        if !ignores_changed {
            proposed.ignores = Arc::clone(&accepted.ignores);
        }
        let registry_at_begin = Registry::at_target(git, &begin)?;
        let registry_at_begin = registry_at_begin.importing(git, &begin, &policy_at_begin);
        let signed = approvals.intents(&ws.registry);
        Ok(Rules::from_layers(accepted, proposed)
            .with_base(Arc::new(registry_at_begin), signed)
            .approving(approvals.work.clone()))
    }
}

/// Returns the error for two revisions without a common ancestor: the change between them is
/// undefined. In a shallow clone the ancestor may only be missing here.
fn no_merge_base(git: &Git, from: &str) -> VerbError {
    let message = format!(
        "{from} and what is checked have no commit in common, so nobody can say what the change is"
    );
    if git.is_shallow() {
        return VerbError::HistoryMissing { message, hint: git.how_to_get_history() };
    }
    VerbError::mendable(message, "name a revision that it was made on: `intent check --base REV`")
}

impl ComparedSides {
    fn base_revision(&self) -> &str {
        match self {
            Self::Base(from) | Self::Range { from, .. } => from,
            Self::Head | Self::Staged => "HEAD",
        }
    }

    /// Returns the command line that makes this comparison, such as `intent check --staged`.
    fn command_line(&self) -> String {
        match self {
            Self::Head => "intent check".to_owned(),
            Self::Base(from) => format!("intent check --base {}", text::shell_word(from)),
            Self::Staged => "intent check --staged".to_owned(),
            Self::Range { from, to } => {
                format!("intent check {}", text::shell_word(&format!("{from}..{to}")))
            }
        }
    }
}

/// Returns a note that the staged changes were judged by other rules than those in the work tree
/// `here`, or `None` if both are the same.
fn rules_differ_note(here: &Workspace, staged: &Workspace) -> Option<String> {
    const SAID: &str = "What is staged was judged by the rules that are staged";
    let is_same = here.registry.same_text(&staged.registry);
    if let Some(reason) = here.unread_registry().filter(|_| !is_same) {
        return Some(format!("{SAID}. {}.", reason.trim_end_matches('.')));
    }
    let mut differ: Vec<&str> = Vec::new();
    if here.registry.text() != staged.registry.text() {
        differ.push(here.registry.path().as_str());
    } else if !is_same {
        differ.push(FOLDER);
    }
    if here.policy != staged.policy {
        differ.push(POLICY);
    }
    differ.extend(IGNORE_FILES.into_iter().filter(|name| {
        let path = RelativePath::new(name).ok();
        let text = |ws: &Workspace| path.as_ref().and_then(|path| ws.text(path).ok()?);
        text(here).is_some_and(|now| Some(now) != text(staged))
    }));
    let places: Vec<String> = differ.iter().map(|path| here.place_for_git(path)).collect();
    let (differ, places) = (differ.join(", "), places.join(" "));
    (!differ.is_empty()).then(|| {
        format!("{SAID}. The work tree has others in {differ}; `git add {places}` stages them.")
    })
}

/// Returns a finding if the registry that decides cannot be read. Without it nothing is known of
/// scopes, and the check must not look like one without findings.
fn unreadable_registry(accepted: &Registry, against: &ComparedSides) -> Option<Finding> {
    let broken = accepted.syntax_error()?;
    let from = against.base_revision();
    let message =
        format!("The registry at {from}, which decides, cannot be read: {}", broken.message);
    let help = format!("Repair it on {from} first, in a separate change.");
    Some(Finding { path: broken.path.clone(), ..Finding::new(Code::RegistrySyntax, message, help) })
}

fn how_to_restore_registry(
    here: &Workspace,
    accepted: &Registry,
    against: &ComparedSides,
) -> String {
    let from = against.base_revision();
    let path = match accepted.list().exists() {
        true => accepted.path().as_str(),
        false => "the intents in .orchestration/intents/",
    };
    let (revision, place) = (text::shell_word(from), here.place_for_git(".orchestration"));
    format!(
        "The change takes away {path}, which {from} has: `git checkout {revision} -- {place}`, on the branch, gets it back."
    )
}

/// Returns the rules for the work tree on a person's own machine, with what the person approved
/// there.
pub fn rules(ws: &Workspace) -> Rules {
    Rules::from_workspace(ws).approving(Approvals::of_open_work(ws).work)
}

/// Returns the findings about files that are missing in the work tree. An editor needs them
/// separately, because such files have no open document.
pub fn findings_about_missing_files(ws: &Workspace) -> Result<Vec<Finding>, VerbError> {
    let (Some(git), false) = (ws.git(), ws.git_error().is_some()) else { return Ok(Vec::new()) };
    // While git checks out another commit, most files seem to be missing.
    if git.is_changing_index() || git.head()?.as_ref() != ws.head() {
        return Ok(Vec::new());
    }
    // Files are rarely missing, and finding out is cheap, so that is done first.
    let is_gone = |path: &RelativePath| !ws.exists(path);
    let staged = deleted_paths(&git.changes(ws.head(), &Target::Index)?);
    if !staged.iter().any(is_gone) && !ws.tracked()?.iter().any(is_gone) {
        return Ok(Vec::new());
    }
    let judged = JudgedChange::from_git(ws, &ComparedSides::Head)?;
    let (rules, bound) = (rules(ws), UnrecordedIntents::same_for_all_paths(ws.selected(None)));
    let mut summary = CheckSummary::default();
    let judge = Judge::from_change(&judged, &rules, bound, Default::default(), &mut summary)?;
    let mut findings = judge.judge_all()?;
    findings.retain(|finding| finding.path.as_ref().is_some_and(is_gone));
    Ok(findings)
}

/// Judges one text in an editor against its state before: which blocks are edited, under which
/// intent, and whether that intent may edit them.
pub fn document(
    ws: &Workspace,
    rules: &Rules,
    path: &RelativePath,
    file: &answers::FileProvenance,
    before: &FormerFile,
    is_own_setup: IsOwnSetup,
) -> Vec<Finding> {
    if !ws.root.governed() || files::is_of_rules(path) || ws.ignores.git_ignored(path) {
        return Vec::new();
    }
    let bases = ws.head().map(slice::from_ref).unwrap_or_default();
    let history = ChangeHistory::of_open_work(ws, bases);
    let found = changed_parts::of_standing(ws, path, file, before, &history);
    let mut parts = found.parts;
    let texts = || {
        let former = before.baseline.versions().first().map(code::Document::text);
        Some((former.filter(|text| !text.is_empty()), file.document.text()))
    };
    // What nobody can tell here is not judged.
    if is_own_setup(path.as_str(), &texts) || history.misses_history(file, &found.blocks) {
        parts.clear();
    }
    let bound = UnrecordedIntents::same_for_all_paths(ws.selected(None));
    let mut recorded: Vec<String> = parts.iter().filter_map(ChangedPart::recorded_intent).collect();
    let is_open = bound.of_path(path).is_empty() && recorded.len() < parts.len();
    if is_open && !rules.owners(path).is_empty() {
        recorded.extend(intents_of_other_files(ws, rules, path).unwrap_or_default());
    }
    let bound = bound.with_other_work(ws, recorded.into_iter());
    let judge = PartJudge {
        ws,
        rules,
        path,
        bound: bound.of_path(path),
        of_other_work: bound.of_other_work(path),
        against: &ComparedSides::Head,
        is_committed: false,
    };
    let mut findings = judge.judge_parts(&parts);
    findings.extend(changed_parts::conflicts(path, &file.document));
    findings.extend(blocks_unlike_record(ws, path, file));
    findings.extend(scope_overlap(ws, path, file));
    findings
}

/// Returns the intents that answer for recorded work in other files. Only files that open records name are
/// read.
fn intents_of_other_files(
    ws: &Workspace,
    rules: &Rules,
    path: &RelativePath,
) -> Result<Vec<String>, VerbError> {
    let mut recorded: HashSet<RelativePath> = ws.journal.paths().into_iter().collect();
    recorded.remove(path);
    if recorded.is_empty() {
        return Ok(Vec::new());
    }
    let mut judged = JudgedChange::from_git(ws, &ComparedSides::Head)?;
    judged.changes.retain(|change| recorded.contains(&change.path));
    let (bound, mut summary) = (UnrecordedIntents::default(), CheckSummary::default());
    Judge::from_change(&judged, rules, bound, Default::default(), &mut summary)?.recorded_intents()
}

/// Returns a finding for each block whose text differs from its record. A block in which only an
/// inner block differs is left out, because the inner block gets the finding.
fn blocks_unlike_record(
    ws: &Workspace,
    path: &RelativePath,
    file: &answers::FileProvenance,
) -> Vec<Finding> {
    let blocks = file.blocks.blocks.iter().zip(&file.provenance);
    blocks
        .filter(|(_, found)| found.verdict == Verdict::Modified && !found.covered())
        .map(|(block, found)| {
            let since = match found.newer.len() {
                0 if found.is_cut => " (lines were removed since)".to_owned(),
                0 => String::new(),
                newer => {
                    let newer = counted(newer, "line");
                    format!(" ({newer} by nobody that is recorded since)")
                }
            };
            let message = format!("{} is no longer what was recorded{since}.", block.identity);
            let help = "Record the change, accept the block as it is, or put it back.";
            let finding = Finding::new(Code::DiffersFromRecord, message, help);
            Finding { intent: answers::intent_of(ws, found), ..finding.at_block(path, block) }
        })
        .collect()
}

fn scope_overlap(
    ws: &Workspace,
    path: &RelativePath,
    file: &answers::FileProvenance,
) -> Option<Finding> {
    let owners = ws.registry.owners(path);
    let block = file.blocks.blocks.first().filter(|_| owners.len() > 1)?;
    let names: Vec<String> =
        owners.iter().map(|owner| format!("{} ({})", owner.id.value, owner.name.value)).collect();
    let related =
        owners.iter().filter_map(|owner| scope_related(&ws.registry, path, &owner.id.value));
    let (many, names) = (owners.len(), names.join(", "));
    let message = format!("{path} is owned by {many} intents in progress: {names}.");
    let help =
        "Agents on both can collide here; narrow one scope with a `!` entry, or finish one first.";
    let finding = Finding::new(Code::ScopeOverlap, message, help).at_block(path, block);
    Some(Finding { related: related.collect(), ..finding })
}
