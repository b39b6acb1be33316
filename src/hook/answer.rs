//! What is said to a host, before a dialect puts it into the host's words.

use crate::workspace::text;

/// What there is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookAnswer {
    /// Nothing: the host goes on as it would without us.
    Nothing,
    /// Something for the model to know.
    Context(String),
    /// A person should decide, for this reason.
    Ask(String),
    /// Another input for the tool, to run a command behind the fence, for this reason.
    Rewrite { input: serde_json::Value, reason: String },
    /// No, for this reason.
    Deny(String),
    /// It has happened, and should not have.
    Violation(String),
}

/// What the process leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    /// All of standard output.
    pub(crate) stdout: String,
    /// All of standard error.
    pub(crate) stderr: String,
    /// The exit code.
    pub(crate) exit: u8,
}

impl Output {
    /// One JSON document, and all is well.
    pub(crate) fn json(document: &serde_json::Value) -> Self {
        Self { stdout: format!("{document}\n"), ..Self::default() }
    }

    /// A text where the host hands plain standard output on.
    pub(crate) fn plain(text: &str) -> Self {
        Self { stdout: format!("{text}\n"), ..Self::default() }
    }

    /// A text on standard error, and all is well.
    pub(crate) fn remark(text: &str) -> Self {
        Self { stderr: format!("{text}\n"), ..Self::default() }
    }

    /// A refusal by exit code. Without a text some hosts take it for a failure of the hook, and go on.
    pub(crate) fn refused(text: &str) -> Self {
        Self { stderr: format!("{text}\n"), exit: 2, ..Self::default() }
    }
}

/// The longest text that is said; the strictest host cuts what is longer than 10,000 characters.
const MAX_SAID: usize = 8_000;

/// A text as any host may show it: nothing in it moves a cursor or hides, and it ends somewhere.
pub(crate) fn sayable(said: &str) -> String {
    text::shorten(&text::visible(said, true), MAX_SAID)
}
