//! Which method is handled by which function, and where that function runs.
//!
//! The name of the function that adds a row says where the handler runs:
//!
//! - `on_sync_mut`: a notification that changes the state. Runs on the loop, in the order of
//!   arrival. It must not wait, and starts slow work outside of the loop.
//! - `on_lane`: a request that is answered from a [`Snapshot`]. Runs on a thread of a [`Lane`].
//! - `on_conversation`: a request that has to ask the client or change files before it answers. An
//!   async function that runs as its own task.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp::lsp_types as lsp;

use super::ordered::Ordered;
use super::outlets::ClientConversation;
use super::pool::Lane;
use super::refusal::{RequestRefusal, RequestResult, to_json};
use super::snapshot::Snapshot;

type Handler = Box<
    dyn Fn(ClientConversation, Value) -> Pin<Box<dyn Future<Output = RequestResult<Value>> + Send>>
        + Send
        + Sync,
>;
type LaneHandler = Arc<dyn Fn(&Snapshot, Value) -> RequestResult<Value> + Send + Sync>;
type Mutation = Box<dyn Fn(&mut Ordered, Value) -> RequestResult<()> + Send + Sync>;

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

    pub(super) fn on_sync_mut<P: DeserializeOwned + 'static>(
        mut self,
        method: &'static str,
        handler: fn(&mut Ordered, P),
    ) -> Self {
        let mutation: Mutation =
            Box::new(move |server, params| parse(method, params).map(|it| handler(server, it)));
        self.notifications.insert(method, mutation);
        self
    }

    pub(crate) fn on_lane<R: lsp::request::Request>(
        self,
        lane: Lane,
        handler: impl Fn(&Snapshot, R::Params) -> RequestResult<R::Result> + Send + Sync + 'static,
    ) -> Self {
        let method = R::METHOD;
        let handler = move |snapshot: &Snapshot, params| {
            to_json(method, handler(snapshot, parse(method, params)?)?)
        };
        self.with_lane(lane, method, Arc::new(handler))
    }

    fn with_lane(self, lane: Lane, method: &'static str, handler: LaneHandler) -> Self {
        self.with_request(method, move |conversation, params| {
            let handler = Arc::clone(&handler);
            async move {
                let ClientConversation { snapshot, outside } = conversation;
                let job = move || {
                    // The request may have been cancelled while it waited for a thread.
                    snapshot.check_cancelled()?;
                    handler(&snapshot, params)
                };
                outside.pool.compute(lane, method, job).await?
            }
        })
    }

    pub(crate) fn on_conversation<R: lsp::request::Request, F>(
        self,
        handler: impl Fn(ClientConversation, R::Params) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = RequestResult<R::Result>> + Send + 'static,
    {
        let method = R::METHOD;
        self.with_request(method, move |conversation, params| {
            let answer = parse(method, params).map(|params| handler(conversation, params));
            async move { to_json(method, answer?.await?) }
        })
    }

    fn with_request<F: Future<Output = RequestResult<Value>> + Send + 'static>(
        mut self,
        method: &'static str,
        handler: impl Fn(ClientConversation, Value) -> F + Send + Sync + 'static,
    ) -> Self {
        let handler: Handler =
            Box::new(move |conversation, params| Box::pin(handler(conversation, params)));
        self.requests.insert(method, handler);
        self
    }
}

fn parse<P: DeserializeOwned>(method: &str, params: Value) -> RequestResult<P> {
    serde_json::from_value(params).map_err(|error| RequestRefusal::params(method, error))
}
