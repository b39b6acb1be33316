//! Keeps records that could not be appended in `.orchestration/local/unrecorded/`, and tries them
//! again later.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::disk::last_change;
use evidence::record;
use ground::{Hint, Root, clock, session, store};
use ledger::{Record, journal};
use why::Workspace;

/// The number of records that are kept at most.
const MAX_KEPT: usize = 1_000;
/// The number of records that one call of [`retry`] tries at most.
const MAX_TRIED: usize = 20;
/// The size in bytes above which a kept file is not read, because this program would not have
/// written it.
const MAX_RECORD: u64 = 16 * 1024 * 1024;
const KEPT: &str = "json";
const TAKEN: &str = "taken";
/// After this time, a process that took a record and did not append it is assumed to have died.
const MAX_TAKEN: Duration = Duration::from_secs(10 * 60);

/// Appends a record to the ledger, or keeps it for later if that fails. Returns true if it is in
/// the ledger now.
pub(super) fn append(ws: &Workspace, record: Record) -> bool {
    let Err(error) = record::append(ws, record.clone()) else { return true };
    let kept = match keep(&ws.root, &record) {
        Ok(()) => "it is kept for another try",
        Err(_) => "it is lost",
    };
    session::log(
        &ws.root,
        &format!("a record could not be written, {kept}: {}", error.with_hint()),
    );
    false
}

fn keep(root: &Root, record: &Record) -> Result<(), store::StoreError> {
    let folder = session::local(root)?.join("unrecorded");
    if store::entries(&folder).count() >= MAX_KEPT {
        let error = std::io::Error::other("too many records wait already");
        return Err(store::failed(&folder, "written")(error));
    }
    store::write_json_scratch(&folder.join(format!("{}.{KEPT}", record.id)), record)
}

/// Returns the files of the records that wait for another try, sorted by name.
pub fn waiting_record_files(root: &Root) -> Vec<PathBuf> {
    let folder = root.orchestration().join("local").join("unrecorded");
    kept_in(&folder, MAX_TAKEN)
}

/// Returns the kept records in a folder, sorted by name. One that was taken longer ago than `max_taken` waits again.
fn kept_in(folder: &Path, max_taken: Duration) -> Vec<PathBuf> {
    let files = store::entries(folder).map(|entry| entry.path());
    let waits = |file: &PathBuf| match file.extension().and_then(|found| found.to_str()) {
        Some(KEPT) => true,
        Some(TAKEN) => is_older(file, max_taken),
        _ => false,
    };
    let mut files: Vec<PathBuf> = files.filter(waits).collect();
    files.sort();
    files
}

/// Returns true if a file was renamed or changed longer ago than `age`.
fn is_older(file: &Path, age: Duration) -> bool {
    let before = clock::now_in_nanoseconds().saturating_sub(age.as_nanos());
    file.symlink_metadata().is_ok_and(|state| last_change(&state) <= before)
}

/// Tries to append the kept records again. Returns how many were appended.
pub fn retry(ws: &Workspace) -> usize {
    let mut written = 0;
    for file in waiting_record_files(&ws.root).into_iter().take(MAX_TRIED) {
        let Some(record) = store::read_json::<Record>(&file, MAX_RECORD) else { continue };
        let (waiting, taken) = (file.with_extension(KEPT), file.with_extension(TAKEN));
        if file == taken {
            // The process that took the record may have died after it appended the record.
            if is_written(ws, &record.id) {
                let _ = store::remove(&taken);
                continue;
            }
            if store::rename(&taken, &waiting).is_err() {
                continue;
            }
        }
        // The file is renamed first, so that only one of several processes appends the record.
        if store::rename(&waiting, &taken).is_err() {
            continue;
        }
        if record::append(ws, record).is_err() {
            let _ = store::rename(&taken, &waiting);
            break;
        }
        written += 1;
        let _ = store::remove(&taken);
    }
    written
}

/// Returns true if the journal has a record, or had it before a commit took its evidence.
fn is_written(ws: &Workspace, id: &str) -> bool {
    let is_settled = |commit: &String| {
        journal::settled_records(&ws.root, commit).iter().any(|record| record == id)
    };
    ws.clone().with_records_of_now().journal.by_id(id).is_some()
        || journal::settled_commits(&ws.root).iter().any(is_settled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_taken_by_a_dead_process_is_pending_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for name in ["a.json", "b.taken", "c.txt"] {
            std::fs::write(file(name), "{}").unwrap();
        }
        assert_eq!(kept_in(folder.path(), MAX_TAKEN), [file("a.json")], "it may be appended now");
        assert_eq!(kept_in(folder.path(), Duration::ZERO), [file("a.json"), file("b.taken")]);
    }
}
