//! The whole hook process for every host: a payload on standard input, and the answer that the host gets.
//!
//! `tests/hosts/HOST/` contains the payloads; `SOURCE.md` beside them says whether they were recorded from the real
//! program or written from its documentation. The snapshots shorten the messages of the gate, because they compare only
//! the dialect of each host.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::support::{Repo, binary::command};
use ground::{Root, session};
use hook::host::HOSTS;
use serde_json::{Value, json};

const REGISTRY: &str = "\
active_intents:
  - id: INT-001
    name: Sign in
    status: IN_PROGRESS
    owned_scope: [\"src/auth/**\", \"docs/**\", \"empty.py\"]
";
const TOKEN: &str = "def verify(token):\n    return token == \"secret\"\n";

/// The state of the workspace when a payload arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Situation {
    /// INT-001 is selected, and owns the files of the call.
    Selected,
    /// Nothing is selected.
    Nothing,
    /// Nothing is selected, and the policy asks instead of denying.
    Asking,
}

fn place(situation: Situation) -> Repo {
    let repo = Repo::without_git();
    repo.write(".orchestration/active_intents.yaml", REGISTRY);
    repo.write("src/auth/token.py", TOKEN);
    if situation == Situation::Asking {
        repo.write(".orchestration/policy.yaml", "mode: ask\n");
    }
    repo
}

fn run(repo: &Repo, host: &str, payload: &str) -> Output {
    let mut child = command(&repo.root(), &["hook", host])
        .env_remove("DEVIN_PROJECT_DIR")
        .env("HOME", repo.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

/// The payloads of a host by name; for opencode, as its plugin passes them on.
fn payloads(host: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts").join(host);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{host}: {error}"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == "json"));
    // The plugin passes nothing on when a turn ends.
    files.retain(|file| !file.ends_with("session.idle.json"));
    files.sort();
    assert!(folder.join("SOURCE.md").is_file(), "{host} does not say where its payloads are from");
    files
        .into_iter()
        .map(|file| {
            let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).expect("a payload");
            let text = if host == "opencode" { of_plugin(&text) } else { text };
            (name, text)
        })
        .collect()
}

/// Returns what `integrations/agents/opencode/intent.js` makes of a message of opencode.
fn of_plugin(text: &str) -> String {
    let told: Value = serde_json::from_str(text).expect("JSON");
    let name = match told["event"].as_str() {
        Some("tool.execute.before") => "PreToolUse",
        Some("tool.execute.after") => "PostToolUse",
        Some("chat.message") => "UserPromptSubmit",
        _ => "SessionStart",
    };
    let input = &told["input"];
    let arguments = if name == "PreToolUse" { &told["output"]["args"] } else { &input["args"] };
    let mut payload = json!({
        "hook_event_name": name,
        "session_id": input["sessionID"],
        "cwd": told["directory"],
        "tool_name": input["tool"],
        "tool_input": arguments,
        "tool_use_id": input["callID"],
    });
    if let Some(exit) = told["output"]["metadata"]["exit"].as_i64() {
        payload["tool_response"] = json!({ "exit": exit });
    }
    payload.to_string()
}

/// The session of a payload, by the name that the gate uses.
fn actor(host: &str, payload: &str) -> String {
    let payload: Value = serde_json::from_str(payload).expect("JSON");
    let names =
        ["conversation_id", "conversationId", "session_id", "sessionId", "trajectory_id", "taskId"];
    let id = names.iter().find_map(|name| payload[name].as_str()).unwrap_or("unnamed");
    format!("{host}:{id}")
}

fn told(host: &str, name: &str, payload: &str, situation: Situation) -> (String, bool) {
    let repo = place(situation);
    let root = repo.root();
    if situation == Situation::Selected {
        let selection = session::Selection {
            intent_id: "INT-001".to_owned(),
            selected_at: "2026-11-22T02:00:00.000Z".to_owned(),
            ..session::Selection::default()
        };
        let root = Root::find(&root, &ground::Environment::of_process()).expect("a root");
        session::select_for(&root, &actor(host, payload), &selection).expect("selected");
    }
    let here = root.to_str().expect("a plain path");
    let payload =
        payload.replace("\"/p\"", &format!("\"{here}\"")).replace("/p/", &format!("{here}/"));
    let output = run(&repo, host, &payload);
    let stdout = String::from_utf8(output.stdout).expect("text").replace(here, "/p");
    let stderr = String::from_utf8(output.stderr).expect("text").replace(here, "/p");
    let mut picture =
        format!("{name}, {situation:?}: exit {}\n", output.status.code().expect("a code"));
    let denied = [&stdout, &stderr].iter().any(|text| text.contains("[INTENT_REQUIRED]"));
    if !stdout.is_empty() {
        let short = serde_json::from_str(&stdout).map_or_else(
            |_| cut(stdout.trim_end()),
            |mut document: Value| {
                shorten(&mut document);
                document.to_string()
            },
        );
        picture.push_str(&format!("  out {short}\n"));
    }
    if !stderr.is_empty() {
        picture.push_str(&format!("  err {}\n", cut(stderr.trim_end())));
    }
    (picture, denied)
}

/// Shortens a message to its code, or to `…`.
fn cut(text: &str) -> String {
    if let (true, Some(end)) = (text.starts_with('['), text.find(']')) {
        return format!("{} …", &text[..=end]);
    }
    let long = text.chars().count() > 24;
    if long { "…".to_owned() } else { text.to_owned() }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => *text = cut(text),
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

/// The answers to every payload of a host, in each situation that changes the answer.
fn picture(host: &str) -> String {
    let mut picture = String::new();
    let mut asked = false;
    for (name, payload) in payloads(host) {
        let (nothing, denied) = told(host, &name, &payload, Situation::Nothing);
        picture.push_str(&nothing);
        if denied {
            picture.push_str(&told(host, &name, &payload, Situation::Selected).0);
        }
        if denied && !asked {
            asked = true;
            picture.push_str(&told(host, &name, &payload, Situation::Asking).0);
        }
    }
    assert!(asked, "{host}: nothing was denied");
    picture
}

macro_rules! golden {
    ($($name:ident $host:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(concat!("told_", $host), picture($host));
        })*
        const GOLDEN: &[&str] = &[$($host),*];
    };
}

golden! {
    claude_code "claude-code",
    codex "codex",
    cursor "cursor",
    copilot "copilot",
    vscode "vscode",
    gemini "gemini",
    antigravity "antigravity",
    windsurf "windsurf",
    cline "cline",
    kiro "kiro",
    droid "droid",
    devin "devin",
    opencode "opencode",
    amp "amp",
    pi "pi",
    roo "roo",
}

#[test]
fn every_host_has_a_snapshot() {
    let hosts: Vec<&str> = HOSTS.iter().map(|host| host.name).collect();
    assert_eq!(GOLDEN, hosts);
}

/// The table in `docs/hosts.md` has the same values as the table in the code. Its last column says
/// where they are from, which only the document knows.
#[test]
fn the_table_of_hosts_in_the_documents_matches_the_code() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/hosts.md");
    let text = std::fs::read_to_string(file).expect("docs/hosts.md");
    for host in HOSTS {
        let asks = if host.asks { "itself" } else { "by code" };
        let (name, standing) = (host.name, host.evidence_level.as_str());
        let row = format!("| `{name}` | {standing} | {asks} | {} | ", host.cannot);
        let sources = text.lines().filter_map(|line| line.strip_prefix(&row));
        let sources: Vec<&str> = sources.filter(|source| source.len() > " |".len()).collect();
        assert_eq!(sources.len(), 1, "docs/hosts.md lacks this row, or its source:\n{row}");
    }
    let is_host =
        |line: &&str| line.contains("| proven |") || line.contains("| by protocol only |");
    assert_eq!(text.lines().filter(is_host).count(), HOSTS.len(), "a row is about no host");
}

/// A payload shows which host sent it, so `auto` answers as that host's own name does.
#[test]
#[ignore = "slow"]
fn auto_recognises_the_host_from_the_payload() {
    for host in
        ["codex", "cursor", "copilot", "vscode", "gemini", "antigravity", "windsurf", "cline"]
    {
        let (name, payload) = payloads(host)
            .into_iter()
            .find(|(name, _)| {
                let name = name.to_lowercase();
                name.starts_with("pre") || name.starts_with("beforetool")
            })
            .expect("a payload");
        let repo = place(Situation::Nothing);
        let here = repo.root().to_str().expect("a path").to_owned();
        let payload =
            payload.replace("\"/p\"", &format!("\"{here}\"")).replace("/p/", &format!("{here}/"));
        let of = |host: &str| {
            let output = run(&repo, host, &payload);
            (output.stdout, output.stderr, output.status.code())
        };
        assert_eq!(of("auto"), of(host), "{host} {name}");
    }
}

/// A host that runs the hooks of another host gets answers in its own dialect.
#[test]
fn the_payload_decides_the_host_before_the_name_does() {
    let is_write = |payload: &str| {
        let payload: Value = serde_json::from_str(payload).expect("JSON");
        payload["hook_event_name"] == "preToolUse" && payload["tool_name"] == "Write"
    };
    let mut payloads = payloads("cursor").into_iter();
    let (name, payload) = payloads.find(|(_, payload)| is_write(payload)).expect("a write");
    let (as_claude, _) = told("claude-code", &name, &payload, Situation::Nothing);
    let (as_cursor, _) = told("cursor", &name, &payload, Situation::Nothing);
    assert!(as_cursor.contains("\"permission\":\"deny\""), "{as_cursor}");
    assert_eq!(as_claude, as_cursor);
}

#[test]
fn a_host_that_does_not_exist_is_refused() {
    let repo = place(Situation::Nothing);
    let output = run(&repo, "vim", "{}");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("there is no host \"vim\"") && said.contains("claude-code"), "{said}");
}

/// Some hosts name the model with each call, and Claude Code only at the start of a session.
#[test]
fn the_record_names_the_model_and_the_session() {
    for (host, calls, model) in [
        (
            "claude-code",
            &["SessionStart", "PreToolUse-write", "PostToolUse-write"][..],
            "claude-opus-4-6",
        ),
        ("codex", &["PreToolUse-apply_patch-add", "PostToolUse-apply_patch-add"], "gpt-5.5"),
        ("cursor", &["preToolUse-write", "postToolUse-write"], "composer-1"),
        ("windsurf", &["pre_write_code", "post_write_code"], "swe-1.5"),
        (
            "cline",
            &["TaskStart", "PreToolUse-write", "PostToolUse-write"],
            "anthropic/claude-sonnet-4.5",
        ),
    ] {
        let repo = place(Situation::Nothing);
        let root = Root::find(&repo.root(), &ground::Environment::of_process()).expect("a root");
        let here = root.path().to_str().expect("a plain path");
        let payloads = payloads(host);
        let mut session = String::new();
        for (nth, name) in calls.iter().enumerate() {
            let (_, payload) =
                payloads.iter().find(|(known, _)| known == name).expect("a recorded payload");
            session = actor(host, payload);
            let selection = session::Selection {
                intent_id: "INT-001".to_owned(),
                selected_at: "2026-11-22T02:00:00.000Z".to_owned(),
                ..session::Selection::default()
            };
            session::select_for(&root, &session, &selection).expect("selected");
            if nth + 1 == calls.len() {
                repo.write("src/auth/claims.py", "CLAIMS = 1\n");
            }
            let payload = payload
                .replace("\"/p\"", &format!("\"{here}\""))
                .replace("/p/", &format!("{here}/"));
            run(&repo, host, &payload);
        }
        let ledger = repo.read(".orchestration/agent_trace.jsonl");
        let record: Value =
            serde_json::from_str(ledger.lines().last().expect("a record")).expect("JSON");
        let conversation = &record["files"][0]["conversations"][0];
        assert_eq!(conversation["contributor"]["model_identifier"], model, "{host}: {record}");
        assert_eq!(record["session"], session.as_str(), "{host}");
        assert_eq!(record["tool"]["name"], host);
    }
}

#[test]
fn a_call_writes_a_heartbeat() {
    let repo = place(Situation::Nothing);
    let here = repo.root();
    let payload = json!({"session_id": "s", "cwd": here, "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "a"}});
    assert_eq!(run(&repo, "claude-code", &payload.to_string()).status.code(), Some(0));
    let note: Value =
        serde_json::from_str(&repo.read(".orchestration/local/heartbeat/claude-code.json"))
            .expect("JSON");
    assert_eq!(note["decision"], "no_opinion");
    assert_eq!(note["event"], "PreToolUse");
    assert_eq!(note["version"], env!("CARGO_PKG_VERSION"));
    assert!(note["at"].is_string());
}

#[test]
fn a_session_that_the_host_clears_loses_its_selection() {
    let told = [
        ("claude-code", json!({ "hook_event_name": "SessionStart", "source": "clear" }), false),
        ("claude-code", json!({ "hook_event_name": "SessionEnd", "reason": "clear" }), false),
        ("gemini", json!({ "hook_event_name": "SessionStart", "source": "clear" }), false),
        ("codex", json!({ "hook_event_name": "SessionStart", "source": "clear" }), false),
        ("claude-code", json!({ "hook_event_name": "SessionStart", "source": "compact" }), true),
        ("claude-code", json!({ "hook_event_name": "SessionStart", "source": "resume" }), true),
        ("claude-code", json!({ "hook_event_name": "SessionEnd", "reason": "other" }), true),
    ];
    for (host, mut payload, stays) in told {
        let repo = place(Situation::Nothing);
        let root = Root::find(&repo.root(), &ground::Environment::of_process()).expect("a root");
        let of = |id: &str| format!("{host}:{id}");
        for id in ["one", "one/helper", "other"] {
            let selection = session::Selection {
                intent_id: "INT-001".to_owned(),
                selected_at: "2026-11-22T02:00:00.000Z".to_owned(),
                actor: Some(of(id)),
                ..session::Selection::default()
            };
            session::select_for(&root, &of(id), &selection).expect("selected");
        }
        payload["session_id"] = json!("one");
        payload["cwd"] = json!(repo.root());
        let output = run(&repo, host, &payload.to_string());
        assert!(output.status.success(), "{payload}");
        let stands = |id: &str| session::selected_by(&root, &of(id), |_| true).is_some();
        assert_eq!((stands("one"), stands("one/helper")), (stays, stays), "{payload}");
        assert!(stands("other"), "{payload}");
    }
}

#[test]
fn owners_are_told_according_to_the_asking_agents_selection() {
    let repo = place(Situation::Nothing);
    let two = "  - id: INT-002\n    name: Pages\n    status: IN_PROGRESS\n    owned_scope: [\"web/page.rs\"]\n";
    repo.write(".orchestration/active_intents.yaml", &format!("{REGISTRY}{two}"));
    let root = Root::find(&repo.root(), &ground::Environment::of_process()).expect("a root");
    let selection = |intent: &str| session::Selection {
        intent_id: intent.to_owned(),
        selected_at: "2026-11-22T02:00:00.000Z".to_owned(),
        ..session::Selection::default()
    };
    session::select(&root, &selection("INT-001")).expect("selected by the person");
    session::select_for(&root, "claude-code:two", &selection("INT-002")).expect("selected");
    let next = |session: Option<&str>, agent: bool| {
        if let Some(session) = session {
            let payload = json!({
                "session_id": session, "cwd": repo.root(), "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": { "command": "intent --json for 'web/d e.rs'" },
            });
            run(&repo, "claude-code", &payload.to_string());
        }
        let mut asks = command(&repo.root(), &["--json", "for", "web/d e.rs"]);
        if agent {
            asks.env("CLAUDECODE", "1");
        }
        let answer: Value =
            serde_json::from_slice(&asks.output().expect("it ends").stdout).expect("JSON");
        answer[0]["next"].as_str().expect("a command").to_owned()
    };
    let widens = |intent: &str| format!("intent request-scope --intent {intent} ");
    assert!(next(None, false).starts_with(&widens("INT-001")), "a person");
    for (session, expected) in [("one", "intent propose ".to_owned()), ("two", widens("INT-002"))] {
        let told = next(Some(session), true);
        assert!(told.starts_with(&expected), "{session}: {told}");
    }
    let told = next(None, true);
    assert!(told.starts_with("intent propose "), "an agent without a hook: {told}");
}

#[test]
#[ignore = "slow"]
fn an_agent_whose_tests_failed_twice_is_reminded_of_lessons_once() {
    let claude = json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "exit code 101" });
    let gemini = json!({
        "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
        "tool_response": { "llmContent": "Output: 1 failed\nExit Code: 101\nProcess Group PGID: 1" },
    });
    let opencode = json!({
        "hook_event_name": "PostToolUse", "tool_name": "bash", "tool_response": { "exit": 101 },
    });
    for (host, failing) in [("claude-code", claude), ("gemini", gemini), ("opencode", opencode)] {
        let repo = place(Situation::Nothing);
        let told = |command: &str, call: usize| {
            let mut payload = failing.clone();
            payload["session_id"] = json!("one");
            payload["cwd"] = json!(repo.root());
            payload["tool_input"] = json!({ "command": command });
            payload["tool_use_id"] = json!(format!("call-{call}"));
            let output = run(&repo, host, &payload.to_string());
            assert!(output.status.success(), "{host}");
            String::from_utf8(output.stdout).expect("text")
        };
        let commands =
            ["cargo test -q", "git push", "git push", "pytest", "cargo test -- auth", "pytest"];
        let told: Vec<String> =
            commands.iter().enumerate().map(|(call, command)| told(command, call)).collect();
        let reminded: Vec<bool> = told.iter().map(|said| said.contains("record_lesson")).collect();
        assert_eq!(reminded, [false, false, false, false, true, false], "{host}: {told:?}");
        assert!(told[4].contains("`cargo test` failed twice in this session."), "{}", told[4]);
    }
}
