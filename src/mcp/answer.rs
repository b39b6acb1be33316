//! Answers of tools: structured data with a short text for the model, or a refusal.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

use ground::{Hint, text};
use judgement::file::FileError;
use judgement::gate::{Denial, DenialCode};
use why::lesson_error::LessonError;
use why::{ReadError, VerbError};

pub(super) type ToolOutcome<T = Value> = Result<ToolAnswer<T>, Refusal>;

pub(super) struct ToolAnswer<T = Value> {
    data: T,
    words: Vec<String>,
}

impl<T: Serialize> ToolAnswer<T> {
    /// Creates an answer with a text that contains nothing from the repository, or only escaped
    /// parts of it.
    pub(super) fn new(data: T, words: impl Into<String>) -> Self {
        Self { data, words: vec![words.into()] }
    }

    /// Creates an answer with a text that contains parts of the repository. They are marked as
    /// such.
    pub(super) fn with_repository_text(data: T, words: &str) -> Self {
        Self::new(data, text::of_repository(words, MAX_WORDS))
    }

    pub(super) fn with_words(mut self, words: impl Into<String>) -> Self {
        self.words.push(words.into());
        self
    }

    pub(super) fn erased(self) -> ToolAnswer {
        // Serializing cannot fail for our own types, which have text keys and finite numbers. If it
        // did, the text would remain.
        let data = serde_json::to_value(self.data).unwrap_or_default();
        ToolAnswer { data, words: self.words }
    }
}

/// Text from the repository is cut to this many characters. The data next to it is complete.
const MAX_WORDS: usize = 24_000;

/// Why a tool did nothing.
#[derive(Debug)]
pub(super) struct Refusal(Denial);

impl Refusal {
    fn new(code: DenialCode, message: impl Into<String>) -> Self {
        Self(Denial::new(code, message))
    }

    /// Returns the refusal of arguments that are invalid or too large.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::new(DenialCode::UnreadablePayload, message)
    }

    /// Returns the refusal of a call that a person has to approve first.
    pub(super) fn asked(message: impl Into<String>) -> Self {
        Self::new(DenialCode::ApprovalRequired, message)
    }

    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new(DenialCode::HookError, message)
    }

    pub(super) fn as_words(&self) -> String {
        format!("{}: {}", self.0.code, text::visible(&self.0.message, true))
    }

    /// Returns the denial without the fields that say nothing.
    pub(super) fn data(&self) -> Value {
        let mut data = serde_json::to_value(&self.0).unwrap_or_default();
        if let Some(fields) = data.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        data
    }
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Self {
        Self(denial)
    }
}

impl From<VerbError> for Refusal {
    fn from(error: VerbError) -> Self {
        let (code, intent) = match &error {
            VerbError::UnknownIntent { id, .. } => (DenialCode::UnknownIntent, Some(id.clone())),
            VerbError::NotInProgress { id, .. } => (DenialCode::IntentNotActive, Some(id.clone())),
            VerbError::NothingSelected { .. } => (DenialCode::IntentRequired, None),
            VerbError::Path(_) => (DenialCode::ScopeViolation, None),
            VerbError::Lesson(LessonError::ForAPerson) => (DenialCode::ApprovalRequired, None),
            VerbError::Lesson(
                LessonError::Denied
                | LessonError::KeptFromAgents { .. }
                | LessonError::ControlFile { .. },
            ) => (DenialCode::ProtectedPath, None),
            VerbError::Lesson(_)
            | VerbError::Proposal(_)
            | VerbError::Approval(_)
            | VerbError::Read(ReadError::Missing { .. } | ReadError::NoLine { .. }) => {
                (DenialCode::UnreadablePayload, None)
            }
            _ => (DenialCode::HookError, None),
        };
        Self(Denial { intent, ..Denial::new(code, error.with_hint()) })
    }
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        let (code, path) = match error {
            FileError::Denied(denial) => return Self(*denial),
            FileError::Verb(error) => return error.into(),
            FileError::Stale { path, .. } => (DenialCode::StaleFile, path),
            FileError::Unusable { path, .. } => (DenialCode::UnreadablePayload, path),
        };
        Self(Denial { path: Some(path.to_string()), ..Denial::new(code, message) })
    }
}

pub(super) fn result(outcome: ToolOutcome) -> CallToolResult {
    let (mut result, data) = match outcome {
        Ok(answer) => {
            let texts = answer.words.into_iter().map(ContentBlock::text).collect();
            (CallToolResult::success(texts), answer.data)
        }
        Err(refusal) => {
            let text = ContentBlock::text(refusal.as_words());
            (CallToolResult::error(vec![text]), refusal.data())
        }
    };
    result.structured_content = Some(data);
    result
}
