//! Commands of sessions that go on after their call has ended, until their processes have ended.

use serde::{Deserialize, Serialize};

use super::calls::PendingCall;
use super::{Root, StoreError, keep_note, note, path_of_local_file, store};
use crate::agents::{self, ProcessId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftRunning {
    pub key: String,
    /// The call, with the moment up to which its changes are known.
    pub call: PendingCall,
    /// Its processes that ran at that moment, as far as the system shows them.
    processes: Vec<ProcessId>,
}

impl LeftRunning {
    pub fn of_call(root: &Root, key: String, call: PendingCall) -> Self {
        let folder = root.work_tree().unwrap_or(root.path());
        let processes = agents::processes_in(folder);
        Self { key, call, processes }
    }

    /// Returns the note for the next look at the disk: what changed before `at`, in nanoseconds since
    /// 1970, was judged already.
    pub fn known_until(self, at: u128) -> Self {
        Self { call: PendingCall { at, ..self.call }, ..self }
    }

    pub fn runs(&self) -> bool {
        self.processes.iter().any(|process| process.runs())
    }
}

const FOLDER: &str = "left_running";
/// A larger note, in bytes, was not written by us and is not read.
const MAX_NOTE: u64 = 64 * 1024 * 1024;
/// At most this many commands are followed.
const MAX_COMMANDS: usize = 64;

pub fn keep(root: &Root, left: &LeftRunning) -> Result<(), StoreError> {
    keep_note(root, &file(root, left), left)
}

pub fn all_left_running(root: &Root) -> Vec<LeftRunning> {
    let files = store::entries(&path_of_local_file(root, FOLDER)).take(MAX_COMMANDS);
    let mut all: Vec<LeftRunning> =
        files.filter_map(|entry| store::read_json(&entry.path(), MAX_NOTE)).collect();
    all.sort_by_key(|left| left.call.at);
    all
}

/// Forgets a command, because all that it did is known.
pub fn forget(root: &Root, left: &LeftRunning) -> Result<(), StoreError> {
    store::remove(&file(root, left)).map(drop)
}

fn file(root: &Root, left: &LeftRunning) -> std::path::PathBuf {
    note(root, FOLDER, &left.key)
}
