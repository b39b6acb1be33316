//! The dialect of Cursor, which always expects `permission`, in JSON only. With `failClosed` an
//! empty answer is a denial, and with exit code 2 Cursor shows the raw JSON to the person.

use serde_json::{Value, json};

use super::{At, Call, HookAnswer, HookOutput, Moment, PayloadParts, fields, moment};

pub(super) fn read(payload: &Value) -> PayloadParts<'_> {
    let name = fields::word(payload, "hook_event_name").unwrap_or("preToolUse");
    let call = call(name, payload);
    // Cursor reports a command, or a call of an MCP tool, by two events, one with an id and one
    // without. The id is dropped, so both are recognised as one call by their input.
    let twice = call.as_ref().is_some_and(|call| call.tool == SHELL || call.tool.starts_with(MCP));
    let id = fields::word(payload, "tool_use_id").filter(|_| !twice);
    PayloadParts { moment: moment(name), name, call, id }
}

const SHELL: &str = "Shell";
const MCP: &str = "MCP:";

fn call(name: &str, payload: &Value) -> Option<Call> {
    match name {
        "beforeShellExecution" | "afterShellExecution" => Some(shell(payload, payload)),
        "beforeReadFile" => Some(Call { tool: "Read".to_owned(), input: payload.clone() }),
        _ => {
            let tool = fields::word(payload, "tool_name")?;
            let input = fields::input(payload, "tool_input");
            if tool == SHELL {
                return Some(shell(&input, payload));
            }
            let server = name.contains("MCP") && !tool.starts_with(MCP);
            let tool = if server { format!("{MCP}{tool}") } else { tool.to_owned() };
            Some(Call { tool, input })
        }
    }
}

/// Returns the call of a command, in the same form for every event. The folder is that of the call
/// itself, if it names one, else that of the payload.
fn shell(source: &Value, payload: &Value) -> Call {
    let mut input = serde_json::Map::new();
    if let Some(command) = source.get("command") {
        input.insert("command".to_owned(), command.clone());
    }
    let folder = fields::word(source, "cwd").or_else(|| fields::word(payload, "cwd"));
    if let Some(folder) = folder {
        input.insert("cwd".to_owned(), folder.into());
    }
    if fields::is_true(source, fields::BACKGROUND) {
        input.insert("is_background".to_owned(), true.into());
    }
    Call { tool: SHELL.to_owned(), input: Value::Object(input) }
}

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    let document = match (said, at.moment) {
        // Cursor accepts `ask` here but asks nobody, and the call would run. So a question is a
        // denial.
        (HookAnswer::Deny(reason) | HookAnswer::Ask(reason), Moment::Before) => {
            // Cursor shows `user_message` to the model, not `agent_message`.
            json!({ "permission": "deny", "user_message": reason, "agent_message": reason })
        }
        (HookAnswer::Context(text), Moment::Before) => {
            json!({ "permission": "allow", "agent_message": text })
        }
        (_, Moment::Before) => json!({ "permission": "allow" }),
        (_, Moment::Prompt) => json!({ "continue": true }),
        (_, Moment::Other) if asks_for_permission(at.name) => json!({ "permission": "allow" }),
        (HookAnswer::Context(text) | HookAnswer::Violation(text), _) => {
            json!({ "additional_context": text })
        }
        _ => json!({}),
    };
    HookOutput::json(&document)
}

/// Returns true for events that we do not handle, but that wait for a permission.
fn asks_for_permission(name: &str) -> bool {
    name.starts_with("before") || name.starts_with("pre") || name == "subagentStart"
}
