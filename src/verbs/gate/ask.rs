//! A person decides: through the host where it can ask, else by a one-time code.

use super::{Denial, key};
use crate::verbs::event::{Asking, Event};
use crate::verbs::{Workspace, approval};
use crate::workspace::approvals::{self, Request};
use crate::workspace::session::calls::{self, CallState};

pub(super) use crate::workspace::approvals::Subject;

/// What became of a question.
pub(super) enum QuestionOutcome {
    /// A person has approved it already, under this code.
    Approved(String),
    /// The host asks.
    Ask,
    /// Not yet: the denial says how a person approves.
    Denied(Denial),
}

/// Asks a person, or finds that one has approved.
pub(super) fn person(
    ws: &Workspace,
    event: &Event,
    denial: &Denial,
    subject: Subject,
) -> QuestionOutcome {
    // The same call through a second hook of the host: it was approved once, and is one call.
    if let CallState::Open(call) = calls::standing(&ws.root, &key(event))
        && let Some(code) = call.approval
    {
        return QuestionOutcome::Approved(code);
    }
    let head = ws.head().map(|head| head.0.as_str());
    let actor = event.actor();
    let binding = approvals::binding(&subject, &actor, &event.cwd, head);
    if let Some(code) = approvals::take(&ws.root, &binding) {
        return QuestionOutcome::Approved(code);
    }
    if event.asking == Asking::Native {
        return QuestionOutcome::Ask;
    }
    let cwd = event.cwd.clone();
    let request = Request { subject, actor, cwd, head: head.map(str::to_owned) };
    let message = match approvals::ask(&ws.root, request) {
        Ok(approval) => format!("{} {}", denial.message, approval::told(&approval)),
        Err(error) => format!(
            "{} Approval is required, and it could not be asked for: {error}.",
            denial.message
        ),
    };
    QuestionOutcome::Denied(Denial { message, ..denial.clone() })
}
