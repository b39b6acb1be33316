//! The dialect of Cline, which reads the field `cancel` and ignores the exit code.

use serde_json::{Value, json};

use super::At;
use crate::hook::answer::{HookAnswer, HookOutput};
use crate::hook::effects::Call;
use crate::hook::fields;
use crate::hook::host::{Family, Host};
use crate::hook::incoming::{Incoming, Moment, PayloadParts, moment};

pub(super) fn read(host: Host, payload: &Value) -> Incoming {
    let name = fields::word(payload, &["hookName"]).unwrap_or("PreToolUse");
    let body = fields::any(payload, &["preToolUse", "postToolUse", "tool_call", "tool_result"]);
    let id = body.and_then(|body| fields::word(body, &["toolCallId", "toolUseId", "id"]));
    let parts = PayloadParts {
        family: Family::Cline,
        moment: moment(name),
        name: name.to_owned(),
        call: body.and_then(call),
        id: id.map(str::to_owned),
    };
    Incoming::new(host, payload, parts)
}

fn call(body: &Value) -> Option<Call> {
    let tool = fields::word(body, &["toolName", "name", "tool"])?.to_owned();
    let input = fields::any(body, &["parameters", "input", "args"]);
    Some(Call { tool, input: input.map_or(Value::Null, fields::unpacked) })
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
