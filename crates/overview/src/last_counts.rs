//! What `intent list --count` counted last, so that `intent list` can show it without counting.

use std::collections::BTreeMap;

use ground::answer_store::AnswerKey;
use serde::{Deserialize, Serialize};
use why::Workspace;

#[derive(Serialize, Deserialize)]
pub(crate) struct LastCounts {
    /// The commit that was checked out.
    pub(crate) commit: String,
    pub(crate) intents: BTreeMap<String, ProducedCounts>,
}

/// What an intent has produced. See [`IntentSummary`](crate::select::IntentSummary).
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ProducedCounts {
    pub(crate) lines: usize,
    pub(crate) files: usize,
    pub(crate) blocks: usize,
}

impl LastCounts {
    /// `None` if nothing was counted, or the answer was lost.
    pub(crate) fn recall(ws: &Workspace) -> Option<Self> {
        ws.kept_answers()?.recall(key(ws))
    }

    pub(crate) fn keep(&self, ws: &Workspace) {
        if let Some(store) = ws.kept_answers() {
            store.keep(key(ws), self);
        }
    }
}

/// All work trees and workspaces of a repository share the store, so the place is in the key.
fn key(ws: &Workspace) -> AnswerKey {
    AnswerKey::from_parts(&[b"last counts", ws.root.path().as_os_str().as_encoded_bytes()])
}
