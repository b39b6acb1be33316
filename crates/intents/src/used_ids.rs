//! Collects the ids that other versions of the registry use: `HEAD`, the index, and every branch.
//! If two branches give one id to two intents, the two cannot be told apart after a merge. So an id
//! that is used anywhere is not free.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::file::{FOLDER, IntentFile, single_name};
use super::{EditError, Intent, IntentEntry, Registry, edit};
use ground::git::{GitError, ObjectId};
use ground::{Git, RelativePath};

/// The maximum number of branches that are searched, those with the newest commits first.
const MAX_BRANCHES: usize = 500;

#[derive(Debug, Default)]
pub struct UsedIds {
    by_id: BTreeMap<String, Vec<User>>,
}

#[derive(Debug)]
struct User {
    /// The version that was searched, such as `the branch main` or `the index`.
    place: String,
    id: String,
    name: String,
    hash: String,
}

impl UsedIds {
    /// Searches a repository whose list of intents is at `list`. Files that cannot be read are left
    /// out.
    pub(crate) fn in_repository(git: &Git, list: &RelativePath) -> Self {
        let mut used = Self::default();
        let mut seen: HashSet<(RelativePath, ObjectId)> = HashSet::new();
        let places = [list.as_str(), FOLDER];
        let mut add = |place: String, found: Result<Vec<(RelativePath, ObjectId)>, GitError>| {
            let files = found.unwrap_or_else(|error| {
                tracing::debug!(place, %error, "its ids are not known");
                Vec::new()
            });
            for (path, blob) in files {
                // Most branches have most files in common, so each blob is read only once.
                let new = (path == *list || single_name(&path).is_some())
                    && seen.insert((path.clone(), blob));
                if let Some(bytes) = new.then(|| git.blob_of(blob).ok()).flatten() {
                    let file = IntentFile::parse(path, &String::from_utf8_lossy(&bytes));
                    file.intents().iter().for_each(|intent| used.add_id(&place, intent));
                }
            }
        };
        if let Ok(Some(head)) = git.head() {
            add("HEAD".to_owned(), git.blobs_at(&head, &places));
        }
        add("the index".to_owned(), git.blobs_in_index(&places));
        for (name, commit) in git.branches(MAX_BRANCHES).unwrap_or_default() {
            add(format!("the branch {name}"), git.blobs_at(&commit, &places));
        }
        used
    }

    fn add_id(&mut self, place: &str, intent: &Intent) {
        let hash = intent.hash();
        for id in intent.formerly.iter().chain([&intent.id]) {
            self.by_id.entry(id.value.clone()).or_default().push(User {
                place: place.to_owned(),
                id: intent.id.value.clone(),
                name: intent.name.value.clone(),
                hash: hash.clone(),
            });
        }
    }

    pub fn ids(&self) -> BTreeSet<String> {
        self.by_id.keys().cloned().collect()
    }

    pub fn is_used_by_another(&self, id: &str, name: &str) -> bool {
        self.by_id.get(id).is_some_and(|users| users.iter().any(|user| user.name != name))
    }

    /// Returns an error if a different intent in another version of the registry uses the id of a
    /// new one. The same intent may be added again under its id.
    pub fn refuse(&self, registry: &Registry, new: &IntentEntry) -> Result<(), EditError> {
        if !registry.positions(&new.id).is_empty() {
            return Ok(());
        }
        let users = self.by_id.get(&new.id).map_or(&[][..], Vec::as_slice);
        let same = new.intent().hash();
        let Some(first) = users.first().filter(|_| users.iter().all(|user| user.hash != same))
        else {
            return Ok(());
        };
        let User { place, id, name, .. } = first;
        let whose = match *id == new.id {
            true => format!("{place} has an intent {id} ({name:?})"),
            false => {
                format!("{place} has an intent {id} ({name:?}) that was called {} before", new.id)
            }
        };
        Err(EditError::Refused(format!(
            "{whose}; after a merge they could not be told apart; {} is free",
            edit::next_id(registry, &self.ids())
        )))
    }
}
