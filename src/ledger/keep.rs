//! Where runs are kept: `<private folder>/index/`, a file each, in the order of their names.
//!
//! A run that is lost, damaged, of another version or of files as they are no more is made again; what is kept here can
//! make an answer come sooner, never make it another one. See `workspace::cache` for who could plant one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::run::Run;
use crate::workspace::Root;

/// Below this many bytes of the ledger nothing is kept: they are read in a few milliseconds.
const WORTH: u64 = 512 * 1024;
/// So many bytes of the ledger, already in runs, are read again at most to make fewer and larger runs of them.
const MAX_AGAIN: u64 = 16 * 1024 * 1024;
/// Names that are looked at; ours are far fewer.
const MAX_FILES: usize = 256;

/// The place of a workspace's runs.
#[derive(Debug)]
pub(super) struct Keeper {
    folder: PathBuf,
    /// Fewer bytes of the ledger are not worth a run.
    worth: u64,
}

impl Keeper {
    /// Not in a folder that nobody governs; and no folder is made in the work tree for this alone.
    pub fn of(root: &Root) -> Option<Self> {
        let private = root.private();
        let ours = root.governed() && (root.git_dir().is_some() || private.is_dir());
        ours.then(|| Self { folder: private.join("index"), worth: WORTH })
    }

    /// The same for a ledger of any size.
    #[cfg(test)]
    pub fn of_any_size(root: &Root) -> Option<Self> {
        Self::of(root).map(|keeper| Self { worth: 0, ..keeper })
    }

    /// The runs that are kept.
    pub fn runs(&self) -> Vec<Arc<Run>> {
        let mut runs = Vec::new();
        for path in self.files() {
            match Run::open(&path) {
                Some(run) => runs.push(Arc::new(run)),
                None => discard(&path),
            }
        }
        runs
    }

    fn files(&self) -> Vec<PathBuf> {
        let named = std::fs::read_dir(&self.folder).into_iter().flatten();
        let named = named.filter_map(|entry| Some(entry.ok()?.path()));
        let ours = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "run");
        let mut files: Vec<PathBuf> = named.filter(ours).take(MAX_FILES).collect();
        files.sort();
        files
    }

    /// What to do with so many new bytes.
    pub fn plan(&self, runs: &[Arc<Run>], new: u64) -> Plan {
        if new < self.worth.max(1) {
            return Plan::Leave;
        }
        let (mut size, mut again) = (new, 0);
        let mut from = runs.len();
        while let Some(run) = from.checked_sub(1).map(|at| &runs[at]) {
            let more = run.covers();
            if more >= 2 * size || again + more > MAX_AGAIN {
                break;
            }
            from -= 1;
            size += more;
            again += more;
        }
        Plan::Keep { from }
    }

    /// Where a new run is to be kept, behind those that are there.
    pub fn next(&self) -> PathBuf {
        let last = self.files().last().and_then(|path| {
            let name = path.file_name()?.to_str()?;
            name.split_once('-')?.0.parse::<u64>().ok()
        });
        let number = last.map_or(0, |last| last.saturating_add(1));
        self.folder.join(format!("{number:012}-{}.run", uuid::Uuid::new_v4().simple()))
    }

    /// Leaves only these.
    pub fn retain(&self, runs: &[Arc<Run>]) {
        for path in self.files() {
            if !runs.iter().any(|run| run.kept.as_ref() == Some(&path)) {
                discard(&path);
            }
        }
    }
}

/// What to do with new bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// They are too few to keep an index of.
    Leave,
    /// A new run of them, and of what the runs from here on were of.
    Keep {
        /// Index of the first run that is made again.
        from: usize,
    },
}

/// Takes a run away that is of no use; one that cannot be taken away is passed over again next time.
pub(super) fn discard(path: &Path) {
    let _ = crate::workspace::store::remove(path);
}
