//! The names under which blocks of a workspace were recorded, for finding blocks by name.
//!
//! They are collected once for each state of the ledger, when somebody first searches for a name,
//! because that reads the whole ledger.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::analysis::hold;
use crate::verbs::{LazyLedger, Workspace};
use crate::workspace::RelativePath;

/// How many files are read from the ledger before the entries read for them are released.
const AT_ONCE: usize = 256;

/// The recorded names of one state of a ledger.
pub(crate) struct Names {
    ledger: Arc<LazyLedger>,
    /// The files and the recorded names, in small letters and including the names of the
    /// containers.
    names: BTreeSet<(RelativePath, String)>,
}

impl Names {
    fn of(workspace: &Workspace) -> Self {
        let mut names = BTreeSet::new();
        for paths in workspace.ledger.paths().chunks(AT_ONCE) {
            let ledger = workspace.ledger.without_derived();
            for path in paths {
                let claims = ledger.of_path(path);
                let blocks = claims
                    .iter()
                    .filter_map(|at| ledger.claim(*at).recorded_block().block.as_ref());
                names.extend(blocks.map(|block| (path.clone(), block.path.to_lowercase())));
            }
        }
        Self { ledger: Arc::clone(&workspace.ledger), names }
    }

    /// Returns the files in which a block was recorded whose name contains all these words, at most
    /// `most` files. The words must be in small letters.
    pub(crate) fn files(&self, words: &[String], most: usize) -> Vec<RelativePath> {
        let fitting =
            |(_, name): &&(RelativePath, String)| words.iter().all(|it| name.contains(it));
        let mut files: Vec<RelativePath> = Vec::new();
        for (path, _) in self.names.iter().filter(fitting) {
            if files.last() == Some(path) {
                continue;
            }
            if files.len() == most {
                break;
            }
            files.push(path.clone());
        }
        files
    }
}

/// The names of all workspaces, by root. Each is collected under its own lock.
#[derive(Default)]
pub(crate) struct RecordedNames(Mutex<HashMap<PathBuf, Slot>>);

type Slot = Arc<Mutex<Option<Arc<Names>>>>;

impl RecordedNames {
    /// Returns the names for this state of the workspace's ledger.
    pub(crate) fn of(&self, workspace: &Workspace) -> Arc<Names> {
        let root = workspace.root.path().to_owned();
        let slot = Arc::clone(hold(&self.0).entry(root).or_default());
        let mut slot = hold(&slot);
        let known = slot.take().filter(|known| Arc::ptr_eq(&known.ledger, &workspace.ledger));
        let names = known.unwrap_or_else(|| Arc::new(Names::of(workspace)));
        *slot = Some(Arc::clone(&names));
        names
    }
}
