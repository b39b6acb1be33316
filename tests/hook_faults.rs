//! Faults in the real binary, for every host: a call that changes something or cannot be read is denied in the format
//! of that host within two seconds, and a call that only reads is never delayed.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Repo, binary::command};
use hook::host::{Family, HOSTS, Host};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(2);

/// A payload of this host for a tool that every host of its family has.
fn payload(host: &Host, here: &Path, tool: Tool) -> Value {
    let file = here.join("src/a.rs");
    let (name, input) = match (tool, host.name) {
        (Tool::Read, "antigravity") => ("view_file", json!({"AbsolutePath": file})),
        (Tool::Read, _) => ("read_file", json!({"file_path": file})),
        (Tool::Write, "antigravity") => {
            ("write_to_file", json!({"TargetFile": file, "CodeContent": "x"}))
        }
        (Tool::Write, "kiro") => {
            ("fs_write", json!({"command": "create", "path": file, "file_text": "x"}))
        }
        (Tool::Write, "codex") => {
            let patch =
                format!("*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n", file.display());
            ("apply_patch", json!({"command": patch}))
        }
        (Tool::Write, _) => ("Write", json!({"file_path": file, "content": "x"})),
        (Tool::Mutilated, _) => ("Write", json!({"content": "x"})),
    };
    match host.family {
        Family::Antigravity => {
            json!({"conversationId": "s", "workspacePaths": [here], "toolCall": {"name": name, "args": input}})
        }
        Family::Cline => {
            json!({"hookName": "PreToolUse", "taskId": "s", "workspaceRoots": [here], "preToolUse": {"toolName": name, "parameters": input}})
        }
        Family::Copilot => {
            json!({"sessionId": "s", "cwd": here, "toolName": name, "toolArgs": input.to_string()})
        }
        Family::Windsurf => {
            let action = if tool == Tool::Read { "pre_read_code" } else { "pre_write_code" };
            let mut info = json!({"edits": [{"old_string": "", "new_string": "x"}]});
            if tool != Tool::Mutilated {
                info["file_path"] = json!(file);
            }
            json!({"agent_action_name": action, "trajectory_id": "s", "tool_info": info})
        }
        Family::Cursor => {
            json!({"conversation_id": "s", "generation_id": "g", "workspace_roots": [here], "hook_event_name": "preToolUse", "tool_name": name, "tool_input": input})
        }
        Family::Gemini => {
            json!({"session_id": "s", "cwd": here, "hook_event_name": "BeforeTool", "tool_name": name, "tool_input": input})
        }
        Family::Claude | Family::Codex | Family::Plain => {
            json!({"session_id": "s", "cwd": here, "hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input})
        }
    }
}

/// Returns the payload after the tool of this payload has ended.
fn after(host: &Host, mut payload: Value) -> Value {
    match host.family {
        Family::Antigravity | Family::Copilot => {
            payload["toolResult"] = json!({"resultType": "success"});
        }
        Family::Cline => {
            payload["hookName"] = json!("PostToolUse");
            payload["postToolUse"] = payload["preToolUse"].take();
        }
        Family::Windsurf => payload["agent_action_name"] = json!("post_write_code"),
        Family::Cursor => payload["hook_event_name"] = json!("postToolUse"),
        Family::Gemini => payload["hook_event_name"] = json!("AfterTool"),
        Family::Claude | Family::Codex | Family::Plain => {
            payload["hook_event_name"] = json!("PostToolUse");
        }
    }
    payload
}

/// Returns a message with every field of both payloads. A field with two values stands twice, first with the value of
/// the first payload.
fn doubled(first: &Value, second: &Value) -> String {
    let mut fields = Vec::new();
    for (name, one) in first.as_object().expect("an object") {
        let values = match &second[name.as_str()] {
            other if other == one => vec![one.to_string()],
            other if one.is_object() && other.is_object() => vec![doubled(one, other)],
            other => vec![one.to_string(), other.to_string()],
        };
        fields.extend(values.into_iter().map(|value| format!("{}:{value}", json!(name))));
    }
    format!("{{{}}}", fields.join(","))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Tool {
    Read,
    Write,
    /// A write without a path.
    Mutilated,
}

/// Returns true if the host takes this output for a denial, according to its documentation.
fn denies(host: &Host, output: &Output) -> bool {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let document: Value = serde_json::from_str(&stdout).unwrap_or_default();
    let code = output.status.code();
    let reason = !output.stderr.is_empty();
    let nested = &document["hookSpecificOutput"];
    match host.family {
        Family::Claude => code == Some(2) && reason && nested["permissionDecision"] == "deny",
        Family::Codex => {
            let known: Vec<&str> = nested
                .as_object()
                .map(|o| o.keys().map(String::as_str).collect())
                .unwrap_or_default();
            let exact =
                known == ["hookEventName", "permissionDecision", "permissionDecisionReason"];
            code == Some(0)
                && !reason
                && exact
                && nested["permissionDecision"] == "deny"
                && nested["permissionDecisionReason"].as_str().is_some_and(|text| !text.is_empty())
        }
        Family::Cursor => code == Some(0) && document["permission"] == "deny",
        Family::Copilot => code == Some(0) && document["permissionDecision"] == "deny",
        Family::Gemini | Family::Antigravity => code == Some(0) && document["decision"] == "deny",
        Family::Cline => document["cancel"] == true,
        Family::Windsurf | Family::Plain => code == Some(2) && reason && stdout.is_empty(),
    }
}

/// Returns true if the host goes on as it would without the hook.
fn goes_on(host: &Host, output: &Output) -> bool {
    let neutral: &[u8] = match host.family {
        Family::Cursor => b"{\"permission\":\"allow\"}\n",
        Family::Antigravity => b"{\"decision\":\"ask\"}\n",
        Family::Cline => b"{\"cancel\":false}\n",
        _ => b"",
    };
    output.status.code() == Some(0) && output.stdout == neutral && output.stderr.is_empty()
}

fn started(mut command: Command) -> Child {
    command
        .env_remove("DEVIN_PROJECT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

fn fed(command: Command, payload: &[u8]) -> (Output, Duration) {
    let begun = Instant::now();
    let mut child = started(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload).expect("all of it is read, also what is too much");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    (output, begun.elapsed())
}

fn run(repo: &Repo, host: &Host, payload: &[u8]) -> (Output, Duration) {
    fed(command(&repo.root(), &["hook", host.name]), payload)
}

/// A workspace whose sessions have selected the intent that owns `src/`.
fn place() -> Repo {
    let repo = Repo::without_git();
    let root =
        ground::Root::find(&repo.root(), &ground::Environment::of_process()).expect("a root");
    for host in HOSTS {
        let selection = ground::session::Selection {
            intent_id: "INT-001".to_owned(),
            selected_at: "2026-11-22T02:00:00.000Z".to_owned(),
            ..ground::session::Selection::default()
        };
        let actor = format!("{}:s", host.name);
        ground::session::select_for(&root, &actor, &selection).expect("selected");
    }
    repo
}

fn held_up(host: &Host, (output, took): &(Output, Duration), code: &str, fault: &str) {
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(denies(host, output), "{fault}, {}: {output:?}", host.name);
    assert!(said.contains(&format!("[{code}] ")), "{fault}, {}: {said}", host.name);
    assert!(!said.contains("  "), "{fault}, {}: a word is empty: {said}", host.name);
    assert!(*took < LIMIT, "{fault}, {}: it took {took:?}", host.name);
}

fn untouched(host: &Host, (output, took): &(Output, Duration), fault: &str) {
    assert!(goes_on(host, output), "{fault}, {}: {output:?}", host.name);
    assert!(*took < LIMIT, "{fault}, {}: it took {took:?}", host.name);
}

/// Without a fault the same calls are allowed, so the other tests show the effect of the fault.
#[test]
#[ignore = "slow"]
fn without_a_fault_only_an_unreadable_call_is_denied() {
    let repo = place();
    for host in HOSTS {
        for tool in [Tool::Write, Tool::Read] {
            let payload = payload(host, &repo.root(), tool).to_string();
            untouched(host, &run(&repo, host, payload.as_bytes()), "no fault");
        }
        let payload = payload(host, &repo.root(), Tool::Mutilated).to_string();
        held_up(host, &run(&repo, host, payload.as_bytes()), "UNREADABLE_PAYLOAD", "no path");
    }
}

fn assert_fault_denies_writes_only(fault: &str, code: &str, break_it: impl Fn(&Repo)) {
    let repo = place();
    break_it(&repo);
    for host in HOSTS {
        let write = payload(host, &repo.root(), Tool::Write).to_string();
        held_up(host, &run(&repo, host, write.as_bytes()), code, fault);
        let read = payload(host, &repo.root(), Tool::Read).to_string();
        untouched(host, &run(&repo, host, read.as_bytes()), fault);
    }
}

#[test]
#[ignore = "slow"]
fn a_registry_that_does_not_parse_denies_writes() {
    assert_fault_denies_writes_only("a broken registry", "HOOK_ERROR", |repo| {
        repo.write(".orchestration/active_intents.yaml", "active_intents: [\n  - id: {{\n");
    });
}

#[test]
#[ignore = "slow"]
fn a_registry_that_is_a_folder_denies_writes() {
    assert_fault_denies_writes_only("a folder for a registry", "HOOK_ERROR", |repo| {
        repo.remove(".orchestration/active_intents.yaml");
        std::fs::create_dir(repo.root().join(".orchestration/active_intents.yaml"))
            .expect("a folder");
    });
}

#[test]
#[ignore = "slow"]
fn a_policy_that_cannot_be_read_denies_writes() {
    assert_fault_denies_writes_only("a broken policy", "HOOK_ERROR", |repo| {
        repo.write(".orchestration/policy.yaml", "mode: [enforce\n");
    });
    assert_fault_denies_writes_only("a folder for a policy", "HOOK_ERROR", |repo| {
        std::fs::create_dir(repo.root().join(".orchestration/policy.yaml")).expect("a folder");
    });
}

/// The state of the call cannot be stored, so its effects could not be reported afterwards.
#[test]
#[ignore = "slow"]
fn a_file_in_place_of_the_folder_for_calls_denies_writes() {
    assert_fault_denies_writes_only("a file for a folder", "HOOK_ERROR", |repo| {
        let calls = repo.root().join(".orchestration/local/calls");
        repo.write(".orchestration/local/calls", "");
        assert!(calls.is_file());
    });
}

#[test]
#[ignore = "slow"]
fn messages_that_cannot_be_read_are_denied() {
    let repo = place();
    for host in HOSTS {
        let whole = payload(host, &repo.root(), Tool::Write).to_string();
        for (fault, bytes) in [
            ("an empty message", "".as_bytes()),
            ("white space", b" \n"),
            ("no JSON", b"hello"),
            ("no object", b"[1, 2]"),
            ("half a message", &whole.as_bytes()[..whole.len() / 2]),
            ("the last brace is missing", &whole.as_bytes()[..whole.len() - 1]),
            ("something after it", format!("{whole} {{").as_bytes()),
            ("no text", &[whole.as_bytes(), b"\xff"].concat()),
        ] {
            held_up(host, &run(&repo, host, bytes), "UNREADABLE_PAYLOAD", fault);
        }
        // These hosts ask about tools only.
        if matches!(host.family, Family::Windsurf | Family::Cline) {
            held_up(host, &run(&repo, host, b"{}"), "UNREADABLE_PAYLOAD", "no tool");
        }
    }
}

/// The name of the tool and its input stand twice, first for a write and then for a read, or the other way round.
#[test]
#[ignore = "slow"]
fn a_message_with_two_tools_is_denied() {
    let repo = place();
    for host in HOSTS {
        let of = |tool| payload(host, &repo.root(), tool);
        let (write, read) = (of(Tool::Write), of(Tool::Read));
        for message in [doubled(&write, &read), doubled(&read, &write)] {
            let found = run(&repo, host, message.as_bytes());
            held_up(host, &found, "UNREADABLE_PAYLOAD", &message);
            let said = [&found.0.stdout[..], &found.0.stderr].concat();
            assert!(String::from_utf8_lossy(&said).contains(" twice"), "{}", host.name);
        }
    }
}

/// The message is larger than the limit of 16 MiB, and the hook reads all of it, so that the host is never blocked while it writes.
#[test]
#[ignore = "slow"]
fn a_message_that_is_too_large_is_denied_unless_it_reads() {
    let repo = place();
    let large = "x ".repeat(8 * 1024 * 1024);
    for family in [
        Family::Claude,
        Family::Codex,
        Family::Cursor,
        Family::Copilot,
        Family::Gemini,
        Family::Antigravity,
        Family::Cline,
        Family::Windsurf,
        Family::Plain,
    ] {
        let host = HOSTS.iter().find(|host| host.family == family).expect("a host");
        for tool in [Tool::Write, Tool::Read] {
            let mut message = payload(host, &repo.root(), tool);
            message["more"] = json!(large);
            let found = run(&repo, host, message.to_string().as_bytes());
            match tool {
                Tool::Read => untouched(host, &found, "a large read"),
                _ => held_up(host, &found, "UNREADABLE_PAYLOAD", "a large message"),
            }
        }
    }
}

/// All hosts at once, because each hook waits until its time limit.
#[test]
#[ignore = "slow"]
fn a_message_that_never_ends_is_denied_in_time() {
    let repo = place();
    let root = repo.root();
    std::thread::scope(|scope| {
        for host in HOSTS {
            let root = &root;
            scope.spawn(move || {
                let begun = Instant::now();
                let mut child = started(command(root, &["hook", host.name]));
                let mut stdin = child.stdin.take().expect("a pipe");
                stdin.write_all(b"{\"hook_event_name\": \"PreToolUse\",").expect("it reads");
                let output = child.wait_with_output().expect("it ends by itself");
                drop(stdin);
                held_up(host, &(output, begun.elapsed()), "HOOK_ERROR", "an endless message");
            });
        }
    });
}

/// Nothing can be written: neither the state of the call nor a heartbeat.
#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn a_full_disk_denies_writes() {
    let repo = place();
    for host in HOSTS {
        let full = || {
            let binary = env!("CARGO_BIN_EXE_intent");
            let mut shell = Command::new("sh");
            shell.current_dir(repo.root());
            shell.args(["-c", "ulimit -f 0; exec \"$0\" hook \"$1\"", binary, host.name]);
            shell
        };
        let write = payload(host, &repo.root(), Tool::Write).to_string();
        held_up(host, &fed(full(), write.as_bytes()), "HOOK_ERROR", "a full disk");
        let read = payload(host, &repo.root(), Tool::Read).to_string();
        untouched(host, &fed(full(), read.as_bytes()), "a full disk");
    }
}

/// Another process hangs while it holds all locks of the workspace. A question by code takes a lock, because it must be
/// stored first.
#[test]
#[ignore = "slow"]
fn a_lock_that_is_never_released_denies_writes_in_time() {
    let repo = Repo::without_git();
    repo.write(".orchestration/policy.yaml", "mode: ask\n");
    let held: Vec<std::fs::File> =
        ["approvals.lock", "ledger.lock", "record.lock", "registry.lock"]
            .iter()
            .map(|name| {
                let name = format!(".orchestration/local/{name}");
                repo.write(&name, "");
                let file = std::fs::File::options().write(true).open(repo.root().join(&name));
                let file = file.expect("a lock file");
                file.lock().expect("locked");
                file
            })
            .collect();
    let root = repo.root();
    std::thread::scope(|scope| {
        for host in HOSTS.iter().filter(|host| !host.asks) {
            let (repo, root) = (&repo, &root);
            scope.spawn(move || {
                let write = payload(host, root, Tool::Write).to_string();
                let found = run(repo, host, write.as_bytes());
                held_up(host, &found, "INTENT_REQUIRED", "held locks");
                let said = [&found.0.stdout[..], &found.0.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                assert!(said.contains("approvals.lock is locked"), "{}: {said}", host.name);
                let read = payload(host, root, Tool::Read).to_string();
                untouched(host, &run(repo, host, read.as_bytes()), "held locks");
            });
        }
    });
    drop(held);
}

/// After a tool has run, nothing is denied and the hook does not fail, whatever is broken.
#[test]
#[ignore = "slow"]
fn the_hook_after_a_tool_never_fails() {
    let repo = place();
    repo.write(".orchestration/active_intents.yaml", "active_intents: [\n");
    std::fs::remove_dir_all(repo.root().join(".orchestration/local")).expect("removed");
    repo.write(".orchestration/local", "");
    for host in HOSTS {
        let before = payload(host, &repo.root(), Tool::Write);
        let whole = after(host, before.clone()).to_string();
        held_up(host, &run(&repo, host, before.to_string().as_bytes()), "HOOK_ERROR", "before");
        for bytes in [whole.as_bytes(), &whole.as_bytes()[..whole.len() - 1]] {
            let (output, _) = run(&repo, host, bytes);
            assert_eq!(output.status.code(), Some(0), "{}: {output:?}", host.name);
            // These hosts show a remark on standard error, and go on.
            let remarks = matches!(host.family, Family::Windsurf | Family::Plain);
            assert!(output.stderr.is_empty() || remarks, "{}: {output:?}", host.name);
            let said = [&output.stdout[..], &output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let stops = ["deny", "HOOK_ERROR", "UNREADABLE", "\"cancel\":true"];
            assert!(!stops.iter().any(|word| said.contains(word)), "{}: {said}", host.name);
        }
    }
}

/// The host runs in a folder of the workspace that was deleted. If the call names no other folder, nobody can say where
/// it belongs.
#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn in_a_deleted_folder_a_write_that_names_no_other_folder_is_denied() {
    let repo = place();
    let gone = repo.root().join("gone");
    let script = "mkdir \"$2\" && cd \"$2\" && rmdir \"$2\" && exec \"$0\" hook \"$1\"";
    let fault = "a folder that is gone";
    for host in HOSTS {
        let told = |payload: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script, env!("CARGO_BIN_EXE_intent"), host.name]).arg(&gone);
            fed(shell, payload.as_bytes())
        };
        let of = |tool| {
            let mut payload = payload(host, &repo.root(), tool);
            let fields = payload.as_object_mut().expect("an object");
            for folder in ["cwd", "workspace_roots", "workspaceRoots", "workspacePaths"] {
                fields.remove(folder);
            }
            payload
        };
        held_up(host, &told(&of(Tool::Write).to_string()), "HOOK_ERROR", fault);
        untouched(host, &told(&of(Tool::Read).to_string()), fault);
        let named = payload(host, &repo.root(), Tool::Write);
        if named != of(Tool::Write) {
            untouched(host, &told(&named.to_string()), "a folder that is named");
        }
        held_up(host, &told(""), "UNREADABLE_PAYLOAD", fault);
    }
}
