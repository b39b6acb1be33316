//! Parses the body of a frame into a message: a request, a notification or an answer.

use serde::Deserialize as _;
use serde_json::Value;
use tower_lsp::jsonrpc::{self, Error, ErrorCode, Id};

/// A message of the client. A request must be answered exactly once, the others never.
#[derive(Debug)]
pub enum Message {
    Request { id: Id, method: String, params: Value },
    Notification { method: String, params: Value },
    Answer { id: Id, result: jsonrpc::Result<Value> },
}

/// Why the bytes that arrived are not a valid message. The frame or its JSON is broken, or the JSON
/// is neither a request nor an answer, or it is an answer that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Rejected {
    pub(crate) reason: String,
    /// The request and the code for the reply. `None` for an answer, since an answer must not be
    /// answered.
    answered: Option<(Id, ErrorCode)>,
}

impl Rejected {
    pub(crate) fn unparsable(reason: String) -> Self {
        Self { reason, answered: Some((Id::Null, ErrorCode::ParseError)) }
    }

    /// Returns the error reply for the client. `None` if the message must not be answered.
    pub fn reply(self) -> Option<jsonrpc::Response> {
        tracing::warn!(self.reason, "the client sent an invalid message");
        let (id, code) = self.answered?;
        let error = Error { code, message: self.reason.into(), data: None };
        Some(jsonrpc::Response::from_error(id, error))
    }
}

pub fn parse(body: &[u8]) -> Result<Message, Rejected> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Rejected::unparsable(format!("the message is not JSON: {error}")))?;
    let has = |member: &str| value.get(member).is_some();
    if !has("method") && (has("result") || has("error")) {
        return answer(value);
    }
    let id = value.get("id").and_then(|id| Id::deserialize(id).ok()).unwrap_or(Id::Null);
    let invalid = |reason| Rejected { reason, answered: Some((id, ErrorCode::InvalidRequest)) };
    if !value["method"].is_string() {
        let reason = "a message is an object with a method; batches are no part of the protocol";
        return Err(invalid(reason.to_owned()));
    }
    let request: jsonrpc::Request = serde_json::from_value(value)
        .map_err(|error| invalid(format!("the message is no request: {error}")))?;
    let (method, id, params) = request.into_parts();
    let (method, params) = (method.into_owned(), params.unwrap_or(Value::Null));
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

fn answer(value: Value) -> Result<Message, Rejected> {
    let response: jsonrpc::Response = serde_json::from_value(value)
        .map_err(|error| Rejected { reason: error.to_string(), answered: None })?;
    let (id, result) = response.into_parts();
    Ok(Message::Answer { id, result })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<i64> {
        let reply = parse(text.as_bytes()).unwrap_err().reply()?;
        reply.error().map(|error| error.code.code())
    }

    #[test]
    fn an_invalid_message_gets_the_error_code_of_the_protocol() {
        for (text, expected) in [
            ("{nope!}", Some(-32700)),
            ("", Some(-32700)),
            ("{\"a\":1} trailing", Some(-32700)),
            (&"[".repeat(100_000), Some(-32700)),
            ("{}", Some(-32600)),
            ("[]", Some(-32600)),
            ("7", Some(-32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", Some(-32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", Some(-32600)),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}", Some(-32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", Some(-32600)),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":7}", None),
        ] {
            assert_eq!(code(text), expected, "{}", &text[..text.len().min(60)]);
        }
    }

    #[test]
    fn a_refusal_names_the_request_it_answers() {
        let reply = parse(br#"{"jsonrpc":"1.0","id":7,"method":"x"}"#).unwrap_err().reply();
        assert_eq!(reply.map(|reply| reply.id().clone()), Some(Id::Number(7)));
    }

    #[test]
    fn requests_notifications_and_answers_are_distinguished() {
        let kind = |text: &str| match parse(text.as_bytes()) {
            Ok(Message::Request { id, .. }) => format!("request {id}"),
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Answer { id, result }) => format!("answer {id} {}", result.is_ok()),
            Err(rejected) => format!("{rejected:?}"),
        };
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#), "request \"a\"");
        assert_eq!(kind(r#"{"jsonrpc":"2.0","method":"m","params":null}"#), "notification m");
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), "answer 1 true");
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#;
        assert_eq!(kind(error), "answer 1 false");
    }
}
