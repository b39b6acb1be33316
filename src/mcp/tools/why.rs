//! `why`: returns the intent that asked for each block of a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{ToolAnswer, ToolOutcome};
use super::CallContext;
use ground::text;
pub use why::VerbError;
use why::answers::{self, BlockAnswer, Which, WhyAnswer};

pub(super) const WHY: &str = "\
Which intent asked for each block of a file, who wrote it and when, and whether it still is what was recorded. With \
`line`, of the innermost block there, and whose its lines are. `unrecorded` means that no intent brought half of its \
lines.";

/// The file and the line to ask about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WhyToolArguments {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// A line of the file, counted from 1. Without it, all blocks are returned.
    line: Option<u32>,
}

pub(super) fn why(call: &CallContext, arguments: WhyToolArguments) -> ToolOutcome<WhyAnswer> {
    let (ws, path) = call.file_to_ask_about(&arguments.path)?;
    let ws = ws.with_kept_answers();
    let which = arguments.line.map_or(Which::All, Which::Line);
    let answer = answers::on_disk(&ws, &path, which).map_err(VerbError::from)?;
    let mut words: Vec<String> = answer.blocks.iter().map(line_of_block).collect();
    if words.is_empty() {
        let nothing = answer.note.as_deref().unwrap_or("there is no block");
        words.push(format!("{}: {}", answer.path, text::visible(nothing, false)));
    }
    words.extend(answer.notes.iter().map(|note| text::visible(note, false)));
    Ok(ToolAnswer::with_repository_text(answer, &words.join("\n")))
}

fn other_authors(others: &[String]) -> String {
    format!(", also by {}", text::joined_words(others.iter().map(String::as_str)))
}

fn line_of_block(block: &BlockAnswer) -> String {
    let (first, last, kind) = (block.start_line, block.end_line, &block.kind);
    let (name, verdict) = (&block.qualified_name, block.verdict.as_str());
    let asked = block.asked.as_ref();
    let constraints = asked.map(|asked| &asked.constraints).filter(|all| !all.is_empty());
    let who = block.contributor.as_ref();
    let parts = [
        block.intent.as_ref().map(|intent| format!(", {}", intent.id)),
        block.intent.as_ref().and_then(|it| Some(format!(" ({})", it.name.as_ref()?))),
        (!block.candidates.is_empty()).then(|| format!(", {}", block.ambiguity())),
        asked.and_then(|it| it.label_and_text()).map(|(label, by)| format!(", {label} {by}")),
        constraints.map(|all| format!(", under: {}", all.join("; "))),
        who.map(|who| format!(", {}", answers::who_in_full(who, block.tool.as_deref()))),
        block.session.as_ref().map(|session| format!(" in {session}")),
        block.authors().get(1..).filter(|others| !others.is_empty()).map(other_authors),
        block.timestamp.as_ref().map(|when| format!(", {when}")),
        block.brought_text().map(|brought| format!(", {brought}")),
        block.newer_text().map(|newer| format!(", {newer}")),
        block.cut.then(|| ", lines were removed since".to_owned()),
        block.history_missing.then(|| ", history is missing here".to_owned()),
        block.commit.as_ref().map(|commit| {
            format!(", commit {} by {}: {}", commit.short(), commit.author, commit.subject)
        }),
        block.origin.as_ref().map(|origin| format!("; {}", origin.in_words())),
        block.suspect.as_ref().map(|suspect| format!("; suspect: {}", suspect.message)),
        block.lines_text().map(|lines| format!("; {lines}")),
    ];
    let more: String = parts.into_iter().flatten().collect();
    text::visible(&format!("{first}-{last} {kind} {name}: {verdict}{more}"), false)
}
