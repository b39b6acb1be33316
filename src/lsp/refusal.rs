//! Why a request is answered with an error, and what a handler returns.

use serde_json::{Value, json};
use tokio::task::JoinError;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use ground::Hint;

/// The protocol's `ServerCancelled`: the client may send the request again.
const SERVER_CANCELLED: i64 = -32802;

/// The protocol's `RequestFailed`: the request was valid, but it failed.
const REQUEST_FAILED: i64 = -32803;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestRefusal {
    #[error("the parameters of {method} cannot be read: {reason}")]
    Params { method: String, reason: String },
    /// The parameters have the right shape but make no sense. The text says which and why.
    #[error("{0}")]
    Senseless(String),
    /// The request is valid but failed. The text says why, and what to do next.
    #[error("{0}")]
    Failed(String),
    #[error("cancelled")]
    Cancelled,
    #[error("the document changed while the request ran")]
    ContentModified,
    #[error("the intents are still being read")]
    StillReading,
    /// A newer edit arrived before the request was handled. The client sends the request again.
    #[error("a newer edit replaced this request")]
    Overtaken,
    #[error("{method} failed inside the server: {reason}")]
    Fault { method: String, reason: String },
}

impl RequestRefusal {
    pub(crate) fn params(method: &str, error: impl ToString) -> Self {
        Self::Params { method: method.to_owned(), reason: error.to_string() }
    }

    pub(crate) fn failed(error: impl ToString) -> Self {
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

pub(crate) type RequestResult<T> = Result<T, RequestRefusal>;

pub(crate) fn to_json(method: &str, answer: impl serde::Serialize) -> RequestResult<Value> {
    serde_json::to_value(answer).map_err(|error| fault(method, &error.to_string()))
}

pub(crate) fn fault(method: &str, reason: &str) -> RequestRefusal {
    RequestRefusal::Fault { method: method.to_owned(), reason: reason.to_owned() }
}

/// Returns why a task or a job has no result.
pub(crate) fn task_failure(method: &str, error: JoinError) -> RequestRefusal {
    match error.try_into_panic() {
        Ok(panic) => fault(method, &panic_text(panic.as_ref())),
        Err(_) => RequestRefusal::Cancelled,
    }
}

pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
