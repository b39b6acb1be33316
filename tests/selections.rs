//! What an agent was about to run, and what then runs: the selections of people and of sessions, with
//! real processes.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::cli::lab::{Lab, clean};
use ground::{Environment, Root, session};
use serde_json::{Value, json};

/// A workspace with two intents, of which the agent's session `s1` has selected the first and worked
/// under it. Without work, a switch would be free.
fn at_work() -> Lab {
    let lab = Lab::with_list();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.fine(&["new", "Billing", "--scope", "billing/**", "--start"]);
    lab.commit();
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-001"), Value::Null);
    assert!(run(&lab, true, &["select", "INT-001"]).status.success());
    hook(&lab, "PostToolUse", "s1", "intent select INT-001");
    worked_under(&lab, "INT-001");
    lab
}

fn worked_under(lab: &Lab, intent: &str) {
    session::note_work(&root(lab), "claude-code:s1", intent).expect("the note is written");
}

/// Runs a command of `intent`, in a process of an agent or in a terminal of a person.
fn run(lab: &Lab, is_agent: bool, arguments: &[&str]) -> Output {
    let mut command = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    if is_agent {
        command.env("CLAUDECODE", "1");
    }
    command.args(arguments).output().expect("a process")
}

/// Runs a process with this input until it has written `end`, or has ended. Returns its output.
fn fed(mut command: Command, input: &str, end: &str) -> String {
    let mut process =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
    let mut stdin = process.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("the input is written");
    let stdin = (!end.is_empty()).then_some(stdin);
    let mut stdout = process.stdout.take().expect("a pipe");
    let (mut output, mut bytes) = (String::new(), [0; 4096]);
    while end.is_empty() || !output.contains(end) {
        match stdout.read(&mut bytes).expect("an answer") {
            0 => break,
            count => output.push_str(&String::from_utf8_lossy(&bytes[..count])),
        }
    }
    drop((stdin, stdout));
    process.wait().expect("it ends");
    output
}

/// Calls the hook of Claude Code, and returns its answer.
fn event(lab: &Lab, event: &str, session: &str, (tool, input): (&str, Value), cwd: &Path) -> Value {
    let payload = json!({
        "session_id": session,
        "cwd": cwd,
        "hook_event_name": event,
        "tool_name": tool,
        "tool_use_id": format!("{session} {input}"),
        "tool_input": input,
    });
    let mut process = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    process.args(["hook", "claude-code"]);
    serde_json::from_str(&fed(process, &payload.to_string(), "")).unwrap_or_default()
}

/// Returns the decision of the hook about a command.
fn hook(lab: &Lab, name: &str, session: &str, command: &str) -> Value {
    let input = json!({ "command": command });
    let answer = event(lab, name, session, ("Bash", input), &lab.root);
    answer["hookSpecificOutput"]["permissionDecision"].clone()
}

/// Returns what the agent is told after a command.
fn told(lab: &Lab, session: &str, command: &str) -> String {
    let input = json!({ "command": command });
    let answer = event(lab, "PostToolUse", session, ("Bash", input), &lab.root);
    answer["reason"].as_str().unwrap_or_default().to_owned()
}

fn read(lab: &Lab, session: &str, file: &Path) {
    let input = json!({ "file_path": file });
    event(lab, "PostToolUse", session, ("Read", input), &lab.root);
}

fn root(lab: &Lab) -> Root {
    Root::find(&lab.root, &Environment::of_process()).expect("a workspace")
}

fn of_session(lab: &Lab, name: &str) -> Option<String> {
    let selected = session::selected_by(&root(lab), &format!("claude-code:{name}"), |_| true);
    selected.map(|selection| selection.intent_id)
}

fn of_person(lab: &Lab) -> Option<String> {
    session::selected(&root(lab), |_| true).map(|selection| selection.intent_id)
}

const ONE: Option<&str> = Some("INT-001");
const TWO: Option<&str> = Some("INT-002");

#[test]
fn what_a_person_declined_stays_declined_when_they_run_it_themselves() {
    let lab = at_work();
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-002"), "ask");
    assert!(run(&lab, false, &["select", "INT-002"]).status.success());
    assert_eq!((of_session(&lab, "s1").as_deref(), of_person(&lab).as_deref()), (ONE, TWO));
}

#[test]
#[ignore = "slow"]
fn a_script_of_the_agent_selects_for_nobody() {
    let lab = at_work();
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-002"), "ask");
    // The person declined, and the agent goes on with a script that contains the command.
    assert_eq!(hook(&lab, "PreToolUse", "s1", "./script.sh"), Value::Null);
    for arguments in [
        &["select", "INT-002"][..],
        &["select", "INT-002", "--session", "claude-code:s1"],
        &["select", "INT-002", "--session", "claude-code:s1/sub"],
        &["clear"],
    ] {
        let output = run(&lab, true, arguments);
        assert!(!output.status.success(), "{arguments:?}: {output:?}");
    }
    assert_eq!((of_session(&lab, "s1").as_deref(), of_person(&lab).as_deref()), (ONE, None));
}

#[test]
#[ignore = "slow"]
fn a_server_that_an_agent_starts_selects_for_nobody_else() {
    let lab = at_work();
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-002"), "ask");
    let framed = |message: Value| {
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    let ask = |id: u64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let select = |argument: Value| json!({ "command": "intent.select", "arguments": [argument] });
    let session = json!({ "id": "INT-002", "session": "claude-code:s1" });
    let folder = json!([{ "uri": format!("file://{}", lab.root.display()), "name": "w" }]);
    for argument in [json!({ "id": "INT-002" }), session] {
        let messages = [
            ask(1, "initialize", json!({ "capabilities": {}, "workspaceFolders": folder })),
            json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
            ask(2, "workspace/executeCommand", select(argument)),
        ];
        let input: String = messages.into_iter().map(framed).collect();
        let mut server = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
        server.env("CLAUDECODE", "1").arg("lsp");
        let answer = fed(server, &input, "\"id\":2");
        assert!(answer.contains("no hook has seen"), "{answer}");
    }
    let call = json!({ "name": "select_active_intent", "arguments": { "intent_id": "INT-002" } });
    let client = json!({ "name": "other", "version": "1" });
    let messages = [
        ask(
            1,
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        ),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        ask(2, "tools/call", call),
    ];
    let input: String = messages.into_iter().map(|message| format!("{message}\n")).collect();
    let mut server = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    server.arg("mcp");
    let answer = fed(server, &input, "\"id\":2");
    assert!(answer.contains("INT-002 is selected"), "for the connection itself: {answer}");
    assert_eq!((of_session(&lab, "s1").as_deref(), of_person(&lab).as_deref()), (ONE, None));
}

#[test]
#[ignore = "slow"]
fn a_switch_that_the_person_agreed_to_counts() {
    let lab = at_work();
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-002"), "ask");
    assert!(run(&lab, true, &["select", "INT-002"]).status.success());
    assert_eq!((of_session(&lab, "s1").as_deref(), of_person(&lab)), (TWO, None));
    worked_under(&lab, "INT-002");
    // Where a host leaves no sign in its commands, the end of the call shows that it ran.
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-001"), "ask");
    hook(&lab, "PostToolUse", "s1", "intent select INT-001");
    assert_eq!(of_session(&lab, "s1").as_deref(), ONE);
}

#[test]
#[ignore = "slow"]
fn hooks_of_two_sessions_do_not_mix_up() {
    let lab = at_work();
    for session in ["s2", "s3"] {
        assert_eq!(hook(&lab, "PreToolUse", session, "intent select INT-002"), Value::Null);
    }
    for session in ["s2", "s3"] {
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        assert!(command.args(["select", "INT-002"]).output().expect("run").status.success());
        assert_eq!(of_session(&lab, session).as_deref(), TWO);
    }
    assert_eq!((of_session(&lab, "s1").as_deref(), of_person(&lab)), (ONE, None));
    // Without the session's id the command cannot tell them apart, but both are under the intent.
    for session in ["s4", "s5"] {
        assert_eq!(hook(&lab, "PreToolUse", session, "intent select INT-002"), Value::Null);
    }
    run(&lab, true, &["select", "INT-002"]);
    for session in ["s4", "s5"] {
        assert_eq!(of_session(&lab, session).as_deref(), TWO);
    }
    assert_eq!(of_person(&lab), None);
}

#[test]
#[ignore = "slow"]
fn a_session_keeps_its_intent_in_a_linked_work_tree() {
    let lab = at_work();
    lab.write("src/a.rs", "fn a() {}\n");
    lab.write("billing/b.rs", "fn b() {}\n");
    lab.commit();
    let add = "git worktree add -q -b feat .claude/worktrees/feat";
    assert_eq!(hook(&lab, "PreToolUse", "s1", add), Value::Null);
    lab.run_git(&["worktree", "add", "-q", "-b", "feat", ".claude/worktrees/feat"]);
    assert_eq!(told(&lab, "s1", add), "");
    let at = |path: &str| lab.root.join(".claude/worktrees/feat").join(path);
    for (path, expected) in [("src/a.rs", Value::Null), ("billing/b.rs", "deny".into())] {
        let input = json!({ "file_path": at(path), "old_string": "{}", "new_string": "{ 1 }" });
        read(&lab, "s1", &at(path));
        let decision = |cwd: &std::path::Path| {
            let answer = event(&lab, "PreToolUse", "s1", ("Edit", input.clone()), cwd);
            answer["hookSpecificOutput"]["permissionDecision"].clone()
        };
        assert_eq!(decision(&at("")), expected, "{path} from the work tree");
        assert_eq!(decision(&lab.root), expected, "{path} from the main one");
    }
    // A script is judged by the rules of the work tree in which it writes.
    for (path, expected) in [("src/a.rs", ""), ("billing/b.rs", "billing/b.rs")] {
        assert_eq!(hook(&lab, "PreToolUse", "s1", "./gen.sh"), Value::Null);
        std::fs::write(at(path), "fn other() {}\n").expect("written");
        let told = told(&lab, "s1", "./gen.sh");
        assert_eq!(told.contains("Scope Violation"), !expected.is_empty(), "{told}");
        assert!(told.contains(expected), "{told}");
    }
    // Other places, and folders that hold something, are as before.
    for add in [
        "git worktree add billing/feat",
        "git worktree add .claude/worktrees/feat",
        "git worktree add worktrees/x && echo x > other/worktrees/x",
    ] {
        assert_eq!(hook(&lab, "PreToolUse", "s1", add), "deny", "{add}");
    }
    assert_eq!(hook(&lab, "PreToolUse", "s1", "git worktree add ../beside"), Value::Null);
}

#[test]
#[ignore = "slow"]
fn only_sessions_that_wrote_lately_are_named() {
    let lab = at_work();
    lab.write("src/a.rs", "fn a() {}\n");
    let notice = |session: &str| {
        let input = json!({ "command": "intent select INT-001" });
        let answer = event(&lab, "PreToolUse", session, ("Bash", input), &lab.root);
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(notice("s2"), "", "the first session has only selected");
    read(&lab, "s1", &lab.root.join("src/a.rs"));
    let file = lab.root.join("src/a.rs");
    let edit = || json!({ "file_path": file, "old_string": "{}", "new_string": "{ 1 }" });
    event(&lab, "PreToolUse", "s1", ("Edit", edit()), &lab.root);
    lab.write("src/a.rs", "fn a() { 1 }\n");
    event(&lab, "PostToolUse", "s1", ("Edit", edit()), &lab.root);
    let told = notice("s2");
    assert!(told.contains("claude-code under INT-001, which wrote just now"), "{told}");
    assert!(!told.contains("s1"), "{told}");
    event(&lab, "SessionEnd", "s1", ("", Value::Null), &lab.root);
    assert_eq!(notice("s2"), "");
}

#[test]
#[ignore = "slow"]
fn a_resumed_session_learns_again_what_binds_it() {
    let lab = at_work();
    let registry = lab.read(".orchestration/active_intents.yaml");
    let constrained = registry.replacen(
        "owned_scope: [\"src/**\"]",
        "owned_scope: [\"src/**\"]\n    constraints: [\"Keep the old names\"]",
        1,
    );
    assert_ne!(constrained, registry);
    lab.write(".orchestration/active_intents.yaml", constrained);
    for source in ["compact", "resume"] {
        let payload = json!({ "session_id": "s1", "cwd": lab.root, "hook_event_name": "SessionStart", "source": source });
        let mut process = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
        process.args(["hook", "claude-code"]);
        let answer = fed(process, &payload.to_string(), "");
        for said in ["INT-001", "src/**", "Keep the old names"] {
            assert!(answer.contains(said), "{source}: {said}: {answer}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_script_that_calls_the_hook_itself_declares_only() {
    let lab = at_work();
    let payload = |event: &str, session: &str| {
        let input = json!({ "file_path": format!("src/{session}.rs"), "content": "fn b() {}\n" });
        json!({ "session_id": session, "cwd": lab.root, "hook_event_name": event, "tool_name": "Write", "tool_use_id": session, "tool_input": input })
    };
    let hook = env!("CARGO_BIN_EXE_intent");
    let script = lab.root.join("../forge.sh");
    let steps = |session: &str| {
        let call = |event: &str| {
            format!("printf %s '{}' | '{hook}' hook claude-code\n", payload(event, session))
        };
        let select = payload("PreToolUse", session).to_string();
        let select = select.replace("\"Write\"", "\"mcp__intent__select_active_intent\"");
        let select = select.replace("\"content\"", "\"intent_id\":\"INT-001\",\"content\"");
        let select = format!("printf %s '{select}' | '{hook}' hook claude-code\n");
        let write = format!("mkdir -p src; printf 'fn b() {{}}\\n' > src/{session}.rs\n");
        [select, call("PreToolUse"), write, call("PostToolUse")].concat()
    };
    let strengths = |runs_as_host: bool, session: &str| {
        std::fs::write(&script, steps(session)).expect("written");
        // A host runs a hook with `sh -c`, and a script by its name.
        let mut shell = clean(Command::new("sh"), &lab.root);
        match runs_as_host {
            true => shell.args(["-c", &steps(session)]),
            false => shell.arg(&script),
        };
        let output = shell.output().expect("run");
        let opened = why::Workspace::at_root(root(&lab));
        let entries = opened.ledger.entries().iter().rev();
        let record = entries.map(|entry| &entry.record).find(|record| {
            let is_of_session = |text: String| text.contains(&format!("claude-code:{session}"));
            record.strength.is_some() && is_of_session(format!("{record:?}"))
        });
        let record = record.unwrap_or_else(|| panic!("{output:?}"));
        (record.strength, record.note.clone())
    };
    assert_eq!(strengths(true, "real"), (Some(ledger::Strength::Verified), None));
    let (strength, note) = strengths(false, "made-up");
    assert_eq!(strength, Some(ledger::Strength::Declared));
    assert!(note.is_some_and(|note| note.contains("no host")));
}
