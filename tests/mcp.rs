//! `intent agent mcp` as a process: both versions of the protocol, every tool, hostile clients, and writers that run at the
//! same time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support::binary::{intent, picture, why};
use crate::support::schema::Schema;
use crate::support::{Repo, temporary_folder};
use serde_json::{Value, json};

const TOOLS: [&str; 11] = [
    "select_active_intent",
    "list_intents",
    "gate_check",
    "file_read",
    "file_write",
    "record_mutation",
    "why",
    "request_scope",
    "propose_intent",
    "record_lesson",
    "approval_status",
];

/// How a client opens the conversation; the newer version of the protocol has no handshake.
#[derive(Clone, Copy)]
enum Era {
    /// It begins with `initialize`.
    Handshake(&'static str),
    /// Every request contains the version and the capabilities.
    Inline,
}

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    era: Era,
    asked: u64,
}

impl Client {
    fn start(folder: &Path, era: Era, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_intent"))
            .current_dir(folder)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, era, asked: 0 };
        if let Era::Handshake(version) = era {
            let hello = client.ask("initialize", hello(version, json!({})));
            assert_eq!(hello["result"]["serverInfo"]["name"], "intent", "{hello}");
            client.tell("notifications/initialized", json!({}));
        }
        client
    }

    fn old(repo: &Repo) -> Self {
        Self::start(&repo.root(), Era::Handshake("2025-06-18"), &["mcp"])
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for the answer, and returns its id.
    fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.asked += 1;
        if let Era::Inline = self.era {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "new-agent", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.send(&request);
        self.asked
    }

    /// Reads the next message. Fails if standard output contains anything but messages.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and returns the result.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed, and returns its answer.
    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must refuse, and returns the code.
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let code = result["structuredContent"]["code"].as_str().unwrap().to_owned();
        assert!(result["structuredContent"]["message"].as_str().unwrap().len() > 10, "{result}");
        assert!(result["content"][0]["text"].as_str().unwrap().starts_with(&format!("{code}: ")));
        code
    }

    fn select(&mut self, id: &str) {
        self.done("select_active_intent", json!({ "intent_id": id }));
    }

    /// Closes the stream and returns the remaining messages.
    fn end(mut self) -> Vec<Value> {
        self.input = None;
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // In a test that passed, the process has ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn hello(version: &str, capabilities: Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": { "name": "old-agent", "version": "1" },
    })
}

const CODE: &str =
    "fn sign_in(user: &str) -> bool {\n    let known = users();\n    known.contains(user)\n}\n";

#[test]
fn every_version_with_a_handshake_is_supported() {
    let repo = Repo::new();
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ];
    for (asked, agreed) in cases {
        let mut client = Client::start(&repo.root(), Era::Handshake(asked), &["mcp"]);
        let again = client.ask("initialize", hello(asked, json!({})));
        assert_eq!(again["result"]["protocolVersion"], agreed, "{again}");
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        let listed = client.ask("tools/list", json!({}));
        assert!(listed["result"].get("resultType").is_none(), "{asked}: {listed}");
        assert!(client.end().is_empty());
    }
}

#[test]
fn requests_of_the_newer_version_need_no_handshake() {
    let repo = Repo::new();
    let mut client = Client::start(&repo.root(), Era::Inline, &["mcp"]);
    let found = client.ask("server/discover", json!({}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.ask("tools/list", json!({}));
    assert_eq!(listed["result"]["resultType"], "complete");
    client.select("INT-001");
    let written = client.done(
        "file_write",
        json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": CODE }),
    );
    assert_eq!(written["recorded"], true, "{written}");
    assert_eq!(client.ask("ping", json!({}))["error"]["code"], -32601);
    assert!(client.end().is_empty());
    assert_eq!(why(&repo, "src/a.rs"), "exact INT-001 sign_in\n");
}

#[test]
fn the_list_of_tools_is_the_same_for_every_client() {
    let repo = Repo::new();
    let listed = |era| {
        let mut client = Client::start(&repo.root(), era, &["mcp"]);
        let before = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        client.select("INT-001");
        assert_eq!(client.ask("tools/list", json!({}))["result"]["tools"], before);
        before
    };
    let tools = listed(Era::Inline);
    assert_eq!(tools, listed(Era::Handshake("2025-06-18")));
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in tools.as_array().unwrap() {
        let hints = &tool["annotations"];
        assert_eq!(hints["openWorldHint"], false, "{tool}");
        assert_eq!(hints["idempotentHint"], true, "{tool}");
        assert_eq!(hints["destructiveHint"], tool["name"] == "file_write", "{tool}");
        assert!(hints["readOnlyHint"].is_boolean(), "{tool}");
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{tool}");
            assert!(schema.get("$schema").is_none(), "{tool}");
        }
        let arguments = tool["inputSchema"].to_string();
        for keyword in ["$ref", "anyOf", "\"null\""] {
            assert!(!arguments.contains(keyword), "{arguments}");
        }
        Schema::of(&tool["outputSchema"]);
    }
    // Hosts give the whole list to the model with every request.
    let size = serde_json::to_string(&tools).unwrap().len();
    assert!(size <= 16 * 1024, "{size} bytes");
}

#[test]
fn listing_intents_names_the_owners_of_given_files() {
    let repo = Repo::new();
    repo.write(".orchestration/policy.yaml", "protected_paths: [src/sealed.rs]\n");
    let mut client = Client::old(&repo);
    client.select("INT-001");
    let paths = ["src/a.rs", "billing/b.rs", "old/c.rs", "web/d.rs", "src/sealed.rs"];
    let result = client.call("list_intents", json!({ "paths": paths }));
    let listed = &result["structuredContent"];
    let marked: Vec<bool> = listed["intents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|intent| intent["selected"].as_bool().unwrap())
        .collect();
    assert_eq!(marked, [true, false, false]);
    let owners = |at: usize| {
        let owners = listed["files"][at]["owners"].as_array().unwrap();
        owners.iter().map(|owner| owner["id"].as_str().unwrap()).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..paths.len()).map(owners).collect();
    let expected: [&[&str]; 5] = [&["INT-001"], &["INT-002"], &["INT-003"], &[], &["INT-001"]];
    assert_eq!(all, expected);
    assert!(
        listed["files"][1].get("next").is_none(),
        "a client with tools is told no command line"
    );
    let words = result["content"][0]["text"].as_str().unwrap();
    for told in [
        "INT-001 (IN_PROGRESS, selected by this session): Sign in",
        "src/a.rs belongs to INT-001.",
        "billing/b.rs belongs to INT-002: `select_active_intent` selects it.",
        "No intent in progress owns old/c.rs. `request_scope`",
        "No intent in progress owns web/d.rs. `request_scope`",
        "src/sealed.rs is kept from agents by `protected_paths: src/sealed.rs`.",
    ] {
        assert!(words.contains(told), "{told}: {words}");
    }
}

#[test]
fn a_write_must_name_the_selected_intent() {
    let repo = Repo::new();
    let mut client = Client::old(&repo);
    let write = |intent: &str, class: &str| {
        json!({
            "path": "src/a.rs", "expected_sha256": "absent", "content": CODE,
            "intent_id": intent, "mutation_class": class,
        })
    };
    let evolution = "INTENT_EVOLUTION";
    assert_eq!(client.refused("file_write", write("INT-001", evolution)), "INTENT_REQUIRED");
    client.select("INT-001");
    let other = client.call("file_write", write("INT-002", evolution));
    let message = other["structuredContent"]["message"].as_str().unwrap();
    assert_eq!(other["structuredContent"]["code"], "INTENT_REQUIRED");
    assert!(message.contains("INT-001") && message.contains("INT-002"), "{message}");
    assert_eq!(client.refused("file_write", write("INT-404", evolution)), "UNKNOWN_INTENT");
    assert_eq!(client.refused("file_write", write("INT-001", "TIDYING")), "UNREADABLE_PAYLOAD");
    assert!(!repo.root().join("src").exists());
    let written = client.done("file_write", write("INT-001", "AST_REFACTOR"));
    assert_eq!(written["recorded"], true);
    assert_eq!(written["mutation_class"], evolution);
    assert_eq!(written["contradicted_claim"], "AST_REFACTOR");
    let workspace = repo.open();
    let mut records = workspace.ledger.entries().iter().map(|entry| &entry.record);
    let record = records.find(|record| !record.files.is_empty()).unwrap();
    assert_eq!(record.claimed_class.as_deref(), Some("AST_REFACTOR"));
    assert_eq!(record.mutation_class.unwrap().as_str(), evolution);
}

#[test]
fn a_record_says_which_class_was_found() {
    let repo = Repo::new();
    repo.write("src/a.rs", CODE);
    repo.commit("code");
    let mut client = Client::old(&repo);
    client.select("INT-001");
    let mut record = |text: &str, claim: &str| {
        repo.write("src/a.rs", text);
        let arguments = json!({ "paths": ["src/a.rs"], "claimed_class": claim });
        let answer = client.call("record_mutation", arguments);
        let words = answer["content"][0]["text"].as_str().unwrap().to_owned();
        (answer["structuredContent"]["recorded"][0].clone(), words)
    };
    let added = format!("{CODE}\nfn added() {{\n    1;\n}}\n");
    let (file, words) = record(&added, "AST_REFACTOR");
    assert_eq!(file["mutation_class"], "INTENT_EVOLUTION");
    assert_eq!(file["contradicted_claim"], "AST_REFACTOR");
    assert!(words.contains("as INTENT_EVOLUTION, not AST_REFACTOR as you claimed"), "{words}");
    let (file, words) = record(&added.replace("1;", "2;"), "INTENT_EVOLUTION");
    assert_eq!(file.get("contradicted_claim"), None);
    assert!(words.ends_with("as INTENT_EVOLUTION"), "{words}");
}

/// Returns the name under which `intent schema` has the whole schema of a tool's answer.
fn whole_schema(tool: &str) -> Option<&str> {
    match tool {
        "select_active_intent" => Some("select"),
        "gate_check" => Some("gate"),
        "record_lesson" => Some("lesson"),
        "request_scope" => Some("request-scope"),
        "propose_intent" => Some("propose"),
        "why" => Some("why"),
        _ => None,
    }
}

/// The answers of all tools, and their refusals, match the schemas that the server lists, and the
/// answers match those that `intent schema` prints.
#[test]
#[ignore = "slow"]
fn every_answer_and_every_refusal_matches_its_schema() {
    let repo = Repo::new();
    let mut client = Client::old(&repo);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let calls = [
        ("list_intents", json!({})),
        ("list_intents", json!({ "x": 1 })),
        ("list_intents", json!({ "paths": ["src/a.rs", "web/b.rs"] })),
        ("file_write", json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": CODE })),
        ("select_active_intent", json!({ "intent_id": "INT-001" })),
        ("select_active_intent", json!({ "intent_id": "INT-003" })),
        ("select_active_intent", json!({ "intent_id": "INT-404" })),
        ("select_active_intent", json!({})),
        ("gate_check", json!({ "paths": ["src/a.rs"] })),
        ("gate_check", json!({ "paths": ["billing/a.rs"] })),
        ("gate_check", json!({ "paths": "src/a.rs" })),
        ("gate_check", json!({ "command": "ls" })),
        ("gate_check", json!({})),
        ("file_write", json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": CODE })),
        ("file_read", json!({ "path": "src/a.rs", "offset": 2, "limit": 1 })),
        ("file_read", json!({ "path": "src/none.rs" })),
        ("record_mutation", json!({ "paths": ["src/a.rs"], "claimed_class": "AST_REFACTOR" })),
        ("why", json!({ "path": "src/a.rs", "line": 2 })),
        ("why", json!({ "path": "src/none.rs" })),
        ("why", json!({ "path": "src/a.rs", "line": 4000 })),
        ("request_scope", json!({ "entries": ["docs/**"], "reason": "To say it." })),
        ("request_scope", json!({ "entries": ["**"], "reason": "All of it." })),
        ("propose_intent", json!({ "name": "Docs", "scope": ["docs/**"], "reason": "To say it." })),
        ("approval_status", json!({ "code": "ABCDEF" })),
        ("record_lesson", json!({ "text": "Run the tests before you say that they pass." })),
        ("record_lesson", json!({ "text": "" })),
    ];
    for (name, arguments) in calls {
        let result = client.call(name, arguments.clone());
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        let schema = Schema::of(&tool["outputSchema"]);
        let answer = &result["structuredContent"];
        assert_eq!(schema.complaint(answer), None, "{name} {arguments}: {answer}");
        let refusal = answer.get("code").is_some() && answer.get("message").is_some();
        if result["isError"] == true {
            assert!(refusal, "{name} {arguments}: {answer}");
        } else if let Some(whole) = whole_schema(name) {
            let schema = Schema::of(&intent(&repo, &["schema", whole]).json());
            assert_eq!(schema.complaint(answer), None, "{name} {arguments}: {answer}");
        }
    }
}

#[test]
fn intents_of_other_formats_are_listed_and_described() {
    let folder = temporary_folder();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let init = Command::new("git").args(["init", "-q"]).current_dir(&folder).status();
    assert!(init.unwrap().success());
    write("openspec/changes/add-login/proposal.md", "# Change: Add a login\n");
    write("openspec/changes/add-login/tasks.md", "- [ ] 1.1 a in `src/login.rs`\n");
    write("openspec/changes/archive/2025-01-01-add-logout/proposal.md", "# Change: Done\n");
    let mut client = Client::start(folder.path(), Era::Handshake("2025-06-18"), &["mcp"]);
    let listed = client.done("list_intents", json!({}));
    assert_eq!(listed["intents"][0]["id"], "openspec:add-login");
    assert_eq!(listed["intents"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["left_out"], json!(["1 completed OpenSpec change"]));
    let read =
        client.ask("resources/read", json!({ "uri": "intent://intents/openspec:add-login" }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("Add a login") && text.contains("src/login.rs"), "{text}");
}

#[test]
fn an_agent_reads_writes_and_records_a_file() {
    let repo = Repo::new();
    repo.write("src/a.rs", CODE);
    repo.commit("code");
    let mut client = Client::old(&repo);
    let listed = client.done("list_intents", json!({}));
    assert_eq!(listed["intents"][0]["id"], "INT-001");
    let whole = json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": "" });
    assert_eq!(client.refused("file_write", whole.clone()), "INTENT_REQUIRED");
    let selected = client.done("select_active_intent", json!({ "intent_id": "INT-001" }));
    assert_eq!(selected["owned_scope"], json!(["src/**"]));
    assert_eq!(selected["constraints"], json!([]));
    assert_eq!(client.done("list_intents", json!({}))["selected"], "INT-001");
    assert_eq!(client.refused("file_write", whole), "STALE_FILE");

    let read = client.done("file_read", json!({ "path": "src/a.rs" }));
    assert_eq!(read["text"], CODE);
    assert_eq!(read["owners"][0]["id"], "INT-001");
    let edit = json!({
        "path": repo.root().join("src/a.rs"),
        "expected_sha256": read["sha256"],
        "edits": [{ "old_string": "known.contains(user)", "new_string": "known.iter().any(|one| one == user)" }, { "old_string": "let known = users();", "new_string": "let known = all_users();" }],
    });
    let written = client.done("file_write", edit.clone());
    assert_eq!((&written["recorded"], &written["created"]), (&json!(true), &json!(false)));
    assert_eq!(client.refused("file_write", edit), "STALE_FILE", "the hash is an old one now");
    assert!(repo.read("src/a.rs").contains("known.iter().any(|one| one == user)"));
    let asked = client.done("why", json!({ "path": "src/a.rs", "line": 2 }));
    let block = &asked["blocks"][0];
    assert_eq!(block["intent"]["id"], "INT-001");
    assert_eq!(block["strength"], "verified");
    assert_eq!(block["tool"], "old-agent");

    let nowhere = json!({ "path": "src/a.rs", "line": 4000 });
    assert_eq!(client.refused("why", nowhere), "UNREADABLE_PAYLOAD");
    assert_eq!(client.refused("why", json!({ "path": "src/none.rs" })), "UNREADABLE_PAYLOAD");

    let decision = client.done("gate_check", json!({ "paths": ["src/b.rs", "billing/x.rs"] }));
    assert_eq!(
        (&decision["outcome"], &decision["code"]),
        (&json!("deny"), &json!("SCOPE_VIOLATION"))
    );
    let outside = json!({ "path": "billing/x.rs", "expected_sha256": "absent", "content": "x" });
    assert_eq!(client.refused("file_write", outside), "SCOPE_VIOLATION");
    assert!(!repo.root().join("billing").exists());

    repo.write("src/b.rs", &CODE.replace("sign_in", "sign_out"));
    let recorded = client
        .done("record_mutation", json!({ "paths": ["src/b.rs"], "model": "example/model-1" }));
    assert_eq!(recorded["recorded"][0]["intent"], "INT-001");
    assert_eq!(why(&repo, "src/b.rs"), "exact INT-001 sign_out\n");
    assert!(client.end().is_empty());
    assert_eq!(intent(&repo, &["verify"]).code, 0);
}

#[test]
fn overwriting_after_reading_a_few_lines_is_refused() {
    let repo = Repo::new();
    let two = format!("{CODE}\n{}", CODE.replace("sign_in", "sign_out"));
    repo.write("src/a.rs", &two);
    let mut client = Client::old(&repo);
    client.select("INT-001");
    let first = client.done("file_read", json!({ "path": "src/a.rs", "limit": 3 }));
    let whole = json!({ "path": "src/a.rs", "expected_sha256": first["sha256"], "content": CODE });
    assert_eq!(
        client.refused("file_write", whole.clone()),
        "STALE_FILE",
        "knowing the hash is not reading the file"
    );
    let edits = json!([{ "old_string": "sign_out", "new_string": "sign_off" }]);
    let edit = json!({ "path": "src/a.rs", "expected_sha256": first["sha256"], "edits": edits });
    let written = client.done("file_write", edit);
    client.done("file_read", json!({ "path": "src/a.rs" }));
    let whole =
        json!({ "path": "src/a.rs", "expected_sha256": written["sha256"], "content": CODE });
    client.done("file_write", whole);
    assert!(client.end().is_empty());
}

#[test]
fn the_agent_learns_what_a_person_decided() {
    let repo = Repo::new();
    let mut client = Client::old(&repo);
    client.select("INT-001");
    let asked = client.done(
        "request_scope",
        json!({ "entries": ["docs/sign-in.md"], "reason": "The page says how to sign in." }),
    );
    let code = asked["approval"]["code"].as_str().unwrap().to_owned();
    let status = client.done("approval_status", json!({ "code": code }));
    assert_eq!(status["state"], "pending");
    let again = client.done(
        "request_scope",
        json!({ "entries": ["docs/sign-in.md"], "reason": "The page says how to sign in." }),
    );
    assert_eq!(again["approval"]["code"], code.as_str(), "asked once");
    assert_eq!(
        client.refused("approval_status", json!({ "code": "../../x" })),
        "UNREADABLE_PAYLOAD"
    );
    let registry = repo.read(".orchestration/active_intents.yaml");
    assert!(!registry.contains("sign-in.md"), "nobody has approved");
}

#[test]
fn a_lesson_that_needs_approval_is_written_after_it() {
    use judgement::approval::{ApprovalVerdict, DecisionPlace, decide};
    let repo = Repo::new();
    repo.write(".orchestration/policy.yaml", "lessons: ask\n");
    let mut client = Client::old(&repo);
    let lesson = json!({ "text": "Run the tests before you say that they pass." });
    let result = client.call("record_lesson", lesson.clone());
    let refusal = &result["structuredContent"];
    assert_eq!(refusal["code"], "APPROVAL_REQUIRED", "{result}");
    let pending = ground::approvals::pending(&repo.open().root);
    assert_eq!(pending.len(), 1);
    assert!(refusal["message"].as_str().unwrap().contains(&pending[0].code));
    assert!(!repo.root().join("AGENTS.md").exists());
    decide(&repo.open(), &pending[0].code, ApprovalVerdict::Approve, DecisionPlace::Terminal)
        .unwrap();
    let other = json!({ "text": "Something else." });
    assert_eq!(client.refused("record_lesson", other), "APPROVAL_REQUIRED");
    assert_eq!(client.done("record_lesson", lesson)["outcome"], "added");
    assert!(repo.read("AGENTS.md").contains("Run the tests"));
    let status = client.done("approval_status", json!({ "code": pending[0].code }));
    assert_eq!(status["state"], "used");
}

#[test]
fn switching_the_intent_needs_approval() {
    let repo = Repo::new();
    let mut client = Client::old(&repo);
    // While nothing was written, every selection is like a first one.
    client.select("INT-002");
    client.select("INT-001");
    client.done(
        "file_write",
        json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": CODE }),
    );
    assert_eq!(
        client.refused("select_active_intent", json!({ "intent_id": "INT-002" })),
        "APPROVAL_REQUIRED"
    );
    assert_eq!(client.done("list_intents", json!({}))["selected"], "INT-001");
}

#[test]
fn the_server_adopts_a_session_that_a_hook_announced() {
    use evidence::event;
    use judgement::gate;
    let repo = Repo::new();
    let hook = event::Event {
        host: "claude-code".to_owned(),
        session: Some("abc".to_owned()),
        subagent: Some("helper".to_owned()),
        call: Some("call-1".to_owned()),
        asking: event::Asking::Native,
        means: event::Means::Commands,
        rewrites: false,
        from_host: true,
        environment: ground::Environment::of_process(),
        cwd: repo.root(),
        tool: "mcp__intent__select_active_intent".to_owned(),
        input: String::new(),
        model: None,
        claimed_class: None,
        failed: false,
        prompt: None,
        effects: vec![event::Effect::Select { intent: "INT-001".to_owned() }],
    };
    assert_eq!(gate::judge_before_call(&hook).decision, gate::Decision::NoOpinion);
    let selections = || {
        let entries = repo.open();
        let found = entries.ledger.entries().iter();
        found
            .filter(|entry| entry.record.kind == ledger::RecordKind::Selection)
            .map(|entry| entry.record.session.clone().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(selections(), ["claude-code:abc/helper"]);
    let mut client = Client::old(&repo);
    client.select("INT-001");
    assert_eq!(
        selections(),
        ["claude-code:abc/helper"],
        "what the hook has recorded is not recorded again"
    );
    let write = json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": CODE });
    client.done("file_write", write);
    // The session of the hook has seen what the session of the server wrote.
    let edit = event::Effect::Write {
        path: "src/a.rs".into(),
        change: edits::Change::Whole(CODE.replace("known", "there")),
    };
    let edit = event::Event { call: Some("call-2".to_owned()), effects: vec![edit], ..hook };
    assert_eq!(gate::judge_before_call(&edit).decision, gate::Decision::NoOpinion);
    let recorded = repo.open();
    let last = recorded.ledger.entries().last().unwrap();
    assert_eq!(last.record.session.as_deref(), Some("claude-code:abc"));
    assert_eq!(last.record.tool.as_ref().unwrap().name, "claude-code");
}

#[test]
fn each_connection_has_a_selection_of_its_own() {
    let repo = Repo::new();
    let (mut one, mut two) = (Client::old(&repo), Client::old(&repo));
    one.select("INT-001");
    two.select("INT-002");
    assert_eq!(one.done("list_intents", json!({}))["selected"], "INT-001");
    assert_eq!(two.done("list_intents", json!({}))["selected"], "INT-002");
    assert_eq!(intent(&repo, &["status", "--json"]).json()["selection"], Value::Null);
}

#[cfg(unix)]
#[test]
fn hostile_paths_are_refused_and_nothing_is_written() {
    let repo = Repo::new();
    let elsewhere = Repo::without_git();
    elsewhere.write("secret.txt", "secret");
    let secret = elsewhere.root().join("secret.txt");
    let other = temporary_folder();
    let stranger = other.path().join("plain.txt");
    std::fs::write(&stranger, "plain").unwrap();
    std::os::unix::fs::symlink(other.path(), repo.root().join("link")).unwrap();
    repo.write("src/a.rs", CODE);
    std::os::unix::fs::symlink("/dev/zero", repo.root().join("src/zero")).unwrap();
    std::os::unix::fs::symlink(&stranger, repo.root().join("src/out")).unwrap();
    std::os::unix::fs::symlink(".orchestration/policy.yaml", repo.root().join("src/policy"))
        .unwrap();
    let mut client = Client::old(&repo);
    client.select("INT-001");
    // Locks and notes below `local` may change.
    let shown = |repo: &Repo| {
        let mut shown = picture(&repo.root());
        shown.retain(|path, _| !path.components().any(|part| part.as_os_str() == "local"));
        shown
    };
    let before = (shown(&repo), shown(&elsewhere));
    let paths = [
        "",
        ".",
        "..",
        "/",
        "../x",
        "src/../../x",
        "src/a.rs/x",
        "a\0b",
        "/etc/passwd",
        "link/plain.txt",
        "src/out",
        "src/zero",
        "src",
        ".git/config",
        ".GIT/config",
        ".orchestration/policy.yaml",
        ".orchestration/local/x",
        "src/policy",
        ".intentignore",
        "src/.gitattributes",
        secret.to_str().unwrap(),
        stranger.to_str().unwrap(),
    ];
    for path in paths {
        for expected in ["absent".to_owned(), "0".repeat(64)] {
            let write = json!({ "path": path, "expected_sha256": expected, "content": "gone" });
            client.refused("file_write", write);
        }
    }
    for path in [
        "",
        "..",
        "/etc/passwd",
        "link/plain.txt",
        "src/out",
        "src/zero",
        "src",
        ".git/config",
        ".orchestration/local/x",
    ] {
        client.refused("file_read", json!({ "path": path }));
    }
    assert!((shown(&repo), shown(&elsewhere)) == before, "something was written");
    assert_eq!(std::fs::read_to_string(&stranger).unwrap(), "plain");
}

#[test]
#[ignore = "slow"]
fn invalid_requests_get_an_error_and_the_server_goes_on() {
    let repo = Repo::new();
    let mut client = Client::start(&repo.root(), Era::Handshake("2025-11-25"), &["mcp"]);
    assert_eq!(client.ask("tools/call", json!({ "name": "approve" }))["error"]["code"], -32602);
    assert_eq!(client.ask("tools/call", json!({ "nome": "why" }))["error"]["code"], -32602);
    assert_eq!(client.ask("no/such", json!({}))["error"]["code"], -32601);
    assert_eq!(
        client.ask("resources/read", json!({ "uri": "intent://none" }))["error"]["code"],
        -32002
    );
    client.tell("notifications/cancelled", json!({ "requestId": 999 }));
    client.tell("notifications/none", json!({}));
    let big = "x".repeat(20 * 1024 * 1024);
    client.select("INT-001");
    let write = json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": big });
    assert_eq!(client.refused("file_write", write), "UNREADABLE_PAYLOAD");
    let large =
        json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": &big[..3 << 20] });
    assert_eq!(client.refused("file_write", large), "UNREADABLE_PAYLOAD");
    assert!(!repo.root().join("src/a.rs").exists());
    assert!(client.end().is_empty());
}

#[test]
#[ignore = "slow"]
fn a_call_that_is_cancelled_before_its_turn_has_no_effect() {
    let repo = Repo::new();
    let mut client = Client::old(&repo);
    client.select("INT-001");
    // The first call takes long to record; the second one waits for its turn and is cancelled.
    let paths: Vec<String> = (0..60).map(|at| format!("src/{at}.rs")).collect();
    for path in &paths {
        repo.write(path, &CODE.repeat(40));
    }
    let first = client
        .begin("tools/call", json!({ "name": "record_mutation", "arguments": { "paths": paths } }));
    let write = json!({ "path": "src/late.rs", "expected_sha256": "absent", "content": CODE });
    let second = client.begin("tools/call", json!({ "name": "file_write", "arguments": write }));
    client.tell(
        "notifications/cancelled",
        json!({ "requestId": second, "reason": "the user said so" }),
    );
    assert_eq!(client.next()["id"], first);
    assert!(client.end().is_empty(), "a cancelled call is not answered");
    assert!(!repo.root().join("src/late.rs").exists());
}

#[test]
fn calls_run_in_the_order_in_which_they_arrive() {
    let repo = Repo::new();
    let mut client = Client::old(&repo);
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    client.begin("tools/call", call("select_active_intent", json!({ "intent_id": "INT-001" })));
    let write = json!({ "path": "src/a.rs", "expected_sha256": "absent", "content": CODE });
    client.begin("tools/call", call("file_write", write));
    client.begin("tools/call", call("file_read", json!({ "path": "src/a.rs" })));
    client.begin("tools/call", call("why", json!({ "path": "src/a.rs" })));
    let answers = client.end();
    assert_eq!(answers.len(), 4, "what was asked before the end is answered: {answers:?}");
    for answer in answers {
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[test]
fn resources_can_be_read() {
    let repo = Repo::new();
    repo.write("src/a.rs", CODE);
    repo.record("INT-001", &["src/a.rs"]);
    let mut client = Client::old(&repo);
    let listed = client.ask("resources/list", json!({}));
    let uris: Vec<&Value> =
        listed["result"]["resources"].as_array().unwrap().iter().map(|one| &one["uri"]).collect();
    assert_eq!(uris, ["intent://registry", "intent://map"]);
    let templates = client.ask("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "intent://intents/{id}");
    let mut text = |uri: &str| {
        let read = client.ask("resources/read", json!({ "uri": uri }));
        read["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(text("intent://registry"), crate::support::REGISTRY);
    assert!(text("intent://map").contains("sign\\_in") || text("intent://map").contains("sign_in"));
    let context = text("intent://intents/INT-001");
    assert!(context.contains("<folder path=\"src\" files=\"1\""), "{context}");
}

#[test]
fn paths_are_relative_to_the_root_of_the_client() {
    let repo = Repo::new();
    let elsewhere = temporary_folder();
    let mut client = Client::start(elsewhere.path(), Era::Handshake("2025-06-18"), &["mcp"]);
    assert_eq!(client.refused("list_intents", json!({})), "HOOK_ERROR");
    drop(client);

    let mut client = Client::start(elsewhere.path(), Era::Inline, &["mcp"]);
    client.era = Era::Handshake("2025-06-18");
    client.ask("initialize", hello("2025-06-18", json!({ "roots": { "listChanged": true } })));
    client.tell("notifications/initialized", json!({}));
    let listed = client.begin("tools/call", json!({ "name": "list_intents", "arguments": {} }));
    let asked = client.next();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    let uri = format!("file://{}", repo.root().display());
    client.send(
        &json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [{ "uri": uri }] } }),
    );
    let answer = client.next();
    assert_eq!(answer["id"], listed);
    assert_eq!(answer["result"]["structuredContent"]["intents"][0]["id"], "INT-001");
    drop(client);

    let root = repo.root();
    let named = ["-C", root.to_str().unwrap(), "mcp"];
    let mut client = Client::start(elsewhere.path(), Era::Handshake("2025-06-18"), &named);
    assert_eq!(client.done("list_intents", json!({}))["intents"][0]["id"], "INT-001");
}

#[test]
#[ignore = "slow"]
fn eight_writers_at_once_lose_nothing() {
    const WRITERS: usize = 8;
    const LINES: usize = 4;
    let repo = Repo::new();
    repo.write("src/list.txt", "");
    repo.commit("a list");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let repo = &repo;
            scope.spawn(move || {
                let mut client = Client::old(repo);
                client.select("INT-001");
                let mut line = 0;
                while line < LINES {
                    let read = client.done("file_read", json!({ "path": "src/list.txt" }));
                    let text = read["text"].as_str().unwrap();
                    let write = json!({
                        "path": "src/list.txt",
                        "expected_sha256": read["sha256"],
                        "content": format!("{text}writer {writer} line {line}\n"),
                    });
                    let result = client.call("file_write", write);
                    if result["isError"] == false {
                        line += 1;
                    } else {
                        assert_eq!(result["structuredContent"]["code"], "STALE_FILE", "{result}");
                    }
                }
            });
        }
    });
    let text = repo.read("src/list.txt");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let expected: Vec<String> = (0..WRITERS)
        .flat_map(|writer| (0..LINES).map(move |line| format!("writer {writer} line {line}")))
        .collect();
    assert_eq!(lines, expected);
    assert_eq!(intent(&repo, &["verify"]).code, 0);
}

#[test]
fn only_one_of_eight_writers_creates_the_file() {
    let repo = Repo::new();
    let created: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let repo = &repo;
                scope.spawn(move || {
                    let mut client = Client::old(repo);
                    client.select("INT-001");
                    let content = format!("{CODE}// writer {writer}\n");
                    let write = json!({ "path": "src/new.rs", "expected_sha256": "absent", "content": content });
                    let result = client.call("file_write", write);
                    usize::from(result["isError"] == false)
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(created, 1);
}
