//! Claude Code, and those that speak as it does: VS Code, Droid, Devin, and our own shims.

use serde_json::{Value, json};

use super::At;
use crate::hook::answer::{HookAnswer, Output};
use crate::hook::effects::Call;
use crate::hook::fields;
use crate::hook::host::Host;
use crate::hook::incoming::{Incoming, Moment, PayloadParts, moment};

/// The payload that most hosts share: an event's name, a tool's name and input.
pub(super) fn read(host: Host, payload: &Value) -> Incoming {
    let name = fields::word(payload, &["hook_event_name", "hookEventName"]);
    let call = call(payload);
    let moment = match name {
        Some(name) => moment(name),
        None if call.is_some() => Moment::Before,
        None => Moment::Other,
    };
    let id = fields::word(payload, &["tool_use_id", "toolUseId", "tool_call_id", "toolCallId"]);
    let parts = PayloadParts {
        family: host.family,
        moment,
        name: name.unwrap_or("PreToolUse").to_owned(),
        call,
        id: id.map(str::to_owned),
    };
    Incoming::new(host, payload, parts)
}

/// The tool's name and input. An input that is a text may be JSON once more.
fn call(payload: &Value) -> Option<Call> {
    let tool = fields::word(payload, &["tool_name", "toolName"])?.to_owned();
    let input = fields::any(payload, &["tool_input", "toolInput"]);
    Some(Call { tool, input: input.map_or(Value::Null, fields::unpacked) })
}

pub(super) fn answer(at: At, said: &HookAnswer) -> Output {
    match said {
        HookAnswer::Nothing => Output::default(),
        HookAnswer::Context(text) => Output::json(&context(at, text)),
        HookAnswer::Ask(reason) => Output::json(&decision(at, "ask", reason)),
        HookAnswer::Rewrite { input, reason } => {
            let mut document = decision(at, "ask", reason);
            document["hookSpecificOutput"]["updatedInput"] = input.clone();
            Output::json(&document)
        }
        // Any of the three stops the call, so an older host that knows one of them stops it too.
        HookAnswer::Deny(reason) if at.moment == Moment::Before => Output {
            stdout: format!("{}\n", decision(at, "deny", reason)),
            ..Output::refused(reason)
        },
        HookAnswer::Deny(reason) => Output::refused(reason),
        HookAnswer::Violation(text) => Output::json(&violation(at, text)),
    }
}

/// A verdict about a call that has not run yet.
pub(super) fn decision(at: At, decision: &str, reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": at.name,
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    } })
}

/// Something that the model reads beside what the host tells it.
pub(super) fn context(at: At, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": at.name, "additionalContext": text } })
}

/// Blocks nothing, for it has happened: the model is told beside the tool's own result.
pub(super) fn violation(at: At, text: &str) -> Value {
    if at.name.ends_with("Failure") {
        return context(at, text);
    }
    json!({ "decision": "block", "reason": text })
}
