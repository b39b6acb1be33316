//! Names who wrote a block, in the words that every face prints.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answers::{BlockAnswer, ShareAnswer};
use ledger::{Contributor, EntityType};

/// How many lines of a block were brought under its intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BroughtLines {
    /// Lines that were brought under the intent and are still there.
    pub lines: u32,
    /// All lines of the block that say something, without those of inner blocks.
    pub of: u32,
}

impl BroughtLines {
    pub fn in_words(self) -> String {
        let Self { lines, of } = self;
        format!("{lines} of {of} {}", if of == 1 { "line" } else { "lines" })
    }

    /// Counts the recorded lines of blocks, whichever intent brought them.
    pub fn recorded_in(blocks: &[BlockAnswer]) -> Self {
        let shares = blocks.iter().flat_map(|block| &block.shares);
        let recorded = shares.clone().filter(|share| share.is_recorded);
        let count = |lines: usize, share: &ShareAnswer| lines + share.lines;
        Self::from_counts((recorded.fold(0, count), shares.fold(0, count)))
    }

    pub fn from_counts((lines, of): (usize, usize)) -> Self {
        let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        Self { lines: count(lines), of: count(of) }
    }
}

/// Returns who wrote the code, according to the record: a person by the name that git has, an agent
/// by its tool, or else by its model.
pub fn author_name(contributor: &Contributor, tool: Option<&str>) -> String {
    let model = contributor.model_identifier.as_deref();
    let agent =
        agent(tool).or_else(|| model.map(|model| model.rsplit('/').next().unwrap_or(model)));
    contributor_name(contributor, agent)
}

/// Like `author_name`, with the full name of the model: `claude-code with anthropic/claude-…`.
pub fn who_in_full(contributor: &Contributor, tool: Option<&str>) -> String {
    let with = contributor.model_identifier.as_deref().map(|model| format!(" with {model}"));
    contributor_name(contributor, agent(tool)) + &with.unwrap_or_default()
}

/// Returns who accepted a block, given the contributor of the `ack` record. The contributor of an
/// acceptance without a terminal is unknown, because it is not certain that a person gave it.
pub fn accepted_by(contributor: &Contributor) -> &str {
    match contributor.entity_type {
        EntityType::Unknown => "somebody unknown",
        _ => contributor.name.as_deref().unwrap_or("a person"),
    }
}

/// Returns the agent that a record names as its tool. The tool `intent` is not an agent: a person
/// or a script ran the command line, which does not tell who wrote the code.
pub fn agent(tool: Option<&str>) -> Option<&str> {
    tool.filter(|tool| *tool != "intent")
}

fn contributor_name(contributor: &Contributor, agent: Option<&str>) -> String {
    let person = contributor.name.as_deref().unwrap_or("a person");
    match contributor.entity_type {
        EntityType::Ai => agent.unwrap_or("AI").to_owned(),
        EntityType::Human => person.to_owned(),
        EntityType::Mixed => format!("{person} and {}", agent.unwrap_or("AI")),
        EntityType::Unknown => "unknown author".to_owned(),
    }
}

impl BlockAnswer {
    /// Returns who brought lines under the intent of the block: first the author of its record, which
    /// brought the most lines.
    pub fn authors(&self) -> Vec<String> {
        let its = self.lineage.iter().find(|record| Some(&record.record) == self.record.as_ref());
        let own = self.contributor.iter().map(|who| author_name(who, self.tool.as_deref()));
        let others = its.into_iter().flat_map(|its| {
            let others = self.lineage.iter().filter(|record| record.intent == its.intent);
            others.map(|record| author_name(&record.contributor, record.tool.as_deref()))
        });
        let mut authors: Vec<String> = Vec::new();
        for author in own.chain(others) {
            if !authors.contains(&author) {
                authors.push(author);
            }
        }
        authors
    }

    /// Says how much of the block its record wrote: `brought 3 of 14 lines`. `None` if it wrote all
    /// lines, or if the lines were not compared.
    pub fn brought_text(&self) -> Option<String> {
        let BroughtLines { lines, of } =
            self.brought.filter(|brought| brought.lines < brought.of)?;
        Some(format!("brought {}", BroughtLines { lines, of }.in_words()))
    }
}

#[cfg(test)]
mod tests {
    use crate::answers::author::*;

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
            assert_eq!(author_name(&contributor, tool), short);
            assert_eq!(who_in_full(&contributor, tool), full);
        }
    }
}
