//! Who wrote a block, and which commit brought it, in the words that every face prints.

use schemars::JsonSchema;
use serde::Serialize;

use super::BlockAnswer;
use crate::ledger::journal::is_open;
use crate::ledger::{ClaimRef, Contributor, EntityType};
use crate::verbs::Workspace;
use crate::workspace::CommitId;
use crate::workspace::git::short_id;

/// A commit as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommitBrief {
    /// Its whole id.
    pub id: String,
    /// Its author, as git has them; without the e-mail address.
    pub author: String,
    /// When the author wrote it, RFC 3339 in UTC.
    pub timestamp: Option<String>,
    /// The first line of its message.
    pub subject: String,
}

impl CommitBrief {
    /// The id as git shortens it.
    pub fn short(&self) -> &str {
        short_id(&self.id)
    }
}

/// How many of a block's lines came with its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BroughtLines {
    /// Lines that stand as this record brought them.
    pub lines: u32,
    /// Lines that the block has, without those of blocks inside it.
    pub of: u32,
}

/// Who wrote, as far as the record says: a person by the name that git has, an agent by its tool, else by its model.
pub(crate) fn who(contributor: &Contributor, tool: Option<&str>) -> String {
    let model = contributor.model_identifier.as_deref();
    let agent =
        agent(tool).or_else(|| model.map(|model| model.rsplit('/').next().unwrap_or(model)));
    named(contributor, agent)
}

/// The same with the whole name of the model: `claude-code with anthropic/claude-…`.
pub(crate) fn who_in_full(contributor: &Contributor, tool: Option<&str>) -> String {
    let with = contributor.model_identifier.as_deref().map(|model| format!(" with {model}"));
    named(contributor, agent(tool)) + &with.unwrap_or_default()
}

/// Who accepted a block, given the contributor of the `ack` record. Without a terminal nobody knows whether a person did.
pub(crate) fn accepted_by(contributor: &Contributor) -> &str {
    match contributor.entity_type {
        EntityType::Unknown => "somebody unknown",
        _ => contributor.name.as_deref().unwrap_or("a person"),
    }
}

/// The agent that a record names as its tool. Our own name stands where a person or a script ran the command line: it
/// says nothing of who wrote the code.
pub(in crate::verbs) fn agent(tool: Option<&str>) -> Option<&str> {
    tool.filter(|tool| *tool != "intent")
}

fn named(contributor: &Contributor, agent: Option<&str>) -> String {
    let person = contributor.name.as_deref().unwrap_or("a person");
    match contributor.entity_type {
        EntityType::Ai => agent.unwrap_or("AI").to_owned(),
        EntityType::Human => person.to_owned(),
        EntityType::Mixed => format!("{person} and {}", agent.unwrap_or("AI")),
        EntityType::Unknown => "unknown author".to_owned(),
    }
}

impl BlockAnswer {
    /// How much of the block its record brought: `brought 3 of 14 lines`. `None` if it brought all, or if the lines
    /// were not compared.
    pub fn brought_said(&self) -> Option<String> {
        let BroughtLines { lines, of } =
            self.brought.filter(|brought| brought.lines < brought.of)?;
        Some(format!("brought {lines} of {of} lines"))
    }
}

/// The commit that brought the record of a claim. `None` if the record is in no commit yet, or if nobody can tell.
pub(super) fn commit(ws: &Workspace, at: ClaimRef) -> Option<CommitBrief> {
    brief(ws, &CommitId(ws.ledger.derived(at.entry)?.commit.clone()?))
}

/// A commit as a person reads it. `None` if it cannot be read.
pub(in crate::verbs) fn brief(ws: &Workspace, commit: &CommitId) -> Option<CommitBrief> {
    let said = ws.git()?.headline(commit).ok()?;
    let timestamp = jiff::Timestamp::from_second(said.time).ok().map(|time| time.to_string());
    Some(CommitBrief {
        id: commit.0.clone(),
        author: said.author,
        timestamp,
        subject: said.subject,
    })
}

/// Returns true if a claim is of the journal, or of evidence that is a draft: no commit has it yet.
pub(super) fn is_uncommitted(ws: &Workspace, at: ClaimRef) -> bool {
    let entry = ws.ledger.entry(at.entry);
    let is_draft = || ws.ledger.derived(at.entry).is_some_and(|derived| derived.commit.is_none());
    is_open(&entry.origin.path) || is_draft()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_a_name_and_an_agent_a_tool() {
        use EntityType::{Ai, Human, Mixed, Unknown};
        #[rustfmt::skip]
        let table = [
            (Ai, Some("a/m-1"), None, Some("claude-code"), "claude-code", "claude-code with a/m-1"),
            (Ai, Some("a/m-1"), None, Some("intent"), "m-1", "AI with a/m-1"),
            (Ai, None, None, None, "AI", "AI"),
            (Human, None, Some("Ada"), Some("intent"), "Ada", "Ada"),
            (Human, None, None, Some("intent"), "a person", "a person"),
            (Mixed, None, Some("Ada"), Some("cursor"), "Ada and cursor", "Ada and cursor"),
            (Mixed, Some("a/m-1"), None, None, "a person and m-1", "a person and AI with a/m-1"),
            (Unknown, None, None, Some("intent"), "unknown author", "unknown author"),
        ];
        for (entity_type, model, name, tool, short, full) in table {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let contributor =
                Contributor { entity_type, model_identifier: owned(model), name: owned(name) };
            assert_eq!(who(&contributor, tool), short);
            assert_eq!(who_in_full(&contributor, tool), full);
        }
    }
}
