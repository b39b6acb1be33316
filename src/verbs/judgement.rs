//! *Judge*: may work under an intent change a path?
//!
//! The gate, the editor, `check`, `status` and `record` all ask [`Rules::rulings`], so that they never disagree.
//!
//! There are two sets of rules. The *accepted* ones decide: those of the branch that a change is to be merged into; on
//! a person's own machine the files as they stand. The *proposed* ones are what the change makes of them, or a buffer
//! of an editor. They narrow at once, and widen nothing.

use std::collections::HashSet;
use std::sync::Arc;

use super::Workspace;
use crate::intent::{Intent, Registry, Scope, ScopeVerdict, Status};
use crate::workspace::ignores::IgnoreRule;
use crate::workspace::{Code, Ignores, Policy, RelatedPlace, RelativePath, text};

/// Registry, policy and ignore files.
#[derive(Clone)]
pub struct Layer {
    /// The intents.
    pub registry: Arc<Registry>,
    /// What people allow.
    pub policy: Arc<Policy>,
    /// What no agent may touch.
    pub ignores: Arc<Ignores>,
}

impl Layer {
    /// Those of a workspace as it stands.
    pub fn of(ws: &Workspace) -> Self {
        Self {
            registry: Arc::clone(&ws.registry),
            policy: Arc::clone(&ws.policy),
            ignores: Arc::clone(&ws.ignores),
        }
    }
}

/// A name for what may be in a folder.
pub(super) const SOMETHING: &str = "_";

/// What decides about a change.
#[derive(Clone)]
pub struct Rules {
    accepted: Layer,
    proposed: Layer,
    /// The registry that the change began with. An intent that the change does not touch is read as it is accepted now.
    found: Option<Arc<Registry>>,
    /// Writes and commands that a person approved.
    approved: HashSet<ApprovedWork>,
    /// Intents whose proposed text somebody signed whom the target branch trusts, by their ids.
    signed: HashSet<String>,
}

/// Why work under an intent may not change a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// This entry of `protected_paths` names the path.
    Protected(String),
    /// This line of an ignore file keeps agents from it.
    Ignored(IgnoreRule),
    /// No registry holds the intent.
    Unknown,
    /// Its scope does not own the path.
    Outside(Outside),
}

/// Why a scope does not own a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// No entry matches the path.
    Unmentioned,
    /// The entry at this index excludes the path.
    Excluded(usize),
    /// Only the proposed scope owns the path.
    Proposed,
    /// The intent is only proposed, and the accepted intents with these ids own the path.
    Taken(Vec<String>),
}

/// A write, or all that a command did, as a person approved it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ApprovedWork {
    /// Of the question.
    pub code: String,
    /// Empty of a command.
    pub path: String,
    /// The hash of the file's content that was approved. `None` on the machine where the person approved it: there, the
    /// record of the write says what was written.
    pub content: Option<String>,
}

impl Ruling {
    /// The code of the finding.
    pub fn code(&self) -> Code {
        match self {
            Self::Protected(_) => Code::ProtectedPath,
            Self::Ignored(_) => Code::IgnoredPath,
            Self::Unknown => Code::UnknownIntent,
            Self::Outside(_) => Code::ScopeViolation,
        }
    }
}

/// An intent under both sets of rules.
struct HeldIntent<'a> {
    intent: &'a Intent,
    scope: &'a Scope,
    /// Its accepted scope; `None` of an intent that is only proposed.
    accepted: Option<&'a Scope>,
}

impl Rules {
    /// Those of a workspace as it stands: on a person's own machine they are accepted.
    pub fn of(ws: &Workspace) -> Self {
        Self::between(Layer::of(ws), Layer::of(ws))
    }

    /// From accepted and proposed rules, with nothing approved or signed.
    pub fn between(accepted: Layer, proposed: Layer) -> Self {
        Self { accepted, proposed, found: None, approved: HashSet::new(), signed: HashSet::new() }
    }

    /// Adds the registry that the change began with, and the ids of intents whose proposed text is signed.
    pub(super) fn since(self, found: Arc<Registry>, signed: HashSet<String>) -> Self {
        Self { found: Some(found), signed, ..self }
    }

    /// Replaces the proposed registry.
    pub fn proposing(self, registry: Arc<Registry>) -> Self {
        Self { proposed: Layer { registry, ..self.proposed }, ..self }
    }

    /// Adds what a person approved.
    pub(super) fn approving(self, approved: HashSet<ApprovedWork>) -> Self {
        Self { approved, ..self }
    }

    /// Whether a person approved the write of a path that a record tells of, given the code that it names and the
    /// file as it is.
    pub(super) fn is_approved(
        &self,
        code: &str,
        path: &RelativePath,
        holds: impl Fn(&str) -> bool,
    ) -> bool {
        self.approved.iter().any(|work| {
            work.code == code
                && (work.path.is_empty() || work.path == path.as_str())
                && work.content.as_deref().is_none_or(&holds)
        })
    }

    /// The rules that decide.
    pub fn accepted(&self) -> &Layer {
        &self.accepted
    }

    /// Whether somebody trusted signed the proposed text of an intent.
    pub(super) fn is_signed(&self, id: &str) -> bool {
        self.signed.contains(id)
    }

    /// Whether what stands on a person's own machine is judged, rather than a branch.
    pub(super) fn is_of_one_machine(&self) -> bool {
        self.found.is_none()
    }

    /// Whether the registries can be read. If not, that is a finding of its own, and nothing is known of scopes.
    fn is_readable(&self) -> bool {
        let layers = [&self.accepted, &self.proposed];
        layers.iter().all(|layer| layer.registry.syntax_error().is_none())
    }

    /// Whether there is a registry.
    fn is_there(&self) -> bool {
        self.accepted.registry.exists() || self.proposed.registry.exists()
    }

    /// The text of an intent that work is held against.
    pub fn intent(&self, id: &str) -> Option<&Intent> {
        self.held(id).map(|held| held.intent)
    }

    /// The registry with that text.
    pub(super) fn registry_of(&self, id: &str) -> &Registry {
        match self.leaves_alone(id) {
            true => &self.accepted.registry,
            false => &self.proposed.registry,
        }
    }

    /// Returns true if the change leaves an intent as it was when the change began.
    fn leaves_alone(&self, id: &str) -> bool {
        let found = self.found.as_ref();
        found.is_some_and(|found| found.version(id) == self.proposed.registry.version(id))
    }

    /// The text of an intent that work is held against, with its scopes.
    fn held(&self, id: &str) -> Option<HeldIntent<'_>> {
        let (accepted, registry) = (&*self.accepted.registry, self.registry_of(id));
        let intent = registry.get(id)?;
        // If the change gives the intent another id, its accepted scope is found by the id that it had.
        let accepted = registry.ids(id).into_iter().find_map(|id| accepted.scope(id));
        Some(HeldIntent { intent, scope: registry.scope(id)?, accepted })
    }

    /// Everything that stands against work on a path under an intent, the weightiest first. Without an intent, only the
    /// rules that hold for all of them.
    pub fn rulings(&self, path: &RelativePath, intent: Option<&str>) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        let layers = [&self.accepted, &self.proposed];
        rulings.extend(
            layers.iter().find_map(|it| protecting(&it.policy, path)).map(Ruling::Protected),
        );
        let ids = intent.map(|id| self.proposed.registry.ids(id)).unwrap_or_default();
        let ignored = layers.iter().find_map(|layer| layer.ignores.denied_to(path, &ids));
        rulings.extend(ignored.map(Ruling::Ignored));
        if let Some(id) = intent.filter(|_| self.is_readable()) {
            rulings.extend(self.outside(path, id));
        }
        rulings
    }

    /// The same for what stands for a folder, such as a submodule or a link: it is protected and ignored as well where
    /// what is in it would be.
    pub fn rulings_of_folder(&self, path: &RelativePath, intent: Option<&str>) -> Vec<Ruling> {
        let mut rulings = self.rulings(path, intent);
        let Ok(inside) = RelativePath::new(&format!("{path}/{SOMETHING}")) else { return rulings };
        for ruling in self.rulings(&inside, intent).into_iter().rev() {
            let is_kept = matches!(ruling, Ruling::Protected(_) | Ruling::Ignored(_));
            if is_kept && !rulings.iter().any(|known| known.code() == ruling.code()) {
                rulings.insert(0, ruling);
            }
        }
        rulings
    }

    fn outside(&self, path: &RelativePath, id: &str) -> Option<Ruling> {
        let Some(held) = self.held(id) else {
            // A missing registry, and an id that two intents have, are findings of their own.
            let is_told = !self.is_there() || !self.proposed.registry.rivals(id).is_empty();
            return (!is_told).then_some(Ruling::Unknown);
        };
        let outside = match held.scope.verdict(path) {
            ScopeVerdict::Unmentioned => Outside::Unmentioned,
            ScopeVerdict::Excluded(at) => Outside::Excluded(at),
            ScopeVerdict::Owned(_) if self.signed.contains(id) => return None,
            ScopeVerdict::Owned(_) => match held.accepted {
                Some(accepted) if accepted.owns(path) => return None,
                Some(_) => Outside::Proposed,
                None => {
                    let owners = self.claimed_by(path);
                    if owners.is_empty() {
                        return None;
                    }
                    Outside::Taken(owners)
                }
            },
        };
        Some(Ruling::Outside(outside))
    }

    /// The accepted intents that own a path and are not done with it.
    fn claimed_by(&self, path: &RelativePath) -> Vec<String> {
        let is_open = |intent: &Intent| {
            let status = intent.status.as_ref().map(|status| status.value);
            !matches!(status, Some(Status::Completed | Status::Archived))
        };
        let owners = self.accepted.registry.owners_among(path, is_open).into_iter();
        owners.map(|owner| owner.id.value.clone()).collect()
    }

    /// The intents in progress that own a path, as accepted.
    pub fn owners(&self, path: &RelativePath) -> Vec<&Intent> {
        self.accepted.registry.owners(path)
    }

    /// What a ruling says, in a sentence: `INT-001 is not authorized to edit src/x.rs.` And why, in one or two.
    pub fn told(&self, ruling: &Ruling, path: &RelativePath, id: Option<&str>) -> (String, String) {
        let id = id.unwrap_or_default();
        match ruling {
            Ruling::Protected(rule) => (
                format!(
                    "{path} is protected by `protected_paths: {rule}` in .orchestration/policy.yaml."
                ),
                String::new(),
            ),
            Ruling::Ignored(rule) => (
                format!(
                    "{path} is kept from {} by `{}` ({}:{}).",
                    rule.from(),
                    rule.pattern,
                    rule.file,
                    rule.line
                ),
                String::new(),
            ),
            Ruling::Unknown => (
                format!("{path} belongs to {id}, which the registry does not hold."),
                String::new(),
            ),
            Ruling::Outside(outside) => (
                format!("Scope Violation: {id} is not authorized to edit {path}."),
                self.why_outside(outside, path, id),
            ),
        }
    }

    fn why_outside(&self, outside: &Outside, path: &RelativePath, id: &str) -> String {
        match outside {
            Outside::Proposed if self.is_of_one_machine() => {
                format!("Its scope takes in {path} only in a registry that is not accepted yet.")
            }
            Outside::Proposed => format!(
                "Its scope takes in {path} only as this change widens it, and that is not accepted."
            ),
            Outside::Taken(owners) => format!(
                "{id} is added by this change, so it owns nothing that an accepted intent owns: {path} belongs to {}.",
                owners.join(", ")
            ),
            Outside::Unmentioned | Outside::Excluded(_) => {
                let entries = self.intent(id).map(Intent::scope_entries).unwrap_or_default();
                let owns = match entries.is_empty() {
                    true => "It owns nothing.".to_owned(),
                    false => format!("It owns {}.", entries.join(", ")),
                };
                let others = self.owners(path).into_iter().filter(|owner| owner.id.value != id);
                let others: Vec<String> = others
                    .map(|owner| format!("{} ({})", owner.id.value, owner.name.value))
                    .collect();
                match others.is_empty() {
                    true => format!("{owns} No intent in progress owns {path}."),
                    false => format!("{owns} {path} belongs to {}.", others.join(", ")),
                }
            }
        }
    }

    /// What to do about `it`, which is work on a path outside the scope of an intent. `recorded` is the place of what is
    /// recorded under that intent, as a word of a shell.
    pub(super) fn way_out(
        &self,
        path: &RelativePath,
        id: &str,
        it: &str,
        recorded: Option<&str>,
    ) -> String {
        let Some(owner) = self.owners(path).first().map(|owner| &owner.id.value) else {
            return format!(
                "Widen the scope of {id}, which `{}` asks a person for, or put {it} back.",
                ask_for_scope(id, path)
            );
        };
        let mut help = format!(
            "Select the intent that owns {path}, widen the scope of {id}, or put {it} back."
        );
        if let Some(place) = recorded {
            help.push_str(&format!(
                " If {id} is not what it was written for, a person puts it under the right intent with `intent reassign {place} --from {id} --to {owner}`."
            ));
        }
        help
    }

    /// The place in the registry that explains why an intent owns a path or does not.
    pub fn explained(&self, path: &RelativePath, id: &str) -> Option<RelatedPlace> {
        // What only the proposed text has may stand in no file yet.
        let accepted = self.accepted.registry.scope(id).is_some_and(|scope| !scope.owns(path));
        let registry = if accepted { &self.accepted.registry } else { self.registry_of(id) };
        scope_related(registry, path, id)
    }
}

/// The command that asks a person to let an intent own a path.
pub(super) fn ask_for_scope(id: &str, path: &RelativePath) -> String {
    let entry = text::shell_word(path.as_str());
    format!("intent request-scope --intent {id} --add {entry} --reason 'why it is needed'")
}

/// The rule that keeps work under an intent from a path, whoever owns it: an entry of the policy, or a line of an ignore
/// file. Without an intent, only a rule that holds for all of them.
pub(super) fn kept_by(ws: &Workspace, path: &RelativePath, intent: Option<&str>) -> Option<String> {
    Rules::of(ws).rulings(path, intent).into_iter().find_map(|ruling| match ruling {
        Ruling::Protected(rule) => Some(format!("`protected_paths: {rule}`")),
        Ruling::Ignored(rule) => Some(format!("{}:{}", rule.file, rule.line)),
        Ruling::Unknown | Ruling::Outside(_) => None,
    })
}

/// The entry of a policy's `protected_paths` that names the path.
pub(crate) fn protecting(policy: &Policy, path: &RelativePath) -> Option<String> {
    let entries = &policy.protected_paths;
    // What lies in the workspace's own folder is judged as rules and records.
    if entries.is_empty() || path.as_str().starts_with(".orchestration/") {
        return None;
    }
    entries.get(Scope::new(entries).naming(path.as_str())?).cloned()
}

/// The place in a registry that explains why an intent owns a path or does not.
pub(super) fn scope_related(
    registry: &Registry,
    path: &RelativePath,
    id: &str,
) -> Option<RelatedPlace> {
    let (file, intent) = registry.place(id)?;
    let (id, entries) = (&intent.id.value, &intent.owned_scope);
    let (entry, message) = match registry.scope(id)?.verdict(path) {
        ScopeVerdict::Owned(at) => (entries.get(at)?, format!("{id} owns it by this entry")),
        ScopeVerdict::Excluded(at) => (entries.get(at)?, format!("{id} excludes it by this entry")),
        ScopeVerdict::Unmentioned => match entries.first() {
            Some(first) => (first, format!("the scope of {id} does not mention it")),
            None => (&intent.id, format!("{id} owns nothing")),
        },
    };
    Some(file.related(entry.span.clone(), message))
}
