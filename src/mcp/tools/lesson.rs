//! `record_lesson`: writes a sentence for other agents into the project's shared memory.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Refusal, ToolAnswer, ToolOutcome};
use super::CallContext;
use ground::text;
use judgement::lesson::{Asker, LessonAnswer, LessonOutcome, LessonRequest};
use judgement::proposal::{self, Proposed};

pub(super) const LESSON: &str = "\
Write one sentence into the project's shared memory for agents (AGENTS.md, CLAUDE.md, GEMINI.md: whichever are there), when you have learned something that the next one should \
know. One line of at most 280 characters, without markup, secrets or names of people. What stands there already is not \
written twice.";

/// The lesson that you want to record.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Lesson {
    /// The lesson, as one sentence.
    text: String,
}

pub(super) fn record(call: &CallContext, arguments: Lesson) -> ToolOutcome<LessonAnswer> {
    let ws = call.open_workspace()?;
    let request = LessonRequest {
        text: arguments.text,
        session: Some(call.actor()),
        agent: Some(call.session.actor_parts().host),
        asker: Asker::Agent,
        ..LessonRequest::default()
    };
    let written = match proposal::lesson(&ws, &call.folder, &request)? {
        Proposed::Written(written) => written,
        Proposed::Asked(asked) => return Err(Refusal::asked(asked.message)),
    };
    let mut outcomes = std::iter::once(&written).chain(&written.also).map(|one| one.outcome);
    let done = match outcomes.any(|outcome| outcome == LessonOutcome::Added) {
        true => "written down",
        false => "there already",
    };
    let also: String =
        written.also.iter().map(|one| format!(" ({}:{})", one.path, one.line)).collect();
    let words = format!("{}:{}{also}: {done}: {}", written.path, written.line, written.text);
    let words = text::visible(&words, false);
    Ok(ToolAnswer::new(written, words))
}
