//! Questions that came before the ledger was read: they wait for it, with the progress that [`super::effects`] shows,
//! because "nothing is recorded here" would be untrue of what was not read yet.

use std::time::Duration;

use serde_json::Value;
use tower_lsp::gen_lsp_types as lsp;

use super::convert;
use super::diagnostics::{QUIET, quiet_after};
use super::dispatch::RequestRefusal;
use super::features::hover;
use super::ordered::{LoopEvent, Ordered, PendingRequest};
use super::requests::Ticket;

/// How long a question waits. Clients that block while they wait (Emacs, for a definition) give up after ten seconds.
pub(super) const READING_LIMIT: Duration = Duration::from_secs(8);

/// A request that waits for the first reading of what governs its document.
pub(super) struct HeldRequest {
    request: PendingRequest,
    /// The document that it is about; `None`: it is about all workspaces.
    document: Option<lsp::Uri>,
}

impl Ordered {
    /// Keeps a pull of diagnostics until the typing stops: a client that pulls asks at each key, and takes back what it
    /// asked at the one before. Gives back any other request.
    pub(super) fn hold_until_quiet(&mut self, request: PendingRequest) -> Option<PendingRequest> {
        let pull = request.method == "textDocument/diagnostic";
        let Some(uri) = document_of(&request.params).filter(|_| pull) else { return Some(request) };
        let took = self.world.analysis_took(&uri);
        // What is quickly known is answered at once.
        if quiet_after(took) <= QUIET {
            return Some(request);
        }
        let version = self.world.version_of(&uri);
        self.outside.later(
            quiet_after(took),
            LoopEvent::PullDue { request: Box::new(request), uri, version },
        );
        None
    }

    /// Answers a pull, unless its text is gone.
    pub(super) fn pull_due(
        &mut self,
        request: PendingRequest,
        uri: &lsp::Uri,
        version: Option<i32>,
    ) {
        if self.world.version_of(uri) == version {
            self.start(request);
        } else {
            self.reply(request.ticket, Err(RequestRefusal::Overtaken.into()));
        }
    }

    /// Keeps a request until what it asks about is read; gives back one that need not wait.
    pub(super) fn hold(&mut self, request: PendingRequest) -> Option<PendingRequest> {
        let document = document_of(&request.params);
        let waits = match &document {
            Some(uri) => self.world.is_reading_for(uri),
            None => request.method == "workspace/symbol" && self.world.is_reading(),
        };
        if !waits {
            return Some(request);
        }
        self.outside.later(self.reading_limit, LoopEvent::WaitedEnough(request.ticket));
        self.held.push(HeldRequest { request, document });
        None
    }

    /// Answers what waited for something that is read now.
    pub(super) fn answer_held(&mut self) {
        let world = &self.world;
        let (waiting, ready) = std::mem::take(&mut self.held).into_iter().partition(|held| {
            held.document
                .as_ref()
                .map_or_else(|| world.is_reading(), |uri| world.is_reading_for(uri))
        });
        self.held = waiting;
        let ready: Vec<HeldRequest> = ready;
        for HeldRequest { mut request, .. } in ready {
            // The text stays that of the request's arrival: its positions are in it.
            request.snapshot = self.world.snapshot_of_now(request.snapshot);
            self.start(request);
        }
    }

    /// Answers a request that has waited for too long, with the truth.
    pub(super) fn waited_enough(&mut self, ticket: Ticket) {
        let Some(at) = self.held.iter().position(|held| held.request.ticket == ticket) else {
            return;
        };
        let method = self.held.swap_remove(at).request.method;
        let said = match method.as_str() {
            "textDocument/hover" => serde_json::to_value(hover::still_reading())
                .map_err(|error| super::dispatch::fault(&method, &error.to_string())),
            _ => Err(RequestRefusal::StillReading),
        };
        self.reply(ticket, said.map_err(Into::into));
    }
}

fn document_of(params: &Value) -> Option<lsp::Uri> {
    let uri: lsp::Uri = params.pointer("/textDocument/uri")?.as_str()?.parse().ok()?;
    convert::path_of(&uri).map(|_| uri)
}
