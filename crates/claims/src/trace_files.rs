//! The trace files of a workspace: those in the tree, in the folder `.agent-trace` at the top or
//! below a package, those that a person imported, and the ledgers of earlier systems.

use std::collections::HashMap;
use std::sync::Arc;

use ground::git::{BStr, BString, ByteSlice};
use ground::{Git, RelativePath, Root};
use ledger::Entry;

use crate::imported_files::imported_traces;
use crate::traced_lines::{MAX_FILE, TraceFile};

const MAX_DEPTH: usize = 64;

/// The trace files that somebody asked about. Each is read once.
#[derive(Default)]
pub(crate) struct TraceFiles {
    /// The trace files of the tree. The key is the folder that holds `.agent-trace`, from the top of
    /// the repository: empty for the top itself, else with a trailing `/`.
    in_tree: HashMap<BString, Option<Arc<TraceFile>>>,
    imported: Option<Vec<Arc<TraceFile>>>,
    /// The records of the ledger, in which those of earlier systems are looked for.
    pub ledger: Vec<Arc<Entry>>,
}

pub(crate) struct TraceOfFile {
    pub file: Arc<TraceFile>,
    pub path: String,
}

impl TraceFiles {
    /// Returns the trace files that have records about a file, whose path is from the top of the
    /// repository.
    pub(crate) fn about_file(&mut self, git: &Git, root: &Root, path: &BStr) -> Vec<TraceOfFile> {
        let Ok(whole) = path.to_str() else { return Vec::new() };
        let mut found = Vec::new();
        for folder in folders_above(whole) {
            let Some(file) = self.in_folder(git, root, folder) else { continue };
            // A record's path is relative to the folder, or to the top of the repository.
            for path in [&whole[folder.len()..], whole] {
                found.push(TraceOfFile { file: Arc::clone(&file), path: path.to_owned() });
            }
        }
        let parsed = |bytes: Vec<u8>| Arc::new(TraceFile::parse(&bytes));
        let read = || imported_traces(root).map(parsed).collect();
        for file in self.imported.get_or_insert_with(read) {
            found.push(TraceOfFile { file: Arc::clone(file), path: whole.to_owned() });
        }
        if let Some(path) = git.path_in_workspace(path) {
            let file = Arc::new(TraceFile::of_earlier_ledgers(&self.ledger, &path));
            found.push(TraceOfFile { file, path: path.as_str().to_owned() });
        }
        found.dedup_by(|a, b| Arc::ptr_eq(&a.file, &b.file) && a.path == b.path);
        found.retain(|one| !one.file.changes_of(&one.path).is_empty());
        found
    }

    fn in_folder(&mut self, git: &Git, root: &Root, folder: &str) -> Option<Arc<TraceFile>> {
        if let Some(known) = self.in_tree.get(folder.as_bytes().as_bstr()) {
            return known.clone();
        }
        let path = format!("{folder}.agent-trace/traces.jsonl");
        let path: Option<RelativePath> = git.path_in_workspace(path.as_bytes().as_bstr());
        let read = path.and_then(|path| root.read_rules(&path, MAX_FILE).ok().flatten());
        let file = read.map(|bytes| Arc::new(TraceFile::parse(&bytes)));
        self.in_tree.insert(folder.into(), file.clone());
        file
    }
}

/// Returns the folders above a file, the nearest first, and the top (an empty text) last.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    let inner = path.rmatch_indices('/').map(|(at, _)| &path[..=at]).take(MAX_DEPTH);
    inner.chain([""])
}
