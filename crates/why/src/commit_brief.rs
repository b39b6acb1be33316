//! A short description of a commit.

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use ground::CommitId;
use ground::git::short_id;

/// A short description of a commit for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommitBrief {
    /// The full id of the commit.
    pub id: String,
    /// The name of its author, without the e-mail address.
    pub author: String,
    /// When the author wrote it, as RFC 3339 in UTC.
    pub timestamp: Option<String>,
    /// The first line of its message.
    pub subject: String,
}

impl CommitBrief {
    /// Returns the id, shortened as git does.
    pub fn short(&self) -> &str {
        short_id(&self.id)
    }
}

/// Returns a short description of a commit. `None` if the commit cannot be read.
pub fn brief(ws: &Workspace, commit: &CommitId) -> Option<CommitBrief> {
    let said = ws.git()?.headline(commit).ok()?;
    let timestamp = jiff::Timestamp::from_second(said.time).ok().map(|time| time.to_string());
    Some(CommitBrief {
        id: commit.0.clone(),
        author: said.author,
        timestamp,
        subject: said.subject,
    })
}
