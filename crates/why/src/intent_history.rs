//! Finds the texts that intents had at earlier commits.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use super::Workspace;
use super::memo::Memo;
use super::namesake::with_parents;
use ground::git::{GitError, ObjectId, Target};
use ground::policy::SourceFormat;
use ground::{CommitId, RelativePath};
use intents::registry::PLACES;
use intents::{FOLDER, Intent, Registry, sources};
use ledger::{Claim, Digest};

const MAX_SEARCHED: usize = 2_000;

const MAX_VISITED: usize = 20_000;
const MAX_TEXTS: usize = 10_000;
const MAX_REGISTRIES: usize = 256;

/// The files of a registry with the ids of their contents, and the folders of the sources to which
/// files of the present registry point.
type RegistryFiles = Arc<(Vec<(RelativePath, ObjectId)>, Vec<Option<ObjectId>>)>;

/// An id, a hash, the commits near the record, and the section of the record.
type TextKey = (String, String, Vec<CommitId>, Option<Digest>);

/// What is known of earlier texts of intents. The answers depend on the registry of a workspace, but
/// not on its files.
#[derive(Default)]
pub struct IntentHistory {
    pub(super) names: Memo<[String; 4], Option<String>>,
    files: Memo<CommitId, Option<RegistryFiles>, MAX_VISITED>,
    registries: Memo<RegistryFiles, Option<Arc<Registry>>, MAX_REGISTRIES>,
    versions: Memo<String, Option<Arc<Vec<Intent>>>>,
    /// The texts that were found; the keys are the id and the hash.
    texts: Memo<(String, String), Arc<Intent>, MAX_TEXTS>,
    texts_near: Memo<TextKey, Option<Arc<Intent>>, MAX_TEXTS>,
    /// Whether the present text of an intent has a hash; the keys are the id and the hash.
    present: Memo<(String, String), bool>,
    /// The newest commit with each of the last registries, newest first.
    last_registries: OnceLock<Vec<CommitId>>,
}

impl Workspace {
    /// Like [`Intent::reads_as`], for an intent of the present registry. Most blocks of a file were
    /// recorded under the same few texts, so each hash is compared once.
    pub fn reads_as(&self, present: &Intent, hash: &str) -> bool {
        let key = (present.id.value.clone(), hash.to_owned());
        self.intent_history.present.get_or_find(&key, || present.reads_as(hash))
    }

    fn registry_files(&self, commit: &CommitId) -> Option<RegistryFiles> {
        let places = || [PLACES, &[FOLDER]].concat();
        let find = || {
            let files = self.git()?.blobs_at(commit, &places()).ok()?;
            Some(Arc::new((files, self.source_folders(commit).ok()?)))
        };
        self.intent_history.files.get_or_find(commit, find)
    }

    fn source_folders(&self, commit: &CommitId) -> Result<Vec<Option<ObjectId>>, GitError> {
        let adopted = self.registry.intents().iter().filter_map(Intent::source);
        let units = adopted.filter_map(|id| self.registry.imported_intent(id));
        let tops: BTreeSet<&str> =
            units.filter_map(|one| one.unit.as_str().split('/').next()).collect();
        let Some(git) = self.git().filter(|_| !tops.is_empty()) else { return Ok(Vec::new()) };
        let mut reader = git.object_reader()?;
        let tree = reader.commit(git.object_id(commit)?)?.tree;
        tops.into_iter().map(|top| reader.folder(tree, top.into())).collect()
    }

    /// Returns an intent as it was at a commit, also one that is kept in another format.
    pub(crate) fn intent_at(&self, commit: &CommitId, id: &str) -> Option<Intent> {
        let own = self.registry_at(commit)?.get(id).cloned();
        own.or_else(|| {
            SourceFormat::of_id(id)?;
            let target = Target::Commit(commit.clone());
            Some(sources::read_one_at(self.git()?, &target, id)?.intent)
        })
    }

    /// Returns the registry at a commit. `None` if it cannot be read.
    pub fn registry_at(&self, commit: &CommitId) -> Option<Arc<Registry>> {
        let files = self.registry_files(commit)?;
        let read =
            || Registry::at_target(self.git()?, &Target::Commit(commit.clone())).ok().map(Arc::new);
        self.intent_history.registries.get_or_find(&files, read)
    }

    /// Returns the text of an intent with this hash, from one of the commits at which the record of
    /// a claim may have been made.
    pub(crate) fn text_then(&self, claim: &Claim, id: &str, hash: &str) -> Option<Arc<Intent>> {
        let key = (id.to_owned(), hash.to_owned());
        if let Some(known) = self.intent_history.texts.get(&key) {
            return Some(known);
        }
        let found = self.text_near(claim, id, hash)?;
        Some(self.intent_history.texts.keep(key, found))
    }

    fn text_near(&self, claim: &Claim, id: &str, hash: &str) -> Option<Arc<Intent>> {
        let mut near = with_parents(self, claim.commit.clone().map(CommitId));
        near.extend(claim.entry.record.based_on());
        let key = (id.to_owned(), hash.to_owned(), near, claim.entry.section);
        let ids = self.registry.ids(id);
        let text_at = |commit: &CommitId| {
            let mut texts = ids.iter().filter_map(|id| self.intent_at(commit, id));
            texts.find(|then| then.reads_as(hash)).map(Arc::new)
        };
        self.intent_history.texts_near.get_or_find(&key, || {
            key.2.iter().find_map(text_at).or_else(|| {
                // Late evidence is added by a later commit than the one that it is about.
                claim.entry.late_commit.as_ref()?;
                self.last_registries().iter().find_map(text_at)
            })
        })
    }

    fn last_registries(&self) -> &[CommitId] {
        self.intent_history.last_registries.get_or_init(|| {
            let newest = self.git().zip(self.tip());
            let commits = newest.map(|(git, tip)| git.commits_between(&[], tip, MAX_SEARCHED));
            let mut commits = commits.and_then(Result::ok).unwrap_or_default();
            let mut seen = HashSet::new();
            commits.retain(|commit| seen.insert(self.registry_files(commit)));
            commits
        })
    }

    /// Returns the present text of an intent and all texts that it has had in commits. `None` if
    /// git cannot tell.
    pub fn versions(&self, of: &Intent) -> Option<Arc<Vec<Intent>>> {
        let find = || self.find_versions(of).map(Arc::new);
        self.intent_history.versions.get_or_find(&of.id.value, find)
    }

    /// Follows an intent back through the commits that changed the registry, to the one that
    /// created it. `None` if that commit is too far away.
    fn find_versions(&self, of: &Intent) -> Option<Vec<Intent>> {
        let git = self.git()?;
        let ids = self.registry.ids(&of.id.value);
        let mut parents: Vec<CommitId> = self.tip().into_iter().cloned().collect();
        if !matches!(self.files(), Target::Commit(_)) {
            // A merge that is not committed yet has more parents than `HEAD`.
            parents.extend(git.incoming().ok()?);
        }
        let (mut versions, mut seen) = (vec![of.clone()], HashSet::new());
        let mut ahead = vec![(of.clone(), parents)];
        while let Some((now, parents)) = ahead.pop() {
            let mut before = Vec::new();
            for parent in parents {
                let then = text_before(&*self.registry_at(&parent)?, &ids, &now);
                before.extend(then.map(|then| (parent, then)));
            }
            for (commit, then) in continued_by(before, &now) {
                if !seen.insert(commit.clone()) {
                    continue;
                }
                if seen.len() > MAX_VISITED {
                    return None;
                }
                if !versions.iter().any(|known| known.hash() == then.hash()) {
                    versions.push(then.clone());
                }
                ahead.push((then, git.commit_info(&commit).ok()?.parents));
            }
        }
        Some(versions)
    }
}

/// Returns the text of an intent in the registry of a commit, given all its ids and its next later
/// text `now`. `None` if it did not exist then. If the registry cannot be parsed, or has the id
/// twice, the intent is assumed to exist with the text `now`.
fn text_before(registry: &Registry, ids: &[&str], now: &Intent) -> Option<Intent> {
    let is_unclear = |id: &&str| !registry.definitions_of(id).is_empty();
    if registry.syntax_error().is_some() || ids.iter().any(is_unclear) {
        return Some(now.clone());
    }
    ids.iter().find_map(|id| registry.get(id)).cloned()
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
