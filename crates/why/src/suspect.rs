//! Finds *suspect* blocks: blocks whose intent, or a specification of it, has changed since they
//! were recorded.
//!
//! A record stores a hash of the text that its intent had ([`Intent::hash`]). If the intent has
//! another text now, the earlier text is looked for in the registry of the commit that brought the
//! lines, of its parents, and of the commit on which the record was made; for late evidence also in
//! the last commits. Changes of the constraints and of the acceptance criteria count, and a scope that
//! does not own the file any more: one that was widened for other files says nothing about this one. A
//! specification that the record names counts if it is a file whose content has changed since.
//!
//! If the earlier text is not there, for example because the registry was committed later than the
//! code, the block is not suspect: nobody can say what changed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use super::commit_brief;
use super::commit_words::CommitBrief;
use super::provenance_of_blocks::Provenance;
use ground::git::Target;
use ground::{CommitId, RelativePath, clock};
use intents::{Intent, Scope, Spanned};
use ledger::Claim;

const MAX_COMMITS: usize = 2_000;

/// A part of an intent whose change makes its blocks suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentPart {
    /// The constraints of the intent.
    Constraints,
    /// The acceptance criteria of the intent.
    AcceptanceCriteria,
    /// The scope of the intent.
    OwnedScope,
}

impl IntentPart {
    const ALL: [Self; 3] = [Self::Constraints, Self::AcceptanceCriteria, Self::OwnedScope];

    fn as_words(self) -> &'static str {
        match self {
            Self::Constraints => "constraints",
            Self::AcceptanceCriteria => "acceptance criteria",
            Self::OwnedScope => "scope",
        }
    }

    /// Returns the entries in the form in which they are compared. They are sorted, since their
    /// order means nothing, except in a scope, where the last matching entry decides.
    fn entries_of(self, intent: &Intent) -> Vec<&str> {
        let list: &[Spanned<String>] = match self {
            Self::Constraints => &intent.constraints,
            Self::AcceptanceCriteria => &intent.acceptance_criteria,
            Self::OwnedScope => &intent.owned_scope,
        };
        let mut entries: Vec<&str> = list.iter().map(|entry| entry.value.trim()).collect();
        if self != Self::OwnedScope {
            entries.sort_unstable();
        }
        entries
    }

    fn differing(then: &Intent, now: &Intent, path: &RelativePath) -> Vec<Self> {
        let owns = |intent: &Intent| Scope::new(&Self::OwnedScope.entries_of(intent)).owns(path);
        let concerns = |part: &Self| *part != Self::OwnedScope || (owns(then) && !owns(now));
        let differs = |part: &Self| part.entries_of(then) != part.entries_of(now);
        Self::ALL.into_iter().filter(|part| differs(part) && concerns(part)).collect()
    }
}

/// Why a block may need a review, since the reason for which it was written has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Suspicion {
    /// The present id of the intent.
    pub intent: String,
    /// The parts of the intent that differ from those at the time of the record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<IntentPart>,
    /// Specifications that the intent names and that changed since the record was committed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<RelativePath>,
    /// The newest commit that changed one of the parts. Absent if it was not searched for, or not
    /// found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitBrief>,
    /// Whether the parts were changed in the work tree and the change is in no commit yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// All of this in one sentence.
    pub message: String,
}

/// Returns the index of each suspect block and the reason. `blocks` has the provenance of every
/// block of the file.
pub fn of_file(ws: &Workspace, blocks: &[Provenance]) -> Vec<(usize, Suspicion)> {
    let blocks = blocks.iter().enumerate();
    blocks.filter_map(|(at, found)| Some((at, suspicion_about(ws, found)?))).collect()
}

/// `None` if the block is not suspect, or if that is not known. The commit that changed the
/// intent is not searched for.
pub fn suspicion_about(ws: &Workspace, found: &Provenance) -> Option<Suspicion> {
    let claim = found.claim.as_deref()?;
    // A person who reassigned the block has reviewed it, and the record's hash is that of the
    // former intent.
    if !claim.reassigned.is_empty() || ws.namesake_of(claim).is_some() {
        return None;
    }
    let id = claim.intent()?;
    // A person who accepted the block has reviewed it under the text that the intent had then.
    let accepted = found.accepted.as_ref();
    let accepted = accepted.map(|entry| Claim { entry: Arc::clone(entry), ..claim.clone() });
    let claim = accepted.as_ref().unwrap_or(claim);
    let present = ws.registry.get(id)?;
    let hash = claim.entry.record.intent_hash.as_deref();
    let hash = hash.filter(|hash| !ws.reads_as(present, hash));
    let then = hash.and_then(|hash| ws.text_then(claim, id, hash));
    let parts =
        then.map(|then| IntentPart::differing(&then, present, &claim.path)).unwrap_or_default();
    let specs = changed_specs(ws, claim, present);
    let intent = present.id.value.clone();
    let suspicion = Suspicion { intent, parts, specs, ..Suspicion::default() };
    let is_none = suspicion.parts.is_empty() && suspicion.specs.is_empty();
    (!is_none).then(|| suspicion.with_message())
}

impl Suspicion {
    pub(crate) fn with_commit(mut self, ws: &Workspace) -> Self {
        let present = ws.registry.get(&self.intent).filter(|_| !self.parts.is_empty());
        if let (Some(present), Some(tip)) = (present, ws.tip()) {
            match has_parts(ws, tip, present, &self.parts) {
                Some(true) => {
                    let commit = changed_in(ws, present, &self.parts);
                    self.commit = commit.and_then(|commit| commit_brief::brief(ws, &commit));
                }
                _ => self.uncommitted = !matches!(ws.files(), Target::Commit(_)),
            }
        }
        self.with_message()
    }

    fn with_message(mut self) -> Self {
        let since = match (&self.commit, self.uncommitted) {
            (Some(commit), _) => {
                let day = commit.timestamp.as_deref().and_then(|time| time.get(..10));
                let day = day.map(|day| format!(", {day}")).unwrap_or_default();
                format!(" (commit {}{day})", commit.short())
            }
            (None, true) => " (in no commit yet)".to_owned(),
            (None, false) => String::new(),
        };
        let mut said = Vec::new();
        if !self.parts.is_empty() {
            let parts = ground::text::joined_words(self.parts.iter().map(|part| part.as_words()));
            let id = &self.intent;
            said.push(format!("the {parts} of {id} changed since this was recorded{since}"));
        }
        if !self.specs.is_empty() {
            let specs = ground::text::joined_words(self.specs.iter().map(RelativePath::as_str));
            said.push(format!("{specs}, which it serves, changed since this was committed"));
        }
        self.message = said.join("; ");
        self
    }
}

/// Returns the commit at which the specifications of a record are compared: the one that brought its
/// lines. What a person recorded long after that commit was seen in a later state, which is not
/// known.
fn seen_at(ws: &Workspace, claim: &Claim) -> Option<CommitId> {
    let commit = CommitId(claim.commit.clone()?);
    let is_late = claim.entry.late_commit.is_some() || claim.entry.record.of.is_some();
    let time = ws.git()?.commit_info(&commit).ok()?.time;
    let made = clock::milliseconds(&claim.entry.record.timestamp)?;
    (!is_late || made <= (time + 1) * 1_000).then_some(commit)
}

/// Returns the specifications of a record that are files, that its intent still names, and that
/// differ from the version at which they were seen.
fn changed_specs(ws: &Workspace, claim: &Claim, present: &Intent) -> Vec<RelativePath> {
    let related = claim.file().into_iter().flat_map(|file| file.relations());
    let related = related.filter(|one| one.is_specification());
    let is_named = |spec: &str| present.related_specs.iter().any(|one| one.value == spec);
    let named = related.filter(|one| is_named(&one.value));
    let mut paths: Vec<RelativePath> =
        named.filter_map(|one| RelativePath::new(&one.value).ok()).collect();
    // Most records name no specification, and then no commit is read.
    let commit = if paths.is_empty() { None } else { seen_at(ws, claim) };
    let has_changed = |path: &RelativePath| differs(ws, commit.as_ref()?, path);
    paths.retain(|path| has_changed(path) == Some(true));
    ledger::sorted(paths)
}

/// Returns true if a text file differs from its version in a commit. `None` if it was not a text
/// file there, or cannot be read.
fn differs(ws: &Workspace, commit: &CommitId, path: &RelativePath) -> Option<bool> {
    let then = ws.read_at(commit, path).ok()??;
    if !ws.exists(path) {
        return Some(true);
    }
    let now = ws.read(path).ok()?;
    Some(!now.text().lines().eq(then.text().lines()))
}

/// Returns the newest commit on the line of first parents that changed one of the parts of an
/// intent. `None` if it is not found.
fn changed_in(ws: &Workspace, present: &Intent, parts: &[IntentPart]) -> Option<CommitId> {
    let git = ws.git()?;
    let mut commit = ws.tip()?.clone();
    for _ in 0..MAX_COMMITS {
        let parent = git.commit_info(&commit).ok()?.parents.into_iter().next()?;
        if !has_parts(ws, &parent, present, parts)? {
            return Some(commit);
        }
        commit = parent;
    }
    None
}

/// Returns true if an intent had these parts at a commit as it has them now. `None` if the registry
/// cannot be read there.
fn has_parts(
    ws: &Workspace,
    commit: &CommitId,
    present: &Intent,
    parts: &[IntentPart],
) -> Option<bool> {
    ws.registry_at(commit)?;
    let ids = ws.registry.ids(&present.id.value);
    let then = ids.iter().find_map(|id| ws.intent_at(commit, id));
    Some(then.is_some_and(|then| {
        parts.iter().all(|part| part.entries_of(&then) == part.entries_of(present))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_changed_and_where() {
        use IntentPart::{AcceptanceCriteria, Constraints, OwnedScope};
        let path = |path: &str| RelativePath::new(path).expect("a path");
        let said = |parts: &[IntentPart], specs: &[&str], uncommitted: bool| {
            let suspicion = Suspicion {
                intent: "INT-001".to_owned(),
                parts: parts.to_vec(),
                specs: specs.iter().map(|spec| path(spec)).collect(),
                commit: None,
                uncommitted,
                message: String::new(),
            };
            suspicion.with_message().message
        };
        assert_eq!(
            said(&[Constraints, AcceptanceCriteria, OwnedScope], &[], true),
            "the constraints, acceptance criteria and scope of INT-001 changed since this was recorded (in no commit yet)"
        );
        assert_eq!(
            said(&[Constraints], &["docs/a.md"], false),
            "the constraints of INT-001 changed since this was recorded; docs/a.md, which it serves, changed since this was committed"
        );
        assert_eq!(
            said(&[], &["a.md", "b.md"], false),
            "a.md and b.md, which it serves, changed since this was committed"
        );
    }
}
