//! Why a lesson was not written.

use ground::{Hint, RelativePath};

/// This mark and [`LESSONS_END`] each stand on a line of their own.
pub const LESSONS_BEGIN: &str = "<!-- intent:lessons:begin -->";

pub const LESSONS_END: &str = "<!-- intent:lessons:end -->";

/// Why a lesson was not written. The files are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum LessonError {
    #[error("a lesson needs words")]
    Empty,
    #[error("policy.yaml says `lessons: deny`, so agents write none")]
    Denied,
    #[error(
        "policy.yaml says `lessons: ask`, so a person writes it: `intent lesson TEXT` in a terminal"
    )]
    ForAPerson,
    #[error(
        "a lesson that an agent writes by itself says how the code is; this one has `{what}` in it, so a person decides"
    )]
    Instructs { what: String },
    /// The policy cannot be read, and it might forbid agents to write lessons.
    #[error("policy.yaml cannot be read, so agents write no lesson: {reason}")]
    BrokenPolicy { reason: String },
    #[error("{path} is kept from agents by {rule}")]
    KeptFromAgents { path: RelativePath, rule: String },
    /// The brain file is a link to a file that controls the gate.
    #[error("{path} leads to {really}, which controls the gate")]
    ControlFile { path: RelativePath, really: RelativePath },
    #[error("{path} is not UTF-8 (byte {byte}), so no line is added")]
    NotText { path: RelativePath, byte: usize },
    #[error("{path}: the section of lessons is broken, {what}")]
    BrokenSection { path: RelativePath, what: String },
}

impl Hint for LessonError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Empty => "say in one sentence what the next one should know",
            Self::Denied | Self::ForAPerson => "tell the person what you learned",
            Self::Instructs { .. } => return None,
            Self::BrokenPolicy { .. } => "let a person fix it",
            Self::KeptFromAgents { .. } => {
                "a person writes the lesson with `intent lesson TEXT` in a terminal"
            }
            Self::ControlFile { .. } => "make it a separate file",
            Self::NotText { .. } => "convert it first",
            Self::BrokenSection { .. } => {
                return Some(format!(
                    "put `{}` and `{}` there once each, on lines of their own and in this order, or remove both",
                    LESSONS_BEGIN, LESSONS_END
                ));
            }
        };
        Some(hint.to_owned())
    }
}
