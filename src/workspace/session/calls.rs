//! Calls that the gate let go ahead and whose end has not been seen yet: what there was before, so that what the call
//! did can be told from what others did.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::seen::FileState;
use super::{Root, StoreError, digest, store};
use crate::edits::same_text;
use crate::workspace::{CommitId, RelativePath};

/// A call between its two hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// Who acts.
    pub actor: String,
    /// The tool as the host calls it.
    pub tool: String,
    /// The intent selected then.
    pub intent: Option<String>,
    /// The commit the work tree was based on.
    pub head: Option<String>,
    /// The commits that branches were at, where it runs git.
    #[serde(default)]
    pub tips: Vec<CommitId>,
    /// When the gate let it go, in nanoseconds since 1970.
    pub at: u128,
    /// What the gate said: `no_opinion` or `ask`.
    pub outcome: String,
    /// The rule it said it by.
    pub rule: Option<String>,
    /// The approval that let it pass.
    pub approval: Option<String>,
    /// The files that it named.
    pub files: Vec<FileBefore>,
    /// It runs a command, so other files may change too.
    pub command: bool,
    /// It outlives the call.
    pub background: bool,
    /// The digest of the rules that were in force, where it runs a command.
    #[serde(default)]
    pub rules: Option<String>,
}

/// A file before a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBefore {
    /// Relative to the workspace.
    pub path: RelativePath,
    /// Its text; `None` where there was no file, or none that is text.
    pub text: Option<String>,
    /// SHA-256 of its bytes in hexadecimal; `None` where there was no file.
    pub hash: Option<String>,
    /// Where it is moved from by this call.
    pub moved_from: Option<RelativePath>,
    /// Its text is replaced as a whole, whatever it is.
    #[serde(default)]
    pub replaced: bool,
    /// The text that the call would make of it, where that could be known; of a file that it deletes, nothing.
    pub predicted: Predicted,
}

impl FileBefore {
    /// Whether the file is now what the gate foresaw, but for line ends and a byte order mark.
    pub fn foresaw(&self, now: &FileState) -> bool {
        match (&self.predicted, &now.text) {
            (Predicted::Text(after), Some(now)) => same_text(after, now),
            (Predicted::Gone, _) => now.hash.is_none(),
            _ => false,
        }
    }
}

/// What a call would make of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicted {
    /// Nobody can say.
    Unknown,
    /// It is gone afterwards.
    Gone,
    /// This.
    Text(String),
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    /// The gate let it go; its end has not been seen.
    Open(Box<PendingCall>),
    /// Its end was seen, so long ago.
    Done(Duration),
    /// Never heard of.
    Unknown,
}

/// A call larger than this, in bytes, was not written by us.
const MAX_CALL: u64 = 64 * 1024 * 1024;
/// The extension of a call whose end was seen, while what it did is recorded.
const TAKEN: &str = "taken";
/// A hook after a tool has ended by then, well or not.
const MAX_TAKEN: Duration = Duration::from_secs(15);
/// Calls older than this are forgotten.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// Remembers a call that goes ahead.
pub(crate) fn open(root: &Root, key: &str, call: &PendingCall) -> Result<(), StoreError> {
    super::local(root)?;
    let bytes = serde_json::to_vec(call).expect("texts and numbers always become JSON");
    store::write_scratch(&file(root, key), &bytes)
}

/// Where a call stands.
pub(crate) fn standing(root: &Root, key: &str) -> CallState {
    if let Ok(Some(bytes)) = store::read_capped(&file(root, key), MAX_CALL)
        && let Ok(call) = serde_json::from_slice(&bytes)
    {
        return CallState::Open(Box::new(call));
    }
    let done = std::fs::metadata(done(root, key)).and_then(|found| found.modified());
    match done {
        Ok(at) => CallState::Done(SystemTime::now().duration_since(at).unwrap_or_default()),
        Err(_) => CallState::Unknown,
    }
}

/// Takes a call whose end was seen: of several that try, one gets it. Also marks the end of a call never heard of.
///
/// Whoever takes a call tells with [`told`] when what it did is recorded. A process that is killed before that leaves
/// the call to [`finish_all`].
pub fn finish(root: &Root, key: &str) -> CallState {
    let standing = standing(root, key);
    let ended = match &standing {
        CallState::Open(_) => take(&file(root, key)).is_some(),
        CallState::Done(_) => return standing,
        CallState::Unknown => true,
    };
    if !ended {
        return CallState::Done(Duration::ZERO);
    }
    if super::local(root).and_then(|_| store::write_scratch(&done(root, key), b"")).is_err() {
        tracing::warn!(key, "the end of a call could not be noted; it may be recorded twice");
    }
    standing
}

/// Takes a call's file by renaming it, which of several that try one can do. Returns its new name.
fn take(file: &Path) -> Option<PathBuf> {
    let taken = file.with_extension(TAKEN);
    std::fs::rename(file, &taken).is_ok().then_some(taken)
}

/// What a call did is recorded: it is not looked at again.
pub(crate) fn told(root: &Root, key: &str) {
    // It may have been one that was never heard of.
    let _ = std::fs::remove_file(file(root, key).with_extension(TAKEN));
}

/// Takes every call of a session and its subagents whose end has not been seen, and will not be any more, and those
/// whose taker did not come to tell what they did.
pub(crate) fn finish_all(root: &Root, session: &str) -> Vec<PendingCall> {
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
        // Of several that try, one gets it.
        if theirs && std::fs::remove_file(&file).is_ok() {
            taken.push(call);
        }
    }
    taken.sort_by_key(|call| call.at);
    taken
}

/// All calls whose end has not been seen.
pub(crate) fn all_open(root: &Root) -> Vec<PendingCall> {
    read_all(root, "json").into_iter().map(|(_, call)| call).collect()
}

fn read_all(root: &Root, extension: &str) -> Vec<(PathBuf, PendingCall)> {
    let Ok(entries) = std::fs::read_dir(folder(root)) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|found| found == extension))
        .filter_map(|file| {
            let bytes = store::read_capped(&file, MAX_CALL).ok()??;
            Some((file, serde_json::from_slice(&bytes).ok()?))
        })
        .collect()
}

/// Forgets what is too old to matter.
pub(crate) fn prune(root: &Root) {
    let Ok(entries) = std::fs::read_dir(folder(root)) else { return };
    for entry in entries.filter_map(Result::ok) {
        let age = entry.metadata().and_then(|found| found.modified()).map(|at| at.elapsed());
        if matches!(age, Ok(Ok(age)) if age > MAX_AGE) {
            // It may be gone: another process tidies up as well.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn folder(root: &Root) -> PathBuf {
    root.orchestration().join("local").join("calls")
}

fn file(root: &Root, key: &str) -> PathBuf {
    folder(root).join(format!("{}.json", digest(key)))
}

fn done(root: &Root, key: &str) -> PathBuf {
    folder(root).join(format!("{}.done", digest(key)))
}
