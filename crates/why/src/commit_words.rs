//! A commit in short, and what its message and its author say beside the subject: the agents that
//! helped, the pull request or issue, and the names that may be those of intents.
//!
//! All of it is about the commit and never about one of its lines: a trailer proves that somebody says
//! that an agent helped, not which lines it wrote.

use ground::git::short_id;
use schemars::JsonSchema;
use serde::Serialize;

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

/// An agent that a commit names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedAgent {
    /// The agent, such as `Claude` or `Cursor`, or what a trailer says of it in free words.
    pub agent: String,
    /// The model, as the commit names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id or the address of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether the agent is the author of the commit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub author: bool,
}

impl NamedAgent {
    fn with_name(agent: &str) -> Self {
        Self { agent: agent.to_owned(), ..Self::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitWords {
    pub agents: Vec<NamedAgent>,
    /// Pull requests and issues, such as `#1484` or `SHOP-12`.
    pub references: Vec<String>,
    /// The id of a checkpoint of the tool Entire.
    pub checkpoint: Option<String>,
    /// Words of the message that have the form of an intent's id, those of trailers first.
    pub names: Vec<String>,
}

/// Agents that commits name as their author or co-author: the name of the agent, and the
/// strings that identify it in the lower-case `name <address>`.
const PEOPLE: &[(&str, &[&str])] = &[
    ("Claude", &["<noreply@anthropic.com>", "claude[bot]"]),
    (
        "Copilot",
        &[
            "<223556219+copilot@users.noreply.github.com>",
            "<175728472+copilot@users.noreply.github.com>",
            "<198982749+copilot@users.noreply.github.com>",
            "copilot-swe-agent[bot]",
        ],
    ),
    ("Cursor", &["<cursoragent@cursor.com>", "cursor[bot]"]),
    ("Devin", &["devin-ai-integration[bot]"]),
    ("Jules", &["google-labs-jules[bot]"]),
    ("Droid", &["factory-droid[bot]"]),
    ("Gemini", &["gemini-code-assist[bot]", "gemini <noreply@google.com>"]),
    ("Codex", &["codex <noreply@openai.com>", "<codex@openai.com>"]),
    ("Junie", &["<junie@jetbrains.com>"]),
    ("Amp", &["<amp@ampcode.com>"]),
];

const SESSIONS: &[(&str, &str)] =
    &[("claude-session", "Claude"), ("copilot-session", "Copilot"), ("amp-thread-id", "Amp")];

const HELPERS: &[&str] = &["assisted-by", "ai-assisted", "made-with"];

const ISSUES: &[&str] = &["closes", "fixes", "refs", "related", "resolves"];

/// Words such as `UTF-8` look like keys of issues. These are their parts before the hyphen.
const NO_PROJECTS: &[&str] = &[
    "UTF", "SHA", "MD", "CVE", "ISO", "RFC", "FR", "NFR", "SC", "AC", "PEP", "CWE", "HTTP", "TLS",
    "BASE", "AES", "RSA", "UTC", "GMT", "IPV", "PR", "GH", "COVID", "GPT", "MIT", "GPL", "BSD",
    "APACHE",
];

/// The longest word that is taken for a name, and the most of them.
const MAX_WORD: usize = 120;
const MAX_NAMES: usize = 64;
/// How much of a message is read, in bytes.
const MAX_MESSAGE: usize = 64 * 1024;

impl CommitWords {
    /// Reads what a commit says. `author` is `name <address>`.
    pub fn read(author: &str, message: &str) -> Self {
        let message = &message[..ground::text::char_start(message, message.len().min(MAX_MESSAGE))];
        let mut words = Self::default();
        if let Some(agent) = agent_called(author) {
            words.add_agent(NamedAgent { author: true, ..NamedAgent::with_name(agent) });
        }
        let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
        let mut of_trailers = Vec::new();
        for line in body.lines() {
            let line = line.trim();
            if line.contains("Generated with [Claude Code]") {
                words.add_agent(NamedAgent::with_name("Claude"));
            }
            let Some((key, value)) = line.split_once(": ") else { continue };
            if !key.is_empty()
                && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            {
                words.trailer(&key.to_ascii_lowercase(), value.trim(), &mut of_trailers);
            }
        }
        words.references_of_subject(subject);
        words.references.dedup();
        let of_message = names_in(subject).chain(body.lines().flat_map(names_in));
        for name in of_trailers.into_iter().chain(of_message.map(str::to_owned)) {
            if words.names.len() < MAX_NAMES && !words.names.contains(&name) {
                words.names.push(name);
            }
        }
        words
    }

    fn trailer(&mut self, key: &str, value: &str, names: &mut Vec<String>) {
        if key == "co-authored-by" {
            if let Some(agent) = agent_called(value) {
                let name = value.split('<').next().unwrap_or_default();
                // The text in brackets is the size of the context.
                let model = name.split('(').next().unwrap_or_default().trim();
                let is_model = model.len() > agent.len()
                    && model.to_lowercase().starts_with(&agent.to_lowercase())
                    && model.contains(' ');
                let model = is_model.then(|| model.to_owned());
                self.add_agent(NamedAgent { model, ..NamedAgent::with_name(agent) });
            }
        } else if let Some((_, agent)) = SESSIONS.iter().find(|(known, _)| *known == key) {
            let session = Some(value.to_owned());
            self.add_agent(NamedAgent { session, ..NamedAgent::with_name(agent) });
        } else if HELPERS.contains(&key) && !value.is_empty() {
            self.add_agent(NamedAgent::with_name(value));
        } else if key == "entire-checkpoint" {
            self.checkpoint = Some(value.to_owned());
        } else if ISSUES.contains(&key) {
            let issues =
                value.split([',', ' ']).filter(|word| is_number(word) || is_issue_key(word));
            self.references.extend(issues.map(str::to_owned));
        } else if key == "intent-id" {
            names.extend(names_in(value).map(str::to_owned));
        }
    }

    fn add_agent(&mut self, new: NamedAgent) {
        let known = self.agents.iter_mut().find(|known| {
            let same_model =
                known.model == new.model || known.model.is_none() || new.model.is_none();
            known.agent == new.agent && same_model
        });
        match known {
            Some(known) => {
                known.model = known.model.take().or(new.model);
                known.session = known.session.take().or(new.session);
                known.author |= new.author;
            }
            None => self.agents.push(new),
        }
    }

    fn references_of_subject(&mut self, subject: &str) {
        if let Some(rest) = subject.strip_prefix("Merge pull request ") {
            let number = rest.split(' ').next().filter(|word| is_number(word));
            self.references.extend(number.map(str::to_owned));
        }
        let words = subject.split(|c: char| c.is_whitespace() || "()[]:,;".contains(c));
        let found = words.filter(|word| is_number(word) || is_issue_key(word));
        for reference in found {
            if !self.references.iter().any(|known| known == reference) {
                self.references.push(reference.to_owned());
            }
        }
    }
}

fn agent_called(person: &str) -> Option<&'static str> {
    let person = person.trim().to_lowercase();
    let is_it = |sign: &&str| match sign.starts_with('<') {
        true => person.ends_with(*sign),
        false => person.starts_with(*sign),
    };
    PEOPLE.iter().find(|(_, signs)| signs.iter().any(&is_it)).map(|(agent, _)| *agent)
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('#').unwrap_or_default();
    !digits.is_empty() && digits.len() < 10 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_issue_key(word: &str) -> bool {
    let Some((project, number)) = word.split_once('-') else { return false };
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    project.len() > 1
        && project.len() <= 12
        && project.as_bytes()[0].is_ascii_uppercase()
        && project.bytes().all(is_upper)
        && !number.is_empty()
        && number.len() < 8
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && !NO_PROJECTS.contains(&project)
}

/// Returns the words that may be ids of intents: they have a hyphen or a colon inside.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.:".contains(c)));
    let words = words.map(|word| word.trim_matches(['-', '_', '.', ':']));
    words.filter(|word| word.len() <= MAX_WORD && word.contains(['-', ':']))
}

/// Says in words which agents a commit names: `with Claude Opus 4.6 and Cursor`. `None` without any.
pub fn agents_in_words(agents: &[NamedAgent]) -> Option<String> {
    let (authors, helpers): (Vec<_>, Vec<_>) = agents.iter().partition(|agent| agent.author);
    let names = |agents: &[&NamedAgent]| {
        let names = agents.iter().map(|one| one.model.as_deref().unwrap_or(&one.agent));
        ground::text::joined_words(names)
    };
    let with = |agents: &[&NamedAgent], word: &str| {
        (!agents.is_empty()).then(|| format!("{word} {}", names(agents)))
    };
    let parts: Vec<String> =
        [with(&authors, "by"), with(&helpers, "with")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents_and_references(author: &str, message: &str) -> (Option<String>, Vec<String>) {
        let words = CommitWords::read(author, message);
        (agents_in_words(&words.agents), words.references)
    }

    #[test]
    fn agents_are_named_by_trailers_and_authors() {
        const ADA: &str = "Ada <ada@example.com>";
        for (author, body, expected) in [
            (ADA, "", None),
            (
                ADA,
                "Co-Authored-By: Claude Opus 4.6 <noreply@anthropic.com>",
                Some("with Claude Opus 4.6"),
            ),
            (
                ADA,
                "Co-authored-by: Claude Opus 4.6 (1M context) <noreply@anthropic.com>",
                Some("with Claude Opus 4.6"),
            ),
            (ADA, "Co-authored-by: Claude <noreply@anthropic.com>", Some("with Claude")),
            (
                ADA,
                "Co-authored-by: Copilot <223556219+Copilot@users.noreply.github.com>",
                Some("with Copilot"),
            ),
            (ADA, "Co-authored-by: Cursor <cursoragent@cursor.com>", Some("with Cursor")),
            (
                ADA,
                "Assisted-by: Codex (model: GPT-5, autonomous)",
                Some("with Codex (model: GPT-5, autonomous)"),
            ),
            (ADA, "Made-with: Cursor", Some("with Cursor")),
            (ADA, "Claude-Session: https://claude.ai/code/session_1", Some("with Claude")),
            (
                ADA,
                "🤖 Generated with [Claude Code](https://claude.com/claude-code)\n\nCo-Authored-By: Claude Fable 5 <noreply@anthropic.com>",
                Some("with Claude Fable 5"),
            ),
            (
                ADA,
                "* one\n\nCo-authored-by: Cursor <cursoragent@cursor.com>\n\n* two\n\nCo-authored-by: Claude Opus 4.6 <noreply@anthropic.com>\nCo-authored-by: Claude Sonnet 5 <noreply@anthropic.com>",
                Some("with Cursor, Claude Opus 4.6 and Claude Sonnet 5"),
            ),
            ("Claude <noreply@anthropic.com>", "", Some("by Claude")),
            (
                "copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>",
                "",
                Some("by Copilot"),
            ),
            // False friends.
            (ADA, "Co-authored-by: Ann <ann@champ.example.com>", None),
            (
                ADA,
                "Co-authored-by: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
                None,
            ),
            ("renovate[bot] <29139614+renovate[bot]@users.noreply.github.com>", "", None),
            (ADA, "Co-authored-by: Claude Monet <claude@example.com>", None),
        ] {
            let (agents, _) = agents_and_references(author, &format!("A subject\n\n{body}\n"));
            assert_eq!(agents.as_deref(), expected, "{author}: {body}");
        }
    }

    #[test]
    fn pull_requests_and_issues_are_referred_to() {
        for (subject, body, expected) in [
            ("Add a list (#12)", "", &["#12"][..]),
            ("Merge pull request #7 from ann/topic", "", &["#7"]),
            ("SHOP-12: read UTF-8 and SHA-256 by FR-003", "", &["SHOP-12"]),
            ("Mend it", "Fixes: #3, #4", &["#3", "#4"]),
            ("Issue #5 (#6)", "Closes: #5", &["#5", "#6"]),
            ("Use C#9 and page #", "", &[]),
        ] {
            let (_, references) =
                agents_and_references("Ada <a@example.com>", &format!("{subject}\n\n{body}\n"));
            assert_eq!(references, expected, "{subject}");
        }
    }

    #[test]
    fn words_like_ids_are_kept() {
        let words = CommitWords::read(
            "A <a@b>",
            "003-user-login: begin, see openspec:add-login.\n\nIntent-Id: INT-004\n",
        );
        assert_eq!(words.names, ["INT-004", "003-user-login", "openspec:add-login", "Intent-Id"]);
    }
}
