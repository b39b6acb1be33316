//! What a person was asked and has decided: one small file a question, in `.orchestration/local/approvals/`.
//!
//! An approval is bound to exactly what was asked, by whom, in which folder and on which commit. It holds for ten
//! minutes and for one use. A file that is broken, was changed, or was not written by this clone is no approval.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Root;
use super::seal::{self, digest_of};
use super::session;
use super::store::{self, Lock, StoreError};

/// How long a question waits for its answer, and an answer for its use.
pub(crate) const VALID: Duration = Duration::from_secs(10 * 60);
/// The longest subject, in bytes of JSON: what a person cannot read, a person cannot approve.
pub(crate) const MAX_SUBJECT: usize = 16 * 1024;
/// How many questions may wait for a person at once.
pub(crate) const MAX_PENDING: usize = 32;
/// How many of them may be one actor's.
pub(crate) const MAX_PENDING_OF_ONE: usize = 8;
/// How long what was decided is remembered, for whoever asks what became of it.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);
/// More files than this are not looked at.
const MAX_FILES: usize = 512;
/// How long another process may be writing.
const PATIENCE: Duration = Duration::from_secs(1);
/// A clock may have been set back by this much.
const CLOCK_SLIP: Duration = Duration::from_secs(5);
/// Nothing that is read for another letter or digit.
const ALPHABET: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LENGTH: usize = 6;

/// A question to a person, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// What a person types: six characters.
    pub code: String,
    /// What is asked.
    pub subject: Subject,
    /// SHA-256 in hexadecimal of subject, actor, folder and commit: see [`binding`].
    pub binding: String,
    /// Who asks: `host:session`, or `host:session/subagent`.
    pub actor: String,
    /// The folder it would happen in.
    pub cwd: String,
    /// The commit the work tree was based on; null without one.
    pub head: Option<String>,
    /// When, RFC 3339 in UTC.
    pub asked_at: String,
    /// Until when it can be answered and used.
    pub expires_at: String,
    /// What became of it.
    pub state: ApprovalState,
    /// The intent that was created or widened, once a person approved that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// What is asked of a person. The texts are the agent's: escape them where they are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// To make a call.
    Call {
        /// All that it does, in its order.
        acts: Vec<AskedAct>,
        /// Why it is asked: the rule.
        why: String,
        /// SHA-256 of the whole call, if nobody can foresee what it writes: then it is bound to that, to the letter.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
    },
    /// To work under another intent from now on.
    Switch {
        /// The one selected; null where none is.
        from: Option<String>,
        /// The other.
        to: String,
    },
    /// To widen the scope of an intent.
    Scope {
        /// Which intent.
        intent: String,
        /// The entries to add.
        entries: Vec<String>,
        /// Why, in the agent's words.
        reason: String,
    },
    /// A new intent, in progress from the start.
    Intent {
        /// What it is called.
        name: String,
        /// The globs it would own.
        scope: Vec<String>,
        /// What must hold.
        constraints: Vec<String>,
        /// When it is done.
        acceptance: Vec<String>,
        /// Why, in the agent's words.
        reason: String,
    },
    /// To write a lesson into the shared memory of the agents.
    Lesson {
        /// The line.
        text: String,
    },
}

/// One thing that a call does. Paths are relative to the workspace, or absolute outside of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskedAct {
    /// It runs a command.
    Run {
        /// Its text.
        command: String,
        /// The folder it runs in, if the call names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// It writes a file.
    Write {
        /// Which.
        path: String,
        /// `sha256:<64 hex>` of what the file would hold; `None` where nobody can foresee that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// What changes in the file, as a unified diff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<String>,
    },
    /// It deletes a file.
    Delete {
        /// Which.
        path: String,
    },
    /// It moves a file.
    Move {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// A person has not decided.
    Pending,
    /// A person said yes. A call, switch or lesson may go ahead once; a scope or an intent is in the registry.
    Approved,
    /// A person said no.
    Denied,
    /// Approved, and gone ahead.
    Used,
    /// Its time is over.
    Expired,
}

/// What to ask a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What.
    pub subject: Subject,
    /// Who asks: `host:session`.
    pub actor: String,
    /// The folder it would happen in.
    pub cwd: PathBuf,
    /// The commit the work tree is based on.
    pub head: Option<String>,
}

/// Why a person could not be asked, or a decision not be kept.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// A file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nobody could read it.
    #[error(
        "a person cannot be asked about {bytes} bytes of text, {MAX_SUBJECT} are the limit; do it in smaller steps"
    )]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Too many wait.
    #[error(
        "{waiting} questions wait for a person already; ask them to run `intent approve` in a terminal of their own first"
    )]
    TooMany {
        /// How many.
        waiting: usize,
    },
    /// No such question.
    #[error("no approval {code} waits here; `intent approve` lists those that do")]
    Unknown {
        /// What was typed.
        code: String,
    },
    /// It can no longer be decided.
    #[error("approval {code} {what}; the agent has to ask again")]
    Settled {
        /// Which.
        code: String,
        /// What became of it: `was rejected already`.
        what: &'static str,
    },
}

impl ApprovalState {
    /// What became of it, after the code.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Pending => "waits for a person",
            Self::Approved => "was approved already",
            Self::Denied => "was rejected already",
            Self::Used => "was approved and used already",
            Self::Expired => "is over its ten minutes",
        }
    }
}

impl Subject {
    /// One command, run in the folder of the session.
    pub fn command(text: &str) -> Self {
        let run = AskedAct::Run { command: text.to_owned(), folder: None };
        Self::Call { acts: vec![run], why: String::new(), input: None }
    }

    /// One word: `command`, `write`, `switch`, `scope`, `intent`, `lesson`. A call that runs anything is a command.
    pub fn kind(&self) -> &'static str {
        let runs = |act: &AskedAct| matches!(act, AskedAct::Run { .. });
        match self {
            Self::Call { acts, .. } if acts.iter().any(runs) => "command",
            Self::Call { .. } => "write",
            Self::Switch { .. } => "switch",
            Self::Scope { .. } => "scope",
            Self::Intent { .. } => "intent",
            Self::Lesson { .. } => "lesson",
        }
    }

    /// The same with the text of commands trimmed; nothing else of it is touched, as every character of a command counts.
    fn normal(mut self) -> Self {
        if let Self::Call { acts, .. } = &mut self {
            for act in acts {
                if let AskedAct::Run { command, .. } = act {
                    *command = command.trim().to_owned();
                }
            }
        }
        self
    }
}

/// What an approval is bound to: SHA-256 in hexadecimal of what is asked, by whom, in which folder, on which commit.
pub(crate) fn binding(subject: &Subject, actor: &str, cwd: &Path, head: Option<&str>) -> String {
    let head = head.map(|head| format!("at {head}"));
    digest_of(&[
        "intent-approval/1",
        &json(&subject.clone().normal()),
        actor,
        &cwd.to_string_lossy(),
        head.as_deref().unwrap_or_default(),
    ])
}

/// Asks a person. What is asked already, or was rejected within its ten minutes, is not asked again: the same approval is answered, so look at its state.
pub fn ask(root: &Root, request: Request) -> Result<Approval, ApprovalError> {
    let subject = request.subject.normal();
    let bytes = json(&subject).len() + request.actor.len() + request.cwd.as_os_str().len();
    if bytes > MAX_SUBJECT {
        return Err(ApprovalError::TooLong { bytes });
    }
    let turn = turn(root)?;
    prune(root);
    let bound = binding(&subject, &request.actor, &request.cwd, request.head.as_deref());
    let known = all(root);
    let again = known.iter().find(|found| {
        let stands =
            matches!(found.state, ApprovalState::Pending | ApprovalState::Denied) && !over(found);
        stands && found.binding == bound
    });
    if let Some(found) = again {
        return Ok(found.clone());
    }
    let pending = known.iter().filter(|found| found.state == ApprovalState::Pending);
    let of_one = pending.clone().filter(|found| found.actor == request.actor).count();
    if pending.count() >= MAX_PENDING || of_one >= MAX_PENDING_OF_ONE {
        return Err(ApprovalError::TooMany { waiting: of_one.max(1) });
    }
    let asked = Timestamp::now();
    let approval = Approval {
        code: free_code(root),
        subject,
        binding: bound,
        actor: request.actor,
        cwd: request.cwd.to_string_lossy().into_owned(),
        head: request.head,
        asked_at: written(asked),
        expires_at: written(asked.checked_add(VALID).unwrap_or(asked)),
        state: ApprovalState::Pending,
        result: None,
    };
    turn.write(&approval)?;
    Ok(approval)
}

/// Uses an approval that a person gave to exactly this; its code. Of several processes that try, one gets it.
pub fn take(root: &Root, binding: &str) -> Option<String> {
    let given = all(root)
        .into_iter()
        .filter(|found| found.state == ApprovalState::Approved && found.binding == binding);
    for approval in given {
        // Renaming is the use: it succeeds once.
        let (from, to) = (file(root, &approval.code), used(root, &approval.code));
        if !to.exists() && store::rename(&from, &to).is_ok() {
            return Some(approval.code);
        }
    }
    None
}

/// The questions that wait for a person, oldest first.
pub fn pending(root: &Root) -> Vec<Approval> {
    let mut found = all(root);
    found.retain(|approval| approval.state == ApprovalState::Pending);
    found.sort_by(|one, other| one.asked_at.cmp(&other.asked_at));
    found
}

/// An approval by its code, in any state; letters of either case.
pub(crate) fn get(root: &Root, code: &str) -> Option<Approval> {
    let code = spelled(code)?;
    // What was used stays used, even where somebody put the file back.
    if let Some(used) = read(root, &used(root, &code), &code) {
        return Some(Approval { state: ApprovalState::Used, ..used });
    }
    read(root, &file(root, &code), &code)
}

/// The turn of one process to ask or to decide.
#[must_use]
pub(crate) struct Turn<'a> {
    root: &'a Root,
    _lock: Lock,
}

/// Waits for the turn to ask or to decide.
pub(crate) fn turn(root: &Root) -> Result<Turn<'_>, StoreError> {
    session::local(root)?;
    let lock = store::lock(&root.private().join("approvals.lock"), PATIENCE)?;
    Ok(Turn { root, _lock: lock })
}

impl Turn<'_> {
    /// The question with this code, if it can still be decided.
    pub(crate) fn pending(&self, code: &str) -> Result<Approval, ApprovalError> {
        let unknown = || ApprovalError::Unknown { code: super::text::shorten(code.trim(), 40) };
        let found = get(self.root, code).ok_or_else(unknown)?;
        match found.state {
            ApprovalState::Pending => Ok(found),
            state => Err(ApprovalError::Settled { code: found.code, what: state.phrase() }),
        }
    }

    /// Keeps what a person decided of a question that this turn found pending.
    pub(crate) fn settle(
        &self,
        approval: Approval,
        state: ApprovalState,
    ) -> Result<Approval, ApprovalError> {
        let approval = Approval { state, ..approval };
        self.write(&approval)?;
        Ok(approval)
    }

    fn write(&self, approval: &Approval) -> Result<(), ApprovalError> {
        let seal = seal::seal(self.root, &[&json(approval)])?;
        let stored = StoredApproval { approval: approval.clone(), seal };
        let mut text = serde_json::to_vec_pretty(&stored).expect("texts always become JSON");
        text.push(b'\n');
        Ok(store::write_scratch(&file(self.root, &approval.code), &text)?)
    }
}

/// As it is on disk.
#[derive(Serialize, Deserialize)]
struct StoredApproval {
    #[serde(flatten)]
    approval: Approval,
    seal: String,
}

/// Where the questions are.
pub(crate) fn folder(root: &Root) -> PathBuf {
    root.orchestration().join("local").join("approvals")
}

fn file(root: &Root, code: &str) -> PathBuf {
    folder(root).join(format!("{code}.json"))
}

fn used(root: &Root, code: &str) -> PathBuf {
    folder(root).join(format!("{code}.used"))
}

fn all(root: &Root) -> Vec<Approval> {
    let Ok(entries) = std::fs::read_dir(folder(root)) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .take(MAX_FILES)
        .filter_map(|entry| {
            let name = entry.file_name();
            let code = spelled(name.to_str()?.strip_suffix(".json")?)?;
            read(root, &entry.path(), &code)
        })
        .collect()
}

/// Reads a file that this clone wrote for this code, whole and unchanged.
fn read(root: &Root, file: &Path, code: &str) -> Option<Approval> {
    let bytes = store::read_capped(file, 4 * MAX_SUBJECT as u64).ok()??;
    let StoredApproval { approval, seal } = serde_json::from_slice(&bytes).ok()?;
    let bound = binding(
        &approval.subject,
        &approval.actor,
        Path::new(&approval.cwd),
        approval.head.as_deref(),
    );
    let ours = approval.code == code
        && approval.binding == bound
        && seal::holds(root, &[&json(&approval)], &seal);
    if !ours {
        return None;
    }
    let waits = matches!(approval.state, ApprovalState::Pending | ApprovalState::Approved);
    Some(if waits && over(&approval) {
        Approval { state: ApprovalState::Expired, ..approval }
    } else {
        approval
    })
}

/// Whether its time is over; so is one that claims more time than there is, or comes from the future.
fn over(approval: &Approval) -> bool {
    let times = (approval.asked_at.parse::<Timestamp>(), approval.expires_at.parse::<Timestamp>());
    let (Ok(asked), Ok(expires)) = times else { return true };
    let now = Timestamp::now();
    let lives = |from: Timestamp, to: Timestamp| Duration::try_from(to.duration_since(from)).ok();
    lives(asked, expires).is_none_or(|life| life > VALID)
        || expires <= now
        || lives(now, asked).is_some_and(|ahead| ahead > CLOCK_SLIP)
}

/// Forgets what is long over.
fn prune(root: &Root) {
    let Ok(entries) = std::fs::read_dir(folder(root)) else { return };
    let old = |at: SystemTime| at.elapsed().is_ok_and(|age| age > REMEMBERED);
    for (nth, entry) in entries.filter_map(Result::ok).enumerate() {
        let written = entry.metadata().and_then(|found| found.modified());
        if nth >= MAX_FILES || written.is_ok_and(old) {
            // It may be gone: another process tidies up as well.
            let _ = store::remove(&entry.path());
        }
    }
}

fn written(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts always become JSON")
}

/// A code as we write it; `None` where no code is written so.
fn spelled(code: &str) -> Option<String> {
    let code = code.trim().to_ascii_uppercase();
    let ours = code.len() == CODE_LENGTH && code.bytes().all(|byte| ALPHABET.contains(&byte));
    ours.then_some(code)
}

/// A random code that no file has.
fn free_code(root: &Root) -> String {
    loop {
        let code = random_code();
        if !file(root, &code).exists() && !used(root, &code).exists() {
            return code;
        }
    }
}

fn random_code() -> String {
    // Bytes above the last whole multiple would make some letters likelier.
    let fair = u8::MAX - u8::MAX % ALPHABET.len() as u8;
    let mut code = String::with_capacity(CODE_LENGTH);
    while code.len() < CODE_LENGTH {
        let random = uuid::Uuid::new_v4().into_bytes();
        // The version and the variant of the UUID are not random.
        let random = [&random[..6], &random[10..]].concat();
        let fair = random.into_iter().filter(|byte| *byte < fair);
        let letters = fair.map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
        code.extend(letters.take(CODE_LENGTH - code.len()));
    }
    code
}

#[cfg(test)]
mod tests;
