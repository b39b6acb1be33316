//! The requests that are not answered yet. Each gets exactly one reply, which is sent only from
//! here.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::AbortHandle;
use tower_lsp::jsonrpc::{Error, Id, Response, Result};

use super::transport::Outbox;

#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Identifies one request of this session. The client may use its ids again; a ticket is never used
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

struct OpenRequest {
    id: Id,
    method: String,
    started: Instant,
    cancel: Cancel,
    task: Option<AbortHandle>,
}

pub(crate) struct Requests {
    outbox: Outbox,
    /// Only a few are open at any time, so searching all of them for an id is cheap.
    open: HashMap<Ticket, OpenRequest>,
    next: u64,
}

impl Requests {
    pub(crate) fn new(outbox: Outbox) -> Self {
        Self { outbox, open: HashMap::new(), next: 0 }
    }

    /// Opens a request. If a request with the same id is still open, the new one is answered with
    /// an error and `None` is returned.
    pub(crate) fn begin(&mut self, id: Id, method: &str) -> Option<(Ticket, Cancel)> {
        if self.open.values().any(|open| open.id == id) {
            let mut error = Error::invalid_request();
            error.message =
                format!("the id {id} is in use by a request that is not answered yet").into();
            self.outbox.send(&Response::from_error(id, error));
            return None;
        }
        let ticket = Ticket(self.next);
        self.next += 1;
        let cancel = Cancel::default();
        let (method, started) = (method.to_owned(), Instant::now());
        let open = OpenRequest { id, method, started, cancel: cancel.clone(), task: None };
        self.open.insert(ticket, open);
        Some((ticket, cancel))
    }

    pub(crate) fn runs_as(&mut self, ticket: Ticket, task: AbortHandle) {
        if let Some(open) = self.open.get_mut(&ticket) {
            open.task = Some(task);
        }
    }

    /// Sends the reply, unless the request was cancelled before. Returns the request's method and
    /// its duration if a reply was sent.
    pub(crate) fn finish(
        &mut self,
        ticket: Ticket,
        result: Result<Value>,
    ) -> Option<(String, Duration)> {
        let open = self.open.remove(&ticket)?;
        let took = open.started.elapsed();
        tracing::debug!(method = open.method, ?took, ok = result.is_ok(), "answered");
        self.outbox.send(&Response::from_parts(open.id, result));
        Some((open.method, took))
    }

    /// Answers a request with "cancelled" at once. A later result is dropped, and an id that is not
    /// open is ignored.
    pub(crate) fn cancel(&mut self, id: &Id) {
        let Some((&ticket, open)) = self.open.iter().find(|(_, open)| open.id == *id) else {
            return;
        };
        open.cancel.set();
        if let Some(task) = &open.task {
            task.abort();
        }
        self.finish(ticket, Err(Error::request_cancelled()));
    }
}
