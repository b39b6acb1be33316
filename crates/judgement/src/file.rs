//! Reads and writes single files for an agent that has no file tools of its own.
//!
//! A write is a compare-and-swap. Under a lock that every such write of the file takes, the file is
//! compared with what the writer says it knows, judged by the gate, replaced as a whole, and
//! recorded. Two writers that use this module never lose each other's work. A program that writes
//! the file in another way can still lose its work, if it writes between the last comparison and
//! the replacement.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::gate::{Decision, Denial, DenialCode};
use super::seen_blocks::SeenFile;
use super::{after, gate, selection};
use code::{LineRange, MAX_BYTES};
use edits::{After, Change};
use evidence::event::{Effect, Event};
use evidence::record::contradicted_claim;
use ground::session::seen::{self, FileState, Seen};
use ground::{RelativePath, store};
use ledger::{MutationClass, Record};
use why::answers::{self, IntentBrief};
use why::{VerbError, Workspace};

/// Some lines of a file, with facts about the whole file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileText {
    /// The file, relative to the workspace, after following links.
    pub path: RelativePath,
    /// The requested lines, exactly as they are in the file.
    pub text: String,
    /// SHA-256 of the bytes of the whole file, as 64 hexadecimal digits.
    pub sha256: String,
    /// The number of the first line of `text`, counted from 1; 0 if `text` is empty.
    pub start_line: usize,
    /// The number of the last line of `text`; 0 if `text` is empty.
    pub end_line: usize,
    /// How many lines the file has.
    pub lines: usize,
    /// The intents in progress that own the file.
    pub owners: Vec<IntentBrief>,
}

/// What a writer knows of the file before the write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Absent,
    /// SHA-256 of the file's bytes, in lower-case hexadecimal.
    Hash(String),
}

impl Expected {
    /// Parses `absent`, or 64 hexadecimal digits with or without `sha256:` before them.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "absent" {
            return Some(Self::Absent);
        }
        let digits = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
        let whole = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        whole.then_some(Self::Hash(digits))
    }
}

#[derive(Clone, Debug)]
pub struct WriteRequest {
    pub path: RelativePath,
    pub expected: Expected,
    pub change: Change,
    /// The intent that the writer cites. The file is written only if the session has selected this intent.
    pub intent: Option<String>,
}

/// The result of a write.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileWritten {
    /// The file, relative to the workspace, after following links.
    pub path: RelativePath,
    /// SHA-256 of the new content, as 64 hexadecimal digits.
    pub sha256: String,
    /// True if the file did not exist before.
    pub created: bool,
    /// The intent under which it was written.
    pub intent: Option<String>,
    /// True if the ledger contains a record of the change.
    pub recorded: bool,
    /// The class of the change. `None` if nothing was recorded, or the class could not be found.
    pub mutation_class: Option<MutationClass>,
    /// The class that the writer claimed, if the change has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicted_claim: Option<String>,
    /// Further remarks, of the gate and of the observation after the write.
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{}", .0.message)]
    Denied(Box<Denial>),
    #[error(transparent)]
    Verb(#[from] VerbError),
    #[error(
        "Stale File: {path} is not what you expected: {by}. Nothing was written. Read it again, then decide anew."
    )]
    Stale { path: RelativePath, by: String },
    /// The file is not text, too large or missing, or the edit does not fit.
    #[error("{path} {reason}")]
    Unusable { path: RelativePath, reason: String },
}

/// Reads the lines of a file from line `offset` on, at most `limit` of them, and remembers for a
/// later write that the caller has seen them. The effects of `caller` are ignored.
pub fn read(
    ws: &Workspace,
    path: &RelativePath,
    offset: Option<usize>,
    limit: Option<usize>,
    caller: &Event,
) -> Result<FileText, FileError> {
    let path = ws.root.resolve(path).map_err(VerbError::from)?;
    let unusable =
        |reason: &str| FileError::Unusable { path: path.clone(), reason: reason.to_owned() };
    if is_private(&path) {
        return Err(unusable("cannot be read here: it belongs to git, or to a session"));
    }
    let Some(bytes) = bytes(ws, &path)? else {
        let reason = "does not exist; `file_write` creates it with `expected_sha256: absent`";
        return Err(unusable(reason));
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Err(unusable("is not UTF-8 text, so it is neither read nor written here"));
    };
    let all = text.split_inclusive('\n');
    let count = all.clone().count();
    let first = offset.unwrap_or(1).max(1);
    let wanted: Vec<&str> = all.skip(first - 1).take(limit.unwrap_or(usize::MAX)).collect();
    let shown = range(first, wanted.len());
    if wanted.len() == count || shown.is_some() {
        remember(ws, caller, &path, &bytes, shown.filter(|_| wanted.len() < count));
    }
    let owners = ws.registry.owners(&path).into_iter();
    Ok(FileText {
        text: wanted.concat(),
        sha256: store::sha256(&bytes),
        start_line: if wanted.is_empty() { 0 } else { first },
        end_line: if wanted.is_empty() { 0 } else { first + wanted.len() - 1 },
        lines: count,
        owners: owners.map(|intent| answers::brief(ws, &intent.id.value)).collect(),
        path,
    })
}

fn range(first: usize, count: usize) -> Option<LineRange> {
    let start = u32::try_from(first).ok()?;
    let end = u32::try_from(first.saturating_add(count).checked_sub(1)?).ok()?;
    LineRange::new(start, end)
}

/// Writes a file if it still is what the writer expects. The effects of `caller` are ignored.
pub fn write(
    ws: &Workspace,
    request: &WriteRequest,
    caller: &Event,
) -> Result<FileWritten, FileError> {
    ws.governed()?;
    let path = ws.root.resolve(&request.path).map_err(VerbError::from)?;
    let absolute = ws.root.absolute(&path);
    let written = ws.root.absolute(&request.path);
    let effect = Effect::Write { path: written, change: request.change.clone() };
    let event = Event { effects: vec![effect], ..caller.clone() };
    if let Some(cited) = &request.intent {
        cites_the_selected(ws, cited, caller)?;
    }
    let _turn = store::lock(&lock_of(ws, &path), PATIENCE).map_err(VerbError::from)?;
    let before = bytes(ws, &path)?;
    let known = match (&request.expected, &before) {
        (Expected::Absent, None) => true,
        (Expected::Hash(expected), Some(bytes)) => *expected == store::sha256(bytes),
        _ => false,
    };
    if !known {
        // If the gate denies the write anyway, that is the more useful answer.
        held_up(gate::check(&event))?;
        return Err(stale(ws, &path, &event));
    }
    if let Some(before) = &before
        && seen::last_seen_state(&ws.root, &caller.actor(), &path).is_none()
    {
        // A writer that gives the hash is taken to have read the file. If it was shown only some
        // lines, that was noted then, and this branch is not taken.
        remember(ws, caller, &path, before, None);
    }
    let after = image(&path, &request.change, before.as_deref())?;
    let judged = gate::judge_before_call(&event);
    held_up(judged.decision)?;
    let replaced = match &before {
        None => store::create_new(&absolute, after.as_bytes()),
        Some(before) => store::replace_if_same(&absolute, before, after.as_bytes()),
    };
    // The end of the call is always reported, even if the write failed. What was done is read from
    // the disk.
    let feedback = after::record_after_call(&event);
    if !replaced.map_err(VerbError::from)? {
        return Err(stale(ws, &path, &event));
    }
    let sha256 = store::sha256(after.as_bytes());
    let recorded = seen::last_write(&ws.root, &path).is_some_and(|last| {
        last.actor == event.actor() && last.hash.as_ref() == Some(&sha256) && last.recorded
    });
    let mutation_class = if recorded { class_of_last_record(ws, &path, &event) } else { None };
    let claimed = event.claimed_class.map(MutationClass::as_str);
    let notes = [judged.notice, feedback.context, feedback.violation];
    Ok(FileWritten {
        sha256,
        created: before.is_none(),
        path,
        intent: selection::selected_by(ws, &event),
        recorded,
        mutation_class,
        contradicted_claim: contradicted_claim(claimed, mutation_class),
        notes: notes.into_iter().flatten().collect(),
    })
}

fn class_of_last_record(ws: &Workspace, path: &RelativePath, by: &Event) -> Option<MutationClass> {
    let (ws, actor) = (ws.clone().with_records_of_now(), by.actor());
    let is_it = |record: &&Record| {
        record.session.as_ref() == Some(&actor)
            && record.files.iter().any(|file| file.relative_path == *path)
    };
    let mut newest_first = ws.journal.entries().iter().rev().map(|entry| &entry.record);
    newest_first.find(is_it)?.mutation_class
}

/// Refuses a write that cites another intent than the one that the session has selected. If no
/// intent is selected, the gate refuses it instead.
fn cites_the_selected(ws: &Workspace, cited: &str, caller: &Event) -> Result<(), FileError> {
    let Some(selected) = selection::selected_by(ws, caller) else { return Ok(()) };
    let intent = ws.intent(cited.trim())?;
    if intent.id.value == selected {
        return Ok(());
    }
    let id = &intent.id.value;
    let message = format!(
        "You must cite the Intent ID that this session has selected: that is {selected}, and this write cites {id}. Select {id} first, or cite {selected}. Nothing was written."
    );
    Err(FileError::Denied(Box::new(
        Denial::new(DenialCode::IntentRequired, message).about_intent(id),
    )))
}

const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the lock that every write of this file takes. There are only 256 locks, so unrelated
/// files may share one; their writers just wait for each other.
fn lock_of(ws: &Workspace, path: &RelativePath) -> std::path::PathBuf {
    let digest = Sha256::digest(path.as_str().as_bytes());
    ws.root.private().join("files").join(format!("{:02x}.lock", digest[0]))
}

fn held_up(decision: Decision) -> Result<(), FileError> {
    match decision {
        Decision::NoOpinion => Ok(()),
        Decision::Ask(denial) | Decision::Deny(denial) => Err(FileError::Denied(Box::new(denial))),
    }
}

fn image(path: &RelativePath, change: &Change, before: Option<&[u8]>) -> Result<String, FileError> {
    let unusable = |reason: String| FileError::Unusable { path: path.clone(), reason };
    let before = before.filter(|_| !matches!(change, Change::Whole(_)));
    let before = before.map(std::str::from_utf8).transpose().map_err(|_| {
        let reason = "is not UTF-8 text, so it cannot be edited here; nothing was written";
        unusable(reason.to_owned())
    })?;
    let text = match change.text_after(before) {
        After::Text(text) => text,
        After::Unknown(reason) | After::Fails(reason) => {
            return Err(unusable(format!("was not written: {reason}")));
        }
    };
    if text.len() > MAX_BYTES {
        return Err(unusable(format!(
            "would be {} bytes, and files over {MAX_BYTES} bytes are not written here; nothing was written",
            text.len()
        )));
    }
    Ok(text)
}

/// Returns the bytes of the file, or `None` if it does not exist.
fn bytes(ws: &Workspace, path: &RelativePath) -> Result<Option<Vec<u8>>, VerbError> {
    Ok(ws.root.read(path, MAX_BYTES as u64)?)
}

fn is_private(path: &RelativePath) -> bool {
    let path = path.as_str().to_ascii_lowercase();
    let segments: Vec<&str> = path.split('/').collect();
    segments.contains(&".git")
        || segments.windows(2).any(|pair| pair == [".orchestration", "local"])
}

fn stale(ws: &Workspace, path: &RelativePath, event: &Event) -> FileError {
    let now = bytes(ws, path).ok().flatten().map(|bytes| store::sha256(&bytes));
    let last = seen::last_write(&ws.root, path).filter(|last| last.hash == now);
    let by = match last {
        Some(last) if last.actor == event.actor() => {
            format!("this session changed it, at {}", last.at)
        }
        Some(Seen { actor, intent: Some(intent), at, .. }) => {
            format!("{actor} changed it under {intent}, at {at}")
        }
        Some(Seen { actor, at, .. }) => format!("{actor} changed it, at {at}"),
        None => "it is not known who changed it".to_owned(),
    };
    FileError::Stale { path: path.clone(), by }
}

/// Remembers what the caller has read of a file. If this fails, the worst effect is that a later
/// write is refused needlessly.
fn remember(
    ws: &Workspace,
    caller: &Event,
    path: &RelativePath,
    bytes: &[u8],
    shown: Option<LineRange>,
) {
    let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
    let now = FileState { hash: Some(store::sha256(bytes)), text };
    SeenFile { ws, event: caller, path, now: &now }.read(shown);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_state_is_a_hash_or_absent() {
        let digits = "AB".repeat(32);
        let hash = Some(Expected::Hash(digits.to_ascii_lowercase()));
        assert_eq!(Expected::read(&digits), hash);
        assert_eq!(Expected::read(&format!(" sha256:{digits}\n")), hash);
        assert_eq!(Expected::read("absent"), Some(Expected::Absent));
        let long = "0".repeat(65);
        let signed = format!("+{}", "0".repeat(63));
        for text in ["", "none", "sha256:", &digits[1..], &long, &signed, &"é".repeat(32)] {
            assert_eq!(Expected::read(text), None, "{text:?}");
        }
    }

    #[test]
    fn files_of_git_and_of_sessions_are_private() {
        let private = |path: &str| is_private(&RelativePath::new(path).unwrap());
        for path in [".git/config", "a/.GIT/x", ".orchestration/local/x", ".git"] {
            assert!(private(path), "{path}");
        }
        for path in [".gitignore", ".orchestration/policy.yaml", "local/x", "a.git/x"] {
            assert!(!private(path), "{path}");
        }
    }
}
