//! Recognises *namesakes*: earlier intents whose id belongs to another intent now. For example, two
//! branches both created `INT-001`, or `INT-001` was removed and a later intent took its id.
//!
//! Records of a namesake must not be attributed to the present intent. To tell the two apart, the
//! registry is followed back through git, through every rename, to the commit that created the
//! present intent: a record that fits none of the intent's texts on that way may belong to a
//! namesake. If git cannot answer, no namesake is assumed, and the record is attributed to "an
//! unknown version" of the present intent.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::Workspace;
use super::evidence_texts::TextCache;
use crate::intent::{FOLDER, Intent, Registry};
use crate::ledger::{Claim, Entry, Record, evidence};
use crate::workspace::git::{BlobId, GitError, Target};
use crate::workspace::{CommitId, Git, RelativePath};

/// The maximum number of commits that are visited to find the one that created an intent.
const MAX_COMMITS: usize = 20_000;

/// A cache of the answers that were found for one registry.
#[derive(Default)]
pub(super) struct Namesakes {
    /// The name of the namesake, if any. The key is a record's intent id, its intent hash, the name
    /// that it cites (or else its commit), and its section.
    names: Mutex<HashMap<[String; 4], Option<String>>>,
    /// For each intent id, all texts that the intent has had. `None` if git cannot tell.
    versions: Mutex<HashMap<String, Option<Arc<Vec<Intent>>>>>,
}

impl Workspace {
    /// Returns the name of the intent that a record is about, if that intent is a namesake of the
    /// one that has its id now.
    pub(super) fn namesake(&self, entry: &Entry) -> Option<String> {
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
        let lock = || self.namesakes.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let at = || match entry.section {
            Some(_) => with_parents(self, TextCache::new(self).commit_of(entry)),
            None => based_on.map(|commit| CommitId(commit.to_owned())).into_iter().collect(),
        };
        let found = find(self, present, (id, hash, cited), at);
        lock().insert(key, found.clone());
        found
    }

    /// Like [`Workspace::namesake`], for a block. If a person has reassigned the block since, its
    /// intent is the present one with that id, so there is no namesake.
    pub(super) fn namesake_of(&self, claim: &Claim<'_>) -> Option<String> {
        self.namesake(claim.entry).filter(|_| claim.reassigned().is_empty())
    }

    /// Returns the name that an intent had when its text had this hash. Evidence cites it.
    pub(super) fn name_then(&self, id: &str, hash: Option<&str>) -> Option<String> {
        let present = self.registry.get(id)?;
        let name = |intent: &Intent| Some(intent.name.value.clone());
        let Some(hash) = hash.filter(|hash| !present.reads_as(hash)) else { return name(present) };
        let versions = self.versions(present).unwrap_or_default();
        if let Some(then) = versions.iter().find(|then| then.reads_as(hash)) {
            return name(then);
        }
        let registry = self.head().and_then(|head| self.match_cache.registry_at(self, head));
        let at_head = registry.as_ref().and_then(|registry| registry.get(id));
        let at_head = at_head.filter(|then| then.reads_as(hash));
        let twin = || twins(self, present, (id, hash, None)).next();
        name(at_head.or_else(twin).unwrap_or(present))
    }

    /// Returns the id of the only other intent that has, or once had, the text that a record is
    /// about, apart from the id. `None` if there are several or none.
    pub(super) fn twin<'a>(&'a self, record: &'a Record) -> Option<&'a str> {
        let (id, hash) = (record.intent_id.as_deref()?, record.intent_hash.as_deref()?);
        let mut twins =
            twins(self, self.registry.get(id)?, (id, hash, evidence::cited_name(record)));
        match (twins.next(), twins.next()) {
            (Some(twin), None) => Some(&twin.id.value),
            _ => None,
        }
    }
}

/// Returns a commit and its parents. A record that the commit carries was made at one of these.
fn with_parents(ws: &Workspace, commit: Option<CommitId>) -> Vec<CommitId> {
    let parents = |commit: &CommitId| Some(ws.git()?.commit_info(commit).ok()?.parents);
    let parents = commit.as_ref().and_then(parents).unwrap_or_default();
    commit.into_iter().chain(parents).collect()
}

/// Returns the name under which answers show a namesake. No registry contains such an id, so the
/// two cannot be confused.
pub(super) fn label(id: &str, name: &str) -> String {
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
    at: impl Fn() -> Vec<CommitId>,
) -> Option<String> {
    if present.reads_as(hash) {
        return None;
    }
    let stood = |commit: &CommitId| {
        let registry = ws.match_cache.registry_at(ws, commit)?;
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

impl Workspace {
    /// Returns the present text of an intent and all texts that it has had in commits. `None` if
    /// git cannot tell.
    fn versions(&self, of: &Intent) -> Option<Arc<Vec<Intent>>> {
        let lock = || self.namesakes.versions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&of.id.value) {
            return known.clone();
        }
        let found = self.git().and_then(|git| match Walk::new(self, git, of).run(self) {
            Ok(versions) => versions.map(Arc::new),
            Err(error) => {
                tracing::debug!(%error, "the history of the registry cannot be read");
                None
            }
        });
        lock().insert(of.id.value.clone(), found.clone());
        found
    }
}

/// Follows an intent back through the commits that changed the registry.
struct Walk<'a> {
    git: &'a Git,
    list: &'a RelativePath,
    /// All ids that the intent has or has had.
    ids: Vec<&'a str>,
    versions: Vec<Intent>,
    /// The intent in each registry that was read. The key is the files of that registry.
    read: HashMap<Vec<(RelativePath, BlobId)>, Option<Intent>>,
}

impl<'a> Walk<'a> {
    fn new(ws: &'a Workspace, git: &'a Git, of: &'a Intent) -> Self {
        let ids = ws.registry.ids(&of.id.value);
        let list = ws.registry.path();
        Self { git, list, ids, versions: vec![of.clone()], read: HashMap::new() }
    }

    /// Returns all texts of the intent. `None` if the commit that created it is too far away.
    fn run(mut self, ws: &Workspace) -> Result<Option<Vec<Intent>>, GitError> {
        let mut parents: Vec<CommitId> = ws.tip().into_iter().cloned().collect();
        if !matches!(ws.files(), Target::Commit(_)) {
            // A merge that is not committed yet has more parents than `HEAD`.
            parents.extend(self.git.incoming()?);
        }
        let mut seen = HashSet::new();
        let mut ahead = vec![(self.versions[0].clone(), parents)];
        while let Some((now, parents)) = ahead.pop() {
            let mut before = Vec::new();
            for parent in parents {
                before.extend(self.at(&parent, &now)?.map(|then| (parent, then)));
            }
            for (commit, then) in continued_by(before, &now) {
                if !seen.insert(commit.clone()) {
                    continue;
                }
                if seen.len() > MAX_COMMITS {
                    return Ok(None);
                }
                if !self.versions.iter().any(|known| known.hash() == then.hash()) {
                    self.versions.push(then.clone());
                }
                ahead.push((then, self.git.commit_info(&commit)?.parents));
            }
        }
        Ok(Some(self.versions))
    }

    /// Returns the intent at a commit, given its next later text `now`. `None` if it did not exist
    /// then. If the registry cannot be read, or has the id twice, the intent is assumed to exist
    /// with the text `now`.
    fn at(&mut self, commit: &CommitId, now: &Intent) -> Result<Option<Intent>, GitError> {
        let blobs = self.git.blobs_at(commit, &[self.list.as_str(), FOLDER])?;
        if let Some(known) = self.read.get(&blobs) {
            return Ok(known.clone());
        }
        let registry = Registry::at(self.git, &Target::Commit(commit.clone()))?;
        let is_unclear = |id: &&str| !registry.definitions_of(id).is_empty();
        if registry.syntax_error().is_some() || self.ids.iter().any(is_unclear) {
            return Ok(Some(now.clone()));
        }
        let found = self.ids.iter().find_map(|id| registry.get(id)).cloned();
        if blobs.iter().any(|(path, _)| path == self.list) {
            self.read.insert(blobs, found.clone());
        }
        Ok(found)
    }
}

/// Selects, among the intents that a commit's parents have under one id, those that the commit may
/// continue. If one of them has the same text as `now`, only those are returned: a merge takes over
/// one side. Otherwise those with the same name are returned, and if there are none, all.
fn continued_by(before: Vec<(CommitId, Intent)>, now: &Intent) -> Vec<(CommitId, Intent)> {
    let hash = now.hash();
    let those = |wanted: &dyn Fn(&Intent) -> bool| {
        let those = before.iter().filter(|(_, then)| wanted(then)).cloned();
        Some(those.collect::<Vec<_>>()).filter(|those| !those.is_empty())
    };
    those(&|then| then.hash() == hash)
        .or_else(|| those(&|then| then.name.value == now.name.value))
        .unwrap_or(before)
}
