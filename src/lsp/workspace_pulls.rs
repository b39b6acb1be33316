//! `workspace/diagnostic`: the client pulls the diagnostics of all workspaces.
//!
//! A client asks again after each answer, so a request without news is answered only when there may
//! be some. From the first request on, nothing is pushed about files that are not open, because the
//! client would show it twice. No capability tells beforehand whether a client sends this request.

use serde_json::Value;
use tower_lsp::lsp_types::request::{Request, WorkspaceDiagnosticRequest};

use super::features::diagnostics;
use super::ordered::{Ordered, Phase};
use super::pending_request::PendingRequest;
use super::refusal::RequestRefusal;
use super::requests::{Cancel, Ticket};
use super::snapshot::Snapshot;

pub(super) const METHOD: &str = WorkspaceDiagnosticRequest::METHOD;

#[derive(Default)]
pub(super) struct WorkspacePulls {
    /// True once the client has sent a request.
    pub(super) begun: bool,
    /// Counts the changes after which there may be news.
    changes: u64,
    waiting: Vec<WaitingPull>,
}

struct WaitingPull {
    ticket: Ticket,
    cancel: Cancel,
    params: Value,
}

impl Ordered {
    pub(super) fn pull_workspaces(&mut self, request: PendingRequest) {
        let is_first = !self.pulls.begun;
        if is_first {
            self.pulls.begun = true;
            for uri in self.schedule.forget_unopened() {
                self.send_diagnostics(uri, None, Vec::new());
            }
        }
        let changes = self.pulls.changes;
        let (ticket, params) = (request.ticket, request.params.clone());
        let cancel = request.snapshot.cancel.clone();
        self.run_handler(request, move |it, result| {
            // The first request is answered at once, because the client may wait for it.
            let may_wait = !is_first && it.phase == Phase::Running;
            match result {
                Ok(report) if may_wait && !diagnostics::has_news(&report) => {
                    it.pulls.waiting.push(WaitingPull { ticket, cancel, params });
                    if it.pulls.changes != changes {
                        it.answer_pulls();
                    }
                }
                result => it.reply(ticket, result.map_err(Into::into)),
            }
        });
    }

    /// Notes that the diagnostics of files that are not open may have changed, and looks whether the
    /// waiting pulls have news.
    pub(super) fn workspaces_changed(&mut self) {
        self.pulls.changes += 1;
        self.answer_pulls();
    }

    fn answer_pulls(&mut self) {
        for WaitingPull { ticket, cancel, params } in std::mem::take(&mut self.pulls.waiting) {
            // A cancelled request has its reply.
            if !cancel.is_cancelled() {
                let snapshot = Snapshot { cancel, ..self.world.snapshot.clone() };
                let (method, asked_of) = (METHOD.to_owned(), None);
                self.pull_workspaces(PendingRequest { ticket, method, params, asked_of, snapshot });
            }
        }
    }

    pub(super) fn end_pulls(&mut self) {
        for pull in std::mem::take(&mut self.pulls.waiting) {
            self.reply(pull.ticket, Err(RequestRefusal::Cancelled.into()));
        }
    }
}
