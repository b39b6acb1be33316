//! Notes of the processes that run hooks here. What one of their commands has started is no host,
//! even if it calls the hook.

use super::{Root, keep_note, note, or_log, path_of_local_file, store};
use crate::agents::{self, ProcessId};

const HOSTS: &str = "hosts";
/// A larger note, in bytes, was not written by us and is not read.
const MAX_NOTE: u64 = 4 * 1024;
/// At most this many notes are kept, of the last hosts that started.
const MAX_HOSTS: usize = 64;

/// Returns true if a host seems to run this process as its hook, and notes the process of the host.
pub fn is_hook_of_host(root: &Root) -> bool {
    let is_host = agents::is_hook_of_host(|| known_hosts(root));
    if let Some(host) = agents::host_of_hook().filter(|_| is_host) {
        let file = note(root, HOSTS, &format!("{host:?}"));
        if !file.exists() {
            let kept = keep_note(root, &file, &host);
            or_log(root, "the process of a host could not be noted", kept);
        }
    }
    is_host
}

fn known_hosts(root: &Root) -> Vec<ProcessId> {
    let files = store::entries(&path_of_local_file(root, HOSTS)).take(MAX_HOSTS);
    files.filter_map(|entry| store::read_json(&entry.path(), MAX_NOTE)).collect()
}

pub fn prune(root: &Root) {
    const MAX_AGE: std::time::Duration = std::time::Duration::from_secs(30 * 24 * 3600);
    store::remove_old_files(&path_of_local_file(root, HOSTS), MAX_AGE, MAX_HOSTS / 2);
}
