//! Why a lesson was not written.

use ground::{Hint, RelativePath};

/// The mark at the beginning of the section, on a line of its own.
pub const LESSONS_BEGIN: &str = "<!-- intent:lessons:begin -->";

/// The mark at the end of the section, on a line of its own.
pub const LESSONS_END: &str = "<!-- intent:lessons:end -->";

/// Why a lesson was not written. The files are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum LessonError {
    /// The lesson contains no words.
    #[error("a lesson needs words")]
    Empty,
    /// The policy forbids agents to write lessons.
    #[error("policy.yaml says `lessons: deny`, so agents write none")]
    Denied,
    /// The policy allows only people to write lessons.
    #[error(
        "policy.yaml says `lessons: ask`, so a person writes it: `intent lesson TEXT` in a terminal"
    )]
    ForAPerson,
    /// The lesson tells its readers how to treat the gate, the shell or the network, so an agent
    /// may not write it.
    #[error(
        "a lesson that an agent writes by itself says how the code is; this one has `{what}` in it, so a person decides"
    )]
    Instructs {
        /// The word that is not allowed, or a part of it.
        what: String,
    },
    /// The policy cannot be read, and it might forbid agents to write lessons.
    #[error("policy.yaml cannot be read, so agents write no lesson: {reason}")]
    BrokenPolicy {
        /// The reason, as a sentence.
        reason: String,
    },
    /// The policy or an ignore file forbids agents to change the brain file.
    #[error("{path} is kept from agents by {rule}")]
    KeptFromAgents {
        path: RelativePath,
        /// The entry of the policy, or the line of the ignore file.
        rule: String,
    },
    /// The brain file is a link to a file that controls the gate.
    #[error("{path} leads to {really}, which controls the gate")]
    ControlFile {
        path: RelativePath,
        /// The file that the link leads to.
        really: RelativePath,
    },
    /// The brain file is not UTF-8 text.
    #[error("{path} is not UTF-8 (byte {byte}), so no line is added")]
    NotText {
        path: RelativePath,
        /// The offset of the first byte that is not UTF-8.
        byte: usize,
    },
    /// The marks of the section are missing or out of order, so its lines cannot be found.
    #[error("{path}: the section of lessons is broken, {what}")]
    BrokenSection {
        path: RelativePath,
        /// What is wrong with the marks.
        what: String,
    },
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
