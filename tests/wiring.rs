//! Agents are connected with `intent setup init`, and their hooks and commands work, with the real binary.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::cli::lab::Lab;
use ground::session::ungated::{self, Ungated};
use ground::{RelativePath, Root, session};
use serde_json::Value;

const AGENTS: &[&str] = &[
    "claude-code",
    "codex",
    "cursor",
    "copilot",
    "vscode",
    "gemini",
    "antigravity",
    "windsurf",
    "cline",
    "kiro",
    "droid",
    "devin",
    "opencode",
    "amp",
    "pi",
];

fn json(lab: &Lab, arguments: &[&str]) -> Value {
    let output = lab.intent(&[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn root(lab: &Lab) -> Root {
    Root::find(&lab.root, &ground::Environment::of_process()).expect("a workspace")
}

/// A workspace with one intent in progress, which owns one file.
fn working() -> Lab {
    let lab = Lab::governed();
    lab.fine(&["new", "Login", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "fn a() {\n    one();\n}\n");
    lab.commit();
    lab
}

#[test]
fn no_agent_may_write_the_settings_that_init_writes() {
    let lab = working();
    let answer = json(&lab, &["init", "--all"]);
    let mut files = 0;
    for agent in answer["agents"].as_array().unwrap() {
        for file in agent["files"].as_array().unwrap() {
            let path = file["path"].as_str().unwrap();
            let decision = json(&lab, &["gate", path]);
            assert_eq!(decision["code"], "PROTECTED_PATH", "{path}: {decision}");
            files += 1;
        }
    }
    assert!(files > 25, "{files}");
}

#[test]
fn init_connects_agents_and_removes_them_again() {
    let lab = Lab::git();
    let said = lab.fine(&["init", "--agent", "codex", "--agent", "cursor"]);
    assert!(lab.root.join(".orchestration/.gitignore").is_file());
    for expected in ["codex", "proven", ".codex/hooks.json", "Trust the hooks", "by protocol only"]
    {
        assert!(said.contains(expected), "{said}");
    }
    let again = json(&lab, &["init", "--agent", "codex"]);
    assert_eq!(again["agents"][0]["files"][0]["done"], "kept");
    let doctor = json(&lab, &["doctor"]);
    let codex = doctor["checks"].as_array().unwrap().iter().find(|it| it["what"] == "codex");
    assert_eq!(codex.unwrap()["state"], "bad", "no person has trusted the hooks yet");
    lab.fine(&["init", "--remove-agent", "codex", "--remove-agent", "cursor"]);
    assert!(!lab.root.join(".codex").exists() && !lab.root.join(".cursor").exists());
    assert!(lab.root.join(".orchestration").exists());
}

#[test]
fn what_doctor_advises_where_the_program_is_missing_is_accepted() {
    let lab = Lab::git();
    lab.fine(&["init", "--agent", "cursor"]);
    let cursor = || {
        let doctor = json(&lab, &["doctor"]);
        let mut checks = doctor["checks"].as_array().unwrap().iter();
        checks.find(|it| it["what"] == "cursor").unwrap()["detail"].as_str().unwrap().to_owned()
    };
    let told = cursor();
    let advice = told.split('`').find(|it| it.starts_with("intent ")).expect("a command");
    let words: Vec<&str> = advice.split_whitespace().skip(1).collect();
    lab.fine(&words);
    assert!(!cursor().contains("not on the PATH"), "{told}");
}

#[test]
fn settings_in_the_home_folder_are_written_only_on_request() {
    let lab = Lab::git();
    let home = lab.root.join("../home");
    std::fs::create_dir(&home).unwrap();
    lab.fine(&["init", "--all"]);
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0);
    let other = lab.root.join(".gemini/settings.json");
    let project = std::fs::read_to_string(&other).unwrap();
    lab.fine(&["init", "--agent", "gemini", "--user", "--absolute"]);
    let text = std::fs::read_to_string(home.join(".gemini/settings.json")).unwrap();
    assert!(text.contains(env!("CARGO_BIN_EXE_intent")), "{text}");
    assert_eq!(std::fs::read_to_string(other).unwrap(), project);
}

#[test]
fn mistakes_are_reported_and_change_nothing() {
    let lab = Lab::git();
    for (arguments, expected) in [
        (&["init", "--agent", "clippy"][..], "there is no agent"),
        (&["init", "--user"], "none is named"),
        (&["init", "--agent", "codex", "--all"], "cannot be used with"),
        (&["init", "--all", "--remove-agent", "codex"], "cannot be used with"),
    ] {
        let output = lab.intent(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(expected), "{told}");
    }
    lab.write(".gemini/settings.json", "{ broken");
    let output = lab.intent(&["init", "--all"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains(".gemini/settings.json") && told.contains("No file was changed"),
        "{told}"
    );
    assert!(!lab.root.join(".claude").exists() && !lab.root.join(".orchestration").exists());
    assert_eq!(lab.read(".gemini/settings.json"), "{ broken");
}

#[test]
fn the_documents_name_the_files_of_each_agent() {
    let lab = Lab::git();
    let page = include_str!("../docs/agents.md");
    let answer = json(&lab, &["init", "--all"]);
    for agent in answer["agents"].as_array().unwrap() {
        let row = format!("| `{}` |", agent["agent"].as_str().unwrap());
        let row = page.lines().find(|line| line.starts_with(&row)).expect("a row for each agent");
        let files: Vec<String> = agent["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| format!("`{}`", file["path"].as_str().unwrap()))
            .collect();
        assert_eq!(row.split(" | ").nth(1), Some(files.join(", ").as_str()));
    }
}

#[test]
fn every_agent_can_be_connected_by_name() {
    let lab = Lab::git();
    for agent in AGENTS {
        lab.fine(&["init", "--agent", agent]);
        lab.fine(&["init", "--remove-agent", agent]);
    }
}

/// Returns the decision of Claude Code's hook before a command of the session `s1`, or `None` if it has no opinion.
fn before(lab: &Lab, command: &str) -> Option<Value> {
    let payload = serde_json::json!({
        "session_id": "s1",
        "cwd": lab.root,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": command,
        "tool_input": { "command": command },
    });
    let mut process = crate::cli::lab::clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root)
        .args(["hook", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut stdin = process.stdin.take().expect("a pipe");
    stdin.write_all(payload.to_string().as_bytes()).expect("the payload is written");
    drop(stdin);
    let output = process.wait_with_output().expect("an answer");
    let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    answer.map(|answer| answer["hookSpecificOutput"]["permissionDecision"].clone())
}

/// Runs a command of `intent` as the agent does: first its hook, then the command.
fn as_agent(lab: &Lab, arguments: &[&str]) -> String {
    let _ = before(lab, &format!("intent {}", arguments.join(" ")));
    let output = by_agent(lab, arguments);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Runs a command of `intent` in a process of an agent.
fn by_agent(lab: &Lab, arguments: &[&str]) -> std::process::Output {
    crate::cli::lab::clean(Command::new(env!("CARGO_BIN_EXE_intent")), &lab.root)
        .env("CLAUDECODE", "1")
        .args(arguments)
        .output()
        .expect("a process")
}

#[test]
#[ignore = "slow"]
fn an_agents_selection_is_never_the_persons_selection() {
    let lab = working();
    lab.fine(&["new", "Other", "--scope", "lib/**", "--start"]);
    lab.fine(&["select", "INT-002"]);
    let person = || session::selected(&root(&lab), |_| true).map(|selection| selection.intent_id);
    let agent = || {
        session::selected_by(&root(&lab), "claude-code:s1", |_| true)
            .map(|selection| selection.intent_id)
    };
    as_agent(&lab, &["select", "INT-001"]);
    assert_eq!((agent().as_deref(), person().as_deref()), (Some("INT-001"), Some("INT-002")));

    lab.write("src/a.rs", "fn a() {\n    written();\n}\n");
    lab.fine(&["record", "src/a.rs", "--intent", "INT-001", "--session", "claude-code:s1"]);
    // The host asks the person about a switch, and runs the command only if they agree.
    lab.fine(&["select", "INT-001"]);
    assert_eq!(before(&lab, "intent select INT-002"), Some("ask".into()));
    assert_eq!(agent().as_deref(), Some("INT-001"), "not before the person has answered");
    assert!(by_agent(&lab, &["select", "INT-002"]).status.success());
    assert_eq!((agent().as_deref(), person().as_deref()), (Some("INT-002"), Some("INT-001")));

    // The hook announces a command, and each announcement counts for one run.
    assert!(!by_agent(&lab, &["select", "INT-002"]).status.success());
    assert_eq!(person().as_deref(), Some("INT-001"));
}

#[test]
#[ignore = "slow"]
fn an_agents_commands_use_the_selection_of_its_session() {
    let lab = working();
    lab.fine(&["new", "Other", "--scope", "lib/**", "--start"]);
    as_agent(&lab, &["select", "INT-001"]);
    assert_eq!(session::selected(&root(&lab), |_| true), None);
    assert!(as_agent(&lab, &["context"]).contains("<intent_context id=\"INT-001\""));
    assert!(as_agent(&lab, &["status"]).contains("INT-001  Login"));
    assert!(as_agent(&lab, &["gate", "src/a.rs"]).contains("no opinion"));
    let fence = as_agent(&lab, &["fence", "--explain"]);
    assert!(fence.contains("INT-001") && !fence.contains("INT-002"), "{fence}");
    as_agent(&lab, &["lesson", "Learned"]);
    lab.write("src/a.rs", "fn a() {\n    two();\n}\n");
    assert!(as_agent(&lab, &["record", "src/a.rs"]).contains("under INT-001"));
    for path in ["src/a.rs", "AGENTS.md"] {
        let why = lab.json(&["why", path]);
        let block = &why["blocks"][0];
        assert_eq!(
            (&block["intent"]["id"], &block["tool"], &block["session"]),
            (&"INT-001".into(), &"claude-code".into(), &"claude-code:s1".into()),
            "{why}"
        );
    }
    let trace = lab.fine(&["trace"]);
    let selections: Vec<&str> = trace.lines().filter(|line| line.contains("selection")).collect();
    assert!(selections[0].contains("in claude-code:s1"), "{trace}");
}

#[test]
fn without_a_selection_the_command_in_the_message_works() {
    let lab = working();
    lab.fine(&["new", "Other", "--scope", "src/**", "--start"]);
    lab.write("src/a.rs", "fn a() {\n    two();\n}\n");
    let output = lab.intent(&["record", "src/a.rs", "--session", "codex:1"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("codex:1 has selected none; add `--intent ID`"), "{told}");
    lab.fine(&["record", "src/a.rs", "--session", "codex:1", "--intent", "INT-002"]);
    // Only intents that own the file are offered.
    lab.fine(&["new", "Third", "--scope", "lib/**", "--start"]);
    let denial = json(&lab, &["gate", "src/a.rs", "--session", "codex:1"]);
    let message = denial["message"].as_str().expect("a sentence");
    assert!(message.contains("INT-001 (Login) and INT-002 (Other) own src/a.rs"), "{message}");
    assert!(!message.contains("INT-003"), "{message}");
}

fn ungated_write(lab: &Lab) {
    lab.write("src/a.rs", "fn a() {\n    two();\n}\n");
    let path = RelativePath::new("src/a.rs").expect("a path");
    let hash = session::seen::state(&root(lab), &path, 0).hash;
    let note = Ungated {
        path,
        hash,
        before: Default::default(),
        head: None,
        actor: "codex:1".into(),
        tool: "Bash".into(),
        why: "a command changed it, and it is out of scope".into(),
        at: "2026-11-22T03:00:00.000Z".into(),
    };
    ungated::keep(&root(lab), &note).expect("a note");
}

fn is_found(lab: &Lab) -> bool {
    let check = json(lab, &["check"]);
    let found = |finding: &Value| finding["code"] == "ungated-write";
    let doctor = json(lab, &["doctor"]);
    let seen =
        doctor["checks"].as_array().expect("a list").iter().any(|check| check["what"] == "ungated");
    let check = check["findings"].as_array().expect("a list").iter().any(found);
    assert_eq!(check, seen, "check and doctor agree");
    check
}

#[test]
#[ignore = "slow"]
fn an_ungated_write_is_a_finding_until_a_person_accepts_it() {
    let lab = working();
    assert!(!is_found(&lab));
    ungated_write(&lab);
    assert!(is_found(&lab));
    assert_eq!(json(&lab, &["accept", "src/a.rs"])["settled"], true);
    assert!(!is_found(&lab));
    assert_eq!(lab.intent(&["accept", "src/a.rs"]).status.code(), Some(2));

    ungated_write(&lab);
    for agent in [&["--agent", "codex"][..], &["--session", "codex:1"], &["--model", "a/m"]] {
        let recording = [&["record", "src/a.rs", "--intent", "INT-001"], agent].concat();
        let output = lab.intent(&recording);
        assert_eq!(output.status.code(), Some(1), "{recording:?}");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains("`intent accept src/a.rs`"), "{told}");
        assert!(is_found(&lab), "its own agent cannot accept it: {recording:?}");
    }
    lab.fine(&["record", "src/a.rs", "--intent", "INT-001"]);
    assert!(!is_found(&lab));

    ungated_write(&lab);
    lab.write("src/a.rs", "fn a() {\n    one();\n}\n");
    assert!(!is_found(&lab), "the file was put back");
}
