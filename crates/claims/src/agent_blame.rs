//! The notes of Agent Blame: JSON of the versions 1 and 2.
//!
//! A range names the SHA-256 of its first line. The line decides whether the range is about the file
//! as the commit has it, because the tool copies notes to other commits when branches are squashed.

use std::sync::Arc;

use serde::Deserialize;

use crate::claimed_line::{ClaimedLine, ClaimingTool, shown_word};
use crate::commit_note::{CommitNote, NotedLines, line_range};
use crate::version_text::{VersionText, sha256_digits};

#[derive(Deserialize)]
struct AgentBlameNote {
    version: u32,
    attributions: Vec<AttributedRange>,
}

#[derive(Deserialize)]
struct AttributedRange {
    path: String,
    #[serde(alias = "start_line", rename = "startLine")]
    start_line: u32,
    #[serde(alias = "end_line", rename = "endLine")]
    end_line: u32,
    #[serde(default, alias = "content_hash", rename = "contentHash")]
    content_hash: Option<String>,
    provider: String,
    #[serde(default)]
    model: Option<String>,
}

pub(crate) fn parse_note(bytes: &[u8]) -> Option<CommitNote> {
    let parsed: AgentBlameNote = serde_json::from_slice(bytes).ok()?;
    if !matches!(parsed.version, 1 | 2) {
        return None;
    }
    let mut note = CommitNote::default();
    for range in parsed.attributions {
        let writer = ClaimedLine {
            agent: shown_word(&range.provider),
            model: range.model.as_deref().and_then(shown_word),
            ..ClaimedLine::by_tool(ClaimingTool::AgentBlame)
        };
        let lines = line_range(range.start_line, range.end_line)?;
        let hash = range.content_hash.as_deref().and_then(sha256_digits);
        let writer = writer.if_it_names_somebody().map(Arc::new);
        note.entry(range.path.into()).or_default().push(NotedLines { lines, writer, hash });
    }
    Some(note)
}

/// Returns true if the range is about this text: it names no hash, or that of its first line.
pub(crate) fn is_about_text(noted: &NotedLines, text: &VersionText) -> bool {
    let first = *noted.lines.start();
    noted.hash.as_ref().is_none_or(|hash| text.matches_hash(&(first..=first), hash))
}

#[cfg(test)]
mod tests {
    use ground::git::BStr;

    use super::*;
    use crate::commit_note::last_about;

    #[test]
    fn both_versions_are_read() {
        let hash = ground::store::sha256(b"b");
        let second = format!(
            r#"{{"version":2,"timestamp":"t","attributions":[{{"path":"a.rs","startLine":2,"endLine":3,"contentHash":"{hash}","matchType":"exact","category":"ai_generated","provider":"cursor","model":null,"confidence":1}}]}}"#
        );
        let first = second.replace("startLine", "start_line").replace("endLine", "end_line");
        let first = first.replace("contentHash", "content_hash").replace(":2,\"t", ":1,\"t");
        for text in [first, second.clone()] {
            let note = parse_note(text.as_bytes()).unwrap();
            let noted = last_about(&note[BStr::new("a.rs")], 3).unwrap();
            assert_eq!(noted.writer.as_ref().unwrap().agent.as_deref(), Some("cursor"));
            assert!(is_about_text(noted, &VersionText::new(b"a\nb\r\nc\n".to_vec())));
            assert!(!is_about_text(noted, &VersionText::new(b"b\na\nc\n".to_vec())));
            assert!(!is_about_text(noted, &VersionText::new(b"".to_vec())));
            assert_eq!(last_about(&note[BStr::new("a.rs")], 1), None);
        }
        let others = [
            second.replace("\"version\":2", "\"version\":9"),
            second.replace("\"startLine\":2", "\"startLine\":0"),
            second.replace("\"endLine\":3", "\"endLine\":1"),
            "{}".to_owned(),
            "[".to_owned(),
        ];
        for text in others {
            assert_eq!(parse_note(text.as_bytes()), None, "{text}");
        }
    }
}
