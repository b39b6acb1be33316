//! The server's one loop. It handles one message at a time, in the order of arrival.
//!
//! Only the loop changes the state and takes snapshots of it, so a request sees exactly the edits
//! that were sent before it. Nothing in the loop waits: slow work runs on a lane or in a task, and
//! its result comes back as a [`LoopEvent`].

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;
use tower_lsp::gen_lsp_types as lsp;
use tower_lsp::jsonrpc::{self, Error, ErrorCode, Id};

use super::client::Client;
use super::diagnostics_schedule::{Generation, Schedule};
use super::dispatch::{
    Answer, ClientConversation, Handler, MethodTable, RequestRefusal, fault, panic_text,
};
use super::message::Message;
use super::pool::Pool;
use super::questions::{Look, Questions};
use super::requests::{Cancel, Requests, Ticket};
use super::snapshot::Snapshot;
use super::transport::{IncomingMessage, Outbox};
use super::waiting_requests::HeldRequest;
use super::world::{WorkspaceLocation, World};
use super::{ServerParts, convert, effects::Outlets, initialize};
use crate::verbs::Workspace;

/// A turn of the loop that takes longer is logged, because everything else waits for it.
const SLOW_TURN: Duration = Duration::from_millis(100);

/// The result of work that ran outside of the loop, or a signal that something has to be done now.
pub(crate) enum LoopEvent {
    /// The handler of a request returned.
    Answered { ticket: Ticket, asked_of: Option<(lsp::Uri, i32)>, result: Answer<Value> },
    /// The root that governs a folder was looked up.
    PlaceFound { folder: PathBuf, place: Option<WorkspaceLocation> },
    /// A workspace was loaded, or could not be.
    Loaded { root: PathBuf, workspace: Box<Result<Workspace, String>> },
    /// A pull of diagnostics waited for the typing to stop.
    PullDue { request: Box<PendingRequest>, uri: lsp::Uri, version: Option<i32> },
    /// A held request has waited as long as it may.
    WaitedEnough(Ticket),
    /// The client sent its settings.
    Configured(Value),
    /// These files changed on disk.
    FilesChanged(Vec<PathBuf>),
    /// The pause for collecting changed files is over.
    FilesSettled,
    /// The client watches files from now on.
    Watching,
    /// The pause before a document's diagnostics is over.
    DiagnosisDue { uri: lsp::Uri, generation: Generation },
    /// The diagnostics of a document were computed.
    Diagnosed {
        uri: lsp::Uri,
        generation: Generation,
        version: i32,
        diagnostics: Vec<lsp::Diagnostic>,
    },
    /// The diagnostics of a workspace's unopened files were computed.
    DiagnosedUnopened {
        root: PathBuf,
        generation: Generation,
        found: Vec<(lsp::Uri, Vec<lsp::Diagnostic>)>,
    },
    /// The status of a workspace was computed.
    StatusFound { root: PathBuf, status: Option<Value> },
    /// It is time to look for questions of agents.
    LookForQuestions,
    /// The person wants to see the questions of a workspace's agents again.
    ReviewQuestions(PathBuf),
    /// The questions of agents were read in every workspace.
    QuestionsFound(Vec<Look>),
    /// The process that started this server is gone.
    ClientGone,
}

/// A request that was not started yet, with the snapshot of its arrival.
pub(super) struct PendingRequest {
    pub(super) ticket: Ticket,
    pub(super) method: String,
    pub(super) params: Value,
    /// The document and the version to which the answer applies. `None` if the client would not
    /// send the request again after a `ContentModified` error.
    asked_of: Option<(lsp::Uri, i32)>,
    pub(super) snapshot: Snapshot,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

enum Next {
    Turn,
    End,
}

/// The loop with the state that it owns.
pub(crate) struct Ordered {
    phase: Phase,
    exit_seen: bool,
    table: Arc<MethodTable>,
    agent: fn() -> Option<String>,
    outbox: Outbox,
    requests: Requests,
    pub(super) world: World,
    pub(super) schedule: Schedule,
    pub(super) changed_files: Vec<PathBuf>,
    /// The last status that was sent to the client, by root.
    pub(super) statuses: HashMap<PathBuf, Value>,
    pub(super) questions: Questions,
    /// Requests that wait until the workspace of their document is read.
    pub(super) held: Vec<HeldRequest>,
    pub(super) reading_limit: Duration,
    pub(super) outside: Outlets,
}

impl Ordered {
    /// Returns a server that waits for `initialize`. Must be called inside a tokio runtime.
    pub(crate) fn new(
        parts: ServerParts,
        pool: Pool,
        outbox: Outbox,
        events: mpsc::UnboundedSender<LoopEvent>,
    ) -> Self {
        let outside = Outlets::new(&parts, Client::new(outbox.clone()), pool, events);
        Self {
            phase: Phase::New,
            exit_seen: false,
            table: Arc::new(parts.table),
            agent: parts.agent,
            requests: Requests::new(outbox.clone()),
            world: World::new(parts.diagnose),
            schedule: Schedule::default(),
            changed_files: Vec::new(),
            statuses: HashMap::new(),
            questions: Questions::default(),
            held: Vec::new(),
            reading_limit: parts.reading_limit,
            outside,
            outbox,
        }
    }

    /// Runs until the client sends `exit`, closes the stream or is gone. Returns true after an
    /// orderly shutdown.
    pub(crate) async fn run(
        mut self,
        mut incoming: mpsc::Receiver<IncomingMessage>,
        mut events: mpsc::UnboundedReceiver<LoopEvent>,
    ) -> bool {
        loop {
            let next = tokio::select! {
                // Events are handled first, because they carry the answers that somebody waits for.
                // There are never more events than there was work, so they do not starve the
                // messages.
                biased;
                Some(event) = events.recv() => self.timed("event", |it| it.event(event)),
                message = incoming.recv() => match message {
                    Some(message) => self.timed("message", |it| it.incoming(message)),
                    None => Next::End,
                },
            };
            if let Next::End = next {
                return self.exit_seen && self.phase == Phase::ShutDown;
            }
        }
    }

    fn timed(&mut self, what: &str, turn: impl FnOnce(&mut Self) -> Next) -> Next {
        let started = Instant::now();
        let next = turn(self);
        let took = started.elapsed();
        if took > SLOW_TURN {
            tracing::warn!(what, ?took, "slow loop turn");
        }
        next
    }

    fn incoming(&mut self, incoming: IncomingMessage) -> Next {
        match incoming {
            Err(rejected) => {
                if let Some(reply) = rejected.reply() {
                    self.outbox.send(&reply);
                }
            }
            Ok(Message::Answer { id, result }) => self.outside.client.deliver(&id, result),
            Ok(Message::Notification { method, params }) => {
                return self.notification(&method, params);
            }
            Ok(Message::Request { id, method, params }) => self.request(id, &method, params),
        }
        Next::Turn
    }

    fn notification(&mut self, method: &str, params: Value) -> Next {
        match method {
            "exit" => {
                self.exit_seen = true;
                return Next::End;
            }
            "$/cancelRequest" => {
                let id = params.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
                if let Some(id) = id {
                    self.requests.cancel(&id);
                }
                return Next::Turn;
            }
            _ if self.phase != Phase::Running => return Next::Turn,
            _ => {}
        }
        let table = Arc::clone(&self.table);
        let Some(mutation) = table.notification(method) else {
            tracing::debug!(method, "a notification that is not for us");
            return Next::Turn;
        };
        let uri = convert::document_address(&params).map(str::to_owned);
        match catch_unwind(AssertUnwindSafe(|| mutation(&mut self.world, params))) {
            Ok(Ok(effects)) => self.perform(effects),
            Ok(Err(error)) => tracing::warn!(%error, "a notification is ignored"),
            Err(panic) => {
                // After the panic the stored text may be wrong, so nothing more is answered about
                // the document.
                let reason = fault(method, &panic_text(panic.as_ref())).to_string();
                let effects = self.world.distrust(&uri.unwrap_or_default(), reason);
                self.perform(effects);
            }
        }
        Next::Turn
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
                self.reply(ticket, Ok(Value::Null));
            }
            (Phase::Running, _) => self.handle(ticket, cancel, method, params),
        }
    }

    pub(super) fn reply(&mut self, ticket: Ticket, result: jsonrpc::Result<Value>) {
        let Some((method, took)) = self.requests.finish(ticket, result) else { return };
        if self.world.now.settings.trace {
            let message = format!("{method} was answered after {took:?}");
            let params = lsp::LogTraceParams { message, verbose: None };
            self.outside.client.notify::<lsp::LogTraceNotification>(&params);
        }
    }

    fn refuse(&mut self, ticket: Ticket, code: ErrorCode, reason: &'static str) {
        let error = Error { code, message: reason.into(), data: None };
        self.reply(ticket, Err(error));
    }

    fn initialize(&mut self, ticket: Ticket, params: Value) {
        let params = match initialize::parse(params) {
            Ok(params) => params,
            Err(refusal) => return self.reply(ticket, Err(refusal.into())),
        };
        let mut effects = self.world.initialize(&params);
        effects.extend(self.world.disable_dialogs_if((self.agent)()));
        let result = initialize::result(&self.world);
        let result = serde_json::to_value(result).map_err(|_| Error::internal_error());
        self.phase = Phase::Running;
        self.reply(ticket, result);
        self.perform(effects);
        if let Some(process) = params.process_id {
            self.outside.end_with(process);
        }
    }

    fn handle(&mut self, ticket: Ticket, cancel: Cancel, method: &str, params: Value) {
        if self.table.request(method).is_none() {
            let message = format!("this server has no method {method}").into();
            let error = Error { code: ErrorCode::MethodNotFound, message, data: None };
            return self.reply(ticket, Err(error));
        }
        let asked_of = self.retried_document(method, &params);
        let snapshot = Snapshot { cancel, ..self.world.now.clone() };
        let request =
            PendingRequest { ticket, method: method.to_owned(), params, asked_of, snapshot };
        let request = self.hold(request).and_then(|request| self.hold_until_quiet(request));
        if let Some(request) = request {
            self.start(request);
        }
    }

    /// Runs the handler of a request.
    pub(super) fn start(&mut self, request: PendingRequest) {
        let PendingRequest { ticket, method, params, asked_of, snapshot } = request;
        let Some(handler) = self.table.request(&method) else { return };
        let events = self.outside.events.clone();
        // The loop ends before its lanes and tasks do. Then nobody waits for the answer.
        let answer =
            move |result| drop(events.send(LoopEvent::Answered { ticket, asked_of, result }));
        match handler {
            Handler::Background(lane, run) => {
                let run = Arc::clone(run);
                self.outside.pool.run(*lane, move || {
                    // The request may have been cancelled while it waited for a thread.
                    answer(snapshot.check_cancelled().and_then(|()| run(&snapshot, params)));
                });
            }
            Handler::ClientConversation(start) => {
                let outside = &self.outside;
                let conversation = ClientConversation {
                    snapshot,
                    client: outside.client.clone(),
                    pool: outside.pool.clone(),
                    events: outside.events.clone(),
                };
                let task = tokio::spawn(start(conversation, params));
                self.requests.runs_as(ticket, task.abort_handle());
                tokio::spawn(async move {
                    answer(task.await.unwrap_or_else(|error| Err(task_failure(&method, error))));
                });
            }
        }
    }

    /// Returns the document whose change invalidates the answer, with its version. `None` for
    /// methods that the client does not repeat after a `ContentModified` error.
    fn retried_document(&self, method: &str, params: &Value) -> Option<(lsp::Uri, i32)> {
        if !self.world.now.client.retried.iter().any(|retried| retried == method) {
            return None;
        }
        let uri: lsp::Uri = convert::document_address(params)?.parse().ok()?;
        let version = self.world.now.version_of(&uri)?;
        Some((uri, version))
    }

    fn event(&mut self, event: LoopEvent) -> Next {
        match event {
            LoopEvent::Answered { ticket, asked_of, result } => {
                let result = self.unless_outdated(asked_of, result);
                self.reply(ticket, result.map_err(Into::into));
            }
            LoopEvent::PlaceFound { folder, place } => {
                let effects = self.world.place_found(folder, place);
                self.perform(effects);
                self.answer_held();
            }
            LoopEvent::Loaded { root, workspace } => {
                let effects = self.world.loaded(root, *workspace);
                self.perform(effects);
                self.answer_held();
            }
            LoopEvent::PullDue { request, uri, version } => self.pull_due(*request, &uri, version),
            LoopEvent::WaitedEnough(ticket) => self.waited_enough(ticket),
            LoopEvent::Configured(configuration) => {
                let effects = self.world.configured(&configuration);
                self.perform(effects);
            }
            LoopEvent::FilesChanged(paths) => self.files_changed(paths),
            LoopEvent::Watching => {
                let effects = self.world.reload_all();
                self.perform(effects);
            }
            LoopEvent::FilesSettled => {
                let paths = std::mem::take(&mut self.changed_files);
                let effects = self.world.files_settled(&paths);
                self.perform(effects);
            }
            LoopEvent::DiagnosisDue { uri, generation } => self.diagnose(uri, generation),
            LoopEvent::Diagnosed { uri, generation, version, diagnostics } => {
                self.publish(uri, generation, version, diagnostics);
            }
            LoopEvent::DiagnosedUnopened { root, generation, found } => {
                self.publish_unopened(root, generation, found);
            }
            LoopEvent::StatusFound { root, status } => self.tell_status(root, status),
            // After the shutdown no person is asked.
            LoopEvent::LookForQuestions | LoopEvent::QuestionsFound(_)
                if self.phase != Phase::Running => {}
            LoopEvent::LookForQuestions => self.look_for_questions(),
            LoopEvent::ReviewQuestions(root) => self.questions.put_again(&root),
            LoopEvent::QuestionsFound(looks) => self.questions_found(looks),
            LoopEvent::ClientGone => return Next::End,
        }
        Next::Turn
    }

    fn unless_outdated(
        &self,
        asked_of: Option<(lsp::Uri, i32)>,
        result: Answer<Value>,
    ) -> Answer<Value> {
        match asked_of {
            Some((uri, version)) if self.world.now.version_of(&uri) != Some(version) => {
                Err(RequestRefusal::ContentModified)
            }
            _ => result,
        }
    }
}

fn task_failure(method: &str, error: tokio::task::JoinError) -> RequestRefusal {
    match error.try_into_panic() {
        Ok(panic) => fault(method, &panic_text(panic.as_ref())),
        Err(_) => RequestRefusal::Cancelled,
    }
}
