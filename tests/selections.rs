//! What an agent was about to run, and what then runs: the selections of people and of sessions, with
//! real processes.

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use crate::cli::lab::{Lab, clean};
use ground::{Environment, Root, session};
use serde_json::{Value, json};

/// A workspace with two intents, of which the agent's session `s1` has selected the first.
fn at_work() -> Lab {
    let lab = Lab::governed();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.fine(&["new", "Billing", "--scope", "billing/**", "--start"]);
    lab.commit();
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-001"), Value::Null);
    assert!(run(&lab, true, &["select", "INT-001"]).status.success());
    hook(&lab, "PostToolUse", "s1", "intent select INT-001");
    lab
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

/// Calls the hook of Claude Code, and returns its decision.
fn hook(lab: &Lab, event: &str, session: &str, command: &str) -> Value {
    let payload = json!({
        "session_id": session,
        "cwd": lab.root,
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_use_id": format!("{session} {command}"),
        "tool_input": { "command": command },
    });
    let mut process = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    process.args(["hook", "claude-code"]);
    let answer = fed(process, &payload.to_string(), "");
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecision"].clone()
}

fn root(lab: &Lab) -> Root {
    Root::find(&lab.root, &Environment::of_process()).expect("a workspace")
}

fn of_session(lab: &Lab, name: &str) -> Option<String> {
    let selected = session::selected_by(&root(lab), &format!("claude-code:{name}"));
    selected.map(|selection| selection.intent_id)
}

fn of_person(lab: &Lab) -> Option<String> {
    session::selected(&root(lab)).map(|selection| selection.intent_id)
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
    let messages = [
        ask(1, "initialize", json!({ "capabilities": {}, "workspaceFolders": folder })),
        json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
        ask(2, "workspace/executeCommand", select(json!({ "id": "INT-002" }))),
        ask(3, "workspace/executeCommand", select(session)),
    ];
    let input: String = messages.into_iter().map(framed).collect();
    let mut server = clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root);
    server.env("CLAUDECODE", "1").arg("lsp");
    let answer = fed(server, &input, "\"id\":3");
    assert_eq!(answer.matches("no hook has seen").count(), 2, "{answer}");
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
fn a_switch_that_the_person_agreed_to_counts() {
    let lab = at_work();
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-002"), "ask");
    assert!(run(&lab, true, &["select", "INT-002"]).status.success());
    assert_eq!((of_session(&lab, "s1").as_deref(), of_person(&lab)), (TWO, None));
    // Where a host leaves no sign in its commands, the end of the call shows that it ran.
    assert_eq!(hook(&lab, "PreToolUse", "s1", "intent select INT-001"), "ask");
    hook(&lab, "PostToolUse", "s1", "intent select INT-001");
    assert_eq!(of_session(&lab, "s1").as_deref(), ONE);
}

#[test]
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
