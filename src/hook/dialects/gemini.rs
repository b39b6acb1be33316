//! The dialect of Gemini CLI: a `decision` only for a denial, always with exit code 0.

use serde_json::json;

use super::{At, HookAnswer, HookOutput, Moment, claude};

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    match said {
        // If no person is there, a question stops the run for ever, and no call says whether a
        // person is there. So a question is a denial.
        HookAnswer::Ask(reason) | HookAnswer::Deny(reason) if at.moment == Moment::Before => {
            HookOutput::json(&json!({ "decision": "deny", "reason": reason }))
        }
        // Before a tool, no text reaches the model. This one is shown to the person.
        HookAnswer::Context(text) if at.moment == Moment::Before => {
            HookOutput::json(&json!({ "systemMessage": text }))
        }
        // A denial after the tool would hide the tool's output, and the model would run the tool
        // again to see it.
        HookAnswer::Context(text) | HookAnswer::Violation(text) => {
            HookOutput::json(&claude::context(at, text))
        }
        HookAnswer::Rewrite { input, .. } => HookOutput::json(&json!({
            "hookSpecificOutput": { "hookEventName": at.name, "tool_input": input },
        })),
        HookAnswer::Nothing | HookAnswer::Ask(_) | HookAnswer::Deny(_) => HookOutput::default(),
    }
}
