//! `why`: returns the intent that asked for each block of a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Refusal, ToolAnswer};
use super::CallContext;
use crate::verbs::VerbError;
use crate::verbs::why::{self, BlockAnswer, Which, WhyAnswer};
use crate::workspace::text;

pub(super) const WHY: &str = "\
Which intent asked for each block of a file, who wrote it and when, and whether it still is what was recorded. With \
`line`, of the innermost block there, and which of its lines changed since. `unrecorded` means that nobody knows.";

/// The file and the line to ask about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WhyToolArguments {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// A line of the file, counted from 1. Without it, all blocks are returned.
    line: Option<u32>,
}

pub(super) fn why(
    call: &CallContext,
    arguments: WhyToolArguments,
) -> Result<ToolAnswer<WhyAnswer>, Refusal> {
    let (ws, path) = call.file(&arguments.path)?;
    let which = arguments.line.map_or(Which::All, Which::Line);
    let answer = why::on_disk(&ws, &path, which).map_err(VerbError::from)?;
    let mut words: Vec<String> = answer.blocks.iter().map(words).collect();
    if words.is_empty() {
        let nothing = answer.note.as_deref().unwrap_or("there is no block");
        words.push(format!("{}: {}", answer.path, text::visible(nothing, false)));
    }
    words.extend(answer.notes.iter().map(|note| text::visible(note, false)));
    Ok(ToolAnswer::with_repository_text(answer, &words.join("\n")))
}

fn words(block: &BlockAnswer) -> String {
    let mut said = format!(
        "{}-{} {} {}: {}",
        block.start_line,
        block.end_line,
        block.kind,
        block.qualified_name,
        block.verdict.as_str()
    );
    if let Some(intent) = &block.intent {
        said.push_str(&format!(", {}", intent.id));
        if let Some(name) = &intent.name {
            said.push_str(&format!(" ({name})"));
        }
    }
    if let Some(asked) = &block.asked {
        if let Some((label, by)) = asked.label_and_text() {
            said.push_str(&format!(", {label} {by}"));
        }
        if !asked.constraints.is_empty() {
            said.push_str(&format!(", under: {}", asked.constraints.join("; ")));
        }
    }
    if let Some(who) = &block.contributor {
        said.push_str(&format!(", {}", why::who_in_full(who, block.tool.as_deref())));
    }
    if let Some(session) = &block.session {
        said.push_str(&format!(" in {session}"));
    }
    if let Some(when) = &block.timestamp {
        said.push_str(&format!(", {when}"));
    }
    if let Some(brought) = block.brought_text() {
        said.push_str(&format!(", {brought}"));
    }
    if let Some(commit) = &block.commit {
        let (id, author, subject) = (commit.short(), &commit.author, &commit.subject);
        said.push_str(&format!(", commit {id} by {author}: {subject}"));
    }
    if let Some(suspect) = &block.suspect {
        said.push_str(&format!("; suspect: {}", suspect.message));
    }
    if let Some(lines) = block.lines_text() {
        said.push_str(&format!("; {lines}"));
    }
    text::visible(&said, false)
}
