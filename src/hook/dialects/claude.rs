//! The dialect of Claude Code, which VS Code, Droid, Devin and our own shims share.

use serde_json::{Value, json};

use super::{At, Call, HookAnswer, HookOutput, Moment, PayloadParts, fields, moment};

/// Reads the payload that most hosts share, with the name of an event, and the name and the input
/// of a tool.
pub(super) fn read(payload: &Value) -> PayloadParts<'_> {
    let name = fields::word(payload, "hook_event_name hookEventName");
    let call = Call::from_fields(payload, "tool_name toolName", "tool_input toolInput");
    let moment = match name {
        Some(name) => moment(name),
        None if call.is_some() => Moment::Before,
        None => Moment::Other,
    };
    let id = fields::word(payload, "tool_use_id toolUseId tool_call_id toolCallId");
    PayloadParts { moment, name: name.unwrap_or("PreToolUse"), call, id }
}

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    match said {
        HookAnswer::Nothing => HookOutput::default(),
        HookAnswer::Context(text) => HookOutput::json(&context(at, text)),
        HookAnswer::Ask(reason) => HookOutput::json(&decision(at, "ask", reason)),
        HookAnswer::Rewrite { input, reason } => {
            let mut document = decision(at, "ask", reason);
            document["hookSpecificOutput"]["updatedInput"] = input.clone();
            HookOutput::json(&document)
        }
        // The JSON decision, the exit code and standard error each stop the call. So older hosts
        // that know only one of the three stop it, too.
        HookAnswer::Deny(reason) if at.moment == Moment::Before => HookOutput {
            stdout: format!("{}\n", decision(at, "deny", reason)),
            ..HookOutput::refused(reason)
        },
        HookAnswer::Deny(reason) => HookOutput::refused(reason),
        HookAnswer::Violation(text) => HookOutput::json(&violation(at, text)),
    }
}

pub(super) fn decision(at: At, decision: &str, reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": at.name,
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    } })
}

pub(super) fn context(at: At, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": at.name, "additionalContext": text } })
}

/// Reports a violation after the tool ran. `block` stops nothing at that point: the model reads the
/// reason together with the tool's result.
pub(super) fn violation(at: At, text: &str) -> Value {
    if at.name.ends_with("Failure") {
        return context(at, text);
    }
    json!({ "decision": "block", "reason": text })
}
