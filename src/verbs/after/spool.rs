//! Records that could not be written, kept for another try in `.orchestration/local/unrecorded/`.

use std::path::PathBuf;

use crate::ledger::Record;
use crate::verbs::{Workspace, record};
use crate::workspace::{Root, session, store};

/// More records than this are not kept.
const MAX_KEPT: usize = 1_000;
/// At most so many are tried again at a time.
const MAX_TRIED: usize = 20;
/// A record larger than this, in bytes, was not written by us.
const MAX_RECORD: u64 = 16 * 1024 * 1024;

/// Appends a record, or keeps it; whether it is in the ledger now.
pub(super) fn append(ws: &Workspace, record: Record) -> bool {
    let Err(error) = record::append(ws, record.clone()) else { return true };
    let kept = match keep(&ws.root, &record) {
        Ok(()) => "it is kept for another try",
        Err(_) => "it is lost",
    };
    session::log(&ws.root, &format!("a record could not be written, {kept}: {error}"));
    false
}

fn keep(root: &Root, record: &Record) -> Result<(), store::StoreError> {
    let folder = session::local(root)?.join("unrecorded");
    let count = std::fs::read_dir(&folder).map_or(0, Iterator::count);
    if count >= MAX_KEPT {
        let source = std::io::Error::other("too many records wait already");
        return Err(store::StoreError::Io { path: folder, doing: "written", source });
    }
    let bytes = serde_json::to_vec(record).expect("a record always becomes JSON");
    store::write_scratch(&folder.join(format!("{}.json", record.id)), &bytes)
}

/// The records that wait.
pub fn kept(root: &Root) -> Vec<PathBuf> {
    let folder = root.orchestration().join("local").join("unrecorded");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|found| found == "json")).collect();
    files.sort();
    files
}

/// Tries again what could not be written; how many are in the ledger now.
pub(crate) fn retry(ws: &Workspace) -> usize {
    let mut written = 0;
    for file in kept(&ws.root).into_iter().take(MAX_TRIED) {
        let Ok(Some(bytes)) = store::read_capped(&file, MAX_RECORD) else { continue };
        let Ok(record) = serde_json::from_slice::<Record>(&bytes) else { continue };
        // Taken away first: of two processes that try, one writes it.
        let taken = file.with_extension("taken");
        if store::rename(&file, &taken).is_err() {
            continue;
        }
        match record::append(ws, record) {
            Ok(_) => {
                written += 1;
                let _ = store::remove(&taken);
            }
            Err(_) => {
                let _ = store::rename(&taken, &file);
                return written;
            }
        }
    }
    written
}
