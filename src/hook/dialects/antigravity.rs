//! The dialect of Antigravity, which always expects a decision. `ask` changes nothing: what the
//! person has allowed permanently runs, and everything else is asked as it would be without this
//! hook. `force_ask` always asks, so a question of ours is `force_ask`.

use serde_json::{Value, json};

use super::{At, Call, HookAnswer, HookOutput, Moment, PayloadParts, fields, moment};

pub(super) fn read(payload: &Value) -> PayloadParts<'_> {
    let name = fields::word(payload, "hook_event_name hookEventName eventName");
    let called = payload.get("toolCall");
    let ended = fields::first_field(payload, "toolResult toolResponse toolOutput").is_some();
    let moment = match name {
        Some(name) => moment(name),
        None if called.is_none() && payload.get("prompt").is_some() => Moment::Prompt,
        None if called.is_none() => Moment::Other,
        None if ended => Moment::After,
        None => Moment::Before,
    };
    PayloadParts {
        moment,
        name: name.unwrap_or_default(),
        call: called.and_then(|called| Call::from_fields(called, "name", "args arguments")),
        id: called.and_then(|called| fields::word(called, "id callId")),
    }
}

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    let document = match (said, at.moment) {
        (HookAnswer::Deny(reason), Moment::Before) => {
            json!({ "decision": "deny", "reason": reason })
        }
        (HookAnswer::Ask(reason), Moment::Before) => {
            json!({ "decision": "force_ask", "reason": reason })
        }
        (HookAnswer::Context(text), Moment::Before) => json!({ "decision": "ask", "reason": text }),
        (_, Moment::Before) => json!({ "decision": "ask" }),
        (HookAnswer::Context(text) | HookAnswer::Violation(text), _) => {
            json!({ "additionalContext": text })
        }
        _ => return HookOutput::default(),
    };
    HookOutput::json(&document)
}
