//! What a tool claims about a line.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use ground::git::name_in;
use ground::text::shorten;

use crate::transcripts::prompt_at;

/// The longest name, model or session that is shown, in characters.
const MAX_WORD: usize = 200;

/// What another tool recorded about a line. It is a claim: nobody verified it.
///
/// The texts are from other people, and contain no e-mail address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct ClaimedLine {
    /// The tool that recorded it.
    pub tool: ClaimingTool,
    /// The program with the model that wrote the line, such as `claude`. `None` if a person wrote it,
    /// or if the tool does not say.
    pub agent: Option<String>,
    /// The model, as the tool names it.
    pub model: Option<String>,
    /// The session in which the line was written, as the agent names it.
    pub session: Option<String>,
    /// The intent under which the line was written, as the tool names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The person who wrote the line, or for whom the agent wrote it.
    pub human: Option<String>,
    /// Where the prompt is on this machine.
    #[serde(skip)]
    pub(crate) prompt: Option<PromptPlace>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PromptPlace {
    pub transcript: PathBuf,
    /// Where its line begins, in bytes.
    pub at: u64,
}

/// A tool that records who wrote lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimingTool {
    /// Notes of Git AI, in `refs/notes/ai`.
    GitAi,
    /// Notes of Agent Blame, in `refs/notes/agentblame`.
    #[serde(rename = "agentblame")]
    AgentBlame,
    /// Files in the format of Agent Trace.
    AgentTrace,
    /// Ledgers that another system wrote, in the ledger's folder.
    EarlierLedger,
    /// Transcripts on this machine, whose text stands in the file.
    Transcript,
}

impl ClaimingTool {
    /// Returns the name as it is shown: "claimed by git-ai".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GitAi => "git-ai",
            Self::AgentBlame => "agentblame",
            Self::AgentTrace => "agent-trace",
            Self::EarlierLedger => "earlier-ledger",
            Self::Transcript => "transcript",
        }
    }
}

impl ClaimedLine {
    pub(crate) fn by_tool(tool: ClaimingTool) -> Self {
        let intent = None;
        Self { tool, agent: None, model: None, session: None, intent, human: None, prompt: None }
    }

    /// Returns the word for how it is known: `claimed` by a tool, or `inferred` from a text that is the
    /// same.
    pub fn strength(&self) -> &'static str {
        match self.tool {
            ClaimingTool::Transcript => "inferred",
            _ => "claimed",
        }
    }

    /// Says who wrote the line, as the tool claims: `claude with claude-opus-4-6, for Ada, under
    /// INT-001`.
    pub fn in_words(&self) -> String {
        let program = match (&self.agent, &self.model) {
            (Some(agent), Some(model)) => Some(format!("{agent} with {model}")),
            (agent, model) => agent.as_ref().or(model.as_ref()).cloned(),
        };
        let mut words = match (program, &self.human) {
            (Some(program), Some(human)) => format!("{program}, for {human}"),
            (program, human) => program.or_else(|| human.clone()).unwrap_or_else(|| {
                let nobody = self.session.is_none() && self.intent.is_some();
                if nobody { "somebody" } else { "an agent" }.to_owned()
            }),
        };
        if let Some(intent) = &self.intent {
            words.push_str(&format!(", under {intent}"));
        }
        words
    }

    /// Returns the first line of what the person asked, while its transcript is on this machine.
    pub fn prompt_line(&self) -> Option<String> {
        let PromptPlace { transcript, at } = self.prompt.as_ref()?;
        prompt_at(transcript, *at)?.lines().find_map(shown_line)
    }

    pub(crate) fn if_it_names_somebody(self) -> Option<Self> {
        let names = [&self.agent, &self.model, &self.session, &self.intent, &self.human];
        names.iter().any(|name| name.is_some()).then_some(self)
    }
}

/// Returns a word of a record, such as a session. `None` if it says nothing, or is or contains an
/// e-mail address.
pub(crate) fn shown_word(text: &str) -> Option<String> {
    const NOTHING: [&str; 5] = ["unknown", "default", "<synthetic>", "null", "none"];
    let text = text.trim();
    let is_nothing = text.is_empty() || NOTHING.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is_nothing || has_address(text) {
        return None;
    }
    Some(text.chars().take(MAX_WORD).collect())
}

/// Returns the name of a person in `Name <address>`. `None` if there is only an address.
pub(crate) fn shown_person(text: &str) -> Option<String> {
    shown_word(&name_in(text)?)
}

/// Returns a line that a person wrote, with `…` in place of e-mail addresses. `None` if it is blank.
pub(crate) fn shown_line(text: &str) -> Option<String> {
    let words = text.split_whitespace().map(|word| if has_address(word) { "…" } else { word });
    let line: Vec<&str> = words.collect();
    let line = shorten(&line.join(" "), MAX_WORD);
    (!line.is_empty()).then_some(line)
}

/// Returns true if a text contains an e-mail address. A model may contain an `@` before a date:
/// `claude-opus-4-1@20250805`.
fn has_address(text: &str) -> bool {
    let mut parts = text.split('@').skip(1);
    parts.any(|after| {
        let host = after.split(|c: char| c.is_whitespace() || "<>()\"',;".contains(c)).next();
        host.is_some_and(|host| host.contains('.') && host.contains(|c: char| c.is_alphabetic()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_shown_unless_it_says_nothing_or_is_an_address() {
        let cases = [
            ("claude", Some("claude")),
            (" gpt-5 ", Some("gpt-5")),
            ("claude-opus-4-1@20250805", Some("claude-opus-4-1@20250805")),
            ("", None),
            ("Unknown", None),
            ("<synthetic>", None),
            ("ada@example.com", None),
            ("Ada <ada@example.com>", None),
        ];
        for (text, shown) in cases {
            assert_eq!(shown_word(text).as_deref(), shown, "{text:?}");
        }
        assert_eq!(shown_word(&"x".repeat(500)).map(|word| word.len()), Some(MAX_WORD));
    }

    #[test]
    fn a_person_is_shown_without_the_address() {
        let cases = [
            ("Ada Lovelace <ada@example.com>", Some("Ada Lovelace")),
            ("Ada Lovelace", Some("Ada Lovelace")),
            ("ada@example.com", None),
            ("<ada@example.com>", None),
            ("", None),
        ];
        for (text, shown) in cases {
            assert_eq!(shown_person(text).as_deref(), shown, "{text:?}");
        }
    }
}
