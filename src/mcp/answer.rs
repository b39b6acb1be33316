//! What a tool answers: data for programs with a few words for the model, or a refusal.

use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::verbs::file::FileError;
use crate::verbs::gate::Denial;
use crate::verbs::lesson::LessonError;
use crate::verbs::{ReadError, VerbError};
use crate::workspace::text;

/// What a tool came to.
pub(super) type Outcome = Result<Answer, Refusal>;

/// A verb's own answer, and what is said of it to a model whose client shows text only.
pub(super) struct Answer<T = Value> {
    data: T,
    words: Vec<String>,
}

impl<T: Serialize> Answer<T> {
    /// The answer with a few words of ours.
    pub(super) fn new(data: T, words: impl Into<String>) -> Self {
        Self { data, words: vec![words.into()] }
    }

    /// The answer with words in which the repository's own stand.
    pub(super) fn telling(data: T, words: &str) -> Self {
        Self::new(data, text::of_repository(words, MAX_WORDS))
    }

    /// Says something more, as a text of its own.
    pub(super) fn and(mut self, words: impl Into<String>) -> Self {
        self.words.push(words.into());
        self
    }

    /// The same with the data as JSON.
    pub(super) fn erased(self) -> Answer {
        // Our own types have text keys and finite numbers; were it otherwise, the words would still stand.
        let data = serde_json::to_value(self.data).unwrap_or_default();
        Answer { data, words: self.words }
    }
}

/// Words of a repository are cut to so many characters. The data beside them is whole.
const MAX_WORDS: usize = 24_000;

/// Why a tool did nothing, in the words of the gate.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Refusal {
    /// The stable code: SCOPE_VIOLATION, STALE_FILE, …
    code: String,
    /// What happened and what to do next.
    message: String,
    /// The path it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The intent it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
}

impl Refusal {
    fn new(code: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, path: None, intent: None, rule: None }
    }

    /// Arguments that make no sense, or more than we read.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self::new("UNREADABLE_PAYLOAD", message.into())
    }

    /// A person has to approve first.
    pub(super) fn asked(message: impl Into<String>) -> Self {
        Self::new("APPROVAL_REQUIRED", message.into())
    }

    /// Something failed that should not have.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new("HOOK_ERROR", message.into())
    }

    pub(super) fn words(&self) -> String {
        format!("{}: {}", self.code, text::visible(&self.message, true))
    }

    pub(super) fn data(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Self {
        Self {
            code: denial.code.as_str().to_owned(),
            message: denial.message,
            path: denial.path,
            intent: denial.intent,
            rule: denial.rule,
        }
    }
}

impl From<VerbError> for Refusal {
    fn from(error: VerbError) -> Self {
        let intent = match &error {
            VerbError::UnknownIntent { id, .. } | VerbError::NotInProgress { id, .. } => {
                Some(id.clone())
            }
            _ => None,
        };
        let code = match &error {
            VerbError::UnknownIntent { .. } => "UNKNOWN_INTENT",
            VerbError::NotInProgress { .. } => "INTENT_NOT_ACTIVE",
            VerbError::NothingSelected { .. } => "INTENT_REQUIRED",
            VerbError::Path(_) => "SCOPE_VIOLATION",
            VerbError::Lesson(LessonError::ForAPerson) => "APPROVAL_REQUIRED",
            VerbError::Lesson(
                LessonError::Denied
                | LessonError::KeptFromAgents { .. }
                | LessonError::ControlFile { .. },
            ) => "PROTECTED_PATH",
            VerbError::Lesson(_) | VerbError::Proposal(_) | VerbError::Approval(_) => {
                "UNREADABLE_PAYLOAD"
            }
            VerbError::Read(ReadError::Missing { .. } | ReadError::NoLine { .. }) => {
                "UNREADABLE_PAYLOAD"
            }
            _ => "HOOK_ERROR",
        };
        Self { intent, ..Self::new(code, error.to_string()) }
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

/// The result as the protocol has it.
pub(super) fn result(outcome: Outcome) -> CallToolResult {
    match outcome {
        Ok(answer) => {
            let texts = answer.words.into_iter().map(ContentBlock::text).collect();
            let mut result = CallToolResult::success(texts);
            result.structured_content = Some(answer.data);
            result
        }
        Err(refusal) => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(refusal.words())]);
            result.structured_content = Some(refusal.data());
            result
        }
    }
}
