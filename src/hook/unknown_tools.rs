//! Works out the effects of tools that are in no table: tools of MCP servers (ours too), and tools
//! that a host has added since.
//!
//! A tool that names a command or writes a file is judged. Any other tool goes ahead, because hosts
//! report many tools to the hook, and denying each unknown one would make the host unusable. Unless
//! its name says that it only reads, the disk is compared afterwards.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::contradiction;
use super::effects::{Call, CallInput};
use super::fields::{
    self, ARGUMENTS, CALLED, COMMAND, CONTENT, EDITS, FILES, FOLDER, FROM, LISTS, NEW, OLD, PATH,
    SERVER, TO,
};
use super::foreign_code;
use super::json;
use super::tools::PLATFORM;
use edits::Change;
use evidence::event::Effect;
use ground::text::{is_listed, shell_word};
use shell::Dialect;

const SELECT: &str = "select_active_intent";
/// Our other tools. Each of them asks the gate itself.
const OURS: &str = "
    list_intents gate_check file_read file_write record_mutation why request_scope propose_intent
    record_lesson approval_status
";
const OUR_SERVER: &str = "intent";

const WRITES: &str = "
    write edit create insert replace update patch apply append save modify touch overwrite put mkdir
    copy download
";
const COPIES: &str = "copy";
const DELETES: &str = "delete remove unlink rm";
const MOVES: &str = "move rename mv";
/// Words in a tool's name that say that it only reads a file. A tool without such a word may write
/// any file that it is given.
const LOOKS: &str = "
    analyze ast attach attachment blame browse check compare count definition definitions describe
    diagnostics diff display explain exists fetch find get grep history hover info inspect lint list load look lookup open outline
    overview parse preview query read references retrieve review scan search show stat status summarize
    symbols tree upload usages validate verify view why
";
/// Words in a tool's name that say that it runs a command. In a foreign tool without such a word, a
/// field called `command` does not count as a command line.
const RUNS: &str = "shell bash exec execute run terminal command cmd powershell process spawn";

/// Words in a tool's name that, together with one of [`RUNS`], say that it types into a program
/// that already runs.
const TYPES: &str = "write send type interact input";

/// Fields in which some servers expect an object with all other fields of the call.
const WRAPPERS: &str = "params parameters request input args arguments";
const ARGV: &str = "argv";
/// Lists of the words that follow the program, which another field names.
const FOLLOWING: &str = "argv args arguments";
const PLACES: &str = "
    path paths file files filename filenames dir directory folder out output target dest destination
    args
";
/// Words in a field's name that say that it holds a path to which a tool writes its result.
const RESULTS: &str = "out output target dest destination outfile outdir save";
/// Code hosts after which people name the server of the host, each with the fields in which its calls
/// name a repository, whose files are not on this disk. A call must have one field of each text: for
/// Bitbucket a `workspace`, `project` or `projectKey`, and one of the others.
const CODE_HOSTS: [(&str, &[&str]); 6] = [
    ("github", &["owner", "repo"]),
    ("gitea", &["owner", "repo"]),
    ("forgejo", &["owner", "repo"]),
    ("gitlab", &["project_id projectId project"]),
    ("bitbucket", &["workspace project projectKey", "repository repo repo_slug repositorySlug"]),
    ("azure", &["repositoryId repository"]),
];

pub(crate) fn effects(reading: &CallInput) -> Vec<Effect> {
    if is_tool(reading.tool, SELECT) {
        return select(reading);
    }
    if is_ours(reading.tool) || in_remote_repository(reading) {
        return Vec::new();
    }
    let mut objects = Vec::new();
    add_unwrapped(reading.input, &mut objects);
    let single = |input| match contradiction::found(None, input, reading.cwd) {
        Some((one, other)) => reading
            .effects_of_unreadable(&format!("says different things in `{one}` and in `{other}`")),
        None => of_object(&CallInput { input, ..*reading }),
    };
    objects.into_iter().flat_map(single).collect()
}

/// Words in a tool's name that say that it does more than to look.
const DOES_MORE: &str = "and then out";

/// Returns true if a tool that is in no table may change files that its input does not name: it is
/// none of ours, and its name does not say that it only reads.
pub(crate) fn may_write(tool: &str) -> bool {
    let words = words_of_name(own_name(tool));
    let has = |of: &str| words.iter().any(|word| is_listed(of, word));
    let changes = [WRITES, DELETES, MOVES, RUNS, DOES_MORE].iter().any(|of| has(of));
    !is_ours(tool) && !is_tool(tool, SELECT) && (changes || !has(LOOKS))
}

/// Returns the name of a tool without the name of its server, where the two can be told apart.
fn own_name(tool: &str) -> &str {
    let after = |mark: &str| tool.rsplit_once(mark).map(|(_, name)| name);
    let name = ["__", "/", ":"].iter().find_map(|mark| after(mark)).filter(|name| !name.is_empty());
    name.unwrap_or(tool)
}

fn add_unwrapped<'a>(input: &'a Value, all: &mut Vec<&'a Value>) {
    all.push(input);
    for name in wrappers(input) {
        add_unwrapped(&input[name], all);
    }
}

fn wrappers(input: &Value) -> impl Iterator<Item = &'static str> {
    let wraps = move |name: &&str| input.get(name).is_some_and(Value::is_object);
    WRAPPERS.split_whitespace().filter(wraps)
}

fn of_object(reading: &CallInput) -> Vec<Effect> {
    let words = words_of_name(reading.tool);
    let has = |of: &str| words.iter().any(|word| is_listed(of, word));
    let mut effects = run(reading, has);
    let own_words = words_of_name(own_name(reading.tool));
    let may_write = may_write(reading.tool);
    let as_command = |text: String| reading.command(&text, None, Dialect::Posix, false);
    if effects.is_empty() {
        let place = (reading.input, reading.cwd);
        let found = foreign_code::command_in_arguments(place, &own_words, !may_write);
        effects.extend(found.into_iter().flat_map(as_command));
    }
    // A tool that gets a file and a text may write it, whatever its field `command` is for.
    let writes = names_a_file(reading.input) && has_text(reading.input);
    if !effects.is_empty() && !writes {
        return effects;
    }
    effects.extend(known_effects(reading, has));
    let changes = has(WRITES) || has(DELETES) || has(MOVES);
    if (changes || !has(LOOKS))
        && let Some(name) = broken_list(reading.input)
    {
        effects.extend(
            reading.effects_of_unreadable(&format!("comes with a broken list in `{name}`")),
        );
    }
    let has_effects = !effects.is_empty();
    let is_changed = |name: &str| {
        let names_result = || words_of_name(name).iter().any(|word| is_listed(RESULTS, word));
        changes || has_effects || may_write && names_result()
    };
    if changes || has_effects || may_write {
        // Only a move changes its source. In other tools, `from` and `to` may also be texts.
        let sources = if has(MOVES) { String::new() } else { format!("{FROM} to") };
        let inner = wrappers(reading.input).collect::<Vec<_>>().join(" ");
        let read = format!("{COMMAND} commands {FOLDER} {sources} {inner}");
        let others = other_paths(reading, &read).into_iter().filter(|(name, _)| is_changed(name));
        for (_, path) in others {
            let place = reading.cwd.join(&path);
            let is_here = |written: &&PathBuf| reading.cwd.join(written) == place;
            if !effects.iter().any(|effect| effect.written().iter().any(is_here)) {
                effects.push(unknown_write(path));
            }
        }
    }
    if effects.is_empty() && may_write {
        let found = foreign_code::command_in_name(reading.input, &own_words);
        let grave = found.filter(|text| foreign_code::is_grave(reading.cwd, text));
        effects.extend(grave.into_iter().flat_map(as_command));
    }
    effects
}

/// Returns the name of a field for a list whose text begins like a JSON list of texts or objects
/// and cannot be read. The tool may read it nevertheless.
fn broken_list(input: &Value) -> Option<&'static str> {
    let begins = |text: &str| {
        let items = text.trim_start().strip_prefix('[').map(str::trim_start);
        items.is_some_and(|items| items.starts_with(['{', '"']))
    };
    LISTS.split_whitespace().find(|name| {
        let text = input.get(name).and_then(Value::as_str).filter(|text| begins(text));
        text.is_some_and(|text| json::distinct(text).is_none())
    })
}

fn run(reading: &CallInput, has: impl Fn(&str) -> bool) -> Vec<Effect> {
    if has(RUNS) || !is_foreign(reading.tool) {
        let effects = commands(reading);
        if !effects.is_empty() {
            return effects;
        }
    }
    let typed = fields::word(reading.input, "input text keys").is_some();
    if typed && has(RUNS) && has(TYPES) {
        return reading.shell(PLATFORM, "input text keys", true);
    }
    Vec::new()
}

fn commands(reading: &CallInput) -> Vec<Effect> {
    let program = fields::text(reading.input, COMMAND);
    let listed = if program.is_some() { FOLLOWING } else { ARGV };
    let mut effects = Vec::new();
    let list = fields::first_field(reading.input, listed).and_then(Value::as_array);
    let list = list.filter(|list| !list.is_empty());
    if has_command(reading.input) && (program.is_none() || list.is_none()) {
        effects.extend(reading.shell(PLATFORM, COMMAND, false));
    }
    if let Some(list) = list {
        let text_of = |word: &Value| word.as_str().map_or_else(|| word.to_string(), str::to_owned);
        let words = list.iter().map(|word| shell_word(&text_of(word)));
        let text: Vec<String> = program.map(str::to_owned).into_iter().chain(words).collect();
        effects.extend(reading.command(&text.join(" "), None, PLATFORM, false));
    }
    effects
}

fn known_effects(reading: &CallInput, has: impl Fn(&str) -> bool) -> Vec<Effect> {
    let said = |names: &str| fields::word(reading.input, names);
    let both_ends = said(TO).is_some() && (said(FROM).is_some() || said(PATH).is_some());
    let to = fields::first_field(reading.input, "destination to new_path newPath");
    if has(MOVES) && (both_ends || to.is_some()) {
        return reading.effects_of_move();
    }
    if has(COPIES) && both_ends {
        return said(TO).and_then(fields::path).map(unknown_write).into_iter().collect();
    }
    if !names_a_file(reading.input) {
        let folder = said("directory dir_path").filter(|_| has(DELETES)).and_then(fields::path);
        return folder.map(|path| Effect::Delete { path }).into_iter().collect();
    }
    if has(DELETES) {
        return reading.each_path(|path| Effect::Delete { path });
    }
    if has(WRITES) || !has(LOOKS) || has_text(reading.input) {
        return effects_of_writing(reading);
    }
    Vec::new()
}

fn has_text(input: &Value) -> bool {
    fields::first_field(input, &[CONTENT, NEW, OLD, EDITS, TEXTS].join(" ")).is_some()
}

pub(crate) fn unknown_write(path: PathBuf) -> Effect {
    Effect::Write { path, change: Change::Unknown }
}

/// Returns the paths in all fields that are not in `read`, each with the name of its field. Only
/// the tool knows which of its fields name a file that it writes, so each of them counts. If the
/// name of a field says nothing about paths, a word such as `Europe/Berlin` counts only if its
/// folder exists.
pub(crate) fn other_paths(reading: &CallInput, read: &str) -> Vec<(String, PathBuf)> {
    let Value::Object(members) = reading.input else { return Vec::new() };
    let mut named = Vec::new();
    let names_one = names_a_file(reading.input);
    for (name, value) in members.iter().filter(|(name, _)| !is_listed(read, name)) {
        // The new text of a file may be JSON.
        let is_new_text = names_one && is_text(name) && !is_listed(EDITS, name);
        if !is_new_text {
            add_words(name, value, &mut named);
        }
    }
    let is_path = |name: &str, text: &str| {
        let place = reading.cwd.join(text);
        let spaced = text.contains(char::is_whitespace);
        let looks_so = text.contains(['/', '\\']) && !spaced && !fields::is_address(text);
        let is_sure = || {
            names_places(name)
                || text.contains("://")
                || text.starts_with(['~', '$'])
                || place.parent().is_some_and(Path::is_dir)
        };
        looks_so && is_sure() || place.is_file()
    };
    let paths = named.into_iter().filter(|(name, text)| is_path(name, text));
    paths.filter_map(|(name, text)| Some((name, fields::path(&text)?))).collect()
}

/// Adds the strings in a value that may be paths, each with the name of its field. Longer strings,
/// and texts to be written, are left out.
fn add_words(name: &str, value: &Value, words: &mut Vec<(String, String)>) {
    const LONGEST: usize = 1_000;
    // A short path may be padded, as in `././a`.
    let may_be_path = |text: &str| {
        !text.is_empty() && (text.len() < LONGEST || text.contains("./") || text.contains("////"))
    };
    let is_known = is_text(name) || [PATH, LISTS].iter().any(|names| is_listed(names, name));
    match value {
        Value::String(text) => {
            let list = is_listed(LISTS, name).then(|| json::distinct(text)).flatten();
            if let Some(list @ Value::Array(_)) = &list {
                add_words(name, list, words);
            } else if may_be_path(text) && !is_text(name) {
                words.push((name.to_owned(), text.clone()));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_words(name, item, words)),
        // An edit or a file has many fields besides its path.
        Value::Object(members) if is_known => {
            add_paths(value, words);
            if is_listed(FILES, name) {
                // Some tools take an object that has a text for each path.
                let paths = members.keys().filter(|path| path.contains(['/', '.']));
                words.extend(paths.map(|path| (name.to_owned(), path.clone())));
            }
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| add_words(name, member, words));
        }
        _ => {}
    }
}

/// Adds the paths that an object has in the usual fields. The paths of a JSON Patch lead to parts
/// of a document, so they are left out.
fn add_paths(object: &Value, words: &mut Vec<(String, String)>) {
    let is_json_patch = object.get("op").is_some();
    for name in PATH.split_whitespace() {
        if let Some(path) = object.get(name).and_then(Value::as_str)
            && !(is_json_patch && path.starts_with('/'))
        {
            words.push((name.to_owned(), path.to_owned()));
        }
    }
}

fn names_places(name: &str) -> bool {
    [PATH, LISTS, FROM, TO].iter().any(|names| is_listed(names, name))
        || words_of_name(name).iter().any(|word| is_listed(PLACES, word))
}

const TEXTS: &str = "body data code diff patch insert_text insertText";
/// Fields that look like a path and name a symbol in a file.
const SYMBOLS: &str = "name_path name_path_pattern";

fn is_text(name: &str) -> bool {
    [CONTENT, NEW, OLD, EDITS, TEXTS, SYMBOLS].iter().any(|names| is_listed(names, name))
}

/// Reads the input of a host's own tool that calls a tool of an MCP server. Returns `None` if the
/// input does not name both the server and the tool.
pub(crate) fn call_in_wrapper(input: &Value) -> Option<Call> {
    let tool = fields::word(input, CALLED)?;
    let server = fields::word(input, SERVER)?;
    Some(Call { tool: format!("mcp__{server}__{tool}"), input: fields::input(input, ARGUMENTS) })
}

fn select(reading: &CallInput) -> Vec<Effect> {
    match fields::word(reading.input, "intent_id intent id") {
        Some(intent) => vec![Effect::Select { intent: intent.to_owned() }],
        // Without an intent, our server refuses the call with a better message.
        None => Vec::new(),
    }
}

/// Returns true if `name` is `tool`, with the prefix that a host adds for the server.
fn is_tool(name: &str, tool: &str) -> bool {
    let server = name.strip_suffix(tool);
    server
        .is_some_and(|server| server.is_empty() || server.ends_with(|c: char| !c.is_alphanumeric()))
}

fn is_ours(name: &str) -> bool {
    let tool = OURS.split_whitespace().find(|tool| is_tool(name, tool));
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

/// Returns true if the call is about a file in a remote repository, which is not on this disk. Only
/// the name of the server can say so: an agent could add the other fields to any call.
fn in_remote_repository(reading: &CallInput) -> bool {
    let named = |name: &str| fields::word(reading.input, name).is_some();
    let tool = reading.tool.to_ascii_lowercase();
    let begin = |text: &str| text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let server = begin(&tool);
    let server = server.strip_prefix("mcp").map_or_else(|| server.clone(), begin);
    let server = server.strip_prefix("plugin_").unwrap_or(&server);
    let mut hosts = CODE_HOSTS.into_iter().filter(|(host, _)| server.starts_with(host));
    hosts.any(|(_, fields)| fields.iter().all(|field| named(field)))
}

fn has_command(input: &Value) -> bool {
    input.get("commands").is_some_and(Value::is_array)
        || fields::first_field(input, COMMAND)
            .is_some_and(|value| value.is_string() || value.is_array())
}

/// Returns true if the input names a file in one of the usual fields. The address of a web page
/// there is no file on this disk.
fn names_a_file(input: &Value) -> bool {
    let mut named = PATH.split_whitespace().filter_map(|name| input.get(name)?.as_str());
    let is_list = match fields::first_field(input, FILES) {
        Some(Value::Array(_)) => true,
        Some(Value::String(_)) => fields::list(input, FILES).is_some(),
        _ => false,
    };
    is_list || named.any(|text| !text.is_empty() && !fields::is_address(text))
}

fn effects_of_writing(reading: &CallInput) -> Vec<Effect> {
    let one = fields::word(reading.input, PATH).is_some();
    // Nobody knows what an unknown tool does with its texts, except in the plainest case: one path,
    // `content`, and "write" in its name.
    let plain = words_of_name(reading.tool).contains(&"write".to_owned());
    match fields::text(reading.input, "content") {
        Some(text) if one && plain => reading.write(Change::Whole(text.to_owned())),
        _ if one && fields::first_field(reading.input, &[OLD, EDITS].join(" ")).is_some() => {
            reading.edit()
        }
        _ => reading.each_path(unknown_write),
    }
}

/// Splits a tool's name into words: `mcp__fs__writeFile` becomes `mcp fs write file`.
fn words_of_name(name: &str) -> Vec<String> {
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

    fn effects_as_text(tool: &str, input: Value) -> String {
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
            let found = effects_as_text(name, json!({"intent_id": "INT-001"}));
            assert_eq!(found, "Select { intent: \"INT-001\" }", "{name}");
        }
        let write = json!({"path": "src/a.rs", "content": "x"});
        for name in ["mcp__intent__file_write", "mcp_intent_file_write", "intent-file_write"] {
            assert_eq!(effects_as_text(name, write.clone()), "", "{name}");
        }
        for name in ["mcp__evil__file_write", "mcp__intent2__file_write", "xintent-file_write"] {
            assert_ne!(effects_as_text(name, write.clone()), "", "{name}");
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
            assert_eq!(effects_as_text(tool, input), format!("{write}{change} }}"), "{tool}");
        }
        let moved =
            effects_as_text("mcp__fs__move_file", json!({"source": "a", "destination": "b"}));
        assert_eq!(moved, "Move { from: \"a\", to: \"b\", change: None }");
        assert_eq!(
            effects_as_text("mcp__fs__delete_file", json!({"path": "a"})),
            "Delete { path: \"a\" }"
        );
        assert!(
            effects_as_text("mcp__fs__write_file", json!({"path": "", "files": [7]}))
                .contains("Unreadable")
        );
    }

    #[test]
    fn the_files_of_an_unknown_tool_are_found_wherever_it_names_them() {
        let edits = json!([{"path": "d/b.rs", "search": "</b>"}]);
        for (tool, input) in [
            ("edit_files", json!({"edits": edits})),
            ("write_files", json!({"operations": [{"path": "d/b.rs", "content": "x/y"}]})),
            ("write_files", json!({"files": {"d/b.rs": "x/y"}})),
            ("write_files", json!({"files": "[{\"path\": \"d/b.rs\", \"content\": \"x\"}]"})),
            ("write_file", json!({"file": {"path": "d/b.rs", "content": "x/y"}})),
            ("write_file", json!({"data": {"path": "d/b.rs", "text": "x/y"}})),
            ("write_file", json!({"path": ["d/b.rs"], "content": "x/y"})),
            ("go", json!({"params": {"path": "d/b.rs", "content": "x/y"}})),
            ("write_file", json!({"target": "d/b.rs", "content": "x/y"})),
            ("copy_file", json!({"source": "s/a.rs", "destination": "d/b.rs"})),
            ("download", json!({"uri": "https://example.invalid/x", "destination": "d/b.rs"})),
            ("replace_body", json!({"name_path": "A/b", "relative_path": "d/b.rs", "body": "x"})),
            ("replace_all", json!({"path": "d/b.rs", "from": "</b>", "to": "</i>"})),
            ("update", json!({"path": "d/b.rs", "patch": [{"op": "add", "path": "/x/y"}]})),
            ("show_diff_and_apply", json!({"path": "d/b.rs"})),
            ("apply_fix", json!({"target": "d/b.rs"})),
            ("write_file", json!({"owner": "a", "repo": "b", "path": "d/b.rs"})),
            ("write_github_file", json!({"owner": "a", "repo": "b", "path": "d/b.rs"})),
            ("save", json!({"outputPath": "d/b.rs"})),
        ] {
            let found = effects_as_text(&format!("mcp__fs__{tool}"), input);
            assert_eq!(found, "Write { path: \"d/b.rs\", change: Unknown }", "{tool}");
        }
        let move_to = "Move { from: \"d/b.rs\", to: \"d/c.rs\", change: None }";
        for (from, to) in [("source_path", "destination_path"), ("src", "dst"), ("from", "target")]
        {
            let input = json!({from: "d/b.rs", to: "d/c.rs"});
            assert_eq!(effects_as_text("mcp__fs__move_file", input), move_to, "{from}");
        }
        let listed = effects_as_text("mcp__fs__write_file", json!({"args": ["d/b.rs"]}));
        assert_eq!(listed, "Write { path: \"d/b.rs\", change: Unknown }");
        let inner = effects_as_text(
            "mcp__fs__write_file",
            json!({"params": {"path": "b", "content": "x"}}),
        );
        assert_eq!(inner, "Write { path: \"b\", change: Whole(\"x\") }");
        let delete = "Delete { path: \"d/b.rs\" }";
        assert_eq!(
            effects_as_text("mcp__fs__delete_files", json!({"file_paths": ["d/b.rs"]})),
            delete
        );
        assert_eq!(
            effects_as_text("mcp__fs__delete_directory", json!({"directory": "d/b.rs"})),
            delete
        );
        for input in [
            json!({"path": "s/a.rs", "out": format!("{}d/b.rs", "./".repeat(600)), "content": "x"}),
            json!({"path": "s/a.rs", "edits": edits}),
            json!({"path": "s/a.rs", "uri": "file:///p/d/b.rs", "content": "x"}),
            json!({"file_path": "https://example.invalid/x", "path": "d/b.rs", "content": "x"}),
        ] {
            assert!(
                effects_as_text("mcp__fs__edit_file", input.clone()).contains("d/b.rs"),
                "{input}"
            );
        }
    }

    #[test]
    fn a_command_hides_no_write_and_is_found_inside_an_object() {
        let write = json!({"command": "ls", "path": "a.rs", "content": "x"});
        for tool in ["mcp__shell__edit_file", "NewEditor"] {
            let found = effects_as_text(tool, write.clone());
            assert!(found.starts_with("Shell { text: \"ls\""), "{found}");
            assert!(found.contains("; Write { path: \"a.rs\""), "{found}");
        }
        let inner =
            effects_as_text("mcp__shell__execute", json!({"params": {"command": "rm -rf x"}}));
        assert!(inner.starts_with("Shell { text: \"rm -rf x\""), "{inner}");
        let twice = json!({"params": {"command": "ls", "cmd": "rm -rf x"}});
        let twice = effects_as_text("mcp__shell__execute", twice);
        assert!(twice.contains("different things in `command` and in `cmd`"), "{twice}");
    }

    #[test]
    fn a_list_that_cannot_be_read_may_hold_any_path() {
        for (tool, input) in [
            ("edit_files", json!({"edits": "[{\"path\": \"d/b.rs\", \"text\": \"x\"}"})),
            ("go", json!({"operations": " [ {\"path\": \"d\", \"path\": \"e\"}]"})),
            ("write_files", json!({"params": {"files": "[\"d/b.rs\""}})),
        ] {
            let found = effects_as_text(&format!("mcp__fs__{tool}"), input);
            assert!(found.contains("comes with a broken list in"), "{tool}: {found}");
        }
        for text in ["[WIP] rename a", "[]", "{", "[{}]"] {
            let found = effects_as_text("mcp__tracker__update_issue", json!({"changes": text}));
            assert_eq!(found, "", "{text}");
        }
    }

    #[test]
    fn a_word_with_a_slash_is_a_path_only_below_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("docs")).expect("a folder");
        for (input, expected) in [
            (json!({"timeZone": "Europe/Berlin", "repo": "acme/shop"}), ""),
            (json!({"home": "~/.profile"}), "~/.profile"),
            (json!({"where": "file:///q/b.rs"}), "/q/b.rs"),
            (json!({"page": "docs/b.rs"}), "docs/b.rs"),
        ] {
            let reading = CallInput { tool: "mcp__x__update", input: &input, cwd: folder.path() };
            let found = effects(&reading);
            let expected = (!expected.is_empty()).then(|| unknown_write(expected.into()));
            assert_eq!(found, Vec::from_iter(expected), "{input}");
        }
    }

    #[test]
    fn an_unknown_tool_that_runs_a_command_is_recognised() {
        let shell = "Shell { text: \"rm -rf x\", dialect: ";
        for tool in ["mcp__term__run_command", "mcp__serena__execute_shell_command", "Brandnew"] {
            assert!(
                effects_as_text(tool, json!({"command": "rm -rf x"})).starts_with(shell),
                "{tool}"
            );
        }
        for input in [
            json!({"argv": ["rm", "-rf", "x"]}),
            json!({"command": "rm", "args": ["-rf", "x"]}),
            json!({"command": "rm -rf", "argv": ["x"]}),
        ] {
            assert!(
                effects_as_text("mcp__term__execute", input.clone()).starts_with(shell),
                "{input}"
            );
        }
        let both =
            effects_as_text("mcp__term__execute", json!({"command": ["ls"], "argv": ["rm", 7]}));
        assert!(both.contains("\"ls\"") && both.contains("\"rm 7\""), "{both}");
        let typed = effects_as_text(
            "mcp__term__interact_with_process",
            json!({"pid": 7, "input": "rm -rf x"}),
        );
        assert!(typed.starts_with(shell) && typed.ends_with("background: true }"), "{typed}");
        assert_eq!(effects_as_text("mcp__game__look", json!({"command": "north"})), "");
    }

    #[test]
    fn a_tool_that_changes_no_local_file_has_no_effect() {
        let rows = [
            (
                "mcp__github__create_or_update_file",
                json!({"owner": "a", "repo": "b", "path": "x", "content": "y"}),
            ),
            (
                "mcp__plugin_github_github__push_files",
                json!({"owner": "a", "repo": "b", "files": [{"path": "d/b.rs", "content": "y"}]}),
            ),
            (
                "github-mcp-server-create_or_update_file",
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
            assert_eq!(effects_as_text(tool, input), "", "{tool}");
        }
    }

    /// Returns what the gate makes of a call before and after it.
    fn treatment(tool: &str, input: &Value, cwd: &Path) -> &'static str {
        let known = effects(&CallInput { tool, input, cwd });
        match (known.is_empty(), may_write(tool)) {
            (false, _) => "judged",
            (true, true) => "told",
            (true, false) => "reads",
        }
    }

    #[test]
    fn a_foreign_tool_is_judged_before_or_told_about_afterwards() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("src")).expect("a folder");
        let rows = include_str!("unknown_tools/foreign.tsv").lines();
        let rows: Vec<&str> = rows.filter(|row| !row.starts_with('#')).collect();
        assert!(rows.len() >= 40, "only {} calls", rows.len());
        let wrong: Vec<String> = rows
            .iter()
            .filter_map(|row| {
                let mut cells = row.split('\t');
                let mut next = || cells.next().expect("three cells");
                let (wanted, tool) = (next(), next());
                let input = serde_json::from_str(next()).expect("JSON");
                let found = treatment(tool, &input, folder.path());
                (found != wanted).then(|| format!("{found}: {row}"))
            })
            .collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn a_wrapped_call_is_read_as_the_tool_it_calls() {
        let input = json!({"server_name": "intent", "tool_name": "select_active_intent", "arguments": "{\"intent_id\":\"INT-2\"}"});
        let inner = call_in_wrapper(&input).expect("a call");
        assert_eq!(inner.tool, "mcp__intent__select_active_intent");
        assert_eq!(inner.input, json!({"intent_id": "INT-2"}));
        assert_eq!(call_in_wrapper(&json!({"arguments": "{}"})), None);
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words_of_name("mcp__fs__writeFile-2"), ["mcp", "fs", "write", "file", "2"]);
        assert_eq!(words_of_name("HTTPPut"), ["httpput"], "no word is made up");
    }
}
