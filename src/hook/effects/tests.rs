//! What the tools of every host would do, in tables.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::host::{HOSTS, host_named};

fn effects(host: &str, tool: &str, input: Value) -> Vec<Effect> {
    let host = host_named(host).expect("a host");
    effects_of_call(&host, &Call { tool: tool.to_owned(), input }, Path::new("/p"))
}

/// Returns the effects in short form, such as `write src/a.rs Whole("x")`.
fn told(host: &str, tool: &str, input: Value) -> String {
    effects(host, tool, input).iter().map(short).collect::<Vec<_>>().join("; ")
}

fn short(effect: &Effect) -> String {
    match effect {
        Effect::Read { path, .. } => format!("read {}", path.display()),
        Effect::Write { path, change } => format!("write {} {}", path.display(), kind(change)),
        Effect::Delete { path } => format!("delete {}", path.display()),
        Effect::Move { from, to, change } => {
            let change = change.as_ref().map(kind).unwrap_or_default();
            format!("move {} {} {change}", from.display(), to.display()).trim_end().to_owned()
        }
        Effect::Shell { text, dialect, cwd, background } => {
            let cwd = cwd.as_ref().map(|cwd| format!(" in {}", cwd.display())).unwrap_or_default();
            let on = if *background { " and on" } else { "" };
            format!("{dialect:?} {text:?}{cwd}{on}")
        }
        Effect::Select { intent } => format!("select {intent}"),
        Effect::Unforeseen => "unforeseen".to_owned(),
        Effect::Unreadable { what } => format!("unreadable: {what}"),
    }
}

fn kind(change: &Change) -> String {
    let name = format!("{change:?}");
    match change {
        Change::Whole(_) | Change::Append(_) | Change::Blocks(_) | Change::Insert { .. } => name,
        Change::Replace(all) | Change::ReplaceLoosely(all) => {
            let name = name.split('(').next().unwrap_or_default();
            let one = |one: &Replacement| {
                format!("{}>{}{}", one.old, one.new, if one.every { "*" } else { "" })
            };
            format!("{name}({})", all.iter().map(one).collect::<Vec<_>>().join(" "))
        }
        _ => name.split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn the_tools_that_write_and_edit_have_the_right_effects() {
    let edits = json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "p", "new_string": "q", "replace_all": true}]});
    let rows = [
        (
            "claude-code",
            "Write",
            json!({"file_path": "/p/a", "content": "x"}),
            "write /p/a Whole(\"x\")",
        ),
        ("claude-code", "Write", json!({"file_path": "/p/a"}), "write /p/a Unknown"),
        (
            "claude-code",
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            "write a Replace(x>y)",
        ),
        (
            "claude-code",
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "", "replace_all": true}),
            "write a Replace(x>*)",
        ),
        (
            "claude-code",
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": 7}),
            "write a Unknown",
        ),
        ("claude-code", "MultiEdit", edits.clone(), "write a Replace(x>y p>q*)"),
        ("claude-code", "MultiEdit", json!({"file_path": "a", "edits": 7}), "write a Unknown"),
        ("claude-code", "MultiEdit", json!({"file_path": "a", "edits": []}), "write a Unknown"),
        (
            "claude-code",
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "cell_id": "c", "new_source": "x"}),
            "write n.ipynb Cell",
        ),
        (
            "claude-code",
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "edit_mode": "melt"}),
            "write n.ipynb Unknown",
        ),
        (
            "cursor",
            "StrReplace",
            json!({"path": "a", "old_string": "x", "new_string": "y"}),
            "write a ReplaceLoosely(x>y)",
        ),
        ("cursor", "Write", json!({"target_file": "a", "contents": "x"}), "write a Whole(\"x\")"),
        (
            "copilot",
            "edit",
            json!({"path": "a", "old_str": "x", "new_str": "y"}),
            "write a ReplaceLoosely(x>y)",
        ),
        ("copilot", "create", json!({"path": "a", "file_text": ""}), "write a Whole(\"\")"),
        (
            "vscode",
            "create_file",
            json!({"filePath": "file:///p/a%20b", "content": "x"}),
            "write /p/a b Whole(\"x\")",
        ),
        (
            "vscode",
            "replace_string_in_file",
            json!({"filePath": "a", "oldString": "x", "newString": "y"}),
            "write a ReplaceLoosely(x>y)",
        ),
        (
            "vscode",
            "multi_replace_string_in_file",
            json!({"replacements": [{"filePath": "a", "oldString": "x", "newString": "y"}, {"filePath": "b", "oldString": "x", "newString": "y"}]}),
            "write a ReplaceLoosely(x>y); write b ReplaceLoosely(x>y)",
        ),
        (
            "vscode",
            "insert_edit_into_file",
            json!({"filePath": "a", "code": "…existing code…"}),
            "write a Unknown",
        ),
        (
            "vscode",
            "editFiles",
            json!({"files": ["a", {"filePath": "b"}]}),
            "write a Unknown; write b Unknown",
        ),
        (
            "roo",
            "search_and_replace",
            json!({"path": "a", "operations": [{"search": "src/x.rs", "replace": "y"}]}),
            "write a Unknown",
        ),
        (
            "roo",
            "search_and_replace",
            json!({"path": "a", "search": "/p/src/x.rs", "replace": "./y", "use_regex": "true"}),
            "write a Unknown",
        ),
        // If an operation names a file of its own, that one is judged as well.
        (
            "roo",
            "search_and_replace",
            json!({"path": "a", "operations": [{"path": "b", "search": "x", "replace": "y"}]}),
            "write a Unknown; write b Unknown",
        ),
        ("roo", "access_mcp_resource", json!({"server_name": "s", "uri": "file:///etc/x"}), ""),
        ("cline", "access_mcp_resource", json!({"server_name": "s", "uri": "x://../src/a"}), ""),
        ("roo", "run_slash_command", json!({"command": "rm", "args": "-rf src"}), ""),
        ("gemini", "write_file", json!({"file_path": "a", "content": "x"}), "write a Whole(\"x\")"),
        (
            "gemini",
            "replace",
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "allow_multiple": true}),
            "write a ReplaceLoosely(x>y*)",
        ),
        (
            "gemini",
            "replace",
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 2}),
            "write a Unknown",
        ),
        (
            "antigravity",
            "write_to_file",
            json!({"TargetFile": "/p/a", "CodeContent": "x"}),
            "write /p/a Whole(\"x\")",
        ),
        (
            "antigravity",
            "replace_file_content",
            json!({"TargetFile": "a", "TargetContent": "x", "ReplacementContent": "y", "AllowMultiple": true}),
            "write a ReplaceLoosely(x>y*)",
        ),
        (
            "antigravity",
            "multi_replace_file_content",
            json!({"TargetFile": "a", "ReplacementChunks": [{"TargetContent": "x", "ReplacementContent": "y"}]}),
            "write a ReplaceLoosely(x>y)",
        ),
        ("windsurf", "write_code", edits, "write a ReplaceLoosely(x>y p>q*)"),
        ("cline", "write_to_file", json!({"path": "a", "content": "x"}), "write a Whole(\"x\")"),
        ("cline", "replace_in_file", json!({"path": "a", "diff": "d"}), "write a Blocks(\"d\")"),
        (
            "cline",
            "editor",
            json!({"path": "a", "old_text": "x", "new_text": "y"}),
            "write a ReplaceLoosely(x>y)",
        ),
        (
            "kiro",
            "fs_write",
            json!({"command": "create", "path": "a", "file_text": "x"}),
            "write a Whole(\"x\")",
        ),
        (
            "kiro",
            "fs_write",
            json!({"command": "append", "path": "a", "new_str": "x"}),
            "write a Append(\"x\")",
        ),
        (
            "kiro",
            "fs_write",
            json!({"command": "insert", "path": "a", "insert_line": 2, "new_str": "x\n"}),
            "write a Insert { after_line: 2, text: \"x\\n\" }",
        ),
        (
            "kiro",
            "fs_write",
            json!({"operations": [{"command": "create", "path": "a", "file_text": "x"}, {"command": "str_replace", "path": "b", "old_str": "x", "new_str": "y"}]}),
            "write a Whole(\"x\"); write b ReplaceLoosely(x>y)",
        ),
        (
            "kiro",
            "fs_write",
            json!({"operations": [{"command": "create", "path": "a", "file_text": "x"}, {"command": "append", "path": "a", "new_str": "y"}]}),
            "write a Unknown; write a Unknown",
        ),
        (
            "droid",
            "Edit",
            json!({"file_path": "a", "changes": [{"old_str": "x", "new_str": "y", "change_all": true}]}),
            "write a ReplaceLoosely(x>y*)",
        ),
        ("droid", "Create", json!({"file_path": "a", "content": "x"}), "write a Whole(\"x\")"),
        (
            "devin",
            "edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            "write a ReplaceLoosely(x>y)",
        ),
        ("opencode", "write", json!({"filePath": "a", "content": "x"}), "write a Whole(\"x\")"),
        (
            "opencode",
            "edit",
            json!({"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": true}),
            "write a ReplaceLoosely(x>y*)",
        ),
        (
            "pi",
            "edit",
            json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            "write a ReplaceLoosely(x>y)",
        ),
        (
            "pi",
            "edit",
            json!({"path": "a", "edits": "[{\"oldText\":\"x\",\"newText\":\"y\"}]"}),
            "write a ReplaceLoosely(x>y)",
        ),
        (
            "amp",
            "edit_file",
            json!({"path": "a", "old_str": "x", "new_str": "y"}),
            "write a ReplaceLoosely(x>y)",
        ),
        ("cursor", "Delete", json!({"path": "a"}), "delete a"),
        ("vscode", "rename_file", json!({"old_path": "a", "new_path": "b"}), "move a b"),
    ];
    for (host, tool, input, expected) in rows {
        assert_eq!(told(host, tool, input.clone()), expected, "{host} {tool} {input}");
    }
}

#[test]
fn the_tools_that_patch_have_the_right_effects() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n-x\n+y\n*** Delete File: d\n*** End Patch\n";
    let expected = "write a Whole(\"x\\n\"); move b c Hunks; delete d";
    for (host, tool, input) in [
        ("codex", "apply_patch", json!({"command": patch})),
        ("opencode", "apply_patch", json!({"patchText": patch})),
        ("opencode", "patch", json!({"patchText": patch})),
        ("copilot", "apply_patch", json!(patch)),
        ("droid", "ApplyPatch", json!({"input": patch})),
    ] {
        assert_eq!(told(host, tool, input), expected, "{host}");
    }
    let twice =
        "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n";
    assert_eq!(
        told("codex", "apply_patch", json!({"command": twice})),
        "write a Unknown; write a Unknown"
    );
    let respelt = twice.replace("Update File: a", "Update File: ./a");
    assert_eq!(
        told("codex", "apply_patch", json!({"command": respelt})),
        "write a Unknown; write ./a Unknown"
    );
    for broken in ["", "*** Begin Patch", "--- a\n+++ b\n", "*** Begin Patch\n*** End Patch\n"] {
        let found = told("codex", "apply_patch", json!({"command": broken}));
        assert!(found.starts_with("unreadable: `apply_patch` comes with a"), "{broken:?}: {found}");
    }
    assert!(told("codex", "apply_patch", json!({})).starts_with("unreadable"));
}

#[test]
fn a_patch_in_a_command_is_a_command_and_a_write() {
    let command =
        "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n";
    let found = effects("codex", "Bash", json!({"command": command}));
    assert_eq!(found[0], Effect::Delete { path: "/p/sub/a".into() });
    assert!(matches!(&found[1], Effect::Shell { text, .. } if text == command), "{found:?}");
}

#[test]
fn the_tools_that_run_commands_have_the_right_effects() {
    let rows = [
        (
            "claude-code",
            "Bash",
            json!({"command": "ls", "run_in_background": true}),
            "Posix \"ls\" and on",
        ),
        ("claude-code", "PowerShell", json!({"command": "dir"}), "PowerShell \"dir\""),
        ("claude-code", "Monitor", json!({"command": "tail -f x"}), "Posix \"tail -f x\" and on"),
        ("kiro", "execute_cmd", json!({"command": "dir"}), "Cmd \"dir\""),
        (
            "gemini",
            "run_shell_command",
            json!({"command": "ls", "dir_path": "sub"}),
            "Posix \"ls\" in /p/sub",
        ),
        (
            "antigravity",
            "run_command",
            json!({"CommandLine": "ls", "Cwd": "/q"}),
            "Posix \"ls\" in /q",
        ),
        (
            "windsurf",
            "run_command",
            json!({"command_line": "ls", "cwd": "/q"}),
            "Posix \"ls\" in /q",
        ),
        ("cursor", "Shell", json!({"command": "ls", "cwd": ""}), "Posix \"ls\""),
        (
            "cline",
            "run_commands",
            json!({"cwd": "q", "commands": ["a", {"command": "b", "cwd": "r"}]}),
            "Posix \"a\" in /p/q; Posix \"b\" in /p/q/r",
        ),
        (
            "cline",
            "run_commands",
            json!({"commands": ["a", {"command": "b"}]}),
            "Posix \"a\"; Posix \"b\"",
        ),
        (
            "droid",
            "Execute",
            json!({"command": ["bash", "-lc", "echo 'x'"]}),
            "Posix \"bash -lc 'echo '\\\\''x'\\\\'''\"",
        ),
        (
            "copilot",
            "write_bash",
            json!({"sessionId": "1", "input": "y\n"}),
            "Posix \"y\\n\" and on",
        ),
    ];
    for (host, tool, input, expected) in rows {
        let platform = PLATFORM == Dialect::Posix;
        if platform {
            assert_eq!(told(host, tool, input.clone()), expected, "{host} {tool} {input}");
        }
    }
    for input in [
        json!({}),
        json!({"command": null}),
        json!({"command": 7}),
        json!({"commands": []}),
        json!({"command": ["a", 7]}),
        json!([]),
    ] {
        assert!(told("claude-code", "Bash", input.clone()).starts_with("unreadable"), "{input}");
    }
}

#[test]
fn calls_inside_a_call_are_read() {
    let calls = json!({"tool_calls": [
        {"tool": "read", "parameters": {"filePath": "a"}},
        {"tool": "write", "parameters": {"filePath": "b", "content": "x"}},
        {"tool": "edit", "parameters": {"filePath": "b", "oldString": "x", "newString": "y"}},
        {"tool": "bash", "parameters": {"command": "ls"}},
    ]});
    let expected = "read a; write b Unknown; write b Unknown; Posix \"ls\"";
    assert_eq!(told("opencode", "batch", calls), expected);
    let nested = json!({"tool_calls": [{"tool": "batch", "parameters": {"tool_calls": []}}]});
    assert!(told("opencode", "batch", nested).starts_with("unreadable"));
    assert!(told("opencode", "batch", json!({})).starts_with("unreadable"));
    let task = json!({"workspaceFolder": "/q", "task": {"label": "x", "command": "rm", "args": ["-rf", "a b"]}});
    let found = told("vscode", "create_and_run_task", task);
    assert!(found.starts_with("write /q/.vscode/tasks.json Unknown; "), "{found}");
    assert!(found.ends_with("\"rm -rf 'a b'\" and on"), "{found}");
}

#[test]
fn only_an_editor_views_when_its_input_says_so() {
    let view = json!({"command": "view", "path": "a", "code_edit": "x"});
    assert_eq!(told("copilot", "str_replace_editor", view.clone()), "read a");
    assert_eq!(told("copilot", "edit_file", view), "write a Unknown");
}

#[test]
fn a_call_without_a_command_has_no_effect() {
    for (host, tool) in
        [("claude-code", "SlashCommand"), ("kiro", "todo_list"), ("kiro", "use_subagent")]
    {
        assert_eq!(
            told(host, tool, json!({"command": "create", "path": "a"})),
            "",
            "{host} {tool}"
        );
    }
}

#[test]
fn a_read_is_never_unreadable() {
    for host in HOSTS {
        for tool in ["Read", "read_file", "view", "grep", "Glob", "list_directory"] {
            assert!(only_reads(host, tool));
            for input in
                [json!({}), json!(null), json!({"file_path": 7}), json!({"file_path": "a"})]
            {
                let found =
                    effects_of_call(host, &Call { tool: tool.to_owned(), input }, Path::new("/p"));
                assert!(found.iter().all(|effect| matches!(effect, Effect::Read { .. })));
            }
        }
    }
    assert_eq!(told("opencode", "read", json!({"filePath": "a"})), "read a");
    assert_eq!(
        told("kiro", "fs_read", json!({"operations": [{"mode": "Line", "path": "a"}]})),
        "read a"
    );
    assert_eq!(told("gemini", "read_many_files", json!({"paths": ["a", "b"]})), "read a; read b");
}

/// Calls every tool that changes something with inputs that say nothing useful.
#[test]
fn a_tool_that_writes_always_has_an_effect() {
    let tools = [
        "Write",
        "Edit",
        "MultiEdit",
        "NotebookEdit",
        "apply_patch",
        "replace_in_file",
        "fs_write",
        "insert_edit_into_file",
        "editFiles",
        "Delete",
        "move_file",
        "Bash",
        "run_in_terminal",
        "write_bash",
        "use_mcp_tool",
        "create_file",
        "multi_replace_string_in_file",
        "append_file",
    ];
    let inputs = [
        json!({}),
        json!(null),
        json!("text"),
        json!([1]),
        json!({"file_path": 7, "path": {}, "command": {}}),
        json!({"file_path": "", "path": "\u{0}", "files": []}),
        json!({"operations": [], "files": [7], "replacements": [7]}),
    ];
    for host in HOSTS {
        for tool in tools {
            for input in &inputs {
                let call = Call { tool: tool.to_owned(), input: input.clone() };
                let found = effects_of_call(host, &call, Path::new("/p"));
                let seen = found.iter().any(|effect| !matches!(effect, Effect::Read { .. }));
                assert!(seen, "{} {tool} {input}: {found:?}", host.name);
            }
        }
    }
}

#[test]
fn a_call_with_contradicting_fields_is_unreadable() {
    let groups = [PATH, CONTENT, OLD, NEW, FOLDER, COMMAND, FROM, TO, EVERY];
    let tools = [
        ("Write", json!({"file_path": "a", "content": "x"})),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true}),
        ),
        ("delete_file", json!({"path": "a"})),
        ("move_file", json!({"source": "a", "destination": "b"})),
        ("Bash", json!({"command": "ls", "cwd": "/p"})),
        ("run_commands", json!({"commands": ["ls"]})),
        ("fs_write", json!({"operations": [{"path": "a", "content": "x"}]})),
    ];
    for (tool, input) in tools {
        let is_read = |input: &Value| {
            let found = effects("cline", tool, input.clone());
            assert!(!found.is_empty(), "{tool} {input}");
            !found.iter().any(|effect| matches!(effect, Effect::Unreadable { .. }))
        };
        assert!(is_read(&input), "{tool}");
        // Adds another name for each field of the input, once with the same value and once with
        // another one.
        let holder = |input: &mut Value| match tool {
            "fs_write" => input["operations"][0].take(),
            _ => input.take(),
        };
        let object = holder(&mut input.clone());
        for name in object.as_object().expect("an object").keys() {
            let Some(group) = groups.iter().find(|group| text::is_listed(group, name)) else {
                continue;
            };
            for other in group.split_whitespace().filter(|other| *other != name) {
                for (value, says) in [(object[name].clone(), true), (json!("else"), false)] {
                    let mut twice = object.clone();
                    twice[other] = value;
                    let mut whole = input.clone();
                    match tool {
                        "fs_write" => whole["operations"][0] = twice,
                        _ => whole = twice,
                    }
                    assert_eq!(is_read(&whole), says, "{tool} {whole}");
                }
            }
        }
    }
    for (tool, input) in [
        ("Bash", json!({"command": "ls", "commands": ["rm -rf /"]})),
        ("Write", json!({"file_path": "a", "content": "x", "output": "src/b.rs"})),
        ("delete_file", json!({"path": "a", "paths": ["b"]})),
        (
            "str_replace_editor",
            json!({"command": "view", "path": "a", "old_str": "x", "new_str": "y"}),
        ),
        ("delete_file", json!({"files": ["a"], "paths": ["b"]})),
        (
            "replace",
            json!({"path": "b", "old_str": "x", "new_str": "y", "command": "move", "from": "a", "to": "c"}),
        ),
        ("fs_write", json!({"path": "b", "operations": [{"path": "a", "content": "x"}]})),
        (
            "fs_write",
            json!({"operations": [{"path": "a", "content": "x"}], "replacements": [{"path": "b", "content": "x"}]}),
        ),
        ("ApplyPatch", json!({"patchText": "one", "input": "another"})),
        ("write_stdin", json!({"input": "y", "chars": "rm -rf b"})),
        ("create_and_run_task", json!({"task": {"command": "rm", "args": [{"value": "b"}]}})),
        (
            "use_mcp_tool",
            json!({"server_name": "intent", "server": "fs", "tool_name": "file_write"}),
        ),
        (
            "use_mcp_tool",
            json!({"server": "sh", "tool": "run", "arguments": {"command": "ls", "cmd": "rm b"}}),
        ),
        // The host may read these texts: with the last value, or as infinite.
        ("Bash", json!("{\"command\": \"ls\", \"command\": \"rm b\"}")),
        ("mcp__fs__write_file", json!("{\"path\": \"b\", \"content\": \"x\", \"y\": 1e999}")),
    ] {
        assert!(told("cline", tool, input.clone()).contains("unreadable"), "{tool} {input}");
    }
    let whole = json!({"path": "src/a", "filePath": "/p/src/a", "content": "x"});
    assert_eq!(
        told("cline", "Write", whole),
        "write /p/src/a Whole(\"x\")",
        "one file, said twice"
    );
    let extra = json!({"path": "a", "content": "x", "also": {"out": "src/b.rs"}});
    let found = told("cline", "mcp__fs__write_file", extra);
    assert_eq!(found, "write a Whole(\"x\"); write src/b.rs Unknown; unforeseen");
}

fn arbitrary_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/\\.\u{0}*~ \n]{0,12}".prop_map(Value::from),
    ];
    let name = prop::sample::select(
        [PATH, CONTENT, OLD, NEW, EDITS, COMMAND, FOLDER, "operations files commands"]
            .map(str::split_whitespace)
            .into_iter()
            .flatten()
            .collect::<Vec<_>>(),
    );
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..5).prop_map(|members| {
                Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_input_panics(input in arbitrary_value(), at in 0..HOSTS.len()) {
        for tool in ["Write", "Edit", "fs_write", "apply_patch", "Bash", "NotebookEdit", "move_file", "mcp__x__write_file", "What", "use_mcp_tool"] {
            let call = Call { tool: tool.to_owned(), input: input.clone() };
            effects_of_call(&HOSTS[at], &call, Path::new("/p"));
        }
    }
}
