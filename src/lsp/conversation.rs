//! What a request needs that asks the client, or changes files, before it answers.

use std::path::PathBuf;

use super::client::Client;
use super::ordered::LoopHandle;
use super::pool::Pool;
use super::snapshot::Snapshot;

#[derive(Clone)]
pub(crate) struct ClientConversation {
    pub snapshot: Snapshot,
    pub client: Client,
    /// A conversation must not compute in its own task, because all tasks share two threads.
    pub(super) pool: Pool,
    pub(super) handle: LoopHandle,
}

impl ClientConversation {
    pub(crate) fn wrote(&self, paths: Vec<PathBuf>) {
        self.handle.run(move |it| it.files_changed(paths));
    }

    /// Shows those questions of agents again whose dialogs the person closed without an answer.
    pub(crate) fn review(&self, root: PathBuf) {
        self.handle.run(move |it| it.questions.put_again(&root));
    }
}
