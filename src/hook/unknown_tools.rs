//! Works out the effects of tools that are in no table: tools of MCP servers (ours too), and tools
//! that a host has added since.
//!
//! A tool that names a command or writes a file is judged. Any other tool is ignored: hosts report
//! many tools to the hook, and denying each unknown one would make the host unusable.

use std::path::PathBuf;

use serde_json::Value;

use super::effects::CallInput;
use super::fields::{self, COMMAND, CONTENT, EDITS, FOLDER, FROM, LISTS, NEW, OLD, PATH, TO};
use super::tools::PLATFORM;
use crate::edits::Change;
use crate::verbs::event::Effect;
use crate::workspace::text::is_listed;

/// Our tool by which an agent declares its intent.
const SELECT: &str = "select_active_intent";
/// Our other tools. Each of them asks the gate itself.
const OURS: &str = "
    list_intents gate_check file_read file_write record_mutation why request_scope propose_intent
    record_lesson approval_status
";
/// The name of our server in the settings of hosts.
const OUR_SERVER: &str = "intent";

/// Words in a tool's name that say that it changes a file.
const WRITES: &str = "
    write edit create insert replace update patch append save modify touch overwrite put mkdir copy
";
const DELETES: &str = "delete remove unlink rm";
const MOVES: &str = "move rename mv";
/// Words in a tool's name that say that it only reads a file. A tool without such a word may write
/// any file that it is given.
const LOOKS: &str = "
    analyze ast browse check compare count definition definitions describe diagnostics diff display
    explain exists fetch find get grep hover info inspect lint list load look lookup open outline
    overview parse preview query read references retrieve review scan search show stat summarize
    symbols tree usages validate verify view why
";
/// Words in a tool's name that say that it runs a command. In a foreign tool without such a word, a
/// field called `command` does not count as a command line.
const RUNS: &str = "shell bash exec execute run terminal command cmd powershell process spawn";

/// Words in a tool's name that, together with one of [`RUNS`], say that it types into a program
/// that already runs.
const TYPES: &str = "write send type interact input";

/// Returns what a tool that is in no table would do.
pub(crate) fn effects(reading: &CallInput) -> Vec<Effect> {
    if is(reading.tool, SELECT) {
        return select(reading);
    }
    if ours(reading.tool) || remote(reading.input) {
        return Vec::new();
    }
    let words = words(reading.tool);
    let has = |of: &str| words.iter().any(|word| is_listed(of, word));
    let runs = has(RUNS) || !is_foreign(reading.tool);
    if runs && command(reading.input) {
        return reading.shell(PLATFORM, COMMAND, false);
    }
    if has(RUNS) && has(TYPES) && fields::word(reading.input, "input text keys").is_some() {
        return reading.shell(PLATFORM, "input text keys", true);
    }
    let is_writing = has(WRITES) || has(DELETES) || has(MOVES);
    let mut effects = known(reading, has);
    if is_writing || !effects.is_empty() {
        effects.extend(other_paths(reading).into_iter().map(|(_, path)| unknown_write(path)));
    }
    effects
}

/// Returns the effects that follow from fields with a known meaning.
fn known(reading: &CallInput, has: impl Fn(&str) -> bool) -> Vec<Effect> {
    if has(MOVES) && fields::any(reading.input, "destination to new_path newPath").is_some() {
        return reading.moved();
    }
    if !names_a_file(reading.input) {
        return Vec::new();
    }
    if has(DELETES) {
        return reading.each_path(|path| Effect::Delete { path });
    }
    let content = [CONTENT, NEW, OLD, EDITS, TEXTS].join(" ");
    if has(WRITES) || !has(LOOKS) || fields::any(reading.input, &content).is_some() {
        return written(reading);
    }
    Vec::new()
}

pub(crate) fn unknown_write(path: PathBuf) -> Effect {
    Effect::Write { path, change: Change::Unknown }
}

/// Returns the paths in all fields that we do not know, each with the name of its field. Only the
/// tool knows which of its fields name a file that it writes, so each of them counts.
pub(crate) fn other_paths(reading: &CallInput) -> Vec<(String, PathBuf)> {
    let texts = [CONTENT, NEW, OLD, EDITS, TEXTS].join(" ");
    let read = [PATH, FROM, TO, FOLDER, LISTS].join(" ");
    let Value::Object(members) = reading.input else { return Vec::new() };
    let unread =
        members.iter().filter(|(name, _)| !is_listed(&texts, name) && !is_listed(&read, name));
    let mut named: Vec<(&str, &str)> = Vec::new();
    for (name, value) in unread {
        let mut words = Vec::new();
        words_in(value, &mut words);
        named.extend(words.into_iter().map(|word| (name.as_str(), word)));
    }
    // Elsewhere, only the first of the fields that name the file is read. A later field with another
    // path is added here, because the tool may use that one.
    let names =
        PATH.split_whitespace().filter_map(|name| Some((name, reading.input.get(name)?.as_str()?)));
    let mut names = names.filter(|(_, text)| !text.is_empty());
    let first = names.next().map(|(_, text)| reading.cwd.join(text));
    named.extend(names.filter(|(_, text)| Some(reading.cwd.join(text)) != first));
    let is_path = |text: &str| {
        let spaced = text.contains(char::is_whitespace);
        text.contains(['/', '\\']) && !spaced && !text.contains("://")
            || reading.cwd.join(text).is_file()
    };
    let paths = named.into_iter().filter(|(_, text)| is_path(text));
    paths.filter_map(|(name, text)| Some((name.to_owned(), fields::path(text)?))).collect()
}

/// Collects the strings in a value that may be paths. Longer ones are skipped.
fn words_in<'a>(value: &'a Value, words: &mut Vec<&'a str>) {
    const LONGEST: usize = 1_000;
    match value {
        Value::String(text) if !text.is_empty() && text.len() < LONGEST => words.push(text),
        Value::Array(items) => items.iter().for_each(|item| words_in(item, words)),
        Value::Object(members) => members.values().for_each(|member| words_in(member, words)),
        _ => {}
    }
}

/// Fields that hold text to be written.
const TEXTS: &str = "body data code diff patch insert_text insertText";

/// Reads a host's own tool that calls a tool of an MCP server. Its input names the server and the
/// tool.
pub(crate) fn wrapped(reading: &CallInput) -> Vec<Effect> {
    let input = reading.input;
    let tool = fields::word(input, "tool_name toolName tool name");
    let server = fields::word(input, "server_name serverName server");
    let (Some(tool), Some(server)) = (tool, server) else {
        return reading.unreadable("does not say which tool it calls");
    };
    let arguments = fields::input(input, "arguments tool_input input args");
    let name = format!("mcp__{server}__{tool}");
    effects(&CallInput { tool: &name, input: &arguments, cwd: reading.cwd })
}

fn select(reading: &CallInput) -> Vec<Effect> {
    match fields::word(reading.input, "intent_id intent id") {
        Some(intent) => vec![Effect::Select { intent: intent.to_owned() }],
        // Without an intent, our server refuses the call with a better message.
        None => Vec::new(),
    }
}

/// Returns true if `name` is `tool`, with the prefix that a host adds for the server.
fn is(name: &str, tool: &str) -> bool {
    let server = name.strip_suffix(tool);
    server
        .is_some_and(|server| server.is_empty() || server.ends_with(|c: char| !c.is_alphanumeric()))
}

fn ours(name: &str) -> bool {
    let tool = OURS.split_whitespace().find(|tool| is(name, tool));
    let server = tool.and_then(|tool| name.strip_suffix(tool)).unwrap_or_default();
    let server = server.trim_matches(|c: char| !c.is_alphanumeric());
    let server = server.strip_prefix("mcp").or(server.strip_prefix("MCP")).unwrap_or(server);
    server.trim_matches(|c: char| !c.is_alphanumeric()) == OUR_SERVER
}

/// Returns true if the name has the mark of an MCP tool. For a host's own tool, a field with a
/// command is enough; its name need not say that it runs one.
fn is_foreign(name: &str) -> bool {
    name.starts_with("mcp_")
        || name.starts_with("MCP:")
        || name.starts_with('@')
        || name.contains("__")
}

/// Returns true if the call is about a file in a remote repository, or about a web page. Neither is
/// on this disk.
fn remote(input: &Value) -> bool {
    let named = |names: &str| fields::word(input, names).is_some();
    (named("owner") && named("repo"))
        || fields::word(input, PATH)
            .is_some_and(|path| path.split_once("://").is_some_and(|(scheme, _)| scheme != "file"))
}

fn command(input: &Value) -> bool {
    input.get("commands").is_some_and(Value::is_array)
        || fields::any(input, COMMAND).is_some_and(|value| value.is_string() || value.is_array())
}

fn names_a_file(input: &Value) -> bool {
    fields::word(input, PATH).is_some()
        || fields::any(input, "files paths").is_some_and(Value::is_array)
}

fn written(reading: &CallInput) -> Vec<Effect> {
    let one = fields::word(reading.input, PATH).is_some();
    // Nobody knows what an unknown tool does with its texts, except in the plainest case: one path,
    // `content`, and "write" in its name.
    let plain = words(reading.tool).contains(&"write".to_owned());
    match fields::text(reading.input, "content") {
        Some(text) if one && plain => reading.write(Change::Whole(text.to_owned())),
        _ if one && fields::any(reading.input, &[OLD, EDITS].join(" ")).is_some() => reading.edit(),
        _ => reading.each_path(unknown_write),
    }
}

/// Splits a tool's name into words: `mcp__fs__writeFile` becomes `mcp fs write file`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && lower);
        lower = c.is_lowercase();
        if begins {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn of(tool: &str, input: Value) -> String {
        let cwd = Path::new("/p");
        let found = effects(&CallInput { tool, input: &input, cwd });
        found.iter().map(|effect| format!("{effect:?}")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn our_own_tools_call_the_gate_themselves() {
        for name in [
            "mcp__intent__select_active_intent",
            "mcp_intent_select_active_intent",
            "intent_select_active_intent",
            "intent-select_active_intent",
            "MCP:select_active_intent",
            "@intent/select_active_intent",
        ] {
            let found = of(name, json!({"intent_id": "INT-001"}));
            assert_eq!(found, "Select { intent: \"INT-001\" }", "{name}");
        }
        let write = json!({"path": "src/a.rs", "content": "x"});
        for name in ["mcp__intent__file_write", "mcp_intent_file_write", "intent-file_write"] {
            assert_eq!(of(name, write.clone()), "", "{name}");
        }
        for name in ["mcp__evil__file_write", "mcp__intent2__file_write", "xintent-file_write"] {
            assert_ne!(of(name, write.clone()), "", "{name}");
        }
    }

    #[test]
    fn an_unknown_tool_that_writes_is_recognised() {
        let write = "Write { path: \"a.rs\", change: ";
        let rows = [
            ("mcp__fs__write_file", json!({"path": "a.rs", "content": "x"}), "Whole(\"x\")"),
            ("mcp__fs__create_directory", json!({"path": "a.rs"}), "Unknown"),
            ("mcp__fs__edit_file", json!({"path": "a.rs", "edits": "?"}), "Unknown"),
            (
                "serena_replace_symbol_body",
                json!({"relative_path": "a.rs", "body": "x"}),
                "Unknown",
            ),
            ("mcp__x__go", json!({"path": "a.rs", "content": "x"}), "Unknown"),
            ("generate_image", json!({"path": "a.rs", "prompt": "a cat"}), "Unknown"),
            ("NewFangledEdit", json!({"file_path": "a.rs"}), "Unknown"),
            ("mcp__fs__writeFiles", json!({"files": [{"path": "a.rs"}]}), "Unknown"),
        ];
        for (tool, input, change) in rows {
            assert_eq!(of(tool, input), format!("{write}{change} }}"), "{tool}");
        }
        let moved = of("mcp__fs__move_file", json!({"source": "a", "destination": "b"}));
        assert_eq!(moved, "Move { from: \"a\", to: \"b\", change: None }");
        assert_eq!(of("mcp__fs__delete_file", json!({"path": "a"})), "Delete { path: \"a\" }");
        assert!(
            of("mcp__fs__write_file", json!({"path": "", "files": [7]})).contains("Unreadable")
        );
    }

    #[test]
    fn an_unknown_tool_that_runs_a_command_is_recognised() {
        let shell = "Shell { text: \"rm -rf x\", dialect: ";
        for tool in ["mcp__term__run_command", "mcp__serena__execute_shell_command", "Brandnew"] {
            assert!(of(tool, json!({"command": "rm -rf x"})).starts_with(shell), "{tool}");
        }
        let typed = of("mcp__term__interact_with_process", json!({"pid": 7, "input": "rm -rf x"}));
        assert!(typed.starts_with(shell) && typed.ends_with("background: true }"), "{typed}");
        assert_eq!(of("mcp__game__look", json!({"command": "north"})), "");
    }

    #[test]
    fn a_tool_that_changes_no_local_file_has_no_effect() {
        let rows = [
            (
                "mcp__github__create_or_update_file",
                json!({"owner": "a", "repo": "b", "path": "x", "content": "y"}),
            ),
            ("mcp__web__update_page", json!({"uri": "https://example.invalid/x", "content": "y"})),
            ("mcp__notes__create_note", json!({"title": "x", "content": "y"})),
            ("list_code_usages", json!({"filePath": "/p/x"})),
            ("Task", json!({"prompt": "write the file"})),
            ("whatever", json!(null)),
            ("whatever", json!("text")),
        ];
        for (tool, input) in rows {
            assert_eq!(of(tool, input), "", "{tool}");
        }
    }

    #[test]
    fn a_wrapped_call_is_read_as_the_tool_it_calls() {
        let input = json!({"server_name": "intent", "tool_name": "select_active_intent", "arguments": "{\"intent_id\":\"INT-2\"}"});
        let found =
            wrapped(&CallInput { tool: "use_mcp_tool", input: &input, cwd: Path::new("/p") });
        assert_eq!(found, [Effect::Select { intent: "INT-2".into() }]);
        let input = json!({"arguments": "{}"});
        let found =
            wrapped(&CallInput { tool: "use_mcp_tool", input: &input, cwd: Path::new("/p") });
        assert!(matches!(found[..], [Effect::Unreadable { .. }]));
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("mcp__fs__writeFile-2"), ["mcp", "fs", "write", "file", "2"]);
        assert_eq!(words("HTTPPut"), ["httpput"], "no word is made up");
    }
}
