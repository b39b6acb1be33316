//! A short description of a commit.

use schemars::JsonSchema;
use serde::Serialize;

use super::Workspace;
use super::commit_words::{CommitWords, NamedAgent, agents_in_words};
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
    /// The pull requests and issues that the message names, such as `#1484` or `SHOP-12`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The agents that the message or the author names. This is about the commit and not about any
    /// one of its lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<NamedAgent>,
}

impl CommitBrief {
    /// Returns the id, shortened as git does.
    pub fn short(&self) -> &str {
        short_id(&self.id)
    }

    /// Returns what the commit says of agents: `with Claude Opus 4.6`. `None` if it names none.
    pub fn agents_in_words(&self) -> Option<String> {
        agents_in_words(&self.agents)
    }

    /// Returns the references that the subject does not have already.
    pub fn other_references(&self) -> impl Iterator<Item = &str> {
        let references = self.references.iter().map(String::as_str);
        references.filter(|reference| !self.subject.contains(reference))
    }
}

/// Returns a short description of a commit. `None` if the commit cannot be read.
pub fn brief(ws: &Workspace, commit: &CommitId) -> Option<CommitBrief> {
    Some(brief_with_words(ws, commit)?.0)
}

/// Like [`brief`], with what else the commit says.
pub(crate) fn brief_with_words(
    ws: &Workspace,
    commit: &CommitId,
) -> Option<(CommitBrief, CommitWords)> {
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
