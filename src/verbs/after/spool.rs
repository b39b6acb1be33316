//! Keeps records that could not be appended in `.orchestration/local/unrecorded/`, and tries them
//! again later.

use std::path::PathBuf;

use crate::ledger::Record;
use crate::verbs::{Workspace, record};
use crate::workspace::{Root, session, store};

/// The number of records that are kept at most.
const MAX_KEPT: usize = 1_000;
/// The number of records that one call of [`retry`] tries at most.
const MAX_TRIED: usize = 20;
/// The size in bytes above which a kept file is not read, because this program would not have
/// written it.
const MAX_RECORD: u64 = 16 * 1024 * 1024;

/// Appends a record to the ledger, or keeps it for later if that fails. Returns true if it is in
/// the ledger now.
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

/// Returns the files of the records that wait for another try, sorted by name.
pub fn kept(root: &Root) -> Vec<PathBuf> {
    let folder = root.orchestration().join("local").join("unrecorded");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|found| found == "json")).collect();
    files.sort();
    files
}

/// Tries to append the kept records again. Returns how many were appended.
pub(crate) fn retry(ws: &Workspace) -> usize {
    let mut written = 0;
    for file in kept(&ws.root).into_iter().take(MAX_TRIED) {
        let Ok(Some(bytes)) = store::read_capped(&file, MAX_RECORD) else { continue };
        let Ok(record) = serde_json::from_slice::<Record>(&bytes) else { continue };
        // The file is renamed first, so that only one of several processes appends the record.
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
