//! The dialect of GitHub Copilot: its own camel-case payload, or Claude Code's payload for hooks
//! that are configured in Claude Code's format.

use serde_json::{Value, json};

use super::{At, claude};
use crate::hook::answer::{HookAnswer, HookOutput};
use crate::hook::effects::Call;
use crate::hook::fields;
use crate::hook::host::{Family, Host};
use crate::hook::incoming::{Incoming, Moment, PayloadParts, moment};

pub(super) fn read(host: Host, payload: &Value) -> Incoming {
    if payload.get("hook_event_name").is_some() {
        return Incoming { family: Family::Claude, ..claude::read(host, payload) };
    }
    let moment = moment_by_fields(payload);
    let call = matches!(moment, Moment::Before | Moment::After).then(|| call(payload)).flatten();
    let id = fields::word(payload, &["toolCallId", "toolUseId"]).map(str::to_owned);
    let parts = PayloadParts { family: Family::Copilot, moment, name: String::new(), call, id };
    Incoming::new(host, payload, parts)
}

/// Returns the moment by the fields of the payload. It does not name its event, but no two events
/// have the same fields.
fn moment_by_fields(payload: &Value) -> Moment {
    let has = |name: &str| payload.get(name).is_some();
    if let Some(name) = fields::word(payload, &["hookEventName", "hookName", "eventName"]) {
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

/// Returns the tool's name and input. The arguments are an object, a string that contains JSON, or
/// a string that is itself the input (a patch).
fn call(payload: &Value) -> Option<Call> {
    let tool = fields::word(payload, &["toolName"])?.to_owned();
    let input = fields::any(payload, &["toolArgs"]).map_or(Value::Null, fields::unpacked);
    Some(Call { tool, input })
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
