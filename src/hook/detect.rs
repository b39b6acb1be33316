//! Detects which host wrote a payload.
//!
//! Some hosts also run the hooks that another host's settings name: Cursor, VS Code, Copilot and
//! Devin read Claude Code's settings. So the name after `intent agent hook` is checked against the
//! payload.

use serde_json::Value;

use super::fields;
use super::host::{HOSTS, Host, UNKNOWN, host_named};
use ground::text::is_listed;

/// Returns the host to answer: the named one, unless the payload has marks of another host. `auto`
/// names no host.
pub(crate) fn host(name: &str, payload: &Value, in_devin: bool) -> Host {
    let named_host = host_named(name);
    let marked = marks(payload).and_then(host_named);
    if let Some(named_host) = named_host {
        return marked.filter(|marked| contradicts_mark(&named_host, marked)).unwrap_or_else(
            || {
                // Devin imports Claude Code's settings and uses its payload. Only the names of its
                // tools differ.
                let devin =
                    named_host.name == "claude-code" && in_devin && has_tool(payload, DEVIN);
                if devin { host_named("devin").unwrap_or(named_host) } else { named_host }
            },
        );
    }
    marked.or_else(|| likely_host(payload, in_devin).and_then(host_named)).unwrap_or(UNKNOWN)
}

/// Returns true if the marks of a payload outweigh the name. They never do for our own shims, which
/// write Claude Code's payload.
fn contradicts_mark(named_host: &Host, marked: &Host) -> bool {
    let shims = ["opencode", "amp", "pi"];
    named_host.name != marked.name && !shims.contains(&named_host.name)
}

/// The names of tools that only one host has, separated by blanks.
const VSCODE: &str = "
    run_in_terminal replace_string_in_file multi_replace_string_in_file insert_edit_into_file
    copilot_insertEdit copilot_replaceString editFiles manage_todo_list
";
const KIRO: &str = "execute_bash execute_cmd fs_write fs_read";
const DROID: &str = "Execute Create ApplyPatch";
const DEVIN: &str = "exec write edit";

/// Returns the host whose marks the payload has: fields, events or tools that only one host writes.
fn marks(payload: &Value) -> Option<&'static str> {
    let has = |name: &str| payload.get(name).is_some();
    let any = |names: &[&str]| names.iter().any(|name| has(name));
    let event = fields::word(payload, "hook_event_name hookEventName").unwrap_or_default();
    let of_gemini =
        ["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel"];
    let of_cline = ["taskId", "preToolUse", "postToolUse", "tool_call"];
    let marks = [
        ("windsurf", has("agent_action_name")),
        ("antigravity", payload.get("toolCall").is_some_and(Value::is_object)),
        ("cline", has("hookName") && any(&of_cline)),
        ("copilot", has("toolName") && any(&["toolArgs", "sessionId"])),
        ("cursor", any(&["cursor_version", "generation_id", "conversation_id"])),
        ("gemini", of_gemini.contains(&event)),
        ("codex", has("turn_id") && !event.is_empty()),
        ("vscode", has("hookEventName") && any(&["tool_name", "sessionId"])),
        ("vscode", !event.is_empty() && has_tool(payload, VSCODE)),
    ];
    marks.into_iter().find(|(_, marked)| *marked).map(|(host, _)| host)
}

fn likely_host(payload: &Value, in_devin: bool) -> Option<&'static str> {
    payload.get("hook_event_name")?;
    Some(match () {
        () if has_tool(payload, KIRO) => "kiro",
        () if has_tool(payload, DROID) => "droid",
        () if in_devin && has_tool(payload, DEVIN) => "devin",
        () => "claude-code",
    })
}

fn has_tool(payload: &Value, tools: &str) -> bool {
    fields::word(payload, "tool_name").is_some_and(|tool| is_listed(tools, tool))
}

pub(crate) fn names() -> String {
    let names: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
    format!("{}, auto", names.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_payload_shows_its_host() {
        let rows = [
            ("windsurf", json!({"agent_action_name": "pre_write_code", "tool_info": {}})),
            (
                "antigravity",
                json!({"toolCall": {"name": "run_command", "args": {}}, "conversationId": "c"}),
            ),
            ("cline", json!({"hookName": "PreToolUse", "taskId": "t", "preToolUse": {}})),
            ("copilot", json!({"sessionId": "s", "toolName": "edit", "toolArgs": "{}"})),
            (
                "cursor",
                json!({"conversation_id": "c", "hook_event_name": "preToolUse", "tool_name": "Write"}),
            ),
            (
                "gemini",
                json!({"session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "replace"}),
            ),
            ("codex", json!({"session_id": "s", "turn_id": "t", "hook_event_name": "PreToolUse"})),
            ("vscode", json!({"sessionId": "s", "hookEventName": "PreToolUse", "tool_name": "x"})),
            (
                "vscode",
                json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "run_in_terminal"}),
            ),
            (
                "kiro",
                json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "fs_write"}),
            ),
            (
                "droid",
                json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Execute"}),
            ),
            (
                "claude-code",
                json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Write"}),
            ),
            ("unknown", json!({"event": "something"})),
        ];
        for (expected, payload) in rows {
            assert_eq!(host("auto", &payload, false).name, expected, "{payload}");
        }
        let devin = json!({"hook_event_name": "PreToolUse", "tool_name": "exec"});
        assert_eq!(host("auto", &devin, true).name, "devin");
        assert_eq!(host("auto", &devin, false).name, "claude-code");
        assert_eq!(host("claude-code", &devin, true).name, "devin");
    }

    #[test]
    fn a_name_wins_unless_the_payload_belongs_to_another() {
        let plain =
            json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Execute"});
        let cursor =
            json!({"conversation_id": "c", "hook_event_name": "preToolUse", "tool_name": "Write"});
        assert_eq!(host("devin", &plain, false).name, "devin");
        assert_eq!(host("claude-code", &cursor, false).name, "cursor");
        assert_eq!(host("codex", &json!({}), false).name, "codex");
        assert_eq!(host("opencode", &cursor, false).name, "opencode", "its shim is ours");
    }
}
