//! The answer to a host, before a dialect writes it in the host's format.

use ground::text;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// No answer: the host continues as it would without this hook.
    Nothing,
    /// Text for the model to know.
    Context(String),
    /// A person should decide, for this reason.
    Ask(String),
    /// Replaces the tool's input, to run its command behind the fence, for this reason.
    Rewrite { input: serde_json::Value, reason: String },
    /// Denies the call, for this reason.
    Deny(String),
    /// Reports, after a tool, something that happened and should not have happened.
    Violation(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookOutput {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

impl HookOutput {
    pub fn json(document: &serde_json::Value) -> Self {
        Self { stdout: format!("{document}\n"), ..Self::default() }
    }

    pub(crate) fn with_text(text: &str) -> Self {
        Self { stdout: format!("{text}\n"), ..Self::default() }
    }

    pub(crate) fn remark(text: &str) -> Self {
        Self { stderr: format!("{text}\n"), ..Self::default() }
    }

    /// Denies by exit code 2. Some hosts treat exit code 2 without a text as a failure of the hook,
    /// and let the call run.
    pub fn refused(text: &str) -> Self {
        Self { stderr: format!("{text}\n"), exit: 2, ..Self::default() }
    }
}

/// The longest text to answer, in characters. The strictest host cuts texts longer than 10,000
/// characters.
const MAX_SAID: usize = 8_000;

/// Makes a text safe for any host to show: invisible characters become visible, and a long text is cut.
pub(crate) fn safe_text(said: &str) -> String {
    text::shorten(&text::visible(said, true), MAX_SAID)
}
