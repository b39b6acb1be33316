//! Decides whether a call of an agent's tool may go ahead. The gate answers with no opinion, ask or
//! deny; it never allows a call that the host would not allow.
//!
//! The checks are made in this order, and the first denial wins: the call can be read; it changes
//! anything at all; it touches no control file; an intent is selected and in progress; every path
//! is inside a governed workspace, not protected, not ignored, and in scope; nobody changed the
//! file since this session saw it; the class of the command; the fence. A person is asked only if
//! no check denies. The ledger is never read.
//!
//! - `ask`: asks a person
//! - `bind`: binds sessions to intents
//! - `judge_call`: judges one call
//! - `commands`: objections against commands, and commands that must run behind the fence
//! - `everyday`: everyday commands of git, about which nobody is asked
//! - `in_force`: the rules that count while files of rules change
//! - `places`: the paths that a call would change
//! - `requested`: the intents that a person asks for in a prompt
//! - `rules`: the rules for paths
//! - `stale`: files that changed since a session saw them

use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

mod ask;
mod bind;
mod commands;
mod everyday;
mod in_force;
mod judge_call;
mod places;
mod requested;
mod rules;
mod stale;

pub(crate) use bind::finish_selection;
pub use bind::{PROTOCOL, clear, end, prompt, session_start};
pub(crate) use in_force::{accept_rules, changed_rules, reject_change};
pub use in_force::{governed, is_rejected};
pub(crate) use judge_call::read_command;
pub use judge_call::surroundings;
pub use places::key;

use evidence::event::{Event, Means};
use ground::policy::Mode;
use why::Workspace;

/// For a call without an id of the host, a second report within this time is taken as a repetition
/// of the first.
pub(crate) const SAME_CALL: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Default)]
pub struct GateRequest {
    /// Every path that would change, including sources of moves. Each is absolute or relative to
    /// the workspace.
    pub paths: Vec<String>,
    /// The session that makes the change; `None` for the person's own selection.
    pub session: Option<String>,
    pub intent: Option<String>,
}

/// The answer of the gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Decision {
    /// The gate has no objection. The host decides as it would without the gate.
    #[default]
    NoOpinion,
    /// A person should decide about the call.
    Ask(Denial),
    /// The call must not be made.
    Deny(Denial),
}

/// Why a call is denied, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Denial {
    /// The stable code of the denial.
    pub code: DenialCode,
    /// The complete explanation, with what to do next.
    pub message: String,
    /// The path that the denial is about.
    pub path: Option<String>,
    /// The intent that the denial is about.
    pub intent: Option<String>,
    /// The rule that decided: an entry of a scope, a line of an ignore file, or what makes a
    /// command destructive.
    pub rule: Option<String>,
}

/// The stable codes of denials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DenialCode {
    /// No intent is selected for the work.
    IntentRequired,
    /// The registry does not hold the selected intent.
    UnknownIntent,
    /// The selected intent is not in progress.
    IntentNotActive,
    /// The path is outside the intent's scope.
    ScopeViolation,
    /// The path is protected by policy, or is a control file.
    ProtectedPath,
    /// An ignore file denies the path to agents.
    IgnoredPath,
    /// Somebody changed the file since the session saw it, or the session never saw what it would overwrite.
    StaleFile,
    /// The command destroys something, and the policy forbids it.
    DestructiveBlocked,
    /// A person has to approve the call.
    ApprovalRequired,
    /// The policy requires the command to run behind a fence, and it would not.
    FenceRequired,
    /// The call selects an intent inside a longer command, or with further arguments.
    PlainCommandRequired,
    /// The call changes something but cannot be read.
    UnreadablePayload,
    /// The registry or the policy cannot be read, or something else failed, so nothing can be judged.
    HookError,
}

impl DenialCode {
    /// Returns what a code such as `STALE_FILE` means. `None` for any other text.
    pub fn meaning_of(code: &str) -> Option<String> {
        let schema = schemars::schema_for!(Self);
        let described = schema.get("oneOf")?.as_array()?.iter().find(|one| one["const"] == code)?;
        described["description"].as_str().map(str::to_owned)
    }
}

impl std::fmt::Display for DenialCode {
    /// Writes the code as all outputs have it: `SCOPE_VIOLATION`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

impl Denial {
    fn of_control_file(path: &str) -> Self {
        let message = format!(
            "{path} controls the gate and is changed by people only, with the `intent` command or in an editor. Leave it as it is."
        );
        Self::new(DenialCode::ProtectedPath, message).about_path(path).decided_by("control file")
    }

    pub fn new(code: DenialCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: None, intent: None, rule: None }
    }

    /// Returns the decision that follows from this objection in a mode that blocks calls. A person
    /// may let a call pass that only lacks approval; nobody can lift another objection without
    /// changing the rules.
    fn decision(self, mode: Mode) -> Decision {
        match self.code {
            DenialCode::ApprovalRequired => Decision::Ask(self),
            _ if mode == Mode::Enforce => Decision::Deny(self),
            _ => Decision::Ask(self),
        }
    }

    fn about_path(self, path: impl ToString) -> Self {
        Self { path: Some(path.to_string()), ..self }
    }

    pub(crate) fn about_intent(self, intent: &str) -> Self {
        Self { intent: Some(intent.to_owned()), ..self }
    }

    fn decided_by(self, rule: impl Into<String>) -> Self {
        Self { rule: Some(rule.into()), ..self }
    }

    fn adding(self, sentence: &str) -> Self {
        Self { message: format!("{} {sentence}", self.message), ..self }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    pub decision: Decision,
    pub notice: Option<String>,
    pub fence: Option<String>,
}

impl From<Decision> for Judged {
    fn from(decision: Decision) -> Self {
        Self { decision, ..Self::default() }
    }
}

/// Judges a mutation by its paths alone. Without a governed workspace the answer is no opinion.
pub fn judge(ws: &Workspace, request: &GateRequest) -> Decision {
    if !ws.root.governed() {
        return Decision::NoOpinion;
    }
    let (ws, _) = in_force::governed(ws.clone());
    match objection(&ws, request) {
        Some(denial) if !judge_call::only_observes(&ws) => denial.decision(ws.policy.mode),
        _ => Decision::NoOpinion,
    }
}

fn objection(ws: &Workspace, request: &GateRequest) -> Option<Denial> {
    let mut paths = Vec::with_capacity(request.paths.len());
    for text in &request.paths {
        match rules::both_paths(ws, Path::new(text)) {
            Ok(found) => paths.extend(found),
            Err(error) => return Some(rules::outside(text, &error)),
        }
    }
    let selected = request.intent.clone().or_else(|| ws.selected(request.session.as_deref()));
    let denial = rules::PathRules { ws, selected, means: Means::Commands }.denial(&paths);
    denial.or_else(|| commands::by_path(&ws.policy, &paths))
}

pub fn judge_before_call(event: &Event) -> Judged {
    if event.only_reads() {
        return Judged::default();
    }
    judge_call::judge(event, judge_call::Purpose::Make)
}

/// Judges a call without making it. Nothing is kept, and no approval is used or requested.
pub fn check(event: &Event) -> Decision {
    judge_call::judge(event, judge_call::Purpose::Examine).decision
}
