//! The notes of Git AI: format 3, and the JSON format before it.
//!
//! ```text
//! src/a.rs
//!   s_0123456789abcd::t_0123456789abcd 3-9,12
//! "src/with space.rs"
//!   h_0123456789abcd 1
//! ---
//! { "schema_version": "authorship/3.0.0", "sessions": { … }, "prompts": { … }, "humans": { … } }
//! ```
//!
//! A note that does not follow the grammar says nothing, because its lines may mean something else.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ground::git::{BStr, ByteSlice};
use serde::Deserialize;

use crate::claimed_line::{ClaimedLine, ClaimingTool, shown_person, shown_word};
use crate::commit_note::{CommitNote, NotedLines, line_range};

/// The newest format that is read. A later one may count lines in another way.
const NEWEST_FORMAT: u32 = 3;
/// The agents that formats before 3 list as authors, in the same way as people.
const AGENTS: [&str; 10] = [
    "amp",
    "claude",
    "claude code",
    "codex",
    "copilot",
    "cursor",
    "devin",
    "gemini",
    "github copilot",
    "windsurf",
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    schema_version: String,
    sessions: HashMap<String, NotedSession>,
    prompts: HashMap<String, NotedSession>,
    humans: HashMap<String, Human>,
}

/// A session, or in older notes a prompt.
#[derive(Deserialize)]
struct NotedSession {
    agent_id: AgentId,
    #[serde(default)]
    human_author: Option<String>,
}

#[derive(Deserialize)]
struct AgentId {
    tool: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Deserialize)]
struct Human {
    author: String,
}

/// Parses a note or, from before notes were used, the content of `refs/ai/authorship/COMMIT`.
pub(crate) fn parse_note(bytes: &[u8]) -> Option<CommitNote> {
    match bytes.trim_start().first() {
        Some(b'{') => parse_files(bytes),
        _ => parse_attestations(bytes),
    }
}

fn parse_attestations(bytes: &[u8]) -> Option<CommitNote> {
    let (attestations, metadata) = split_at_divider(bytes)?;
    let metadata: Metadata = serde_json::from_slice(metadata).ok()?;
    if !is_known_format(&metadata.schema_version) {
        return None;
    }
    let mut note = CommitNote::default();
    let mut writers: HashMap<&str, Option<Arc<ClaimedLine>>> = HashMap::new();
    let mut path: Option<&BStr> = None;
    for line in attestations.lines().map(|line| line.trim_end()).filter(|line| !line.is_empty()) {
        let Some(entry) = line.strip_prefix(b"  ") else {
            path = Some(path_in(line)?);
            continue;
        };
        let (key, ranges) = entry.to_str().ok()?.split_once(' ')?;
        if key.is_empty() {
            return None;
        }
        let writer = writers.entry(key).or_insert_with(|| metadata.writer(key).map(Arc::new));
        let noted = note.entry(path?.to_owned()).or_default();
        for range in ranges.split(',') {
            let lines = lines_in(range)?;
            noted.push(NotedLines { lines, writer: writer.clone(), hash: None });
        }
    }
    Some(note)
}

/// Splits a note at the first line that is `---`.
fn split_at_divider(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    for line in bytes.lines_with_terminator() {
        let after = at + line.len();
        if line.trim_end() == b"---" {
            return Some((&bytes[..at], &bytes[after..]));
        }
        at = after;
    }
    None
}

fn is_known_format(version: &str) -> bool {
    let major = version.strip_prefix("authorship/").and_then(|version| version.split('.').next());
    major.and_then(|major| major.parse().ok()).is_some_and(|major: u32| major <= NEWEST_FORMAT)
}

/// Reads the line with a path, which is quoted if it contains white space. Quotes inside are not
/// escaped.
fn path_in(line: &[u8]) -> Option<&BStr> {
    let is_quoted = line.len() >= 2 && line.starts_with(b"\"") && line.ends_with(b"\"");
    let path = if is_quoted { &line[1..line.len() - 1] } else { line };
    let is_path = !path.is_empty() && (is_quoted || !path[0].is_ascii_whitespace());
    is_path.then(|| path.as_bstr())
}

/// Reads `5` or `5-9`.
fn lines_in(range: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|_| is_number)
    };
    match range.split_once('-') {
        Some((first, last)) => line_range(number(first)?, number(last)?),
        None => number(range).and_then(|line| line_range(line, line)),
    }
}

impl Metadata {
    /// Returns who is meant by a key: `SESSION::TRACE`, the key of a prompt, or that of a person.
    fn writer(&self, key: &str) -> Option<ClaimedLine> {
        let own = key.split_once("::").map_or(key, |(session, _)| session);
        let session = self.sessions.get(own).or_else(|| self.prompts.get(own));
        if let Some(NotedSession { agent_id, human_author }) = session {
            let claim = ClaimedLine {
                agent: shown_word(&agent_id.tool),
                model: agent_id.model.as_deref().and_then(shown_word),
                session: agent_id.id.as_deref().and_then(shown_word),
                human: human_author.as_deref().and_then(shown_person),
                ..ClaimedLine::by_tool(ClaimingTool::GitAi)
            };
            // If no agent is known to have written the line, the person who asked for it is no
            // claim about it.
            return claim.agent.is_some().then_some(claim);
        }
        let human = shown_person(&self.humans.get(own)?.author);
        ClaimedLine { human, ..ClaimedLine::by_tool(ClaimingTool::GitAi) }.if_it_names_somebody()
    }
}

/// The format before 3: for each file its authors, for each author the lines.
#[derive(Deserialize)]
struct AuthorsOfFiles {
    /// The very first notes have no version.
    #[serde(default)]
    schema_version: Option<String>,
    files: HashMap<String, AuthorsOfFile>,
}

#[derive(Deserialize)]
struct AuthorsOfFile {
    #[serde(default)]
    authors: Vec<AuthorOfLines>,
}

#[derive(Deserialize)]
struct AuthorOfLines {
    author: String,
    lines: Vec<LineOrRange>,
    #[serde(default)]
    agent_metadata: Option<AgentMetadata>,
}

#[derive(Deserialize)]
struct AgentMetadata {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    human_author: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum LineOrRange {
    Line(u32),
    Range(u32, u32),
}

fn parse_files(bytes: &[u8]) -> Option<CommitNote> {
    let parsed: AuthorsOfFiles = serde_json::from_slice(bytes).ok()?;
    if parsed.schema_version.is_some_and(|version| !is_known_format(&version)) {
        return None;
    }
    let mut note = CommitNote::default();
    for (path, file) in parsed.files {
        let mut noted: Vec<NotedLines> = Vec::new();
        for author in file.authors {
            let writer = author.writer().map(Arc::new);
            for lines in author.lines {
                let lines = match lines {
                    LineOrRange::Line(line) => line_range(line, line)?,
                    LineOrRange::Range(first, last) => line_range(first, last)?,
                };
                noted.push(NotedLines { lines, writer: writer.clone(), hash: None });
            }
        }
        note.insert(path.into(), without_disputed_lines(noted));
    }
    Some(note)
}

impl AuthorOfLines {
    fn writer(&self) -> Option<ClaimedLine> {
        let claim = ClaimedLine::by_tool(ClaimingTool::GitAi);
        let is_agent = AGENTS.iter().any(|name| name.eq_ignore_ascii_case(self.author.trim()));
        let claim = match &self.agent_metadata {
            Some(agent) => ClaimedLine {
                agent: shown_word(&self.author),
                model: agent.model.as_deref().and_then(shown_word),
                human: agent.human_author.as_deref().and_then(shown_person),
                ..claim
            },
            None if is_agent => ClaimedLine { agent: shown_word(&self.author), ..claim },
            // A name alone may be that of a person, or of a model such as `o3`, so nobody is named.
            None => return None,
        };
        claim.if_it_names_somebody()
    }
}

/// Adds a claim that names nobody for the lines that two authors have, because the format does not
/// say which of them came last.
fn without_disputed_lines(mut noted: Vec<NotedLines>) -> Vec<NotedLines> {
    noted.sort_by_key(|one| (*one.lines.start(), *one.lines.end()));
    let mut disputed = Vec::new();
    let mut reach: Option<(u32, Option<Arc<ClaimedLine>>)> = None;
    for one in &noted {
        let (first, last) = (*one.lines.start(), *one.lines.end());
        match &mut reach {
            Some((end, writer)) if first <= *end => {
                if *writer != one.writer {
                    let lines = first..=last.min(*end);
                    disputed.push(NotedLines { lines, writer: None, hash: None });
                }
                if last > *end {
                    (*end, *writer) = (last, one.writer.clone());
                }
            }
            _ => reach = Some((last, one.writer.clone())),
        }
    }
    noted.extend(disputed);
    noted
}

#[cfg(test)]
mod tests;
