//! `file_read` and `file_write`, for agents without file tools of their own. A write never
//! overwrites a change that the agent has not seen.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Refusal, ToolAnswer, ToolOutcome};
use super::CallContext;
use edits::{Change, Replacement};
use evidence::event::Event;
use ground::text;
use judgement::file::{self, Expected, FileText, FileWritten, WriteRequest};
use ledger::MutationClass;

pub(super) const READ: &str = "\
Read a text file of the workspace. Answers its text, the SHA-256 of the whole file for `file_write`, and the intents \
that own it. What you have read is remembered: a later write is refused where somebody else changed the file since.";

pub(super) const WRITE: &str = "\
Write a text file, if it has not changed since you read it: `expected_sha256` from `file_read` or the last `file_write`, or `absent` \
to create it. Give either the whole `content`, or `edits` of what is there. The gate is asked first, no change of somebody \
else is overwritten, and the blocks that changed are recorded under the selected intent. An `intent_id` that is not the selected \
one is refused.";

/// The file and the lines to read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileReadArguments {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The first line to read, counted from 1.
    offset: Option<usize>,
    /// How many lines to read.
    limit: Option<usize>,
}

/// The file to write and its new text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// SHA-256 of the file as you last read it, in hexadecimal, or `absent` if the file must not
    /// exist yet.
    expected_sha256: String,
    /// The complete new text of the file.
    content: Option<String>,
    /// Replacements to apply in order. Either all are applied or none.
    edits: Option<Vec<Edit>>,
    /// The intent for this change. It must be the one that you have selected.
    intent_id: Option<String>,
    /// Your own classification: AST_REFACTOR if the behaviour stays the same, else
    /// INTENT_EVOLUTION. It is kept next to the class that is detected.
    mutation_class: Option<MutationClass>,
}

/// A replacement of one text by another.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// The text to replace. It must occur exactly once, unless `replace_all` is true.
    old_string: String,
    /// The text that replaces it.
    new_string: String,
    /// Replace every occurrence of `old_string`.
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn read(call: &CallContext, arguments: FileReadArguments) -> ToolOutcome<FileText> {
    let (ws, path) = call.file(&arguments.path)?;
    let FileReadArguments { offset, limit, .. } = arguments;
    let read = file::read(&ws, &path, offset, limit, &call.event("file_read", Vec::new()))?;
    let owners: Vec<&str> = read.owners.iter().map(|owner| owner.id.as_str()).collect();
    let owned =
        if owners.is_empty() { "no intent in progress".to_owned() } else { owners.join(", ") };
    let about = format!(
        "{}: lines {}-{} of {}, sha256 {}, owned by {}.",
        text::visible(read.path.as_str(), false),
        read.start_line,
        read.end_line,
        read.lines,
        read.sha256,
        text::visible(&owned, false)
    );
    let whole = read.text.clone();
    Ok(ToolAnswer::new(read, about).with_words(whole))
}

pub(super) fn write(call: &CallContext, arguments: Write) -> ToolOutcome<FileWritten> {
    let unreadable = |why: &str| Refusal::unreadable(format!("{why} Nothing was written."));
    let change = match (arguments.content, arguments.edits) {
        (Some(content), None) => Change::Whole(content),
        (None, Some(edits)) if !edits.is_empty() => Change::Replace(
            edits
                .into_iter()
                .map(|edit| Replacement {
                    old: edit.old_string,
                    new: edit.new_string,
                    every: edit.replace_all,
                })
                .collect(),
        ),
        _ => return Err(unreadable("Give either `content` or `edits`.")),
    };
    let Some(expected) = Expected::read(&arguments.expected_sha256) else {
        let wrong = "`expected_sha256` is neither 64 hexadecimal digits nor `absent`.";
        return Err(unreadable(wrong));
    };
    let (ws, path) = call.file(&arguments.path)?;
    let request = WriteRequest { path, expected, change, intent: arguments.intent_id };
    let event =
        Event { claimed_class: arguments.mutation_class, ..call.event("file_write", Vec::new()) };
    let written = file::write(&ws, &request, &event)?;
    let words = line_of_write(&written);
    Ok(ToolAnswer::new(written, words))
}

fn line_of_write(written: &FileWritten) -> String {
    let path = text::visible(written.path.as_str(), false);
    let done = if written.created { "created" } else { "written" };
    let recorded = match (&written.intent, written.recorded) {
        (Some(intent), true) => format!(
            "recorded under {}{}",
            text::visible(intent, false),
            class_text(written.mutation_class, written.contradicted_claim.as_deref())
        ),
        _ => "nothing was recorded".to_owned(),
    };
    let mut words = format!("{path} {done}, sha256 {}; {recorded}.", written.sha256);
    for note in &written.notes {
        words.push('\n');
        words.push_str(&text::visible(note, false));
    }
    words
}

/// Says in a part of a sentence which class a change has, and whether another one was claimed.
pub(super) fn class_text(class: Option<MutationClass>, contradicted: Option<&str>) -> String {
    let class = class.map_or_else(String::new, |class| format!(" as {}", class.as_str()));
    let claim = contradicted.map(|claim| {
        let claim = text::visible(claim, false);
        format!(", not {claim} as you claimed: what the change does contradicts it")
    });
    class + &claim.unwrap_or_default()
}
