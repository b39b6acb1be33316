//! Requests that arrive before their workspace is read.
//!
//! They wait while [`super::effects`] shows progress, because "nothing is recorded here" would be
//! false for a workspace that was not read yet.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tower_lsp::lsp_types as lsp;

use super::convert;
use super::diagnostics_schedule::{QUIET, quiet_after};
use super::features::hover;
use super::ordered::Ordered;
use super::pending_request::PendingRequest;
use super::refusal::{RequestRefusal, to_json};
use super::requests::Ticket;
use super::snapshot::Snapshot;
use super::workspace_pulls;
use super::world::World;
use ground::{Environment, Root};
use intents::Registry;

/// How long a request waits. Clients that block while they wait (Emacs, for a definition) give up
/// after ten seconds.
pub(super) const READING_LIMIT: Duration = Duration::from_secs(8);

const OF_ALL_WORKSPACES: [&str; 2] = ["workspace/symbol", workspace_pulls::METHOD];

impl Ordered {
    /// Delays a request for diagnostics until the typing stops, because a client that pulls sends a
    /// new request at each key and cancels the one before. Returns every other request, and one
    /// whose document is quick to analyse.
    pub(super) fn hold_until_quiet(&mut self, request: PendingRequest) -> Option<PendingRequest> {
        let pull = request.method == "textDocument/diagnostic";
        let Some(uri) = document_of(&self.world, &request.params).filter(|_| pull) else {
            return Some(request);
        };
        let took = self.world.snapshot.analyses.took(&uri);
        // A short analysis is not worth a delay.
        if quiet_after(took) <= QUIET {
            return Some(request);
        }
        let version = self.world.snapshot.version_of(&uri);
        self.outside.later(quiet_after(took), move |it| {
            if it.world.snapshot.version_of(&uri) == version {
                it.start(request);
            } else {
                it.reply(request.ticket, Err(RequestRefusal::Overtaken.into()));
            }
        });
        None
    }

    pub(super) fn hold(&mut self, request: PendingRequest) -> Option<PendingRequest> {
        if !is_too_early(&self.world, &request) {
            return Some(request);
        }
        let ticket = request.ticket;
        // A client that pulls waits anyway, and gives up after a few errors.
        if request.method != workspace_pulls::METHOD {
            self.outside.later(self.reading_limit, move |it| it.waited_enough(ticket));
        }
        self.held.push(request);
        None
    }

    pub(super) fn answer_held(&mut self) {
        let world = &self.world;
        let is_ready = |held: &mut PendingRequest| !is_too_early(world, held);
        let ready: Vec<PendingRequest> = self.held.extract_if(.., is_ready).collect();
        for mut request in ready {
            // The documents stay those of the request's arrival, because its positions refer to
            // them.
            let Snapshot { documents, cells, cancel, .. } = request.snapshot;
            request.snapshot = Snapshot { documents, cells, cancel, ..self.world.snapshot.clone() };
            self.start(request);
        }
    }

    fn waited_enough(&mut self, ticket: Ticket) {
        let Some(at) = self.held.iter().position(|held| held.ticket == ticket) else { return };
        let request = self.held.swap_remove(at);
        if request.method != "textDocument/hover" {
            return self.reply(ticket, Err(RequestRefusal::StillReading.into()));
        }
        let document = document_of(&self.world, &request.params);
        let root = document.and_then(|uri| self.world.root_being_read(&uri));
        self.outside.work(move || {
            let intents = root.and_then(|root| intents_on_disk(&root));
            let reply = to_json(&request.method, hover::still_reading(intents));
            move |it: &mut Self| it.reply(ticket, reply.map_err(Into::into))
        });
    }
}

/// Returns true if the workspace that a request is about is being read.
fn is_too_early(world: &World, request: &PendingRequest) -> bool {
    match document_of(world, &request.params) {
        Some(uri) => world.is_reading_for(&uri),
        None => OF_ALL_WORKSPACES.contains(&request.method.as_str()) && world.is_reading(),
    }
}

fn document_of(world: &World, params: &Value) -> Option<lsp::Url> {
    let is_file = |uri: &lsp::Url| convert::path_of(world.snapshot.file_address(uri)).is_some();
    convert::document_address(params).filter(is_file)
}

fn intents_on_disk(root: &Path) -> Option<usize> {
    let root = Root::find(root, &Environment::of_process()).ok()?;
    Some(Registry::load(&root).intents().len())
}
