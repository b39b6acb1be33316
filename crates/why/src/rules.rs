//! Decides whether work under an intent may change a path.
//!
//! The gate, the editor, `check`, `status` and `record` all ask [`Rules::rulings`], so they never
//! disagree.
//!
//! There are two sets of rules. The *accepted* rules are those of the branch that a change is to be
//! merged into, or on a person's own machine the files as they are. They decide what is allowed.
//! The *proposed* rules are those after the change, if it is merged. What they forbid in addition is
//! forbidden at once; what they allow in addition is allowed only after the merge.

use crate::selectable;
use std::collections::HashSet;
use std::sync::Arc;

use super::Workspace;
use ground::ignores::IgnoreRule;
use ground::{Code, Ignores, Policy, RelatedPlace, RelativePath, text};
use intents::{ImportedIntent, Intent, Registry, Scope, ScopeVerdict, scope};

#[derive(Clone)]
pub struct Layer {
    pub registry: Arc<Registry>,
    pub policy: Arc<Policy>,
    pub ignores: Arc<Ignores>,
}

impl Layer {
    pub fn from_workspace(ws: &Workspace) -> Self {
        Self {
            registry: Arc::clone(&ws.registry),
            policy: Arc::clone(&ws.policy),
            ignores: Arc::clone(&ws.ignores),
        }
    }
}

const MAX_ENTRIES: usize = 3;

/// A file name that stands for any file inside a folder. Rules about particular file names, such as
/// `**/_*`, do not match it.
pub const SOMETHING: &str = "intent-any-file";

#[derive(Clone)]
pub struct Rules {
    accepted: Layer,
    proposed: Layer,
    /// The registry that the change began with. It is compared with the proposed one: if the change
    /// leaves an intent alone, the intent's accepted text counts, which may be newer.
    ///
    /// `None` on a person's own machine.
    base: Option<Arc<Registry>>,
    approved: HashSet<ApprovedWork>,
    /// The ids of intents whose proposed text carries a signature that the target branch trusts.
    signed: HashSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    Protected(String),
    Ignored(IgnoreRule),
    Unknown,
    Outside(Outside),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    Unmentioned,
    Excluded(usize),
    /// The proposed scope owns the path, but the accepted scope does not.
    Proposed,
    /// The intent itself is new in the proposed rules, and the accepted intents with these ids own
    /// the path.
    Taken(Vec<String>),
    /// The intent is kept in another format and not adopted, so it has no scope, and the accepted
    /// intents in progress with these ids own the path.
    OfOthers(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApprovedWork {
    pub code: String,
    /// The path of the file. Empty for a command, and for a call that changes several files.
    pub path: String,
    /// The hash of the file content that was approved. `None` on the machine where the person
    /// approved it: there, the record of the write says what was written.
    pub content: Option<String>,
}

impl Ruling {
    pub fn code(&self) -> Code {
        match self {
            Self::Protected(_) => Code::ProtectedPath,
            Self::Ignored(_) => Code::IgnoredPath,
            Self::Unknown => Code::UnknownIntent,
            Self::Outside(_) => Code::ScopeViolation,
        }
    }
}

impl Rules {
    /// Returns the rules of a workspace on a person's own machine, where the files as they are
    /// count as accepted.
    pub fn from_workspace(ws: &Workspace) -> Self {
        Self::from_layers(Layer::from_workspace(ws), Layer::from_workspace(ws))
    }

    pub fn from_layers(accepted: Layer, proposed: Layer) -> Self {
        Self { accepted, proposed, base: None, approved: HashSet::new(), signed: HashSet::new() }
    }

    pub fn with_base(self, base: Arc<Registry>, signed: HashSet<String>) -> Self {
        Self { base: Some(base), signed, ..self }
    }

    /// Returns the rules that hold once `registry`, which an editor shows, is saved. Only for what
    /// an editor shows; never use them to decide.
    pub fn once_saved(self, registry: Arc<Registry>) -> Self {
        let accepted = Layer { registry: Arc::clone(&registry), ..self.accepted };
        Self { accepted, proposed: Layer { registry, ..self.proposed }, ..self }
    }

    pub fn approving(self, approved: HashSet<ApprovedWork>) -> Self {
        Self { approved, ..self }
    }

    /// Returns true if a person approved a write of `path`. `code` is the code of the question,
    /// which the record of the write names. `holds` tests if the file has the content with a given
    /// hash.
    pub fn is_approved(
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

    pub fn accepted(&self) -> &Layer {
        &self.accepted
    }

    pub fn is_signed(&self, id: &str) -> bool {
        self.signed.contains(id)
    }

    /// Returns true if these rules are the files on a person's own machine, rather than a change to
    /// a branch.
    pub fn is_of_one_machine(&self) -> bool {
        self.base.is_none()
    }

    fn layers(&self) -> [&Layer; 2] {
        [&self.accepted, &self.proposed]
    }

    /// The text that work under the intent is checked against.
    pub fn intent(&self, id: &str) -> Option<&Intent> {
        self.registry_of(id).get(id)
    }

    pub fn intent_at_work(&self, id: &str) -> Option<&Intent> {
        let registry = self.registry_of(id);
        registry.get(id).filter(|intent| registry.allows_work(intent))
    }

    pub(crate) fn registry_of(&self, id: &str) -> &Registry {
        let proposed = &self.proposed.registry;
        match &self.base {
            // The change did not touch the intent, so its accepted text counts.
            Some(base) if base.version(id) == proposed.version(id) => &self.accepted.registry,
            _ => proposed,
        }
    }

    /// Returns the scope of an intent that work is checked against, and its accepted scope. The
    /// second is `None` if the intent exists only in the proposed rules.
    fn scopes(&self, id: &str) -> Option<(&Scope, Option<&Scope>)> {
        let (accepted, registry) = (&*self.accepted.registry, self.registry_of(id));
        registry.get(id)?;
        // If the change gives the intent a new id, its accepted scope is found by an earlier id.
        let accepted = registry.ids(id).into_iter().find_map(|id| accepted.scope(id));
        Some((registry.scope(id)?, accepted))
    }

    /// Returns every reason why work under an intent may not change a path, the most important
    /// first. Without an intent, only the rules that apply to all intents are checked.
    pub fn rulings(&self, path: &RelativePath, intent: Option<&str>) -> Vec<Ruling> {
        let layers = self.layers();
        let protected = layers.iter().find_map(|layer| protecting(&layer.policy, path));
        let ids = intent.map(|id| self.proposed.registry.ids(id)).unwrap_or_default();
        let ignored = layers.iter().find_map(|layer| layer.ignores.denied_to(path, &ids));
        // If a registry cannot be parsed, that is a finding of its own, and scopes are not checked.
        let is_readable = || layers.iter().all(|layer| layer.registry.syntax_error().is_none());
        let outside = intent.filter(|_| is_readable()).and_then(|id| self.outside(path, id));
        let general = [protected.map(Ruling::Protected), ignored.map(Ruling::Ignored)];
        general.into_iter().chain([outside]).flatten().collect()
    }

    /// Like [`Rules::rulings`], for a path that stands for a whole folder, such as a submodule or a
    /// symbolic link. It is also protected or ignored if a file inside it would be.
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

    /// Returns what is known of an intent in another format that nobody has adopted. A change that
    /// takes away the accepted scope of an intent, or switches on a format, does not make it one.
    pub fn unadopted(&self, id: &str) -> Option<&ImportedIntent> {
        let mut layers = self.layers().into_iter();
        let imported = self.registry_of(id).unadopted(id)?;
        let is_adopted = layers.any(|layer| layer.registry.scope(id).is_some());
        (!is_adopted && self.accepted.policy.reads(imported.format)).then_some(imported)
    }

    fn outside(&self, path: &RelativePath, id: &str) -> Option<Ruling> {
        if self.unadopted(id).is_some() {
            let outside = match self.accepted.registry.get(id) {
                Some(_) => Outside::OfOthers(ids_of(self.owners(path))),
                None => Outside::Taken(self.claimed_by(path)),
            };
            let is_free =
                matches!(&outside, Outside::OfOthers(ids) | Outside::Taken(ids) if ids.is_empty());
            return (!is_free).then_some(Ruling::Outside(outside));
        }
        let Some((scope, accepted)) = self.scopes(id) else {
            // A missing registry, and an id that two intents share, are reported as findings of
            // their own.
            let exists = self.layers().iter().any(|layer| layer.registry.exists());
            let is_shared = !self.proposed.registry.definitions_of(id).is_empty();
            return (exists && !is_shared).then_some(Ruling::Unknown);
        };
        let outside = match (scope.verdict(path), accepted) {
            (ScopeVerdict::Unmentioned, _) => Some(Outside::Unmentioned),
            (ScopeVerdict::Excluded(at), _) => Some(Outside::Excluded(at)),
            (ScopeVerdict::Owned(_), _) if self.signed.contains(id) => None,
            (ScopeVerdict::Owned(_), Some(accepted)) => {
                (!accepted.owns(path)).then_some(Outside::Proposed)
            }
            (ScopeVerdict::Owned(_), None) => {
                Some(self.claimed_by(path)).filter(|it| !it.is_empty()).map(Outside::Taken)
            }
        };
        outside.map(Ruling::Outside)
    }

    fn claimed_by(&self, path: &RelativePath) -> Vec<String> {
        ids_of(self.accepted.registry.owners_among(path, selectable::can_start))
    }

    pub fn owners(&self, path: &RelativePath) -> Vec<&Intent> {
        self.accepted.registry.owners(path)
    }

    /// Describes a ruling for people. The first text is one sentence: `INT-001 is not authorized to
    /// edit src/x.rs.` The second explains why, in one or two sentences, and may be empty.
    pub fn describe(
        &self,
        ruling: &Ruling,
        path: &RelativePath,
        id: Option<&str>,
    ) -> (String, String) {
        let id = id.unwrap_or_default();
        let what = match ruling {
            Ruling::Protected(rule) => format!(
                "{path} is protected by `protected_paths: {rule}` in .orchestration/policy.yaml."
            ),
            Ruling::Ignored(rule) => {
                let (from, IgnoreRule { pattern, file, line, .. }) = (rule.forbidden_for(), rule);
                format!("{path} is kept from {from} by `{pattern}` ({file}:{line}).")
            }
            Ruling::Unknown => {
                format!("{path} belongs to {id}, which the registry does not hold.")
            }
            Ruling::Outside(outside) => {
                let what = format!("Scope Violation: {id} is not authorized to edit {path}.");
                return (what, self.why_outside(outside, path, id));
            }
        };
        (what, String::new())
    }

    fn why_outside(&self, outside: &Outside, path: &RelativePath, id: &str) -> String {
        match outside {
            Outside::Proposed => format!("Its scope owns {path} only if this change is accepted."),
            Outside::Taken(owners) => format!(
                "{id} is added by this change, so it owns nothing that an accepted intent owns: {path} belongs to {}.",
                owners.join(", ")
            ),
            Outside::OfOthers(owners) => format!(
                "It has no scope here, so it owns nothing that another intent in progress owns: {path} belongs to {}.",
                owners.join(", ")
            ),
            Outside::Unmentioned | Outside::Excluded(_) => {
                let owner = match &self.other_owners(path, id)[..] {
                    [] => format!("No intent in progress owns {path}."),
                    others => format!("{path} belongs to {}.", others.join(", ")),
                };
                let entries = self.intent(id).map(Intent::scope_entries).unwrap_or_default();
                match (entries.len(), entries.len().saturating_sub(MAX_ENTRIES)) {
                    (0, _) => format!("{owner} {id} owns nothing."),
                    (_, 0) => format!("{owner} {id} owns {}.", entries.join(", ")),
                    (_, more) => {
                        let first = entries[..MAX_ENTRIES].join(", ");
                        format!("{owner} {id} owns {first} and {more} more.")
                    }
                }
            }
        }
    }

    pub fn other_owners(&self, path: &RelativePath, id: &str) -> Vec<String> {
        let owners = self.owners(path).into_iter();
        names_of_intents(owners.filter(|owner| owner.id.value != id))
    }

    /// Says what to do about work on a path outside the scope of an intent. `it` is a noun
    /// for that work.
    pub fn way_out(
        &self,
        path: &RelativePath,
        id: &str,
        it: &str,
        work: OutsideWork<'_>,
    ) -> String {
        let put_back = format!("Widen the scope of {id}, or put {it} back.");
        let Some(owner) = self.owners(path).first().map(|owner| &owner.id.value) else {
            let ask = ask_for_scope(id, &scope::entry_for(path));
            return format!("{put_back} An agent asks a person for that with `{ask}`.");
        };
        let (first, place) = match work {
            OutsideWork::Recorded => return put_back,
            OutsideWork::Selected => {
                return format!(
                    "Select the intent that owns {path}, widen the scope of {id}, or put {it} back."
                );
            }
            OutsideWork::Open(place) => ("commit it, and then a", place),
            OutsideWork::Committed(place) => ("a", place),
        };
        format!(
            "{put_back} If {id} is not what it was written for, {first} person puts it under the right intent with `intent evidence reassign {place} --from {id} --to {owner}`."
        )
    }

    pub fn explained(&self, path: &RelativePath, id: &str) -> Option<RelatedPlace> {
        // Text that exists only in the proposed registry may not be in a file yet, so the accepted
        // registry is preferred.
        let accepted = self.accepted.registry.scope(id).is_some_and(|scope| !scope.owns(path));
        let registry = if accepted { &self.accepted.registry } else { self.registry_of(id) };
        scope_related(registry, path, id)
    }
}

/// What is known of work outside the scope of an intent, which decides how a person can settle it. A
/// place is a path, or a path and a line, quoted for a shell.
#[derive(Clone, Copy, Debug)]
pub enum OutsideWork<'a> {
    /// No record covers the work. It counts as the work of the intent because somebody selected that.
    Selected,
    /// A record covers the work, but names no line that could be put under another intent: something
    /// was removed, or only the layout changed.
    Recorded,
    /// A record names lines of the work, and no commit has them yet.
    Open(&'a str),
    /// A record names lines of the work, and a commit has them.
    Committed(&'a str),
}

fn ids_of(intents: Vec<&Intent>) -> Vec<String> {
    intents.into_iter().map(|intent| intent.id.value.clone()).collect()
}

/// Returns each intent as people read it: `INT-001 (Log in by e-mail)`.
pub fn names_of_intents<'a>(intents: impl IntoIterator<Item = &'a Intent>) -> Vec<String> {
    let named = |intent: &Intent| format!("{} ({})", intent.id.value, intent.name.value);
    intents.into_iter().map(named).collect()
}

pub fn ask_for_scope(id: &str, entry: &str) -> String {
    let entry = text::shell_path(entry);
    format!("intent request-scope --intent {id} --add {entry} --reason 'why it is needed'")
}

/// Returns the command by which an agent proposes an intent. `entry` is quoted for a shell.
pub fn propose(entry: &str) -> String {
    format!("intent propose NAME --scope {entry} --reason 'why it is needed'")
}

/// Returns the rule that forbids work under an intent on a path, whoever owns the path: an entry of
/// `protected_paths`, or a line of an ignore file. Without an intent, only the rules that apply to
/// all intents are checked.
pub fn forbidden_by(ws: &Workspace, path: &RelativePath, intent: Option<&str>) -> Option<String> {
    Rules::from_workspace(ws).rulings(path, intent).into_iter().find_map(|ruling| match ruling {
        Ruling::Protected(rule) => Some(format!("`protected_paths: {rule}`")),
        Ruling::Ignored(rule) => Some(format!("{}:{}", rule.file, rule.line)),
        Ruling::Unknown | Ruling::Outside(_) => None,
    })
}

pub(crate) fn protecting(policy: &Policy, path: &RelativePath) -> Option<String> {
    let entries = &policy.protected_paths;
    // The workspace's own folder has its own rules, for rule files and for records.
    if entries.is_empty() || path.as_str().starts_with(".orchestration/") {
        return None;
    }
    entries.get(Scope::new(entries).naming(path.as_str())?).cloned()
}

pub fn scope_related(registry: &Registry, path: &RelativePath, id: &str) -> Option<RelatedPlace> {
    let (file, intent) = registry.intent_with_file(id)?;
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
