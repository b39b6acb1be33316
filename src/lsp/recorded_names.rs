//! The names under which blocks of a workspace were recorded, for finding blocks by name.
//!
//! They are collected once for each state of the ledger, when somebody first searches for a name,
//! because that reads the whole ledger.

use std::collections::BTreeSet;
use std::sync::Arc;

use ground::RelativePath;
use why::{LazyLedger, Workspace};

/// How many files are read from the ledger before the entries read for them are released.
const AT_ONCE: usize = 256;

/// The recorded names of one state of a ledger.
pub(crate) struct RecordedNames {
    ledger: Arc<LazyLedger>,
    /// The files and the recorded names, in small letters and including the names of the
    /// containers.
    names: BTreeSet<(RelativePath, String)>,
}

impl RecordedNames {
    /// Returns true if these are the names of the present state of the workspace's ledger.
    pub(super) fn is_of(&self, workspace: &Workspace) -> bool {
        Arc::ptr_eq(&self.ledger, &workspace.ledger)
    }

    pub(super) fn in_workspace(workspace: &Workspace) -> Self {
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
    pub fn files(&self, words: &[String], most: usize) -> Vec<RelativePath> {
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
