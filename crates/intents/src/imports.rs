//! The intents of other sources, as a registry offers them: read when somebody first asks for one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use super::sources::{self, ImportedIntent};
use super::{Intent, IntentFile};
use ground::git::Target;
use ground::policy::SourceFormat;
use ground::{Git, Policy, Root};

/// The intents that a work tree keeps in other formats.
#[derive(Debug)]
pub(super) struct Imports {
    root: Root,
    read: OnceLock<Vec<ImportedIntent>>,
    /// The index of the intent that an id means.
    by_id: OnceLock<HashMap<String, usize>>,
    /// The main file of each intent.
    files: OnceLock<Vec<OnceLock<Arc<IntentFile>>>>,
}

impl Imports {
    pub fn new(root: &Root) -> Self {
        let (read, by_id, files) = Default::default();
        Self { root: root.clone(), read, by_id, files }
    }

    pub fn root(&self) -> &Root {
        &self.root
    }

    pub fn intents(&self) -> &[ImportedIntent] {
        self.read.get_or_init(|| {
            let (policy, _) = Policy::load(&self.root);
            sources::read_all(&self.root, |format| policy.reads(format))
        })
    }

    fn position(&self, id: &str) -> Option<usize> {
        SourceFormat::of_id(id)?;
        let by_id = self.by_id.get_or_init(|| {
            let all = self.intents().iter().enumerate().filter(|(_, one)| !one.ambiguous);
            all.map(|(at, one)| (one.intent.id.value.clone(), at)).collect()
        });
        by_id.get(id).copied()
    }

    pub fn get(&self, id: &str) -> Option<&ImportedIntent> {
        self.intents().get(self.position(id)?)
    }

    /// Returns the intents that are being worked on now, those that are said most plainly first.
    pub fn current_work(&self) -> Vec<&ImportedIntent> {
        let ids = sources::current_work(&self.root, self.intents());
        ids.iter().filter_map(|id| self.get(id)).collect()
    }

    /// Returns the file of an intent, with its present text.
    pub fn file(&self, id: &str) -> Option<&Arc<IntentFile>> {
        let (at, all) = (self.position(id)?, self.intents());
        let files = self.files.get_or_init(|| all.iter().map(|_| OnceLock::new()).collect());
        let read = || {
            let text = sources::main_text(&self.root, &all[at]);
            Arc::new(IntentFile::of_source(all[at].main.clone(), &text, all[at].intent.clone()))
        };
        Some(files[at].get_or_init(read))
    }

    /// Returns the intents that none of these own ones stands for.
    pub fn beside<'i>(&'i self, own: &'i [Intent]) -> impl Iterator<Item = &'i Intent> {
        let own: HashSet<&str> = own.iter().map(|intent| intent.id.value.as_str()).collect();
        let imported = self.intents().iter().map(|imported| &imported.intent);
        imported.filter(move |intent| !own.contains(intent.id.value.as_str()))
    }
}

/// Fills in what files that only point to a source do not say themselves, from the source as it is
/// in a work tree.
pub(super) fn complete(root: &Root, file: &mut IntentFile) {
    file.complete_from(|id| sources::read_one(root, id));
}

/// Like [`complete`], from the source as it is at a commit or in the index.
pub(super) fn complete_at(git: &Git, target: &Target, file: &mut IntentFile) {
    file.complete_from(|id| sources::read_one_at(git, target, id));
}
