//! Answers Claude Code when its settings have changed during a session. Claude Code asks the hook
//! before it uses them. Settings without our hook, or with all hooks switched off, are refused, so
//! that no session can switch off its own gate.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::install::recognise::starts_us;
use super::install::settings;
use ground::{Environment, Root};

/// Returns why the changed settings must not be used. Returns `None` if the folder is not governed,
/// or if the settings still call our hook.
pub(crate) fn objection(cwd: &Path, environment: &Environment) -> Option<String> {
    let root = Root::find(cwd, environment).ok().filter(Root::governed)?;
    let all: Vec<Value> =
        files(root.path(), environment).iter().filter_map(|file| settings(file)).collect();
    if all.iter().any(|settings| settings.get("disableAllHooks") == Some(&Value::Bool(true))) {
        return Some("The changed settings switch all hooks off, and with them the gate (`disableAllHooks`). They are not taken over in this session; take that line out.".to_owned());
    }
    if all.iter().any(calls_us) {
        return None;
    }
    Some("The changed settings no longer call `intent agent hook` before a tool runs. They are not taken over in this session; put the hook back with `intent setup init --agent claude-code`.".to_owned())
}

fn files(root: &Path, environment: &Environment) -> Vec<PathBuf> {
    let user = environment.variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let user = user.or_else(|| environment.home().map(|home| home.join(".claude")));
    let project = root.join(".claude");
    let mut files = vec![project.join("settings.json"), project.join("settings.local.json")];
    files.extend(user.map(|folder| folder.join("settings.json")));
    files
}

/// Returns true if the settings call our hook before a tool that writes.
fn calls_us(settings: &Value) -> bool {
    let groups = settings.pointer("/hooks/PreToolUse").and_then(Value::as_array);
    groups.into_iter().flatten().any(|group| is_for_writes(group) && starts_us(group, &["hook"]))
}

/// Returns true if the matcher of a group names the tool `Write`, or no tool at all, as in `*`.
fn is_for_writes(group: &Value) -> bool {
    let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
    matcher.contains("Write") || !matcher.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hook(hook: Value) -> Value {
        json!({ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [hook] }] } })
    }

    #[test]
    fn our_hook_is_recognised_in_every_spelling() {
        for ours in [
            json!({"type": "command", "command": "/usr/bin/intent", "args": ["hook", "claude-code"]}),
            json!({"command": "intent hook claude-code"}),
            json!({"command": "intent-lsp agent hook claude-code"}),
            json!({"command": "\"C:\\Tools\\intent.exe\" hook claude-code"}),
        ] {
            assert!(calls_us(&hook(ours.clone())), "{ours}");
        }
        for other in [
            json!({"command": "echo hook"}),
            json!({"command": "intent", "args": ["lsp"]}),
            json!({"command": "not-intent hook"}),
        ] {
            assert!(!calls_us(&hook(other.clone())), "{other}");
        }
        assert!(!calls_us(&json!({"hooks": {"PostToolUse": []}})));
        let ours = json!({"command": "intent hook claude-code"});
        for (matcher, calls) in [("Write|Edit", true), ("", true), ("Nothing", false)] {
            let group = json!({"matcher": matcher, "hooks": [ours]});
            let settings = json!({"hooks": {"PreToolUse": [group]}});
            assert_eq!(calls_us(&settings), calls, "{matcher}");
        }
    }

    #[test]
    fn settings_with_comments_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        let text = "// our team\n{ \"hooks\": { \"PreToolUse\": [{ \"hooks\": [{ \"command\": \"intent hook claude-code\" }] }] } }\n";
        std::fs::write(&file, text).unwrap();
        assert!(settings(&file).as_ref().is_some_and(calls_us));
    }
}
