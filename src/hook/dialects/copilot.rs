//! The dialect of GitHub Copilot: its own camel-case payload, or Claude Code's payload for hooks
//! that are configured in Claude Code's format.

use serde_json::{Value, json};

use super::{At, Call, HookAnswer, HookOutput, Moment, PayloadParts, fields, moment};

pub(super) fn read(payload: &Value) -> PayloadParts<'_> {
    let moment = moment_by_fields(payload);
    // The arguments are an object, a string that contains JSON, or a string that is itself the
    // input (a patch).
    let call = Call::from_fields(payload, "toolName", "toolArgs");
    let call = call.filter(|_| matches!(moment, Moment::Before | Moment::After));
    let id = fields::word(payload, "toolCallId toolUseId");
    PayloadParts { moment, name: "", call, id }
}

/// Returns the moment by the fields of the payload. It does not name its event, but no two events
/// have the same fields.
fn moment_by_fields(payload: &Value) -> Moment {
    let has = |name: &str| payload.get(name).is_some();
    if let Some(name) = fields::word(payload, "hookEventName hookName eventName") {
        return moment(name);
    }
    match () {
        () if has("toolResult") || (has("toolName") && has("error")) => Moment::After,
        () if has("toolName") || has("toolArgs") => Moment::Before,
        () if has("source") || has("initialPrompt") => Moment::SessionStart,
        () if has("prompt") => Moment::Prompt,
        () => Moment::Other,
    }
}

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    let decision = |decision: &str, reason: &str| json!({ "permissionDecision": decision, "permissionDecisionReason": reason });
    match said {
        HookAnswer::Ask(reason) => HookOutput::json(&decision("ask", reason)),
        HookAnswer::Deny(reason) if at.moment == Moment::Before => {
            HookOutput::json(&decision("deny", reason))
        }
        HookAnswer::Context(text) | HookAnswer::Violation(text) => {
            HookOutput::json(&json!({ "additionalContext": text }))
        }
        HookAnswer::Nothing | HookAnswer::Rewrite { .. } | HookAnswer::Deny(_) => {
            HookOutput::default()
        }
    }
}
