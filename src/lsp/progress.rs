//! Shows the progress of long work in clients that support it.

use std::time::Duration;

use tokio::sync::oneshot;
use tower_lsp::lsp_types as lsp;

use super::client::Client;

/// How long work that is usually quick may take before its progress is shown.
const QUICK: Duration = Duration::from_millis(500);

/// Waits for half a second, then shows `title` until `done` is sent or dropped.
pub(crate) async fn show_if_slow(client: Client, title: String, mut done: oneshot::Receiver<()>) {
    if tokio::time::timeout(QUICK, &mut done).await.is_err() {
        show(client, title, done).await;
    }
}

/// Shows `title` until `done` is sent or dropped. The work itself never waits for the client.
pub(crate) async fn show(client: Client, title: String, done: oneshot::Receiver<()>) {
    let token = lsp::NumberOrString::String(format!("intent/{}", uuid::Uuid::new_v4()));
    let create = lsp::WorkDoneProgressCreateParams { token: token.clone() };
    if let Err(error) = client.request_done::<lsp::request::WorkDoneProgressCreate>(create).await {
        tracing::debug!(%error, "progress is not shown");
        return;
    }
    let report = |progress: lsp::WorkDoneProgress| {
        let value = lsp::ProgressParamsValue::WorkDone(progress);
        let params = lsp::ProgressParams { token: token.clone(), value };
        client.notify::<lsp::notification::Progress>(&params);
    };
    report(lsp::WorkDoneProgress::Begin(lsp::WorkDoneProgressBegin {
        title,
        cancellable: Some(false),
        ..Default::default()
    }));
    // A dropped sender means that the work failed. The failure is reported elsewhere; the progress
    // ends in either case.
    drop(done.await);
    report(lsp::WorkDoneProgress::End(lsp::WorkDoneProgressEnd::default()));
}
