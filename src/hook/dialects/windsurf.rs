//! The dialect of Windsurf (Cascade, Devin Desktop): a payload of its own, and exit code 2 for a
//! denial.

use serde_json::{Value, json};

use super::{At, Call, HookAnswer, HookOutput, PayloadParts, fields, moment, plain};

pub(super) fn read(payload: &Value) -> PayloadParts<'_> {
    let name = fields::word(payload, "agent_action_name").unwrap_or("pre_write_code");
    PayloadParts {
        moment: moment(name),
        name,
        call: payload.get("tool_info").and_then(|info| call(name, info)),
        // Windsurf has no ids of calls. `execution_id` identifies a whole turn.
        id: None,
    }
}

/// Returns the call. The name of the action contains the tool. A call after a tool is matched with
/// the one before it by its input, so only fields that both events have are kept.
fn call(action: &str, info: &Value) -> Option<Call> {
    let (_, tool) = action.split_once('_')?;
    let kept = |names: &str| {
        let kept = |name: &str| Some((name.to_owned(), info.get(name)?.clone()));
        Value::Object(names.split_whitespace().filter_map(kept).collect())
    };
    let (tool, input) = match tool {
        "write_code" => (tool.to_owned(), kept("file_path edits")),
        "run_command" => (tool.to_owned(), kept("command_line cwd")),
        "read_code" => (tool.to_owned(), kept("file_path")),
        "mcp_tool_use" => {
            let server = fields::word(info, "mcp_server_name").unwrap_or_default();
            let name = fields::word(info, "mcp_tool_name")?;
            let arguments = fields::first_field(info, "mcp_tool_arguments");
            let arguments = arguments.map_or(json!({}), fields::unpacked_json);
            (format!("mcp__{server}__{name}"), arguments)
        }
        _ => return None,
    };
    Some(Call { tool, input })
}

pub(super) fn answer(at: At, said: &HookAnswer) -> HookOutput {
    match said {
        // Only a denial reaches the model. Other text is shown to the person if they have switched
        // that on.
        HookAnswer::Context(text) => HookOutput::remark(text),
        said => plain::answer(at, said),
    }
}
