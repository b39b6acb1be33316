//! Shows the progress of long work in clients that support it.

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tower_lsp::gen_lsp_types as lsp;

use super::client::Client;

/// Shows `title` until `done` is sent or dropped. The work itself never waits for the client.
pub async fn show(client: Client, title: String, done: oneshot::Receiver<()>) {
    let token = lsp::ProgressToken::String(format!("intent/{}", uuid::Uuid::new_v4()));
    let create = lsp::WorkDoneProgressCreateParams { token: token.clone() };
    if let Err(error) = client.request_done::<lsp::WorkDoneProgressCreateRequest>(create).await {
        tracing::debug!(%error, "progress is not shown");
        return;
    }
    let report = |value: Value| {
        let params = lsp::ProgressParams { token: token.clone(), value };
        client.notify::<lsp::ProgressNotification>(&params);
    };
    report(json!({ "kind": "begin", "title": title, "cancellable": false }));
    // A dropped sender means that the work failed. The failure is reported elsewhere; the progress
    // ends in either case.
    drop(done.await);
    report(json!({ "kind": "end" }));
}
