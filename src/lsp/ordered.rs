//! The server's one loop. It handles one message at a time, in the order of arrival.
//!
//! Only the loop changes the state and takes snapshots of it, so a request sees exactly the edits
//! that were sent before it. Nothing in the loop waits: slow work runs on a lane or in a task, and
//! its result comes back through a [`LoopHandle`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;
use tower_lsp::jsonrpc::{self, Error, ErrorCode, Id};
use tower_lsp::lsp_types as lsp;
use tower_lsp::lsp_types::notification::{DidChangeTextDocument, Notification as _};

use super::client::Client;
use super::diagnostics_schedule::Schedule;
use super::message::Message;
use super::method_table::MethodTable;
use super::outlets::{ClientConversation, Outlets};
use super::pending_request::PendingRequest;
use super::pool::{Pool, start_task};
use super::questions::Questions;
use super::refusal::{RequestRefusal, RequestResult, fault, panic_text, task_failure};
use super::requests::{Cancel, Requests, Ticket};
use super::snapshot::Snapshot;
use super::transport::{IncomingMessage, Outbox};
use super::workspace_pulls::{self, WorkspacePulls};
use super::world::World;
use super::{ServerParts, convert};
use ground::Hint;

/// A turn of the loop that takes longer is logged, because everything else waits for it.
const SLOW_TURN: Duration = Duration::from_millis(100);

/// A function that the loop runs. It stores the result of work on another thread, or does what was
/// due at a time.
type LoopEvent = Box<dyn FnOnce(&mut Ordered) + Send>;

pub(crate) type LoopEvents = mpsc::UnboundedReceiver<LoopEvent>;

#[derive(Clone)]
pub(crate) struct LoopHandle(mpsc::UnboundedSender<LoopEvent>);

impl LoopHandle {
    pub(crate) fn new() -> (Self, LoopEvents) {
        let (sender, events) = mpsc::unbounded_channel();
        (Self(sender), events)
    }

    pub(crate) fn run(&self, event: impl FnOnce(&mut Ordered) + Send + 'static) {
        // The loop ends before its tasks and threads do. Then nobody waits for the event.
        drop(self.0.send(Box::new(event)));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    New,
    Running,
    ShutDown,
}

pub struct Ordered {
    pub(super) phase: Phase,
    /// True after an orderly shutdown, false if the client is gone. `None` while the loop runs.
    pub(super) ended: Option<bool>,
    pub(super) table: Arc<MethodTable>,
    pub(super) agent: fn() -> Option<String>,
    outbox: Outbox,
    requests: Requests,
    pub(super) world: World,
    pub(super) schedule: Schedule,
    pub(super) pulls: WorkspacePulls,
    pub(super) changed_files: Vec<PathBuf>,
    pub(super) statuses: HashMap<PathBuf, Value>,
    pub(super) questions: Questions,
    /// Requests that wait until the workspace of their document is read for the first time.
    pub(super) held: Vec<PendingRequest>,
    pub(super) reading_limit: Duration,
    pub(super) question_interval: Duration,
    pub(super) outside: Outlets,
}

impl Ordered {
    /// Returns a server that waits for `initialize`. Must be called inside a tokio runtime.
    pub(crate) fn new(parts: ServerParts, pool: Pool, outbox: Outbox, handle: LoopHandle) -> Self {
        let outside = Outlets::new(&parts, Client::new(outbox.clone()), pool, handle);
        Self {
            phase: Phase::New,
            ended: None,
            table: Arc::new(parts.table),
            agent: parts.agent,
            requests: Requests::new(outbox.clone()),
            world: World::new(parts.diagnose, parts.unopened),
            schedule: Schedule::default(),
            pulls: WorkspacePulls::default(),
            changed_files: Vec::new(),
            statuses: HashMap::new(),
            questions: Questions::default(),
            held: Vec::new(),
            reading_limit: parts.reading_limit,
            question_interval: parts.question_interval,
            outside,
            outbox,
        }
    }

    /// Runs until the client sends `exit`, closes the stream or is gone. Returns true after an
    /// orderly shutdown.
    pub(crate) async fn run(
        mut self,
        mut incoming: mpsc::Receiver<IncomingMessage>,
        mut events: LoopEvents,
    ) -> bool {
        loop {
            tokio::select! {
                // Events are handled first, because they carry the answers that somebody waits for.
                // There are never more events than there was work, so they do not starve the
                // messages.
                biased;
                Some(event) = events.recv() => self.timed("event", event),
                message = incoming.recv() => match message {
                    Some(message) => self.timed("message", |it| it.incoming(message)),
                    None => return false,
                },
            }
            if let Some(orderly) = self.ended {
                return orderly;
            }
        }
    }

    fn timed(&mut self, what: &str, turn: impl FnOnce(&mut Self)) {
        let started = Instant::now();
        turn(self);
        let took = started.elapsed();
        if took > SLOW_TURN {
            tracing::warn!(what, ?took, "slow loop turn");
        }
    }

    fn incoming(&mut self, incoming: IncomingMessage) {
        match incoming {
            Err(rejected) => {
                if let Some(reply) = rejected.reply() {
                    self.outbox.send(&reply);
                }
            }
            Ok(Message::Answer { id, result }) => self.outside.client.deliver(&id, result),
            Ok(Message::Notification { method, params }) => self.notification(&method, params),
            Ok(Message::Request { id, method, params }) => self.request(id, &method, params),
        }
    }

    fn notification(&mut self, method: &str, params: Value) {
        match method {
            "exit" => self.ended = Some(self.phase == Phase::ShutDown),
            "$/cancelRequest" => {
                let id = params.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
                if let Some(id) = id {
                    self.requests.cancel(&id);
                }
            }
            _ if self.phase == Phase::Running => self.apply(method, params),
            _ => {}
        }
    }

    fn apply(&mut self, method: &str, params: Value) {
        let table = Arc::clone(&self.table);
        let Some(mutation) = table.notification(method) else {
            tracing::debug!(method, "a notification that is not for us");
            return;
        };
        let uri = convert::document_address(&params);
        match catch_unwind(AssertUnwindSafe(|| mutation(self, params))) {
            Ok(Ok(())) => {}
            // The stored text no longer is the client's.
            Ok(Err(error)) if method == DidChangeTextDocument::METHOD => {
                self.distrust(uri.as_ref(), error.to_string());
            }
            Ok(Err(error)) => tracing::warn!(%error, "a notification is ignored"),
            Err(panic) => {
                // After the panic the stored text may be wrong, so nothing more is answered about
                // the document.
                let reason = fault(method, &panic_text(panic.as_ref())).with_hint();
                self.distrust(uri.as_ref(), reason);
            }
        }
    }

    fn request(&mut self, id: Id, method: &str, params: Value) {
        let Some((ticket, cancel)) = self.requests.begin(id, method) else { return };
        match (self.phase, method) {
            (Phase::New, "initialize") => self.initialize(ticket, params),
            (Phase::New, _) => {
                let reason = "initialize has to come first";
                self.refuse(ticket, ErrorCode::ServerError(-32002), reason);
            }
            (Phase::ShutDown, _) => {
                self.refuse(ticket, ErrorCode::InvalidRequest, "the server is shut down");
            }
            (Phase::Running, "initialize") => {
                self.refuse(ticket, ErrorCode::InvalidRequest, "initialize was sent twice");
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.end_pulls();
                self.reply(ticket, Ok(Value::Null));
            }
            (Phase::Running, _) => self.handle(ticket, cancel, method, params),
        }
    }

    pub(super) fn reply(&mut self, ticket: Ticket, result: jsonrpc::Result<Value>) {
        let Some((method, took)) = self.requests.finish(ticket, result) else { return };
        if self.world.snapshot.settings.trace {
            let message = format!("{method} was answered after {took:?}");
            let params = lsp::LogTraceParams { message, verbose: None };
            self.outside.client.notify::<lsp::notification::LogTrace>(&params);
        }
    }

    fn refuse(&mut self, ticket: Ticket, code: ErrorCode, reason: impl Into<Cow<'static, str>>) {
        let error = Error { code, message: reason.into(), data: None };
        self.reply(ticket, Err(error));
    }

    fn handle(&mut self, ticket: Ticket, cancel: Cancel, method: &str, params: Value) {
        if self.table.request(method).is_none() {
            let reason = format!("this server has no method {method}");
            return self.refuse(ticket, ErrorCode::MethodNotFound, reason);
        }
        let asked_of = self.retried_document(method, &params);
        let snapshot = Snapshot { cancel, ..self.world.snapshot.clone() };
        let request =
            PendingRequest { ticket, method: method.to_owned(), params, asked_of, snapshot };
        let request = self.hold(request).and_then(|request| self.hold_until_quiet(request));
        if let Some(request) = request {
            self.start(request);
        }
    }

    pub(super) fn start(&mut self, mut request: PendingRequest) {
        if request.method == workspace_pulls::METHOD {
            return self.pull_workspaces(request);
        }
        let (ticket, asked_of) = (request.ticket, request.asked_of.take());
        self.run_handler(request, move |it, result| {
            let result = it.unless_outdated(asked_of, result);
            it.reply(ticket, result.map_err(Into::into));
        });
    }

    /// Runs the handler of a request. The loop then does something with its result.
    pub(super) fn run_handler(
        &mut self,
        request: PendingRequest,
        then: impl FnOnce(&mut Self, RequestResult<Value>) + Send + 'static,
    ) {
        let PendingRequest { ticket, method, params, snapshot, .. } = request;
        let Some(start) = self.table.request(&method) else { return };
        let handle = self.outside.handle.clone();
        let conversation = ClientConversation { snapshot, outside: self.outside.clone() };
        let task = tokio::spawn(start(conversation, params));
        self.requests.runs_as(ticket, task.abort_handle());
        start_task(async move {
            let result = task.await.unwrap_or_else(|error| Err(task_failure(&method, error)));
            handle.run(move |it| then(it, result));
        });
    }

    /// Returns the document whose change invalidates the answer, with its version. `None` for
    /// methods that the client does not repeat after a `ContentModified` error.
    fn retried_document(&self, method: &str, params: &Value) -> Option<(lsp::Url, i32)> {
        if !self.world.snapshot.client.retried.iter().any(|retried| retried == method) {
            return None;
        }
        let uri = convert::document_address(params)?;
        let version = self.world.snapshot.version_of(&uri)?;
        Some((uri, version))
    }

    fn unless_outdated(
        &self,
        asked_of: Option<(lsp::Url, i32)>,
        result: RequestResult<Value>,
    ) -> RequestResult<Value> {
        match asked_of {
            Some((uri, version)) if self.world.snapshot.version_of(&uri) != Some(version) => {
                Err(RequestRefusal::ContentModified)
            }
            _ => result,
        }
    }
}
