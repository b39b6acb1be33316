//! Under which names blocks were recorded in a workspace, so that they are found by name.
//!
//! Gathered once for each state of the ledger, when somebody first looks for a name: it costs a walk of the ledger.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::analysis::hold;
use crate::verbs::{LazyLedger, Workspace};
use crate::workspace::RelativePath;

/// So many files are looked at before what was read of the ledger for their sake is let go again.
const AT_ONCE: usize = 256;

/// The recorded names of one state of a ledger.
pub(crate) struct Names {
    ledger: Arc<LazyLedger>,
    /// In small letters, with containers, and the file.
    names: BTreeSet<(RelativePath, String)>,
}

impl Names {
    fn of(workspace: &Workspace) -> Self {
        let mut names = BTreeSet::new();
        for paths in workspace.ledger.paths().chunks(AT_ONCE) {
            let ledger = workspace.ledger.forgetful();
            for path in paths {
                let claims = ledger.of_path(path);
                let blocks = claims.iter().filter_map(|at| ledger.claim(*at).said().block.as_ref());
                names.extend(blocks.map(|block| (path.clone(), block.path.to_lowercase())));
            }
        }
        Self { ledger: Arc::clone(&workspace.ledger), names }
    }

    /// The files in which a block with all these words in its name was recorded, at most so many. The words are in small
    /// letters.
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

/// The names of all workspaces, each gathered under its own lock.
#[derive(Default)]
pub(crate) struct RecordedNames(Mutex<HashMap<PathBuf, Slot>>);

type Slot = Arc<Mutex<Option<Arc<Names>>>>;

impl RecordedNames {
    /// The names in this state of the workspace's ledger.
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
