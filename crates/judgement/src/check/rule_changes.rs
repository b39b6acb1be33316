//! Judges what a change does to the rules: intents that it adds, widens or rewrites, the policy,
//! ignore files and trusted keys.
//!
//! Adding an intent or narrowing a scope grants nothing, so it is only mentioned to reviewers. A
//! change that loosens the rules needs either a signature that the target branch trusts, or a
//! change of its own that people review.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::JudgedChange;
use super::files::is_of_rules;
use crate::control::is_control_path;
use evidence::comparison::Compared;
use evidence::seal;
use evidence::signing::{self, SignatureCheck, Signatures, Signed};
use ground::control_files::is_control_file;
use ground::git::{ChangeKind, PathChange, Target};
use ground::policy::RegistryChanges;
use ground::text::shell_word;
use ground::{Code, CommitId, Finding, Git, RelativePath};
use intents::{Intent, Registry};
use ledger::anchor::is_anchor;
use ledger::read::{self, is_ledger_path};
use ledger::{Approved, Entry, Trust, journal};
use why::rules::{ApprovedWork, Rules};
use why::rules_at::is_governed_at;
use why::{VerbError, Workspace};

const WHERE_MERGED: &str =
    "Where it is merged, `intent check --base` asks for a signature or a pull request of its own.";

pub(super) fn ways_out(id: &str) -> String {
    format!(
        "{} Or land the change of the rules in a reviewed pull request of its own.",
        how_to_sign(id)
    )
}

fn how_to_sign(what: &str) -> String {
    let (typed, send) = (shell_word(what), seal::and_commit(&format!("Approve {what}")));
    format!(
        "A person who may approve rules signs the change: `intent approve {typed} && {send}`. The target branch lists their SSH keys."
    )
}

/// Compares the registry and the rules after a change with those before it. Returns findings for
/// what loosens the rules without a signature or a change of its own, and for unknown files below
/// `.orchestration/`. The rest becomes notes.
pub(super) fn judge(
    judged: &JudgedChange,
    rules: &Rules,
    approvals: &Approvals,
) -> Result<Compared, VerbError> {
    let (ws, changes) = (&judged.ws, &judged.changes);
    let mut compared = Compared::default();
    let (Some(git), Some(base)) = (ws.git(), judged.base()) else { return Ok(compared) };
    let before = Registry::at_target(git, &Target::Commit(base.clone()))?;
    let is_founded = before.exists() || is_governed_at(git, &Target::Commit(base.clone()))?;
    if !is_founded || ws.registry.syntax_error().is_some() {
        return Ok(compared);
    }
    // On a person's own machine there is no target branch, and the rules in the work tree are
    // accepted.
    let is_for_merge = judged.tip.is_some();
    let is_allowed = rules.accepted().policy.registry_changes == RegistryChanges::Allow;
    let is_of_its_own = changes.iter().all(|change| is_control_file(&change.path));
    for file in ws.registry.files() {
        for intent in file.intents() {
            let id = &intent.id.value;
            let accepted = &rules.accepted().registry;
            if is_for_merge && Differs::between_registries(&ws.registry, accepted, intent).is_none()
            {
                continue;
            }
            let Some(differs) = Differs::between_registries(&ws.registry, &before, intent) else {
                continue;
            };
            let sentence = differs.sentence(id);
            if differs.loosens.is_empty() || rules.is_signed(id) || is_allowed || is_of_its_own {
                compared.notes.push(sentence);
            } else if is_for_merge {
                let span = intent.id.span.clone();
                compared.findings.push(Finding {
                    intent: Some(id.clone()),
                    ..file.finding(Code::RegistryChanged, span, sentence, ways_out(id))
                });
            } else {
                compared.notes.push(format!("{sentence} {WHERE_MERGED}"));
            }
        }
    }
    // An id that two intents share is not gone. It has a finding of its own.
    let is_gone = |id: &&String| {
        ws.registry.scope(id).is_none()
            && ws.registry.definitions_of(id).is_empty()
            && rules.accepted().registry.scope(id).is_some()
    };
    let gone = before.intents().iter().map(|intent| &intent.id.value).filter(is_gone);
    compared.notes.extend(gone.map(|id| format!("{id} is removed from the registry.")));
    let policy = &rules.accepted().policy;
    for change in changes {
        match signing::is_rule(policy, &change.path) {
            true => {
                judge_rule_file(judged, approvals, (&change.path, is_of_its_own), &mut compared)?
            }
            false => judge_other_file(ws, change, &mut compared),
        }
    }
    Ok(compared)
}

fn judge_other_file(ws: &Workspace, change: &PathChange, compared: &mut Compared) {
    let path = &change.path;
    let files_of_git = [".orchestration/.gitignore", ".orchestration/.gitattributes"];
    let is_of_git = files_of_git.iter().any(|file| path.as_str().ends_with(file));
    if is_control_path(path.as_str()) && (is_of_git || !path.is_orchestration()) {
        compared.notes.push(format!("{path} changed, and it configures git or agents."));
    }
    if change.kind != ChangeKind::Deleted && is_of_rules(path) && !is_known(ws, path) {
        let (is, help) = match journal::is_open(path) {
            true => (
                "has a place where journals are, and a journal belongs to one clone",
                "Take it out of the change.",
            ),
            false => (
                "is not a file that intent uses",
                "Move it to a folder that an intent owns, or take it out of the change.",
            ),
        };
        let finding = Finding::new(Code::UnknownFile, format!("{path} {is}."), help);
        compared.findings.push(finding.in_file(path));
    }
}

/// `is_of_its_own` says that the whole change concerns only rules.
fn judge_rule_file(
    judged: &JudgedChange,
    approvals: &Approvals,
    (path, is_of_its_own): (&RelativePath, bool),
    compared: &mut Compared,
) -> Result<(), VerbError> {
    let ws = &judged.ws;
    let sentence = format!("{path} changed, and it is a part of the rules.");
    let (Some(git), Some(tip)) = (ws.git(), &judged.tip) else {
        compared.notes.push(format!("{sentence} {WHERE_MERGED}"));
        return Ok(());
    };
    let text = ws.text(path)?;
    if git.text(&Target::Commit(tip.clone()), path)? == text {
        return Ok(());
    }
    let hash = Approved::hash_of(text.unwrap_or_default().as_bytes());
    let mut signed = approvals.signed.iter();
    let is_signed = signed.any(|it| it.what == path.as_str() && it.hash == hash);
    // If the target branch trusts no key, nobody can sign. Then a change of its own is enough.
    let can_sign = !signing::signers_at(ws, Some(tip))?.trim().is_empty();
    if is_signed || is_of_its_own && !can_sign {
        compared.notes.push(sentence);
    } else {
        let help = match can_sign {
            true => how_to_sign(path.as_str()),
            false => "Land the change of the rules in a reviewed pull request of its own.".into(),
        };
        let finding = Finding::new(Code::RegistryChanged, sentence, help);
        compared.findings.push(finding.in_file(path));
    }
    Ok(())
}

/// Returns notes about signatures for changed rules that exist on this machine but in no commit of
/// the change.
pub(super) fn unsent(here: &Workspace, judged: &JudgedChange) -> Result<Vec<String>, VerbError> {
    let ws = &judged.ws;
    let (Some(git), Some(head)) = (ws.git(), &judged.head) else { return Ok(Vec::new()) };
    let mut notes = BTreeSet::new();
    for entry in here.journal.entries() {
        let Some(approved) = entry.record.approves.as_ref().filter(|it| it.signature.is_some())
        else {
            continue;
        };
        let what = &approved.what;
        let is_of_this_change = match ws.registry.get(what) {
            Some(intent) => intent.hash() == approved.hash,
            None => judged.changes.iter().any(|change| change.path.as_str() == what),
        };
        if !is_of_this_change || git.has_file(head, &entry.origin.path)? {
            continue;
        }
        let send = seal::and_commit(&format!("Approve {what}"));
        notes.insert(format!(
            "A signature of {what} is on this machine and in no commit yet: on its branch, `{send}`."
        ));
    }
    Ok(notes.into_iter().collect())
}

/// Returns true if a file below `.orchestration/` is one that this program reads or writes and that
/// may be committed. A journal belongs to one clone, so it may not.
fn is_known(ws: &Workspace, path: &RelativePath) -> bool {
    let name = path.as_str().split_once('/').map_or("", |(_, name)| name);
    let last = name.rsplit('/').next().unwrap_or_default();
    ws.registry.holds(path)
        || is_ledger_path(path) && !journal::is_open(path)
        || is_anchor(path)
        || matches!(name, "intent_map.md" | ".gitattributes" | ".gitignore")
        || last == ".gitkeep"
}

/// How an intent differs from an earlier registry, each difference as the rest of a sentence that
/// begins with the id.
#[derive(Debug, Default, PartialEq, Eq)]
struct Differs {
    loosens: Vec<&'static str>,
    /// The differences that do not, such as a new intent, a narrower scope or an added constraint.
    harmless: Vec<String>,
}

impl Differs {
    /// Compares an intent of the registry `now` with the registry `before`. `None` if nothing
    /// differs.
    fn between_registries(now: &Registry, before: &Registry, intent: &Intent) -> Option<Self> {
        let mut differs = Self::default();
        let id = &intent.id.value;
        // An intent that was renamed since is looked up by its former ids too.
        let known = now.ids(id).into_iter().filter(|id| before.scope(id).is_some());
        let mut known = known.filter_map(|id| before.get(id));
        let Some(old) = known.next() else {
            let scope = match intent.scope_entries()[..] {
                [] => "nothing".to_owned(),
                ref entries => entries.join(", "),
            };
            differs.harmless.push(format!("is new: {}, which owns {scope}", intent.name.value));
            return Some(differs);
        };
        if known.any(|other| other.id.value != old.id.value) {
            differs.loosens.push("took over what was recorded under another intent");
        }
        if old.id.value != *id {
            differs.harmless.push(format!("was {} before", old.id.value));
        }
        if now.scope(id)?.widens(before.scope(&old.id.value)?) {
            differs.loosens.push("got a wider scope");
        } else if intent.scope_entries() != old.scope_entries() {
            differs.harmless.push("has another scope, not a wider one".to_owned());
        }
        if intent.name.value != old.name.value {
            differs.loosens.push("has another name");
        }
        let lists = [
            (&intent.constraints, &old.constraints, "lost a constraint", "constraint"),
            (
                &intent.acceptance_criteria,
                &old.acceptance_criteria,
                "lost an acceptance criterion",
                "acceptance criterion",
            ),
        ];
        for (now, then, lost, what) in lists {
            let has =
                |all: &[intents::Spanned<String>], one: &str| all.iter().any(|it| it.value == one);
            if then.iter().any(|one| !has(now, &one.value)) {
                differs.loosens.push(lost);
            }
            if now.iter().any(|one| !has(then, &one.value)) {
                differs.harmless.push(format!("got another {what}"));
            }
        }
        let status = |intent: &Intent| intent.status.as_ref().map(|status| status.value);
        if let Some(now) = status(intent).filter(|now| Some(*now) != status(old)) {
            differs.harmless.push(format!("is {} now", now.as_str()));
        }
        (differs != Self::default()).then_some(differs)
    }

    fn sentence(&self, id: &str) -> String {
        let all = self.loosens.iter().map(|what| (*what).to_owned());
        let all: Vec<String> = all.chain(self.harmless.iter().cloned()).collect();
        format!("{id} {}.", all.join(", "))
    }
}

/// Returns the signed bytes of every approval that this commit or one of its ancestors contains, in
/// any ledger file, even if the file was deleted since.
fn used_before(git: &Git, tip: &CommitId) -> Result<HashSet<Vec<u8>>, VerbError> {
    const FOLDER: &str = ".orchestration";
    let mut used = HashSet::new();
    let mut add = |path: &RelativePath, bytes: &[u8]| {
        let entries = read::bytes(path, bytes).entries;
        let approved = entries.iter().filter_map(|entry| entry.record.approves.as_ref());
        used.extend(approved.map(Approved::signed_bytes));
    };
    for commit in git.commits_between(&[], tip, usize::MAX)? {
        // Only the first parent is compared: what a merge has from its other parents was added by
        // their commits.
        let Some(parent) = git.commit_info(&commit)?.parents.into_iter().next() else {
            let all = git.read_below(FOLDER, &Target::Commit(commit), &is_ledger_path)?;
            all.iter().for_each(|(path, bytes)| add(path, bytes));
            continue;
        };
        let changes = git.changes_below(FOLDER, &parent, &commit)?.into_iter();
        for path in changes.map(|change| change.path).filter(is_ledger_path) {
            if let Some(bytes) = git.file_at(&commit, &path)? {
                add(&path, &bytes);
            }
        }
    }
    Ok(used)
}

#[derive(Default)]
pub(super) struct Approvals {
    pub signed: HashSet<Approved>,
    pub work: HashSet<ApprovedWork>,
    pub notes: Vec<String>,
}

impl Approvals {
    /// Collects the approvals that count. On a person's own machine, these are the ones that this
    /// clone recorded. For a branch, these are the ones that it contains and that are signed with a
    /// key that the target branch trusts.
    ///
    /// One approval is good for one step, from the accepted text to the signed text. It is not
    /// counted again once the target branch contains it, so that it cannot be replayed.
    pub(super) fn collected(
        judged: &JudgedChange,
        signatures: &dyn Signatures,
    ) -> Result<Self, VerbError> {
        let ws = &judged.ws;
        let (Some(git), Some(tip)) = (ws.git(), &judged.tip) else {
            return Ok(Self::of_open_work(ws));
        };
        let mut all = Self::default();
        // An approval that a later commit removed was taken back, so it is not among these.
        let entries = judged.history.records.iter().map(|(_, entry)| entry);
        let approving = entries.filter_map(|entry| Some((entry, entry.record.approves.as_ref()?)));
        let approving: Vec<_> = approving.collect();
        if approving.is_empty() {
            return Ok(all);
        }
        let signers = signing::signers_at(ws, Some(tip))?;
        let mut used: Option<HashSet<Vec<u8>>> = None;
        for (entry, approved) in approving {
            let Some(signature) = approved.signature.as_deref() else { continue };
            let bytes = approved.signed_bytes();
            let what = Signed { namespace: Approved::NAMESPACE, bytes: &bytes, signature };
            if !matches!(signatures.judge(what, &signers)?, SignatureCheck::By(_)) {
                continue;
            }
            if let Some(replaces) = &approved.replaces
                && *replaces != signing::hash_at(ws, &Target::Commit(tip.clone()), &approved.what)?
            {
                continue;
            }
            if git.is_shallow() {
                all.notes.push("Signed approvals are not counted in a shallow clone, which cannot tell whether they were used before: `git fetch --unshallow`.".to_owned());
                return Ok(Self { notes: all.notes, ..Self::default() });
            }
            if used.is_none() {
                used = Some(used_before(git, tip)?);
            }
            if used.as_ref().is_some_and(|used| used.contains(&bytes)) {
                continue;
            }
            let code = entry.record.decision.as_ref().and_then(|it| it.approval.clone());
            let Some(code) = code else {
                all.signed.insert(approved.clone());
                continue;
            };
            let (path, content) = (approved.what.clone(), Some(approved.hash.clone()));
            all.work.insert(ApprovedWork { code, path, content });
        }
        Ok(all)
    }

    pub(super) fn of_open_work(ws: &Workspace) -> Self {
        let is_own =
            |entry: &&Arc<Entry>| journal::is_open(&entry.origin.path) && entry.trust == Trust::Own;
        let own = ws.journal.entries().iter().filter(is_own);
        let work = own.filter_map(|entry| {
            let code = entry.record.decision.as_ref()?.approval.clone()?;
            let path = entry.record.approves.as_ref()?.what.clone();
            Some(ApprovedWork { code, path, content: None })
        });
        Self { work: work.collect(), ..Self::default() }
    }

    pub(super) fn intents(&self, registry: &Registry) -> HashSet<String> {
        let is_signed = |intent: &&Intent| {
            let mut signed = self.signed.iter();
            signed.any(|one| one.what == intent.id.value && one.hash == intent.hash())
        };
        registry.intents().iter().filter(is_signed).map(|it| it.id.value.clone()).collect()
    }
}
