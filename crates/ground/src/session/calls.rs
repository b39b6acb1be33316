//! Calls that the gate let through and that have not ended yet. The state before a call is stored,
//! so that the changes of the call can be told apart from those of others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::seen::FileState;
use super::{Root, StoreError, keep_note, note, path_of_local_file, store};
use crate::{CommitId, RelativePath};
use edits::same_text;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    pub actor: String,
    pub tool: String,
    pub intent: Option<String>,
    pub head: Option<String>,
    /// If the call runs a command: the files that already differed from `head`, untracked ones
    /// included, and what they contained.
    #[serde(default)]
    pub changed_before: BTreeMap<RelativePath, EarlierContent>,
    /// If the call runs git: the commits that the branches and the stash pointed to.
    #[serde(default)]
    pub tips: Vec<CommitId>,
    /// If the call runs a command: for each file of git's settings, a digest of those settings that
    /// decide what git does.
    #[serde(default)]
    pub settings: BTreeMap<PathBuf, String>,
    /// When the gate let the call through, in nanoseconds since 1970.
    pub at: u128,
    /// The outcome of the gate's decision: `no_opinion` or `ask`.
    pub outcome: String,
    pub rule: Option<String>,
    pub approval: Option<String>,
    pub files: Vec<FileBefore>,
    /// Whether the call runs a command, which may change other files too.
    pub command: bool,
    pub background: bool,
    /// If the call runs a command: the digest of the rules that were in force.
    pub rules: Option<String>,
}

/// The rule of a call that is let through only because it restores files as they were before
/// unforeseen writes of the session.
pub const RESTORES: &str = "restores";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedCommand {
    pub actor: String,
    pub intent: Option<String>,
    /// When it began, in nanoseconds since 1970.
    pub at: u128,
    pub command: bool,
}

impl FinishedCommand {
    fn of_call(call: &PendingCall) -> Self {
        let PendingCall { actor, intent, at, command, .. } = call;
        Self { actor: actor.clone(), intent: intent.clone(), at: *at, command: *command }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlierContent {
    #[default]
    Unknown,
    Missing,
    /// The SHA-256 of the file's bytes in hexadecimal.
    Hash(String),
    Text(String),
    Commit(CommitId),
}

impl EarlierContent {
    /// Returns the content with this hash. Without a hash there was no file.
    pub fn of_hash(hash: Option<String>) -> Self {
        hash.map_or(Self::Missing, Self::Hash)
    }

    /// Returns true if it is known which text the file had, or that there was no file.
    pub fn has_known_text(&self) -> bool {
        matches!(self, Self::Missing | Self::Text(_) | Self::Commit(_))
    }

    /// Returns the same content without its text, so that it is small.
    pub fn without_text(self) -> Self {
        match self {
            Self::Text(text) => Self::Hash(store::sha256(text.as_bytes())),
            small => small,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBefore {
    /// The path relative to the workspace.
    pub path: RelativePath,
    /// The text of the file. `None` if there was no file, or if it was not text.
    pub text: Option<String>,
    /// The SHA-256 of the file's bytes in hexadecimal. `None` if there was no file.
    pub hash: Option<String>,
    pub moved_from: Option<RelativePath>,
    /// Whether the call replaces the whole text, whatever it was before.
    #[serde(default)]
    pub replaced: bool,
    pub predicted: Predicted,
}

impl FileBefore {
    /// Returns true if the file is now what the gate predicted. Line ends and a byte order mark are
    /// ignored.
    pub fn foresaw(&self, now: &FileState) -> bool {
        match (&self.predicted, &now.text) {
            (Predicted::Text(after), Some(now)) => same_text(after, now),
            (Predicted::Gone, _) => now.hash.is_none(),
            _ => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicted {
    Unknown,
    Gone,
    Text(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    /// The gate let the call through, and it has not ended as far as is known.
    Open(Box<PendingCall>),
    Done(Duration),
    Unknown,
}

const CALLS: &str = "calls";
/// A stored call larger than this, in bytes, was not written by us and is not read.
const MAX_CALL: u64 = 64 * 1024 * 1024;
/// The file extension of a call that has ended, while its changes are being recorded.
const TAKEN: &str = "taken";
/// The file extension of the note that a call has ended. A hook that runs late may still ask which
/// command was running then.
const DONE: &str = "done";
/// A hook that runs after a tool has certainly finished, or failed, after this time.
const MAX_TAKEN: Duration = Duration::from_secs(15);
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

pub fn open(root: &Root, key: &str, call: &PendingCall) -> Result<(), StoreError> {
    keep_note(root, &note(root, CALLS, key), call)
}

pub fn state_of(root: &Root, key: &str) -> CallState {
    if let Some(call) = store::read_json(&note(root, CALLS, key), MAX_CALL) {
        return CallState::Open(Box::new(call));
    }
    let done =
        std::fs::metadata(path_of_finished_call(root, key)).and_then(|found| found.modified());
    match done {
        Ok(at) => CallState::Done(SystemTime::now().duration_since(at).unwrap_or_default()),
        Err(_) => CallState::Unknown,
    }
}

/// Notes that a call has ended, and returns the state that it had before. If several processes note
/// the end of an open call, only one of them gets [`CallState::Open`], and that one records the
/// changes. The end of an unknown call is noted too.
///
/// The process that gets an open call must call [`mark_recorded`] once the changes are recorded. If
/// it is killed before that, [`finish_all`] returns the call again.
pub fn finish(root: &Root, key: &str) -> CallState {
    let state = state_of(root, key);
    let ended = match &state {
        CallState::Open(_) => take(&note(root, CALLS, key)),
        CallState::Done(_) => return state,
        CallState::Unknown => true,
    };
    if !ended {
        return CallState::Done(Duration::ZERO);
    }
    let kept = match &state {
        CallState::Open(call) => {
            serde_json::to_vec(&FinishedCommand::of_call(call)).unwrap_or_default()
        }
        CallState::Done(_) | CallState::Unknown => Vec::new(),
    };
    if super::local(root)
        .and_then(|_| store::write_scratch(&path_of_finished_call(root, key), &kept))
        .is_err()
    {
        tracing::warn!(key, "the end of a call could not be noted; it may be recorded twice");
    }
    state
}

/// Takes a call by renaming its file, which succeeds in only one process. Returns true if it did.
fn take(file: &Path) -> bool {
    std::fs::rename(file, file.with_extension(TAKEN)).is_ok()
}

/// Removes a call that was taken, after its changes were recorded.
pub fn mark_recorded(root: &Root, key: &str) {
    // There is no file if the call was unknown.
    let _ = std::fs::remove_file(note(root, CALLS, key).with_extension(TAKEN));
}

/// Takes all calls of a session and its subagents that have not ended, and will not be reported any
/// more. Also takes those whose changes another process should have recorded but did not.
pub fn finish_all(root: &Root, session: &str) -> Vec<PendingCall> {
    let below = format!("{session}/");
    let is_left = |file: &Path| {
        let since = std::fs::metadata(file).and_then(|found| found.modified());
        since.is_ok_and(|since| since.elapsed().is_ok_and(|age| age > MAX_TAKEN))
    };
    let mut taken = Vec::new();
    let open = read_all(root, "json").into_iter();
    let left = read_all(root, TAKEN).into_iter().filter(|(file, _)| is_left(file));
    for (file, call) in open.chain(left) {
        let theirs = call.actor == session || call.actor.starts_with(&below);
        // If several processes try, only one of them can remove the file.
        if theirs && std::fs::remove_file(&file).is_ok() {
            taken.push(call);
        }
    }
    taken.sort_by_key(|call| call.at);
    taken
}

pub fn all_open(root: &Root) -> Vec<PendingCall> {
    read_all(root, "json").into_iter().map(|(_, call)| call).collect()
}

/// Returns the commands that run now, or that ended after `since` (nanoseconds since 1970).
pub fn commands_since(root: &Root, since: u128) -> Vec<FinishedCommand> {
    let ended = |file: &Path| {
        let at = std::fs::metadata(file).and_then(|found| found.modified()).ok()?;
        let at = at.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        (at >= since).then(|| store::read_json::<FinishedCommand>(file, MAX_CALL))?
    };
    let files = store::entries(&path_of_local_file(root, CALLS)).map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|found| found == DONE));
    let finished: Vec<FinishedCommand> = files.filter_map(|file| ended(&file)).collect();
    let open = all_open(root).into_iter().filter(|call| call.command);
    open.map(|call| FinishedCommand::of_call(&call))
        .chain(finished.into_iter().filter(|call| call.command))
        .collect()
}

fn read_all(root: &Root, extension: &str) -> Vec<(PathBuf, PendingCall)> {
    let files = store::entries(&path_of_local_file(root, CALLS)).map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|found| found == extension))
        .filter_map(|file| {
            let call = store::read_json(&file, MAX_CALL)?;
            Some((file, call))
        })
        .collect()
}

pub fn prune(root: &Root) {
    store::remove_old_files(&path_of_local_file(root, CALLS), MAX_AGE, usize::MAX);
}

fn path_of_finished_call(root: &Root, key: &str) -> PathBuf {
    note(root, CALLS, key).with_extension(DONE)
}
