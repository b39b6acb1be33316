//! The dialect of Cline, which reads the field `cancel` and ignores the exit code.

use serde_json::{Value, json};

use super::{At, Call, HookAnswer, HookOutput, Moment, PayloadParts, fields, moment};

pub(super) fn read(payload: &Value) -> PayloadParts<'_> {
    let name = fields::word(payload, "hookName").unwrap_or("PreToolUse");
    let body = fields::first_field(payload, "preToolUse postToolUse tool_call tool_result");
    let id = body.and_then(|body| fields::word(body, "toolCallId toolUseId id"));
    let call = body
        .and_then(|body| Call::from_fields(body, "toolName name tool", "parameters input args"));
    PayloadParts { moment: moment(name), name, call, id }
}

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    let document = match said {
        HookAnswer::Deny(reason) | HookAnswer::Ask(reason) if at.moment == Moment::Before => {
            json!({ "cancel": true, "errorMessage": reason })
        }
        HookAnswer::Context(text) | HookAnswer::Violation(text) => {
            json!({ "cancel": false, "contextModification": text })
        }
        _ => json!({ "cancel": false }),
    };
    HookOutput::json(&document)
}
