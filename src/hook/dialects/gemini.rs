//! Gemini CLI: a `decision` where there is one, exit code 0.

use serde_json::json;

use super::{At, claude};
use crate::hook::answer::{HookAnswer, Output};
use crate::hook::incoming::Moment;

pub(super) fn answer(at: At, said: &HookAnswer) -> Output {
    match said {
        // A question stops a run without a person for good, and no call says whether there is one.
        HookAnswer::Ask(reason) | HookAnswer::Deny(reason) if at.moment == Moment::Before => {
            Output::json(&json!({ "decision": "deny", "reason": reason }))
        }
        // Before a tool there is no way to the model; the person is shown it.
        HookAnswer::Context(text) if at.moment == Moment::Before => {
            Output::json(&json!({ "systemMessage": text }))
        }
        // A denial after the tool would hide what the tool printed, and the model would run it once more to see that.
        HookAnswer::Context(text) | HookAnswer::Violation(text) => {
            Output::json(&claude::context(at, text))
        }
        HookAnswer::Rewrite { input, .. } => Output::json(&json!({
            "hookSpecificOutput": { "hookEventName": at.name, "tool_input": input },
        })),
        HookAnswer::Nothing | HookAnswer::Ask(_) | HookAnswer::Deny(_) => Output::default(),
    }
}
