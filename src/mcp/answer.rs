//! Answers of tools: structured data with a short text for the model, or a refusal.

use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use ground::{Hint, text};
use judgement::file::FileError;
use judgement::gate::Denial;
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
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Refusal {
    /// A stable code: SCOPE_VIOLATION, STALE_FILE, …
    code: String,
    /// What happened, and what to do next.
    message: String,
    /// The path that the refusal is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The intent that the refusal is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    /// The rule that led to the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
}

impl Refusal {
    fn new(code: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, path: None, intent: None, rule: None }
    }

    /// Returns the refusal of arguments that are invalid or too large.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::new("UNREADABLE_PAYLOAD", message.into())
    }

    /// Returns the refusal of a call that a person has to approve first.
    pub(super) fn asked(message: impl Into<String>) -> Self {
        Self::new("APPROVAL_REQUIRED", message.into())
    }

    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new("HOOK_ERROR", message.into())
    }

    pub(super) fn as_words(&self) -> String {
        format!("{}: {}", self.code, text::visible(&self.message, true))
    }

    pub(super) fn data(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Self {
        Self {
            code: denial.code.to_string(),
            message: denial.message,
            path: denial.path,
            intent: denial.intent,
            rule: denial.rule,
        }
    }
}

impl From<VerbError> for Refusal {
    fn from(error: VerbError) -> Self {
        let (code, intent) = match &error {
            VerbError::UnknownIntent { id, .. } => ("UNKNOWN_INTENT", Some(id.clone())),
            VerbError::NotInProgress { id, .. } => ("INTENT_NOT_ACTIVE", Some(id.clone())),
            VerbError::NothingSelected { .. } => ("INTENT_REQUIRED", None),
            VerbError::Path(_) => ("SCOPE_VIOLATION", None),
            VerbError::Lesson(LessonError::ForAPerson) => ("APPROVAL_REQUIRED", None),
            VerbError::Lesson(
                LessonError::Denied
                | LessonError::KeptFromAgents { .. }
                | LessonError::ControlFile { .. },
            ) => ("PROTECTED_PATH", None),
            VerbError::Lesson(_)
            | VerbError::Proposal(_)
            | VerbError::Approval(_)
            | VerbError::Read(ReadError::Missing { .. } | ReadError::NoLine { .. }) => {
                ("UNREADABLE_PAYLOAD", None)
            }
            _ => ("HOOK_ERROR", None),
        };
        Self { intent, ..Self::new(code, error.with_hint()) }
    }
}

impl From<FileError> for Refusal {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        match error {
            FileError::Denied(denial) => (*denial).into(),
            FileError::Verb(error) => error.into(),
            FileError::Stale { path, .. } => {
                Self { path: Some(path.to_string()), ..Self::new("STALE_FILE", message) }
            }
            FileError::Unusable { path, .. } => {
                Self { path: Some(path.to_string()), ..Self::unreadable(message) }
            }
        }
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
