//! The table of what the server can do. Each row names a method, its typed parameters, its handler
//! and where the handler runs.
//!
//! The name of the function that adds a row says where the handler runs:
//!
//! - `on_sync_mut`: a notification that changes the state. Runs on the loop, in the order of
//!   arrival. It must not wait, and starts slow work outside of the loop.
//! - `on_latency_sensitive`: a request that somebody waits for. Runs on a thread of
//!   [`Lane::LatencySensitive`], on a [`Snapshot`].
//! - `on_worker`: a request that may take longer. Runs on a thread of [`Lane::Worker`], on a
//!   [`Snapshot`].
//! - `on_conversation`: a request that has to ask the client or change files before it answers. An
//!   async function that runs as its own task.
//!
//! `initialize`, `shutdown`, `exit` and `$/cancelRequest` are not in the table, because the loop
//! answers them itself.

use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::gen_lsp_types as lsp;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use super::client::Client;
use super::features;
use super::ordered::{LoopHandle, Ordered};
use super::pool::{Lane, Pool};
use super::snapshot::Snapshot;
use ground::Hint;

/// Returns the table of this server.
pub fn table() -> MethodTable {
    MethodTable::default()
        .on_sync_mut::<lsp::InitializedNotification>(Ordered::initialized)
        .on_sync_mut::<lsp::DidOpenTextDocumentNotification>(Ordered::did_open)
        .on_sync_mut_raw("textDocument/didChange", Ordered::did_change)
        .on_sync_mut::<lsp::DidCloseTextDocumentNotification>(Ordered::did_close)
        .on_sync_mut::<lsp::DidSaveTextDocumentNotification>(Ordered::did_save)
        .on_sync_mut::<lsp::DidChangeWatchedFilesNotification>(Ordered::did_change_watched_files)
        .on_sync_mut::<lsp::DidChangeConfigurationNotification>(Ordered::did_change_configuration)
        .on_sync_mut::<lsp::DidChangeWorkspaceFoldersNotification>(
            Ordered::did_change_workspace_folders,
        )
        .on_sync_mut::<lsp::SetTraceNotification>(Ordered::set_trace)
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

/// The protocol's `ServerCancelled`: the client may send the request again.
const SERVER_CANCELLED: i64 = -32802;

/// The protocol's `RequestFailed`: the request was valid, but it failed.
const REQUEST_FAILED: i64 = -32803;

/// Why a request is answered with an error.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestRefusal {
    /// The parameters do not have the shape that the method requires.
    #[error("the parameters of {method} cannot be read: {reason}")]
    Params { method: String, reason: String },
    /// The parameters have the right shape but make no sense. The text says which and why.
    #[error("{0}")]
    Senseless(String),
    /// The request is valid but failed. The text says why, and what to do next.
    #[error("{0}")]
    Failed(String),
    /// The client cancelled the request.
    #[error("cancelled")]
    Cancelled,
    /// The document changed while the request was handled, so the positions in the answer may be
    /// wrong.
    #[error("the document changed while the request ran")]
    ContentModified,
    /// The workspace of the request is not loaded yet.
    #[error("the intents and the ledger are still being read")]
    StillReading,
    /// A newer edit arrived before the request was handled. The client sends the request again.
    #[error("a newer edit replaced this request")]
    Overtaken,
    /// A fault of the server.
    #[error("{method} failed inside the server: {reason}")]
    Fault { method: String, reason: String },
}

impl RequestRefusal {
    pub fn params(method: &str, error: serde_json::Error) -> Self {
        Self::Params { method: method.to_owned(), reason: error.to_string() }
    }

    /// Returns the refusal of a request that failed with this error.
    pub fn failed(error: impl ToString) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Hint for RequestRefusal {
    fn hint(&self) -> Option<String> {
        match self {
            Self::StillReading => Some("ask again in a moment".to_owned()),
            Self::Fault { .. } => Some("please report it with the log".to_owned()),
            _ => None,
        }
    }
}

impl From<RequestRefusal> for Error {
    fn from(refusal: RequestRefusal) -> Self {
        let code = match &refusal {
            RequestRefusal::Params { .. } | RequestRefusal::Senseless(_) => {
                ErrorCode::InvalidParams
            }
            RequestRefusal::Failed(_) => ErrorCode::ServerError(REQUEST_FAILED),
            RequestRefusal::Cancelled => ErrorCode::RequestCancelled,
            RequestRefusal::ContentModified => ErrorCode::ContentModified,
            RequestRefusal::StillReading | RequestRefusal::Overtaken => {
                ErrorCode::ServerError(SERVER_CANCELLED)
            }
            RequestRefusal::Fault { .. } => ErrorCode::InternalError,
        };
        // With this field, clients that pull diagnostics send the request again by themselves.
        let data = matches!(refusal, RequestRefusal::StillReading | RequestRefusal::Overtaken)
            .then(|| json!({ "retriggerRequest": true }));
        Error { code, message: refusal.with_hint().into(), data }
    }
}

/// The answer of a request, or why there is none.
pub type Answer<T> = Result<T, RequestRefusal>;

/// What the handler of a request needs to talk to the client.
#[derive(Clone)]
pub struct ClientConversation {
    /// The state when the request arrived.
    pub snapshot: Snapshot,
    pub client: Client,
    pub(super) pool: Pool,
    pub(super) handle: LoopHandle,
}

impl ClientConversation {
    /// Runs `work` on a thread of the lane and returns its result. A conversation must not compute
    /// in its own task, because all tasks share two threads.
    pub async fn compute_on<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answer<T> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.pool.run(lane, move || drop(sender.send(work())));
        receiver.await.map_err(|_| fault("a command", "its computation panicked"))
    }

    /// Reports files that this request wrote, so that they are read again at once.
    pub fn wrote(&self, paths: Vec<PathBuf>) {
        self.handle.run(move |it| it.files_changed(paths));
    }

    /// Shows those questions of agents again whose dialogs the person closed without an answer.
    pub fn review(&self, root: PathBuf) {
        self.handle.run(move |it| it.questions.put_again(&root));
    }
}

type Background = Arc<dyn Fn(&Snapshot, Value) -> Answer<Value> + Send + Sync>;
type ConversationHandler = Box<
    dyn Fn(ClientConversation, Value) -> Pin<Box<dyn Future<Output = Answer<Value>> + Send>>
        + Send
        + Sync,
>;
type Mutation = Box<dyn Fn(&mut Ordered, Value) -> Answer<()> + Send + Sync>;

/// How a request is answered.
pub enum Handler {
    /// By a function of a snapshot, on a thread of the lane.
    Background(Lane, Background),
    /// By a task that may ask the client.
    ClientConversation(ConversationHandler),
}

/// The methods and their handlers. Tests add their own rows.
#[derive(Default)]
pub struct MethodTable {
    requests: HashMap<&'static str, Handler>,
    notifications: HashMap<&'static str, Mutation>,
}

impl MethodTable {
    /// Returns the handler of a request.
    pub fn request(&self, method: &str) -> Option<&Handler> {
        self.requests.get(method)
    }

    /// Returns the handler of a notification.
    pub fn notification(&self, method: &str) -> Option<&Mutation> {
        self.notifications.get(method)
    }

    fn on_sync_mut<N: lsp::Notification>(mut self, handler: fn(&mut Ordered, N::Params)) -> Self {
        let method = N::METHOD.as_str();
        let mutation: Mutation =
            Box::new(move |server, params| parse(method, params).map(|it| handler(server, it)));
        self.notifications.insert(method, mutation);
        self
    }

    /// Adds a notification whose handler parses the parameters itself, because it must also act
    /// when they cannot be parsed.
    fn on_sync_mut_raw(mut self, method: &'static str, handler: fn(&mut Ordered, Value)) -> Self {
        let mutation: Mutation = Box::new(move |server, params| {
            handler(server, params);
            Ok(())
        });
        self.notifications.insert(method, mutation);
        self
    }

    /// Adds a request that somebody waits for.
    pub fn on_latency_sensitive<R: lsp::Request>(
        self,
        handler: impl Fn(&Snapshot, R::Params) -> Answer<R::Result> + Send + Sync + 'static,
    ) -> Self {
        self.background::<R>(Lane::LatencySensitive, handler)
    }

    /// Adds a request that may take longer.
    pub fn on_worker<R: lsp::Request>(
        self,
        handler: impl Fn(&Snapshot, R::Params) -> Answer<R::Result> + Send + Sync + 'static,
    ) -> Self {
        self.background::<R>(Lane::Worker, handler)
    }

    fn background<R: lsp::Request>(
        mut self,
        lane: Lane,
        handler: impl Fn(&Snapshot, R::Params) -> Answer<R::Result> + Send + Sync + 'static,
    ) -> Self {
        let method = R::METHOD.as_str();
        let run: Background = Arc::new(move |snapshot, params| {
            let params = parse(method, params)?;
            let answer = catch_unwind(AssertUnwindSafe(|| handler(snapshot, params)))
                .map_err(|panic| fault(method, &panic_text(panic.as_ref())))??;
            to_json(method, answer)
        });
        self.requests.insert(method, Handler::Background(lane, run));
        self
    }

    /// Adds a request that asks the client, or changes files, before it answers.
    pub fn on_conversation<R: lsp::Request, F>(
        mut self,
        handler: impl Fn(ClientConversation, R::Params) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answer<R::Result>> + Send + 'static,
    {
        let method = R::METHOD.as_str();
        let run: ConversationHandler = Box::new(move |conversation, params| {
            let answer = parse(method, params).map(|params| handler(conversation, params));
            Box::pin(async move { to_json(method, answer?.await?) })
        });
        self.requests.insert(method, Handler::ClientConversation(run));
        self
    }
}

fn parse<P: serde::de::DeserializeOwned>(method: &str, params: Value) -> Answer<P> {
    serde_json::from_value(params).map_err(|error| RequestRefusal::params(method, error))
}

/// Converts the answer of a request or command to JSON.
pub fn to_json(method: &str, answer: impl serde::Serialize) -> Answer<Value> {
    serde_json::to_value(answer).map_err(|error| fault(method, &error.to_string()))
}

/// Returns the refusal for a fault of the server in `method`.
pub fn fault(method: &str, reason: &str) -> RequestRefusal {
    RequestRefusal::Fault { method: method.to_owned(), reason: reason.to_owned() }
}

/// Returns the message of a panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
