//! A handle to the client, for sending it notifications and requests.
//!
//! A request to the client never blocks the loop or a thread: a task of its own awaits the answer,
//! and gives up when it is late.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{self, Id};
use tower_lsp::lsp_types as lsp;

use super::transport::Outbox;
use ground::parallel::locked_value;

/// How long the client may take for an answer that needs no person.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("the client did not answer {method} within {} s", limit.as_secs())]
    Late { method: String, limit: Duration },
    #[error("the client refused {method}: {error}")]
    Refused { method: String, error: jsonrpc::Error },
    #[error("the client's answer to {method} cannot be read: {reason}")]
    Unreadable { method: String, reason: String },
}

type ClientAnswer = jsonrpc::Result<Value>;

#[derive(Clone)]
pub struct Client {
    inner: Arc<ClientState>,
}

struct ClientState {
    outbox: Outbox,
    next: AtomicI64,
    waiting: Mutex<HashMap<i64, oneshot::Sender<ClientAnswer>>>,
}

/// Forgets a request to the client, and cancels it, when it is dropped before an answer came.
struct ClientQuestion<'a> {
    inner: &'a ClientState,
    id: i64,
}

impl Drop for ClientQuestion<'_> {
    fn drop(&mut self) {
        if locked_value(&self.inner.waiting).remove(&self.id).is_some() {
            let cancel =
                jsonrpc::Request::build("$/cancelRequest").params(json!({ "id": self.id }));
            self.inner.outbox.send(&cancel.finish());
        }
    }
}

impl Client {
    pub(crate) fn new(outbox: Outbox) -> Self {
        let inner = ClientState { outbox, next: AtomicI64::new(1), waiting: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn notify<N: lsp::notification::Notification>(&self, params: &N::Params) {
        match serde_json::to_value(params) {
            Ok(params) => self.tell(N::METHOD, params),
            Err(error) => tracing::error!(%error, "a notification cannot be written as JSON"),
        }
    }

    pub(crate) fn tell(&self, method: &'static str, params: Value) {
        self.inner.outbox.send(&jsonrpc::Request::build(method).params(params).finish());
    }

    pub(crate) fn log(&self, kind: lsp::MessageType, message: impl Into<String>) {
        let params = lsp::LogMessageParams { typ: kind, message: message.into() };
        self.notify::<lsp::notification::LogMessage>(&params);
    }

    pub(crate) fn show_message(&self, kind: lsp::MessageType, message: String) {
        let params = lsp::ShowMessageParams { typ: kind, message };
        self.notify::<lsp::notification::ShowMessage>(&params);
    }

    /// Shows a dialog to the person. Returns the title of the chosen action. `None` if the dialog
    /// was dismissed.
    pub(crate) async fn choose(
        &self,
        kind: lsp::MessageType,
        message: String,
        titles: &[&str],
        limit: Duration,
    ) -> Result<Option<String>, ClientError> {
        let item = |title: &&str| lsp::MessageActionItem {
            title: (*title).to_owned(),
            properties: HashMap::new(),
        };
        let actions = Some(titles.iter().map(item).collect());
        let params = lsp::ShowMessageRequestParams { typ: kind, message, actions };
        let chosen = self.request_within::<lsp::request::ShowMessageRequest>(params, limit).await?;
        Ok(chosen.map(|item| item.title))
    }

    /// Sends a request and awaits its answer for at most [`ANSWER_LIMIT`].
    pub(crate) async fn request<R: lsp::request::Request>(
        &self,
        params: R::Params,
    ) -> Result<R::Result, ClientError> {
        self.request_within::<R>(params, ANSWER_LIMIT).await
    }

    /// Sends a request and awaits its answer for at most `limit`, for example while a person has to
    /// decide.
    pub(crate) async fn request_within<R: lsp::request::Request>(
        &self,
        params: R::Params,
        limit: Duration,
    ) -> Result<R::Result, ClientError> {
        let method = R::METHOD;
        let unreadable = |error: serde_json::Error| ClientError::Unreadable {
            method: method.to_owned(),
            reason: error.to_string(),
        };
        let params = serde_json::to_value(params).map_err(unreadable)?;
        let answer = self.ask(method, params, limit).await?;
        serde_json::from_value(answer).map_err(unreadable)
    }

    /// Sends a request and returns whether the client accepted it. The content of the answer is
    /// ignored.
    pub(crate) async fn request_done<R: lsp::request::Request>(
        &self,
        params: R::Params,
    ) -> Result<(), ClientError> {
        let method = R::METHOD;
        let params = serde_json::to_value(params).unwrap_or(Value::Null);
        self.ask(method, params, ANSWER_LIMIT).await.map(drop)
    }

    pub(crate) async fn ask(
        &self,
        method: &'static str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        let id = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        locked_value(&self.inner.waiting).insert(id, sender);
        let _question = ClientQuestion { inner: &self.inner, id };
        let mut message = jsonrpc::Request::build(method).id(id);
        if !params.is_null() {
            message = message.params(params);
        }
        self.inner.outbox.send(&message.finish());
        match tokio::time::timeout(limit, receiver).await {
            Ok(Ok(answer)) => {
                answer.map_err(|error| ClientError::Refused { method: method.to_owned(), error })
            }
            Ok(Err(_)) | Err(_) => Err(ClientError::Late { method: method.to_owned(), limit }),
        }
    }

    /// Passes an answer to the task that awaits it. Late and unknown answers are dropped.
    pub(crate) fn deliver(&self, id: &Id, answer: ClientAnswer) {
        let Id::Number(number) = id else { return };
        let Some(sender) = locked_value(&self.inner.waiting).remove(number) else {
            tracing::debug!(%id, "an answer that nobody waits for");
            return;
        };
        // The task may have given up between the two lines above.
        drop(sender.send(answer));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, PipeReader};

    use super::super::transport::{Frames, spawn_writer};
    use super::*;

    fn client() -> (Client, Frames<BufReader<PipeReader>>) {
        let (reader, writer) = std::io::pipe().unwrap();
        let (outbox, _) = spawn_writer(writer).unwrap();
        (Client::new(outbox), Frames::new(BufReader::new(reader)))
    }

    fn block_on<F: Future>(future: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(future)
    }

    #[test]
    fn a_client_that_never_answers_runs_into_the_time_limit() {
        let (client, mut frames) = client();
        let limit = Duration::from_millis(20);
        let params = lsp::ConfigurationParams { items: Vec::new() };
        let asked = client.request_within::<lsp::request::WorkspaceConfiguration>(params, limit);
        assert!(matches!(block_on(asked), Err(ClientError::Late { .. })));
        let mut next = || -> Value {
            serde_json::from_slice(&frames.next_frame().unwrap().unwrap().unwrap()).unwrap()
        };
        assert_eq!(next()["method"], "workspace/configuration");
        assert_eq!(next()["method"], "$/cancelRequest");
        assert!(locked_value(&client.inner.waiting).is_empty());
        client.deliver(&Id::Number(1), Ok(Value::Null));
    }

    #[test]
    fn an_answer_of_the_wrong_type_is_an_error() {
        let (client, _frames) = client();
        let params = lsp::ConfigurationParams { items: Vec::new() };
        let answered = block_on(async {
            let asked = client.request::<lsp::request::WorkspaceConfiguration>(params);
            let answer = async { client.deliver(&Id::Number(1), Ok(json!({ "no": "list" }))) };
            // Both futures are polled in this order, so the request is sent before it is answered.
            tokio::join!(asked, answer).0
        });
        assert!(matches!(answered, Err(ClientError::Unreadable { .. })), "{answered:?}");
    }
}
