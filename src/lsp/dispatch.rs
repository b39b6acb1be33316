//! What the server can do, in one table: method, typed parameters, handler, and the lane it runs in.
//!
//! The lane is in the name of the function that adds a row:
//!
//! - `on_sync_mut`: a notification that changes the state. Runs on the loop, in the order of arrival; must not wait,
//!   and returns what else has to happen as [`SideEffect`]s.
//! - `on_latency_sensitive`: a request somebody waits for. Runs on a thread of its lane, on a [`Snapshot`].
//! - `on_worker`: the same for what may take its time.
//! - `on_conversation`: a request that has to ask the client or change files on the way. An async function of its own task.
//!
//! Not in the table, because the loop itself answers them: `initialize`, `shutdown`, `exit`, `$/cancelRequest`.

use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::Pin;

use serde_json::{Value, json};
use tower_lsp::gen_lsp_types as lsp;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use super::client::Client;
use super::features;
use super::ordered::LoopEvent;
use super::pool::{Lane, Pool};
use super::snapshot::Snapshot;
use super::world::{SideEffect, World};

/// The table of this server.
pub(crate) fn table() -> MethodTable {
    MethodTable::default()
        .on_sync_mut::<lsp::InitializedNotification>(World::initialized)
        .on_sync_mut::<lsp::DidOpenTextDocumentNotification>(World::did_open)
        .on_sync_mut_raw("textDocument/didChange", World::did_change)
        .on_sync_mut::<lsp::DidCloseTextDocumentNotification>(World::did_close)
        .on_sync_mut::<lsp::DidSaveTextDocumentNotification>(World::did_save)
        .on_sync_mut::<lsp::DidChangeWatchedFilesNotification>(World::did_change_watched_files)
        .on_sync_mut::<lsp::DidChangeConfigurationNotification>(World::did_change_configuration)
        .on_sync_mut::<lsp::DidChangeWorkspaceFoldersNotification>(
            World::did_change_workspace_folders,
        )
        .on_sync_mut::<lsp::SetTraceNotification>(World::set_trace)
        .on_latency_sensitive::<lsp::HoverRequest>(features::hover::handle)
        .on_latency_sensitive::<lsp::CodeLensRequest>(features::code_lens::handle)
        .on_latency_sensitive::<lsp::CodeLensResolveRequest>(features::code_lens::resolve)
        .on_latency_sensitive::<lsp::InlayHintRequest>(features::inlay_hints::handle)
        .on_latency_sensitive::<lsp::DefinitionRequest>(features::definition::handle)
        .on_latency_sensitive::<lsp::DocumentLinkRequest>(features::document_link::handle)
        .on_latency_sensitive::<lsp::DocumentSymbolRequest>(features::document_symbols::handle)
        .on_latency_sensitive::<lsp::PrepareRenameRequest>(features::rename::prepare)
        .on_worker::<lsp::RenameRequest>(features::rename::handle)
        .on_worker::<lsp::ReferencesRequest>(features::references::handle)
        .on_worker::<lsp::WorkspaceSymbolRequest>(features::workspace_symbols::handle)
        .on_worker::<lsp::DocumentDiagnosticRequest>(features::diagnostics::handle)
        .on_latency_sensitive::<lsp::CompletionRequest>(features::completion::handle)
        .on_latency_sensitive::<lsp::CodeActionRequest>(features::code_actions::handle)
        .on_latency_sensitive::<lsp::CodeActionResolveRequest>(features::code_actions::resolve)
        .on_conversation::<lsp::ExecuteCommandRequest, _>(features::execute_command::handle)
}

/// ServerCancelled of the protocol: the client may ask again.
const SERVER_CANCELLED: i64 = -32802;

/// Why a request is answered with an error.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestRefusal {
    /// The parameters are not those of the method.
    #[error("the parameters of {method} cannot be read: {reason}")]
    Params { method: String, reason: String },
    /// The parameters have the right shape but make no sense; the text says which and why.
    #[error("{0}")]
    Senseless(String),
    /// The request is sound but could not be done; the text says why and what to do next.
    #[error("{0}")]
    Failed(String),
    /// The client cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// The document changed under a request whose answer points into it.
    #[error("the document changed meanwhile")]
    ContentModified,
    /// Nothing is known yet of the workspace that it is about.
    #[error("the intents and the ledger are still being read; ask again in a moment")]
    StillReading,
    /// A newer edit came before its turn; the client asks again.
    #[error("a newer edit came first")]
    Overtaken,
    /// A fault of ours.
    #[error("{method} failed inside the server: {reason}; please report it with the log")]
    Fault { method: String, reason: String },
}

impl From<RequestRefusal> for Error {
    fn from(refusal: RequestRefusal) -> Self {
        let code = match &refusal {
            RequestRefusal::Params { .. } | RequestRefusal::Senseless(_) => {
                ErrorCode::InvalidParams
            }
            // RequestFailed of the protocol: sound, but could not be done.
            RequestRefusal::Failed(_) => ErrorCode::ServerError(-32803),
            RequestRefusal::Cancelled => ErrorCode::RequestCancelled,
            RequestRefusal::ContentModified => ErrorCode::ContentModified,
            RequestRefusal::StillReading | RequestRefusal::Overtaken => {
                ErrorCode::ServerError(SERVER_CANCELLED)
            }
            RequestRefusal::Fault { .. } => ErrorCode::InternalError,
        };
        // Clients that pull diagnostics ask again by themselves when told so.
        let data = matches!(refusal, RequestRefusal::StillReading | RequestRefusal::Overtaken)
            .then(|| json!({ "retriggerRequest": true }));
        Error { code, message: refusal.to_string().into(), data }
    }
}

/// What a request's handler may use when it has to talk to the client.
#[derive(Clone)]
pub(crate) struct ClientConversation {
    /// The state when the request arrived.
    pub(crate) snapshot: Snapshot,
    /// The other side.
    pub(crate) client: Client,
    pub(super) pool: Pool,
    pub(super) events: tokio::sync::mpsc::UnboundedSender<LoopEvent>,
}

impl ClientConversation {
    /// Computes on a thread of the lane: a conversation itself must not keep its thread busy.
    pub(crate) async fn compute_on<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RequestRefusal> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.pool.run(lane, move || drop(sender.send(work())));
        receiver.await.map_err(|_| RequestRefusal::Fault {
            method: "a command".into(),
            reason: "its computation panicked".into(),
        })
    }

    /// Says that this request wrote these files, so that what is known is read again at once.
    pub(crate) fn wrote(&self, paths: Vec<PathBuf>) {
        // The loop ends before its tasks do; then nobody needs to know.
        drop(self.events.send(LoopEvent::FilesChanged(paths)));
    }

    /// Lets what agents ask of the person be put to them again, also what they closed.
    pub(crate) fn review(&self, root: PathBuf) {
        drop(self.events.send(LoopEvent::ReviewQuestions(root)));
    }
}

type Outcome = Result<Value, RequestRefusal>;
type Background = Box<dyn Fn(&Snapshot, Value) -> Outcome + Send + Sync>;
type Talking = Box<
    dyn Fn(ClientConversation, Value) -> Pin<Box<dyn Future<Output = Outcome> + Send>>
        + Send
        + Sync,
>;
type Mutation =
    Box<dyn Fn(&mut World, Value) -> Result<Vec<SideEffect>, RequestRefusal> + Send + Sync>;

/// How a request is answered.
pub(crate) enum Handler {
    /// By a function of a snapshot, on a thread of the lane.
    Background(Lane, Background),
    /// By a task that may ask the client.
    ClientConversation(Talking),
}

/// Methods and their handlers. Tests add their own rows.
#[derive(Default)]
pub(crate) struct MethodTable {
    requests: HashMap<&'static str, Handler>,
    notifications: HashMap<&'static str, Mutation>,
}

impl MethodTable {
    /// The handler of a request.
    pub(crate) fn request(&self, method: &str) -> Option<&Handler> {
        self.requests.get(method)
    }

    /// The handler of a notification.
    pub(crate) fn notification(&self, method: &str) -> Option<&Mutation> {
        self.notifications.get(method)
    }

    fn on_sync_mut<N: lsp::Notification>(
        self,
        handler: fn(&mut World, N::Params) -> Vec<SideEffect>,
    ) -> Self {
        let method = N::METHOD.as_str();
        self.mutation(method, move |world, params| Ok(handler(world, parse(method, params)?)))
    }

    /// For a notification whose parameters the handler reads by itself, because it has to act on unreadable ones too.
    fn on_sync_mut_raw(
        self,
        method: &'static str,
        handler: fn(&mut World, Value) -> Vec<SideEffect>,
    ) -> Self {
        self.mutation(method, move |world, params| Ok(handler(world, params)))
    }

    fn mutation(
        mut self,
        method: &'static str,
        mutation: impl Fn(&mut World, Value) -> Result<Vec<SideEffect>, RequestRefusal>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.notifications.insert(method, Box::new(mutation));
        self
    }

    /// Adds a request somebody waits for.
    pub(crate) fn on_latency_sensitive<R: lsp::Request>(
        self,
        handler: impl Fn(&Snapshot, R::Params) -> Result<R::Result, RequestRefusal>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.background::<R>(Lane::LatencySensitive, handler)
    }

    /// Adds a request that may take its time.
    pub(crate) fn on_worker<R: lsp::Request>(
        self,
        handler: impl Fn(&Snapshot, R::Params) -> Result<R::Result, RequestRefusal>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.background::<R>(Lane::Worker, handler)
    }

    fn background<R: lsp::Request>(
        mut self,
        lane: Lane,
        handler: impl Fn(&Snapshot, R::Params) -> Result<R::Result, RequestRefusal>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let method = R::METHOD.as_str();
        let run: Background = Box::new(move |snapshot, params| {
            let params = parse(method, params)?;
            let answer = catch_unwind(AssertUnwindSafe(|| handler(snapshot, params)))
                .map_err(|panic| fault(method, &panic_text(panic.as_ref())))??;
            print(method, answer)
        });
        self.requests.insert(method, Handler::Background(lane, run));
        self
    }

    /// Adds a request that asks the client, or changes files, on the way.
    pub(crate) fn on_conversation<R: lsp::Request, F>(
        mut self,
        handler: impl Fn(ClientConversation, R::Params) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R::Result, RequestRefusal>> + Send + 'static,
    {
        let method = R::METHOD.as_str();
        let run: Talking = Box::new(move |conversation, params| {
            let answer = parse(method, params).map(|params| handler(conversation, params));
            Box::pin(async move { print(method, answer?.await?) })
        });
        self.requests.insert(method, Handler::ClientConversation(run));
        self
    }
}

fn parse<P: serde::de::DeserializeOwned>(method: &str, params: Value) -> Result<P, RequestRefusal> {
    serde_json::from_value(params).map_err(|error| RequestRefusal::Params {
        method: method.to_owned(),
        reason: error.to_string(),
    })
}

fn print(method: &str, answer: impl serde::Serialize) -> Outcome {
    serde_json::to_value(answer).map_err(|error| fault(method, &error.to_string()))
}

/// A fault of ours in `method`.
pub(crate) fn fault(method: &str, reason: &str) -> RequestRefusal {
    RequestRefusal::Fault { method: method.to_owned(), reason: reason.to_owned() }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
