//! Asks a person to decide: through the host if it can ask, otherwise by a one-time code.

use super::{Denial, key};
use crate::verbs::event::{Asking, Event};
use crate::verbs::{Workspace, approval};
use crate::workspace::approvals::{self, Request};
use crate::workspace::session::calls::{self, CallState};

pub(super) use crate::workspace::approvals::Subject;

/// The answer of a person, or the way to get one.
pub(super) enum QuestionOutcome {
    /// A person has approved the call already, under this code.
    Approved(String),
    /// The host has to ask the person.
    Ask,
    /// Nobody has approved the call yet. The denial says how to approve it.
    Denied(Denial),
}

/// Asks a person about a call, unless one has approved it already.
pub(super) fn person(
    ws: &Workspace,
    event: &Event,
    denial: &Denial,
    subject: Subject,
) -> QuestionOutcome {
    // A host can run two hooks for one call. The approval that the first hook used is valid for the
    // second as well.
    if let CallState::Open(call) = calls::state_of(&ws.root, &key(event))
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
    let next = match approvals::ask(&ws.root, request) {
        Ok(approval) => approval::instructions(&approval),
        Err(error) => {
            format!("Approval is required, and it could not be asked for: {error}.")
        }
    };
    QuestionOutcome::Denied(denial.clone().adding(&next))
}
