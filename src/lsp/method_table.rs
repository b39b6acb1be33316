//! Which method is handled by which function, and where that function runs.
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

use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tower_lsp::lsp_types as lsp;

use super::conversation::ClientConversation;
use super::ordered::Ordered;
use super::pool::Lane;
use super::refusal::{RequestRefusal, RequestResult, fault, panic_text, to_json};
use super::snapshot::Snapshot;

type Background = Arc<dyn Fn(&Snapshot, Value) -> RequestResult<Value> + Send + Sync>;
type ConversationHandler = Box<
    dyn Fn(ClientConversation, Value) -> Pin<Box<dyn Future<Output = RequestResult<Value>> + Send>>
        + Send
        + Sync,
>;
type Mutation = Box<dyn Fn(&mut Ordered, Value) -> RequestResult<()> + Send + Sync>;

pub(crate) enum Handler {
    Background(Lane, Background),
    ClientConversation(ConversationHandler),
}

/// The methods and their handlers. Tests add their own rows.
#[derive(Default)]
pub(crate) struct MethodTable {
    requests: HashMap<&'static str, Handler>,
    notifications: HashMap<&'static str, Mutation>,
}

impl MethodTable {
    pub(crate) fn request(&self, method: &str) -> Option<&Handler> {
        self.requests.get(method)
    }

    pub(crate) fn notification(&self, method: &str) -> Option<&Mutation> {
        self.notifications.get(method)
    }

    pub(super) fn on_sync_mut<N: lsp::notification::Notification<Params: 'static>>(
        mut self,
        handler: fn(&mut Ordered, N::Params),
    ) -> Self {
        let method = N::METHOD;
        let mutation: Mutation =
            Box::new(move |server, params| parse(method, params).map(|it| handler(server, it)));
        self.notifications.insert(method, mutation);
        self
    }

    /// Adds a notification whose handler parses the parameters itself, because it must also act
    /// when they cannot be parsed.
    pub(super) fn on_sync_mut_raw(
        mut self,
        method: &'static str,
        handler: fn(&mut Ordered, Value),
    ) -> Self {
        let mutation: Mutation = Box::new(move |server, params| {
            handler(server, params);
            Ok(())
        });
        self.notifications.insert(method, mutation);
        self
    }

    pub(crate) fn on_latency_sensitive<R: lsp::request::Request>(
        self,
        handler: impl Fn(&Snapshot, R::Params) -> RequestResult<R::Result> + Send + Sync + 'static,
    ) -> Self {
        self.background::<R>(Lane::LatencySensitive, handler)
    }

    pub(crate) fn on_worker<R: lsp::request::Request>(
        self,
        handler: impl Fn(&Snapshot, R::Params) -> RequestResult<R::Result> + Send + Sync + 'static,
    ) -> Self {
        self.background::<R>(Lane::Worker, handler)
    }

    fn background<R: lsp::request::Request>(
        mut self,
        lane: Lane,
        handler: impl Fn(&Snapshot, R::Params) -> RequestResult<R::Result> + Send + Sync + 'static,
    ) -> Self {
        let method = R::METHOD;
        let run: Background = Arc::new(move |snapshot, params| {
            let params = parse(method, params)?;
            let answer = catch_unwind(AssertUnwindSafe(|| handler(snapshot, params)))
                .map_err(|panic| fault(method, &panic_text(panic.as_ref())))??;
            to_json(method, answer)
        });
        self.requests.insert(method, Handler::Background(lane, run));
        self
    }

    pub(crate) fn on_conversation<R: lsp::request::Request, F>(
        mut self,
        handler: impl Fn(ClientConversation, R::Params) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = RequestResult<R::Result>> + Send + 'static,
    {
        let method = R::METHOD;
        let run: ConversationHandler = Box::new(move |conversation, params| {
            let answer = parse(method, params).map(|params| handler(conversation, params));
            Box::pin(async move { to_json(method, answer?.await?) })
        });
        self.requests.insert(method, Handler::ClientConversation(run));
        self
    }
}

fn parse<P: serde::de::DeserializeOwned>(method: &str, params: Value) -> RequestResult<P> {
    serde_json::from_value(params).map_err(|error| RequestRefusal::params(method, error))
}
