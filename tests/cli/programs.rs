//! What other programs read: the shape of answers, exact bytes, and exit codes.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::schema::Schema;

use super::{REFRESHED, lab::Lab, worked_in};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// A program that can be loaded at any address has to adjust all its tables at each start.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn the_program_is_loaded_at_a_fixed_address() {
    const EXECUTABLE: [u8; 2] = 2_u16.to_ne_bytes();
    let mut header = [0; 18];
    let mut file = std::fs::File::open(env!("CARGO_BIN_EXE_intent")).expect("the program");
    file.read_exact(&mut header).expect("an ELF header");
    assert_eq!(header[16..], EXECUTABLE, "of another type");
}

#[test]
#[ignore = "slow"]
fn every_answer_matches_its_schema() {
    let lab = worked_in();
    lab.write("src/auth.rs", REFRESHED.replace("renew(token, 3)", "renew(token, 4)"));
    lab.write("docs/x.md", "# X\n");
    let schemas: BTreeMap<&str, Value> = intent_lsp::cli::schemas().into_iter().collect();
    for (name, line) in [
        ("init", "init"),
        ("new", "new Third --scope lib/**"),
        ("start", "start INT-002"),
        ("complete", "complete INT-003"),
        ("list", "list"),
        ("status", "status"),
        ("select", "select INT-001"),
        ("context", "context"),
        ("why", "why src/auth.rs"),
        ("why", "why src/auth.rs:2"),
        ("check", "check"),
        ("verify", "verify"),
        ("verify", "verify --blocks"),
        ("gate", "gate src/auth.rs"),
        ("gate", "gate docs/x.md"),
        ("accept", "accept src/auth.rs --all-differing"),
        ("record", "record --all --yes src docs"),
        ("report", "report"),
        ("report-html", "report --html"),
        ("map", "map"),
        ("map-check", "map --check"),
        ("doctor", "doctor"),
        ("clear", "clear"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = lab.json(&words);
        let schema = Schema::of(&schemas[name]);
        assert_eq!(schema.complaint(&answer), None, "{line}: {answer}");
    }
}

#[test]
fn stored_records_match_their_schema() {
    let lab = worked_in();
    let schemas: BTreeMap<&str, Value> = intent_lsp::cli::schemas().into_iter().collect();
    let schema = Schema::of(&schemas["records"]);
    let stored = lab.fine(&["trace", "--json"]);
    assert!(stored.lines().count() >= 4);
    for line in stored.lines() {
        let record: Value = serde_json::from_str(line).expect("a record");
        assert_eq!(schema.complaint(&record), None, "{line}");
    }
}

#[test]
fn trace_gives_back_every_stored_field() {
    let lab = worked_in();
    let by_id = |text: &str| -> BTreeMap<String, Value> {
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        records.map(|record| (record["id"].to_string(), record)).collect()
    };
    let traced = by_id(&lab.fine(&["trace", "--json"]));
    let schemas: BTreeMap<&str, Value> = intent_lsp::cli::schemas().into_iter().collect();
    let schema = Schema::of(&schemas["trace"]);
    let files = walk(&lab.root.join(".orchestration/agent_trace")).into_iter();
    let mut stored = BTreeMap::new();
    for file in files.filter(|file| file.extension().is_some_and(|ending| ending == "jsonl")) {
        stored.extend(by_id(&std::fs::read_to_string(file).expect("a ledger")));
    }
    assert!(stored.len() >= 4 && stored.keys().eq(traced.keys()), "{stored:?} {traced:?}");
    for (id, record) in stored {
        assert_eq!(schema.complaint(&traced[&id]), None, "{id}");
        for (key, value) in record.as_object().expect("an object") {
            assert_eq!(traced[&id][key], *value, "{id} {key}");
        }
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn why_and_check_have_the_documented_keys() {
    let lab = worked_in();
    let why = lab.json(&["why", "src/auth.rs"]);
    assert_eq!(keys(&why), ["path", "blocks"]);
    for block in why["blocks"].as_array().expect("blocks") {
        for key in [
            "kind",
            "name",
            "start_line",
            "end_line",
            "verdict",
            "intent",
            "contributor",
            "timestamp",
            "record",
            "lineage",
            "candidates",
        ] {
            assert!(block.get(key).is_some(), "{key} is missing in {block}");
        }
    }
    let (login, logout) = (&why["blocks"][0], &why["blocks"][1]);
    assert_eq!((&login["verdict"], &login["intent"]["id"]), (&"exact".into(), &"INT-001".into()));
    assert_eq!(keys(&login["intent"]), ["id", "name", "status", "source"]);
    assert_eq!((&logout["verdict"], &logout["intent"]), (&"unrecorded".into(), &Value::Null));

    lab.write("src/auth.rs", REFRESHED.replace("renew(token, 3)", "renew(token, 4)"));
    lab.write("docs/else.md", "# Elsewhere\n\nNobody owns this.\n");
    let check = lab.json(&["check"]);
    assert_eq!(keys(&check), ["findings", "summary", "change"]);
    for finding in check["findings"].as_array().expect("findings") {
        for key in ["code", "level", "path", "start_line", "end_line", "intent", "message", "help"]
        {
            assert!(finding.get(key).is_some(), "{key} is missing in {finding}");
        }
    }
    assert!(!check["findings"].as_array().expect("findings").is_empty());
}

#[test]
fn paths_are_relative_to_the_current_folder() {
    let lab = worked_in();
    let from = |folder: &str, path: &str| lab.json(&["-C", folder, "why", path])["path"].clone();
    assert_eq!(from("src", "auth.rs:2"), "src/auth.rs");
    assert_eq!(from("src", "../src/auth.rs"), "src/auth.rs");
    assert_eq!(from("/", lab.root.join("src/auth.rs").to_str().expect("UTF-8")), "src/auth.rs");
}

#[test]
fn a_folder_stands_for_its_files_and_its_deleted_files() {
    let lab = worked_in();
    lab.write(".gitignore", "/src/out/\n");
    lab.write("src/new.rs", "fn fresh() {\n    begin(1);\n}\n");
    lab.write("src/out/built.rs", "fn built() {}\n");
    lab.write("src2/other.rs", "fn other() {}\n");
    std::fs::remove_file(lab.root.join("src/auth.rs")).expect("removed");
    let recorded = lab.json(&["record", "src"]);
    let paths: Vec<&str> = recorded["recorded"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    assert_eq!(paths, ["src/auth.rs", "src/new.rs"], "{recorded}");
}

#[test]
fn each_file_is_recorded_in_its_own_workspace() {
    let (one, two) = (worked_in(), worked_in());
    for lab in [&one, &two] {
        lab.write("src/new.rs", "fn fresh() {\n    begin(1);\n}\n");
    }
    let other = two.root.join("src/new.rs");
    let recorded = one.json(&["record", "src/new.rs", other.to_str().expect("UTF-8")]);
    let roots: Vec<&str> = recorded["recorded"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|file| file["root"].as_str())
        .collect();
    let mut expected = [one.root.to_str().expect("UTF-8"), two.root.to_str().expect("UTF-8")];
    expected.sort_unstable();
    assert_eq!(roots, expected, "{recorded}");
    assert_eq!(two.json(&["why", "src/new.rs"])["blocks"][0]["verdict"], "exact");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let lab = worked_in();
    let mut child = Command::new(env!("CARGO_BIN_EXE_intent"))
        .args(["completions", "zsh"])
        .current_dir(&lab.root)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("intent runs");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("stderr").read_to_string(&mut said).expect("UTF-8");
    assert_eq!((child.wait().expect("its end").code(), said.as_str()), (Some(0), ""));
}

#[test]
fn colour_is_printed_only_on_request() {
    let lab = worked_in();
    assert!(!lab.fine(&["why", "src/auth.rs"]).contains('\u{1b}'));
    assert!(lab.fine(&["--color", "always", "why", "src/auth.rs"]).contains('\u{1b}'));
    assert!(!lab.fine(&["--color", "always", "--json", "why", "src/auth.rs"]).contains('\u{1b}'));
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let lab = Lab::git();
    lab.fine(&["man", "--dir", "man"]);
    let (bash, page) = (lab.fine(&["completions", "bash"]), lab.fine(&["man"]));
    assert!(page.starts_with(".ie") || page.contains(".TH intent"), "{page}");
    for words in crate::cli::visible_commands() {
        // The script names a state after the words of a command: `intent,evidence` or `intent__subcmd__evidence`.
        let state = words.join("__subcmd__");
        let spellings = [
            state.replace('-', "__"),
            state.replace('-', "__subcmd__"),
            state.replace('-', "_"),
            state,
        ];
        assert!(spellings.iter().any(|state| bash.contains(state)), "{spellings:?}");
        let name = words.join("-");
        assert!(lab.root.join(format!("man/intent-{name}.1")).is_file(), "{name}");
    }
    assert!(lab.root.join("man/intent-evidence-seal.1").is_file());
    assert!(!lab.root.join("man/intent-seal.1").exists(), "the short spelling has no page");
    assert!(!bash.contains("intent__subcmd__seal"), "the short spelling is not offered");
}

#[test]
fn every_schema_is_valid_and_has_its_own_name() {
    let lab = Lab::git();
    let names = lab.fine(&["schema"]);
    let mut seen = std::collections::BTreeSet::new();
    for (name, schema) in intent_lsp::cli::schemas() {
        assert!(seen.insert(name), "{name} twice");
        assert!(names.lines().any(|line| line == name), "{name}");
        Schema::of(&schema);
    }
    let printed: Value = serde_json::from_str(&lab.fine(&["schema", "why"])).expect("JSON");
    assert!(printed["properties"]["blocks"].is_object());
}
