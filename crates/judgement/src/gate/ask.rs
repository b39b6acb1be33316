//! Asks a person to decide: through the host if it can ask, otherwise by a one-time code.

use super::{Decision, Denial, SAME_CALL, key};
use crate::approval;
use evidence::event::{Asking, Event};
use ground::approvals::{self, Request, Subject};
use ground::session::calls::{self, CallState};
use ground::{Hint, clock};
use why::Workspace;

/// Asks a person about a call. Returns the code of the approval if a person has approved the call
/// already. Otherwise returns `Ask` if the host has to ask the person, or a denial that says how a
/// person approves the call.
pub(super) fn person(
    ws: &Workspace,
    event: &Event,
    denial: Denial,
    subject: Subject,
) -> Result<String, Decision> {
    // A host can run two hooks for one call. The approval that the first hook used is valid for the
    // second as well.
    if let CallState::Open(call) = calls::state_of(&ws.root, &key(event))
        && is_same_call(event, call.at)
        && let Some(code) = call.approval
    {
        return Ok(code);
    }
    let head = ws.head().map(|head| head.0.clone());
    let request = Request { subject, actor: event.actor(), cwd: event.cwd.clone(), head };
    if let Some(code) = approvals::take(&ws.root, &request.binding()) {
        return Ok(code);
    }
    if event.asking == Asking::Native {
        return Err(Decision::Ask(denial));
    }
    let next = match approvals::ask(&ws.root, request) {
        Ok(approval) => approval::instructions(&approval),
        Err(error) => {
            let why = error.with_hint();
            format!("Approval is required, and it could not be asked for: {why}.")
        }
    };
    Err(Decision::Deny(denial.adding(&next)))
}

/// Returns true if an event belongs to the open call with the same key, which began at this time
/// (nanoseconds since 1970). Without an id of the host, an equal call that is made later has the
/// same key.
fn is_same_call(event: &Event, began: u128) -> bool {
    let age = clock::now_in_nanoseconds().saturating_sub(began);
    event.call.is_some() || age < SAME_CALL.as_nanos()
}
