//! *Check*: does a change agree with intents, scopes and ledger?
//!
//! Two faces of one judgement: [`change`] for a whole change (working tree,
//! index, against any base), which trusts neither the agent nor the change and
//! so takes policy and ignore rules from the base; [`document`] for one text in
//! an editor.

use std::collections::HashMap;
use std::slice;

use schemars::JsonSchema;
use serde::Serialize;

use super::classes::{self, ClassAnswer};
use super::edited::Baseline;
use super::gate::{is_control_file, protecting, scope_and_owners};
use super::signing::{Nobody, Signatures};
use super::workspace::{ignores_at, policy_at};
use super::{VerbError, Workspace, seal, verify, why};
use crate::code::{Block, Document, LineRange};
use crate::intent::{Intent, Registry};
use crate::provenance::{Classification, Provenance, Verdict};
use crate::workspace::git::{Change, ChangeKind, Target};
use crate::workspace::{
    Code, CommitId, Finding, Ignores, Level, Policy, Related, RelativePath, policy::RegistryChanges,
};

/// What is compared with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// The working tree with HEAD.
    #[default]
    Head,
    /// The working tree with where it left this revision.
    Base(String),
    /// The index with HEAD.
    Staged,
    /// The changes between two revisions. Only git is read, not the work tree.
    Range {
        /// The revision to compare with. The change begins at the merge base of both.
        from: String,
        /// The revision to judge.
        to: String,
    },
}

/// The judgement of a change.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CheckAnswer {
    /// Sorted by path and line; those switched off are left out.
    pub findings: Vec<FindingAnswer>,
    /// In numbers.
    pub summary: CheckSummary,
    /// What kind of change it is, base to head; `None` where that was not looked at (no git, or too much text).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ClassAnswer>,
}

/// A change in numbers.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct CheckSummary {
    /// The commit it was compared with; `None` where there was none.
    pub base: Option<String>,
    /// Files that changed.
    pub files: usize,
    /// Blocks that changed.
    pub blocks: usize,
    /// Of those, blocks that a record covers as they stand.
    pub recorded: usize,
    /// Findings.
    pub errors: usize,
    /// See `errors`.
    pub warnings: usize,
    /// What could not be judged, and why.
    pub notes: Vec<String>,
}

/// A finding as programs read it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FindingAnswer {
    /// Relative to the workspace; `None` for the workspace as a whole.
    pub path: Option<String>,
    /// 1-based.
    pub start_line: Option<u32>,
    /// Inclusive.
    pub end_line: Option<u32>,
    /// The stable code.
    pub code: String,
    /// `error`, `warning`, `info` or `hint`.
    pub level: Level,
    /// The intent it is about.
    pub intent: Option<String>,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub help: String,
}

/// Findings as programs read them, at the levels of the policy; those switched off are left out.
pub fn answers(ws: &Workspace, findings: Vec<Finding>) -> Vec<FindingAnswer> {
    levelled(&ws.policy, findings)
}

/// Findings as programs read them, at the levels of a policy; those switched off are left out.
pub(super) fn levelled(policy: &Policy, findings: Vec<Finding>) -> Vec<FindingAnswer> {
    let mut answers: Vec<FindingAnswer> = findings
        .into_iter()
        .map(|finding| FindingAnswer {
            code: finding.code.as_str().to_owned(),
            level: policy.check_level(finding.code),
            path: finding.path.map(|path| path.to_string()),
            start_line: finding.lines.map(LineRange::start),
            end_line: finding.lines.map(LineRange::end),
            intent: finding.intent,
            message: finding.message,
            help: finding.help,
        })
        .filter(|answer| answer.level != Level::Off)
        .collect();
    answers.sort();
    answers.dedup();
    answers
}

/// Judges a whole change, without looking at signatures.
pub fn change(ws: &Workspace, against: &Against) -> Result<CheckAnswer, VerbError> {
    change_signed(ws, against, &Nobody)
}

/// Like [`change`], and checks the signatures of tombstones.
pub fn change_signed(
    ws: &Workspace,
    against: &Against,
    signatures: &dyn Signatures,
) -> Result<CheckAnswer, VerbError> {
    ws.governed()?;
    judgeable(ws, against)?;
    let base = base(ws, against)?;
    let unstaged = match against {
        Against::Staged => seal::unstaged_note(ws),
        _ => None,
    };
    let ws = &match (against, ws.git()) {
        (Against::Staged, Some(_)) => ws.at_index()?,
        (Against::Range { to, .. }, Some(git)) => ws.at_commit(git.resolve(to)?, base.clone())?,
        _ => ws.clone(),
    };
    let mut answer = CheckAnswer::default();
    let mut findings = verify::findings(ws);
    let mut policy = (*ws.policy).clone();
    match ws.git() {
        None => answer.summary.notes.push(
            "There is no git here, so changes were not judged; registry and ledger were."
                .to_owned(),
        ),
        Some(_) => {
            answer.summary.base = base.as_ref().map(|base| base.0.clone());
            answer.summary.notes.extend(seal::open_note(ws));
            answer.summary.notes.extend(unstaged);
            let rules = Rules::at(ws, base.as_ref())?;
            policy = rules.policy.clone().unwrap_or(policy);
            findings.extend(registry_changes(ws, &rules));
            if let Some(base) = &base {
                let compared = super::evidence::against_base(ws, base, signatures)?;
                findings.extend(compared.findings);
                answer.summary.notes.extend(compared.notes);
            }
            let changes = ws.changes_since(base.as_ref())?;
            let gone = deleted(&changes);
            let sides = Sides { ws, base: base.as_ref() };
            let texts = sides.texts(&changes)?;
            let classes = sides.classified(&texts);
            match &classes {
                Some(found) => answer.change = Some(classes::answer(found)),
                None => {
                    answer.summary.notes.push("The change is too large to classify.".to_owned())
                }
            }
            let judge = Judge { sides, rules: &rules, gone: &gone, classes };
            let mut read: HashMap<RelativePath, Versions> =
                texts.files.into_iter().map(|(path, old, new)| (path, (old, new))).collect();
            for changed in changes {
                let versions = read.remove(&changed.path).unwrap_or_default();
                judge.file(&changed, versions, &mut answer.summary, &mut findings)?;
            }
        }
    }
    answer.findings = levelled(&policy, findings);
    let count = |level| answer.findings.iter().filter(|finding| finding.level == level).count();
    (answer.summary.errors, answer.summary.warnings) = (count(Level::Error), count(Level::Warning));
    Ok(answer)
}

/// What kind of change the working tree is against HEAD; `None` where nothing changed, or nobody can tell.
pub fn class(ws: &Workspace) -> Option<ClassAnswer> {
    let sides = Sides { ws, base: ws.head() };
    let changes = ws.changes_since(sides.base).ok()?;
    let found = sides.classified(&sides.texts(&changes).ok()?)?;
    (!found.reasons.is_empty()).then(|| classes::answer(&found))
}

/// A check that cannot see the change must not look like one that found nothing.
fn judgeable(ws: &Workspace, against: &Against) -> Result<(), VerbError> {
    if let Some(reason) = ws.git_error() {
        return Err(VerbError::BrokenGit { reason: reason.to_string() });
    }
    let what = match against {
        Against::Base(revision) => format!("the change since {revision:?}"),
        Against::Staged => "the index".to_owned(),
        Against::Range { from, to } => format!("the change from {from:?} to {to:?}"),
        Against::Head => return Ok(()),
    };
    if ws.git().is_some() {
        return Ok(());
    }
    Err(VerbError::NoGit { root: ws.root.path().display().to_string(), what })
}

fn base(ws: &Workspace, against: &Against) -> Result<Option<CommitId>, VerbError> {
    let Some(git) = ws.git() else { return Ok(None) };
    let (from, to) = match against {
        Against::Base(revision) => (git.resolve(revision)?, ws.head().cloned()),
        Against::Range { from, to } => (git.resolve(from)?, Some(git.resolve(to)?)),
        Against::Head | Against::Staged => return Ok(ws.head().cloned()),
    };
    let Some(to) = to else { return Ok(Some(from)) };
    Ok(Some(git.merge_base(&from, &to)?.unwrap_or(from)))
}

/// The rules as the base has them: a change may not loosen what it is judged by.
struct Rules {
    policy: Option<Policy>,
    ignores: Option<Ignores>,
    registry: Option<Registry>,
}

impl Rules {
    fn at(ws: &Workspace, base: Option<&CommitId>) -> Result<Self, VerbError> {
        let (Some(git), Some(base)) = (ws.git(), base) else {
            return Ok(Self { policy: None, ignores: None, registry: None });
        };
        let base = Target::Commit(base.clone());
        let registry = Registry::at(git, &base)?;
        let registry = registry.exists().then_some(registry);
        let policy = policy_at(git, &base)?.map(|(policy, _)| policy);
        let ignores = ignores_at(&ws.root, git, &base)?;
        // Where the base is governed its rules count, even where they are none; before that, the tree's own.
        let governed = registry.is_some();
        Ok(Self {
            policy: policy.or_else(|| governed.then(Policy::default)),
            ignores: governed.then_some(ignores),
            registry,
        })
    }
}

fn registry_changes(ws: &Workspace, rules: &Rules) -> Vec<Finding> {
    let Some(before) = &rules.registry else { return Vec::new() };
    let allowed = rules
        .policy
        .as_ref()
        .is_some_and(|policy| policy.registry_changes == RegistryChanges::Allow);
    if allowed || ws.registry.same_text(before) || ws.registry.syntax_error().is_some() {
        return Vec::new();
    }
    let files = ws.registry.files().iter();
    let all = files.flat_map(|file| file.intents().iter().map(move |intent| (file, intent)));
    let changed =
        all.filter_map(|(file, intent)| Some((file, intent, what_widened(ws, before, intent)?)));
    changed
        .map(|(file, intent, what)| Finding {
            intent: Some(intent.id.value.clone()),
            ..file.finding(
                Code::RegistryChanged,
                intent.id.span.clone(),
                format!("{} {what} since the base.", intent.id.value),
                "A person reviews this on its own, or the base's policy allows it with `registry_changes: allow`.",
            )
        })
        .collect()
}

fn what_widened(ws: &Workspace, before: &Registry, intent: &Intent) -> Option<&'static str> {
    let id = &intent.id.value;
    // Of an intent that was renamed since, by the id it had then.
    let mut known = ws.registry.ids(id).into_iter().filter_map(|id| before.get(id));
    let Some(old) = known.next() else { return Some("was added") };
    if known.any(|other| other.id.value != old.id.value) {
        return Some("took over what was recorded under another intent");
    }
    let old_scope = before.scope(&old.id.value)?;
    if ws.registry.scope(id)?.widens(old_scope) {
        return Some("got a wider scope");
    }
    (intent.in_progress() && !old.in_progress()).then_some("was put in progress")
}

/// A file at the base and as it stands, where both are known to be text.
type Versions = (Option<Document>, Option<Document>);

/// What is compared with what.
struct Sides<'a> {
    ws: &'a Workspace,
    base: Option<&'a CommitId>,
}

struct Judge<'a> {
    sides: Sides<'a>,
    rules: &'a Rules,
    gone: &'a [RelativePath],
    classes: Option<Classification>,
}

/// The files that a change takes away.
pub(super) fn deleted(changes: &[Change]) -> Vec<RelativePath> {
    let gone = changes.iter().filter(|change| change.kind == ChangeKind::Deleted);
    gone.map(|change| change.path.clone()).collect()
}

impl Sides<'_> {
    /// What changed, as texts.
    fn texts(&self, changes: &[Change]) -> Result<classes::Texts, VerbError> {
        let mut texts = classes::Texts::default();
        for change in changes {
            let path = &change.path;
            if path.is_orchestration() || is_control_file(path) {
                continue;
            }
            let (old, new) = (change.kind != ChangeKind::Added, change.kind != ChangeKind::Deleted);
            let before = match self.base {
                Some(base) if old => self.ws.read_at(base, path)?,
                _ => None,
            };
            let after = new.then(|| self.document(change).ok()).flatten();
            match before.is_some() == old && after.is_some() == new {
                true => texts.files.push((path.clone(), before, after)),
                false => texts.unread.push(path.clone()),
            }
        }
        Ok(texts)
    }

    fn classified(&self, texts: &classes::Texts) -> Option<Classification> {
        let others = |words: &[&str]| {
            let paths = self.ws.tracked().ok()?;
            classes::holding(paths, texts, words, |path| self.unchanged(path))
        };
        classes::classify(texts, &others)
    }

    /// A file that is the same on both sides, and text.
    fn unchanged(&self, path: &RelativePath) -> Option<String> {
        let bytes = match self.ws.files() {
            Target::WorkTree => std::fs::read(self.ws.root.absolute(path)).ok()?,
            _ => self.ws.git()?.file_at(self.base?, path).ok()??,
        };
        String::from_utf8(bytes).ok()
    }

    fn document(&self, change: &Change) -> Result<Document, String> {
        let path = &change.path;
        if change.kind == ChangeKind::Deleted {
            return Ok(Document::from_text(path.as_str(), ""));
        }
        self.ws.read(path).map_err(|error| error.to_string())
    }
}

impl Judge<'_> {
    fn file(
        &self,
        change: &Change,
        (before, after): Versions,
        summary: &mut CheckSummary,
        findings: &mut Vec<Finding>,
    ) -> Result<(), VerbError> {
        let (ws, path) = (self.sides.ws, &change.path);
        if path.is_orchestration() || is_control_file(path) {
            return Ok(());
        }
        summary.files += 1;
        let document = match after.map_or_else(|| self.sides.document(change), Ok) {
            Ok(document) => document,
            Err(reason) => {
                summary.notes.push(format!("{path} was not judged block by block: {reason}"));
                return Ok(());
            }
        };
        let baseline = match before {
            Some(before) => Baseline::Texts(vec![before]),
            None => Baseline::at_commits(ws, path, self.sides.base.map_or(&[], slice::from_ref))?,
        };
        let document = baseline.carried_by(document);
        let file = why::file(ws, path, &document);
        let baseline = match self.sides.base {
            Some(base) => baseline.or_renamed(ws, path, &document, base, self.gone)?,
            None => baseline,
        };
        if matches!(baseline, Baseline::Unknown) {
            let note = format!(
                "{path} was not judged block by block: it has no readable text at the base"
            );
            summary.notes.push(note);
            return Ok(());
        }
        let edits = baseline.edits(&file.document);
        summary.blocks += edits.now.len();
        for (at, _) in &edits.now {
            let (block, found) = (&file.blocks.blocks[*at], &file.provenance[*at]);
            if found.covered() {
                summary.recorded += 1;
            }
            findings.extend(self.block(path, block, found));
            if let Some(classes) = &self.classes {
                findings.extend(classes::contradicted(ws, path, block, found, classes));
            }
        }
        Ok(())
    }

    fn block(&self, path: &RelativePath, block: &Block, found: &Provenance) -> Vec<Finding> {
        let ws = self.sides.ws;
        let ignores = self.rules.ignores.as_ref().unwrap_or(&ws.ignores);
        let policy = self.rules.policy.as_ref().unwrap_or(&ws.policy);
        let place = Place { path, block };
        let covering = found.covered().then(|| why::intent_of(ws, found)).flatten();
        let mut findings = path_findings(&place, policy, ignores, covering.as_deref());
        match covering {
            Some(id) => findings.extend(recorded_findings(ws, &place, &id, Some(found))),
            None if found.covered() => {}
            None => findings.push(place.finding(
                Code::UnrecordedChange,
                None,
                format!("{} changed and no record covers it.", place.name()),
                format!("Record it with `intent record --intent ID {path}`, or accept it with `intent accept {path}:{}`.", block.lines.start()),
            )),
        }
        findings
    }
}

/// Judges one text of an editor against its baseline: what is edited, under which intent, and may it be.
pub fn document(
    ws: &Workspace,
    path: &RelativePath,
    file: &why::FileProvenance,
    baseline: &Baseline,
) -> Vec<Finding> {
    if !ws.root.governed() || path.is_orchestration() || ws.ignores.git_ignored(path) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let edits = baseline.edits(&file.document);
    let selected = ws.selected(None);
    for (at, _) in &edits.now {
        let (block, found) = (&file.blocks.blocks[*at], &file.provenance[*at]);
        let place = Place { path, block };
        let covering = found.covered().then(|| why::intent_of(ws, found)).flatten();
        let judged_by = covering.as_deref().or(selected.as_deref());
        findings.extend(path_findings(&place, &ws.policy, &ws.ignores, judged_by));
        match judged_by {
            Some(id) => {
                let record = Some(found).filter(|found| found.covered());
                findings.extend(recorded_findings(ws, &place, id, record));
            }
            None if found.covered() => {}
            None => findings.push(intent_required(ws, &place)),
        }
        if !found.covered() {
            findings.extend(selected.as_deref().and_then(|id| not_active(ws, &place, id)));
            findings.push(place.finding(
                Code::UnrecordedChange,
                selected.clone(),
                format!("{} changed and no record covers it.", place.name()),
                "Record it under the selected intent, or accept it as it is.".to_owned(),
            ));
        }
    }
    findings.extend(differing(ws, path, file));
    findings.extend(overlap(ws, path, file));
    findings
}

/// An edit under a selected intent that is finished, or not begun. What a record covers was judged when it was made.
fn not_active(ws: &Workspace, place: &Place<'_>, id: &str) -> Option<Finding> {
    let intent = ws.registry.get(id).filter(|intent| !intent.in_progress())?;
    let status =
        intent.status.as_ref().map_or("without a known status", |status| status.value.as_str());
    Some(place.finding(
        Code::IntentNotActive,
        Some(id.to_owned()),
        format!("{} is edited under {id}, which is {status}.", place.name()),
        format!("Select an intent that is in progress, or start {id}."),
    ))
}

fn intent_required(ws: &Workspace, place: &Place<'_>) -> Finding {
    let owners: Vec<&str> =
        ws.registry.owners(place.path).iter().map(|intent| intent.id.value.as_str()).collect();
    let help = if owners.is_empty() {
        "No intent in progress owns this file; select one that may be widened, or create one."
            .to_owned()
    } else {
        format!("Select one that owns this file: {}.", owners.join(", "))
    };
    place.finding(
        Code::IntentRequired,
        None,
        format!("{} is edited while no intent is selected.", place.name()),
        help,
    )
}

fn differing(ws: &Workspace, path: &RelativePath, file: &why::FileProvenance) -> Vec<Finding> {
    let blocks = file.blocks.blocks.iter().zip(&file.provenance);
    blocks
        .filter(|(_, found)| found.verdict == Verdict::Modified && !found.only_inside)
        .map(|(block, found)| {
            let place = Place { path, block };
            let kept = found
                .kept
                .map(|kept| format!(" (about {:.0} % is kept)", kept * 100.0))
                .unwrap_or_default();
            place.finding(
                Code::DiffersFromRecord,
                why::intent_of(ws, found),
                format!("{} is no longer what was recorded{kept}.", place.name()),
                "Record the change, accept the block as it is, or put it back.".to_owned(),
            )
        })
        .collect()
}

/// Two intents in progress that own one file: said once, at its first block.
fn overlap(ws: &Workspace, path: &RelativePath, file: &why::FileProvenance) -> Option<Finding> {
    let owners = ws.registry.owners(path);
    let block = file.blocks.blocks.first().filter(|_| owners.len() > 1)?;
    let names: Vec<String> =
        owners.iter().map(|owner| format!("{} ({})", owner.id.value, owner.name.value)).collect();
    let mut finding = Place { path, block }.finding(
        Code::ScopeOverlap,
        None,
        format!("{path} is owned by {} intents in progress: {}.", owners.len(), names.join(", ")),
        "Agents on both can collide here; narrow one scope with a `!` entry, or finish one first."
            .to_owned(),
    );
    finding.related = owners.iter().filter_map(|owner| scope_related(ws, owner, path)).collect();
    Some(finding)
}

struct Place<'a> {
    path: &'a RelativePath,
    block: &'a Block,
}

impl Place<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.block.identity.kind.as_str(), self.block.identity.path)
    }

    fn finding(
        &self,
        code: Code,
        intent: Option<String>,
        message: String,
        help: String,
    ) -> Finding {
        Finding {
            path: Some(self.path.clone()),
            span: Some(self.block.name_bytes.clone()),
            lines: Some(self.block.lines),
            intent,
            ..Finding::new(code, message, help)
        }
    }
}

/// What holds for a path whatever the intent.
fn path_findings(
    place: &Place<'_>,
    policy: &Policy,
    ignores: &Ignores,
    intent: Option<&str>,
) -> Vec<Finding> {
    let path = place.path;
    let mut findings = Vec::new();
    if let Some(rule) = protecting(policy, path) {
        findings.push(place.finding(
            Code::ProtectedPath,
            intent.map(str::to_owned),
            format!(
                "{path} is protected by `protected_paths: {rule}` in .orchestration/policy.yaml."
            ),
            "Put the block back, or let a person change the policy first.".to_owned(),
        ));
    }
    if let Some(rule) = ignores.denied(path) {
        findings.push(place.finding(
            Code::IgnoredPath,
            intent.map(str::to_owned),
            format!(
                "{path} is kept from agents by `{}` ({}:{}).",
                rule.pattern, rule.file, rule.line
            ),
            "Put the block back, or let a person change the ignore file first.".to_owned(),
        ));
    }
    findings
}

/// What holds for a block that an intent answers for: by a record, or since it is selected.
fn recorded_findings(
    ws: &Workspace,
    place: &Place<'_>,
    id: &str,
    record: Option<&Provenance>,
) -> Vec<Finding> {
    if ws.registry.syntax_error().is_some() {
        // What the registry holds is not known; that it is broken is a finding of its own.
        return Vec::new();
    }
    let Some(intent) = ws.registry.get(id) else {
        if !ws.registry.rivals(id).is_empty() {
            return Vec::new();
        }
        let misplaced = record.and_then(|found| why::misplaced(ws, place.path, found));
        return vec![place.finding(
            Code::UnknownIntent,
            Some(id.to_owned()),
            format!("{} belongs to {id}, which the registry does not hold.", place.name()),
            misplaced.unwrap_or_else(|| {
                "Restore the intent in the registry, or select another one.".to_owned()
            }),
        )];
    };
    let path = place.path;
    if ws.registry.scope(id).is_none_or(|scope| scope.owns(path)) {
        return Vec::new();
    }
    let mut help = format!(
        "Select the intent that owns {path}, widen the scope of {id}, or put the block back."
    );
    if record.is_some() {
        let to = match ws.registry.owners(path)[..] {
            [only] => only.id.value.as_str(),
            _ => "ID",
        };
        help.push_str(&format!(
            " If {id} is not what it was written for, a person puts it under the right intent with `intent reassign {path}:{} --from {id} --to {to}`.",
            place.block.lines.start()
        ));
    }
    let mut finding = place.finding(
        Code::ScopeViolation,
        Some(id.to_owned()),
        format!(
            "Scope Violation: {id} is not authorized to edit {path}. {}",
            scope_and_owners(ws, intent, path)
        ),
        help,
    );
    finding.related = scope_related(ws, intent, path).into_iter().collect();
    vec![finding]
}

/// The place in the registry that explains why an intent owns a path or does not.
fn scope_related(ws: &Workspace, intent: &Intent, path: &RelativePath) -> Option<Related> {
    use crate::intent::ScopeVerdict;
    let verdict = ws.registry.scope(&intent.id.value)?.verdict(path);
    let (entry, message) = match verdict {
        ScopeVerdict::Owned(at) => {
            (intent.owned_scope.get(at)?, format!("{} owns it by this entry", intent.id.value))
        }
        ScopeVerdict::Excluded(at) => {
            (intent.owned_scope.get(at)?, format!("{} excludes it by this entry", intent.id.value))
        }
        ScopeVerdict::Unmentioned => match intent.owned_scope.first() {
            Some(first) => (first, format!("the scope of {} does not mention it", intent.id.value)),
            None => (&intent.id, format!("{} owns nothing", intent.id.value)),
        },
    };
    let (file, _) = ws.registry.place(&intent.id.value)?;
    Some(file.related(entry.span.clone(), message))
}
