//! Recognises *namesakes*: earlier intents whose id belongs to another intent now. For example, two
//! branches both created `INT-001`, or `INT-001` was removed and a later intent took its id.
//!
//! Records of a namesake must not be attributed to the present intent. To tell the two apart, the
//! registry is followed back through git, through every rename, to the commit that created the
//! present intent: a record that fits none of the intent's texts on that way may belong to a
//! namesake. If git cannot answer, no namesake is assumed, and the record is attributed to "an
//! unknown version" of the present intent.

use super::Workspace;
use ground::session::SelectedText;
use ground::{CommitId, Selection};
use intents::Intent;
use ledger::{Claim, Entry, Record, evidence};

impl Workspace {
    /// Returns the present id of the intent that a block is under. That is the intent which the
    /// record names, unless a person has reassigned the block. If the id belongs to another intent
    /// now, the result is `INT-001 (its name)`, which is never an id in a registry.
    pub fn intent_of(&self, claim: &Claim) -> Option<String> {
        Some(self.present_name(claim.intent()?, self.namesake_of(claim)))
    }

    /// Returns the present id of the intent that a record names. Renaming an intent changes the
    /// registry, never the ledger. If the id belongs to another intent now, the result has the form
    /// that [`Self::intent_of`] describes.
    pub fn intent_named(&self, entry: &Entry) -> Option<String> {
        Some(self.present_name(entry.record.intent_id.as_deref()?, self.namesake(entry, None)))
    }

    /// Returns the present id of a selected intent. If the id belongs to another intent now, the result
    /// has the form that [`Self::intent_of`] describes, so nobody works under an intent that was not
    /// selected.
    pub fn intent_of_selection(&self, selection: &Selection) -> String {
        let id = selection.intent_id.as_str();
        let is_other_name = |then: &&SelectedText| {
            self.registry.get(id).is_some_and(|present| present.name.value != then.name)
        };
        let namesake = selection.then.as_ref().filter(is_other_name).and_then(|then| {
            if self.renumbered(id, &then.name).is_some() {
                return Some(then.name.clone());
            }
            let at = || then.revision.iter().map(|commit| CommitId(commit.clone())).collect();
            find(self, self.registry.get(id)?, (id, &then.hash, Some(&then.name)), at)
        });
        self.present_name(id, namesake)
    }

    /// Returns the present id of an intent, or the id with the name of the namesake that it is
    /// about. A namesake that was renumbered since has an id of its own.
    fn present_name(&self, id: &str, namesake: Option<String>) -> String {
        match namesake {
            Some(name) => match self.renumbered(id, &name) {
                Some(intent) => intent.id.value.clone(),
                None => label(id, &name),
            },
            None => self.registry.present_id(id).to_owned(),
        }
    }

    /// Returns the intent that a namesake is now: the only one that formerly had this id, and has
    /// or had this name. Two clones gave one id to two intents, and this one got another id since.
    pub(crate) fn renumbered(&self, id: &str, name: &str) -> Option<&Intent> {
        let had_id = |intent: &&Intent| intent.formerly.iter().any(|former| former.value == id);
        let is_called = |intent: &Intent| intent.name.value == name;
        let mut found = self.registry.intents().iter().filter(had_id).filter(|intent| {
            let texts = || self.versions(intent);
            is_called(intent) || texts().is_some_and(|all| all.iter().any(is_called))
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns the name of the intent that a record is about, if that intent is a namesake of the
    /// one that has its id now.
    pub fn namesake(&self, entry: &Entry, commit: Option<&str>) -> Option<String> {
        let record = &entry.record;
        let (id, hash) = (record.intent_id.as_deref()?, record.intent_hash.as_deref()?);
        let present = self.registry.get(id)?;
        let cited = evidence::cited_name(record);
        if cited == Some(&present.name.value) {
            return None;
        }
        let based_on = record.vcs.as_ref().and_then(|vcs| vcs.revision_id.as_deref());
        let section = entry.section.map(|section| section.to_string()).unwrap_or_default();
        let key = [id, hash, cited.or(based_on).unwrap_or_default(), &section].map(str::to_owned);
        let at = || match entry.section {
            Some(_) => {
                let about = entry.late_commit.as_deref().or(commit);
                with_parents(self, about.map(|commit| CommitId(commit.to_owned())))
            }
            None => based_on.map(|commit| CommitId(commit.to_owned())).into_iter().collect(),
        };
        let find = || find(self, present, (id, hash, cited), at);
        self.intent_history.names.get_or_find(&key, find)
    }

    /// Like [`Workspace::namesake`], for a block. If a person has reassigned the block since, its
    /// intent is the present one with that id, so there is no namesake.
    pub fn namesake_of(&self, claim: &Claim) -> Option<String> {
        self.namesake(&claim.entry, claim.commit.as_deref()).filter(|_| claim.reassigned.is_empty())
    }

    /// Returns the name that an intent had when its text had this hash. Evidence cites it.
    pub fn name_then(&self, id: &str, hash: Option<&str>) -> Option<String> {
        let name = |intent: &Intent| Some(intent.name.value.clone());
        let Some(present) = self.registry.get(id) else {
            // After a merge, two intents may have the id; the text says which of them is meant.
            let is_it = |intent: &&Intent| {
                intent.id.value == id && hash.is_some_and(|hash| intent.reads_as(hash))
            };
            return self.registry.intents().iter().find(is_it).and_then(name);
        };
        let Some(hash) = hash.filter(|hash| !present.reads_as(hash)) else { return name(present) };
        let versions = self.versions(present).unwrap_or_default();
        if let Some(then) = versions.iter().find(|then| then.reads_as(hash)) {
            return name(then);
        }
        let registry = self.head().and_then(|head| self.registry_at(head));
        let at_head = registry.as_ref().and_then(|registry| registry.get(id));
        let at_head = at_head.filter(|then| then.reads_as(hash));
        let twin = || twins(self, present, (id, hash, None)).next();
        name(at_head.or_else(twin).unwrap_or(present))
    }

    /// Returns the id of the only other intent that has, or once had, the text that a record is
    /// about, apart from the id. `None` if there are several or none.
    pub(crate) fn twin<'a>(&'a self, record: &'a Record) -> Option<&'a str> {
        let (id, hash) = (record.intent_id.as_deref()?, record.intent_hash.as_deref()?);
        let cited = evidence::cited_name(record);
        let mut twins = twins(self, self.registry.get(id)?, (id, hash, cited));
        let only = twins.next().filter(|_| twins.next().is_none())?;
        Some(&only.id.value)
    }
}

pub(crate) fn with_parents(ws: &Workspace, commit: Option<CommitId>) -> Vec<CommitId> {
    let parents = |commit: &CommitId| Some(ws.git()?.commit_info(commit).ok()?.parents);
    let parents = commit.as_ref().and_then(parents).unwrap_or_default();
    commit.into_iter().chain(parents).collect()
}

/// Returns the name under which answers show a namesake. No registry contains such an id, so the
/// two cannot be confused.
pub fn label(id: &str, name: &str) -> String {
    format!("{id} ({name})")
}

/// Returns the name of the namesake that a record is about, if it is about one. Both must hold:
///
/// - The present intent never had the name or the text that the record cites.
/// - The registry shows what that intent was: at one of the commits at which the record may have
///   been made (`at`), it had another intent with this id; or it has the same intent under another
///   id now.
fn find(
    ws: &Workspace,
    present: &Intent,
    (id, hash, cited): (&str, &str, Option<&str>),
    at: impl FnOnce() -> Vec<CommitId>,
) -> Option<String> {
    if present.reads_as(hash) {
        return None;
    }
    let stood = |commit: &CommitId| {
        let registry = ws.registry_at(commit)?;
        let intent = registry.get(id)?;
        let is_it = match cited {
            Some(name) => intent.name.value == name,
            None => intent.reads_as(hash),
        };
        is_it.then(|| intent.name.value.clone())
    };
    let has_twin = |name: &&str| twins(ws, present, (id, hash, Some(name))).next().is_some();
    let name = at().iter().find_map(stood).or_else(|| cited.filter(has_twin).map(str::to_owned))?;
    let versions = ws.versions(present)?;
    let is_known = |then: &Intent| then.name.value == name || then.reads_as(hash);
    (!versions.iter().any(is_known)).then_some(name)
}

/// Returns the other intents whose text, apart from the id, is the one that a record is about. For
/// an intent with the cited name, its earlier texts count as well.
fn twins<'a>(
    ws: &'a Workspace,
    present: &'a Intent,
    (id, hash, name): (&'a str, &'a str, Option<&'a str>),
) -> impl Iterator<Item = &'a Intent> {
    let reads = move |intent: &Intent| {
        let mut under = intent.clone();
        under.id.value = id.to_owned();
        under.reads_as(hash)
    };
    let others = ws.registry.intents().iter().filter(|other| other.id.value != present.id.value);
    others.filter(move |other| {
        let did_read = || ws.versions(other).is_some_and(|all| all.iter().any(reads));
        reads(other) || name == Some(&other.name.value) && did_read()
    })
}
