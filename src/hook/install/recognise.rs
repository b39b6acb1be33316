//! Recognises our own entries in a host's settings, in every format that a host uses.

use serde_json::Value;

use shell::{OUR_NAMES, short};

/// Returns true if a word of a command, or a path, names this program. Settings of earlier versions
/// use its short name.
pub(crate) fn is_us(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    OUR_NAMES.contains(&name.trim_end_matches(".exe"))
}

/// The keys under which hosts keep the command of a hook or a server.
const COMMANDS: &[&str] = &["command", "exec", "bash", "powershell", "commandWindows"];

/// Returns true if a settings entry, or anything inside it, starts this program with one of these
/// subcommands: `hook`, `mcp`, `lsp`. `agent hook` and `agent mcp` are other spellings of them.
pub(crate) fn starts_us(entry: &Value, verbs: &[&str]) -> bool {
    match entry {
        Value::Object(members) => {
            COMMANDS.iter().filter_map(|key| members.get(*key)).any(|command| {
                let mut said = Vec::new();
                collect_words(command, &mut said);
                members.get("args").into_iter().for_each(|args| collect_words(args, &mut said));
                calls_one_of(&said, verbs)
            }) || members.values().any(|value| starts_us(value, verbs))
        }
        Value::Array(entries) => entries.iter().any(|entry| starts_us(entry, verbs)),
        _ => false,
    }
}

fn collect_words(command: &Value, said: &mut Vec<String>) {
    match command {
        Value::String(text) => said.extend(text.split_whitespace().map(str::to_owned)),
        Value::Array(list) => list.iter().for_each(|word| collect_words(word, said)),
        _ => {}
    }
}

/// Programs that start no other program. If one of them comes first, the other words are only its
/// arguments.
const INERT: &[&str] = &["true", "false", ":", "echo", "printf", "#"];

fn calls_one_of(words: &[String], verbs: &[&str]) -> bool {
    let is_started = |at: usize| {
        let before = &words[..at];
        let end = before.iter().rposition(|word| word.ends_with([';', '&', '|']));
        let first = before.get(end.map_or(0, |end| end + 1));
        !first.is_some_and(|first| INERT.contains(&first.rsplit('/').next().unwrap_or(first)))
    };
    words.iter().enumerate().any(|(at, word)| {
        is_us(word.trim_matches(['"', '\'']))
            && short(&words[at + 1..]).first().is_some_and(|verb| verbs.contains(&verb.as_str()))
            && is_started(at)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_entries_are_recognised_in_every_spelling() {
        for ours in [
            json!({"type": "command", "command": "/usr/bin/intent", "args": ["hook", "claude-code"]}),
            json!({"command": "intent hook claude-code"}),
            json!({"command": "intent-lsp hook claude-code"}),
            json!({"command": "'/opt/with space/intent' hook codex"}),
            json!({"command": "\"C:\\Tools\\intent.exe\" hook claude-code"}),
            json!({"bash": "intent hook copilot", "powershell": "intent hook copilot"}),
            json!({"matcher": "*", "hooks": [{"command": "other"}, {"command": "intent hook gemini"}]}),
            json!({"action": {"type": "command", "command": "intent hook kiro"}}),
            json!({"command": "intent-lsp agent hook claude-code"}),
            json!({"command": "/usr/bin/intent", "args": ["agent", "hook", "claude-code"]}),
            json!({"command": "cd . && echo x; env A=1 intent hook codex || true"}),
        ] {
            assert!(starts_us(&ours, &["hook"]), "{ours}");
        }
        assert!(starts_us(&json!({"command": ["intent", "mcp"]}), &["mcp"]));
        assert!(starts_us(&json!({"command": ["intent", "agent", "mcp"]}), &["mcp"]));
        for other in [
            json!({"command": "echo hook"}),
            json!({"command": "intent", "args": ["lsp"]}),
            json!({"command": "intent agent off"}),
            json!({"command": "intent evidence hook"}),
            json!({"command": "not-intent hook"}),
            json!({"command": "intent"}),
            json!({"description": "intent hook"}),
            json!("intent hook codex"),
            json!({"command": "true intent hook codex"}),
            json!({"command": "cd . && /bin/echo intent hook codex"}),
            json!({"command": "/bin/true", "args": ["intent", "hook", "codex"]}),
        ] {
            assert!(!starts_us(&other, &["hook"]), "{other}");
        }
    }
}
