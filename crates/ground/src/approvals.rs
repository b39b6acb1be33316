//! The questions that agents ask a person, and the answers: one small file for each question, in
//! `.orchestration/local/approvals/`.
//!
//! An approval is bound to exactly what was asked, by whom, in which folder and on which commit. It
//! is valid for ten minutes and for one use. A file that is broken, was changed, or was not written
//! by this clone does not count as an approval.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::local_files::{local, path_of_local_file};
use super::seal::{self, SealedContent, digest_of};
use super::store::{self, Lock, StoreError};
use super::{Hint, Root, clock};

/// How long a question waits for its answer, and how long an answer can be used, counted from the
/// question.
pub(crate) const VALID: Duration = Duration::from_secs(10 * 60);
/// The longest subject, in bytes of JSON. A person could not read more, and so could not approve
/// it.
pub(crate) const MAX_SUBJECT: usize = 16 * 1024;
pub(crate) const MAX_PENDING: usize = 32;
pub(crate) const MAX_PENDING_OF_ONE: usize = 8;
/// How long a question is kept after it was last changed, so that its state can still be looked up.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);
/// How many files in the folder are looked at. Further files are removed.
const MAX_FILES: usize = 512;
const PATIENCE: Duration = Duration::from_secs(1);
/// How far in the future a question may have been asked, in case the clock was set back.
const CLOCK_SLIP: Duration = Duration::from_secs(5);
/// The characters of a code. Those that are easily confused with another one, such as `0` and `O`,
/// are left out.
const ALPHABET: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LENGTH: usize = 6;

/// A question to a person, and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The six characters that a person types to answer.
    pub code: String,
    /// What the person is asked to approve.
    pub subject: Subject,
    /// The SHA-256 in hexadecimal of subject, actor, folder and commit, see `binding`.
    pub binding: String,
    /// Who asks: `host:session`, or `host:session/subagent`.
    pub actor: String,
    /// The folder in which the call would run.
    pub cwd: String,
    /// The commit that the work tree was based on. `null` if there is none.
    pub head: Option<String>,
    /// When it was asked: RFC 3339 in UTC.
    pub asked_at: String,
    /// Until when it can be answered and used: RFC 3339 in UTC.
    pub expires_at: String,
    /// Whether it was answered, and how.
    pub state: ApprovalState,
    /// The id of the intent that was created or widened, after a person approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// What a person is asked to approve. The texts come from the agent, so escape them before they are
/// shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// The agent wants to make a call.
    Call {
        /// Everything that the call does, in order.
        acts: Vec<AskedAct>,
        /// The rule because of which a person is asked.
        why: String,
        /// The SHA-256 of the whole call, if it is unknown what the call writes. The approval is
        /// then only valid for exactly the same call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
    },
    /// The agent wants to work under another intent from now on.
    Switch {
        /// The intent that is selected now. `null` if none is.
        from: Option<String>,
        /// The id of the intent to select.
        to: String,
    },
    /// The agent wants to widen the scope of an intent.
    Scope {
        /// The id of the intent.
        intent: String,
        /// The scope entries to add.
        entries: Vec<String>,
        /// Why, in the agent's words.
        reason: String,
    },
    /// The agent wants to create an intent, which will be in progress at once.
    Intent {
        /// The name of the new intent.
        name: String,
        /// The globs of the new intent's scope.
        scope: Vec<String>,
        /// The constraints that must hold.
        constraints: Vec<String>,
        /// The acceptance criteria of the new intent.
        acceptance: Vec<String>,
        /// Why, in the agent's words.
        reason: String,
    },
    /// The agent wants to write a lesson into the shared memory of the agents.
    Lesson {
        /// The line to write into the memory.
        text: String,
    },
}

/// One thing that a call does. Paths are relative to the workspace, or absolute if they are outside
/// of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskedAct {
    /// The call runs a command.
    Run {
        /// The text of the command.
        command: String,
        /// The folder in which the command runs, if the call names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// The call writes a file.
    Write {
        /// The path of the file.
        path: String,
        /// The `sha256:<64 hex>` of the file's new content. `None` if that cannot be known in
        /// advance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The change to the file, as a unified diff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<String>,
    },
    /// The call deletes a file.
    Delete {
        /// The path of the file.
        path: String,
    },
    /// The call moves a file.
    Move {
        /// The path of the file before the move.
        from: String,
        /// The path of the file after the move.
        to: String,
    },
}

/// Whether a question was answered, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// The person has not answered yet.
    Pending,
    /// The person has approved the question. A call, switch or lesson may go ahead once. A scope or
    /// an intent is in the registry already.
    Approved,
    /// The person has rejected the question.
    Denied,
    /// The person approved it, and the approval was used.
    Used,
    /// It was not answered or not used in time.
    Expired,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub subject: Subject,
    pub actor: String,
    pub cwd: PathBuf,
    pub head: Option<String>,
}

impl Request {
    /// Returns what an approval of this request is bound to.
    pub fn binding(&self) -> String {
        binding(&self.subject, &self.actor, &self.cwd, self.head.as_deref())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a person cannot be asked about {bytes} bytes of text, {MAX_SUBJECT} are the limit")]
    TooLong { bytes: usize },
    #[error("{waiting} questions wait for a person already")]
    TooMany { waiting: usize },
    #[error("no approval {code} is pending")]
    Unknown { code: String },
    #[error("approval {code} {what}")]
    Settled {
        code: String,
        /// The state of the question as a phrase: `was rejected already`.
        what: &'static str,
    },
}

impl Hint for ApprovalError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Store(error) => return error.hint(),
            Self::TooLong { .. } => "do it in smaller steps",
            Self::TooMany { .. } => {
                "ask them to run `intent approve` in a terminal of their own first"
            }
            Self::Unknown { .. } => "`intent approve` lists those that are",
            Self::Settled { .. } => "the agent has to ask again",
        };
        Some(hint.to_owned())
    }
}

impl ApprovalState {
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Pending => "waits for a person",
            Self::Approved => "was approved already",
            Self::Denied => "was rejected already",
            Self::Used => "was approved and used already",
            Self::Expired => "has expired",
        }
    }
}

impl Subject {
    pub fn command(text: &str) -> Self {
        let run = AskedAct::Run { command: text.to_owned(), folder: None };
        Self::Call { acts: vec![run], why: String::new(), input: None }
    }

    /// Returns the kind of the subject in one word: `command`, `write`, `switch`, `scope`, `intent`
    /// or `lesson`. A call that runs any command is a `command`.
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

    /// Trims the text of each command. Nothing else is changed, because every character of a
    /// command counts.
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

/// Returns the SHA-256 in hexadecimal that an approval is bound to. It covers what is asked, by
/// whom, in which folder and on which commit.
fn binding(subject: &Subject, actor: &str, cwd: &Path, head: Option<&str>) -> String {
    let head = head.map(|head| format!("at {head}"));
    digest_of(&[
        "intent-approval/1",
        &json(&subject.clone().normal()),
        actor,
        &cwd.to_string_lossy(),
        head.as_deref().unwrap_or_default(),
    ])
}

/// Asks a person. If the same question already waits for an answer, or was rejected and has not
/// expired, it is not asked again and the existing approval is returned. So the caller must look at
/// its state.
pub fn ask(root: &Root, request: Request) -> Result<Approval, ApprovalError> {
    let request = Request { subject: request.subject.normal(), ..request };
    let bytes = json(&request.subject).len() + request.actor.len() + request.cwd.as_os_str().len();
    if bytes > MAX_SUBJECT {
        return Err(ApprovalError::TooLong { bytes });
    }
    let turn = turn(root)?;
    store::remove_old_files(&folder(root), REMEMBERED, MAX_FILES);
    let bound = request.binding();
    let known = all_approvals(root);
    let existing = known.iter().find(|found| {
        let stands = matches!(found.state, ApprovalState::Pending | ApprovalState::Denied);
        stands && !has_expired(found) && found.binding == bound
    });
    if let Some(found) = existing {
        return Ok(found.clone());
    }
    let pending = known.iter().filter(|found| found.state == ApprovalState::Pending);
    let of_one = pending.clone().filter(|found| found.actor == request.actor).count();
    let waiting = pending.count();
    if waiting >= MAX_PENDING || of_one >= MAX_PENDING_OF_ONE {
        return Err(ApprovalError::TooMany { waiting });
    }
    let asked = Timestamp::now();
    let approval = Approval {
        code: free_code(root),
        subject: request.subject,
        binding: bound,
        actor: request.actor,
        cwd: request.cwd.to_string_lossy().into_owned(),
        head: request.head,
        asked_at: clock::format(asked),
        expires_at: clock::format(asked.checked_add(VALID).unwrap_or(asked)),
        state: ApprovalState::Pending,
        result: None,
    };
    turn.write(&approval)?;
    Ok(approval)
}

/// Uses an approval that a person gave for exactly this binding, and returns its code. If several
/// processes try at once, only one of them gets it.
pub fn take(root: &Root, binding: &str) -> Option<String> {
    let given = all_approvals(root)
        .into_iter()
        .filter(|found| found.state == ApprovalState::Approved && found.binding == binding);
    for approval in given {
        // Renaming the file marks the approval as used. It succeeds only once.
        let (from, to) = (file(root, &approval.code), path_of_used(root, &approval.code));
        if !to.exists() && store::rename(&from, &to).is_ok() {
            return Some(approval.code);
        }
    }
    None
}

/// Returns the questions that wait for an answer, oldest first.
pub fn pending(root: &Root) -> Vec<Approval> {
    let mut found = all_approvals(root);
    found.retain(|approval| approval.state == ApprovalState::Pending);
    found.sort_by(|one, other| one.asked_at.cmp(&other.asked_at));
    found
}

/// Returns the approval with this code, in any state. The code may be in upper or lower case.
pub fn get(root: &Root, code: &str) -> Option<Approval> {
    let code = normalised_code(code)?;
    // An approval that was used stays used, even if somebody puts its file back.
    if let Some(used) = read(root, &path_of_used(root, &code), &code) {
        return Some(Approval { state: ApprovalState::Used, ..used });
    }
    read(root, &file(root, &code), &code)
}

#[must_use]
pub struct Turn<'a> {
    root: &'a Root,
    _lock: Lock,
}

pub fn turn(root: &Root) -> Result<Turn<'_>, StoreError> {
    local(root)?;
    let lock = store::lock(&root.private().join("approvals.lock"), PATIENCE)?;
    Ok(Turn { root, _lock: lock })
}

impl Turn<'_> {
    pub fn pending(&self, code: &str) -> Result<Approval, ApprovalError> {
        let unknown = || ApprovalError::Unknown { code: super::text::shorten(code.trim(), 40) };
        let found = get(self.root, code).ok_or_else(unknown)?;
        match found.state {
            ApprovalState::Pending => Ok(found),
            state => Err(ApprovalError::Settled { code: found.code, what: state.phrase() }),
        }
    }

    pub fn settle(
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
        let stored = SealedContent { value: approval, seal };
        let mut text = serde_json::to_vec_pretty(&stored).expect("texts always become JSON");
        text.push(b'\n');
        Ok(store::write_scratch(&file(self.root, &approval.code), &text)?)
    }
}

pub fn folder(root: &Root) -> PathBuf {
    path_of_local_file(root, "approvals")
}

fn file(root: &Root, code: &str) -> PathBuf {
    folder(root).join(format!("{code}.json"))
}

fn path_of_used(root: &Root, code: &str) -> PathBuf {
    folder(root).join(format!("{code}.used"))
}

fn all_approvals(root: &Root) -> Vec<Approval> {
    let approvals = store::entries(&folder(root)).take(MAX_FILES).filter_map(|entry| {
        let name = entry.file_name();
        let code = normalised_code(name.to_str()?.strip_suffix(".json")?)?;
        read(root, &entry.path(), &code)
    });
    approvals.collect()
}

/// Reads an approval file. `None` if it is damaged, was changed, has another code, or was not
/// written by this clone.
fn read(root: &Root, file: &Path, code: &str) -> Option<Approval> {
    let SealedContent { value: approval, seal } =
        store::read_json::<SealedContent<Approval>>(file, 4 * MAX_SUBJECT as u64)?;
    let (cwd, head) = (Path::new(&approval.cwd), approval.head.as_deref());
    let bound = binding(&approval.subject, &approval.actor, cwd, head);
    let ours = approval.code == code
        && approval.binding == bound
        && seal::is_valid(root, &[&json(&approval)], &seal);
    if !ours {
        return None;
    }
    let waits = matches!(approval.state, ApprovalState::Pending | ApprovalState::Approved);
    Some(if waits && has_expired(&approval) {
        Approval { state: ApprovalState::Expired, ..approval }
    } else {
        approval
    })
}

/// Returns true if the approval has expired. One that claims to be valid for longer than is
/// allowed, or was asked in the future, counts as expired too.
fn has_expired(approval: &Approval) -> bool {
    let times = (approval.asked_at.parse::<Timestamp>(), approval.expires_at.parse::<Timestamp>());
    let (Ok(asked), Ok(expires)) = times else { return true };
    let now = Timestamp::now();
    let lives = |from: Timestamp, to: Timestamp| Duration::try_from(to.duration_since(from)).ok();
    lives(asked, expires).is_none_or(|life| life > VALID)
        || expires <= now
        || lives(now, asked).is_some_and(|ahead| ahead > CLOCK_SLIP)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts always become JSON")
}

/// Converts a code to upper case. `None` if it cannot be a code.
fn normalised_code(code: &str) -> Option<String> {
    let code = code.trim().to_ascii_uppercase();
    let ours = code.len() == CODE_LENGTH && code.bytes().all(|byte| ALPHABET.contains(&byte));
    ours.then_some(code)
}

fn free_code(root: &Root) -> String {
    loop {
        let code = random_code();
        if !file(root, &code).exists() && !path_of_used(root, &code).exists() {
            return code;
        }
    }
}

fn random_code() -> String {
    // The last 62 bits of such a UUID are random, which is enough to make all codes equally likely.
    let mut random = uuid::Uuid::new_v4().as_u64_pair().1;
    let letters = ALPHABET.len() as u64;
    let next = || {
        let letter = usize::try_from(random % letters).unwrap_or_default();
        random /= letters;
        Some(char::from(ALPHABET[letter]))
    };
    std::iter::from_fn(next).take(CODE_LENGTH).collect()
}

#[cfg(test)]
mod tests;
