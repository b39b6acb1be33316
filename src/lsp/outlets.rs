//! The loop's connections to the outside: the client, the threads, the watcher, and the handle
//! through which their results come back.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tower_lsp::lsp_types as lsp;

use super::client::Client;
use super::ordered::{LoopHandle, Ordered};
use super::pool::{Pool, start_task};
use super::snapshot::Snapshot;
use super::watch::Watcher;
use super::{FindPlace, OpenWorkspace, ServerParts, parent_process};

#[derive(Clone)]
pub(crate) struct Outlets {
    pub(super) client: Client,
    pub(super) pool: Pool,
    pub(super) handle: LoopHandle,
    pub(super) find: FindPlace,
    pub(super) open: OpenWorkspace,
    /// `None` if the system refused the watcher.
    watcher: Arc<OnceLock<Option<Mutex<Watcher>>>>,
}

/// What the handler of a request has. One that asks the client or changes files before it answers
/// must not compute in its own task, because all tasks share two threads.
pub(crate) struct ClientConversation {
    pub(crate) snapshot: Snapshot,
    pub(crate) outside: Outlets,
}

impl Outlets {
    pub(super) fn new(parts: &ServerParts, client: Client, pool: Pool, handle: LoopHandle) -> Self {
        let ServerParts { find, open, .. } = *parts;
        Self { client, pool, handle, find, open, watcher: Arc::default() }
    }

    pub(super) fn end_with(&self, process: u32) {
        let handle = self.handle.clone();
        start_task(async move {
            parent_process::process_ended(process).await;
            handle.run(|it| it.ended = Some(false));
        });
    }

    pub(super) fn watcher(&self) -> Option<&Mutex<Watcher>> {
        let start = || {
            let handle = self.handle.clone();
            let watcher = Watcher::start(move |paths| handle.run(|it| it.files_changed(paths)));
            let refused = |error: &notify::Error| {
                tracing::warn!(%error, "changes on disk show only when a file of ours is saved in the editor");
            };
            watcher.inspect_err(refused).ok().map(Mutex::new)
        };
        self.watcher.get_or_init(start).as_ref()
    }

    /// Runs a job on the worker lane. The loop then does what the job returns.
    pub(super) fn work<Then>(&self, job: impl FnOnce() -> Then + Send + 'static)
    where
        Then: FnOnce(&mut Ordered) + Send + 'static,
    {
        let handle = self.handle.clone();
        self.pool.run(move || handle.run(job()));
    }

    pub(super) fn later(&self, delay: Duration, event: impl FnOnce(&mut Ordered) + Send + 'static) {
        let handle = self.handle.clone();
        start_task(async move {
            tokio::time::sleep(delay).await;
            handle.run(event);
        });
    }

    pub(super) fn refresh<R: lsp::request::Request<Params = ()>>(&self) {
        let client = self.client.clone();
        start_task(async move {
            if let Err(error) = client.request_done::<R>(()).await {
                tracing::debug!(%error, "the client did not refresh");
            }
        });
    }
}
