//! Reads the short descriptions of commits, each of them once.

use std::sync::Arc;

use super::Workspace;
use super::commit_words::{CommitBrief, CommitWords};
use ground::CommitId;

/// Returns a short description of a commit. `None` if the commit cannot be read.
pub fn brief(ws: &Workspace, commit: &CommitId) -> Option<CommitBrief> {
    Some(brief_with_words(ws, commit)?.0.clone())
}

pub(crate) fn brief_with_words(
    ws: &Workspace,
    commit: &CommitId,
) -> Option<Arc<(CommitBrief, CommitWords)>> {
    let known = &ws.known_commits.described;
    known.get(commit).or_else(|| {
        let found = described(ws, commit)?;
        Some(known.keep(commit.clone(), Arc::new(found)))
    })
}

fn described(ws: &Workspace, commit: &CommitId) -> Option<(CommitBrief, CommitWords)> {
    let said = ws.git()?.headline(commit).ok()?;
    let timestamp = jiff::Timestamp::from_second(said.time).ok().map(|time| time.to_string());
    let words = CommitWords::read(&format!("{} <{}>", said.author, said.email), &said.message);
    let brief = CommitBrief {
        id: commit.0.clone(),
        author: said.author,
        timestamp,
        subject: said.subject,
        references: words.references.clone(),
        agents: words.agents.clone(),
    };
    Some((brief, words))
}
